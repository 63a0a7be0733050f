//! What a person granted for a time: a session, some minutes, some uses.

use std::sync::Arc;

use crate::load::Loader;
use crate::profile::Profile;
use crate::rule::{Priority, Rule};
use crate::table::Table;

/// One permission that was given for a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// The grant it belongs to. A grant may consist of several permissions.
    pub id: Arc<str>,
    /// The permission, as in `[permissions] allow`: `Bash(npm run *)`.
    pub permission: String,
    /// When it ends, in seconds since 1970.
    pub expires: Option<i64>,
    /// What commands it allows run with; they only read when nothing is said.
    pub reach: Option<Profile>,
}

/// Rules that hold for whoever was given them, as strong as "always allow".
///
/// ```
/// use std::sync::Arc;
/// use toolgate_policy::granted::{Given, Granted};
/// use toolgate_policy::load::Loader;
/// use toolgate_policy::profile::Profile;
/// use toolgate_policy::rule::Sandbox;
/// use toolgate_policy::world::Lexical;
/// use toolgate_policy::{Decision, Effect, Engine, Facts, Mode, Policy, Risk};
///
/// let given = Given {
///     id: "k3f92mq8x7ab".into(),
///     permission: "Bash(npm run *)".into(),
///     expires: None,
///     reach: Some(Profile::of(Sandbox::WorkspaceWrite)),
/// };
/// let granted = Granted::new([given], &Loader::default())?;
/// let call = Facts::new("shell", Effect::Change, Risk::High)
///     .with_args(serde_json::json!({ "command": "npm run build" }))
///     .with_granted(Arc::new(granted));
/// let verdict = Engine::in_mode(Mode::Default).decide(&call, &Lexical::new("/project"));
/// assert_eq!(verdict.decision, Decision::Allow);
/// assert_eq!(verdict.grants, ["k3f92mq8x7ab".into()]);
/// assert_eq!(verdict.grant.sandbox, Some(Sandbox::WorkspaceWrite));
/// # Ok::<(), toolgate_policy::granted::ReadGrantError>(())
/// ```
#[derive(Debug, Default)]
pub struct Granted {
    table: Table,
}

/// Why a grant cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("grant `{id}` gives `{permission}`: {why}")]
pub struct ReadGrantError {
    /// The grant.
    pub id: Arc<str>,
    /// What it gives.
    pub permission: String,
    /// What is wrong with that.
    pub why: String,
}

impl Granted {
    /// Reads permissions.
    ///
    /// # Errors
    /// Tells about the first permission that cannot be understood.
    pub fn new(
        given: impl IntoIterator<Item = Given>,
        loader: &Loader,
    ) -> Result<Self, ReadGrantError> {
        let mut rules = Vec::new();
        for Given { id, permission, expires, reach } in given {
            let rule = loader.permission(&permission, &format!("grant {id}"));
            let mut rule =
                rule.map_err(|why| ReadGrantError { id: Arc::clone(&id), permission, why })?;
            rule.priority = Priority::ALWAYS_ALLOW;
            rule.expires = expires;
            rule.grant = reach.as_ref().map(Profile::rule_grant).unwrap_or_default();
            rule.origin.line = 0;
            rule.given = Some(id);
            rules.push(rule);
        }
        Ok(Self { table: Table::new(rules) })
    }

    /// These rules, as strong as "always allow".
    pub(crate) fn of(rules: impl IntoIterator<Item = Rule>) -> Self {
        Self { table: Table::new(rules.into_iter().collect()) }
    }

    /// The rules, strongest first.
    pub fn rules(&self) -> &[Rule] {
        self.table.rules()
    }

    /// Whether nothing was granted.
    pub fn is_empty(&self) -> bool {
        self.rules().is_empty()
    }

    pub(crate) fn table(&self) -> &Table {
        &self.table
    }
}

#[cfg(test)]
mod tests;
