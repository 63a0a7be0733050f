//! Rules of a trusted folder count as they were accepted: changes tighten, and loosen nothing.

use std::fs;

use crate::harness::{Toolgate, json_lines, stderr, stdout};
use crate::terminal::Terminal;

const ALLOWS: &str = "[permissions]\nallow = [\"Bash(touch *)\"]\n";

/// Returns the decision on `touch a` and the notes beside it.
fn decided(toolgate: &Toolgate) -> (String, String) {
    let check = ["policy", "check", "shell", r#"{"command":"touch a"}"#];
    let done = toolgate.run(check);
    let decision = stdout(&done).split(':').next().unwrap().trim().to_owned();
    (decision, stderr(&done))
}

fn decides(toolgate: &Toolgate) -> String {
    decided(toolgate).0
}

fn trusted(files: &[(&str, &str)]) -> Toolgate {
    let toolgate = Toolgate::with_files(files);
    toolgate.run(["trust", "add"]).success();
    toolgate
}

#[test]
fn nothing_that_loosens_counts_before_it_is_accepted() {
    let plain = Toolgate::new();
    assert_eq!(decides(&plain), "ask");
    for (file, text) in [
        ("x.toml", "[permissions]\nallow = [\"Bash\"]\n"),
        ("x.toml", "[permissions]\nallow = [\"Bash(touch *)\"]\n"),
        ("x.toml", "[permissions]\nallow = [\"*\"]\n"),
        ("x.toml", "[[rule]]\npermission = [\"Bash\"]\ndecision = \"allow\"\nsandbox = \"full\"\n"),
        ("x.toml", "[[rule]]\ntool = \"shell\"\ndecision = \"allow\"\npriority = 999\n"),
        ("x.toml", "[[rule]]\ntool = \"*\"\ndecision = \"allow\"\nmodes = [\"default\"]\n"),
        (
            "x.toml",
            "[[rule]]\ncommand = [\"touch a\"]\ndecision = \"allow\"\nnetwork = [\"a.b\"]\n",
        ),
        ("x.toml", "[[rule]]\ncommand_regex = \".*\"\ndecision = \"allow\"\nrisk = \"low\"\n"),
        ("x.toml", "[permissions]\ndefault_mode = \"yolo\"\nallow = [\"Bash(touch a)\"]\n"),
        ("x.json", "{\"permissions\":{\"allow\":[\"Bash(touch *)\"]}}"),
        ("team.toml", "[permissions]\nallow = [\"Bash(touch *)\"]\nask = [\"Read(x)\"]\n"),
    ] {
        let toolgate =
            trusted(&[(".toolgate/policies/team.toml", "[permissions]\nask = [\"Read(x)\"]\n")]);
        toolgate.write(&format!(".toolgate/policies/{file}"), text);
        let (decision, said) = decided(&toolgate);
        assert_eq!(decision, "ask", "{text}");
        assert!(said.contains(&format!("`.toolgate/policies/{file}` changed")), "{text}: {said}");
        assert!(said.contains("toolgate trust review"), "{said}");
        let outside = toolgate.outside("made");
        let line = format!(r#"{{"command":"touch {}"}}"#, outside.display());
        toolgate.run(["--non-interactive", "call", "shell", &line]).failure();
        assert!(!outside.exists(), "{text}");
    }
}

#[test]
fn what_tightens_counts_at_once() {
    let toolgate = trusted(&[(".toolgate/policies/team.toml", ALLOWS)]);
    assert_eq!(decides(&toolgate), "allow");
    for (text, decision) in [
        ("[permissions]\ndeny = [\"Bash(touch *)\"]\n", "deny"),
        ("[permissions]\nask = [\"Bash(touch *)\"]\n", "ask"),
        ("[[rule]]\ntool = \"*\"\ndecision = \"deny\"\n", "deny"),
        ("[[rule]]\ncommand = [\"touch a\"]\ndecision = \"deny\"\npriority = 0\n", "deny"),
        ("[[rule]]\ncommand = [\"touch a\"]\ndecision = \"ask\"\nsandbox = \"full\"\n", "ask"),
    ] {
        toolgate.write(".toolgate/policies/new.toml", text);
        assert_eq!(decides(&toolgate), decision, "{text}");
    }
    fs::remove_file(toolgate.path(".toolgate/policies/new.toml")).unwrap();
    assert_eq!(decides(&toolgate), "allow");
}

#[test]
fn a_question_that_is_not_accepted_lowers_no_denial() {
    let denies = "[[rule]]\ntool = \"shell\"\ndecision = \"deny\"\n";
    let toolgate = trusted(&[(".toolgate/policies/team.toml", denies)]);
    for text in [
        "[permissions]\nask = [\"Bash(touch a)\"]\n",
        "[[rule]]\ncommand = [\"touch a\"]\ndecision = \"ask\"\npriority = 999\n",
        "[[rule]]\ncommand = [\"touch a\"]\ndecision = \"ask\"\npriority = 999\nmodes = [\"default\"]\n",
    ] {
        toolgate.write(".toolgate/policies/new.toml", text);
        assert_eq!(decides(&toolgate), "deny", "{text}");
    }
    // Nor that of a mode.
    let toolgate = trusted(&[]);
    let text = "[[rule]]\ntool = \"*\"\ndecision = \"ask\"\npriority = 999\nmodes = [\"plan\"]\n";
    toolgate.write(".toolgate/policies/new.toml", text);
    let check = ["--mode", "plan", "policy", "check", "shell", r#"{"command":"touch a"}"#];
    assert!(stdout(&toolgate.run(check)).starts_with("deny"));
}

#[test]
fn a_denial_that_is_taken_out_holds_until_that_is_accepted() {
    let denies = "[permissions]\ndeny = [\"Bash(touch *)\"]\n";
    for emptied in [Some(""), Some("[permissions]\nallow = [\"Bash(touch *)\"]\n"), None] {
        let toolgate = trusted(&[(".toolgate/policies/team.toml", denies)]);
        let file = toolgate.path(".toolgate/policies/team.toml");
        match emptied {
            Some(text) => fs::write(&file, text).unwrap(),
            None => fs::remove_file(&file).unwrap(),
        }
        assert_eq!(decides(&toolgate), "deny", "{emptied:?}");
        toolgate.run(["trust", "review", "--yes"]).success();
        assert_ne!(decides(&toolgate), "deny", "{emptied:?}");
    }
    // The whole folder may go, or become a link.
    let toolgate = trusted(&[(".toolgate/policies/team.toml", denies)]);
    fs::rename(toolgate.path(".toolgate"), toolgate.path("gone")).unwrap();
    assert_eq!(decides(&toolgate), "deny");
    std::os::unix::fs::symlink(toolgate.outside(""), toolgate.path(".toolgate")).unwrap();
    assert_eq!(decides(&toolgate), "deny");
}

#[test]
fn a_review_shows_the_difference_and_accepts_it() {
    let toolgate = trusted(&[(".toolgate/policies/team.toml", ALLOWS)]);
    assert_eq!(
        stdout(&toolgate.run(["trust", "review"]).success()),
        "Nothing changed since you accepted it.\n"
    );
    toolgate.write(".toolgate/policies/team.toml", "[permissions]\nallow = [\"Bash(make *)\"]\n");
    toolgate.write(".toolgate/policies/b.toml", "[permissions]\nallow = [\"Bash(cp *)\"]\n");
    // What was accepted stays in force meanwhile.
    assert_eq!(decides(&toolgate), "allow");
    let shown = stdout(&toolgate.run(["trust", "review"]).code(1));
    for part in [
        "new: .toolgate/policies/b.toml",
        "changed: .toolgate/policies/team.toml",
        "-allow = [\"Bash(touch *)\"]",
        "+allow = [\"Bash(make *)\"]",
        "Not accepted",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let status = stdout(&toolgate.run(["trust", "status"]).success());
    assert!(
        status.contains("waiting for `toolgate trust review`:\n  .toolgate/policies/b.toml"),
        "{status}"
    );
    let json = json_lines(&toolgate.run(["--json", "trust", "review"]).code(1)).remove(0);
    assert_eq!(json["waiting"].as_array().unwrap().len(), 2);
    let doctor = stdout(&toolgate.run(["doctor"]));
    assert!(doctor.contains("not as you accepted it"), "{doctor}");
    toolgate.run(["trust", "review", "--yes"]).success();
    assert_eq!(decided(&toolgate), ("ask".to_owned(), String::new()));
}

#[test]
fn at_a_terminal_a_review_asks() {
    for (typed, decision) in [("y", "allow"), ("n", "ask"), ("", "ask")] {
        let toolgate = trusted(&[]);
        toolgate.write(".toolgate/policies/team.toml", ALLOWS);
        let args = ["trust", "review"].map(str::to_owned);
        let mut terminal = Terminal::start(&toolgate, &args);
        terminal.until("Accept this? [y/N]: ");
        terminal.answer(typed);
        terminal.end();
        assert_eq!(decides(&toolgate), decision, "{typed}");
    }
}

#[test]
fn hidden_letters_are_shown_in_a_review() {
    let toolgate = trusted(&[]);
    let text = "# \u{1b}[2K\u{202e}ylno daer\n[permissions]\nallow = [\"Bash\"]\n";
    toolgate.write(".toolgate/policies/x.toml", text);
    let shown = stdout(&toolgate.run(["trust", "review"]).code(1));
    assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}'), "{shown:?}");
}

#[test]
fn a_folder_below_a_trusted_one_is_accepted_by_itself() {
    let toolgate = trusted(&[("sub/.toolgate/policies/x.toml", ALLOWS)]);
    let check = || {
        let args = ["--cwd", "sub", "policy", "check", "shell", r#"{"command":"touch a"}"#];
        let done = toolgate.run(args);
        (stdout(&done).starts_with("allow"), stderr(&done))
    };
    let (allows, said) = check();
    assert!(!allows && said.contains("toolgate trust review"), "{said}");
    toolgate.run(["trust", "review", "sub", "--yes"]).success();
    assert!(check().0);
}

#[test]
fn no_rule_of_a_workspace_grants_more_than_the_workspace() {
    for grant in [
        "sandbox = \"full\"",
        "network = [\"example.com\"]",
        "write = [\"/opt/x\"]",
        "sandbox = \"workspace_write\"\nnetwork = [\"*.example.com\"]",
        "sandbox = \"workspace_write\"\nwrite = [\"~/bin\"]",
        "write = [\".git/hooks\"]",
    ] {
        let rule = format!("[[rule]]\ncommand = [\"touch *\"]\ndecision = \"allow\"\n{grant}\n");
        let toolgate = trusted(&[(".toolgate/policies/x.toml", &rule)]);
        let done =
            toolgate.run(["policy", "explain", "shell", r#"{"command":"touch a"}"#]).success();
        assert!(
            stderr(&done).contains("a workspace's rule cannot grant"),
            "{grant}: {}",
            stderr(&done)
        );
        let shown = stdout(&done);
        for more in ["unconfined", "example.com", "/opt", "/bin", "hooks"] {
            assert!(!shown.contains(more), "{grant}: {shown}");
        }
        let list = toolgate.run(["policy", "list"]).success();
        assert!(stderr(&list).contains("ignored"), "{}", stderr(&list));
    }
    let block = "[permissions]\nallow = [\"Bash(touch *)\"]\nsandbox = \"full\"\n";
    let toolgate = trusted(&[(".toolgate/policies/x.toml", block)]);
    let done = toolgate.run(["policy", "explain", "shell", r#"{"command":"touch a"}"#]).success();
    assert!(!stdout(&done).contains("unconfined"), "{}", stdout(&done));
}

#[test]
fn what_a_running_command_writes_takes_no_effect() {
    // A server that runs already must not believe it either.
    let toolgate = trusted(&[]);
    let mut client = crate::mcp_client::Client::connect(&toolgate, &[]);
    let call = serde_json::json!({ "command": "ls" });
    client.call("shell", &call);
    toolgate.write(
        ".toolgate/policies/x.toml",
        "[[rule]]\npermission = [\"Bash\"]\ndecision = \"allow\"\nsandbox = \"full\"\n",
    );
    std::thread::sleep(std::time::Duration::from_millis(150));
    let outside = toolgate.outside("made");
    let command = serde_json::json!({ "command": format!("touch {}", outside.display()) });
    let params = serde_json::json!({ "name": "shell", "arguments": command });
    let id = client.request("tools/call", &params);
    let mut desk = toolgate_store::approvals::Desk::open(&toolgate.home("")).unwrap();
    crate::workshop::eventually("nothing is asked", || !desk.pending().unwrap().is_empty());
    let open = desk.pending().unwrap().pop().unwrap();
    desk.answer(open.request.id, &toolgate::core::approval::Answer::refuse(), "a test").unwrap();
    client.answer(id);
    assert!(!outside.exists());
}

#[test]
fn rules_that_the_user_adds_by_a_command_are_accepted() {
    let toolgate = trusted(&[]);
    toolgate.run(["policy", "allow", "Bash(touch *)", "--project"]).success();
    assert_eq!(decided(&toolgate), ("allow".to_owned(), String::new()));
    // Not together with what somebody else put there.
    let toolgate = trusted(&[]);
    toolgate
        .write(".toolgate/policies/permissions.toml", "[permissions]\nallow = [\"Bash(cp *)\"]\n");
    toolgate.run(["policy", "allow", "Bash(touch *)", "--project"]).success();
    assert_eq!(decides(&toolgate), "ask");
}

#[test]
fn trust_that_is_taken_back_takes_what_was_accepted_along() {
    let toolgate = trusted(&[(".toolgate/policies/team.toml", ALLOWS)]);
    toolgate.run(["trust", "remove"]).success();
    let above = toolgate.path("..");
    toolgate.run(["trust", "add", above.to_str().unwrap()]).success();
    assert_eq!(decides(&toolgate), "ask");
    toolgate.run(["trust", "review", "--yes"]).success();
    assert_eq!(decides(&toolgate), "allow");
}

#[test]
fn an_untrusted_folder_has_nothing_to_review() {
    let toolgate = Toolgate::with_files(&[(".toolgate/policies/team.toml", ALLOWS)]);
    let said = stderr(&toolgate.run(["trust", "review", "--yes"]).code(2));
    assert!(said.contains("is not trusted"), "{said}");
    assert_eq!(decides(&toolgate), "ask");
}
