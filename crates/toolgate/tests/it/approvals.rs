//! Requests of one process, answered from another.

use std::fs;
use std::process::Stdio;
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use toolgate_core::approval::{
    Answer, ApprovalId, ApprovalRequest, Approver as _, Digest, JsonText, Proposal, ShownCommand,
    ShownReach, Span,
};
use toolgate_core::grants::Grants as _;
use toolgate_core::id::{CallId, SessionId};
use toolgate_core::tool::Preview;
use toolgate_policy::load::Loader;
use toolgate_policy::profile::Profile;
use toolgate_policy::propose::Proposed;
use toolgate_policy::rule::Sandbox;
use toolgate_policy::{Level, Risk};
use toolgate_store::approvals::{Asking, Desk};
use toolgate_store::grants::{Beginning, KeptGrants};

use crate::harness::{Toolgate, json_lines, stderr, stdout};
use crate::terminal::Terminal;

const ID: &str = "k3f92mq8x7ab";
const OTHER: &str = "k3zzzzzzzzzz";

fn request(id: &str) -> ApprovalRequest {
    let profile = Profile::of(Sandbox::WorkspaceWrite);
    let proposal = |rule: &str, meaning: &str| Proposal {
        permission: rule.into(),
        permissions: Box::new([rule.into()]),
        meaning: Proposed::meaning(meaning, Some(&profile)).into(),
        reach: Some(Box::new(profile.clone())),
        folder: Some("/work/site".into()),
    };
    ApprovalRequest {
        id: id.parse::<ApprovalId>().unwrap(),
        call: CallId::generate(),
        session: SessionId::generate(),
        asker: Some("subagent `Explore`".into()),
        workspace: "/home/me/project".into(),
        tool: "shell".into(),
        title: "Shell".into(),
        description: "Run npm run build".into(),
        risk: Risk::High,
        reasons: Box::new(["no rule allows it".into()]),
        rule: None,
        guarded: false,
        undoable: false,
        dangers: Box::default(),
        places: Box::default(),
        commands: Box::new([ShownCommand {
            command: "npm run build".into(),
            may: "change files".into(),
        }]),
        reach: Some(Box::new(ShownReach::new(profile.clone(), Level::Namespaces))),
        preview: Preview::Nothing,
        args: JsonText::from(&json!({ "command": "npm run build" })),
        proposals: Box::new([
            proposal("Bash(npm run build)", "exactly this command"),
            proposal("Bash(npm run *)", "every script"),
        ]),
        goes_on: true,
        asked_at: SystemTime::now(),
        expires_at: None,
        digest: Digest::of(b"npm run build"),
    }
}

/// Asks as another process would, and waits until others see it.
fn ask(toolgate: &Toolgate, request: ApprovalRequest) -> JoinHandle<Answer> {
    let (folder, id) = (toolgate.home(""), request.id);
    let asking = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async { Asking::new(&folder).ask(&request).await })
    });
    let mut desk = Desk::open(&toolgate.home("")).unwrap();
    while !desk.pending().unwrap().iter().any(|open| open.request.id == id) {
        thread::sleep(Duration::from_millis(5));
    }
    asking
}

#[test]
fn what_waits_is_listed() {
    let toolgate = Toolgate::new();
    assert_eq!(stdout(&toolgate.run(["approvals"]).success()), "Nothing waits for an answer.\n");
    let asking = ask(&toolgate, request(ID));
    let listed = stdout(&toolgate.run(["approvals", "list"]).success());
    let first = listed.lines().next().unwrap();
    assert!(first.starts_with(ID) && first.ends_with(" s  high  Run npm run build"), "{listed}");
    assert_eq!(stdout(&toolgate.run(["approvals"])).lines().last(), listed.lines().last());
    let listed: Value =
        serde_json::from_str(&stdout(&toolgate.run(["--json", "approvals"]))).unwrap();
    assert_eq!(listed[0]["id"], ID);
    toolgate.run(["approvals", "deny", ID]).success();
    asking.join().unwrap();
}

#[test]
fn every_flag_has_its_answer() {
    for (args, answer) in [
        (vec!["approve", ID], Answer::Once),
        (vec!["approve", "k3F"], Answer::Once),
        (vec!["approve", ID, "--session"], Answer::Grant { proposal: 0, span: Span::Session }),
        (
            vec!["approve", ID, "--always", "--rule", "2"],
            Answer::Grant { proposal: 1, span: Span::Always },
        ),
        (
            vec!["approve", ID, "--minutes", "5"],
            Answer::Grant { proposal: 0, span: Span::Minutes(5) },
        ),
        (vec!["approve", ID, "--uses", "3"], Answer::Grant { proposal: 0, span: Span::Uses(3) }),
        (
            vec!["approve", ID, "--edit", r#"{"command":"npm test"}"#],
            Answer::Edit { args: json!({ "command": "npm test" }) },
        ),
        (vec!["deny", ID], Answer::refuse()),
        (vec!["deny", ID, "--note", "use make"], Answer::deny("use make")),
    ] {
        let toolgate = Toolgate::new();
        let asking = ask(&toolgate, request(ID));
        toolgate.run([&["approvals"], &args[..]].concat()).success();
        assert_eq!(asking.join().unwrap(), answer, "{args:?}");
    }
}

#[test]
fn what_a_command_runs_with_is_chosen_by_flags() {
    let grant = Answer::Grant { proposal: 0, span: Span::Always };
    let full = Profile::of(Sandbox::Full);
    let writing = |hosts: &[&str]| {
        Profile::new(Sandbox::WorkspaceWrite, hosts.iter().map(|host| (*host).to_owned()))
    };
    for (flags, answer) in [
        (vec!["--sandbox", "full"], Answer::Once.reaching(full.clone())),
        (vec!["--sandbox", "full", "--always"], grant.reaching(full)),
        (vec!["--sandbox", "workspace_write"], Answer::Once),
        (vec!["--sandbox", "read_only"], Answer::Once.reaching(Profile::of(Sandbox::ReadOnly))),
        (
            vec!["--network", "docs.rs,Crates.io"],
            Answer::Once.reaching(writing(&["crates.io", "docs.rs"])),
        ),
    ] {
        let toolgate = Toolgate::new();
        let asking = ask(&toolgate, request(ID));
        let done = toolgate.run([&["approvals", "approve", ID], &flags[..]].concat()).success();
        assert_eq!(asking.join().unwrap(), answer, "{flags:?}");
        if let Some(reach) = answer.reach() {
            let told = format!("; it runs {reach}.");
            assert!(stdout(&done).contains(&told), "{}", stdout(&done));
        }
    }
}

#[test]
fn what_cannot_be_chosen_answers_nothing() {
    let toolgate = Toolgate::new();
    let asking = ask(&toolgate, request(ID));
    for flags in [
        &["--sandbox", "FULL"] as &[&str],
        &["--sandbox", "none"],
        &["--sandbox", "read_only", "--network", "docs.rs"],
        &["--network", "*"],
        &["--network", "*.docs.rs"],
        &["--network", "localhost"],
        &["--network", "10.0.0.1"],
        &["--network", "docs.rs", "--edit", "{}"],
    ] {
        toolgate.run([&["approvals", "approve", ID], flags].concat()).code(2);
    }
    toolgate.run(["approvals", "deny", ID]).success();
    assert_eq!(asking.join().unwrap(), Answer::refuse());
    let full = ShownReach::new(Profile::of(Sandbox::Full), Level::None);
    let unconfined = ApprovalRequest { reach: Some(Box::new(full)), ..request(ID) };
    let other_tool = ApprovalRequest { tool: "write_file".into(), reach: None, ..request(OTHER) };
    for (request, says) in
        [(unconfined, "no sandbox is available where it runs"), (other_tool, "only for commands")]
    {
        let toolgate = Toolgate::new();
        let id = request.id.to_string();
        let asking = ask(&toolgate, request);
        let flags = ["approvals", "approve", &id, "--sandbox", "workspace_write"];
        let said = stderr(&toolgate.run(flags).code(2));
        assert!(said.contains(says), "{said}");
        toolgate.run(["approvals", "deny", &id]).success();
        assert_eq!(asking.join().unwrap(), Answer::refuse());
    }
}

#[test]
fn what_is_approved_is_shown_first() {
    let toolgate = Toolgate::new();
    let request = ApprovalRequest { session: SessionId::from("s-1"), ..request(ID) };
    let asking = ask(&toolgate, request);
    let done = toolgate.run(["approvals", "approve", "k3", "--minutes", "5", "--rule", "2"]);
    let printed = stdout(&done.success());
    let printed: Vec<&str> = printed.lines().filter(|line| !line.contains(" ago")).collect();
    insta::assert_snapshot!("approve", printed.join("\n"));
    asking.join().unwrap();
}

#[test]
fn programs_get_one_object() {
    let toolgate = Toolgate::new();
    let asking = ask(&toolgate, request(ID));
    let done = toolgate.run(["--json", "approvals", "approve", ID, "--uses", "2"]).success();
    let [answered] = <[Value; 1]>::try_from(json_lines(&done)).unwrap();
    assert_eq!(
        answered["answer"],
        json!({ "answer": "grant", "proposal": 0, "span": { "uses": 2 } })
    );
    assert_eq!((&answered["id"], &answered["settled"]), (&json!(ID), &json!(true)));
    asking.join().unwrap();
    let again = toolgate.run(["--json", "approvals", "deny", ID]).code(1);
    assert_eq!(json_lines(&again)[0]["settled"], false);
}

#[test]
fn the_second_answer_is_told_who_was_first() {
    let toolgate = Toolgate::new();
    let asking = ask(&toolgate, request(ID));
    toolgate.run(["approvals", "approve", ID]).success();
    asking.join().unwrap();
    for beginning in [ID, "k3"] {
        let said = stderr(&toolgate.run(["approvals", "deny", beginning]).code(1));
        assert!(said.contains(&format!("{ID} is settled already: toolgate approvals, ")), "{said}");
    }
}

#[test]
fn ids_that_stand_for_nothing_or_for_several_answer_nothing() {
    let toolgate = Toolgate::new();
    let said = stderr(&toolgate.run(["approvals", "approve", "nope"]).code(2));
    assert!(said.contains("there is no request `nope`"), "{said}");
    let (first, second) = (ask(&toolgate, request(ID)), ask(&toolgate, request(OTHER)));
    let said = stderr(&toolgate.run(["approvals", "approve", "k3"]).code(2));
    assert!(said.contains(&format!("several: {ID}, {OTHER}")), "{said}");
    assert!(stderr(&toolgate.run(["approvals", "approve", ""]).code(2)).contains("no request"));
    toolgate.run(["approvals", "deny", ID]).success();
    toolgate.run(["approvals", "deny", OTHER]).success();
    assert_eq!(
        (first.join().unwrap(), second.join().unwrap()),
        (Answer::refuse(), Answer::refuse())
    );
}

#[test]
fn rules_are_given_only_where_they_are_proposed() {
    let toolgate = Toolgate::new();
    let asking = ask(&toolgate, ApprovalRequest { proposals: Box::default(), ..request(ID) });
    let said = stderr(&toolgate.run(["approvals", "approve", ID, "--always"]).code(2));
    assert!(said.contains("no rule can be given for this call"), "{said}");
    toolgate.run(["approvals", "approve", ID, "--rule", "1"]).code(2);
    toolgate.run(["approvals", "approve", ID, "--always", "--uses", "1"]).code(2);
    toolgate.run(["approvals", "approve", ID, "--edit", "{oops"]).code(2);
    toolgate.run(["approvals", "deny", ID]).success();
    assert_eq!(asking.join().unwrap(), Answer::refuse());
    let asking = ask(&toolgate, request(OTHER));
    let said =
        stderr(&toolgate.run(["approvals", "approve", OTHER, "--always", "--rule", "3"]).code(2));
    assert!(said.contains("there is no rule 3: 2 are proposed"), "{said}");
    toolgate.run(["approvals", "deny", OTHER]).success();
    asking.join().unwrap();
}

#[test]
fn without_a_terminal_requests_come_as_lines_of_json() {
    use std::io::{BufRead as _, BufReader};

    let toolgate = Toolgate::new();
    let mut command = toolgate.command();
    command.args(["approvals", "watch"]).stdout(Stdio::piped());
    let mut watching = command.spawn().unwrap();
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    for id in [ID, OTHER] {
        let asking = ask(&toolgate, request(id));
        let shown: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert_eq!(shown["id"], id);
        toolgate.run(["approvals", "deny", id]).success();
        asking.join().unwrap();
    }
    watching.kill().unwrap();
    watching.wait().unwrap();
}

#[test]
fn watching_asks_about_each_request_as_it_comes() {
    let toolgate = Toolgate::new();
    let watch = ["approvals", "watch"].map(str::to_owned);
    let mut terminal = Terminal::start(&toolgate, &watch);
    terminal.until("Waiting for requests");
    let asking = ask(&toolgate, request(ID));
    let asked = terminal.until("Your choice: ");
    assert!(asked.contains("Run npm run build") && asked.contains("/home/me/project"), "{asked}");
    terminal.keys("s");
    terminal.until("any other key to go back: ");
    terminal.keys("y");
    assert_eq!(asking.join().unwrap(), Answer::Grant { proposal: 0, span: Span::Session });
    let asking = ask(&toolgate, request("k3yyyyyyyyyy"));
    terminal.until("Your choice: ");
    terminal.keys("w");
    terminal.until("any other key to go back: ");
    terminal.keys("4");
    terminal.until("It would run unconfined: it can do whatever you can.");
    terminal.until("any other key to go back: ");
    terminal.keys("y");
    terminal.until("Your choice: ");
    terminal.keys("y");
    assert_eq!(asking.join().unwrap(), Answer::Once.reaching(Profile::of(Sandbox::Full)));
    // What others answer goes away by itself.
    let asking = ask(&toolgate, request(OTHER));
    terminal.until("Your choice: ");
    toolgate.run(["approvals", "approve", OTHER]).success();
    terminal.until("answered elsewhere");
    assert_eq!(asking.join().unwrap(), Answer::Once);
    terminal.press('c');
    assert_eq!(terminal.end().1, 0);
}

#[test]
fn there_are_no_grants_at_first() {
    let toolgate = Toolgate::new();
    let printed = stdout(&toolgate.run(["approvals", "grants"]).success());
    assert_eq!(printed, "No rule was given.\n");
    let said = stderr(&toolgate.run(["approvals", "revoke", "abc"]).code(2));
    assert!(said.contains("there is no grant `abc`"), "{said}");
}

#[test]
fn rules_are_listed_with_what_commands_run_with() {
    let toolgate = Toolgate::new();
    let approved = "# 2027-01-15T08:00:00Z, anna: npm run build\n[[rule]]\nname = \"approved k3f92mq8x7ab\"\npermission = [\"Bash(npm run *)\"]\ndecision = \"allow\"\npriority = 950\nsandbox = \"workspace_write\"\nnetwork = [\"docs.rs\"]\n";
    fs::create_dir_all(toolgate.home("policies")).unwrap();
    fs::write(toolgate.home("policies/approved.toml"), approved).unwrap();
    let kept = KeptGrants::new(&toolgate.home(""), Loader::default(), Beginning::Joined);
    let request = request(ID);
    let wider = request.proposals[0].reaching(&Profile::of(Sandbox::Full));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(kept.add(&request, &wider, Span::Session)).unwrap();
    let listed = stdout(&toolgate.run(["approvals", "grants"]).success());
    insta::assert_snapshot!("grants", listed);
    let listed = stdout(&toolgate.run(["--json", "approvals", "grants"]).success());
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed[0]["reach"], json!({ "sandbox": "full" }));
    assert_eq!(listed[1]["reach"]["network"], json!(["docs.rs"]));
    let args = r#"{"command":"npm run lint"}"#;
    let done = toolgate.run(["--json", "policy", "check", "shell", args]).success();
    let grant = &json_lines(&done)[0]["grant"];
    assert_eq!(grant["sandbox"], "workspace_write");
    assert_eq!(grant["network"], json!(["docs.rs"]));
}

#[test]
fn rules_for_a_time_and_for_good_are_listed_and_taken_back() {
    for flag in ["--session", "--always"] {
        let toolgate = Toolgate::with_files(&[("src/a.txt", "one\n")]);
        let args =
            json!({ "path": "src/a.txt", "content": "two\n", "overwrite": true }).to_string();
        let read = r#"{"path":"src/a.txt"}"#;
        toolgate.run(["--session", "s-1", "call", "read_file", read]).success();
        let call = ["--wait-for-approval", "--session", "s-1", "call", "write_file", &args];
        let waiting = toolgate.start(&call);
        let mut desk = Desk::open(&toolgate.home("")).unwrap();
        let id = loop {
            if let Some(open) = desk.pending().unwrap().pop() {
                break open.request.id.to_string();
            }
            thread::sleep(Duration::from_millis(5));
        };
        toolgate.run(["approvals", "approve", &id, flag]).success();
        assert!(waiting.wait_with_output().unwrap().status.success());
        let listed = stdout(&toolgate.run(["approvals", "grants"]).success());
        let lasts = if flag == "--always" { "for good" } else { "until the session ends" };
        assert!(listed.contains(&id) && listed.contains(lasts), "{listed}");
        toolgate.run(["--session", "s-1", "call", "write_file", &args]).success();
        toolgate.run(["approvals", "revoke", id.get(..6).unwrap()]).success();
        toolgate.run(["--session", "s-1", "call", "write_file", &args]).code(4);
        toolgate.run(["approvals", "revoke", &id]).code(2);
    }
}
