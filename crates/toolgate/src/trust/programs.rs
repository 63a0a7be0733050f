//! The files in a workspace that settings start programs with.

use std::collections::BTreeSet;
use std::env;
use std::path::Path;

use serde_json::Value;
use toolgate_core::tool::Input;
use toolgate_core::workspace::Workspace;
use toolgate_policy::shell::{Inputs, inputs, program_inputs};
use toolgate_tools::existing_inputs;

use super::accepted::Version;
use super::content;
use crate::config::expand::expand;
use crate::config::project::OwnConfig;
use crate::config::servers::{McpConfig, ServerConfig};

/// Project files that change often, and their keys that say nothing about what is run.
const PARTLY: [(&str, &[&str]); 2] = [
    (
        "package.json",
        &[
            "version",
            "description",
            "dependencies",
            "devDependencies",
            "peerDependencies",
            "optionalDependencies",
            "packageManager",
            "engines",
        ],
    ),
    (
        "pyproject.toml",
        &[
            "dependency-groups",
            "project.version",
            "project.description",
            "project.dependencies",
            "project.optional-dependencies",
            "tool.ruff",
            "tool.black",
            "tool.isort",
            "tool.mypy",
            "tool.pyright",
            "tool.coverage",
        ],
    ),
];

/// A file in a workspace that a program is started with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProgramFile {
    /// Its path relative to the workspace; absolute in a folder that was added.
    pub(crate) name: String,
    pub(crate) file: Input,
    /// `true` if a word names it, `false` if a program looks for it by itself.
    pub(crate) is_named: bool,
    /// The keys that do not count, if only the part counts that says what is run.
    unrelated: &'static [&'static str],
}

impl ProgramFile {
    /// Returns the version of the file as it is now.
    pub(crate) fn version(&self) -> Version {
        let found = content::read(&self.file.named);
        match found.bytes {
            Some(bytes) if !self.unrelated.is_empty() => {
                content::version(&related(&bytes, self.unrelated).unwrap_or(bytes))
            }
            Some(bytes) => content::version(&bytes),
            None => Version { digest: found.otherwise, text: None },
        }
    }
}

/// Returns the files of a workspace that a server is started with in a folder.
pub(crate) fn of_server(
    server: &ServerConfig,
    folder: &Path,
    workspace: &Workspace,
) -> Vec<ProgramFile> {
    let Some(command) = &server.command else { return Vec::new() };
    let variable = |name: &str| env::var(name).ok();
    let put = |text: &String| expand(text, &variable).unwrap_or_else(|_| text.clone());
    let words: Vec<String> = std::iter::once(command).chain(&server.args).map(put).collect();
    let mut inputs = program_inputs(words.iter().map(String::as_str));
    // A variable may name a file that is run, as `NODE_OPTIONS` and `BASH_ENV` do.
    for value in server.env.values().map(put) {
        inputs.names.extend(program_inputs([value.as_str()]).names);
    }
    let path = server.env.get("PATH").map(put);
    existing(&inputs, folder, workspace, path.as_deref())
}

/// Returns the files of a workspace that a command line is started with.
pub(crate) fn of_line(line: &str, workspace: &Workspace) -> Vec<ProgramFile> {
    existing(&inputs(line), workspace.root(), workspace, None)
}

/// Returns the files of a workspace that settings start programs with.
pub(crate) fn of_settings<'a>(
    servers: impl IntoIterator<Item = &'a ServerConfig>,
    mcp: &McpConfig,
    workspace: &Workspace,
) -> Vec<ProgramFile> {
    let mut files = Vec::new();
    for server in servers {
        let folder = server.cwd.as_deref().unwrap_or(Path::new("."));
        files.extend(of_server(server, &workspace.root().join(folder), workspace));
    }
    for line in [&mcp.tool_discovery_command, &mcp.tool_call_command].into_iter().flatten() {
        files.extend(of_line(line, workspace));
    }
    files
}

/// Returns the files of a workspace that its own settings start programs with.
pub(crate) fn of_project(own: &OwnConfig, workspace: &Workspace) -> Vec<ProgramFile> {
    of_settings(own.servers.values(), &own.mcp, workspace)
}

fn existing(
    inputs: &Inputs,
    folder: &Path,
    workspace: &Workspace,
    path: Option<&str>,
) -> Vec<ProgramFile> {
    let own = env::var_os("PATH");
    let path = path.map(std::ffi::OsStr::new).or(own.as_deref());
    let named = Inputs { conventional: BTreeSet::default(), ..inputs.clone() };
    let named = existing_inputs(&named, folder, workspace, path);
    let all = existing_inputs(inputs, folder, workspace, path);
    let is_ours = |file: &Input| {
        workspace.roots().any(|root| file.named.starts_with(root) || file.real.starts_with(root))
    };
    let program = |file: Input| {
        let name = file.named.strip_prefix(workspace.root()).unwrap_or(&file.named);
        let mut name = toolgate_core::visible::path(name);
        let is_named = named.contains(&file);
        let partly = PARTLY.iter().find(|(own, _)| !is_named && file.named.ends_with(own));
        let unrelated = partly.map_or(&[][..], |(_, unrelated)| *unrelated);
        if !unrelated.is_empty() {
            name.push_str(" (what it runs)");
        }
        ProgramFile { name, file, is_named, unrelated }
    };
    all.into_iter().filter(is_ours).map(program).collect()
}

/// Returns the part of a project file that says what is run.
fn related(bytes: &[u8], unrelated: &[&str]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let package: Option<Value> = serde_json::from_str(text).ok();
    let mut package = package.or_else(|| toml::from_str(text).ok()).filter(Value::is_object)?;
    for key in unrelated {
        match key.split_once('.') {
            Some((table, key)) => {
                package.get_mut(table).and_then(Value::as_object_mut).and_then(|t| t.remove(key));
            }
            None => drop(package.as_object_mut().and_then(|package| package.remove(*key))),
        }
    }
    serde_json::to_vec_pretty(&package).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_installed_package_changes_nothing_about_what_is_run() {
        let part = |at: usize, text: &str| related(text.as_bytes(), PARTLY[at].1);
        let before = part(0, r#"{"scripts":{"x":"sh a"},"dependencies":{"a":"1"}}"#);
        let after = part(0, r#"{"scripts":{"x":"sh a"},"dependencies":{"a":"1","b":"2"}}"#);
        assert!(before.is_some() && before == after);
        assert_ne!(before, part(0, r#"{"scripts":{"x":"sh b"},"dependencies":{"a":"1"}}"#));
        let before = part(1, "[project]\ndependencies = []\n[tool.uv]\nindex = \"a\"\n");
        assert_eq!(
            before,
            part(1, "[project]\ndependencies = [\"b\"]\n[tool.uv]\nindex = \"a\"\n")
        );
        assert_ne!(before, part(1, "[project]\ndependencies = []\n[tool.uv]\nindex = \"b\"\n"));
        assert_eq!(part(0, "["), None);
    }

    #[test]
    fn files_that_a_server_is_started_with_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("t")).unwrap();
        for name in ["t/s.py", "t/s", "x.js", "package.json", "m.py", "rc.sh"] {
            std::fs::write(root.join(name), "{}").unwrap();
        }
        let workspace = Workspace::open(&root).unwrap();
        let absolute = root.join("t/s.py").display().to_string();
        let names = |command: &str, args: &[&str], env: &[(&str, &str)], cwd: Option<&str>| {
            let server = ServerConfig {
                command: Some(command.to_owned()),
                args: args.iter().map(|arg| (*arg).to_owned()).collect(),
                env: env.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
                cwd: cwd.map(Into::into),
                ..ServerConfig::default()
            };
            let folder = root.join(cwd.unwrap_or("."));
            of_server(&server, &folder, &workspace)
                .into_iter()
                .map(|file| file.name)
                .collect::<Vec<_>>()
        };
        assert_eq!(names("t/s", &[], &[], None), ["t/s"]);
        assert_eq!(names("./t/../t/s", &[], &[], None), ["t/s"]);
        assert_eq!(names("python3", &["t/s.py"], &[], None), ["t/s.py"]);
        assert_eq!(names("python3", &[&absolute], &[], None), ["t/s.py"]);
        assert_eq!(names("env", &["A=1", "python3", "-u", "t/s.py"], &[], None), ["t/s.py"]);
        assert_eq!(names("sh", &["-c", "exec python3 t/s.py"], &[], None), ["t/s.py"]);
        assert_eq!(names("python3", &["s.py"], &[], Some("t")), ["t/s.py"]);
        assert_eq!(names("python3", &["-m", "m"], &[], None), ["m.py"]);
        assert_eq!(names("node", &["--require=./x.js", "-e", "0"], &[], None), ["x.js"]);
        assert_eq!(names("npm", &["run", "mcp"], &[], None), ["package.json (what it runs)"]);
        assert_eq!(names("bash", &["-c", "true"], &[("BASH_ENV", "rc.sh")], None), ["rc.sh"]);
        assert_eq!(names("server", &[], &[("PATH", "t"), ("X", "1")], None), [""; 0]);
        assert_eq!(names("s", &[], &[("PATH", "t")], None), ["t/s"]);
        assert_eq!(names("server", &["--root", "."], &[], None), [""; 0]);
    }
}
