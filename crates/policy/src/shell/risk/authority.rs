//! What gains authority: more rights, files and settings that others obey.

use super::call::{Call, variable};
use super::finding::{RiskKind, ShellRisk};
use super::places::{is_secret, starts_up};
use crate::shell::wrapper::normal_name;

/// Programs that take or give rights.
const PRIVILEGE: &[&str] = &[
    "sudo", "doas", "su", "pkexec", "runuser", "visudo", "usermod", "useradd", "adduser",
    "userdel", "groupmod", "groupadd", "gpasswd", "passwd", "chpasswd", "setcap", "setpriv",
    "capsh", "newgrp", "sudoedit",
];

/// Variables that make programs run or load something, by their whole name.
const LOADERS: &[&str] = &[
    "NODE_OPTIONS",
    "NODE_PATH",
    "PYTHONSTARTUP",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONINSPECT",
    "PYTHONBREAKPOINT",
    "PERL5OPT",
    "PERL5LIB",
    "PERL5DB",
    "RUBYOPT",
    "RUBYLIB",
    "BASH_ENV",
    "ENV",
    "PROMPT_COMMAND",
    "PS4",
    "SHELLOPTS",
    "BASHOPTS",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC",
    "RUSTDOC",
    "CARGO_BUILD_RUSTC_WRAPPER",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "MAVEN_OPTS",
    "GRADLE_OPTS",
    "LESSOPEN",
    "LESSCLOSE",
    "MANPAGER",
    "PAGER",
    "EDITOR",
    "VISUAL",
    "BROWSER",
    "SSH_ASKPASS",
    "GCONV_PATH",
    "DOTNET_STARTUP_HOOKS",
    "CORECLR_PROFILER_PATH",
    "PHPRC",
    "R_PROFILE_USER",
    "ZDOTDIR",
    "IFS",
    "PATH",
    "RIPGREP_CONFIG_PATH",
    "OPENSSL_CONF",
    "MAKEFLAGS",
    "TAR_OPTIONS",
    "NPM_CONFIG_SCRIPT_SHELL",
];

/// The beginnings of such variables.
const LOADER_PREFIXES: &[&str] = &["LD_", "DYLD_", "GLIBC_TUNABLES"];

/// Values of `PAGER` and the like that run nothing of note.
const PLAIN_PAGERS: &[&str] = &["", "cat", "less", "more", "vi", "vim", "nano", "true", ":"];

/// Variables of git that name a program, a setting or another repository.
const GIT_VARIABLES: &[&str] = &[
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "GIT_ASKPASS",
    "GIT_PROXY_COMMAND",
    "GIT_EXEC_PATH",
    "GIT_TEMPLATE_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
];

/// Settings of git that run a program, lower case; a star stands for any name.
const GIT_SETTINGS: &[&str] = &[
    "core.hookspath",
    "core.fsmonitor",
    "core.pager",
    "core.editor",
    "core.sshcommand",
    "core.askpass",
    "core.gitproxy",
    "core.attributesfile",
    "core.worktree",
    "sequence.editor",
    "diff.external",
    "diff.*.textconv",
    "diff.*.command",
    "filter.*.clean",
    "filter.*.smudge",
    "filter.*.process",
    "merge.*.driver",
    "mergetool.*.cmd",
    "difftool.*.cmd",
    "gpg.program",
    "gpg.*.program",
    "credential.helper",
    "credential.*.helper",
    "pager.*",
    "alias.*",
    "include.path",
    "includeif.*.path",
    "init.templatedir",
    "interactive.difffilter",
    "sendemail.smtpserver",
    "protocol.allow",
    "protocol.ext.allow",
    "protocol.*.allow",
    "remote.*.uploadpack",
    "remote.*.receivepack",
    "remote.*.vcs",
    "uploadpack.packobjectshook",
    "submodule.*.update",
    "browser.*.cmd",
    "man.*.cmd",
    "web.browser",
    "trailer.*.command",
    "trailer.*.cmd",
    "guitool.*.cmd",
    "url.*.insteadof",
    "http.proxy",
    "safe.directory",
    "hook.*.command",
];

/// Options of `git` commands that name a program.
const GIT_PROGRAM_OPTIONS: &[&str] = &[
    "--exec-path",
    "--upload-pack",
    "--receive-pack",
    "--config-env",
    "--template",
    "--open-files-in-pager",
];

/// Whether a program, named without its folder, takes or gives rights.
pub(crate) fn changes_rights(name: &str) -> bool {
    PRIVILEGE.contains(&name)
}

/// What authority a single command gains.
pub(crate) fn of_call(call: &Call) -> Vec<ShellRisk> {
    let mut risks = Vec::new();
    risks.extend(privilege(call));
    risks.extend(obeyed_files(call));
    risks.extend(git_setting(call));
    risks.extend(variables(call));
    risks
}

fn privilege(call: &Call) -> Option<ShellRisk> {
    let mut names = call.wrappers.iter().copied().chain([call.name]);
    let critical = |message: String| Some(ShellRisk::critical(RiskKind::PrivilegeTool, message));
    if let Some(tool) = names.find(|name| PRIVILEGE.contains(name)) {
        return critical(format!("`{tool}` changes rights"));
    }
    let first = call.operands().next()?;
    match call.name {
        "chmod" if sets_user_id(first) => {
            critical(format!("`chmod {first}` lends rights to whoever runs it"))
        }
        "chown" if ["root", "0"].contains(&first.split([':', '.']).next().unwrap_or(first)) => {
            critical("gives files to root".into())
        }
        "install" if call.values_of(&["-m", "--mode"]).iter().any(|mode| sets_user_id(mode)) => {
            critical("installs a program that lends rights to whoever runs it".into())
        }
        _ => None,
    }
}

/// Whether a mode makes programs run as their owner or group.
fn sets_user_id(mode: &str) -> bool {
    if mode.bytes().all(|byte| byte.is_ascii_digit()) {
        let bits = u32::from_str_radix(mode, 8).unwrap_or_default();
        return bits & 0o6000 != 0;
    }
    mode.split(',').any(|clause| {
        clause.split_once(['+', '=']).is_some_and(|(who, rights)| {
            rights.contains('s') && who.chars().all(|letter| "ugoa".contains(letter))
        })
    })
}

fn obeyed_files(call: &Call) -> Vec<ShellRisk> {
    if call.name == "crontab" && !call.has_option("l", &[]) {
        return vec![ShellRisk::high(
            RiskKind::WritesStartUpFile,
            "changes what runs at set times",
        )];
    }
    let mut written: Vec<&str> = call.written().collect();
    match call.name {
        "tee" | "touch" | "truncate" | "chmod" => written.extend(call.operands()),
        "cp" | "mv" | "ln" | "install" | "rsync" | "scp" => {
            written.extend(call.operands().last());
            written.extend(call.values_of(&["-t", "--target-directory"]));
        }
        "sed" | "perl" if call.has_option("i", &["--in-place"]) => written.extend(call.operands()),
        "dd" => written.extend(call.texts().filter_map(|text| text.strip_prefix("of="))),
        "curl" => written.extend(call.values_of(&["-o", "--output"])),
        "wget" => written.extend(call.values_of(&["-O", "--output-document"])),
        _ => {}
    }
    written.into_iter().filter_map(|path| obeyed_file(call.name, path)).collect()
}

fn obeyed_file(name: &str, path: &str) -> Option<ShellRisk> {
    if starts_up(path) {
        let message = format!("writes `{path}`, which other programs obey");
        return Some(ShellRisk::high(RiskKind::WritesStartUpFile, message));
    }
    let plain = normal_name(path).starts_with(".env") || name == "chmod";
    (is_secret(path) && !plain).then(|| {
        ShellRisk::high(RiskKind::WritesCredentials, format!("writes `{path}`, which holds keys"))
    })
}

fn git_setting(call: &Call) -> Option<ShellRisk> {
    if call.name != "git" {
        return None;
    }
    let found = |setting: &str| {
        Some(ShellRisk::high(RiskKind::GitSetting, format!("`{setting}` makes git run a program")))
    };
    let inline = call.values_of(&["-c"]).into_iter().filter_map(|text| text.split('=').next());
    let inline = inline.filter(|key| runs_a_program(key));
    if let Some(key) = inline.into_iter().next() {
        return found(key);
    }
    if let Some(option) = call.texts().find(|text| {
        let name = text.split('=').next().unwrap_or(text);
        GIT_PROGRAM_OPTIONS.contains(&name) && text.contains('=')
    }) {
        return found(option);
    }
    if let Some(address) = call.texts().find(|text| text.starts_with("ext::")) {
        return found(address);
    }
    let mut words = call.operands().skip_while(|text| *text != "config").skip(1).peekable();
    let reads = call.has_option(
        "l",
        &["--get", "--get-all", "--get-regexp", "--list", "--unset", "--unset-all"],
    );
    words.next_if(|word| *word == "set");
    let (key, value) = (words.next()?, words.next());
    (!reads && value.is_some() && runs_a_program(key)).then(|| found(key)).flatten()
}

/// Whether a setting of git names a program, or files with such settings.
fn runs_a_program(key: &str) -> bool {
    let key = key.to_lowercase();
    GIT_SETTINGS.iter().any(|setting| match setting.split_once('*') {
        None => *setting == key,
        Some((begin, end)) => key
            .strip_prefix(begin)
            .and_then(|rest| rest.strip_suffix(end))
            .is_some_and(|name| !name.is_empty()),
    })
}

fn variables(call: &Call) -> Vec<ShellRisk> {
    let sets = ["export", "declare", "typeset", "local", "readonly", "setenv"];
    let exported = call.is(&sets).then(|| call.texts().filter_map(variable));
    let all = call.variables.iter().copied().chain(exported.into_iter().flatten());
    all.filter_map(|(name, value)| {
        let git = GIT_VARIABLES.contains(&name)
            || name.starts_with("GIT_CONFIG_KEY_")
            || name.starts_with("GIT_CONFIG_VALUE_");
        if git && !PLAIN_PAGERS.contains(&value) {
            return Some(ShellRisk::high(
                RiskKind::GitSetting,
                format!("`{name}` makes git run a program"),
            ));
        }
        let loads = LOADERS.contains(&name) && !harmless_value(name, value)
            || LOADER_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        loads.then(|| {
            ShellRisk::high(
                RiskKind::LoaderVariable,
                format!("`{name}` makes other programs run or load something"),
            )
        })
    })
    .collect()
}

/// Values of everyday use: a known pager, more memory for node, warnings as the only flags.
fn harmless_value(name: &str, value: &str) -> bool {
    match name {
        "NODE_OPTIONS" => {
            value.split_whitespace().all(|option| option.starts_with("--max-old-space-size"))
        }
        "MAKEFLAGS" => value
            .strip_prefix("-j")
            .is_some_and(|jobs| jobs.bytes().all(|byte| byte.is_ascii_digit())),
        "PAGER" | "MANPAGER" | "EDITOR" | "VISUAL" => PLAIN_PAGERS.contains(&value),
        // Where tests find the code: everyday as long as it stays here.
        "PYTHONPATH" | "NODE_PATH" => !value.starts_with("/tmp") && !value.starts_with("/dev"),
        _ => false,
    }
}
