//! What is taken out of whatever is written down.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use toolgate_core::redact::{Redactor, env_values};
use toolgate_store::Redact;

/// Files of a workspace whose values are secrets.
const FILES: &[&str] = &[
    ".env",
    ".env.local",
    ".env.development",
    ".env.development.local",
    ".env.production",
    ".env.production.local",
    ".env.staging",
    ".env.test",
    ".env.test.local",
    ".envrc",
];
/// No more of such a file is looked at.
const MOST: u64 = 256 * 1024;

/// Takes out what looks like a secret, and the values of the `.env` files of these folders. They
/// are read when something is written down for the first time.
pub(super) fn redact(redactor: Redactor, roots: Vec<PathBuf>) -> Redact {
    let complete = OnceLock::new();
    Arc::new(move |body| {
        let complete = complete.get_or_init(|| {
            let values = roots.iter().flat_map(|root| FILES.iter().map(|file| root.join(file)));
            redactor.clone().with_values(values.flat_map(|file| values_in(&file)))
        });
        complete.value(body);
    })
}

fn values_in(file: &Path) -> Vec<String> {
    let mut text = String::new();
    let is_file = file.metadata().is_ok_and(|metadata| metadata.is_file());
    let opened = is_file.then(|| File::open(file).ok()).flatten();
    let read = opened.map(|file| file.take(MOST).read_to_string(&mut text));
    if matches!(read, Some(Ok(_))) { env_values(&text) } else { Vec::new() }
}
