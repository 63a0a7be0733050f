//! What a tool says about itself once.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolgate_policy::Effect;
use toolgate_policy::facts::Hints;

use crate::bounds::Shape;
use crate::dialect::{Dialect, Face};
use crate::id::ToolName;
use crate::schema::Schema;

/// What a tool says about itself once, for registries, models and people.
#[derive(Debug, Clone)]
pub struct Definition {
    /// Its native name.
    pub name: ToolName,
    /// What people call it.
    pub title: String,
    /// What a model reads, where that is not the description of its schema.
    pub described: Option<String>,
    /// What kind of tool it is.
    pub group: Group,
    /// What it claims about its effects.
    pub annotations: Annotations,
    /// How a long result is cut.
    pub shape: Shape,
    /// How many characters of a result are returned.
    pub max_result_chars: usize,
    /// The schema of its parameters.
    pub schema: Arc<Schema>,
    /// The schema of its structured result, if it promises one.
    pub output: Option<Arc<Schema>>,
    /// Its names in other dialects.
    pub faces: Vec<Face>,
    /// The server it came from, if it came from one.
    pub origin: Option<ServerTool>,
}

/// A tool of another server. This, and not its name, says whose it is.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerTool {
    /// The server.
    pub server: String,
    /// What the server calls the tool.
    pub tool: String,
    /// The tool as clients are told of it, but for its name.
    pub listed: Value,
}

impl Definition {
    /// What a model reads.
    pub fn description(&self) -> &str {
        self.described.as_deref().unwrap_or_else(|| self.schema.description())
    }

    /// The tool's face in a dialect, if it has one of its own.
    pub fn face(&self, dialect: Dialect) -> Option<&Face> {
        self.faces.iter().find(|face| face.dialect == dialect)
    }

    /// The tool's name in a dialect.
    pub fn name_in(&self, dialect: Dialect) -> &str {
        self.face(dialect).map_or(self.name.as_str(), |face| face.name)
    }

    /// The schema of the tool's parameters in a dialect.
    pub fn schema_in(&self, dialect: Dialect) -> &Schema {
        self.face(dialect).map_or(&*self.schema, Face::schema)
    }
}

/// What kind of tool it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Group {
    Search,
    Edit,
    Exec,
    Web,
    Memory,
    Goal,
    Subtask,
    Meta,
}

impl Group {
    /// Every group.
    pub const ALL: [Self; 8] = [
        Self::Search,
        Self::Edit,
        Self::Exec,
        Self::Web,
        Self::Memory,
        Self::Goal,
        Self::Subtask,
        Self::Meta,
    ];

    /// The group's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Edit => "edit",
            Self::Exec => "exec",
            Self::Web => "web",
            Self::Memory => "memory",
            Self::Goal => "goal",
            Self::Subtask => "subtask",
            Self::Meta => "meta",
        }
    }
}

impl fmt::Display for Group {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Group {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|group| group.name() == text).ok_or_else(|| {
            let known = Self::ALL.map(Self::name).join(", ");
            format!("unknown group `{text}`, expected one of: {known}")
        })
    }
}

/// What a tool claims about its effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "these are MCP's four hints, by name")]
pub struct Annotations {
    /// Changes nothing.
    pub read_only: bool,
    /// May destroy something.
    pub destructive: bool,
    /// Doing it twice is doing it once.
    pub idempotent: bool,
    /// Reaches beyond this machine.
    pub open_world: bool,
}

impl Annotations {
    /// Looks, and changes nothing.
    pub const READ_ONLY: Self =
        Self { read_only: true, destructive: false, idempotent: true, open_world: false };

    /// Changes something in a way that can be taken back.
    pub const CHANGES: Self =
        Self { read_only: false, destructive: false, idempotent: false, open_world: false };

    /// Changes something in a way that may lose what was there.
    pub const DESTROYS: Self = Self { destructive: true, ..Self::CHANGES };

    /// What else the policy may know about the tool.
    pub fn hints(self) -> Hints {
        Hints {
            destructive: Some(self.destructive),
            idempotent: Some(self.idempotent),
            open_world: Some(self.open_world),
        }
    }

    /// What kind of effect the policy should assume.
    pub fn effect(self, group: Group) -> Effect {
        match (self.read_only, group) {
            (true, _) => Effect::Read,
            (false, Group::Edit) if !self.destructive => Effect::Edit,
            _ => Effect::Change,
        }
    }
}
