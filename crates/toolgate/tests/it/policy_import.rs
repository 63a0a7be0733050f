//! `toolgate policy import`: what other programs allow.

use crate::harness::{Toolgate, stderr, stdout};

#[test]
fn an_imported_policy_can_be_used_as_it_is() {
    let settings = r#"{"permissions": {"allow": ["Bash(npm run *)"], "deny": ["Read(./.env)"], "defaultMode": "acceptEdits"}, "hooks": {}}"#;
    let toolgate = Toolgate::with_files(&[("settings.json", settings)]);
    let done = toolgate.run(["policy", "import", "claude", "settings.json"]).success();
    assert!(stderr(&done).contains("hooks"), "{}", stderr(&done));
    std::fs::write(toolgate.path("imported.toml"), stdout(&done)).unwrap();
    for (args, decision) in
        [(r#"{"command":"npm run build"}"#, "allow"), (r#"{"command":"npm publish"}"#, "ask")]
    {
        let done = toolgate.run(["policy", "check", "shell", args, "--policy", "imported.toml"]);
        assert!(stdout(&done).starts_with(decision), "{}", stdout(&done));
    }
}

#[test]
fn a_file_that_is_not_understood_says_where() {
    let toolgate = Toolgate::with_files(&[
        ("x.rules", "for x in []:\n  prefix_rule(pattern=[\"a\"])\n"),
        ("x.toml", "[[rule]\n"),
        ("x.json", "{"),
    ]);
    for (format, file) in [("codex", "x.rules"), ("gemini", "x.toml"), ("claude", "x.json")] {
        let done = toolgate.run(["policy", "import", format, file]).code(2);
        insta::assert_snapshot!(format!("import_{format}"), stderr(&done));
    }
}
