//! What a client asks, and what it is answered.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode, ErrorData,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerConfig, Tool,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;
use tokio_util::sync::{CancellationToken, DropGuard};
use toolgate_core::call::Call;
use toolgate_core::context::Session;
use toolgate_core::error::ErrorKind;

use super::call;
use super::changes;
use super::result;
use super::shared::Shared;

/// One connection, which is one session.
#[derive(Debug)]
pub(super) struct Connection {
    shared: Arc<Shared>,
    session: OnceLock<Arc<Session>>,
    /// Fires when the connection is gone.
    gone: CancellationToken,
    _gone: DropGuard,
}

impl Connection {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let gone = CancellationToken::new();
        Self { shared, session: OnceLock::new(), _gone: gone.clone().drop_guard(), gone }
    }

    /// The session of the connection, begun when it is first needed.
    fn session(&self) -> &Arc<Session> {
        self.session.get_or_init(|| self.shared.sessions.begin())
    }
}

impl ServerHandler for Connection {
    fn get_info(&self) -> ServerConfig {
        self.shared.about()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::known_up_to(&ProtocolVersion::V_2025_11_25))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        // One page: several clients read only the first.
        let tools = self.shared.listing.all(self.shared.gate.registry(), self.session());
        Ok(ListToolsResult::with_all_items(tools))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.shared.listing.get(self.shared.gate.registry(), name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let args = Value::Object(request.arguments.unwrap_or_default());
        let call = Call::new(request.name, args);
        let outcome = call::run(&self.shared, self.session(), call, &context).await;
        match outcome.result.error {
            Some(error) if error.kind == ErrorKind::ToolNotFound => {
                Err(ErrorData::invalid_params(error.message, None))
            }
            _ => Ok(result::shown(outcome.result).into()),
        }
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let mut changed = self.shared.gate.registry().subscribe();
        let gone = self.gone.clone();
        tokio::spawn(gone.run_until_cancelled_owned(async move {
            while changes::next(&mut changed).await {
                if context.peer.notify_tool_list_changed().await.is_err() {
                    return;
                }
            }
        }));
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // Requests that are known, but whose parameters do not fit, arrive here, too.
        let known = ["tools/call", "tools/list", "initialize"];
        Err(if known.contains(&request.method.as_str()) {
            let message = format!("the parameters of `{}` do not fit", request.method);
            ErrorData::invalid_params(message, None)
        } else {
            let message = format!("there is no method `{}`", request.method);
            ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
        })
    }
}
