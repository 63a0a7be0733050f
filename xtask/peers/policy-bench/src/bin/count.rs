// decides N passes; for instruction counts
use std::hint::black_box;
use toolgate_policy::*;
fn main() {
    let kind = std::env::args().nth(1).unwrap();
    let n: usize = std::env::args().nth(2).unwrap().parse().unwrap();
    let w = world::Lexical::new("/project");
    let mut text = String::new();
    for (t, p, d, pr) in [
        ("read_file", "", "allow", 500),
        ("read_file", "/private", "deny", 600),
        ("write_file", "/src", "allow", 500),
        ("write_file", "/src/generated", "deny", 600),
    ] {
        text += &format!(
            "[[rule]]\ntool=\"{t}\"\npath=\"/project/services/service-0{p}/**\"\ndecision=\"{d}\"\npriority={pr}\n"
        );
    }
    text += "[[rule]]\ntool=\"mcp__service-0__search\"\ndecision=\"allow\"\npriority=500\n";
    for (c, d) in [
        ("npm run service-0:test", "allow"),
        ("cargo test -p service-0", "allow"),
        ("docker push registry/service-0", "deny"),
        ("kubectl get pods -n service-0", "allow"),
        ("kubectl delete pods -n service-0", "deny"),
    ] {
        text += &format!(
            "[[rule]]\ntool=\"shell\"\ncommand_prefix=\"{c}\"\ndecision=\"{d}\"\npriority=500\n"
        );
    }
    let places = pattern::Places { workspace: vec!["/project".into()], home: None };
    let loader = load::Loader { places, ..load::Loader::default() };
    let file = loader.parse(&text, "policy.toml", rule::Tier::User);
    assert!(file.diagnostics.is_empty());
    let e = Engine::new(file.rules, Mode::Default);
    let mut calls = vec![];
    if kind == "shell" || kind == "read" {
        for l in [
            "npm run service-0:test",
            "npm run service-0:test -- --grep 'two words'",
            "cargo test -p service-0 --release",
            "docker push registry/service-0 --all-tags",
            "npm run service-0:test && cargo test -p service-0",
            "kubectl get pods -n service-0 -o wide; kubectl delete pods -n service-0 --all",
            "make install",
            "cargo test -p service-0 && make deploy",
        ] {
            calls.push(
                Facts::new("shell", Effect::Change, Risk::High)
                    .with_args(serde_json::json!({"command":l})),
            );
        }
    } else {
        for (t, p) in [
            ("read_file", "service-0/src/lib.rs"),
            ("read_file", "service-0/README.md"),
            ("read_file", "service-0/private/notes.md"),
            ("write_file", "service-0/src/generated/api.rs"),
            ("write_file", "service-0/src/routes/users.rs"),
            ("write_file", "service-0/docs/index.md"),
            ("write_file", "none-of-them/src/lib.rs"),
        ] {
            let p = format!("/project/services/{p}");
            let (ef, r, a) = if t == "read_file" {
                (Effect::Read, Risk::Low, Access::Read)
            } else {
                (Effect::Edit, Risk::Medium, Access::Write)
            };
            calls.push(
                Facts::new(t, ef, r)
                    .with_args(serde_json::json!({"path":p}))
                    .with_paths(vec![w.look(p.as_ref(), a)]),
            );
        }
    }
    for _ in 0..n {
        for c in &calls {
            if kind == "read" {
                black_box(shell::read(c.args["command"].as_str().unwrap()));
            } else {
                black_box(e.decide(black_box(c), &w));
            }
        }
    }
    eprintln!("{}", calls.len());
}
