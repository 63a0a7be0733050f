//! What exactly an approval is about.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use toolgate_policy::rule::Grant;
use toolgate_policy::{Access, Level, Verdict};

use super::contain::contained;
use super::stage::Validated;
use crate::approval::Digest;
use crate::error::{ErrorKind, ToolError};
use crate::tool::{Input, Location};
use crate::workspace::Fingerprint;

/// A call as it was when a person was shown it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frozen {
    /// The same for calls that do the same to the same things.
    digest: Digest,
    /// What stood at each path that matters; changes when anybody touches it.
    seen: Vec<Fingerprint>,
    /// The files that decide what the call does, and what stood there.
    inputs: Vec<(Input, Fingerprint)>,
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
    /// Files that decide what it does: by which name, where really, and what is in them.
    inputs: Vec<(Vec<u8>, Vec<u8>, &'a str)>,
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
        let (seen, inputs) = look(call).await?;
        let digest = digest(call, verdict, &seen, &inputs)?;
        Ok(Self { digest, seen, inputs })
    }

    /// Checks that everything the approval is bound to still has the content that was approved.
    ///
    /// # Errors
    ///
    /// Errors if something differs. The call must not run then.
    pub(super) async fn check(&self, call: &Validated) -> Result<(), ToolError> {
        let (seen, inputs) = look(call).await?;
        let is_same = |(before, now): (&Fingerprint, &Fingerprint)| before.content == now.content;
        let same_inputs = inputs.len() == self.inputs.len()
            && self
                .inputs
                .iter()
                .zip(&inputs)
                .all(|((before, then), (now, seen))| before == now && is_same((then, seen)));
        if same_inputs && seen.len() == self.seen.len() && self.seen.iter().zip(&seen).all(is_same)
        {
            return Ok(());
        }
        let differs = |at: &usize| self.inputs.get(*at) != inputs.get(*at);
        let first = (0..inputs.len().max(self.inputs.len())).find(differs);
        let named = first.and_then(|at| inputs.get(at).or(self.inputs.get(at)));
        let what = named.map_or_else(
            || "a file that it touches".to_owned(),
            |(input, _)| format!("`{}`", call.session.workspace().shown(&input.named)),
        );
        Err(ToolError::new(
            ErrorKind::ApprovalDenied,
            format!(
                "nothing ran: {what} changed between the approval and the start, so the approval is void; ask again"
            ),
        ))
    }

    /// What stands for the same call, as it was seen, with another grant.
    pub(super) fn granting(
        &self,
        call: &Validated,
        verdict: &Verdict,
    ) -> Result<Digest, ToolError> {
        digest(call, verdict, &self.seen, &self.inputs)
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

/// Looks at the paths of a call whose content matters, and at the files that decide what it does.
async fn look(
    call: &Validated,
) -> Result<(Vec<Fingerprint>, Vec<(Input, Fingerprint)>), ToolError> {
    let session = Arc::clone(&call.session);
    let paths: Vec<PathBuf> = call.locations.iter().filter_map(bound).cloned().collect();
    let name = call.tool.definition().name.as_str();
    let inputs = contained(name, || call.invocation.inputs(&call.context))?;
    let looking = move || {
        let workspace = session.workspace();
        let seen = paths.iter().map(|path| workspace.fingerprint(path)).collect::<Vec<_>>();
        let with_content = |input: Input| {
            let seen = workspace.fingerprint(&input.real);
            (input, seen)
        };
        (seen, inputs.into_iter().map(with_content).collect::<Vec<_>>())
    };
    let looked = tokio::task::spawn_blocking(looking).await;
    looked.map_err(|_| unclear("looking at it failed inside"))
}

fn digest(
    call: &Validated,
    verdict: &Verdict,
    seen: &[Fingerprint],
    inputs: &[(Input, Fingerprint)],
) -> Result<Digest, ToolError> {
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
        inputs: inputs
            .iter()
            .map(|(input, seen)| (bytes(&input.named), bytes(&input.real), seen.content.as_str()))
            .collect(),
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
