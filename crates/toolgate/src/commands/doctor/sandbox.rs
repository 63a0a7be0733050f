//! How far commands can be confined here, found out by trying.

use toolgate_core::spawn::Spawner as _;
use toolgate_policy::Level;
use toolgate_sandbox::Finding as Piece;

use super::report::{Finding, Topic};
use crate::app;

/// What can be enforced, and why not more.
pub(super) fn look() -> (Level, Topic) {
    let spawner = match app::sandbox() {
        Ok(spawner) => spawner,
        Err(error) => {
            let means = "no command can be started";
            let fix = "set `TOOLGATE_HOME` to a folder to keep files in";
            let finding = Finding::broken("level", format!("{error:#}"), means, fix);
            return (Level::None, Topic::new("sandbox", vec![finding]));
        }
    };
    let reached = spawner.level();
    let mut findings = vec![level(reached)];
    findings.extend(spawner.probe().into_iter().map(piece));
    (reached, Topic::new("sandbox", findings))
}

fn level(level: Level) -> Finding {
    let below = |seen, means| {
        Finding::warning("level", seen, means, "see below what is missing, and what would help")
    };
    match level {
        Level::Namespaces => {
            Finding::ok("level", "`namespaces`: commands live in a world of their own")
        }
        Level::Landlock => below(
            "`landlock`: files and system calls are guarded, no more",
            "commands see other programs and reach no host, and what governs other programs is \
             only put back afterwards",
        ),
        Level::None => below(
            "`none`: nothing is confined",
            "commands that would run by themselves in a sandbox ask, and run unconfined",
        ),
    }
}

fn piece(found: Piece) -> Finding {
    let seen = format!("{}: {}", found.piece, found.seen);
    if found.works {
        return Finding::ok("piece", seen);
    }
    let fix =
        found.fix.unwrap_or_else(|| "mend one of the others, and this is not needed".to_owned());
    Finding::warning("piece", seen, found.means, fix)
}
