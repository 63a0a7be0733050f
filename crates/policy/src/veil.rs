//! What a search leaves out: files that may not be read unasked.

use std::path::Path;
use std::sync::Arc;

use crate::decision::Decision;
use crate::floor::sensitive::{When, sensitive};
use crate::name::{ToolName, ToolPattern};
use crate::pattern::PathPattern;
use crate::pattern::path::text;
use crate::rule::Rule;

/// What a search leaves out. A search is allowed as a whole, so what is in its
/// way is left out file by file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Veil {
    hidden: Arc<[PathPattern]>,
    denied: Arc<[PathPattern]>,
    shown: Arc<[PathPattern]>,
    hides_secrets: bool,
}

impl Veil {
    /// The veil that rules make, over secrets or not.
    pub fn new<'r>(rules: impl Iterator<Item = &'r Rule>, hides_secrets: bool) -> Self {
        let reading = ToolName::new("read_file");
        let (mut hidden, mut denied, mut shown) = (Vec::new(), Vec::new(), Vec::new());
        for rule in rules.filter(|rule| !rule.matcher.paths.is_empty()) {
            let reads = |tool: &ToolPattern| tool.matches(&reading, rule.decision);
            if rule.tools.iter().any(reads) {
                let list = if rule.decision == Decision::Allow { &mut shown } else { &mut hidden };
                list.extend(rule.matcher.paths.iter().cloned());
                if rule.decision == Decision::Deny {
                    denied.extend(rule.matcher.paths.iter().cloned());
                }
            }
        }
        let (hidden, denied, shown) = (hidden.into(), denied.into(), shown.into());
        Self { hidden, denied, shown, hides_secrets }
    }

    /// Returns `true` if some rule denies to read files.
    pub fn has_denials(&self) -> bool {
        !self.denied.is_empty()
    }

    /// Returns `true` if a rule denies to read a file. A sandbox hides it from every command.
    pub fn denies(&self, path: &Path) -> bool {
        let folded = text(path).to_lowercase();
        self.denied.iter().any(|pattern| pattern.matches(&folded))
    }

    /// Returns the files and folders that rules deny to read as a whole, wherever they are.
    pub fn denied_places(&self) -> impl Iterator<Item = &Path> {
        let whole = self.denied.iter().filter_map(PathPattern::whole);
        whole.flatten().map(std::path::PathBuf::as_path)
    }

    /// Whether a search leaves a file out.
    pub fn hides(&self, path: &Path) -> bool {
        if self.hidden.is_empty() && !self.may_be_secret(path) {
            return false;
        }
        let folded = text(path).to_lowercase();
        if self.hidden.iter().any(|pattern| pattern.matches(&folded)) {
            return true;
        }
        self.hides_secrets
            && sensitive(&folded, None).is_some_and(|found| {
                let named = || {
                    let plain = text(path);
                    self.shown.iter().any(|own| own.names(found.part) && own.matches(&plain))
                };
                found.when == When::Touched && !named()
            })
    }

    /// A quick look that is never wrong when it says no.
    fn may_be_secret(&self, path: &Path) -> bool {
        // Nearly all files of a tree are told apart here, so no text is made of their paths.
        self.hides_secrets && !is_plain_source(path)
    }
}

/// Source outside of dotted folders is no secret, whatever it is called.
fn is_plain_source(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    let ending = bytes.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
    let is_source =
        matches!(ending, b"c" | b"h" | b"rs" | b"py" | b"go" | b"js" | b"ts" | b"md" | b"java");
    is_source && memchr::memmem::find(bytes, b"/.").is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_and_source_is_not() {
        let veil = Veil::new(std::iter::empty(), true);
        for path in ["/w/.env", "/w/k.pem", "/w/.ssh/config", "/w/secrets/x.txt"] {
            assert!(veil.hides(Path::new(path)), "{path}");
        }
        for path in ["/w/src/main.rs", "/w/Makefile", "/w/.github/workflows/ci.yml"] {
            assert!(!veil.hides(Path::new(path)), "{path}");
        }
        assert!(!Veil::default().hides(Path::new("/w/.env")));
        assert!(!veil.has_denials() && !veil.denies(Path::new("/w/.env")));
    }
}
