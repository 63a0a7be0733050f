//! The machine that a call is judged on, without anything being run.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use toolgate_core::approval::ShownReach;
use toolgate_core::world::SessionWorld;
use toolgate_policy::{Decision, Level, Verdict};

use crate::app::App;

/// The levels that can be named on the command line.
pub(super) fn levels() -> impl TypedValueParser<Value = Level> {
    PossibleValuesParser::new(Level::ALL.map(Level::name)).try_map(|name| name.parse::<Level>())
}

/// The machine as it is, or as if a sandbox could enforce so much.
pub(crate) fn world(app: &App, level: Option<Level>) -> SessionWorld<'_> {
    let world = SessionWorld::new(app.session.workspace());
    match (level, app.gate.spawner()) {
        (Some(level), _) => world.assuming(level),
        (None, Some(spawner)) => world.with_spawner(Some(spawner)),
        // Where nobody starts programs, none runs less confined than is said.
        (None, None) => world.assuming(Level::Namespaces),
    }
}

/// What a command would run with, in words; nothing for calls that are denied or are no commands.
pub(super) fn reach(verdict: &Verdict) -> Option<String> {
    let verb = match verdict.decision {
        Decision::Allow => "runs",
        Decision::Ask => "would run",
        Decision::Deny => return None,
    };
    let shown = ShownReach::new(verdict.profile()?, verdict.level?);
    let missing = shown.missing.map(|missing| format!(" ({missing})")).unwrap_or_default();
    Some(format!("it {verb} {}{missing}", shown.words))
}
