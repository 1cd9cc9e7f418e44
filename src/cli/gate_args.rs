//! The arguments about gates that are open, or open while a run goes on.

use crate::engine::LostChoice;
use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};

fn unknowns() -> impl TypedValueParser<Value = LostChoice> {
    PossibleValuesParser::new(LostChoice::ALL.map(LostChoice::word)).try_map(|name| name.parse::<LostChoice>())
}

#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Gates that are open, or open while the run goes on")]
pub struct GateArgs {
    /// Approve every gate that needs only a yes. Questions and sending private data still wait for you; with `step` and `run-to` it approves only gates of the nodes that these start
    #[arg(long)]
    pub yes: bool,
    /// Approve gates whose node or tool matches
    #[arg(long, value_name = "GLOB")]
    pub approve: Vec<String>,
    /// Reject gates whose node or tool matches; wins over every approval
    #[arg(long, value_name = "GLOB")]
    pub deny: Vec<String>,
    /// Let private data be sent to hosts that match (`example.com`, `*.example.com:443`); `--yes` doesn't
    #[arg(long, value_name = "GLOB")]
    pub allow_host: Vec<String>,
    /// What to do with nodes that were interrupted, so that nobody knows whether their call was made: `again` calls once more, `done` counts it as made, with no result, `skip` skips the node
    #[arg(long, value_name = "WHAT", value_parser = unknowns())]
    pub unknown: Option<LostChoice>,
    /// Leave the gate open that asks for more where a budget is used up; without it agents return what they have
    #[arg(long)]
    pub ask_at_cap: bool,
}
