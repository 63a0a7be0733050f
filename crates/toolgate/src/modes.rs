//! Modes explained in words.

use toolgate_policy::Mode;

/// Returns a short description of the calls that run and ask in a mode.
pub(crate) fn meaning(mode: Mode) -> &'static str {
    match mode.name() {
        "default" => "reading and the commands that the policy allows run, everything else asks",
        "ask" => "reading the workspace runs, everything else asks",
        "accept_edits" => {
            "reading, edits in the workspace and the commands that the policy allows run, everything else asks"
        }
        "sandbox" => {
            "edits and commands run, confined to the workspace; everything that leaves it asks"
        }
        "autorun_no_public" => {
            "everything runs except commands and edits of public files, which ask"
        }
        "autorun_all" => "everything runs except commands, which ask",
        "plan" => "reading runs, everything else is denied",
        "dont_ask" => "reading and what a rule allows run, everything else is denied",
        "yolo" => "everything runs that nothing forbids",
        _ => "see `docs/policy.md`",
    }
}

/// Returns `true` for a mode that runs commands because they are confined.
pub(crate) fn needs_sandbox(mode: Mode) -> bool {
    mode.name() == "sandbox"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_has_a_meaning() {
        for mode in Mode::ALL {
            assert!(!meaning(mode).starts_with("see "), "{mode}");
        }
    }
}
