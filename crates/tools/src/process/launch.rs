//! A shell line, and what it takes to start it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use toolgate_core::context::CallContext;
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::policy::floor::sensitive::sensitive;
use toolgate_core::policy::rule::Sandbox;
use toolgate_core::policy::shell::{Command, Direction, Look, Reading, inputs, look, read};
use toolgate_core::policy::world::normal;
use toolgate_core::spawn::{Beyond, Order, SpawnError, Spawned};
use toolgate_core::tool::Input;

use super::environment::{MoreVariables, environment, looking};
use super::inputs::existing_inputs;
use super::shells::{shell, sole_program};

/// Programs whose first word is a file they run.
const INTERPRETERS: &[&str] =
    &["sh", "bash", "dash", "zsh", "ksh", "python", "python3", "node", "ruby", "perl", "php"];
/// More programs than this are not bound to an approval.
const MOST_PROGRAMS: usize = 20;

/// A line to run in a folder.
#[derive(Debug)]
pub(crate) struct Launch<'a> {
    /// The line that was asked for.
    pub(crate) line: &'a str,
    /// A real path.
    pub(crate) folder: &'a Path,
}

impl Launch<'_> {
    /// Starts it, reaching as far as the call may.
    pub(crate) async fn start(&self, context: &CallContext) -> Result<Spawned, ToolError> {
        let Some(spawner) = context.spawner() else {
            return Err(ToolError::new(
                ErrorKind::SandboxError,
                "nothing here can start programs; whoever built this gate has to give it a spawner",
            ));
        };
        spawner.spawn(self.order(context)?).await.map_err(|error| failed(&error))
    }

    pub(super) fn order(&self, context: &CallContext) -> Result<Order, ToolError> {
        let reach = context.reach();
        let shell = shell().ok_or_else(|| {
            ToolError::new(
                ErrorKind::SandboxError,
                "bash is not installed, and command lines are run by bash; nothing ran",
            )
        })?;
        let line = reach.line.as_deref().unwrap_or(self.line);
        if line.contains('\0') {
            return Err(ToolError::invalid(
                "a command line cannot hold a NUL byte, so nothing ran",
            ));
        }
        let more = context.service::<MoreVariables>();
        let mut env = environment(more.as_deref().unwrap_or(&MoreVariables::default()));
        if reach.sandbox == Sandbox::ReadOnly && !reach.is_approved {
            env.extend(looking());
        }
        for (name, value) in reach.needs.iter().flat_map(|need| &need.set) {
            env.push((name.into(), value.into()));
        }
        env.push(("PWD".into(), self.folder.into()));
        let (program, args) = match reach.line.as_deref().and_then(|line| sole_program(line, &env))
        {
            Some(found) => found,
            None => (shell.to_owned(), vec![OsString::from("-c"), OsString::from(line)]),
        };
        let home = context.workspace().home();
        let mut unmasked = if reach.is_approved { self.named_secrets(home) } else { Vec::new() };
        unmasked.extend(reach.needs.iter().flat_map(|need| &need.shown).cloned());
        let trusted_hosts: Vec<String> =
            reach.needs.iter().flat_map(|need| &need.hosts).cloned().collect();
        Ok(Order {
            program,
            args,
            folder: self.folder.to_owned(),
            env,
            sandbox: reach.sandbox,
            network: reach.network.iter().chain(&trusted_hosts).cloned().collect(),
            roots: context.workspace().roots().map(Path::to_owned).collect(),
            unmasked,
            beyond: Beyond {
                read: self.read(context),
                write: reach.write.clone(),
                caches: reach.needs.iter().flat_map(|need| &need.caches).cloned().collect(),
                trusted_hosts,
                hidden: reach.hidden.clone(),
                denied: context.denied(),
                guarded: reach.guarded.clone(),
            },
            scratch: context.session().id().to_string(),
            stdin: None,
        })
    }

    /// Files outside of the workspace that it may read: those that were judged, and those that a
    /// line names to which the user agreed. What a rule denies is among neither.
    fn read(&self, context: &CallContext) -> Vec<PathBuf> {
        let (reach, workspace) = (context.reach(), context.workspace());
        let mut read = reach.read.clone();
        if reach.is_approved {
            let lower = |path: &Path| path.to_string_lossy().to_lowercase();
            let home = workspace.home();
            let own = home.map(lower);
            let is_secret = |path: &Path| sensitive(&lower(path), own.as_deref()).is_some();
            let named = self.named(home).into_iter().filter(|path| path.is_absolute());
            let named = named.filter(|path| !workspace.roots().any(|root| path.starts_with(root)));
            read.extend(named.filter(|path| !is_secret(path) && path.components().count() > 1));
        }
        read
    }

    /// Secrets that the line names: whoever agreed to it saw them. Links are not followed, so
    /// that nobody can put another secret in the place of one.
    fn named_secrets(&self, home: Option<&Path>) -> Vec<PathBuf> {
        let lower = |path: &Path| path.to_string_lossy().to_lowercase();
        let own = home.map(lower);
        let named = self.named(home).into_iter();
        named.filter(|path| sensitive(&lower(path), own.as_deref()).is_some()).collect()
    }

    /// The paths that the words of the line may name.
    fn named(&self, home: Option<&Path>) -> Vec<PathBuf> {
        let commands = commands(self.line);
        let words = commands.iter().flat_map(|command| {
            let targets = command.redirects.iter().map(|redirect| &redirect.target);
            command.words.iter().chain(targets)
        });
        let named = words.filter_map(|word| match word.literal() {
            Some(name) => Some(normal(&self.folder.join(name))),
            None if word.home && word.known && !word.pattern => {
                Some(normal(&home?.join(word.text.strip_prefix("~/")?)))
            }
            None => None,
        });
        named.collect()
    }
}

/// The programs a line runs that somebody could exchange: those named by a path, and scripts
/// handed to an interpreter. Real paths.
pub(crate) fn programs(line: &str, folder: &Path) -> Vec<PathBuf> {
    let mut programs = Vec::new();
    for command in commands(line) {
        let Some(name) = command.name() else { continue };
        let base = name.rsplit('/').next().unwrap_or(name);
        let script = || {
            let words = command.arguments().iter().filter_map(|word| word.literal());
            words.map(str::to_owned).find(|word| !word.starts_with('-'))
        };
        let own = name.contains('/').then(|| name.to_owned());
        let script = INTERPRETERS.contains(&base).then(script).flatten();
        for name in own.into_iter().chain(script) {
            let real = folder.join(name).canonicalize();
            programs.extend(real.ok().filter(|real| real.is_file()));
        }
    }
    programs.truncate(MOST_PROGRAMS);
    programs
}

/// Returns the files that decide what a line does when it starts in `folder`.
pub(crate) fn line_inputs(line: &str, folder: &Path, context: &CallContext) -> Vec<Input> {
    let more = context.service::<MoreVariables>();
    let env = environment(more.as_deref().unwrap_or(&MoreVariables::default()));
    let search = env.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
    existing_inputs(&inputs(line), folder, context.workspace(), search)
}

/// Whether a line only looks, so that it may run beside others.
pub(crate) fn is_read_only(line: &str) -> bool {
    let Reading::Literal(line) = read(line) else { return false };
    line.commands().iter().all(|command| {
        let writes = command.redirects.iter().any(|redirect| {
            redirect.direction == Direction::Write && redirect.target.text != "/dev/null"
        });
        !writes && !matches!(look(command), Look::No(_))
    })
}

pub(super) fn commands(line: &str) -> Vec<Command> {
    match read(line) {
        Reading::Literal(line) => line.commands().to_vec(),
        Reading::Complex { commands, .. } => commands,
        Reading::Unreadable { .. } => Vec::new(),
    }
}

fn failed(error: &SpawnError) -> ToolError {
    let next = match error {
        SpawnError::Sandbox { .. } => {
            "nothing ran. `toolgate doctor` tells what is missing; to run it unconfined, a person has to agree: ask with `sandbox` set to `full`"
        }
        _ => "nothing ran",
    };
    ToolError::new(ErrorKind::SandboxError, format!("{error}; {next}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_looking_is_told_from_more() {
        for line in ["ls -la", "git status", "cat a | wc -l", "grep x y 2>/dev/null"] {
            assert!(is_read_only(line), "{line}");
        }
        for line in ["make", "ls > out", "echo $(rm x)", "cat a; rm b", "cat 'a"] {
            assert!(!is_read_only(line), "{line}");
        }
    }

    #[test]
    fn secrets_that_are_named_are_found() {
        let folder = Path::new("/home/anna/project");
        let home = Some(Path::new("/home/anna"));
        let of = |line| Launch { line, folder }.named_secrets(home);
        assert_eq!(of("cat ~/.ssh/id_rsa notes.txt"), [Path::new("/home/anna/.ssh/id_rsa")]);
        assert_eq!(of("grep x < ./.env"), [Path::new("/home/anna/project/.env")]);
        assert_eq!(of("cat notes.txt $FILE"), Vec::<PathBuf>::new());
    }

    #[test]
    fn programs_that_could_be_exchanged_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        for name in ["deploy.sh", "tool.py", "notes.txt"] {
            std::fs::write(folder.join(name), "").unwrap();
        }
        let found = programs("./deploy.sh notes.txt && python3 -u tool.py; cat notes.txt", &folder);
        assert_eq!(found, [folder.join("deploy.sh"), folder.join("tool.py")]);
    }
}
