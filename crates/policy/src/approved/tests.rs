use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::propose::Proposed;
use crate::rule::{Priority, Sandbox, Tier};
use crate::world::Lexical;
use crate::{Decision, Effect, Engine, Facts, Mode, Policy as _, Risk};

fn approved(id: &str, permissions: &[&str], request: &str) -> Approved {
    Approved {
        id: id.to_owned(),
        permissions: permissions.iter().map(|text| (*text).to_owned()).collect(),
        reach: None,
        at: 1_800_000_000,
        by: "anna in a terminal".to_owned(),
        request: request.to_owned(),
    }
}

fn shell(command: &str) -> Facts {
    Facts::new("shell", Effect::Change, Risk::High).with_args(json!({ "command": command }))
}

fn decide(text: &str, command: &str) -> Decision {
    let file = Loader::default().parse(text, "approved.toml", Tier::User);
    assert_eq!(file.diagnostics, []);
    assert!(file.rules.iter().all(|rule| rule.priority == Priority::ALWAYS_ALLOW));
    Engine::new(file.rules, Mode::Default).decide(&shell(command), &Lexical::new("/w")).decision
}

const EXISTING: &[&str] = &[
    "",
    "# mine\n",
    "[permissions]\nallow = [\"Read\"] # keep\n",
    "# mine\n\n[[rule]]\ntool = \"ls\"  # here\ndecision = \"allow\"\n\n# the end\n",
    "[[rule]]\ncommand = \"\"\"\na\nb\"\"\"\ndecision = \"ask\"\n[web]\nallowed_domains = [\"docs.rs\"]\n",
    "# no line end at the end",
];

#[test]
fn what_is_there_stays_and_what_is_added_goes_again() {
    for text in EXISTING {
        let one = append(text, &approved("one", &["Bash(npm run *)"], "npm run a")).unwrap();
        let two = append(&one, &approved("two", &["Bash(make a)", "Bash(b)"], "make a")).unwrap();
        assert!(two.starts_with(&one) && one.starts_with(text), "{two}");
        let ids: Vec<_> = list(&two).into_iter().map(|entry| entry.id).collect();
        assert_eq!(ids, ["one", "two"]);
        assert_eq!(remove(&two, "two").as_deref(), Some(one.as_str()));
        let other = remove(&two, "one").unwrap();
        assert_eq!(list(&other).len(), 1);
        let none = remove(&other, "two").unwrap();
        assert_eq!(none.trim_end(), if text.is_empty() { HEADER } else { text }.trim_end());
        assert_eq!(remove(&none, "two"), None);
    }
}

#[test]
fn an_entry_tells_where_it_comes_from() {
    let text = append("", &approved("one", &["Bash(npm run *)"], "npm run a")).unwrap();
    let entries = list(&text);
    assert_eq!(entries[0].note, "2027-01-15T08:00:00Z, anna in a terminal: npm run a");
    assert_eq!(text.lines().nth(entries[0].line - 1), Some("[[rule]]"));
    assert_eq!(decide(&text, "npm run b"), Decision::Allow);
    assert_eq!(decide(&text, "npm test"), Decision::Ask);
}

#[test]
fn an_entry_keeps_the_reach_that_was_agreed_to() {
    let hosts = ["docs.rs".to_owned(), "crates.io".to_owned()];
    for reach in [
        Profile::of(Sandbox::ReadOnly),
        Profile::of(Sandbox::WorkspaceWrite),
        Profile::new(Sandbox::WorkspaceWrite, hosts),
        Profile::of(Sandbox::Full),
    ] {
        let mut one = approved("one", &["Bash(npm run *)", "Bash(make x)"], "npm run a");
        one.reach = Some(reach.clone());
        let text = append("", &one).unwrap();
        assert_eq!(list(&text)[0].reach.as_ref(), Some(&reach), "{text}");
        let file = Loader::default().parse(&text, "approved.toml", Tier::User);
        assert_eq!((file.diagnostics.len(), file.rules.len()), (0, 2), "{text}");
        let engine = Engine::new(file.rules, Mode::Default);
        let verdict = engine.decide(&shell("npm run b && make x"), &Lexical::new("/w"));
        assert_eq!((verdict.decision, verdict.profile()), (Decision::Allow, Some(reach)));
        assert_eq!(remove(&text, "one").as_deref(), Some(HEADER));
    }
}

#[test]
fn what_is_not_sound_is_not_added_to() {
    let one = approved("one", &["Bash(npm run *)"], "x");
    for text in ["[[rule", "rule = [{ tool = \"ls\", decision = \"allow\" }]\n"] {
        assert!(matches!(append(text, &one), Err(AppendApprovedError::File { .. })), "{text}");
    }
    for id in ["", "a b", "a\"", "a\n"] {
        assert!(append("", &approved(id, &["Read"], "x")).is_err(), "{id:?}");
    }
    assert_eq!(append("", &approved("a", &[], "x")), Err(AppendApprovedError::Nothing));
    assert!(append("", &approved("a", &["Bash("], "x")).is_err());
    assert!(list("[[rule").is_empty() && remove("[[rule", "x").is_none());
}

#[test]
fn a_permission_stands_alone_in_its_rule() {
    let text = "[[rule]]\npermission = \"Bash(a)\"\ntool = \"ls\"\ndecision = \"deny\"\n";
    let file = Loader::default().parse(text, "p.toml", Tier::User);
    assert_eq!(file.diagnostics[0].message, "`permission` and `tool` cannot stand in one rule");
    let text = "[[rule]]\npermission = [\"Bash(a\", \"Read(x)\"]\ndecision = \"deny\"\n";
    assert!(!Loader::default().parse(text, "p.toml", Tier::User).is_sound());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever was asked about, the file stays sound and says the same when read again.
    #[test]
    fn hostile_text_is_kept_as_text(inner in "(?s)[^()]{0,40}", by in "(?s).{0,30}", request in "(?s).{0,60}") {
        let permission = format!("Bash(x {inner})");
        let mut one = approved("one", &[&permission], &request);
        one.by = by;
        let Ok(text) = append("", &one) else { return Err(TestCaseError::fail("not added")) };
        let file = Loader::default().parse(&text, "approved.toml", Tier::User);
        prop_assert!(file.is_sound() && file.rules.len() == 1, "{text}");
        let entries = list(&text);
        prop_assert_eq!(&entries[0].permissions, &[permission]);
        prop_assert_eq!(remove(&text, "one"), Some(HEADER.to_owned()));
    }

    /// What is proposed decides the same from the file.
    #[test]
    fn what_is_proposed_works_from_the_file(words in prop::collection::vec("[ -~é]{0,8}", 0..4)) {
        let quoted: Vec<_> = words.iter().map(|word| crate::shell::render::quote(word)).collect();
        let line = format!("frob {} && npm run x", quoted.join(" "));
        let world = Lexical::new("/w");
        for proposed in Engine::in_mode(Mode::Default).proposals(&shell(&line), &world) {
            let Proposed { permissions, reach, .. } = proposed;
            let one = Approved { permissions, reach, ..approved("one", &[], &line) };
            prop_assert_eq!(decide(&append("", &one).unwrap(), &line), Decision::Allow);
        }
    }

    /// Whatever is in the file, looking at it does not panic.
    #[test]
    fn looking_never_panics(text in "(?s).{0,200}") {
        list(&text);
        remove(&text, "x");
    }
}
