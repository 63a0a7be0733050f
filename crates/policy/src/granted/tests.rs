use serde_json::json;

use super::*;
use crate::rule::Tier;
use crate::world::Lexical;
use crate::{Decision, Effect, Engine, Facts, Mode, Policy, Risk, Verdict};

fn granted(permissions: &[(&str, &str, Option<i64>)]) -> Arc<Granted> {
    let given = permissions.iter().map(|(id, permission, expires)| Given {
        id: (*id).into(),
        permission: (*permission).to_owned(),
        expires: *expires,
        reach: None,
    });
    Arc::new(Granted::new(given, &Loader::default()).unwrap())
}

fn decide(engine: &Engine, command: &str, granted: &Arc<Granted>) -> Verdict {
    let facts = Facts::new("shell", Effect::Change, Risk::High)
        .with_args(json!({ "command": command }))
        .with_granted(Arc::clone(granted));
    engine.decide(&facts, &Lexical::new("/w"))
}

fn engine(policy: &str, tier: Tier) -> Engine {
    let file = Loader::default().parse(policy, "p.toml", tier);
    assert!(file.is_sound());
    Engine::new(file.rules, Mode::Default)
}

#[test]
fn every_part_of_a_line_names_its_grant() {
    let engine = Engine::in_mode(Mode::Default);
    let given = granted(&[("one", "Bash(npm test)", None), ("two", "Bash(make *)", None)]);
    let verdict = decide(&engine, "npm test && make x && ls && make y", &given);
    assert_eq!(verdict.decision, Decision::Allow);
    assert_eq!(verdict.grants, ["one".into(), "two".into()]);
    assert_eq!(decide(&engine, "ls", &given).grants, []);
    assert_eq!(decide(&engine, "npm test && rm x", &given).decision, Decision::Ask);
}

#[test]
fn without_grants_nothing_changes() {
    let engine = Engine::in_mode(Mode::Default);
    let (none, other) = (granted(&[]), granted(&[("one", "Bash(make *)", None)]));
    let bare = decide(&engine, "npm test", &none);
    assert_eq!(bare.decision, Decision::Ask);
    assert_eq!(decide(&engine, "npm test", &other), bare);
}

#[test]
fn a_grant_is_weaker_than_the_admin_and_the_floors_and_stronger_than_the_user() {
    let given = granted(&[("one", "Bash(npm *)", None)]);
    let deny = "[permissions]\ndeny = [\"Bash(npm *)\"]\n";
    let by = |tier| decide(&engine(deny, tier), "npm test", &given).decision;
    assert_eq!(by(Tier::Admin), Decision::Deny);
    assert_eq!(by(Tier::User), Decision::Allow);
    let plain = Engine::in_mode(Mode::Default);
    assert_eq!(decide(&plain, "npm test < .env", &given).decision, Decision::Ask);
    assert_eq!(decide(&plain, "npm \"$x\"", &given).decision, Decision::Ask);
    let planning = Engine::in_mode(Mode::Plan);
    assert_eq!(decide(&planning, "npm test", &given).decision, Decision::Deny);
}

#[test]
fn of_equally_strong_rules_the_stricter_holds() {
    let deny = "[[rule]]\ncommand = \"npm *\"\ndecision = \"deny\"\npriority = 950\n";
    let given = granted(&[("one", "Bash(npm *)", None)]);
    assert_eq!(decide(&engine(deny, Tier::User), "npm test", &given).decision, Decision::Deny);
}

#[test]
fn a_grant_ends() {
    let engine = Engine::in_mode(Mode::Default);
    // That world's clock stands at 0.
    let ended = granted(&[("one", "Bash(npm *)", Some(0))]);
    assert_eq!(decide(&engine, "npm test", &ended).decision, Decision::Ask);
    let goes_on = granted(&[("one", "Bash(npm *)", Some(1))]);
    assert_eq!(decide(&engine, "npm test", &goes_on).decision, Decision::Allow);
}

#[test]
fn a_grant_that_is_not_understood_is_told() {
    for permission in ["Bash(npm", "", "WebFetch(docs.rs)", "mcp__a__b__c"] {
        let permission = permission.to_owned();
        let given =
            Given { id: "x".into(), permission: permission.clone(), expires: None, reach: None };
        assert!(Granted::new([given], &Loader::default()).is_err(), "{permission}");
    }
}
