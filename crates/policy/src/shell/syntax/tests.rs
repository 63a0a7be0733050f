use std::time::Duration;

use toolgate_testing::processor_time;

use super::*;
use crate::shell::command::Reading;
use crate::shell::reading::read;

/// Whether `touch pwned` is among the commands of a complex line.
fn sees_touch(text: &str) -> bool {
    let Reading::Complex { commands, .. } = read(text) else {
        panic!("{text:?} is read as {:?}", read(text))
    };
    commands.iter().any(|command| command.name() == Some("touch"))
}

#[test]
fn literal_lines_are_confirmed() {
    for text in [
        "ls -la && cat README.md",
        "cat <<'EOF'\nrm -rf / ; $(curl evil) `id`\nkill the lights\nEOF",
        "git commit -F - <<'EOF'\nfeat: x\n\nit's done; `really`\nEOF",
        "cat <<'A' 2>&1 | sh\ntouch pwned\nA",
        "cat <<A <<-B\nx\nA\n\ty\n\tB\nls",
        "echo 'don'\\''t; stop'",
        "echo \\&\\& ls",
        "find . -name '*;*'",
        "echo done # rm -rf /",
        "sed -E 's/(a+)/[\\1]/' notes.txt",
        "cargo test > /dev/null 2>&1 && echo pass || echo fail",
        "(a; b) > x | { c; d; } 2>&1 &",
        "[ -d src ] && ls src",
        "a=1 b='2 3' cmd x=y; c=",
        "cmd a[0] b[x] [ab]* *.rs",
        "echo $'a\\'b' \"x \\\" y\" ''",
        "a |& b |& (c; d) |& e",
        "! grep -q x y\nls;\n\n pwd &\nid",
        "> README.md",
        "2>/dev/null touch pwned",
        "exec 3<.env; cat <&3",
        "echo {} HEAD@{1} !",
    ] {
        assert!(matches!(read(text), Reading::Literal(_)), "{text:?}: {:?}", read(text));
    }
}

#[test]
fn hidden_commands_are_found() {
    for text in [
        "echo $(touch pwned)",
        "echo `touch pwned`",
        "echo \"$(touch pwned)\"",
        "echo \"`touch pwned`\"",
        "echo a$(echo $(echo `touch pwned`))b",
        "echo `echo \\`touch pwned\\``",
        "x=$(touch pwned)",
        "x=$(touch pwned) ls",
        "cat ${x:-<(touch pwned)}",
        "cat <(touch pwned)",
        "echo hi > >(touch pwned)",
        "cat <<EOF\n$(touch pwned)\nEOF",
        "cat <<EOF\n'$(touch pwned)'\nEOF",
        "cat <<EOF\n$\\\n(touch pwned)\nEOF",
        "echo $(( a[$(touch pwned)] ))",
        "(( n = a[$(touch pwned)] ))",
        "echo $[ x='a[$(touch pwned)]', x ]",
        "[[ 'x[$(touch pwned)]' -eq 0 ]]",
        "[[ $(touch pwned) == a ]]",
        "[[ a =~ (b|$(touch pwned)) ]]",
        "echo ${x:-$(touch pwned)}",
        "echo \"${x:-'$(touch pwned)'}\"",
        "echo ${x:$(touch pwned):1}",
        "echo ${x[$(touch pwned)]}",
        "a[$(touch pwned)]=1",
        "a[$(touch pwned)]=1 ls",
        "a=($(touch pwned))",
        "a=([$(touch pwned)]=b)",
        "declare a=$(touch pwned)",
        "if true; then touch pwned; fi",
        "if a; then b; elif touch pwned; then c; else d; fi",
        "if a; then b; else touch pwned; fi",
        "while touch pwned; do b; done",
        "until a; do touch pwned; done",
        "for i in $(touch pwned); do b; done",
        "for ((i=0;i<1;i++)); do touch pwned; done",
        "for ((i=$(touch pwned);i<1;i++)); do a; done",
        "case $(touch pwned) in a) b;; esac",
        "case a in $(touch pwned)) b;; esac",
        "case a in a) touch pwned;; esac",
        "echo $(case a in a) touch pwned;; esac)",
        "echo $(echo a # )\ntouch pwned)",
        "echo $(echo ')'; touch pwned)",
        "echo $(cat <<E\n)\nE\ntouch pwned)",
        "f() { touch pwned; }; f",
        "function f { touch pwned; }",
        "f() (touch pwned)",
        "coproc touch pwned",
        "coproc x { touch pwned; }",
        "time touch pwned",
        "tou\\\nch pwned $x",
        "echo \"$\\\n(touch pwned)\"",
        "echo $((touch pwned); echo)",
        "a | $b | (touch pwned)",
        "{ touch pwned; } > $x",
        "echo \"$(echo \"$(touch pwned)\")\"",
        "(( a << 'x' $(touch pwned) ))",
        "((echo a; (cat <<'E' && touch pwned\nF\nE\n)) && b)",
        "((a); cat <<E\ntouch pwned\nE\n)",
        "echo ${x/a/$(touch pwned)} ${y^^}",
        "echo \"${x:-\"'$(touch pwned)'\"}\"",
        "select a in b; do touch pwned; done || touch pwned $x",
    ] {
        if let Reading::Unreadable { .. } = read(text) {
            println!("unreadable: {text:?}");
            continue;
        }
        assert!(sees_touch(text), "{text:?}: {:?}", read(text));
    }
}

#[test]
fn quoted_text_is_no_command() {
    for text in [
        "echo $x '$(touch pwned)'",
        "echo $x \\$(echo) '`touch pwned`'",
        "cat $x <<'EOF'\n$(touch pwned)\nEOF",
    ] {
        if let Reading::Unreadable { .. } = read(text) {
            continue;
        }
        assert!(!sees_touch(text), "{text:?}");
    }
}

#[test]
fn what_cannot_be_parsed_is_unreadable() {
    for text in [
        "",
        "  ",
        "# only a note",
        "ls &&",
        "echo `touch pwned",
        "echo 'a",
        "ls; )",
        "a\n((",
        "fi",
        "cat <<A\nx",
        "echo $(",
        "echo ${",
        "echo hi\ntouch pwned\nif",
    ] {
        assert!(matches!(read(text), Reading::Unreadable { .. }), "{text:?}: {:?}", read(text));
    }
}

#[test]
fn nesting_costs_no_time() {
    let nested = |open: &str, close: &str, depth: usize| {
        format!("{} a; b {}", open.repeat(depth), close.repeat(depth))
    };
    let mut lines = Vec::new();
    for depth in [5, 8, 12, 31, 200, 5000] {
        for (open, close) in [
            ("( ", " )"),
            ("(", ")"),
            ("((", ""),
            ("$(", ")"),
            ("echo $(", ")"),
            ("echo ${x:-", "}"),
            ("echo $((", "))"),
            ("a[", "]"),
            ("a[${x:-a[", "]}]"),
            ("a[\"${x:-", "}\"]"),
            ("{ ", "; }"),
            ("if ", "; then a; fi"),
            ("if a; then ", "; fi"),
            ("while ", "; do a; done"),
            ("case a in a) ", "; esac"),
            ("case a in a) (", "); esac"),
            ("cat <(", ")"),
            ("cat <(", ""),
            ("[[ ( ", " ) ]]"),
            ("[[ ! ", " ]]"),
            ("! ", ""),
            ("f() { ", "; }"),
            ("function f { ", "; }"),
            ("coproc ", ""),
            ("echo `", "`"),
            ("echo \"$(", ")\""),
            ("{a,", "}"),
            ("echo {", "}"),
            ("@(", ")"),
            ("[[ a =~ (", ") ]]"),
            ("for ((", ")); do a; done"),
            ("for i in a; do ", "; done"),
            ("x=(", ")"),
            ("<<A ", "\nA\n"),
            ("time ", ""),
        ] {
            lines.push(nested(open, close, depth));
        }
    }
    for line in lines {
        let start = processor_time();
        let _ = read(&line);
        let spent = processor_time().saturating_sub(start);
        let shown: String = line.chars().take(60).collect();
        assert!(spent < Duration::from_secs(3), "{shown} ({}) took {spent:?}", line.len());
        if spent > Duration::from_millis(200) {
            println!("{shown} ({}) took {spent:?}", line.len());
        }
    }
}

#[test]
fn the_walk_keeps_the_shape_of_commands() {
    let commands = walk("FOO=1 curl $x 2>&1 | sh > out <<< \"$y\"").unwrap();
    assert_eq!(commands[0].assignments[0].name, "FOO");
    assert!(commands[0].feeds_pipe && commands[1].reads_pipe);
    assert!(!commands[0].words[1].known);
    assert_eq!(commands[1].redirects[0].target.text, "out");
}
