//! The rules and the calls that every engine gets.
//!
//! Rules come in groups of ten, one group for each service of a large project, so that
//! ten rules and a hundred thousand are of the same kinds.

use serde::Serialize;
use toolgate_policy::Decision;

/// The folder of the project.
pub const PROJECT: &str = "/project";

const IN_GROUP: usize = 10;

/// A rule that no engine's dialect shows in.
#[derive(Debug, Serialize)]
pub struct Rule {
    pub tool: String,
    pub about: About,
    pub decision: Decision,
}

/// What a rule is about besides its tool.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    Everything,
    /// Whatever lies below this folder.
    Folder(String),
    /// Commands that begin with these words.
    Words(String),
}

/// Which calls are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Plain,
    Shell,
}

/// A call, and what every engine has to say to it.
#[derive(Debug, Serialize)]
pub struct Call {
    pub tool: String,
    /// The file it touches.
    pub path: Option<String>,
    /// The line it runs.
    pub line: Option<String>,
    /// The simple commands of the line, for engines that read no shell.
    pub commands: Vec<String>,
    pub expected: Decision,
}

/// Makes `count` rules.
pub fn rules(count: usize) -> Vec<Rule> {
    (0..count).map(rule).collect()
}

fn rule(number: usize) -> Rule {
    let service = service(number / IN_GROUP);
    let folder = |tool: &str, inner: &str, decision| {
        let folder = format!("{PROJECT}/services/{service}{inner}");
        Rule { tool: tool.to_owned(), about: About::Folder(folder), decision }
    };
    let words = |words: String, decision| Rule {
        tool: "shell".to_owned(),
        about: About::Words(words),
        decision,
    };
    match number % IN_GROUP {
        0 => folder("read_file", "", Decision::Allow),
        1 => folder("read_file", "/private", Decision::Deny),
        2 => folder("write_file", "/src", Decision::Allow),
        3 => folder("write_file", "/src/generated", Decision::Deny),
        4 => Rule {
            tool: format!("mcp__{service}__search"),
            about: About::Everything,
            decision: Decision::Allow,
        },
        5 => words(format!("npm run {service}:test"), Decision::Allow),
        6 => words(format!("cargo test -p {service}"), Decision::Allow),
        7 => words(format!("docker push registry/{service}"), Decision::Deny),
        8 => words(format!("kubectl get pods -n {service}"), Decision::Allow),
        _ => words(format!("kubectl delete pods -n {service}"), Decision::Deny),
    }
}

/// The calls of a kind, in a project with so many rules.
pub fn calls(kind: Kind, rules: usize) -> Vec<Call> {
    let groups = (rules / IN_GROUP).max(1);
    let [first, middle, last] = [0, groups / 2, groups - 1].map(service);
    match kind {
        Kind::Plain => vec![
            on_file("read_file", &format!("{first}/src/lib.rs"), Decision::Allow),
            on_file("read_file", &format!("{middle}/README.md"), Decision::Allow),
            on_file("read_file", &format!("{last}/private/notes.md"), Decision::Deny),
            on_file("write_file", &format!("{first}/src/generated/api.rs"), Decision::Deny),
            on_file("write_file", &format!("{middle}/src/routes/users.rs"), Decision::Allow),
            on_file("write_file", &format!("{last}/docs/index.md"), Decision::Ask),
            on_file("write_file", "none-of-them/src/lib.rs", Decision::Ask),
            of_tool(&format!("mcp__{middle}__search"), Decision::Allow),
            of_tool("mcp__another__delete", Decision::Ask),
        ],
        Kind::Shell => vec![
            line(&[&format!("npm run {first}:test")], "", Decision::Allow),
            line(&[&format!("npm run {last}:test -- --grep 'two words'")], "", Decision::Allow),
            line(&[&format!("cargo test -p {middle} --release")], "", Decision::Allow),
            line(&[&format!("docker push registry/{last} --all-tags")], "", Decision::Deny),
            line(
                &[&format!("npm run {middle}:test"), &format!("cargo test -p {first}")],
                " && ",
                Decision::Allow,
            ),
            line(
                &[
                    &format!("kubectl get pods -n {last} -o wide"),
                    &format!("kubectl delete pods -n {last} --all"),
                ],
                "; ",
                Decision::Deny,
            ),
            line(&["make install"], "", Decision::Ask),
            line(&[&format!("cargo test -p {first}"), "make deploy"], " && ", Decision::Ask),
        ],
    }
}

fn service(number: usize) -> String {
    format!("service-{number}")
}

fn on_file(tool: &str, file: &str, expected: Decision) -> Call {
    let path = Some(format!("{PROJECT}/services/{file}"));
    Call { tool: tool.to_owned(), path, line: None, commands: Vec::new(), expected }
}

fn of_tool(tool: &str, expected: Decision) -> Call {
    Call { tool: tool.to_owned(), path: None, line: None, commands: Vec::new(), expected }
}

fn line(commands: &[&str], between: &str, expected: Decision) -> Call {
    Call {
        tool: "shell".to_owned(),
        path: None,
        line: Some(commands.join(between)),
        commands: commands.iter().map(|command| (*command).to_owned()).collect(),
        expected,
    }
}
