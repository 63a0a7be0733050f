//! The client, with servers that are real programs.

mod eras;
mod hostile;
mod leaving;
mod login;
mod over_http;
mod real;
mod web;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use toolgate_mcp::client::{
    Abilities, Answers, Asked, Client, ConnectError, Era, Exchange, Host, News, Program, Reach,
    Refused, Spec, Way,
};
use toolgate_sandbox::{SandboxSpawner, Settings};
use toolgate_testing::PATIENCE;

/// A program of this crate that tests use.
pub(crate) fn example(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let target = tests.parent().and_then(Path::parent).unwrap();
    target.join("examples").join(name)
}

/// A place to start servers in.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) folder: TempDir,
    spawner: Arc<SandboxSpawner>,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = Settings::new(folder.path().join("state"));
        settings.helper = Some(example("hostile"));
        Self { folder, spawner: Arc::new(SandboxSpawner::new(settings)) }
    }

    /// A program that is a server.
    pub(crate) fn program(&self, program: impl Into<PathBuf>, args: &[&str]) -> Spec {
        let program = Program {
            program: program.into().into(),
            args: args.iter().map(Into::into).collect(),
            env: std::collections::BTreeMap::new(),
            folder: self.folder.path().canonicalize().unwrap(),
            reach: Reach::default(),
            spawner: self.spawner.clone(),
        };
        Spec::new("test", Way::Program(program))
    }

    /// A server that behaves badly in these ways.
    pub(crate) fn hostile(&self, ways: &[&str]) -> Spec {
        self.program(example("hostile"), ways)
    }
}

/// A host that notes everything, and answers forms with `sure`.
#[derive(Debug, Default)]
pub(crate) struct Noting {
    pub(crate) news: Mutex<Vec<News>>,
    pub(crate) asked: Mutex<Vec<Asked>>,
    pub(crate) can: Abilities,
}

impl Noting {
    pub(crate) fn with_forms() -> Arc<Self> {
        let can = Abilities { forms: true, ..Abilities::default() };
        Arc::new(Self { can, ..Self::default() })
    }
}

#[async_trait]
impl Host for Noting {
    fn can(&self) -> Abilities {
        self.can
    }

    fn heard(&self, news: News) {
        let mut all = self.news.lock().unwrap();
        if all.len() < 1000 {
            all.push(news);
        }
    }

    async fn asked(&self, asked: Asked) -> Result<Value, Refused> {
        self.asked.lock().unwrap().push(asked);
        Ok(json!({"action": "accept", "content": {"sure": "host"}}))
    }
}

#[async_trait]
impl Answers for Noting {
    async fn answer_all(&self, asked: Vec<(String, Asked)>) -> Vec<Result<Value, Refused>> {
        let answer = || Ok(json!({"action": "accept", "content": {"sure": true}}));
        let answers = asked.iter().map(|_| answer()).collect();
        self.asked.lock().unwrap().extend(asked.into_iter().map(|(_, asked)| asked));
        answers
    }
}

/// Connects without knowing the era.
pub(crate) async fn connect(spec: &Spec) -> Result<Client, ConnectError> {
    Client::connect(spec, None, Arc::new(Noting::default())).await
}

/// Connects to one that is known to speak the old manner.
pub(crate) async fn connect_legacy(spec: &Spec) -> Client {
    Client::connect(spec, Some(Era::Legacy), Arc::new(Noting::default())).await.unwrap()
}

/// Calls `echo`.
pub(crate) async fn echo(
    client: &Client,
    exchange: Exchange,
) -> Result<Value, toolgate_mcp::client::ClientError> {
    client.request("tools/call", echo_params(), exchange).await
}

pub(crate) fn echo_params() -> Map<String, Value> {
    let Value::Object(params) = json!({"name": "echo", "arguments": {"text": "hello"}}) else {
        unreachable!("it is an object")
    };
    params
}

/// An exchange that a server has so many seconds for.
pub(crate) fn seconds(seconds: u64) -> Exchange {
    Exchange::new(Duration::from_secs(seconds))
}

/// An exchange that a server has enough time for, however busy the machine is.
pub(crate) fn patient() -> Exchange {
    Exchange::new(PATIENCE)
}

/// The text of the first content of a result.
pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}
