//! Matching that can be stopped, and that has an end.
//!
//! Most expressions take a moment, whatever they look at. Where an expression is large and a line
//! is long, the same work is done byte by byte, so that a cancelled call stops there, and one that
//! takes too long is given up.

use std::cell::RefCell;
use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use grep_matcher::{LineMatchKind, LineTerminator, Match, Matcher, NoCaptures};
use grep_regex::RegexMatcher;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, MatchKind};
use toolgate_core::context::CallContext;

/// The memory that a compiled expression may take.
pub(super) const MOST_BYTES: usize = 8 << 20;
/// The memory that the states met while matching may take.
pub(super) const MOST_CACHED: usize = 16 << 20;
/// States of an expression times bytes to look at: more is done step by step.
const CHEAP: u64 = 1 << 28;
/// More is not done at all where it cannot be done step by step.
const BEARABLE: u64 = 1 << 31;
/// Bytes between two looks at the clock.
const STRIDE: usize = 512;
/// The time that a call may spend on lines that are expensive to search.
const PATIENCE: Duration = Duration::from_secs(5);

/// An expression, compiled to be followed step by step.
#[derive(Debug)]
pub(super) struct Steps {
    pattern: String,
    syntax: syntax::Config,
    states: u64,
    engines: OnceLock<Option<[DFA; 2]>>,
    spent: AtomicU64,
}

/// A line was not searched: the call was cancelled, or it takes too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GivenUp;

/// A text cannot be followed step by step, or not to its end.
struct Unfollowed;

impl fmt::Display for GivenUp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the search takes too long")
    }
}

impl Steps {
    /// Notes an expression and how large it is.
    ///
    /// # Errors
    /// Says that it is too large.
    pub(super) fn new(pattern: &str, case_insensitive: bool) -> Result<Self, String> {
        let syntax =
            syntax::Config::new().case_insensitive(case_insensitive).multi_line(true).utf8(false);
        let compiler = thompson::Config::new()
            .utf8(false)
            .which_captures(WhichCaptures::None)
            .nfa_size_limit(Some(MOST_BYTES));
        let compiled = thompson::NFA::compiler().syntax(syntax).configure(compiler).build(pattern);
        let compiled = compiled.map_err(|_| {
            "the expression is too large: repeat less, or search for less at once".to_owned()
        })?;
        Ok(Self {
            pattern: pattern.to_owned(),
            syntax,
            states: compiled.states().len() as u64,
            engines: OnceLock::new(),
            spent: AtomicU64::new(0),
        })
    }

    /// The machines that find the end of a match, and from there its beginning.
    fn engines(&self) -> Option<&[DFA; 2]> {
        let build = |kind, is_reverse| {
            let config = DFA::config()
                .match_kind(kind)
                .unicode_word_boundary(true)
                .cache_capacity(MOST_CACHED)
                .skip_cache_capacity_check(true);
            let compiler = thompson::Config::new().utf8(false).reverse(is_reverse);
            let mut builder = DFA::builder();
            builder.configure(config).thompson(compiler).syntax(self.syntax);
            builder.build(&self.pattern).ok()
        };
        let both = || Some([build(MatchKind::LeftmostFirst, false)?, build(MatchKind::All, true)?]);
        self.engines.get_or_init(both).as_ref()
    }
}

/// A matcher that looks whether it may go on.
pub(super) struct Patient<'a> {
    matcher: &'a RegexMatcher,
    steps: &'a Steps,
    context: &'a CallContext,
    caches: RefCell<Option<[Cache; 2]>>,
}

impl fmt::Debug for Patient<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Patient").field("steps", &self.steps).finish_non_exhaustive()
    }
}

impl<'a> Patient<'a> {
    pub(super) fn new(
        matcher: &'a RegexMatcher,
        steps: &'a Steps,
        context: &'a CallContext,
    ) -> Self {
        Self { matcher, steps, context, caches: RefCell::new(None) }
    }

    fn cost(&self, length: usize) -> u64 {
        self.steps.states.saturating_mul(length as u64)
    }

    /// Returns `true` if a text can be searched in one go.
    fn is_cheap(&self, length: usize) -> Result<bool, GivenUp> {
        self.context.check().map_err(|_| GivenUp)?;
        Ok(self.cost(length) <= CHEAP)
    }

    /// Finds the first match step by step, line by line where lines are searched.
    fn follow(&self, text: &[u8], at: usize) -> Result<Option<Match>, GivenUp> {
        let Some(line_end) = self.matcher.line_terminator() else {
            return self.follow_range(text, at..text.len());
        };
        let mut start = at;
        while start <= text.len() {
            let rest = text.get(start..).unwrap_or_default();
            let end = rest.iter().position(|byte| *byte == line_end.as_byte());
            let end = end.map_or(text.len(), |end| start + end);
            if let Some(found) = self.follow_range(text, start..end)? {
                return Ok(Some(found));
            }
            start = end + 1;
        }
        Ok(None)
    }

    fn follow_range(&self, text: &[u8], range: Range<usize>) -> Result<Option<Match>, GivenUp> {
        let begun = Instant::now();
        let spent = Duration::from_nanos(self.steps.spent.load(Ordering::Relaxed));
        let left = PATIENCE.saturating_sub(spent);
        let may_go_on = || begun.elapsed() < left && self.context.check().is_ok();
        let found = self.stepped(text, range.clone(), &may_go_on);
        let nanos = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.steps.spent.fetch_add(nanos, Ordering::Relaxed);
        match found {
            Ok(found) => Ok(found),
            // The machine cannot follow every letter.
            Err(Unfollowed) if may_go_on() && self.cost(range.len()) <= BEARABLE => {
                let text = text.get(..range.end).unwrap_or(text);
                self.matcher.find_at(text, range.start).map_err(|_| GivenUp)
            }
            Err(Unfollowed) => Err(GivenUp),
        }
    }

    /// Returns the first match in a part of a text, if there is one.
    fn stepped(
        &self,
        text: &[u8],
        range: Range<usize>,
        may_go_on: &dyn Fn() -> bool,
    ) -> Result<Option<Match>, Unfollowed> {
        if !may_go_on() {
            return Err(Unfollowed);
        }
        let [forward, reverse] = self.steps.engines().ok_or(Unfollowed)?;
        let mut caches = self.caches.borrow_mut();
        let [ahead, back] =
            caches.get_or_insert_with(|| [forward.create_cache(), reverse.create_cache()]);
        let Some(end) = last_match(forward, ahead, text, range.clone(), may_go_on)? else {
            return Ok(None);
        };
        let start = first_match(reverse, back, text, range.start..end, may_go_on)?;
        Ok(Some(Match::new(start.unwrap_or(end), end)))
    }
}

/// Follows a text to where the first match ends.
fn last_match(
    dfa: &DFA,
    cache: &mut Cache,
    text: &[u8],
    range: Range<usize>,
    may_go_on: &dyn Fn() -> bool,
) -> Result<Option<usize>, Unfollowed> {
    let input = Input::new(text).range(range.clone());
    let mut state = dfa.start_state_forward(cache, &input).map_err(|_| Unfollowed)?;
    let mut found = None;
    for at in range.clone() {
        if at % STRIDE == 0 && !may_go_on() {
            return Err(Unfollowed);
        }
        state = dfa
            .next_state(cache, state, *text.get(at).ok_or(Unfollowed)?)
            .map_err(|_| Unfollowed)?;
        if !state.is_tagged() {
            continue;
        }
        if state.is_match() {
            found = Some(at);
        } else if state.is_dead() {
            return Ok(found);
        } else if state.is_quit() {
            return Err(Unfollowed);
        }
    }
    state = match text.get(range.end) {
        Some(byte) => dfa.next_state(cache, state, *byte).map_err(|_| Unfollowed)?,
        None => dfa.next_eoi_state(cache, state).map_err(|_| Unfollowed)?,
    };
    if state.is_quit() {
        return Err(Unfollowed);
    }
    Ok(if state.is_match() { Some(range.end) } else { found })
}

/// Follows a text back from the end of a match to its beginning.
fn first_match(
    dfa: &DFA,
    cache: &mut Cache,
    text: &[u8],
    range: Range<usize>,
    may_go_on: &dyn Fn() -> bool,
) -> Result<Option<usize>, Unfollowed> {
    let input = Input::new(text).range(range.clone()).anchored(Anchored::Yes);
    let mut state = dfa.start_state_reverse(cache, &input).map_err(|_| Unfollowed)?;
    let mut found = None;
    for at in range.clone().rev() {
        if at % STRIDE == 0 && !may_go_on() {
            return Err(Unfollowed);
        }
        state = dfa
            .next_state(cache, state, *text.get(at).ok_or(Unfollowed)?)
            .map_err(|_| Unfollowed)?;
        if !state.is_tagged() {
            continue;
        }
        if state.is_match() {
            found = Some(at + 1);
        } else if state.is_dead() {
            return Ok(found);
        } else if state.is_quit() {
            return Err(Unfollowed);
        }
    }
    let before = range.start.checked_sub(1).and_then(|at| text.get(at));
    state = match before {
        Some(byte) => dfa.next_state(cache, state, *byte).map_err(|_| Unfollowed)?,
        None => dfa.next_eoi_state(cache, state).map_err(|_| Unfollowed)?,
    };
    if state.is_quit() {
        return Err(Unfollowed);
    }
    Ok(if state.is_match() { Some(range.start) } else { found })
}

impl Matcher for Patient<'_> {
    type Captures = NoCaptures;
    type Error = GivenUp;

    fn find_at(&self, text: &[u8], at: usize) -> Result<Option<Match>, GivenUp> {
        if self.is_cheap(text.len().saturating_sub(at))? {
            return self.matcher.find_at(text, at).map_err(|_| GivenUp);
        }
        self.follow(text, at)
    }

    fn new_captures(&self) -> Result<NoCaptures, GivenUp> {
        Ok(NoCaptures::new())
    }

    fn shortest_match_at(&self, text: &[u8], at: usize) -> Result<Option<usize>, GivenUp> {
        if self.is_cheap(text.len().saturating_sub(at))? {
            return self.matcher.shortest_match_at(text, at).map_err(|_| GivenUp);
        }
        Ok(self.follow(text, at)?.map(|found| found.end()))
    }

    fn non_matching_bytes(&self) -> Option<&grep_matcher::ByteSet> {
        self.matcher.non_matching_bytes()
    }

    fn line_terminator(&self) -> Option<LineTerminator> {
        self.matcher.line_terminator()
    }

    fn find_candidate_line(&self, text: &[u8]) -> Result<Option<LineMatchKind>, GivenUp> {
        if self.is_cheap(text.len())? {
            return self.matcher.find_candidate_line(text).map_err(|_| GivenUp);
        }
        Ok(self.follow(text, 0)?.map(|found| LineMatchKind::Confirmed(found.start())))
    }
}
