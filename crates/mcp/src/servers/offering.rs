//! What servers offer besides tools, passed on to clients: resources, prompts, completions.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures_util::future::join_all;
use rmcp::model::{
    CompleteRequestParams, CompleteResult, ErrorData, GetPromptResult, JsonObject, Prompt,
    ReadResourceResult, Resource, ResourceTemplate,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::sync::broadcast;
use toolgate_core::context::Session;
use toolgate_core::visible;

use super::addresses::{self, Address};
use super::all::Servers;
use super::asked::{Asked, understood};
use super::explicit;
use super::listed::Naming;
use super::upstream::Upstream;
use crate::client::{Client, Era, Exchange, Listed};
use crate::server::{Caller, Kinds, OfferChange, Offers, no_resource};

/// A list that takes longer is left out.
const LISTING: Duration = Duration::from_secs(10);
/// A larger resource is not passed on.
const MOST_BYTES: usize = 10 * 1024 * 1024;
/// What the servers behind a gate offer besides tools. Reading goes through the gate.
#[derive(Debug, Clone)]
pub struct Gateway {
    servers: Servers,
    /// Lists wait for servers until then.
    until: Instant,
}

impl Gateway {
    /// What these servers offer. First lists wait so long for those that are starting.
    pub fn new(servers: Servers, wait: Duration) -> Self {
        Self { servers, until: Instant::now() + wait }
    }

    fn naming(&self) -> Naming {
        self.servers.shared.naming
    }

    /// Everything of a kind, of all servers that have it, in the order of the servers.
    async fn all(&self, what: Listed) -> Vec<(Arc<Upstream>, Vec<Value>)> {
        let lists = self.servers.all.iter().map(async |upstream| {
            let client = upstream.client()?;
            let listed = tokio::time::timeout(LISTING, client.list(what)).await;
            match listed {
                Ok(Ok(items)) => Some((Arc::clone(upstream), items)),
                Ok(Err(error)) => {
                    tracing::warn!(server = %upstream.entry().name, %error, "a list is left out");
                    None
                }
                Err(_) => {
                    tracing::warn!(server = %upstream.entry().name, "a list took too long");
                    None
                }
            }
        });
        join_all(lists).await.into_iter().flatten().collect()
    }

    /// The server of a resource.
    async fn owner(&self, uri: &str) -> Result<(Arc<Upstream>, String), ErrorData> {
        self.settled().await;
        if let [only] = &*self.servers.all {
            return Ok((Arc::clone(only), uri.to_owned()));
        }
        if let Some((server, own)) = explicit::split(uri) {
            let found = self.servers.all.iter().find(|known| known.entry().name.as_str() == server);
            return found.map(|found| (Arc::clone(found), own)).ok_or_else(|| no_resource(uri));
        }
        let resources = self.all(Listed::Resources).await;
        if let Some(found) = addresses::sole_owner(&resources, uri) {
            return Ok((found, uri.to_owned()));
        }
        let templates = self.all(Listed::Templates).await;
        match addresses::by_template(&templates, uri) {
            Some(found) => Ok((found, uri.to_owned())),
            None => Err(no_resource(uri)),
        }
    }

    /// The server of a prompt, and what that calls it.
    fn prompter(&self, name: &str) -> Option<(Arc<Upstream>, String)> {
        self.servers.all.iter().find_map(|upstream| {
            let own = match self.naming() {
                Naming::Own => name,
                Naming::Prefixed => {
                    let server = upstream.entry().name.as_str();
                    name.strip_prefix("mcp__")?.strip_prefix(server)?.strip_prefix("__")?
                }
            };
            Some((Arc::clone(upstream), own.to_owned()))
        })
    }

    fn any_has(&self, capability: &str) -> bool {
        self.servers.all.iter().any(|upstream| {
            // What is not there yet may come to have it.
            upstream.client().is_none_or(|client| client.about().has(capability))
        })
    }
}

/// Whether a server lists a resource of this address itself.
async fn lists(upstream: &Upstream, uri: &str) -> bool {
    upstream.settled().await;
    let Some(client) = upstream.client() else { return false };
    let listed = tokio::time::timeout(LISTING, client.list(Listed::Resources)).await;
    let Ok(Ok(items)) = listed else { return false };
    items.iter().any(|item| item.get("uri").and_then(Value::as_str) == Some(uri))
}

/// What can be read of a list; one bad item loses nothing but itself.
fn read_all<T: DeserializeOwned>(items: impl Iterator<Item = Value>) -> Vec<T> {
    items.filter_map(|item| serde_json::from_value(item).ok()).collect()
}

#[async_trait]
impl Offers for Gateway {
    fn kinds(&self) -> Kinds {
        Kinds {
            resources: self.any_has("resources"),
            prompts: self.any_has("prompts"),
            completions: self.any_has("completions"),
            logs: self.any_has("logging"),
        }
    }

    async fn settled(&self) {
        self.servers.settled(self.until.saturating_duration_since(Instant::now())).await;
    }

    async fn wait_for(&self, tool: &str) -> Option<String> {
        let may_have = |upstream: &&Arc<Upstream>| match self.naming() {
            Naming::Own => true,
            Naming::Prefixed => tool.starts_with(&format!("mcp__{}__", upstream.entry().name)),
        };
        let upstream = self.servers.all.iter().find(may_have)?;
        upstream.settled().await;
        upstream.why_not()
    }

    async fn resources(&self) -> Result<Vec<Resource>, ErrorData> {
        self.settled().await;
        let all = self.all(Listed::Resources).await;
        Ok(read_all(addresses::told(&all, Address::Resource).into_iter()))
    }

    async fn templates(&self) -> Result<Vec<ResourceTemplate>, ErrorData> {
        self.settled().await;
        let all = self.all(Listed::Templates).await;
        Ok(read_all(addresses::told(&all, Address::Template).into_iter()))
    }

    async fn read(&self, uri: &str, caller: &Caller) -> Result<ReadResourceResult, ErrorData> {
        let (upstream, own) = self.owner(uri).await?;
        // What is put into an address leaves with it, unless the server wrote it itself.
        let looks = upstream.entry().trust || lists(&upstream, &own).await;
        let mut params = Map::new();
        params.insert("uri".to_owned(), own.into());
        let describe = format!("Read {}", visible::line(uri));
        let asked = Asked {
            method: "resources/read",
            name: "resources.read",
            title: "Read Resource",
            describe,
            params,
            looks,
        };
        let answer = asked.ask(&upstream, caller.session(), Some(caller)).await?;
        let size = serde_json::to_string(&answer).map_or(usize::MAX, |text| text.len());
        if size > MOST_BYTES {
            let message = format!("the resource has {size} bytes, and {MOST_BYTES} are passed on");
            return Err(ErrorData::internal_error(message, None));
        }
        understood(answer)
    }

    async fn watch(&self, uri: &str, on: bool, session: &Arc<Session>) -> Result<(), ErrorData> {
        let (upstream, own) = self.owner(uri).await?;
        let Some(client) = upstream.client() else { return Ok(()) };
        let can = client.about().capabilities.get("resources").and_then(|can| can.get("subscribe"));
        if can.and_then(Value::as_bool) != Some(true) {
            return Ok(());
        }
        let method = if on { "resources/subscribe" } else { "resources/unsubscribe" };
        let mut params = Map::new();
        params.insert("uri".to_owned(), own.into());
        let asked = Asked {
            method,
            name: "resources.subscribe",
            title: "Watch Resource",
            describe: format!("Watch {}", visible::line(uri)),
            params,
            looks: true,
        };
        asked.ask(&upstream, session, None).await.map(|_| ())
    }

    async fn prompts(&self) -> Result<Vec<Prompt>, ErrorData> {
        self.settled().await;
        let all = self.all(Listed::Prompts).await;
        let named = all.into_iter().flat_map(|(upstream, items)| {
            let naming = self.naming();
            items.into_iter().filter_map(move |mut item| {
                let own = item.get("name")?.as_str()?;
                let name = super::listed::full_name(&upstream.entry().name, naming, own).ok()?;
                item.as_object_mut()?.insert("name".to_owned(), name.as_str().into());
                Some(item)
            })
        });
        Ok(read_all(named))
    }

    async fn prompt(
        &self,
        name: &str,
        arguments: JsonObject,
        caller: &Caller,
    ) -> Result<GetPromptResult, ErrorData> {
        let Some((upstream, own)) = self.prompter(name) else {
            return Err(ErrorData::invalid_params(format!("there is no prompt `{name}`"), None));
        };
        let looks = upstream.entry().trust || arguments.is_empty();
        let mut params = Map::new();
        params.insert("name".to_owned(), own.into());
        if !arguments.is_empty() {
            params.insert("arguments".to_owned(), Value::Object(arguments));
        }
        let describe = format!("Use the prompt {}", visible::line(name));
        let asked = Asked {
            method: "prompts/get",
            name: "prompts.get",
            title: "Use Prompt",
            describe,
            params,
            looks,
        };
        understood(asked.ask(&upstream, caller.session(), Some(caller)).await?)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        session: &Arc<Session>,
    ) -> Result<CompleteResult, ErrorData> {
        let Ok(Value::Object(mut params)) = serde_json::to_value(&request) else {
            return Err(ErrorData::invalid_params("the request is not understood", None));
        };
        let named = |field: &str| {
            params.get("ref").and_then(|named| named.get(field)).and_then(Value::as_str)
        };
        let found = match (named("name").map(str::to_owned), named("uri").map(str::to_owned)) {
            (Some(name), _) => self.prompter(&name).map(|(upstream, own)| (upstream, "name", own)),
            (None, Some(uri)) => {
                let (upstream, own) = self.owner(&uri).await?;
                Some((upstream, "uri", own))
            }
            (None, None) => None,
        };
        let Some((upstream, field, own)) = found else {
            return Err(ErrorData::invalid_params("there is nothing of this name", None));
        };
        if let Some(named) = params.get_mut("ref").and_then(Value::as_object_mut) {
            named.insert(field.to_owned(), own.into());
        }
        let asked = Asked {
            method: "completion/complete",
            name: "completion.complete",
            title: "Complete",
            describe: "Complete what is typed for something".to_owned(),
            params,
            looks: true,
        };
        understood(asked.ask(&upstream, session, None).await?)
    }

    async fn log_from(&self, level: &str) {
        let asked = self.servers.all.iter().filter_map(|upstream| upstream.client());
        // Servers with a handshake say what they like; what is not wanted is left out here.
        let modern = |client: &Client| client.about().era == Era::Modern;
        let asked = asked.filter(modern).map(async |client| {
            let mut params = Map::new();
            params.insert("level".to_owned(), level.into());
            // A server that does not want to is no failure of the client's.
            client.request("logging/setLevel", params, Exchange::new(LISTING)).await.ok();
        });
        join_all(asked).await;
    }

    fn changes(&self) -> Option<broadcast::Receiver<OfferChange>> {
        Some(self.servers.shared.changes.subscribe())
    }
}
