//! What rules are asked: one tool and one thing it touches.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::decision::Decision;
use crate::effect::{Effect, Hints, PathFact, Scope};
use crate::mode::Mode;
use crate::name::ToolName;
use crate::pattern::condition::lookup;
use crate::pattern::path::{folded, text};
use crate::pattern::{
    CommandPattern, CommandText, Condition, DomainPattern, FolderPattern, PathPattern, Regular,
};

/// One tool and one thing it touches. A call is as many questions as it touches things.
#[derive(Debug)]
pub struct Question<'q> {
    /// The tool.
    pub tool: &'q ToolName,
    /// What kind of thing is done.
    pub effect: Effect,
    /// What the tool is known to be like.
    pub hints: Hints,
    /// The arguments.
    pub args: &'q Value,
    /// The mode in force.
    pub mode: Mode,
    /// Whether somebody can be asked.
    pub interactive: bool,
    /// Seconds since 1970.
    pub now: i64,
    /// The subagent that makes the call.
    pub caller: Option<&'q str>,
    /// The folders it may be made in: that of a command, or the workspace.
    pub folders: &'q [PathBuf],
    /// The path it is about.
    pub path: Option<&'q PathForms<'q>>,
    /// The command it is about.
    pub command: Option<&'q CommandForms>,
    /// The host it is about.
    pub host: Option<&'q str>,
    /// The subagent it starts.
    pub agent: Option<&'q str>,
    /// The canonical JSON of the arguments, made when first needed.
    pub canonical: OnceCell<String>,
}

impl Question<'_> {
    /// Rules that allow need the command itself to match; others any command it may run.
    pub fn is_command(&self, patterns: &[CommandPattern], decision: Decision) -> bool {
        let Some(forms) = self.command else { return false };
        let covered =
            |text: &CommandText| patterns.iter().any(|pattern| pattern.matches(text, decision));
        match decision {
            Decision::Allow => forms.strict().is_some_and(covered),
            _ => forms.generous.iter().any(covered),
        }
    }

    /// Rules that allow need the path as asked for and as it is; others either.
    pub fn is_path(&self, patterns: &[PathPattern], decision: Decision) -> bool {
        let Some(forms) = self.path else { return false };
        let covered = |plain: &str, folded: &str| {
            patterns
                .iter()
                .any(|pattern| pattern.matches(if pattern.is_folded() { folded } else { plain }))
        };
        let requested = covered(&forms.requested, &forms.requested_folded);
        if forms.requested == forms.resolved {
            return requested;
        }
        match decision {
            Decision::Allow => requested && covered(&forms.resolved, &forms.resolved_folded),
            _ => requested || covered(&forms.resolved, &forms.resolved_folded),
        }
    }

    /// Rules that allow need every folder the call may be made in; others any of them.
    pub fn is_in(&self, patterns: &[FolderPattern], decision: Decision) -> bool {
        let covered = |folder: &PathBuf| patterns.iter().any(|pattern| pattern.matches(folder));
        match decision {
            Decision::Allow => !self.folders.is_empty() && self.folders.iter().all(covered),
            _ => self.folders.iter().any(covered),
        }
    }

    /// Whether the host is one of these.
    pub fn is_host(&self, patterns: &[DomainPattern], decision: Decision) -> bool {
        self.host.is_some_and(|host| patterns.iter().any(|own| own.matches(host, decision)))
    }

    /// Whether a condition on a parameter holds. A command is asked about as itself.
    pub fn holds(&self, condition: &Condition, decision: Decision) -> bool {
        let own = self.command.filter(|_| condition.param == "command");
        let Some(forms) = own else {
            let as_written = condition.holds(self.args, decision);
            let Some(path) = self.path.filter(|_| is_path_param(&condition.param)) else {
                return as_written;
            };
            // What was written may be another way to say it: `./src/../x`.
            let plain = || condition.accepts(&Value::String(path.plain().to_owned()), decision);
            return match decision {
                Decision::Allow => as_written && plain(),
                _ => as_written || plain(),
            };
        };
        let asked = |text: &CommandText| {
            condition.holds(&serde_json::json!({ "command": text.shown() }), decision)
        };
        match decision {
            Decision::Allow => forms.strict().is_some_and(asked),
            _ => condition.holds(self.args, decision) || forms.generous.iter().any(asked),
        }
    }

    /// Whether an expression is found in the canonical arguments.
    pub fn has_args(&self, pattern: &Regular, decision: Decision) -> bool {
        let Some(forms) = self.command else {
            let as_written = pattern.matches(self.canonical(), decision);
            let Some(plain) = self.plain_args() else { return as_written };
            return match decision {
                Decision::Allow => as_written && pattern.matches(&plain, decision),
                _ => as_written || pattern.matches(&plain, decision),
            };
        };
        let asked = |text: &CommandText| {
            let mut args = self.args.clone();
            if let Some(command) = args.get_mut("command") {
                *command = Value::String(text.shown());
            }
            pattern.matches(&canonical(&args), decision)
        };
        match decision {
            Decision::Allow => forms.strict().is_some_and(asked),
            _ => pattern.matches(self.canonical(), decision) || forms.generous.iter().any(asked),
        }
    }

    /// The canonical arguments with the path said plainly, where that is another text.
    fn plain_args(&self) -> Option<String> {
        let path = self.path?;
        let param = PATH_PARAMS.iter().find(|param| self.text(param).is_some())?;
        if self.text(param) == Some(path.plain()) {
            return None;
        }
        let mut args = self.args.clone();
        *args.get_mut(*param)? = Value::String(path.plain().to_owned());
        Some(canonical(&args))
    }

    /// The texts a parameter may be meant as.
    pub fn texts<'s>(&'s self, param: &str) -> impl Iterator<Item = &'s str> {
        let plain = self.path.filter(|_| is_path_param(param)).map(PathForms::plain);
        self.text(param).into_iter().chain(plain)
    }

    /// What is asked about, in a few words.
    pub fn about(&self) -> String {
        let command = self.command.and_then(|forms| forms.generous.first()).map(CommandText::shown);
        let path = || self.path.map(|forms| format!("{} on {}", self.tool, forms.resolved));
        let host = || self.host.map(|host| format!("{} from {host}", self.tool));
        command
            .map(|command| format!("command: {command}"))
            .or_else(path)
            .or_else(host)
            .unwrap_or_else(|| self.tool.to_string())
    }

    /// The arguments with sorted keys and no spaces.
    pub fn canonical(&self) -> &str {
        self.canonical.get_or_init(|| canonical(self.args))
    }

    /// The text of a parameter.
    pub fn text(&self, param: &str) -> Option<&str> {
        lookup(self.args, param).and_then(Value::as_str)
    }
}

/// Parameters that name a path.
const PATH_PARAMS: &[&str] = &["path", "file_path", "directory"];

fn is_path_param(param: &str) -> bool {
    PATH_PARAMS.contains(&param)
}

/// JSON with sorted keys and no spaces; numbers and text as RFC 8785 writes them.
pub fn canonical(args: &Value) -> String {
    serde_json_canonicalizer::to_string(args).unwrap_or_else(|_| args.to_string())
}

/// A path as patterns see it.
#[derive(Debug, Clone, Default)]
pub struct PathForms<'p> {
    /// As asked for.
    pub requested: Cow<'p, str>,
    /// As it really is.
    pub resolved: Cow<'p, str>,
    /// As asked for, in lower case.
    pub requested_folded: Cow<'p, str>,
    /// As it really is, in lower case.
    pub resolved_folded: Cow<'p, str>,
    /// Whose it is, where a workspace tells its parts apart.
    pub scope: Option<Scope>,
    workspace: Option<&'p Path>,
}

impl<'p> PathForms<'p> {
    /// The forms of a path.
    pub fn new(path: &'p PathFact) -> Self {
        let requested = text(&path.requested);
        let requested_folded = folded(&requested);
        if path.requested.as_os_str() == path.resolved.as_os_str() {
            let (resolved, resolved_folded) = (requested.clone(), requested_folded.clone());
            return Self {
                requested,
                resolved,
                requested_folded,
                resolved_folded,
                scope: path.scope,
                workspace: None,
            };
        }
        let resolved = text(&path.resolved);
        let resolved_folded = folded(&resolved);
        let scope = path.scope;
        Self { requested, resolved, requested_folded, resolved_folded, scope, workspace: None }
    }

    /// The same forms of a path that may lie in a workspace.
    #[must_use]
    pub fn within(self, workspace: &'p Path) -> Self {
        Self { workspace: Some(workspace), ..self }
    }

    /// The path as conditions may mean it: inside of the workspace, or else from the root.
    fn plain(&self) -> &str {
        let inner = self
            .workspace
            .and_then(|workspace| self.resolved.strip_prefix(&*text(workspace))?.strip_prefix('/'));
        inner.unwrap_or(&self.resolved)
    }
}

/// A command as patterns see it.
#[derive(Debug, Clone, Default)]
pub struct CommandForms {
    /// Whatever may run, through any wrapper; the command as it stands comes first.
    pub generous: Vec<CommandText>,
    /// Whether the first is exactly what runs.
    pub is_exact: bool,
}

impl CommandForms {
    /// Exactly what runs; nothing when that is not known.
    pub fn strict(&self) -> Option<&CommandText> {
        self.generous.first().filter(|_| self.is_exact)
    }
}
