//! What counts as a look and what does not, case by case.

use proptest::prelude::*;

use super::*;
use crate::shell::sample::{command, split};

mod no;
mod yes;

/// The paths a command looks at, with how much of them: `src/**` for trees.
fn paths(line: &str) -> Vec<String> {
    match look(&command(line)) {
        Look::Reads { paths, .. } => paths
            .into_iter()
            .map(|path| match path.reach {
                Reach::Itself => path.word.text,
                Reach::Names => format!("{} names", path.word.text),
                Reach::Tree => format!("{} tree", path.word.text),
                Reach::LinkedTree => format!("{} links", path.word.text),
                Reach::Listed => format!("{} listed", path.word.text),
            })
            .collect(),
        other => panic!("`{line}`: {other:?}"),
    }
}

#[test]
fn looks_are_recognised() {
    let wrong: Vec<String> = yes::YES
        .iter()
        .filter_map(|line| match look(&command(line)) {
            Look::Reads { .. } => None,
            other => Some(format!("{line}: {other:?}")),
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn everything_else_is_refused() {
    let wrong: Vec<&&str> =
        no::NO.iter().filter(|line| !matches!(look(&command(line)), Look::No(_))).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_path_is_named() {
    for (line, expected) in yes::PATHS {
        assert_eq!(paths(line), *expected, "{line}");
    }
}

#[test]
fn git_tells_where_it_starts() {
    for (line, expected) in [
        ("git status", Some(".")),
        ("git -C sub log", Some("sub")),
        ("git -C a -C b log", Some("a/b")),
        ("git -C a -C /b log", Some("/b")),
        ("ls", None),
    ] {
        let Look::Reads { git, .. } = look(&command(line)) else { panic!("{line}") };
        assert_eq!(git.as_ref().map(|word| word.text.as_str()), expected, "{line}");
    }
}

#[test]
fn cd_enters_one_known_folder() {
    for (line, folder) in
        [("cd src", "src"), ("cd -- src", "src"), ("cd -L a/b", "a/b"), ("cd ~/x", "~/x")]
    {
        let Look::Enters(word) = look(&command(line)) else { panic!("{line}") };
        assert_eq!(word.text, folder);
    }
}

#[test]
fn a_word_known_only_at_run_time_is_refused_anywhere() {
    for line in yes::YES {
        let whole = command(line);
        for index in 0..whole.words.len() {
            let mut hidden = whole.clone();
            hidden.words[index].known = false;
            assert!(matches!(look(&hidden), Look::No(_)), "{line}, word {index}");
        }
    }
}

#[test]
fn dangerous_options_are_refused_in_every_position() {
    for (program, options) in no::WRITE_OR_RUN {
        for option in options.split_ascii_whitespace() {
            for line in [
                format!("{program} {option}"),
                format!("{program} {option} x"),
                format!("{program} {option}=x"),
                format!("{program} x {option} x"),
                format!("{program} x x {option} x"),
            ] {
                assert!(matches!(look(&command(&line)), Look::No(_)), "{line}");
            }
        }
    }
}

fn any_word() -> impl Strategy<Value = Word> {
    let piece = prop_oneof![
        ".{0,12}",
        "-{1,2}[a-zA-Z0-9=]{0,6}",
        "[a-z/.~:{}@^]{0,8}",
        "[0-9,/$!{};pswadiqtb\\\\\n ]{0,16}",
        prop::sample::select(yes::YES.to_vec())
            .prop_flat_map(|line| prop::sample::select(split(line)).prop_map(|word| word.text)),
    ];
    (piece, prop::bool::weighted(0.95), prop::bool::weighted(0.1), prop::bool::weighted(0.1))
        .prop_map(|(text, known, pattern, home)| Word {
            text,
            known,
            pattern,
            home,
            ..Word::default()
        })
}

proptest! {
    #[test]
    fn never_panics(words in prop::collection::vec(any_word(), 0..8)) {
        look(&Command { words, ..Command::default() });
    }

    #[test]
    fn never_panics_on_known_programs(
        line in prop::sample::select(yes::YES.to_vec()),
        words in prop::collection::vec(any_word(), 0..6),
    ) {
        let mut command = command(line);
        command.words.truncate(1);
        command.words.extend(words);
        look(&command);
    }

    /// One more word that nobody knows never turns a refusal into a look.
    #[test]
    fn unknown_long_options_are_refused(
        line in prop::sample::select(yes::YES.to_vec()),
        option in "--[a-z]{2,6}-zz",
    ) {
        let mut command = command(line);
        let free = ["echo", "printf", "basename", "test", "[", "seq", "tr", "type", "command"];
        prop_assume!(!free.contains(&command.name().unwrap_or_default()));
        command.words.insert(1, Word::plain(option));
        prop_assert!(matches!(look(&command), Look::No(_)));
    }
}
