//! `[web]` in `config.toml`: what the policy makes of it, and what the tools do.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::thread;

use serde_json::{Value, json};

use crate::harness::{Toolgate, error_type, llm_content, stderr, stdout};

fn with_config(config: &str) -> Toolgate {
    let toolgate = Toolgate::new();
    std::fs::write(toolgate.home("config.toml"), config).unwrap();
    toolgate
}

/// A server that gives everybody one answer.
fn serving(kind: &'static str, body: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut piece = [0; 8192];
            if !stream.read(&mut piece).is_ok_and(|read| read > 0) {
                continue;
            }
            let length = body.len();
            write!(stream, "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}").ok();
        }
    });
    address
}

/// What `policy check` says about fetching an address.
fn check(toolgate: &Toolgate, flags: &[&str], url: &str) -> Value {
    let args = json!({ "url": url }).to_string();
    let fixed = ["policy", "check", "web_fetch", &args, "--json"];
    let done = toolgate.run(fixed.iter().chain(flags));
    serde_json::from_str(&stdout(&done)).unwrap()
}

const CONFIG: &str = r#"[web]
allowed_domains = ["docs.rs", "Rust-Lang.org"]
blocked_domains = [
    "evil.rust-lang.org",
    "tracker.example",
]
private_hosts = ["localhost:8080"]
auto_approve_https = true
"#;

#[test]
fn settings_are_rules_that_say_where_they_stand() {
    let toolgate = with_config(CONFIG);
    for (url, decision, line, risk) in [
        ("https://docs.rs/tokio", "allow", 2, "low"),
        ("http://doc.rust-lang.org/", "allow", 2, "low"),
        ("https://evil.rust-lang.org/", "deny", 4, "medium"),
        ("https://a.tracker.example/", "deny", 5, "medium"),
        ("http://localhost:8080/", "allow", 7, "medium"),
        ("https://other.example/", "allow", 8, "medium"),
    ] {
        let verdict = check(&toolgate, &[], url);
        assert_eq!(verdict["decision"], decision, "{url}: {verdict}");
        assert_eq!(verdict["rule"]["line"], line, "{url}: {verdict}");
        assert_eq!(verdict["risk"], risk, "{url}: {verdict}");
        assert!(verdict["rule"]["source"].as_str().unwrap().ends_with("config.toml"), "{verdict}");
    }
    for url in ["http://evil-docs.rs/", "http://other.example/"] {
        assert_eq!(check(&toolgate, &[], url)["decision"], "ask", "{url}");
    }
    for url in ["http://127.0.0.1:8080/", "https://intranet/", "https://a.localhost/"] {
        assert_eq!(check(&toolgate, &[], url)["decision"], "deny", "{url}");
    }
}

#[test]
fn policy_files_have_the_last_word_about_what_settings_allow() {
    let toolgate = with_config(CONFIG);
    let policy = toolgate.outside("own.toml");
    std::fs::write(
        &policy,
        "[[rule]]\ntool = \"web_fetch\"\ndomain = \"docs.rs\"\ndecision = \"ask\"\n",
    )
    .unwrap();
    let flags = ["--policy", policy.to_str().unwrap()];
    assert_eq!(check(&toolgate, &flags, "https://docs.rs/")["decision"], "ask");
    // What is blocked stays blocked, whatever is allowed in general.
    std::fs::write(&policy, "[permissions]\nallow = [\"WebFetch\"]\n").unwrap();
    assert_eq!(check(&toolgate, &flags, "https://tracker.example/")["decision"], "deny");
    assert_eq!(
        check(&toolgate, &["--allowed-tools", "web_fetch"], "https://tracker.example/")["decision"],
        "deny"
    );
    assert_eq!(
        check(&toolgate, &["--mode", "yolo"], "https://tracker.example/")["decision"],
        "deny"
    );
}

#[test]
fn searching_asks_in_every_mode_that_asks() {
    for (mode, decision) in [
        ("default", "ask"),
        ("plan", "ask"),
        ("accept_edits", "ask"),
        ("dont_ask", "deny"),
        ("yolo", "allow"),
    ] {
        let args = ["policy", "check", "web_search", r#"{"query":"x"}"#, "--json", "--mode", mode];
        let verdict: Value = serde_json::from_str(&stdout(&Toolgate::new().run(args))).unwrap();
        assert_eq!(verdict["decision"], decision, "{mode}: {verdict}");
        assert_eq!(verdict["risk"], "medium", "{mode}: {verdict}");
    }
}

#[test]
fn explaining_names_the_file() {
    let toolgate = with_config(CONFIG);
    let done = toolgate.run(["policy", "explain", "web_fetch", r#"{"url":"https://docs.rs/"}"#]);
    let said = stdout(&done);
    assert!(said.contains("web allows docs.rs") && said.contains("config.toml:2"), "{said}");
    assert!(said.contains("1.9996"), "{said}");
}

#[test]
fn mistakes_are_shown_where_they_are() {
    let shown = |config: &str| {
        let toolgate = with_config(config);
        let done = toolgate.call("ls", &json!({ "path": "." })).code(2);
        stderr(&done).replace(&toolgate.home("").display().to_string(), "/home/")
    };
    insta::assert_snapshot!(shown("[web]\nallowed_domain = []\n"), @r#"
    error: `/home/config.toml` is not understood: TOML parse error at line 2, column 1
      |
    2 | allowed_domain = []
      | ^^^^^^^^^^^^^^
    unknown field `allowed_domain`, expected one of `allowed_domains`, `blocked_domains`, `auto_approve_https`, `private_hosts`, `robots`, `user_agent`, `timeout_seconds`, `max_megabytes`, `search`
    "#);
    insta::assert_snapshot!(shown("[web]\nallowed_domains = [\n  \"docs.rs\",\n  \"https://docs.rs\",\n]\n"), @r#"
    error: `/home/config.toml` is not understood: TOML parse error at line 2, column 19
      |
    2 | allowed_domains = [
      |                   ^
    `https://docs.rs` is not the name of a host; write domains like `docs.rs`
    "#);
    insta::assert_snapshot!(shown("[web]\nprivate_hosts = [\"http://localhost\"]\n"), @r#"
    error: `/home/config.toml` is not understood: TOML parse error at line 2, column 17
      |
    2 | private_hosts = ["http://localhost"]
      |                 ^^^^^^^^^^^^^^^^^^^^
    `http://localhost` is no host; write it like `localhost:8080`, `intranet.example` or `[::1]`
    "#);
    insta::assert_snapshot!(shown("[web.search]\nprovider = \"google\"\n"), @r#"
    error: `/home/config.toml` is not understood: TOML parse error at line 2, column 12
      |
    2 | provider = "google"
      |            ^^^^^^^^
    there is no search provider `google`: it is `searxng`, `brave`, `tavily` or `duckduckgo`
    "#);
    insta::assert_snapshot!(shown("[web.search]\nprovider = \"searxng\"\nbase_url = \"localhost:8888\"\n"), @r#"
    error: `/home/config.toml` is not understood: TOML parse error at line 3, column 12
      |
    3 | base_url = "localhost:8888"
      |            ^^^^^^^^^^^^^^^^
    it must be a web address without a user name, such as `http://localhost:8888`
    "#);
    insta::assert_snapshot!(shown("[web]\ntimeout_seconds = 0\n"), @r#"
    error: `/home/config.toml` is not understood: TOML parse error at line 2, column 19
      |
    2 | timeout_seconds = 0
      |                   ^
    it must be 1 to 600
    "#);
    insta::assert_snapshot!(shown("[web.search]\nprovider = \"brave\"\napi_key = \"a\"\napi_key_env = \"B\"\n"), @"error: `[web.search]` in `config.toml` has both `api_key` and `api_key_env`; keep one of them");
}

#[test]
fn a_host_of_ones_own_is_fetched_unasked() {
    let address = serving("text/html", "<title>Mine</title><p>It works.</p>");
    let toolgate = with_config(&format!("[web]\nprivate_hosts = [\"{address}\"]\n"));
    let outcome =
        toolgate.outcome(&[], "web_fetch", &json!({ "url": format!("http://{address}/") }));
    assert_eq!(llm_content(&outcome), "# Mine\n\nIt works.");
    assert_eq!(outcome["decision"], "allow");
    // Another port was not named.
    let other = serving("text/html", "secret");
    let outcome = toolgate.outcome(&[], "web_fetch", &json!({ "url": format!("http://{other}/") }));
    assert_eq!(error_type(&outcome), Some("FetchError"), "{outcome}");
    let outcome = Toolgate::new().outcome(
        &["--mode", "yolo"],
        "web_fetch",
        &json!({ "url": format!("http://{address}/") }),
    );
    assert_eq!(error_type(&outcome), Some("PolicyDenied"), "{outcome}");
}

#[test]
fn searches_ask_the_provider_of_the_settings() {
    let address = serving(
        "application/json",
        r#"{"results":[{"url":"https://docs.rs/","title":"Docs.rs","content":"Documentation."}]}"#,
    );
    let toolgate = with_config(&format!(
        "[web.search]\nprovider = \"searxng\"\nbase_url = \"http://{address}\"\n"
    ));
    let query = json!({ "query": "rust documentation" });
    // Searching leaves the machine, so it asks.
    assert_eq!(error_type(&toolgate.outcome(&[], "web_search", &query)), Some("ApprovalRequired"));
    let outcome = toolgate.outcome(&["--allowed-tools", "WebSearch"], "web_search", &query);
    assert_eq!(llm_content(&outcome), "1. Docs.rs\n   https://docs.rs/\n   Documentation.");
    let none = Toolgate::new().outcome(&["--allowed-tools", "web_search"], "web_search", &query);
    assert_eq!(error_type(&none), Some("SearchError"));
    assert!(llm_content(&none).contains("[web.search]"));
}

#[test]
fn keys_come_from_the_environment_and_stay_there() {
    let address = serving("application/json", r#"{"type":"search","web":{"results":[]}}"#);
    let config = format!(
        "[web.search]\nprovider = \"brave\"\nbase_url = \"http://{address}\"\napi_key_env = \"MY_BRAVE_KEY\"\n"
    );
    let toolgate = with_config(&config);
    let args = ["--mode", "yolo", "call", "web_search", r#"{"query":"x"}"#];
    let unset = toolgate.run(args);
    assert!(stdout(&unset).contains("`MY_BRAVE_KEY`") || stderr(&unset).contains("`MY_BRAVE_KEY`"));
    let mut command = toolgate.command();
    command.env("MY_BRAVE_KEY", "BSA-secret-1234567890");
    let done =
        crate::harness::finish(command, ["-vv"].into_iter().chain(args), Vec::new()).success();
    assert_eq!(stdout(&done).trim(), "No results. Try other or fewer words.");
    assert!(!stderr(&done).contains("BSA-secret"), "{}", stderr(&done));
}
