//! Questions of servers that a person answers through the gate.

use std::sync::{Arc, LazyLock, OnceLock, Weak};
use std::time::Duration;

use serde_json::{Map, Value, json};
use toolgate_core::context::CallContext;
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::gate::Gate;
use toolgate_core::result::ToolResult;
use toolgate_core::schema::Schema;
use toolgate_core::tool::{Annotations, Preview};
use toolgate_core::visible;

use super::once::Once;

/// The maximum length of an answer that is recorded.
const MOST_TEXT: usize = 4_000;
/// The maximum length of what a server writes that is shown, in bytes.
const MOST_SHOWN: usize = 256 * 1024;
/// Handing an answer over takes no time.
const QUICK: Duration = Duration::from_secs(10);

static ANSWER: LazyLock<Arc<Schema>> = LazyLock::new(|| {
    Arc::new(Schema::from_json(json!({
        "type": "object",
        "properties": { "answer": { "type": "object" } },
        "required": ["answer"],
        "additionalProperties": false,
    })))
});

/// Puts questions of servers to a person.
#[derive(Debug, Default)]
pub(super) struct Questions {
    /// The gate knows the servers, too, and would never go if it were held here.
    gate: OnceLock<Weak<Gate>>,
}

/// A question of a server.
#[derive(Debug)]
pub(super) struct Question {
    name: &'static str,
    title: &'static str,
    asks: String,
    shown: String,
    /// What the answer is unless a person changes it.
    usual: Map<String, Value>,
    /// What the answer has to be like.
    form: Option<Schema>,
}

impl Question {
    /// A form to be filled in: a person approves it as it is, or changes the answer first.
    pub(super) fn form(params: &Map<String, Value>) -> Self {
        let message = params.get("message").and_then(Value::as_str).unwrap_or_default();
        let schema = params.get("requestedSchema").cloned().unwrap_or(json!({ "type": "object" }));
        let mut shown = cut(message);
        let fields = schema.get("properties").and_then(Value::as_object);
        let mut usual = Map::new();
        for (name, field) in fields.into_iter().flatten() {
            let kind = field.get("type").and_then(Value::as_str).unwrap_or("value");
            let about = field.get("description").or_else(|| field.get("title"));
            let about = about.and_then(Value::as_str).unwrap_or_default();
            shown.push_str(&format!("\n{name} ({kind}): {about}"));
            if let Some(default) = field.get("default") {
                usual.insert(name.clone(), default.clone());
            }
        }
        Self {
            name: "elicitation",
            title: "Answer a server",
            asks: "wants to know".to_owned(),
            shown: cut(&shown),
            usual,
            form: Some(Schema::from_json(schema)),
        }
    }

    /// A request to a model of the client's.
    pub(super) fn sampling(params: &Map<String, Value>) -> Self {
        let text = |value: &Value| serde_json::to_string_pretty(value).unwrap_or_default();
        let system = params.get("systemPrompt").map(text).unwrap_or_default();
        let messages = params.get("messages").map(text).unwrap_or_default();
        Self {
            name: "sampling",
            title: "Ask the model for a server",
            asks: "wants the client's model to answer".to_owned(),
            shown: cut(format!("{system}\n{messages}").trim()),
            usual: Map::new(),
            form: None,
        }
    }
}

impl Questions {
    /// Puts them through this gate from now on.
    pub(super) fn through(&self, gate: &Arc<Gate>) {
        // There is one gate in a process.
        self.gate.set(Arc::downgrade(gate)).ok();
    }

    /// The gate, if it is known and still there.
    pub(super) fn gate(&self) -> Option<Arc<Gate>> {
        self.gate.get()?.upgrade()
    }

    /// Whether somebody may be there to answer.
    pub(super) fn reach_a_person(&self) -> bool {
        self.gate().is_some_and(|gate| gate.approvals().is_anybody_there())
    }

    /// Puts a question to a person during a call; the answer, or nothing when they refuse.
    pub(super) async fn put(
        &self,
        server: &str,
        question: Question,
        context: &CallContext,
    ) -> Result<Option<Value>, String> {
        let Some(gate) = self.gate() else { return Err("nobody can be asked here".to_owned()) };
        let Question { name, title, asks, shown, usual, form } = question;
        let once = Once {
            server: server.to_owned(),
            name,
            title,
            describe: format!("The server `{server}` {asks}: {}", first_line(&shown)),
            schema: Arc::clone(&ANSWER),
            annotations: Annotations { open_world: true, ..Annotations::CHANGES },
            preview: Preview::Text(shown),
            doubt: Some(format!("the server `{server}` {asks}; only a person can tell")),
            time_limit: QUICK,
            max_result_chars: MOST_TEXT,
        };
        let given = Arc::new(OnceLock::new());
        let keep = Arc::clone(&given);
        let work = move |args: Value, _: CallContext| {
            let answer = args.get("answer").cloned().unwrap_or_default();
            let fits = form.as_ref().map_or(Ok(()), |form| form.validate(&answer));
            let done = fits.map(|()| {
                keep.set(answer).ok();
                ToolResult::text("The server has its answer.")
            });
            Box::pin(std::future::ready(done)) as _
        };
        let session = context.shared_session();
        let args = json!({ "answer": usual });
        let outcome =
            once.call(&gate, args, &session, context.cancellation(), Box::new(work)).await;
        match outcome.result.error {
            None => Ok(given.get().cloned()),
            Some(ToolError { kind: ErrorKind::ApprovalDenied, .. }) => Ok(None),
            Some(error) => Err(error.message),
        }
    }
}

fn cut(text: &str) -> String {
    let end = text.floor_char_boundary(MOST_SHOWN);
    let kept = text.get(..end).unwrap_or_default();
    if end < text.len() { format!("{kept}… ({} bytes)", text.len()) } else { kept.to_owned() }
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    visible::line(line).chars().take(200).collect()
}
