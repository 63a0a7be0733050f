//! Settings files: no change may break them.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use toolgate_core::error::ErrorKind;
use toolgate_core::result::ToolResult;
use toolgate_tools::settings::SCHEMAS;

use crate::harness::Lab;

const GOOD: &str = r#"{
  "model": "opus",
  "permissions": { "allow": ["Bash(npm test)"], "deny": [] },
  "hooks": { "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "true" }] }] }
}
"#;

fn write(lab: &Lab, path: &str, content: &str) -> ToolResult {
    lab.result("write_file", json!({ "path": path, "content": content, "overwrite": true }))
}

fn edit(lab: &Lab, path: &str, target: &str, replacement: &str) -> ToolResult {
    let edits = json!([{ "target": target, "replacement": replacement }]);
    lab.result("edit_file", json!({ "path": path, "edits": edits }))
}

#[test]
fn an_edit_that_breaks_settings_is_refused_with_what_is_wrong() {
    let lab = Lab::with([(".claude/settings.json", GOOD)]);
    let broken = edit(&lab, ".claude/settings.json", r#"["Bash(npm test)"]"#, r#""everything""#);
    let error = broken.error.unwrap();
    assert_eq!(error.kind, ErrorKind::SettingsInvalid);
    insta::assert_snapshot!(error.message, @r#"
    this would break the settings in `.claude/settings.json`, so nothing was changed:
    - `permissions.allow`: the value is not of type "array"
    Make a change that keeps the file valid.
    "#);
    assert_eq!(lab.text(".claude/settings.json"), GOOD);
}

#[test]
fn text_that_is_no_json_is_refused() {
    let lab = Lab::with([(".claude/settings.local.json", GOOD)]);
    let error = edit(&lab, ".claude/settings.local.json", "\"opus\",", "\"opus\"").error.unwrap();
    assert_eq!(error.kind, ErrorKind::SettingsInvalid);
    assert!(error.message.contains("it would be no JSON: expected `,` or `}` at line 3 column 3"));
    assert_eq!(lab.text(".claude/settings.local.json"), GOOD);
}

#[test]
fn good_changes_land() {
    let lab = Lab::approving();
    lab.put(".claude/settings.json", GOOD);
    assert_eq!(edit(&lab, ".claude/settings.json", "opus", "sonnet").error, None);
    assert_eq!(write(&lab, ".claude/settings.json", "{\"somethingNew\": 1}").error, None);
    assert_eq!(write(&lab, ".claude/new/settings.json", "no JSON").error, None, "no settings");
    assert_eq!(write(&lab, "settings.json", "no JSON").error, None, "nobody's settings");
}

#[test]
fn broken_settings_may_be_mended() {
    let lab = Lab::approving();
    lab.put(".claude/settings.json", "{ \"model\": \"opus\", }");
    let still = edit(&lab, ".claude/settings.json", "opus", "sonnet");
    assert_eq!(still.error_kind(), Some(ErrorKind::SettingsInvalid));
    assert_eq!(edit(&lab, ".claude/settings.json", "\", }", "\" }").error, None);
    assert_eq!(lab.text(".claude/settings.json"), "{ \"model\": \"opus\" }");
}

#[test]
fn every_kind_of_file_has_its_schema() {
    let lab = Lab::new();
    let cases = [
        ("settings.json", json!({ "theme": "purple" }), "`theme`"),
        ("settings.json", json!({ "model": 5 }), "`model`"),
        ("settings.json", json!([]), "not of type \"object\""),
        ("settings.json", json!({ "env": { "A": 1 } }), "`env.A`"),
        ("settings.json", json!({ "hooks": [{ "command": "x" }] }), "\"event\" is a required"),
        ("settings.json", json!({ "hooks": [{ "event": "x", "timeout_sec": 0 }] }), "timeout_sec"),
        (
            "settings.json",
            json!({ "hooks": { "Stop": [{ "hooks": [{ "type": "command" }] }] } }),
            "\"command\" is a required property",
        ),
        ("hooks.json", json!([{ "event": 1 }]), "`0.event`"),
        ("hooks.json", json!({ "hooks": { "Stop": {} } }), "`hooks.Stop`"),
        ("permissions.json", json!({ "allowed_tools": "all" }), "`allowed_tools`"),
        ("permissions.json", json!({ "blocked_domains": [1] }), "`blocked_domains.0`"),
    ];
    for (name, content, wrong) in cases {
        let path = format!(".claude/{name}");
        let error = write(&lab, &path, &content.to_string()).error.unwrap();
        assert_eq!(error.kind, ErrorKind::SettingsInvalid, "{content}");
        assert!(error.message.contains(wrong), "{content}: {}", error.message);
        assert!(!lab.path(path).exists());
    }
}

#[test]
fn a_link_to_settings_and_other_letters_do_not_help() {
    let lab = Lab::with([(".claude/settings.json", GOOD)]);
    std::os::unix::fs::symlink(".claude/settings.json", lab.path("link.json")).unwrap();
    for path in ["link.json", ".claude/../.claude/settings.json"] {
        let result = write(&lab, path, "{");
        assert_eq!(result.error_kind(), Some(ErrorKind::SettingsInvalid), "{path}");
    }
    assert_eq!(lab.text(".claude/settings.json"), GOOD);
    let shouted = write(&lab, ".CLAUDE/Settings.JSON", "{");
    assert_eq!(shouted.error_kind(), Some(ErrorKind::SettingsInvalid));
}

#[test]
fn secrets_in_settings_are_not_repeated() {
    let lab = Lab::new();
    let content = json!({ "apiKey": ["sk-very-secret"] }).to_string();
    let error = write(&lab, ".claude/settings.json", &content).error.unwrap();
    assert!(!error.message.contains("sk-very-secret"), "{}", error.message);
}

#[test]
fn the_schemas_are_published() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas");
    for (name, text) in SCHEMAS {
        let schema: Value = serde_json::from_str(text).unwrap();
        assert!(jsonschema::meta::is_valid(&schema), "{name}");
        let file = folder.join(format!("{name}.schema.json"));
        if std::env::var_os("TOOLGATE_BLESS").is_some() {
            fs::write(&file, text).unwrap();
        }
        assert_eq!(fs::read_to_string(file).unwrap(), text, "bless it with TOOLGATE_BLESS=1");
    }
}

#[test]
fn marks_before_settings_are_refused() {
    let lab = Lab::with([(".claude/settings.json", GOOD)]);
    for marks in ["\u{feff}", "\u{feff}\u{feff}"] {
        let marked = write(&lab, ".claude/settings.json", &format!("{marks}{{}}"));
        assert_eq!(marked.error_kind(), Some(ErrorKind::SettingsInvalid));
        let marked = edit(
            &lab,
            ".claude/settings.json",
            "{\n  \"model\"",
            &format!("{marks}{{\n  \"model\""),
        );
        assert_eq!(marked.error_kind(), Some(ErrorKind::SettingsInvalid));
    }
}
