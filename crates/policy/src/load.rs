//! Policy files, read strictly: every mistake is told at once, with its place.

mod diagnostic;
mod fields;
mod json;
mod permission;
mod rules;
mod shadow;
mod toml_file;

use std::path::Path;

pub use self::diagnostic::{Diagnostic, Severity, render};
pub use self::rules::PolicyFile;
pub use self::shadow::shadowed;

use crate::load::rules::Reader;
use crate::pattern::Places;
use crate::rule::Tier;
use crate::vocabulary::Vocabulary;

/// Reads policy files.
#[derive(Debug, Clone, Default)]
pub struct Loader {
    /// The tools that rules may speak of.
    pub vocabulary: Vocabulary,
    /// Where path patterns begin.
    pub places: Places,
}

impl Loader {
    /// Reads the text of a policy file; JSON by its name, TOML otherwise.
    pub fn parse(&self, text: &str, source: &str, tier: Tier) -> PolicyFile {
        let mut reader = Reader::new(&self.vocabulary, &self.places, text, source, tier);
        if Path::new(source).extension().is_some_and(|ending| ending == "json" || ending == "jsonc")
        {
            json::read(&mut reader);
        } else {
            toml_file::read(&mut reader);
        }
        reader.finish()
    }
}
