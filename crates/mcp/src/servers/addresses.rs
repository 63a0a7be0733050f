//! Whose resource an address is.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use super::explicit::{PREFIX, of_server};
use super::upstream::Upstream;

/// Where the address of a listed thing stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Address {
    /// A resource's.
    Resource,
    /// One with gaps.
    Template,
}

impl Address {
    fn field(self) -> &'static str {
        match self {
            Self::Resource => "uri",
            Self::Template => "uriTemplate",
        }
    }
}

type Lists = [(Arc<Upstream>, Vec<Value>)];

/// Everything listed as clients are told of it. An address that two servers have says whose it is,
/// so that none stands in for another's.
pub(super) fn told(lists: &Lists, what: Address) -> Vec<Value> {
    let field = what.field();
    let address = |item: &Value| item.get(field).and_then(Value::as_str).map(str::to_owned);
    let mut owners: HashMap<String, usize> = HashMap::new();
    for item in lists.iter().flat_map(|(_, items)| items) {
        *owners.entry(address(item).unwrap_or_default()).or_default() += 1;
    }
    let told = lists.iter().flat_map(|(upstream, items)| {
        let server = upstream.entry().name.as_str();
        let owners = &owners;
        items.iter().filter_map(move |item| {
            let own = address(item)?;
            let mut item = item.clone();
            if owners.get(&own).is_some_and(|owners| *owners > 1) || own.starts_with(PREFIX) {
                let explicit = of_server(server, &own);
                item.as_object_mut()?.insert(field.to_owned(), explicit.into());
            }
            Some(item)
        })
    });
    told.collect()
}

/// The server that has a resource, if one alone has it.
pub(super) fn sole_owner(lists: &Lists, uri: &str) -> Option<Arc<Upstream>> {
    let has = |items: &[Value]| {
        items.iter().any(|item| item.get("uri").and_then(Value::as_str) == Some(uri))
    };
    let mut owners = lists.iter().filter(|(_, items)| has(items));
    match (owners.next(), owners.next()) {
        (Some((owner, _)), None) => Some(Arc::clone(owner)),
        _ => None,
    }
}

/// The server with a template that an address fits, or is, if one alone has it.
pub(super) fn by_template(lists: &Lists, uri: &str) -> Option<Arc<Upstream>> {
    let has = |items: &[Value]| {
        let templates = items.iter().filter_map(|item| item.get("uriTemplate")?.as_str());
        templates.into_iter().any(|template| template == uri || fits(template, uri))
    };
    let mut owners = lists.iter().filter(|(_, items)| has(items));
    match (owners.next(), owners.next()) {
        (Some((owner, _)), None) => Some(Arc::clone(owner)),
        _ => None,
    }
}

/// Whether an address could be made of a template: what stands between its gaps is in it, in order.
fn fits(template: &str, uri: &str) -> bool {
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        pieces.push(before);
        rest = after.split_once('}').map_or("", |(_, after)| after);
    }
    let Some((first, middle)) = pieces.split_first() else { return template == uri };
    let Some(mut left) = uri.strip_prefix(*first) else { return false };
    for piece in middle {
        let Some(at) = left.find(piece) else { return false };
        left = left.get(at + piece.len()..).unwrap_or_default();
    }
    left.ends_with(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_fits_the_template_it_is_made_of() {
        assert!(fits("file:///{path}", "file:///a/b"));
        assert!(fits("db://{table}/{id}/row", "db://users/7/row"));
        assert!(fits("a:{x}", "a:"));
        assert!(!fits("a:{x}/end", "a:b"));
        assert!(!fits("a:{x}", "b:1"));
        assert!(fits("a:b", "a:b"));
        assert!(!fits("a:b", "a:bc"));
    }
}
