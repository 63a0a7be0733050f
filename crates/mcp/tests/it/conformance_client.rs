//! The public conformance suite, run against the client in both eras.
//!
//! `cargo xtask test` installs the suite and names its folder; without it, the tests are skipped.

use std::path::PathBuf;
use std::process::Command;

use crate::client::example;

/// Names the folder with the suite and the node that runs it.
const VARIABLE: &str = "TOOLGATE_TEST_NPM";

/// Runs every scenario that a revision requires of clients.
fn conforms(revision: &str) {
    let Some(folder) = std::env::var_os(VARIABLE).map(PathBuf::from) else {
        toolgate_testing::skip("`cargo xtask test` installs the conformance suite");
        return;
    };
    let results = tempfile::tempdir().unwrap();
    let mut suite = Command::new(folder.join("node"));
    suite.arg(folder.join("node_modules/@modelcontextprotocol/conformance/dist/index.js"));
    suite.args(["client", "--requirements", revision, "--command"]);
    suite.arg(example("conformance_client")).current_dir(results.path());
    let done = suite.output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    let wrong = String::from_utf8_lossy(&done.stderr);
    // Fails when a required scenario does; none is expected to fail.
    assert!(done.status.success(), "{said}\n{wrong}");
    let summary =
        wrong.split_once("=== SUITE SUMMARY ===").or(said.split_once("=== SUITE SUMMARY ==="));
    let (_, summary) = summary.expect("every scenario ran");
    assert!(summary.contains("✓ tools_call"), "{summary}");
    assert!(summary.contains("✓ auth/scope-step-up"), "{summary}");
}

#[test]
fn conforms_to_2025_11_25() {
    conforms("2025-11-25");
}

#[test]
fn conforms_to_2026_07_28() {
    conforms("2026-07-28");
}
