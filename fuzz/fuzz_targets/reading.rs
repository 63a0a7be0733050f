//! No text makes the reading of a line, or of what it runs, panic or hang.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolgate_policy::shell::{Reading, read, runs};

fuzz_target!(|text: &str| {
    match read(text) {
        Reading::Literal(line) => line.commands().iter().for_each(|command| drop(runs(command))),
        Reading::Complex { commands, .. } => commands.iter().for_each(|command| drop(runs(command))),
        Reading::Unreadable { .. } => {}
    }
});
