//! A question in the words of a form, and what its answers mean.

use std::fmt::Write as _;

use serde_json::{Value, json};
use toolgate_core::approval::{Answer, ApprovalRequest, ShownPlace, Span};
use toolgate_core::tool::Preview;

use super::link::Wanted;

/// How many lines of a preview are shown.
const PREVIEW_LINES: usize = 40;
/// Maximum number of characters of a preview that are shown.
const PREVIEW_CHARS: usize = 4_000;
/// Maximum number of characters of any other text that are shown.
const BOUNDED_CHARS: usize = 500;
/// How many things of a kind are named.
const MANY: usize = 8;
/// How long a note to the model may be.
const NOTE_CHARS: usize = 1_000;

/// The form that asks about a request.
pub(super) fn form(request: &ApprovalRequest) -> Option<Wanted> {
    let mut choices = vec!["once", "deny"];
    if !request.proposals.is_empty() {
        choices.insert(1, "session");
    }
    let form = json!({
        "method": "elicitation/create",
        "params": {
            "mode": "form",
            "message": message(request),
            "requestedSchema": {
                "type": "object",
                "properties": {
                    "decision": {
                        "type": "string",
                        "title": "Decision",
                        "description": "once: this call may run. session: and calls like it until the session ends. deny: it may not.",
                        "enum": choices,
                    },
                    "note": {
                        "type": "string",
                        "title": "Note",
                        "description": "Why not, or what to do instead. The model reads it.",
                        "maxLength": NOTE_CHARS,
                    },
                },
                "required": ["decision"],
            },
        },
    });
    match serde_json::from_value(form) {
        Ok(request) => Some(Wanted { name: "approval".to_owned(), request }),
        Err(error) => {
            tracing::warn!(%error, "a question could not be put into a form");
            None
        }
    }
}

/// What a person gave in answer. A form that was closed without one has no person in front of it;
/// whatever else does not clearly say yes is a no.
pub(super) fn answer(given: &Value, request: &ApprovalRequest) -> Answer {
    let text = |name: &str| given.pointer(name).and_then(Value::as_str);
    match text("/action") {
        Some("accept") => {}
        Some("decline") => return Answer::refuse(),
        // `cancel`, or nothing that the protocol knows.
        _ => return Answer::Nobody,
    }
    let note = text("/content/note").map(str::trim).filter(|note| !note.is_empty());
    let note = note.map(|note| note.chars().take(NOTE_CHARS).collect::<String>());
    match text("/content/decision") {
        Some("once") => Answer::Once,
        Some("session") if !request.proposals.is_empty() => {
            Answer::Grant { proposal: 0, span: Span::Session }
        }
        Some("deny") => Answer::Deny { note },
        _ => Answer::deny("the answer did not say what was decided"),
    }
}

/// What is asked, in plain text. Every value in it was made safe to show.
fn message(request: &ApprovalRequest) -> String {
    let mut text = format!("May this run? {}\n", bounded(&request.description));
    let mut say = |name: &str, value: &str| {
        // Writing to a string cannot fail.
        writeln!(text, "{name}: {}", bounded(value)).ok();
    };
    say("tool", &format!("{} ({})", request.title, request.tool));
    say("risk", &request.risk.to_string());
    for reason in request.reasons.iter().take(MANY) {
        say("why", reason);
    }
    if let Some(rule) = &request.rule {
        say("rule", rule);
    }
    if let Some(asker) = &request.asker {
        say("asked by", asker);
    }
    for danger in request.dangers.iter().take(MANY) {
        say("danger", danger);
    }
    for place in request.places.iter().take(MANY) {
        say(&place.access.to_string(), &where_it_is(place));
    }
    for command in request.commands.iter().take(MANY) {
        say("command", &format!("{} ({})", command.command, command.may));
    }
    if let Some(reach) = &request.reach {
        say("it runs", &reach.words);
        if let Some(missing) = &reach.missing {
            say("but", missing);
        }
    }
    let is_shortened = preview(&mut text, &request.preview) || is_cut(request);
    if is_shortened {
        writeln!(
            text,
            "Not all of it is shown here. `toolgate approvals show {}` shows all.",
            request.id
        )
        .ok();
    }
    if let Some(proposal) = request.proposals.first() {
        let (permission, meaning) = (bounded(&proposal.permission), bounded(&proposal.meaning));
        writeln!(text, "\n`session` also allows, until the session ends: {permission}: {meaning}")
            .ok();
    }
    text
}

fn where_it_is(place: &ShownPlace) -> String {
    let really = place.really.as_ref().map(|really| format!(", which is {really}"));
    let outside = if place.outside { " (outside of the workspace)" } else { "" };
    format!("{}{}{outside}", place.shown, really.unwrap_or_default())
}

/// Returns `true` if something of a request besides its preview is left out or cut.
fn is_cut(request: &ApprovalRequest) -> bool {
    let counts = [
        request.reasons.len(),
        request.places.len(),
        request.commands.len(),
        request.dangers.len(),
    ];
    let is_long = |text: &str| text.chars().nth(BOUNDED_CHARS).is_some();
    let commands = request.commands.iter().map(|command| command.command.as_str());
    let places = request.places.iter().map(|place| place.shown.as_str());
    let mut texts = commands
        .chain(places)
        .chain(request.reasons.iter().map(AsRef::as_ref))
        .chain(request.dangers.iter().map(AsRef::as_ref))
        .chain([request.description.as_str()]);
    counts.into_iter().any(|count| count > MANY) || texts.any(is_long)
}

/// Adds what the change looks like, behind bars, since it is somebody else's text. Returns `true`
/// if some of it is left out.
fn preview(text: &mut String, preview: &Preview) -> bool {
    let (Preview::Diff(shown) | Preview::Text(shown)) = preview else { return false };
    text.push('\n');
    let mut room = PREVIEW_CHARS;
    let mut taken = 0;
    for line in shown.lines().take(PREVIEW_LINES) {
        let part: String = line.chars().take(room).collect();
        room -= part.chars().count();
        let is_whole = part.len() == line.len();
        writeln!(text, "│ {part}{}", if is_whole { "" } else { "…" }).ok();
        taken += usize::from(is_whole);
        if !is_whole {
            break;
        }
    }
    let left = shown.lines().count() - taken;
    if left > 0 {
        let lines = if left == 1 { "line" } else { "lines" };
        writeln!(text, "({left} more {lines})").ok();
    }
    left > 0
}

fn bounded(text: &str) -> String {
    let mut short: String = text.chars().take(BOUNDED_CHARS).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
