//! A call whose arguments were parsed and checked.

use std::future::Future;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use toolgate_policy::{Access, Effect, PathFact, Risk};

use super::definition::{Annotations, Group};
use crate::bounds::Shape;
use crate::context::{CallContext, Session};
use crate::dialect::Face;
use crate::error::ToolError;
use crate::journal::Footprint;
use crate::preview::Preview;
use crate::reach::Reach;
use crate::result::ToolResult;
use crate::schema::Schema;
use crate::workspace::ResolvedPath;

/// A call whose arguments were parsed and checked: it can describe itself,
/// name what it touches, preview its effect, and then execute.
///
/// The first paragraph of the parameters' doc comment is what a model reads.
pub trait Invocation: Sized + Send + Sync + 'static {
    /// What a model sends.
    type Params: DeserializeOwned + JsonSchema;

    /// The native name.
    const NAME: &'static str;
    /// What people call it.
    const TITLE: &'static str;
    /// What kind of tool it is.
    const GROUP: Group;
    /// What it claims about its effects.
    const ANNOTATIONS: Annotations;
    /// How a long result is cut.
    const SHAPE: Shape = Shape::File;
    /// How many characters of a result are returned.
    const MAX_RESULT_CHARS: usize = 30_000;

    /// Its names and parameters in other dialects.
    fn faces() -> Vec<Face> {
        Vec::new()
    }

    /// The schema of its structured result, if every success has one that fits.
    fn output() -> Option<Schema> {
        None
    }

    /// Whether it is offered in a session at all.
    fn is_enabled(_session: &Session) -> bool {
        true
    }

    /// Checks what a schema cannot express and resolves what is named. Changes nothing.
    ///
    /// # Errors
    ///
    /// What is wrong with the arguments.
    fn prepare(params: Self::Params, context: &CallContext) -> Result<Self, ToolError>;

    /// What it will do, in one line for a person.
    fn describe(&self) -> String;

    /// What it touches: files, addresses, commands. Nothing unless said otherwise.
    fn locations(&self) -> Vec<Location> {
        Vec::new()
    }

    /// Returns the files that decide what it does, such as the script that a command runs. An
    /// approval is bound to their content, and they are looked at once more right before it runs.
    fn inputs(&self, _context: &CallContext) -> Vec<Input> {
        Vec::new()
    }

    /// Returns what else could interfere with it while it runs unconfined, in sentences that a
    /// question about it shows.
    fn interference(&self, _context: &CallContext) -> Vec<String> {
        Vec::new()
    }

    /// What it may change, so that it can be taken back: the files it says it writes or deletes.
    fn footprint(&self, _context: &CallContext) -> Footprint {
        Footprint::of(&self.locations())
    }

    /// Whether this very call changes nothing, where the tool does both.
    fn only_looks(&self) -> bool {
        Self::ANNOTATIONS.read_only
    }

    /// What kind of thing it does when it may reach this far, where that differs from what the
    /// tool claims.
    fn effect(&self, _reach: &Reach) -> Option<Effect> {
        None
    }

    /// How long it may run, where it has a limit of its own.
    fn time_limit(&self) -> Option<Duration> {
        None
    }

    /// How much harm it could do with these arguments.
    fn risk(&self) -> Risk {
        match Self::ANNOTATIONS {
            Annotations { read_only: true, .. } => Risk::Low,
            Annotations { destructive: true, .. } => Risk::High,
            _ => Risk::Medium,
        }
    }

    /// Whether it may run beside other calls.
    fn concurrency(&self) -> Concurrency {
        if self.only_looks() { Concurrency::Safe } else { Concurrency::Exclusive }
    }

    /// What a person should see when asked.
    fn preview(&self, _context: &CallContext) -> Preview {
        Preview::Nothing
    }

    /// Checks, without changing anything, that executing has a chance.
    ///
    /// # Errors
    ///
    /// Why it has none.
    fn can_execute(&self, _context: &CallContext) -> Result<(), ToolError> {
        Ok(())
    }

    /// Does it.
    fn execute(
        self,
        context: &CallContext,
    ) -> impl Future<Output = Result<ToolResult, ToolError>> + Send;
}

/// Whether a call may run beside others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concurrency {
    /// Together with other safe calls.
    Safe,
    /// Alone.
    Exclusive,
}

/// Something a call touches.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Location {
    /// A file or folder.
    Path(PathFact),
    /// An address on the web.
    Url(String),
    /// A command line.
    Command(String),
    /// A program that it runs, by its real path. An approval is bound to its content.
    Program(PathBuf),
}

/// A file that decides what a call does.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Input {
    /// The path that names it.
    pub named: PathBuf,
    /// Its real path.
    pub real: PathBuf,
}

impl Footprint {
    /// The files that are written or deleted.
    pub fn of(locations: &[Location]) -> Self {
        let changed = locations.iter().filter_map(|location| match location {
            Location::Path(fact) if fact.access != Access::Read => Some(fact.resolved.clone()),
            _ => None,
        });
        Self::Files(changed.collect())
    }
}

impl Location {
    /// A resolved path and what is done to it.
    pub fn path(path: &ResolvedPath, access: Access) -> Self {
        Self::Path(path.fact(access))
    }
}
