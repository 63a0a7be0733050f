//! Names of tools, and patterns over them.
//!
//! A tool of an MCP server is known by the server it came from: its name is
//! `mcp__SERVER__TOOL`, and a name that could be split in two ways is refused
//! rather than guessed at.

use std::fmt;

use crate::decision::Decision;
use crate::wildcard::Wildcard;

const MCP: &str = "mcp__";
const SEPARATOR: &str = "__";

/// The name of a tool, split into server and tool where it comes from an MCP server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ToolName {
    full: String,
    /// Where the server's name ends.
    server: Option<usize>,
    is_ambiguous: bool,
}

impl ToolName {
    /// Reads a name. One that could belong to two servers is kept, and said to be ambiguous.
    pub fn new(full: impl Into<String>) -> Self {
        let full = full.into();
        let Some(rest) = full.strip_prefix(MCP) else {
            return Self { full, server: None, is_ambiguous: false };
        };
        let (server, is_ambiguous) = match rest.split_once(SEPARATOR) {
            Some((server, tool)) => (server, !is_plain(server) || !is_plain(tool)),
            None => (rest, true),
        };
        let server = Some(MCP.len() + server.len());
        Self { full, server, is_ambiguous }
    }

    /// The name of a server's tool, which is known to be that server's.
    pub fn of_server(server: &str, tool: &str) -> Self {
        let full = format!("{MCP}{server}{SEPARATOR}{tool}");
        let is_ambiguous = !is_plain(server) || !is_plain(tool);
        Self { full, server: Some(MCP.len() + server.len()), is_ambiguous }
    }

    /// The whole name.
    pub fn as_str(&self) -> &str {
        &self.full
    }

    /// The MCP server the tool came from.
    pub fn server(&self) -> Option<&str> {
        self.server.and_then(|end| self.full.get(MCP.len()..end))
    }

    /// The tool's name at its server, or its whole name.
    pub fn own(&self) -> &str {
        let start = self.server.map_or(0, |end| end + SEPARATOR.len());
        self.full.get(start..).unwrap_or_default()
    }

    /// Whether the name could mean the tools of two servers.
    pub fn is_ambiguous(&self) -> bool {
        self.is_ambiguous
    }
}

/// Whether a part of a name cannot be confused with the separator around it.
pub fn is_plain(part: &str) -> bool {
    let odd = |letter: char| letter.is_whitespace() || letter.is_control();
    let on_edge = part.starts_with('_') || part.ends_with('_');
    !part.is_empty() && !part.contains(SEPARATOR) && !part.contains(odd) && !on_edge
}

impl fmt::Display for ToolName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.full)
    }
}

/// Tools that look at files by path.
pub const READING: &[&str] = &["read_file", "read_many_files", "glob", "grep", "ls", "lsp"];
/// Tools that change files by path.
pub const EDITING: &[&str] = &["write_file", "edit_file", "notebook_edit"];
/// Tools that take files away: a rule against editing is a rule against this, too.
pub const REMOVING: &[&str] = &["delete_file"];

/// Which tools a rule is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolPattern {
    /// Every tool.
    Any,
    /// One tool of our own.
    Exact(String),
    /// Tools of our own by a pattern.
    Wild(Wildcard),
    /// Whatever looks at files: the permission `Read`.
    Reading,
    /// Whatever changes files: the permission `Edit`.
    Editing,
    /// Tools of MCP servers.
    Server {
        /// The servers.
        server: Wildcard,
        /// Their tools.
        tool: Wildcard,
    },
}

/// Why a pattern over tools makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolPatternError {
    /// Nothing there.
    #[error("a tool name cannot be empty")]
    Empty,
    /// Could be split in two ways.
    #[error("`{0}` could mean the tools of two servers: expected `mcp__SERVER__TOOL`")]
    Ambiguous(String),
}

impl ToolPattern {
    /// Reads `shell`, `read_*`, `*`, `mcp__server`, `mcp__server__*` or `mcp__*__tool`.
    pub fn parse(text: &str) -> Result<Self, ToolPatternError> {
        if text.is_empty() {
            return Err(ToolPatternError::Empty);
        }
        if text == "*" {
            return Ok(Self::Any);
        }
        let Some(rest) = text.strip_prefix(MCP) else {
            return Ok(if text.contains('*') {
                Self::Wild(Wildcard::new(text))
            } else {
                Self::Exact(text.to_owned())
            });
        };
        let (server, tool) = rest.split_once(SEPARATOR).unwrap_or((rest, "*"));
        if !is_plain_or_star(server) || !is_plain_or_star(tool) {
            return Err(ToolPatternError::Ambiguous(text.to_owned()));
        }
        Ok(Self::Server { server: Wildcard::new(server), tool: Wildcard::new(tool) })
    }

    /// Every tool of one MCP server.
    pub fn server(name: &str) -> Result<Self, ToolPatternError> {
        Self::parse(&format!("{MCP}{name}"))
    }

    /// Whether the pattern covers a tool. Rules that restrict cover a little more.
    pub fn matches(&self, tool: &ToolName, decision: Decision) -> bool {
        let (server, own) = (tool.server(), tool.own());
        match self {
            Self::Any => true,
            Self::Exact(name) => server.is_none() && name == own,
            Self::Wild(pattern) => server.is_none() && pattern.matches(own),
            Self::Reading => server.is_none() && READING.contains(&own),
            Self::Editing => {
                let restricts = decision != Decision::Allow && REMOVING.contains(&own);
                server.is_none() && (EDITING.contains(&own) || restricts)
            }
            Self::Server { server: servers, tool: tools } => {
                server.is_some_and(|server| servers.matches(server)) && tools.matches(own)
            }
        }
    }

    /// How narrow the pattern is; on a tie of priorities the narrower rule wins.
    pub fn specificity(&self) -> Specificity {
        match self {
            Self::Any => Specificity::Any,
            Self::Exact(_) => Specificity::Exact,
            Self::Reading | Self::Editing => Specificity::Group,
            Self::Wild(_) => Specificity::Wild,
            Self::Server { server, tool } => {
                if server.is_literal() && tool.is_literal() {
                    Specificity::Exact
                } else {
                    Specificity::Wild
                }
            }
        }
    }
}

fn is_plain_or_star(part: &str) -> bool {
    part == "*" || is_plain(part)
}

/// How narrow a pattern over tools is. Later variants are narrower.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Specificity {
    /// Everything.
    Any,
    /// Names by a pattern.
    Wild,
    /// A fixed group of tools.
    Group,
    /// One tool.
    Exact,
}

impl fmt::Display for ToolPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => formatter.write_str("*"),
            Self::Exact(name) => formatter.write_str(name),
            Self::Wild(pattern) => write!(formatter, "{pattern}"),
            Self::Reading => formatter.write_str("Read"),
            Self::Editing => formatter.write_str("Edit"),
            Self::Server { server, tool } => write!(formatter, "{MCP}{server}{SEPARATOR}{tool}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(pattern: &str, tool: &str) -> bool {
        ToolPattern::parse(pattern).unwrap().matches(&ToolName::new(tool), Decision::Allow)
    }

    #[test]
    fn a_rule_for_one_server_never_covers_another() {
        assert!(covers("mcp__github__*", "mcp__github__search"));
        assert!(covers("mcp__github", "mcp__github__search"));
        assert!(covers("mcp__*__read", "mcp__files__read"));
        assert!(!covers("mcp__github__*", "mcp__github_evil__search"));
        assert!(!covers("mcp__*__read", "mcp__files__read_all"));
        assert!(!covers("read_file", "mcp__evil__read_file"));
        assert!(!covers("read_*", "mcp__evil__read_file"));
    }

    #[test]
    fn a_tool_known_to_be_a_servers_is_that_servers() {
        let name = ToolName::of_server("github", "get_issue");
        assert_eq!(name, ToolName::new("mcp__github__get_issue"));
        assert!(ToolName::of_server("github", "a__b").is_ambiguous());
        assert!(ToolName::of_server("a__b", "get").is_ambiguous());
    }

    #[test]
    fn names_that_could_be_split_in_two_ways_are_ambiguous() {
        for name in ["mcp__evil__github__search", "mcp__github___status", "mcp__x", "mcp____x"] {
            assert!(ToolName::new(name).is_ambiguous(), "{name}");
        }
        assert!(!ToolName::new("mcp__my-server__do.it").is_ambiguous());
        assert!(ToolPattern::parse("mcp__a__b__c").is_err());
    }

    #[test]
    fn restricting_edits_restricts_removal() {
        let removal = ToolName::new("delete_file");
        assert!(ToolPattern::Editing.matches(&removal, Decision::Deny));
        assert!(!ToolPattern::Editing.matches(&removal, Decision::Allow));
    }
}
