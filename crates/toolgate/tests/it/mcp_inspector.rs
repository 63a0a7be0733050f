//! `toolgate mcp` and the inspector of the protocol's makers, at its command line.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::harness::{Toolgate, stdout};
use crate::mcp_client::text;
use crate::mcp_http::Served;
use crate::peers;
use crate::workshop::eventually;

/// Names the folder with the inspector and its node.
const VARIABLE: &str = "TOOLGATE_TEST_NPM";
const ERAS: [&str; 2] = ["legacy", "modern"];

/// The inspector in an era, with this target and method.
fn inspector(folder: &Path, toolgate: &Toolgate, era: &str) -> Command {
    let mut command = Command::new(folder.join("node"));
    command
        .arg(
            folder.join(
                "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js",
            ),
        )
        .args(["--cli", "--protocol-era", era, "--format", "json", "--quiet"])
        .current_dir(toolgate.path(""))
        .env("HOME", toolgate.outside(""));
    command
}

fn done(command: &mut Command) -> Output {
    command.output().unwrap()
}

#[track_caller]
fn result(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stdout);
    let wrong = String::from_utf8_lossy(&output.stderr);
    serde_json::from_str::<Value>(&said).unwrap_or_else(|error| panic!("{error}: {said}\n{wrong}"))
        ["result"]
        .clone()
}

fn on_streams(folder: &Path, toolgate: &Toolgate, era: &str) -> Command {
    let mut command = inspector(folder, toolgate, era);
    // It hands on little of its environment.
    let home = format!("TOOLGATE_HOME={}", toolgate.home("").display());
    command.args(["-e", &home]).args([env!("CARGO_BIN_EXE_toolgate"), "mcp"]);
    command
}

fn installed() -> Option<PathBuf> {
    peers::installed(VARIABLE)
}

#[test]
fn it_lists_every_tool_and_finds_no_fault_with_their_schemas() {
    let Some(folder) = installed() else { return };
    let toolgate = Toolgate::new();
    let schemas = toolgate.run(["tools", "schema", "--format", "mcp"]).success();
    let schemas: Value = serde_json::from_str(&stdout(&schemas)).unwrap();
    let served = Served::start(&toolgate, &[], &[]);
    for era in ERAS {
        let mut streams = on_streams(&folder, &toolgate, era);
        let mut http = inspector(&folder, &toolgate, era);
        http.arg(served.url());
        for command in [&mut streams, &mut http] {
            let listed = done(command.args(["--method", "tools/list", "--strict"]));
            assert!(listed.status.success(), "{listed:?}");
            assert_eq!(result(&listed)["tools"], schemas, "{era}");
        }
    }
}

#[test]
fn it_calls_tools() {
    let Some(folder) = installed() else { return };
    let toolgate = Toolgate::with_files(&[("a.txt", "hello\n")]);
    let token = "a-token-that-nobody-guesses";
    fs::write(toolgate.home("token"), token).unwrap();
    let file = toolgate.home("token");
    let served = Served::start(&toolgate, &[], &["--token-file", file.to_str().unwrap()]);
    let read = ["--method", "tools/call", "--tool-name", "read_file", "--tool-arg", "path=a.txt"];
    for era in ERAS {
        let on_streams = done(on_streams(&folder, &toolgate, era).args(read));
        assert_eq!(text(&result(&on_streams)), "hello\n");
        let over_http = || {
            let mut command = inspector(&folder, &toolgate, era);
            command.arg(served.url()).args(read).arg("--stored-auth-only");
            command
        };
        let bearer = format!("Authorization: Bearer {token}");
        let with_token = done(over_http().args(["--header", &bearer]));
        assert_eq!(text(&result(&with_token)), "hello\n");
        assert!(!done(&mut over_http()).status.success());
    }
}

#[test]
fn what_it_cannot_answer_is_answered_at_a_terminal() {
    let Some(folder) = installed() else { return };
    for era in ERAS {
        let toolgate = Toolgate::new();
        let mut writing = on_streams(&folder, &toolgate, era);
        writing.args(["--method", "tools/call", "--tool-name", "write_file"]);
        writing.args(["--tool-arg", "path=a.txt", "--tool-arg", "content=hello"]);
        let written = std::thread::scope(|scope| {
            let writing = scope.spawn(|| done(&mut writing));
            eventually("nothing is asked", || {
                let waiting = toolgate.run(["approvals", "list", "--json"]).success();
                let waiting: Value = serde_json::from_str(&stdout(&waiting)).unwrap();
                let Some(id) = waiting[0]["id"].as_str() else { return false };
                toolgate.run(["approvals", "approve", id]).success();
                true
            });
            writing.join().unwrap()
        });
        assert_eq!(result(&written)["isError"], false, "{written:?}");
        assert_eq!(toolgate.read("a.txt").unwrap(), "hello");
    }
}
