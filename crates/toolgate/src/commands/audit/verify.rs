//! `toolgate audit verify`: whether anybody touched the ledger.

use std::fmt::Write as _;
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;
use toolgate_core::visible;
use toolgate_store::{Audit, Head, Verification, kept_head, verify_export};

use crate::exit::UsageError;
use crate::global::GlobalArgs;
use crate::home;
use crate::output::{print_json, print_text};

/// Find entries that were changed, taken out, put in or moved
///
/// That entries were cut off is told by the head in `ledger.head` beside the
/// ledger, by calls that other records know, and by what you kept elsewhere:
/// the number and hash this command prints, or an export.
///
/// Ends with 0 when nothing is wrong, with 1 otherwise.
#[derive(Debug, clap::Args)]
pub(crate) struct VerifyArgs {
    /// Head that was printed before: what led to it must still be there
    #[arg(long, value_name = "SEQ:HASH")]
    head: Option<Head>,
    /// Export that was made before: it must be sound, and what is in it still there
    #[arg(long, value_name = "FILE", conflicts_with = "head")]
    export: Option<PathBuf>,
}

pub(crate) fn run(global: &GlobalArgs, args: &VerifyArgs) -> anyhow::Result<ExitCode> {
    let mut sound = true;
    let mut head = args.head;
    if let Some(path) = &args.export {
        let shown = path.display();
        let file = File::open(path)
            .map_err(|error| UsageError(format!("cannot read `{shown}`: {error}")))?;
        let found = verify_export(BufReader::new(file))
            .map_err(|error| anyhow::anyhow!("`{shown}`: {error}"))?;
        sound &= found.is_sound();
        print(global, &format!("The export {shown}"), "export", &found)?;
        head = Some(found.head);
    }
    let folder = home::state()?;
    let heads: Vec<Head> = head.into_iter().chain(kept_head(&folder)).collect();
    let found = match Audit::open(&folder)? {
        Some(audit) => audit.verify(heads)?,
        None => Verification::of_nothing(heads),
    };
    sound &= found.is_sound();
    print(global, "The ledger", "ledger", &found)?;
    Ok(ExitCode::from(u8::from(!sound)))
}

fn print(global: &GlobalArgs, what: &str, name: &str, found: &Verification) -> anyhow::Result<()> {
    if global.json {
        let mut line = json!({ "checked": name, "sound": found.is_sound() });
        if let (Some(line), serde_json::Value::Object(found)) =
            (line.as_object_mut(), serde_json::to_value(found)?)
        {
            line.extend(found);
        }
        return print_json(&line);
    }
    let mut text = String::new();
    let entries = match found.entries {
        1 => "1 entry".to_owned(),
        many => format!("{many} entries"),
    };
    if found.is_sound() {
        writeln!(text, "{what} is sound: {entries}.")?;
        writeln!(text, "Head: {}", found.head)?;
    } else {
        writeln!(text, "{what} was tampered with or is damaged, {entries}:")?;
        for fault in &found.faults {
            match fault.seq {
                0 => writeln!(text, "  {}", fault.what)?,
                seq => writeln!(text, "  entry {seq}: {}", fault.what)?,
            }
        }
        if found.more_faults > 0 {
            writeln!(text, "  and {} more", found.more_faults)?;
        }
    }
    print_text(&visible::text(&text))
}
