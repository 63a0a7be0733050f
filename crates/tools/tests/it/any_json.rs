//! Whatever arguments come, there is an answer, and never a tool's own failure.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolgate_core::dialect::Dialect;
use toolgate_core::error::ErrorKind;
use toolgate_core::policy::Mode;

use crate::harness::{Lab, cases, gate};

/// All tools by all names, with the names of their parameters.
fn faces() -> Vec<(Dialect, String, Vec<String>)> {
    let mut faces = Vec::new();
    for tool in toolgate_tools::all().unwrap() {
        let definition = tool.definition();
        for dialect in Dialect::ALL {
            let parameters = definition.schema_in(dialect).parameters().map(str::to_owned);
            faces.push((dialect, definition.name_in(dialect).to_owned(), parameters.collect()));
        }
    }
    faces
}

/// Texts that mean something to some tool.
const TELLING: &[&str] = &[
    "",
    ".",
    "..",
    "../..",
    "/",
    "/etc/passwd",
    "/dev/null",
    "/proc/self/environ",
    "~",
    "a.txt",
    "a.txt/",
    "a.txt/x",
    "folder",
    "folder/b.txt",
    "new/deep/file",
    "link",
    "pipe",
    "a.bin",
    "**",
    "**/*",
    "*",
    "[",
    "{a,b",
    "a{1,",
    "(",
    ")",
    "\\",
    "a|b",
    "^$",
    "(?i)x",
    "\\p{Greek}",
    "(?s).*",
    "(a*)*b",
    "x{1000}{1000}",
    "\0",
    "\u{feff}",
    "\n",
    "\r\n",
    "\u{1b}[2J",
    "exact",
    "regex",
    "flexible",
    "content",
    "count",
    "files",
    "lines",
    "rust",
    "one",
    "two",
    "one\ntwo",
    "!*.txt",
    "\u{202e}",
    "💥",
];

/// Telling texts, and any others that do not lead to a walk through the whole machine.
fn any_string() -> impl Strategy<Value = String> {
    let harmless = |text: &String| !text.starts_with(['/', '.']);
    prop_oneof![
        3 => prop::sample::select(TELLING).prop_map(str::to_owned),
        1 => any::<String>().prop_filter("no path outside", harmless),
        1 => "[a-z*][a-z./*]{0,300}",
    ]
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        1 => Just(Value::Null),
        2 => any::<bool>().prop_map(Value::from),
        2 => prop_oneof![Just(0i64), Just(1), Just(-1), Just(2), Just(i64::MAX), any::<i64>()].prop_map(Value::from),
        1 => any::<f64>().prop_map(Value::from),
        1 => any::<u64>().prop_map(Value::from),
        8 => any_string().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let name = prop_oneof![
            Just("target".to_owned()),
            Just("replacement".to_owned()),
            Just("replaceAll".to_owned()),
            any_string()
        ];
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((name, inner), 0..4).prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

/// An edit that fits its schema, so that more than validation is tried.
fn any_edits() -> impl Strategy<Value = Value> {
    let edit =
        (any_string(), any_string(), prop::option::of(1u64..5), prop::option::of(any::<bool>()));
    let edit = edit.prop_map(|(target, replacement, hint, all)| {
        json!({ "target": target, "replacement": replacement, "lineHint": hint, "replaceAll": all })
    });
    vec(edit, 1..3).prop_map(Value::from)
}

/// A value for a parameter: mostly of the right type, by its name.
fn value_for(parameter: &str) -> BoxedStrategy<Value> {
    let number = || {
        prop_oneof![
            Just(json!(0)),
            Just(json!(1)),
            Just(json!(2)),
            Just(json!(u64::MAX)),
            any::<u64>().prop_map(Value::from)
        ]
    };
    let usual = match parameter {
        "edits" => any_edits().boxed(),
        "paths" | "ignore" => vec(any_string(), 0..4).prop_map(Value::from).boxed(),
        "startLine" | "endLine" | "offset" | "limit" | "lineHint" | "maxResults" | "maxDepth"
        | "head_limit" | "before" | "after" | "context" | "-A" | "-B" | "-C" => number().boxed(),
        "overwrite" | "recursive" | "includeHidden" | "caseSensitive" | "multiline"
        | "replaceAll" | "replace_all" | "-i" | "-n" => any::<bool>().prop_map(Value::from).boxed(),
        _ => any_string().prop_map(Value::from).boxed(),
    };
    prop_oneof![9 => usual, 1 => any_value()].boxed()
}

/// Arguments for a face: any JSON at all, or something for most of its parameters.
fn any_call() -> impl Strategy<Value = (Dialect, String, Value)> {
    prop::sample::select(faces()).prop_flat_map(|(dialect, name, parameters)| {
        let chosen: Vec<_> = parameters
            .into_iter()
            .map(|parameter| {
                (Just(parameter.clone()), prop::option::weighted(0.7, value_for(&parameter)))
            })
            .collect();
        let fitting = chosen.prop_map(|pairs| {
            let given = pairs.into_iter().filter_map(|(name, value)| Some((name, value?)));
            Value::Object(given.collect::<Map<_, _>>())
        });
        let args = prop_oneof![4 => fitting, 1 => any_value()];
        (Just(dialect), Just(name), args)
    })
}

fn workspace(dialect: Dialect, mode: Mode) -> Lab {
    let lab = Lab::behind(gate(mode), dialect);
    lab.put("a.txt", "one\ntwo\none\n");
    lab.put("folder/b.txt", "b\r\n");
    lab.put("a.bin", "\0\0");
    std::os::unix::fs::symlink("folder", lab.path("link")).unwrap();
    lab
}

proptest! {
    #![proptest_config(cases(500))]

    // Edits inside the workspace run; whatever lies outside needs a person, and nobody is there.
    #[test]
    fn any_json_gets_an_answer((dialect, name, args) in any_call()) {
        let lab = workspace(dialect, Mode::AcceptEdits);
        let result = lab.result(&name, args);
        if let Some(error) = &result.error {
            prop_assert_ne!(error.kind, ErrorKind::InternalError, "{}", error.message);
            prop_assert!(!error.message.is_empty());
        }
        let json = serde_json::to_value(&result).unwrap();
        prop_assert!(json["llmContent"].is_string() && json["returnDisplay"].is_string());
    }

    #[test]
    fn in_plan_mode_nothing_ever_changes((dialect, name, args) in any_call()) {
        let lab = workspace(dialect, Mode::Plan);
        let result = lab.result(&name, args);
        prop_assert_ne!(result.error_kind(), Some(ErrorKind::InternalError));
        prop_assert_eq!(lab.text("a.txt"), "one\ntwo\none\n");
        let mut names: Vec<_> = std::fs::read_dir(lab.path(".")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        prop_assert_eq!(names, ["a.bin", "a.txt", "folder", "link"]);
    }
}
