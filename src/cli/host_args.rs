//! The arguments of the host, and of what is done with runs that it drives.

use super::{LookArgs, RunNameArgs};
use clap::Args;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_value_name = "ACTION", disable_help_subcommand = true)]
pub struct HostArgs {
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
    #[command(subcommand)]
    pub action: Option<HostAction>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::Subcommand)]
pub enum HostAction {
    /// End the host; runs under way are left as they are, to be resumed
    Stop,
    /// End the host and start another one of this version and with these settings, which goes on with its runs
    Restart,
    /// Be the host, until nothing runs and nobody is attached; other subcommands start it by themselves
    Serve,
}

#[derive(Debug, Args)]
pub struct AttachArgs {
    /// The run to open: its id, 4 or more characters from its start or end, or `last` [default: the newest that goes on]
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    #[command(flatten)]
    pub look: LookArgs,
}

#[derive(Debug, Args)]
pub struct LogsArgs {
    #[command(flatten)]
    pub of: RunNameArgs,
    /// Go on until the run is over
    #[arg(long, short)]
    pub follow: bool,
    /// Print the events, one JSON object per line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct WaitArgs {
    #[command(flatten)]
    pub of: RunNameArgs,
    /// Wait on where the run waits for a person; without it `wait` ends there, with exit code 7
    #[arg(long)]
    pub past_gates: bool,
    /// Print one JSON object with the run's id and outcome
    #[arg(long)]
    pub json: bool,
}
