//! Finding out what can be enforced here, by trying.

pub(crate) mod findings;

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

use rustix::net::RecvFlags;
use serde::{Deserialize, Serialize};
use toolgate_policy::Level;
use toolgate_policy::rule::Sandbox;

use crate::channel;
use crate::link::Link;
use crate::settings::Settings;
use crate::wire::{Confinement, ExitedWith, Failure, Network, Plan, Program, Raw, Report};

/// What is remembered from one run to the next.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Remembered {
    key: String,
    level: Level,
}

/// The highest level that a canary did not get out of.
pub(crate) fn level(settings: &Settings, link: &Link) -> Level {
    let file = settings.state.join("sandbox-level.json");
    let key = key(settings);
    let remembered = fs::read(&file).ok().and_then(|text| serde_json::from_slice(&text).ok());
    if let Some(Remembered { key: known, level }) = remembered
        && known == key
    {
        return level;
    }
    let levels = [Level::Namespaces, Level::Landlock];
    let mut levels = levels.into_iter().filter(|level| *level <= settings.at_most);
    let level = levels.find(|level| attempt(settings, link, *level).is_ok());
    let level = level.unwrap_or_default();
    if let Ok(text) = serde_json::to_vec(&Remembered { key, level }) {
        // Next time it takes a moment again.
        fs::write(file, text).ok();
    }
    level
}

/// Has a canary try to get out of a level.
///
/// # Errors
///
/// Why the level is not reached.
pub(crate) fn attempt(settings: &Settings, link: &Link, level: Level) -> Result<(), String> {
    let cage = settings.state.join(format!("canary-{}", std::process::id()));
    let report = prepare(&cage)
        .and_then(|()| link.ask(&plan(settings, &cage, level), None))
        .and_then(|ends| {
            loop {
                let message = channel::receive(&ends.control, RecvFlags::empty())?;
                match serde_json::from_slice(&message.bytes)? {
                    Report::Accepted | Report::Started => {}
                    end => break Ok(end),
                }
            }
        });
    fs::remove_dir_all(&cage).ok();
    match report.map_err(|error| format!("the helper process cannot be reached: {error}"))? {
        Report::Ended { status: ExitedWith::Code(0), .. } => Ok(()),
        Report::Failed(Failure::Sandbox(why) | Failure::Program(why)) => Err(why),
        other => Err(format!("the canary ended unexpectedly: {other:?}")),
    }
}

fn prepare(cage: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(cage.join("hidden"))?;
    fs::write(cage.join("hidden/secret"), "")?;
    fs::write(cage.join("visible"), "")
}

fn plan(settings: &Settings, cage: &Path, level: Level) -> Plan {
    let confinement = Confinement {
        level,
        profile: Sandbox::ReadOnly,
        proxied: false,
        forwarded: Vec::new(),
        network: Network::Own,
        login: None,
        roots: vec![Raw::from(cage.to_owned())],
        write: Vec::new(),
        caches: Vec::new(),
        copies: cage.join("caches").into(),
        read: Vec::new(),
        denied: Vec::new(),
        guarded: Vec::new(),
        unmasked: Vec::new(),
        hidden: vec![Raw::from(cage.join("hidden"))],
        home: settings.home.clone().map(Raw::from),
        scratch: cage.join("scratch").into(),
        locks: cage.join("locks").into(),
        surveys: Vec::new(),
    };
    let visible = cage.join("visible").into();
    let secret = cage.join("hidden/secret").into();
    Plan {
        program: Program::Canary { visible, secret },
        folder: Raw::from("/"),
        env: Vec::new(),
        confinement: Some(confinement),
    }
}

/// What an answer holds for: this start of this kernel, this user, this helper.
fn key(settings: &Settings) -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    let helper = settings.helper.as_deref().unwrap_or(Path::new("/proc/self/exe"));
    let (path, metadata) = (fs::canonicalize(helper), fs::metadata(helper));
    let helper = metadata.map(|metadata| {
        format!("{:?} {} {}.{}", path, metadata.len(), metadata.mtime(), metadata.mtime_nsec())
    });
    [
        read("/proc/sys/kernel/random/boot_id"),
        read("/proc/sys/kernel/osrelease"),
        rustix::process::geteuid().as_raw().to_string(),
        helper.unwrap_or_default(),
        settings.at_most.to_string(),
        format!("{}", settings.home.as_deref().unwrap_or(Path::new("")).display()),
    ]
    .join("\n")
}
