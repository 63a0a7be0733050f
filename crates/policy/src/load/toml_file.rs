//! Policy files in TOML.

use std::ops::Range;
use std::path::PathBuf;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::fields::{At, Fields, Names, kind};
use super::permission;
use super::rules::Reader;
use crate::decision::Decision;
use crate::effect::{Hints, Risk, Scope};
use crate::host;
use crate::mode::{Mode, Modes};
use crate::name::ToolPattern;
use crate::pattern::path::Slash;
use crate::pattern::regular::RegularError;
use crate::pattern::{
    CommandPattern, Condition, DomainPattern, FolderPattern, Operator, PathPattern, Regular,
};
use crate::rule::{Grant, Matcher, Rule, Sandbox};
use crate::wildcard::Wildcard;
use crate::world::normal;

const RULE: Names = &["rule"];
const PERMISSIONS: Names = &["permissions"];
const WEB: Names = &["web"];

const NAME: Names = &["name", "description"];
const PERMISSION: Names = &["permission"];
const TOOL: Names = &["tool", "toolName", "tool_name", "tools"];
const MCP: Names = &["mcp", "mcpName", "mcp_name"];
const COMMAND: Names = &["command", "commands"];
const COMMAND_PREFIX: Names = &["command_prefix", "commandPrefix"];
const COMMAND_REGEX: Names = &["command_regex", "commandRegex"];
const PATH: Names = &["path", "paths"];
const FOLDER: Names = &["folder", "folders"];
const SCOPE: Names = &["scope", "scopes"];
const DOMAIN: Names = &["domain", "domains"];
const AGENT: Names = &["agent", "agents"];
const ARGS_PATTERN: Names = &["args_pattern", "argsPattern"];
const CONDITIONS: Names = &["conditions"];
const ANNOTATIONS: Names = &["annotations", "toolAnnotations", "tool_annotations"];
const SUBAGENT: Names = &["subagent"];
const DECISION: Names = &["decision", "action"];
const PRIORITY: Names = &["priority"];
const MODES: Names = &["modes"];
const INTERACTIVE: Names = &["interactive"];
const REDIRECTION: Names = &["allow_redirection", "allowRedirection"];
const MESSAGE: Names = &["message", "denyMessage", "deny_message"];
const RISK: Names = &["risk", "riskLevel"];
const SANDBOX: Names = &["sandbox"];
const NETWORK: Names = &["network"];
const WRITE: Names = &["write"];
const EXPIRES: Names = &["expires", "expires_at", "expiresAt"];

const IN_RULE: &[Names] = &[
    NAME,
    PERMISSION,
    TOOL,
    MCP,
    COMMAND,
    COMMAND_PREFIX,
    COMMAND_REGEX,
    PATH,
    FOLDER,
    SCOPE,
    DOMAIN,
    AGENT,
    ARGS_PATTERN,
    CONDITIONS,
    ANNOTATIONS,
    SUBAGENT,
    DECISION,
    PRIORITY,
    MODES,
    INTERACTIVE,
    REDIRECTION,
    MESSAGE,
    RISK,
    SANDBOX,
    NETWORK,
    WRITE,
    EXPIRES,
];

pub(super) fn read(reader: &mut Reader<'_>) {
    let (root, faults) = DeTable::parse_recoverable(reader.text);
    for fault in &faults {
        let end = reader.text.len();
        let span = fault.span().unwrap_or(end..end);
        reader.error(span, fault.message().replace('\n', ", "), "here");
    }
    let root = root.get_ref();
    let known = [RULE, PERMISSIONS, WEB];
    let fields = Fields::new(root, &known, "a policy file", reader);
    let (rules, permissions, web) = (fields.get(RULE), fields.get(PERMISSIONS), fields.get(WEB));
    if let Some(rules) = rules {
        match rules.get_ref() {
            DeValue::Array(rules) => read_rules(rules, reader),
            other => {
                let message = format!("rules are written as `[[rule]]`, not as {}", kind(other));
                reader.error(rules.span(), message, "write `[[rule]]`");
            }
        }
    }
    if let Some(table) = permissions.and_then(|found| table(found, "permissions", reader)) {
        read_permissions(table, reader);
    }
    if let Some(table) = web.and_then(|found| table(found, "web", reader)) {
        read_web(table, reader);
    }
}

fn table<'t, 'd>(
    value: &'t Spanned<DeValue<'d>>,
    name: &str,
    reader: &mut Reader<'_>,
) -> Option<&'t DeTable<'d>> {
    match value.get_ref() {
        DeValue::Table(table) => Some(table),
        other => {
            let message = format!("`{name}` must be a table, not {}", kind(other));
            reader.error(value.span(), message, &format!("write `[{name}]`"));
            None
        }
    }
}

fn read_rules(rules: &DeArray<'_>, reader: &mut Reader<'_>) {
    for rule in rules {
        if let Some(table) = table(rule, "rule", reader) {
            read_rule(table, rule.span(), reader);
        }
    }
}

fn read_rule(table: &DeTable<'_>, span: Range<usize>, reader: &mut Reader<'_>) {
    let mut fields = Fields::new(table, IN_RULE, "a rule", reader);
    let decision = read_decision(&mut fields, &span);
    let own = fields.priority(PRIORITY).unwrap_or(0);
    let tools = read_tools(&mut fields);
    let matcher = read_matcher(&mut fields, decision.unwrap_or(Decision::Deny));
    let mut rule = fields.reader.begin(tools, decision.unwrap_or(Decision::Deny), own, span.start);
    rule.matcher = matcher;
    rule.name = fields.text(NAME).map(|name| name.value.into());
    rule.message = fields.text(MESSAGE).map(|message| message.value.into());
    rule.modes = read_modes(&mut fields);
    rule.risk = fields.word(RISK, risk, &["low", "medium", "high", "critical"]);
    rule.expires = fields.time(EXPIRES);
    rule.grant = read_grant(&mut fields);
    if decision.is_none() || rule.tools.is_empty() {
        return;
    }
    match fields.texts(PERMISSION) {
        Some(permissions) => push_permitted(&mut fields, permissions, &rule),
        None => fields.reader.push(rule),
    }
}

/// A rule for each permission of the short form, which says all there is to say about calls.
fn push_permitted(fields: &mut Fields<'_, '_, '_, '_>, permissions: Vec<At<String>>, rule: &Rule) {
    const ABOUT: &[Names] = &[
        TOOL,
        MCP,
        COMMAND,
        COMMAND_PREFIX,
        COMMAND_REGEX,
        PATH,
        SCOPE,
        DOMAIN,
        AGENT,
        ARGS_PATTERN,
        CONDITIONS,
        ANNOTATIONS,
    ];
    for names in ABOUT {
        if let Some((value, name)) = fields.get(names).zip(names.first()) {
            let message = format!("`permission` and `{name}` cannot stand in one rule");
            fields.reader.error(value.span(), message, "say it in `permission`");
        }
    }
    for At { value, span } in permissions {
        let parsed = permission::parse(fields.reader, &value, rule.decision, span);
        let Some((tool, matcher)) = parsed else { continue };
        let mut own = rule.clone();
        own.tools = vec![tool];
        let folders = if matcher.folders.is_empty() {
            rule.matcher.folders.clone()
        } else {
            matcher.folders.clone()
        };
        own.matcher = Matcher {
            folders,
            caller: rule.matcher.caller.clone(),
            interactive: rule.matcher.interactive,
            ..matcher
        };
        own.name.get_or_insert_with(|| value.trim().into());
        fields.reader.push(own);
    }
}

/// What a command that the rule is about may reach.
fn read_grant(fields: &mut Fields<'_, '_, '_, '_>) -> Grant {
    let sandbox = fields.word(SANDBOX, sandbox, &["read_only", "workspace_write", "full"]);
    let mut network = Vec::new();
    for At { value, span } in fields.texts(NETWORK).unwrap_or_default() {
        match host::parse_granted(&value) {
            Ok(host) => network.push(host),
            Err(error) => {
                fields.reader.error(span, error.to_string(), "not a host").help =
                    Some("write `docs.rs`, or `*.docs.rs` for what is below it".to_owned());
            }
        }
    }
    let write = read_folders(fields);
    for (names, is_used) in [(NETWORK, !network.is_empty()), (WRITE, !write.is_empty())] {
        let why = match sandbox {
            Some(Sandbox::Full) => "an unconfined command is not limited by it",
            Some(Sandbox::ReadOnly) => "a read-only command reaches and writes nothing",
            _ => continue,
        };
        if let Some((value, name)) = fields.get(names).zip(names.first()).filter(|_| is_used) {
            fields
                .reader
                .warning(value.span(), format!("`{name}` changes nothing: {why}"), "no use")
                .help = Some(format!("`{name}` goes with sandbox = \"workspace_write\""));
        }
    }
    let redirection = fields.boolean(REDIRECTION).unwrap_or(false);
    Grant { sandbox, network, write, redirection, ..Grant::default() }
}

/// Reads folders that a command may write in: absolute, below `~/`, or seen from the workspace.
fn read_folders(fields: &mut Fields<'_, '_, '_, '_>) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for At { value, span } in fields.texts(WRITE).unwrap_or_default() {
        let places = fields.reader.places;
        let folder = match value.strip_prefix("~/") {
            Some(below) => places.home.as_ref().map(|home| home.join(below)),
            None if value.starts_with('/') => Some(PathBuf::from(&value)),
            None => places.workspace.first().map(|workspace| workspace.join(&value)),
        };
        let Some(folder) = folder.map(|folder| normal(&folder)) else { continue };
        let holds = |inner: Option<&PathBuf>| inner.is_some_and(|inner| inner.starts_with(&folder));
        if value.trim().is_empty() || value == "~" || value == "/" || holds(places.home.as_ref()) {
            let message = format!("`{value}` is too much to let a command write in");
            fields.reader.error(span, message, "too wide").help =
                Some("name single folders, such as `~/.cache/tool`".to_owned());
            continue;
        }
        folders.push(folder);
    }
    folders
}

fn read_decision(fields: &mut Fields<'_, '_, '_, '_>, span: &Range<usize>) -> Option<Decision> {
    if fields.get(DECISION).is_none() {
        fields.reader.error(span.clone(), "this rule decides nothing", "no `decision`").help =
            Some("add decision = \"allow\", \"ask\" or \"deny\"".to_owned());
        return None;
    }
    fields.word(DECISION, decision, &["allow", "ask", "deny"])
}

fn decision(text: &str) -> Option<Decision> {
    match text {
        "allow" => Some(Decision::Allow),
        "ask" | "ask_user" => Some(Decision::Ask),
        "deny" => Some(Decision::Deny),
        _ => None,
    }
}

fn risk(text: &str) -> Option<Risk> {
    match text {
        "low" => Some(Risk::Low),
        "medium" => Some(Risk::Medium),
        "high" => Some(Risk::High),
        "critical" => Some(Risk::Critical),
        _ => None,
    }
}

fn sandbox(text: &str) -> Option<Sandbox> {
    text.replace('-', "_").parse().ok()
}

/// The tools; what the rule is about fixes them where none are named.
fn read_tools(fields: &mut Fields<'_, '_, '_, '_>) -> Vec<ToolPattern> {
    let servers = fields.texts(MCP);
    let names = fields.texts(TOOL);
    let mut tools = Vec::new();
    if let Some(servers) = servers {
        let names = names.unwrap_or_else(|| vec![At { value: "*".to_owned(), span: 0..0 }]);
        for At { value: server, span } in servers {
            for name in &names {
                let own = name.value.strip_prefix(&format!("{server}__")).unwrap_or(&name.value);
                tools.extend(fields.reader.tool(&format!("mcp__{server}__{own}"), span.clone()));
            }
        }
        return tools;
    }
    let about_shell = [COMMAND, COMMAND_PREFIX, COMMAND_REGEX];
    let is_about_shell = about_shell.into_iter().find_map(|names| fields.get(names));
    let Some(names) = names else {
        return vec![match is_about_shell {
            Some(_) => ToolPattern::Exact("shell".to_owned()),
            None => ToolPattern::Any,
        }];
    };
    for At { value, span } in names {
        let tool = fields.reader.tool(&value, span.clone());
        let covers_shell =
            |tool: &ToolPattern| tool.matches(&crate::name::ToolName::new("shell"), Decision::Deny);
        if is_about_shell.is_some() && tool.as_ref().is_some_and(|tool| !covers_shell(tool)) {
            fields.reader.error(
                span,
                format!("`command` is about `shell`, and this rule is about `{value}`"),
                "not `shell`",
            );
        }
        tools.extend(tool);
    }
    tools
}

fn read_matcher(fields: &mut Fields<'_, '_, '_, '_>, decision: Decision) -> Matcher {
    let mut matcher = Matcher::default();
    for text in fields.texts(COMMAND).into_iter().flatten() {
        matcher.commands.push(CommandPattern::parse(&text.value));
    }
    for text in fields.texts(COMMAND_PREFIX).into_iter().flatten() {
        matcher.commands.push(CommandPattern::prefix(&text.value));
    }
    for text in fields.texts(COMMAND_REGEX).into_iter().flatten() {
        match CommandPattern::regular(&text.value) {
            Ok(pattern) => matcher.commands.push(pattern),
            Err(error) => wrong_regex(fields, "command_regex", &text, &error),
        }
    }
    for text in fields.texts(PATH).into_iter().flatten() {
        match PathPattern::parse(&text.value, fields.reader.places, Slash::Root, decision) {
            Ok(pattern) => matcher.paths.push(pattern),
            Err(error) => {
                let message = format!("invalid path pattern: {}", error.kind());
                fields.reader.error(text.span, message, "here");
            }
        }
    }
    for At { value, span } in fields.texts(FOLDER).into_iter().flatten() {
        match FolderPattern::parse(&value, fields.reader.places) {
            Ok(folder) => matcher.folders.push(folder),
            Err(why) => {
                fields.reader.error(span, why, "not a folder");
            }
        }
    }
    for At { value, span } in fields.texts(SCOPE).into_iter().flatten() {
        match Scope::named(&value) {
            Some(scope) => matcher.scopes.push(scope),
            None => {
                fields.reader.error(span, format!("`{value}` is no scope"), "not known").help =
                    Some("one of: private, shared, public".to_owned());
            }
        }
    }
    for text in fields.texts(DOMAIN).into_iter().flatten() {
        matcher.domains.push(DomainPattern::parse(&text.value));
    }
    for text in fields.texts(AGENT).into_iter().flatten() {
        matcher.agents.push(Wildcard::new(&text.value));
    }
    if let Some(text) = fields.text(ARGS_PATTERN) {
        match Regular::new(text.value.clone()) {
            Ok(pattern) => matcher.args = Some(pattern),
            Err(error) => wrong_regex(fields, "args_pattern", &text, &error),
        }
    }
    matcher.caller = fields.text(SUBAGENT).map(|text| text.value);
    matcher.interactive = fields.boolean(INTERACTIVE);
    (matcher.read_only, matcher.hints) = read_annotations(fields).unwrap_or_default();
    matcher.conditions = read_conditions(fields);
    matcher
}

fn wrong_regex(
    fields: &mut Fields<'_, '_, '_, '_>,
    name: &str,
    text: &At<String>,
    error: &RegularError,
) {
    // The text in the file has quotes around it; without escapes places inside carry over.
    let source = fields.reader.text.get(text.span.clone()).unwrap_or_default();
    let start = source.find(text.value.as_str()).filter(|_| !text.value.is_empty());
    let inside = error.at.clone().zip(start).map(|(at, start)| {
        let from = text.span.start + start;
        from + at.start..(from + at.end).max(from + at.start + 1)
    });
    let span = inside.unwrap_or_else(|| text.span.clone());
    fields.reader.error(span, format!("`{name}` is not a regular expression: {error}"), "here");
}

fn read_modes(fields: &mut Fields<'_, '_, '_, '_>) -> Modes {
    let Some(names) = fields.texts(MODES) else {
        return Modes::ALL;
    };
    let mut modes = Vec::new();
    for At { value, span } in names {
        match value.parse::<Mode>() {
            Ok(mode) => modes.push(mode),
            Err(error) => {
                let choices = Mode::ALL.map(Mode::name);
                let near = crate::vocabulary::nearest(&value, choices.into_iter());
                fields.reader.error(span, error.to_string(), "not a mode").help =
                    near.map(|near| format!("did you mean `{near}`?"));
            }
        }
    }
    Modes::only(modes)
}

/// What the tool must be like: whether it only reads, and its other hints.
fn read_annotations(fields: &mut Fields<'_, '_, '_, '_>) -> Option<(Option<bool>, Hints)> {
    const READ_ONLY: Names = &["readOnlyHint", "read_only"];
    const DESTRUCTIVE: Names = &["destructiveHint", "destructive"];
    const IDEMPOTENT: Names = &["idempotentHint", "idempotent"];
    const OPEN_WORLD: Names = &["openWorldHint", "open_world"];
    let value = fields.get(ANNOTATIONS)?;
    let table = table(value, "annotations", fields.reader)?;
    let known = [READ_ONLY, DESTRUCTIVE, IDEMPOTENT, OPEN_WORLD];
    let mut inner = Fields::new(table, &known, "annotations", fields.reader);
    let hints = Hints {
        destructive: inner.boolean(DESTRUCTIVE),
        idempotent: inner.boolean(IDEMPOTENT),
        open_world: inner.boolean(OPEN_WORLD),
    };
    Some((inner.boolean(READ_ONLY), hints))
}

fn read_conditions(fields: &mut Fields<'_, '_, '_, '_>) -> Vec<Condition> {
    let Some(value) = fields.get(CONDITIONS) else {
        return Vec::new();
    };
    let DeValue::Array(items) = value.get_ref() else {
        let message =
            format!("`conditions` must be a list of tables, not {}", kind(value.get_ref()));
        fields.reader.error(value.span(), message, "expected a list");
        return Vec::new();
    };
    let read = |item: &Spanned<DeValue<'_>>| {
        read_condition(table(item, "conditions", fields.reader)?, item.span(), fields.reader)
    };
    items.iter().filter_map(read).collect()
}

fn read_condition(
    table: &DeTable<'_>,
    span: Range<usize>,
    reader: &mut Reader<'_>,
) -> Option<Condition> {
    const PARAM: Names = &["param"];
    const OPERATOR: Names = &["operator"];
    const VALUE: Names = &["value"];
    let known = [PARAM, OPERATOR, VALUE];
    let mut fields = Fields::new(table, &known, "a condition", reader);
    let missing = known.iter().find(|names| fields.get(names).is_none());
    if let Some(name) = missing.and_then(|names| names.first()) {
        let message = format!("a condition needs `{name}`");
        fields.reader.error(span, message, "incomplete").help =
            Some("{ param = \"path\", operator = \"starts_with\", value = \"src/\" }".to_owned());
        return None;
    }
    let param = fields.text(PARAM)?.value;
    let choices = ["equals", "contains", "matches", "starts_with"];
    let operator = fields.word(
        OPERATOR,
        |text| {
            let text = if text == "startsWith" { "starts_with" } else { text };
            choices.into_iter().find(|own| *own == text)
        },
        &choices,
    )?;
    let operator = match operator {
        "equals" => Operator::Equals(plain_value(fields.get(VALUE)?.get_ref())?),
        "contains" => Operator::Contains(fields.text(VALUE)?.value),
        "starts_with" => Operator::StartsWith(fields.text(VALUE)?.value),
        _ => {
            let text = fields.text(VALUE)?;
            match Regular::new(text.value.clone()) {
                Ok(pattern) => Operator::Matches(pattern),
                Err(error) => {
                    wrong_regex(&mut fields, "value", &text, &error);
                    return None;
                }
            }
        }
    };
    Some(Condition { param, operator })
}

fn plain_value(value: &DeValue<'_>) -> Option<serde_json::Value> {
    Some(match value {
        DeValue::String(text) => text.to_string().into(),
        DeValue::Boolean(truth) => (*truth).into(),
        DeValue::Integer(number) => {
            i64::from_str_radix(number.as_str(), number.radix()).ok()?.into()
        }
        DeValue::Float(number) => number.as_str().parse::<f64>().ok()?.into(),
        DeValue::Array(items) => {
            items.iter().map(|item| plain_value(item.get_ref())).collect::<Option<Vec<_>>>()?.into()
        }
        DeValue::Datetime(_) | DeValue::Table(_) => return None,
    })
}

fn read_permissions(table: &DeTable<'_>, reader: &mut Reader<'_>) {
    const DEFAULT_MODE: Names = &["default_mode", "defaultMode"];
    const FOLDERS: Names = &["additional_directories", "additionalDirectories"];
    const LISTS: [(Names, Decision); 3] =
        [(&["allow"], Decision::Allow), (&["ask"], Decision::Ask), (&["deny"], Decision::Deny)];
    let known =
        [LISTS[0].0, LISTS[1].0, LISTS[2].0, DEFAULT_MODE, FOLDERS, SANDBOX, NETWORK, WRITE];
    let mut fields = Fields::new(table, &known, "`[permissions]`", reader);
    let grant = read_grant(&mut fields);
    for (names, decision) in LISTS {
        let is_empty = matches!(
            fields.get(names).map(Spanned::get_ref),
            Some(DeValue::Array(items)) if items.is_empty()
        );
        if is_empty {
            continue;
        }
        for At { value, span } in fields.texts(names).into_iter().flatten() {
            let before = fields.reader.file.rules.len();
            permission::read(fields.reader, &value, decision, span);
            let added = fields.reader.file.rules.iter_mut().skip(before);
            // A denied command runs with nothing.
            for rule in added.filter(|_| decision != Decision::Deny) {
                rule.grant = grant.clone();
            }
        }
    }
    let choices = Mode::ALL.map(Mode::name);
    let mode = fields.word(DEFAULT_MODE, |text| text.parse().ok(), &choices);
    let folders = fields.texts(FOLDERS).unwrap_or_default().into_iter();
    let folders: Vec<String> = folders.map(|folder| folder.value).collect();
    reader.file.mode = mode.or(reader.file.mode);
    reader.file.folders.extend(folders);
}

fn read_web(table: &DeTable<'_>, reader: &mut Reader<'_>) {
    const ALLOWED: Names = &["allowed_domains", "allowedDomains"];
    const BLOCKED: Names = &["blocked_domains", "blockedDomains"];
    const HTTPS: Names = &["auto_approve_https", "autoApproveHttps"];
    let mut fields = Fields::new(table, &[ALLOWED, BLOCKED, HTTPS], "`[web]`", reader);
    let fetch = || vec![ToolPattern::Exact("web_fetch".to_owned())];
    for (names, decision) in [(ALLOWED, Decision::Allow), (BLOCKED, Decision::Deny)] {
        for At { value, span } in fields.texts(names).into_iter().flatten() {
            let mut rule = fields.reader.begin_permission(fetch(), decision, span.start);
            rule.name = Some(format!("web {value}").into());
            rule.matcher.domains.push(DomainPattern::with_subdomains(&value));
            rule.risk = (decision == Decision::Allow).then_some(Risk::Low);
            fields.reader.push(rule);
        }
    }
    let at = fields.get(HTTPS).map_or(0, |value| value.span().start);
    if fields.boolean(HTTPS) == Some(true) {
        let mut rule = fields.reader.begin(fetch(), Decision::Allow, 490, at);
        rule.name = Some("any https address".into());
        let operator = Operator::StartsWith("https://".to_owned());
        rule.matcher.conditions.push(Condition { param: "url".to_owned(), operator });
        fields.reader.push(rule);
    }
}
