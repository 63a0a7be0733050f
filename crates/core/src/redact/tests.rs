//! Secrets of every kind, and what looks like them.

use std::borrow::Cow;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolgate_testing::processor_time;

use super::*;

/// Letters and digits as machines make them up. Tokens are put together here, so that no
/// program that looks for secrets finds any in this file.
const RANDOM: &str = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0fG3hJ6kL9nP2rS5tV8xY1zA4";
const HEX: &str = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0";

fn random(prefix: &str, length: usize) -> String {
    format!("{prefix}{}", RANDOM.get(..length).unwrap())
}

fn redacted(text: &str) -> String {
    Redactor::default().text(text).into_owned()
}

/// One of each shape.
fn tokens() -> Vec<(String, &'static str)> {
    let hex = |prefix: &str, length: usize| format!("{prefix}{}", HEX.get(..length).unwrap());
    let part = RANDOM.get(..20).unwrap();
    vec![
        (format!("AKIA{}", "IOSFODNN7EXAMPLE"), "aws access key"),
        (random("ghp_", 36), "github token"),
        (random("gho_", 36), "github token"),
        (random("ghs_", 36), "github token"),
        (
            format!("github_pat_{}_{}", RANDOM.get(..22).unwrap(), RANDOM.get(..40).unwrap()),
            "github token",
        ),
        (random("glpat-", 20), "gitlab token"),
        (format!("xoxb-{}-{part}", "123456789012"), "slack token"),
        (random("sk_live_", 24), "stripe key"),
        (random("rk_live_", 24), "stripe key"),
        (random("sk-", 48), "openai key"),
        (random("sk-proj-", 48), "openai key"),
        (random("sk-ant-api03-", 40), "anthropic key"),
        (random("AIza", 35), "google api key"),
        (random("ya29.", 40), "google oauth token"),
        (random("npm_", 36), "npm token"),
        (random("pypi-AgEIcHlwaS5vcmc", 50), "pypi token"),
        (format!("eyJ{part}.eyJ{part}.{part}"), "json web token"),
        (random("hf_", 34), "hugging face token"),
        (format!("SG.{part}.{part}"), "sendgrid key"),
        (hex("SK", 32), "twilio key"),
        (hex("dop_v1_", 64), "digitalocean token"),
        (random("123456789:AA", 33), "telegram token"),
        (random("dckr_pat_", 27), "docker token"),
        (random("hvs.", 30), "vault token"),
        (hex("shpat_", 32), "shopify token"),
    ]
}

#[test]
fn passwords_in_options_are_taken_out() {
    let word = "[redacted: password]";
    for (before, after) in [
        ("mysql -u root -p", " shop"),
        ("mysql -uroot -p'", "' -e 'select 1'"),
        ("mysqldump --all -p", " > x.sql"),
        ("mariadb -h db -p", ""),
        ("sshpass -p ", " ssh host"),
        ("sshpass -p", " ssh host"),
        ("sshpass -p '", "' ssh host"),
        ("redis-cli -h db -a ", " ping"),
        ("curl -u user:", " https://host"),
        ("curl -sSu 'user:", "' https://host"),
        ("docker login -u me -p ", " registry"),
        ("mongosh -u me -p ", " db"),
        ("ldapsearch -x -D cn=a -w ", " -b dc=b"),
        ("unzip -P ", " a.zip"),
        ("7z x -p", " a.7z"),
        ("ssh-keygen -t ed25519 -N ", " -f key"),
        ("plink -pw ", " host"),
        ("smbclient -U me%", " //host/share"),
        ("openssl enc -pass pass:", " -in x"),
        ("openssl rsa -passin pass:", " -in x"),
        ("htpasswd -bc file me ", ""),
        ("lftp -u me,", " host"),
        ("http -a me:", " host/path"),
        ("PGPASSWORD=", " psql -h db"),
        ("export MYSQL_PWD=", "; mysql"),
        ("SSHPASS=", " sshpass -e ssh host"),
        ("REDISCLI_AUTH=", " redis-cli"),
    ] {
        let clean = redacted(&format!("{before}hunter2Xy{after}"));
        assert_eq!(clean, format!("{before}{word}{after}"));
    }
    for text in [
        "mysql -p shop",
        "mkdir -p src/a",
        "docker run -p 80:80 x",
        "ssh -p 22 host",
        "gzip -N file",
        "cp -a src dst",
        "git log -p -u",
        "redis-cli -a $PASS ping",
        "PGPASSWORD=$PASS psql",
        "http GET host/path",
    ] {
        assert_eq!(redacted(text), text);
    }
}

fn base64(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut word = String::new();
    for three in text.as_bytes().chunks(3) {
        let bits = three.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - three.len()));
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
            word.push(if place <= three.len() { char::from(letter) } else { '=' });
        }
    }
    word
}

#[test]
fn tokens_in_base64_are_taken_out() {
    for (token, kind) in tokens() {
        for said in [token.clone(), format!("user:{token}\n"), format!("{{\"a\":\"{token}\"}}")] {
            let word = base64(&said);
            for word in [word.as_str(), word.trim_end_matches('='), &word.replace('/', "_")] {
                let clean = redacted(&format!("echo {word} | base64 -d"));
                assert!(!clean.contains(word.trim_end_matches('=')), "{kind}: {clean}");
            }
        }
    }
    let harmless = base64("the quick brown fox jumps over the lazy dog");
    assert_eq!(redacted(&harmless), harmless);
    let path = "crates/policy/src/shell/readonly/git/subcommands";
    assert_eq!(redacted(path), path);
}

#[test]
fn tokens_are_known_by_their_shape_wherever_they_stand() {
    for (token, kind) in tokens() {
        let words = format!("[redacted: {kind}]");
        assert_eq!(redacted(&token), words, "{token}");
        for (before, after) in [
            ("use ", " now"),
            ("(", ")"),
            ("é", "é"),
            ("\"", "\","),
            ("git clone https://host/", "/x"),
            ("line\n", "\nline"),
            (r"line\n", r"\nline"),
            ("a=", "&b=2"),
        ] {
            let clean = redacted(&format!("{before}{token}{after}"));
            assert_eq!(clean, format!("{before}{words}{after}"));
        }
    }
}

#[test]
fn tokens_are_found_behind_escapes() {
    let token = random("ghp_", 36);
    let split = token.replacen('_', r"\u005f", 1);
    assert_eq!(redacted(&format!(r#"{{"a":"{split}"}}"#)), r#"{"a":"[redacted: github token]"}"#);
    let nested = json!({ "content": json!({ "x": [token, "é\n"] }).to_string() }).to_string();
    let twice = json!(nested).to_string();
    for text in [nested, twice] {
        let clean = redacted(&text);
        assert!(clean.contains("[redacted: github token]") && !clean.contains("aB3dE6"), "{clean}");
        let read: Value = serde_json::from_str(&clean).unwrap();
        assert!(read.is_object() || read.is_string());
    }
    let escaped = r#"{\"password\": \"hunter2!\", \"port\": 1}"#;
    assert_eq!(redacted(escaped), r#"{\"password\": \"[redacted: password]\", \"port\": 1}"#);
    assert_eq!(
        redacted(r#"{"p\u0061ssword":"x\u0041y"}"#),
        r#"{"p\u0061ssword":"[redacted: password]"}"#
    );
}

#[test]
fn private_keys_go_whole() {
    let body = format!("{}\n{}\n", RANDOM.get(..50).unwrap(), RANDOM.get(..50).unwrap());
    for kind in ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "] {
        let (begin, end) = (format!("BEGIN {kind}PRIVATE KEY"), format!("END {kind}PRIVATE KEY"));
        let key = format!("-----{begin}-----\nProc-Type: 4,ENCRYPTED\n\n{body}-----{end}-----");
        assert_eq!(redacted(&format!("a {key} b")), "a [redacted: private key] b");
        let json = json!({ "k": key }).to_string();
        assert_eq!(redacted(&json), r#"{"k":"[redacted: private key]"}"#);
        let cut = format!("-----{begin}-----\n{body}");
        assert_eq!(redacted(&format!("{cut}… cut")), "[redacted: private key]… cut");
    }
    let public = "-----BEGIN PUBLIC KEY-----\nabc\n-----END PUBLIC KEY-----";
    assert_eq!(redacted(public), public);
}

#[test]
fn values_are_known_by_their_names() {
    for (text, clean) in [
        ("DB_PASSWORD=hunter2 make", "DB_PASSWORD=[redacted: password] make"),
        ("export API_KEY=\"a b c\"", "export API_KEY=\"[redacted: key]\""),
        ("password: hunter2\nuser: me", "password: [redacted: password]\nuser: me"),
        ("POSTGRES_PASSWORD: mysecretpassword", "POSTGRES_PASSWORD: [redacted: password]"),
        (
            r#"{"client_secret":"abc","port":1}"#,
            r#"{"client_secret":"[redacted: secret]","port":1}"#,
        ),
        ("let api_key = 'abc123';", "let api_key = '[redacted: key]';"),
        ("secret_key => \"abc\"", "secret_key => \"[redacted: secret]\""),
        ("tool --token abc123 --verbose", "tool --token [redacted: token] --verbose"),
        ("tool --password=abc", "tool --password=[redacted: password]"),
        ("GET /?access_token=abc&page=2", "GET /?access_token=[redacted: token]&page=2"),
        ("<password>two words</password>", "<password>[redacted: password]</password>"),
        ("X-Api-Key: abc123", "X-Api-Key: [redacted: key]"),
        ("Authorization: Bearer abc.def-123", "Authorization: Bearer [redacted: credential]"),
        ("authorization: Basic dXNlcjpwYXNz", "authorization: Basic [redacted: credential]"),
        ("-H 'Authorization: token abcdef'", "-H 'Authorization: token [redacted: credential]'"),
        ("postgres://me:hunter2@db/x", "postgres://me:[redacted: password]@db/x"),
        ("redis://:p@ss@db:6379", "redis://:[redacted: password]@db:6379"),
        ("curl -s -u me:hunter2 host", "curl -s -u me:[redacted: password] host"),
        ("//registry/:_authToken=abc", "//registry/:_authToken=[redacted: token]"),
        ("aws_secret_access_key = abc/DEF+1", "aws_secret_access_key = [redacted: secret]"),
        ("PASSWORD='left open", "PASSWORD='[redacted: password]"),
        ("password_hash=$2b$10$abcdef", "password_hash=[redacted: password]"),
    ] {
        assert_eq!(redacted(text), clean);
    }
}

#[test]
fn what_only_looks_like_a_secret_stays_byte_for_byte() {
    for text in [
        "",
        "commit 3b18e512dba79e4c8300dd08aeb37f8e728b8dad",
        "123e4567-e89b-12d3-a456-426614174000",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "The password is asked for twice. Passwords: they expire; tokens do not.",
        "password: the user's password",
        "Enter password: ",
        "fn token() -> Token { self.token }",
        "pub struct Login { password: String, token: Option<Token>, secret: &'static str }",
        "let token = self.next_token()?;",
        "const password = process.env.PASSWORD;",
        "password=os.environ[\"DB_PASSWORD\"]",
        "if token == other { return; }",
        "API_KEY=$API_KEY PASSWORD=${PASSWORD:-} TOKEN=$(cat token) make",
        "password: ${{ secrets.PASSWORD }}",
        "token: <your token>",
        "password=********",
        "max_tokens: 4096, token_count=12, tokenizer: bpe, author: me, key: value, keys=3",
        "{\"max_tokens\":4096,\"next_page_token\":\"abc\",\"author\":\"Jo\",\"key\":\"k1\"}",
        "PWD=/home/me OLDPWD=/tmp",
        "tests pass: 12, fail: 0",
        "https://example.com:8080/a@b https://user@host/x git@github.com:me/x.git",
        "task-force-one desk-lamp-number-twelve sk-circle-fade-dot-animation-name",
        "npm_config_registry hf_hub_download pypi-publish-action",
        "key-value pairs, keyboard, monkey, SKU, SG.example, ASIA, AKIAS",
        "bearer of good news and of internationalization",
        "eyJ is how JSON begins in base64",
        "sort -u a:b; docker run -u 1000:1000 x",
        "C:\\new\\token\\u0041",
        "漢字 password 漢字",
        "Authorization: $TOKEN",
        "\"password\": true, \"token\": null, \"secret\": \"\"",
    ] {
        assert!(matches!(Redactor::default().text(text), Cow::Borrowed(_)), "{}", redacted(text));
    }
}

#[test]
fn json_goes_without_its_secrets_wherever_they_are() {
    let token = random("ghp_", 36);
    let mut value = json!({
        "command": format!("echo {token}"),
        "headers": { "Authorization": "Bearer abc", "accept": "*/*" },
        "auth": { "user": "me", "pin": 1234 },
        "passwords": ["a", "b"],
        "api_key": 123_456,
        "token": token,
        "has_password": true,
        "secret": null,
        "max_tokens": 10,
        "env": [{ "name": "DB_PASSWORD", "value": "x" }, { "name": "HOST", "value": "h" }],
        "argv": ["login", "--password", "hunter2", "me"],
        "nested": [[{ "deep": { "client-secret": "x" } }]],
        token.clone(): 1,
        format!("{token} "): 2,
    });
    Redactor::default().value(&mut value);
    assert_eq!(
        value,
        json!({
            "command": "echo [redacted: github token]",
            "headers": { "Authorization": "[redacted: credential]", "accept": "*/*" },
            "auth": "[redacted: credential]",
            "passwords": "[redacted: password]",
            "api_key": "[redacted: key]",
            "token": "[redacted: github token]",
            "has_password": true,
            "secret": null,
            "max_tokens": 10,
            "env": [
                { "name": "DB_PASSWORD", "value": "[redacted: password]" },
                { "name": "HOST", "value": "h" },
            ],
            "argv": ["login", "--password", "[redacted: password]", "me"],
            "nested": [[{ "deep": { "client-secret": "[redacted: secret]" } }]],
            "[redacted: github token]": 1,
            "[redacted: github token] ": 2,
        })
    );
}

#[test]
fn names_that_become_alike_are_kept_apart() {
    let mut value = json!({ random("ghp_", 36): 1, random("gho_", 36): 2 });
    Redactor::default().value(&mut value);
    assert_eq!(value, json!({ "[redacted: github token]": 1, "[redacted: github token] 2": 2 }));
}

#[test]
fn known_values_and_configured_patterns_are_found() {
    let patterns = ["EMP-[0-9]{6}".to_owned()];
    let values =
        ["correct horse".to_owned(), "short".to_owned(), "correct horse battery".to_owned()];
    let redactor = Redactor::new(&patterns).unwrap().with_values(values);
    assert_eq!(
        redactor.text("EMP-123456 said: correct horse battery, short; correct\\u0020horse"),
        "[redacted: configured pattern] said: [redacted: known value], short; [redacted: known value]"
    );
}

#[test]
fn patterns_that_cannot_be_used_are_refused() {
    let said = |pattern: &str| Redactor::new(&[pattern.to_owned()]).unwrap_err().to_string();
    assert_eq!(said("("), "cannot use `(` to find secrets");
    assert_eq!(said(r"\w{1000}{1000}"), r"cannot use `\w{1000}{1000}` to find secrets");
    assert_eq!(said("x*"), "`x*` matches nothing at all, so it would be found everywhere");
    let many = vec!["x".to_owned(); 201];
    assert!(matches!(Redactor::new(&many), Err(RedactorError::TooMany { count: 201 })));
}

#[test]
fn hostile_input_takes_no_longer_than_other_input() {
    const MEGABYTE: usize = 1 << 20;
    let redactor = Redactor::new(&["x[a-z]{0,9}y".to_owned()]).unwrap();
    for piece in [
        "eyJ",
        "eyJaaaaaaaaaaaa.",
        "password=",
        "password=\"",
        "password='\"",
        "password:",
        "password",
        "\"password\":\"\\\"",
        "--token ",
        "<password>",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "-----BEGIN RSA PRIVATE KEY",
        "a://b:c@",
        "a://b:",
        "://:",
        "curl -u ",
        "curl ",
        "bearer ",
        "authorization:",
        "sk-",
        "SG.aaaaaaaaaaaaaaaaaa.",
        "\\",
        "\\\\u005c",
        "\\u",
        "ghp_",
        "é",
        "x",
        "12345678:AA",
    ] {
        let hostile = piece.repeat(MEGABYTE / piece.len());
        let started = processor_time();
        redactor.text(&hostile);
        let took = processor_time().saturating_sub(started);
        // Anything quadratic would take hours.
        assert!(took < Duration::from_secs(20), "{piece}: {took:?}");
    }
}

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => ".{0,12}",
        1 => Just("password".to_owned()),
        1 => Just("=".to_owned()),
        1 => Just(": \"".to_owned()),
        1 => Just("\\u005f".to_owned()),
        1 => Just("-----BEGIN PRIVATE KEY-----".to_owned()),
        1 => Just("://u:p@".to_owned()),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_token_survives_whatever_is_around_it(
        before in pieces(),
        after in pieces(),
        index in 0_usize..25,
    ) {
        let (token, _) = tokens().swap_remove(index);
        let clean = redacted(&format!("{before} {token} {after}"));
        prop_assert!(!clean.contains(&token), "{}", clean);
        let mut value = json!({ before: [{ after: format!("x {token}") }] });
        Redactor::default().value(&mut value);
        prop_assert!(!value.to_string().contains(&token));
    }

    #[test]
    fn what_was_cleaned_stays_as_it_is(text in pieces()) {
        let clean = redacted(&text);
        let again = redacted(&clean);
        prop_assert!(again.len() <= clean.len() + 64, "{} / {}", clean, again);
    }

    #[test]
    fn text_of_words_stays(text in "[a-z]{1,8}( [a-z]{1,8}){0,8}") {
        prop_assert_eq!(redacted(&text), text);
    }
}
