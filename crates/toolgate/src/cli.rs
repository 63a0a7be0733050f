//! What can be typed.

use clap::{Parser, Subcommand};

use crate::commands::approvals::ApprovalsArgs;
use crate::commands::audit::AuditArgs;
use crate::commands::batch::BatchArgs;
use crate::commands::call::CallArgs;
use crate::commands::checkpoint::CheckpointArgs;
use crate::commands::completions::CompletionsArgs;
use crate::commands::doctor::DoctorArgs;
use crate::commands::goals::GoalsArgs;
use crate::commands::history::HistoryArgs;
use crate::commands::init::InitArgs;
use crate::commands::mcp::McpArgs;
use crate::commands::memory::MemoryArgs;
use crate::commands::policy::PolicyArgs;
use crate::commands::servers::ServersArgs;
use crate::commands::sh::ShArgs;
use crate::commands::todos::TodosArgs;
use crate::commands::tools::ToolsArgs;
use crate::commands::tour::TourArgs;
use crate::commands::trust::TrustArgs;
use crate::commands::undo::UndoArgs;
use crate::global::GlobalArgs;

/// Runs tools for language models, under the owner's rules.
///
/// Every call is validated, judged by policy, approved by a person where the
/// policy asks, executed, bounded and reported.
#[derive(Debug, Parser)]
#[command(name = "toolgate", version, max_term_width = 100, after_help = AFTER_HELP)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const AFTER_HELP: &str = "\
Exit codes: 0 done, 1 the tool reported an error, 2 bad usage or invalid arguments, 3 denied,
4 an approval was needed and nobody could be asked, 130 cancelled.

Examples:
  toolgate call grep '{\"pattern\":\"fn main\"}'
  toolgate --mode accept_edits call write_file '{\"path\":\"notes.txt\",\"content\":\"hello\\n\"}'
  toolgate sh -- ls -l
  toolgate tools show edit_file
  toolgate policy explain -- 'git status && rm -rf build'";

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Call(CallArgs),
    Sh(ShArgs),
    Batch(BatchArgs),
    Mcp(McpArgs),
    Servers(ServersArgs),
    Tools(ToolsArgs),
    #[command(visible_alias = "policies")]
    Policy(PolicyArgs),
    Approvals(ApprovalsArgs),
    Audit(Box<AuditArgs>),
    Undo(UndoArgs),
    History(HistoryArgs),
    Checkpoint(CheckpointArgs),
    Memory(MemoryArgs),
    Goals(GoalsArgs),
    Todos(TodosArgs),
    Trust(TrustArgs),
    Doctor(DoctorArgs),
    Tour(TourArgs),
    Init(InitArgs),
    Completions(CompletionsArgs),
}
