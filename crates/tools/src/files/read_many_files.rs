//! `read_many_files`: several text files, each under its name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_core::prelude::*;

use crate::content;
use crate::paths;
use crate::search::glob;

/// How many files one call may read.
const MOST_FILES: usize = 1_000;

/// Read several text files at once, each under a `=== path ===` header, in the order given. A file that cannot be read is reported under its own header and does not stop the others.
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
    files: Vec<Wanted>,
    /// Where patterns were looked for: that nothing matches says something too.
    searched: Vec<ResolvedPath>,
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
        let (mut files, mut searched) = (Vec::new(), Vec::new());
        for path in &params.paths {
            files.extend(expand(path, &mut searched, context)?);
            if files.len() > MOST_FILES {
                return Err(ToolError::invalid(format!(
                    "`paths` names more than {MOST_FILES} files; narrow the patterns, or list files with `glob` first"
                )));
            }
        }
        Ok(Self { files, searched })
    }

    fn describe(&self) -> String {
        match self.files.as_slice() {
            [one] => format!("Read {}", one.shown),
            many => format!("Read {} files", many.len()),
        }
    }

    fn locations(&self) -> Vec<Location> {
        let files = self.files.iter().filter_map(|wanted| wanted.file.as_ref().ok());
        self.searched.iter().chain(files).map(|file| Location::path(file, Access::Read)).collect()
    }

    async fn execute(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        context
            .blocking(move |context| {
                let mut collector = context.collector();
                let (mut read, mut failed) = (0, 0);
                for wanted in self.files {
                    context.check()?;
                    if read + failed > 0 {
                        collector.push("\n");
                    }
                    collector.push(&format!("=== {} ===\n", wanted.shown));
                    match wanted.file.and_then(|file| content::read(context, &file, None)) {
                        Ok(decoded) => {
                            read += 1;
                            collector.push(&decoded.text);
                            if !decoded.text.ends_with('\n') {
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

/// The file a path names, or the files a pattern matches.
fn expand(
    path: &str,
    searched: &mut Vec<ResolvedPath>,
    context: &CallContext,
) -> Result<Vec<Wanted>, ToolError> {
    let literal = || Wanted {
        shown: toolgate_core::visible::line(path).into_owned(),
        file: paths::resolve(context, path, ErrorKind::FileReadError),
    };
    let is_pattern = path.contains(['*', '?', '[', '{']);
    // A file whose very name looks like a pattern is meant as itself.
    if !is_pattern || context.workspace().root().join(path).is_file() {
        return Ok(vec![literal()]);
    }
    let (directory, matches) = glob::matching_files(path, context)?;
    searched.push(directory);
    if matches.is_empty() {
        let message = format!("no file matches `{}`", toolgate_core::visible::line(path));
        return Ok(vec![Wanted {
            file: Err(ToolError::new(ErrorKind::FileNotFoundError, message)),
            ..literal()
        }]);
    }
    let wanted = matches.into_iter().map(|file| Wanted {
        shown: context.workspace().shown(&file),
        file: context
            .workspace()
            .resolve(&file, toolgate_core::workspace::Follow::Link)
            .map_err(|error| ToolError::new(ErrorKind::FileReadError, error.to_string())),
    });
    Ok(wanted.collect())
}
