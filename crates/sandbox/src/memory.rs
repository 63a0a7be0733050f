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

    #[test]
    fn a_program_goes_on_without_and_holds_less() {
        let resident = || {
            let maps = fs::read_to_string("/proc/self/smaps").unwrap();
            let program = fs::read_link("/proc/self/exe").unwrap();
            let mut is_code = false;
            let mut total = 0;
            for line in maps.lines() {
                if line.split(' ').next().is_some_and(|word| word.contains('-')) {
                    is_code = Code::mapped(line, program.to_str().unwrap()).is_some();
                }
                if let Some(rest) = line.strip_prefix("Rss:").filter(|_| is_code) {
                    total += rest.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap();
                }
            }
            total
        };
        let before = resident();
        give_back();
        let after = resident();
        assert!(0 < after && after < before, "{before} kB, then {after} kB");
    }
}
