//! The table of needs: what is built in, and what the user's settings change.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Deserialize;

/// The built-in table.
const BUILT_IN: &str = include_str!("table.toml");

static USUAL: LazyLock<Table> = LazyLock::new(|| {
    let entries = toml::from_str(BUILT_IN).unwrap_or_default();
    Table::from_entries(entries)
});

/// What programs need, by their names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    entries: BTreeMap<String, Entry>,
    /// Names of programs, and the entries they belong to.
    programs: BTreeMap<String, String>,
}

/// What a program and those it starts need. See `table.toml` for the meaning of each field.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Entry {
    /// Other names of the program.
    pub programs: Vec<String>,
    /// Entries whose needs this one has, too.
    pub includes: Vec<String>,
    /// The cache in words.
    pub cache: Option<String>,
    /// The folders of the cache, such as `~/.cache/pip`.
    pub folders: Vec<String>,
    /// The hosts in words.
    pub registry: Option<String>,
    /// The hosts that it talks to.
    pub hosts: Vec<String>,
    /// The user's own settings files, whose hosts may be reached, too.
    pub config: Vec<String>,
    /// Variables whose addresses may be reached, too.
    pub environment: Vec<String>,
    /// The only subcommands that talk to hosts.
    pub online: Option<Vec<String>>,
    /// Variables that the program runs with.
    pub set: BTreeMap<String, String>,
    /// Subcommands that act outside of the workspace, and what they do.
    pub leaves: BTreeMap<String, String>,
}

/// Why an entry of the user's settings was rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum NeedsError {
    #[error("`{name}` includes `{included}`, which has no entry")]
    Unknown { name: String, included: String },
    #[error("`{host}` is not a host name: {why}")]
    Host { host: String, why: String },
    #[error("`{folder}` is not a folder: write an absolute path or one that begins with `~/`")]
    Folder { folder: String },
}

impl Table {
    /// Returns the built-in table.
    pub fn built_in() -> &'static Self {
        &USUAL
    }

    /// Returns the table with the user's entries in place of the built-in ones of that name.
    ///
    /// # Errors
    ///
    /// Errors if an entry names a host, a folder or another entry that makes no sense.
    pub fn with(mut self, changed: &BTreeMap<String, Entry>) -> Result<Self, NeedsError> {
        self.entries.extend(changed.clone());
        for (name, entry) in changed {
            if let Some(included) =
                entry.includes.iter().find(|one| !self.entries.contains_key(*one))
            {
                let included = included.clone();
                return Err(NeedsError::Unknown { name: name.clone(), included });
            }
            for host in &entry.hosts {
                crate::host::parse_granted(host).map_err(|error| NeedsError::Host {
                    host: host.clone(),
                    why: error.to_string(),
                })?;
            }
            for folder in &entry.folders {
                let (variable, usual) = folder.split_once('|').unwrap_or(("", folder));
                let is_variable = variable.starts_with('$') && usual.is_empty();
                if !is_variable && !usual.starts_with('/') && !usual.starts_with("~/") {
                    return Err(NeedsError::Folder { folder: folder.clone() });
                }
            }
        }
        Ok(Self::from_entries(self.entries))
    }

    fn from_entries(entries: BTreeMap<String, Entry>) -> Self {
        let mut programs = BTreeMap::new();
        for (name, entry) in &entries {
            for other in &entry.programs {
                programs.insert(other.clone(), name.clone());
            }
        }
        for name in entries.keys() {
            programs.insert(name.clone(), name.clone());
        }
        Self { entries, programs }
    }

    /// Returns the entry of a program.
    pub(super) fn entry(&self, program: &str) -> Option<&Entry> {
        self.entries.get(self.programs.get(program)?)
    }

    /// Returns an entry and those it includes, one level deep.
    pub(super) fn parts<'t>(&'t self, entry: &'t Entry) -> impl Iterator<Item = &'t Entry> {
        let included = entry.includes.iter().filter_map(|name| self.entries.get(name));
        std::iter::once(entry).chain(included)
    }

    /// Returns the variables that the table reads, with repetitions. A program that does not see
    /// them keeps its cache, or looks for its registry, somewhere else.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.entries.values().flat_map(|entry| {
            let places = entry.folders.iter().chain(&entry.config);
            let named =
                places.filter_map(|place| Some(place.strip_prefix('$')?.split_once('|')?.0));
            named.chain(entry.environment.iter().map(String::as_str))
        })
    }

    /// Returns the names of all entries.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_table_is_sound() {
        let entries: BTreeMap<String, Entry> = toml::from_str(BUILT_IN).unwrap();
        assert!(entries.len() >= 30, "{}", entries.len());
        Table::default().with(&entries).unwrap();
    }

    #[test]
    fn mistakes_of_the_user_are_told() {
        let with = |text: &str| {
            let entries = toml::from_str(text).unwrap();
            Table::built_in().clone().with(&entries).unwrap_err().to_string()
        };
        assert_eq!(with("[x]\nincludes = [\"y\"]"), "`x` includes `y`, which has no entry");
        assert!(with("[x]\nhosts = [\"a b\"]").starts_with("`a b` is not a host name"));
        assert!(with("[x]\nfolders = [\"cache\"]").starts_with("`cache` is not a folder"));
    }
}
