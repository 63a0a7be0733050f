//! `toolgate servers login`: a server that gives nothing to strangers.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;

use serde_json::{Value, json};
use url::Url;

use crate::harness::{Toolgate, stderr, stdout};

/// A server that gives tokens for itself; every browser's person agrees.
fn guarded() -> Url {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let origin = format!("http://127.0.0.1:{port}");
    let url = Url::parse(&format!("{origin}/mcp")).unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, origin) = (stream.unwrap(), origin.clone());
            thread::spawn(move || serve(stream, &origin));
        }
    });
    url
}

fn serve(stream: TcpStream, origin: &str) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let (mut length, mut token) = (0, None);
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let header = line.trim().to_lowercase();
        if header.is_empty() {
            break;
        }
        length =
            header.strip_prefix("content-length: ").map_or(length, |text| text.parse().unwrap());
        token = header.strip_prefix("authorization: ").map(str::to_owned).or(token);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let (status, header, body) = answer(origin, &path, token.as_deref(), &body);
    let length = body.len();
    let head = format!("HTTP/1.1 {status} x\r\n{header}\r\ncontent-length: {length}\r\n");
    write!(reader.into_inner(), "{head}connection: close\r\n\r\n{body}").ok()
}

fn answer(origin: &str, path: &str, token: Option<&str>, body: &[u8]) -> (u16, String, String) {
    let kind = "content-type: application/json".to_owned();
    let message: Value = serde_json::from_slice(body).unwrap_or_default();
    let url = Url::parse(origin).unwrap().join(path).unwrap();
    let result = match (url.path(), message["method"].as_str()) {
        ("/.well-known/oauth-protected-resource/mcp", _) => {
            json!({ "resource": format!("{origin}/mcp"), "authorization_servers": [origin] })
        }
        ("/.well-known/oauth-authorization-server", _) => json!({
            "issuer": origin,
            "authorization_endpoint": format!("{origin}/authorize"),
            "token_endpoint": format!("{origin}/token"),
            "registration_endpoint": format!("{origin}/register"),
            "code_challenge_methods_supported": ["S256"],
        }),
        ("/register", _) => json!({ "client_id": "toolgate", "redirect_uris": [] }),
        ("/token", _) => json!({ "access_token": "good", "token_type": "bearer" }),
        ("/authorize", _) => {
            let given = |name: &str| url.query_pairs().find(|(one, _)| one == name).unwrap().1;
            let back = format!("{}?code=c&state={}", given("redirect_uri"), given("state"));
            return (302, format!("location: {back}"), String::new());
        }
        ("/mcp", _) if token != Some("bearer good") => {
            return (401, "www-authenticate: Bearer".to_owned(), String::new());
        }
        ("/mcp", Some("initialize")) => json!({
            "protocolVersion": "2025-11-25",
            "serverInfo": { "name": "guarded", "version": "1" },
            "capabilities": { "tools": {} },
        }),
        ("/mcp", Some("tools/list")) => {
            json!({ "tools": [{ "name": "look", "inputSchema": { "type": "object" } }] })
        }
        ("/mcp", Some(method)) if method.starts_with("notifications/") => {
            return (202, kind, String::new());
        }
        ("/mcp", Some(_)) => return (400, kind, "{}".to_owned()),
        _ => return (404, kind, String::new()),
    };
    let is_message = url.path() == "/mcp";
    let result = if is_message {
        json!({ "jsonrpc": "2.0", "id": message["id"], "result": result })
    } else {
        result
    };
    (200, kind, result.to_string())
}

/// What a browser does: it asks, and goes where it is sent.
fn browse(url: &Url) {
    let mut stream = TcpStream::connect(("127.0.0.1", url.port().unwrap())).unwrap();
    let target = &url[url::Position::BeforePath..];
    write!(stream, "GET {target} HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    if let Some(place) = said.lines().find_map(|line| line.strip_prefix("location: ")) {
        browse(&Url::parse(place).unwrap());
    }
}

#[test]
fn a_login_opens_a_server_and_a_logout_closes_it() {
    let toolgate = Toolgate::new();
    let config = format!("[servers.guarded]\nurl = \"{}\"\n", guarded());
    fs::write(toolgate.home("config.toml"), config).unwrap();
    let refused = toolgate.run(["servers", "test"]).code(1);
    assert_eq!(
        stdout(&refused),
        "guarded: not there: server `guarded` wants a login: run `toolgate servers login guarded`\n"
    );

    let mut login = toolgate.start(&["servers", "login", "guarded"]);
    let mut lines = BufReader::new(login.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(lines.next().unwrap(), "Open this address in a browser on this machine:");
    let address = lines.find(|line| line.contains("http")).unwrap();
    browse(&Url::parse(address.trim()).unwrap());
    assert_eq!(lines.last().unwrap(), "You are logged in to `guarded`.");
    assert!(login.wait().unwrap().success());

    let kept = json!({ "path": toolgate.home("credentials/guarded.json") });
    let said = stdout(&toolgate.run(["policy", "check", "read_file", &kept.to_string()]));
    assert!(said.starts_with("ask:") && said.contains("holds credentials"), "{said}");

    let ready = stdout(&toolgate.run(["servers", "test"]).success());
    assert!(ready.contains("ready") && ready.contains("mcp__guarded__look"), "{ready}");
    toolgate
        .run(["servers", "logout", "guarded"])
        .success()
        .stdout("You are no longer logged in to `guarded`.\n");
    toolgate.run(["servers", "test"]).code(1);
}

#[test]
fn only_servers_elsewhere_have_a_login() {
    let toolgate = Toolgate::new();
    fs::write(toolgate.home("config.toml"), "[servers.files]\ncommand = \"true\"\n").unwrap();
    let said = stderr(&toolgate.run(["servers", "login", "files"]).code(2));
    assert_eq!(
        said,
        "error: there is no login for `files`: it is a program, which needs no login\n"
    );
    let said = stderr(&toolgate.run(["servers", "login", "other"]).code(2));
    assert_eq!(said, "error: there is no server `other`; known: files\n");
}
