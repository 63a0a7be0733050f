//! The files that are written: new ones with comments, others added to.

use std::fs;
use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, Item, Table, value};
use toolgate_core::visible;
use toolgate_policy::permissions::Listed;
use toolgate_policy::{Decision, Mode};

use super::questions::{Choice, Scope};
use crate::config;
use crate::exit::UsageError;
use crate::languages::{self, Language};
use crate::modes;
use crate::owned;
use crate::permissions::{self, FILE, PolicyFolder};
use crate::policies::Draft;

/// The settings of a user who has none yet.
const CONFIG: &str = include_str!("config.toml");

const HEADER: &str = "\
# Which calls run without a question, written by `toolgate init`. Change it as you like.
#
# Within these lists deny beats ask beats allow. `toolgate policy allow|ask|deny` adds to them, and
# `toolgate policy check -- COMMAND` says what is decided about a command.

[permissions]
";

/// The name of the rule about output that goes to files.
const OUTPUT: &str = "output to files";

/// What is going to be written, and what is left alone.
#[derive(Debug)]
pub(super) struct Files {
    /// The settings, if they are new.
    config: Option<PathBuf>,
    /// The policy, if it is new or changes.
    policy: Option<Draft>,
    /// What happened, in sentences for the user.
    pub(super) notes: Vec<String>,
}

impl Files {
    /// Finds out what to write.
    pub(super) fn plan(folder: &PolicyFolder, choice: &Choice) -> anyhow::Result<Self> {
        let mut notes = Vec::new();
        let config = match choice.scope {
            Scope::User => new_config(&mut notes)?,
            Scope::Project => None,
        };
        let path = folder.folder.join(FILE);
        let before = permissions::read(&path)?;
        let is_new = fs::symlink_metadata(&path).is_err();
        let mut added = Additions::find(folder, choice)?;
        let text = if is_new {
            let mode = added.mode.take();
            rendered(&added, mode)
        } else {
            added.merged(folder, &path, &before)?
        };
        notes.extend(added.notes(&path, is_new, choice));
        let policy = (text != before).then(|| folder.draft(&path, &before, text));
        Ok(Self { config, policy, notes })
    }

    /// Returns the policies that are not written yet.
    pub(super) fn drafts(&self) -> Vec<Draft> {
        self.policy.iter().cloned().collect()
    }

    /// Writes everything.
    pub(super) fn write(&self, folder: &PolicyFolder) -> anyhow::Result<()> {
        if let Some(draft) = &self.policy
            && !folder.write(draft)?
        {
            let shown = visible::path(&draft.path);
            return Err(UsageError(format!("`{shown}` changed in the meantime; try again")).into());
        }
        if let Some(path) = &self.config {
            let written = owned::change(path, |now| match now {
                "" => Ok(CONFIG.to_owned()),
                _ => Err(format!("`{}` changed in the meantime", visible::path(path))),
            });
            written.map_err(UsageError)?;
        }
        Ok(())
    }

    /// Returns the files that were written.
    pub(super) fn written(&self) -> Vec<&Path> {
        let policy = self.policy.iter().map(|draft| draft.path.as_path());
        policy.chain(self.config.as_deref()).collect()
    }
}

fn new_config(notes: &mut Vec<String>) -> anyhow::Result<Option<PathBuf>> {
    let path = config::path()?;
    let shown = visible::path(&path);
    if fs::symlink_metadata(&path).is_ok() {
        notes.push(format!("Left {shown} alone: it is there already."));
        return Ok(None);
    }
    notes.push(format!("Wrote {shown}: every setting is commented out, so nothing changes yet."));
    Ok(Some(path))
}

/// What is to be added to the policies.
#[derive(Debug)]
struct Additions {
    /// The mode, if it is not set already.
    mode: Option<Mode>,
    /// Why the mode is not written, if it is not.
    mode_note: Option<String>,
    /// Permissions that no file has, by language.
    permissions: Vec<(Language, Vec<(String, Decision)>)>,
    /// Commands whose output may go to files, if no rule says so already.
    output: Vec<String>,
    /// Permissions that are in the list they should be in.
    present: usize,
    /// Permissions that are in another list, where they stay.
    otherwise: Vec<(PathBuf, Listed)>,
}

impl Additions {
    fn find(folder: &PolicyFolder, choice: &Choice) -> anyhow::Result<Self> {
        let (mode, mode_note) = mode(folder, choice)?;
        let has_output = folder.has_rule(OUTPUT)?;
        let mut found = Self {
            mode,
            mode_note,
            permissions: Vec::new(),
            output: Vec::new(),
            present: 0,
            otherwise: Vec::new(),
        };
        let general = languages::all().into_iter().filter(Language::is_general);
        for language in choice.languages.iter().cloned().chain(general) {
            let mut missing = Vec::new();
            for (permission, decision) in language.permissions() {
                let listed = folder.find(permission)?;
                match listed.iter().find(|(_, listed)| listed.decision != decision) {
                    Some(other) => found.otherwise.push(other.clone()),
                    None if listed.is_empty() => missing.push((permission.to_owned(), decision)),
                    None => found.present += 1,
                }
            }
            if !has_output {
                found.output.extend_from_slice(language.output());
            }
            found.permissions.push((language, missing));
        }
        Ok(found)
    }

    fn count(&self, decision: Decision) -> usize {
        let all = self.permissions.iter().flat_map(|(_, permissions)| permissions);
        all.filter(|(_, own)| *own == decision).count()
    }

    /// Returns the text of a file with everything that is missing.
    fn merged(&self, folder: &PolicyFolder, path: &Path, text: &str) -> anyhow::Result<String> {
        let mut text = text.to_owned();
        if let Some(mode) = self.mode {
            text = with_mode(&text, mode)
                .map_err(|error| UsageError(format!("{}: {error}", visible::path(path))))?;
        }
        for (permission, decision) in self.permissions.iter().flat_map(|(_, all)| all) {
            text = folder.set(path, &text, permission, *decision)?.text;
        }
        // Where rules are written as an inline array, none can follow as a table.
        let inline = text.parse::<DocumentMut>().is_ok_and(|document| {
            document.get("rule").is_some_and(|rules| !rules.is_array_of_tables())
        });
        if !inline {
            text.push_str(&output_rule(&self.output));
        }
        Ok(text)
    }

    fn notes(&self, path: &Path, is_new: bool, choice: &Choice) -> Vec<String> {
        let shown = visible::path(path);
        let (allow, ask) = (self.count(Decision::Allow), self.count(Decision::Ask));
        let number = match (allow, ask) {
            (0, 0) => None,
            _ => Some(format!("{allow} permissions that allow, {ask} that ask")),
        };
        let mode = (is_new && choice.scope == Scope::User || self.mode.is_some())
            .then(|| format!("mode `{}`", choice.mode));
        let what: Vec<String> = mode.into_iter().chain(number).collect();
        let verb = if is_new { "Wrote" } else { "Added to" };
        let mut notes = vec![match what.as_slice() {
            [] => format!("Left {shown} alone: it has all of this already."),
            what => format!("{verb} {shown}: {}.", what.join(", ")),
        }];
        if self.present > 0 && !what.is_empty() {
            let were = if self.present == 1 { "permission was" } else { "permissions were" };
            notes.push(format!("{} {were} there already.", self.present));
        }
        for (file, Listed { decision, permission, line }) in &self.otherwise {
            let file = visible::path(file);
            notes.push(format!("Left `{permission}` in `{decision}`: {file}:{line}."));
        }
        notes.extend(self.mode_note.clone());
        notes
    }
}

/// Returns the mode to write, or why none is written.
fn mode(folder: &PolicyFolder, choice: &Choice) -> anyhow::Result<(Option<Mode>, Option<String>)> {
    let mode = choice.mode;
    if choice.scope == Scope::Project {
        let note = (mode != Mode::Default).then(|| {
            format!("The mode is not written: a project cannot set it. Use `--mode {mode}`, or `toolgate init --user`.")
        });
        return Ok((None, note));
    }
    Ok(match folder.mode()? {
        Some((set, _)) if set == mode => (None, None),
        Some((set, file)) if file.file_name().is_some_and(|name| name != FILE) => {
            let file = visible::path(&file);
            (None, Some(format!("Left the mode `{set}` alone: {file} sets it.")))
        }
        _ => (Some(mode), None),
    })
}

/// Returns the text of a policy with a mode.
fn with_mode(text: &str, mode: Mode) -> Result<String, String> {
    let mut document: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| error.message().replace('\n', ", "))?;
    let permissions = document.entry("permissions").or_insert_with(|| Item::Table(Table::new()));
    let permissions = permissions.as_table_like_mut().ok_or("`permissions` is not a table")?;
    let spelling =
        ["default_mode", "defaultMode"].into_iter().find(|key| permissions.contains_key(key));
    let key = spelling.unwrap_or("default_mode");
    match permissions.get_mut(key).and_then(Item::as_value_mut) {
        Some(old) => {
            let decor = old.decor().clone();
            *old = mode.name().into();
            *old.decor_mut() = decor;
        }
        None => {
            permissions.insert(key, value(mode.name()));
        }
    }
    Ok(document.to_string())
}

/// Returns the text of a new policy.
fn rendered(added: &Additions, mode: Option<Mode>) -> String {
    let mut text = HEADER.to_owned();
    if let Some(mode) = mode {
        text.push_str(&format!(
            "# In mode `{mode}`, {}.\ndefault_mode = \"{mode}\"\n\n",
            modes::meaning(mode)
        ));
    }
    let lists = [
        (
            Decision::Allow,
            "Run without a question, in a sandbox: they may write in the workspace and in their own\n# caches, and reach the registries they need.",
        ),
        (Decision::Ask, "Always ask, also where a wider permission allows them."),
    ];
    for (decision, about) in lists {
        text.push_str(&format!("# {about}\n{decision} = [\n"));
        for (language, permissions) in &added.permissions {
            let own = permissions.iter().filter(|(_, own)| *own == decision);
            let own: Vec<&String> = own.map(|(permission, _)| permission).collect();
            if !own.is_empty() {
                text.push_str(&format!("    # {}\n", language.title));
            }
            for permission in own {
                text.push_str(&format!("    \"{permission}\",\n"));
            }
        }
        text.push_str("]\n\n");
    }
    text.push_str("# Never run, in any mode.\ndeny = []\n");
    text.push_str(&output_rule(&added.output));
    text
}

/// Returns the rule that lets the output of commands go to files, or an empty text.
fn output_rule(commands: &[String]) -> String {
    if commands.is_empty() {
        return String::new();
    }
    let commands: Vec<String> = commands.iter().map(|command| format!("\"{command}\"")).collect();
    let commands = commands.join(", ");
    format!(
        "\n# Their output may go to files of the workspace, as in `echo text > file`.\n[[rule]]\nname = \"{OUTPUT}\"\ntool = \"shell\"\ncommand = [{commands}]\ndecision = \"allow\"\nallow_redirection = true\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_have_nothing_but_comments_and_everything_in_them_works() {
        assert!(CONFIG.lines().all(|line| line.is_empty() || line.starts_with('#')));
        assert_eq!(config::mistakes(CONFIG), [""; 0]);
        let is_code = |line: &&str| {
            line.strip_prefix('#').is_some_and(|rest| {
                rest.starts_with(|letter: char| letter == '[' || letter.is_ascii_lowercase())
            })
        };
        let code = CONFIG.lines().filter(is_code).filter_map(|line| line.strip_prefix('#'));
        let used = code.chain([""]).collect::<Vec<_>>().join("\n");
        assert!(used.contains("[servers.files]\n"));
        assert_eq!(config::mistakes(&used), [""; 0], "{used}");
    }

    #[test]
    fn a_mode_is_set_where_it_is() {
        let before = "# mine\n[permissions] # all\ndefaultMode = \"plan\" # now\nallow = []\n";
        assert_eq!(with_mode(before, Mode::Default).unwrap(), before.replace("plan", "default"));
        assert_eq!(with_mode("", Mode::Plan).unwrap(), "[permissions]\ndefault_mode = \"plan\"\n");
        assert_eq!(
            with_mode("[permissions]\nallow = [\"Read\"]\n", Mode::Plan).unwrap(),
            "[permissions]\nallow = [\"Read\"]\ndefault_mode = \"plan\"\n"
        );
        assert!(with_mode("permissions = 1\n", Mode::Plan).is_err());
    }
}
