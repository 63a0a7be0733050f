//! The public conformance suite through the gateway, in front of a server that shows everything.

use std::process::Command;

use crate::gateway::{configured, server};
use crate::mcp_http::Served;
use crate::peers;

/// Runs every scenario that a revision requires of servers, with a server of an era behind the
/// gate.
fn conforms(revision: &str, era: &str) {
    let Some(folder) = peers::installed("TOOLGATE_TEST_NPM") else { return };
    let toolgate = configured(&server("all", "everything", &[era], "trust = true"));
    let served = Served::start(&toolgate, &["--non-interactive"], &["--no-prefix"]);
    let mut suite = Command::new(folder.join("node"));
    suite.arg(folder.join("node_modules/@modelcontextprotocol/conformance/dist/index.js"));
    suite.args(["server", "--requirements", revision, "--url"]);
    suite.arg(served.url().replace("127.0.0.1", "localhost")).current_dir(&folder);
    let done = suite.output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    let wrong = String::from_utf8_lossy(&done.stderr);
    // Fails when a required scenario does; none is expected to fail.
    assert!(done.status.success(), "{said}\n{wrong}");
    let (_, summary) = said.split_once("=== SUMMARY ===").expect("every scenario ran");
    assert!(summary.contains("✓ tools-list"), "{said}");
}

#[test]
fn conforms_to_2025_11_25_in_front_of_a_server_of_the_same_era() {
    conforms("2025-11-25", "--legacy");
}

#[test]
fn conforms_to_2025_11_25_in_front_of_a_server_without_a_handshake() {
    conforms("2025-11-25", "--modern");
}

// With a server of the other era, questions have no names of the server's own, which the suite
// looks for: that combination is tried in `gateway_eras`.
#[test]
fn conforms_to_2026_07_28_in_front_of_a_server_of_the_same_era() {
    conforms("2026-07-28", "--modern");
}
