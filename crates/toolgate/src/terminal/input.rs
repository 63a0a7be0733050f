//! What a person types.

use std::io::{self, PipeReader, PipeWriter};
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{QueueSelector, tcflush};

use super::mode::Raw;
use super::screen;

/// What the end of input looks like when keys arrive one by one.
const END: u8 = 4;
/// A key is one only if nothing follows for this long: text that is pasted comes at once, and a
/// key that is held down comes again and again.
const ALONE: Timespec = Timespec { tv_sec: 0, tv_nsec: 60_000_000 };
/// After anything else, whatever comes without a pause of this length is part of it.
const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 300_000_000 };
/// Longer lines are cut here.
const LONGEST: usize = 1 << 20;

/// Something that was typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    /// A letter, digit or sign.
    Key(char),
    /// The key that ends a line.
    Enter,
    /// Any other key, and several at once, as when text is pasted.
    Other,
    /// The end of input.
    End,
    /// Nobody wants to know any more.
    Withdrawn,
}

/// Ends the wait for a key when it is dropped.
#[derive(Debug)]
pub(crate) struct Withdrawal {
    _end: PipeWriter,
}

/// Standard input, read key by key where that is possible and line by line elsewhere.
#[derive(Debug)]
pub(crate) struct Keyboard {
    raw: Option<Arc<Raw>>,
    withdrawn: PipeReader,
}

impl Keyboard {
    /// Takes the keyboard. What was typed before is forgotten.
    pub(crate) fn take() -> io::Result<(Self, Withdrawal)> {
        Self::with(if screen::is_dumb() { None } else { Raw::enter() })
    }

    /// Takes the keyboard, line by line. What was typed before is forgotten.
    pub(crate) fn take_lines() -> io::Result<(Self, Withdrawal)> {
        Self::with(None)
    }

    fn with(raw: Option<Raw>) -> io::Result<(Self, Withdrawal)> {
        let (withdrawn, end) = io::pipe()?;
        // What was typed before the question was there is no answer to it.
        tcflush(io::stdin(), QueueSelector::IFlush).ok();
        Ok((Self { raw: raw.map(Arc::new), withdrawn }, Withdrawal { _end: end }))
    }

    /// What puts the terminal back as it was, from any thread.
    pub(crate) fn raw(&self) -> Option<Arc<Raw>> {
        self.raw.clone()
    }

    /// Waits for a key, or for a line where keys do not come one by one.
    pub(crate) fn key(&self) -> Input {
        match &self.raw {
            Some(raw) => self.pressed(raw),
            None => match self.typed() {
                // Several lines at once were not typed in answer to this.
                Ok(_) if self.wait(Some(&ALONE)) == Ok(true) => self.forget(),
                Ok(line) => meant(line.trim()),
                Err(instead) => instead,
            },
        }
    }

    /// Waits for a line; it is shown while it is typed.
    ///
    /// # Errors
    ///
    /// What happened instead.
    pub(crate) fn line(&self) -> Result<String, Input> {
        if let Some(raw) = &self.raw {
            raw.pause();
        }
        let line = self.typed();
        if let Some(raw) = &self.raw {
            raw.resume();
        }
        line
    }

    /// Whether nobody wants to know any more.
    pub(crate) fn is_withdrawn(&self) -> bool {
        let mut waiting = [PollFd::new(&self.withdrawn, PollFlags::IN)];
        poll(&mut waiting, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    }

    fn pressed(&self, raw: &Raw) -> Input {
        let mut bytes = Vec::new();
        loop {
            // Somebody who stopped the program and came back finds the terminal changed.
            raw.resume();
            match self.wait(None) {
                Ok(true) => break,
                Ok(false) => {}
                Err(instead) => return instead,
            }
        }
        loop {
            match read(&mut bytes) {
                Some(0) | None => return Input::End,
                Some(_) if bytes.len() > 64 || bytes.contains(&END) => break,
                Some(_) => {}
            }
            if !self.wait(Some(&ALONE)).unwrap_or(false) {
                break;
            }
        }
        if bytes.contains(&END) {
            return Input::End;
        }
        let typed = match std::str::from_utf8(&bytes) {
            Ok("\n" | "\r") => Input::Enter,
            Ok(text) => meant(text.strip_suffix(['\n', '\r']).unwrap_or(text)),
            Err(_) => Input::Other,
        };
        if typed == Input::Other { self.forget() } else { typed }
    }

    /// Leaves out what was typed and whatever comes with it.
    fn forget(&self) -> Input {
        while self.wait(Some(&PAUSE)) == Ok(true) {
            if !matches!(read(&mut Vec::new()), Some(1..)) {
                return Input::End;
            }
        }
        Input::Other
    }

    fn typed(&self) -> Result<String, Input> {
        let mut bytes = Vec::new();
        while !bytes.ends_with(b"\n") && bytes.len() < LONGEST {
            if !self.wait(None)? {
                continue;
            }
            match read(&mut bytes) {
                Some(0) | None => return Err(Input::End),
                Some(_) => {}
            }
        }
        Ok(String::from_utf8_lossy(&bytes).trim_end_matches(['\r', '\n']).to_owned())
    }

    /// Waits for something to read; whether there is something.
    fn wait(&self, patience: Option<&Timespec>) -> Result<bool, Input> {
        let stdin = io::stdin();
        let mut waiting =
            [PollFd::new(&stdin, PollFlags::IN), PollFd::new(&self.withdrawn, PollFlags::IN)];
        match poll(&mut waiting, patience) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(false),
            Err(_) => return Err(Input::End),
        }
        let [typed, withdrawn] = waiting;
        if !withdrawn.revents().is_empty() {
            return Err(Input::Withdrawn);
        }
        Ok(!typed.revents().is_empty())
    }
}

/// Reads what is there; nothing when it cannot be read.
fn read(bytes: &mut Vec<u8>) -> Option<usize> {
    let mut piece = [0; 4096];
    let count = rustix::io::read(io::stdin(), &mut piece).ok()?;
    bytes.extend_from_slice(piece.get(..count)?);
    Some(count)
}

/// One letter is a key, and so are the words people type for yes and no.
fn meant(text: &str) -> Input {
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (None, _) => Input::Enter,
        (Some(letter), None) if !letter.is_control() => Input::Key(letter),
        _ if text.eq_ignore_ascii_case("yes") => Input::Key('y'),
        _ if text.eq_ignore_ascii_case("no") => Input::Key('n'),
        _ => Input::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_letter_is_a_key() {
        assert_eq!(meant("y"), Input::Key('y'));
        assert_eq!(meant("é"), Input::Key('é'));
        assert_eq!(meant("YES"), Input::Key('y'));
        assert_eq!(meant(""), Input::Enter);
        for other in ["\u{1b}", "\u{1b}[A", "ya", "y\n", "yy", "\u{7f}"] {
            assert_eq!(meant(other), Input::Other, "{other:?}");
        }
    }
}
