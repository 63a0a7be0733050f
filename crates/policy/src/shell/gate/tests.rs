use Direction::{Descriptor, Here, Read, Write};

use super::*;

fn words(text: &str) -> Vec<Vec<String>> {
    let line = parse(text).unwrap_or_else(|refusal| panic!("{text:?}: {refusal:?}"));
    let texts = |command: &Command| command.words.iter().map(|word| word.text.clone()).collect();
    line.commands.iter().map(texts).collect()
}

fn refused(text: &str) -> String {
    match parse(text) {
        Ok(line) => panic!("{text:?} passed as {:?}", line.commands),
        Err(Refusal::Complex(why) | Refusal::Limit(why)) => why,
    }
}

#[test]
fn quotes_come_off() {
    assert_eq!(words(r"echo 'don'\''t; stop'"), [["echo", "don't; stop"]]);
    assert_eq!(words(r#"echo "a\"b\\c\$d\`e\x" "#), [["echo", "a\"b\\c$d`e\\x"]]);
    assert_eq!(words(r"t''ouch p\w'n'ed"), [["touch", "pwned"]]);
    assert_eq!(words(r"echo '\' \; \&\& a\ b"), [["echo", "\\", ";", "&&", "a b"]]);
    assert_eq!(words("echo 'a\nb' \"c\nd\" ''"), [["echo", "a\nb", "c\nd", ""]]);
    assert_eq!(words(r"$'\x74ouch' $'a\tb\'\\\101\cA\u41\e'"), [["touch", "a\tb'\\A\u{1}A\u{1b}"]]);
}

#[test]
fn operators_separate_commands() {
    assert_eq!(
        words("a && b || c; d & e\nf | g |& h"),
        [["a"], ["b"], ["c"], ["d"], ["e"], ["f"], ["g"], ["h"]]
    );
    assert_eq!(words("(a; b) && { c; d; } ; ! e"), [["a"], ["b"], ["c"], ["d"], ["e"]]);
    assert_eq!(words("a &&\n# note\n b # rm -rf /\n\n"), [["a"], ["b"]]);
    assert_eq!(words("echo a#b # c"), [["echo", "a#b"]]);
    assert_eq!(
        words("echo { } {} HEAD@{1} ! a=b"),
        [["echo", "{", "}", "{}", "HEAD@{1}", "!", "a=b"]]
    );
}

#[test]
fn pipes_are_seen_through_groups() {
    let line = parse("a | (b; c) | d").unwrap();
    let flags: Vec<_> =
        line.commands.iter().map(|command| (command.reads_pipe, command.feeds_pipe)).collect();
    assert_eq!(flags, [(false, true), (true, true), (true, true), (true, false)]);
}

#[test]
fn assignments_stand_in_front() {
    let line = parse("A=1 B='x y' cmd C=2; D=").unwrap();
    let first = &line.commands[0];
    assert_eq!(first.assignments[1].value, Word::plain("x y"));
    assert_eq!(first.words, [Word::plain("cmd"), Word::plain("C=2")]);
    assert_eq!(line.commands[1].assignments[0].name, "D");
    assert!(line.commands[1].words.is_empty());
}

#[test]
fn redirections_have_a_direction() {
    let line = parse("a <i >o 2>>e 3<>b >|c &>d &>>f >&g 2>&1 <&- <<<text").unwrap();
    let found: Vec<_> = line.commands[0]
        .redirects
        .iter()
        .map(|redirect| (redirect.direction, redirect.target.text.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            (Read, "i"),
            (Write, "o"),
            (Write, "e"),
            (Write, "b"),
            (Write, "c"),
            (Write, "d"),
            (Write, "f"),
            (Write, "g"),
            (Descriptor, "1"),
            (Descriptor, "-"),
            (Here, "text"),
        ]
    );
    let line = parse("(a; b) >x 2>&1; echo 2 >y").unwrap();
    assert_eq!(line.commands[2].redirects.len(), 2);
    assert!(line.commands[2].words.is_empty());
    assert_eq!(line.commands[3].words.len(), 2);
}

#[test]
fn here_documents_are_inert() {
    let line = parse("cat <<'A' - <<-B | wc\n$(x) `y`\nA\n\tplain\n\tB\nls").unwrap();
    assert_eq!(line.commands.len(), 3);
    assert_eq!(line.commands[0].redirects[0].target.text, "$(x) `y`\n");
    assert_eq!(line.commands[0].redirects[1].target.text, "plain\n");
    for text in [
        "cat <<A\n$x\nA",
        "cat <<A\n`x`\nA",
        "cat <<A\na\\\nA\nA",
        "cat <<A",
        "cat <<A\nx",
        "cat <<A 'x\ny'\nz\nA",
        "cat <<$'A'\nA",
        "cat << 'A B'\nA B",
        "cat <<A; x \"\n\"\nA\n",
    ] {
        refused(text);
    }
}

#[test]
fn patterns_and_home_are_marked() {
    let line = parse("ls *.rs 'a*' a? [ab] [ ~ ~/x a~ HEAD~1 \"~\"").unwrap();
    let marks: Vec<_> =
        line.commands[0].words.iter().map(|word| (word.pattern, word.home)).collect();
    assert_eq!(
        marks,
        [
            (false, false),
            (true, false),
            (false, false),
            (true, false),
            (true, false),
            (false, false),
            (false, true),
            (false, true),
            (false, false),
            (false, false),
            (false, false),
        ]
    );
}

#[test]
fn everything_else_is_refused() {
    for text in [
        "echo $x",
        "echo ${x}",
        "echo $(x)",
        "echo `x`",
        "echo \"$x\"",
        "echo \"`x`\"",
        "echo $",
        "echo $\"x\"",
        "a\\\nb",
        "echo \"a\\\nb\"",
        "echo a\\",
        "echo 'a",
        "echo \"a",
        "echo $'a",
        "echo {a,b}",
        "echo {1..3}",
        "echo {a,'b'}",
        "echo ~root",
        "echo ~+",
        "echo a=~",
        "a=~/x",
        "PATH=x:~",
        "echo x:~/y",
        "ls {fd}>x",
        "ls {fd}<x",
        "ls @(a)",
        "ls !(a)",
        "f() { x; }",
        "f () { x; }",
        "if a; then b; fi",
        "for i in a; do b; done",
        "while a; do b; done",
        "case a in b) c;; esac",
        "select a in b; do c; done",
        "function f { a; }",
        "time a",
        "coproc a",
        "[[ a ]]",
        "((a))",
        "(( a ))",
        "a=(b)",
        "a+=b",
        "a[0]=b",
        "a[$(x)]=b c",
        "cat <(a)",
        "cat >(a)",
        "cat < <(a)",
        "a >",
        "a > # b",
        "a >*",
        "a > $x",
        "a 2>&x",
        "a >&-x",
        "a >&2x",
        "a >&'2'",
        "a >&2-",
        "a <&x",
        "a 1234>x",
        "(",
        ")",
        "()",
        "( )",
        "{ }",
        "{ a",
        "{ a }",
        "a )",
        "}",
        "a; }",
        "a &&",
        "&& a",
        "a | | b",
        "a ;; b",
        "a ;& b",
        "; a",
        "! ",
        "a & & b",
        "(a) b",
        "{ a; } b",
        "a (b)",
        "a 'x*'*",
        "a [\\!a]",
        "then",
        "fi",
        "$'a\\0b'",
        "$'\\xff'",
        "$'\\u00e9'",
        "$'\\q'",
        "$'\\x'",
        "$'\\c\\\\'",
        "a=*",
        "x y=*",
        "a >>2>&1",
        "a >{fd}>o",
        "a <<<{fd}>o",
        "a >&x-",
        "a ||",
        "a |",
        "a |&",
        "echo x{a,b",
        "a <<<",
        "a <<",
    ] {
        refused(text);
    }
}

#[test]
fn limits_hold() {
    let deep = format!("{} a {}", "( ".repeat(40), ") ".repeat(40));
    assert!(matches!(parse(&deep), Err(Refusal::Limit(_))));
    let many = vec!["a"; MOST_COMMANDS + 1].join(";");
    assert!(matches!(parse(&many), Err(Refusal::Limit(_))));
    assert!(parse(&vec!["a"; MOST_COMMANDS].join(";")).is_ok());
}
