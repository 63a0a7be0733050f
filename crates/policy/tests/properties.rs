//! Properties of decisions, each tried on at least a hundred cases.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolgate_policy::load::Loader;
use toolgate_policy::name::ToolPattern;
use toolgate_policy::pattern::{Condition, Operator};
use toolgate_policy::rule::{Origin, Priority, Rule, Tier};
use toolgate_policy::world::Lexical;
use toolgate_policy::{Decision, Effect, Engine, Facts, Mode, Policy as _, Risk};
use toolgate_testing::processor_time;

fn decisions() -> impl Strategy<Value = Decision> {
    prop_oneof![Just(Decision::Allow), Just(Decision::Ask), Just(Decision::Deny)]
}

fn names() -> impl Strategy<Value = String> {
    "[a-z]{1,8}_[a-z]{1,8}"
}

fn rule(tool: ToolPattern, decision: Decision) -> Rule {
    let origin = Origin { source: "test".into(), line: 1, tier: Tier::User };
    Rule::about(vec![tool], decision, Priority::in_tier(Tier::User, 100), origin)
}

fn decide(rules: Vec<Rule>, tool: &str, args: Value) -> Decision {
    let facts = Facts::new(tool, Effect::Change, Risk::Medium).with_args(args);
    Engine::bare(rules, Mode::Default).decide(&facts, &Lexical::new("/w")).decision
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Property 33: the decision is that of the matching rule, or the default.
    #[test]
    fn property_33_policy_decision_evaluation(
        tool in names(), other in names(), decision in decisions(),
    ) {
        prop_assume!(tool != other);
        let rules = vec![rule(ToolPattern::Exact(tool.clone()), decision)];
        prop_assert_eq!(decide(rules.clone(), &tool, json!({})), decision);
        prop_assert_eq!(decide(rules, &other, json!({})), Decision::Ask);
    }

    /// Property 34: a rule about a tool beats a rule about all tools, whatever comes first.
    #[test]
    fn property_34_policy_rule_precedence(
        tool in names(), own in decisions(), all in decisions(), first in any::<bool>(),
    ) {
        let mut rules =
            vec![rule(ToolPattern::Exact(tool.clone()), own), rule(ToolPattern::Any, all)];
        if first {
            rules.reverse();
        }
        prop_assert_eq!(decide(rules.clone(), &tool, json!({})), own);
        prop_assert_eq!(decide(rules, "another", json!({})), all);
    }

    /// Property 35: a rule applies only if all its conditions hold.
    #[test]
    fn property_35_policy_condition_evaluation(
        path in "[a-z/]{1,20}", start in "[a-z/]{0,3}", part in "[a-z]{0,2}", exact in any::<bool>(),
    ) {
        let condition = |operator| Condition { param: "path".to_owned(), operator };
        let mut conditional = rule(ToolPattern::Any, Decision::Deny);
        conditional.matcher.conditions = vec![
            condition(Operator::StartsWith(start.clone())),
            condition(Operator::Contains(part.clone())),
        ];
        if exact {
            conditional.matcher.conditions.push(condition(Operator::Equals(json!("x"))));
        }
        let holds = path.starts_with(&start) && path.contains(&part) && (!exact || path == "x");
        let expected = if holds { Decision::Deny } else { Decision::Ask };
        prop_assert_eq!(decide(vec![conditional], "tool", json!({ "path": path })), expected);
    }

    /// Property 36: every call has a risk, and a rule may set it.
    #[test]
    fn property_36_policy_risk_classification(tool in names(), set in any::<bool>()) {
        let mut own = rule(ToolPattern::Exact(tool.clone()), Decision::Ask);
        own.risk = set.then_some(Risk::High);
        let facts = Facts::new(&tool, Effect::Change, Risk::Low);
        let engine = Engine::bare(vec![own], Mode::Default);
        let verdict = engine.decide(&facts, &Lexical::new("/w"));
        prop_assert_eq!(verdict.risk, if set { Risk::High } else { Risk::Low });
    }

    /// The strictest mode is never looser than another for the same call.
    #[test]
    fn plan_never_allows_what_changes(tool in names(), decision in decisions()) {
        let rules = vec![rule(ToolPattern::Exact(tool.clone()), decision)];
        let facts = Facts::new(&tool, Effect::Change, Risk::Medium);
        let verdict = Engine::new(rules, Mode::Plan).decide(&facts, &Lexical::new("/w"));
        prop_assert_eq!(verdict.decision, Decision::Deny);
    }

    /// Whatever is in a policy file, reading it ends in rules or in messages with places.
    #[test]
    fn loading_never_panics(text in "(?s).{0,400}", name in prop_oneof![Just("a.toml"), Just("a.json")]) {
        let file = Loader::default().parse(&text, name, Tier::User);
        for found in &file.diagnostics {
            prop_assert!(found.line >= 1 && found.column >= 1 && !found.message.is_empty());
        }
    }

    /// Whatever is asked, deciding ends quickly.
    #[test]
    fn deciding_never_panics(command in "(?s).{0,300}", path in "(?s).{0,60}") {
        let engine = Engine::in_mode(Mode::Default);
        let world = Lexical::new("/w").with_home("/home/u");
        for (tool, args) in [
            ("shell", json!({ "command": command })),
            ("shell", json!({ "command": command, "cwd": path })),
            ("web_fetch", json!({ "url": path })),
            (command.as_str(), json!({ "path": path })),
        ] {
            let facts = Facts::new(tool, Effect::Change, Risk::High).with_args(args);
            let verdict = engine.decide(&facts, &world);
            prop_assert!(!verdict.reason().is_empty());
        }
    }
}

/// Lines of up to a megabyte that have hurt parsers before.
fn hostile_lines() -> Vec<String> {
    let size = 1 << 20;
    let mut lines: Vec<String> = [
        "(",
        "{ ",
        "$(",
        "`",
        "${x:-",
        "\"$(",
        "((",
        "[[",
        "if ",
        "case x in ",
        "<(",
        "a=(",
        "'",
        "\\",
        "\\\n",
        "|",
        "&& ",
        "; ",
        "\n",
        "a ",
        "ls;",
        "ls | ",
        "ls && ",
        "<<A ",
        "<<'A'\n",
        ">x ",
        "{a,b}",
        "*",
        "~",
        "#",
        "$'\\x",
        "echo 'a' ",
        "sh -c '",
        "eval ",
        "xargs ",
        "sudo ",
        "x=1 ",
        "é",
        "\u{202e}",
        "a[$(",
        "function f { ",
        "for x in ",
        "$((",
        "! ",
    ]
    .iter()
    .map(|piece| piece.repeat(size / piece.len()))
    .collect();
    lines.push(format!("echo {}", "x".repeat(size)));
    lines.push(format!("cat {}", "a/".repeat(size / 2)));
    lines
}

#[test]
fn a_megabyte_is_decided_quickly() {
    let policy = "[permissions]\nallow = [\"Bash\"]\ndeny = [\"Bash(rm *)\", \"Read(./.env)\", \"Bash(* x)\"]\n";
    let rules = Loader::default().parse(policy, "p.toml", Tier::User).rules;
    let engine = Engine::new(rules, Mode::Default);
    let world = Lexical::new("/w").with_home("/home/u");
    let mut slow = Vec::new();
    for line in hostile_lines() {
        for length in [line.len() / 64, line.len() / 16, line.len()] {
            let part: String = line.chars().take(length).collect();
            let start: String = part.chars().take(20).collect();
            let args = json!({ "command": part });
            let facts = Facts::new("shell", Effect::Change, Risk::High).with_args(args);
            let begun = processor_time();
            engine.decide(&facts, &world);
            // A release build is held to its 50 ms; a debug build only shows that nothing grows
            // out of all proportion.
            let most = if cfg!(debug_assertions) { 20_000 } else { 50 };
            let taken = processor_time().saturating_sub(begun);
            if taken > Duration::from_millis(most) {
                slow.push(format!("{start:?} x {length}: {taken:?}"));
            }
        }
    }
    assert!(slow.is_empty(), "{slow:#?}");
}
