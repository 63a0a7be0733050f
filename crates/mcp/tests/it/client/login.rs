//! Logging in to a server, with a browser whose person always agrees.

use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::json;
use toolgate_mcp::client::auth::{Identity, LoginError, OAuth, Open};
use toolgate_mcp::client::{Client, ConnectError, Era, Listed, Remote, Spec, Way};
use url::Url;

use super::web::{Came, Reply, Web};
use super::{Noting, echo, patient};

/// What the server and whoever gives tokens for it know.
#[derive(Debug, Default)]
struct Known {
    /// The token that is good now.
    good: String,
    /// What calls need in addition.
    scope: Option<&'static str>,
    /// Tokens are not renewed any more.
    is_over: bool,
    /// The person does not agree.
    disagrees: bool,
}

type Shared = Arc<Mutex<Known>>;

/// A server that gives tokens for itself.
async fn guarded() -> (Web, Shared) {
    let known = Shared::default();
    let shared = Arc::clone(&known);
    (Web::new(move |came| answer(&mut shared.lock().unwrap(), came)).await, known)
}

fn answer(known: &mut Known, came: &Came) -> Option<Reply> {
    let origin = format!("http://{}", came.header("host").unwrap());
    let json = |value: serde_json::Value| {
        Reply::status(200).with("content-type", "application/json").saying(value.to_string())
    };
    let url = Url::parse(&origin).unwrap().join(&came.path).unwrap();
    let given = |text: &str, name: &str| {
        let pairs = url::form_urlencoded::parse(text.as_bytes());
        pairs.into_owned().find(|(one, _)| one == name).map(|(_, value)| value)
    };
    Some(match url.path() {
        "/.well-known/oauth-protected-resource" | "/.well-known/oauth-protected-resource/mcp" => {
            json(json!({
                "resource": format!("{origin}/mcp"),
                "authorization_servers": [origin],
                "scopes_supported": ["basic"],
            }))
        }
        "/.well-known/oauth-authorization-server" => json(json!({
            "issuer": origin,
            "authorization_endpoint": format!("{origin}/authorize"),
            "token_endpoint": format!("{origin}/token"),
            "registration_endpoint": format!("{origin}/register"),
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
        })),
        "/register" => json(json!({"client_id": "registered", "redirect_uris": []})),
        "/authorize" => {
            let query = url.query().unwrap_or_default();
            let mut back = Url::parse(&given(query, "redirect_uri").unwrap()).unwrap();
            let state = given(query, "state").unwrap();
            let what = if known.disagrees { ("error", "access_denied") } else { ("code", "c") };
            back.query_pairs_mut().append_pair(what.0, what.1).append_pair("state", &state);
            Reply::status(302).with("location", back.to_string())
        }
        "/token" => {
            let grant = given(&came.text, "grant_type").unwrap();
            if grant == "refresh_token" && known.is_over {
                let refusal = json!({"error": "invalid_grant"}).to_string();
                return Some(
                    Reply::status(400).with("content-type", "application/json").saying(refusal),
                );
            }
            known.good = format!("by {grant}").replace(' ', "-");
            json(json!({
                "access_token": known.good,
                "token_type": "bearer",
                "refresh_token": "again",
                "expires_in": 3600,
            }))
        }
        "/mcp" if came.header("authorization") != Some(&format!("bearer {}", known.good)) => {
            let challenge = format!(
                "Bearer resource_metadata=\"{origin}/.well-known/oauth-protected-resource\""
            );
            Reply::status(401).with("www-authenticate", challenge)
        }
        "/mcp" if came.wants() == "tools/call" && known.scope.is_some() => {
            let challenge = format!(
                "Bearer error=\"insufficient_scope\", scope=\"{}\"",
                known.scope.unwrap_or_default()
            );
            Reply::status(403).with("www-authenticate", challenge)
        }
        "/mcp" => return None,
        _ => Reply::status(404),
    })
}

fn tokens(web: &Web, folder: &Path) -> OAuth {
    OAuth::new("test", &web.url, folder, Identity::default())
}

async fn connect(web: &Web, folder: &Path) -> Result<Client, ConnectError> {
    let mut remote = Remote::new(web.url.clone());
    remote.auth = Some(Arc::new(tokens(web, folder)));
    let spec = Spec::new("test", Way::Http(remote));
    Client::connect(&spec, Some(Era::Legacy), Arc::new(Noting::default())).await
}

fn browser() -> Open {
    Arc::new(|url: &Url| {
        let url = url.clone();
        tokio::spawn(async move { reqwest::get(url).await.map(drop) });
    })
}

/// What was asked for at the last login.
fn asked_for(web: &Web) -> String {
    let came = web.came();
    let login = came.iter().rfind(|came| came.path.starts_with("/authorize")).unwrap();
    let url = web.url.join(&login.path).unwrap();
    url.query_pairs().find(|(name, _)| name == "scope").unwrap().1.into_owned()
}

#[tokio::test]
async fn a_login_is_good_for_every_process() {
    let (web, known) = guarded().await;
    let folder = tempfile::tempdir().unwrap();
    let error = connect(&web, folder.path()).await.unwrap_err();
    assert_eq!(error, ConnectError::NeedsLogin { server: "test".to_owned() });

    tokens(&web, folder.path()).login(&browser()).await.unwrap();
    assert_eq!(asked_for(&web), "basic");
    assert!(tokens(&web, folder.path()).has_tokens());
    let client = connect(&web, folder.path()).await.unwrap();
    assert_eq!(client.list(Listed::Tools).await.unwrap().len(), 1);

    known.lock().unwrap().good = "another".to_owned();
    assert_eq!(client.list(Listed::Tools).await.unwrap().len(), 1);
    assert_eq!(known.lock().unwrap().good, "by-refresh_token");

    known.lock().unwrap().good = "another".to_owned();
    known.lock().unwrap().is_over = true;
    let error = client.list(Listed::Tools).await.unwrap_err();
    insta::assert_snapshot!(error, @"the server wants a login: run `toolgate servers login test`");

    tokens(&web, folder.path()).forget().unwrap();
    assert!(!tokens(&web, folder.path()).has_tokens());
}

#[tokio::test]
async fn what_was_missing_is_asked_for_at_the_next_login() {
    let (web, known) = guarded().await;
    let folder = tempfile::tempdir().unwrap();
    tokens(&web, folder.path()).login(&browser()).await.unwrap();
    known.lock().unwrap().scope = Some("more");
    let client = connect(&web, folder.path()).await.unwrap();
    let error = echo(&client, patient()).await.unwrap_err();
    insta::assert_snapshot!(error, @"the server wants a login: run `toolgate servers login test`");
    tokens(&web, folder.path()).login(&browser()).await.unwrap();
    assert_eq!(asked_for(&web), "basic more");
    let registered = web.came().iter().filter(|came| came.path == "/register").count();
    assert_eq!(registered, 1);
}

#[tokio::test]
async fn a_person_may_disagree() {
    let (web, known) = guarded().await;
    known.lock().unwrap().disagrees = true;
    let folder = tempfile::tempdir().unwrap();
    let error = tokens(&web, folder.path()).login(&browser()).await.unwrap_err();
    assert!(matches!(error, LoginError::Refused(_)));
    insta::assert_snapshot!(error, @"the login was refused: access_denied");
    assert!(!tokens(&web, folder.path()).has_tokens());
}
