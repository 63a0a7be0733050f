//! Goals, one of them active, with the checkpoints and decisions on the way.

use std::fmt;
use std::path::Path;
use std::time::SystemTime;

use serde::Serialize;

use super::fault::KeepingError;
use crate::context::Session;

/// Keeps goals. In each workspace one is active at most.
pub trait Goals: fmt::Debug + Send + Sync {
    /// Adds a goal. It becomes the active one when there is none, or when that is asked for; then
    /// the one before is paused.
    ///
    /// # Errors
    ///
    /// When there are too many, or it cannot be written down.
    fn create(&self, session: &Session, goal: NewGoal) -> Result<Started, GoalFault>;

    /// Makes a goal the active one.
    ///
    /// # Errors
    ///
    /// When there is no such goal, it is completed, or that cannot be written down.
    fn switch(&self, workspace: &Path, goal: GoalId) -> Result<Started, GoalFault>;

    /// Marks a goal as reached, the active one when none is named.
    ///
    /// # Errors
    ///
    /// When there is no such goal, it is completed already, or that cannot be written down.
    fn complete(
        &self,
        workspace: &Path,
        goal: Option<GoalId>,
        summary: Option<&str>,
    ) -> Result<Goal, GoalFault>;

    /// Names this point on the way to the active goal, and in the history of files, so that an
    /// undo can go back to it.
    ///
    /// # Errors
    ///
    /// When no goal is active, the name is taken, or it cannot be written down.
    fn checkpoint(
        &self,
        workspace: &Path,
        name: &str,
        description: Option<&str>,
    ) -> Result<(Goal, Checkpoint), GoalFault>;

    /// Writes down a decision on the way to the active goal. It counts as reasoning, too.
    ///
    /// # Errors
    ///
    /// When no goal is active, or it cannot be written down.
    fn decide(
        &self,
        session: &Session,
        decision: &str,
        rationale: Option<&str>,
        alternatives: &[String],
    ) -> Result<(Goal, Decision), GoalFault>;

    /// Every goal of a workspace: the active one, those paused, those completed; of each kind the
    /// newest first.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    fn list(&self, workspace: &Path) -> Result<Vec<Goal>, KeepingError>;

    /// The checkpoints on the way to a goal, the oldest first.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    fn checkpoints(&self, goal: GoalId) -> Result<Vec<Checkpoint>, KeepingError>;

    /// The decisions on the way to a goal, the oldest first.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    fn decisions(&self, goal: GoalId) -> Result<Vec<Decision>, KeepingError>;
}

/// Identifies a goal, written `goal-3`. No number is used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GoalId(pub i64);

impl GoalId {
    /// The id that a text is, if it is one.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("goal-")?;
        digits.parse().ok().filter(|number: &i64| number.to_string() == digits).map(Self)
    }
}

impl fmt::Display for GoalId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "goal-{}", self.0)
    }
}

impl Serialize for GoalId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Whether a goal is worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GoalStatus {
    /// It is.
    Active,
    /// Not now.
    Paused,
    /// It is reached.
    Completed,
}

impl GoalStatus {
    /// Every status.
    pub const ALL: [Self; 3] = [Self::Active, Self::Paused, Self::Completed];

    /// The status in a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Completed => "completed",
        }
    }
}

/// A goal that is to be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewGoal {
    /// What it is called.
    pub title: String,
    /// What it is about.
    pub description: Option<String>,
    /// How to tell that it is reached.
    pub criteria: Vec<String>,
    /// Whether it is to be the active one whatever else is.
    pub activate: bool,
}

/// A goal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Goal {
    /// Its id.
    pub id: GoalId,
    /// What it is called.
    pub title: String,
    /// What it is about.
    pub description: Option<String>,
    /// How to tell that it is reached.
    pub criteria: Vec<String>,
    /// Whether it is worked on.
    pub status: GoalStatus,
    /// How it was reached.
    pub summary: Option<String>,
    /// When it was added.
    pub created: SystemTime,
    /// When its status last changed.
    pub changed: SystemTime,
}

/// A goal that was added or switched to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Started {
    /// The goal.
    pub goal: Goal,
    /// The one that is paused because of it.
    pub paused: Option<Goal>,
    /// The active one, when it is another.
    pub active: Option<Goal>,
}

/// A named point on the way to a goal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its name, by which an undo goes back to it.
    pub name: String,
    /// What it stands for.
    pub description: Option<String>,
    /// When it was set.
    pub at: SystemTime,
}

/// A decision on the way to a goal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// What was decided.
    pub decision: String,
    /// Why.
    pub rationale: Option<String>,
    /// What else could have been.
    pub alternatives: Vec<String>,
    /// When.
    pub at: SystemTime,
}

/// Why goals could not be changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GoalFault {
    /// No goal of this workspace has this id.
    #[error("there is no goal `{0}` in this workspace")]
    NoSuch(GoalId),
    /// It is completed.
    #[error("{id} is completed; create another goal if there is more to do")]
    Completed {
        /// The goal.
        id: GoalId,
    },
    /// There is no active goal.
    #[error("no goal is active; create one with `create_goal`, or take one up with `switch_goal`")]
    NoneActive,
    /// There is a checkpoint of this name.
    #[error("there is a checkpoint `{name}` already in this workspace; choose another name")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// There is no room for more.
    #[error("there are {most} {what} already, which is the most; {next}")]
    Full {
        /// How many there can be.
        most: u32,
        /// Of what.
        what: &'static str,
        /// What to do.
        next: &'static str,
    },
    /// The goals could not be read or written.
    #[error(transparent)]
    Keeping(#[from] KeepingError),
}
