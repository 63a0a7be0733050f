//! Servers in `config.toml`, added and taken out without touching anything else.

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, Value};

use crate::config::servers::{ServerConfig, Transport};

/// The text of the settings with one more server.
///
/// # Errors
///
/// When there is one of this name, or the text makes no sense.
pub(crate) fn added(text: &str, name: &str, server: &ServerConfig) -> Result<String, String> {
    let mut document = parse(text)?;
    let servers = document.entry("servers").or_insert_with(implicit);
    let servers = servers.as_table_like_mut().ok_or("`servers` is no table")?;
    if servers.contains_key(name) {
        return Err(format!(
            "there is a server `{name}` already; take it out first with `toolgate servers remove {name}`"
        ));
    }
    servers.insert(name, Item::Table(table(server)));
    Ok(document.to_string())
}

/// The text of the settings without a server; nothing when there is none of this name.
///
/// # Errors
///
/// When the text makes no sense.
pub(crate) fn removed(text: &str, name: &str) -> Result<Option<String>, String> {
    let mut document = parse(text)?;
    let servers = document.get_mut("servers").and_then(Item::as_table_like_mut);
    let gone = servers.is_some_and(|servers| servers.remove(name).is_some());
    Ok(gone.then(|| document.to_string()))
}

fn parse(text: &str) -> Result<DocumentMut, String> {
    text.parse().map_err(|error: toml_edit::TomlError| error.to_string().trim_end().to_owned())
}

fn implicit() -> Item {
    let mut table = Table::new();
    table.set_implicit(true);
    Item::Table(table)
}

fn table(server: &ServerConfig) -> Table {
    let mut table = Table::new();
    let mut put = |key: &str, value: Value| {
        table.insert(key, Item::Value(value));
    };
    if let Some(command) = &server.command {
        put("command", command.into());
    }
    if !server.args.is_empty() {
        put("args", server.args.iter().collect::<Array>().into());
    }
    if let Some(url) = &server.url {
        put("url", url.into());
    }
    if server.kind == Some(Transport::Sse) {
        put("type", "sse".into());
    }
    for (key, pairs) in [("env", &server.env), ("headers", &server.headers)] {
        if !pairs.is_empty() {
            put(key, pairs.iter().collect::<InlineTable>().into());
        }
    }
    if let Some(folder) = &server.cwd {
        put("cwd", folder.to_string_lossy().as_ref().into());
    }
    if server.trust {
        put("trust", true.into());
    }
    if let Some(sandbox) = server.sandbox {
        put("sandbox", sandbox.name().into());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_stays_as_it_is() {
        let before = "# mine\n[web]\nrobots = false # so\n";
        let server = ServerConfig {
            command: Some("npx".into()),
            args: vec!["-y".into(), "a b".into()],
            env: [("TOKEN".to_owned(), "${TOKEN}".to_owned())].into(),
            ..ServerConfig::default()
        };
        let with = added(before, "git", &server).unwrap();
        assert_eq!(
            with,
            "# mine\n[web]\nrobots = false # so\n\n[servers.git]\ncommand = \"npx\"\nargs = [\"-y\", \"a b\"]\nenv = { TOKEN = \"${TOKEN}\" }\n"
        );
        assert!(added(&with, "git", &server).unwrap_err().contains("already"));
        assert_eq!(removed(&with, "git").unwrap().as_deref(), Some(before));
        assert_eq!(removed(&with, "other").unwrap(), None);
        assert!(removed("[", "a").is_err());
    }
}
