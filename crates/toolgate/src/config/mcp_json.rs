//! `.mcp.json`, as several clients keep it in a project.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::servers::{ServerConfig, Transport};

/// The name of the file.
pub(crate) const FILE: &str = ".mcp.json";

/// What is used of the file. Other clients have fields of their own in it.
#[derive(Debug, Deserialize)]
struct McpJson {
    #[serde(default, rename = "mcpServers", alias = "servers")]
    servers: BTreeMap<String, Server>,
}

#[derive(Debug, Deserialize)]
struct Server {
    #[serde(rename = "type", alias = "transport")]
    kind: Option<Transport>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    disabled: bool,
}

/// Reads the servers in the text of such a file.
pub(super) fn parse(text: &str) -> Result<BTreeMap<String, ServerConfig>, serde_json::Error> {
    let file: McpJson = serde_json::from_str(text.trim_start_matches('\u{feff}'))?;
    let servers = file.servers.into_iter().map(|(name, server)| {
        let Server { kind, command, args, env, url, headers, disabled } = server;
        let enabled = Some(!disabled);
        let config = ServerConfig {
            command,
            args,
            env,
            url,
            kind,
            headers,
            enabled,
            ..ServerConfig::default()
        };
        (name, config)
    });
    Ok(servers.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_of_other_clients_files_are_read() {
        let servers = parse(
            r#"{ "mcpServers": {
                "git": { "command": "uvx", "args": ["mcp-server-git"], "env": {"A": "1"}, "alwaysAllow": ["x"] },
                "web": { "type": "streamable-http", "url": "https://example.com/mcp", "headers": {"X": "${Y}"} },
                "off": { "type": "sse", "url": "https://example.com/sse", "disabled": true }
            }, "inputs": [] }"#,
        )
        .unwrap();
        assert_eq!(servers["git"].command.as_deref(), Some("uvx"));
        assert_eq!(servers["web"].kind, Some(Transport::Http));
        assert!(!servers["off"].is_enabled());
        assert!(servers.iter().all(|(name, server)| server.mistake(name).is_none()));
        assert!(parse("{}").unwrap().is_empty());
        assert!(parse("5").is_err());
        let wrong = parse("{\"mcpServers\":\n{\"a\": {\"command\": 5}}}").unwrap_err();
        assert!(wrong.to_string().contains("line 2 column"), "{wrong}");
    }
}
