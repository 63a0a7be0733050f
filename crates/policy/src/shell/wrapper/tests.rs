use super::*;

fn literal(text: &str) -> Vec<Command> {
    match read(text) {
        Reading::Literal(line) => line.commands,
        Reading::Complex { commands, .. } => commands,
        Reading::Unreadable { why } => panic!("{text:?}: {why}"),
    }
}

fn found(text: &str) -> Vec<Ran> {
    literal(text).iter().flat_map(runs).collect()
}

fn is_touch(ran: &Ran) -> bool {
    let words: Vec<_> = ran.command.words.iter().map(|word| word.text.as_str()).collect();
    words.first().is_some_and(|name| normal_name(name) == "touch")
}

#[test]
fn understood_wrappers_are_certain() {
    for text in [
        "env touch pwned",
        "env -i FOO=1 /usr/bin/touch pwned",
        "env -u X -C /tmp touch pwned",
        "env - touch pwned",
        "env -S 'touch pwned'",
        "nice touch pwned",
        "nice -n 5 touch pwned",
        "nice -10 touch pwned",
        "timeout -s KILL 5s touch pwned",
        "timeout --signal=9 -k 1 5 touch pwned",
        "nohup touch pwned",
        "command touch pwned",
        "command -p -- touch pwned",
        "builtin eval 'touch pwned'",
        "exec -a x touch pwned",
        "xargs -0 -n1 -I{} touch {}",
        "xargs -P 4 --max-args 1 touch",
        "sudo -u root -E FOO=1 touch pwned",
        "doas -u root touch pwned",
        "stdbuf -oL -e 0 touch pwned",
        "setsid -w touch pwned",
        "busybox touch pwned",
        "ionice -c 3 touch pwned",
        "chrt -f 10 touch pwned",
        "taskset -c 0 touch pwned",
        "strace -f -o /dev/null touch pwned",
        "chroot --userspec=a / touch pwned",
        "sudo env nice -n 1 timeout 5 touch pwned",
        "sh -c 'touch pwned'",
        "bash -lc \"ls; touch pwned\"",
        "bash -e -o pipefail -c 'touch pwned' x y",
        "bash --norc -c 'touch pwned'",
        "sudo sh -c 'env touch pwned'",
        "bash <<'EOF'\ntouch pwned\nEOF",
        "sudo bash -s <<< 'touch pwned'",
        "eval \"to\"\"uch pwned\"",
        "eval touch pwned",
        "trap 'touch pwned' EXIT",
        "find . -exec touch {} \\;",
        "find . -name x -execdir ls {} + -ok touch pwned \\;",
        "fd -x touch pwned",
        "fd -e rs -X touch pwned",
        "fd --exec touch pwned",
        "flock ./lock -c 'touch pwned'",
        "su -c 'touch pwned' root",
        "script -qc 'touch pwned' /dev/null",
        "ssh host touch pwned",
        "watch -n 1 'touch pwned'",
    ] {
        let touches: Vec<_> = found(text).into_iter().filter(is_touch).collect();
        assert!(touches.iter().any(|ran| ran.certain), "{text:?}: {:?}", found(text));
    }
}

#[test]
fn what_is_not_understood_is_guessed() {
    for text in [
        "flock ./lock touch pwned",
        "env --weird x touch pwned",
        "sudo --new-option x touch pwned",
        "timeout --new 5 touch pwned",
        "parallel touch ::: pwned",
        "parallel 'touch {}' ::: pwned",
        "ip netns exec x touch pwned",
        "docker run --rm -v a:b image touch pwned",
        "docker exec -it box sh -c 'touch pwned'",
        "npx -y touch pwned",
        "npm exec -- touch pwned",
        "npx -c 'touch pwned'",
        "npm test --script-shell='touch pwned'",
        "cargo test --config 'touch pwned'",
        "go test -exec 'touch pwned'",
        "go vet -vettool='touch pwned'",
        "nsenter -t 1 -m touch pwned",
        "systemd-run --user --wait touch pwned",
        "unshare -r touch pwned",
        "git -c alias.x='!touch pwned' x",
        "git -c core.pager='touch pwned' log",
        "git rebase --exec 'touch pwned' main",
        "git bisect run touch pwned",
        "git submodule foreach 'touch pwned'",
        "git ls-remote --upload-pack='touch pwned' .",
        "alias ls='touch pwned'",
        "test -v 'x[$(touch pwned)]'",
        "[ -v 'x[`touch pwned`]' ]",
        "printf -v 'x[$(touch pwned)]' a",
        "bash -c \"touch $x\"",
        "eval touch $x",
        "runuser -u root -- touch pwned",
        "fd -xtouch pwned",
        "xargs -i touch {}",
        "watch -x touch pwned",
    ] {
        let touches: Vec<_> = found(text).into_iter().filter(is_touch).collect();
        assert!(!touches.is_empty(), "{text:?}: {:?}", found(text));
    }
}

#[test]
fn what_cannot_be_seen_is_said() {
    for text in [
        "source notes.txt",
        ". ./x",
        "bash notes.txt",
        "curl x | sh",
        "sh",
        "sh -c \"$x\"",
        "eval \"$x\"",
        "bash < x",
        "sh -c 'echo ('",
        "bash --rcfile x -i",
    ] {
        let unseen = found(text).iter().any(|ran| ran.command.words.is_empty() && !ran.certain);
        assert!(unseen, "{text:?}: {:?}", found(text));
    }
}

#[test]
fn harmless_lines_run_nothing_else() {
    for text in [
        "echo touch pwned",
        "command -v touch",
        "git commit -m 'touch pwned'",
        "ls",
        "docker ps",
        "npm test",
        "npm config set x=touch",
        "cargo test touch",
        "go test ./touch",
        "grep -rn 'eval(' src",
        "find . -name touch",
        "git log --author=touch",
        "printf '%s\\n' touch",
        "test -f touch",
    ] {
        assert_eq!(found(text), [], "{text:?}");
    }
}

#[test]
fn through_names_the_programs() {
    let ran = found("sudo env sh -c 'touch pwned'");
    assert_eq!(ran.last().unwrap().through, "sudo env sh");
}

#[test]
fn nesting_ends() {
    let deep = format!("{}touch pwned", "env ".repeat(60));
    assert!(found(&deep).iter().any(|ran| ran.command.words.is_empty()));
    let wide = format!("parallel {}", "xargs --odd bash ".repeat(200));
    assert!(found(&wide).len() <= MOST + 2);
}

#[test]
fn git_options_are_skipped() {
    let short = |text: &str| {
        let words = git_without_globals(&literal(text)[0].words);
        words.iter().map(|word| word.text.clone()).collect::<Vec<_>>().join(" ")
    };
    for text in [
        "git push",
        "git -C x push",
        "git -c a=b push",
        "git --git-dir=x --work-tree y push",
        "git --no-pager -p push",
        "git --exec-path=x --config-env a=B push",
    ] {
        assert_eq!(short(text), "git push", "{text:?}");
    }
}
