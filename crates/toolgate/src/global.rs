//! Flags that make sense for every command.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use toolgate_core::bounds::Preset;
use toolgate_core::dialect::Dialect;
use toolgate_policy::Mode;

/// Flags that make sense for every command.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalArgs {
    /// How much runs without a question; what a policy file says, or `default`, when left out
    #[arg(long, global = true, value_name = "MODE", value_parser = modes(), ignore_case = true)]
    pub(crate) mode: Option<Mode>,
    /// Policy file to use besides your own: TOML, or JSON with a `permissions` block
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) policy: Vec<PathBuf>,
    /// Tools that run without a question inside the workspace
    #[arg(long, global = true, value_name = "TOOL", value_delimiter = ',')]
    pub(crate) allowed_tools: Vec<String>,
    /// Tools that never run
    #[arg(long, global = true, value_name = "TOOL", value_delimiter = ',')]
    pub(crate) exclude_tools: Vec<String>,
    /// Folder to work in, the current one when left out
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Folder that counts as workspace too
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) add_dir: Vec<PathBuf>,
    /// Names of tools and parameters to speak in
    #[arg(long, global = true, value_name = "DIALECT", default_value = "native", value_parser = dialects())]
    pub(crate) dialect: Dialect,
    /// How long results may be
    #[arg(long, global = true, value_name = "PRESET", default_value = "standard", value_parser = presets())]
    pub(crate) results: Preset,
    /// Session that this call belongs to; calls of one session share what was granted
    #[arg(long, global = true, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Never ask here; what needs an approval fails
    #[arg(long, global = true)]
    pub(crate) non_interactive: bool,
    /// Without a terminal, wait for `toolgate approvals` to answer elsewhere, 60 seconds or as many as given
    #[arg(long, global = true, value_name = "SECONDS", num_args = 0..=1, require_equals = true, default_missing_value = "60", value_parser = clap::value_parser!(u64).range(1..=604_800))]
    pub(crate) wait_for_approval: Option<u64>,
    /// Print JSON for programs
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print results only, no progress
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say more about what happens; twice for even more
    #[arg(long, short, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

fn modes() -> impl TypedValueParser<Value = Mode> {
    let values = Mode::ALL.map(|mode| {
        PossibleValue::new(mode.name()).aliases(mode.aliases()).alias(mode.name().replace('_', "-"))
    });
    parsed(PossibleValuesParser::new(values))
}

fn dialects() -> impl TypedValueParser<Value = Dialect> {
    parsed(PossibleValuesParser::new(Dialect::ALL.map(Dialect::name)))
}

fn presets() -> impl TypedValueParser<Value = Preset> {
    parsed(PossibleValuesParser::new(["standard", "compact"]))
}

fn parsed<T>(values: PossibleValuesParser) -> impl TypedValueParser<Value = T>
where
    T: std::str::FromStr<Err: Into<Box<dyn std::error::Error + Send + Sync>>>
        + Clone
        + Send
        + Sync
        + 'static,
{
    values.try_map(|text| text.parse::<T>())
}
