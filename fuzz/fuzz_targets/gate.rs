//! The literal gate neither panics nor loses words when a line is rendered and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolgate_policy::shell::{Expansion, Line, bytes, gate, render};

fn words(line: &Line) -> Vec<Vec<&str>> {
    line.commands()
        .iter()
        .map(|command| command.words.iter().map(|word| word.text.as_str()).collect())
        .collect()
}

fuzz_target!(|text: &str| {
    let Ok(line) = gate::parse(text) else { return };
    let rendered = render(&line, "~", |_, _| Expansion::Names(Vec::new()));
    // Rendering writes control characters plainly, and makes a longer line.
    if bytes::check(&rendered).is_err() {
        return;
    }
    let again = gate::parse(&rendered).expect("a rendered line is literal");
    assert_eq!(words(&line), words(&again));
});
