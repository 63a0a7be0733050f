use proptest::prelude::*;

use super::*;
use crate::shell::command::Line;
use crate::shell::render::{Expansion, render};
use crate::shell::wrapper::runs;

fn literal(text: &str) -> Option<Line> {
    match read(text) {
        Reading::Literal(line) => Some(line),
        _ => None,
    }
}

/// The words of each command, with `~` written out.
fn words(line: &Line) -> Vec<Vec<String>> {
    let text = |word: &crate::shell::command::Word| match word.text.strip_prefix('~') {
        Some(rest) if word.home => format!("/home/me{rest}"),
        _ => word.text.clone(),
    };
    line.commands().iter().map(|command| command.words.iter().map(text).collect()).collect()
}

fn assert_round_trip(text: &str) {
    let Some(line) = literal(text) else { return };
    let rendered = render(&line, "/home/me", |_, _| Expansion::Names(Vec::new()));
    let again = literal(&rendered);
    // Control characters that a `$'…'` text made cannot be written down plainly.
    if bytes::check(&rendered).is_err() {
        return;
    }
    let again = again.unwrap_or_else(|| panic!("{text:?} became {rendered:?}"));
    assert_eq!(words(&line), words(&again), "{text:?} became {rendered:?}");
    let shape = |line: &Line| {
        let flags = |one: &crate::shell::command::Command| {
            (one.reads_pipe, one.feeds_pipe, one.redirects.len(), one.assignments.clone())
        };
        line.commands().iter().map(flags).collect::<Vec<_>>()
    };
    assert_eq!(shape(&line), shape(&again), "{text:?} became {rendered:?}");
}

/// Pieces from which lines are made that are often literal.
fn fragment() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "a",
        "b c",
        " ",
        " ",
        "\t",
        "\n",
        "'x y'",
        "\"x\\\"y\"",
        "\\;",
        "$'\\x41'",
        " && ",
        " || ",
        "; ",
        " | ",
        " |& ",
        " & ",
        "( ",
        " )",
        "{ ",
        "; }",
        " >o",
        " 2>&1",
        " <<<w",
        " <<'E'\nbody\nE\n",
        "x=1 ",
        "~/a",
        "*",
        "# note\n",
        "! ",
        "\\\\",
        "'",
        "\"",
        "$",
        "`",
        "é",
        "if ",
        "[",
        "]",
        "{}",
        "=",
        "<<E",
        "\nE\n",
        "\\",
    ])
}

/// Pieces that make a plain line in any order.
fn plain_piece() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-zA-Z0-9_./:@%,+-]{1,8}",
        2 => "(if|in|time|do|then|done|fi|function|select|case|coproc|until)",
        2 => "'[ -&(-~]{0,8}'",
        4 => " (&&|[|]|[|][|]|;) ",
        2 => "; ",
        4 => " {1,2}",
        1 => "'a'(&&|[|]|[|][|]|;)'b'",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_plain_line_is_one_to_the_parser_too(pieces in prop::collection::vec(plain_piece(), 0..12)) {
        let line = pieces.concat();
        prop_assert!(is_plain(&line));
        if let Ok(literal) = gate::parse(&line) && !literal.commands.is_empty() {
            prop_assert_eq!(syntax::confirm(&line, &literal), Ok(()));
        }
    }
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in any::<String>()) {
        if let Some(line) = literal(&text) {
            line.commands().iter().for_each(|command| drop(runs(command)));
        }
        assert_round_trip(&text);
    }

    #[test]
    fn lines_survive_being_rendered(parts in prop::collection::vec(fragment(), 1..12)) {
        let text = parts.concat();
        match read(&text) {
            Reading::Literal(line) => {
                line.commands().iter().for_each(|command| drop(runs(command)));
            }
            Reading::Complex { commands, .. } => {
                for command in &commands {
                    drop(runs(command));
                }
            }
            Reading::Unreadable { .. } => {}
        }
        assert_round_trip(&text);
    }

    #[test]
    fn quoted_words_are_read_as_they_are(texts in prop::collection::vec("[ -~\n]{0,12}", 1..5)) {
        let line = texts.iter().map(|text| crate::shell::render::quote(text)).collect::<Vec<_>>();
        let line = literal(&format!("echo {}", line.join(" "))).unwrap();
        let read: Vec<_> = line.commands()[0].arguments().iter().map(|word| &word.text).collect();
        prop_assert_eq!(read, texts.iter().collect::<Vec<_>>());
    }
}

#[test]
fn long_lines_are_refused_at_once() {
    let line = "a ".repeat(500_000);
    let start = toolgate_testing::processor_time();
    assert!(matches!(read(&line), Reading::Unreadable { .. }));
    let spent = toolgate_testing::processor_time().saturating_sub(start);
    assert!(spent < std::time::Duration::from_millis(50), "{spent:?}");
}

#[test]
fn reasons_are_for_people() {
    let why = |text: &str| match read(text) {
        Reading::Complex { why, .. } | Reading::Unreadable { why } => why,
        Reading::Literal(_) => String::new(),
    };
    assert_eq!(why("echo $x"), "a `$` expansion");
    assert_eq!(why("echo {a,b}"), "a `{…}` that becomes several words");
    assert_eq!(why("if a; then b; fi"), "the shell's word `if`");
    assert_eq!(why("ls\u{200b}"), "the character without width U+200B at byte 2");
    assert_eq!(why(""), "there is no command in it");
}
