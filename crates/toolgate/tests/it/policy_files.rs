//! Policy files: where they come from, and what is said about mistakes in them.

use serde_json::json;

use crate::harness::{Toolgate, stderr, stdout};

const MISTAKES: &str = r#"
[[rule]]
tool = "shell"
command = "git status"
decison = "allow"

[[rule]]
tool = "wirte_file"
decision = "deny"

[[rule]]
tool = "write_file"
decision = "perhaps"

[[rule]]
tool = "write_file"
decision = "allow"
priority = 1000

[[rule]]
tool = "*"
args_pattern = '"path":"(.sql'
decision = "ask"

[[rule]]
tool = ["shell", 5]
decision = "ask"

[[rule]]
tool = "write_file"
conditions = [{ param = "path", operator = "begins", value = "src/" }]
decision = "deny"

[[rule]]
tool = "write_file"
modes = ["yollo"]
decision = "deny"

[[rule]]
tool = "mcp__a__b__c"
decision = "deny"

[permissions]
allow = ["Bash(git status", "WebFetch(docs.rs)"]
dney = ["Read(./.env)"]
"#;

#[test]
fn ten_mistakes_yield_ten_messages_in_one_run() {
    let toolgate = Toolgate::with_files(&[("bad.toml", MISTAKES)]);
    let done = toolgate.run(["policy", "list", "--policy", "bad.toml"]).code(2);
    let told = stderr(&done);
    assert!(told.matches("error:").count() >= 11, "{told}");
    assert!(stdout(&done).is_empty());
    insta::assert_snapshot!(told);
}

#[test]
fn syntax_errors_point_at_their_place() {
    let toolgate = Toolgate::with_files(&[
        ("bad.toml", "[[rule]]\ntool = \"shell\ndecision = \"allow\"\n"),
        ("bad.json", "{\"permissions\": {\"allow\": [\"Read\", }}"),
    ]);
    for file in ["bad.toml", "bad.json"] {
        let done = toolgate.run(["policy", "list", "--policy", file]).code(2);
        insta::assert_snapshot!(format!("syntax_{file}"), stderr(&done));
    }
}

#[test]
fn a_rule_that_never_decides_is_told() {
    let policy = "[[rule]]\ntool = \"shell\"\ndecision = \"deny\"\npriority = 100\n\n[[rule]]\ntool = \"shell\"\ncommand = \"git status\"\ndecision = \"allow\"\npriority = 50\n";
    let toolgate = Toolgate::with_files(&[("p.toml", policy)]);
    let done = toolgate.run(["policy", "list", "--policy", "p.toml"]).success();
    insta::assert_snapshot!(stderr(&done));
}

#[test]
fn a_missing_file_is_an_error() {
    let done = Toolgate::new().run(["policy", "list", "--policy", "nosuch.toml"]).code(2);
    assert!(stderr(&done).contains("cannot read policy `nosuch.toml`"), "{}", stderr(&done));
}

#[test]
fn policies_come_from_user_and_trusted_workspace() {
    let toolgate = Toolgate::with_files(&[(
        ".toolgate/policies/team.toml",
        "[permissions]\ndeny = [\"Read(./notes.txt)\"]\n",
    )]);
    std::fs::write(toolgate.path("notes.txt"), "x").unwrap();
    let check = || {
        let args = json!({ "path": "notes.txt" }).to_string();
        let done = toolgate.run(["policy", "check", "read_file", &args]);
        stdout(&done).split(':').next().unwrap_or_default().to_owned()
    };
    assert_eq!(check(), "allow", "an untrusted folder brings no rules");
    let workspace = toolgate.path("").canonicalize().unwrap();
    let trusted = json!({ workspace.to_str().unwrap(): "TRUST_FOLDER" });
    std::fs::write(toolgate.home("trusted_folders.json"), trusted.to_string()).unwrap();
    assert_eq!(check(), "deny");
    std::fs::remove_file(toolgate.home("trusted_folders.json")).unwrap();
    std::fs::create_dir_all(toolgate.home("policies")).unwrap();
    let own = "[permissions]\nask = [\"Read(./notes.txt)\"]\n";
    std::fs::write(toolgate.home("policies/mine.toml"), own).unwrap();
    assert_eq!(check(), "ask");
}

#[test]
fn a_workspace_may_tighten_but_not_loosen_what_the_user_says() {
    let toolgate = Toolgate::with_files(&[
        (
            ".toolgate/policies/team.toml",
            "[permissions]\nallow = [\"Bash(make *)\"]\nask = [\"Bash(npm *)\"]\n",
        ),
        ("mine.toml", "[permissions]\nallow = [\"Bash(npm *)\"]\ndeny = [\"Bash(make *)\"]\n"),
    ]);
    let workspace = toolgate.path("").canonicalize().unwrap();
    let trusted = json!({ workspace.to_str().unwrap(): "TRUST_FOLDER" });
    std::fs::write(toolgate.home("trusted_folders.json"), trusted.to_string()).unwrap();
    let check = |command: &str| {
        let args = json!({ "command": command }).to_string();
        let done = toolgate.run(["policy", "check", "shell", &args, "--policy", "mine.toml"]);
        stdout(&done).split(':').next().unwrap_or_default().to_owned()
    };
    assert_eq!(check("npm test"), "ask");
    assert_eq!(check("make"), "deny");
}
