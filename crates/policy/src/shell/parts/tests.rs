use proptest::prelude::*;

use super::*;

#[test]
fn parts_say_what_they_may_do() {
    let cases: &[(&str, &[&str])] = &[
        ("ls -l", &["only looks"]),
        ("cd src && ls", &["goes to src", "only looks"]),
        ("sort a > out.txt", &["only looks, writes out.txt"]),
        ("sort < a 2> /dev/null", &["only looks, reads a"]),
        ("python3 x.py", &["runs python3 code that cannot be seen"]),
        ("sh x.sh", &["runs sh code that cannot be seen"]),
        ("sh -c 'touch a; ls'", &["runs another program: touch a; ls"]),
        ("env touch a", &["runs another program: touch a"]),
        ("npx thing", &["runs another program that cannot be told for certain"]),
        ("rm -rf build", &["deletes files"]),
        ("find . -delete", &["deletes files"]),
        ("git clean -fd", &["deletes files"]),
        ("curl https://x.org", &["reaches the network"]),
        ("git push", &["reaches the network"]),
        ("npm ci", &["reaches the network"]),
        ("A=1", &["sets A"]),
        ("npm test", &["may do more than look (`npm`: not a program that is known to only look)"]),
    ];
    for (line, expected) in cases {
        let may: Vec<String> = parts(line).into_iter().map(|part| part.may).collect();
        assert_eq!(may, *expected, "{line}");
    }
}

#[test]
fn dangers_and_what_is_not_known_are_told() {
    let told = |line: &str| parts(line).iter().map(|part| part.may.clone()).collect::<Vec<_>>();
    assert!(told("sudo ls")[0].contains("takes or gives rights, runs another program: ls"));
    assert!(told("rm -rf /")[0].contains("removes `/`"));
    let unknown = told("echo $(id)");
    assert!(unknown.last().unwrap().starts_with("decides things while it runs"));
    assert!(told("echo 'x")[0].starts_with("cannot be read"));
    assert_eq!(parts(&"ls;".repeat(60)).len(), MOST + 1);
    assert!(parts(&format!("ls {}", "x".repeat(4000)))[0].command.len() < 300);
}

proptest! {
    #[test]
    fn telling_never_panics(line in "(?s).{0,200}") {
        prop_assert!(parts(&line).iter().all(|part| !part.may.is_empty()));
    }
}
