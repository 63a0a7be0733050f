//! Something other than a tool that a server is asked for, through the gate.

use std::sync::{Arc, LazyLock, OnceLock};

use rmcp::model::{ErrorCode, ErrorData};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use toolgate_core::context::{CallContext, Session};
use toolgate_core::error::ErrorKind;
use toolgate_core::result::ToolResult;
use toolgate_core::schema::Schema;
use toolgate_core::tool::{Annotations, Preview};

use super::answering::Answering;
use super::once::Once;
use super::tool::failed;
use super::upstream::Upstream;
use crate::client::{ClientError, Exchange};
use crate::server::Caller;

/// How much of what was read is written down.
const MOST_CHARS: usize = 60_000;

static ANYTHING: LazyLock<Arc<Schema>> =
    LazyLock::new(|| Arc::new(Schema::from_json(json!({ "type": "object" }))));

/// Something that a server is asked for.
pub(super) struct Asked {
    pub(super) method: &'static str,
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) describe: String,
    pub(super) params: Map<String, Value>,
    /// Whether it only looks; otherwise it is judged as a call of a tool is.
    pub(super) looks: bool,
}

impl Asked {
    /// Asks a server through the gate.
    pub(super) async fn ask(
        self,
        upstream: &Arc<Upstream>,
        session: &Arc<Session>,
        caller: Option<&Caller>,
    ) -> Result<Value, ErrorData> {
        let Some(gate) = upstream.shared().questions.gate() else {
            return Err(ErrorData::internal_error("this is not behind a gate", None));
        };
        let Self { method, name, title, describe, params, looks } = self;
        let entry = upstream.entry();
        let once = Once {
            server: entry.name.to_string(),
            name,
            title,
            describe: format!("{describe} of the server `{}`", entry.name),
            schema: Arc::clone(&ANYTHING),
            annotations: Annotations {
                open_world: true,
                ..if looks { Annotations::READ_ONLY } else { Annotations::CHANGES }
            },
            preview: Preview::Nothing,
            doubt: None,
            time_limit: entry.most,
            max_result_chars: MOST_CHARS,
        };
        let got: Arc<OnceLock<Result<Value, ClientError>>> = Arc::default();
        let keep = Arc::clone(&got);
        let (used, asking) = (Arc::clone(upstream), caller.cloned());
        let work = move |args: Value, context: CallContext| {
            let working = async move {
                let client = used.ready(context.cancellation()).await?;
                let Value::Object(params) = args else { return Ok(ToolResult::text("")) };
                let entry = used.entry();
                let answering = Answering::to(context.clone(), &used, asking);
                let exchange = Exchange {
                    patience: entry.timeout,
                    most: entry.most,
                    stop: context.cancellation().clone(),
                    can: Some(answering.abilities()),
                    progress: None,
                    host: Some(Arc::new(answering)),
                };
                let answer = client.request(method, params, exchange).await;
                let shown = match &answer {
                    Ok(answer) => Ok(ToolResult::text(answer.to_string())),
                    Err(error) => Err(failed(entry, error)),
                };
                keep.set(answer).ok();
                shown
            };
            Box::pin(working) as _
        };
        let args = Value::Object(params);
        let stop = tokio_util::sync::CancellationToken::new();
        let _stops = stop.clone().drop_guard();
        let outcome = once.call(&gate, args, session, &stop, Box::new(work)).await;
        match (got.get().cloned(), outcome.result.error) {
            (Some(Ok(answer)), None) => Ok(answer),
            (Some(Err(error @ ClientError::Server { .. })), _) => Err(refused(error)),
            (_, Some(error)) => {
                let kind = json!({ "type": error.kind.to_string() });
                let code = match error.kind {
                    ErrorKind::ValidationError => ErrorCode::INVALID_PARAMS,
                    _ => ErrorCode::INTERNAL_ERROR,
                };
                Err(ErrorData::new(code, error.message, Some(kind)))
            }
            _ => Err(ErrorData::internal_error("the server gave nothing", None)),
        }
    }
}

/// What a server refuses, as its own error; what else goes wrong is one of ours.
fn refused(error: ClientError) -> ErrorData {
    match error {
        ClientError::Server { code, message, data } => {
            let code = i32::try_from(code).unwrap_or(ErrorCode::INTERNAL_ERROR.0);
            ErrorData::new(ErrorCode(code), message, data)
        }
        error => ErrorData::internal_error(error.to_string(), None),
    }
}

/// An answer, read as what it should be.
pub(super) fn understood<T: DeserializeOwned>(mut answer: Value) -> Result<T, ErrorData> {
    if let Value::Object(answer) = &mut answer {
        // Servers with a handshake do not say so.
        answer.entry("resultType").or_insert_with(|| "complete".into());
    }
    serde_json::from_value(answer).map_err(|error| {
        ErrorData::internal_error(format!("the server's answer is not understood: {error}"), None)
    })
}
