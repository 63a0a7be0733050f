//! `commandPrefix`, `commandRegex` and `argsPattern`.
//!
//! All three are expressions that Gemini CLI searches for in the arguments as
//! JSON, first for the whole line, then for each of its commands. Ours are
//! matched against each simple command, or against our own arguments, whose
//! names are partly others.

use std::sync::LazyLock;

use regex::Regex;

use super::rule::ForeignRule;
use super::target::Target;
use crate::decision::Decision;
use crate::import::draft::Matcher;
use crate::import::javascript::{Dot, translate};
use crate::import::words;

/// Which calls a rule covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern {
    pub(crate) matcher: Matcher,
    pub(crate) broadened: bool,
}

/// Parameters of their built-in tools and what they are called here.
const PARAMETERS: &[(&str, &str, &str)] = &[
    ("read_file", "file_path", "path"),
    ("read_file", "absolute_path", "path"),
    ("write_file", "file_path", "path"),
    ("write_file", "content", "content"),
    ("replace", "file_path", "path"),
    ("glob", "pattern", "pattern"),
    ("glob", "dir_path", "directory"),
    ("glob", "path", "directory"),
    ("grep_search", "pattern", "pattern"),
    ("grep_search", "dir_path", "directory"),
    ("grep_search", "path", "directory"),
    ("search_file_content", "pattern", "pattern"),
    ("search_file_content", "dir_path", "directory"),
    ("search_file_content", "path", "directory"),
    ("list_directory", "dir_path", "path"),
    ("list_directory", "path", "path"),
    ("google_web_search", "query", "query"),
    ("save_memory", "fact", "fact"),
    ("activate_skill", "name", "name"),
];

/// A parameter's name in an expression over JSON.
static PARAMETER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r#""([A-Za-z_]+)":"#).ok());

/// Expressions that Gemini CLI refuses because they may take too long.
static TOO_SLOW: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\([^)]*[*+?{].*\)[*+?{]").ok());

/// The command's beginning in the arguments as JSON.
const COMMAND: &str = r#""command":""#;

/// What the rule looks for in the calls of one target; nothing when it is left out.
pub(crate) fn patterns(
    foreign: &ForeignRule,
    target: &Target,
    remarks: &mut Vec<(String, String)>,
) -> Vec<Pattern> {
    let mut conversion = Conversion { decision: foreign.decision, target, remarks };
    match (&foreign.args_pattern, &foreign.command_prefix, &foreign.command_regex) {
        (None, None, None) => vec![Pattern { matcher: Matcher::Any, broadened: false }],
        (Some(pattern), None, None) => conversion.args(pattern),
        _ if !conversion.is_shell() => conversion.refuse("only run_shell_command runs commands"),
        (None, Some(prefixes), None) => conversion.prefixes(prefixes),
        (None, None, Some(regex)) => conversion.command(regex),
        _ => conversion
            .refuse("only one of `argsPattern`, `commandPrefix` and `commandRegex` may be given"),
    }
}

struct Conversion<'a> {
    decision: Decision,
    target: &'a Target,
    remarks: &'a mut Vec<(String, String)>,
}

impl Conversion<'_> {
    fn is_allow(&self) -> bool {
        self.decision == Decision::Allow
    }

    fn is_shell(&self) -> bool {
        self.target.tools == ["shell"]
    }

    /// An allow rule is left out; others cover every call.
    fn refuse(&mut self, why: impl Into<String>) -> Vec<Pattern> {
        if self.is_allow() {
            self.remarks.push((why.into(), "left out".to_owned()));
            return Vec::new();
        }
        let instead = "made broader: it covers every call of the tool".to_owned();
        self.remarks.push((why.into(), instead));
        vec![Pattern { matcher: Matcher::Any, broadened: true }]
    }

    fn translate(&self, pattern: &str) -> Result<String, String> {
        translate(pattern, if self.is_allow() { Dot::Exact } else { Dot::Wider })
    }

    fn prefixes(&mut self, prefixes: &[String]) -> Vec<Pattern> {
        let (plain, odd): (Vec<_>, Vec<_>) =
            prefixes.iter().cloned().partition(|prefix| words::are_plain(prefix));
        let mut patterns = Vec::new();
        if !plain.is_empty() {
            let matcher = Matcher::CommandPrefix(plain);
            patterns.push(Pattern { matcher, broadened: false });
        }
        for prefix in odd {
            let why = format!("the prefix `{prefix}` is not made of plain words");
            if self.is_allow() {
                self.remarks.push((why, "that prefix is left out".to_owned()));
            } else if prefix.trim().is_empty() {
                patterns.extend(self.refuse(why));
            } else {
                let instead = "made broader: the text is searched for anywhere in the arguments";
                self.remarks.push((why, instead.to_owned()));
                let json = serde_json::Value::from(prefix.trim()).to_string();
                let text = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
                let matcher = Matcher::ArgsPattern(regex::escape(text.unwrap_or_default()));
                patterns.push(Pattern { matcher, broadened: true });
            }
        }
        patterns
    }

    fn command(&mut self, regex: &str) -> Vec<Pattern> {
        if self.is_allow() && is_refused(&format!("{COMMAND}{regex}")) {
            return self.refuse("Gemini CLI refuses the expression as too slow");
        }
        let (open, closed) = match regex.strip_suffix('"') {
            Some(rest) if !rest.ends_with('\\') => (rest, true),
            _ => (regex, false),
        };
        if self.is_allow() {
            return self.allowed_command(open, closed);
        }
        let bare = open.trim_start_matches('^').trim_end_matches('$');
        if has_anchor(bare) {
            return self
                .refuse("`^` and `$` stand for the ends of the arguments, not of a command");
        }
        let translated = match self.translate(bare) {
            Err(why) => return self.refuse(why),
            Ok(translated) => translated,
        };
        if is_about_json(bare) {
            return self.json_command(&translated);
        }
        let mut patterns = vec![command_pattern(&translated, closed)];
        if looks_beyond(bare) {
            let matcher = Matcher::ArgsPattern(format!("{COMMAND}{translated}"));
            patterns.push(Pattern { matcher, broadened: true });
        }
        patterns
    }

    /// An expression with quotes in it: they may be JSON's own, and so a command's end.
    fn json_command(&mut self, translated: &str) -> Vec<Pattern> {
        let why = "the expression looks for quotes or backslashes as JSON writes them";
        let instead = "made broader: it is also searched for anywhere in the arguments";
        self.remarks.push((why.to_owned(), instead.to_owned()));
        let anywhere = Matcher::ArgsPattern(translated.to_owned());
        let command = Matcher::CommandRegex(quote_or_end(translated));
        [anywhere, command].map(|matcher| Pattern { matcher, broadened: true }).into()
    }

    fn allowed_command(&mut self, open: &str, closed: bool) -> Vec<Pattern> {
        if has_anchor(open) || is_about_json(open) {
            return self.refuse("the expression looks at the arguments around the command");
        }
        match self.translate(open) {
            Err(why) => self.refuse(why),
            Ok(translated) => vec![command_pattern(&translated, closed)],
        }
    }

    fn args(&mut self, pattern: &str) -> Vec<Pattern> {
        if self.is_allow() && is_refused(pattern) {
            return self.refuse("Gemini CLI refuses the expression as too slow");
        }
        let everything = self.target.tools.iter().any(|tool| tool == "*");
        match (self.target.original, pattern.strip_prefix(COMMAND)) {
            _ if self.target.agent.is_some() => self.refuse("a subagent has other arguments here"),
            (_, Some(regex)) if self.is_shell() => self.command(regex),
            (Some(_), _) if self.is_shell() => self.loose_args(pattern),
            (Some(tool), _) => self.renamed_args(tool, pattern),
            (None, _) if everything => self.loose_args(pattern),
            (None, _) => match self.translate(pattern) {
                Err(why) => self.refuse(why),
                Ok(regex) => {
                    vec![Pattern { matcher: Matcher::ArgsPattern(regex), broadened: false }]
                }
            },
        }
    }

    /// The expression with one parameter renamed, when it names no more than one.
    fn renamed_args(&mut self, tool: &str, pattern: &str) -> Vec<Pattern> {
        let names: Vec<&str> = parameters(pattern);
        let renamed = match names.as_slice() {
            [] => Some(pattern.to_owned()),
            [name] => PARAMETERS.iter().find(|(of, theirs, _)| *of == tool && theirs == name).map(
                |(_, theirs, ours)| {
                    pattern.replace(&format!("\"{theirs}\":"), &format!("\"{ours}\":"))
                },
            ),
            _ => None,
        };
        let Some(renamed) = renamed.filter(|_| !is_shaped(pattern)) else {
            return self.loose_args(pattern);
        };
        match self.translate(&renamed) {
            Err(why) => self.refuse(why),
            Ok(regex) => vec![Pattern { matcher: Matcher::ArgsPattern(regex), broadened: false }],
        }
    }

    /// Without knowing the arguments' names: the looked-for value anywhere in them.
    fn loose_args(&mut self, pattern: &str) -> Vec<Pattern> {
        let why = "the arguments have other names in Toolgate";
        if self.is_allow() {
            return self.refuse(why);
        }
        let value = PARAMETER.as_ref().and_then(|named| {
            let first = named.find(pattern).filter(|found| found.start() == 0)?;
            pattern.get(first.end()..)
        });
        let value = value.unwrap_or(pattern);
        let value = value.strip_prefix('"').unwrap_or(value);
        // The end of a string is the end of a line, not that of each of its commands.
        let lines = self.target.tools.iter().any(|tool| tool == "shell" || tool == "*");
        if is_shaped(value) || value.contains("\":") || (lines && value.contains('"')) {
            return self.refuse(why);
        }
        match self.translate(value) {
            Err(why) => self.refuse(why),
            Ok(regex) => {
                let instead = "made broader: the value is searched for anywhere in the arguments";
                self.remarks.push((why.to_owned(), instead.to_owned()));
                vec![Pattern { matcher: Matcher::ArgsPattern(regex), broadened: true }]
            }
        }
    }
}

fn command_pattern(regex: &str, closed: bool) -> Pattern {
    let regex = if closed { format!("(?:{regex})$") } else { regex.to_owned() };
    Pattern { matcher: Matcher::CommandRegex(regex), broadened: false }
}

/// Whether the expression looks for text as it is only in JSON.
fn is_about_json(regex: &str) -> bool {
    regex.contains('"') || regex.contains(r"\\")
}

/// Whether the expression depends on what stands around an argument.
fn is_shaped(pattern: &str) -> bool {
    has_anchor(pattern) || pattern.contains(['{', '}']) || pattern.contains(",\"")
}

/// The expression with every quote outside a class taken for the end as well.
fn quote_or_end(regex: &str) -> String {
    let (mut out, mut in_class, mut escaped) = (String::new(), false, false);
    for sign in regex.chars() {
        match sign {
            '"' if !in_class => out.push_str("(?:\"|$)"),
            _ => out.push(sign),
        }
        in_class = match sign {
            '[' if !escaped => true,
            ']' if !escaped => false,
            _ => in_class,
        };
        escaped = sign == '\\' && !escaped;
    }
    out
}

/// Whether a `^` or `$` stands for an end of the text.
fn has_anchor(regex: &str) -> bool {
    let (mut in_class, mut escaped) = (false, false);
    for sign in regex.chars() {
        match sign {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            '^' | '$' if !in_class => return true,
            _ => {}
        }
    }
    false
}

fn parameters(pattern: &str) -> Vec<&str> {
    let Some(parameter) = PARAMETER.as_ref() else { return Vec::new() };
    let names = parameter.captures_iter(pattern).filter_map(|found| found.get(1));
    names.map(|name| name.as_str()).collect()
}

fn is_refused(pattern: &str) -> bool {
    pattern.encode_utf16().count() > 2048
        || TOO_SLOW.as_ref().is_none_or(|slow| slow.is_match(pattern))
}

/// Whether the expression may match text after the command's end.
fn looks_beyond(regex: &str) -> bool {
    let wide = [".", "[^", r"\S", r"\W", r"\D", "|"];
    wide.iter().any(|sign| regex.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::node;

    /// What becomes of a rule for one tool, as `matcher: text`.
    fn check(tool: &str, decision: &str, field: &str) -> Vec<String> {
        let text =
            format!("toolName = \"{tool}\"\ndecision = \"{decision}\"\npriority = 1\n{field}");
        let foreign = ForeignRule::read(&node::parse_toml(&text).unwrap()).unwrap();
        let mut remarks = Vec::new();
        let targets = super::super::target::targets(&foreign, &mut remarks);
        let patterns = targets.iter().flat_map(|target| patterns(&foreign, target, &mut remarks));
        let show = |pattern: Pattern| match pattern.matcher {
            Matcher::Any => "any".to_owned(),
            Matcher::CommandPrefix(prefixes) => format!("prefix {}", prefixes.join(", ")),
            Matcher::CommandRegex(regex) => format!("command {regex}"),
            Matcher::ArgsPattern(regex) => format!("args {regex}"),
        };
        patterns.collect::<Vec<_>>().into_iter().map(show).collect()
    }

    #[test]
    fn an_allowed_command_matches_no_more_than_it_did() {
        let allow = |field: &str| check("run_shell_command", "allow", field);
        assert_eq!(allow("commandPrefix = 'git log'"), ["prefix git log"]);
        assert_eq!(allow("commandRegex = 'git (log|diff)'"), ["command git (log|diff)"]);
        assert_eq!(allow("commandRegex = 'git log\"'"), ["command (?:git log)$"]);
        assert_eq!(allow("argsPattern = '\"command\":\"git log'"), ["command git log"]);
        for field in [
            "commandPrefix = 'git log '",
            "commandPrefix = 'cd a && make'",
            "commandPrefix = ''",
            "commandRegex = '^git log'",
            "commandRegex = 'git log$'",
            "commandRegex = 'git (?=log)'",
            "commandRegex = 'git (-\\w+ )*log'",
            "commandRegex = 'git log(\\s|\")'",
            "argsPattern = 'git log'",
        ] {
            assert!(allow(field).is_empty(), "{field}");
        }
    }

    #[test]
    fn a_denied_command_matches_no_less_than_it_did() {
        let deny = |field: &str| check("run_shell_command", "deny", field);
        assert_eq!(deny("commandPrefix = 'rm '"), ["args rm"]);
        assert_eq!(deny("commandRegex = '^rm -rf$'"), ["command rm -rf"]);
        assert_eq!(deny("commandRegex = 'rm|dd'"), ["command rm|dd", "args \"command\":\"rm|dd"]);
        assert_eq!(deny("commandRegex = 'rm( |\")'"), ["args rm( |\")", "command rm( |(?:\"|$))"]);
        assert_eq!(deny("commandRegex = 'rm (?!x)'"), ["any"]);
        assert_eq!(deny("commandRegex = 'a(^b|c)'"), ["any"]);
        assert_eq!(deny("argsPattern = 'secret'"), ["args secret"]);
        assert_eq!(deny("argsPattern = '\"dir_path\":\"/etc'"), ["args /etc"]);
        assert_eq!(deny("argsPattern = 'rm\"'"), ["any"]);
    }

    #[test]
    fn arguments_are_renamed_one_at_a_time() {
        let pem = r#"argsPattern = '"file_path":"[^"]*\.pem"'"#;
        assert_eq!(check("read_file", "deny", pem), [r#"args "path":"[^"]*\.pem""#]);
        assert_eq!(check("read_file", "allow", pem), [r#"args "path":"[^"]*\.pem""#]);
        assert_eq!(check("web_fetch", "deny", pem), [r#"args [^"]*\.pem""#]);
        assert!(check("web_fetch", "allow", pem).is_empty());
        let two = r#"argsPattern = '"content":"x","file_path":"y'"#;
        assert!(check("write_file", "allow", two).is_empty());
        assert_eq!(check("write_file", "deny", two), ["any"]);
        assert_eq!(
            check("mcp_a_b", "allow", "argsPattern = '^.q'"),
            [r"args ^[^\n\r\u{2028}\u{2029}]q"]
        );
    }
}
