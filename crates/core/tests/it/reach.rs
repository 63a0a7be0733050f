//! How far a command reaches: what the policy grants, what a person is shown and chooses.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::{Value, json};
use toolgate_core::approval::{Answer, ApprovalRequest, Approver, Span};
use toolgate_core::call::Call;
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::gate::{Gate, GateBuilder};
use toolgate_core::hook::{BeforeCall, Hook, HookedCall};
use toolgate_core::ledger::{Durability, Entry, EntryKind, Ledger, RecordError};
use toolgate_core::policy::load::Loader;
use toolgate_core::policy::profile::Profile;
use toolgate_core::policy::rule::{Sandbox, Tier};
use toolgate_core::policy::{Decision, Engine, Level, Mode, Risk};
use toolgate_core::result::ToolResult;
use toolgate_core::spawn::{Order, SpawnError, Spawned, Spawner};

use crate::harness::{Recorder, block_on, call, failure, gate, session};
use crate::made_up::MadeUp;

/// Enforces so much, and starts nothing.
#[derive(Debug)]
struct Enforces(Level);

#[async_trait]
impl Spawner for Enforces {
    fn level(&self) -> Level {
        self.0
    }

    async fn spawn(&self, order: Order) -> Result<Spawned, SpawnError> {
        Err(SpawnError::Program { program: order.program, why: "this is a test".to_owned() })
    }
}

/// Keeps entries in memory.
#[derive(Debug, Default)]
struct Remembers(Mutex<Vec<Entry>>);

#[async_trait]
impl Ledger for Remembers {
    fn note(&self, entries: Vec<Entry>) -> Result<(), RecordError> {
        self.0.lock().unwrap().extend(entries);
        Ok(())
    }

    async fn commit(&self, entries: Vec<Entry>, _: Durability) -> Result<(), RecordError> {
        self.note(entries)
    }
}

impl Remembers {
    fn bodies(&self, kind: EntryKind) -> Vec<Value> {
        let entries = self.0.lock().unwrap();
        entries.iter().filter(|entry| entry.kind == kind).map(|entry| entry.body.clone()).collect()
    }
}

/// Answers one request after the other, with the last answer from then on.
#[derive(Debug, Clone)]
struct Answers {
    answers: Arc<Mutex<Vec<Answer>>>,
    asked: Arc<Mutex<Vec<ApprovalRequest>>>,
}

impl Answers {
    fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        let answers = Arc::new(Mutex::new(answers.into_iter().collect()));
        Self { answers, asked: Arc::default() }
    }

    fn asked(&self) -> Vec<ApprovalRequest> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl Approver for Answers {
    async fn ask(&self, request: &ApprovalRequest) -> Answer {
        self.asked.lock().unwrap().push(request.clone());
        let mut answers = self.answers.lock().unwrap();
        if answers.len() > 1 { answers.remove(0) } else { answers[0].clone() }
    }
}

/// A tool that tells how far it may reach.
fn told(name: &str) -> MadeUp {
    MadeUp::new(name).risking(Risk::High).doing(|_, context| async move {
        let reach = context.reach();
        let hosts = reach.network.join(",");
        let approved = reach.is_approved;
        Ok::<_, ToolError>(ToolResult::text(format!("{} [{hosts}] {approved}", reach.sandbox)))
    })
}

const RULES: &str = "[[rule]]\ncommand = \"npm *\"\ndecision = \"allow\"\nsandbox = \"workspace_write\"\nnetwork = [\"docs.rs\"]\n[permissions]\nallow = [\"Bash(make *)\"]\ndeny = [\"WebFetch(domain:evil.example)\"]\n";

fn shell_in(mode: Mode, level: Level) -> GateBuilder {
    let rules = Loader::default().parse(RULES, "p.toml", Tier::User).rules;
    gate([told("shell"), told("other")])
        .policy(Engine::new(rules, mode))
        .spawner(Arc::new(Enforces(level)))
}

fn shell() -> GateBuilder {
    shell_in(Mode::Default, Level::Namespaces)
}

fn run(gate: &Gate, args: Value) -> String {
    block_on(call(gate, "shell", args)).result.llm_content.as_text()
}

fn full() -> Profile {
    Profile::of(Sandbox::Full)
}

fn writing(hosts: &[&str]) -> Profile {
    Profile::new(Sandbox::WorkspaceWrite, hosts.iter().map(|host| (*host).to_owned()))
}

#[test]
fn a_command_gets_what_its_rule_grants() {
    let gate = shell().build();
    assert_eq!(run(&gate, json!({ "command": "make x" })), "read_only [] false");
    assert_eq!(run(&gate, json!({ "command": "npm ci" })), "workspace_write [docs.rs] false");
    assert_eq!(run(&gate, json!({ "command": "npm ci && make x" })), "read_only [] false");
    let narrower = json!({ "command": "npm ci", "sandbox": "read_only" });
    assert_eq!(run(&gate, narrower), "read_only [] false");
    let error = block_on(failure(&gate, "shell", json!({ "command": "ls", "sandbox": "FULL" })));
    assert_eq!(error.kind, ErrorKind::PolicyDenied);
}

#[test]
fn a_question_shows_what_a_yes_grants() {
    for (args, granted, words) in [
        (
            json!({ "command": "frob" }),
            "workspace_write [] true",
            "in a sandbox: it can write in the workspace, not elsewhere; no network",
        ),
        (
            json!({ "command": "frob", "network": ["a.example"] }),
            "workspace_write [a.example] true",
            "in a sandbox: it can write in the workspace, not elsewhere; network only to a.example",
        ),
        (
            json!({ "command": "make x", "sandbox": "full" }),
            "full [] true",
            "unconfined: it can do whatever you can",
        ),
    ] {
        let person = Recorder::answering(Answer::Once);
        let gate = shell().approver(person.clone()).build();
        assert_eq!(run(&gate, args), granted);
        let asked = person.asked();
        let reach = asked[0].reach.as_ref().unwrap();
        assert_eq!((reach.words.as_str(), reach.level), (words, Level::Namespaces));
        assert_eq!(reach.missing, None);
        let written = serde_json::to_string(&asked[0]).unwrap();
        assert_eq!(serde_json::from_str::<ApprovalRequest>(&written).unwrap(), asked[0]);
    }
}

#[test]
fn a_question_of_an_older_version_is_read() {
    let person = Recorder::answering(Answer::Once);
    run(&shell().approver(person.clone()).build(), json!({ "command": "frob" }));
    let mut request = serde_json::to_value(&person.asked()[0]).unwrap();
    request.as_object_mut().unwrap().remove("reach").unwrap();
    for proposal in request["proposals"].as_array_mut().unwrap() {
        proposal.as_object_mut().unwrap().remove("reach").unwrap();
    }
    let request: ApprovalRequest = serde_json::from_value(request).unwrap();
    assert_eq!((request.reach, &request.proposals[0].reach), (None, &None));
}

#[test]
fn what_a_person_chooses_is_granted_and_recorded() {
    for chosen in [full(), writing(&["a.example", "docs.rs"]), Profile::of(Sandbox::ReadOnly)] {
        let person = Recorder::answering(Answer::Once.reaching(chosen.clone()));
        let ledger = Arc::new(Remembers::default());
        let gate = shell().approver(person.clone()).ledger(Arc::clone(&ledger) as _).build();
        let hosts = chosen.network.join(",");
        let expected = format!("{} [{hosts}] true", chosen.sandbox);
        assert_eq!(run(&gate, json!({ "command": "frob" })), expected);
        assert_eq!(person.asked().len(), 1);
        let approval = ledger.bodies(EntryKind::Approval).remove(0);
        assert_eq!((&approval["answer"], &approval["reach"]), (&json!("once"), &json!(chosen)));
        let decided = ledger.bodies(EntryKind::Decided);
        assert_eq!(decided[0]["reach"], json!({ "sandbox": "workspace_write" }));
        assert_eq!(decided[0]["level"], "namespaces");
        assert_eq!(decided.last().unwrap()["reach"], json!(chosen));
    }
}

#[test]
fn the_permit_is_bound_to_what_was_chosen() {
    let digest = |answer: Answer| {
        let person = Recorder::answering(answer);
        let gate = shell().approver(person.clone()).build();
        let permit = block_on(async {
            let cancellation = tokio_util::sync::CancellationToken::new();
            let call = Call::new("shell", json!({ "command": "frob" }));
            let judged = gate.judge(gate.validate(call, &session(), &cancellation).await?)?;
            gate.settle(judged).await
        });
        (permit.unwrap().digest().unwrap(), person.asked()[0].digest)
    };
    let (granted, shown) = digest(Answer::Once);
    assert_eq!(granted, shown);
    let (widened, shown_then) = digest(Answer::Once.reaching(full()));
    assert_eq!(shown_then, shown);
    assert_ne!(widened, shown);
}

#[test]
fn nobody_chooses_for_other_tools() {
    let answer = Answer::Once.reaching(full());
    let tool = told("other");
    let runs = tool.runs();
    let gate = gate([tool])
        .policy(Engine::in_mode(Mode::Default))
        .approver(Recorder::answering(answer))
        .build();
    let args = json!({ "command": "frob", "sandbox": "full", "network": ["docs.rs"] });
    let error = block_on(failure(&gate, "other", args.clone()));
    assert_eq!((error.kind, runs()), (ErrorKind::ApprovalDenied, 0));
    let gate = shell().approver(Recorder::answering(Answer::Once)).build();
    let outcome = block_on(call(&gate, "other", args));
    assert_eq!(outcome.result.llm_content.as_text(), "read_only [] true");
}

#[test]
fn what_the_policy_forbids_nobody_grants_by_answering() {
    for host in ["evil.example", "localhost", "10.0.0.1", "*", "*.docs.rs", "docs.rs\nx"] {
        let network = vec![host.to_owned()];
        let odd = Profile { network, ..Profile::of(Sandbox::WorkspaceWrite) };
        let gate = shell().approver(Recorder::answering(Answer::Once.reaching(odd))).build();
        let error = block_on(failure(&gate, "shell", json!({ "command": "frob" })));
        assert_eq!(error.kind, ErrorKind::PolicyDenied, "{host}");
    }
    let confined = Answer::Once.reaching(writing(&[]));
    let gate = shell_in(Mode::Default, Level::None).approver(Recorder::answering(confined)).build();
    let error = block_on(failure(&gate, "shell", json!({ "command": "frob" })));
    assert_eq!(error.kind, ErrorKind::PolicyDenied);
    assert!(error.message.contains("no sandbox is available here"), "{}", error.message);
}

#[test]
fn rules_given_in_answer_keep_what_was_shown_or_chosen() {
    let always = |span| Answer::Grant { proposal: 0, span };
    for (answer, after) in [
        (always(Span::Session), "workspace_write [] false"),
        (always(Span::Always), "workspace_write [] false"),
        (always(Span::Uses(9)).reaching(full()), "full [] false"),
        (
            always(Span::Minutes(9)).reaching(writing(&["docs.rs"])),
            "workspace_write [docs.rs] false",
        ),
        (always(Span::Session).reaching(Profile::of(Sandbox::ReadOnly)), "read_only [] false"),
    ] {
        let person = Recorder::answering(answer.clone());
        let ledger = Arc::new(Remembers::default());
        let gate = shell().approver(person.clone()).ledger(Arc::clone(&ledger) as _).build();
        let session = session();
        let mut results = Vec::new();
        for _ in 0..2 {
            let call = Call::new("shell", json!({ "command": "frob x | tail -3" }));
            let outcome = block_on(gate.call(call, &session));
            results.push(outcome.result.llm_content.as_text());
        }
        assert_eq!(results, [after.replace("false", "true"), after.to_owned()], "{answer:?}");
        assert_eq!(person.asked().len(), 1);
        let changed = ledger.bodies(EntryKind::PolicyChanged).remove(0);
        let sandbox = changed["reach"]["sandbox"].as_str().unwrap();
        assert!(after.starts_with(sandbox), "{changed}");
        assert!(person.asked()[0].proposals[0].meaning.ends_with("no network"));
    }
}

#[test]
fn wanting_more_than_was_given_asks_again() {
    let person = Recorder::answering(Answer::Grant { proposal: 0, span: Span::Session });
    let gate = shell().approver(person.clone()).build();
    let session = session();
    for (args, asked) in [
        (json!({ "command": "frob x" }), 1),
        (json!({ "command": "frob x", "sandbox": "workspace_write" }), 1),
        (json!({ "command": "frob x", "sandbox": "full" }), 2),
        (json!({ "command": "frob x", "network": ["docs.rs"] }), 3),
    ] {
        block_on(gate.call(Call::new("shell", args.clone()), &session));
        assert_eq!(person.asked().len(), asked, "{args}");
    }
}

#[test]
fn editing_the_arguments_to_want_more_asks_again() {
    let args = json!({ "command": "make x", "sandbox": "full" });
    let person = Answers::new([Answer::Edit { args }, Answer::refuse()]);
    let gate = shell().approver(person.clone()).build();
    let error = block_on(failure(&gate, "shell", json!({ "command": "frob" })));
    assert_eq!(error.kind, ErrorKind::ApprovalDenied);
    let asked = person.asked();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[1].reach.as_ref().unwrap().profile, full());
    // What needs no question any more runs with what its rule grants, not with what was shown.
    let person = Answers::new([Answer::Edit { args: json!({ "command": "make x" }) }]);
    let gate = shell().approver(person).build();
    assert_eq!(run(&gate, json!({ "command": "frob" })), "read_only [] true");
}

/// A hook that wants more.
#[derive(Debug)]
struct Wants(Value);

#[async_trait]
impl Hook for Wants {
    fn name(&self) -> &'static str {
        "wants"
    }

    async fn before(&self, call: &HookedCall<'_>) -> BeforeCall {
        let mut args = call.args.clone();
        args["sandbox"] = self.0.clone();
        BeforeCall::Change(args)
    }
}

#[test]
fn what_a_hook_wants_is_judged_like_any_wish() {
    let person = Recorder::answering(Answer::Once);
    let gate = shell().approver(person.clone()).hook(Wants(json!("full"))).build();
    assert_eq!(run(&gate, json!({ "command": "make x" })), "full [] true");
    assert_eq!(person.asked()[0].reach.as_ref().unwrap().profile, full());
    let gate = shell().hook(Wants(json!("Full"))).build();
    let error = block_on(failure(&gate, "shell", json!({ "command": "make x" })));
    assert_eq!(error.kind, ErrorKind::PolicyDenied);
}

#[test]
fn without_a_sandbox_it_is_said_and_asked() {
    for (level, command, decision, granted) in [
        (Level::None, "make x", Decision::Ask, "full [] true"),
        (Level::None, "frob", Decision::Ask, "full [] true"),
        (Level::Landlock, "make x", Decision::Allow, "read_only [] false"),
        (Level::Landlock, "npm ci", Decision::Ask, "workspace_write [docs.rs] true"),
    ] {
        let person = Recorder::answering(Answer::Once);
        let gate = shell_in(Mode::Default, level).approver(person.clone()).build();
        let outcome = block_on(call(&gate, "shell", json!({ "command": command })));
        assert_eq!(outcome.decision, Some(decision), "{level} {command}");
        assert_eq!(outcome.result.llm_content.as_text(), granted);
        for request in person.asked() {
            assert!(request.reach.unwrap().missing.is_some());
        }
    }
    // Nobody starts programs, so nothing can be confined.
    let rules = Loader::default().parse(RULES, "p.toml", Tier::User).rules;
    let gate = gate([told("shell")]).policy(Engine::new(rules, Mode::Default)).build();
    let error = block_on(failure(&gate, "shell", json!({ "command": "make x" })));
    assert_eq!(error.kind, ErrorKind::ApprovalRequired);
    let yolo = shell_in(Mode::Yolo, Level::None).build();
    assert_eq!(run(&yolo, json!({ "command": "frob" })), "full [] false");
}
