//! Which language a block of code is in.

use dom_query::{Document, NodeRef};

/// What is written before a language in a class.
const PREFIXES: &[&str] =
    &["language-", "lang-", "highlight-source-", "highlight-text-", "highlight-", "brush:"];
/// Words in classes beside `highlight-` that are no languages.
const NO_LANGUAGES: &[&str] = &[
    "default",
    "none",
    "notranslate",
    "text",
    "plaintext",
    "plain",
    "console-output",
    "wrapper",
    "block",
];

/// Notes the language of each block of code where it is looked for.
pub(super) fn name_languages(document: &Document) {
    for node in document.root().descendants() {
        if node.has_name("pre")
            && let Some(language) = language(&node)
        {
            node.set_attr("data-lang", &language);
        }
    }
}

/// The language of a block: said by itself, by the code in it, or by what is around it.
fn language(block: &NodeRef<'_>) -> Option<String> {
    let inside = block.children_it(false).filter(|child| child.has_name("code"));
    let around = block.ancestors_it(Some(2));
    std::iter::once(*block).chain(inside).chain(around).find_map(|node| {
        let given = node.attr("data-lang").or_else(|| node.attr("data-language"));
        given.map(|given| given.to_string()).or_else(|| by_class(&node.class()?))
    })
}

fn by_class(classes: &str) -> Option<String> {
    let joined = classes.replace("brush: ", "brush:");
    let words = || joined.split_whitespace();
    let named = words().find_map(|word| {
        let language = PREFIXES.iter().find_map(|prefix| word.strip_prefix(prefix))?;
        let language = language.trim_end_matches(';').to_ascii_lowercase();
        (!language.is_empty() && !NO_LANGUAGES.contains(&language.as_str())).then_some(language)
    });
    // Rustdoc says `rust rust-example-rendered`, Pandoc `sourceCode rust`.
    named.or_else(|| {
        let marked =
            words().any(|word| matches!(word, "sourceCode" | "rust-example-rendered" | "src"));
        let bare = words().find(|word| {
            !matches!(*word, "sourceCode" | "rust-example-rendered" | "src" | "numberSource")
                && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
        });
        bare.filter(|_| marked).map(|word| word.trim_start_matches("src-").to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_found_in_the_classes_of_many_generators() {
        for (classes, language) in [
            ("language-rust", Some("rust")),
            ("code-block lang-JS", Some("js")),
            ("highlight highlight-source-shell", Some("shell")),
            ("highlight-python notranslate", Some("python")),
            ("highlight-default notranslate", None),
            ("brush: js; notranslate", Some("js")),
            ("sourceCode haskell", Some("haskell")),
            ("rust rust-example-rendered", Some("rust")),
            ("src src-elisp", Some("elisp")),
            ("highlight", None),
            ("", None),
        ] {
            assert_eq!(by_class(classes).as_deref(), language, "{classes}");
        }
    }
}
