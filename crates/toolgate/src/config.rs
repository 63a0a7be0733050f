//! The user's settings: `config.toml`.

pub(crate) mod expand;
mod folders;
pub(crate) mod mcp_json;
pub(crate) mod project;
pub(crate) mod servers;
pub(crate) mod web;

use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;
use toolgate_core::policy::needs;
use toolgate_mcp::server::Trust;

use crate::exit::UsageError;
use crate::home;
use crate::owned;

/// The name of the file.
pub(crate) const FILE: &str = "config.toml";

/// The user's settings.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    /// Whose answers count, and how long they are waited for.
    pub(crate) approvals: ApprovalsConfig,
    /// What is written down, and what is not.
    pub(crate) ledger: LedgerConfig,
    /// What a workspace is made of.
    pub(crate) workspace: WorkspaceConfig,
    /// How commands are run.
    pub(crate) shell: ShellConfig,
    /// What confined commands may use.
    pub(crate) sandbox: SandboxConfig,
    /// How the web is reached.
    pub(crate) web: web::WebConfig,
    /// Servers behind the gate, by the names they go by.
    pub(crate) servers: BTreeMap<String, servers::ServerConfig>,
    /// How they are used together.
    pub(crate) mcp: servers::McpConfig,
    /// The reach of programs that the settings of a trusted folder start, by the folder's path.
    pub(crate) folders: BTreeMap<PathBuf, folders::FolderConfig>,
    /// The text of the file, to tell where something stands.
    #[serde(skip)]
    text: String,
}

impl Config {
    /// The line a byte of the file is in, counted from 1.
    pub(crate) fn line_of(&self, at: usize) -> usize {
        self.text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
    }
}

impl Config {
    /// The line that a server begins at, counted from 1.
    pub(crate) fn line_of_server(&self, name: &str) -> usize {
        let begins = |line: &str| {
            let rest = line.trim_start().strip_prefix("[servers.")?;
            let rest = rest.strip_prefix('"').unwrap_or(rest).strip_prefix(name)?;
            rest.starts_with([']', '.', '"']).then_some(())
        };
        let found = self.text.lines().position(|line| begins(line).is_some());
        found.map_or(1, |line| line + 1)
    }
}

impl Config {
    /// Returns what the user says about programs that the settings of a folder start. It must name
    /// that very folder.
    pub(crate) fn folder(&self, root: &Path) -> folders::FolderConfig {
        let is_root =
            |folder: &Path| folder == root || folder.canonicalize().is_ok_and(|real| real == root);
        let named = self.folders.iter().find(|(folder, _)| is_root(folder));
        named.map(|(_, settings)| settings.clone()).unwrap_or_default()
    }
}

/// Whose answers count, and how long they are waited for.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ApprovalsConfig {
    /// What an answer is worth that an MCP client gives. It does not prove a person: clients may
    /// answer by themselves.
    pub(crate) elicitation: Trust,
    /// How many seconds a call from an MCP client waits for a person: 300 when left out, or 45
    /// where the client cannot be told that somebody is waited for.
    pub(crate) wait: Option<NonZeroU32>,
}

/// What is written down, and what is not.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LedgerConfig {
    /// Regular expressions for secrets that no common shape tells.
    pub(crate) redact: Vec<String>,
}

/// What a workspace is made of.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct WorkspaceConfig {
    /// Whether paths may be `private:/` (of this task), `shared:/` (of the workspace's tasks) or
    /// `public:/` (the workspace itself). Edits without one of these are private then.
    pub(crate) scopes: bool,
}

/// How commands are run.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ShellConfig {
    /// More environment variables that commands get, such as `MY_APP_ENV`.
    pub(crate) env: Vec<String>,
}

/// What confined commands may use.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SandboxConfig {
    /// What programs need beyond the workspace, by their names. An entry takes the place of the
    /// built-in one.
    needs: BTreeMap<String, needs::Entry>,
}

impl SandboxConfig {
    /// Returns the table of needs, with the user's entries in it.
    pub(crate) fn needs(&self) -> anyhow::Result<needs::Table> {
        let table = needs::Table::built_in().clone().with(&self.needs);
        let path = path()?;
        table.map_err(|error| {
            UsageError(format!("`[sandbox.needs]` in `{}`: {error}", path.display())).into()
        })
    }
}

/// Where the user's settings are.
pub(crate) fn path() -> anyhow::Result<PathBuf> {
    Ok(home::config()?.join(FILE))
}

/// Reads the user's settings; without a file, everything is as usual.
pub(crate) fn load() -> anyhow::Result<Config> {
    load_from(&home::config()?)
}

/// Reads the settings in a folder; without a file, everything is as usual.
pub(crate) fn load_from(folder: &Path) -> anyhow::Result<Config> {
    let path = folder.join(FILE);
    let text = match owned::read(&path) {
        Ok(text) => text,
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            return Ok(Config::default());
        }
        Err(error) => {
            return Err(UsageError(format!("cannot read `{}`: {error}", path.display())).into());
        }
    };
    parse(&text).map_err(|error| {
        let shown = error.to_string();
        UsageError(format!("`{}` is not understood: {}", path.display(), shown.trim_end())).into()
    })
}

/// What is wrong with the text of the file, each thing in a line.
pub(crate) fn mistakes(text: &str) -> Vec<String> {
    let config = match parse(text) {
        Ok(config) => config,
        Err(error) => {
            let before = text.get(..error.span().map_or(0, |span| span.start)).unwrap_or(text);
            let line = before.matches('\n').count() + 1;
            return vec![format!("line {line}: {}", error.message().replace('\n', ", "))];
        }
    };
    let redact = toolgate_core::redact::Redactor::new(&config.ledger.redact);
    let redact = redact.err().map(|error| format!("`redact` in `[ledger]`: {error}"));
    let servers = config.servers.iter().filter_map(|(name, server)| {
        let mistake = server.mistake(name)?;
        Some(format!("line {}: `[servers.{name}]`: {mistake}", config.line_of_server(name)))
    });
    let folders = config.folders.iter().filter_map(|(folder, settings)| {
        Some(format!("`[folders.\"{}\"]`: {}", folder.display(), settings.mistake(folder)?))
    });
    let folders: Vec<String> = folders.collect();
    let needs = needs::Table::built_in().clone().with(&config.sandbox.needs);
    let needs = needs.err().map(|error| format!("`[sandbox.needs]`: {error}"));
    redact.into_iter().chain(needs).chain(servers).chain(folders).collect()
}

/// Reads the text of the file.
pub(crate) fn parse(text: &str) -> Result<Config, toml::de::Error> {
    let config: Config = toml::from_str(text)?;
    Ok(Config { text: text.to_owned(), ..config })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_schema_is_that_of_the_settings() {
        let mut schema = schemars::schema_for!(Config);
        schema.insert("title".to_owned(), "Toolgate config.toml".into());
        let now = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
        let published = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../docs/schemas/config.schema.json");
        if std::env::var_os("TOOLGATE_BLESS").is_some() {
            std::fs::write(&published, &now).unwrap();
        }
        assert_eq!(
            std::fs::read_to_string(published).unwrap(),
            now,
            "bless it with TOOLGATE_BLESS=1"
        );
    }

    /// Every key of the settings, tables by their path and entries of maps as `NAME`.
    fn keys(schema: &serde_json::Value, node: &serde_json::Value, path: &str) -> Vec<String> {
        let mut found = Vec::new();
        let target = |reference: &serde_json::Value| {
            let name = reference.as_str().unwrap().rsplit('/').next().unwrap();
            schema["$defs"][name].clone()
        };
        let mut parts = vec![node.clone()];
        parts.extend(node.get("$ref").map(target));
        for one in node["anyOf"].as_array().into_iter().flatten() {
            parts.extend(one.get("$ref").map(target));
        }
        for part in parts {
            for (name, property) in part["properties"].as_object().into_iter().flatten() {
                let path = format!("{path}{name}");
                let below = keys(schema, property, &format!("{path}."));
                found.extend(if below.is_empty() { vec![path] } else { below });
            }
            if part["additionalProperties"].is_object() {
                let below = keys(schema, &part["additionalProperties"], &format!("{path}NAME."));
                found.extend(below);
            }
        }
        found
    }

    const PAGE: &str = include_str!("../../../docs/settings.md");

    #[test]
    fn the_page_about_settings_has_every_key_and_no_other() {
        let schema = serde_json::to_value(schemars::schema_for!(Config)).unwrap();
        let mut accepted = keys(&schema, &schema, "");
        let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
        let mut documented: Vec<String> = rows
            .filter(|(key, _)| key.contains('.') && !key.contains(['/', '*']))
            .map(|(key, rest)| {
                let cells = rest.split(" | ").filter(|cell| !cell.trim().is_empty()).count();
                assert!(cells >= 3, "`{key}` needs a type, a default and a meaning");
                key.to_owned()
            })
            .filter(|key| key != FILE)
            .collect();
        accepted.sort();
        documented.sort();
        assert_eq!(documented, accepted, "docs/settings.md and the settings differ");
    }

    #[test]
    fn every_section_of_the_page_has_an_example_that_works() {
        let examples: Vec<&str> = PAGE.split("```toml\n").skip(1).collect();
        for section in PAGE.split("\n## ").filter(|section| section.starts_with("`[")) {
            let header = section.split('`').nth(1).unwrap();
            assert!(section.contains("```toml"), "{header} has no example");
        }
        for example in examples {
            let example = example.split("```").next().unwrap();
            assert_eq!(mistakes(example), [""; 0], "{example}");
        }
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        assert_eq!(mistakes("[workspace]\nscopes = true\n"), [""; 0]);
        let wrong = mistakes("[workspace]\nscopes = 1\n");
        assert_eq!(wrong, ["line 2: invalid type: integer `1`, expected a boolean"]);
        assert!(mistakes("[ledger]\nredact = [\"(\"]\n")[0].starts_with("`redact` in `[ledger]`:"));
    }
}
