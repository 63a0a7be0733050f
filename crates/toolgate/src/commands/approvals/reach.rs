//! What an approved command runs with, when that is not what was shown.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use toolgate_core::approval::ApprovalRequest;
use toolgate_policy::Level;
use toolgate_policy::profile::Profile;
use toolgate_policy::rule::Sandbox;

use crate::exit::UsageError;
use crate::prompt;

/// What an approved command runs with.
#[derive(Debug, clap::Args)]
pub(super) struct ReachArgs {
    /// How far the command may reach when it runs
    #[arg(long, value_name = "SANDBOX", conflicts_with = "edit", value_parser = sandboxes())]
    sandbox: Option<Sandbox>,
    /// Let the command reach these hosts, with commas between them
    #[arg(long, value_name = "HOSTS", conflicts_with = "edit")]
    network: Option<String>,
}

fn sandboxes() -> impl TypedValueParser<Value = Sandbox> {
    let names = PossibleValuesParser::new(Sandbox::ALL.map(Sandbox::name));
    names.try_map(|name| name.parse::<Sandbox>())
}

impl ReachArgs {
    /// What is chosen in place of what was shown; nothing when it is the same.
    pub(super) fn chosen(&self, request: &ApprovalRequest) -> Result<Option<Profile>, UsageError> {
        if self.sandbox.is_none() && self.network.is_none() {
            return Ok(None);
        }
        let Some(shown) = &request.reach else {
            return Err(UsageError(
                "only for commands it can be chosen what they run with".to_owned(),
            ));
        };
        let profile = self.profile(&shown.profile)?;
        if shown.level == Level::None && profile.sandbox != Sandbox::Full {
            let missing = "no sandbox is available where it runs, so it cannot be confined";
            return Err(UsageError(missing.to_owned()));
        }
        Ok(Some(profile).filter(|profile| *profile != shown.profile))
    }

    fn profile(&self, shown: &Profile) -> Result<Profile, UsageError> {
        let hosts = match &self.network {
            Some(hosts) => prompt::named_hosts(hosts).map_err(UsageError)?,
            None => shown.network.clone(),
        };
        let sandbox = self.sandbox.unwrap_or(Sandbox::WorkspaceWrite);
        if sandbox == Sandbox::ReadOnly && self.network.is_some() {
            let message =
                "what runs in `read_only` reaches no network; hosts go with `workspace_write`";
            return Err(UsageError(message.to_owned()));
        }
        Ok(Profile::new(sandbox, hosts))
    }
}
