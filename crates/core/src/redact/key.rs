//! Names that say that their value is secret.

/// Words that make a name secret wherever they stand in it.
const ANYWHERE: [(&str, &str); 18] = [
    ("password", "password"),
    ("passwords", "password"),
    ("passwd", "password"),
    ("passphrase", "password"),
    ("passcode", "password"),
    ("secret", "secret"),
    ("secrets", "secret"),
    ("credential", "credential"),
    ("credentials", "credential"),
    ("creds", "credential"),
    ("apikey", "key"),
    ("apikeys", "key"),
    ("authorization", "credential"),
    ("cookie", "cookie"),
    ("cookies", "cookie"),
    ("jwt", "token"),
    ("otp", "password"),
    ("bearer", "token"),
];

/// What words end in when they are written without anything in between, such as `dbpassword`.
const ENDINGS: [(&str, &str); 13] = [
    ("password", "password"),
    ("passwd", "password"),
    ("passphrase", "password"),
    ("secret", "secret"),
    ("apikey", "key"),
    ("secretkey", "key"),
    ("accesskey", "key"),
    ("privatekey", "key"),
    ("authtoken", "token"),
    ("accesstoken", "token"),
    ("refreshtoken", "token"),
    ("sessiontoken", "token"),
    ("credentials", "credential"),
];

/// What stands before `key` when the key opens something.
const KEYS: [&str; 22] = [
    "api",
    "access",
    "private",
    "secret",
    "signing",
    "encryption",
    "decryption",
    "master",
    "auth",
    "account",
    "ssh",
    "service",
    "storage",
    "shared",
    "subscription",
    "gpg",
    "pgp",
    "client",
    "webhook",
    "deploy",
    "session",
    "admin",
];

/// What stands before `token` when it opens nothing: places in a list, pieces of text.
const HARMLESS_TOKENS: [&str; 25] = [
    "page",
    "next",
    "previous",
    "continuation",
    "continue",
    "cancel",
    "cancellation",
    "eos",
    "bos",
    "pad",
    "unk",
    "sep",
    "cls",
    "mask",
    "end",
    "start",
    "stop",
    "special",
    "per",
    "lookahead",
    "peek",
    "current",
    "first",
    "last",
    "max",
];

/// Words at the end that make it something about a secret.
const ABOUT: [&str; 51] = [
    "id",
    "ids",
    "name",
    "names",
    "path",
    "paths",
    "file",
    "files",
    "dir",
    "folder",
    "url",
    "uri",
    "type",
    "types",
    "kind",
    "count",
    "counts",
    "limit",
    "limits",
    "length",
    "len",
    "size",
    "field",
    "fields",
    "policy",
    "rule",
    "rules",
    "hint",
    "prompt",
    "label",
    "expiry",
    "expires",
    "expiration",
    "ttl",
    "age",
    "min",
    "max",
    "version",
    "algorithm",
    "header",
    "manager",
    "reset",
    "required",
    "enabled",
    "ref",
    "arn",
    "placeholder",
    "pattern",
    "format",
    "usage",
    "budget",
];

/// Words at the beginning that make it a question, a number or an action.
const QUESTIONS: [&str; 22] = [
    "has", "is", "no", "use", "uses", "show", "hide", "require", "requires", "needs", "enable",
    "disable", "allow", "forgot", "change", "max", "min", "num", "count", "total", "public",
    "redact",
];

/// What kind of secret a value with this name is, if the name says that it is one.
pub(super) fn secret(name: &str) -> Option<&'static str> {
    let words = words(name);
    let (last, before) = words.split_last()?;
    let previous = before.last().map(String::as_str);
    if words.first().is_some_and(|first| QUESTIONS.contains(&first.as_str())) {
        return None;
    }
    if ABOUT.contains(&last.as_str()) || last == "expire" || previous == Some("expires") {
        return None;
    }
    let known = |word: &String| ANYWHERE.iter().find(|(secret, _)| secret == word);
    if let Some((_, kind)) = words.iter().find_map(known) {
        return Some(kind);
    }
    if let Some((_, kind)) = ENDINGS.iter().find(|(ending, _)| last.ends_with(ending)) {
        return Some(kind);
    }
    match (last.as_str(), previous) {
        ("token", Some(word)) if HARMLESS_TOKENS.contains(&word) => None,
        ("token", _)
        | ("value", Some("token"))
        | (
            "tokens",
            Some("access" | "auth" | "refresh" | "bearer" | "api" | "session" | "secret"),
        ) => Some("token"),
        ("key" | "keys", Some(word)) if KEYS.contains(&word) => Some("key"),
        ("auth", _) => Some("credential"),
        // `PWD` is the folder one is in, and `pass` is what tests do.
        ("pass" | "pwd" | "pw", Some(_)) => Some("password"),
        _ => None,
    }
}

/// The words of a name, in small letters: `DB_PASSWORD`, `dbPassword`, `db.password`.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut before = ' ';
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        let follows_small = before.is_lowercase() || before.is_ascii_digit();
        let precedes_small = letters.peek().is_some_and(|next| next.is_lowercase());
        let begins = letter.is_uppercase() && (follows_small || precedes_small);
        if (begins || !letter.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    if !word.is_empty() {
        words.push(word);
    }
    // `API_KEY_2` is another key.
    while words.len() > 1 && words.last().is_some_and(|last| last.parse::<u32>().is_ok()) {
        words.pop();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known_however_they_are_written() {
        for name in [
            "password",
            "PASSWORD",
            "DB_PASSWORD",
            "dbPassword",
            "db.password",
            "dbpassword",
            "passwd",
            "MYSQL_PWD",
            "SMTP_PASS",
            "secret",
            "client_secret",
            "clientSecret",
            "SECRET_KEY_BASE",
            "token",
            "GITHUB_TOKEN",
            "accessToken",
            "access_tokens",
            "authtoken",
            "_authToken",
            "api_key",
            "API-KEY",
            "X-Api-Key",
            "apikey",
            "APIKey",
            "OPENAI_API_KEY_2",
            "AWS_SECRET_ACCESS_KEY",
            "private_key",
            "AccountKey",
            "credential",
            "Credentials",
            "auth",
            "_auth",
            "Authorization",
            "Proxy-Authorization",
            "Cookie",
            "password_hash",
        ] {
            assert!(secret(name).is_some(), "{name}");
        }
    }

    #[test]
    fn names_about_other_things_are_harmless() {
        for name in [
            "",
            "_",
            "key",
            "keys",
            "keyboard",
            "public_key",
            "primary_key",
            "cache_key",
            "max_tokens",
            "maxTokens",
            "tokens",
            "token_count",
            "tokenCount",
            "token_type",
            "tokenizer",
            "next_page_token",
            "nextToken",
            "eos_token",
            "cancellationToken",
            "author",
            "authority",
            "authenticated",
            "pass",
            "PWD",
            "OLDPWD",
            "bypass",
            "compass",
            "secretary",
            "passwordless",
            "has_password",
            "isSecret",
            "password_length",
            "private_key_path",
            "secretName",
            "tokenUrl",
            "monkey",
        ] {
            assert_eq!(secret(name), None, "{name}");
        }
    }
}
