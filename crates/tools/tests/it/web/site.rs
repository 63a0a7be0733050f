//! A lab whose web is made of servers on this machine.

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tempfile::TempDir;
use toolgate_core::bounds::Preset;
use toolgate_core::context::ResultSettings;
use toolgate_core::dialect::Dialect;
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::gate::{Gate, GateSettings};
use toolgate_core::policy::{Engine, Mode};
use toolgate_core::result::ToolResult;
use toolgate_testing::PATIENCE;
use toolgate_tools::web::{Limits, Resolve, WebAccess, WebClient, WebSettings};

use super::server::Server;
use crate::harness::Lab;

/// Names and where they lead: each time the next answer, the last one for ever.
#[derive(Debug, Default)]
pub(crate) struct Names {
    answers: Mutex<HashMap<String, Vec<Vec<SocketAddr>>>>,
    lookups: Mutex<Vec<String>>,
}

impl Names {
    pub(crate) fn add(&self, name: &str, answers: Vec<Vec<SocketAddr>>) {
        self.answers.lock().unwrap().insert(name.to_owned(), answers);
    }

    pub(crate) fn lookups(&self) -> Vec<String> {
        self.lookups.lock().unwrap().clone()
    }

    fn next(&self, name: &str) -> io::Result<Vec<SocketAddr>> {
        self.lookups.lock().unwrap().push(name.to_owned());
        let mut answers = self.answers.lock().unwrap();
        let list = answers.get_mut(name).ok_or(io::ErrorKind::NotFound)?;
        Ok(if list.len() > 1 { list.remove(0) } else { list[0].clone() })
    }
}

// Written out, because `async-trait` is no dependency of these tests.
impl Resolve for Names {
    fn resolve<'a, 'b, 'c>(
        &'a self,
        name: &'b str,
    ) -> Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send + 'c>>
    where
        'a: 'c,
        'b: 'c,
        Self: 'c,
    {
        let answer = self.next(name);
        Box::pin(async move { answer })
    }
}

/// Limits that a server reaches by the size of its answer only, however busy the machine is.
pub(crate) fn small() -> Limits {
    Limits {
        connect_time: PATIENCE,
        head_time: PATIENCE,
        idle_time: PATIENCE,
        total_time: PATIENCE,
        body_bytes: 300_000,
        ..Limits::default()
    }
}

/// A web of a few servers, and a gate before it where every call may run.
pub(crate) struct Site {
    pub(crate) names: Arc<Names>,
    lab: Lab,
    _results: TempDir,
}

impl Site {
    /// A web where `site.test` is this server, as if it were a public one.
    pub(crate) fn new(server: &Server) -> Self {
        Self::with(server, |_| {})
    }

    /// The same with other settings. Nobody asks for `robots.txt` unless told to.
    pub(crate) fn with(server: &Server, change: impl FnOnce(&mut WebSettings)) -> Self {
        Self::speaking(server, Dialect::Native, change)
    }

    pub(crate) fn speaking(
        server: &Server,
        dialect: Dialect,
        change: impl FnOnce(&mut WebSettings),
    ) -> Self {
        let names: Arc<Names> = Arc::default();
        names.add("site.test", vec![vec![server.address]]);
        let mut settings = WebSettings::new(names.clone(), vec![server.address]);
        settings.robots = false;
        change(&mut settings);
        let folder = tempfile::tempdir().unwrap();
        let kept = Some(folder.path().to_owned());
        let results = ResultSettings { preset: Preset::Standard, folder: kept };
        let gate = Gate::builder(Arc::new(toolgate_tools::registry().unwrap()))
            .policy(Engine::in_mode(Mode::Yolo))
            .settings(GateSettings { results, ..GateSettings::default() })
            .service::<WebAccess>(Arc::new(WebAccess::new(WebClient::new(settings))))
            .build();
        Self { names, lab: Lab::behind(gate, dialect), _results: folder }
    }

    pub(crate) fn lab(&self) -> &Lab {
        &self.lab
    }

    /// The result of fetching a path of `site.test`.
    pub(crate) fn fetch(&self, path: &str, more: Value) -> ToolResult {
        self.fetch_url(&format!("http://site.test{path}"), more)
    }

    #[expect(clippy::needless_pass_by_value, reason = "calls read better so")]
    pub(crate) fn fetch_url(&self, url: &str, more: Value) -> ToolResult {
        let mut args = json!({ "url": url });
        args.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        self.lab.result("web_fetch", args)
    }

    /// The text of a path, which must be there.
    pub(crate) fn text(&self, path: &str) -> String {
        let result = self.fetch(path, json!({}));
        assert_eq!(result.error, None, "the fetch must succeed");
        result.llm_content.as_text()
    }

    /// What fetching fails with, which it must.
    pub(crate) fn error(&self, path: &str) -> ToolError {
        self.fetch(path, json!({})).error.expect("the fetch must fail")
    }

    /// The message of a fetch that must fail in the usual way.
    pub(crate) fn fault(&self, path: &str) -> String {
        let error = self.error(path);
        assert_eq!(error.kind, ErrorKind::FetchError, "{}", error.message);
        error.message
    }
}
