//! Other names for the same tools.
//!
//! A model trained on another agent calls `Read` with `file_path`, not
//! `read_file` with `path`. A tool lists its [`Face`]s; a call through one is
//! checked against that face's own schema, then turned into the native call.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::ToolError;
use crate::schema::{self, Schema};

/// A naming of tools and parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// Toolgate's own names: `read_file` with `path`.
    #[default]
    Native,
    /// `Read` with `file_path`.
    Claude,
    /// `readFile` with `path`.
    Camel,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Self; 3] = [Self::Native, Self::Claude, Self::Camel];

    /// The dialect's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Claude => "claude",
            Self::Camel => "camel",
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Dialect {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|dialect| dialect.name() == text).ok_or_else(|| {
            format!("unknown dialect `{text}`, expected one of: native, claude, camel")
        })
    }
}

type Convert = Arc<dyn Fn(Value) -> Result<Value, ToolError> + Send + Sync>;

/// A tool's name and parameters in one dialect.
#[derive(Clone)]
pub struct Face {
    /// The dialect.
    pub dialect: Dialect,
    /// The tool's name in it.
    pub name: &'static str,
    schema: Arc<Schema>,
    /// Native parameter names with the dialect's own, for messages.
    renames: &'static [(&'static str, &'static str)],
    convert: Option<Convert>,
}

impl Face {
    /// A face with parameters of its own, which turn into the native ones.
    pub fn new<Own, Native>(dialect: Dialect, name: &'static str) -> Self
    where
        Own: DeserializeOwned + JsonSchema + 'static,
        Native: TryFrom<Own, Error = ToolError> + Serialize,
    {
        let convert = |args: Value| {
            let own: Own = schema::parse(args)?;
            let native = Native::try_from(own)?;
            serde_json::to_value(native).map_err(|error| {
                ToolError::invalid(format!("arguments cannot be converted: {error}"))
            })
        };
        Self {
            dialect,
            name,
            schema: Arc::new(Schema::of::<Own>()),
            renames: &[],
            convert: Some(Arc::new(convert)),
        }
    }

    /// A face that differs in the tool's name alone.
    pub fn renamed<Native: JsonSchema + 'static>(dialect: Dialect, name: &'static str) -> Self {
        Self {
            dialect,
            name,
            schema: Arc::new(Schema::of::<Native>()),
            renames: &[],
            convert: None,
        }
    }

    /// The same face, telling messages how it calls native parameters.
    #[must_use]
    pub fn calling(mut self, renames: &'static [(&'static str, &'static str)]) -> Self {
        self.renames = renames;
        self
    }

    /// What this face calls a native parameter.
    pub fn parameter<'a>(&'a self, native: &'a str) -> &'a str {
        let renamed = self.renames.iter().find(|(name, _)| *name == native);
        renamed.map_or(native, |(_, own)| own)
    }

    /// The schema of the face's own parameters.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Checks arguments in the dialect and turns them into native ones.
    pub(crate) fn to_native(&self, args: Value) -> Result<Value, ToolError> {
        match &self.convert {
            None => Ok(args),
            Some(convert) => {
                self.schema.validate(&args)?;
                convert(args)
            }
        }
    }
}

impl fmt::Debug for Face {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { dialect, name, .. } = self;
        formatter
            .debug_struct("Face")
            .field("dialect", dialect)
            .field("name", name)
            .finish_non_exhaustive()
    }
}
