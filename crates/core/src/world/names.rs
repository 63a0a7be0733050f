//! The files a shell pattern stands for.

use std::path::Path;

use globset::GlobBuilder;

/// More files than this are not written out.
const MOST_NAMES: usize = 5_000;

/// The names a pattern stands for in a folder, in order; nothing when there are too many or the
/// pattern is not understood.
pub(super) fn expand(folder: &Path, pattern: &str) -> Option<Vec<String>> {
    let mut found = vec![if pattern.starts_with('/') { "/".to_owned() } else { String::new() }];
    let mut looked = 0;
    let parts: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty()).collect();
    for (number, part) in parts.iter().enumerate() {
        let is_last = number + 1 == parts.len();
        let mut next = Vec::new();
        for start in &found {
            if !part.contains(['*', '?', '[']) {
                next.push(joined(start, part));
                continue;
            }
            let glob =
                GlobBuilder::new(&plain_braces(part)).literal_separator(true).build().ok()?;
            let matcher = glob.compile_matcher();
            for entry in folder.join(start).read_dir().into_iter().flatten().flatten() {
                looked += 1;
                if looked > MOST_NAMES {
                    return None;
                }
                let name = entry.file_name().into_string().ok()?;
                let is_hidden = name.starts_with('.') && !part.starts_with('.');
                let is_usable = is_last || entry.path().is_dir();
                if !is_hidden && is_usable && matcher.is_match(&name) {
                    next.push(joined(start, &name));
                }
            }
        }
        next.sort();
        found = next;
    }
    found.retain(|name| std::fs::symlink_metadata(folder.join(name)).is_ok());
    Some(found)
}

fn joined(start: &str, name: &str) -> String {
    match start {
        "" => name.to_owned(),
        start if start.ends_with('/') => format!("{start}{name}"),
        start => format!("{start}/{name}"),
    }
}

/// Braces mean nothing here: the shell has replaced them before.
fn plain_braces(part: &str) -> String {
    part.replace('\\', "\\\\").replace('{', "[{]").replace('}', "[}]").replace("[^", "[!")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_the_shell_would_put_there() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.rs", "b.rs", ".hidden", "c.txt"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        std::fs::create_dir_all(folder.path().join("sub/deep")).unwrap();
        std::fs::write(folder.path().join("sub/deep/d.rs"), "").unwrap();
        let expand = |pattern: &str| expand(folder.path(), pattern).unwrap();
        assert_eq!(expand("*.rs"), ["a.rs", "b.rs"]);
        assert_eq!(expand("*/deep/?.rs"), ["sub/deep/d.rs"]);
        assert_eq!(expand(".h*"), [".hidden"]);
        assert_eq!(expand("[ab].*"), ["a.rs", "b.rs"]);
        assert_eq!(expand("x*"), Vec::<String>::new());
    }
}
