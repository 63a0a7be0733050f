//! `glob`: files by pattern, newest first.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_core::prelude::*;
use toolgate_core::visible;

use crate::paths;
use crate::pattern::glob_fault;
use crate::tree::{self, Flow, Folder, Found, Visit, WalkOptions};

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
            (Some(directory), Some(base)) => Path::new(&directory)
                .join(base)
                .to_string_lossy()
                .into_owned(),
        };
        let directory = paths::resolve(context, &directory, ErrorKind::GlobError)?;
        Ok(Self {
            shown: context.workspace().shown(directory.requested()),
            directory,
            pattern: Pattern::new(pattern)?,
            max_results: params
                .max_results
                .map(|most| usize::try_from(most).unwrap_or(usize::MAX)),
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
        let (mut matches, unread) = self.matches(folder, context)?;
        matches.sort_unstable_by(|left, right| {
            right
                .changed
                .cmp(&left.changed)
                .then_with(|| left.path.cmp(&right.path))
        });
        let total = matches.len();
        matches.truncate(self.max_results.unwrap_or(total));
        let mut collector = context.collector();
        // Paths are shown from the workspace, so that they can be used as they are.
        let mut line = match self.shown.as_str() {
            "." => String::new(),
            _ => format!("{}/", context.workspace().shown(self.directory.real()))
                .replacen("./", "", 1),
        };
        let prefix = line.len();
        for found in &matches {
            line.truncate(prefix);
            line.push_str(&visible::path(Path::new(std::ffi::OsStr::from_bytes(
                &found.path,
            ))));
            line.push('\n');
            collector.item(&line);
        }
        if total == 0 {
            collector.push(&self.nothing_found());
        }
        if total > matches.len() {
            collector.push(&format!(
                "\n[{} more files match; raise `maxResults` to see them]\n",
                total - matches.len()
            ));
        }
        if unread > 0 {
            collector.push(&format!("\n[{unread} folders could not be read]\n"));
        }
        let display = match total - matches.len() {
            0 => format!("Found {total} files"),
            _ => format!("Found {total} files (showing the newest {})", matches.len()),
        };
        Ok(ToolResult::bounded(collector.finish())
            .with_display(display)
            .with_structured(json!({ "files": total, "shown": matches.len() })))
    }

    fn matches(
        &self,
        folder: Folder,
        context: &CallContext,
    ) -> Result<(Vec<Match>, usize), ToolError> {
        let stop = AtomicBool::new(false);
        let options = WalkOptions {
            include_hidden: self.include_hidden,
        };
        let (visitors, unread) = tree::walk(folder, options, &stop, || Finder {
            pattern: &self.pattern,
            prefix: self.directory.real().as_os_str().len(),
            context,
            matches: Vec::new(),
        });
        context.check()?;
        Ok((
            visitors
                .into_iter()
                .flat_map(|finder| finder.matches)
                .collect(),
            unread.folders,
        ))
    }

    fn nothing_found(&self) -> String {
        let text = &self.pattern.text;
        let mut message = format!(
            "No file matches `{}` in `{}`.",
            visible::line(text),
            self.shown
        );
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

/// The files a pattern of `read_many_files` matches, in order of their paths.
pub(crate) fn matching_files(
    pattern: &str,
    context: &CallContext,
) -> Result<Vec<PathBuf>, ToolError> {
    let params = GlobParams {
        pattern: pattern.to_owned(),
        directory: None,
        max_results: None,
        include_hidden: None,
    };
    let glob = Glob::prepare(params, context)?;
    let folder = paths::open_folder(context, &glob.directory, ErrorKind::GlobError)?;
    let (mut matches, _) = glob.matches(folder, context)?;
    matches.sort_unstable_by(|left, right| left.path.cmp(&right.path));
    let root = glob.directory.real();
    Ok(matches
        .into_iter()
        .map(|found| root.join(std::ffi::OsStr::from_bytes(&found.path)))
        .collect())
}

/// A compiled pattern, relative to where the search begins.
#[derive(Debug)]
struct Pattern {
    text: String,
    glob: GlobSet,
    /// Folders every match lies in.
    literal: PathBuf,
    everything: bool,
}

impl Pattern {
    fn new(text: String) -> Result<Self, ToolError> {
        let failed = |error: &globset::Error| {
            let message = format!("invalid pattern: {}", glob_fault(&text, error));
            ToolError::new(ErrorKind::GlobError, message)
        };
        let glob = GlobBuilder::new(&text)
            .literal_separator(true)
            .build()
            .map_err(|error| failed(&error))?;
        let set = GlobSetBuilder::new()
            .add(glob)
            .build()
            .map_err(|error| failed(&error))?;
        let literal = literal_folders(&text);
        Ok(Self {
            glob: set,
            literal,
            everything: text == "**/*" || text == "**",
            text,
        })
    }
}

/// The leading folders of a pattern that hold no special letters.
fn literal_folders(pattern: &str) -> PathBuf {
    let folders = pattern.rsplit_once('/').map_or("", |(folders, _)| folders);
    folders
        .split('/')
        .take_while(|part| !part.contains(['*', '?', '[', '{', '\\']))
        .collect()
}

/// A pattern that is absolute or goes up is split into where it begins and the rest.
fn split_base(pattern: &str) -> (Option<String>, String) {
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    if !pattern.starts_with('/') && !pattern.starts_with("../") {
        return (None, pattern.to_owned());
    }
    let base = literal_folders(pattern);
    let base = match (pattern.starts_with('/'), base.to_string_lossy()) {
        (true, base) => format!("/{}", base.trim_start_matches('/')),
        (false, base) => base.into_owned(),
    };
    let rest = pattern
        .get(base.len()..)
        .unwrap_or_default()
        .trim_start_matches('/');
    (Some(base), rest.to_owned())
}

/// A file that matches, below where the search began.
struct Match {
    path: Vec<u8>,
    changed: (i64, u64),
}

struct Finder<'a> {
    pattern: &'a Pattern,
    prefix: usize,
    context: &'a CallContext,
    matches: Vec<Match>,
}

impl Finder<'_> {
    fn inner<'p>(&self, path: &'p Path) -> &'p Path {
        let bytes = path.as_os_str().as_bytes();
        let inner = bytes.get(self.prefix..).unwrap_or_default();
        let inner = inner.strip_prefix(b"/").unwrap_or(inner);
        Path::new(std::ffi::OsStr::from_bytes(inner))
    }
}

impl Visit for Finder<'_> {
    fn wants(&mut self, path: &Path) -> bool {
        self.pattern.everything || self.pattern.glob.is_match(self.inner(path))
    }

    fn enters(&mut self, path: &Path) -> bool {
        let inner = self.inner(path);
        self.pattern.literal.starts_with(inner) || inner.starts_with(&self.pattern.literal)
    }

    fn file(&mut self, found: Found<'_>) -> Flow {
        if self.context.check().is_err() {
            return Flow::Stop;
        }
        let changed = found
            .folder
            .stat(found.name)
            .map_or((0, 0), |stat| (stat.st_mtime, stat.st_mtime_nsec));
        self.matches.push(Match {
            path: self.inner(found.path).as_os_str().as_bytes().to_owned(),
            changed,
        });
        Flow::Continue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_outside_are_split_where_they_begin() {
        let split = |pattern: &str| split_base(pattern);
        assert_eq!(split("./src/*.rs"), (None, "src/*.rs".to_owned()));
        assert_eq!(
            split("/etc/*.conf"),
            (Some("/etc".to_owned()), "*.conf".to_owned())
        );
        assert_eq!(split("/*.txt"), (Some("/".to_owned()), "*.txt".to_owned()));
        assert_eq!(
            split("../a/**/b"),
            (Some("../a".to_owned()), "**/b".to_owned())
        );
    }
}
