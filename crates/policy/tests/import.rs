//! Import of other programs' permission files, on files as people have them.
#![cfg(feature = "import")]

use proptest::prelude::*;
use toolgate_policy::import::{ImportError, Imported, claude, codex, gemini};

type Import = fn(&str, &str) -> Result<Imported, ImportError>;

/// Every import with a file name that leads to it.
const IMPORTS: [(Import, &str); 4] = [
    (claude, "settings.json"),
    (gemini, "policy.toml"),
    (codex, "default.rules"),
    (codex, "config.toml"),
];

const CLAUDE: &str = include_str!("data/import/claude-settings.json");
const GEMINI: &str = include_str!("data/import/gemini-policy.toml");
const RULES: &str = include_str!("data/import/default.rules");
const CONFIG: &str = include_str!("data/import/config.toml");

/// The policy, which must be TOML, and below it the losses.
fn render(imported: &Imported) -> String {
    imported.policy.parse::<toml::Table>().expect("the policy is TOML");
    let losses: Vec<String> = imported.losses.iter().map(ToString::to_string).collect();
    format!("{}\n--- losses ---\n{}", imported.policy, losses.join("\n"))
}

#[test]
fn imports_claude_settings() {
    insta::assert_snapshot!(render(&claude(CLAUDE, ".claude/settings.json").unwrap()));
}

#[test]
fn imports_gemini_policy() {
    insta::assert_snapshot!(render(&gemini(GEMINI, "my-rules.toml").unwrap()));
}

#[test]
fn imports_codex_rules() {
    insta::assert_snapshot!(render(&codex(RULES, "default.rules").unwrap()));
}

#[test]
fn imports_codex_config() {
    insta::assert_snapshot!(render(&codex(CONFIG, "config.toml").unwrap()));
}

#[test]
fn empty_files_are_imported_without_losses() {
    for (import, name) in IMPORTS {
        assert!(import("", name).unwrap().losses.is_empty(), "{name}");
    }
}

#[test]
fn errors_point_at_the_mistake() {
    let errors: Vec<String> = [
        (claude as Import, "a.json", "{\n  \"permissions\": { \"deny\": [1] }\n}"),
        (claude, "a.json", "{ \"permissions\": "),
        (gemini, "a.toml", "[[rule]]\ntoolName = \"glob\"\ndecision = \"maybe\"\npriority = 1\n"),
        (gemini, "a.toml", "[[rule]]\ntoolName = \"glob\"\ndecision = \"deny\"\npriority = 1000\n"),
        (gemini, "a.toml", "\n[[rule]]\ntoolName = \"glob\"\ndecision = \"deny\"\n"),
        (codex, "a.rules", "prefix_rule(\n    pattern = [],\n)\n"),
        (codex, "a.rules", "x = 1\nfor rule in x:\n    prefix_rule(rule)\n"),
        (codex, "a.rules", "define_program(program = \"ls\")\n"),
        (codex, "a.rules", "prefix_rule(pattern = [\"ls\"]\n"),
        (codex, "a.toml", "approval_policy = \"sometimes\"\n"),
        (codex, "a.toml", "profile = \"none\"\n"),
    ]
    .into_iter()
    .map(|(import, name, text)| format!("{name}: {}", import(text, name).unwrap_err()))
    .collect();
    insta::assert_snapshot!(errors.join("\n"));
}

/// Every line of the table can be imported; the engine's tests compare the decisions.
#[test]
fn every_case_of_the_decision_table_is_imported() {
    let mut per_format = std::collections::BTreeMap::<String, usize>::new();
    for line in include_str!("data/import_cases.jsonl").lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| case[key].as_str().unwrap_or_else(|| panic!("{key}: {line}"));
        let (import, name): (Import, &str) = match text("format") {
            "claude" => (claude, "settings.json"),
            "gemini" => (gemini, "policy.toml"),
            "codex" => (codex, case["name"].as_str().unwrap_or("default.rules")),
            other => panic!("{other}"),
        };
        render(&import(text("file"), name).unwrap_or_else(|error| panic!("{error}: {line}")));
        assert!(["allow", "ask", "deny"].contains(&text("original")), "{line}");
        assert!(case["args"].is_object() && !text("tool").is_empty(), "{line}");
        *per_format.entry(text("format").to_owned()).or_default() += 1;
    }
    assert!(
        per_format.len() == 3 && per_format.values().all(|count| *count >= 15),
        "{per_format:?}"
    );
}

/// Pieces of all formats, so that random text gets past the first character.
fn fragments() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => prop::sample::select(vec![
            "{", "}", "[", "]", "(", ")", ",", ":", "=", "\"", "'", "\n", "*", "+", "\\", "/", "#",
            "\"permissions\":", "\"deny\":", "\"allow\":", "\"Bash(", "\"Read(", "mcp__", "domain:",
            "[[rule]]\n", "toolName = ", "commandRegex = ", "argsPattern = ", "priority = 5\n",
            "decision = \"deny\"\n", "decision = \"ask_user\"\n", "decision = \"allow\"\n",
            "prefix_rule(", "network_rule(", "host_executable(", "pattern = ", "match = ", "None",
            "approval_policy = ", "[permissions.x]\n", "mcp_servers.a", "granular", "sandbox_mode",
        ]).prop_map(str::to_owned),
        1 => "[a-z_.*^$|? ]{1,6}",
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// A permission string that may be anything inside its parentheses.
fn permission() -> impl Strategy<Value = String> {
    let tool = prop::sample::select(vec![
        "Bash",
        "Read",
        "Edit",
        "Write",
        "WebFetch",
        "Task",
        "Agent",
        "Skill",
        "mcp__a__b",
        "*",
        "X",
    ]);
    (tool, prop::option::of(".{0,12}")).prop_map(|(tool, specifier)| match specifier {
        Some(specifier) => format!("{tool}({specifier})"),
        None => tool.to_owned(),
    })
}

proptest! {
    #[test]
    fn never_panics_and_always_writes_toml(text in prop_oneof![fragments(), any::<String>()]) {
        for (import, name) in IMPORTS {
            if let Ok(imported) = import(&text, name) {
                render(&imported);
            }
        }
    }

    #[test]
    fn every_permission_is_carried_over_or_lost(text in permission(), deny in any::<bool>()) {
        let list = if deny { "deny" } else { "allow" };
        let settings = serde_json::json!({ "permissions": { list: [text] } }).to_string();
        let imported = claude(&settings, "settings.json").unwrap();
        let policy: toml::Table = imported.policy.parse().unwrap();
        let carried = policy.get("permissions").is_some()
            || policy["rule"].as_array().is_some_and(|rules| rules.len() > 1);
        prop_assert!(carried || !imported.losses.is_empty());
    }

    #[test]
    fn a_gemini_rule_is_never_lost_silently(
        regex in "[a-z.*+?^$|()\\[\\]\\\\\"{}dws]{0,12}",
        key in prop::sample::select(vec!["argsPattern", "commandRegex", "commandPrefix"]),
        decision in prop::sample::select(vec!["allow", "ask_user", "deny"]),
    ) {
        let value = toml::Value::String(regex).to_string();
        let text = format!("[[rule]]\ntoolName = \"run_shell_command\"\n{key} = {value}\ndecision = \"{decision}\"\npriority = 5\n");
        let imported = gemini(&text, "policy.toml").unwrap();
        let policy: toml::Table = imported.policy.parse().unwrap();
        let rules = policy["rule"].as_array().unwrap();
        let ours = rules.iter().filter(|rule| rule["priority"].as_integer() == Some(5)).count();
        prop_assert!(ours > 0 || (decision == "allow" && !imported.losses.is_empty()));
    }
}
