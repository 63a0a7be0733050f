//! A tree with every kind of file and ignore file.

use crate::harness::Lab;

/// Whether a tree is a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Repository,
    Elsewhere,
}

/// A tree with every kind of file and ignore file.
pub(super) fn tree(place: Place) -> Lab {
    let text = "fn main() {\n    let Foo = foo(12, \"bar\");\n}\n\nTODO: caf\u{e9} na\u{ef}ve \u{3b1}\u{3b2}\u{393}\nfoo bar foo_bar foobar\n";
    let lab = Lab::with([
        (
            ".gitignore",
            "*.log\n!important.log\n/build/\nnested/*.tmp\ndocs/**/draft\n\\#literal\n# comment\nspace\\ \n[ab]?.o\n",
        ),
        (".ignore", "by-ignore.txt\n!wanted.log\n"),
        (".rgignore", "by-rg.txt\n!by-ignore-but-rg.txt\n"),
        ("src/.gitignore", "generated/*\n!generated/keep.rs\n*.bak\n"),
        ("src/deep/.ignore", "!again.log\n*.bak2\n"),
        ("vendor/lib/.gitignore", "*.own\n"),
        ("blanket/.gitignore", "*\n!*/\n!*.md\n"),
    ]);
    if place == Place::Repository {
        lab.put(".git/HEAD", "foo\n");
        lab.put(".git/info/exclude", "excluded.txt\n/only-at-top.txt\n");
        lab.put("vendor/lib/.git/HEAD", "");
    }
    for path in [
        "main.rs",
        "src/lib.rs",
        "src/a.bak",
        "src/generated/x.rs",
        "src/generated/keep.rs",
        "src/deep/again.log",
        "src/deep/other.log",
        "src/deep/a.bak2",
        "src/deep/a.bak",
        "a.log",
        "important.log",
        "wanted.log",
        "build/out.rs",
        "src/build/out.rs",
        "nested/a.tmp",
        "nested/deeper/a.tmp",
        "docs/draft",
        "docs/x/y/draft/z.md",
        "docs/final.md",
        "excluded.txt",
        "src/excluded.txt",
        "only-at-top.txt",
        "src/only-at-top.txt",
        "by-ignore.txt",
        "by-rg.txt",
        "by-ignore-but-rg.txt",
        "#literal",
        "space ",
        "a1.o",
        "c1.o",
        ".hidden.txt",
        ".config/settings.txt",
        "src/.env",
        "node_modules/x/index.js",
        "src/node_modules/y.js",
        "vendor/lib/a.log",
        "vendor/lib/a.own",
        "vendor/lib/only-at-top.txt",
        "blanket/a.txt",
        "blanket/b.md",
        "blanket/sub/c.md",
        "\u{fc}n\u{ef}/\u{65e5}\u{672c}.txt",
        "with space/a b.txt",
        "UPPER.TXT",
    ] {
        lab.put(path, text);
    }
    lab.put("crlf.txt", text.replace('\n', "\r\n"));
    lab.put("utf16le.txt", utf16(text, u16::to_le_bytes));
    lab.put("utf16be.txt", utf16(text, u16::to_be_bytes));
    lab.put("marked.txt", format!("\u{feff}{text}"));
    lab.put("latin1.txt", b"caf\xe9 foo\nna\xefve\n");
    lab.put("early.bin", format!("\0{text}"));
    lab.put("late.bin", format!("{text}{}\0", "filler\n".repeat(30_000)));
    lab.put("empty.txt", "");
    lab.put("no-end.txt", "foo");
    lab.put("long.txt", format!("{}foo{}\n", "x".repeat(9_000), "y".repeat(9_000)));
    lab
}

fn utf16(text: &str, order: fn(u16) -> [u8; 2]) -> Vec<u8> {
    [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(order).collect()
}
