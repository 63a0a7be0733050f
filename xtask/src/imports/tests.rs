//! Small crates in temporary folders, each with or without a cycle.

use std::fs;

use super::*;

/// The cycles of a crate made of these files, each as its edges.
fn cycles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let src = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = src.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    find_cycles(src.path())
        .unwrap()
        .iter()
        .map(|cycle| cycle.edges.iter().map(render).collect())
        .collect()
}

fn render(edge: &Edge) -> String {
    format!("{}:{} {}", edge.file.display(), edge.line, edge.text)
}

#[track_caller]
fn assert_no_cycle(files: &[(&str, &str)]) {
    assert_eq!(cycles(files), Vec::<Vec<String>>::new());
}

#[test]
fn finds_a_cycle_of_two() {
    let found = cycles(&[
        ("lib.rs", "mod a;\nmod b;\n"),
        ("a.rs", "\nuse crate::b::B;\npub struct A(B);\n"),
        ("b.rs", "use crate::a::{self, A};\npub struct B;\n"),
    ]);
    assert_eq!(found, [["a.rs:2 crate::b::B", "b.rs:1 crate::a::self", "b.rs:1 crate::a::A"]]);
}

#[test]
fn finds_a_cycle_of_three_and_leaves_out_bystanders() {
    let found = cycles(&[
        ("lib.rs", "mod a; mod b; mod c; mod d;"),
        ("a.rs", "use crate::b::B; use crate::d::D;"),
        ("b.rs", "fn f() -> super::c::C { todo!() }"),
        ("c.rs", "fn f() { let _ = crate::a::f(1); }"),
        ("d.rs", "pub struct D;"),
    ]);
    assert_eq!(found, [["a.rs:1 crate::b::B", "b.rs:1 super::c::C", "c.rs:1 crate::a::f"]]);
}

#[test]
fn finds_two_separate_cycles() {
    let found = cycles(&[
        ("lib.rs", "mod a; mod b; mod c; mod d;"),
        ("a.rs", "use crate::b::B;"),
        ("b.rs", "use crate::a::A; use crate::c::C;"),
        ("c.rs", "use crate::d::D;"),
        ("d.rs", "use crate::c::C;"),
    ]);
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn finds_a_cycle_of_parent_and_child() {
    let found = cycles(&[
        ("lib.rs", "mod gate;"),
        ("gate.rs", "mod permit;\nuse permit::Permit;\npub struct Gate;"),
        ("gate/permit.rs", "use super::Gate;\npub struct Permit;"),
    ]);
    assert_eq!(found, [["gate.rs:2 permit::Permit", "gate/permit.rs:1 super::Gate"]]);
}

#[test]
fn siblings_below_one_parent_are_no_cycle() {
    assert_no_cycle(&[
        ("lib.rs", "mod gate;"),
        ("gate.rs", "mod permit; mod stage; pub use self::permit::Permit;"),
        ("gate/permit.rs", "use super::stage::Stage;"),
        ("gate/stage.rs", "pub struct Stage;"),
    ]);
}

#[test]
fn accepts_modules_that_only_point_down() {
    assert_no_cycle(&[
        ("lib.rs", "mod a; mod b; mod c; pub use a::A; pub use c::C;"),
        ("a.rs", "use crate::b::B; use crate::c; use std::fmt;"),
        ("b.rs", "use crate::c::C; pub(crate) struct B;"),
        ("c.rs", "pub(super) struct C; impl C { fn f(self) -> Self { self } }"),
    ]);
}

#[test]
fn ignores_test_code() {
    assert_no_cycle(&[
        ("lib.rs", "mod a; mod b; #[cfg(test)] mod fixture;"),
        ("a.rs", "use crate::b::B; pub struct A;"),
        (
            "b.rs",
            "pub struct B;
             #[cfg(test)] mod tests { use crate::a::A; }
             #[cfg(all(test, unix))] use crate::a::A;
             #[test] fn f() { crate::a::f(1) }
             impl B { #[cfg(test)] fn of(_: crate::a::A) {} }",
        ),
        ("b/tests.rs", "use crate::a::A;"),
        ("c.rs", "use crate::fixture::F;"),
        ("fixture.rs", "use crate::c::C;"),
    ]);
}

#[test]
fn code_that_is_absent_from_tests_counts() {
    let found = cycles(&[
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "use crate::b::B;"),
        ("b.rs", "#[cfg(not(test))] use crate::a::A;"),
    ]);
    assert_eq!(found.len(), 1);
}

#[test]
fn a_re_exporting_root_closes_a_cycle_only_with_modules_that_name_it() {
    let root = ("lib.rs", "mod a; mod b; pub use a::A; pub use b::B;");
    assert_no_cycle(&[root, ("a.rs", "use crate::b::B;"), ("b.rs", "")]);

    let found = cycles(&[root, ("a.rs", "use crate::B;"), ("b.rs", "")]);
    assert_eq!(found, [["lib.rs:1 a::A", "a.rs:1 crate::B"]]);
}

#[test]
fn a_working_root_and_its_module_form_a_cycle() {
    let found = cycles(&[
        ("main.rs", "mod a; struct App; fn main() { a::run(App) }"),
        ("a.rs", "pub fn run(_: crate::App) {}"),
    ]);
    assert_eq!(found, [["main.rs:1 a::run", "a.rs:1 crate::App"]]);
}

#[test]
fn inline_modules_belong_to_their_file() {
    assert_no_cycle(&[
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "mod inner { use super::A; use super::super::b::B; } pub struct A;"),
        ("b.rs", "pub struct B;"),
    ]);
}

#[test]
fn sees_paths_inside_macro_calls() {
    let found = cycles(&[
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "fn f() { println!(\"{}\", [crate::b::X, self.x][0]); }"),
        ("b.rs", "use crate::a::*;"),
    ]);
    assert_eq!(found, [["a.rs:1 crate::b::X", "b.rs:1 crate::a::*"]]);
}

#[test]
fn paths_into_dependencies_are_not_ours() {
    assert_no_cycle(&[
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "use crate::b::B; use ::b::X;"),
        ("b.rs", "use a::A; fn f() { a::g() }"),
    ]);
}
