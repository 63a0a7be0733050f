//! What a client asks, and what it is answered.
#![expect(deprecated, reason = "clients with a handshake want logs")]

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, DiscoverResult, ErrorCode, ErrorData, GetPromptRequestParams, GetPromptResponse,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ServerConfig, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use tokio::sync::OnceCell;
use tokio_util::sync::{CancellationToken, DropGuard};
use toolgate_core::context::Session;

use super::call;
use super::caller::{self, Era};
use super::changes::{self, Listener};
use super::folders;
use super::log::{Level, Log};
use super::offering::Asked;
use super::offers::Offers;
use super::settings::Eras;
use super::shared::Shared;

/// Methods with parameters, in both eras.
const KNOWN: [&str; 4] = ["completion/complete", "prompts/get", "resources/read", "tools/call"];
/// Those of clients with a handshake alone.
const LEGACY: [&str; 4] =
    ["initialize", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];

/// One connection, which is one session.
#[derive(Debug)]
pub(super) struct Connection {
    shared: Arc<Shared>,
    session: OnceCell<Arc<Session>>,
    level: Level,
    watched: Arc<changes::Watched>,
    /// Fires when the connection is gone.
    gone: CancellationToken,
    _gone: DropGuard,
}

impl Connection {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let gone = CancellationToken::new();
        Self {
            shared,
            session: OnceCell::new(),
            level: Level::default(),
            watched: Arc::default(),
            _gone: gone.clone().drop_guard(),
            gone,
        }
    }

    /// The session of a request: that of the connection, begun when it is first needed, or that of
    /// whoever calls without one.
    async fn session(&self, context: &RequestContext<RoleServer>) -> Arc<Session> {
        let sessions = &self.shared.sessions;
        match caller::era(context) {
            Era::Legacy => {
                let begin = || async { sessions.begin(&folders::named_by(context).await) };
                Arc::clone(self.session.get_or_init(begin).await)
            }
            Era::Modern => sessions.of(&caller::principal(context)),
        }
    }

    /// What is offered besides tools, or that nothing is.
    fn offers(&self, method: &'static str) -> Result<&Arc<dyn Offers>, ErrorData> {
        self.shared.offers.as_ref().ok_or_else(|| no_method(method))
    }

    /// The same for a list. Clients with a handshake get an empty one where nothing is offered:
    /// several ask without looking.
    fn listed(
        &self,
        method: &'static str,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<&Arc<dyn Offers>>, ErrorData> {
        match caller::era(context) {
            Era::Legacy => Ok(self.shared.offers.as_ref()),
            Era::Modern => self.offers(method).map(Some),
        }
    }

    async fn asked<'a>(
        &'a self,
        method: &'static str,
        context: &'a RequestContext<RoleServer>,
    ) -> Result<Asked<'a>, ErrorData> {
        let log = Log::of(context, &self.level);
        let (offers, session) = (self.offers(method)?, self.session(context).await);
        Ok(Asked { shared: &self.shared, offers, context, log, session })
    }
}

fn no_method(method: &str) -> ErrorData {
    let message = format!("there is no method `{method}`");
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}

impl ServerHandler for Connection {
    fn get_info(&self) -> ServerConfig {
        self.shared.about()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.shared.eras.versions()
    }

    async fn discover(
        &self,
        _context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        if self.shared.eras == Eras::Legacy {
            return Err(no_method("server/discover"));
        }
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info()))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if let Some(offers) = &self.shared.offers {
            offers.settled().await;
        }
        // One page: several clients read only the first.
        let session = self.session(&context).await;
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
        let log = Log::of(&context, &self.level);
        let session = self.session(&context).await;
        // What is awaited here is moved several times before it begins, so it is kept small.
        let mut answer =
            Box::pin(call::answer(&self.shared, &session, request, &context, log)).await?;
        if let CallToolResponse::Complete(result) = &mut answer
            && result.is_error == Some(true)
            && caller::quotes_errors(&context)
        {
            // The text says what went wrong.
            result.is_error = None;
        }
        Ok(answer)
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        match self.listed("resources/list", &context)? {
            Some(offers) => Ok(ListResourcesResult::with_all_items(offers.resources().await?)),
            None => Ok(ListResourcesResult::default()),
        }
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        match self.listed("resources/templates/list", &context)? {
            Some(offers) => {
                Ok(ListResourceTemplatesResult::with_all_items(offers.templates().await?))
            }
            None => Ok(ListResourceTemplatesResult::default()),
        }
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Box::pin(self.asked("resources/read", &context).await?.resource(request)).await
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let offers = self.offers("resources/subscribe")?;
        self.watched.add(request.uri.clone())?;
        offers.watch(&request.uri, true, &self.session(&context).await).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let offers = self.offers("resources/unsubscribe")?;
        self.watched.remove(&request.uri);
        offers.watch(&request.uri, false, &self.session(&context).await).await
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        match self.listed("prompts/list", &context)? {
            Some(offers) => Ok(ListPromptsResult::with_all_items(offers.prompts().await?)),
            None => Ok(ListPromptsResult::default()),
        }
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        Box::pin(self.asked("prompts/get", &context).await?.prompt(request)).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let session = self.session(&context).await;
        self.offers("completion/complete")?.complete(request, &session).await
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let is_gone = caller::era(&context) == Era::Modern;
        if is_gone || !self.offers("logging/setLevel")?.kinds().logs {
            return Err(no_method("logging/setLevel"));
        }
        self.level.set(request.level);
        let level = serde_json::to_value(request.level).unwrap_or_default();
        self.offers("logging/setLevel")?.log_from(level.as_str().unwrap_or("info")).await;
        Ok(())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let listener = Listener::new(&self.shared);
        let telling = listener.tell_peer(context.peer, Arc::clone(&self.watched));
        tokio::spawn(self.gone.clone().run_until_cancelled_owned(telling));
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        // What is not offered is taken out of it.
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let listener = Listener::new(&self.shared);
        let wanted = context.requested().resource_subscriptions.iter().flatten();
        if let Some(offers) = &self.shared.offers {
            let session = self.shared.sessions.begin(&[]);
            for uri in wanted.take(changes::MOST) {
                // One that is not there, or must not be looked at, never changes.
                offers.watch(uri, true, &session).await.ok();
            }
        }
        tokio::select! {
            () = context.cancelled() => {}
            () = Box::pin(listener.tell_subscription(context.sink())) => {}
        }
        Ok(())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // Requests that are known, but whose parameters do not fit, arrive here, too.
        let method = request.method.as_str();
        let is_known = match caller::era(&context) {
            Era::Legacy => KNOWN.contains(&method) || LEGACY.contains(&method),
            Era::Modern => KNOWN.contains(&method) || method == "subscriptions/listen",
        };
        Err(if is_known {
            ErrorData::invalid_params(format!("the parameters of `{method}` do not fit"), None)
        } else {
            no_method(method)
        })
    }
}
