//! Servers behind the gate: `[servers.NAME]` and `[mcp]` in `config.toml`.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use toolgate_mcp::servers::ServerName;
use toolgate_policy::Decision;
use toolgate_policy::rule::Sandbox;
use url::Url;

/// A server behind the gate: a program that is started, or an address.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ServerConfig {
    /// The program that is the server.
    pub(crate) command: Option<String>,
    /// Its arguments. `${NAME}` is the environment variable of that name, here and below.
    pub(crate) args: Vec<String>,
    /// Environment variables that it gets besides the usual few.
    pub(crate) env: BTreeMap<String, String>,
    /// The folder it starts in; the workspace when left out.
    pub(crate) cwd: Option<PathBuf>,
    /// The address of the server, in place of a program.
    pub(crate) url: Option<String>,
    /// How it is spoken to: `stdio`, `http` or `sse`. Found out when left out.
    #[serde(rename = "type")]
    pub(crate) kind: Option<Transport>,
    /// What is sent along with every request, such as `Authorization`.
    pub(crate) headers: BTreeMap<String, String>,
    /// How to log in to it, where it wants that and cannot tell how by itself.
    pub(crate) oauth: Option<OauthConfig>,
    /// Whether it is used at all; it is when left out.
    pub(crate) enabled: Option<bool>,
    /// Whether its tools run without a question, and what it says about their effects is believed.
    pub(crate) trust: bool,
    /// The only tools that are offered.
    pub(crate) enabled_tools: Option<Vec<String>>,
    /// Tools that are not offered.
    pub(crate) disabled_tools: Vec<String>,
    /// What becomes of calls of single tools: `allow`, `ask` or `deny`.
    #[schemars(with = "BTreeMap<String, Verdict>")]
    pub(crate) tools: BTreeMap<String, Decision>,
    /// Whether its calls may run beside each other.
    pub(crate) parallel: bool,
    /// How many seconds a call may show no sign of life, 60 when left out.
    pub(crate) timeout: Option<NonZeroU32>,
    /// How many seconds a call may take at most, 600 when left out.
    pub(crate) max_timeout: Option<NonZeroU32>,
    /// How many seconds it may take to start, 30 when left out.
    pub(crate) start_timeout: Option<NonZeroU32>,
    /// How far the program may reach: `read_only`, `workspace_write` or `full`, which is as far as
    /// you when left out.
    #[schemars(with = "Option<Reach>")]
    pub(crate) sandbox: Option<Sandbox>,
    /// Hosts that the program may reach where it is confined.
    pub(crate) network: Vec<String>,
}

/// How a server is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Transport {
    /// A program, on its standard streams.
    Stdio,
    /// Streamable HTTP.
    #[serde(alias = "streamable-http", alias = "streamable_http", alias = "streamableHttp")]
    Http,
    /// HTTP with a stream of events, as it was before.
    Sse,
}

/// How to log in to a server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct OauthConfig {
    /// What the server knows Toolgate by, where it must be told in advance.
    pub(crate) client_id: Option<String>,
    /// The environment variable that holds the secret that goes with it.
    pub(crate) client_secret_env: Option<String>,
    /// What is asked for; what the server names when left out.
    pub(crate) scopes: Vec<String>,
}

/// For the schema alone.
#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "read by the schema")]
enum Verdict {
    Allow,
    Ask,
    Deny,
}

/// For the schema alone.
#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "read by the schema")]
pub(super) enum Reach {
    ReadOnly,
    WorkspaceWrite,
    Full,
}

/// How servers are used together.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct McpConfig {
    /// Servers whose tools run without a question.
    pub(crate) allowed: Vec<String>,
    /// Servers that are not used, whoever brings them.
    pub(crate) excluded: Vec<String>,
    /// With more tools than this behind the gate, they are found with `find_tools` instead of being
    /// listed; 60 when left out.
    pub(crate) find_tools_above: Option<u32>,
    /// How many seconds the first list of tools waits for servers that are starting, 5 when left
    /// out.
    pub(crate) wait: Option<u32>,
    /// A command of the workspace that prints the tools it has as JSON; used in trusted folders.
    pub(crate) tool_discovery_command: Option<String>,
    /// The command that runs such a tool: its name is the argument, its arguments come on standard
    /// input.
    pub(crate) tool_call_command: Option<String>,
}

impl ServerConfig {
    /// What is wrong with it, if anything.
    pub(crate) fn mistake(&self, name: &str) -> Option<String> {
        if let Err(error) = name.parse::<ServerName>() {
            return Some(error.to_string());
        }
        let stdio = self.kind == Some(Transport::Stdio);
        match (&self.command, &self.url) {
            (Some(_), Some(_)) => {
                return Some("it has both `command` and `url`; keep one".to_owned());
            }
            (None, None) => return Some("it needs a `command` or a `url`".to_owned()),
            (Some(_), None) if self.kind.is_some_and(|kind| kind != Transport::Stdio) => {
                return Some("a `command` is spoken to by `type = \"stdio\"`".to_owned());
            }
            (None, Some(_)) if stdio => {
                return Some("`type = \"stdio\"` needs a `command`".to_owned());
            }
            (None, Some(url)) if !url.contains("${") => {
                let parsed = Url::parse(url).map_err(|error| error.to_string());
                match parsed {
                    Ok(url) if matches!(url.scheme(), "http" | "https") => {}
                    Ok(_) => {
                        return Some("its `url` must begin with http:// or https://".to_owned());
                    }
                    Err(error) => return Some(format!("its `url` is none: {error}")),
                }
            }
            _ => {}
        }
        if self.sandbox.is_some() && self.command.is_none() {
            return Some("`sandbox` is for programs".to_owned());
        }
        let (timeout, most) = (self.timeout(), self.max_timeout());
        (timeout > most).then(|| "`timeout` is longer than `max_timeout`".to_owned())
    }

    pub(crate) fn timeout(&self) -> u32 {
        self.timeout.map_or(60, NonZeroU32::get)
    }

    pub(crate) fn max_timeout(&self) -> u32 {
        self.max_timeout.map_or_else(|| self.timeout().max(600), NonZeroU32::get)
    }

    /// Whether it is used at all.
    pub(crate) fn is_enabled(&self) -> bool {
        self.enabled.unwrap_or(true)
    }
}
