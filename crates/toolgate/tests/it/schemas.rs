//! The schemas in `docs/schemas`, held against what is really read.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::harness::Toolgate;

fn schema(name: &str) -> jsonschema::Validator {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas");
    let text = fs::read_to_string(folder.join(format!("{name}.schema.json"))).unwrap();
    let schema: Value = serde_json::from_str(&text).unwrap();
    assert!(jsonschema::meta::is_valid(&schema), "{name}");
    jsonschema::validator_for(&schema).unwrap()
}

fn fits(schema: &jsonschema::Validator, text: &str) -> Result<(), String> {
    let value: toml::Value = toml::from_str(text).map_err(|error| error.to_string())?;
    let value = serde_json::to_value(value).unwrap();
    schema.validate(&value).map_err(|error| error.to_string())
}

/// Whether the program itself takes a policy.
fn loads(text: &str) -> bool {
    let toolgate = Toolgate::new();
    fs::create_dir_all(toolgate.home("policies")).unwrap();
    fs::write(toolgate.home("policies/own.toml"), text).unwrap();
    toolgate.command().args(["policy", "list"]).output().unwrap().status.success()
}

#[test]
fn the_built_in_policies_fit_the_published_schema() {
    let schema = schema("policy");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../policy/src/defaults");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<PathBuf> = files.collect();
    assert!(files.len() >= 4);
    for file in files {
        assert_eq!(fits(&schema, &fs::read_to_string(&file).unwrap()), Ok(()), "{file:?}");
    }
}

#[test]
fn schema_and_program_agree_about_policies() {
    let schema = schema("policy");
    let cases = [
        (
            "[[rule]]\ntool = \"shell\"\ncommand = [\"git status\"]\ndecision = \"allow\"\nsandbox = \"workspace_write\"\nnetwork = \"docs.rs\"\n",
            true,
        ),
        (
            "[[rule]]\ntoolName = \"Bash\"\naction = \"ask_user\"\nargsPattern = \"x\"\nmodes = [\"plan\"]\n",
            true,
        ),
        (
            "[[rule]]\ntool = \"*\"\nconditions = [{ param = \"path\", operator = \"equals\", value = \"x\" }]\ndecision = \"deny\"\n",
            true,
        ),
        ("[permissions]\nallow = [\"Read\"]\ndefault_mode = \"plan\"\n", true),
        ("[web]\nallowed_domains = [\"docs.rs\"]\nauto_approve_https = true\n", true),
        ("[[rule]]\nscope = \"shared\"\ndecision = \"deny\"\n", true),
        ("[[rule]]\ntool = \"shell\"\n", false),
        ("[[rule]]\ntool = 5\ndecision = \"deny\"\n", false),
        ("[[rule]]\ntool = \"shell\"\ndecision = \"maybe\"\n", false),
        ("[[rule]]\ntool = \"shell\"\ndecision = \"deny\"\npriority = 1000\n", false),
        ("[[rule]]\ntol = \"shell\"\ndecision = \"deny\"\n", false),
        ("[[rule]]\nscope = \"mine\"\ndecision = \"deny\"\n", false),
        (
            "[[rule]]\ntool = \"*\"\nconditions = [{ param = \"path\" }]\ndecision = \"deny\"\n",
            false,
        ),
        ("[rules]\n", false),
    ];
    for (text, good) in cases {
        assert_eq!(fits(&schema, text).is_ok(), good, "schema: {text} {:?}", fits(&schema, text));
        assert_eq!(loads(text), good, "program: {text}");
    }
}

#[test]
fn schema_and_program_agree_about_the_config() {
    let schema = schema("config");
    let cases = [
        ("", true),
        ("[ledger]\nredact = [\"x\"]\n[workspace]\nscopes = true\n", true),
        ("[ledger]\nredact = \"x\"\n", false),
        ("[workspace]\nscope = true\n", false),
        ("[leger]\n", false),
    ];
    for (text, good) in cases {
        assert_eq!(fits(&schema, text).is_ok(), good, "schema: {text}");
        let toolgate = Toolgate::new();
        fs::write(toolgate.home("config.toml"), text).unwrap();
        let ran = toolgate.command().args(["call", "ls", r#"{"path":"."}"#]).output().unwrap();
        assert_eq!(ran.status.success(), good, "program: {text}");
    }
}
