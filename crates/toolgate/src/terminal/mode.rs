//! Keys that arrive one by one, and the terminal as it was before.

use std::io;
use std::sync::{Mutex, PoisonError};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// A terminal that hands over keys as they are pressed and does not show them. It is put back
/// as it was when this is dropped, or earlier.
///
/// Signals stay on: Ctrl-C does what it always does.
#[derive(Debug)]
pub(crate) struct Raw {
    /// How it was; taken when it is put back for good.
    before: Mutex<Option<Termios>>,
}

impl Raw {
    /// Nothing, where keys cannot be had one by one.
    pub(crate) fn enter() -> Option<Self> {
        let before = tcgetattr(io::stdin()).ok()?;
        let raw = Self { before: Mutex::new(Some(before)) };
        raw.resume().then_some(raw)
    }

    /// Hands over keys one by one, unless the terminal was put back for good.
    pub(crate) fn resume(&self) -> bool {
        let before = self.before.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(before) = &*before else { return false };
        let mut raw = before.clone();
        raw.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        raw.special_codes[rustix::termios::SpecialCodeIndex::VMIN] = 1;
        raw.special_codes[rustix::termios::SpecialCodeIndex::VTIME] = 0;
        tcsetattr(io::stdin(), OptionalActions::Now, &raw).is_ok()
    }

    /// Lets lines be typed until [`Raw::resume`].
    pub(crate) fn pause(&self) {
        let before = self.before.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = &*before {
            tcsetattr(io::stdin(), OptionalActions::Now, before).ok();
        }
    }

    /// Puts the terminal back for good, even while another thread waits for a key.
    pub(crate) fn leave(&self) {
        let before = self.before.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(before) = before {
            tcsetattr(io::stdin(), OptionalActions::Now, &before).ok();
        }
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        self.leave();
    }
}
