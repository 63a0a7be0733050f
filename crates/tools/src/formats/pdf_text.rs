//! The text of a PDF document, page by page. Whoever calls this is ready to be ended by it.

use std::ops::{ControlFlow, RangeInclusive};

use serde::{Deserialize, Serialize};
use unpdf::{ErrorKind, ErrorMode, Page, PageSelection, PageStreamOptions, ParseEvent, PdfParser};

use super::pages::Pages;

/// What is wanted of a document.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Request {
    /// The pages; as many as the limit allows when not set.
    pub(crate) pages: Option<String>,
    /// After so many characters, no further page is begun.
    pub(crate) most_chars: usize,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    /// Text.
    Read(Document),
    /// It opens with a password only.
    Locked,
    /// It has no such page.
    NoSuchPage { page: u32, count: u32 },
    /// It cannot be understood.
    Broken(String),
}

/// The text of a document or of a part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Document {
    /// How many pages there are.
    pub(crate) count: u32,
    /// Those that were read.
    pub(crate) pages: Vec<PageText>,
    /// The first page that was wanted and left out, because there was enough.
    pub(crate) next: Option<u32>,
}

/// The text of one page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PageText {
    /// Its number, counted from 1.
    pub(crate) number: u32,
    /// Its text, which may be empty.
    pub(crate) text: String,
    /// Why it may have no text, if that is known.
    pub(crate) lack: Option<Lack>,
}

/// Why a page has no text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Lack {
    /// It is made of pictures.
    Pictures,
    /// It is broken.
    Broken(String),
}

/// Reads what is wanted of a document.
pub(crate) fn extract(bytes: &[u8], request: &Request) -> Answer {
    let pages = request.pages.as_deref().map(Pages::parse).transpose();
    let pages = match pages {
        Ok(pages) => pages,
        Err(why) => return Answer::Broken(why),
    };
    let parser = match PdfParser::from_bytes(bytes) {
        Ok(parser) => parser,
        Err(error) => return failure(&error),
    };
    let count = parser.page_count();
    if count == 0 {
        return Answer::Broken("no page can be found in it".to_owned());
    }
    let wanted = match pages.map_or_else(|| Ok((1..=count).collect()), |pages| pages.of(count)) {
        Ok(wanted) => wanted,
        Err(page) => return Answer::NoSuchPage { page, count },
    };
    let mut reading = Reading { pages: Vec::new(), chars: 0, most_chars: request.most_chars };
    for run in runs(&wanted) {
        if reading.is_enough() {
            break;
        }
        reading.take(&parser, run);
    }
    let next = wanted.get(reading.pages.len()).copied();
    Answer::Read(Document { count, pages: reading.pages, next })
}

/// What was read so far.
struct Reading {
    pages: Vec<PageText>,
    chars: usize,
    most_chars: usize,
}

impl Reading {
    fn is_enough(&self) -> bool {
        self.chars >= self.most_chars
    }

    /// Reads pages that follow each other, until there is enough.
    fn take(&mut self, parser: &PdfParser, run: RangeInclusive<u32>) {
        let (first, last) = (*run.start(), *run.end());
        let options = PageStreamOptions {
            error_mode: ErrorMode::Lenient,
            extract_text: true,
            extract_resources: false,
            min_image_dimension: 0,
            pages: PageSelection::Range(run),
            password: None,
            // One thread, whose stack and time are known.
            parallel: false,
            suppress_low_confidence_ocr: true,
            window_size: 1,
            emit_progress_every: u32::MAX,
        };
        let mut next = first;
        let outcome = parser.for_each_page(options, |event| {
            let page = match event {
                ParseEvent::PageParsed(page) => {
                    let text = page.plain_text().trim().to_owned();
                    let lack = lack_of(&page).filter(|_| text.is_empty());
                    PageText { number: page.number, text, lack }
                }
                ParseEvent::PageFailed { page, error } => broken(page, &error),
                _ => return ControlFlow::Continue(()),
            };
            next = page.number.saturating_add(1);
            self.chars += page.text.chars().count();
            self.pages.push(page);
            if self.is_enough() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if let Err(error) = outcome
            && next <= last
        {
            self.pages.extend((next..=last).map(|page| broken(page, &error)));
        }
    }
}

/// Pages that follow each other, together.
fn runs(pages: &[u32]) -> Vec<RangeInclusive<u32>> {
    let together = pages.chunk_by(|one, other| one.checked_add(1) == Some(*other));
    together.filter_map(|run| Some(*run.first()?..=*run.last()?)).collect()
}

fn broken(number: u32, error: &unpdf::Error) -> PageText {
    PageText { number, text: String::new(), lack: Some(Lack::Broken(words(error))) }
}

fn lack_of(page: &Page) -> Option<Lack> {
    if page.undecodable_content_streams > 0 {
        return Some(Lack::Broken("its content cannot be decoded".to_owned()));
    }
    (page.image_op_count > 0).then_some(Lack::Pictures)
}

fn failure(error: &unpdf::Error) -> Answer {
    match error.kind() {
        ErrorKind::Encrypted | ErrorKind::InvalidPassword => Answer::Locked,
        _ => Answer::Broken(words(error)),
    }
}

/// What an error says, in one line of bearable length.
fn words(error: &unpdf::Error) -> String {
    let words: String = error.to_string().chars().take(200).collect();
    words.replace(['\n', '\r'], " ")
}
