//! Parts of a page, by a CSS selector.

use std::fmt;

use dom_query::{Document, Matcher, NodeRef};

use super::patience::{PageFault, Patience};

/// How long a selector may be.
const LONGEST: usize = 500;
/// How many parentheses it may have.
const MOST_PARENTHESES: usize = 16;
/// How many elements a page may have when each is compared with all others.
const MOST_FOR_HAS: usize = 20_000;
/// How many elements are looked at between two looks at the clock.
const AT_ONCE: usize = 16;

/// A CSS selector.
#[derive(Clone)]
pub(crate) struct Selector {
    text: String,
    matcher: Matcher,
}

impl Selector {
    /// Reads a selector, or says why it is none.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("is empty; leave it out to get the whole page".to_owned());
        }
        if text.len() > LONGEST || text.matches('(').count() > MOST_PARENTHESES {
            return Err(format!("is too long; give one of at most {LONGEST} characters"));
        }
        let matcher = Matcher::new(text).map_err(|_| {
            format!("`{text}` is no CSS selector; write it like `main`, `.content`, `#result` or `table.data tr`")
        })?;
        Ok(Self { text: text.to_owned(), matcher })
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Debug for Selector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Selector").field(&self.text).finish()
    }
}

/// What matches, in order; not what lies within something that matches.
pub(super) fn matches<'d>(
    document: &'d Document,
    selector: &Selector,
    patience: &Patience<'_>,
) -> Result<Vec<NodeRef<'d>>, PageFault> {
    let size = document.tree.len();
    if selector.text.contains(":has") && size > MOST_FOR_HAS {
        return Err(PageFault::TooManyForHas(size));
    }
    let mut found = Vec::new();
    let mut elements = 0;
    let mut open = vec![document.root()];
    while let Some(node) = open.pop() {
        if node.is_element() {
            elements += 1;
            if elements % AT_ONCE == 0 {
                patience.check()?;
            }
            if node.is_match(&selector.matcher) {
                found.push(node);
                continue;
            }
        }
        open.extend(node.children_it(true));
    }
    if found.is_empty() { Err(PageFault::NoMatch { elements }) } else { Ok(found) }
}
