//! `toolgate policy allow|ask|deny`: one permission more.

use std::fmt::Write as _;
use std::process::ExitCode;

use serde_json::json;
use toolgate_core::visible;
use toolgate_policy::load::{Diagnostic, shadowed};
use toolgate_policy::permissions::Change;
use toolgate_policy::rule::{Rule, Tier};
use toolgate_policy::{Decision, Engine, Policy as _, Verdict};

use super::examples::{Example, examples};
use super::facts::{self, Known};
use super::world::{reach, world};
use crate::app::App;
use crate::exit::{self, UsageError};
use crate::global::GlobalArgs;
use crate::output::{one_line, print_pretty_json, print_text};
use crate::permissions::{Placement, PolicyFolder};
use crate::policies::{self, Presence, Sources, SupposedTrust};

/// How often a file may change while it is added to.
const MOST_TRIES: usize = 20;
/// More examples than these tell nothing new.
const MOST: usize = 3;

const FORMS: &str = "\
Permissions look like:
  Bash(npm run *)            commands that begin so
  Bash(git status)           this very command
  Read(./secrets/**)         reading files, by tools and commands
  Edit(src/**)               writing files
  WebFetch(domain:docs.rs)   fetching from a host
  mcp__files__read           a tool of an MCP server
  delete_file                a tool";

/// A permission and whose it is.
#[derive(Debug, clap::Args)]
pub(crate) struct PermissionArgs {
    /// Which calls, such as `Bash(npm run *)`
    permission: String,
    /// Write it to your own policies, for every workspace (also without a flag)
    #[arg(long, conflicts_with = "project")]
    user: bool,
    /// Write it to the policies of this workspace, in .toolgate/policies
    #[arg(long)]
    project: bool,
}

pub(crate) fn run(
    global: &GlobalArgs,
    args: &PermissionArgs,
    decision: Decision,
) -> anyhow::Result<ExitCode> {
    let app = App::for_looking(global)?;
    let sources = app.rules.sources();
    let permission = args.permission.trim();
    let rule = parse(permission, sources, decision)?;
    let loader = sources.loader.clone();
    let folder = if args.project {
        PolicyFolder::of_workspace(loader, &sources.root)?
    } else {
        PolicyFolder::of_user(loader)?
    };
    // As it will be once the folder is trusted.
    let trust = if args.project { SupposedTrust::Trusted } else { SupposedTrust::AsItIs };
    let before = policies::preview(sources, &[], trust)?;
    let (placement, after) = written(&folder, sources, trust, permission, decision)?;
    let effect = Effect::new(&app, permission, &rule, decision, &before, &after, &placement);
    let is_waiting = args.project && !sources.is_trusted(Presence::Away)?;
    if app.output.json {
        effect.print_json(permission, decision, &placement, is_waiting)?;
    } else {
        print_text(&effect.shown(permission, decision, &placement))?;
        effect.warn();
        if is_waiting {
            exit::note(
                "this folder is not trusted, so its policies are not used yet; `toolgate trust add` trusts it",
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes a permission, and returns where it is and the rules with it. Nothing is written that
/// could not be loaded.
fn written(
    folder: &PolicyFolder,
    sources: &Sources,
    trust: SupposedTrust,
    permission: &str,
    decision: Decision,
) -> anyhow::Result<(Placement, Engine)> {
    'again: for _ in 0..MOST_TRIES {
        let placement = folder.place(permission, decision)?;
        let after = policies::preview(sources, &placement.drafts, trust)?;
        for draft in &placement.drafts {
            if !folder.write(draft)? {
                continue 'again;
            }
        }
        return Ok((placement, after));
    }
    Err(UsageError("the policy files keep changing, so nothing was added; try again".to_owned())
        .into())
}

/// Reads a permission as it would be read from a file.
fn parse(permission: &str, sources: &Sources, decision: Decision) -> anyhow::Result<Rule> {
    let wrong = |why: &str| {
        UsageError(format!("`{}` is not a permission: {why}\n\n{FORMS}", one_line(permission)))
    };
    if permission.is_empty() {
        return Err(UsageError(format!("the permission is empty\n\n{FORMS}")).into());
    }
    if permission.chars().any(char::is_control) {
        return Err(wrong("it has a line end or another control character in it").into());
    }
    let text = format!("[permissions]\n{decision} = [{}]\n", toml::Value::from(permission));
    let file = sources.loader.parse(&text, "command line", Tier::User);
    if let Some(Diagnostic { message, help, .. }) = file.diagnostics.first() {
        let help = help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
        return Err(wrong(&format!("{message}{help}")).into());
    }
    let rule = file.rules.into_iter().next();
    rule.ok_or_else(|| wrong("it says nothing").into())
}

/// What a permission changes.
struct Effect {
    /// Calls that are decided differently.
    changed: Vec<(Example, Verdict, Verdict)>,
    /// Calls that are decided as wanted, before and after.
    same: Vec<(Example, Verdict, Verdict)>,
    /// Calls that are not decided as wanted, because something stronger decides.
    against: Vec<(Example, Verdict)>,
    /// A rule that always comes first.
    stronger: Option<String>,
}

impl Effect {
    fn new(
        app: &App,
        permission: &str,
        rule: &Rule,
        wanted: Decision,
        before: &Engine,
        after: &Engine,
        placement: &Placement,
    ) -> Self {
        let mut effect =
            Self { changed: Vec::new(), same: Vec::new(), against: Vec::new(), stronger: None };
        for example in examples(permission, rule, after) {
            let Ok(Known::Facts(facts)) = facts::of(app, &example.tool, example.args.clone())
            else {
                continue;
            };
            let decide = |engine: &Engine| engine.decide(&facts, &world(app, None));
            let (old, new) = (decide(before), decide(after));
            if new.decision != wanted {
                effect.against.push((example, new));
            } else if old.decision != new.decision {
                effect.changed.push((example, old, new));
            } else {
                effect.same.push((example, old, new));
            }
        }
        let source = placement.path.display().to_string();
        let own =
            |rule: &Rule| *rule.origin.source == *source && rule.origin.line == placement.line;
        let stronger = shadowed(after.table()).into_iter().find(|(rule, _)| own(rule));
        effect.stronger = stronger.map(|(_, stronger)| {
            let name = stronger.name.as_deref().map_or_else(|| stronger.shown(), str::to_owned);
            format!("`{name}` at {} always comes first", stronger.origin)
        });
        effect
    }

    fn shown(&self, permission: &str, decision: Decision, placement: &Placement) -> String {
        let place = format!("{}:{}", visible::path(&placement.path), placement.line);
        let mut text = match placement.change {
            Change::Added => format!("Added `{permission}` to `{decision}`: {place}\n"),
            Change::Moved { from } => {
                format!("Moved `{permission}` from `{from}` to `{decision}`: {place}\n")
            }
            Change::Present => format!("`{permission}` is in `{decision}` already: {place}\n"),
        };
        let width =
            self.changed.iter().take(MOST).map(|(example, ..)| example.shown.chars().count());
        let width = width.max().unwrap_or(0);
        for (example, old, new) in self.changed.iter().take(MOST) {
            writeln!(text, "  {:<width$}  {} → {}", example.shown, old.decision, new.decision).ok();
        }
        if self.changed.is_empty()
            && let Some((example, old, _)) = self.same.first()
        {
            let verb = match decision {
                Decision::Allow => "was allowed",
                Decision::Ask => "asked",
                Decision::Deny => "was denied",
            };
            let rule = old.rule.as_ref().map(|rule| format!(" by rule {rule}"));
            writeln!(text, "  `{}` {verb} before{}", example.shown, rule.unwrap_or_default()).ok();
        }
        if let Some(reach) = self.reach() {
            writeln!(text, "  {reach}").ok();
        }
        text
    }

    /// Says what the commands run with.
    fn reach(&self) -> Option<String> {
        let verdict = self.changed.first().map(|(.., new)| new);
        reach(verdict.or_else(|| self.same.first().map(|(.., new)| new))?)
    }

    fn warn(&self) {
        for warning in self.warnings() {
            exit::warn(&warning);
        }
    }

    fn warnings(&self) -> Vec<String> {
        let mut warnings: Vec<String> = self
            .stronger
            .iter()
            .map(|stronger| format!("this permission never decides: {stronger}"))
            .collect();
        for (example, verdict) in self.against.iter().take(MOST) {
            let decided = match verdict.decision {
                Decision::Allow => "is still allowed",
                Decision::Ask => "still asks",
                Decision::Deny => "is still denied",
            };
            let rule = verdict.rule.as_ref().map(ToString::to_string);
            let rule = rule
                .filter(|rule| !verdict.reason().contains(rule))
                .map(|rule| format!(" [{rule}]"));
            warnings.push(format!(
                "`{}` {decided}: {}{}",
                example.shown,
                visible::line(verdict.reason()),
                rule.unwrap_or_default()
            ));
        }
        warnings
    }

    fn print_json(
        &self,
        permission: &str,
        decision: Decision,
        placement: &Placement,
        is_waiting: bool,
    ) -> anyhow::Result<()> {
        let (change, from) = match placement.change {
            Change::Added => ("added", None),
            Change::Moved { from } => ("moved", Some(from)),
            Change::Present => ("present", None),
        };
        let changed = self.changed.iter().map(|(example, old, new)| {
            json!({
                "tool": example.tool, "args": example.args,
                "before": old.decision, "after": new.decision, "runs": reach(new),
            })
        });
        print_pretty_json(&json!({
            "permission": permission,
            "decision": decision,
            "change": change,
            "from": from,
            "file": placement.path,
            "line": placement.line,
            "examples": changed.collect::<Vec<_>>(),
            "warnings": self.warnings(),
            "waits_for_trust": is_waiting,
        }))
    }
}
