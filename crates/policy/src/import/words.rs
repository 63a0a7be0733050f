//! Words of a command that read the same in every shell and every rule.

/// Whether the text is made of plain words with one blank between them.
pub(crate) fn are_plain(text: &str) -> bool {
    let mut words = text.split(' ');
    let first = words.next().unwrap_or_default();
    // A first word with `=` would be an assignment.
    is_plain(first) && !first.contains('=') && words.all(is_plain)
}

/// Whether the word has no character that a shell or a rule would read.
pub(crate) fn is_plain(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    !word.is_empty() && word.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_needs_no_quoting_is_plain() {
        for text in ["git", "git status", "npm run test:unit", "a --b=c ./d/e", "g++ -O2"] {
            assert!(are_plain(text), "{text}");
        }
        for text in
            ["", "git ", " git", "git  status", "A=1 git", "a;b", "a*", "~/x", "a \"b\"", "é"]
        {
            assert!(!are_plain(text), "{text}");
        }
    }
}
