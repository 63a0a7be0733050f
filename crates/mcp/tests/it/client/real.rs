//! A server that is not ours and does everything, over each way to it.
//!
//! `cargo xtask test` installs it and names its folder; without it, the tests are skipped.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use tokio::net::{TcpListener, TcpStream};
use toolgate_mcp::client::{Abilities, Asked, Client, Era, Listed, Remote, Spec, Way};
use toolgate_testing::{PATIENCE, skip};
use url::Url;

use super::{Noting, Place, patient};

/// Names the folder with the server and the node that runs it.
const VARIABLE: &str = "TOOLGATE_TEST_NPM";
/// The server in it.
const SERVER: &str = "node_modules/@modelcontextprotocol/server-everything/dist/index.js";

fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os(VARIABLE).map(PathBuf::from);
    if folder.is_none() {
        skip("`cargo xtask test` installs a server that does everything");
    }
    folder
}

/// A server that runs on its own, and is ended when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Starts the server over HTTP, and waits until it listens.
async fn start(folder: &std::path::Path, way: &str) -> (Running, u16) {
    // Another program may take the port before the server does.
    for _ in 0..5 {
        let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
        let mut command = Command::new(folder.join("node"));
        command.arg(folder.join(SERVER)).arg(way).env("PORT", port.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut running = Running(command.spawn().unwrap());
        let end = Instant::now() + PATIENCE;
        while running.0.try_wait().unwrap().is_none() {
            if TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
                return (running, port);
            }
            assert!(Instant::now() < end, "the server does not listen");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    panic!("the server ends instead of listening");
}

#[tokio::test]
async fn everything_works_on_the_standard_streams() {
    let Some(folder) = folder() else { return };
    let place = Place::new();
    let server = folder.join(SERVER);
    let spec = place.program(folder.join("node"), &[server.to_str().unwrap(), "stdio"]);
    works(&spec).await;
}

#[tokio::test]
async fn everything_works_over_streamable_http() {
    let Some(folder) = folder() else { return };
    let (_running, port) = start(&folder, "streamableHttp").await;
    let url = Url::parse(&format!("http://127.0.0.1:{port}/mcp")).unwrap();
    works(&Spec::new("test", Way::Http(Remote::new(url)))).await;
}

#[tokio::test]
async fn everything_works_over_what_came_before_it() {
    let Some(folder) = folder() else { return };
    let (_running, port) = start(&folder, "sse").await;
    let url = Url::parse(&format!("http://127.0.0.1:{port}/sse")).unwrap();
    works(&Spec::new("test", Way::Sse(Remote::new(url.clone())))).await;
    works(&Spec::new("test", Way::Http(Remote::new(url)))).await;
}

fn object(value: Value) -> Map<String, Value> {
    let Value::Object(object) = value else { panic!("{value} is no object") };
    object
}

async fn call(client: &Client, name: &str, arguments: Value, host: &Arc<Noting>) -> Value {
    let mut exchange = patient();
    exchange.host = Some(host.clone());
    let params = object(json!({"name": name, "arguments": arguments}));
    client.request("tools/call", params, exchange).await.unwrap()
}

async fn works(spec: &Spec) {
    let can = Abilities { forms: true, sampling: true, roots: false };
    let host = Arc::new(Noting { can, ..Noting::default() });
    let client = Client::connect(spec, None, host.clone()).await.unwrap();
    assert_eq!(client.about().era, Era::Legacy);

    let tools = client.list(Listed::Tools).await.unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"echo") && names.len() >= 10, "{names:?}");
    let result = call(&client, "echo", json!({"message": "hello"}), &host).await;
    assert_eq!(result["content"][0]["text"], "Echo: hello");
    let result =
        call(&client, "get-structured-content", json!({"location": "New York"}), &host).await;
    assert!(result["structuredContent"]["temperature"].is_number(), "{result}");
    let result = call(&client, "get-tiny-image", json!({}), &host).await;
    assert!(result.to_string().contains("image/png"));

    call(&client, "trigger-elicitation-request", json!({}), &host).await;
    let asked = std::mem::take(&mut *host.asked.lock().unwrap());
    assert!(matches!(asked.as_slice(), [Asked::Elicitation(_)]), "{asked:?}");

    let heard = Arc::new(Mutex::new(Vec::new()));
    let noting = Arc::clone(&heard);
    let mut exchange = patient();
    exchange.progress = Some(Arc::new(move |progress| noting.lock().unwrap().push(progress)));
    let long =
        json!({"name": "trigger-long-running-operation", "arguments": {"duration": 1, "steps": 3}});
    client.request("tools/call", object(long), exchange).await.unwrap();
    assert_eq!(heard.lock().unwrap().len(), 3);

    let prompts = client.list(Listed::Prompts).await.unwrap();
    assert!(!prompts.is_empty());
    let prompt = object(json!({"name": prompts[0]["name"], "arguments": {}}));
    let prompt = client.request("prompts/get", prompt, patient()).await.unwrap();
    assert!(prompt["messages"].is_array());
    let resources = client.list(Listed::Resources).await.unwrap();
    assert!(!client.list(Listed::Templates).await.unwrap().is_empty());
    let uri = object(json!({"uri": resources[0]["uri"]}));
    let read = client.request("resources/read", uri.clone(), patient()).await.unwrap();
    assert!(read["contents"].is_array());
    client.request("resources/subscribe", uri, patient()).await.unwrap();
    let level = object(json!({"level": "debug"}));
    client.request("logging/setLevel", level, patient()).await.unwrap();

    let error = client.request("no/such/method", Map::new(), patient()).await.unwrap_err();
    assert!(error.to_string().contains("-32601"), "{error}");
    client.close().await;
}
