use std::path::PathBuf;

use proptest::prelude::*;

use super::*;

fn path(resolved: &str, access: Access, place: Place) -> PathFact {
    PathFact {
        requested: PathBuf::from(resolved),
        resolved: PathBuf::from(resolved),
        access,
        place,
        hard_links: 1,
    }
}

fn decide(mode: Mode, effect: Effect, risk: Risk, paths: Vec<PathFact>) -> Decision {
    let facts = Facts::new("some_tool", effect, risk).with_paths(paths);
    ModePolicy::new(mode).decide(&facts).decision
}

#[test]
fn modes_decide_by_risk_and_effect() {
    use Decision::{Allow, Ask, Deny};
    let table = [
        (Mode::Default, [Allow, Ask, Ask]),
        (Mode::AcceptEdits, [Allow, Allow, Ask]),
        (Mode::Plan, [Allow, Deny, Deny]),
        (Mode::Yolo, [Allow, Allow, Allow]),
    ];
    for (mode, [read, edit, change]) in table {
        assert_eq!(decide(mode, Effect::Read, Risk::Low, vec![]), read, "{mode}");
        assert_eq!(decide(mode, Effect::Edit, Risk::Medium, vec![]), edit, "{mode}");
        assert_eq!(decide(mode, Effect::Change, Risk::High, vec![]), change, "{mode}");
    }
}

#[test]
fn risky_reads_do_not_pass_as_reads() {
    assert_eq!(decide(Mode::Plan, Effect::Read, Risk::High, vec![]), Decision::Deny);
    assert_eq!(decide(Mode::Default, Effect::Read, Risk::Medium, vec![]), Decision::Ask);
}

#[test]
fn asks_before_leaving_the_workspace() {
    let outside = vec![path("/srv/secret.txt", Access::Read, Place::Outside)];
    assert_eq!(decide(Mode::Default, Effect::Read, Risk::Low, outside.clone()), Decision::Ask);
    assert_eq!(decide(Mode::Yolo, Effect::Read, Risk::Low, outside), Decision::Allow);
}

#[test]
fn accept_edits_still_asks_about_files_that_govern_programs() {
    let hook = vec![path("/w/.git/hooks/pre-commit", Access::Write, Place::Workspace)];
    assert_eq!(decide(Mode::AcceptEdits, Effect::Edit, Risk::Medium, hook), Decision::Ask);
}

#[test]
fn accept_edits_asks_before_splitting_hard_links() {
    let mut linked = path("/w/a.txt", Access::Write, Place::Workspace);
    linked.hard_links = 2;
    assert_eq!(decide(Mode::AcceptEdits, Effect::Edit, Risk::Medium, vec![linked]), Decision::Ask);
}

#[test]
fn system_accounts_are_never_written_even_in_yolo() {
    let passwd = vec![path("/etc/passwd", Access::Write, Place::Outside)];
    assert_eq!(decide(Mode::Yolo, Effect::Edit, Risk::Medium, passwd), Decision::Deny);
}

#[test]
fn excluded_wins_over_allowed_and_allowed_stays_in_the_workspace() {
    let both = ModePolicy::new(Mode::Yolo)
        .with_allowed(vec!["write_file".into()])
        .with_excluded(vec!["write_file".into()]);
    let facts = Facts::new("write_file", Effect::Edit, Risk::Medium);
    assert_eq!(both.decide(&facts).decision, Decision::Deny);

    let allowed = ModePolicy::new(Mode::Default).with_allowed(vec!["write_file".into()]);
    assert_eq!(allowed.decide(&facts).decision, Decision::Allow);
    let outside = facts.with_paths(vec![path("/srv/x", Access::Write, Place::Outside)]);
    assert_eq!(allowed.decide(&outside).decision, Decision::Ask);
}

fn any_effect() -> impl Strategy<Value = Effect> {
    prop_oneof![Just(Effect::Read), Just(Effect::Edit), Just(Effect::Change)]
}

fn any_risk() -> impl Strategy<Value = Risk> {
    prop_oneof![Just(Risk::Low), Just(Risk::Medium), Just(Risk::High), Just(Risk::Critical)]
}

proptest! {
    /// Touching more never makes a decision milder, and plan is the strictest mode.
    #[test]
    fn one_more_path_never_loosens(
        effect in any_effect(),
        risk in any_risk(),
        outside in any::<bool>(),
        writes in any::<bool>(),
    ) {
        let place = if outside { Place::Outside } else { Place::Workspace };
        let access = if writes { Access::Write } else { Access::Read };
        for mode in Mode::ALL {
            let without = decide(mode, effect, risk, vec![]);
            let with = decide(mode, effect, risk, vec![path("/p/q", access, place)]);
            prop_assert!(with >= without);
        }
    }

    #[test]
    fn more_risk_never_loosens(effect in any_effect(), low in any_risk(), high in any_risk()) {
        prop_assume!(low <= high);
        for mode in Mode::ALL {
            prop_assert!(decide(mode, effect, high, vec![]) >= decide(mode, effect, low, vec![]));
        }
    }
}
