//! What a server offers besides tools.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use rmcp::model::{
    CompleteRequestParams, CompleteResult, ErrorData, GetPromptResult, JsonObject, Prompt,
    ReadResourceResult, Resource, ResourceTemplate,
};
use serde_json::json;
use tokio::sync::broadcast;
use toolgate_core::context::Session;

use super::callers::Caller;

/// What a server offers besides tools: resources, prompts, completions. Lists come in a stable
/// order.
#[async_trait]
pub trait Offers: fmt::Debug + Send + Sync {
    /// Which kinds of things are offered at all.
    fn kinds(&self) -> Kinds;

    /// Waits until everything that is offered at first is there, but not for long.
    async fn settled(&self) {}

    /// Waits for a tool that is not there yet, if one of this name may come soon; why it does not,
    /// if that is known.
    async fn wait_for(&self, _tool: &str) -> Option<String> {
        None
    }

    /// The resources there are.
    async fn resources(&self) -> Result<Vec<Resource>, ErrorData> {
        Ok(Vec::new())
    }

    /// The kinds of resources whose addresses have gaps to be filled.
    async fn templates(&self) -> Result<Vec<ResourceTemplate>, ErrorData> {
        Ok(Vec::new())
    }

    /// What a resource holds.
    async fn read(&self, uri: &str, _caller: &Caller) -> Result<ReadResourceResult, ErrorData> {
        Err(no_resource(uri))
    }

    /// Somebody wants to hear when a resource changes, or no longer does.
    async fn watch(&self, _uri: &str, _on: bool, _session: &Arc<Session>) -> Result<(), ErrorData> {
        Ok(())
    }

    /// The prompts there are.
    async fn prompts(&self) -> Result<Vec<Prompt>, ErrorData> {
        Ok(Vec::new())
    }

    /// A prompt with its gaps filled.
    async fn prompt(
        &self,
        name: &str,
        _arguments: JsonObject,
        _caller: &Caller,
    ) -> Result<GetPromptResult, ErrorData> {
        Err(ErrorData::invalid_params(format!("there is no prompt `{name}`"), None))
    }

    /// What a gap could be filled with.
    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _session: &Arc<Session>,
    ) -> Result<CompleteResult, ErrorData> {
        Ok(CompleteResult::default())
    }

    /// A client wants to hear what happens besides, from this level on.
    async fn log_from(&self, _level: &str) {}

    /// Tells of changes from now on, where there are any.
    fn changes(&self) -> Option<broadcast::Receiver<OfferChange>> {
        None
    }
}

/// Which kinds of things are offered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a capability of the protocol")]
pub struct Kinds {
    /// Resources, and changes of them.
    pub resources: bool,
    /// Prompts, and changes of them.
    pub prompts: bool,
    /// What gaps could be filled with.
    pub completions: bool,
    /// What happens besides.
    pub logs: bool,
}

/// What changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OfferChange {
    /// Resources came or went.
    Resources,
    /// What the resource at this address holds.
    Resource(String),
    /// Prompts came or went.
    Prompts,
}

/// There is no such resource.
pub fn no_resource(uri: &str) -> ErrorData {
    ErrorData::resource_not_found("there is no such resource", Some(json!({ "uri": uri })))
}
