//! Whether a command only looks, and at what.
//!
//! A command is a look when its program has a row in a table here and every
//! word of it is accounted for by that row. The rows are the heart: start at
//! `files`, `text`, `search` and `git`.

mod arguments;
mod awk;
mod builtin;
mod files;
mod find;
mod git;
mod jq;
mod look;
mod program;
mod reading;
mod script;
mod search;
mod sed;
mod system;
mod text;
mod variables;

#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use hashbrown::HashMap;

pub(crate) use find::names as found_names;
pub(crate) use git::{LOG_ATTACHED, LOG_FLAGS, LOG_TEXTS};
pub use look::{Look, PathOperand, Reach};
pub(crate) use script::prints_only;

use super::command::{Command, Word};
use arguments::literal;
use program::Program;

/// Says what a command looks at, if it does nothing else.
///
/// Redirections are not judged here.
pub fn look(command: &Command) -> Look {
    match judge(command) {
        Ok(look) => look,
        Err(why) => match command.name() {
            Some(name) => Look::No(["`", name, "`: ", &why].concat()),
            None => Look::No(why),
        },
    }
}

fn judge(command: &Command) -> Result<Look, String> {
    let name = match command.words.first() {
        // A bracket alone is no pattern, whatever the word says.
        Some(word) if word.known && word.text == "[" => "[",
        Some(word) => literal(word)?,
        None => return Err("it runs nothing".into()),
    };
    variables::inert(&command.assignments)?;
    let words = command.arguments();
    match name {
        "cd" => builtin::cd(words).map(Look::Enters),
        "git" => git::look(words),
        "echo" => builtin::echo(words).map(reads),
        "printf" => builtin::printf(words).map(reads),
        "test" => builtin::test(words).map(reads),
        "[" => builtin::bracket(words).map(reads),
        "find" => find::paths(words, look).map(reads),
        "exit" => builtin::exit(words).map(reads),
        "set" => builtin::set(words).map(reads),
        name if asks_version(name, words) => Ok(reads(Vec::new())),
        _ => in_table(name, words).map(reads),
    }
}

/// Returns `true` if a common program is only asked for its version. Left out are those that a file of the
/// project replaces by another program, as `yarnPath` does.
fn asks_version(name: &str, words: &[Word]) -> bool {
    const PROGRAMS: &[&str] = &[
        "bun", "cargo", "clang", "cmake", "deno", "docker", "gcc", "go", "java", "make", "node",
        "npm", "pip", "pip3", "python", "python3", "ruby", "rustc", "rustup",
    ];
    let asks = |word: &Word| match word.literal() {
        Some("--version") => true,
        Some("version") => name == "go",
        _ => false,
    };
    matches!(words, [only] if asks(only)) && PROGRAMS.contains(&name)
}

/// The rows of all tables by the names of their programs.
static PROGRAMS: LazyLock<HashMap<&str, &Program>> = LazyLock::new(|| {
    const TABLES: [&[Program]; 7] = [
        files::FILES,
        text::TEXT,
        search::SEARCH,
        system::SYSTEM,
        &[sed::SED],
        &[awk::AWK],
        &[jq::JQ],
    ];
    let rows = TABLES.into_iter().flatten();
    rows.flat_map(|program| program.names().map(move |name| (name, program))).collect()
});

fn in_table(name: &str, words: &[Word]) -> Result<Vec<PathOperand>, String> {
    let Some(program) = PROGRAMS.get(name).copied() else {
        return Err("not a program that is known to only look".into());
    };
    if let [only] = words
        && matches!(only.literal(), Some("--help" | "--version"))
    {
        return Ok(Vec::new());
    }
    let arguments = reading::parse(program, words)?;
    reading::paths(program, &arguments)
}

fn reads(paths: Vec<PathOperand>) -> Look {
    Look::Reads { paths, git: None }
}
