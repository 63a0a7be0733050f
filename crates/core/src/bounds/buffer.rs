//! The part of a text that stays in memory.

/// The start and the end of a text, each up to its own size in characters.
#[derive(Debug, Default)]
pub(super) struct Ends {
    start: String,
    start_chars: usize,
    start_limit: usize,
    end: String,
    end_limit: usize,
}

impl Ends {
    pub(super) fn new(start_limit: usize, end_limit: usize) -> Self {
        Self { start_limit, end_limit, ..Self::default() }
    }

    /// Takes more text; what fits neither end is forgotten.
    pub(super) fn push(&mut self, text: &str) {
        let room = self.start_limit - self.start_chars;
        let (first, rest) = split_at_char(text, room);
        self.start.push_str(first);
        self.start_chars += first.chars().count();
        if self.end_limit == 0 || rest.is_empty() {
            return;
        }
        self.end.push_str(rest);
        // Dropping the front in large steps keeps the cost linear. Four bytes hold any character.
        if self.end.len() > 8 * self.end_limit + 4096 {
            let kept = last_chars(&self.end, self.end_limit).to_owned();
            self.end = kept;
        }
    }

    /// The start that was kept, cut at a line end where one is near.
    pub(super) fn into_parts(mut self, line_boundaries: bool) -> (String, String) {
        let end = last_chars(&self.end, self.end_limit);
        let end = if line_boundaries { from_line_start(end) } else { end }.to_owned();
        if line_boundaries {
            self.start.truncate(to_line_end(&self.start));
        }
        (self.start, end)
    }
}

/// Splits after `count` characters.
pub(super) fn split_at_char(text: &str, count: usize) -> (&str, &str) {
    if text.len() <= count {
        return (text, "");
    }
    let at = text.char_indices().nth(count).map_or(text.len(), |(at, _)| at);
    text.split_at(at)
}

/// The last `count` characters.
fn last_chars(text: &str, count: usize) -> &str {
    if text.len() <= count {
        return text;
    }
    let Some(before) = count.checked_sub(1) else {
        return "";
    };
    let at = text.char_indices().rev().nth(before).map_or(0, |(at, _)| at);
    text.split_at(at).1
}

/// Where to cut so that the last line is whole, unless that would lose half of it.
fn to_line_end(text: &str) -> usize {
    match text.rfind('\n') {
        Some(at) if at + 1 >= text.len() / 2 => at + 1,
        _ => text.len(),
    }
}

/// The text from its first whole line on, unless that would lose half of it.
fn from_line_start(text: &str) -> &str {
    match text.find('\n') {
        Some(at) if at < text.len() / 2 => text.split_at(at + 1).1,
        _ => text,
    }
}
