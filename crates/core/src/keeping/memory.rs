//! Values by key, and facts.

use std::fmt;
use std::path::Path;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::fault::KeepingError;

/// How many characters a key may have.
pub const MAX_KEY_CHARS: usize = 200;
/// How many bytes a value may have.
pub const MAX_VALUE_BYTES: usize = 256 * 1024;
/// How many characters a fact may have.
pub const MAX_FACT_CHARS: usize = 1_000;

/// Where facts stand among the keys of a memory.
const FACTS: &str = "fact/";

/// Keeps values by key, and facts.
pub trait Memory: fmt::Debug + Send + Sync {
    /// The value of a key, if there is one.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    fn get(&self, workspace: &Path, key: &str) -> Result<Option<MemoryEntry>, KeepingError>;

    /// Keeps a value, in place of another of the same key.
    ///
    /// # Errors
    ///
    /// When it cannot be kept.
    fn set(&self, workspace: &Path, key: &str, value: &str) -> Result<Stored, KeepingError>;

    /// Forgets a key; `false` when there was none.
    ///
    /// # Errors
    ///
    /// When that cannot be written down.
    fn delete(&self, workspace: &Path, key: &str) -> Result<bool, KeepingError>;

    /// Every key, by name.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    fn keys(&self, workspace: &Path) -> Result<Vec<MemoryKey>, KeepingError>;

    /// Keeps a fact, once in its scope.
    ///
    /// # Errors
    ///
    /// When it cannot be kept.
    fn remember(
        &self,
        workspace: &Path,
        fact: &str,
        scope: Scope,
    ) -> Result<Remembered, KeepingError>;

    /// The facts of a workspace and those of its user, the oldest first.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    fn facts(&self, workspace: &Path) -> Result<Vec<Fact>, KeepingError>;

    /// Forgets one of these facts; `false` when there is none of this number.
    ///
    /// # Errors
    ///
    /// When that cannot be written down.
    fn forget(&self, workspace: &Path, number: i64) -> Result<bool, KeepingError>;
}

/// A key and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryEntry {
    /// The value.
    pub value: String,
    /// When it was last set.
    pub changed: SystemTime,
}

/// A key, without its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryKey {
    /// The key.
    pub key: String,
    /// How many bytes its value has.
    pub bytes: u32,
    /// When it was last set.
    pub changed: SystemTime,
}

/// Whether a value is the first of its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// It is.
    New,
    /// It took the place of another.
    Replaced,
}

/// Where a fact holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// In one workspace.
    Workspace,
    /// Wherever this user works.
    User,
}

/// One line that was remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Its number, which no other fact ever has.
    pub number: i64,
    /// The line.
    pub fact: String,
    /// Where it holds.
    pub scope: Scope,
    /// When it was first remembered.
    pub at: SystemTime,
}

impl Fact {
    /// The key it goes by in a memory.
    pub fn key(&self) -> String {
        format!("{FACTS}{}", self.number)
    }

    /// The number of the fact that goes by a key, if that is a key of facts.
    pub fn number_of(key: &str) -> Option<i64> {
        let digits = key.strip_prefix(FACTS)?;
        digits.parse().ok().filter(|number: &i64| number.to_string() == digits)
    }
}

/// A fact that is now remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    /// The fact.
    pub fact: Fact,
    /// Whether it was not before.
    pub is_new: bool,
}

/// Whether a value can be kept under this key.
///
/// # Errors
///
/// What is wrong with it.
pub fn check_key(key: &str) -> Result<(), String> {
    if key.trim().is_empty() {
        return Err("it is empty; give it a name such as `build/command`".to_owned());
    }
    let chars = key.chars().count();
    if chars > MAX_KEY_CHARS {
        return Err(format!(
            "it has {chars} characters and may have {MAX_KEY_CHARS}; use a shorter name"
        ));
    }
    if key.chars().any(char::is_control) {
        return Err("it has control characters; use printable ones".to_owned());
    }
    if key.starts_with(FACTS) {
        return Err(format!(
            "keys that begin with `{FACTS}` are those of facts; use `remember` to add one, or another name"
        ));
    }
    Ok(())
}

/// Whether a value can be kept.
///
/// # Errors
///
/// What is wrong with it.
pub fn check_value(value: &str) -> Result<(), String> {
    if value.len() > MAX_VALUE_BYTES {
        return Err(format!(
            "it has {} bytes and may have {MAX_VALUE_BYTES}; keep it in a file, and the path in memory",
            value.len()
        ));
    }
    Ok(())
}

/// Whether a fact can be kept, trimmed.
///
/// # Errors
///
/// What is wrong with it.
pub fn check_fact(fact: &str) -> Result<&str, String> {
    let fact = fact.trim();
    if fact.is_empty() {
        return Err("it is empty; say what to remember in one line".to_owned());
    }
    if fact.chars().any(char::is_control) {
        return Err(
            "it must be one line without control characters; longer things go into `memory`"
                .to_owned(),
        );
    }
    let chars = fact.chars().count();
    if chars > MAX_FACT_CHARS {
        return Err(format!(
            "it has {chars} characters and may have {MAX_FACT_CHARS}; longer things go into `memory`"
        ));
    }
    Ok(fact)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_cannot_be_told_apart_or_typed_are_refused() {
        for key in ["a", "../../x", "%", "a b", "ключ/鍵", "fact", "facts/1", &"k".repeat(200)]
        {
            assert_eq!(check_key(key), Ok(()), "{key}");
        }
        for key in ["", " \u{a0}", "a\0b", "a\nb", "\u{9b}", "fact/1", "fact/", &"k".repeat(201)] {
            assert!(check_key(key).is_err(), "{key:?}");
        }
    }

    #[test]
    fn only_the_very_key_of_a_fact_means_it() {
        assert_eq!(Fact::number_of("fact/12"), Some(12));
        for key in
            ["fact/", "fact/012", "fact/+1", "fact/1 ", "fact/x", "12", "fact/99999999999999999999"]
        {
            assert_eq!(Fact::number_of(key), None, "{key}");
        }
    }

    #[test]
    fn facts_are_one_line() {
        assert_eq!(check_fact("  a fact \n"), Ok("a fact"));
        for fact in ["", "\n", "a\nb", "a\u{1b}[0m", &"x".repeat(1001)] {
            assert!(check_fact(fact).is_err(), "{fact:?}");
        }
        assert!(check_value(&"x".repeat(MAX_VALUE_BYTES)).is_ok());
        assert!(check_value(&"x".repeat(MAX_VALUE_BYTES + 1)).is_err());
    }
}
