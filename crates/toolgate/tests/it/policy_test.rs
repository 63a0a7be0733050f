//! `toolgate policy test`: expectations in files, for CI.

use crate::harness::{Toolgate, stderr, stdout};

const CASES: &str = r#"
[[case]]
tool = "shell"
args = { command = "npm test && rm -rf /" }
expect = ["ask", "deny"]

[[case]]
name = "tests run"
tool = "Bash"
args = { command = "npm test" }
expect = "allow"
"#;

#[test]
fn expectations_that_hold_are_counted() {
    let toolgate = Toolgate::with_files(&[
        ("policy.toml", "[permissions]\nallow = [\"Bash(npm *)\"]\n"),
        ("cases.toml", CASES),
    ]);
    let done = toolgate.run(["policy", "test", "cases.toml", "--policy", "policy.toml"]).success();
    assert_eq!(stdout(&done), "2 as expected, 0 not\n");
}

#[test]
fn expectations_that_fail_are_shown_as_a_difference() {
    let toolgate = Toolgate::with_files(&[("cases.toml", CASES)]);
    let done = toolgate.run(["policy", "test", "cases.toml"]).code(1);
    insta::assert_snapshot!(stdout(&done));
}

#[test]
fn mistakes_in_cases_are_told() {
    let toolgate = Toolgate::with_files(&[
        ("typo.toml", "[[case]]\ntool = \"shell\"\nexpects = \"ask\"\n"),
        ("empty.toml", "# nothing\n"),
    ]);
    for file in ["typo.toml", "empty.toml"] {
        let done = toolgate.run(["policy", "test", file]).code(2);
        insta::assert_snapshot!(format!("cases_{file}"), stderr(&done));
    }
}
