//! The options of the programs that run another one.

use crate::shell::wrapper::options::{NONE, Options};

/// What a program does with its arguments.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// Runs the words behind its options.
    Plain(Options),
    /// Runs the words behind its options, or a text given with `-c`.
    PlainOrText(Options),
    /// Hands the words behind its options to a shell as one text.
    Joined(Options),
    /// Runs some of its arguments; which ones is not known.
    Somewhere,
    /// Runs some of its arguments behind one of these words.
    Behind(&'static [&'static str]),
    /// A shell: a text behind `-c`, a script, or its input.
    Shell,
    /// Its arguments are a text for the shell.
    Eval,
    /// `env`, which can also split a text into words.
    Env,
    /// `command`, which may also only look a name up.
    Command,
    /// `trap 'text' SIGNAL`.
    Trap,
    /// `alias name='text'`.
    Alias,
    /// Reads commands from a file.
    Source,
    /// `find … -exec … ;`.
    Find,
    /// `fd … -x …`.
    Fd,
    /// `git`, through aliases, hooks of its subcommands and settings.
    Git,
    /// Evaluates its arguments as arithmetic or as names with subscripts.
    Evaluator,
}

/// What a program with this name does with its arguments.
pub(super) fn kind(name: &str) -> Option<Kind> {
    Some(match name {
        "sh" | "bash" | "rbash" | "dash" | "ash" | "zsh" | "ksh" | "ksh93" | "mksh" | "yash"
        | "fish" => Kind::Shell,
        "eval" => Kind::Eval,
        "env" => Kind::Env,
        "command" => Kind::Command,
        "trap" => Kind::Trap,
        "alias" => Kind::Alias,
        "." | "source" => Kind::Source,
        "find" | "gfind" | "bfs" => Kind::Find,
        "fd" | "fdfind" => Kind::Fd,
        "git" => Kind::Git,
        "test" | "[" | "[[" | "let" | "printf" | "read" | "unset" | "declare" | "typeset"
        | "local" | "export" | "readonly" | "mapfile" | "readarray" | "wait" | "getopts" => {
            Kind::Evaluator
        }
        "watch" => Kind::Joined(WATCH),
        "ssh" => Kind::Joined(SSH),
        "script" => Kind::PlainOrText(Options { valued: "cEIOBTmot", flags: "aefqV", ..NONE }),
        "su" | "runuser" => Kind::PlainOrText(SU),
        "flock" => Kind::PlainOrText(FLOCK),
        "npx" | "bunx" | "pnpx" => Kind::PlainOrText(NPX),
        "docker" | "podman" | "nerdctl" | "kubectl" => Kind::Behind(&["run", "exec"]),
        "npm" | "pnpm" | "yarn" | "bun" => Kind::Behind(&["exec", "dlx", "x", "--script-shell"]),
        "cargo" => Kind::Behind(&["--config"]),
        "go" => Kind::Behind(&["-exec", "-toolexec", "-vettool", "--exec", "--toolexec"]),
        "gradle" => Kind::Behind(&["-I", "--init-script"]),
        "uv" | "pipx" | "poetry" | "pdm" | "hatch" => Kind::Behind(&["run"]),
        "ip" | "bundle" | "direnv" | "mise" | "rbenv" | "pyenv" | "asdf" => Kind::Behind(&["exec"]),
        _ if SOMEWHERE.contains(&name) => Kind::Somewhere,
        other => Kind::Plain(plain(other)?),
    })
}

/// Programs that run some of their arguments.
const SOMEWHERE: [&str; 45] = [
    "at",
    "batch",
    "bwrap",
    "capsh",
    "cargo-watch",
    "catchsegv",
    "ccache",
    "cpulimit",
    "daemonize",
    "dbus-run-session",
    "eatmydata",
    "entr",
    "expect",
    "faketime",
    "fakeroot",
    "firejail",
    "gdb",
    "hyperfine",
    "linux32",
    "linux64",
    "ltrace",
    "machinectl",
    "nix-shell",
    "nsenter",
    "numactl",
    "parallel",
    "perf",
    "pkexec",
    "prlimit",
    "proot",
    "proxychains",
    "rlwrap",
    "run0",
    "screen",
    "sem",
    "setarch",
    "setpriv",
    "start-stop-daemon",
    "systemd-run",
    "tmux",
    "torsocks",
    "unbuffer",
    "unshare",
    "uvx",
    "xvfb-run",
];

/// Programs that run the words behind their options.
fn plain(name: &str) -> Option<Options> {
    Some(match name {
        "nohup" | "builtin" | "busybox" | "toybox" | "noglob" | "nocorrect" | "-" => NONE,
        "nice" => {
            Options { flags: "0123456789", valued: "n", long_valued: &["adjustment"], ..NONE }
        }
        "timeout" | "gtimeout" => Options {
            flags: "vfp",
            valued: "ks",
            long_flags: &["foreground", "preserve-status", "verbose"],
            long_valued: &["kill-after", "signal"],
            operands: 1,
            ..NONE
        },
        "time" | "gtime" => Options {
            flags: "apvqV",
            valued: "fo",
            long_flags: &["append", "portability", "verbose", "quiet"],
            long_valued: &["format", "output"],
            ..NONE
        },
        "exec" => Options { flags: "cl", valued: "a", ..NONE },
        "xargs" | "gxargs" => XARGS,
        "sudo" => SUDO,
        "doas" => Options { flags: "Lns", valued: "aCu", ..NONE },
        "stdbuf" => Options { valued: "ioe", long_valued: &["input", "output", "error"], ..NONE },
        "setsid" => Options { flags: "cfw", long_flags: &["ctty", "fork", "wait"], ..NONE },
        "ionice" => Options {
            flags: "t",
            valued: "cn",
            long_flags: &["ignore"],
            long_valued: &["class", "classdata"],
            ..NONE
        },
        "chrt" => Options { flags: "bdfiorRv", valued: "TPD", operands: 1, ..NONE },
        "taskset" => {
            Options { flags: "ac", long_flags: &["all-tasks", "cpu-list"], operands: 1, ..NONE }
        }
        "strace" => Options { flags: "ACcdDfFhiknNqrtTvVwxyYzZ", valued: "abeEIoOpPsSuUX", ..NONE },
        "chroot" => Options {
            long_flags: &["skip-chdir"],
            long_valued: &["userspec", "groups"],
            operands: 1,
            ..NONE
        },
        _ => return None,
    })
}

const XARGS: Options = Options {
    // The values of `e`, `i` and `l` are optional, and so always attached.
    flags: "0rtxpo",
    valued: "aEILnPsd",
    long_flags: &[
        "null",
        "no-run-if-empty",
        "verbose",
        "exit",
        "interactive",
        "open-tty",
        "show-limits",
        "max-lines",
        "replace",
        "eof",
    ],
    long_valued: &[
        "arg-file",
        "delimiter",
        "max-args",
        "max-procs",
        "max-chars",
        "process-slot-var",
    ],
    operands: 0,
    assignments: false,
};

const SUDO: Options = Options {
    flags: "ABbEeHiKklNnPSsVv",
    valued: "aCcDghpRrTtUu",
    long_flags: &[
        "askpass",
        "background",
        "bell",
        "edit",
        "preserve-env",
        "set-home",
        "login",
        "remove-timestamp",
        "reset-timestamp",
        "list",
        "non-interactive",
        "no-update",
        "preserve-groups",
        "stdin",
        "shell",
        "validate",
    ],
    long_valued: &[
        "auth-type",
        "close-from",
        "chdir",
        "group",
        "host",
        "prompt",
        "chroot",
        "role",
        "type",
        "command-timeout",
        "other-user",
        "user",
        "login-class",
    ],
    operands: 0,
    assignments: true,
};

const SU: Options = Options {
    flags: "flmpP",
    valued: "cgGsuwT",
    long_flags: &["login", "preserve-environment", "fast", "pty"],
    long_valued: &["command", "session-command", "group", "supp-group", "shell", "user"],
    operands: 0,
    assignments: false,
};

const FLOCK: Options = Options {
    flags: "sxeonFuv",
    valued: "wE",
    long_flags: &["shared", "exclusive", "unlock", "nonblock", "close", "no-fork", "verbose"],
    long_valued: &["wait", "timeout", "conflict-exit-code"],
    operands: 1,
    assignments: false,
};

const NPX: Options = Options {
    flags: "yq",
    valued: "cpw",
    long_flags: &["yes", "no", "no-install", "quiet", "ignore-existing"],
    long_valued: &["call", "package", "workspace"],
    operands: 0,
    assignments: false,
};

const WATCH: Options = Options {
    flags: "bcCdegprtwx",
    valued: "nqs",
    long_flags: &[
        "beep",
        "color",
        "no-color",
        "differences",
        "errexit",
        "chgexit",
        "precise",
        "no-rerun",
        "no-title",
        "no-wrap",
        "exec",
    ],
    long_valued: &["interval", "equexit", "shotsdir"],
    operands: 0,
    assignments: false,
};

const SSH: Options = Options {
    flags: "46AaCfGgKkMNnqsTtVvXxYy",
    valued: "BbcDEeFIiJLlmOoPpQRSWw",
    long_flags: &[],
    long_valued: &[],
    operands: 1,
    assignments: false,
};
