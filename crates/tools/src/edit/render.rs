//! What stands in a place afterwards.

use std::ops::Range;

use super::find::How;

/// Renders the replacement for places, which must come in order.
#[derive(Debug)]
pub(super) struct Renderer<'a> {
    text: &'a str,
    target: &'a str,
    replacement: &'a str,
    how: &'a How,
    line_ends: LineEnds,
}

impl<'a> Renderer<'a> {
    pub(super) fn new(text: &'a str, target: &'a str, replacement: &'a str, how: &'a How) -> Self {
        Self { text, target, replacement, how, line_ends: LineEnds::default() }
    }

    /// What will stand in a place.
    pub(super) fn render(&mut self, place: &Range<usize>) -> String {
        let own = match self.how {
            How::Regex(regex) => {
                let mut expanded = String::new();
                if let Some(captures) = regex.captures_at(self.text, place.start) {
                    captures.expand(self.replacement, &mut expanded);
                }
                return expanded;
            }
            How::Literal => self.replacement.to_owned(),
            How::Flexible => reindented(self.text, place.start, self.target, self.replacement),
        };
        if own.contains('\n')
            && !own.contains("\r\n")
            && self.line_ends.are_crlf(self.text, place.start)
        {
            own.replace('\n', "\r\n")
        } else {
            own
        }
    }
}

/// Which line ends a text has around a place. Looks forward once per line, however many
/// places a line has.
#[derive(Debug, Default)]
struct LineEnds {
    /// The answer holds from and to here.
    known: Option<(Range<usize>, bool)>,
}

impl LineEnds {
    fn are_crlf(&mut self, text: &str, offset: usize) -> bool {
        if let Some((known, crlf)) = &self.known
            && known.contains(&offset)
        {
            return *crlf;
        }
        let bytes = text.as_bytes();
        let next = bytes.get(offset..).and_then(|rest| memchr::memchr(b'\n', rest));
        let (line_end, until) = if let Some(at) = next {
            (Some(offset + at), offset + at + 1)
        } else {
            let before = bytes.get(..offset).unwrap_or_default();
            (memchr::memrchr(b'\n', before), usize::MAX)
        };
        let crlf = line_end.is_some_and(|at| at > 0 && bytes.get(at - 1) == Some(&b'\r'));
        self.known = Some((offset..until, crlf));
        crlf
    }
}

/// The replacement with the target's indentation exchanged for the text's.
fn reindented(text: &str, start: usize, target: &str, replacement: &str) -> String {
    let line_start = text.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let before = text.get(line_start..start).unwrap_or_default();
    let own = if before.trim().is_empty() { before } else { "" };
    let assumed =
        indentation(target.lines().find(|line| !line.trim().is_empty()).unwrap_or_default());
    // Whitespace around the target is not part of the hit, so it is not put in again either.
    let mut core = replacement;
    if target.starts_with(['\n', '\r']) {
        core = core.trim_start_matches(['\n', '\r']);
    }
    if target.ends_with('\n') {
        core = core.trim_end();
    }
    let lines = core.split('\n').enumerate().map(|(index, line)| {
        match (index, line.strip_prefix(assumed)) {
            (0, Some(rest)) => rest.to_owned(),
            (0, None) => line.trim_start().to_owned(),
            (_, Some(rest)) if !line.trim().is_empty() => format!("{own}{rest}"),
            _ => line.to_owned(),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn indentation(line: &str) -> &str {
    let length = line.len() - line.trim_start().len();
    line.get(..length).unwrap_or_default()
}
