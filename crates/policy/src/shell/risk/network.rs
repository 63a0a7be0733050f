//! What leaves the machine: secrets and files that are sent.

use super::call::Call;
use super::finding::{RiskKind, ShellRisk};
use super::places::{is_secret, mentions_secret};

/// Programs that send what they are given.
const SENDERS: &[&str] = &[
    "curl", "wget", "http", "https", "httpie", "xh", "nc", "ncat", "netcat", "socat", "telnet",
    "scp", "sftp", "rsync", "ssh", "ftp", "rclone", "mail", "sendmail", "dig", "nslookup", "host",
    "ping",
];

/// Options of `curl` and `wget` whose value is sent, or names a file that is.
const DATA_OPTIONS: &[&str] = &[
    "-d",
    "--data",
    "--data-binary",
    "--data-raw",
    "--data-urlencode",
    "--data-ascii",
    "--json",
    "-F",
    "--form",
    "-T",
    "--upload-file",
    "--post-file",
    "--body-file",
    "--post-data",
];

/// Options whose value is a key to log in with, a file to write, or a setting.
const OWN_FILES: &[&str] = &[
    "-i",
    "-F",
    "-o",
    "-e",
    "-E",
    "-S",
    "-J",
    "-c",
    "-l",
    "-p",
    "-P",
    "--rsh",
    "--exclude",
    "--exclude-from",
    "--include",
    "--files-from",
    "--filter",
];

/// Whether a program, named without its folder, sends what it is given to another machine.
pub(crate) fn is_sender(name: &str) -> bool {
    SENDERS.contains(&name)
}

/// Dangers of a single command.
pub(crate) fn of_call(call: &Call) -> Option<ShellRisk> {
    if !call.is(SENDERS) {
        return None;
    }
    if let Some(secret) = call.read().chain(sent_words(call)).find(|text| mentions_secret(text)) {
        return Some(secrets_sent(call.name, secret));
    }
    let file = call.is(&["curl"]).then(|| uploaded(call)).flatten()?;
    Some(ShellRisk::high(RiskKind::SendsFile, format!("`curl` sends `{file}` to another machine")))
}

/// Dangers of commands connected by pipes: a secret at one end, a sender at the other.
pub(crate) fn of_pipeline(calls: &[Call]) -> Option<ShellRisk> {
    let last = calls.iter().rposition(|call| call.is(SENDERS) && call.command.reads_pipe)?;
    let sender = calls.get(last)?;
    calls.get(..last)?.iter().find_map(|call| {
        let whole_environment =
            call.is(&["env", "printenv", "export", "set"]) && call.operands().next().is_none();
        if whole_environment {
            return Some(secrets_sent(sender.name, "the environment"));
        }
        let secret = call.texts().chain(call.read()).find(|text| is_secret(text))?;
        Some(secrets_sent(sender.name, secret))
    })
}

fn secrets_sent(name: &str, secret: &str) -> ShellRisk {
    ShellRisk::critical(
        RiskKind::SendsSecrets,
        format!("`{name}` sends `{secret}` to another machine"),
    )
}

/// The words whose content goes out; keys to log in with stay here.
fn sent_words<'a>(call: &Call<'a>) -> Vec<&'a str> {
    let mut sent: Vec<&str> = call.unknown().collect();
    match call.name {
        "curl" | "wget" => sent.extend(call.values_of(DATA_OPTIONS)),
        "http" | "https" | "httpie" | "xh" => {
            sent.extend(call.operands().filter(|text| text.contains('@')));
        }
        "scp" | "rsync" | "sftp" | "rclone" => {
            let mut words: Vec<&str> = Vec::new();
            let mut texts = call.texts();
            while let Some(text) = texts.next() {
                if OWN_FILES.contains(&text) {
                    texts.next();
                } else if !text.starts_with('-') {
                    words.push(text);
                }
            }
            let target = words.pop();
            if target.is_some_and(|target| target.contains(':')) {
                sent.extend(words);
            }
        }
        _ => {}
    }
    sent
}

/// The file that `curl` uploads, if it does.
fn uploaded<'a>(call: &Call<'a>) -> Option<&'a str> {
    let whole = call.values_of(&["-T", "--upload-file"]).into_iter().find(|file| *file != "-");
    whole.or_else(|| {
        let data = call.values_of(&[
            "-d",
            "--data",
            "--data-binary",
            "--data-urlencode",
            "--data-ascii",
            "--json",
            "-F",
            "--form",
        ]);
        data.into_iter().find_map(|text| {
            let file =
                text.strip_prefix('@').or_else(|| text.split_once("=@").map(|(_, file)| file))?;
            (file != "-").then_some(file)
        })
    })
}
