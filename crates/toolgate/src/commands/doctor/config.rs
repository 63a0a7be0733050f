//! The user's settings.

use std::io;
use std::path::Path;

use toolgate_core::redact::Redactor;
use toolgate_core::visible;

use super::permissions;
use super::report::{Finding, Topic};
use crate::config;
use crate::owned;

const STOPPED: &str = "no call runs until it is mended";

pub(super) fn look() -> Topic {
    match config::path() {
        Ok(path) => Topic::new("config", findings(&path)).at(&path),
        Err(error) => {
            let fix = "set `TOOLGATE_HOME` to a folder to keep files in";
            let finding = Finding::broken("file", format!("{error:#}"), STOPPED, fix);
            Topic::new("config", vec![finding])
        }
    }
}

fn findings(path: &Path) -> Vec<Finding> {
    let text = match owned::read(path) {
        Ok(text) => text,
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            return vec![Finding::ok("file", "there is none, so everything is as usual")];
        }
        Err(error) => {
            let seen = format!("it cannot be read: {error}");
            return vec![Finding::broken("file", seen, STOPPED, "make it readable for you")];
        }
    };
    let mut findings = vec![understood(path, &text)];
    let means = "they decide what is written down about calls";
    findings.extend(permissions::changeable(path, means));
    findings
}

fn understood(path: &Path, text: &str) -> Finding {
    let config = match config::parse(text) {
        Ok(config) => config,
        Err(error) => {
            let (line, column) = place(text, error.span().map_or(0, |span| span.start));
            let message = error.message().replace('\n', ", ");
            let seen = format!("{}:{line}:{column}: {message}", visible::path(path));
            return Finding::broken("file", seen, STOPPED, "correct or remove that line");
        }
    };
    match Redactor::new(&config.ledger.redact) {
        Ok(_) => Finding::ok("file", "is understood"),
        Err(error) => {
            let seen = format!("`redact` in `[ledger]`: {error}");
            Finding::broken("redact", seen, STOPPED, "correct or remove that expression")
        }
    }
}

/// The line and column of a byte, counted from 1.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}
