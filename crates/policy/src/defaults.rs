//! The built-in rules: TOML files like everybody's.

use std::sync::LazyLock;

use crate::load::Loader;
use crate::rule::{Rule, Tier};

const FILES: &[(&str, &str)] = &[
    ("built-in read-only.toml", include_str!("defaults/read-only.toml")),
    ("built-in write.toml", include_str!("defaults/write.toml")),
    ("built-in discovered.toml", include_str!("defaults/discovered.toml")),
    ("built-in modes.toml", include_str!("defaults/modes.toml")),
];

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let loader = Loader::default();
    let parse = |(name, text): &(&str, &str)| loader.parse(text, name, Tier::Default).rules;
    FILES.iter().flat_map(parse).collect()
});

/// The built-in rules.
pub fn rules() -> &'static [Rule] {
    &RULES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_rules_are_sound() {
        for (name, text) in FILES {
            let file = Loader::default().parse(text, name, Tier::Default);
            assert_eq!(file.diagnostics, [], "{name}");
            assert!(!file.rules.is_empty(), "{name}");
        }
    }
}
