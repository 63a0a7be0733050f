//! The policy in force: files of admin, user, workspace and command line.

mod configured;
mod workspace;

use std::collections::HashMap;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use annotate_snippets::Renderer;
use toolgate_core::registry::Registry;
use toolgate_core::visible;
use toolgate_core::workspace::Workspace;
use toolgate_policy::load::{Diagnostic, Loader, PolicyFile, Severity, render, shadowed};
use toolgate_policy::name::ToolPattern;
use toolgate_policy::pattern::Places;
use toolgate_policy::rule::{Origin, Priority, Rule, Tier};
use toolgate_policy::vocabulary::Vocabulary;
use toolgate_policy::{Decision, Engine, Mode};

use self::workspace::{Holds, WorkspacePolicies};
use crate::config;
use crate::exit::{self, UsageError};
use crate::global::GlobalArgs;
use crate::home;
use crate::owned;
pub(crate) use crate::owned::policies_in;
use crate::trust;

/// Where whoever runs the machine keeps policies.
const ADMIN: &str = "/etc/toolgate/policies";

/// Where the rules come from that hold in a workspace.
#[derive(Debug)]
pub(crate) struct Sources {
    pub(crate) global: GlobalArgs,
    pub(crate) loader: Loader,
    pub(crate) root: PathBuf,
    /// Whether somebody can be asked.
    pub(crate) interactive: bool,
}

/// Loads every policy that holds here; mistakes are shown, and folders they name are added.
pub(crate) fn load(sources: &Sources, workspace: &mut Workspace) -> anyhow::Result<Engine> {
    let loaded = sources.read(Presence::Here)?;
    if !loaded.said.is_empty() {
        write!(anstream::stderr(), "{}", loaded.said).ok();
    }
    loaded.stop_on_errors()?;
    loaded.tell_waiting(sources.global.quiet);
    for folder in &loaded.folders {
        let named = named_folder(folder, workspace);
        if !named.exists() {
            let shown = visible::path(&named);
            exit::note(&format!(
                "a policy adds the folder `{shown}`, which does not exist; it is ignored"
            ));
            continue;
        }
        workspace.add(&named).map_err(|error| UsageError(error.to_string()))?;
    }
    let engine = sources.engine(loaded)?;
    warn_shadowed(&engine, sources.global.quiet);
    Ok(engine)
}

/// Returns the folder that a policy names: absolute, below `~/`, or relative to the workspace.
pub(crate) fn named_folder(folder: &str, workspace: &Workspace) -> PathBuf {
    match folder.strip_prefix("~/").zip(workspace.home()) {
        Some((below, home)) => home.join(below),
        None => workspace.root().join(folder),
    }
}

/// Loads every policy that holds here once more, asking nobody and showing nothing.
///
/// # Errors
///
/// What is wrong with them; no half of them is used.
pub(crate) fn reload(sources: &Sources) -> anyhow::Result<Engine> {
    let loaded = sources.read(Presence::Away)?;
    if loaded.errors > 0 {
        return Err(UsageError(loaded.said.trim_end().to_owned()).into());
    }
    loaded.tell_waiting(sources.global.quiet);
    sources.engine(loaded)
}

/// A policy file that is not written yet.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) path: PathBuf,
    pub(crate) tier: Tier,
    /// The text that it replaces, empty for a new file.
    pub(crate) before: String,
    pub(crate) text: String,
}

/// Loads every policy as if these files were written, asking nobody and showing nothing. Policies
/// of the workspace count if it is trusted, or supposed to be.
///
/// # Errors
///
/// Errors if a file has a mistake, with its place.
pub(crate) fn preview(
    sources: &Sources,
    drafts: &[Draft],
    trust: SupposedTrust,
) -> anyhow::Result<Engine> {
    let is_trusted = trust == SupposedTrust::Trusted || sources.is_trusted(Presence::Away)?;
    let files = sources.files()?;
    let is_used = |draft: &&Draft| is_trusted || draft.tier != Tier::Workspace;
    let used: Vec<&Draft> = drafts.iter().filter(is_used).collect();
    let is_drafted = |file: &Path| used.iter().any(|draft| draft.path == *file);
    let mut loaded = Loaded::default();
    for (file, tier) in files.iter().filter(|(file, _)| !is_drafted(file)) {
        loaded.add(&sources.loader, file, *tier)?;
    }
    if is_trusted {
        let own = match trust {
            SupposedTrust::AsItIs => sources.workspace_policies()?,
            SupposedTrust::Trusted => sources.supposed_policies()?,
        };
        for (file, text, holds) in own.parts.iter().filter(|(file, ..)| !is_drafted(file)) {
            loaded.add_part(&sources.loader, text, file, *holds);
        }
    }
    for draft in &used {
        loaded.add_text(&sources.loader, &draft.text, &draft.path, draft.tier);
    }
    if loaded.errors > 0 {
        return Err(UsageError(loaded.said.trim_end().to_owned()).into());
    }
    sources.engine(loaded)
}

/// Whether a workspace that is not trusted counts as if it were.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SupposedTrust {
    AsItIs,
    Trusted,
}

/// Whether the person at the terminal may be asked about a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    Here,
    Away,
}

impl Sources {
    fn read(&self, presence: Presence) -> anyhow::Result<Loaded> {
        let mut loaded = Loaded::default();
        let is_trusted = self.is_trusted(presence)?;
        for (file, tier) in self.files()? {
            loaded.add(&self.loader, &file, tier)?;
        }
        if is_trusted {
            let own = self.workspace_policies()?;
            for (file, text, holds) in &own.parts {
                loaded.add_part(&self.loader, text, file, *holds);
            }
            loaded.waiting = own.waiting;
        }
        Ok(loaded)
    }

    /// The policies of a workspace that is trusted.
    fn workspace_policies(&self) -> anyhow::Result<WorkspacePolicies> {
        WorkspacePolicies::read(&home::config()?, &self.root).map_err(|file| {
            let why = owned::read(&file).err();
            let why = why.map_or_else(|| "it is too long".to_owned(), |error| error.to_string());
            UsageError(format!("cannot read policy `{}`: {why}", file.display())).into()
        })
    }

    /// The policies of a workspace, as if the user had accepted all of them.
    fn supposed_policies(&self) -> anyhow::Result<WorkspacePolicies> {
        let mut supposed = WorkspacePolicies::default();
        let [.., own] = folders(&home::config()?, &self.root);
        for file in policies_in(&own)? {
            let text = owned::read(&file).map_err(|error| {
                UsageError(format!("cannot read policy `{}`: {error}", file.display()))
            })?;
            supposed.parts.push((file, text, Holds::Wholly));
        }
        Ok(supposed)
    }

    fn engine(&self, mut loaded: Loaded) -> anyhow::Result<Engine> {
        let global = &self.global;
        loaded.rules.extend(by_flag(global, &self.loader.vocabulary)?);
        configured::heed_restrictions(&mut loaded.rules);
        let config = config::load()?;
        loaded.rules.extend(configured::rules(&config, &config::path()?));
        follow_links(&mut loaded.rules);
        let mode = global.mode.or(loaded.mode).unwrap_or(Mode::Default);
        let own = [home::config()?, home::state()?];
        let real = own.iter().filter_map(|folder| folder.canonicalize().ok()).collect::<Vec<_>>();
        // A rule that could be rewritten by a call would be no rule.
        let given = global.policy.iter().filter_map(|file| file.canonicalize().ok());
        let engine = Engine::new(loaded.rules, mode).with_needs(config.sandbox.needs()?);
        let engine = engine.protecting(own).protecting(real).protecting(given);
        let scopes = home::scopes()?;
        let real_scopes = scopes.canonicalize().ok();
        let engine = engine.sparing(real_scopes.into_iter().chain([scopes]));
        Ok(if self.interactive { engine } else { engine.non_interactive() })
    }

    /// The files and folders that rules are read from, whether they are there or not.
    pub(crate) fn places(&self) -> anyhow::Result<Vec<PathBuf>> {
        let config = home::config()?;
        let mut places = Vec::new();
        for folder in folders(&config, &self.root) {
            places.extend(policies_in(&folder).unwrap_or_default());
            places.push(folder);
        }
        places.extend(self.global.policy.iter().cloned());
        places.extend([config.join(trust::FILE), config::path()?]);
        places.push(trust::accepted_file(&config, &self.root));
        Ok(places)
    }

    /// Returns `true` if policies of the workspace count.
    pub(crate) fn is_trusted(&self, presence: Presence) -> anyhow::Result<bool> {
        let Self { global, root, interactive, .. } = self;
        // Somebody elsewhere who may answer does not see this question.
        let here = presence == Presence::Here;
        let present =
            here && *interactive && !global.non_interactive && std::io::stdin().is_terminal();
        trust::settle(&home::config()?, root, present, global.quiet || !here)
    }

    /// The files of admin and user that hold here, the strongest first.
    fn files(&self) -> anyhow::Result<Vec<(PathBuf, Tier)>> {
        let [admin, user, _] = folders(&home::config()?, &self.root);
        let mut files = Vec::new();
        files.extend(policies_in(&admin)?.into_iter().map(|file| (file, Tier::Admin)));
        files.extend(self.global.policy.iter().map(|file| (file.clone(), Tier::User)));
        files.extend(policies_in(&user)?.into_iter().map(|file| (file, Tier::User)));
        Ok(files)
    }
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

/// Where policies are: whoever runs the machine has some, the user, and the workspace.
pub(crate) fn folders(config: &Path, workspace: &Path) -> [PathBuf; 3] {
    [PathBuf::from(ADMIN), config.join("policies"), workspace.join(".toolgate/policies")]
}

/// What the files say, taken together.
#[derive(Debug, Default)]
struct Loaded {
    rules: Vec<Rule>,
    mode: Option<Mode>,
    folders: Vec<String>,
    errors: usize,
    /// Policy files of the workspace that wait for the user.
    waiting: Vec<String>,
    /// What is wrong, shown with the lines it is in.
    said: String,
}

impl Loaded {
    /// Adds a file and what is wrong with it.
    fn add(&mut self, loader: &Loader, file: &Path, tier: Tier) -> anyhow::Result<()> {
        let text = owned::read(file).map_err(|error| {
            UsageError(format!("cannot read policy `{}`: {error}", file.display()))
        })?;
        self.add_text(loader, &text, file, tier);
        Ok(())
    }

    fn add_text(&mut self, loader: &Loader, text: &str, file: &Path, tier: Tier) {
        let PolicyFile { rules, mode, folders, diagnostics } =
            loader.parse(text, &file.display().to_string(), tier);
        self.errors += diagnostics.iter().filter(|found| found.severity == Severity::Error).count();
        if !diagnostics.is_empty() {
            self.said.push_str(&shown(&diagnostics, text));
            self.said.push_str("\n\n");
        }
        self.rules.extend(rules);
        // A workspace may not choose how much runs unasked, nor reach beyond itself.
        if tier >= Tier::User {
            self.mode = self.mode.or(mode);
            self.folders.extend(folders);
        }
    }

    /// Adds a policy file of the workspace as far as it holds.
    fn add_part(&mut self, loader: &Loader, text: &str, file: &Path, holds: Holds) {
        let before = self.rules.len();
        self.add_text(loader, text, file, Tier::Workspace);
        if holds == Holds::ToTighten {
            let added = self.rules.split_off(before);
            self.rules.extend(workspace::tightening(added));
        }
    }

    /// Says that rules of the workspace wait for the user.
    fn tell_waiting(&self, quiet: bool) {
        if self.waiting.is_empty() || quiet {
            return;
        }
        let files = trust::few(self.waiting.iter().map(String::as_str));
        exit::note(&format!(
            "{files} changed since you accepted this folder's rules; what they allow waits for `toolgate trust review`"
        ));
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

/// What is wrong with a file, with the lines it is in.
fn shown(diagnostics: &[Diagnostic], text: &str) -> String {
    let plain = !std::io::stderr().is_terminal() || std::env::var_os("NO_COLOR").is_some();
    let style = if plain { Renderer::plain() } else { Renderer::styled() };
    render(diagnostics, text, &style)
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
