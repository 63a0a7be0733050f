//! A client that agrees to whatever it is asked, and remembers what that was.
//!
//! It is for showing what a server does: a client that says yes to everything is the least a
//! server can rely on.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult,
    ElicitationAction, ErrorData, Implementation,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, RequestContext,
    RunningService, ServiceError,
};
use rmcp::{ClientHandler, RoleClient};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncRead, AsyncWrite};

/// A client that agrees to whatever it is asked. It speaks the protocol with a handshake, whose
/// questions arrive while a call waits.
#[derive(Debug)]
pub struct Guest {
    running: RunningService<RoleClient, Agreeable>,
    asked: Arc<Mutex<Vec<String>>>,
}

/// What became of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Heard {
    /// The questions that came while it waited, in the server's words. Each was answered with
    /// a yes for this once.
    pub questions: Vec<String>,
    /// The text of the result.
    pub text: String,
    /// Whether the server says that it went wrong.
    pub is_error: bool,
}

/// Who serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The revision of the protocol that was agreed on.
    pub protocol: String,
}

/// Why a guest was not served.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum GuestError {
    #[error("the handshake failed")]
    Handshake { source: Box<ClientInitializeError> },
    #[error("`{what}` was not answered")]
    Unanswered { what: String, source: Box<ServiceError> },
    #[error("the server does not say who it is")]
    Nameless,
}

impl Guest {
    /// Greets the server at the other end of two streams.
    ///
    /// # Errors
    ///
    /// When the server does not answer as it should.
    pub async fn connect(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Result<Self, GuestError> {
        let asked = Arc::default();
        let agreeable = Agreeable { asked: Arc::clone(&asked) };
        let begun =
            agreeable.serve_with_lifecycle((reader, writer), ClientLifecycleMode::Initialize);
        let running = Box::pin(begun)
            .await
            .map_err(|source| GuestError::Handshake { source: Box::new(source) })?;
        Ok(Self { running, asked })
    }

    /// Who serves, as the server says.
    ///
    /// # Errors
    ///
    /// When it does not say.
    pub fn host(&self) -> Result<Host, GuestError> {
        let info = self.running.peer_info().ok_or(GuestError::Nameless)?;
        let info = serde_json::to_value(&*info).unwrap_or_default();
        let text = |at: &str| info.pointer(at).and_then(Value::as_str).map(str::to_owned);
        let named = (text("/serverInfo/name"), text("/serverInfo/version"));
        let (Some(name), Some(version)) = named else { return Err(GuestError::Nameless) };
        let protocol = text("/protocolVersion").ok_or(GuestError::Nameless)?;
        Ok(Host { name, version, protocol })
    }

    /// The names of the tools that are offered.
    ///
    /// # Errors
    ///
    /// When the server does not answer.
    pub async fn tools(&self) -> Result<Vec<String>, GuestError> {
        let listed = self.running.list_all_tools().await;
        let tools = listed.map_err(|source| unanswered("tools/list", source))?;
        Ok(tools.into_iter().map(|tool| tool.name.into_owned()).collect())
    }

    /// Calls a tool, and agrees to what the server asks meanwhile.
    ///
    /// # Errors
    ///
    /// When the server does not answer; that a call went wrong is an answer.
    pub async fn call(&self, tool: &str, args: Map<String, Value>) -> Result<Heard, GuestError> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(args);
        let answered = Box::pin(self.running.call_tool(params)).await;
        let questions = std::mem::take(&mut *lock(&self.asked));
        let result = answered.map_err(|source| unanswered(tool, source))?;
        let texts = result.content.iter().filter_map(|block| block.as_text());
        let texts: Vec<&str> = texts.map(|block| block.text.as_str()).collect();
        Ok(Heard { questions, text: texts.join("\n"), is_error: result.is_error == Some(true) })
    }

    /// Leaves.
    pub async fn leave(self) {
        // Whoever leaves needs no answer.
        self.running.cancel().await.ok();
    }
}

fn unanswered(what: &str, source: ServiceError) -> GuestError {
    GuestError::Unanswered { what: what.to_owned(), source: Box::new(source) }
}

fn lock<T>(held: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says yes, once, to every form.
#[derive(Debug)]
struct Agreeable {
    asked: Arc<Mutex<Vec<String>>>,
}

impl ClientHandler for Agreeable {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_elicitation().build();
        let version = env!("CARGO_PKG_VERSION");
        ClientConfig::new(capabilities, Implementation::new("toolgate-guest", version))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else {
            return Ok(ElicitResult::new(ElicitationAction::Cancel));
        };
        lock(&self.asked).push(message);
        let content = json!({ "decision": "once" });
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(content))
    }
}
