//! Prompts and resources that show everything.

use std::sync::Arc;

use async_trait::async_trait;
use rmcp::model::{
    CompleteRequestParams, CompleteResult, CompletionInfo, ContentBlock, ErrorData,
    GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, ReadResourceResult,
    Resource, ResourceContents, ResourceTemplate, Role,
};
use serde_json::{Value, json};
use tokio::sync::broadcast;
use toolgate_core::context::Session;
use toolgate_mcp::server::{Caller, Kinds, OfferChange, Offers, no_resource};

use super::asking::form;

pub(super) const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// Prompts and resources that show everything.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) changes: broadcast::Sender<OfferChange>,
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
                let wanted = form("What context should the prompt use?", &context, &["context"]);
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

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _session: &Arc<Session>,
    ) -> Result<CompleteResult, ErrorData> {
        let known = ["paris", "park", "party"].into_iter();
        let fit = known.filter(|value| value.starts_with(&request.argument.value));
        let info = CompletionInfo::new(fit.map(str::to_owned).collect());
        Ok(CompleteResult::new(info.map_err(|error| ErrorData::invalid_params(error, None))?))
    }

    fn changes(&self) -> Option<broadcast::Receiver<OfferChange>> {
        Some(self.changes.subscribe())
    }
}
