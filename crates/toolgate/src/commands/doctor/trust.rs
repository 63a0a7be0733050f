//! The folders that may bring settings of their own.

use std::path::Path;

use toolgate_core::visible;

use super::permissions;
use super::report::{Finding, Topic, count, quoted};
use crate::home;
use crate::trust::{Answers, Brought, Entry, FILE, Standing, Trust};

pub(super) fn look(workspace: &Path) -> Topic {
    let Ok(config) = home::config() else { return Topic::new("trust", Vec::new()) };
    let file = config.join(FILE);
    let findings = match Answers::load(&file) {
        Ok(answers) => {
            let mut findings = vec![here(&answers, workspace, &config), others(&answers)];
            findings.extend(stale(&answers));
            if file.exists() {
                let means = "they can have a folder of theirs trusted";
                findings.extend(permissions::changeable(&file, means));
            }
            findings
        }
        Err(error) => {
            let means = "no call runs until it is mended";
            let fix = "correct it, or remove it to be asked again";
            vec![Finding::broken("file", format!("{error:#}"), means, fix)]
        }
    };
    Topic::new("trust", findings).at(&file)
}

fn here(answers: &Answers, workspace: &Path, config: &Path) -> Finding {
    let brought = Brought::by(workspace, config).filter(|brought| !brought.files.is_empty());
    match (answers.about(workspace), brought) {
        (Standing::Trusted(_), Some(brought)) => {
            let files = brought.count();
            Finding::ok("here", format!("this folder is trusted, and brings {files}"))
        }
        (Standing::Trusted(_), None) => Finding::ok("here", "this folder is trusted"),
        (Standing::Refused(entry), _) => {
            let given = visible::line(&entry.given);
            let seen = format!("this folder is not trusted, by the answer about `{given}`");
            Finding::ok("here", seen)
        }
        (Standing::Unknown, None) => {
            Finding::ok("here", "this folder is not trusted, and brings nothing")
        }
        (Standing::Unknown, Some(brought)) => Finding::warning(
            "here",
            format!(
                "this folder brings {}, and nobody has said whether to trust it",
                brought.count()
            ),
            "what it brings is not used",
            "look at it, then `toolgate trust add`, or `toolgate trust add --never`",
        ),
    }
}

fn others(answers: &Answers) -> Finding {
    let trusts = |entry: &Entry| matches!(entry.trust, Some(Trust::Folder | Trust::Parent));
    let trusted = answers.entries().filter(trusts).count();
    let seen = match (answers.entries.len(), trusted) {
        (0, _) => "no folder has an answer yet".to_owned(),
        (all, trusted) => {
            let folders = count(all, "folder has an answer", "folders have an answer");
            format!("{folders}, {trusted} trusted")
        }
    };
    Finding::ok("answers", seen)
}

/// Answers that say nothing any more.
fn stale(answers: &Answers) -> Vec<Finding> {
    let known: Vec<Entry> = answers.entries().collect();
    let stale = answers.entries.iter().filter_map(|(given, answer)| {
        let shown = visible::line(given);
        let remove = format!("toolgate trust remove {}", quoted(&shown));
        let entry = known.iter().find(|entry| entry.given == *given);
        let (what, means, fix) = if !Path::new(given).is_absolute() {
            let fix = format!("take `{shown}` out of the file");
            ("is no absolute path".to_owned(), "the answer is not used", fix)
        } else if !Path::new(given).exists() {
            let means = "a folder that is made there later would have this answer";
            ("is not there".to_owned(), means, remove)
        } else if entry.is_none() {
            ("has become a link".to_owned(), "the answer is not used", remove)
        } else if entry.is_some_and(|entry| entry.trust.is_none()) {
            let what = format!("has the answer {answer}, which is not understood");
            (what, "the folder is not trusted", remove)
        } else {
            return None;
        };
        Some(Finding::warning("answers", format!("`{shown}` {what}"), means, fix))
    });
    stale.collect()
}
