//! Calls that a permission is about, to show what it changes.

use serde_json::{Value, json};
use toolgate_policy::Engine;
use toolgate_policy::name::ToolPattern;
use toolgate_policy::pattern::{CommandPattern, CommandText};
use toolgate_policy::rule::Rule;

use crate::languages;

/// A call that a permission is about.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Example {
    /// The call in a few words: a command line, or a tool and what it is called with.
    pub(super) shown: String,
    pub(super) tool: String,
    pub(super) args: Value,
}

impl Example {
    pub(super) fn command(line: &str) -> Self {
        let args = json!({ "command": line });
        Self { shown: line.to_owned(), tool: "shell".to_owned(), args }
    }

    fn of(tool: &str, about: &str, args: Value) -> Self {
        Self { shown: format!("{tool} {about}").trim().to_owned(), tool: tool.to_owned(), args }
    }
}

/// Returns calls that a permission is about: those of a usual day, those that other rules are
/// about, and the one that it names.
pub(super) fn examples(permission: &str, rule: &Rule, engine: &Engine) -> Vec<Example> {
    let inner = permission.split_once('(').and_then(|(_, rest)| rest.trim_end().strip_suffix(')'));
    let inner = inner.map(str::trim);
    match rule.tools.first() {
        Some(ToolPattern::Exact(tool)) if tool == "shell" => commands(rule, engine),
        Some(ToolPattern::Exact(tool)) if tool == "web_fetch" => {
            let host =
                inner.and_then(|inner| inner.strip_prefix("domain:")).unwrap_or("example.com");
            let url = format!("https://{}/", host.replace('*', "www"));
            vec![Example::of(tool, &url, json!({ "url": url }))]
        }
        Some(ToolPattern::Reading) => {
            let path = path(inner);
            vec![Example::of("read_file", &path, json!({ "path": path }))]
        }
        Some(ToolPattern::Editing) => {
            let path = path(inner);
            vec![Example::of("write_file", &path, json!({ "path": path, "content": "" }))]
        }
        Some(ToolPattern::Exact(tool)) if tool == "delete_file" => {
            let path = path(inner);
            vec![Example::of(tool, &path, json!({ "path": path }))]
        }
        Some(ToolPattern::Server { .. }) if !permission.contains('*') => {
            let parts = permission.split("__").count();
            let tool =
                if parts > 2 { permission.to_owned() } else { format!("{permission}__tool") };
            vec![Example::of(&tool, "", json!({}))]
        }
        _ => Vec::new(),
    }
}

/// Returns commands that a rule is about, without repetition.
fn commands(rule: &Rule, engine: &Engine) -> Vec<Example> {
    let own = rule.matcher.commands.iter().filter_map(literal);
    let everyday = languages::all();
    let everyday = everyday.iter().flat_map(languages::Language::commands).map(str::to_owned);
    let others = engine.rules();
    let others = others.iter().flat_map(|other| &other.matcher.commands).filter_map(literal);
    // A command that is named is the best example of itself; of a family the usual ones are.
    let is_family = rule.matcher.commands.iter().all(|pattern| pattern.to_string().contains('*'));
    let all: Vec<String> = if is_family {
        everyday.chain(others).chain(own).collect()
    } else {
        own.chain(everyday).chain(others).collect()
    };
    let mut examples: Vec<Example> = Vec::new();
    for line in all.iter().filter(|line| covers(rule, line)) {
        let example = Example::command(line);
        if !examples.contains(&example) {
            examples.push(example);
        }
    }
    examples
}

/// Returns a command that a pattern is about, where it is clear from the pattern.
fn literal(pattern: &CommandPattern) -> Option<String> {
    let CommandPattern::Words { source, .. } = pattern else { return None };
    let text = source.strip_suffix(":*").or_else(|| source.strip_suffix('*')).unwrap_or(source);
    (!text.contains('*') && !text.trim().is_empty()).then(|| text.trim().to_owned())
}

fn covers(rule: &Rule, line: &str) -> bool {
    let Some(words) = shlex::split(line) else { return false };
    let text = CommandText::new(words.iter().map(String::as_str));
    let patterns = &rule.matcher.commands;
    patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(&text, rule.decision))
}

/// Returns a path that a pattern is about.
fn path(pattern: Option<&str>) -> String {
    const NAME: &str = "example";
    let pattern = pattern.filter(|pattern| !matches!(*pattern, "*" | "**")).unwrap_or(NAME);
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let pattern = pattern.strip_prefix('/').filter(|rest| !rest.is_empty()).unwrap_or(pattern);
    let path = pattern.replace("**/", "").replace("**", NAME).replace('*', NAME);
    if path.ends_with('/') { format!("{path}{NAME}") } else { path }
}

#[cfg(test)]
mod tests {
    use toolgate_policy::Mode;
    use toolgate_policy::load::Loader;
    use toolgate_policy::vocabulary::Vocabulary;

    use super::*;

    fn of(permission: &str) -> Vec<String> {
        let mut vocabulary = Vocabulary::default();
        vocabulary.add("shell", ["Bash"]);
        vocabulary.add("web_fetch", ["WebFetch"]);
        vocabulary.add("delete_file", []);
        let loader = Loader { vocabulary, ..Loader::default() };
        let rule = loader.permission(permission, "test").unwrap();
        let engine = Engine::in_mode(Mode::Default);
        examples(permission, &rule, &engine).into_iter().map(|example| example.shown).collect()
    }

    #[test]
    fn a_family_of_commands_has_the_usual_ones() {
        assert_eq!(
            of("Bash(npm run *)"),
            ["npm run build", "npm run lint", "npm run deploy", "npm run"]
        );
        assert_eq!(
            of("Bash(npm run:*)"),
            ["npm run build", "npm run lint", "npm run deploy", "npm run"]
        );
        assert_eq!(of("Bash(frob *)"), ["frob"]);
        assert_eq!(of("Bash(frob --x)"), ["frob --x"]);
        assert!(of("Bash").contains(&"cargo build".to_owned()));
        assert_eq!(of("Bash(* frob)"), [""; 0]);
    }

    #[test]
    fn other_permissions_have_calls_too() {
        assert_eq!(of("Read(./.env)"), ["read_file .env"]);
        assert_eq!(of("Read(//etc/hosts)"), ["read_file /etc/hosts"]);
        assert_eq!(of("Edit(src/**)"), ["write_file src/example"]);
        assert_eq!(of("Edit(**/*.md)"), ["write_file example.md"]);
        assert_eq!(of("Edit"), ["write_file example"]);
        assert_eq!(of("delete_file"), ["delete_file example"]);
        assert_eq!(of("WebFetch(domain:*.docs.rs)"), ["web_fetch https://www.docs.rs/"]);
        assert_eq!(of("mcp__files"), ["mcp__files__tool"]);
        assert_eq!(of("mcp__files__read"), ["mcp__files__read"]);
        assert_eq!(of("mcp__*__read"), [""; 0]);
    }
}
