//! The binary, in a workspace of its own.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use assert_cmd::assert::Assert;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use toolgate_testing::PATIENCE;

/// A workspace, a home and a folder outside both, which only one test knows.
#[derive(Debug)]
pub(crate) struct Toolgate {
    folder: TempDir,
    root: PathBuf,
}

impl Toolgate {
    /// An empty workspace.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["workspace", "home", "outside"] {
            fs::create_dir(root.join(name)).unwrap();
        }
        Self { folder, root }
    }

    /// A workspace with these files.
    pub(crate) fn with_files(files: &[(&str, &str)]) -> Self {
        let toolgate = Self::new();
        for (path, content) in files {
            toolgate.write(path, content);
        }
        toolgate
    }

    /// A path in the workspace.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join("workspace").join(relative)
    }

    /// A path below what `TOOLGATE_HOME` names.
    pub(crate) fn home(&self, relative: &str) -> PathBuf {
        self.root.join("home").join(relative)
    }

    /// A path in a folder that is no workspace.
    pub(crate) fn outside(&self, relative: &str) -> PathBuf {
        self.root.join("outside").join(relative)
    }

    /// Puts a file into the workspace.
    pub(crate) fn write(&self, relative: &str, content: impl AsRef<[u8]>) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// What a file of the workspace holds, if it is there.
    pub(crate) fn read(&self, relative: &str) -> Option<String> {
        fs::read_to_string(self.path(relative)).ok()
    }

    /// The binary in the workspace, without input and with nothing of the tester's environment.
    pub(crate) fn command(&self) -> Command {
        self.command_of(Path::new(env!("CARGO_BIN_EXE_toolgate")))
    }

    /// The binary, started by another program.
    pub(crate) fn wrapped(&self, program: &str, args: &[&str]) -> Command {
        let mut command = self.command_of(Path::new(program));
        command.env("PATH", "/usr/bin:/bin").args(args).arg(env!("CARGO_BIN_EXE_toolgate"));
        command
    }

    fn command_of(&self, binary: &Path) -> Command {
        let mut command = Command::new(binary);
        command
            .current_dir(self.path(""))
            .env_clear()
            .env("TOOLGATE_HOME", self.home(""))
            .env("HOME", self.outside(""))
            .env("TERM", "xterm-256color")
            .env("COLUMNS", "100")
            .stdin(Stdio::null());
        command
    }

    /// The binary run by somebody who is bound by permissions, as the superuser is not.
    pub(crate) fn command_without_privileges(&self) -> Command {
        use std::os::unix::process::CommandExt as _;

        const NOBODY: u32 = 65534;
        if !rustix::process::geteuid().is_root() {
            return self.command();
        }
        for folder in [self.folder.path(), &self.path("")] {
            set_mode(folder, 0o755);
        }
        // No call runs unrecorded, whoever runs it.
        set_mode(&self.home(""), 0o777);
        // The folder the binary was built in may be closed to others. Another process makes the
        // copy: written by this one, it could still be open for writing in a child being born.
        let binary = self.root.join("toolgate");
        let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_toolgate")).arg(&binary).status();
        assert!(copied.unwrap().success());
        let mut command = self.command_of(&binary);
        command.uid(NOBODY).gid(NOBODY);
        command
    }

    /// Runs the binary to its end.
    pub(crate) fn run<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Assert {
        finish(self.command(), args, Vec::new())
    }

    /// Runs the binary with something to read on standard input.
    pub(crate) fn run_with_input<A: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = A>,
        input: impl Into<Vec<u8>>,
    ) -> Assert {
        finish(self.command(), args, input.into())
    }

    /// Starts the binary and does not wait for its end.
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        let mut command = self.command();
        command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs the binary when nobody reads what it prints any more.
    pub(crate) fn run_unread(&self, args: &[&str]) -> Output {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        self.command().args(args).stdout(writer).output().unwrap()
    }

    /// One call without further flags.
    pub(crate) fn call(&self, tool: &str, args: &Value) -> Assert {
        self.call_with(&[], tool, args)
    }

    /// One call after these flags.
    pub(crate) fn call_with(&self, flags: &[&str], tool: &str, args: &Value) -> Assert {
        finish(self.command(), call_args(flags, tool, args), Vec::new())
    }

    /// What `--json` says about one call.
    pub(crate) fn outcome(&self, flags: &[&str], tool: &str, args: &Value) -> Value {
        let flags = [flags, &["--json"]].concat();
        let [outcome] = <[Value; 1]>::try_from(json_lines(&self.call_with(&flags, tool, args)))
            .expect("a call prints one line");
        outcome
    }

    /// A batch of these calls on standard input.
    pub(crate) fn batch(&self, flags: &[&str], calls: &[Value]) -> Assert {
        self.run_with_input([flags, &["batch"]].concat(), lines(calls))
    }

    /// Makes a search that takes long but is quick to stop, and returns its arguments.
    ///
    /// A word boundary beside letters that are not ASCII keeps the regular expression
    /// from its fast engines; many names for one file keep the disk out of it.
    pub(crate) fn slow_search(&self, files: usize) -> Value {
        let line = "äbcdefghij klmnopqrst uvwxyz 0123456789 the quick brown fox jumps over\n";
        self.write("slow/0.txt", line.repeat(3_000));
        for number in 1..files {
            let link = self.path(&format!("slow/{number}.txt"));
            fs::hard_link(self.path("slow/0.txt"), link).unwrap();
        }
        json!({ "pattern": r"\b(\w+\W){40}", "directory": "slow" })
    }
}

/// Each value on a line of its own.
pub(crate) fn lines(values: impl IntoIterator<Item: std::fmt::Display>) -> String {
    values.into_iter().map(|value| format!("{value}\n")).collect::<Vec<_>>().concat()
}

/// The command line of one call.
pub(crate) fn call_args(flags: &[&str], tool: &str, args: &Value) -> Vec<String> {
    let fixed = ["call", tool].map(str::to_owned);
    flags.iter().map(|flag| (*flag).to_owned()).chain(fixed).chain([args.to_string()]).collect()
}

/// Runs a command to its end.
pub(crate) fn finish<A: AsRef<OsStr>>(
    command: Command,
    args: impl IntoIterator<Item = A>,
    input: Vec<u8>,
) -> Assert {
    assert_cmd::Command::from_std(command).args(args).write_stdin(input).timeout(PATIENCE).assert()
}

/// What was printed on standard output.
pub(crate) fn stdout(done: &Assert) -> String {
    String::from_utf8(done.get_output().stdout.clone()).unwrap()
}

/// What was printed on standard error.
pub(crate) fn stderr(done: &Assert) -> String {
    String::from_utf8(done.get_output().stderr.clone()).unwrap()
}

/// Every line of standard output as JSON.
pub(crate) fn json_lines(done: &Assert) -> Vec<Value> {
    stdout(done).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The text a model would read.
pub(crate) fn llm_content(outcome: &Value) -> &str {
    outcome["result"]["llmContent"].as_str().unwrap()
}

/// The kind of error a call ended in.
pub(crate) fn error_type(outcome: &Value) -> Option<&str> {
    outcome["result"]["error"]["type"].as_str()
}

/// The names of an object's fields, in order.
pub(crate) fn fields(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// Changes who may do what with a file.
pub(crate) fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Sends a signal as soon as the program is ready for it.
pub(crate) fn send_signal(child: &Child, signal: Signal) {
    wait_until_caught(child.id(), signal);
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// Waits until a process has a handler of its own for a signal.
fn wait_until_caught(process: u32, signal: Signal) {
    let caught = || {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        let mask = u64::from_str_radix(mask.trim(), 16).unwrap();
        mask >> (signal.as_raw() - 1) & 1 == 1
    };
    while !caught() {
        std::thread::yield_now();
    }
}
