//! Which entries are wanted.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use jiff::Timestamp;
use toolgate_policy::Decision;
use toolgate_store::Filter;

use crate::app::built_in_tools;
use crate::moment;
use crate::policies;

/// Which entries are wanted.
#[derive(Debug, Clone, Default, PartialEq, clap::Args)]
pub(super) struct FilterArgs {
    /// Only calls of this tool, by any of its names
    #[arg(long, value_name = "TOOL")]
    tool: Option<String>,
    /// Only calls the policy decided about like this
    #[arg(long, value_name = "DECISION", value_parser = decisions())]
    decision: Option<Decision>,
    /// Only what happened in this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only what happened since: how long ago, such as 2h or 3d, or a date
    #[arg(long, value_name = "TIME", value_parser = moment::parse)]
    since: Option<Timestamp>,
    /// Only what happened before
    #[arg(long, value_name = "TIME", value_parser = moment::parse)]
    until: Option<Timestamp>,
    /// Only entries with this text in them
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
}

impl FilterArgs {
    /// The filter of the store.
    pub(super) fn resolve(&self) -> anyhow::Result<Filter> {
        let tool = self.tool.as_deref().map(native).transpose()?;
        Ok(Filter {
            tool,
            decision: self.decision,
            session: self.session.clone(),
            since: self.since,
            until: self.until,
            text: self.text.clone(),
            ..Filter::default()
        })
    }

    /// Whether nothing is left out.
    pub(super) fn is_open(&self) -> bool {
        *self == Self::default()
    }
}

/// The name entries have, whatever name was typed.
fn native(tool: &str) -> anyhow::Result<String> {
    let vocabulary = policies::vocabulary(&built_in_tools()?);
    Ok(vocabulary.native(tool).unwrap_or(tool).to_owned())
}

fn decisions() -> impl TypedValueParser<Value = Decision> {
    let all = [Decision::Allow, Decision::Ask, Decision::Deny];
    PossibleValuesParser::new(all.map(Decision::name)).map(move |name| {
        all.into_iter().find(|decision| decision.name() == name).unwrap_or(Decision::Deny)
    })
}
