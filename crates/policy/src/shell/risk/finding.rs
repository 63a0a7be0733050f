//! What a risk is.

use serde::{Deserialize, Serialize};

use crate::effect::Risk;

/// Something dangerous about a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellRisk {
    /// What sort of thing it is.
    pub kind: RiskKind,
    /// How much harm it could do.
    pub severity: Risk,
    /// Whether a person may still say yes.
    pub phase: Phase,
    /// What was seen, in words for a person.
    pub message: String,
}

/// Sorts of risk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RiskKind {
    /// What comes from the network is run.
    NetworkToInterpreter,
    /// What is run was hidden by an encoding.
    EncodedPayload,
    /// A shell is handed to another machine.
    ReverseShell,
    /// The root, a system folder or the home folder is removed.
    RemovesRoot,
    /// The folder worked in, or all of it, is removed.
    RemovesWorkspace,
    /// A disk is written past its file system.
    DiskTool,
    /// More rights are taken or given.
    PrivilegeTool,
    /// A file is written that makes other programs act later.
    WritesStartUpFile,
    /// A file is written that holds keys or passwords.
    WritesCredentials,
    /// Secrets go to another machine.
    SendsSecrets,
    /// A file goes to another machine.
    SendsFile,
    /// Processes multiply without end.
    ForkBomb,
    /// Records of what happened are removed.
    LogTampering,
    /// A setting of git runs a program.
    GitSetting,
    /// A variable makes other programs run something.
    LoaderVariable,
}

/// What a risk leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// No honest work needs it.
    Deny,
    /// A person decides.
    Ask,
}

impl ShellRisk {
    /// A risk that no honest work needs.
    pub(crate) fn deny(kind: RiskKind, message: impl Into<String>) -> Self {
        Self { kind, severity: Risk::Critical, phase: Phase::Deny, message: message.into() }
    }

    /// A critical risk that a person decides about.
    pub(crate) fn critical(kind: RiskKind, message: impl Into<String>) -> Self {
        Self { kind, severity: Risk::Critical, phase: Phase::Ask, message: message.into() }
    }

    /// A high risk that a person decides about.
    pub(crate) fn high(kind: RiskKind, message: impl Into<String>) -> Self {
        Self { kind, severity: Risk::High, phase: Phase::Ask, message: message.into() }
    }
}
