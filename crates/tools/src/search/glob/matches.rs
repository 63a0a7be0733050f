//! What a search for files found, compact and newest first.

use std::cmp::Reverse;
use std::ffi::OsStr;
use std::ops::Range;
use std::path::Path;

use toolgate_core::visible;

/// Files one thread found. What is shown of them is made there and only copied later.
#[derive(Debug, Default)]
pub(super) struct Part {
    /// Paths of folders and names of files, their control characters made visible.
    text: String,
    groups: Vec<Group>,
    files: Vec<File>,
}

/// Files found in one folder, newest first. A large folder may come in several groups.
#[derive(Debug, Clone)]
struct Group {
    /// Which part it is in, once parts are put together.
    part: usize,
    /// Where the folder's path stands in the text, its last slash included.
    path: Range<usize>,
    files: Range<usize>,
}

/// Kept small, because there are many.
#[derive(Debug, Clone, Copy)]
struct File {
    /// In nanoseconds.
    changed: i64,
    /// Where the name stands in the text.
    start: u32,
    length: u16,
}

impl Part {
    /// The files that follow are in this folder, named from where the search began.
    pub(super) fn enter(&mut self, folder: &Path) {
        self.end_group();
        let start = self.text.len();
        visible::push_path(&mut self.text, folder);
        if self.text.len() > start {
            self.text.push('/');
        }
        self.start_group(start);
    }

    /// Takes a match.
    pub(super) fn push(&mut self, name: &OsStr, changed: i64) {
        let start = self.text.len();
        visible::push_path(&mut self.text, Path::new(name));
        self.add_file(start, changed);
    }

    /// Puts everything in order.
    pub(super) fn finish(&mut self) {
        self.end_group();
        let Self { text, groups, .. } = self;
        groups.sort_unstable_by(|left, right| left.path(text).cmp(right.path(text)));
    }

    /// Takes the groups of one folder as a single one.
    fn join(&mut self, pieces: &[Group], parts: &[Part]) -> Option<Group> {
        let start = self.text.len();
        self.text.push_str(pieces.first()?.path_in(parts));
        self.start_group(start);
        for piece in pieces {
            let part = parts.get(piece.part)?;
            for file in part.files.get(piece.files.clone())? {
                let start = self.text.len();
                self.text.push_str(file.name(&part.text));
                self.add_file(start, file.changed);
            }
        }
        self.end_group();
        self.groups.pop()
    }

    /// Begins a group whose path is the text from a position on.
    fn start_group(&mut self, start: usize) {
        let files = self.files.len()..self.files.len();
        self.groups.push(Group { part: 0, path: start..self.text.len(), files });
    }

    /// Takes a file whose name is the text from a position on; gigabytes of names are more
    /// than anybody can use.
    fn add_file(&mut self, start: usize, changed: i64) {
        let length = self.text.len() - start;
        if let (Ok(start), Ok(length)) = (u32::try_from(start), u16::try_from(length)) {
            self.files.push(File { changed, start, length });
        }
    }

    /// Puts the files of the last group in order, or drops it when it has none.
    fn end_group(&mut self) {
        let Self { text, groups, files } = self;
        let Some(group) = groups.last_mut() else {
            return;
        };
        group.files.end = files.len();
        if group.files.is_empty() {
            text.truncate(group.path.start);
            groups.pop();
        } else if let Some(files) = files.get_mut(group.files.clone()) {
            files.sort_unstable_by(|left, right| {
                let newest_first = right.changed.cmp(&left.changed);
                newest_first.then_with(|| left.bytes(text).cmp(right.bytes(text)))
            });
        }
    }
}

impl Group {
    fn path<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.path.clone()).unwrap_or_default()
    }

    fn path_in<'p>(&self, parts: &'p [Part]) -> &'p str {
        parts.get(self.part).map_or("", |part| self.path(&part.text))
    }
}

impl File {
    fn name<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.range()).unwrap_or_default()
    }

    /// The name in the bytes of the text, which are quicker to get at for a comparison.
    fn bytes<'t>(&self, text: &'t str) -> &'t [u8] {
        text.as_bytes().get(self.range()).unwrap_or_default()
    }

    fn range(&self) -> Range<usize> {
        let start = self.start as usize;
        start..start + usize::from(self.length)
    }
}

/// All files found, newest first; those as old as each other by folder, then by name.
#[derive(Debug, Default)]
pub(super) struct Matches {
    parts: Vec<Part>,
    groups: Vec<Group>,
    runs: Vec<Run>,
    count: usize,
}

/// Files of one group that are as old as each other: in most trees nearly all are, so there
/// is far less to sort than there are files.
#[derive(Debug)]
struct Run {
    changed: i64,
    group: usize,
    files: Range<usize>,
}

impl Matches {
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Puts parts that are in order into one that is.
    pub(super) fn merge(mut parts: Vec<Part>) -> Self {
        let count = parts.iter().map(|part| part.files.len()).sum();
        let mut groups = Vec::new();
        for (number, part) in parts.iter_mut().enumerate() {
            let own = std::mem::take(&mut part.groups);
            groups.extend(own.into_iter().map(|group| Group { part: number, ..group }));
        }
        // Sorts are stable: this one merges what is in order, and the next one keeps that order.
        groups.sort_by(|left, right| left.path_in(&parts).cmp(right.path_in(&parts)));
        let groups = join_pieces(&groups, &mut parts);
        let mut runs = runs_of(&groups, &parts);
        runs.sort_by_key(|run| Reverse(run.changed));
        Self { parts, groups, runs, count }
    }

    /// Folder and name of each file, to be written one after the other.
    pub(super) fn paths(&self) -> impl Iterator<Item = (&str, &str)> {
        self.runs.iter().filter_map(|run| self.paths_of(run)).flatten()
    }

    fn paths_of(&self, run: &Run) -> Option<impl Iterator<Item = (&str, &str)>> {
        let group = self.groups.get(run.group)?;
        let part = self.parts.get(group.part)?;
        let folder = group.path(&part.text);
        let files = part.files.get(run.files.clone())?;
        Some(files.iter().map(move |file| (folder, file.name(&part.text))))
    }
}

/// Large folders are found in pieces, which are put together in a part of their own.
fn join_pieces(groups: &[Group], parts: &mut Vec<Part>) -> Vec<Group> {
    let mut joined = Part::default();
    let mut whole = Vec::with_capacity(groups.len());
    for pieces in groups.chunk_by(|left, right| left.path_in(parts) == right.path_in(parts)) {
        if let [single] = pieces {
            whole.push(single.clone());
        } else if let Some(group) = joined.join(pieces, parts) {
            whole.push(Group { part: parts.len(), ..group });
        }
    }
    parts.push(joined);
    whole
}

fn runs_of(groups: &[Group], parts: &[Part]) -> Vec<Run> {
    let mut runs = Vec::with_capacity(groups.len());
    for (number, group) in groups.iter().enumerate() {
        let files = parts.get(group.part).and_then(|part| part.files.get(group.files.clone()));
        let mut start = group.files.start;
        let same_time = |left: &File, right: &File| left.changed == right.changed;
        for same in files.unwrap_or_default().chunk_by(same_time) {
            let end = start + same.len();
            let changed = same.first().map_or(0, |file| file.changed);
            runs.push(Run { changed, group: number, files: start..end });
            start = end;
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(folders: &[(&str, &[(&str, i64)])]) -> Part {
        let mut part = Part::default();
        for (folder, files) in folders {
            part.enter(Path::new(folder));
            for (name, changed) in *files {
                part.push(OsStr::new(name), *changed);
            }
        }
        part.finish();
        part
    }

    fn merged(parts: Vec<Part>) -> Vec<String> {
        let matches = Matches::merge(parts);
        assert_eq!(matches.paths().count(), matches.len());
        matches.paths().map(|(folder, name)| format!("{folder}{name}")).collect()
    }

    #[test]
    fn newest_come_first_then_folders_then_names() {
        let one = part(&[("b", &[("z", 1), ("y", 1), ("new", 9)]), ("", &[("top", 1)])]);
        let two = part(&[("c", &[]), ("a/d", &[("x", 1)]), ("a", &[("w", 1), ("old", 0)])]);
        let expected = ["b/new", "top", "a/w", "a/d/x", "b/y", "b/z", "a/old"];
        assert_eq!(merged(vec![one, two]), expected);
    }

    #[test]
    fn a_folder_found_in_pieces_is_put_together() {
        let one = part(&[("f", &[("a", 1), ("d", 1)]), ("g", &[("x", 1)]), ("f", &[("c", 1)])]);
        let two = part(&[("f", &[("b", 1), ("e", 2)])]);
        assert_eq!(merged(vec![one, two]), ["f/e", "f/a", "f/b", "f/c", "f/d", "g/x"]);
    }

    #[test]
    fn control_characters_are_shown() {
        let odd = part(&[("a\nb", &[("c\u{1b}d", 0)])]);
        assert_eq!(merged(vec![odd]), ["a\\nb/c\\x1bd"]);
    }
}
