//! Conversations, key by key.

use std::cell::RefCell;
use std::collections::VecDeque;

use serde_json::json;
use toolgate_core::approval::Span;
use toolgate_core::tool::Preview;
use toolgate_policy::Level;
use toolgate_policy::rule::Sandbox;

use super::super::sample;
use super::*;
use crate::terminal::Size;

/// A person who types what was written down before.
#[derive(Debug, Default)]
struct Script {
    typed: RefCell<VecDeque<Input>>,
    lines: RefCell<VecDeque<&'static str>>,
    edited: Option<&'static str>,
    shown: RefCell<String>,
}

impl Script {
    fn typing(keys: &str) -> Self {
        let typed = keys.chars().map(|key| match key {
            '\n' => Input::Enter,
            '\u{1b}' => Input::Other,
            key => Input::Key(key),
        });
        Self { typed: RefCell::new(typed.collect()), ..Self::default() }
    }

    fn lines(mut self, lines: &[&'static str]) -> Self {
        self.lines = RefCell::new(lines.iter().copied().collect());
        self
    }
}

impl Console for Script {
    fn write(&self, text: &str) {
        let plain = anstream::adapter::strip_str(text).to_string();
        self.shown.borrow_mut().push_str(&plain);
    }

    fn size(&self) -> Size {
        Size { columns: 80, rows: 24 }
    }

    fn key(&self) -> Input {
        self.typed.borrow_mut().pop_front().unwrap_or(Input::End)
    }

    fn line(&self) -> Result<String, Input> {
        let line = self.lines.borrow_mut().pop_front().ok_or(Input::End)?;
        self.write(&format!("{line}\n"));
        Ok(line.to_owned())
    }

    fn edit(&self, _text: &str) -> Result<String, EditError> {
        self.edited.map(str::to_owned).ok_or(EditError::NoEditor)
    }
}

fn answer(script: &Script) -> Answer {
    talk(&request(), Seen::Here, script)
}

fn request() -> ApprovalRequest {
    ApprovalRequest {
        proposals: sample::proposals(&[
            ("Edit(src/main.rs)", "edits of this file"),
            ("Edit(src/**)", "edits of everything in src"),
        ]),
        ..sample::edit()
    }
}

fn typed(keys: &str) -> Answer {
    answer(&Script::typing(keys))
}

#[test]
fn every_key_has_its_answer() {
    assert_eq!(typed("y"), Answer::Once);
    assert_eq!(typed("Y"), Answer::Once);
    assert_eq!(typed("n"), Answer::refuse());
    assert_eq!(typed("sy"), Answer::Grant { proposal: 0, span: Span::Session });
    assert_eq!(typed("a2y"), Answer::Grant { proposal: 1, span: Span::Always });
    assert_eq!(typed("s21y"), Answer::Grant { proposal: 0, span: Span::Session });
    let with = |keys: &str, lines: &[&'static str]| answer(&Script::typing(keys).lines(lines));
    assert_eq!(with("my", &[""]), Answer::Grant { proposal: 0, span: Span::Minutes(15) });
    assert_eq!(with("my", &["90"]), Answer::Grant { proposal: 0, span: Span::Minutes(90) });
    assert_eq!(with("u2y", &["3"]), Answer::Grant { proposal: 1, span: Span::Uses(3) });
    assert_eq!(with("d", &[" use b.txt "]), Answer::deny("use b.txt"));
    assert_eq!(with("d", &[""]), Answer::refuse());
}

#[test]
fn nothing_else_approves() {
    for keys in [
        "", "\n", "\n\n", "\u{1b}", "x", "1", "s", "sn", "s\n", "s\u{1b}", "s3", "a9", "v", "?",
        "ss",
    ] {
        assert_eq!(typed(keys), Answer::Nobody, "{keys:?}");
    }
    for lines in [&["0"], &["-1"], &["many"], &["99999999999"], &["10081"]] {
        assert_eq!(answer(&Script::typing("m").lines(lines)), Answer::Nobody, "{lines:?}");
        assert_eq!(answer(&Script::typing("u").lines(&[""])), Answer::Nobody);
    }
}

#[test]
fn the_question_stays_open_after_a_way_back() {
    assert_eq!(typed("sx\n?vqn"), Answer::refuse());
    assert_eq!(typed("an\n\u{1b}y"), Answer::Once);
}

#[test]
fn rules_are_offered_only_where_there_are_any() {
    let of = ApprovalRequest { proposals: Box::default(), ..sample::edit() };
    let script = Script::typing("samuy");
    assert_eq!(talk(&of, Seen::Here, &script), Answer::Once);
    let shown = script.shown.into_inner();
    assert!(!shown.contains("session") && !shown.contains("always"), "{shown}");
    assert_eq!(shown.matches("Nothing was answered").count(), 4);
}

#[test]
fn what_a_command_runs_with_is_chosen_and_confirmed() {
    let of = sample::build();
    let typed = |keys: &str, lines: &[&'static str]| {
        talk(&of, Seen::Here, &Script::typing(keys).lines(lines))
    };
    let writing = |hosts: &[&str]| {
        Profile::new(Sandbox::WorkspaceWrite, hosts.iter().map(|host| (*host).to_owned()))
    };
    let full = Profile::of(Sandbox::Full);
    assert_eq!(typed("y", &[]), Answer::Once);
    assert_eq!(typed("w4yy", &[]), Answer::Once.reaching(full.clone()));
    assert_eq!(typed("w1yy", &[]), Answer::Once.reaching(Profile::of(Sandbox::ReadOnly)));
    assert_eq!(typed("w2yy", &[]), Answer::Once, "that is what was shown");
    let hosts = writing(&["crates.io", "docs.rs"]);
    assert_eq!(typed("w3yy", &["docs.rs, Crates.io"]), Answer::Once.reaching(hosts));
    let always = Answer::Grant { proposal: 0, span: Span::Always };
    assert_eq!(typed("w4yay", &[]), always.clone().reaching(full));
    // The last choice counts, and a refusal is a refusal.
    assert_eq!(typed("w4yw2yay", &[]), always);
    assert_eq!(typed("w4yn", &[]), Answer::refuse());
    assert_eq!(typed("w4nw\nwxy", &[]), Answer::Once);
}

#[test]
fn all_of_the_request_shows_what_was_chosen() {
    let script = Script::typing("w4yvqn");
    talk(&sample::build(), Seen::Here, &script);
    let shown = script.shown.into_inner();
    assert!(shown.contains("it runs  unconfined: it can do whatever you can"), "{shown}");
}

#[test]
fn choosing_alone_approves_nothing() {
    let of = sample::build();
    for keys in ["w", "w4", "w4y", "w4n", "w4\n", "ww", "w9", "w4y\n", "w3y"] {
        let script = Script::typing(keys).lines(&["docs.rs"]);
        assert_eq!(talk(&of, Seen::Here, &script), Answer::Nobody, "{keys:?}");
    }
    for hosts in [&["localhost"], &["*"], &[""], &["1.2.3.4"], &["docs.rs:80"]] {
        let script = Script::typing("w3yy").lines(hosts);
        assert_eq!(talk(&of, Seen::Here, &script), Answer::Once, "{hosts:?} was not chosen");
    }
}

#[test]
fn there_is_a_choice_only_for_commands_that_can_be_confined() {
    let unconfined = sample::reach(Sandbox::Full, &[], Level::None);
    for of in
        [sample::edit(), ApprovalRequest { reach: Some(Box::new(unconfined)), ..sample::build() }]
    {
        let script = Script::typing("w4yy");
        assert_eq!(talk(&of, Seen::Here, &script), Answer::Once);
        let shown = script.shown.into_inner();
        assert!(!shown.contains("widen") && shown.contains("Nothing was answered"), "{shown}");
    }
}

#[test]
fn arguments_are_changed_in_an_editor_or_typed() {
    let edited = |text| Script { edited: Some(text), ..Script::typing("e") };
    assert_eq!(answer(&edited("{\"path\": \"b\"}")), Answer::Edit { args: json!({ "path": "b" }) });
    assert_eq!(answer(&edited("{oops")), Answer::Nobody);
    assert_eq!(answer(&edited("  ")), Answer::Nobody);
    let same = Script {
        edited: Some(r#"{"path":"src/main.rs","edits":[{"target":"old","replacement":"new"}]}"#),
        ..Script::typing("ey")
    };
    assert_eq!(answer(&same), Answer::Once);
    assert!(same.shown.into_inner().contains("Nothing was changed."));
    let typed = Script::typing("e").lines(&["{\"path\":\"c\"}"]);
    assert_eq!(answer(&typed), Answer::Edit { args: json!({ "path": "c" }) });
}

#[test]
fn conversations_read_well() {
    let script = Script::typing("x?m2y").lines(&["30"]);
    answer(&script);
    insta::assert_snapshot!("minutes", script.shown.into_inner());
    let script = Script::typing("an").lines(&[]);
    answer(&script);
    insta::assert_snapshot!("always_then_back", script.shown.into_inner());
    let script = Script::typing("w3yay").lines(&["docs.rs"]);
    talk(&sample::build(), Seen::Here, &script);
    insta::assert_snapshot!("widened", script.shown.into_inner());
}

#[test]
fn all_of_a_long_preview_is_reached_page_by_page() {
    let long = (1..=100).map(|number| format!("+line {number}\n")).collect::<Vec<_>>().concat();
    let of = ApprovalRequest { preview: Preview::Diff(long), ..sample::edit() };
    let script = Script::typing("v      n");
    assert_eq!(talk(&of, Seen::Here, &script), Answer::refuse());
    let shown = script.shown.into_inner();
    assert!(
        shown.contains("more lines\n") && shown.contains("press v to see all of it"),
        "{shown}"
    );
    assert!((1..=100).all(|number| shown.contains(&format!("+line {number}\n"))), "{shown}");
    let script = Script::typing("v qy");
    assert_eq!(talk(&of, Seen::Here, &script), Answer::Once);
    assert!(!script.shown.into_inner().contains("+line 90\n"));
}
