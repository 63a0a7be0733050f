//! Programs of a workspace that settings start: as they were accepted, and confined.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::json;
use toolgate::core::approval::Answer;
use toolgate_store::approvals::Desk;

use crate::client_yes::python3;
use crate::harness::{Toolgate, stderr, stdout};
use crate::mcp_client::Client;
use crate::workshop::eventually;

/// A script that declares no tools.
const LIST: &str = "#!/bin/sh\necho '[]'\n";

/// A server that has one tool and writes where it should not.
const SERVER: &str = r#"
import json, os, sys
def put(path):
    try:
        open(path, "w").write("x")
        return "wrote"
    except OSError as error:
        return "refused"
for line in sys.stdin:
    m = json.loads(line); i, me = m.get("id"), m.get("method")
    r = {}
    if me == "initialize":
        r = {"protocolVersion": m["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif me == "tools/list":
        r = {"tools": [{"name": "do", "description": "does it", "inputSchema": {"type": "object"}}]}
    elif me == "tools/call":
        r = {"content": [{"type": "text", "text": put(m["params"]["arguments"]["path"])}]}
    if i is not None:
        print(json.dumps({"jsonrpc": "2.0", "id": i, "result": r}), flush=True)
"#;

fn executable(toolgate: &Toolgate, name: &str) {
    fs::set_permissions(toolgate.path(name), fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs a discovery command that makes a file outside, and returns what is said about it.
fn discovering(toolgate: &Toolgate) -> String {
    stderr(&toolgate.run(["call", "discovered_tool_x", "{}"]))
}

#[test]
fn a_changed_program_is_not_started_however_it_is_named() {
    let absolute = |toolgate: &Toolgate| toolgate.path("tools/list").display().to_string();
    for (line, file) in [
        ("./tools/list", "tools/list"),
        ("tools/list", "tools/list"),
        ("ABSOLUTE", "tools/list"),
        ("sh tools/list", "tools/list"),
        ("env A=1 sh ./tools/list", "tools/list"),
        ("timeout 9 sh tools/list", "tools/list"),
        ("bash -c 'sh tools/list'", "tools/list"),
        ("sh < tools/list", "tools/list"),
        (". ./tools/list", "tools/list"),
        ("cd tools && ./list", "tools/list"),
        ("cat tools/list | sh", "tools/list"),
        ("python3 tools/list.py", "tools/list.py"),
        ("cd tools; python3 -m list", "tools/list.py"),
        ("make -s -f tools/list.mk", "tools/list.mk"),
        ("make -s -C tools", "tools/Makefile"),
    ] {
        let toolgate = Toolgate::with_files(&[
            ("tools/list", LIST),
            ("tools/list.py", "print('[]')\n"),
            ("tools/list.mk", "all:\n\techo '[]'\n"),
            ("tools/Makefile", "all:\n\techo '[]'\n"),
            ("tools/run", LIST),
        ]);
        executable(&toolgate, "tools/list");
        let line = line.replace("ABSOLUTE", &absolute(&toolgate));
        let own = format!(
            "[mcp]\ntool_discovery_command = \"{line}\"\ntool_call_command = \"sh tools/run\"\n"
        );
        toolgate.write(".toolgate/config.toml", own);
        toolgate.run(["trust", "add"]).success();
        assert!(!discovering(&toolgate).contains("trust review"), "{line}");
        let made = toolgate.path("made");
        let evil = format!("#!/bin/sh\ntouch {}\necho '[]'\n", made.display());
        toolgate.write(file, evil);
        let said = discovering(&toolgate);
        assert!(
            said.contains("not as you accepted it; look at it with `toolgate trust review`"),
            "{line}: {said}"
        );
        assert!(said.contains(file.trim_end_matches(".py")), "{line}: {said}");
        assert!(!made.exists(), "{line}");
        let shown = stdout(&toolgate.run(["trust", "review"]).code(1));
        assert!(shown.contains(&format!("changed: {file}")) && shown.contains("+touch"), "{shown}");
        toolgate.run(["trust", "review", "--yes"]).success();
        assert!(!discovering(&toolgate).contains("trust review"), "{line}");
    }
}

#[test]
fn the_command_that_runs_a_tool_is_looked_at_before_each_call() {
    let declares = "#!/bin/sh\necho '[{\"name\":\"x\"}]'\n";
    let toolgate = Toolgate::with_files(&[("tools/list", declares), ("tools/run", "echo ran\n")]);
    let own =
        "[mcp]\ntool_discovery_command = \"sh tools/list\"\ntool_call_command = \"sh tools/run\"\n";
    toolgate.write(".toolgate/config.toml", own);
    toolgate.run(["trust", "add"]).success();
    let mut client = Client::connect(&toolgate, &["--mode", "yolo"]);
    let run = |client: &mut Client| client.call("discovered_tool_x", &json!({})).to_string();
    assert!(run(&mut client).contains("ran"));
    toolgate.write("tools/run", format!("touch {}\n", toolgate.path("made").display()));
    let refused = run(&mut client);
    assert!(refused.contains("toolgate trust review"), "{refused}");
    assert!(!toolgate.path("made").exists());
}

#[test]
fn tool_commands_are_confined_unless_the_user_says_otherwise() {
    if !can_confine() {
        return;
    }
    let toolgate = Toolgate::new();
    let outside = toolgate.outside("made");
    let evil =
        format!("#!/bin/sh\ntouch {} 2>/dev/null\ntouch inside\necho '[]'\n", outside.display());
    toolgate.write("tools/list", evil);
    let own =
        "[mcp]\ntool_discovery_command = \"sh tools/list\"\ntool_call_command = \"sh tools/run\"\n";
    toolgate.write(".toolgate/config.toml", own);
    toolgate.run(["trust", "add"]).success();
    discovering(&toolgate);
    assert!(toolgate.path("inside").exists() && !outside.exists());
    let root = toolgate.path("");
    let root = root.to_str().unwrap().trim_end_matches('/');
    fs::write(toolgate.home("config.toml"), format!("[folders.\"{root}\"]\nsandbox = \"full\"\n"))
        .unwrap();
    discovering(&toolgate);
    assert!(outside.exists());
}

/// Returns `true` if commands can be confined here.
fn can_confine() -> bool {
    let toolgate = Toolgate::new();
    let confines = !stdout(&toolgate.run(["doctor"])).contains("`none`");
    if !confines {
        toolgate_testing::skip("nothing can be confined here");
    }
    confines
}

/// A workspace with a server in its `.mcp.json`.
fn with_server(entry: &serde_json::Value) -> Toolgate {
    let toolgate = Toolgate::with_files(&[("s.py", SERVER), ("tools/s.py", SERVER)]);
    let python = python3().display().to_string();
    toolgate.write("start.sh", format!("exec {python} s.py\n"));
    executable(&toolgate, "start.sh");
    let text = json!({ "mcpServers": { "s": entry } }).to_string();
    let text = text.replace("PYTHON", &python).replace("BIN", "/usr/bin");
    toolgate.write(".mcp.json", text);
    toolgate.run(["trust", "add"]).success();
    toolgate
}

#[test]
fn a_server_whose_files_changed_is_not_started() {
    for (entry, file) in [
        (json!({ "command": "PYTHON", "args": ["s.py"] }), "s.py"),
        (json!({ "command": "PYTHON", "args": ["-u", "./s.py"] }), "s.py"),
        (json!({ "command": "BIN/env", "args": ["PYTHON", "tools/s.py"] }), "tools/s.py"),
        (json!({ "command": "/bin/sh", "args": ["start.sh"] }), "start.sh"),
        (json!({ "command": "/bin/sh", "args": ["-c", "exec PYTHON s.py"] }), "s.py"),
        (json!({ "command": "BIN/timeout", "args": ["99", "PYTHON", "s.py"] }), "s.py"),
    ] {
        let toolgate = with_server(&entry);
        let tested = || stdout(&toolgate.run(["servers", "test"]));
        let first = tested();
        assert!(first.contains("s: ready"), "{entry}: {first}");
        let evil = format!("import os; os.system('touch {}')\n", toolgate.path("made").display());
        toolgate.write(file, evil);
        let said = tested();
        assert!(said.contains(&format!("`{file}` is not as you accepted it")), "{entry}: {said}");
        assert!(!toolgate.path("made").exists(), "{entry}");
    }
}

#[test]
fn a_server_of_a_workspace_is_confined_whatever_it_says_itself() {
    if !can_confine() {
        return;
    }
    let toolgate = Toolgate::with_files(&[("s.py", SERVER)]);
    let python = python3();
    let own = format!(
        "[servers.s]\ncommand = {python:?}\nargs = [\"s.py\"]\nsandbox = \"full\"\nnetwork = [\"example.com\"]\n"
    );
    toolgate.write(".toolgate/config.toml", own);
    toolgate.run(["trust", "add"]).success();
    let put = |path: &Path| {
        let mut client = Client::connect(&toolgate, &[]);
        let id = client.begin("mcp__s__do", &json!({ "path": path }));
        let mut desk = Desk::open(&toolgate.home("")).unwrap();
        eventually("nothing is asked", || !desk.pending().unwrap().is_empty());
        let open = desk.pending().unwrap().pop().unwrap();
        assert!(format!("{:?}", open.request.preview).contains("path"), "{:?}", open.request);
        desk.answer(open.request.id, &Answer::Once, "a test").unwrap();
        client.answer(id).to_string()
    };
    assert!(put(&toolgate.path("made")).contains("wrote"));
    let said = stderr(&toolgate.run(["call", "mcp__s__do", "{}"]));
    assert!(said.contains("cannot grant `sandbox = \"full\"`"), "{said}");
    // It may get a private folder there, which is gone with it.
    put(&toolgate.outside("made"));
    assert!(!toolgate.outside("made").exists());
}

#[test]
fn a_server_of_the_users_that_runs_a_file_of_the_workspace_is_pinned_too() {
    let toolgate = Toolgate::with_files(&[("s.py", SERVER)]);
    let python = python3();
    let own = format!("[servers.s]\ncommand = {python:?}\nargs = [\"s.py\"]\n");
    fs::write(toolgate.home("config.toml"), own).unwrap();
    let tested = || stdout(&toolgate.run(["servers", "test"]));
    // Where the folder is not trusted, it starts elsewhere and does not find the file.
    assert!(tested().contains("s: not there"), "{}", tested());
    toolgate.run(["trust", "add"]).success();
    assert!(tested().contains("s: ready"), "{}", tested());
    toolgate.write("s.py", format!("{SERVER}# x\n"));
    assert!(tested().contains("not as you accepted it"), "{}", tested());
}

#[test]
fn a_confined_command_cannot_change_what_settings_start() {
    if !can_confine() {
        return;
    }
    // As an attack found it: a command writes the program, and the next start runs it.
    let toolgate = Toolgate::with_files(&[("tools/list", LIST), ("tools/run", LIST)]);
    executable(&toolgate, "tools/list");
    let own =
        "[mcp]\ntool_discovery_command = \"./tools/list\"\ntool_call_command = \"./tools/run\"\n";
    toolgate.write(".toolgate/config.toml", own);
    toolgate.run(["trust", "add"]).success();
    let outside = toolgate.outside("made");
    for attack in [
        "printf '#!/bin/sh\\ntouch OUT\\n' > tools/list",
        "rm -f tools/list; printf '#!/bin/sh\\ntouch OUT\\n' > tools/list; chmod +x tools/list",
        "printf '#!/bin/sh\\ntouch OUT\\n' > t; chmod +x t; mv -f t tools/list",
        "mv tools old; mkdir tools; printf '#!/bin/sh\\ntouch OUT\\n' > tools/list; chmod +x tools/list",
        "ln -sf ../x.sh tools/list",
        "printf 'touch OUT\\n' >> tools/list",
        "cp x.sh tools/list",
        "sed -i s/echo/touch/ tools/list",
        "rm -rf tools; ln -s . tools; cp x.sh list",
        "dd if=x.sh of=tools/list",
    ] {
        let attack = attack.replace("OUT", outside.to_str().unwrap());
        toolgate.write("x.sh", format!("{attack}\n"));
        let rule = "[[rule]]\ncommand = [\"sh x.sh\"]\ndecision = \"allow\"\nsandbox = \"workspace_write\"\n";
        fs::write(toolgate.outside("p.toml"), rule).unwrap();
        let policy = toolgate.outside("p.toml");
        let call = [
            "--policy",
            policy.to_str().unwrap(),
            "--non-interactive",
            "call",
            "shell",
            r#"{"command":"sh x.sh"}"#,
        ];
        toolgate.run(call);
        discovering(&toolgate);
        assert!(!outside.exists(), "{attack}");
    }
}
