//! `read_many_files`: several files, each under its name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_core::policy::Place;
use toolgate_core::prelude::*;
use toolgate_core::visible;
use toolgate_core::workspace::Follow;

use crate::known;
use crate::paths;
use crate::reading::{self, Part, Reading};
use crate::search::glob::FilePattern;

/// How many files one call may read.
const MOST_FILES: usize = 1_000;

/// Read several files at once, each under a `=== path ===` header, in the order given. Text, PDF documents and notebooks come as text; images are only described, so look at one with the tool that reads a single file. A file that cannot be read is reported under its own header and does not stop the others.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReadManyFilesParams {
    /// Files to read, or glob patterns such as `src/**/*.rs`.
    #[schemars(length(min = 1))]
    paths: Vec<String>,
}

/// A `read_many_files` call, its patterns expanded and its files resolved.
#[derive(Debug)]
pub struct ReadManyFiles {
    sources: Vec<Source>,
}

/// What one of the paths names.
#[derive(Debug)]
enum Source {
    File(Wanted),
    /// A pattern, where it was looked for, and what it matches.
    Found {
        directory: ResolvedPath,
        files: Vec<Wanted>,
    },
    /// A pattern outside of the workspace, not looked for before the policy has spoken.
    Outside {
        pattern: FilePattern,
        shown: String,
    },
}

#[derive(Debug)]
struct Wanted {
    shown: String,
    file: Result<ResolvedPath, ToolError>,
}

impl Invocation for ReadManyFiles {
    type Params = ReadManyFilesParams;
    const NAME: &'static str = "read_many_files";
    const TITLE: &'static str = "Read Many Files";
    const GROUP: Group = Group::Search;
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY;
    const SHAPE: Shape = Shape::File;
    const MAX_RESULT_CHARS: usize = 100_000;

    fn prepare(params: ReadManyFilesParams, context: &CallContext) -> Result<Self, ToolError> {
        let mut sources = Vec::new();
        let mut count = 0;
        for path in &params.paths {
            let source = Source::prepare(path, context)?;
            count += source.known_files().count();
            refuse_too_many(count)?;
            sources.push(source);
        }
        Ok(Self { sources })
    }

    fn describe(&self) -> String {
        let patterns = self.sources.iter().filter_map(|source| match source {
            Source::Outside { shown, .. } => Some(shown.as_str()),
            _ => None,
        });
        let known = self.sources.iter().flat_map(Source::known_files);
        let names: Vec<&str> = known.map(|wanted| wanted.shown.as_str()).chain(patterns).collect();
        match names.as_slice() {
            [] => "Read files".to_owned(),
            few if few.len() <= 3 => format!("Read {}", few.join(", ")),
            [first, .., last] => format!("Read {} files, {first} to {last}", names.len()),
            [one] => format!("Read {one}"),
        }
    }

    fn locations(&self) -> Vec<Location> {
        let searched = self.sources.iter().filter_map(|source| match source {
            Source::File(_) => None,
            Source::Found { directory, .. } => Some(directory),
            Source::Outside { pattern, .. } => Some(pattern.directory()),
        });
        let known = self.sources.iter().flat_map(Source::known_files);
        let files = known.filter_map(|wanted| wanted.file.as_ref().ok());
        searched.chain(files).map(|file| Location::path(file, Access::Read)).collect()
    }

    async fn execute(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        context
            .blocking(move |context| {
                let mut collector = context.collector();
                let (mut read, mut failed) = (0, 0);
                let mut files = Vec::new();
                for source in self.sources {
                    files.extend(source.into_files(context)?);
                    refuse_too_many(files.len())?;
                }
                for wanted in files {
                    context.check()?;
                    if read + failed > 0 {
                        collector.push("\n");
                    }
                    collector.push(&format!("=== {} ===\n", wanted.shown));
                    match wanted.file.and_then(|file| read_known(context, &file)) {
                        Ok(reading) => {
                            read += 1;
                            let ends_line = reading.ends_line();
                            reading.write(&wanted.shown, &mut collector);
                            if !ends_line {
                                collector.push("\n");
                            }
                        }
                        Err(error) => {
                            failed += 1;
                            collector.push(&format!("Error ({}): {}\n", error.kind, error.message));
                        }
                    }
                }
                let display = match failed {
                    0 => format!("Read {read} files"),
                    _ => format!("Read {read} files, {failed} could not be read"),
                };
                Ok(ToolResult::bounded(collector.finish())
                    .with_display(display)
                    .with_structured(json!({ "read": read, "failed": failed })))
            })
            .await
    }
}

impl Source {
    fn prepare(path: &str, context: &CallContext) -> Result<Self, ToolError> {
        let shown = visible::line(path).into_owned();
        let is_pattern = path.contains(['*', '?', '[', '{']);
        let stays_inside = !path.starts_with('/') && !path.contains("..");
        // A file whose very name looks like a pattern is meant as itself.
        if !is_pattern || stays_inside && context.workspace().root().join(path).is_file() {
            let file = paths::resolve(context, path, ErrorKind::FileReadError);
            return Ok(Self::File(Wanted { shown, file }));
        }
        let pattern = FilePattern::prepare(path, context)?;
        if pattern.directory().place() == Place::Outside {
            return Ok(Self::Outside { pattern, shown });
        }
        let files = expand(&pattern, &shown, context)?;
        Ok(Self::Found { directory: pattern.directory().clone(), files })
    }

    /// The files known before anything was approved.
    fn known_files(&self) -> std::slice::Iter<'_, Wanted> {
        match self {
            Self::File(wanted) => std::slice::from_ref(wanted).iter(),
            Self::Found { files, .. } => files.iter(),
            Self::Outside { .. } => [].iter(),
        }
    }

    fn into_files(self, context: &CallContext) -> Result<Vec<Wanted>, ToolError> {
        match self {
            Self::File(wanted) => Ok(vec![wanted]),
            Self::Found { files, .. } => Ok(files),
            Self::Outside { pattern, shown } => expand(&pattern, &shown, context),
        }
    }
}

/// Reads a file, which the session knows from then on.
fn read_known(context: &CallContext, file: &ResolvedPath) -> Result<Reading, ToolError> {
    let reading = reading::read(context, file, &Part::default())?;
    known::has_read(context, file, None);
    Ok(reading)
}

/// The files a pattern matches, or that it matches none.
fn expand(
    pattern: &FilePattern,
    shown: &str,
    context: &CallContext,
) -> Result<Vec<Wanted>, ToolError> {
    let matches = match pattern.files(context) {
        Ok(matches) => matches,
        Err(error) => return Ok(vec![Wanted { shown: shown.to_owned(), file: Err(error) }]),
    };
    refuse_too_many(matches.len())?;
    if matches.is_empty() {
        let message = format!("no file matches `{shown}`");
        let file = Err(ToolError::new(ErrorKind::FileNotFoundError, message));
        return Ok(vec![Wanted { shown: shown.to_owned(), file }]);
    }
    let wanted = matches.into_iter().map(|file| Wanted {
        shown: context.workspace().shown(&file),
        file: context
            .workspace()
            .resolve(&file, Follow::Link)
            .map_err(|error| ToolError::new(ErrorKind::FileReadError, error.to_string())),
    });
    Ok(wanted.collect())
}

fn refuse_too_many(count: usize) -> Result<(), ToolError> {
    if count > MOST_FILES {
        return Err(ToolError::invalid(format!(
            "`paths` names more than {MOST_FILES} files; narrow the patterns, or list files with \
             `glob` first"
        )));
    }
    Ok(())
}
