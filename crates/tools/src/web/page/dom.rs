//! Reading HTML within bounds: of depth, of size, of time.
//!
//! A parser of HTML looks through all open elements at nearly every tag, and through all
//! attributes at every attribute. A page made for it takes hours. So it is fed in pieces, and
//! between them somebody looks at the clock and at what became of it.

use dom_query::{Document, NodeRef};
use html5ever::ParseOpts;
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::tree_builder::TreeBuilderOpts;

use super::patience::{PageFault, Patience};

/// How deep elements may lie within each other. Pages that people wrote stay below 100.
pub(super) const DEEPEST: usize = 256;
/// How much is fed at once.
const PIECE: usize = 4 * 1024;

/// A page, or its first part.
pub(super) struct Dom {
    pub(super) document: Document,
    pub(super) cut: Option<Cut>,
}

/// Why only a part of a page was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    Large,
    Deep,
    Slow,
}

impl Cut {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Large => {
                "[The page has too many elements to be converted whole: this is its first part]"
            }
            Self::Deep => {
                "[The page is nested too deeply to be converted whole: this is a part of it]"
            }
            Self::Slow => "[The page takes too long to be converted whole: this is its first part]",
        }
    }
}

/// Reads a page as far as the bounds allow.
pub(super) fn parse(html: &str, nodes: usize, patience: &Patience<'_>) -> Result<Dom, PageFault> {
    let tree_builder = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    let options = ParseOpts { tree_builder, ..ParseOpts::default() };
    let mut parser = html5ever::parse_document(Document::default(), options);
    let mut cut = None;
    let mut rest = html;
    while !rest.is_empty() {
        if patience.check() == Err(PageFault::Cancelled) {
            return Err(PageFault::Cancelled);
        }
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE.min(rest.len())));
        rest = after;
        parser.process(StrTendril::from_slice(piece));
        let document = &parser.tokenizer.sink.sink;
        // Whatever comes after is not looked at, and half of the time is left for the rest.
        cut = if document.tree.len() > nodes {
            Some(Cut::Large)
        } else if depth_at_end(document) > DEEPEST {
            Some(Cut::Deep)
        } else {
            patience.is_short().then_some(Cut::Slow)
        };
        // Its faults are nobody's concern, and there may be one for each letter.
        document.errors.borrow_mut().clear();
        if cut.is_some() {
            break;
        }
    }
    let document = parser.finish();
    if flatten(&document) {
        cut = cut.or(Some(Cut::Deep));
    }
    Ok(Dom { document, cut })
}

/// How deep the last element lies, beyond which nothing is fed.
fn depth_at_end(document: &Document) -> usize {
    std::iter::successors(Some(document.root()), NodeRef::last_child).count()
}

/// Takes away what lies too deep; says whether there was something.
fn flatten(document: &Document) -> bool {
    let mut is_cut = false;
    let mut open = vec![(document.root(), 0)];
    while let Some((node, depth)) = open.pop() {
        if depth > DEEPEST {
            node.remove_from_parent();
            is_cut = true;
        } else {
            open.extend(node.children_it(false).map(|child| (child, depth + 1)));
        }
    }
    is_cut
}
