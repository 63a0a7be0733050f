//! `find_tools`: tools of servers, where there are too many to be listed.

use std::fmt;
use std::fmt::Write as _;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolgate_core::context::{CallContext, Session};
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::id::{InvalidToolName, ToolName};
use toolgate_core::result::ToolResult;
use toolgate_core::tool::{Annotations, Definition, DynInvocation, Group, Invocation, Tool, typed};

use super::index::Index;
use super::shared::Shared;

/// How many tools are found unless told otherwise, and at most.
const USUAL: u32 = 5;
const MOST: u32 = 25;

/// Finds tools where there are many. A gate gives it to `find_tools` as a service.
#[derive(Clone)]
pub struct Finder {
    shared: Arc<Shared>,
}

impl Finder {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// The tool that models find others with.
    ///
    /// # Errors
    ///
    /// Never, since the name is one a tool can have.
    pub fn tool(&self) -> Result<Arc<dyn Tool>, InvalidToolName> {
        Ok(Arc::new(FindToolsTool { inner: typed::<FindTools>()?, finder: self.clone() }))
    }

    /// Tools that fit a query, the best first.
    fn find(&self, query: &str, limit: usize) -> Vec<Arc<dyn Tool>> {
        let words: Vec<String> = words(query).collect();
        let tools = self.shared.registry.list();
        let of_servers = tools.into_iter().filter(|tool| tool.definition().origin.is_some());
        let mut found: Vec<(usize, Arc<dyn Tool>)> = of_servers
            .map(|tool| (score(tool.definition(), &words), tool))
            .filter(|(score, _)| *score > 0)
            .collect();
        // Of equally good ones the first by name, as they are listed.
        found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        found.into_iter().take(limit).map(|(_, tool)| tool).collect()
    }

    /// Tells the session of tools from now on.
    fn look_up(&self, tools: &[Arc<dyn Tool>], session: &Session) {
        let names: Vec<ToolName> =
            tools.iter().map(|tool| tool.definition().name.clone()).collect();
        if self.shared.index.is_large() && Index::look_up(&names, session) {
            self.shared.registry.tell_again(&names);
        }
    }

    fn servers(&self) -> String {
        self.shared.servers().join(", ")
    }
}

impl fmt::Debug for Finder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Finder").finish_non_exhaustive()
    }
}

/// The words of a text in lower case, also those that are joined in names.
fn words(text: &str) -> impl Iterator<Item = String> {
    let mut spaced = String::with_capacity(text.len());
    let mut was_small = false;
    for letter in text.chars() {
        if letter.is_uppercase() && was_small {
            spaced.push(' ');
        }
        was_small = letter.is_lowercase() || letter.is_numeric();
        spaced.extend(letter.to_lowercase());
    }
    let pieces = spaced.split(|letter: char| !letter.is_alphanumeric());
    pieces.filter(|word| !word.is_empty()).map(str::to_owned).collect::<Vec<_>>().into_iter()
}

/// How well a tool fits: words in its name count most, then those of its title and of what it does.
fn score(definition: &Definition, wanted: &[String]) -> usize {
    let Some(of) = &definition.origin else { return 0 };
    let fields = [
        (12, words(&of.tool).collect::<Vec<_>>()),
        (6, words(&of.server).collect()),
        (4, words(&definition.title).collect()),
        (2, words(definition.description()).collect()),
        (1, definition.schema.parameters().flat_map(words).collect()),
    ];
    let best = |wanted: &String| {
        let fit = |(weight, words): &(usize, Vec<String>)| {
            let exact = words.iter().any(|word| word == wanted);
            let begins = words.iter().any(|word| word.starts_with(wanted.as_str()));
            match (exact, begins) {
                (true, _) => weight * 2,
                (_, true) => *weight,
                _ => 0,
            }
        };
        fields.iter().map(fit).max().unwrap_or(0)
    };
    wanted.iter().map(best).sum()
}

/// Finds tools of the servers behind this one by what they do, and shows how they are called.
///
/// There are too many to list them all. Search with a few words, then call what is found by its
/// name with arguments that fit its schema.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {
    /// A few words that say what the tool should do, or its name or server
    query: String,
    /// How many tools to show, 5 when left out
    #[schemars(range(min = 1, max = 25))]
    limit: Option<u32>,
}

/// One search for tools.
#[derive(Debug)]
struct FindTools {
    query: String,
    limit: u32,
}

impl Invocation for FindTools {
    type Params = Params;

    const NAME: &'static str = "find_tools";
    const TITLE: &'static str = "Find Tools";
    const GROUP: Group = Group::Meta;
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY;

    fn prepare(params: Params, _context: &CallContext) -> Result<Self, ToolError> {
        if words(&params.query).next().is_none() {
            return Err(ToolError::new(
                ErrorKind::ValidationError,
                "`query` holds no word; say in a few what the tool should do",
            ));
        }
        Ok(Self { limit: params.limit.unwrap_or(USUAL).clamp(1, MOST), query: params.query })
    }

    fn describe(&self) -> String {
        format!("Find tools for `{}`", self.query)
    }

    async fn execute(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        let Some(finder) = context.service::<Finder>() else {
            return Err(ToolError::new(ErrorKind::McpError, "there are no servers here"));
        };
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let found = finder.find(&self.query, limit);
        if found.is_empty() {
            let servers = finder.servers();
            return Ok(ToolResult::text(format!(
                "No tool fits `{}`. Try other words; the servers are: {servers}.",
                self.query
            )));
        }
        finder.look_up(&found, context.session());
        let mut text = String::new();
        for tool in &found {
            let definition = tool.definition();
            let (name, description, schema) =
                (&definition.name, definition.description(), &definition.schema);
            let schema = serde_json::to_string(schema.json()).unwrap_or_default();
            writeln!(text, "## {name}\n{}\narguments: {schema}\n", description.trim()).ok();
        }
        let shown = |tool: &Arc<dyn Tool>| {
            let Definition { name, title, .. } = tool.definition();
            json!({ "name": name, "title": title })
        };
        let structured = json!({ "tools": found.iter().map(shown).collect::<Vec<_>>() });
        let names = found.iter().map(|tool| tool.definition().name.as_str());
        let display = format!("Found {}", names.collect::<Vec<_>>().join(", "));
        let result = ToolResult::text(text.trim_end());
        Ok(result.with_display(display).with_structured(structured))
    }
}

/// `find_tools`, told of where there are many tools.
#[derive(Debug)]
struct FindToolsTool {
    inner: Arc<dyn Tool>,
    finder: Finder,
}

impl Tool for FindToolsTool {
    fn definition(&self) -> &Definition {
        self.inner.definition()
    }

    fn is_listed(&self, _session: &Session) -> bool {
        self.finder.shared.index.is_large()
    }

    fn prepare(
        &self,
        args: Value,
        context: &CallContext,
    ) -> Result<Box<dyn DynInvocation>, ToolError> {
        self.inner.prepare(args, context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<String> {
        words(text).collect()
    }

    #[test]
    fn words_of_names_are_words() {
        assert_eq!(split("getIssue_comments"), ["get", "issue", "comments"]);
        assert_eq!(split("list-all.files2x HTTP"), ["list", "all", "files2x", "http"]);
        assert_eq!(split(" __ "), [""; 0]);
    }
}
