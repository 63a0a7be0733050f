//! A module's place in its crate.

use std::collections::BTreeSet;
use std::fmt;

/// Names from the crate's root down; the root itself has none.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ModulePath(Vec<String>);

impl ModulePath {
    pub(super) fn root() -> Self {
        Self::default()
    }

    pub(super) fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn child(&self, name: &str) -> Self {
        let mut names = self.0.clone();
        names.push(name.to_owned());
        Self(names)
    }

    /// The module around this one; the root stays where it is.
    pub(super) fn parent(&self) -> Self {
        let mut names = self.0.clone();
        names.pop();
        Self(names)
    }

    pub(super) fn is_within(&self, ancestor: &Self) -> bool {
        self.0.starts_with(&ancestor.0)
    }

    /// The nearest module at or above this place that has a file of its own.
    pub(super) fn deepest_in(&self, modules: &BTreeSet<Self>) -> Self {
        let mut place = self.clone();
        while !place.is_root() && !modules.contains(&place) {
            place.0.pop();
        }
        place
    }
}

impl fmt::Display for ModulePath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("crate")?;
        for name in &self.0 {
            write!(formatter, "::{name}")?;
        }
        Ok(())
    }
}
