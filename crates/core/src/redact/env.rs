//! The secrets of a `.env` file.

use super::key;

/// Shorter values are found in too many places that have nothing to do with them.
pub(super) const SHORTEST: usize = 6;
/// How long a value is that may be a secret though its name does not say so.
const LONG: usize = 8;

/// What stands in many such files and tells nothing.
const ORDINARY: &[&str] = &[
    "development",
    "disabled",
    "documentation",
    "enabled",
    "information",
    "localhost",
    "memcached",
    "postgres",
    "postgresql",
    "production",
    "rabbitmq",
    "required",
    "sandbox",
    "staging",
    "standalone",
    "testing",
    "undefined",
    "us-east-1",
    "verbose",
    "warning",
];

/// The values in the text of a `.env` file that are worth hiding wherever they turn up:
/// those whose names say so, and all others but what is plainly no secret: numbers, addresses
/// without a password, paths and everyday words.
pub fn env_values(text: &str) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some((name, value, after)) = next(rest) {
        rest = after;
        let telling = key::secret(name).is_some() || !is_ordinary(&value);
        if telling && value.chars().count() >= SHORTEST && !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

/// The first name and its value, and what follows them.
fn next(mut text: &str) -> Option<(&str, String, &str)> {
    loop {
        let (line, after) = text.split_once('\n').unwrap_or((text, ""));
        let line = line.trim_start();
        let line = line.strip_prefix("export ").unwrap_or(line);
        if !line.starts_with('#')
            && let Some((name, value)) = line.split_once('=')
        {
            let value = value.trim_start();
            let Some(quote) = value.chars().next().filter(|first| "\"'`".contains(*first)) else {
                return Some((name.trim(), bare(value), after));
            };
            // A value in quotes may have many lines.
            let start =
                text.len() - after.len() - usize::from(!after.is_empty() || text.ends_with('\n'));
            let start = start - value.len() + 1;
            let (value, after) = quoted(text.get(start..)?, quote);
            return Some((name.trim(), value, after));
        }
        if after.is_empty() {
            return None;
        }
        text = after;
    }
}

/// A value without quotes: up to a comment.
fn bare(value: &str) -> String {
    let value = value.split(" #").next().unwrap_or_default();
    value.trim().to_owned()
}

/// A value in quotes, and what follows it.
fn quoted(text: &str, quote: char) -> (String, &str) {
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            _ if letter == quote => {
                let after = text.get(at + 1..).unwrap_or_default();
                return (value, after.split_once('\n').map_or("", |(_, after)| after));
            }
            '\\' if quote == '"' => match letters.next() {
                Some((_, 'n')) => value.push('\n'),
                Some((_, 't')) => value.push('\t'),
                Some((_, 'r')) => value.push('\r'),
                Some((_, other)) => value.push(other),
                None => {}
            },
            other => value.push(other),
        }
    }
    // Quotes that are left open end with the line.
    let (line, after) = text.split_once('\n').unwrap_or((text, ""));
    (line.trim_end().to_owned(), after)
}

/// Whether a value is plainly no secret, or too short to be told from other text.
fn is_ordinary(value: &str) -> bool {
    let is_address = value.contains("://") && !value.contains('@');
    let is_host = value.contains(['.', ':'])
        && !value.contains(char::is_whitespace)
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".:-_".contains(&byte));
    let is_path = value.starts_with(['/', '~', '.']);
    let is_number = value.bytes().all(|byte| !byte.is_ascii_alphabetic());
    let is_word = ORDINARY.contains(&value.to_ascii_lowercase().as_str());
    value.chars().count() < LONG || is_address || is_host || is_path || is_number || is_word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_of_an_env_file_are_those_worth_hiding() {
        let text = "# comment=secret12\n\
            export DB_PASSWORD=hunter22 # the old one\n\
            NODE_ENV=production\nPORT=8080\nWHEN=2026-11-16\nNAME=db.example.com:5432\nPHRASE=correct-horse\nHOST=https://example.com/a1b2c3d4\n\
            API_KEY='it has # in it'\r\n\
            SIGNING_KEY=\"-----BEGIN\\nabc\\\"d\"\n\
            PRIVATE_KEY=\"line one\nline two\"\n\
            SALT=9f8e7d6c5b4a39281706\nTOKEN=short\nEMPTY=\nPASSWORD=\"left open\nSECRET=last-one";
        assert_eq!(
            env_values(text),
            [
                "hunter22",
                "correct-horse",
                "it has # in it",
                "-----BEGIN\nabc\"d",
                "line one\nline two",
                "9f8e7d6c5b4a39281706",
                "left open",
                "last-one"
            ]
        );
        assert!(env_values("").is_empty() && env_values("\n\n=\n").is_empty());
    }
}
