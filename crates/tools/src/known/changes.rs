//! Telling a session, once, what became of the files it has read.

use std::fmt;
use std::sync::Arc;

use toolgate_core::attach::Attach;
use toolgate_core::attachment::{Attachment, ChangedFile};
use toolgate_core::context::{Lasts, Session};
use toolgate_core::seen::{SeenFile, SeenFiles, Told};
use toolgate_core::workspace::{FileKind, Follow, ResolvedPath};

use super::look::look;
use super::session::KnownFiles;
use crate::preview;

/// How many files are told about at once.
const MOST_FILES: usize = 20;
/// How many lines of a diff are shown.
const MOST_LINES: usize = 100;
/// How much of a line of a diff is shown.
const MOST_CHARS: usize = 500;

/// Tells sessions what others changed in the files they have read.
///
/// Given to a gate as a service, it adds `changed_files` to results.
#[derive(Default)]
pub struct ChangedFiles {
    store: Option<Arc<dyn SeenFiles>>,
}

impl ChangedFiles {
    /// The same for sessions that go on in other processes, too.
    #[must_use]
    pub fn kept_in(store: Arc<dyn SeenFiles>) -> Self {
        Self { store: Some(store) }
    }

    /// What becomes known to sessions that go on elsewhere.
    fn store(&self, session: &Session) -> Option<&dyn SeenFiles> {
        self.store.as_deref().filter(|_| session.lasts() == Lasts::Joined)
    }
}

impl Attach for ChangedFiles {
    fn may_have_some(&self, session: &Session) -> bool {
        KnownFiles::of(session).is_some_and(|known| known.lock().may_have_news())
    }

    fn attachments(
        &self,
        session: &Session,
        may_read: &dyn Fn(&ResolvedPath) -> bool,
    ) -> Vec<Attachment> {
        let Some(known) = KnownFiles::of(session) else { return Vec::new() };
        let store = self.store(session);
        known.load_once(session, store);
        let due = known.lock().stirred();
        let mut files = Vec::new();
        let mut omitted = 0;
        for seen in due {
            if files.len() == MOST_FILES {
                omitted += 1;
                known.lock().look_next_time(&seen.path);
                continue;
            }
            let Some(news) = News::about(session, &seen) else {
                continue;
            };
            let shown = session.workspace().shown(&seen.path);
            let hidden = seen.outside || !news.file.as_ref().is_some_and(may_read);
            let snippet = news.snippet(&shown, &known, &seen, hidden);
            files.push(ChangedFile { filename: shown, snippet });
            let text = news.text.as_deref().filter(|_| !hidden);
            let told = known.lock().was_told(&seen.path, news.told.clone(), text);
            if let (Some(store), Some(told)) = (store, told) {
                // It would be told once more, which does no harm.
                store.keep(session.id(), &told, text).ok();
            }
        }
        let changed = (!files.is_empty()).then_some(Attachment::ChangedFiles { files, omitted });
        let notice = known.lock().notice.take().map(|text| Attachment::Notice { text });
        changed.into_iter().chain(notice).collect()
    }
}

impl fmt::Debug for ChangedFiles {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ChangedFiles").field("kept", &self.store.is_some()).finish()
    }
}

/// Something about a file that its session was not told yet.
struct News {
    told: Told,
    text: Option<String>,
    /// The file, where it is one.
    file: Option<ResolvedPath>,
    /// What stands there now, when it is no regular file any more.
    gone: Option<FileKind>,
}

impl News {
    /// What there is to tell about a file; nothing when it is what the session was told.
    fn about(session: &Session, seen: &SeenFile) -> Option<Self> {
        let workspace = session.workspace();
        let gone = |kind| {
            let news = Self { told: Told::Gone, text: None, file: None, gone: Some(kind) };
            (seen.told != Told::Gone).then_some(news)
        };
        let Ok(file) = workspace.resolve(&seen.path, Follow::Link) else {
            return gone(FileKind::Missing);
        };
        if file.real() != seen.path {
            return gone(FileKind::Link);
        }
        match file.kind() {
            FileKind::File => {}
            kind => return gone(kind),
        }
        let unchanged = file.version() == Some(seen.version) && !seen.young;
        if unchanged && seen.told == Told::of(seen.hash, seen.version) {
            return None;
        }
        let look = look(workspace, &file).ok()?;
        let told = Told::of(look.hash, look.version);
        (told != seen.told).then_some(Self { told, text: look.text, file: Some(file), gone: None })
    }

    fn snippet(&self, shown: &str, known: &KnownFiles, seen: &SeenFile, hidden: bool) -> String {
        match self.gone {
            Some(FileKind::Missing | FileKind::Unreachable) => "[File deleted]".to_owned(),
            Some(kind) => format!("[File replaced by {}]", kind.noun()),
            None if hidden => "[File changed; read it again to see how]".to_owned(),
            None => match (known.lock().text(&seen.path), &self.text) {
                (Some(before), Some(after)) => bounded(&preview::diff(shown, &before, after)),
                (_, None) if self.text.is_none() => {
                    "[File changed; it is too large or no text]".to_owned()
                }
                _ => "[File changed; read it again to see how]".to_owned(),
            },
        }
    }
}

/// A diff of bounded length.
fn bounded(diff: &str) -> String {
    let total = diff.lines().count();
    let mut short = String::new();
    for line in diff.lines().take(MOST_LINES) {
        let mut letters = line.chars();
        short.extend(letters.by_ref().take(MOST_CHARS));
        if letters.next().is_some() {
            short.push('…');
        }
        short.push('\n');
    }
    if total > MOST_LINES {
        // The note takes the place of the last line, so that the limit holds with it.
        let cut = short.trim_end_matches('\n').rfind('\n').map_or(0, |end| end + 1);
        short.truncate(cut);
        short.push_str(&format!("[{} more lines]\n", total - MOST_LINES + 1));
    }
    short
}
