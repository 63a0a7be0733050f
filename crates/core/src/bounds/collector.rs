//! Takes text as it comes and keeps what the limit allows.

use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

use super::buffer::Ends;
use super::limit::{Cap, Keep, Limit, Whole};
use super::spill::Spill;
use crate::result::{BoundedText, Truncation};
use crate::visible::{self, LineEnd};

/// Takes text as it comes, keeps what the limit allows, writes the whole to a
/// file once something has to go.
///
/// ```
/// use toolgate_core::bounds::{Collector, Limit, Preset, Shape, Whole};
///
/// let limit = Limit::for_shape(Shape::File, Preset::Standard, 10);
/// let mut collector = Collector::new(limit, Whole::Dropped);
/// collector.push("one\ntwo\nthree\n");
/// let text = collector.finish();
/// assert!(text.as_str().starts_with("one\ntwo\n"));
/// assert!(text.as_str().contains("[Output truncated: 6 characters (1 line) omitted"));
/// ```
#[derive(Debug)]
pub struct Collector {
    limit: Limit,
    whole: Whole,
    /// Everything so far, while it still fits.
    pending: String,
    /// Where the items in `pending` end, and how many do there.
    pending_items: Vec<(usize, u64)>,
    seen: Amount,
    /// What the ends hold once the text no longer fits.
    cut: Option<Cut>,
    held_return: bool,
}

#[derive(Debug)]
struct Cut {
    ends: Ends,
    spill: SpillState,
    /// Whether lines and items still fit.
    open: bool,
    /// How much was offered to the ends while open.
    taken: Amount,
    /// Where, in characters, items end that may still be in the start, and how many do.
    item_ends: Vec<(u64, u64)>,
}

#[derive(Debug)]
enum SpillState {
    Writing(Spill),
    Failed(String),
    Dropped,
}

#[derive(Debug, Clone, Copy, Default)]
struct Amount {
    chars: u64,
    lines: u64,
    items: u64,
}

impl Collector {
    /// An empty collector.
    pub fn new(limit: Limit, whole: Whole) -> Self {
        Self {
            limit,
            whole,
            pending: String::new(),
            pending_items: Vec::new(),
            seen: Amount::default(),
            cut: None,
            held_return: false,
        }
    }

    /// Takes one entry or match, which is counted and never cut in two by its count.
    pub fn item(&mut self, text: &str) {
        self.take(text, 1);
    }

    /// Takes many entries or matches at once. They are kept or left out together, so
    /// this is for those that come when the collector [is full](Self::is_full).
    pub fn items(&mut self, text: &str, count: u64) {
        self.take(text, count);
    }

    /// Whether nothing that comes from now on is kept in the result itself.
    pub fn is_full(&self) -> bool {
        self.limit.keep == Keep::Start
            && self
                .cut
                .as_ref()
                .is_some_and(|cut| !cut.open || cut.taken.chars >= self.limit.chars.keep as u64)
    }

    /// Takes any text.
    pub fn push(&mut self, text: &str) {
        self.take(text, 0);
    }

    /// How many characters came so far.
    pub fn chars(&self) -> u64 {
        self.seen.chars
    }

    fn take(&mut self, text: &str, items: u64) {
        if text.is_empty() || !self.held_return && visible::is_clean(text) && !text.ends_with('\r')
        {
            self.add(text, items);
            return;
        }
        let mut safe = String::with_capacity(text.len() + 16);
        if std::mem::take(&mut self.held_return) {
            safe.push_str(if text.starts_with('\n') { "\r" } else { "\\r" });
        }
        self.held_return = visible::push_visible(&mut safe, text, LineEnd::Open);
        self.add(&safe, items);
    }

    fn add(&mut self, text: &str, items: u64) {
        self.seen.chars += text.chars().count() as u64;
        self.seen.lines += count_lines(text);
        self.seen.items += items;
        if let Some(cut) = &mut self.cut {
            cut.add(text, items, &self.limit);
            return;
        }
        self.pending.push_str(text);
        if items > 0 {
            self.pending_items.push((self.pending.len(), items));
        }
        if self.is_over() {
            self.start_cutting();
        }
    }

    fn is_over(&self) -> bool {
        let passed = |seen: u64, cap: Cap| seen > cap.over as u64;
        passed(self.seen.chars, self.limit.chars)
            || self.limit.lines.is_some_and(|cap| passed(self.seen.lines, cap))
            || self.limit.items.is_some_and(|cap| passed(self.seen.items, cap))
    }

    /// The text no longer fits: from here on only its ends stay in memory.
    fn start_cutting(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        let mut cut = Cut::new(&self.limit, &self.whole);
        let mut rest = pending.as_str();
        let mut done = 0;
        for (end, items) in std::mem::take(&mut self.pending_items) {
            let (item, after) = rest.split_at(end - done);
            cut.add(item, items, &self.limit);
            (rest, done) = (after, end);
        }
        cut.add(rest, 0, &self.limit);
        self.cut = Some(cut);
    }

    /// Ends the text: notes what was left out and where the whole is.
    pub fn finish(mut self) -> BoundedText {
        if std::mem::take(&mut self.held_return) {
            self.add("\\r", 0);
        }
        let Some(cut) = self.cut else {
            return BoundedText { text: self.pending, truncated: None };
        };
        cut.finish(&self.limit, self.seen)
    }
}

impl Cut {
    fn new(limit: &Limit, whole: &Whole) -> Self {
        let keep = limit.chars.keep;
        let ends = match limit.keep {
            Keep::Start => Ends::new(keep, 0),
            Keep::End => Ends::new(0, keep),
            Keep::Both => Ends::new(keep / 2, keep - keep / 2),
            Keep::MostlyEnd => Ends::new(keep / 5, keep - keep / 5),
        };
        let spill = match whole {
            Whole::Dropped => SpillState::Dropped,
            Whole::Kept { folder, name } => match Spill::create(folder, name) {
                Ok(spill) => SpillState::Writing(spill),
                Err(error) => SpillState::Failed(failure(&error)),
            },
        };
        Self { ends, spill, open: true, taken: Amount::default(), item_ends: Vec::new() }
    }

    fn add(&mut self, text: &str, items: u64, limit: &Limit) {
        self.write_whole(text);
        if !self.open {
            return;
        }
        let full = |taken: u64, cap: Option<Cap>| cap.is_some_and(|cap| taken >= cap.keep as u64);
        let start_is_full = limit.keep == Keep::Start && full(self.taken.chars, Some(limit.chars));
        if start_is_full || full(self.taken.items, limit.items) {
            self.open = false;
            return;
        }
        if limit.lines.is_some() && limit.keep == Keep::Start {
            for line in text.split_inclusive('\n') {
                if full(self.taken.lines, limit.lines) {
                    self.open = false;
                    return;
                }
                self.offer(line);
            }
        } else {
            self.offer(text);
        }
        self.taken.items += items;
        if items > 0 && self.taken.chars <= limit.chars.keep as u64 {
            self.item_ends.push((self.taken.chars, items));
        }
    }

    fn offer(&mut self, text: &str) {
        self.ends.push(text);
        self.taken.lines += count_lines(text);
        self.taken.chars += text.chars().count() as u64;
    }

    fn write_whole(&mut self, text: &str) {
        let SpillState::Writing(spill) = &mut self.spill else {
            return;
        };
        if let Err(error) = spill.write(text) {
            let failed = SpillState::Failed(failure(&error));
            if let SpillState::Writing(spill) = std::mem::replace(&mut self.spill, failed) {
                spill.discard();
            }
        }
    }

    fn finish(self, limit: &Limit, seen: Amount) -> BoundedText {
        let (start, end) = self.ends.into_parts(true);
        let whole = match self.spill {
            SpillState::Writing(spill) => spill.finish().map_err(|error| failure(&error)),
            SpillState::Failed(reason) => Err(reason),
            SpillState::Dropped => Err(String::new()),
        };
        let kept_lines = count_lines(&start) + count_lines(&end);
        let kept_chars = (start.chars().count() + end.chars().count()) as u64;
        let kept_items = self
            .item_ends
            .iter()
            .filter(|(end, _)| *end <= kept_chars)
            .map(|(_, items)| items)
            .sum();
        let truncation = Truncation {
            omitted_chars: seen.chars.saturating_sub(kept_chars),
            omitted_lines: seen.lines.saturating_sub(kept_lines),
            omitted_items: limit.item_name.map(|_| seen.items.saturating_sub(kept_items)),
            whole: whole.as_ref().ok().cloned(),
        };
        let note = note(limit, &truncation, &whole);
        BoundedText { text: join(limit.keep, &start, &note, &end), truncated: Some(truncation) }
    }
}

fn count_lines(text: &str) -> u64 {
    // Counted in bytes as far as they go, which takes many at once.
    let in_chunk = |chunk: &[u8]| chunk.iter().map(|byte| u8::from(*byte == b'\n')).sum::<u8>();
    text.as_bytes().chunks(128).map(|chunk| u64::from(in_chunk(chunk))).sum()
}

fn failure(error: &io::Error) -> String {
    format!("The whole could not be kept: {error}")
}

/// Says how much was left out and where the whole is.
fn note(limit: &Limit, truncation: &Truncation, whole: &Result<PathBuf, String>) -> String {
    let mut note = String::from("[Output truncated: ");
    let plural = |count: u64| if count == 1 { "" } else { "s" };
    let written = match (limit.item_name, truncation.omitted_items) {
        (Some(name), Some(items)) if items > 0 => write!(note, "{items} more {name} omitted"),
        _ => {
            let chars = truncation.omitted_chars;
            let lines = truncation.omitted_lines;
            let amount = format!("{chars} character{}", plural(chars));
            if lines > 0 {
                write!(note, "{amount} ({lines} line{}) omitted", plural(lines))
            } else {
                write!(note, "{amount} omitted")
            }
        }
    };
    written.expect("writing to a string cannot fail");
    match whole {
        Ok(path) => {
            note.push_str("; the whole is in ");
            note.push_str(&visible::path(path));
        }
        Err(reason) if !reason.is_empty() => {
            note.push_str(". ");
            note.push_str(reason);
        }
        Err(_) => {}
    }
    note.push(']');
    note
}

/// Puts the note where the gap is.
fn join(keep: Keep, start: &str, note: &str, end: &str) -> String {
    let gap = if start.is_empty() || start.ends_with('\n') { "\n" } else { "\n\n" };
    match keep {
        Keep::Start => format!("{start}{gap}{note}"),
        Keep::End => format!("{note}\n\n{end}"),
        Keep::Both | Keep::MostlyEnd => format!("{start}{gap}{note}\n\n{end}"),
    }
}
