//! The behaviours the seeds describe, one named test each.

use std::path::PathBuf;

use serde_json::{Value, json};
use toolgate_policy::load::Loader;
use toolgate_policy::name::ToolPattern;
use toolgate_policy::pattern::Places;
use toolgate_policy::rule::{Origin, Priority, Rule, Tier};
use toolgate_policy::vocabulary::Vocabulary;
use toolgate_policy::world::Lexical;
use toolgate_policy::{
    Access, Decision, Effect, Engine, Facts, Mode, Policy as _, Risk, Verdict, World as _,
};

const ALLOW: Decision = Decision::Allow;
const ASK: Decision = Decision::Ask;
const DENY: Decision = Decision::Deny;

fn load(text: &str, name: &str, tier: Tier) -> Vec<Rule> {
    let loader = Loader {
        vocabulary: Vocabulary::default(),
        places: Places { workspace: vec![PathBuf::from("/w")], home: Some("/home/u".into()) },
    };
    let file = loader.parse(text, name, tier);
    assert_eq!(file.diagnostics, [], "{text}");
    file.rules
}

fn facts(tool: &str, args: Value) -> Facts {
    let world = Lexical::new("/w").with_home("/home/u");
    let (effect, risk, access) = match tool {
        "read_file" | "glob" | "grep" | "ls" => (Effect::Read, Risk::Low, Access::Read),
        "write_file" | "edit_file" => (Effect::Edit, Risk::Medium, Access::Write),
        _ => (Effect::Change, Risk::High, Access::Write),
    };
    let path = args.get("path").and_then(Value::as_str);
    let paths = path.map(|path| world.look(&world.workspace().join(path), access));
    Facts::new(tool, effect, risk).with_args(args).with_paths(paths.into_iter().collect())
}

fn verdict(engine: &Engine, tool: &str, args: Value) -> Verdict {
    engine.decide(&facts(tool, args), &Lexical::new("/w").with_home("/home/u"))
}

fn decided(text: &str, tool: &str, args: Value) -> Decision {
    verdict(&Engine::new(load(text, "p.toml", Tier::User), Mode::Default), tool, args).decision
}

fn shell(text: &str, command: &str) -> Decision {
    decided(text, "shell", json!({ "command": command }))
}

fn flag(tools: &[&str], decision: Decision, priority: Priority) -> Vec<Rule> {
    let origin = || Origin { source: "flag".into(), line: 0, tier: Tier::User };
    let rule = |tool: &&str| {
        Rule::about(vec![ToolPattern::parse(tool).expect("a tool")], decision, priority, origin())
    };
    tools.iter().map(rule).collect()
}

// Seed 003: priority bands.

#[test]
fn seed_003_yolo_is_an_allow_all_at_1_999() {
    let engine = Engine::in_mode(Mode::Yolo);
    let verdict = verdict(&engine, "delete_file", json!({ "path": "a" }));
    assert_eq!(verdict.decision, ALLOW);
    assert_eq!(verdict.rule.unwrap().priority.to_string(), "1.999");
}

#[test]
fn seed_003_auto_edit_allows_writes_at_1_015() {
    let engine = Engine::in_mode("auto_edit".parse().unwrap());
    let verdict = verdict(&engine, "write_file", json!({ "path": "a" }));
    assert_eq!(verdict.decision, ALLOW);
    assert_eq!(verdict.rule.unwrap().priority.to_string(), "1.015");
}

#[test]
fn seed_003_read_only_tools_are_allowed_at_1_05_and_writes_ask_at_1_01() {
    let engine = Engine::in_mode(Mode::Default);
    let read = verdict(&engine, "read_file", json!({ "path": "a" }));
    assert_eq!((read.decision, read.rule.unwrap().priority.to_string().as_str()), (ALLOW, "1.05"));
    let write = verdict(&engine, "write_file", json!({ "path": "a" }));
    assert_eq!((write.decision, write.rule.unwrap().priority.to_string().as_str()), (ASK, "1.01"));
}

#[test]
fn seed_003_allowed_tools_are_at_2_3_and_excluded_tools_beat_them_at_2_4() {
    let mut rules = flag(&["write_file"], ALLOW, Priority::ALLOWED_TOOLS);
    let args = || json!({ "path": "a" });
    assert_eq!(
        verdict(&Engine::new(rules.clone(), Mode::Default), "write_file", args()).decision,
        ALLOW
    );
    rules.extend(flag(&["write_file"], DENY, Priority::EXCLUDED_TOOLS));
    assert_eq!(verdict(&Engine::new(rules, Mode::Yolo), "write_file", args()).decision, DENY);
    assert_eq!(Priority::ALLOWED_TOOLS.to_string(), "2.3");
    assert_eq!(Priority::EXCLUDED_TOOLS.to_string(), "2.4");
}

#[test]
fn seed_003_always_allow_at_2_95_beats_the_users_files_but_not_the_admin() {
    let user = load(
        "[[rule]]\ntool = \"write_file\"\ndecision = \"ask\"\npriority = 900\n",
        "u.toml",
        Tier::User,
    );
    let engine = Engine::new(user, Mode::Default);
    let args = || json!({ "path": "a" });
    assert_eq!(verdict(&engine, "write_file", args()).decision, ASK);
    let granted = flag(&["write_file"], ALLOW, Priority::ALWAYS_ALLOW).remove(0);
    engine.always_allow(granted.clone());
    assert_eq!(verdict(&engine, "write_file", args()).decision, ALLOW);
    let admin =
        load("[[rule]]\ntool = \"write_file\"\ndecision = \"deny\"\n", "a.toml", Tier::Admin);
    let engine = Engine::new(admin, Mode::Default);
    engine.always_allow(granted);
    assert_eq!(verdict(&engine, "write_file", args()).decision, DENY);
}

#[test]
fn seed_003_servers_are_excluded_at_2_9_trusted_at_2_2_and_allowed_at_2_1() {
    let bands = [Priority::SERVER_EXCLUDED, Priority::SERVER_TRUSTED, Priority::SERVER_ALLOWED];
    assert_eq!(bands.map(|band| band.to_string()), ["2.9", "2.2", "2.1"]);
    let mut rules = flag(&["mcp__files"], ALLOW, Priority::SERVER_TRUSTED);
    let engine = Engine::new(rules.clone(), Mode::Default);
    assert_eq!(verdict(&engine, "mcp__files__read", json!({})).decision, ALLOW);
    rules.extend(flag(&["mcp__files"], DENY, Priority::SERVER_EXCLUDED));
    let engine = Engine::new(rules, Mode::Default);
    assert_eq!(verdict(&engine, "mcp__files__read", json!({})).decision, DENY);
}

#[test]
fn seed_003_canonical_arguments_have_sorted_keys_and_no_spaces() {
    let policy = "[[rule]]\ntoolName = \"some_tool\"\nargsPattern = '^\\{\"a\":1,\"b\":\\{\"c\":true,\"d\":null\\}\\}$'\ndecision = \"deny\"\n";
    let rules = Loader::default().parse(policy, "p.toml", Tier::User).rules;
    let engine = Engine::new(rules, Mode::Default);
    let mixed: Value = serde_json::from_str(r#"{"b": {"d": null, "c": true}, "a": 1}"#).unwrap();
    assert_eq!(verdict(&engine, "some_tool", mixed).decision, DENY);
    assert_eq!(verdict(&engine, "some_tool", json!({"a": 2})).decision, ASK);
}

#[test]
fn seed_003_server_names_cannot_be_spoofed() {
    let policy = "[[rule]]\nmcpName = \"github\"\ndecision = \"allow\"\n";
    assert_eq!(decided(policy, "mcp__github__search", json!({})), ALLOW);
    for name in
        ["mcp__evil__github__search", "mcp__github___x", "mcp__github_evil__x", "github__search"]
    {
        assert_ne!(decided(policy, name, json!({})), ALLOW, "{name}");
    }
}

#[test]
fn seed_003_discovered_tools_ask_whatever_they_claim() {
    let engine = Engine::in_mode(Mode::Default);
    let facts = Facts::new("discovered_tool_lint", Effect::Read, Risk::Low);
    assert_eq!(engine.decide(&facts, &Lexical::new("/w")).decision, ASK);
}

#[test]
fn seed_003_legacy_modes_keep_their_names() {
    for (name, mode) in [
        ("YOLO", Mode::Yolo),
        ("AUTO_EDIT", Mode::AcceptEdits),
        ("DEFAULT", Mode::Default),
        ("auto", Mode::Default),
        ("bypass", Mode::Yolo),
        ("autorun_none", Mode::Ask),
        ("autorun_no_public", Mode::AutorunNoPublic),
        ("autorun_all", Mode::AutorunAll),
        ("dontAsk", Mode::DontAsk),
        ("acceptEdits", Mode::AcceptEdits),
    ] {
        assert_eq!(name.parse(), Ok(mode), "{name}");
    }
}

#[test]
fn seed_003_rules_written_for_gemini_load_as_they_are() {
    let policy = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = [\"git status\", \"npm run\"]\ndecision = \"allow\"\npriority = 100\n\n[[rule]]\ntoolName = \"run_shell_command\"\ncommandRegex = \"rm (-rf|-fr)\"\ndecision = \"deny\"\npriority = 200\ndenyMessage = \"no\"\n";
    assert_eq!(shell(policy, "npm run build"), ALLOW);
    assert_eq!(shell(policy, "npm runner"), ASK);
    assert_eq!(shell(policy, "rm -rf build"), DENY);
}

#[test]
fn seed_003_non_interactive_rules_are_told_apart() {
    let policy = "[[rule]]\ntool = \"shell\"\ncommand = \"make\"\ninteractive = false\ndecision = \"deny\"\n";
    let rules = load(policy, "p.toml", Tier::User);
    let args = || json!({ "command": "make" });
    assert_eq!(verdict(&Engine::new(rules.clone(), Mode::Default), "shell", args()).decision, ASK);
    let engine = Engine::new(rules, Mode::Default).non_interactive();
    assert_eq!(verdict(&engine, "shell", args()).decision, DENY);
}

// Seed 002: risk modes.

#[test]
fn seed_002_autorun_modes_run_all_but_shell_and_public_edits() {
    for (mode, public) in [(Mode::AutorunAll, ALLOW), (Mode::AutorunNoPublic, ASK)] {
        let engine = Engine::in_mode(mode);
        assert_eq!(verdict(&engine, "write_file", json!({ "path": "a" })).decision, ALLOW);
        assert_eq!(verdict(&engine, "shell", json!({ "command": "make" })).decision, ASK);
        assert_eq!(verdict(&engine, "shell", json!({ "command": "ls" })).decision, ALLOW);
        let facts = Facts::new("edit_file", Effect::Edit, Risk::Medium)
            .with_args(json!({ "path": "public:/index.html" }));
        assert_eq!(engine.decide(&facts, &Lexical::new("/w")).decision, public);
    }
}

// Seed 004: permission flow and wildcards.

#[test]
fn seed_004_bypass_plan_accept_edits_and_dont_ask() {
    let args = || json!({ "path": "a" });
    for (mode, write, read) in [
        ("bypass", ALLOW, ALLOW),
        ("plan", DENY, ALLOW),
        ("accept_edits", ALLOW, ALLOW),
        ("dont_ask", DENY, ALLOW),
        ("default", ASK, ALLOW),
        ("ask", ASK, ALLOW),
    ] {
        let engine = Engine::in_mode(mode.parse().unwrap());
        assert_eq!(verdict(&engine, "write_file", args()).decision, write, "{mode}");
        assert_eq!(verdict(&engine, "read_file", args()).decision, read, "{mode}");
    }
}

#[test]
fn seed_004_bash_wildcards() {
    let policy =
        "[permissions]\nallow = [\"Bash(npm *)\", \"Bash(* install)\", \"Bash(git * main)\"]\n";
    for command in ["npm", "npm run test", "pip install", "git push main", "git pull origin main"] {
        assert_eq!(shell(policy, command), ALLOW, "{command}");
    }
    for command in ["npx x", "pip install evil", "git push origin mainline", "npm test; rm -rf x"] {
        assert_eq!(shell(policy, command), ASK, "{command}");
    }
}

#[test]
fn seed_004_mcp_wildcards() {
    let policy = "[permissions]\nallow = [\"mcp__filesystem__*\", \"mcp__*__read\"]\n";
    assert_eq!(decided(policy, "mcp__filesystem__write", json!({})), ALLOW);
    assert_eq!(decided(policy, "mcp__other__read", json!({})), ALLOW);
    assert_eq!(decided(policy, "mcp__other__write", json!({})), ASK);
}

#[test]
fn seed_004_task_permissions_are_by_agent() {
    let policy = "[permissions]\nallow = [\"Task(Explore)\"]\ndeny = [\"Task(Bash)\"]\n";
    assert_eq!(decided(policy, "task", json!({ "agent": "Explore" })), ALLOW);
    assert_eq!(decided(policy, "task", json!({ "agent": "Bash" })), DENY);
    assert_eq!(decided(policy, "task", json!({ "agent": "Plan" })), ASK);
    let none = "[permissions]\ndeny = [\"Task(*)\"]\n";
    assert_eq!(decided(none, "task", json!({ "agent": "Explore" })), DENY);
}

#[test]
fn seed_004_urls_are_approved_beforehand_on_label_boundaries() {
    let policy = "[web]\nallowed_domains = [\"docs.rs\"]\nblocked_domains = [\"bad.docs.rs\"]\n";
    let fetch = |url: &str| decided(policy, "web_fetch", json!({ "url": url }));
    assert_eq!(fetch("https://docs.rs/serde"), ALLOW);
    assert_eq!(fetch("https://static.docs.rs/x"), ALLOW);
    assert_eq!(fetch("https://evil-docs.rs/x"), ASK);
    assert_eq!(fetch("https://x.bad.docs.rs/x"), DENY);
    let https = "[web]\nauto_approve_https = true\n";
    assert_eq!(decided(https, "web_fetch", json!({ "url": "https://example.com/" })), ALLOW);
    assert_eq!(decided(https, "web_fetch", json!({ "url": "http://example.com/" })), ASK);
    assert_eq!(decided(https, "web_fetch", json!({ "url": "https://localhost/" })), DENY);
}

#[test]
fn seed_004_sensitive_paths_ask_with_the_reason_unless_named() {
    let blanket = "[permissions]\nallow = [\"Read\", \"Edit\"]\n";
    for path in [".env", "k.pem", "credentials.json", "secrets/x.txt", ".ssh/id_rsa", ".npmrc"] {
        assert_eq!(decided(blanket, "read_file", json!({ "path": path })), ASK, "{path}");
    }
    let named = "[permissions]\nallow = [\"Read(./.env)\"]\n";
    assert_eq!(decided(named, "read_file", json!({ "path": ".env" })), ALLOW);
    assert_eq!(decided(blanket, "write_file", json!({ "path": ".github/workflows/x.yml" })), ASK);
    let engine = Engine::new(load(blanket, "p.toml", Tier::User), Mode::Default);
    let warned = verdict(&engine, "read_file", json!({ "path": ".env" }));
    assert!(warned.reason().contains("holds secrets"), "{}", warned.reason());
}

#[test]
fn seed_004_protected_paths_are_never_written() {
    for mode in Mode::ALL {
        let engine = Engine::in_mode(mode);
        let written = verdict(&engine, "write_file", json!({ "path": "/etc/passwd" }));
        assert_eq!(written.decision, DENY, "{mode}");
    }
}

#[test]
fn rules_end_when_they_expire() {
    let policy = "[[rule]]\ntool = \"write_file\"\ndecision = \"allow\"\nexpires = 1969-12-31\n";
    assert_eq!(decided(policy, "write_file", json!({ "path": "a" })), ASK);
    let policy = policy.replace("1969-12-31", "2100-01-01T00:00:00Z");
    assert_eq!(decided(&policy, "write_file", json!({ "path": "a" })), ALLOW);
}
