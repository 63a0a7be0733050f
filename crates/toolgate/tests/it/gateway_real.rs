//! Servers that are not ours, from npm and from Python's index, behind the gate.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::gateway::names;
use crate::harness::Toolgate;
use crate::mcp_client::{Client, text};
use crate::peers;

/// A server from npm, as settings name it.
fn from_npm(folder: &Path, name: &str, args: &[&str]) -> String {
    let script =
        folder.join(format!("node_modules/@modelcontextprotocol/server-{name}/dist/index.js"));
    let mut config =
        format!("[servers.{name}]\ntrust = true\ncommand = {:?}\n", folder.join("node"));
    let args: Vec<String> = std::iter::once(script.display().to_string())
        .chain(args.iter().map(|arg| (*arg).to_owned()))
        .collect();
    writeln!(config, "args = {args:?}").unwrap();
    config
}

/// A server from Python's index, as settings name it.
fn from_python(folder: &Path, name: &str, args: &[&str]) -> String {
    let module = format!("mcp_server_{name}");
    let args: Vec<&str> = ["-m", module.as_str()].iter().chain(args).copied().collect();
    let env = format!("env = {{ PYTHONPATH = {folder:?} }}");
    let python = python();
    format!("[servers.{name}]\ntrust = true\ncommand = {python:?}\nargs = {args:?}\n{env}\n")
}

/// The interpreter that the packages were installed with.
fn python() -> PathBuf {
    let asked = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    PathBuf::from(String::from_utf8(asked.unwrap().stdout).unwrap().trim())
}

fn connected(toolgate: &Toolgate, config: &str) -> Client {
    fs::write(toolgate.home("config.toml"), format!("[mcp]\nwait = 30\n{config}")).unwrap();
    Client::connect_as(toolgate, &[], &json!({ "elicitation": {}, "sampling": {} }))
}

#[track_caller]
fn ran(client: &mut Client, tool: &str, args: &Value) -> String {
    let result = client.call(tool, args);
    assert_eq!(result["isError"], false, "{tool}: {result}");
    text(&result).to_owned()
}

#[test]
fn a_server_for_files_and_one_that_remembers() {
    let Some(folder) = peers::installed("TOOLGATE_TEST_NPM") else { return };
    let toolgate = Toolgate::with_files(&[("a.txt", "hello\n")]);
    let root = toolgate.path("").canonicalize().unwrap();
    let root = root.to_str().unwrap();
    let config = from_npm(&folder, "filesystem", &[root]) + &from_npm(&folder, "memory", &[]);
    let mut client = connected(&toolgate, &config);
    let file = format!("{root}/a.txt");
    let read = ran(&mut client, "mcp__filesystem__read_text_file", &json!({ "path": file }));
    assert_eq!(read, "hello\n");
    let write = json!({ "path": format!("{root}/b.txt"), "content": "new\n" });
    ran(&mut client, "mcp__filesystem__write_file", &write);
    assert_eq!(toolgate.read("b.txt").unwrap(), "new\n");
    let outside = json!({ "path": "/etc/hostname" });
    assert_eq!(client.call("mcp__filesystem__read_text_file", &outside)["isError"], true);
    let entity = json!({ "name": "Toolgate", "entityType": "program", "observations": ["guards"] });
    ran(&mut client, "mcp__memory__create_entities", &json!({ "entities": [entity] }));
    let graph = ran(&mut client, "mcp__memory__read_graph", &json!({}));
    assert!(graph.contains("guards"), "{graph}");
}

#[test]
fn a_server_that_shows_everything() {
    let Some(folder) = peers::installed("TOOLGATE_TEST_NPM") else { return };
    let toolgate = Toolgate::new();
    let mut client = connected(&toolgate, &from_npm(&folder, "everything", &[]));
    everything(&mut client);
    let id = client.begin(
        "mcp__everything__trigger-long-running-operation",
        &json!({ "duration": 1, "steps": 2 }),
    );
    let told = client.next_of("notifications/progress");
    assert_eq!(told["params"]["total"], 2.0, "{told}");
    assert_eq!(client.answer(id)["result"]["isError"], false);
    // A question of the server comes to the client, with its name.
    let ask = json!({ "name": "mcp__everything__trigger-elicitation-request", "arguments": {} });
    let id = client.request("tools/call", &ask);
    let question = client.next_of("elicitation/create");
    let message = question["params"]["message"].as_str().unwrap();
    assert!(message.starts_with("The server `everything` asks: "), "{message}");
    let decline = json!({ "action": "decline" });
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": decline }));
    assert!(client.answer(id).to_string().contains("declined"));
    let ask = json!({
        "name": "mcp__everything__trigger-sampling-request", "arguments": { "prompt": "hi", "maxTokens": 10 },
    });
    let id = client.request("tools/call", &ask);
    let question = client.next_of("sampling/createMessage");
    let answer = json!({
        "role": "assistant", "model": "m", "content": { "type": "text", "text": "from the model" },
    });
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer }));
    assert!(client.answer(id).to_string().contains("from the model"));
}

/// What the server does on any way to it.
fn everything(client: &mut Client) {
    let echo = ran(client, "mcp__everything__echo", &json!({ "message": "hi" }));
    assert_eq!(echo, "Echo: hi");
    let image = client.call("mcp__everything__get-tiny-image", &json!({}));
    let kinds: Vec<_> =
        image["content"].as_array().unwrap().iter().map(|block| &block["type"]).collect();
    assert!(kinds.contains(&&json!("image")), "{kinds:?}");
    let weather = json!({ "location": "New York" });
    let structured = client.call("mcp__everything__get-structured-content", &weather);
    assert!(structured["structuredContent"]["temperature"].is_number(), "{structured}");
    let resources = client.ask("resources/list", &json!({}));
    let uri = &resources["result"]["resources"][0]["uri"];
    let read = client.ask("resources/read", &json!({ "uri": uri }));
    assert!(read["result"]["contents"][0]["text"].is_string(), "{read}");
    let prompt = client.ask(
        "prompts/get",
        &json!({
            "name": "mcp__everything__args-prompt", "arguments": { "city": "Oslo" },
        }),
    );
    assert!(prompt.to_string().contains("Oslo"), "{prompt}");
    let complete = client.ask(
        "completion/complete",
        &json!({
            "ref": { "type": "ref/prompt", "name": "mcp__everything__completable-prompt" },
            "argument": { "name": "department", "value": "E" },
        }),
    );
    assert!(complete["result"]["completion"]["values"][0].is_string(), "{complete}");
}

/// The server that shows everything, over HTTP.
struct OverHttp {
    child: Child,
    port: u16,
}

impl OverHttp {
    fn start(folder: &Path, transport: &str) -> Self {
        // A port that was free a moment ago.
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new(folder.join("node"));
        command
            .arg(folder.join("node_modules/@modelcontextprotocol/server-everything/dist/index.js"));
        command.arg(transport).env("PORT", port.to_string());
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains(&port.to_string()) {
            line.clear();
            assert_ne!(said.read_line(&mut line).unwrap(), 0, "it does not serve");
        }
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        Self { child, port }
    }
}

impl Drop for OverHttp {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

#[test]
fn a_server_that_shows_everything_over_http() {
    let Some(folder) = peers::installed("TOOLGATE_TEST_NPM") else { return };
    for (transport, path, kind) in
        [("streamableHttp", "mcp", "http"), ("sse", "sse", "sse"), ("sse", "sse", "http")]
    {
        let served = OverHttp::start(&folder, transport);
        let toolgate = Toolgate::new();
        let config = format!(
            "[servers.everything]\ntrust = true\ntype = \"{kind}\"\nurl = \"http://127.0.0.1:{}/{path}\"\n",
            served.port
        );
        let mut client = connected(&toolgate, &config);
        everything(&mut client);
    }
}

#[test]
fn servers_for_git_time_and_the_web() {
    let Some(folder) = peers::installed("TOOLGATE_TEST_PYTHON") else { return };
    let toolgate = Toolgate::with_files(&[("a.txt", "hello\n")]);
    let root = toolgate.path("").canonicalize().unwrap();
    let git = |args: &[&str]| {
        assert!(toolgate_testing::git(&root).args(args).output().unwrap().status.success());
    };
    git(&["init", "-q"]);
    git(&["add", "a.txt"]);
    git(&["commit", "-qm", "first words"]);
    let config = from_python(&folder, "git", &[])
        + &from_python(&folder, "time", &["--local-timezone", "UTC"])
        + &from_python(&folder, "fetch", &["--ignore-robots-txt", "--allow-private-ips"]);
    let mut client = connected(&toolgate, &config);
    let listed = names(&mut client);
    for name in ["mcp__git__git_log", "mcp__time__get_current_time", "mcp__fetch__fetch"] {
        assert!(listed.contains(&name.to_owned()), "{listed:?}");
    }
    let log = ran(&mut client, "mcp__git__git_log", &json!({ "repo_path": root }));
    assert!(log.contains("first words"), "{log}");
    let time = ran(&mut client, "mcp__time__get_current_time", &json!({ "timezone": "UTC" }));
    assert!(time.contains("UTC"), "{time}");
    let page = serve_once("<html><body><p>A page of our own.</p></body></html>");
    let fetched = ran(&mut client, "mcp__fetch__fetch", &json!({ "url": page }));
    assert!(fetched.contains("A page of our own."), "{fetched}");
}

/// The address of a page that is served until the test ends.
fn serve_once(page: &'static str) -> String {
    use std::io::Write as _;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut reader = BufReader::new(stream);
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                line.clear();
            }
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close";
            let mut stream = reader.into_inner();
            write!(stream, "{head}\r\nContent-Length: {}\r\n\r\n{page}", page.len()).ok();
        }
    });
    format!("http://{address}/")
}
