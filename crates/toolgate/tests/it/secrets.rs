//! Secrets are not written down.

use std::fs;

use serde_json::json;
use toolgate_store::{Audit, Filter, Order};

use crate::harness::Toolgate;

/// Everything the ledger holds, as text.
fn ledger(toolgate: &Toolgate) -> String {
    let audit = Audit::open(&toolgate.home("")).unwrap().unwrap();
    let records = audit.entries(&Filter::default(), Order::OldestFirst);
    let texts = records.map(|record| serde_json::to_string(&record.unwrap()).unwrap());
    texts.collect::<Vec<_>>().join("\n")
}

fn random(length: usize) -> String {
    "aZ3kQ9xT7mB2vL5nR8wY1cD4fG6hJ0pS".chars().cycle().take(length).collect()
}

#[test]
fn no_shape_of_secret_reaches_the_ledger() {
    let secrets = [
        format!("AKIA{}", "Q3ZT7MB2VL5NR8WY"),
        format!("ghp_{}", random(36)),
        format!("github_pat_{}", random(82)),
        format!("glpat-{}", random(20)),
        format!("xoxb-1234567890-{}", random(24)),
        format!("sk_live_{}", random(24)),
        format!("sk-proj-{}", random(48)),
        format!("sk-ant-api03-{}", random(60)),
        format!("AIza{}", random(35)),
        format!("npm_{}", random(36)),
        format!("hf_{}", random(34)),
        format!("SG.{}.{}", random(22), random(43)),
        format!("eyJhbGciOiJIUzI1NiJ9.eyJ{}.{}", random(20), random(43)),
    ];
    let toolgate = Toolgate::new();
    for (number, secret) in secrets.iter().enumerate() {
        let path = format!("a{number}.txt");
        let flags = ["--mode", "yolo"];
        let content = format!("the token is {secret}, keep it\n");
        toolgate.call_with(&flags, "write_file", &json!({ "path": path, "content": content }));
        let edits = json!([{ "target": secret, "replacement": "x" }]);
        toolgate.call_with(&flags, "edit_file", &json!({ "path": path, "edits": edits }));
        toolgate.call("grep", &json!({ "pattern": secret }));
        toolgate.call("read_file", &json!({ "path": secret }));
        toolgate.call("no_such_tool", &json!({ "token": secret }));
    }
    let ledger = ledger(&toolgate);
    for secret in &secrets {
        assert!(!ledger.contains(secret.as_str()), "{secret} was written down");
    }
    assert!(ledger.contains("[redacted: github token]"));
}

#[test]
fn values_of_env_files_do_not_reach_the_ledger() {
    let toolgate = Toolgate::with_files(&[(".env", "PLAIN=correct-horse-battery\nPORT=8080\n")]);
    let content = "connect with correct-horse-battery\n";
    let flags = ["--mode", "yolo"];
    toolgate.call_with(&flags, "write_file", &json!({ "path": "a.txt", "content": content }));
    let other = "OTHER=staple-of-the-horse\nNAME=value\n";
    toolgate.call_with(&flags, "write_file", &json!({ "path": ".env.ci", "content": other }));
    toolgate.call_with(&flags, "read_file", &json!({ "path": ".env" }));
    let ledger = ledger(&toolgate);
    for secret in ["correct-horse-battery", "staple-of-the-horse"] {
        assert!(!ledger.contains(secret), "{secret} was written down:\n{ledger}");
    }
    assert!(ledger.contains(".env.ci"));
}

#[test]
fn patterns_of_the_user_count_and_wrong_ones_are_told() {
    let toolgate = Toolgate::new();
    let config = toolgate.home("config.toml");
    fs::write(&config, "[ledger]\nredact = ['ACME-[0-9]{6}']\n").unwrap();
    toolgate.call("grep", &json!({ "pattern": "ACME-123456 there" })).success();
    let ledger = ledger(&toolgate);
    assert!(!ledger.contains("ACME-123456") && ledger.contains("there"), "{ledger}");

    for (text, told) in [
        ("[ledger]\nredact = ['(']\n", "`redact` in `config.toml`: cannot use `(`"),
        ("[ledger]\nredacted = []\n", "unknown field `redacted`, expected `redact`"),
    ] {
        fs::write(&config, text).unwrap();
        let done = toolgate.call("grep", &json!({ "pattern": "x" }));
        done.code(2).stderr(predicates::str::contains(told));
    }
}
