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

use crate::decision::Decision;
use crate::load::rules::Reader;
use crate::pattern::Places;
use crate::rule::{Rule, Tier};
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

    /// Reads one permission of the short form, such as `Bash(npm run *)`, that the user allows.
    ///
    /// # Errors
    /// Tells what is wrong with it, in words for a person.
    pub fn permission(&self, text: &str, source: &str) -> Result<Rule, String> {
        let mut reader = Reader::new(&self.vocabulary, &self.places, text, source, Tier::User);
        permission::read(&mut reader, text, Decision::Allow, 0..text.len());
        let file = reader.finish();
        match file.diagnostics.iter().find(|found| found.severity == Severity::Error) {
            Some(wrong) => Err(wrong.message.clone()),
            None => file.rules.into_iter().next().ok_or_else(|| "it says nothing".to_owned()),
        }
    }
}
