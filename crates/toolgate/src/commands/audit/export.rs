//! `toolgate audit export`: the ledger for others to keep.

use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use toolgate_store::Audit;

use super::filter::FilterArgs;
use super::tail;
use crate::exit::{self, UsageError};
use crate::home;

/// Write the ledger as JSON lines
///
/// Each line is an entry; the last is {"head":"SEQ:HASH"}, which tells later
/// whether anything was cut off. With a filter there is no such line, and the
/// export cannot be verified.
#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    filter: FilterArgs,
    /// File to write, which must not be there yet; standard output when left out
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &ExportArgs) -> anyhow::Result<ExitCode> {
    let folder = home::state()?;
    let filter = args.filter.resolve()?;
    let Some(audit) = Audit::open(&folder)? else {
        exit::report(&tail::empty(&folder));
        return Ok(ExitCode::from(1));
    };
    let mut out: Box<dyn Write> = match &args.output {
        None => Box::new(BufWriter::new(io::stdout().lock())),
        Some(path) => {
            let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
            let file = file.map_err(|error| {
                UsageError(format!("cannot write `{}`: {error}", path.display()))
            })?;
            Box::new(BufWriter::new(file))
        }
    };
    match audit.export(&filter, &mut out) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(error) => Err(error).context("cannot export the ledger"),
        Ok(()) => Ok(ExitCode::SUCCESS),
    }
}
