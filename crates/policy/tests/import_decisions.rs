//! What an imported policy decides is what the original would, or stricter.
#![cfg(feature = "import")]

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;
use toolgate_policy::import;
use toolgate_policy::load::Loader;
use toolgate_policy::pattern::Places;
use toolgate_policy::rule::Tier;
use toolgate_policy::vocabulary::Vocabulary;
use toolgate_policy::world::Lexical;
use toolgate_policy::{
    Access, Decision, Effect, Engine, Facts, Mode, Policy as _, Risk, World as _,
};

const CASES: &str = include_str!("data/import_cases.jsonl");

#[derive(Debug, Deserialize)]
struct Case {
    format: String,
    file: String,
    name: Option<String>,
    tool: String,
    args: Value,
    mode: Option<String>,
    original: Decision,
    why: Option<String>,
}

fn facts(case: &Case, world: &Lexical) -> Facts {
    let vocabulary = Vocabulary::default();
    let tool = vocabulary.native(&case.tool).unwrap_or(&case.tool);
    let (effect, risk, access) = match tool {
        "read_file" | "read_many_files" | "glob" | "grep" | "ls" => {
            (Effect::Read, Risk::Low, Access::Read)
        }
        "write_file" | "edit_file" | "notebook_edit" => (Effect::Edit, Risk::Medium, Access::Write),
        _ => (Effect::Change, Risk::High, Access::Write),
    };
    let path =
        ["path", "directory", "file_path"].iter().find_map(|key| case.args.get(*key)?.as_str());
    let path = path.map(|path| path.replace("@HOME@", "/home/u"));
    let paths = path.map(|path| world.look(&world.workspace().join(path), access));
    Facts::new(tool, effect, risk)
        .with_args(case.args.clone())
        .with_paths(paths.into_iter().collect())
}

fn decided(case: &Case) -> Result<(Decision, String), String> {
    let name = case.name.as_deref().unwrap_or("rules");
    let convert = match case.format.as_str() {
        "claude" => import::claude,
        "gemini" => import::gemini,
        _ => import::codex,
    };
    let imported = convert(&case.file, name).map_err(|error| error.to_string())?;
    let loader = Loader {
        vocabulary: Vocabulary::default(),
        places: Places {
            workspace: vec![PathBuf::from("/w/proj")],
            home: Some(PathBuf::from("/home/u")),
        },
    };
    let file = loader.parse(&imported.policy, "imported.toml", Tier::User);
    if !file.is_sound() {
        return Err(format!("{:#?}\n{}", file.diagnostics, imported.policy));
    }
    let mode = case.mode.as_deref().and_then(|mode| mode.parse().ok());
    let engine = Engine::new(file.rules, mode.or(file.mode).unwrap_or(Mode::Default));
    let world = Lexical::new("/w/proj").with_home("/home/u");
    let verdict = engine.decide(&facts(case, &world), &world);
    Ok((verdict.decision, verdict.reason().to_owned()))
}

#[test]
fn imports_never_loosen() {
    let cases: Vec<Case> = CASES.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut same = 0;
    let mut failures = Vec::new();
    for case in &cases {
        match decided(case) {
            Ok((decision, _)) if decision == case.original => same += 1,
            Ok((decision, _)) if decision > case.original => {
                println!("stricter: {decision} for {} {} {}", case.original, case.tool, case.args);
            }
            other => failures.push(format!("{other:?} for {case:#?}")),
        }
    }
    println!("{} cases, {same} decided alike", cases.len());
    assert!(failures.is_empty(), "{} looser or failed:\n{}", failures.len(), failures.join("\n"));
    assert!(same * 10 > cases.len() * 8, "too much is stricter: {same} of {} alike", cases.len());
    assert!(cases.iter().all(|case| case.why.as_deref().is_none_or(|why| !why.is_empty())));
}
