//! The shell that a line is run by.

use std::env;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use toolgate_core::policy::shell::{Reading, read};

/// Shells, the one that understands most first.
const SHELLS: &[&str] = &["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/bin/sh"];
/// The shell every system has, which starts in half the time of bash.
const SMALL: &str = "/bin/sh";

/// What bash does itself and other shells do differently, or not at all.
const OF_BASH: &[&str] = &[
    ".",
    "[",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "cd",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "declare",
    "dirs",
    "disown",
    "echo",
    "enable",
    "eval",
    "exec",
    "export",
    "fc",
    "fg",
    "getopts",
    "hash",
    "help",
    "history",
    "jobs",
    "kill",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "printf",
    "pushd",
    "pwd",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "test",
    "time",
    "times",
    "trap",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "wait",
];

/// The shell that lines are run by, if there is one.
pub fn shell() -> Option<&'static Path> {
    SHELLS.iter().map(Path::new).find(|shell| shell.exists())
}

/// The shell for a line that was judged: any does where it only starts programs, because every
/// word of such a line is quoted.
pub(super) fn shell_for_judged(line: &str) -> Option<&'static Path> {
    let only_starts_programs = match read(line) {
        Reading::Literal(line) => line.commands().iter().all(|command| {
            let name = command.name();
            command.assignments.is_empty() && name.is_some_and(|name| !OF_BASH.contains(&name))
        }),
        _ => false,
    };
    let small = Path::new(SMALL);
    if only_starts_programs && small.exists() { Some(small) } else { shell() }
}

/// The program and the arguments of a judged line that is nothing but one program, which then
/// needs no shell at all.
pub(super) fn sole_program(
    line: &str,
    env: &[(OsString, OsString)],
) -> Option<(PathBuf, Vec<OsString>)> {
    let Reading::Literal(line) = read(line) else { return None };
    let command = line.sole()?;
    let name = command.name().filter(|name| !OF_BASH.contains(name) && !name.contains('/'))?;
    if !command.assignments.is_empty() || !command.redirects.is_empty() {
        return None;
    }
    let args: Option<Vec<_>> = command.arguments().iter().map(|word| word.literal()).collect();
    let (_, path) = env.iter().find(|(name, _)| name == "PATH")?;
    let program = env::split_paths(path).map(|folder| folder.join(name)).find(|program| {
        let metadata = program.metadata();
        metadata.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    })?;
    Some((program, args?.into_iter().map(OsString::from).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_program_needs_no_shell() {
        let env = [("PATH".into(), "/nowhere:/usr/bin:/bin".into())];
        let (program, args) = sole_program("'sleep' '0.2'", &env).unwrap();
        assert!(program.ends_with("bin/sleep"));
        assert_eq!(args, ["0.2"]);
        for line in [
            "'sleep' '1' && 'ls'",
            "'ls' > 'x'",
            "'echo' 'a'",
            "'./ls'",
            "'no-such-program'",
            "( 'ls' )",
            "! 'ls'",
            "'ls' &",
        ] {
            assert_eq!(sole_program(line, &env), None, "{line}");
        }
    }

    #[test]
    fn bash_is_for_what_only_bash_does_so() {
        for line in ["'true'", "'sleep' '0.2' && 'ls' | 'wc' '-l'"] {
            assert_eq!(shell_for_judged(line), Some(Path::new(SMALL)), "{line}");
        }
        for line in [r"'echo' 'a\nb'", "'ls'; '[' 'a' '==' 'a' ']'", "X='1' 'env'", "echo $(ls)"] {
            assert_eq!(shell_for_judged(line), shell(), "{line}");
        }
    }
}
