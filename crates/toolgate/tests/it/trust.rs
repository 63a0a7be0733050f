//! Which folders may bring settings of their own.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::harness::{Toolgate, json_lines, stderr, stdout};
use crate::terminal::Terminal;

const CHECK: [&str; 4] = ["policy", "check", "read_file", r#"{"path":"a.txt"}"#];

/// A workspace that forbids what is allowed otherwise.
fn bringing() -> Toolgate {
    let policy = "[permissions]\ndeny = [\"Read\"]\n";
    Toolgate::with_files(&[("a.txt", "one\n"), (".toolgate/policies/team.toml", policy)])
}

fn shown(toolgate: &Toolgate, args: &[&str]) -> String {
    let workspace = toolgate.path("");
    let workspace = workspace.to_str().unwrap().trim_end_matches('/');
    let above = workspace.trim_end_matches("/workspace");
    let printed = stdout(&toolgate.run([&["trust"], args].concat()).success());
    printed.replace(workspace, "/W/workspace").replace(above, "/W")
}

fn decides(toolgate: &Toolgate) -> String {
    let printed = stdout(&toolgate.run(CHECK));
    printed.split(':').next().unwrap().to_owned()
}

fn answers(toolgate: &Toolgate) -> Value {
    let text = fs::read_to_string(toolgate.home("trusted_folders.json")).unwrap_or("{}".to_owned());
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_folder_is_trusted_when_it_was_added_and_until_it_is_removed() {
    let toolgate = bringing();
    insta::assert_snapshot!("status_unknown", shown(&toolgate, &[]));
    assert_eq!(decides(&toolgate), "allow");
    insta::assert_snapshot!("add", shown(&toolgate, &["add"]));
    assert_eq!(decides(&toolgate), "deny");
    insta::assert_snapshot!("status_trusted", shown(&toolgate, &["status"]));
    insta::assert_snapshot!("list", shown(&toolgate, &["list"]));
    insta::assert_snapshot!("remove", shown(&toolgate, &["remove"]));
    assert_eq!(decides(&toolgate), "allow");
    insta::assert_snapshot!("remove_again", shown(&toolgate, &["remove"]));
    insta::assert_snapshot!("list_empty", shown(&toolgate, &["list"]));
}

#[test]
fn the_folder_above_and_never_are_answers_too() {
    let toolgate = bringing();
    insta::assert_snapshot!("add_parent", shown(&toolgate, &["add", "--parent"]));
    assert_eq!(decides(&toolgate), "deny");
    insta::assert_snapshot!("add_never", shown(&toolgate, &["add", "--never"]));
    assert_eq!(decides(&toolgate), "allow");
    insta::assert_snapshot!("status_never", shown(&toolgate, &["status"]));
}

#[test]
fn programs_get_json() {
    let toolgate = bringing();
    let one = |args: &[&str]| {
        let args = [&["--json", "trust"], args].concat();
        json_lines(&toolgate.run(args).success()).remove(0)
    };
    let workspace = toolgate.path("");
    let workspace = workspace.to_str().unwrap().trim_end_matches('/');
    assert_eq!(
        one(&[]),
        json!({
            "folder": workspace,
            "trusted": false,
            "answer": null,
            "brings": [".toolgate/policies/team.toml"],
            "waiting": [],
        })
    );
    assert_eq!(one(&["add"]), json!({ "folder": workspace, "trust": "TRUST_FOLDER" }));
    assert_eq!(one(&["status"])["answer"]["trust"], "TRUST_FOLDER");
    assert_eq!(
        one(&["list"]),
        json!([{ "folder": workspace, "trust": "TRUST_FOLDER", "covers": workspace }])
    );
    assert_eq!(one(&["remove"]), json!({ "folder": workspace, "removed": true, "trusted": false }));
}

#[test]
fn links_lead_to_the_real_folder() {
    let toolgate = bringing();
    std::os::unix::fs::symlink(toolgate.path(""), toolgate.outside("link")).unwrap();
    let link = toolgate.outside("link");
    toolgate.run(["trust", "add", link.to_str().unwrap()]).success();
    let workspace = toolgate.path("");
    let workspace = workspace.to_str().unwrap().trim_end_matches('/');
    assert_eq!(answers(&toolgate), json!({ workspace: "TRUST_FOLDER" }));
}

#[test]
fn what_is_no_folder_cannot_be_trusted() {
    let toolgate = bringing();
    let said = stderr(&toolgate.run(["trust", "add", "gone"]).code(2));
    assert!(said.contains("gone` cannot be used: "), "{said}");
    let said = stderr(&toolgate.run(["trust", "add", "a.txt"]).code(2));
    assert!(said.contains("a.txt` cannot be used: it is no folder"), "{said}");
    toolgate.run(["trust", "remove", "gone"]).success();
}

#[test]
fn a_file_that_is_not_understood_stops_everything_and_stays() {
    let toolgate = bringing();
    fs::write(toolgate.home("trusted_folders.json"), "{oops").unwrap();
    for args in [vec!["trust"], vec!["trust", "add"], CHECK.to_vec()] {
        let said = stderr(&toolgate.run(args).code(2));
        assert!(said.contains("trusted_folders.json` is not understood"), "{said}");
    }
    assert_eq!(fs::read_to_string(toolgate.home("trusted_folders.json")).unwrap(), "{oops");
}

#[test]
fn without_a_person_a_note_says_what_is_not_used() {
    let toolgate = bringing();
    let note = "note: this folder brings 1 file of settings, not used because it is not trusted; see `toolgate trust`\n";
    assert_eq!(stderr(&toolgate.run(CHECK)), note);
    assert_eq!(stderr(&toolgate.run([&["--quiet"], &CHECK[..]].concat())), "");
    toolgate.run(["trust", "add", "--never"]).success();
    assert_eq!(stderr(&toolgate.run(CHECK)), "");
    assert_eq!(stderr(&Toolgate::with_files(&[("a.txt", "")]).run(CHECK)), "");
}

fn asked(toolgate: &Toolgate, flags: &[&str]) -> Terminal {
    let args: Vec<String> = flags.iter().chain(&CHECK).map(|word| (*word).to_owned()).collect();
    Terminal::start(toolgate, &args)
}

#[test]
fn the_first_run_asks_and_the_answer_holds() {
    let workspace_of =
        |toolgate: &Toolgate| toolgate.path("").to_str().unwrap().trim_end_matches('/').to_owned();
    for (typed, recorded, decision) in [
        ("t", Some("TRUST_FOLDER"), "deny"),
        ("p", Some("TRUST_PARENT"), "deny"),
        ("n", Some("DO_NOT_TRUST"), "allow"),
        ("l", None, "allow"),
        ("", None, "allow"),
    ] {
        let toolgate = bringing();
        let mut terminal = asked(&toolgate, &[]);
        let question = terminal.until("Your choice [t/p/n/L]: ");
        if typed == "t" {
            let workspace = workspace_of(&toolgate);
            let above = workspace.trim_end_matches("/workspace").to_owned();
            let question = question.replace(&workspace, "/W/workspace").replace(&above, "/W");
            insta::assert_snapshot!("question", question);
        }
        terminal.answer(typed);
        let (rest, _) = terminal.end();
        assert!(rest.contains(&format!("{decision}:")), "{typed}: {rest}");
        let expected =
            recorded.map_or(json!({}), |recorded| json!({ workspace_of(&toolgate): recorded }));
        assert_eq!(answers(&toolgate), expected, "{typed}");
        if recorded.is_some() {
            let (printed, _) = asked(&toolgate, &[]).end();
            assert!(printed.starts_with(&format!("{decision}:")), "asked once only: {printed}");
        }
    }
}

#[test]
fn pasted_lines_trust_nobody() {
    let toolgate = bringing();
    let mut terminal = asked(&toolgate, &[]);
    terminal.until("Your choice [t/p/n/L]: ");
    terminal.answer("hello\nt");
    terminal.until("Type t, p, n or l: ");
    terminal.answer("l");
    assert!(terminal.end().0.contains("allow:"));
    assert_eq!(answers(&toolgate), json!({}));
}

#[test]
fn a_trusted_folder_that_became_a_link_trusts_nothing() {
    let toolgate = bringing();
    fs::create_dir(toolgate.path("sub")).unwrap();
    toolgate.run(["trust", "add", "sub"]).success();
    fs::remove_dir(toolgate.path("sub")).unwrap();
    std::os::unix::fs::symlink(".", toolgate.path("sub")).unwrap();
    let done = toolgate.run(["trust", "status"]);
    assert!(stdout(&done).contains("is not trusted"), "{}", stdout(&done));
}

#[test]
fn the_end_of_input_and_control_c_trust_nobody() {
    let toolgate = bringing();
    let mut terminal = asked(&toolgate, &[]);
    terminal.until("Your choice [t/p/n/L]: ");
    terminal.press('d');
    assert!(terminal.end().0.contains("allow:"));
    assert_eq!(answers(&toolgate), json!({}));
}

#[test]
fn nobody_is_asked_where_nobody_sits() {
    let toolgate = bringing();
    let (printed, _) = asked(&toolgate, &["--non-interactive"]).end();
    assert!(printed.contains("note: ") && !printed.contains("Your choice"), "{printed}");
    let mut command = toolgate.command();
    command.args(CHECK).stdin(Stdio::null());
    let (printed, _) = Terminal::start_command(command).end();
    assert!(printed.contains("note: ") && !printed.contains("Your choice"), "{printed}");
}

#[test]
fn ones_own_home_is_no_folder_of_others() {
    let toolgate = bringing();
    let mut command = toolgate.command();
    command.args(CHECK).env("TOOLGATE_HOME", toolgate.path(".toolgate"));
    let output = command.output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}
