//! Running commands.

use std::sync::Arc;

use toolgate_core::id::InvalidToolName;
use toolgate_core::tool::{Tool, typed};

tools! {
    kill_shell::KillShell,
    shell::Shell,
    shell_output::ShellOutput,
}
