//! One permission that could be given.

/// A permission for one part of a call, and what it means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) permission: String,
    pub(super) meaning: String,
    /// The folder that a command runs in.
    pub(super) folder: Option<String>,
    /// `true` if the folder defines what the command does, as a script in it does.
    pub(super) is_local: bool,
}

impl Candidate {
    pub(super) fn new(permission: String, meaning: String) -> Self {
        Self { permission, meaning, folder: None, is_local: false }
    }

    /// The same permission, limited to the folder that its command runs in.
    pub(super) fn limited(&self) -> Option<Self> {
        let folder = self.folder.as_ref()?;
        let permission = format!("{} in {folder}", self.permission);
        let meaning = format!("{} in {folder}", self.meaning);
        Some(Self { permission, meaning, ..self.clone() })
    }
}
