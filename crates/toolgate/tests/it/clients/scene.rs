//! A workspace, a scripted model, and what a client needs to meet them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use toolgate_testing::processes;

use super::model::{Model, Script};
use crate::harness::Toolgate;
use crate::peers;
use crate::workshop::eventually;

/// Names the folder with the clients and their node.
const VARIABLE: &str = "TOOLGATE_TEST_CLIENTS";

/// Everything around a client.
#[derive(Debug)]
pub(super) struct Scene {
    pub(super) toolgate: Toolgate,
    pub(super) model: Model,
    folder: PathBuf,
}

/// The way from a client to the server.
#[derive(Debug)]
pub(super) enum Server {
    /// It starts this program.
    Program(PathBuf),
    /// It connects to this address with this token.
    Address { url: String, token: &'static str },
}

impl Scene {
    /// Sets everything up, or reports that the clients are not installed.
    pub(super) fn new(script: Script) -> Option<Self> {
        let folder = peers::installed(VARIABLE)?;
        let toolgate = Toolgate::new();
        fs::create_dir(toolgate.outside("home")).unwrap();
        fs::create_dir(toolgate.outside("bin")).unwrap();
        symlink(folder.join("node"), toolgate.outside("bin/node")).unwrap();
        Some(Self { toolgate, model: Model::start(script), folder })
    }

    /// Returns a client in the workspace, with a home and an environment of its own and no way to
    /// other machines.
    pub(super) fn client(&self, name: &str) -> Command {
        let mut command = Command::new(self.folder.join(name));
        command
            .current_dir(self.toolgate.path(""))
            .env_clear()
            .env("HOME", self.home(""))
            .env("PATH", format!("{}:/usr/bin:/bin", self.toolgate.outside("bin").display()))
            .env("TERM", "dumb")
            .env("NO_PROXY", "127.0.0.1");
        // Nothing listens at this port.
        for variable in ["HTTP_PROXY", "HTTPS_PROXY"] {
            command.env(variable, "http://127.0.0.1:9");
        }
        command
    }

    /// Returns a path in the client's home.
    pub(super) fn home(&self, relative: &str) -> PathBuf {
        self.toolgate.outside("home").join(relative)
    }

    /// Writes a file of settings into the client's home.
    pub(super) fn settings(&self, path: &str, settings: &Value) {
        self.settings_text(path, &settings.to_string());
    }

    /// The same as text.
    pub(super) fn settings_text(&self, path: &str, settings: &str) {
        let path = self.home(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, settings).unwrap();
    }

    /// Returns the server on standard streams. What the client sends is recorded.
    pub(super) fn program(&self) -> Server {
        let program = self.toolgate.outside("bin/toolgate");
        let script = format!(
            "#!/bin/sh\nexport TOOLGATE_HOME='{}'\ntee -a '{}' | '{}' mcp\n",
            self.toolgate.home("").display(),
            self.transcript().display(),
            env!("CARGO_BIN_EXE_toolgate"),
        );
        let source = self.toolgate.outside("toolgate.sh");
        fs::write(&source, script).unwrap();
        // Written by this process, the program could still be open in a child being born.
        let mut install = Command::new("install");
        let installed = install.args(["-m", "755"]).arg(source).arg(&program).status();
        assert!(installed.unwrap().success());
        Server::Program(program)
    }

    fn transcript(&self) -> PathBuf {
        self.toolgate.outside("transcript")
    }

    /// Returns what the client has sent to the server on standard streams.
    pub(super) fn sent(&self) -> String {
        fs::read_to_string(self.transcript()).unwrap_or_default()
    }

    /// Waits until no process of the server is left.
    pub(super) fn server_ended(&self) {
        let mark = self.toolgate.outside("").display().to_string();
        eventually("the server goes on without its client", || processes(&mark).is_empty());
    }
}

impl Server {
    /// Returns the settings for one of the two; `address` takes the token, too.
    pub(super) fn either<T>(
        &self,
        program: impl FnOnce(&Path) -> T,
        address: impl FnOnce(&str, &str) -> T,
    ) -> T {
        match self {
            Self::Program(path) => program(path),
            Self::Address { url, token } => address(url, token),
        }
    }
}

/// Returns the headers that carry a token.
pub(super) fn bearing(token: &str) -> Value {
    json!({ "Authorization": format!("Bearer {token}") })
}
