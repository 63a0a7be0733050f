//! Rules about commands that run others, and about commands that change the files they name.

use serde_json::json;
use toolgate_policy::load::Loader;
use toolgate_policy::rule::Tier;
use toolgate_policy::world::Lexical;
use toolgate_policy::{Decision, Effect, Engine, Facts, Mode, Policy as _, Risk};

fn decide(allow: &[&str], mode: Mode, command: &str) -> Decision {
    let text = format!("[permissions]\nallow = {allow:?}\n");
    let file = Loader::default().parse(&text, "p.toml", Tier::User);
    assert!(file.is_sound(), "{:?}", file.diagnostics);
    let facts =
        Facts::new("shell", Effect::Change, Risk::High).with_args(json!({ "command": command }));
    Engine::new(file.rules, mode).decide(&facts, &Lexical::new("/w")).decision
}

#[test]
fn a_rule_about_the_named_program_alone_does_not_count() {
    let text =
        "[permissions]\nallow = [\"Bash(uv run python *)\"]\nask = [\"Bash(python -m twine *)\"]\n";
    let rules = Loader::default().parse(text, "p.toml", Tier::User).rules;
    let engine = Engine::new(rules, Mode::Default);
    for (command, decision) in
        [("uv run python x.py", Decision::Allow), ("uv run python -m twine x", Decision::Ask)]
    {
        let facts = Facts::new("shell", Effect::Change, Risk::High)
            .with_args(json!({ "command": command }));
        let found = engine.decide(&facts, &Lexical::new("/w")).decision;
        assert_eq!(found, decision, "{command}");
    }
}

#[test]
fn a_rule_that_names_the_inner_program_covers_it() {
    for (rule, command) in [
        ("Bash(npx tsc *)", "npx tsc --noEmit"),
        ("Bash(npx tsc:*)", "npx tsc -p ."),
        ("Bash(uv run pytest *)", "uv run pytest -q tests"),
        ("Bash(uv run pytest *)", "uv run pytest --cov=src 'a b'"),
        ("Bash(poetry run pytest *)", "poetry run pytest"),
        ("Bash(bundle exec rspec *)", "bundle exec rspec spec/a.rb"),
        ("Bash(uv run -q pytest *)", "uv run -q pytest -x"),
        ("Bash(timeout 60 cargo test *)", "timeout 60 cargo test one"),
    ] {
        assert_eq!(decide(&[rule], Mode::Default, command), Decision::Allow, "{command}");
    }
}

#[test]
fn a_rule_that_does_not_name_the_inner_program_does_not_cover_it() {
    for (rule, command) in [
        ("Bash(npx *)", "npx tsc --noEmit"),
        ("Bash(npx tsc *)", "npx -y evil"),
        ("Bash(npx tsc *)", "npx tsc2"),
        ("Bash(npx tsc *)", "npx tsc && git push"),
        ("Bash(npx bash *)", "npx bash -c 'git push'"),
        ("Bash(uv run *)", "uv run pytest"),
        ("Bash(uv *)", "uv run pytest"),
        ("Bash(uv run --with *)", "uv run --with x evil"),
        ("Bash(uv run env *)", "uv run env git push"),
        ("Bash(uv run bash *)", "uv run bash -c 'git push'"),
        ("Bash(npm exec tsc *)", "npm exec tsc --script-shell=./x"),
        ("Bash(timeout 60 bash *)", "timeout 60 bash -c 'git push'"),
        ("Bash(timeout *)", "timeout 60 git push"),
        ("Bash(xargs -I git *)", "xargs -I git git push"),
        ("Bash(find . -exec grep *)", "find . -exec grep x {} + -exec git push {} +"),
        ("Bash(npx tsc *)", "FOO=1 npx tsc"),
    ] {
        assert_eq!(decide(&[rule], Mode::Default, command), Decision::Ask, "{command}");
    }
}

#[test]
fn changing_files_outside_the_workspace_asks_under_a_rule_about_the_command() {
    let rules = ["Bash(cp *)", "Bash(rm *)", "Bash(mv *)", "Bash(tar *)", "Bash(timeout *)"];
    for command in [
        "cp /opt/x .",
        "cp x ../y",
        "rm -rf /opt/x",
        "mv x /opt/y",
        "tar xf x.tar -C ..",
        "tar cf x.tar --directory=/opt .",
        "timeout 5 rm /opt/x",
        "cd src && rm ../../x",
    ] {
        assert_eq!(decide(&rules, Mode::Default, command), Decision::Ask, "{command}");
        assert_eq!(decide(&rules, Mode::Sandbox, command), Decision::Ask, "{command}");
    }
    for command in ["cp x y", "rm -rf build", "mv ./a src/../b", "cp /dev/null x", "tar cf x.tar ."]
    {
        assert_eq!(decide(&rules, Mode::Default, command), Decision::Allow, "{command}");
    }
    for rule in ["Bash", "Bash(cp x /opt/y)", "Bash(cp * /opt/y)"] {
        assert_eq!(decide(&[rule], Mode::Default, "cp x /opt/y"), Decision::Allow, "{rule}");
    }
}
