//! `toolgate doctor`: what works here, and how to fix what does not.

mod approvals;
mod config;
mod disk;
mod environment;
mod mode;
mod permissions;
mod policies;
mod report;
mod sandbox;
mod store;
mod trust;
mod workspace;

use std::process::ExitCode;

use self::report::Report;
use crate::app;
use crate::global::GlobalArgs;

/// Show what works here, and how to fix what does not
///
/// Tries the sandbox, and looks at the store, settings, policies and the mode
/// in force, the settings this folder brings, trusted folders and the
/// environment. Ends with 1 when something is broken; warnings do not count.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct DoctorArgs {}

pub(crate) fn run(global: &GlobalArgs) -> anyhow::Result<ExitCode> {
    let workspace = app::workspace(global)?;
    let (policies, mode) = policies::look(global, &workspace);
    let mut topics = vec![
        store::look(),
        config::look(),
        policies,
        workspace::look(&workspace),
        trust::look(workspace.root()),
        environment::look(&workspace),
        approvals::look(),
        disk::look(&workspace),
    ];
    // The canary leaves a note in the store's folder, so it comes after whoever looks there.
    let (level, sandbox) = sandbox::look();
    topics.insert(0, sandbox);
    let set = mode.as_ref().map(|(mode, file)| (*mode, file.as_path()));
    topics.insert(1, mode::look(global, set, level));
    let report = Report { level, topics };
    report.print(global.json)?;
    Ok(ExitCode::from(u8::from(report.is_broken())))
}
