//! `toolgate init`: three questions, a first policy, and what it means.

use std::fs;

use predicates::str::{contains, is_empty};
use serde_json::Value;

use crate::harness::{Toolgate, stderr, stdout};
use crate::terminal::Terminal;

const POLICY: &str = "policies/permissions.toml";

/// A project in Rust.
fn project() -> Toolgate {
    Toolgate::with_files(&[
        ("Cargo.toml", ""),
        ("src/main.rs", "fn main() {}\n"),
        (".git/HEAD", ""),
    ])
}

fn text(toolgate: &Toolgate, relative: &str) -> String {
    fs::read_to_string(toolgate.home(relative)).unwrap()
}

fn shortened(toolgate: &Toolgate, text: &str) -> String {
    let text = text.replace(&*toolgate.home("").to_string_lossy(), "HOME/");
    text.replace(&*toolgate.path("").to_string_lossy(), "WORKSPACE/")
}

/// Everything that was printed, without the folders of this test.
fn said(toolgate: &Toolgate, args: &[&str]) -> String {
    let done = toolgate.run(args);
    let code = done.get_output().status.code().unwrap();
    shortened(toolgate, &format!("{}{}[{code}]", stdout(&done), stderr(&done)))
}

#[test]
fn the_usual_answers_make_a_policy_for_what_is_found() {
    let toolgate = project();
    insta::assert_snapshot!("usual", said(&toolgate, &["init", "--yes"]));
    insta::assert_snapshot!("policy", text(&toolgate, POLICY));
    insta::assert_snapshot!("config", text(&toolgate, "config.toml"));
    for (command, code) in [("cargo build", 0), ("git push", 4), ("npm test", 4)] {
        toolgate.run(["policy", "check", "--", command]).code(code).stderr(is_empty());
    }
    toolgate.run(["doctor"]).stdout(contains("permissions.toml`: "));
}

#[test]
fn again_everything_is_left_as_it_is() {
    let toolgate = project();
    toolgate.run(["init", "--yes"]).success();
    let before = (text(&toolgate, POLICY), text(&toolgate, "config.toml"));
    insta::assert_snapshot!("again", said(&toolgate, &["init", "--yes"]));
    assert_eq!((text(&toolgate, POLICY), text(&toolgate, "config.toml")), before);
}

#[test]
fn flags_answer_every_question() {
    let toolgate = project();
    let flags = [
        "--json",
        "--mode",
        "accept_edits",
        "init",
        "--language",
        "python",
        "--language",
        "go",
        "--user",
    ];
    let done = toolgate.run(flags).success().stderr(is_empty());
    let said: Value = serde_json::from_str(&stdout(&done)).unwrap();
    assert_eq!(said["mode"], "accept_edits");
    assert_eq!(said["languages"], serde_json::json!(["python", "go"]));
    assert_eq!(said["written"].as_array().unwrap().len(), 2);
    let has = |list: &str, call: &str| said[list].as_array().unwrap().iter().any(|one| one == call);
    assert!(
        has("allow", "editing a file")
            && has("allow", "pytest -q")
            && has("allow", "go test ./...")
    );
    assert!(has("ask", "deleting a file") && has("ask", "ssh build.example uptime"));
    assert!(has("deny", "changing /etc/passwd"));
    let policy = text(&toolgate, POLICY);
    assert!(
        policy.contains("default_mode = \"accept_edits\"") && !policy.contains("cargo"),
        "{policy}"
    );
    let none = Toolgate::new();
    none.run(["init", "--yes", "--language", "none"]).success();
    assert!(!text(&none, POLICY).contains("Bash(make"));
}

#[test]
fn where_nobody_can_be_asked_the_flags_are_named() {
    let toolgate = project();
    for args in [&["init"][..], &["init", "--language", "rust"], &["--non-interactive", "init"]] {
        toolgate.run(args).code(2).stdout(is_empty()).stderr(contains("--yes"));
    }
    toolgate
        .run(["--mode", "yolo", "init", "--yes"])
        .code(2)
        .stderr(contains("default_mode = \"yolo\""));
    toolgate.run(["init", "--yes", "--user", "--project"]).code(2);
    toolgate.run(["init", "--yes", "--language", "cobol"]).code(2).stderr(contains("rust"));
    assert!(!toolgate.home("policies").exists() && !toolgate.home("config.toml").exists());
}

#[test]
fn what_is_there_is_added_to_and_what_the_user_decided_stays() {
    let toolgate = project();
    fs::create_dir(toolgate.home("policies")).unwrap();
    let mine = "# mine\n[permissions]\nallow = [\n    \"Read\", # all of it\n    \"Bash(cargo build:*)\",\n]\ndeny = [\"Bash(git push *)\"]\n";
    fs::write(toolgate.home(POLICY), mine).unwrap();
    fs::write(
        toolgate.home("policies/z.toml"),
        "[permissions]\ndefault_mode = \"plan\"\nask = [\"Bash(cargo run *)\"]\n",
    )
    .unwrap();
    fs::write(toolgate.home("config.toml"), "# also mine\n").unwrap();
    insta::assert_snapshot!("merged", said(&toolgate, &["--mode", "default", "init", "--yes"]));
    let merged = text(&toolgate, POLICY);
    assert!(merged.starts_with("# mine\n[permissions]\nallow = [\n    \"Read\", # all of it\n    \"Bash(cargo build:*)\",\n    \"Bash(git add *)\",\n"), "{merged}");
    assert_eq!(merged.matches("cargo build").count(), 1);
    assert_eq!(merged.matches("git push").count(), 1);
    assert!(!merged.contains("cargo run"));
    assert_eq!(text(&toolgate, "config.toml"), "# also mine\n");
    toolgate.run(["policy", "check", "--", "git push"]).code(3);
}

#[test]
fn a_mode_that_was_chosen_before_is_kept_or_changed_in_its_place() {
    let toolgate = project();
    fs::create_dir(toolgate.home("policies")).unwrap();
    fs::write(toolgate.home(POLICY), "[permissions]\ndefault_mode = \"plan\" # for now\n").unwrap();
    toolgate.run(["init", "--yes"]).success();
    assert!(text(&toolgate, POLICY).contains("default_mode = \"plan\" # for now\n"));
    let done = toolgate.run(["--mode", "accept_edits", "init", "--yes"]).success();
    done.stdout(contains("permissions.toml: mode `accept_edits`."));
    assert!(text(&toolgate, POLICY).contains("default_mode = \"accept_edits\" # for now\n"));
}

#[test]
fn a_project_gets_permissions_and_no_mode() {
    let toolgate = project();
    let flags = ["--mode", "accept_edits", "init", "--yes", "--project"];
    insta::assert_snapshot!("project", said(&toolgate, &flags));
    let policy = toolgate.read(".toolgate/policies/permissions.toml").unwrap();
    assert!(
        policy.contains("\"Bash(cargo build *)\"") && !policy.contains("default_mode"),
        "{policy}"
    );
    assert!(!toolgate.home("config.toml").exists() && !toolgate.home("policies").exists());
    assert!(!toolgate.path(".toolgate/config.toml").exists());
    toolgate.run(["policy", "check", "--", "cargo build"]).code(4);
    toolgate.run(["trust", "add"]).success();
    toolgate.run(["policy", "check", "--", "cargo build"]).success();
}

#[test]
fn a_link_out_of_the_project_is_not_followed() {
    let toolgate = project();
    std::os::unix::fs::symlink(toolgate.home(""), toolgate.path(".toolgate")).unwrap();
    toolgate
        .run(["init", "--yes", "--project"])
        .code(2)
        .stderr(contains("leads out of the workspace"));
    assert!(!toolgate.home("policies").exists());
}

#[test]
fn a_policy_with_a_mistake_is_told_and_nothing_is_written() {
    let toolgate = project();
    fs::create_dir(toolgate.home("policies")).unwrap();
    fs::write(toolgate.home("policies/wrong.toml"), "[permissions]\nalow = []\n").unwrap();
    toolgate.run(["init", "--yes"]).code(2).stderr(contains("wrong.toml:2:1"));
    assert!(!toolgate.home(POLICY).exists() && !toolgate.home("config.toml").exists());
}

#[test]
fn nothing_that_publishes_is_allowed_in_any_language() {
    let toolgate = Toolgate::new();
    let names = ["git", "rust", "node", "python", "go", "c", "java", "ruby", "php"];
    let languages: Vec<&str> = names.iter().flat_map(|name| ["--language", *name]).collect();
    toolgate.run([&["init", "--yes"], &languages[..]].concat()).success();
    let policy = text(&toolgate, POLICY);
    let (allow, _) = policy.split_once("ask = [").unwrap();
    for word in ["push", "publish", "deploy", "release", "login", "twine", "ssh", "gh ", "kubectl"]
    {
        assert!(!allow.contains(word), "{word}");
    }
    for command in [
        "cargo publish",
        "npm publish",
        "git push",
        "twine upload x",
        "docker push x",
        "mvn deploy",
    ] {
        toolgate.run(["policy", "check", "--", command]).code(4);
    }
}

#[test]
fn at_a_terminal_three_questions_are_asked() {
    let toolgate = project();
    let mut terminal = Terminal::start(&toolgate, &["init".to_owned()]);
    let first = terminal.until("Number [1]: ");
    insta::assert_snapshot!("questions", shortened(&toolgate, &first));
    terminal.answer("7");
    terminal.until("Type a number from 1 to ");
    terminal.answer("2");
    terminal.until("Number, with spaces between [1 2]: ");
    terminal.answer("2 4");
    terminal.until("Number [1]: ");
    terminal.answer("");
    let (rest, code) = terminal.end();
    assert_eq!(code, 0, "{rest}");
    let policy = text(&toolgate, POLICY);
    assert!(policy.contains("default_mode = \"accept_edits\""), "{policy}");
    assert!(
        policy.contains("# Rust") && policy.contains("# Python") && !policy.contains("# Git"),
        "{policy}"
    );
    assert!(rest.contains("runs unasked"), "{rest}");
}

#[test]
fn who_gives_up_changes_nothing() {
    let toolgate = project();
    let mut terminal = Terminal::start(&toolgate, &["init".to_owned()]);
    terminal.until("Number [1]: ");
    terminal.answer("2");
    terminal.until("Number, with spaces between [1 2]: ");
    terminal.press('d');
    let (rest, code) = terminal.end();
    assert_eq!(code, 130, "{rest}");
    assert!(rest.contains("nothing was written"), "{rest}");
    assert!(!toolgate.home("policies").exists() && !toolgate.home("config.toml").exists());
}
