//! Coding agents, as clients of `toolgate mcp`. This is the one place that names their versions.

use std::env;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::mcp;
use super::packages::Packages;
use crate::workspace::Workspace;

/// From npm, with the node that runs those of them that are scripts.
pub(crate) const CLIENTS: Packages = Packages {
    name: "clients",
    variable: "TOOLGATE_TEST_CLIENTS",
    tests: "the tests with coding agents from npm",
    pinned: &[
        (mcp::NODE, mcp::NODE_VERSION),
        ("@anthropic-ai/claude-code", "2.1.326"),
        ("@openai/codex", "0.169.0"),
        ("@google/gemini-cli", "0.61.0"),
        ("@qwen-code/qwen-code", "0.24.4"),
        ("opencode-ai", "1.18.33"),
    ],
    install,
};

/// Installs the packages, and links each program to its name. Those that are native are linked
/// themselves, not the scripts that start them.
fn install(workspace: &Workspace, folder: &Path, packages: &Packages) -> Result<()> {
    mcp::npm_with_node(workspace, folder, packages)?;
    for (name, program) in programs() {
        let program = Path::new("node_modules").join(program);
        ensure!(folder.join(&program).exists(), "npm installed no `{}`", program.display());
        symlink(&program, folder.join(name)).with_context(|| format!("cannot link {name}"))?;
    }
    Ok(())
}

fn programs() -> [(&'static str, PathBuf); 5] {
    let (arch, opencode) = if cfg!(target_arch = "aarch64") {
        ("arm64", "opencode-linux-arm64")
    } else {
        // This one starts on older processors, too.
        ("x64", "opencode-linux-x64-baseline")
    };
    let codex =
        format!("@openai/codex-linux-{arch}/vendor/{}-unknown-linux-musl", env::consts::ARCH);
    [
        ("claude", format!("@anthropic-ai/claude-code-linux-{arch}/claude").into()),
        ("codex", format!("{codex}/bin/codex").into()),
        ("gemini", ".bin/gemini".into()),
        ("qwen", ".bin/qwen".into()),
        ("opencode", format!("{opencode}/bin/opencode").into()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_pinned() {
        for line in CLIENTS.list(" ").lines() {
            let (_, version) = line.split_once(' ').unwrap();
            assert!(version.split('.').count() >= 3, "{line}");
        }
    }
}
