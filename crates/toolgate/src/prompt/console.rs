//! What a conversation needs: something to write on, keys, and an editor.

use crate::terminal::{Input, Keyboard, Paper, Size};

use super::editor::{self, EditError};

/// Somebody to talk to.
pub(super) trait Console {
    /// Shows text; its styles are left out where they are not wanted.
    fn write(&self, text: &str);
    /// How much fits on the screen.
    fn size(&self) -> Size;
    /// Waits for a key.
    fn key(&self) -> Input;
    /// Waits for a line.
    ///
    /// # Errors
    ///
    /// What happened instead.
    fn line(&self) -> Result<String, Input>;
    /// Lets the person change a text in their editor.
    ///
    /// # Errors
    ///
    /// When there is none, or it failed.
    fn edit(&self, text: &str) -> Result<String, EditError>;
}

/// The person at the terminal.
#[derive(Debug)]
pub(super) struct Person<'a> {
    pub(super) paper: &'a Paper,
    pub(super) keyboard: &'a Keyboard,
}

impl Console for Person<'_> {
    fn write(&self, text: &str) {
        self.paper.write(text);
    }

    fn size(&self) -> Size {
        self.paper.size()
    }

    fn key(&self) -> Input {
        self.keyboard.key()
    }

    fn line(&self) -> Result<String, Input> {
        self.keyboard.line()
    }

    fn edit(&self, text: &str) -> Result<String, EditError> {
        let raw = self.keyboard.raw();
        if let Some(raw) = &raw {
            raw.pause();
        }
        let edited = editor::edit(text, || self.keyboard.is_withdrawn());
        if let Some(raw) = &raw {
            raw.resume();
        }
        edited
    }
}
