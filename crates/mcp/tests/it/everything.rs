//! Tools, prompts and resources that show everything a server can do, as the conformance suite
//! wants them.

use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use rmcp::model::{
    CompleteRequestParams, CompleteResult, CompletionInfo, ContentBlock, ErrorData,
    GetPromptResult, InputRequest, JsonObject, Prompt, PromptArgument, PromptMessage,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate, Role,
};
use serde_json::{Value, json};
use tokio::sync::broadcast;
use toolgate_core::context::{CallContext, Session};
use toolgate_core::dialect::Dialect;
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::gate::Gate;
use toolgate_core::registry::Registry;
use toolgate_core::result::{Block, Content, ResourceContent, ToolResult};
use toolgate_core::tool::Tool;
use toolgate_core::workspace::Workspace;
use toolgate_mcp::server::{
    Caller, Callers, Elicitation, Kinds, OfferChange, Offers, Patience, Server, ServerSettings,
    Sessions, Trust, no_resource,
};

use crate::made_up::MadeUp;

const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAA";

/// A server that shows everything, and what is behind it.
pub(crate) struct Everything {
    pub(crate) server: Server,
    pub(crate) registry: Arc<Registry>,
    pub(crate) changes: broadcast::Sender<OfferChange>,
}

impl Everything {
    pub(crate) fn new() -> Self {
        Self::with(Vec::new())
    }

    /// The same with these tools besides.
    pub(crate) fn with(more: Vec<MadeUp>) -> Self {
        let changes = broadcast::Sender::new(16);
        let registry = Arc::new_cyclic(|registry| {
            let all = Registry::new();
            for tool in tools(registry, &changes).into_iter().chain(more) {
                all.register(tool.into_tool()).unwrap();
            }
            all
        });
        let elicitation = Elicitation::new(Trust::LowRisk);
        let gate = Gate::builder(Arc::clone(&registry))
            .approver(elicitation.clone())
            .service::<Callers>(Arc::new(elicitation.callers()))
            .build();
        let settings = ServerSettings {
            offers: Some(Arc::new(Shown { changes: changes.clone() })),
            version: "1.0.0".into(),
            workspace: ".".into(),
            dialect: Dialect::Native,
            hidden: Vec::new(),
            patience: Patience::always(Duration::from_secs(30)),
        };
        let sessions =
            Sessions::each(|| Arc::new(Session::new(Workspace::open(".".as_ref()).unwrap())));
        Self { server: Server::new(gate, sessions, &elicitation, settings), registry, changes }
    }
}

fn caller(context: &CallContext) -> Caller {
    context.service::<Callers>().unwrap().of(context).unwrap()
}

fn failed(error: impl ToString) -> ToolError {
    ToolError::new(ErrorKind::InternalError, error.to_string())
}

fn blocks(blocks: impl IntoIterator<Item = Block>) -> ToolResult {
    let mut result = ToolResult::default();
    result.llm_content = Content::Blocks(blocks.into_iter().collect());
    result
}

fn image() -> Block {
    Block::Image { mime: "image/png".into(), data: PNG.into() }
}

fn resource(uri: &str, mime: &str, text: &str) -> Block {
    let content = ResourceContent::Text(text.into());
    Block::Resource { uri: uri.into(), mime: Some(mime.into()), content }
}

/// A tool that gives the same every time.
fn fixed(name: &str, result: ToolResult) -> MadeUp {
    MadeUp::new(name, move |_, _| {
        let result = result.clone();
        async move { Ok(result) }
    })
}

fn request(method: &str, params: Value) -> InputRequest {
    serde_json::from_value(json!({ "method": method, "params": params })).unwrap()
}

fn form(message: &str, properties: Value, required: &[&str]) -> InputRequest {
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    request("elicitation/create", json!({ "message": message, "requestedSchema": schema }))
}

fn name_form() -> InputRequest {
    form("What is your name?", json!({ "name": { "type": "string" } }), &["name"])
}

fn confirm_form() -> InputRequest {
    form("Please confirm", json!({ "ok": { "type": "boolean" } }), &["ok"])
}

fn sample(text: &str, tokens: u32) -> InputRequest {
    let message = json!({ "role": "user", "content": { "type": "text", "text": text } });
    request("sampling/createMessage", json!({ "messages": [message], "maxTokens": tokens }))
}

fn roots() -> InputRequest {
    serde_json::from_value(json!({ "method": "roots/list" })).unwrap()
}

/// A tool that asks its client for something and says what it got.
fn asks(
    name: &str,
    key: &'static str,
    wanted: impl Fn(&Value) -> InputRequest + Send + Sync + 'static,
) -> MadeUp {
    MadeUp::new(name, move |args, context| {
        let wanted = wanted(&args);
        async move {
            let given = caller(&context).ask(key, wanted).await.map_err(failed)?;
            Ok(ToolResult::text(format!("The client gave: {given}; state-ok")))
        }
    })
}

fn text_argument(name: &str) -> Value {
    json!({ "type": "object", "properties": { name: { "type": "string" } }, "required": [name] })
}

fn plain() -> Vec<MadeUp> {
    let audio = Block::Audio { mime: "audio/wav".into(), data: WAV.into() };
    vec![
        fixed("test_simple_text", ToolResult::text("This is a simple text response for testing.")),
        fixed("test_image_content", blocks([image()])),
        fixed("test_audio_content", blocks([audio])),
        fixed(
            "test_embedded_resource",
            blocks([resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")]),
        ),
        fixed(
            "test_multiple_content_types",
            blocks([
                Block::Text { text: "Multiple content types test:".into() },
                image(),
                resource("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#),
            ]),
        ),
        MadeUp::new("test_error_handling", |_, _| async {
            Err(failed("This tool intentionally returns an error for testing"))
        }),
        MadeUp::new("test_tool_with_logging", |_, context| async move { logs(&context).await }),
        MadeUp::new("test_logging_tool", |_, context| async move { logs(&context).await }),
        MadeUp::new("test_tool_with_progress", |_, context| async move {
            for step in ["0 of 100", "50 of 100", "100 of 100"] {
                context.progress(step);
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Ok(ToolResult::text("All steps are done."))
        }),
        fixed("json_schema_2020_12_tool", ToolResult::text("ok")).taking(json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {
                "address": {
                    "$anchor": "addressDef",
                    "type": "object",
                    "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
                },
            },
            "properties": {
                "name": { "type": "string" },
                "address": { "$ref": "#/$defs/address" },
                "contactMethod": { "type": "string", "enum": ["phone", "email"] },
                "phone": { "type": "string" },
                "email": { "type": "string" },
            },
            "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
            "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
            "then": { "required": ["phone"] },
            "else": { "required": ["email"] },
            "additionalProperties": false,
        })),
        fixed(
            "promising",
            ToolResult::text("3 things").with_structured(json!({ "things": 3 })),
        )
        .giving(json!({ "type": "object", "properties": { "things": { "type": "integer" } }, "required": ["things"] })),
    ]
}

#[expect(deprecated, reason = "clients with a handshake want logs")]
async fn logs(context: &CallContext) -> Result<ToolResult, ToolError> {
    let caller = caller(context);
    for message in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        caller.log(rmcp::model::LoggingLevel::Info, json!(message)).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(ToolResult::text("It was logged."))
}

fn asking() -> Vec<MadeUp> {
    let people = json!({
        "username": { "type": "string", "description": "User's response" },
        "email": { "type": "string", "description": "User's email address" },
    });
    vec![
        asks("test_sampling", "answer", |args| {
            sample(args["prompt"].as_str().unwrap_or_default(), 100)
        })
        .taking(text_argument("prompt")),
        asks("test_elicitation", "answer", move |args| {
            form(
                args["message"].as_str().unwrap_or_default(),
                people.clone(),
                &["username", "email"],
            )
        })
        .taking(text_argument("message")),
        asks("test_elicitation_sep1034_defaults", "answer", |_| form("Defaults", defaults(), &[])),
        asks("test_elicitation_sep1330_enums", "answer", |_| form("Choices", choices(), &[])),
        asks("test_streaming_elicitation", "user_name", |_| name_form()),
        asks("test_missing_capability", "answer", |_| sample("Hello", 10)),
        asks("test_input_required_result_elicitation", "user_name", |_| name_form()),
        asks("test_input_required_result_sampling", "capital_question", |_| {
            sample("What is the capital of France?", 100)
        }),
        asks("test_input_required_result_list_roots", "client_roots", |_| roots()),
        asks("test_input_required_result_request_state", "confirm", |_| confirm_form()),
        asks("test_input_required_result_tampered_state", "confirm", |_| confirm_form()),
        MadeUp::new("test_input_required_result_multiple_inputs", |_, context| async move {
            let wanted = vec![
                ("user_name".to_owned(), name_form()),
                ("greeting".to_owned(), sample("Generate a greeting", 50)),
                ("client_roots".to_owned(), roots()),
            ];
            let given = caller(&context).ask_all(wanted).await.map_err(failed)?;
            Ok(ToolResult::text(format!("{} answers", given.len())))
        }),
        MadeUp::new("test_input_required_result_multi_round", |_, context| async move {
            let caller = caller(&context);
            let name = form(
                "Step 1: What is your name?",
                json!({ "name": { "type": "string" } }),
                &["name"],
            );
            let name = caller.ask("step1", name).await.map_err(failed)?;
            let colour = form(
                "Step 2: What is your favorite color?",
                json!({ "color": { "type": "string" } }),
                &["color"],
            );
            let colour = caller.ask("step2", colour).await.map_err(failed)?;
            Ok(ToolResult::text(format!("{name} likes {colour}")))
        }),
        MadeUp::new("test_input_required_result_capabilities", |_, context| async move {
            let caller = caller(&context);
            let wanted = [name_form(), sample("Hello", 10)];
            let able = wanted.into_iter().find(|wanted| caller.can(wanted));
            let given = caller.ask("anything", able.unwrap_or_else(roots)).await.map_err(failed)?;
            Ok(ToolResult::text(given.to_string()))
        }),
    ]
}

fn defaults() -> Value {
    json!({
        "name": { "type": "string", "default": "John Doe" },
        "age": { "type": "integer", "default": 30 },
        "score": { "type": "number", "default": 95.5 },
        "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
        "verified": { "type": "boolean", "default": true },
    })
}

fn choices() -> Value {
    let plain = ["option1", "option2", "option3"];
    let titled = |titles: [&str; 3]| {
        let values = ["value1", "value2", "value3"].into_iter().zip(titles);
        values.map(|(value, title)| json!({ "const": value, "title": title })).collect::<Vec<_>>()
    };
    json!({
        "untitledSingle": { "type": "string", "enum": plain },
        "titledSingle": { "type": "string", "oneOf": titled(["First Option", "Second Option", "Third Option"]) },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": { "type": "array", "items": { "type": "string", "enum": plain } },
        "titledMulti": {
            "type": "array",
            "items": { "anyOf": titled(["First Choice", "Second Choice", "Third Choice"]) },
        },
    })
}

fn changing(registry: &Weak<Registry>, changes: &broadcast::Sender<OfferChange>) -> Vec<MadeUp> {
    let (registry, changes) = (Weak::clone(registry), changes.clone());
    vec![
        MadeUp::new("test_trigger_tool_change", move |_, _| {
            let registry = registry.upgrade().unwrap();
            async move {
                if !registry.unregister("comes_and_goes") {
                    let tool: Arc<dyn Tool> =
                        fixed("comes_and_goes", ToolResult::text("here")).into_tool();
                    registry.register(tool).map_err(failed)?;
                }
                Ok(ToolResult::text("The tools are others now."))
            }
        }),
        MadeUp::new("test_trigger_prompt_change", move |_, _| {
            let told = changes.send(OfferChange::Prompts);
            async move { Ok(ToolResult::text(format!("{} were told.", told.unwrap_or_default()))) }
        }),
    ]
}

fn tools(registry: &Weak<Registry>, changes: &broadcast::Sender<OfferChange>) -> Vec<MadeUp> {
    [plain(), asking(), changing(registry, changes)].concat()
}

/// Prompts and resources that show everything.
#[derive(Debug)]
struct Shown {
    changes: broadcast::Sender<OfferChange>,
}

fn user(content: ContentBlock) -> PromptMessage {
    PromptMessage::new(Role::User, content)
}

fn held(uri: &str, mime: &str, text: &str) -> ResourceContents {
    ResourceContents::text(text, uri).with_mime_type(mime)
}

#[async_trait]
impl Offers for Shown {
    fn kinds(&self) -> Kinds {
        Kinds { resources: true, prompts: true, completions: true, logs: true }
    }

    async fn resources(&self) -> Result<Vec<Resource>, ErrorData> {
        let one = |uri: &str, name: &str, mime: &str| {
            Resource::new(uri, name).with_description(name).with_mime_type(mime)
        };
        Ok(vec![
            one("test://static-text", "Static text", "text/plain"),
            one("test://static-binary", "Static binary", "image/png"),
            one("test://watched-resource", "Watched", "text/plain"),
        ])
    }

    async fn templates(&self) -> Result<Vec<ResourceTemplate>, ErrorData> {
        Ok(vec![ResourceTemplate::new("test://template/{id}/data", "Template")])
    }

    async fn read(&self, uri: &str, _caller: &Caller) -> Result<ReadResourceResult, ErrorData> {
        let contents = match uri {
            "test://static-text" => {
                held(uri, "text/plain", "This is the content of the static text resource.")
            }
            "test://static-binary" => ResourceContents::blob(PNG, uri).with_mime_type("image/png"),
            "test://watched-resource" => held(uri, "text/plain", "It may change."),
            _ => {
                let id = uri
                    .strip_prefix("test://template/")
                    .and_then(|rest| rest.strip_suffix("/data"));
                let id = id.ok_or_else(|| no_resource(uri))?;
                let data =
                    json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
                held(uri, "application/json", &data.to_string())
            }
        };
        Ok(ReadResourceResult::new(vec![contents]))
    }

    async fn prompts(&self) -> Result<Vec<Prompt>, ErrorData> {
        let one = |name: &str, arguments: &[&str]| {
            let argument = |name: &&str| {
                PromptArgument::new(*name).with_description("An argument").with_required(true)
            };
            let arguments: Vec<_> = arguments.iter().map(argument).collect();
            Prompt::new(
                name,
                Some("Made up for tests"),
                (!arguments.is_empty()).then_some(arguments),
            )
        };
        Ok(vec![
            one("test_simple_prompt", &[]),
            one("test_prompt_with_arguments", &["arg1", "arg2"]),
            one("test_prompt_with_embedded_resource", &["resourceUri"]),
            one("test_prompt_with_image", &[]),
            one("test_input_required_result_prompt", &[]),
        ])
    }

    async fn prompt(
        &self,
        name: &str,
        arguments: JsonObject,
        caller: &Caller,
    ) -> Result<GetPromptResult, ErrorData> {
        let given = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        let messages = match name {
            "test_simple_prompt" => {
                vec![user(ContentBlock::text("This is a simple prompt for testing."))]
            }
            "test_prompt_with_arguments" => {
                let text = format!(
                    "Prompt with arguments: arg1='{}', arg2='{}'",
                    given("arg1"),
                    given("arg2")
                );
                vec![user(ContentBlock::text(text))]
            }
            "test_prompt_with_embedded_resource" => {
                let held = held(
                    given("resourceUri"),
                    "text/plain",
                    "Embedded resource content for testing.",
                );
                let text = "Please process the embedded resource above.";
                vec![user(ContentBlock::resource(held)), user(ContentBlock::text(text))]
            }
            "test_prompt_with_image" => {
                let text = "Please analyze the image above.";
                vec![user(ContentBlock::image(PNG, "image/png")), user(ContentBlock::text(text))]
            }
            "test_input_required_result_prompt" => {
                let context = json!({ "context": { "type": "string" } });
                let wanted = form("What context should the prompt use?", context, &["context"]);
                let given = caller.ask("user_context", wanted).await;
                let given =
                    given.map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
                vec![user(ContentBlock::text(format!("The context is {given}")))]
            }
            _ => {
                return Err(ErrorData::invalid_params(
                    format!("there is no prompt `{name}`"),
                    None,
                ));
            }
        };
        Ok(GetPromptResult::new(messages))
    }

    async fn complete(&self, request: CompleteRequestParams) -> Result<CompleteResult, ErrorData> {
        let known = ["paris", "park", "party"].into_iter();
        let fit = known.filter(|value| value.starts_with(&request.argument.value));
        let info = CompletionInfo::new(fit.map(str::to_owned).collect());
        Ok(CompleteResult::new(info.map_err(|error| ErrorData::invalid_params(error, None))?))
    }

    fn changes(&self) -> Option<broadcast::Receiver<OfferChange>> {
        Some(self.changes.subscribe())
    }
}
