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
#[derive(Debug, Clone, Default)]
pub struct Veil {
    hidden: Arc<[PathPattern]>,
    shown: Arc<[PathPattern]>,
    hides_secrets: bool,
}

impl Veil {
    /// The veil that rules make, over secrets or not.
    pub fn new<'r>(rules: impl Iterator<Item = &'r Rule>, hides_secrets: bool) -> Self {
        let reading = ToolName::new("read_file");
        let mut hidden = Vec::new();
        let mut shown = Vec::new();
        for rule in rules.filter(|rule| !rule.matcher.paths.is_empty()) {
            let reads = |tool: &ToolPattern| tool.matches(&reading, rule.decision);
            if rule.tools.iter().any(reads) {
                let list = if rule.decision == Decision::Allow { &mut shown } else { &mut hidden };
                list.extend(rule.matcher.paths.iter().cloned());
            }
        }
        Self { hidden: hidden.into(), shown: shown.into(), hides_secrets }
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
    }
}
