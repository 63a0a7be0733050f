//! What happened, a line each.

use toolgate_core::ledger::EntryKind;
use toolgate_core::visible;
use toolgate_store::{Life, Record};

use crate::moment;

/// How wide a line may be.
const WIDTH: usize = 80;

/// How much of an id is shown.
const ID: usize = 12;

/// The names of the columns.
pub(super) fn titles() -> String {
    line("when", "call", "policy", "result", "what")
}

/// A call on a line.
pub(super) fn of_call(life: &Life) -> String {
    let began = life.began().map(moment::short).unwrap_or_default();
    let call = life.entries.first().and_then(|entry| entry.call.as_deref()).unwrap_or_default();
    line(&began, &short_id(call), life.decision().unwrap_or("-"), result(life), &what(life))
}

/// Something that did not happen to a call, on a line.
pub(super) fn of_entry(entry: &Record) -> String {
    let text = |name| entry.text(name).unwrap_or_default();
    let what = match entry.kind {
        EntryKind::PolicyChanged => format!("{} {}", text("change"), text("rule")),
        EntryKind::Undo => format!("of {}", text("of")),
        _ => entry.body.to_string(),
    };
    line(&moment::short(entry.at), "-", "-", entry.kind.name(), &what)
}

/// How a call ended, in a word.
pub(super) fn result(life: &Life) -> &'static str {
    match life.end().map(|end| end.kind) {
        None if life.last(EntryKind::Undo).is_some() => "done",
        None => "open",
        Some(EntryKind::Completed) if life.error().is_some() => "failed",
        Some(EntryKind::Completed) => "done",
        Some(kind) => kind.name(),
    }
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// What a call is about, in a few words.
pub(super) fn what(life: &Life) -> String {
    if let Some(undo) = life.last(EntryKind::Undo) {
        let count = |name| undo.body.get(name).and_then(|list| list.as_array()).map_or(0, Vec::len);
        return format!(
            "undo: {} of {}",
            counted(count("files"), "file"),
            counted(count("of"), "call")
        );
    }
    let tool = life.tool().unwrap_or("?");
    let description = life.last(EntryKind::Requested).and_then(|asked| asked.text("description"));
    match description {
        Some(description) if !description.is_empty() => format!("{tool}: {description}"),
        _ => tool.to_owned(),
    }
}

/// The end of an id, which tells ids made at about the same time apart.
pub(super) fn short_id(id: &str) -> String {
    let letters: Vec<char> = id.chars().collect();
    letters.iter().skip(letters.len().saturating_sub(ID)).collect()
}

fn line(when: &str, call: &str, policy: &str, result: &str, what: &str) -> String {
    let call = visible::question(&visible::line(call));
    let policy = visible::line(policy);
    let start = format!("{when:<11}  {call:<ID$}  {policy:<6}  {result:<11}  ");
    let what = visible::question(&visible::line(what));
    let room = WIDTH.saturating_sub(start.chars().count());
    format!("{start}{}", cut(&what, room)).trim_end().to_owned() + "\n"
}

/// Text within so many letters.
pub(super) fn cut(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    text.chars().take(room.saturating_sub(1)).chain(['…']).collect()
}
