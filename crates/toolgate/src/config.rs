//! The user's settings: `config.toml`.

pub(crate) mod web;

use std::io;
use std::path::PathBuf;

use serde::Deserialize;

use crate::exit::UsageError;
use crate::home;

const FILE: &str = "config.toml";

/// The user's settings.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    /// What is written down, and what is not.
    pub(crate) ledger: LedgerConfig,
    /// How the web is reached.
    pub(crate) web: web::WebConfig,
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

/// What is written down, and what is not.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LedgerConfig {
    /// Regular expressions for secrets that no common shape tells.
    pub(crate) redact: Vec<String>,
}

/// Where the user's settings are.
pub(crate) fn path() -> anyhow::Result<PathBuf> {
    Ok(home::config()?.join(FILE))
}

/// Reads the user's settings; without a file, everything is as usual.
pub(crate) fn load() -> anyhow::Result<Config> {
    let path = path()?;
    let text = match std::fs::read_to_string(&path) {
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

/// Reads the text of the file.
pub(crate) fn parse(text: &str) -> Result<Config, toml::de::Error> {
    let config: Config = toml::from_str(text)?;
    Ok(Config { text: text.to_owned(), ..config })
}
