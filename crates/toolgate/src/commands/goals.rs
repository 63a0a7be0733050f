//! `toolgate goals`: what models try to reach.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::SystemTime;

use clap::Subcommand;
use jiff::Timestamp;
use serde_json::{Value, json};
use toolgate_core::keeping::{Checkpoint, Decision, Goal, GoalId, Goals};
use toolgate_core::visible;
use toolgate_store::Shelf;

use crate::app;
use crate::exit::{self, UsageError};
use crate::global::GlobalArgs;
use crate::home;
use crate::moment;
use crate::output::{one_line, print_json, print_text};

/// Show the goals of this workspace
///
/// One goal is active at a time. Its checkpoints are points that
/// `toolgate undo --to NAME` goes back to.
#[derive(Debug, clap::Args)]
pub(crate) struct GoalsArgs {
    #[command(subcommand)]
    command: Option<GoalsCommand>,
}

#[derive(Debug, Subcommand)]
enum GoalsCommand {
    /// List the goals: active, paused, completed (also without a subcommand)
    List,
    /// Show a goal with its checkpoints and decisions; the active one when left out
    Show {
        /// The goal, such as goal-3
        id: Option<String>,
    },
    /// Forget a goal with its decisions; points to go back to stay
    Remove {
        /// The goal, such as goal-3
        id: String,
    },
}

pub(crate) fn run(global: &GlobalArgs, args: &GoalsArgs) -> anyhow::Result<ExitCode> {
    let workspace = app::workspace(global)?;
    let root = workspace.root();
    let shelf = Shelf::open_existing(&home::state()?)?;
    match &args.command {
        None | Some(GoalsCommand::List) => list(shelf.as_ref(), root, global.json),
        Some(GoalsCommand::Show { id }) => show(shelf.as_ref(), root, id.as_deref(), global.json),
        Some(GoalsCommand::Remove { id }) => remove(shelf.as_ref(), root, id, global.json),
    }
}

fn list(shelf: Option<&Shelf>, root: &Path, as_json: bool) -> anyhow::Result<ExitCode> {
    let goals = shelf.map(|shelf| Goals::list(shelf, root)).transpose()?.unwrap_or_default();
    if as_json {
        print_json(&goals.iter().map(goal_json).collect::<Vec<_>>())?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    for goal in &goals {
        let (id, status) = (goal.id.to_string(), goal.status.name());
        writeln!(text, "{id:<9} {status:<9}  {}", one_line(&goal.title))?;
    }
    if goals.is_empty() {
        text.push_str("There are no goals in this workspace.\n");
    }
    print_text(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn show(
    shelf: Option<&Shelf>,
    root: &Path,
    id: Option<&str>,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let goals = shelf.map(|shelf| Goals::list(shelf, root)).transpose()?.unwrap_or_default();
    let found = match id {
        // The active one is the first.
        None => goals.first().filter(|goal| goal.status.name() == "active"),
        Some(id) => {
            let id = parse(id)?;
            goals.iter().find(|goal| goal.id == id)
        }
    };
    let (Some(shelf), Some(goal)) = (shelf, found) else {
        return Ok(missing(id));
    };
    let (checkpoints, decisions) = (shelf.checkpoints(goal.id)?, shelf.decisions(goal.id)?);
    if as_json {
        let mut data = goal_json(goal);
        if let Value::Object(fields) = &mut data {
            let points = checkpoints.iter().map(checkpoint_json).collect();
            fields.insert("checkpoints".to_owned(), Value::Array(points));
            let decisions = decisions.iter().map(decision_json).collect();
            fields.insert("decisions".to_owned(), Value::Array(decisions));
        }
        print_json(&data)?;
    } else {
        print_text(&render(goal, &checkpoints, &decisions)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn remove(shelf: Option<&Shelf>, root: &Path, id: &str, as_json: bool) -> anyhow::Result<ExitCode> {
    let goal = parse(id)?;
    if !shelf.map(|shelf| shelf.remove_goal(root, goal)).transpose()?.unwrap_or(false) {
        return Ok(missing(Some(id)));
    }
    if as_json {
        print_json(&json!({ "id": goal, "removed": true }))?;
    } else {
        print_text(&format!("{goal} is forgotten.\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn parse(id: &str) -> Result<GoalId, UsageError> {
    GoalId::parse(id).ok_or_else(|| {
        let id = one_line(id);
        UsageError(format!("`{id}` is not the id of a goal, such as goal-3; see `toolgate goals`"))
    })
}

fn missing(id: Option<&str>) -> ExitCode {
    exit::report(&match id {
        Some(id) => {
            format!("there is no goal `{}` in this workspace; see `toolgate goals`", one_line(id))
        }
        None => "no goal is active in this workspace; see `toolgate goals`".to_owned(),
    });
    ExitCode::FAILURE
}

fn render(
    goal: &Goal,
    checkpoints: &[Checkpoint],
    decisions: &[Decision],
) -> anyhow::Result<String> {
    let mut text = String::new();
    writeln!(text, "{}  {}  {}", goal.id, goal.status.name(), one_line(&goal.title))?;
    writeln!(text, "  created {}", moment::long(timestamp(goal.created)))?;
    for about in goal.description.iter().chain(&goal.summary) {
        for line in visible::question(about).lines() {
            writeln!(text, "  {line}")?;
        }
    }
    for criterion in &goal.criteria {
        writeln!(text, "  reached when: {}", one_line(criterion))?;
    }
    for point in checkpoints {
        let at = moment::short(timestamp(point.at));
        let about = point.description.as_deref().map(|about| format!(": {}", one_line(about)));
        let about = about.unwrap_or_default();
        writeln!(text, "{at}  checkpoint `{}`{about}", one_line(&point.name))?;
    }
    for Decision { decision, rationale, alternatives, at } in decisions {
        let at = moment::short(timestamp(*at));
        writeln!(text, "{at}  decided: {}", one_line(decision))?;
        if let Some(rationale) = rationale {
            writeln!(text, "             because: {}", one_line(rationale))?;
        }
        for alternative in alternatives {
            writeln!(text, "             instead of: {}", one_line(alternative))?;
        }
    }
    Ok(text)
}

fn goal_json(goal: &Goal) -> Value {
    json!({
        "id": goal.id,
        "title": goal.title,
        "description": goal.description,
        "criteria": goal.criteria,
        "status": goal.status,
        "summary": goal.summary,
        "created": timestamp(goal.created),
        "changed": timestamp(goal.changed),
    })
}

fn checkpoint_json(point: &Checkpoint) -> Value {
    json!({ "name": point.name, "description": point.description, "at": timestamp(point.at) })
}

fn decision_json(decision: &Decision) -> Value {
    json!({
        "decision": decision.decision,
        "rationale": decision.rationale,
        "alternatives": decision.alternatives,
        "at": timestamp(decision.at),
    })
}

fn timestamp(at: SystemTime) -> Timestamp {
    Timestamp::try_from(at).unwrap_or_default()
}
