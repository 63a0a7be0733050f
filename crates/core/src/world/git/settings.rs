//! The settings of a git repository, read strictly.
//!
//! Lines have one of a few plain forms: a comment, `[section]`, `[section "name"]`, `key`,
//! `key = value`. Another form may mean another thing to git, so it counts as running a program.

use std::path::PathBuf;

/// Sections in which a setting can name a program, a file or another repository, and the settings
/// there that cannot. Sections that are not listed have none that matter while git only looks.
const SECTIONS: &[(&str, &str)] = &[
    (
        "blame",
        "blankboundary coloring date markignoredlines markunblamablelines showemail showroot",
    ),
    (
        "core",
        "abbrev autocrlf bare bigfilethreshold checkroundtripencoding checkstat commentchar \
         commentstring commitgraph compression deltabasecachelimit \
         editor eol filemode filesreflocktimeout fscache fsync fsyncmethod fsyncobjectfiles \
         hidedotfiles hookspath ignorecase ignorestat lockfilepid logallrefupdates longpaths \
         loosecompression maxtreedepth multipackindex notesref packedgitlimit \
         packedgitwindowsize packedrefstimeout precomposeunicode prefersymlinkrefs preloadindex \
         protecthfs protectntfs quotepath repositoryformatversion restrictinheritedhandles \
         safecrlf sharedrepository sparsecheckout sparsecheckoutcone splitindex \
         supportsatomicfilecreation symlinks trustctime unsetenvvars untrackedcache \
         usereplacerefs warnambiguousrefs whitespace",
    ),
    ("credential", "username usehttppath"),
    (
        "diff",
        "algorithm autorefreshindex binary colormoved colormovedws context dirstat \
         dstprefix funcname ignoresubmodules indentheuristic interhunkcontext mnemonicprefix \
         noindex noprefix relative renamelimit renames srcprefix statgraphwidth statnamewidth \
         submodule suppressblankempty tool guitool wordregex wserrorhighlight xfuncname",
    ),
    (
        "extensions",
        "compatobjectformat noop objectformat preciousobjects refstorage relativeworktrees \
         worktreeconfig",
    ),
    ("filter", "required"),
    ("format", "signoff"),
    ("gpg", "format mintrustlevel"),
    ("hook", ""),
    ("include", ""),
    ("includeif", ""),
    ("interactive", "singlekey"),
    (
        "log",
        "abbrevcommit date decorate diffmerges excludedecoration follow graphcolors \
         initialdecorationset mailmap showroot",
    ),
    ("mailmap", ""),
    (
        "merge",
        "autostash branchdesc conflictstyle defaulttoupstream directoryrenames ff log name \
         renamelimit renames renormalize stat suppressdest tool verbosity verifysignatures",
    ),
    ("pager", ""),
    ("pretty", ""),
    (
        "remote",
        "fetch followremotehead gh-resolved mirror prune prunetags push pushdefault pushurl \
         serveroption skipdefaultupdate skipfetchall tagopt url",
    ),
    ("trailer", "separators ifexists ifmissing key where"),
    ("uploadpack", "allowanysha1inwant allowreachablesha1inwant allowtipsha1inwant hiderefs"),
];

/// The effect of settings.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// Git runs a program, or may: the setting that says so.
    Runs(String),
    /// Git runs nothing of its own accord but hooks.
    Plain {
        /// The folder that hooks are in, if not the usual one.
        hooks: Option<PathBuf>,
    },
}

/// Reads the settings of a repository.
pub(super) fn read(text: &str) -> Read {
    let unusual = || Read::Runs("settings in an unusual form".to_owned());
    let mut section = String::new();
    let mut hooks = None;
    for line in text.split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line).trim_matches([' ', '\t']);
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if line.contains(|letter: char| letter.is_control() && letter != '\t') {
            return unusual();
        }
        if line.starts_with('[') {
            match header(line) {
                Some(name) => section = name,
                None => return unusual(),
            }
            continue;
        }
        let Some((key, value)) = setting(line) else { return unusual() };
        if (section.as_str(), key.as_str()) == ("core", "hookspath") {
            match value.strip_prefix('~') {
                // Below the home folder it is the user's own.
                Some(_) => hooks = None,
                None => hooks = Some(PathBuf::from(value.trim_matches('"'))),
            }
        }
        if may_run(&section, &key, value) {
            return Read::Runs(format!("{section}.{key}"));
        }
    }
    Read::Plain { hooks }
}

/// Returns the addresses of all remotes.
pub(super) fn remotes(text: &str) -> Vec<String> {
    let mut is_remote = false;
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            is_remote = header(line).is_some_and(|name| name == "remote");
        } else if let Some((key, value)) = setting(line).filter(|_| is_remote)
            && matches!(key.as_str(), "url" | "pushurl")
        {
            found.push(value.trim_matches('"').to_owned());
        }
    }
    found
}

/// Returns the name of a section, in lower case.
fn header(line: &str) -> Option<String> {
    let inner = line.strip_prefix('[')?.strip_suffix(']')?;
    let (name, rest) = match inner.find([' ', '\t']) {
        Some(at) => (inner.get(..at)?, inner.get(at..)?.trim_matches([' ', '\t'])),
        None => (inner, ""),
    };
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
    let is_name = !name.is_empty() && name.bytes().all(is_letter);
    let quoted = rest.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let is_plain = rest.is_empty() || quoted.is_some_and(|text| !text.contains(['"', '\\', ']']));
    let section = name.split('.').next()?.to_lowercase();
    (is_name && is_plain).then_some(section)
}

/// Returns the key of a setting, in lower case, and its value.
fn setting(line: &str) -> Option<(String, &str)> {
    let (key, value) = match line.split_once('=') {
        Some((key, value)) => (key.trim_matches([' ', '\t']), value.trim_matches([' ', '\t'])),
        None => (line, ""),
    };
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let is_key =
        key.starts_with(|letter: char| letter.is_ascii_alphabetic()) && key.bytes().all(is_letter);
    // A backslash at the end goes on in the next line, and an open quote may.
    let is_whole = !value.ends_with('\\') && value.matches('"').count() % 2 == 0;
    (is_key && is_whole).then(|| (key.to_lowercase(), value))
}

/// Returns `true` if a setting may make git run a program while it only looks.
fn may_run(section: &str, key: &str, value: &str) -> bool {
    let Some((_, harmless)) = SECTIONS.iter().find(|(own, _)| *own == section) else {
        return false;
    };
    let is_harmless = harmless.split_ascii_whitespace().any(|own| own.eq_ignore_ascii_case(key));
    !is_harmless && !is_switch(section, key, value)
}

/// Returns `true` if a setting that is a program or a plain yes or no is the latter.
fn is_switch(section: &str, key: &str, value: &str) -> bool {
    let is_word = matches!(
        value.to_lowercase().as_str(),
        "true" | "false" | "yes" | "no" | "on" | "off" | "0" | "1"
    );
    let is_off = matches!(value.to_lowercase().as_str(), "false" | "no" | "off" | "0");
    match (section, key) {
        ("core", "fsmonitor") | ("pager", _) => is_word,
        ("log", "showsignature") => is_off,
        ("format", "pretty") => !value.contains("%G") && !value.contains("signature"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(text: &str) -> bool {
        matches!(read(text), Read::Runs(_))
    }

    #[test]
    fn everyday_settings_run_nothing() {
        for text in [
            "",
            "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n",
            "[remote \"origin\"]\n\turl = git@example.com:a/b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n",
            "[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n\tvscode-merge-base = origin/main\n",
            "[user]\r\n\tname = \"A B\"\r\n\temail = a@b\r\n",
            "# words\n; more\n[submodule \"x\"]\n\tactive = true\n\turl = ../x\n",
            "[lfs]\n\trepositoryformatversion = 0\n[gui]\n\twmstate = normal\n[alias]\n\tst = status\n",
            "[core]\n\tfsmonitor = true\n[log]\n\tshowSignature = false\n[pull]\n\trebase = true\n",
            "[commit]\n\tgpgsign = true\n[init]\n\tdefaultBranch = main\n[core]\n\thooksPath = .husky/_\n",
            "[extensions]\n\tworktreeConfig = true\n[diff]\n\trenames = copies\n[merge]\n\tff = only\n",
        ] {
            assert!(!runs(text), "{text}");
        }
    }

    #[test]
    fn what_is_not_a_line_of_a_plain_form_counts() {
        for text in [
            "[core] fsmonitor = ./x\n",
            "[core]fsmonitor=./x\n",
            "[co\\\nre]\n\tfsmonitor = ./x\n",
            "[core]\n\tfs\\\nmonitor = ./x\n",
            "[core]\n\tbare = false\\\n\tfsmonitor = ./x\n",
            "[core]\n\tbare = \"false\n\tfsmonitor = ./x\n",
            "\u{feff}[core]\n\tfsmonitor = ./x\n",
            "[user \"x\\\"]\n[core]\n\tfsmonitor = ./x\n",
            "[user \"x]\"]\n\tname = y\n",
            "[core\n\tfsmonitor = ./x\n",
            "[core]\n\tfsmonitor\u{b}= ./x\n",
            "[core]\rfsmonitor = ./x\n",
            "[user]\n\tname = x\0\n",
            "[core]\n\tkey value = x\n",
        ] {
            assert!(runs(text), "{text:?}");
        }
    }

    #[test]
    fn settings_that_name_programs_files_or_repositories_count() {
        for text in [
            "[core]\n\tfsmonitor = ./x\n",
            "[CORE]\n\tFSMonitor = ./x\n",
            "[core]\n\tfsmonitor = \"true\" x\n",
            "[core]\n\tpager = ./x\n",
            "[core]\n\tworktree = ../y\n",
            "[core]\n\tattributesFile = y\n",
            "[core]\n\talternateRefsCommand = x\n",
            "[core]\n\tsomethingNew = x\n",
            "[diff]\n\texternal = x\n",
            "[diff \"x\"]\n\ttextconv = x\n",
            "[diff \"x\"]\n\tcommand = x\n",
            "[diff.x]\n\ttextconv = x\n",
            "[diff]\n\torderFile = x\n",
            "[filter \"x\"]\n\tclean = x\n",
            "[filter \"x\"]\n\tprocess = x\n",
            "[gpg]\n\tprogram = x\n",
            "[gpg \"ssh\"]\n\tdefaultKeyCommand = x\n",
            "[include]\n\tpath = x\n",
            "[includeIf \"gitdir:/\"]\n\tpath = x\n",
            "[includeif \"onbranch:main\"]\n\tpath = x\n",
            "[remote \"x\"]\n\tpromisor = true\n",
            "[remote \"x\"]\n\tuploadpack = x\n",
            "[extensions]\n\tpartialClone = x\n",
            "[hook \"x\"]\n\tcommand = x\n",
            "[pager]\n\tstatus = x\n",
            "[interactive]\n\tdiffFilter = x\n",
            "[log]\n\tshowSignature = true\n",
            "[format]\n\tpretty = %G?\n",
            "[mailmap]\n\tfile = /etc/x\n",
            "[blame]\n\tignoreRevsFile = x\n",
        ] {
            assert!(runs(text), "{text}");
        }
    }
}
