//! Many servers and many tools behind the gate.

use std::time::Instant;

use serde_json::json;

use crate::gateway::{configured, names, server};
use crate::mcp_client::{Client, text};
use crate::workshop::{PATIENCE, eventually};

#[test]
fn fifty_servers_with_two_thousand_tools_stay_small_and_are_found() {
    let config: String = (0..50)
        .map(|number| server(&format!("s{number}"), "hostile", &["many=39"], "trust = true"))
        .collect();
    let toolgate = configured(&format!("[mcp]\nwait = 120\n{config}"));
    let mut client = Client::connect(&toolgate, &[]);
    let listed = names(&mut client);
    assert!(listed.contains(&"find_tools".to_owned()), "{listed:?}");
    assert!(!listed.iter().any(|name| name.starts_with("mcp__")), "{listed:?}");
    let query = json!({ "query": "s17 thing number 23" });
    let found = client.call("find_tools", &query);
    let shown = text(&found);
    assert!(shown.starts_with("## mcp__s17__tool-23\n"), "{shown}");
    assert!(shown.contains(r#""properties":{"text":{"type":"string"}}"#), "{shown}");
    // What was found is listed from now on, and can be called.
    client.next_of("notifications/tools/list_changed");
    eventually("what was found is not listed", || {
        names(&mut client).contains(&"mcp__s17__tool-23".to_owned())
    });
    assert!(names(&mut client).len() < 60);
    assert_eq!(client.call("mcp__s17__tool-23", &json!({}))["isError"], false);
    // What was not looked up can be called by those who know it.
    assert_eq!(client.call("mcp__s49__tool-38", &json!({}))["isError"], false);
    let nothing = client.call("find_tools", &json!({ "query": "xylophone" }));
    assert!(text(&nothing).starts_with("No tool fits `xylophone`."), "{nothing}");
}

#[test]
fn a_slow_server_does_not_delay_the_others() {
    let config = server("slow", "hostile", &["mute"], "trust = true\nstart_timeout = 600")
        + &server("quick", "hostile", &[], "trust = true");
    let toolgate = configured(&format!("[mcp]\nwait = 1\n{config}"));
    let begun = Instant::now();
    let mut client = Client::connect(&toolgate, &[]);
    eventually("the quick one is not listed", || {
        names(&mut client).contains(&"mcp__quick__echo".to_owned())
    });
    assert_eq!(client.call("mcp__quick__echo", &json!({}))["isError"], false);
    assert!(begun.elapsed() < PATIENCE);
}
