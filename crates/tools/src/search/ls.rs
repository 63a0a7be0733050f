//! `ls`: what is in a directory.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;
use std::thread;

use globset::{GlobSet, GlobSetBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_core::bounds::Collector;
use toolgate_core::prelude::*;
use toolgate_core::visible;

use crate::paths;
use crate::pattern::compile_glob;
use crate::tree::{Folder, Kind, is_never_entered};

/// How deep a recursive listing goes when nothing is said.
const USUAL_DEPTH: u64 = 3;
/// From this many entries on, sizes are looked up on several threads.
const MANY: usize = 1_000;

/// List a directory: kind (`d` directory, `-` file, `l` link), name and size in bytes. Ignored files are left out; links are shown, not followed.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LsParams {
    /// Directory to list, relative to the workspace or absolute.
    path: String,
    /// List subdirectories too.
    #[serde(skip_serializing_if = "Option::is_none")]
    recursive: Option<bool>,
    /// Include entries whose name starts with a dot.
    #[serde(skip_serializing_if = "Option::is_none")]
    include_hidden: Option<bool>,
    /// How many levels of subdirectories to list, 3 when left out.
    #[schemars(range(max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    max_depth: Option<u64>,
    /// Glob patterns of names to leave out.
    #[serde(skip_serializing_if = "Option::is_none")]
    ignore: Option<Vec<String>>,
}

/// Parameters of `LS`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ClaudeLs {
    /// Directory to list, relative to the workspace or absolute.
    path: String,
    /// Glob patterns of names to leave out.
    ignore: Option<Vec<String>>,
}

impl TryFrom<ClaudeLs> for LsParams {
    type Error = ToolError;

    fn try_from(ls: ClaudeLs) -> Result<Self, ToolError> {
        Ok(Self {
            path: ls.path,
            recursive: None,
            include_hidden: None,
            max_depth: None,
            ignore: ls.ignore,
        })
    }
}

/// An `ls` call, checked and resolved.
#[derive(Debug)]
pub struct Ls {
    directory: ResolvedPath,
    shown: String,
    depth: u64,
    include_hidden: bool,
    ignore: GlobSet,
}

impl Invocation for Ls {
    type Params = LsParams;
    const NAME: &'static str = "ls";
    const TITLE: &'static str = "List Directory";
    const GROUP: Group = Group::Search;
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY;
    const SHAPE: Shape = Shape::Listing;

    fn faces() -> Vec<Face> {
        vec![
            Face::new::<ClaudeLs, LsParams>(Dialect::Claude, "LS"),
            Face::renamed::<LsParams>(Dialect::Camel, "listFiles"),
        ]
    }

    fn prepare(params: LsParams, context: &CallContext) -> Result<Self, ToolError> {
        let directory = paths::resolve(context, &params.path, ErrorKind::LsError)?;
        let depth = match (params.recursive, params.max_depth) {
            (Some(false), _) | (None, None) => 0,
            (_, depth) => depth.unwrap_or(USUAL_DEPTH),
        };
        Ok(Self {
            shown: context.workspace().shown(directory.requested()),
            directory,
            depth,
            include_hidden: params.include_hidden.unwrap_or(false),
            ignore: ignored_names(&params.ignore.unwrap_or_default())?,
        })
    }

    fn describe(&self) -> String {
        match self.depth {
            0 => format!("List {}", self.shown),
            depth => format!("List {}, {depth} levels deep", self.shown),
        }
    }

    fn locations(&self) -> Vec<Location> {
        vec![Location::path(&self.directory, Access::Read)]
    }

    async fn execute(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        context.blocking(move |context| self.list(context)).await
    }
}

impl Ls {
    fn list(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        let mut folder = paths::open_folder(context, &self.directory, ErrorKind::LsError)?;
        let mut listing = Listing { collector: context.collector(), entries: 0, unread: 0 };
        if let Err(error) = self.list_folder(&mut folder, context, &mut listing) {
            let message = format!("cannot list `{}`: {}", self.shown, error?);
            return Err(ToolError::new(ErrorKind::LsError, message));
        }
        let Listing { mut collector, entries, unread } = listing;
        if entries == 0 {
            collector.push(&self.nothing_listed());
        }
        if unread > 0 {
            collector.push(&format!("\n[{unread} folders could not be read]\n"));
        }
        Ok(ToolResult::bounded(collector.finish())
            .with_display(format!("Listed {entries} entries"))
            .with_structured(json!({ "entries": entries })))
    }

    /// Lists a folder and those below it. The inner result is a cancellation.
    fn list_folder(
        &self,
        folder: &mut Folder,
        context: &CallContext,
        listing: &mut Listing,
    ) -> Result<(), Result<std::io::Error, ToolError>> {
        context.check().map_err(Err)?;
        let names = folder.list().map_err(Ok)?;
        let mut path = folder.path().join("x");
        let mut entries: Vec<Entry<'_>> =
            (0..names.len()).filter_map(|number| names.get(number)).collect();
        entries.retain(|(name, kind)| {
            path.set_file_name(name);
            !folder.leaves_out(&path, name, *kind, self.include_hidden)
                && !self.ignore.is_match(Path::new(name))
        });
        entries.sort_unstable_by_key(|(name, _)| *name);
        let lines = lines(folder, &entries);
        for ((name, kind), line) in entries.iter().zip(lines) {
            listing.entries += 1;
            listing.collector.item(&line);
            let enters = *kind == Kind::Folder && (folder.depth() as u64) < self.depth;
            if !enters || is_never_entered(folder.path(), name) {
                continue;
            }
            let listed = match folder.enter(name) {
                Ok(mut below) => self.list_folder(&mut below, context, listing),
                Err(error) => Err(Ok(error)),
            };
            match listed {
                Err(Ok(_)) => listing.unread += 1,
                other => other?,
            }
        }
        Ok(())
    }

    fn nothing_listed(&self) -> String {
        let hint = if self.include_hidden {
            ""
        } else {
            " (hidden entries are shown with `includeHidden`)"
        };
        format!("`{}` has no entries to show{hint}.", self.shown)
    }
}

struct Listing {
    collector: Collector,
    entries: usize,
    unread: usize,
}

type Entry<'a> = (&'a OsStr, Kind);

/// One line per entry, indented by its depth.
fn lines(folder: &Folder, entries: &[Entry<'_>]) -> Vec<String> {
    let render = |entries: &[Entry<'_>]| -> Vec<String> {
        entries.iter().map(|entry| line(folder, entry)).collect()
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(8);
    if entries.len() < MANY || threads == 1 {
        return render(entries);
    }
    thread::scope(|scope| {
        let share = entries.len().div_ceil(threads);
        let workers: Vec<_> =
            entries.chunks(share).map(|share| scope.spawn(move || render(share))).collect();
        let results = workers.into_iter().map(|worker| match worker.join() {
            Ok(lines) => lines,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        results.flatten().collect()
    })
}

fn line(folder: &Folder, (name, kind): &Entry<'_>) -> String {
    let mut line = String::with_capacity(2 * folder.depth() + name.len() + 16);
    for _ in 0..folder.depth() {
        line.push_str("  ");
    }
    line.push_str(match kind {
        Kind::File => "- ",
        Kind::Folder => "d ",
        Kind::Link => "l ",
        Kind::Other => "? ",
    });
    visible::push_path(&mut line, Path::new(name));
    match kind {
        Kind::File => {
            if let Ok(stat) = folder.stat(name) {
                write!(line, "  {}", stat.st_size).expect("writing to a string cannot fail");
            }
        }
        Kind::Link => {
            if let Ok(target) = folder.link_target(name) {
                line.push_str(" -> ");
                line.push_str(&visible::path(&target));
            }
        }
        Kind::Folder | Kind::Other => {}
    }
    line.push('\n');
    line
}

fn ignored_names(patterns: &[String]) -> Result<GlobSet, ToolError> {
    let failed = |reason: &str| {
        ToolError::new(ErrorKind::LsError, format!("invalid `ignore` pattern: {reason}"))
    };
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(compile_glob(pattern).map_err(|fault| failed(&fault))?);
    }
    set.build().map_err(|error| failed(&error.to_string()))
}
