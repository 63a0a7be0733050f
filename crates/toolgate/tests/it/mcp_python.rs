//! `toolgate mcp` and the clients of Python's `mcp` and `fastmcp`, which speak both eras.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::harness::Toolgate;
use crate::mcp_client::text;
use crate::mcp_http::Served;
use crate::peers;

/// Names the folder with the libraries.
const VARIABLE: &str = "TOOLGATE_TEST_PYTHON";
const LIBRARIES: [&str; 2] = ["mcp", "fastmcp"];
const ERAS: [&str; 2] = ["legacy", "2026-07-28"];

/// What a client does.
#[derive(Debug, Clone, Copy)]
struct Order<'a> {
    library: &'a str,
    /// An era, or `auto`.
    mode: &'a str,
    /// What its person says; without anything, the client cannot be asked.
    says: Option<&'a str>,
    /// Whether it wants to hear how calls go.
    progress: bool,
}

impl Order<'_> {
    /// Carries it out with a server on the standard streams, started with these flags.
    fn over_streams(
        self,
        libraries: &Path,
        toolgate: &Toolgate,
        flags: &[&str],
        calls: &Value,
        met: impl FnMut(&Value),
    ) -> Vec<Value> {
        let command = [&[env!("CARGO_BIN_EXE_toolgate")], flags, &["mcp"]].concat();
        let server = json!({
            "url": null, "command": command, "cwd": toolgate.path(""),
            "env": { "TOOLGATE_HOME": toolgate.home(""), "HOME": toolgate.outside("") },
        });
        self.carry_out(libraries, server, calls, met)
    }

    /// Carries it out with a server over HTTP.
    fn over_http(self, libraries: &Path, served: &Served, calls: &Value) -> Vec<Value> {
        self.carry_out(libraries, json!({ "url": served.url(), "command": [] }), calls, |_| ())
    }

    /// Everything the client met; what it meets is shown as soon as it does.
    fn carry_out(
        self,
        libraries: &Path,
        server: Value,
        calls: &Value,
        mut met: impl FnMut(&Value),
    ) -> Vec<Value> {
        let mut order = server;
        order["library"] = json!(self.library);
        order["mode"] = json!(self.mode);
        order["says"] = json!(self.says);
        order["progress"] = json!(self.progress);
        order["calls"] = calls.clone();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/client.py");
        let mut client = Command::new("python3");
        client.arg(script).arg(order.to_string()).env("PYTHONPATH", libraries);
        let mut client = client.stdout(Stdio::piped()).spawn().unwrap();
        let mut all = Vec::new();
        for line in BufReader::new(client.stdout.take().unwrap()).lines() {
            let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
            met(&line);
            all.push(line);
        }
        assert!(client.wait().unwrap().success(), "{self:?} after {all:?}");
        all
    }
}

fn results(met: &[Value]) -> Vec<&Value> {
    met.iter().map(|line| &line["result"]).filter(|result| !result.is_null()).collect()
}

/// Reads a file and changes it.
fn usual_calls() -> Value {
    let edit = json!({ "path": "a.txt", "edits": [{ "target": "old", "replacement": "new" }] });
    json!([["read_file", { "path": "a.txt" }], ["edit_file", edit]])
}

#[track_caller]
fn did_usual_work(met: &[Value], mode: &str) {
    let expected = if mode == "legacy" { "2025-11-25" } else { "2026-07-28" };
    assert_eq!(met[0]["version"], expected);
    assert!(met[0]["tools"].as_array().unwrap().contains(&json!("read_file")), "{met:?}");
    let asked: Vec<_> = met.iter().filter_map(|line| line["asked"].as_str()).collect();
    assert_eq!(asked.len(), 1, "{met:?}");
    assert!(asked[0].starts_with("May this run? Edit a.txt"), "{asked:?}");
    let [read, edited] = results(met)[..] else { panic!("{met:?}") };
    assert_eq!(text(read), "old\n");
    assert_eq!(edited["isError"], false, "{edited}");
}

#[test]
fn a_client_on_streams_lists_reads_and_is_asked_about_an_edit() {
    let Some(libraries) = peers::installed(VARIABLE) else { return };
    for library in LIBRARIES {
        for mode in ERAS.into_iter().chain(["auto"]) {
            let toolgate = Toolgate::with_files(&[("a.txt", "old\n")]);
            let order = Order { library, mode, says: Some("once"), progress: false };
            let met = order.over_streams(&libraries, &toolgate, &[], &usual_calls(), |_| ());
            did_usual_work(&met, mode);
            assert_eq!(toolgate.read("a.txt").unwrap(), "new\n");
        }
    }
}

#[test]
fn a_client_over_http_lists_reads_and_is_asked_about_an_edit() {
    let Some(libraries) = peers::installed(VARIABLE) else { return };
    for library in LIBRARIES {
        for mode in ERAS {
            let toolgate = Toolgate::with_files(&[("a.txt", "old\n")]);
            let served = Served::start(&toolgate, &[], &[]);
            let order = Order { library, mode, says: Some("once"), progress: false };
            did_usual_work(&order.over_http(&libraries, &served, &usual_calls()), mode);
            assert_eq!(toolgate.read("a.txt").unwrap(), "new\n");
        }
    }
}

#[test]
fn a_no_of_its_person_is_a_no() {
    let Some(libraries) = peers::installed(VARIABLE) else { return };
    for (library, says) in LIBRARIES.into_iter().zip(["deny", "decline"]) {
        for mode in ERAS {
            let toolgate = Toolgate::with_files(&[("a.txt", "old\n")]);
            let order = Order { library, mode, says: Some(says), progress: false };
            let met = order.over_streams(&libraries, &toolgate, &[], &usual_calls(), |_| ());
            let refused = results(&met)[1];
            assert!(text(refused).starts_with("Error (ApprovalDenied)"), "{refused}");
            assert_eq!(toolgate.read("a.txt").unwrap(), "old\n");
        }
    }
}

#[test]
fn somebody_answers_at_a_terminal_while_the_client_hears_that_it_waits() {
    let Some(libraries) = peers::installed(VARIABLE) else { return };
    for library in LIBRARIES {
        for mode in ERAS {
            let toolgate = Toolgate::with_files(&[("a.txt", "old\n")]);
            let order = Order { library, mode, says: None, progress: true };
            let mut answered = false;
            let met = order.over_streams(&libraries, &toolgate, &[], &usual_calls(), |line| {
                let Some(told) = line["progress"].as_str() else { return };
                let Some((_, id)) = told.split_once("toolgate approvals approve ") else { return };
                let id = id.split(' ').next().unwrap();
                if !answered {
                    toolgate.run(["approvals", "approve", id]).success();
                    answered = true;
                }
            });
            assert!(answered, "{met:?}");
            assert_eq!(results(&met)[1]["isError"], false, "{met:?}");
            assert_eq!(toolgate.read("a.txt").unwrap(), "new\n");
        }
    }
}

#[test]
fn where_nobody_can_be_asked_it_is_told_how_to_allow_it() {
    let Some(libraries) = peers::installed(VARIABLE) else { return };
    for library in LIBRARIES {
        for mode in ERAS {
            let toolgate = Toolgate::with_files(&[("a.txt", "old\n")]);
            let order = Order { library, mode, says: None, progress: false };
            let flags = ["--non-interactive"];
            let met = order.over_streams(&libraries, &toolgate, &flags, &usual_calls(), |_| ());
            let denied = results(&met)[1];
            assert!(text(denied).starts_with("Error (ApprovalRequired)"), "{denied}");
            let how = denied["content"][1]["text"].as_str().unwrap();
            assert!(how.contains("`toolgate policy allow 'Edit(a.txt)'`"), "{how}");
            assert_eq!(toolgate.read("a.txt").unwrap(), "old\n");
        }
    }
}
