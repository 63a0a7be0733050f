//! What a command wants to run with.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::facts::Facts;
use crate::host::{self, HostError};
use crate::profile::Profile;
use crate::rule::Sandbox;
use crate::world::normal;

/// More hosts are more than a person reads.
const MOST_HOSTS: usize = 20;

/// What a command is to run with; where nothing is said, its rules say it.
#[derive(Debug, Default)]
pub(super) struct Wish {
    pub(super) sandbox: Option<Sandbox>,
    pub(super) network: Option<Vec<String>>,
    /// Folders beside the workspace.
    pub(super) write: Vec<PathBuf>,
    pub(super) whose: Whose,
    /// The profile that a person chose.
    chosen: Option<Profile>,
}

/// Who wants it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// The call, so that more than its rules say must be asked for.
    #[default]
    Call,
    /// A person who was asked.
    Person,
}

impl Wish {
    /// Reads what a call wants, or what a person chose for it.
    ///
    /// # Errors
    /// A sentence about what cannot be understood.
    pub(super) fn of(facts: &Facts) -> Result<Self, String> {
        let wish = match &facts.chosen {
            Some(chosen) => {
                let network = hosts(chosen.network.iter().map(String::as_str))?;
                let profile = Profile::new(chosen.sandbox, network.iter().cloned());
                let profile = profile.writing(chosen.write.iter().cloned());
                Self {
                    sandbox: Some(chosen.sandbox),
                    network: Some(network),
                    write: Vec::new(),
                    whose: Whose::Person,
                    chosen: Some(profile.needing(chosen.needs.iter().cloned())),
                }
            }
            None => Self {
                sandbox: sandbox(facts.args.get("sandbox"))?,
                network: network(facts.args.get("network"))?,
                write: folders(facts.args.get("write"))?,
                whose: Whose::Call,
                chosen: None,
            },
        };
        if wish.sandbox == Some(Sandbox::ReadOnly) && !wish.hosts().is_empty() {
            return Err(
                "what runs in `read_only` reaches no network; hosts go with `workspace_write`"
                    .to_owned(),
            );
        }
        if wish.sandbox == Some(Sandbox::ReadOnly) && !wish.write.is_empty() {
            return Err(
                "what runs in `read_only` writes nowhere; folders to write in go with `workspace_write`"
                    .to_owned(),
            );
        }
        Ok(wish)
    }

    /// The hosts it names.
    pub(super) fn hosts(&self) -> &[String] {
        self.network.as_deref().unwrap_or_default()
    }

    /// What is wanted where the rest is as the rules say.
    pub(super) fn over(&self, rules: &Profile) -> Profile {
        if let Some(chosen) = &self.chosen {
            return chosen.clone();
        }
        let network = self.network.as_ref().unwrap_or(&rules.network);
        let only_reads = self.hosts().is_empty() && self.write.is_empty();
        // What only reads reaches nobody, and writes nowhere.
        let least = if only_reads { rules.sandbox } else { Sandbox::WorkspaceWrite };
        let sandbox = self.sandbox.unwrap_or_else(|| rules.sandbox.max(least));
        let profile = Profile::new(sandbox, network.iter().cloned());
        let write = rules.write.iter().chain(&self.write).cloned();
        profile.writing(write).needing(rules.needs.iter().cloned())
    }
}

fn sandbox(value: Option<&Value>) -> Result<Option<Sandbox>, String> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(name)) => name.parse().map(Some).map_err(|_| unknown_sandbox(value)),
        Some(_) => Err(unknown_sandbox(value)),
    }
}

fn unknown_sandbox(value: Option<&Value>) -> String {
    let text = match value {
        Some(Value::String(name)) => name.chars().take(40).collect(),
        _ => "that".to_owned(),
    };
    format!("`{text}` is no sandbox: it is `read_only`, `workspace_write` or `full`")
}

fn network(value: Option<&Value>) -> Result<Option<Vec<String>>, String> {
    const LIST: &str = "`network` is a list of names of hosts";
    let items = match value {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Array(items)) => items,
        Some(_) => return Err(LIST.to_owned()),
    };
    if items.len() > MOST_HOSTS {
        return Err(format!(
            "`network` names {} hosts, and no more than {MOST_HOSTS} are read",
            items.len()
        ));
    }
    let names = items.iter().map(|item| item.as_str().ok_or_else(|| LIST.to_owned()));
    hosts(names.collect::<Result<Vec<_>, _>>()?).map(Some)
}

fn folders(value: Option<&Value>) -> Result<Vec<PathBuf>, String> {
    const LIST: &str = "`write` is a list of absolute paths of folders";
    let items = match value {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(items)) if items.len() <= MOST_HOSTS => items,
        Some(_) => return Err(LIST.to_owned()),
    };
    let folder = |item: &Value| {
        let path = normal(Path::new(item.as_str()?));
        // All of a disk is no folder beside a workspace.
        (path.is_absolute() && path.components().count() > 2).then_some(path)
    };
    items.iter().map(|item| folder(item).ok_or_else(|| LIST.to_owned())).collect()
}

fn hosts<'h>(names: impl IntoIterator<Item = &'h str>) -> Result<Vec<String>, String> {
    let names = names.into_iter().map(host::parse).collect::<Result<Vec<_>, HostError>>();
    let mut names = names.map_err(|error| error.to_string())?;
    if names.len() > MOST_HOSTS {
        return Err(format!("no more than {MOST_HOSTS} hosts are read"));
    }
    names.sort_unstable();
    names.dedup();
    Ok(names)
}
