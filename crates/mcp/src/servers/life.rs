//! The life of a server: connected, listed, and connected again when it dies.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolgate_core::tool::Tool;

use super::listed::{self, Quarantined};
use super::tool::UpstreamTool;
use super::upstream::{State, Upstream};
use crate::client::{Client, Era, Exchange, Listed as Kind};

/// How long a server that died rests before it is started again: this long at first, then
/// doubled.
const FIRST_REST: Duration = Duration::from_secs(1);
const LONGEST_REST: Duration = Duration::from_mins(1);
/// One that lived for so long begins anew.
const HEALTHY: Duration = Duration::from_mins(1);
/// Changes that come closely after each other are looked at once.
const PAUSE: Duration = Duration::from_millis(50);
/// More tools of one server are nobody's.
const MOST_TOOLS: usize = 5_000;

/// Keeps the server running until stopped.
pub(super) async fn live(upstream: Arc<Upstream>, stop: CancellationToken) {
    let mut rest = FIRST_REST;
    loop {
        let begun = Instant::now();
        let Some(ended) = stop.run_until_cancelled(once(&upstream)).await else { break };
        if begun.elapsed() >= HEALTHY {
            rest = FIRST_REST;
        }
        tracing::info!(server = %upstream.entry().name, why = %ended, "a server is down");
        upstream.becomes(State::Down(upstream.entry().veiled(&ended).into()));
        let waited = async {
            tokio::select! {
                () = tokio::time::sleep(rest) => {}
                () = upstream.wanted() => {}
            }
        };
        if stop.run_until_cancelled(waited).await.is_none() {
            break;
        }
        rest = rest.saturating_mul(2).min(LONGEST_REST);
        upstream.becomes(State::Starting);
    }
    let last = upstream.becomes(State::Stopped);
    if let State::Ready(client) = last {
        client.close().await;
    }
}

/// Connects and stays connected as long as that lasts; why it does no longer.
async fn once(upstream: &Arc<Upstream>) -> String {
    let known = upstream.known_era().await;
    let host = Arc::clone(upstream.ears()) as _;
    let client = match Box::pin(Client::connect(&upstream.entry().spec, known, host)).await {
        Ok(client) => client,
        Err(error) => return error.to_string(),
    };
    if known != Some(client.about().era) {
        upstream.learn(client.about().era).await;
    }
    if let Err(why) = list(upstream, &client).await {
        client.close().await;
        return why;
    }
    if client.about().era == Era::Modern && client.about().has("logging") {
        // Such a server says nothing unless it is told from which level on.
        let mut params = Map::new();
        params.insert("level".to_owned(), "info".into());
        client.request("logging/setLevel", params, Exchange::new(PAUSE)).await.ok();
    }
    upstream.becomes(State::Ready(client.clone()));
    upstream.shared().changed_offers(client.about());
    let ended = client.ended();
    let mut ended = std::pin::pin!(ended);
    loop {
        tokio::select! {
            ended = &mut ended => return ended.to_string(),
            () = upstream.ears().tools_changed() => {
                tokio::time::sleep(PAUSE).await;
                if let Err(why) = list(upstream, &client).await {
                    tracing::warn!(server = %upstream.entry().name, %why, "tools could not be listed anew");
                }
            }
        }
    }
}

/// Lists the tools and offers them in place of those from before.
async fn list(upstream: &Arc<Upstream>, client: &Client) -> Result<(), String> {
    let raw = if client.about().has("tools") {
        let limit = upstream.entry().spec.start;
        match tokio::time::timeout(limit, client.list(Kind::Tools)).await {
            Ok(listed) => listed.map_err(|error| error.to_string())?,
            Err(_) => {
                return Err(format!("it did not list its tools within {} s", limit.as_secs()));
            }
        }
    } else {
        Vec::new()
    };
    offer(upstream, &raw);
    Ok(())
}

fn offer(upstream: &Arc<Upstream>, raw: &[Value]) {
    let mut said = HashMap::new();
    let mut quarantined = Vec::new();
    let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
    for raw in raw.iter().take(MOST_TOOLS) {
        let read = listed::read(
            &upstream.entry().name,
            upstream.shared().naming,
            upstream.entry().trust,
            raw,
        );
        let tool = match read {
            Ok(listed) => UpstreamTool::new(listed, Arc::clone(upstream)),
            Err(refused) => {
                quarantined.push(refused);
                continue;
            }
        };
        let name = tool.own_name().to_owned();
        if !upstream.entry().offers(&name) {
            continue;
        }
        if said.contains_key(&name) {
            let why = "the server has two tools of this name".to_owned();
            quarantined.push(Quarantined { tool: name, why });
            continue;
        }
        said.insert(name, Arc::clone(tool.said()));
        tools.push(Arc::new(tool));
    }
    let gone = upstream.shared().replace(upstream.entry().name.as_str(), &tools);
    for (name, taken) in gone {
        said.retain(|own, _| {
            listed::full_name(&upstream.entry().name, upstream.shared().naming, own).ok()
                != Some(name.clone())
        });
        quarantined.push(Quarantined { tool: name.to_string(), why: taken.to_string() });
    }
    for Quarantined { tool, why } in &quarantined {
        tracing::warn!(server = %upstream.entry().name, %tool, %why, "a tool is not offered");
    }
    upstream.says(said, quarantined);
}
