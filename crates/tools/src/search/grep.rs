//! `grep`: text in files, with ripgrep's own engine.

mod lines;
mod patient;
mod report;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_core::policy::veil::Veil;
use toolgate_core::prelude::*;
use toolgate_core::visible;
use toolgate_core::workspace::FileKind;

use self::lines::{Lines, Output};
use self::patient::{MOST_BYTES, MOST_CACHED, Patient, Steps};
use self::report::{Budget, Report};
use crate::paths;
use crate::pattern::{PathGlob, compile_glob, regex_fault};
use crate::tree::{self, Flow, Found, Unread, Visit, WalkOptions};

/// The longest line that is searched; longer ones would fill memory.
const LONGEST_LINE: usize = 64 * 1024 * 1024;
/// How often a search says how far it is.
const PROGRESS_EVERY: usize = 5_000;

/// Search file contents with a regular expression. Returns `path:line: text` for each matching line. Ignored, hidden and binary files are skipped. Case does not matter unless caseSensitive is set.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GrepParams {
    /// Regular expression to search for.
    pattern: String,
    /// Directory or file to search. The workspace when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    directory: Option<String>,
    /// Search only files matching this glob, such as `*.rs` or `src/**/*.ts`; start it with `!` to leave them out.
    #[serde(skip_serializing_if = "Option::is_none")]
    file_pattern: Option<String>,
    /// Tell upper from lower case. False when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    case_sensitive: Option<bool>,
    /// Stop after this many results. All when left out.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    max_results: Option<u64>,
    /// Lines to show before each match.
    #[schemars(range(max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<u64>,
    /// Lines to show after each match.
    #[schemars(range(max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<u64>,
    /// Lines to show before and after each match.
    #[schemars(range(max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<u64>,
    /// What to return: lines (matching lines), files (paths of files with a match), count (matching lines per file). Lines when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<Output>,
    /// Let the expression match across lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    multiline: Option<bool>,
    /// Search files and directories whose name starts with a dot too.
    #[serde(skip_serializing_if = "Option::is_none")]
    include_hidden: Option<bool>,
}

/// Parameters of `Grep`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ClaudeGrep {
    /// Regular expression to search for.
    pattern: String,
    /// Directory or file to search. The workspace when left out.
    path: Option<String>,
    /// Search only files matching this glob, such as `*.js` or `*.{ts,tsx}`.
    glob: Option<String>,
    /// Search only files of this type, such as `js`, `py` or `rust`.
    r#type: Option<String>,
    /// What to return: content (matching lines), `files_with_matches` (paths), count (matching lines per file). `files_with_matches` when left out.
    output_mode: Option<ClaudeOutput>,
    /// Lines to show after each match.
    #[serde(rename = "-A")]
    #[schemars(range(max = 1000))]
    after: Option<u64>,
    /// Lines to show before each match.
    #[serde(rename = "-B")]
    #[schemars(range(max = 1000))]
    before: Option<u64>,
    /// Lines to show before and after each match.
    #[serde(rename = "-C")]
    #[schemars(range(max = 1000))]
    context: Option<u64>,
    /// Show line numbers; they always are.
    #[serde(rename = "-n")]
    #[expect(dead_code, reason = "line numbers are always shown")]
    numbers: Option<bool>,
    /// Ignore case.
    #[serde(rename = "-i")]
    ignore_case: Option<bool>,
    /// Stop after this many results.
    head_limit: Option<u64>,
    /// Let the expression match across lines.
    multiline: Option<bool>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ClaudeOutput {
    Content,
    #[default]
    FilesWithMatches,
    Count,
}

impl TryFrom<ClaudeGrep> for GrepParams {
    type Error = ToolError;

    fn try_from(grep: ClaudeGrep) -> Result<Self, ToolError> {
        let file_pattern = match (grep.glob, grep.r#type) {
            (glob, None) => glob,
            (None, Some(name)) => Some(globs_of_type(&name)?),
            (Some(_), Some(_)) => {
                return Err(ToolError::invalid(
                    "`glob` and `type` exclude each other; give one of them",
                ));
            }
        };
        Ok(Self {
            pattern: grep.pattern,
            directory: grep.path,
            file_pattern,
            case_sensitive: Some(!grep.ignore_case.unwrap_or(false)),
            // Zero means no limit there.
            max_results: grep.head_limit.filter(|limit| *limit > 0),
            before: grep.before,
            after: grep.after,
            context: grep.context,
            output: Some(match grep.output_mode.unwrap_or_default() {
                ClaudeOutput::Content => Output::Lines,
                ClaudeOutput::FilesWithMatches => Output::Files,
                ClaudeOutput::Count => Output::Count,
            }),
            multiline: grep.multiline,
            include_hidden: None,
        })
    }
}

/// The globs of one of ripgrep's file types, as one pattern.
fn globs_of_type(name: &str) -> Result<String, ToolError> {
    let types: BTreeMap<String, Vec<String>> = ignore::types::TypesBuilder::new()
        .add_defaults()
        .definitions()
        .into_iter()
        .map(|definition| (definition.name().to_owned(), definition.globs().to_vec()))
        .collect();
    let globs = types.get(name).ok_or_else(|| {
        let near = types.keys().max_by(|left, right| {
            strsim::jaro_winkler(name, left).total_cmp(&strsim::jaro_winkler(name, right))
        });
        let near = near.map_or("rust", String::as_str);
        let shown = visible::line(name);
        ToolError::invalid(format!(
            "unknown file type `{shown}`, did you mean `{near}`? Or use `glob` instead"
        ))
    })?;
    Ok(format!("{{{}}}", globs.join(",")))
}

/// A `grep` call, checked and resolved.
#[derive(Debug)]
pub struct Grep {
    target: ResolvedPath,
    shown: String,
    pattern: String,
    matcher: RegexMatcher,
    steps: Steps,
    filter: Option<FileFilter>,
    searcher: SearcherBuilder,
    output: Output,
    max_results: usize,
    include_hidden: bool,
}

impl Invocation for Grep {
    type Params = GrepParams;
    const NAME: &'static str = "grep";
    const TITLE: &'static str = "Search Text";
    const GROUP: Group = Group::Search;
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY;
    const SHAPE: Shape = Shape::Matches;
    const MAX_RESULT_CHARS: usize = 20_000;

    fn faces() -> Vec<Face> {
        let claude = Face::new::<ClaudeGrep, GrepParams>(Dialect::Claude, "Grep");
        let names = &[("directory", "path"), ("filePattern", "glob"), ("maxResults", "head_limit")];
        vec![claude.calling(names), Face::renamed::<GrepParams>(Dialect::Camel, "grep")]
    }

    fn prepare(params: GrepParams, context: &CallContext) -> Result<Self, ToolError> {
        let (matcher, steps) = compile(&params)?;
        let target = paths::resolve(
            context,
            params.directory.as_deref().unwrap_or("."),
            ErrorKind::GrepError,
        )?;
        let filter = params
            .file_pattern
            .as_deref()
            .map(|pattern| FileFilter::new(pattern, target.real(), context))
            .transpose()?;
        let lines =
            |own: Option<u64>| usize::try_from(own.or(params.context).unwrap_or(0)).unwrap_or(0);
        let mut searcher = SearcherBuilder::new();
        searcher
            .binary_detection(BinaryDetection::quit(b'\0'))
            .line_number(true)
            .multi_line(params.multiline.unwrap_or(false))
            .heap_limit(Some(LONGEST_LINE))
            .before_context(lines(params.before))
            .after_context(lines(params.after));
        Ok(Self {
            shown: context.workspace().shown(target.requested()),
            target,
            pattern: params.pattern,
            matcher,
            steps,
            filter,
            searcher,
            output: params.output.unwrap_or_default(),
            max_results: params
                .max_results
                .map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX)),
            include_hidden: params.include_hidden.unwrap_or(false),
        })
    }

    fn describe(&self) -> String {
        match self.shown.as_str() {
            "." => format!("Search for {}", self.pattern),
            shown => format!("Search for {} in {shown}", self.pattern),
        }
    }

    fn locations(&self) -> Vec<Location> {
        vec![Location::path(&self.target, Access::Read)]
    }

    async fn execute(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        context.blocking(move |context| self.search(context)).await
    }
}

impl Grep {
    fn search(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        let search = Search {
            grep: &self,
            context,
            report: Report::new(context.collector()),
            budget: Budget::new(self.max_results),
            searched: AtomicUsize::new(0),
            unsearched: AtomicUsize::new(0),
            veil: context.veil(self.target.real()),
            veiled: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
        };
        let unread = match self.target.kind() {
            FileKind::File => search.search_single_file()?,
            _ => search.walk()?,
        };
        context.check()?;
        Ok(search.finish(unread))
    }
}

/// Which files are searched.
#[derive(Debug)]
struct FileFilter {
    glob: PathGlob,
    leaves_out: bool,
}

impl FileFilter {
    fn new(pattern: &str, folder: &Path, context: &CallContext) -> Result<Self, ToolError> {
        let (leaves_out, wanted) = match pattern.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, pattern),
        };
        let wanted = wanted.strip_prefix("./").unwrap_or(wanted);
        // As in an ignore file, a pattern without a slash means files of that name anywhere.
        let anywhere = match wanted.strip_prefix('/') {
            Some(rest) => rest.to_owned(),
            None if wanted.contains('/') => wanted.to_owned(),
            None => format!("**/{wanted}"),
        };
        let failed = |fault: String| {
            let name = context.parameter("filePattern");
            ToolError::new(ErrorKind::GrepError, format!("invalid `{name}`: {fault}"))
        };
        // Compiled as it was given first, so that a fault points into what was given.
        compile_glob(wanted).map_err(failed)?;
        let glob = PathGlob::below(folder, &anywhere).map_err(failed)?;
        Ok(Self { glob, leaves_out })
    }

    fn lets_through(&self, path: &Path) -> bool {
        self.glob.is_match(path) != self.leaves_out
    }
}

fn compile(params: &GrepParams) -> Result<(RegexMatcher, Steps), ToolError> {
    let failed =
        |reason: &str| ToolError::new(ErrorKind::GrepError, format!("invalid `pattern`: {reason}"));
    if let Some(fault) = regex_fault(&params.pattern) {
        return Err(failed(&fault));
    }
    let multiline = params.multiline.unwrap_or(false);
    let case_insensitive = !params.case_sensitive.unwrap_or(false);
    let steps = Steps::new(&params.pattern, case_insensitive).map_err(|why| failed(&why))?;
    let mut builder = RegexMatcherBuilder::new();
    // What is counted here is more than what was counted above.
    builder.size_limit(4 * MOST_BYTES).dfa_size_limit(MOST_CACHED);
    builder.case_insensitive(case_insensitive).multi_line(true);
    if !multiline {
        builder.line_terminator(Some(b'\n'));
    }
    let matcher = builder.build(&params.pattern).map_err(|error| {
        let reason = error.to_string();
        if multiline || !reason.contains("not allowed") {
            failed(&reason)
        } else {
            failed("it matches line ends; set `multiline` to true to search across lines")
        }
    })?;
    Ok((matcher, steps))
}

/// One search under way, shared by its threads.
struct Search<'a> {
    grep: &'a Grep,
    context: &'a CallContext,
    report: Report,
    budget: Budget,
    searched: AtomicUsize,
    unsearched: AtomicUsize,
    /// Files that may not be read unasked.
    veil: Veil,
    veiled: AtomicUsize,
    stop: AtomicBool,
}

impl Search<'_> {
    fn walk(&self) -> Result<Unread, ToolError> {
        let folder = paths::open_folder(self.context, &self.grep.target, ErrorKind::GrepError)?;
        let options = WalkOptions { include_hidden: self.grep.include_hidden };
        let (_, unread) = tree::walk(folder, options, &self.stop, || Worker {
            search: self,
            searcher: self.grep.searcher.build(),
        });
        Ok(unread)
    }

    fn search_single_file(&self) -> Result<Unread, ToolError> {
        let opened = paths::open(self.context, &self.grep.target, ErrorKind::GrepError)?;
        let mut searcher = self.grep.searcher.build();
        self.search_file(&mut searcher, &opened.file, self.grep.target.real());
        Ok(Unread::default())
    }

    fn search_file(&self, searcher: &mut Searcher, file: &std::fs::File, path: &Path) -> Flow {
        let matcher = Patient::new(&self.grep.matcher, &self.grep.steps, self.context);
        let mut lines =
            Lines::new(self.grep.output, &self.budget, &matcher, self.context.workspace(), path);
        if searcher.search_file(&matcher, file, &mut lines).is_err() {
            self.unsearched.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(block) = lines.finish() {
            self.report.add(block);
        }
        let searched = self.searched.fetch_add(1, Ordering::Relaxed) + 1;
        if searched.is_multiple_of(PROGRESS_EVERY) {
            self.context.progress(&format!("{searched} files searched"));
        }
        if self.budget.is_spent() || self.context.check().is_err() {
            return Flow::Stop;
        }
        Flow::Continue
    }

    fn finish(self, unread: Unread) -> ToolResult {
        let stopped = self.budget.is_spent();
        let nothing_found = self.nothing_found();
        let totals = self.report.finish();
        let (matches, files) = (totals.matches, totals.files);
        let mut collector = totals.collector;
        if files == 0 {
            collector.push(&nothing_found);
        }
        if stopped {
            let name = self.context.parameter("maxResults");
            collector.push(&format!(
                "\n[Stopped at `{name}` {}; there may be more]\n",
                self.budget.most()
            ));
        }
        let unsearched = self.unsearched.into_inner() + unread.folders;
        if unsearched > 0 {
            collector.push(&format!("\n[{unsearched} files or folders could not be searched]\n"));
        }
        let veiled = self.veiled.into_inner();
        if veiled > 0 {
            collector.push(&format!(
                "\n[{veiled} files were left out because reading them needs a question; read them one by one]\n"
            ));
        }
        let display = format!("Found {matches} matches in {files} files");
        ToolResult::bounded(collector.finish())
            .with_display(display)
            .with_structured(json!({ "matches": matches, "files": files, "stopped": stopped }))
    }

    fn nothing_found(&self) -> String {
        let pattern = visible::line(&self.grep.pattern);
        format!(
            "No match for `{pattern}` in `{}` ({} files searched).",
            self.grep.shown,
            self.searched.load(Ordering::Relaxed)
        )
    }
}

struct Worker<'a> {
    search: &'a Search<'a>,
    searcher: Searcher,
}

impl Visit for Worker<'_> {
    fn wants(&mut self, path: &Path) -> bool {
        let filter = self.search.grep.filter.as_ref();
        filter.is_none_or(|filter| filter.lets_through(path))
    }

    fn file(&mut self, found: Found<'_>) -> Flow {
        if self.search.veil.hides(found.path) {
            self.search.veiled.fetch_add(1, Ordering::Relaxed);
            return Flow::Continue;
        }
        if let Ok(file) = found.folder.open_file(found.name) {
            self.search.search_file(&mut self.searcher, &file, found.path)
        } else {
            self.search.unsearched.fetch_add(1, Ordering::Relaxed);
            Flow::Continue
        }
    }
}
