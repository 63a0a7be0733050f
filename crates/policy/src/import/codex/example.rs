//! `match` and `not_match`: the examples a rule of Codex brings along.

use crate::import::node::{Node, Value};

/// The first word and the alternatives for each word of a command.
pub(crate) type Words = Vec<Vec<String>>;

/// An absolute path may stand for a bare name when it is listed, or when nothing is.
#[derive(Debug, Clone)]
pub(crate) struct HostExecutable {
    pub(crate) name: String,
    pub(crate) paths: Vec<String>,
}

/// The words of an example, or what is wrong with it.
pub(crate) fn words(example: &Node) -> Result<Vec<String>, &'static str> {
    let words = match &example.value {
        Value::Text(line) => shlex::split(line).ok_or("it is not shell syntax")?,
        Value::List(_) => {
            example.one_or_more("example").map_err(|_| "its words must be strings")?
        }
        _ => return Err("it must be a string or a list of strings"),
    };
    if words.is_empty() { Err("it is empty") } else { Ok(words) }
}

/// Whether Codex lets the pattern match the command.
pub(crate) fn matches(pattern: &Words, command: &[String], hosts: &[HostExecutable]) -> bool {
    let (Some(first), Some(program)) = (pattern.first(), command.first()) else { return false };
    let rest_matches = pattern.len() <= command.len()
        && pattern.iter().zip(command).skip(1).all(|(words, word)| words.contains(word));
    if !rest_matches {
        return false;
    }
    if first.contains(program) {
        return true;
    }
    let Some((_, name)) = program.rsplit_once('/').filter(|_| program.starts_with('/')) else {
        return false;
    };
    // The last declaration of a name is the one that counts.
    let host = hosts.iter().rev().find(|host| host.name == name);
    first.iter().any(|word| word == name) && host.is_none_or(|host| host.paths.contains(program))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(command: &str, hosts: &[HostExecutable]) -> bool {
        let pattern = vec![vec!["git".to_owned()], vec!["log".to_owned(), "diff".to_owned()]];
        matches(&pattern, &shlex::split(command).unwrap(), hosts)
    }

    #[test]
    fn words_are_compared_whole_and_in_order() {
        assert!(check("git log", &[]) && check("git 'diff' --stat", &[]));
        assert!(!check("git", &[]) && !check("git logs", &[]) && !check("git -C x log", &[]));
    }

    #[test]
    fn a_path_stands_for_its_name_when_it_is_listed() {
        let host = HostExecutable { name: "git".into(), paths: vec!["/usr/bin/git".into()] };
        assert!(check("/opt/git log", &[]));
        assert!(check("/usr/bin/git log", std::slice::from_ref(&host)));
        assert!(!check("/opt/git log", &[host]) && !check("./git log", &[]));
    }
}
