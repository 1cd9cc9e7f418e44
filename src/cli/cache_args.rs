//! The arguments of `dagdeck cache`, and of runs that don't use it.

use crate::host::Caching;
use clap::{Args, Subcommand as Subcommands};

#[derive(Clone, Copy, Debug, Default, Args)]
pub struct CachingArgs {
    /// Do all work anew: take no result of an earlier run, and keep none
    #[arg(long)]
    pub no_cache: bool,
}

impl CachingArgs {
    pub(super) fn caching(self) -> Caching {
        if self.no_cache { Caching::Off } else { Caching::On }
    }
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_value_name = "why|clear", disable_help_subcommand = true)]
pub struct CacheArgs {
    #[command(subcommand)]
    pub action: Option<CacheAction>,
    /// List the results of all workspaces
    #[arg(long)]
    pub all: bool,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommands)]
pub enum CacheAction {
    /// Say for each node of a run why an earlier result was taken, or why not
    Why(CacheWhyArgs),
    /// Delete results, so that the work is done anew
    Clear(CacheClearArgs),
}

#[derive(Debug, Args)]
pub struct CacheWhyArgs {
    /// `last`, an id, or 4 or more characters from its start or end
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: String,
    /// Only this node
    #[arg(value_name = "NODE")]
    pub node: Option<String>,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct CacheClearArgs {
    /// Only what these runs made; without it all of the workspace
    #[arg(value_name = "RUN")]
    pub runs: Vec<String>,
    /// The results of all workspaces
    #[arg(long, conflicts_with = "runs")]
    pub all: bool,
}
