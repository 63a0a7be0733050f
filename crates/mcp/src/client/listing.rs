//! Everything of a kind a server has, page by page.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::about::Era;
use super::error::ClientError;
use super::exchange::Exchange;
use super::inbox::Purpose;
use super::peer::Peer;

/// Pages that are read, at most.
const PAGES: usize = 500;
/// Things that are kept, at most.
const ITEMS: usize = 20_000;
/// How long a page may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// What a server can list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listed {
    /// Tools.
    Tools,
    /// Resources.
    Resources,
    /// Templates of resources.
    Templates,
    /// Prompts.
    Prompts,
}

impl Listed {
    /// The method, and the name of the list in its result.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Tools => ("tools/list", "tools"),
            Self::Resources => ("resources/list", "resources"),
            Self::Templates => ("resources/templates/list", "resourceTemplates"),
            Self::Prompts => ("prompts/list", "prompts"),
        }
    }

    /// The capability of servers that have some.
    pub(super) fn capability(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources | Self::Templates => "resources",
            Self::Prompts => "prompts",
        }
    }
}

/// All of a kind, as the server wrote them. A list without end is cut off.
pub(super) async fn all(
    peer: &Peer,
    era: Era,
    what: Listed,
    most_bytes: usize,
) -> Result<Vec<Value>, ClientError> {
    let (method, name) = what.words();
    let (mut items, mut bytes) = (Vec::new(), 0);
    let mut seen = HashSet::new();
    let mut cursor: Option<String> = None;
    loop {
        let mut params = Map::new();
        if let Some(cursor) = &cursor {
            params.insert("cursor".to_owned(), json!(cursor));
        }
        let exchange = Exchange { most: PATIENCE, ..Exchange::new(PATIENCE) };
        let mut page = match peer.request(method, params, &exchange, (era, Purpose::Upkeep)).await {
            // It has the capability, but none of this kind.
            Err(ClientError::Server { code: -32601, .. }) => return Ok(items),
            other => other?,
        };
        let Some(Value::Array(found)) = page.get_mut(name).map(Value::take) else {
            let why = format!("its answer to `{method}` has no list `{name}`");
            return Err(ClientError::Malformed { why });
        };
        for item in found {
            bytes += item.to_string().len();
            items.push(item);
            if items.len() >= ITEMS || bytes > most_bytes {
                tracing::warn!(method, items = items.len(), "the list is too long and cut off");
                return Ok(items);
            }
        }
        let next = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
        match next {
            Some(next) if seen.len() < PAGES && seen.insert(next.clone()) => cursor = Some(next),
            Some(_) => {
                tracing::warn!(method, "the pages of the list repeat themselves or do not end");
                return Ok(items);
            }
            None => return Ok(items),
        }
    }
}
