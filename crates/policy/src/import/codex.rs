//! Codex: `.rules` files and the approval and sandbox keys of `config.toml`.

mod config;
mod example;
mod prefix;
mod profile;
mod rules;
mod servers;
mod starlark;

use std::path::Path;

use super::report::{ImportError, Imported};

/// Converts a `config.toml` when `name` ends in `.toml`, and a `.rules` file otherwise.
///
/// # Errors
/// When the text is not of its format, is one that Codex refuses, or, in a
/// `.rules` file, does more than call functions with literal values.
pub fn codex(text: &str, name: &str) -> Result<Imported, ImportError> {
    let extension = Path::new(name).extension();
    if extension.is_some_and(|extension| extension.eq_ignore_ascii_case("toml")) {
        config::config(text, name)
    } else {
        rules::rules(text, name)
    }
}
