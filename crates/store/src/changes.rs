//! Everything about changes in one place: keep them, take them back, look at them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use jiff::Timestamp;
use serde::de::IntoDeserializer;
use serde::{Deserialize as _, Serialize};
use serde_json::json;
use toolgate_core::id::{CallId, SessionId};
use toolgate_core::ledger::{Durability, Entry, EntryKind, Ledger, RecordError};

use crate::archive::{Archive, KeepError, now};
use crate::history::{Differences, PastChange, history};
use crate::journal::{FileJournal, end, recover};
use crate::prune::{PruneLimits, Pruned, prune};
use crate::records::{
    ChangeRow, CheckpointRow, Footing, NewWatch, WatchRow, checkpoints, insert_watch, mark_undone,
    newest_watch, save_changes, save_checkpoint, tool_of,
};
use crate::undo::{
    Plan, Refusal, Step, Taken, UndoError, UndoRequest, Undone, apply, plan, select,
};

/// What calls changed, kept in a state folder that several processes may share.
///
/// ```
/// use toolgate_core::id::{CallId, SessionId};
/// use toolgate_core::journal::{Footprint, Journal as _, Watch};
/// use toolgate_core::ledger::NoLedger;
/// use toolgate_store::{ChangeStore, Force, Target, UndoRequest};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let folder = tempfile::tempdir()?;
/// let workspace = folder.path().canonicalize()?;
/// let file = workspace.join("notes.txt");
/// std::fs::write(&file, "old")?;
///
/// let state = tempfile::tempdir()?;
/// let changes = ChangeStore::open(state.path())?;
/// let watching = changes
///     .journal(vec![workspace.clone()])
///     .before(Watch {
///         call: CallId::generate(),
///         session: SessionId::generate(),
///         footprint: Footprint::Files(vec![file.clone()]),
///     })
///     .await?;
/// std::fs::write(&file, "new")?;
/// assert_eq!(watching.after().await?.files.len(), 1);
///
/// let request =
///     UndoRequest { target: Target::Last, roots: vec![workspace], force: Force::Never };
/// changes.undo(&request, &NoLedger).await?;
/// assert_eq!(std::fs::read_to_string(&file)?, "old");
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct ChangeStore {
    archive: Arc<Archive>,
}

/// A named point between calls of a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Checkpoint {
    /// Its name.
    pub name: String,
    /// When it was set.
    pub at: Timestamp,
}

impl ChangeStore {
    /// Opens what is kept in a state folder, making it where it is missing.
    pub fn open(state: &Path) -> Result<Self, KeepError> {
        Ok(Self { archive: Arc::new(Archive::open(state)?) })
    }

    /// Opens what is kept in a state folder, if anything is.
    pub fn open_existing(state: &Path) -> Result<Option<Self>, KeepError> {
        if !state.join("snapshots").is_dir() {
            return Ok(None);
        }
        Self::open(state).map(Some)
    }

    /// A journal for the calls in a workspace; real paths of its folders, the main one first.
    pub fn journal(&self, roots: Vec<PathBuf>) -> Arc<FileJournal> {
        Arc::new(FileJournal::of(Arc::clone(&self.archive), roots))
    }

    /// Finds out what calls changed whose process ended before they did; how many there were.
    pub fn recover(&self) -> Result<usize, KeepError> {
        recover(&self.archive)
    }

    /// What an undo would do.
    pub fn preview(&self, request: &UndoRequest) -> Result<Undone, UndoError> {
        recover(&self.archive)?;
        let _lock = self.archive.blobs.lock()?;
        let (calls, plan) = self.checked_plan(request)?;
        Ok(undone(None, self.taken(&calls)?, &plan))
    }

    /// Takes calls back and has that recorded.
    ///
    /// # Errors
    ///
    /// When something stands in the way, nothing is changed, whatever else could be undone.
    pub async fn undo(
        &self,
        request: &UndoRequest,
        ledger: &dyn Ledger,
    ) -> Result<Undone, UndoError> {
        let this = self.clone();
        let wanted = request.clone();
        let (calls, plan) = blocking(move || {
            recover(&this.archive)?;
            let _lock = this.archive.blobs.lock()?;
            this.checked_plan(&wanted)
        })
        .await?;
        let taken = self.taken(&calls)?;
        let id = CallId::generate();
        if plan.steps.is_empty() {
            return Ok(undone(None, taken, &plan));
        }
        let session = session_of(&calls);
        let of: Vec<&CallId> = calls.iter().map(|row| &row.call).collect();
        let files: Vec<String> =
            plan.steps.iter().map(|step| step.path.to_string_lossy().into_owned()).collect();
        let body = json!({ "of": of, "files": files });
        ledger.commit(vec![entry(&session, &id, body)], Durability::Power).await?;
        let done = blocking({
            let (this, calls, plan, id) = (self.clone(), calls.clone(), plan, id.clone());
            move || this.carry_out(&calls, plan, &id)
        })
        .await;
        match done {
            Ok(plan) => Ok(undone(Some(id), taken, &plan)),
            Err(error) => {
                let body = json!({ "of": of, "files": [], "error": error.to_string() });
                ledger.commit(vec![entry(&session, &id, body)], Durability::Process).await?;
                Err(error)
            }
        }
    }

    /// Every change of a file that is kept, oldest first.
    pub fn history(
        &self,
        path: &Path,
        differences: Differences,
    ) -> Result<Vec<PastChange>, KeepError> {
        recover(&self.archive)?;
        history(&self.archive, path, differences)
    }

    /// Names this point in a workspace, over one of the same name.
    pub fn set_checkpoint(&self, root: &Path, name: &str) -> Result<Checkpoint, KeepError> {
        recover(&self.archive)?;
        let row = self.archive.write(|rows| {
            let row =
                CheckpointRow { name: name.to_owned(), watch: newest_watch(rows)?, at: now() };
            save_checkpoint(rows, root, &row)?;
            Ok(row)
        })?;
        Ok(named(row))
    }

    /// The named points of a workspace, newest first.
    pub fn checkpoints(&self, root: &Path) -> Result<Vec<Checkpoint>, KeepError> {
        let rows = self.archive.read(|rows| checkpoints(rows, root))?;
        Ok(rows.into_iter().map(named).collect())
    }

    /// Removes what is too old, and the oldest of what is too much.
    pub fn prune(&self, limits: PruneLimits) -> Result<Pruned, KeepError> {
        prune(&self.archive, limits)
    }

    /// The calls that are meant and what to do, when nothing stands in the way.
    fn checked_plan(&self, request: &UndoRequest) -> Result<(Vec<WatchRow>, Plan), UndoError> {
        let calls = select(&self.archive, request)?;
        let plan = plan(&self.archive, &calls, request.force)?;
        if plan.conflicts.is_empty() {
            return Ok((calls, plan));
        }
        let calls = self.taken(&calls)?;
        Err(UndoError::Refused(Refusal { calls, conflicts: plan.conflicts }))
    }

    /// Writes the undo down as a change, carries it out, and finds out what came of it.
    fn carry_out(
        &self,
        calls: &[WatchRow],
        mut plan: Plan,
        id: &CallId,
    ) -> Result<Plan, UndoError> {
        let watch = {
            let _lock = self.archive.blobs.lock()?;
            let watch = self.write_down(calls, &plan, id)?;
            (watch, apply(&self.archive, &plan.steps))
        };
        let (watch, applied) = watch;
        end(&self.archive, watch, None)?;
        let left = applied?;
        plan.steps.retain(|step| !left.iter().any(|left| left.path == step.path));
        plan.left.extend(left);
        Ok(plan)
    }

    fn write_down(&self, calls: &[WatchRow], plan: &Plan, id: &CallId) -> Result<i64, KeepError> {
        let mut roots: Vec<PathBuf> = Vec::new();
        for root in calls.iter().flat_map(|row| &row.roots) {
            if !roots.contains(root) {
                roots.push(root.clone());
            }
        }
        let rows: Vec<ChangeRow> = plan
            .steps
            .iter()
            .map(|step| ChangeRow {
                path: step.path.clone(),
                before: step.now.clone(),
                after: step.wanted.clone(),
            })
            .collect();
        let new = NewWatch {
            call: id.as_str(),
            session: calls.first().map(|row| row.session.clone()).unwrap_or_default(),
            at: now(),
            roots: &roots,
            footing: &Footing::Files,
            runner: self.archive.run.id(),
            is_undo: true,
        };
        let watch = self.archive.write(|tables| {
            let watch = insert_watch(tables, &new)?;
            save_changes(tables, watch, &rows)?;
            for call in calls {
                mark_undone(tables, call.id, watch)?;
            }
            Ok(watch)
        })?;
        Ok(watch)
    }

    fn taken(&self, calls: &[WatchRow]) -> Result<Vec<Taken>, KeepError> {
        let mut taken = Vec::new();
        for row in calls {
            let tool = if row.is_undo {
                Some("undo".to_owned())
            } else {
                self.archive.read(|rows| tool_of(rows, &row.session, row.call.as_str()))?
            };
            taken.push(Taken {
                call: row.call.clone(),
                session: row.session.clone(),
                at: Timestamp::from_millisecond(row.at).unwrap_or_default(),
                tool,
            });
        }
        Ok(taken)
    }
}

fn undone(id: Option<CallId>, calls: Vec<Taken>, plan: &Plan) -> Undone {
    let files = plan.steps.iter().map(Step::action).collect();
    Undone { id, calls, files, left: plan.left.clone() }
}

fn named(row: CheckpointRow) -> Checkpoint {
    let at = Timestamp::from_millisecond(row.at).unwrap_or_default();
    Checkpoint { name: row.name, at }
}

fn entry(session: &SessionId, id: &CallId, body: serde_json::Value) -> Entry {
    let (session, call) = (session.clone(), Some(id.clone()));
    Entry { at: SystemTime::now(), session, call, kind: EntryKind::Undo, body }
}

/// The session an undo belongs to: that of the newest call.
fn session_of(calls: &[WatchRow]) -> SessionId {
    let text = calls.first().map(|row| row.session.as_str()).unwrap_or_default();
    let read = SessionId::deserialize(
        IntoDeserializer::<serde::de::value::Error>::into_deserializer(text),
    );
    read.unwrap_or_else(|_| SessionId::generate())
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, UndoError> + Send + 'static,
) -> Result<T, UndoError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(RecordError::new(error.to_string()).into()),
    }
}
