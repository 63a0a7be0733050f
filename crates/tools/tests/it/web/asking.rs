//! What a person and the policy are told before anything is fetched.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_core::dialect::Dialect;
use toolgate_core::gate::Gate;
use toolgate_core::policy::Risk;
use toolgate_core::tool::{Concurrency, Location, Preview};

use crate::describing::Asked;
use crate::harness::Lab;

#[test]
fn calls_say_where_they_go() {
    let lab = Lab::new();
    let call = lab.validated("web_fetch", json!({ "url": " https://Docs.RS/a b#c " }));
    assert_eq!(call.description(), "Fetch https://docs.rs/a%20b");
    assert_eq!(call.locations(), [Location::Url("https://docs.rs/a%20b".to_owned())]);
    assert_eq!((call.facts().risk, call.concurrency()), (Risk::Medium, Concurrency::Safe));
    let call = lab.validated("web_fetch", json!({ "url": "https://docs.rs", "selector": "h1" }));
    assert_eq!(call.description(), "Fetch what matches h1 from https://docs.rs/");
    let call = lab.validated("web_search", json!({ "query": " rust\n\u{1b}[31m async " }));
    assert_eq!(call.description(), "Search the web for \"rust \\x1b[31m async\"");
    assert_eq!(call.facts().risk, Risk::Medium);
}

#[test]
fn a_person_sees_the_host_as_it_is() {
    let person = Asked::default();
    let gate = Gate::builder(Arc::new(toolgate_tools::registry().unwrap()))
        .approver(person.clone())
        .build();
    let lab = Lab::behind(gate, Dialect::Native);
    let preview = |tool: &str, args: Value| {
        lab.error(tool, args);
        match person.0.lock().unwrap().pop().unwrap().preview {
            Preview::Text(text) => text,
            other => panic!("{other:?}"),
        }
    };
    insta::assert_snapshot!(preview("web_fetch", json!({ "url": "http://dосs.rs/tokio\u{202e}" })), @r"
    Host:    xn--ds-fmcm.rs  (written in other letters than a to z, shown encoded)  (not encrypted)
    Address: http://xn--ds-fmcm.rs/tokio%E2%80%AE
    ");
    insta::assert_snapshot!(preview("web_search", json!({ "query": "secret\u{202e}", "allowedDomains": ["docs.rs", "Rust-Lang.org"] })), @r"
    Query: secret\u{202e}
    Asks:  nobody is configured
    Only:  docs.rs, rust-lang.org
    ");
}
