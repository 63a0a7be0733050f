//! A stream of events over HTTP, read within limits.

use std::time::Duration;

use reqwest::Response;

use super::error::ClientError;
use super::lines::{Growing, Line};
use super::web::unreachable;

/// Something a server sent.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Event {
    /// What it is; a message if nothing is said.
    pub(super) kind: Option<String>,
    /// What it says; nothing when it was too long.
    pub(super) data: Option<Vec<u8>>,
    /// It was too long.
    pub(super) is_too_long: bool,
    /// Where the stream goes on behind it.
    pub(super) id: Option<String>,
    /// How long to wait before asking again.
    pub(super) retry: Option<Duration>,
}

impl Event {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Takes in a line of the stream.
    fn take(&mut self, line: &Line<'_>, longest: usize) {
        let line = match line {
            Line::Whole(line) => line,
            Line::TooLong { .. } => {
                self.is_too_long = true;
                self.data = None;
                return;
            }
        };
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let colon = memchr::memchr(b':', line).unwrap_or(line.len());
        let (name, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let text = || String::from_utf8_lossy(value).into_owned();
        match name {
            b"event" => self.kind = Some(text()),
            b"id" if !value.contains(&0) => self.id = Some(text()),
            b"retry" => self.retry = text().parse().ok().map(Duration::from_millis),
            b"data" if !self.is_too_long => {
                let data = self.data.get_or_insert_default();
                if data.len() + value.len() > longest {
                    self.is_too_long = true;
                    self.data = None;
                    return;
                }
                if !data.is_empty() {
                    data.push(b'\n');
                }
                data.extend_from_slice(value);
            }
            _ => {}
        }
    }
}

/// Reads events.
#[derive(Debug)]
pub(super) struct Events {
    response: Response,
    chunk: Vec<u8>,
    taken: usize,
    line: Growing,
    longest: usize,
}

impl Events {
    /// The events of an answer, each of so many bytes at most.
    pub(super) fn new(response: Response, longest: usize) -> Self {
        Self { response, chunk: Vec::new(), taken: 0, line: Growing::new(longest), longest }
    }

    /// The next event; none at the end. What is unfinished then is dropped.
    pub(super) async fn next(&mut self) -> Result<Option<Event>, ClientError> {
        let mut event = Event::default();
        loop {
            let Some(is_blank) = self.next_line(&mut event).await? else { return Ok(None) };
            if is_blank && !event.is_empty() {
                return Ok(Some(event));
            }
        }
    }

    /// Takes the next line into an event; whether it was blank, and nothing at the end.
    async fn next_line(&mut self, event: &mut Event) -> Result<Option<bool>, ClientError> {
        self.line.clear();
        loop {
            let available = self.chunk.get(self.taken..).unwrap_or_default();
            if available.is_empty() {
                let chunk = self.response.chunk().await.map_err(|error| unreachable(&error))?;
                let Some(chunk) = chunk else { return Ok(None) };
                self.chunk = chunk.into();
                self.taken = 0;
                continue;
            }
            let (taken, is_whole) = self.line.grow(available);
            self.taken += taken;
            if is_whole {
                let line = self.line.whole();
                let is_blank = matches!(line, Line::Whole(b"" | b"\r"));
                event.take(&line, self.longest);
                return Ok(Some(is_blank));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(lines: &[&str], longest: usize) -> Event {
        let mut event = Event::default();
        for line in lines {
            event.take(&Line::Whole(line.as_bytes()), longest);
        }
        event
    }

    #[test]
    fn events_are_put_together() {
        let found = event(&["id: 7\r", "retry:500", ": a comment", "data: a", "data:b"], 100);
        assert_eq!(found.data.as_deref(), Some(&b"a\nb"[..]));
        assert_eq!(found.id.as_deref(), Some("7"));
        assert_eq!(found.retry, Some(Duration::from_millis(500)));
    }

    #[test]
    fn long_events_are_dropped() {
        let found = event(&["id: 7", "data: abc", "data: def", "data: ghi"], 5);
        assert!(found.is_too_long && found.data.is_none());
        assert_eq!(found.id.as_deref(), Some("7"));
    }
}
