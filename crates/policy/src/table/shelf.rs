//! The rules about one tool, filed by the rarest thing they ask for.

use aho_corasick::AhoCorasick;
use hashbrown::HashMap;

use super::folders::Folders;
use super::prefixes::Prefixes;
use super::words::Words;
use crate::pattern::{CommandPattern, Condition, DomainPattern, Operator};
use crate::question::Question;
use crate::rule::Rule;

type Ranks = Vec<u32>;

/// Shorter pieces of text are found too often to help.
const SHORTEST_NEEDLE: usize = 3;

/// The rules about one tool, each in one place, strongest first.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    by_words: Words<Ranks>,
    by_folder: Folders,
    by_host: HashMap<String, Ranks>,
    by_value: HashMap<String, HashMap<String, Ranks>>,
    by_start: HashMap<String, Prefixes<Ranks>>,
    by_needle: Needles,
    rest: Ranks,
}

impl Shelf {
    /// Files a rule; called in order of rank.
    pub(super) fn file(&mut self, rule: &Rule, rank: u32) {
        let matcher = &rule.matcher;
        if let Some(commands) = all(&matcher.commands, CommandPattern::first_words) {
            for words in commands {
                push(self.by_words.entry(words), rank);
            }
        } else if !matcher.paths.is_empty() {
            self.by_folder.file(&matcher.paths, rank);
        } else if let Some(hosts) = all(&matcher.domains, DomainPattern::key) {
            for host in hosts {
                push(self.by_host.entry_ref(host).or_default(), rank);
            }
        } else if !matcher.conditions.iter().any(|condition| self.file_by(condition, rank)) {
            match needle(rule) {
                Some(needle) => self.by_needle.push(needle, rank),
                None => self.rest.push(rank),
            }
        }
    }

    /// Files a rule by a condition, where that can be looked up.
    fn file_by(&mut self, condition: &Condition, rank: u32) -> bool {
        // A command is asked about in several forms.
        if condition.param == "command" {
            return false;
        }
        let param = condition.param.as_str();
        match &condition.operator {
            Operator::Equals(serde_json::Value::String(value)) => {
                let values = self.by_value.entry_ref(param).or_default();
                push(values.entry_ref(value.as_str()).or_default(), rank);
            }
            Operator::StartsWith(start) if !start.is_empty() => {
                push(self.by_start.entry_ref(param).or_default().entry(start), rank);
            }
            _ => return false,
        }
        true
    }

    pub(super) fn finish(&mut self) {
        self.by_needle.finish();
    }

    /// Shows every place where rules about what is asked can be.
    pub(super) fn visit(&self, question: &Question<'_>, look: &mut impl FnMut(&[u32])) {
        look(&self.rest);
        if let Some(command) = question.command.filter(|_| !self.by_words.is_empty()) {
            for text in &command.generous {
                self.by_words.visit(text.as_str(), |ranks| look(ranks));
            }
        }
        if let Some(path) = question.path.filter(|_| !self.by_folder.is_empty()) {
            self.by_folder.visit(path, look);
        }
        if let Some(host) = question.host.filter(|_| !self.by_host.is_empty()) {
            for domain in domains(host) {
                self.by_host.get(domain).into_iter().for_each(|ranks| look(ranks));
            }
        }
        for (param, values) in &self.by_value {
            for ranks in question.texts(param).filter_map(|text| values.get(text)) {
                look(ranks);
            }
        }
        for (param, starts) in &self.by_start {
            for text in question.texts(param) {
                starts.visit(text, |ranks| look(ranks));
            }
        }
        self.by_needle.visit(question, look);
    }
}

/// The key of every item; nothing when there are none or one has no key.
fn all<'i, T>(items: &'i [T], key: impl Fn(&'i T) -> Option<&'i str>) -> Option<Vec<&'i str>> {
    if items.is_empty() {
        return None;
    }
    items.iter().map(key).collect()
}

fn push(ranks: &mut Ranks, rank: u32) {
    if ranks.last() != Some(&rank) {
        ranks.push(rank);
    }
}

/// Text that the canonical arguments must contain for a rule to match.
fn needle(rule: &Rule) -> Option<&str> {
    let args = rule.matcher.args.as_ref().map(crate::pattern::Regular::needle);
    args.filter(|needle| needle.len() >= SHORTEST_NEEDLE)
}

/// A host and every domain it is below.
fn domains(host: &str) -> impl Iterator<Item = &str> {
    let below = host.match_indices('.').filter_map(|(at, _)| host.get(at + 1..));
    std::iter::once(host).chain(below)
}

/// Rules by a piece of text, all of them looked for at once.
#[derive(Debug, Default)]
struct Needles {
    numbers: HashMap<String, usize>,
    ranks: Vec<Ranks>,
    searcher: Option<AhoCorasick>,
}

impl Needles {
    fn push(&mut self, needle: &str, rank: u32) {
        let next = self.ranks.len();
        let number = *self.numbers.entry_ref(needle).or_insert(next);
        if number == next {
            self.ranks.push(Ranks::new());
        }
        if let Some(ranks) = self.ranks.get_mut(number) {
            push(ranks, rank);
        }
    }

    fn finish(&mut self) {
        if self.numbers.is_empty() {
            return;
        }
        let mut needles = vec![""; self.ranks.len()];
        for (needle, number) in &self.numbers {
            if let Some(place) = needles.get_mut(*number) {
                *place = needle;
            }
        }
        self.searcher = AhoCorasick::new(needles).ok();
    }

    fn visit(&self, question: &Question<'_>, look: &mut impl FnMut(&[u32])) {
        let Some(searcher) = &self.searcher else {
            // Nothing to look for, or too much to look for at once: then every rule is looked at.
            self.ranks.iter().for_each(|ranks| look(ranks));
            return;
        };
        let whole = |text: &str, look: &mut dyn FnMut(&[u32])| {
            for found in searcher.find_overlapping_iter(text) {
                self.ranks
                    .get(found.pattern().as_usize())
                    .into_iter()
                    .for_each(|ranks| look(ranks));
            }
        };
        if question.command.is_none() && question.path.is_none() {
            whole(question.canonical(), look);
        } else {
            // Commands and paths are asked about in several forms, so every rule is looked at.
            self.ranks.iter().for_each(|ranks| look(ranks));
        }
    }
}
