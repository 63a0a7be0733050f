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

/// Imports a file, and saves the policy; returns what was said about it.
fn imported(toolgate: &Toolgate, format: &str, file: &str) -> String {
    let done = toolgate.run(["policy", "import", format, file]).success();
    std::fs::write(toolgate.path("imported.toml"), stdout(&done)).unwrap();
    let said = stderr(&done).replace(&*toolgate.path("").to_string_lossy(), "WORKSPACE/");
    format!("{}--- said ---\n{said}", stdout(&done))
}

fn decision(toolgate: &Toolgate, command: &str) -> String {
    let done = toolgate.run([
        "policy",
        "check",
        "--level",
        "namespaces",
        "--policy",
        "imported.toml",
        "--",
        command,
    ]);
    assert!(!stderr(&done).contains("error"), "{}", stderr(&done));
    stdout(&done)
}

#[test]
fn folders_that_are_missing_are_a_note() {
    let settings = r#"{"permissions": {"allow": [], "ask": [], "additionalDirectories": ["../missing", "~/missing", "here"]}}"#;
    let toolgate = Toolgate::with_files(&[("settings.json", settings), ("here/a.txt", "")]);
    let said = imported(&toolgate, "claude", "settings.json");
    assert_eq!(said.matches("does not exist here").count(), 2, "{said}");
    assert!(decision(&toolgate, "ls here").starts_with("allow"));
    let done = toolgate.run(["sh", "--policy", "imported.toml", "--", "ls", "here"]).success();
    assert_eq!(stderr(&done).matches("which does not exist").count(), 2, "{}", stderr(&done));
}

#[test]
fn rules_about_skills_load() {
    let settings = r#"{"permissions": {"allow": ["Skill(deploy)", "Skill(review:*)"], "deny": ["Skill(danger*)"]}}"#;
    let toolgate = Toolgate::with_files(&[("settings.json", settings)]);
    imported(&toolgate, "claude", "settings.json");
    for (skill, expected) in [
        ("deploy", "allow"),
        ("review", "allow"),
        ("deployed", "ask"),
        ("reviewer", "ask"),
        ("danger", "deny"),
        ("dangerous", "deny"),
    ] {
        let args = format!(r#"{{"name":"{skill}"}}"#);
        let done =
            toolgate.run(["policy", "check", "--policy", "imported.toml", "activate_skill", &args]);
        assert!(stdout(&done).starts_with(expected), "{skill}: {}", stdout(&done));
    }
}

#[test]
fn the_sandbox_of_claude_code_is_kept() {
    let settings = r#"{
  "permissions": {"allow": ["Bash(npm ci)"], "deny": ["Bash(git push *)"], "defaultMode": "acceptEdits"},
  "sandbox": {
    "enabled": true,
    "excludedCommands": ["docker *"],
    "filesystem": {"allowWrite": ["~/.cache/tool", "//tmp/build", "/"], "denyRead": ["~/.aws"]},
    "network": {"allowedDomains": ["github.com", "*.npmjs.org", "*"], "allowLocalBinding": false}
  }
}"#;
    let toolgate = Toolgate::with_files(&[("settings.json", settings), ("a.txt", "")]);
    insta::assert_snapshot!("claude_sandbox", imported(&toolgate, "claude", "settings.json"));
    let run = decision(&toolgate, "cargo build");
    assert!(run.starts_with("allow") && run.contains("github.com"), "{run}");
    assert!(decision(&toolgate, "git push").starts_with("deny"));
    // Claude Code runs these outside of the sandbox, so it asks.
    assert!(decision(&toolgate, "docker ps").starts_with("ask"));
    let off = settings.replace("\"enabled\": true", "\"enabled\": false");
    toolgate.write("settings.json", off);
    imported(&toolgate, "claude", "settings.json");
    assert!(decision(&toolgate, "cargo build").starts_with("ask"));
    let asking = settings
        .replace("\"enabled\": true", "\"enabled\": true, \"autoAllowBashIfSandboxed\": false");
    toolgate.write("settings.json", asking);
    imported(&toolgate, "claude", "settings.json");
    assert!(decision(&toolgate, "cargo build").starts_with("ask"));
    let run = decision(&toolgate, "npm ci");
    assert!(run.starts_with("allow") && run.contains("github.com"), "{run}");
}

#[test]
fn the_sandbox_of_codex_is_kept() {
    for (name, config, expected) in [
        (
            "codex_workspace",
            "sandbox_mode = \"workspace-write\"\napproval_policy = \"on-request\"\n[sandbox_workspace_write]\nnetwork_access = false\nwritable_roots = [\"/nowhere/x\"]\n",
            "may write in the workspace",
        ),
        (
            "codex_network",
            "sandbox_mode = \"workspace-write\"\napproval_policy = \"never\"\n[sandbox_workspace_write]\nnetwork_access = true\nwritable_roots = []\n",
            "crate registry",
        ),
        (
            "codex_read_only",
            "sandbox_mode = \"read-only\"\napproval_policy = \"on-request\"\n",
            "read-only",
        ),
    ] {
        let toolgate = Toolgate::with_files(&[("config.toml", config)]);
        insta::assert_snapshot!(name, imported(&toolgate, "codex", "config.toml"));
        let run = decision(&toolgate, "cargo build");
        assert!(run.starts_with("allow") && run.contains(expected), "{name}: {run}");
    }
    for config in [
        "sandbox_mode = \"danger-full-access\"\n",
        "sandbox_mode = \"workspace-write\"\n[sandbox_workspace_write]\nnetwork_access = true\n",
    ] {
        let toolgate = Toolgate::with_files(&[("config.toml", config)]);
        imported(&toolgate, "codex", "config.toml");
        assert!(decision(&toolgate, "cargo build").starts_with("allow"), "{config}");
        assert!(decision(&toolgate, "docker ps").starts_with("ask"), "{config}");
    }
    let toolgate = Toolgate::with_files(&[(
        "config.toml",
        "sandbox_mode = \"workspace-write\"\napproval_policy = \"untrusted\"\n",
    )]);
    imported(&toolgate, "codex", "config.toml");
    assert!(decision(&toolgate, "cargo build").starts_with("ask"));
}

#[test]
fn checkers_of_gemini_and_empty_lists_are_understood() {
    let policy = r#"
[[rule]]
toolName = "replace"
decision = "allow"
priority = 15
[rule.safety_checker]
type = "in-process"
name = "allowed-path"
required_context = ["environment"]

[[rule]]
toolName = "glob"
decision = "allow"
priority = 15
[rule.safety_checker]
type = "external"
name = "my-checker"

[[rule]]
toolName = []
decision = "allow"
priority = 10

[[rule]]
toolName = "run_shell_command"
commandPrefix = []
modes = []
decision = "allow"
priority = 10

[[safety_checker]]
toolName = ["write_file"]
priority = 100
[safety_checker.checker]
type = "in-process"
name = "allowed-path"
"#;
    let toolgate = Toolgate::with_files(&[("policy.toml", policy)]);
    insta::assert_snapshot!("gemini_checkers", imported(&toolgate, "gemini", "policy.toml"));
    assert!(decision(&toolgate, "rm x").starts_with("ask"));
}

#[test]
fn everyday_commands_are_counted_for_programs_too() {
    let toolgate = Toolgate::with_files(&[("config.toml", "sandbox_mode = \"read-only\"\n")]);
    let done = toolgate.run(["--json", "policy", "import", "codex", "config.toml"]).success();
    let said: serde_json::Value = serde_json::from_str(&stdout(&done)).unwrap();
    let count = |key: &str| said["everyday"][key].as_u64().unwrap();
    assert!(count("run") > 0 && count("cannot_write") > count("ask"), "{}", said["everyday"]);
}
