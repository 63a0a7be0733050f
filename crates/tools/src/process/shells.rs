//! The shell that runs command lines.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use toolgate_core::policy::shell::{Reading, read};

/// The usual locations of bash. Lines are judged as bash reads them, so no other shell runs them.
const SHELLS: &[&str] = &["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];

/// Commands that bash runs itself.
const BUILTINS: &[&str] = &[
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

/// Returns the shell that runs command lines, if it is installed.
pub fn shell() -> Option<&'static Path> {
    SHELLS.iter().map(Path::new).find(|shell| shell.exists())
}

/// The program and the arguments of a judged line that is nothing but one program, which then
/// needs no shell at all.
pub(super) fn sole_program(
    line: &str,
    env: &[(OsString, OsString)],
) -> Option<(PathBuf, Vec<OsString>)> {
    let Reading::Literal(line) = read(line) else { return None };
    let command = line.sole()?;
    let name = command.name().filter(|name| !BUILTINS.contains(name) && !name.contains('/'))?;
    if !command.assignments.is_empty() || !command.redirects.is_empty() {
        return None;
    }
    let args: Option<Vec<_>> = command.arguments().iter().map(|word| word.literal()).collect();
    let (_, path) = env.iter().find(|(name, _)| name == "PATH")?;
    let program = env::split_paths(path).map(|folder| folder.join(name)).find(|program| {
        let metadata = program.metadata();
        metadata.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    })?;
    // Bash looks further for what the sandbox, with a /tmp of its own, does not show.
    let is_hidden = ["/tmp", "/var/tmp"].iter().any(|folder| program.starts_with(folder));
    let program = (!is_hidden && is_executable_format(&program)).then_some(program)?;
    Some((program, args?.into_iter().map(OsString::from).collect()))
}

/// Returns `true` if the kernel can run a file. Bash runs others itself, as scripts.
fn is_executable_format(program: &Path) -> bool {
    let mut magic = [0; 4];
    let read = File::open(program).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && (magic == *b"\x7fELF" || magic.starts_with(b"#!"))
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
    fn a_script_without_an_interpreter_line_is_left_to_bash() {
        let folder = tempfile::tempdir().unwrap();
        for (text, runs_alone) in [("#!/bin/sh\nexit 3\n", true), ("exit 3\n", false)] {
            let script = folder.path().join("deploy");
            std::fs::write(&script, text).unwrap();
            assert_eq!(is_executable_format(&script), runs_alone, "{text:?}");
        }
    }

    #[test]
    fn a_program_that_the_sandbox_does_not_show_is_left_to_bash() {
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        let script = folder.path().join("sleep");
        std::fs::write(&script, "#!/bin/sh\nexit 3\n").unwrap();
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:/usr/bin:/bin", folder.path().display());
        assert_eq!(sole_program("'sleep' '1'", &[("PATH".into(), path.into())]), None);
    }
}
