//! The main content of a page: its article where there is one, else all but what surrounds it.

use dom_query::{Document, Matcher};
use dom_smoothie::{Config, Readability};
use url::Url;

use super::clean;
use super::format::Format;
use super::markdown;
use super::patience::{PageFault, Patience};

/// Larger pages are shown without looking for an article: that takes long.
const MOST_ELEMENTS: usize = 20_000;
/// An article has at least this many letters.
const SHORTEST: usize = 250;
/// An article is at least this much of the page, in hundredths; less is a teaser.
const SHARE: usize = 45;
/// How long a title may be.
const TITLE: usize = 300;

/// What the page is called.
pub(super) fn title(document: &Document) -> Option<String> {
    let matcher = Matcher::new("head > title").ok()?;
    let title = document.select_single_matcher(&matcher).text();
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    (!title.is_empty()).then(|| title.chars().take(TITLE).collect())
}

/// The main content of a page that was cleaned.
pub(super) fn main(
    document: &Document,
    base: &Url,
    format: Format,
    patience: &Patience<'_>,
) -> Result<String, PageFault> {
    let everything = document.clone();
    clean::surroundings(document);
    let rest = letters(document);
    if rest == 0 {
        return Ok(markdown::of_document(&everything, format));
    }
    drop(everything);
    if let Some(marked) = marked(document, rest) {
        return Ok(markdown::of_node(&marked, format));
    }
    patience.check()?;
    let article = (document.tree.len() <= MOST_ELEMENTS && !patience.is_short())
        .then(|| article(document, base))
        .flatten()
        .filter(|article| {
            let own = letters(article);
            own >= SHORTEST && own.saturating_mul(100) >= rest.saturating_mul(SHARE)
        });
    patience.check()?;
    Ok(markdown::of_document(article.as_ref().unwrap_or(document), format))
}

/// What the page itself calls its main content, when there is one such part with most of its text.
fn marked(document: &Document, rest: usize) -> Option<dom_query::NodeRef<'_>> {
    for name in ["main", "[role=main]", "article"] {
        let matcher = Matcher::new(name).ok()?;
        let found = document.select_matcher(&matcher);
        let [only] = found.nodes() else { continue };
        let own = only.normalized_char_count();
        if own >= SHORTEST && own.saturating_mul(100) >= rest.saturating_mul(SHARE) {
            return Some(*only);
        }
    }
    None
}

fn article(document: &Document, base: &Url) -> Option<Document> {
    let config = Config { keep_classes: true, disable_json_ld: true, ..Config::default() };
    let mut readability =
        Readability::with_document(document.clone(), Some(base.as_str()), Some(config)).ok()?;
    if !readability.is_probably_readable() {
        return None;
    }
    let article = readability.parse().ok()?;
    Some(Document::fragment(article.content))
}

fn letters(document: &Document) -> usize {
    document.body().map_or_else(
        || document.root().normalized_char_count(),
        |body| body.normalized_char_count(),
    )
}
