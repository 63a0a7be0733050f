//! Running a project's own command.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{MemfdFlags, memfd_create};
use tokio_util::sync::CancellationToken;
use toolgate_core::policy::rule::Sandbox;
use toolgate_core::spawn::{Beyond, Order, Spawner, Status};
use toolgate_core::visible;
use toolgate_core::workspace::Workspace;

use crate::process::{MoreVariables, Stream, Why, environment, shell, watch};

/// A list of tools that takes longer is none.
pub(super) const SOON: Duration = Duration::from_secs(30);
/// More of what a command prints is not taken.
const MOST: usize = 16 * 1024 * 1024;
/// How much of what a command complains about is told.
const MOST_COMPLAINT: usize = 2_000;

/// Why a project's command came to nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum DiscoveryError {
    #[error("`{command}` cannot be run: {why}")]
    Start { command: String, why: String },
    #[error("`{command}` took longer than {} s", after.as_secs())]
    TimedOut { command: String, after: Duration },
    #[error("`{command}` was cancelled")]
    Cancelled { command: String },
    #[error("`{command}` ended with {how}{}", after_colon(complaint))]
    Failed { command: String, how: String, complaint: String },
    #[error("what `{command}` printed is no list of tools: {why}")]
    Nonsense { command: String, why: String },
}

fn after_colon(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() { String::new() } else { format!(": {text}") }
}

/// What a command printed.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) stdout: String,
}

/// Runs a command line in the workspace, with more arguments and with this on its standard input.
pub(super) async fn run(
    spawner: &Arc<dyn Spawner>,
    workspace: &Workspace,
    line: &str,
    args: &[&str],
    input: &[u8],
    limit: Duration,
    stop: &CancellationToken,
) -> Result<Ran, DiscoveryError> {
    let command = visible::line(line).into_owned();
    let failed = |why: String| DiscoveryError::Start { command: command.clone(), why };
    let shell = shell().ok_or_else(|| failed("bash is not installed".to_owned()))?;
    let stdin = held(input).map_err(|error| failed(error.to_string()))?;
    // What comes after the line is given to it as arguments, never read as part of it.
    let mut words = vec![OsString::from("-c"), format!("{line} \"$@\"").into(), "sh".into()];
    words.extend(args.iter().map(OsString::from));
    let order = Order {
        program: shell.to_owned(),
        args: words,
        folder: workspace.root().to_owned(),
        env: environment(&MoreVariables::default()),
        sandbox: Sandbox::Full,
        network: Vec::new(),
        roots: workspace.roots().map(Path::to_owned).collect(),
        unmasked: Vec::new(),
        beyond: Beyond::default(),
        scratch: "discovered".to_owned(),
        stdin: Some(Arc::new(stdin.into())),
    };
    let spawned = spawner.spawn(order).await.map_err(|error| failed(error.to_string()))?;
    let (mut stdout, mut complaint) = (String::new(), String::new());
    let take = |stream, text: &str| {
        let (kept, most) = match stream {
            Stream::Out => (&mut stdout, MOST),
            Stream::Err => (&mut complaint, MOST_COMPLAINT),
        };
        let room = most.saturating_sub(kept.len());
        kept.push_str(text.get(..text.floor_char_boundary(room)).unwrap_or_default());
    };
    let end = watch(spawned, Some(limit), stop, take).await;
    let end = end.map_err(|error| failed(error.to_string()))?;
    match (end.why, end.ended.status) {
        (Why::TimedOut, _) => Err(DiscoveryError::TimedOut { command, after: limit }),
        _ if stop.is_cancelled() => Err(DiscoveryError::Cancelled { command }),
        (_, Status::Exit(0)) => Ok(Ran { stdout }),
        (_, status) => {
            let how = match status {
                Status::Exit(code) => format!("exit code {code}"),
                Status::Signal(signal) => format!("signal {signal}"),
                Status::Lost => "nobody knows what".to_owned(),
            };
            // Some say on their output what is wrong.
            let said = if complaint.trim().is_empty() { &stdout } else { &complaint };
            let end = said.floor_char_boundary(MOST_COMPLAINT);
            let complaint = visible::text(said.get(..end).unwrap_or_default()).into_owned();
            Err(DiscoveryError::Failed { command, how, complaint })
        }
    }
}

/// Bytes that can be read as a file.
fn held(bytes: &[u8]) -> std::io::Result<File> {
    let mut file = File::from(memfd_create(c"toolgate-arguments", MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}
