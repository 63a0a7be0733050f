//! What a sandbox refuses: it is told, the user is asked once about exactly that, and nothing is
//! left half done.

use std::fs;
use std::process::Command;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolgate::core::approval::{Answer, ApprovalRequest, Approver};
use toolgate::core::error::ErrorKind;
use toolgate::policy::{Engine, Level, Mode};

use crate::workshop::Workshop;

/// Somebody who always says the same, and what was asked.
#[derive(Debug, Clone)]
struct Person {
    agrees: bool,
    asked: Arc<Mutex<Vec<String>>>,
}

#[async_trait::async_trait]
impl Approver for Person {
    async fn ask(&self, request: &ApprovalRequest) -> Answer {
        self.asked.lock().unwrap().push(request.reasons.join("; "));
        if self.agrees { Answer::Once } else { Answer::Deny { note: None } }
    }
}

impl Person {
    fn new(agrees: bool) -> Self {
        Self { agrees, asked: Arc::default() }
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

/// A repository in mode `sandbox`, with a person in front of it.
fn shop(person: &Person) -> Option<Workshop> {
    let policy = Engine::in_mode(Mode::Sandbox);
    let shop = Workshop::with(|gate| gate.policy(policy).approver(person.clone()));
    let is_confining = shop.gate.spawner()?.level() == Level::Namespaces;
    if !is_confining {
        println!("SKIPPED: this machine has no namespaces");
        return None;
    }
    for line in [
        "init -q -b main",
        "config user.name Anna",
        "config user.email anna@example.com",
        "commit -q --allow-empty -m first",
        "checkout -q -b other",
    ] {
        git(&shop, line);
    }
    fs::create_dir(shop.path(".vscode")).unwrap();
    fs::write(shop.path(".vscode/settings.json"), "{}\n").unwrap();
    fs::write(shop.path("a.txt"), "a\n").unwrap();
    fs::write(shop.path("z.txt"), "z\n").unwrap();
    for line in ["add -A", "commit -q -m second", "checkout -q main"] {
        git(&shop, line);
    }
    Some(shop)
}

fn git(shop: &Workshop, line: &str) {
    let words = line.split(' ');
    let done = Command::new("git").args(words).current_dir(shop.path("")).status().unwrap();
    assert!(done.success(), "{line}");
}

fn exit_code(result: &toolgate::core::result::ToolResult) -> Option<i64> {
    result.structured.as_ref()?["exit_code"].as_i64()
}

#[test]
fn git_does_not_leave_a_torn_tree() {
    let person = Person::new(false);
    let Some(shop) = shop(&person) else { return };
    for line in ["git checkout other", "git merge other", "git reset --hard other"] {
        let result = shop.shell(line);
        let error = result.error.unwrap();
        assert_eq!(error.kind, ErrorKind::SandboxError, "{line}");
        assert!(error.message.contains("nothing ran: git would have to replace"), "{error:?}");
        assert!(error.message.contains(".vscode/settings.json"), "{}", error.message);
        assert!(!shop.path("a.txt").exists() && !shop.path("z.txt").exists(), "{line}");
        let asked = person.asked();
        assert_eq!(asked.len(), 1, "{asked:?}");
        assert!(asked[0].contains("it wants to write in"), "{asked:?}");
    }
    let person = Person::new(true);
    let Some(shop) = self::shop(&person) else { return };
    let result = shop.shell("git checkout other");
    assert_eq!(exit_code(&result), Some(0), "{result:?}");
    assert!(shop.path(".vscode/settings.json").is_file() && shop.path("z.txt").is_file());
    assert_eq!(person.asked().len(), 1);
    let result = shop.shell("git checkout main");
    assert_eq!(exit_code(&result), Some(0), "{result:?}");
    assert!(!shop.path(".vscode/settings.json").exists());
}

#[test]
fn git_asks_before_it_changes_its_settings() {
    let person = Person::new(true);
    let Some(shop) = shop(&person) else { return };
    for line in [
        "git remote add up https://example.com/x.git",
        "git branch -m main trunk",
        "git config user.name Eve",
    ] {
        let result = shop.shell(line);
        assert_eq!(exit_code(&result), Some(0), "{line}: {result:?}");
        let asked = person.asked();
        assert_eq!(asked.len(), 1, "{line}: {asked:?}");
        assert!(asked[0].contains("has to change `.git/config`"), "{asked:?}");
    }
    // The settings are free for the command that was agreed to alone.
    let result = shop.shell("echo x >> .git/config");
    assert_ne!(exit_code(&result), Some(0), "{result:?}");
    assert!(!fs::read_to_string(shop.path(".git/config")).unwrap().contains('\u{0}'));
}

#[test]
fn a_repository_is_made_after_a_question() {
    let person = Person::new(true);
    let policy = Engine::in_mode(Mode::Sandbox);
    let shop = Workshop::with(|gate| gate.policy(policy).approver(person.clone()));
    let result = shop.shell("git init -q");
    assert_eq!(exit_code(&result), Some(0), "{result:?}");
    assert!(shop.path(".git/HEAD").is_file());
    assert!(person.asked()[0].contains("has to change `.git`"));
}

/// A folder that is neither in the workspace nor in a place that sandboxes hide.
fn elsewhere() -> Option<tempfile::TempDir> {
    let place = toolgate_testing::elsewhere(env!("CARGO_TARGET_TMPDIR").as_ref());
    if place.is_none() {
        toolgate_testing::skip("no folder outside of homes and temporary folders can be written");
    }
    place.map(|place| tempfile::tempdir_in(place).unwrap())
}

#[test]
fn the_user_is_asked_once_to_run_it_again_with_what_was_missing() {
    let person = Person::new(true);
    let (Some(shop), Some(elsewhere)) = (shop(&person), elsewhere()) else { return };
    let folder = elsewhere.path().canonicalize().unwrap();
    let made = folder.join("made");
    let line = format!("python3 -c 'open(\"{}\", \"w\")'; echo done", made.display());
    let result = shop.shell(&line);
    assert_eq!(exit_code(&result), Some(0), "{result:?}");
    assert!(folder.join("made").is_file(), "{result:?}");
    assert!(result.llm_content.as_text().contains("This is the second run"), "{result:?}");
    let asked = person.asked();
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert!(asked[0].contains(&format!("it wants to write in {}", folder.display())), "{asked:?}");
}

#[test]
fn without_a_yes_the_result_says_what_to_do_in_the_callers_words() {
    let person = Person::new(false);
    let (Some(shop), Some(elsewhere)) = (shop(&person), elsewhere()) else { return };
    let folder = elsewhere.path().canonicalize().unwrap();
    let made = folder.join("made");
    let line = format!("python3 -c 'open(\"{}\", \"w\")'; echo done", made.display());
    let result = shop.call("Bash", json!({ "command": line }));
    assert_eq!(exit_code(&result), Some(0), "{result:?}");
    assert!(!folder.join("made").exists());
    let text = result.llm_content.as_text();
    let expected = format!("call `Bash` with `write`: [\"{}\"]", folder.display());
    assert!(text.contains(&expected), "{text}");
    let retry = &result.structured.unwrap()["retry_with"];
    assert_eq!(*retry, json!({ "write": [folder] }));
    assert_eq!(person.asked().len(), 1);
}

#[test]
fn a_yes_grants_the_file_that_the_line_names() {
    let person = Person::new(true);
    let (Some(shop), Some(elsewhere)) = (shop(&person), elsewhere()) else { return };
    let folder = elsewhere.path().canonicalize().unwrap();
    let result = shop.shell(&format!("echo x > {}/made", folder.display()));
    assert_eq!(exit_code(&result), Some(0), "{result:?}");
    assert_eq!(fs::read_to_string(folder.join("made")).unwrap(), "x\n");
    assert_eq!(person.asked().len(), 1);
}

#[test]
fn nobody_is_asked_where_nobody_sits() {
    let policy = Engine::in_mode(Mode::Sandbox);
    let shop = Workshop::with(|gate| gate.policy(policy));
    fs::write(shop.path("make.sh"), "mkdir .vscode\n").unwrap();
    let result = shop.shell("bash make.sh; true");
    let structured: Value = result.structured.clone().unwrap();
    if structured["sandbox"]["level"] != "namespaces" {
        println!("SKIPPED: this machine has no namespaces");
        return;
    }
    assert_eq!(structured["retry_with"], json!({ "sandbox": "full" }), "{result:?}");
    let text = result.llm_content.as_text();
    assert!(text.contains("govern other programs"), "{text}");
}

#[test]
fn nothing_runs_twice_where_nobody_would_be_asked() {
    let person = Person::new(true);
    let Some(elsewhere) = elsewhere() else { return };
    let policy = Engine::in_mode(Mode::Yolo);
    let shop = Workshop::with(|gate| gate.policy(policy).approver(person.clone()));
    let made = elsewhere.path().canonicalize().unwrap().join("made");
    fs::write(shop.path("make.sh"), format!("echo x >> runs\ntouch {}\n", made.display())).unwrap();
    let result = shop.shell("bash make.sh");
    if result.structured.as_ref().unwrap()["sandbox"]["level"] != "namespaces" {
        println!("SKIPPED: this machine has no namespaces");
        return;
    }
    assert!(!made.exists());
    assert_eq!(fs::read_to_string(shop.path("runs")).unwrap(), "x\n");
    assert_eq!(person.asked().len(), 0);
}

#[test]
fn a_rule_frees_the_settings_of_git_only_where_nothing_else_runs() {
    let toolgate = crate::everyday::project();
    fs::create_dir_all(toolgate.home("policies")).unwrap();
    let rules = "[permissions]\nallow = [\"Bash(git *)\", \"Bash(make)\"]\n";
    fs::write(toolgate.home("policies/own.toml"), rules).unwrap();
    let allowed =
        ["git remote add up https://example.com/x.git", "git branch -m trunk && git status"];
    // These run hooks or programs of the workspace, which could write more than git would.
    let asked = ["git push -u origin main", "git remote add up https://example.com/x.git && make"];
    for (lines, expected) in [(allowed, "allow"), (asked, "ask")] {
        let lines = lines.map(str::to_owned);
        for (line, decision) in crate::everyday::decisions(&toolgate, "default", &lines) {
            assert!(decision.starts_with(expected), "{line}: {decision}");
        }
    }
}
