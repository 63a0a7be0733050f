//! What a client asks, and what it is answered.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode, ErrorData,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerConfig, SubscriptionFilter,
    Tool,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use tokio_util::sync::{CancellationToken, DropGuard};
use toolgate_core::context::Session;

use super::call;
use super::caller::{self, Era};
use super::changes;
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

    /// The session of a request: that of the connection, begun when it is first needed, or that of
    /// whoever calls without one.
    fn session(&self, context: &RequestContext<RoleServer>) -> Arc<Session> {
        let sessions = &self.shared.sessions;
        match caller::era(context) {
            Era::Legacy => Arc::clone(self.session.get_or_init(|| sessions.begin())),
            Era::Modern => sessions.of(&caller::principal(context)),
        }
    }
}

impl ServerHandler for Connection {
    fn get_info(&self) -> ServerConfig {
        self.shared.about()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        // One page: several clients read only the first.
        let session = self.session(&context);
        let tools = self.shared.listing.all(self.shared.gate.registry(), &session);
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
        call::answer(&self.shared, &self.session(&context), request, &context).await
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

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        // What is not offered is taken out of it.
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changed = self.shared.gate.registry().subscribe();
        let wants_tools = context.accepted().tools_list_changed == Some(true);
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                more = changes::next(&mut changed), if wants_tools => {
                    if !more || context.sink().notify_tool_list_changed().await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
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
