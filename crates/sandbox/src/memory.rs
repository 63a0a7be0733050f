//! Memory that a program which waits can do without.

use std::fs;

use crate::code::Code;
use crate::sys;

/// Gives back the memory of code that is not needed now. What is needed comes back from the file
/// of the program, piece by piece. A server that waits needs little of what its start needed.
pub fn give_back() {
    let (Ok(maps), Ok(program)) =
        (fs::read_to_string("/proc/self/maps"), fs::read_link("/proc/self/exe"))
    else {
        return;
    };
    let Some(program) = program.to_str() else { return };
    for code in maps.lines().filter_map(|line| Code::mapped(line, program)) {
        sys::give_back(&code);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often this thread needed a piece of memory that was not there.
    fn faults() -> u64 {
        let stat = fs::read_to_string("/proc/thread-self/stat").unwrap();
        let (_, rest) = stat.rsplit_once(')').unwrap();
        rest.split_whitespace().nth(7).unwrap().parse().unwrap()
    }

    #[test]
    fn code_comes_back_when_it_is_needed() {
        // Once before, so that nothing is needed for the first time later.
        give_back();
        faults();
        let before = faults();
        let without = faults() - before;
        give_back();
        let after = faults() - before;
        assert!(after > without + 3, "{without} without, {after} with");
    }
}
