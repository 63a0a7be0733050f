//! What exactly an approval is about.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use toolgate_policy::rule::Grant;
use toolgate_policy::{Access, Level, Verdict};

use super::stage::Validated;
use crate::approval::Digest;
use crate::error::{ErrorKind, ToolError};
use crate::tool::Location;
use crate::workspace::Fingerprint;

/// A call as it was when a person was shown it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frozen {
    /// The same for calls that do the same to the same things.
    digest: Digest,
    /// What stood at each path that matters; changes when anybody touches it.
    seen: Vec<Fingerprint>,
}

/// Everything an approval is bound to, in the order it is hashed.
#[derive(Serialize)]
struct Plan<'a> {
    tool: &'a str,
    /// The server it is of, and what that calls it.
    server: Option<(&'a str, &'a str)>,
    /// Says what the arguments mean, for tools whose schema may change.
    schema: &'a Value,
    args: &'a Value,
    workspace: Vec<Vec<u8>>,
    places: Vec<Place<'a>>,
    grant: &'a Grant,
    level: Option<Level>,
    /// The line that would run.
    judged: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Place<'a> {
    Path { requested: Vec<u8>, resolved: Vec<u8>, access: Access, content: Option<&'a str> },
    Program { path: Vec<u8>, content: Option<&'a str> },
    Url(&'a str),
    Command(&'a str),
}

impl Frozen {
    /// Looks at a call and at everything it would change.
    pub(super) async fn of(call: &Validated, verdict: &Verdict) -> Result<Self, ToolError> {
        let session = Arc::clone(&call.session);
        let paths: Vec<PathBuf> = call.locations.iter().filter_map(bound).cloned().collect();
        let looking = move || {
            let look = |path: &PathBuf| session.workspace().fingerprint(path);
            paths.iter().map(look).collect::<Vec<_>>()
        };
        let seen = tokio::task::spawn_blocking(looking).await;
        let seen = seen.map_err(|_| unclear("looking at it failed inside"))?;
        let digest = digest(call, verdict, &seen)?;
        Ok(Self { digest, seen })
    }

    /// What stands for the same call, as it was seen, with another grant.
    pub(super) fn granting(
        &self,
        call: &Validated,
        verdict: &Verdict,
    ) -> Result<Digest, ToolError> {
        digest(call, verdict, &self.seen)
    }

    /// What stands for all that is frozen.
    pub(super) fn digest(&self) -> Digest {
        self.digest
    }
}

/// The path whose content an approval is bound to.
fn bound(location: &Location) -> Option<&PathBuf> {
    match location {
        Location::Path(fact) if fact.access != Access::Read => Some(&fact.resolved),
        Location::Program(path) => Some(path),
        _ => None,
    }
}

fn digest(call: &Validated, verdict: &Verdict, seen: &[Fingerprint]) -> Result<Digest, ToolError> {
    let mut seen = seen.iter();
    let places = call.locations.iter().map(|location| {
        let content = bound(location).and_then(|_| seen.next()).map(|seen| seen.content.as_str());
        match location {
            Location::Path(fact) => Place::Path {
                requested: bytes(&fact.requested),
                resolved: bytes(&fact.resolved),
                access: fact.access,
                content,
            },
            Location::Program(path) => Place::Program { path: bytes(path), content },
            Location::Url(url) => Place::Url(url),
            Location::Command(line) => Place::Command(line),
        }
    });
    let definition = call.tool.definition();
    let plan = Plan {
        tool: definition.name.as_str(),
        server: definition.origin.as_ref().map(|of| (of.server.as_str(), of.tool.as_str())),
        schema: definition.schema.json(),
        args: &call.facts.args,
        workspace: call.session.workspace().roots().map(bytes).collect(),
        places: places.collect(),
        grant: &verdict.grant,
        level: verdict.level,
        judged: verdict.judged.as_deref(),
    };
    let canonical = serde_json_canonicalizer::to_vec(&plan)
        .map_err(|error| unclear(&format!("it cannot be written down: {error}")))?;
    Ok(Digest::of(&canonical))
}

fn bytes(path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt as _;

    path.as_os_str().as_bytes().to_vec()
}

fn unclear(why: &str) -> ToolError {
    ToolError::new(
        ErrorKind::ApprovalDenied,
        format!(
            "nobody can be asked about this call, because what it would change is unclear: {why}"
        ),
    )
}
