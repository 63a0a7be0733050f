//! Asking a person, and holding them to exactly what they were shown.

use std::borrow::Cow;
use std::iter;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;
use smol_str::{SmolStr, format_smolstr};
use toolgate_policy::propose::Proposed;
use toolgate_policy::rule::Sandbox;
use toolgate_policy::shell::{self, Part};
use toolgate_policy::verdict::FloorKind;
use toolgate_policy::{Access, Decision, Level, Place, Verdict};

use super::choosing::choose;
use super::contain::contained;
use super::frozen::Frozen;
use super::hooks;
use super::judge::{denied, judge, judge_again};
use super::parts::Parts;
use super::prepare;
use super::stage::{Judged, Rejected, Validated};
use super::timing::millis;
use super::trail;
use crate::approval::{
    Answer, Answered, ApprovalId, ApprovalRequest, Digest, GivenRule, JsonText, Proposal, Reply,
    ShownAccess, ShownCommand, ShownPlace, ShownReach, Span,
};
use crate::context::Lasts;
use crate::error::{ErrorKind, ToolError};
use crate::event::Event;
use crate::journal::Footprint;
use crate::ledger::EntryKind;
use crate::tool::{Location, Preview};
use crate::visible;

/// Larger files may be too large for a journal, in bytes.
const MOST_KEPT: u64 = 512 * 1024 * 1024;
/// How often a person is asked again about a call that keeps changing.
const ROUNDS: usize = 5;
/// The maximum length of the permissions that an error names.
const PERMISSIONS_BYTES: usize = 1_000;

/// A call that a person approved, as it is now.
#[derive(Debug)]
pub(super) struct Approved {
    pub(super) judged: Judged,
    /// What the approval is bound to.
    pub(super) digest: Digest,
    /// The files that it is bound to, as they were.
    pub(super) frozen: Frozen,
}

/// Asks until somebody approves or refuses what would really run.
pub(super) async fn ask(parts: &Parts, mut judged: Judged) -> Result<Approved, Rejected> {
    let mut again = None;
    for _ in 0..ROUNDS {
        if !parts.approvals.is_anybody_there() {
            let proposals = proposals(parts, &judged.call);
            let error = nobody(&judged.verdict).allowed_by(permissions(&proposals));
            return Err(judged.reject(error));
        }
        let asked = match Asked::prepare(parts, &judged, again).await {
            Ok(Some(asked)) => asked,
            Ok(None) => {
                judged = look_again(parts, judged)?;
                again = Some("it changed while the question was prepared");
                continue;
            }
            Err(error) => return Err(judged.reject(error)),
        };
        // Whoever looks at the ledger meanwhile sees what is waited for.
        if let Err(error) = parts.note(judged.call.trail.take()) {
            return Err(judged.reject(error));
        }
        let reply = asked.put(parts, &mut judged).await;
        let answer = match answer(reply, &judged.verdict) {
            Ok(answer) => answer,
            Err(error) if is_unanswered(&error) => {
                let error = error.allowed_by(permissions(&asked.request.proposals));
                return Err(judged.reject(error));
            }
            Err(error) => return Err(judged.reject(error)),
        };
        if let Answer::Edit { args } = answer {
            judged = edited(parts, judged, args).await?;
            match judged.verdict.decision {
                Decision::Allow => return approved(judged).await,
                Decision::Deny => return Err(denied(judged)),
                Decision::Ask => {
                    again = Some("you changed the arguments");
                    continue;
                }
            }
        }
        judged = look_again(parts, judged)?;
        if judged.verdict.decision == Decision::Deny {
            return Err(denied(judged));
        }
        let now = match Frozen::of(&judged.call, &judged.verdict).await {
            Ok(now) => now,
            Err(error) => return Err(judged.reject(error)),
        };
        if now.digest() == asked.frozen.digest() {
            let (mut judged, digest) = match answer.reach() {
                Some(chosen) => choose(parts, judged, &now, chosen)?,
                None => (judged, now.digest()),
            };
            asked.keep_grant(parts, &mut judged, &answer).await;
            return Ok(Approved { judged, digest, frozen: now });
        }
        again = Some("it changed after you were asked, so that answer is void");
    }
    let message = "what the call would change kept changing while somebody was asked; nothing was done, try again when it is quiet";
    Err(judged.reject(ToolError::new(ErrorKind::ApprovalDenied, message)))
}

/// What was asked, and what the answer is bound to.
struct Asked {
    frozen: Frozen,
    request: Arc<ApprovalRequest>,
}

impl Asked {
    /// Prepares the question; nothing when what it is about changed meanwhile.
    async fn prepare(
        parts: &Parts,
        judged: &Judged,
        again: Option<&str>,
    ) -> Result<Option<Self>, ToolError> {
        let Judged { call, verdict } = judged;
        let frozen = Frozen::of(call, verdict).await?;
        let mut request = request(parts, call, verdict, frozen.digest());
        // What was shown and what is frozen must be the same.
        if Frozen::of(call, verdict).await? != frozen {
            return Ok(None);
        }
        if let Some(again) = again {
            let again = format_smolstr!("asked again: {again}");
            request.reasons = iter::once(again).chain(request.reasons).collect();
        }
        Ok(Some(Self { frozen, request: Arc::new(request) }))
    }

    /// Puts the question to everybody who may answer.
    async fn put(&self, parts: &Parts, judged: &mut Judged) -> Reply {
        let request = &self.request;
        parts.events.emit(|| Event::ToolConfirmationRequest {
            id: request.id,
            call: request.call.clone(),
            description: request.description.to_string(),
            risk: request.risk,
            reason: request.reasons.first().map(SmolStr::to_string).unwrap_or_default(),
        });
        let asked = Instant::now();
        let cancellation = judged.call.context.cancellation();
        let patience = patience(parts, &judged.call).map(|patience| patience.min(left(request)));
        let reply = parts.approvals.ask(Arc::clone(request), cancellation, patience).await;
        parts.events.emit(|| Event::ToolConfirmationResponse {
            id: request.id,
            call: request.call.clone(),
            approved: is_yes(&reply),
        });
        let rule = match &reply {
            Reply::Answered(answered) => self.proposal(&answered.answer),
            _ => None,
        };
        let rule = rule.map(|(proposal, _)| proposal.permission.as_str());
        let waited = millis(asked.elapsed());
        parts.happened(&mut judged.call, EntryKind::Approval, |_| {
            trail::approval(&reply, waited, self.frozen.digest(), rule)
        });
        reply
    }

    /// The rule that an answer gives.
    fn proposal(&self, answer: &Answer) -> Option<(&Proposal, Span)> {
        let GivenRule { proposal, span } = answer.rule()?;
        Some((self.request.proposals.get(proposal)?, span))
    }

    /// Keeps the rule that an answer gives; without it, the call runs and others ask again.
    async fn keep_grant(&self, parts: &Parts, judged: &mut Judged, answer: &Answer) {
        let Some((proposal, span)) = self.proposal(answer) else { return };
        let proposal = match answer.reach() {
            Some(reach) => Cow::Owned(proposal.reaching(reach)),
            None => Cow::Borrowed(proposal),
        };
        match parts.grants.add(&self.request, &proposal, span).await {
            Ok(()) => {
                parts.happened(&mut judged.call, EntryKind::PolicyChanged, |_| {
                    trail::granted(&proposal, span)
                });
                parts.events.emit(|| Event::UpdatePolicy {
                    session: self.request.session.clone(),
                    rule: proposal.permission.to_string(),
                    span,
                });
            }
            Err(error) => tracing::warn!(error = %error.message, "a rule could not be kept"),
        }
    }
}

/// An answer that lets the call go on, or why it may not.
fn answer(reply: Reply, verdict: &Verdict) -> Result<Answer, ToolError> {
    match reply {
        Reply::Answered(Answered { answer: Answer::Deny { note }, .. }) => Err(refused(note)),
        Reply::Nobody | Reply::Answered(Answered { answer: Answer::Nobody, .. }) => {
            Err(nobody(verdict))
        }
        Reply::Answered(answered) => Ok(answered.answer),
        Reply::TimedOut => Err(timed_out()),
        Reply::Cancelled => Err(ToolError::cancelled()),
    }
}

fn is_yes(reply: &Reply) -> bool {
    let Reply::Answered(answered) = reply else { return false };
    !matches!(answered.answer, Answer::Deny { .. } | Answer::Nobody)
}

/// The same call, resolved and judged anew.
fn look_again(parts: &Parts, judged: Judged) -> Result<Judged, Rejected> {
    let args = judged.call.facts.args.clone();
    judge_again(parts, prepare::again(judged.call, args)?, &judged.verdict)
}

/// The call with other arguments, validated, shown to the hooks and judged anew.
async fn edited(parts: &Parts, judged: Judged, args: Value) -> Result<Judged, Rejected> {
    let call = prepare::again(judged.call, args)?;
    judge(parts, hooks::before(parts, call).await?)
}

async fn approved(judged: Judged) -> Result<Approved, Rejected> {
    match Frozen::of(&judged.call, &judged.verdict).await {
        Ok(frozen) => Ok(Approved { judged, digest: frozen.digest(), frozen }),
        Err(error) => Err(judged.reject(error)),
    }
}

fn request(parts: &Parts, call: &Validated, verdict: &Verdict, digest: Digest) -> ApprovalRequest {
    let safe = |text: &str| SmolStr::from(visible::question(&visible::line(text)));
    let preview = match call.invocation.preview(&call.context) {
        Preview::Nothing => arguments(call, verdict),
        Preview::Diff(text) => Preview::Diff(visible::question(&text)),
        Preview::Text(text) => Preview::Text(visible::question(&text)),
    };
    let (dangers, background) = dangers(call, verdict);
    let now = SystemTime::now();
    ApprovalRequest {
        id: ApprovalId::generate(),
        call: call.context.call().clone(),
        session: call.session.id().clone(),
        asker: call.facts.caller.as_deref().map(|caller| safe(caller).as_str().into()),
        workspace: call.session.shown_root().clone(),
        tool: call.tool.definition().name.as_str().into(),
        title: safe(&call.tool.definition().title),
        description: safe(&call.description),
        risk: verdict.risk,
        reasons: verdict.reasons.iter().chain(&background).map(|reason| safe(reason)).collect(),
        rule: verdict.rule.as_ref().map(|rule| safe(&rule.to_string()).as_str().into()),
        guarded: is_guarded(verdict),
        undoable: is_undoable(parts, call),
        dangers: dangers.iter().map(|danger| safe(danger)).collect(),
        places: call.locations.iter().map(|place| shown_place(call, place)).collect(),
        commands: shown_commands(call),
        reach: shown_reach(verdict),
        preview,
        args: JsonText::from(&call.facts.args),
        proposals: proposals(parts, call),
        goes_on: call.session.lasts() != Lasts::OneCall,
        asked_at: now,
        expires_at: patience(parts, call).and_then(|patience| now.checked_add(patience)),
        digest,
    }
}

/// Returns the arguments as the preview of a call that shows nothing else, unless its description
/// contains all of them. Of a command, the line is the description.
fn arguments(call: &Validated, verdict: &Verdict) -> Preview {
    let args = &call.facts.args;
    let is_told = match call.tool.definition().origin {
        Some(_) => args.as_object().is_some_and(serde_json::Map::is_empty),
        None => verdict.profile().is_some() || is_told(args, &call.description),
    };
    if is_told {
        return Preview::Nothing;
    }
    let text = serde_json::to_string_pretty(args).unwrap_or_default();
    Preview::Text(visible::question(&text))
}

/// Returns `true` if a description contains every value of some arguments as it is.
fn is_told(args: &Value, description: &str) -> bool {
    match args {
        Value::Object(fields) => fields.values().all(|value| is_told(value, description)),
        Value::Array(items) => items.iter().all(|value| is_told(value, description)),
        Value::String(text) => description.contains(text.as_str()),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

/// Returns the dangers of a call, and what else can interfere with it. What can interfere with an
/// unconfined command is a danger.
fn dangers(call: &Validated, verdict: &Verdict) -> (Vec<String>, Vec<String>) {
    let mut dangers: Vec<String> = verdict.risks.iter().map(|risk| risk.message.clone()).collect();
    let name = call.tool.definition().name.as_str();
    let found = contained(name, || call.invocation.interference(&call.context));
    let found = found.unwrap_or_default();
    let is_unconfined = verdict.profile().is_some_and(|profile| profile.sandbox == Sandbox::Full)
        || verdict.level == Some(Level::None);
    if is_unconfined {
        dangers.extend(found);
        return (dangers, Vec::new());
    }
    (dangers, found)
}

/// Returns `true` if a call only edits files in the workspace and can be taken back.
fn is_undoable(parts: &Parts, call: &Validated) -> bool {
    let is_small = |path: &Path| path.metadata().map_or(0, |found| found.len()) <= MOST_KEPT;
    let is_edit = |place: &Location| match place {
        Location::Path(path) => {
            path.place != Place::Outside
                && path.access != Access::Delete
                && is_small(&path.resolved)
        }
        _ => false,
    };
    parts.journal.is_some()
        && call.tool.definition().origin.is_none()
        && !call.locations.is_empty()
        && call.locations.iter().all(is_edit)
        && matches!(call.invocation.footprint(&call.context), Footprint::Files(files) if !files.is_empty())
}

/// How long a person may take.
fn patience(parts: &Parts, call: &Validated) -> Option<Duration> {
    call.context.patience().or(parts.settings.approval_timeout)
}

/// How long it is until a request expires, so that it does everywhere at the same time.
fn left(request: &ApprovalRequest) -> Duration {
    let left = request.expires_at.map(|end| end.duration_since(SystemTime::now()));
    left.map_or(Duration::MAX, Result::unwrap_or_default)
}

/// Whether something asks that no ordinary rule lowers, besides the mode and the workspace, which
/// ask about harmless things, too.
fn is_guarded(verdict: &Verdict) -> bool {
    let usual = |kind: FloorKind| matches!(kind, FloorKind::Mode | FloorKind::Workspace);
    verdict.floors.iter().any(|floor| !usual(floor.kind))
}

fn shown_place(call: &Validated, place: &Location) -> ShownPlace {
    let plain = |shown: &str, access: ShownAccess| ShownPlace {
        shown: visible::question(&visible::line(shown)).into(),
        access,
        really: None,
        outside: false,
    };
    match place {
        Location::Path(path) => {
            let moved = path.requested != path.resolved;
            let workspace = call.session.workspace();
            ShownPlace {
                shown: visible::question(&workspace.shown(&path.requested)).into(),
                access: shown_access(path.access),
                really: moved.then(|| visible::question(&visible::path(&path.resolved)).into()),
                outside: path.place == Place::Outside,
            }
        }
        Location::Program(path) => plain(&visible::path(path), ShownAccess::Run),
        Location::Url(url) => plain(url, ShownAccess::Fetch),
        Location::Command(line) => plain(line, ShownAccess::Run),
    }
}

fn shown_access(access: Access) -> ShownAccess {
    match access {
        Access::Read => ShownAccess::Read,
        Access::Write => ShownAccess::Write,
        Access::Delete => ShownAccess::Delete,
    }
}

/// What each command of a line may do.
fn shown_commands(call: &Validated) -> Box<[ShownCommand]> {
    let safe = |text: &str| SmolStr::from(visible::question(&visible::line(text)));
    let line = match call.facts.tool.as_str() {
        "shell" => call.facts.args.get("command").and_then(Value::as_str),
        _ => None,
    };
    let parts = line.map(shell::parts).unwrap_or_default();
    let shown = |part: Part| ShownCommand { command: safe(&part.command), may: safe(&part.may) };
    parts.into_iter().map(shown).collect()
}

/// What a command would run with.
fn shown_reach(verdict: &Verdict) -> Option<Box<ShownReach>> {
    Some(Box::new(ShownReach::new(verdict.profile()?, verdict.level?)))
}

/// Rules that would answer this and others like it.
fn proposals(parts: &Parts, call: &Validated) -> Box<[Proposal]> {
    let world = parts.world(call);
    let proposed = contained("policy", || parts.policy.proposals(&call.facts, &world));
    let shown = |proposed: Proposed| Proposal {
        permission: visible::question(&visible::line(&proposed.permission)).into(),
        permissions: proposed.permissions.into_iter().map(SmolStr::from).collect(),
        meaning: visible::question(&visible::line(&proposed.meaning)).into(),
        reach: proposed.reach.map(Box::new),
        folder: proposed.folder.map(SmolStr::from),
    };
    // Without them the person can still answer.
    proposed.unwrap_or_default().into_iter().map(shown).collect()
}

/// Returns the permissions of the narrowest proposed rule, if they can be typed as they are shown.
fn permissions(proposals: &[Proposal]) -> Vec<String> {
    let permissions = proposals.first().map_or(&[][..], |proposal| &proposal.permissions);
    let length: usize = permissions.iter().map(SmolStr::len).sum();
    let is_plain = |permission: &SmolStr| {
        let shown = visible::line(permission);
        visible::question(&shown) == permission.as_str()
    };
    if length > PERMISSIONS_BYTES || !permissions.iter().all(is_plain) {
        return Vec::new();
    }
    permissions.iter().map(SmolStr::to_string).collect()
}

fn is_unanswered(error: &ToolError) -> bool {
    matches!(error.kind, ErrorKind::ApprovalRequired | ErrorKind::ApprovalTimeout)
}

fn timed_out() -> ToolError {
    ToolError::new(
        ErrorKind::ApprovalTimeout,
        "nobody answered in time, which counts as no; ask again when somebody is there",
    )
}

fn refused(note: Option<String>) -> ToolError {
    let message = match note {
        Some(note) => format!("a person refused: {}", visible::line(&note)),
        None => "a person refused; do not try the same call again".to_owned(),
    };
    ToolError::new(ErrorKind::ApprovalDenied, message)
}

fn nobody(verdict: &Verdict) -> ToolError {
    let message = format!(
        "this needs a person's approval and nobody can be asked: {}. Run it where somebody can answer, or in a mode that allows it",
        verdict.reason(),
    );
    ToolError::new(ErrorKind::ApprovalRequired, message)
}
