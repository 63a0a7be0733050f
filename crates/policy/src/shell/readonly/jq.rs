//! `jq` with filters that open no file.

use super::arguments::Arguments;
use super::program::Operands::TextThenPaths;
use super::program::Program;

/// `-f`, `-L` and `--slurpfile` open files.
pub(crate) const JQ: Program = Program::new("jq", TextThenPaths)
    .flags(&[
        "-C -M -R -S -a -c -e -j -n -r -s --ascii-output --color-output --compact-output",
        "--exit-status --join-output --monochrome-output --null-input --raw-input --raw-output",
        "--raw-output0 --seq --slurp --sort-keys --stream --tab",
    ])
    .texts(&["--indent"])
    .check(opens_no_module);

fn opens_no_module(arguments: &Arguments) -> Result<(), String> {
    let filter = arguments.operands.first().map_or("", |filter| filter.text.as_str());
    // A module can be a file of data, found in any folder.
    if ["import", "include", "modulemeta"].iter().any(|word| filter.contains(word)) {
        return Err("its filter may open a file".into());
    }
    if filter.contains("env") || filter.contains("ENV") {
        return Err("its filter may show the environment".into());
    }
    Ok(())
}
