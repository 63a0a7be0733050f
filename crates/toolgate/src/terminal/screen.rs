//! Where questions are written, and how much fits there.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal as _, Write as _};
use std::os::fd::AsFd;

use anstream::ColorChoice;
use rustix::termios::tcgetwinsize;

/// How many columns and rows there are when nothing tells.
const USUAL: Size = Size { columns: 80, rows: 24 };
/// Nothing can be read in fewer columns.
const NARROWEST: usize = 24;

/// How much fits on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

/// What questions are written on: standard error, or the terminal itself when that goes elsewhere.
#[derive(Debug)]
pub(crate) struct Paper {
    terminal: Option<File>,
    colours: bool,
}

impl Paper {
    /// Nothing, where no person would see what is written.
    pub(crate) fn take() -> Option<Self> {
        if io::stderr().is_terminal() {
            let choice = anstream::AutoStream::choice(&io::stderr());
            return Some(Self { terminal: None, colours: choice != ColorChoice::Never });
        }
        let terminal = OpenOptions::new().write(true).open("/dev/tty").ok()?;
        let choice = anstream::AutoStream::choice(&terminal);
        Some(Self { terminal: Some(terminal), colours: choice != ColorChoice::Never })
    }

    /// Writes text; its styles are left out where they are not wanted.
    pub(crate) fn write(&self, text: &str) {
        let plain = (!self.colours).then(|| anstream::adapter::strip_str(text).to_string());
        let bytes = plain.as_deref().unwrap_or(text).as_bytes();
        // Who hung up does not read this.
        match &self.terminal {
            Some(terminal) => (&mut &*terminal).write_all(bytes).ok(),
            None => io::stderr().write_all(bytes).ok(),
        };
    }

    /// How much fits on it.
    pub(crate) fn size(&self) -> Size {
        let stderr = io::stderr();
        let place = self.terminal.as_ref().map_or(stderr.as_fd(), AsFd::as_fd);
        let (columns, rows) =
            tcgetwinsize(place).map_or((0, 0), |size| (size.ws_col.into(), size.ws_row.into()));
        let told = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
        let or = |seen: usize, name: &str, usual: usize| match seen {
            0 => told(name).filter(|told| *told > 0).unwrap_or(usual),
            seen => seen,
        };
        Size {
            columns: or(columns, "COLUMNS", USUAL.columns).max(NARROWEST),
            rows: or(rows, "LINES", USUAL.rows),
        }
    }
}

/// Whether the terminal can do no more than show lines.
pub(crate) fn is_dumb() -> bool {
    std::env::var_os("TERM").is_none_or(|name| name == "dumb")
}
