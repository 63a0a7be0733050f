//! Settings of Claude Code.

use std::path::Path;
use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::Value;
use toolgate_core::settings::SettingsFiles;

/// The schemas of the files, by name; published in `docs/schemas`.
pub const SCHEMAS: [(&str, &str); 3] = [
    ("claude-settings", include_str!("claude-settings.schema.json")),
    ("claude-hooks", include_str!("claude-hooks.schema.json")),
    ("claude-permissions", include_str!("claude-permissions.schema.json")),
];

static VALIDATORS: LazyLock<[Option<Validator>; 3]> = LazyLock::new(|| {
    SCHEMAS.map(|(_, text)| {
        let schema: Value = serde_json::from_str(text).ok()?;
        jsonschema::validator_for(&schema).ok()
    })
});

/// `settings*.json`, `hooks.json` and `permissions.json` in a folder `.claude`.
#[derive(Debug, Clone, Copy)]
pub struct ClaudeSettings;

impl SettingsFiles for ClaudeSettings {
    fn knows(&self, path: &Path) -> bool {
        number(path).is_some()
    }

    fn violations(&self, path: &Path, text: &str) -> Vec<String> {
        let Some(validator) = number(path).and_then(|number| VALIDATORS.get(number)) else {
            return Vec::new();
        };
        let Some(validator) = validator else {
            return vec!["its schema is damaged, so nothing can be said about it".to_owned()];
        };
        let value: Value = match serde_json::from_str(text) {
            Ok(value) => value,
            Err(error) => return vec![format!("it would be no JSON: {error}")],
        };
        let errors = validator.iter_errors(&value).map(|error| {
            let place = error.instance_path().to_string();
            // Settings may hold secrets, so values are not repeated.
            let fault = error.masked_with("the value");
            match place.trim_start_matches('/').replace('/', ".") {
                place if place.is_empty() => fault.to_string(),
                place => format!("`{place}`: {fault}"),
            }
        });
        errors.collect()
    }
}

/// Which of the schemas a file has to fit.
fn number(path: &Path) -> Option<usize> {
    let folder = path.parent()?.file_name()?.to_str()?;
    if !folder.eq_ignore_ascii_case(".claude") {
        return None;
    }
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    match name.strip_suffix(".json")? {
        "hooks" => Some(1),
        "permissions" => Some(2),
        stem if stem == "settings" || stem.starts_with("settings.") => Some(0),
        _ => None,
    }
}
