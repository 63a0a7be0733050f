//! Guarded files that a git command would change in the middle of its work.
//!
//! Inside of a sandbox git cannot replace a tracked `.vscode/settings.json`. It would notice when
//! other files are replaced already, and leave a work tree that is neither the old nor the new one.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use toolgate_core::context::CallContext;
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::policy::floor::protected::governing_part;
use toolgate_core::policy::rule::Sandbox;
use toolgate_core::policy::shell::{Command, git_without_globals};
use toolgate_core::result::ToolResult;
use toolgate_core::spawn::{Beyond, Order};

use super::launch::{Launch, commands};
use super::missing::Missing;
use super::watch::watch;

/// How long the look may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Prints the top of the repository, then the names that differ between two revisions.
const LOOK: &str = "git rev-parse --show-toplevel && git --no-pager diff --no-ext-diff --no-textconv \
    --name-only --no-renames -z \"$@\" --";

/// Returns the result of a line that would have to change guarded files, which did not run.
/// Returns nothing if it may run.
pub(crate) async fn refuse_overwriting(
    launch: &Launch<'_>,
    context: &CallContext,
) -> Option<ToolResult> {
    let reach = context.reach();
    if reach.sandbox != Sandbox::WorkspaceWrite {
        return None;
    }
    let mut guarded: Vec<PathBuf> = Vec::new();
    for command in commands(launch.line) {
        if let Some(revisions) = compared(&command) {
            guarded.extend(differing(launch, &revisions, context).await);
        }
    }
    guarded.retain(|path| !reach.write.iter().any(|allowed| path.starts_with(allowed)));
    guarded.dedup();
    if guarded.is_empty() {
        return None;
    }
    let shown: Vec<String> =
        guarded.iter().map(|path| format!("`{}`", context.workspace().shown(path))).collect();
    let missing = Missing::Write(guarded);
    let message = format!(
        "nothing ran: git would have to replace {}, which governs other programs and cannot be changed inside the sandbox. {}",
        shown.join(", "),
        missing.next(context)
    );
    let result = ToolResult::failed(ToolError::new(ErrorKind::SandboxError, message));
    Some(
        result
            .with_structured(serde_json::json!({ "retry_with": missing.spelled(context) }))
            .with_retry(Some(missing.parameters())),
    )
}

/// The guarded files that differ between revisions.
async fn differing(
    launch: &Launch<'_>,
    revisions: &[String],
    context: &CallContext,
) -> Vec<PathBuf> {
    let Some(spawner) = context.spawner() else { return Vec::new() };
    let Ok(mut order) = launch.order(context) else { return Vec::new() };
    order.args = ["-c", LOOK, "git"].map(OsString::from).to_vec();
    order.args.extend(revisions.iter().map(OsString::from));
    order = Order {
        program: super::shells::shell().unwrap_or(&order.program).to_owned(),
        sandbox: Sandbox::ReadOnly,
        network: Vec::new(),
        beyond: Beyond::default(),
        unmasked: Vec::new(),
        ..order
    };
    let Ok(spawned) = spawner.spawn(order).await else { return Vec::new() };
    let mut printed = String::new();
    let take = |_, text: &str| printed.push_str(text);
    if watch(spawned, Some(PATIENCE), context.cancellation(), take).await.is_err() {
        return Vec::new();
    }
    let Some((top, names)) = printed.split_once('\n') else { return Vec::new() };
    let is_guarded = |name: &&str| governing_part(&name.to_lowercase(), None).is_some();
    names.split('\0').filter(is_guarded).map(|name| PathBuf::from(top).join(name)).collect()
}

/// The revisions whose difference a git command puts into the work tree.
fn compared(command: &Command) -> Option<Vec<String>> {
    if command.name() != Some("git") {
        return None;
    }
    let words = git_without_globals(&command.words);
    let words: Vec<&str> =
        words.iter().skip(1).map(|word| word.literal()).collect::<Option<_>>()?;
    let (subcommand, rest) = words.split_first()?;
    let mut operands = rest.iter().filter(|word| !word.starts_with('-'));
    let makes_branch = rest.iter().any(|word| matches!(*word, "-b" | "-B" | "-c" | "-C"));
    let target = match *subcommand {
        "checkout" | "switch" if makes_branch => operands.nth(1)?,
        "reset" if !rest.iter().any(|word| matches!(*word, "--hard" | "--merge" | "--keep")) => {
            return None;
        }
        _ => operands.next()?,
    };
    match *subcommand {
        "checkout" | "switch" | "reset" | "rebase" => {
            Some(vec!["HEAD".to_owned(), (*target).to_owned()])
        }
        "merge" => Some(vec![format!("HEAD...{target}")]),
        "cherry-pick" | "revert" => Some(vec![format!("{target}^"), (*target).to_owned()]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compared_is_what_git_puts_into_the_work_tree() {
        let of = |line: &str| {
            let words = commands(line).first().and_then(compared);
            words.map(|words| words.join(" "))
        };
        for (line, expected) in [
            ("git checkout main", Some("HEAD main")),
            ("git switch -c new origin/x", Some("HEAD origin/x")),
            ("git checkout -b new", None),
            ("git merge --no-ff topic", Some("HEAD...topic")),
            ("git -C . reset --hard HEAD~2", Some("HEAD HEAD~2")),
            ("git reset HEAD~2", None),
            ("git cherry-pick abc", Some("abc^ abc")),
            ("git status", None),
            ("make checkout", None),
        ] {
            assert_eq!(of(line).as_deref(), expected, "{line}");
        }
    }
}
