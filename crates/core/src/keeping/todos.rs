//! Lists of things to do.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::fault::KeepingError;
use crate::context::{Lasts, Session};
use crate::id::SessionId;

/// Keeps lists of things to do.
pub trait Todos: fmt::Debug + Send + Sync {
    /// Adds something to do, at the end of the list.
    ///
    /// # Errors
    ///
    /// When the list is full or cannot be written.
    fn add(&self, list: &TodoList, todo: NewTodo) -> Result<Todo, TodoFault>;

    /// Marks something as done; what it is then.
    ///
    /// # Errors
    ///
    /// When there is no such thing, or the list cannot be written.
    fn complete(&self, list: &TodoList, id: TodoId) -> Result<Todo, TodoFault>;

    /// Takes something off the list; what it was.
    ///
    /// # Errors
    ///
    /// When there is no such thing, or the list cannot be written.
    fn remove(&self, list: &TodoList, id: TodoId) -> Result<Todo, TodoFault>;

    /// Makes this the list, in one step. Whatever is on it already keeps its id.
    ///
    /// # Errors
    ///
    /// When there are too many, or the list cannot be written.
    fn replace(&self, list: &TodoList, todos: Vec<NewTodo>) -> Result<Vec<Todo>, TodoFault>;

    /// What is on the list, in its order.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    fn list(&self, list: &TodoList) -> Result<Vec<Todo>, KeepingError>;
}

/// Which list is meant: that of a workspace, or that of a session in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TodoList {
    /// The real path of the workspace's folder.
    pub workspace: PathBuf,
    /// The session, when the list is its own.
    pub session: Option<SessionId>,
}

impl TodoList {
    /// The list of a workspace.
    pub fn of_workspace(workspace: &Path) -> Self {
        Self { workspace: workspace.to_owned(), session: None }
    }

    /// The list a session uses: its own when others can join it by its id, that of the workspace
    /// otherwise, because nobody would find it again.
    pub fn of(session: &Session) -> Self {
        let joined = session.lasts() == Lasts::Joined;
        Self {
            workspace: session.workspace().root().to_owned(),
            session: joined.then(|| session.id().clone()),
        }
    }
}

/// Identifies something to do in its list; no number is used twice there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct TodoId(pub i64);

impl TodoId {
    /// The id that a text is, if it is one.
    pub fn parse(text: &str) -> Option<Self> {
        text.parse().ok().filter(|number: &i64| number.to_string() == text).map(Self)
    }
}

impl fmt::Display for TodoId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, formatter)
    }
}

/// How far something to do is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not begun.
    Pending,
    /// Being done.
    InProgress,
    /// Done.
    Completed,
}

impl TodoStatus {
    /// Every status.
    pub const ALL: [Self; 3] = [Self::Pending, Self::InProgress, Self::Completed];

    /// The status in a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
        }
    }
}

/// Something to do that is to be put on a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTodo {
    /// What to do.
    pub task: String,
    /// How far it is.
    pub status: TodoStatus,
    /// What to call it while it is being done.
    pub active_form: Option<String>,
}

/// Something to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Todo {
    /// Its id.
    pub id: TodoId,
    /// What to do.
    pub task: String,
    /// How far it is.
    pub status: TodoStatus,
    /// What to call it while it is being done.
    pub active_form: Option<String>,
    /// When it was put on the list.
    pub created: SystemTime,
}

/// Why a list could not be changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TodoFault {
    /// Nothing on the list has this id.
    #[error("there is no todo `{0}`")]
    NoSuch(TodoId),
    /// There is no room for more.
    #[error("the list is full: it has room for {most} todos; remove some first")]
    Full {
        /// How many there can be.
        most: u32,
    },
    /// The list could not be read or written.
    #[error(transparent)]
    Keeping(#[from] KeepingError),
}
