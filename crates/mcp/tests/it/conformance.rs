//! The public conformance suite, run against the server over HTTP in both eras.
//!
//! `cargo xtask test` installs the suite and names its folder; without it, the tests are skipped.

use std::path::PathBuf;
use std::process::Command;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use toolgate_mcp::server::{Eras, HttpSettings, PATH};

use crate::everything;

/// Names the folder with the suite and the node that runs it.
const VARIABLE: &str = "TOOLGATE_TEST_NPM";

/// Runs every scenario that a revision requires of servers.
fn conforms(revision: &str) {
    let Some(folder) = std::env::var_os(VARIABLE).map(PathBuf::from) else {
        toolgate_testing::skip("`cargo xtask test` installs the conformance suite");
        return;
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let stop = CancellationToken::new();
        let serving = tokio::spawn({
            let stop = stop.clone();
            let server = everything::server(Eras::Both);
            async move { server.serve_http(listener, HttpSettings::default(), &stop).await }
        });
        let mut suite = Command::new(folder.join("node"));
        suite.arg(folder.join("node_modules/@modelcontextprotocol/conformance/dist/index.js"));
        suite.args(["server", "--requirements", revision, "--url"]);
        suite.arg(format!("http://localhost:{port}{PATH}")).current_dir(&folder);
        let done = tokio::task::spawn_blocking(move || suite.output()).await.unwrap().unwrap();
        stop.cancel();
        serving.await.unwrap().unwrap();
        let said = String::from_utf8_lossy(&done.stdout);
        let wrong = String::from_utf8_lossy(&done.stderr);
        // Fails when a required scenario does; none is expected to fail.
        assert!(done.status.success(), "{said}\n{wrong}");
        let (_, summary) = said.split_once("=== SUMMARY ===").expect("every scenario ran");
        assert!(summary.contains("✓ tools-list"), "{said}");
    });
}

#[test]
fn conforms_to_2025_11_25() {
    conforms("2025-11-25");
}

#[test]
fn conforms_to_2026_07_28() {
    conforms("2026-07-28");
}
