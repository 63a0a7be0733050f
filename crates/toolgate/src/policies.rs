//! The policy in force: files of admin, user, workspace and command line.

mod configured;

use std::collections::HashMap;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use annotate_snippets::Renderer;
use toolgate_core::registry::Registry;
use toolgate_core::workspace::Workspace;
use toolgate_policy::load::{Diagnostic, Loader, PolicyFile, Severity, render, shadowed};
use toolgate_policy::name::ToolPattern;
use toolgate_policy::pattern::Places;
use toolgate_policy::rule::{Origin, Priority, Rule, Tier};
use toolgate_policy::vocabulary::Vocabulary;
use toolgate_policy::{Decision, Engine, Mode};

use crate::config;
use crate::exit::UsageError;
use crate::global::GlobalArgs;
use crate::home;
use crate::trust;

/// Where whoever runs the machine keeps policies.
const ADMIN: &str = "/etc/toolgate/policies";

/// Loads every policy that holds here.
pub(crate) fn load(
    global: &GlobalArgs,
    registry: &Registry,
    workspace: &mut Workspace,
    interactive: bool,
) -> anyhow::Result<Arc<Engine>> {
    let loader = loader(registry, workspace);
    let mut loaded = Loaded::default();
    for (file, tier) in files(global, workspace.root(), interactive)? {
        loaded.add(&loader, &file, tier)?;
    }
    loaded.stop_on_errors()?;
    for folder in &loaded.folders {
        let folder = workspace.root().join(folder);
        workspace.add(&folder).map_err(|error| UsageError(error.to_string()))?;
    }
    loaded.rules.extend(by_flag(global, &loader.vocabulary)?);
    loaded.rules.extend(configured::rules(&config::load()?, &config::path()?));
    follow_links(&mut loaded.rules);
    let mode = global.mode.or(loaded.mode).unwrap_or(Mode::Default);
    let own = [home::config()?, home::state()?];
    let real = own.iter().filter_map(|folder| folder.canonicalize().ok()).collect::<Vec<_>>();
    // A rule that could be rewritten by a call would be no rule.
    let given = global.policy.iter().filter_map(|file| file.canonicalize().ok());
    let engine = Engine::new(loaded.rules, mode).protecting(own).protecting(real).protecting(given);
    warn_shadowed(&engine, global.quiet);
    Ok(Arc::new(if interactive { engine } else { engine.non_interactive() }))
}

/// Reads rules about the tools and places there are.
pub(crate) fn loader(registry: &Registry, workspace: &Workspace) -> Loader {
    Loader {
        vocabulary: vocabulary(registry),
        places: Places {
            workspace: workspace.roots().map(Path::to_owned).collect(),
            home: workspace.home().map(Path::to_owned),
        },
    }
}

/// The files that hold here, the strongest first.
fn files(
    global: &GlobalArgs,
    workspace: &Path,
    interactive: bool,
) -> anyhow::Result<Vec<(PathBuf, Tier)>> {
    let config = home::config()?;
    let [admin, user, own] = folders(&config, workspace);
    let mut files = Vec::new();
    files.extend(policies_in(&admin)?.into_iter().map(|file| (file, Tier::Admin)));
    files.extend(global.policy.iter().map(|file| (file.clone(), Tier::User)));
    files.extend(policies_in(&user)?.into_iter().map(|file| (file, Tier::User)));
    // Somebody elsewhere who may answer does not see this question.
    let present = interactive && !global.non_interactive && std::io::stdin().is_terminal();
    if trust::settle(&config, workspace, present, global.quiet)? {
        files.extend(policies_in(&own)?.into_iter().map(|file| (file, Tier::Workspace)));
    }
    Ok(files)
}

/// Where policies are: whoever runs the machine has some, the user, and the workspace.
pub(crate) fn folders(config: &Path, workspace: &Path) -> [PathBuf; 3] {
    [PathBuf::from(ADMIN), config.join("policies"), workspace.join(".toolgate/policies")]
}

/// The policy files in a folder, by name.
pub(crate) fn policies_in(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let failed = |error: std::io::Error| {
        UsageError(format!("cannot read the policies in `{}`: {error}", folder.display()))
    };
    let entries = match folder.read_dir() {
        Ok(entries) => entries,
        Err(error) if is_missing(&error) => return Ok(Vec::new()),
        Err(error) => return Err(failed(error).into()),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|ending| ending == "toml" || ending == "json") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Whether there is nothing at a path, nor could be.
fn is_missing(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

/// What the files say, taken together.
#[derive(Debug, Default)]
struct Loaded {
    rules: Vec<Rule>,
    mode: Option<Mode>,
    folders: Vec<String>,
    errors: usize,
}

impl Loaded {
    /// Adds a file; what is wrong with it is shown at once.
    fn add(&mut self, loader: &Loader, file: &Path, tier: Tier) -> anyhow::Result<()> {
        let text = std::fs::read_to_string(file).map_err(|error| {
            UsageError(format!("cannot read policy `{}`: {error}", file.display()))
        })?;
        let PolicyFile { rules, mode, folders, diagnostics } =
            loader.parse(&text, &file.display().to_string(), tier);
        self.errors += diagnostics.iter().filter(|found| found.severity == Severity::Error).count();
        show(&diagnostics, &text);
        self.rules.extend(rules);
        // A workspace may not choose how much runs unasked, nor reach beyond itself.
        if tier >= Tier::User {
            self.mode = self.mode.or(mode);
            self.folders.extend(folders);
        }
        Ok(())
    }

    fn stop_on_errors(&self) -> anyhow::Result<()> {
        match self.errors {
            0 => Ok(()),
            1 => Err(UsageError("the policy has a mistake, so nothing was run".to_owned()).into()),
            many => {
                let message = format!("the policy has {many} mistakes, so nothing was run");
                Err(UsageError(message).into())
            }
        }
    }
}

/// Shows what is wrong with a file.
pub(crate) fn show(diagnostics: &[Diagnostic], text: &str) {
    if diagnostics.is_empty() {
        return;
    }
    let plain = !std::io::stderr().is_terminal() || std::env::var_os("NO_COLOR").is_some();
    let style = if plain { Renderer::plain() } else { Renderer::styled() };
    let shown = render(diagnostics, text, &style);
    writeln!(anstream::stderr(), "{shown}\n").ok();
}

fn warn_shadowed(engine: &Engine, quiet: bool) {
    if quiet {
        return;
    }
    for (rule, stronger) in shadowed(engine.table()) {
        let shown = rule.name.as_deref().map_or_else(|| rule.shown(), str::to_owned);
        writeln!(
            anstream::stderr(),
            "warning: rule `{shown}` at {} never decides: `{}` at {} (priority {}) always comes first\n  help: remove it, or give it a priority above {}",
            rule.origin,
            stronger.name.as_deref().map_or_else(|| stronger.shown(), str::to_owned),
            stronger.origin,
            stronger.priority,
            stronger.priority,
        )
        .ok();
    }
}

/// Every name tools go by here.
pub(crate) fn vocabulary(registry: &Registry) -> Vocabulary {
    let mut vocabulary = Vocabulary::default();
    for tool in registry.list() {
        let definition = tool.definition();
        let faces = definition.faces.iter().map(|face| face.name);
        vocabulary.add(definition.name.as_str(), faces);
    }
    vocabulary
}

/// `--allowed-tools` and `--exclude-tools`.
fn by_flag(global: &GlobalArgs, vocabulary: &Vocabulary) -> anyhow::Result<Vec<Rule>> {
    let flags = [
        ("--allowed-tools", &global.allowed_tools, Decision::Allow, Priority::ALLOWED_TOOLS),
        ("--exclude-tools", &global.exclude_tools, Decision::Deny, Priority::EXCLUDED_TOOLS),
    ];
    let mut rules = Vec::new();
    for (flag, names, decision, priority) in flags {
        for name in names {
            let native = vocabulary.native(name).unwrap_or(name);
            let pattern =
                ToolPattern::parse(native).map_err(|error| UsageError(error.to_string()))?;
            let is_known =
                !matches!(&pattern, ToolPattern::Exact(_)) || vocabulary.native(name).is_some();
            if !is_known {
                let near = vocabulary.nearest(name).map(|near| format!("; did you mean `{near}`?"));
                let near = near.unwrap_or_default();
                return Err(UsageError(format!("`{flag}`: there is no tool `{name}`{near}")).into());
            }
            let origin = Origin { source: flag.into(), line: 0, tier: Tier::User };
            let mut rule = Rule::about(vec![pattern], decision, priority, origin);
            let verb = if decision == Decision::Allow { "allowed" } else { "excluded" };
            rule.message = Some(format!("`{name}` is {verb} by `{flag}`").into());
            rules.push(rule);
        }
    }
    Ok(rules)
}

/// Rules that name a link are about what it leads to, too.
fn follow_links(rules: &mut [Rule]) {
    let mut known: HashMap<PathBuf, PathBuf> = HashMap::new();
    for pattern in rules.iter_mut().flat_map(|rule| &mut rule.matcher.paths) {
        pattern.also_at(|path| {
            let real = || path.canonicalize().unwrap_or_else(|_| path.to_owned());
            known.entry(path.to_owned()).or_insert_with(real).clone()
        });
    }
}
