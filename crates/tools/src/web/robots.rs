//! What a site asks programs not to fetch.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::settings::Limits;

/// What tools are called in these files.
const NAME: &str = "toolgate";
/// How many of its lines count.
const MOST_RULES: usize = 10_000;
/// How many sites are remembered.
const SITES: u64 = 1_000;

type Sites = moka::future::Cache<String, Arc<Rules>>;

/// What sites ask programs not to fetch, remembered for a while.
pub(super) struct Robots {
    sites: OnceLock<Sites>,
    time: Duration,
}

impl Robots {
    pub(super) fn new(limits: &Limits) -> Self {
        Self { sites: OnceLock::new(), time: limits.cache_time }
    }

    /// What a site asks, from its file when that was not read lately.
    pub(super) async fn rules(
        &self,
        file: &str,
        text: impl Future<Output = Option<String>>,
    ) -> Arc<Rules> {
        let load =
            async { Arc::new(text.await.map(|text| Rules::parse(&text)).unwrap_or_default()) };
        self.sites().get_with(file.to_owned(), load).await
    }

    fn sites(&self) -> &Sites {
        self.sites
            .get_or_init(|| Sites::builder().max_capacity(SITES).time_to_live(self.time).build())
    }
}

impl fmt::Debug for Robots {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Robots").finish_non_exhaustive()
    }
}

/// What one file asks of us.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Rules(Vec<(String, bool)>);

impl Rules {
    /// Reads the groups about us, or those about everybody.
    fn parse(text: &str) -> Self {
        let (mut ours, mut everybody) = (Vec::new(), Vec::new());
        let mut names_us = false;
        let (mut is_ours, mut is_everybody, mut in_rules) = (false, false, false);
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or_default();
            let Some((key, value)) = line.split_once(':') else { continue };
            let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
            match key.trim_start_matches('\u{feff}') {
                "user-agent" => {
                    if std::mem::take(&mut in_rules) {
                        (is_ours, is_everybody) = (false, false);
                    }
                    let name = value.split('/').next().unwrap_or_default();
                    is_ours |= name.eq_ignore_ascii_case(NAME);
                    is_everybody |= value == "*";
                    names_us |= is_ours;
                }
                key @ ("allow" | "disallow") => {
                    in_rules = true;
                    // Nothing after `Disallow:` forbids nothing.
                    if value.is_empty() || ours.len() + everybody.len() >= MOST_RULES {
                        continue;
                    }
                    let rule = (value.to_owned(), key == "allow");
                    if is_ours {
                        ours.push(rule.clone());
                    }
                    if is_everybody {
                        everybody.push(rule);
                    }
                }
                _ => {}
            }
        }
        Self(if names_us { ours } else { everybody })
    }

    /// The longest pattern about a path decides; of equal ones the one that allows.
    pub(super) fn allow(&self, path: &str) -> bool {
        let about = self.0.iter().filter(|(pattern, _)| covers(pattern, path));
        about.max_by_key(|(pattern, allow)| (pattern.len(), *allow)).is_none_or(|(_, allow)| *allow)
    }
}

/// Whether a pattern covers the start of a path; `*` stands for anything, `$` for its end.
fn covers(pattern: &str, path: &str) -> bool {
    let (pattern, to_end) = match pattern.strip_suffix('$') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| path.strip_prefix(first)) else {
        return false;
    };
    let pieces: Vec<&str> = pieces.collect();
    let Some((last, between)) = pieces.split_last() else {
        return !to_end || rest.is_empty();
    };
    for piece in between {
        match rest.split_once(piece) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    if to_end { rest.ends_with(last) } else { rest.contains(last) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_pattern_decides() {
        let rules = Rules::parse(
            "User-agent: *\nDisallow: /private\nAllow: /private/open # yes\nDisallow: /*.pdf$\n",
        );
        assert!(rules.allow("/") && rules.allow("/private/open/x") && rules.allow("/a.pdf?x"));
        assert!(!rules.allow("/private/x") && !rules.allow("/b/a.pdf"));
    }

    #[test]
    fn what_is_said_to_us_goes_before_what_is_said_to_all() {
        let text = "user-agent: other\nuser-agent: Toolgate/1\ndisallow: /a\n\nuser-agent: *\ndisallow: /\n";
        let rules = Rules::parse(text);
        assert!(rules.allow("/b") && !rules.allow("/a"));
        assert!(!Rules::parse(&text.replace("Toolgate", "Gate")).allow("/b"));
        assert!(
            Rules::parse("User-agent: toolgate\nDisallow:\nUser-agent: *\nDisallow: /").allow("/")
        );
        assert!(Rules::parse("\u{feff}garbage\0\n::::\nDisallow: /").allow("/"));
    }

    #[test]
    fn stars_stand_for_anything() {
        assert!(covers("/a*b*c", "/axxbyyc/d") && !covers("/a*b*c$", "/axxbyyc/d"));
        assert!(
            covers("*", "/") && covers("/*$", "/x") && covers("", "/x") && !covers("/x$", "/xy")
        );
        assert!(covers("/a*a*a*a*a*a*a*b", &format!("/{}b", "a".repeat(5_000))));
    }
}
