//! `glob`: files by pattern, newest first.

mod matches;

use std::mem;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::thread;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_core::bounds::Collector;
use toolgate_core::prelude::*;
use toolgate_core::visible;

use self::matches::{Matches, Part};
use crate::paths;
use crate::pattern::PathGlob;
use crate::tree::{self, Flow, Folder, Found, Visit, WalkOptions};

/// How many bytes of paths that are not shown are written together.
const WRITTEN_AT_ONCE: usize = 256 * 1024;

/// Find files by a glob pattern such as `**/*.rs` or `src/*.{ts,tsx}`, newest first. `*` stays within a directory, `**` crosses directories. Ignored files, `.git` and `node_modules` are skipped.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GlobParams {
    /// Pattern that whole paths must match, relative to the directory.
    pattern: String,
    /// Directory to search. The workspace when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    directory: Option<String>,
    /// How many files to return at most. All when left out.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    max_results: Option<u64>,
    /// Include files and directories whose name starts with a dot.
    #[serde(skip_serializing_if = "Option::is_none")]
    include_hidden: Option<bool>,
}

/// Parameters of `Glob`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ClaudeGlob {
    /// Pattern that whole paths must match, relative to the path.
    pattern: String,
    /// Directory to search. The workspace when left out.
    path: Option<String>,
}

impl TryFrom<ClaudeGlob> for GlobParams {
    type Error = ToolError;

    fn try_from(glob: ClaudeGlob) -> Result<Self, ToolError> {
        Ok(Self {
            pattern: glob.pattern,
            directory: glob.path,
            max_results: None,
            include_hidden: None,
        })
    }
}

/// A `glob` call, checked and resolved.
#[derive(Debug)]
pub struct Glob {
    directory: ResolvedPath,
    shown: String,
    pattern: Pattern,
    max_results: Option<usize>,
    include_hidden: bool,
}

impl Invocation for Glob {
    type Params = GlobParams;
    const NAME: &'static str = "glob";
    const TITLE: &'static str = "Find Files";
    const GROUP: Group = Group::Search;
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY;
    const SHAPE: Shape = Shape::Listing;

    fn faces() -> Vec<Face> {
        vec![
            Face::new::<ClaudeGlob, GlobParams>(Dialect::Claude, "Glob")
                .calling(&[("directory", "path")]),
            Face::renamed::<GlobParams>(Dialect::Camel, "glob"),
        ]
    }

    fn prepare(params: GlobParams, context: &CallContext) -> Result<Self, ToolError> {
        let (base, pattern) = split_base(&params.pattern);
        let directory = match (params.directory, base) {
            (directory, None) => directory.unwrap_or_else(|| ".".to_owned()),
            (None, Some(base)) => base,
            (Some(directory), Some(base)) => {
                Path::new(&directory).join(base).to_string_lossy().into_owned()
            }
        };
        let directory = paths::resolve(context, &directory, ErrorKind::GlobError)?;
        Ok(Self {
            shown: context.workspace().shown(directory.requested()),
            pattern: Pattern::new(pattern, directory.real())?,
            directory,
            max_results: params.max_results.map(|most| usize::try_from(most).unwrap_or(usize::MAX)),
            include_hidden: params.include_hidden.unwrap_or(false),
        })
    }

    fn describe(&self) -> String {
        match self.shown.as_str() {
            "." => format!("Find files matching {}", self.pattern.text),
            shown => format!("Find files matching {} in {shown}", self.pattern.text),
        }
    }

    fn locations(&self) -> Vec<Location> {
        vec![Location::path(&self.directory, Access::Read)]
    }

    async fn execute(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        context.blocking(move |context| self.find(context)).await
    }
}

impl Glob {
    fn find(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        let folder = paths::open_folder(context, &self.directory, ErrorKind::GlobError)?;
        let (parts, unread) = self.gather::<Part>(folder, context)?;
        let matches = Matches::merge(parts);
        let total = matches.len();
        let shown = self.max_results.unwrap_or(total).min(total);
        let mut collector = context.collector();
        // Paths are shown from the workspace, so that they can be used as they are.
        let mut line = match context.workspace().shown(self.directory.real()) {
            root if root == "." => String::new(),
            root if root.ends_with('/') => root,
            below => below + "/",
        };
        let prefix = line.len();
        let mut paths = matches.paths().take(shown);
        for path in paths.by_ref() {
            line.truncate(prefix);
            push_line(&mut line, path);
            collector.item(&line);
            if collector.is_full() {
                break;
            }
        }
        write_rest(&mut collector, line.get(..prefix).unwrap_or_default(), paths);
        if total == 0 {
            collector.push(&self.nothing_found());
        }
        if total > shown {
            collector.push(&format!(
                "\n[{} more files match; raise `maxResults` to see them]\n",
                total - shown
            ));
        }
        if unread > 0 {
            collector.push(&format!("\n[{unread} folders could not be read]\n"));
        }
        let display = match total - shown {
            0 => format!("Found {total} files"),
            _ => format!("Found {total} files (showing the newest {shown})"),
        };
        Ok(ToolResult::bounded(collector.finish())
            .with_display(display)
            .with_structured(json!({ "files": total, "shown": shown })))
    }

    /// Walks the folder; gives back what each thread gathered, and how many folders were unread.
    fn gather<G: Gather>(
        &self,
        folder: Folder,
        context: &CallContext,
    ) -> Result<(Vec<G>, usize), ToolError> {
        let stop = AtomicBool::new(false);
        let options = WalkOptions { include_hidden: self.include_hidden };
        let (finders, unread) = tree::walk(folder, options, &stop, || Finder {
            pattern: &self.pattern,
            context,
            seen: 0,
            gathered: G::default(),
        });
        context.check()?;
        Ok((finders.into_iter().map(|finder| finder.gathered).collect(), unread.folders))
    }

    fn nothing_found(&self) -> String {
        let text = &self.pattern.text;
        let mut message = format!("No file matches `{}` in `{}`.", visible::line(text), self.shown);
        if !text.contains('/') {
            message.push_str(&format!(
                " To look in subdirectories too, use `**/{}`.",
                visible::line(text)
            ));
        } else if !self.include_hidden && (text.starts_with('.') || text.contains("/.")) {
            message.push_str(" Hidden files are found with `includeHidden` only.");
        }
        message
    }
}

/// Appends a path, given as folder and name, as a line.
fn push_line(text: &mut String, (folder, name): (&str, &str)) {
    text.push_str(folder);
    text.push_str(name);
    text.push('\n');
}

/// Writes paths that are no longer shown, many at a time; the next are put together meanwhile.
fn write_rest<'p>(
    collector: &mut Collector,
    prefix: &str,
    mut paths: impl Iterator<Item = (&'p str, &'p str)>,
) {
    let mut block = Block::default();
    block.fill(prefix, &mut paths);
    if block.text.len() <= WRITTEN_AT_ONCE {
        collector.items(&block.text, block.count);
        return;
    }
    thread::scope(|scope| {
        let (full, blocks) = mpsc::sync_channel::<Block>(2);
        let (used, spare) = mpsc::channel();
        scope.spawn(move || {
            for block in blocks {
                collector.items(&block.text, block.count);
                // Nobody needs it any more when all is written.
                used.send(block).ok();
            }
        });
        while block.count > 0 {
            let next = spare.try_recv().unwrap_or_default();
            // Nobody takes them any more only after a panic, which ends this as well.
            if full.send(mem::replace(&mut block, next)).is_err() {
                break;
            }
            block.fill(prefix, &mut paths);
        }
    });
}

/// Many lines at once, in memory that is used again.
#[derive(Default)]
struct Block {
    text: String,
    count: u64,
}

impl Block {
    fn fill<'p>(&mut self, prefix: &str, paths: &mut impl Iterator<Item = (&'p str, &'p str)>) {
        self.text.clear();
        self.count = 0;
        while self.text.len() <= WRITTEN_AT_ONCE
            && let Some(path) = paths.next()
        {
            self.text.push_str(prefix);
            push_line(&mut self.text, path);
            self.count += 1;
        }
    }
}

/// A pattern of `read_many_files`, resolved but not yet looked for.
#[derive(Debug)]
pub(crate) struct FilePattern {
    glob: Glob,
}

impl FilePattern {
    pub(crate) fn prepare(pattern: &str, context: &CallContext) -> Result<Self, ToolError> {
        let params = GlobParams {
            pattern: pattern.to_owned(),
            directory: None,
            max_results: None,
            include_hidden: None,
        };
        Ok(Self { glob: Glob::prepare(params, context)? })
    }

    /// Where every match lies.
    pub(crate) fn directory(&self) -> &ResolvedPath {
        &self.glob.directory
    }

    /// The files that match, in order of their paths.
    pub(crate) fn files(&self, context: &CallContext) -> Result<Vec<PathBuf>, ToolError> {
        let glob = &self.glob;
        let folder = paths::open_folder(context, &glob.directory, ErrorKind::GlobError)?;
        let (parts, _) = glob.gather::<Vec<PathBuf>>(folder, context)?;
        let veil = context.veil(glob.directory.real());
        let mut files: Vec<PathBuf> = parts.into_iter().flatten().collect();
        files.retain(|file| !veil.hides(file));
        files.sort_unstable_by(|left, right| left.as_os_str().cmp(right.as_os_str()));
        Ok(files)
    }
}

/// A compiled pattern, relative to where the search begins.
#[derive(Debug)]
struct Pattern {
    text: String,
    glob: PathGlob,
    /// Folders every match lies in.
    literal: PathBuf,
}

impl Pattern {
    fn new(text: String, directory: &Path) -> Result<Self, ToolError> {
        let glob = PathGlob::below(directory, &text).map_err(|fault| {
            ToolError::new(ErrorKind::GlobError, format!("invalid pattern: {fault}"))
        })?;
        Ok(Self { glob, literal: literal_folders(&text), text })
    }
}

/// The leading folders of a pattern that hold no special letters.
fn literal_folders(pattern: &str) -> PathBuf {
    let folders = pattern.rsplit_once('/').map_or("", |(folders, _)| folders);
    folders.split('/').take_while(|part| !part.contains(['*', '?', '[', '{', '\\'])).collect()
}

/// A pattern that is absolute or goes up is split into where it begins and the rest.
fn split_base(pattern: &str) -> (Option<String>, String) {
    let mut pattern = pattern.strip_prefix("./").unwrap_or(pattern).to_owned();
    while pattern.contains("//") {
        pattern = pattern.replace("//", "/");
    }
    let pattern = pattern.as_str();
    if !pattern.starts_with('/') && !pattern.starts_with("../") {
        return (None, pattern.to_owned());
    }
    let base = literal_folders(pattern);
    let base = match (pattern.starts_with('/'), base.to_string_lossy()) {
        (true, base) => format!("/{}", base.trim_start_matches('/')),
        (false, base) => base.into_owned(),
    };
    let rest = pattern.get(base.len()..).unwrap_or_default().trim_start_matches('/');
    (Some(base), rest.to_owned())
}

fn nanoseconds(stat: &rustix::fs::Stat) -> i64 {
    let part = i64::try_from(stat.st_mtime_nsec).unwrap_or(0);
    stat.st_mtime.saturating_mul(1_000_000_000).saturating_add(part)
}

/// What one thread of a search keeps of the files it finds.
trait Gather: Default + Send {
    /// Takes note of the folder that the next files are in, named from where the search began.
    fn folder(&mut self, _inner: &Path) {}

    fn file(&mut self, found: Found<'_>);

    fn finish(&mut self) {}
}

impl Gather for Part {
    fn folder(&mut self, inner: &Path) {
        self.enter(inner);
    }

    fn file(&mut self, found: Found<'_>) {
        let changed = found.folder.stat(found.name).map_or(0, |stat| nanoseconds(&stat));
        self.push(found.name, changed);
    }

    fn finish(&mut self) {
        Part::finish(self);
    }
}

impl Gather for Vec<PathBuf> {
    fn file(&mut self, found: Found<'_>) {
        self.push(found.path.to_owned());
    }
}

struct Finder<'a, G> {
    pattern: &'a Pattern,
    context: &'a CallContext,
    seen: u32,
    gathered: G,
}

impl<G: Gather> Visit for Finder<'_, G> {
    fn wants(&mut self, path: &Path) -> bool {
        self.pattern.glob.is_match(path)
    }

    fn enters(&mut self, path: &Path) -> bool {
        let inner = self.pattern.glob.inner(path);
        inner.starts_with(&self.pattern.literal) || self.pattern.literal.starts_with(inner)
    }

    fn folder(&mut self, path: &Path) {
        self.gathered.folder(self.pattern.glob.inner(path));
    }

    fn file(&mut self, found: Found<'_>) -> Flow {
        self.seen += 1;
        if self.seen.is_multiple_of(256) && self.context.check().is_err() {
            return Flow::Stop;
        }
        self.gathered.file(found);
        Flow::Continue
    }

    fn finish(&mut self) {
        self.gathered.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_outside_are_split_where_they_begin() {
        let split = |pattern: &str| split_base(pattern);
        assert_eq!(split("./src/*.rs"), (None, "src/*.rs".to_owned()));
        assert_eq!(split("/etc/*.conf"), (Some("/etc".to_owned()), "*.conf".to_owned()));
        assert_eq!(split("/*.txt"), (Some("/".to_owned()), "*.txt".to_owned()));
        assert_eq!(split("../a/**/b"), (Some("../a".to_owned()), "**/b".to_owned()));
    }
}
