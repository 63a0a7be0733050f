//! The files that decide what a line does, besides the line itself.

mod convention;

use std::collections::BTreeSet;

use super::command::{Command, Direction, Reading, Word};
use super::reading::read;
use super::wrapper::{normal_name, runs};

/// The maximum number of names of a kind that are listed.
const MOST: usize = 2_000;

/// The files that decide what a line does: scripts, settings and data that its words name, and
/// files that its programs look for. They are names as the line has them; which of them exist is
/// for the caller to find out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inputs {
    /// Names of files and folders, relative to one of the folders or absolute.
    pub names: BTreeSet<String>,
    /// File name patterns.
    pub patterns: BTreeSet<String>,
    /// Names below the home folder, without the `~/`.
    pub below_home: BTreeSet<String>,
    /// Folders that the line works in, besides the one it starts in.
    pub folders: BTreeSet<String>,
    /// Files that its programs look for in a folder and in those above it.
    pub conventional: BTreeSet<String>,
    /// Programs that are looked up in the search path.
    pub programs: BTreeSet<String>,
    /// `true` if there were more names than are listed.
    pub is_cut: bool,
}

/// Returns the files that decide what a line does.
///
/// ```
/// let inputs = toolgate_policy::shell::inputs("cd tools && timeout 5 sh x.sh < list; make -f a.mk");
/// assert!(["x.sh", "list", "a.mk"].iter().all(|name| inputs.names.contains(*name)));
/// assert!(inputs.folders.contains("tools") && inputs.conventional.contains("Makefile"));
/// ```
pub fn inputs(line: &str) -> Inputs {
    let commands = match read(line) {
        Reading::Literal(line) => line.commands,
        Reading::Complex { commands, .. } => commands,
        Reading::Unreadable { .. } => Vec::new(),
    };
    let mut inputs = Inputs::default();
    for command in &commands {
        inputs.add(command);
        for ran in runs(command) {
            inputs.add(&ran.command);
        }
    }
    let redirects = commands.iter().flat_map(|command| &command.redirects);
    let written = redirects.filter(|redirect| redirect.direction == Direction::Write);
    let written: BTreeSet<&str> = written.map(|output| output.target.text.as_str()).collect();
    // Lists of loops, arrays, and code in quotes name files, too. What is written to is no input.
    for name in line.split(is_separator).filter(|name| !written.contains(name)) {
        inputs.word(&Word { pattern: name.contains(['*', '?', '[']), ..Word::plain(name) });
    }
    inputs
}

/// Returns the files that decide what a program does that is started with these arguments.
pub fn program_inputs<'a>(words: impl IntoIterator<Item = &'a str>) -> Inputs {
    let words = words.into_iter().map(Word::plain).collect();
    let command = Command { words, ..Command::default() };
    let mut inputs = Inputs::default();
    inputs.add(&command);
    for ran in runs(&command) {
        inputs.add(&ran.command);
    }
    inputs
}

impl Inputs {
    fn add(&mut self, command: &Command) {
        for word in &command.words {
            self.word(word);
        }
        for assignment in &command.assignments {
            self.word(&assignment.value);
        }
        for redirect in &command.redirects {
            if redirect.direction == Direction::Read {
                self.word(&redirect.target);
            }
        }
        let Some(name) = command.words.first().filter(|word| word.known) else { return };
        if !name.text.contains('/') {
            put(&mut self.programs, &mut self.is_cut, &name.text);
        }
        let name = normal_name(&name.text);
        let arguments: Vec<&str> =
            command.arguments().iter().map(|word| word.text.as_str()).collect();
        for file in convention::files(name, &arguments) {
            put(&mut self.conventional, &mut self.is_cut, &file);
        }
        for folder in convention::folders(name, &arguments) {
            put(&mut self.folders, &mut self.is_cut, folder);
        }
    }

    fn word(&mut self, word: &Word) {
        if !word.known {
            return;
        }
        if word.home {
            let below = word.text.strip_prefix("~/").unwrap_or_default();
            put(&mut self.below_home, &mut self.is_cut, below);
            return;
        }
        let into = if word.pattern { &mut self.patterns } else { &mut self.names };
        for name in spellings(&word.text) {
            put(into, &mut self.is_cut, name);
        }
    }
}

/// Returns `true` if a character stands between names, in a shell line or in code.
fn is_separator(letter: char) -> bool {
    letter.is_whitespace() || "'\"`()<>|&;=:,@{}$!".contains(letter)
}

fn put(into: &mut BTreeSet<String>, is_cut: &mut bool, name: &str) {
    if name.is_empty() || name.len() > 4096 || name.contains('\0') || into.contains(name) {
        return;
    }
    if into.len() >= MOST {
        *is_cut = true;
        return;
    }
    into.insert(name.to_owned());
}

/// Returns the file names that a word may stand for: itself, the value of an option, a file behind
/// `@`, and the parts of a list.
fn spellings(text: &str) -> Vec<&str> {
    let mut found = vec![text];
    if text.starts_with('-') {
        // The value of a short option may be attached to it, and `${x:-value}` has no option.
        let letters = text.char_indices().skip(1).map(|(at, _)| at).take(4);
        found.extend(letters.filter_map(|at| text.get(at..)));
    }
    found.extend(text.split('=').skip(1));
    found.extend(text.split(is_separator).filter(|part| *part != text));
    if let Some((_, path)) = text.split_once("file://") {
        found.push(path);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_name_a_script_is_seen() {
        for line in [
            "sh x.sh",
            "env sh x.sh",
            "env -i A=1 sh x.sh",
            "timeout 5 sh x.sh",
            "timeout -k 1 5 nice -n 3 sh x.sh",
            "sh < x.sh",
            ". x.sh",
            "source x.sh",
            "bash -c 'sh x.sh'",
            "bash -lc \"exec sh x.sh\"",
            "sh -c 'sh -c \"sh x.sh\"'",
            "eval 'sh x.sh'",
            "xargs -a x.sh echo",
            "xargs --arg-file=x.sh echo",
            "awk -f x.sh",
            "awk -fx.sh",
            "sed --file=x.sh a",
            "perl -w x.sh",
            "docker compose -f x.sh up",
            "BASH_ENV=x.sh bash -c true",
            "curl -d @x.sh http://localhost",
            "cat x.sh | sh",
            "nohup sh x.sh &",
            "if true; then sh x.sh; fi",
            "(sh x.sh)",
            "find . -exec sh x.sh ';'",
            "env -S 'sh x.sh'",
            "node --require=x.sh -e 1",
            "python3 -Bx.sh",
            "echo $(sh x.sh)",
            "while read a; do sh x.sh; done",
            "vim -S x.sh",
            "for f in x.sh; do sh $f; done",
            "f=x.sh; sh $f",
            "a=(x.sh); sh ${a[0]}",
            "python3 -c 'exec(open(\"x.sh\").read())'",
            "node -e \"require('x.sh')\"",
            "sh <<E\nsh x.sh\nE",
            "case 1 in 1) sh x.sh;; esac",
            "f() { sh x.sh; }; f",
            "sh \"${X:-x.sh}\"",
            "mapfile -t a < x.sh",
        ] {
            assert!(inputs(line).names.contains("x.sh"), "{line}: {:?}", inputs(line));
        }
    }

    #[test]
    fn what_programs_look_for_is_listed() {
        for (line, file) in [
            ("make", "Makefile"),
            ("make -C sub test", "GNUmakefile"),
            ("npm run build", "package.json"),
            ("cd web && npm test", "package.json"),
            ("timeout 9 yarn build", "package.json"),
            ("npx tsc", "node_modules/.bin/tsc"),
            ("python3 -m tool run", "tool/__main__.py"),
            ("just deploy", "justfile"),
            ("docker compose up", "compose.yaml"),
            ("cargo run", "build.rs"),
            ("bundle exec rake", "Rakefile"),
            ("./gradlew build", "build.gradle"),
            ("terraform apply", "main.tf"),
            ("node .", "package.json"),
        ] {
            assert!(inputs(line).conventional.contains(file), "{line}: {:?}", inputs(line));
        }
        assert!(inputs("make -C sub test").folders.contains("sub"));
        assert!(inputs("npm --prefix=sub run x").folders.contains("sub"));
        assert!(inputs("cd a/b; sh x.sh").folders.contains("a/b"));
        assert!(inputs("env -C a sh x.sh").folders.contains("a"));
    }

    #[test]
    fn a_program_with_its_arguments_is_read_like_a_line() {
        let inputs = program_inputs(["env", "A=1", "python3", "tools/server.py", "--root", "."]);
        assert!(inputs.names.contains("tools/server.py"));
        assert!(inputs.programs.contains("python3"));
    }

    #[test]
    fn no_line_lists_without_end() {
        let files: Vec<String> = (0..5_000).map(|number| format!("f{number}")).collect();
        let line = format!("cat {}", files.join(" "));
        let inputs = inputs(&line);
        assert!(inputs.names.len() <= MOST && inputs.is_cut);
    }
}
