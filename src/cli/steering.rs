//! The grammar of the subcommands that act on a stored run, or look at it.

use super::GateArgs;
use clap::Args;

/// What every subcommand that acts on a stored run takes.
#[derive(Debug, Default, Args)]
pub struct ActArgs {
    /// Your reason, kept in the journal
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub why: String,
    #[command(flatten)]
    pub on: OnArgs,
}

/// How a stored run continues after an action.
#[derive(Debug, Default, Args)]
pub struct OnArgs {
    /// Only show what would change
    #[arg(long)]
    pub dry_run: bool,
    /// Leave the run paused instead of continuing it
    #[arg(long)]
    pub pause: bool,
    /// Print events as they happen, one JSON object per line
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub gates: GateArgs,
}

#[derive(Debug, Args)]
pub struct PauseArgs {
    /// The run's id, the start or end of its id, or `last`
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: String,
    #[command(flatten)]
    pub act: ActArgs,
}

#[derive(Debug, Args)]
pub struct UndoArgs {
    /// The run's id, the start or end of its id, or `last`
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: String,
    #[command(flatten)]
    pub on: OnArgs,
}

#[derive(Debug, Args)]
pub struct TargetArgs {
    /// The run's id, the start or end of its id, or `last`
    #[arg(value_name = "RUN")]
    pub run: String,
    /// Only this node [default: the whole run]
    #[arg(value_name = "NODE")]
    pub node: Option<String>,
    /// The node and every node that only it leads to
    #[arg(long, requires = "node")]
    pub branch: bool,
    #[command(flatten)]
    pub act: ActArgs,
}

#[derive(Debug, Args)]
pub struct NodeArgs {
    /// The run's id, the start or end of its id, or `last`
    #[arg(value_name = "RUN")]
    pub run: String,
    /// The node's id
    #[arg(value_name = "NODE")]
    pub node: String,
    #[command(flatten)]
    pub act: ActArgs,
}

#[derive(Debug, Args)]
pub struct RerunArgs {
    /// The run's id, the start or end of its id, or `last`
    #[arg(value_name = "RUN")]
    pub run: String,
    /// The node's id
    #[arg(value_name = "NODE")]
    pub node: String,
    /// Only this node: nodes that depend on it keep their results, marked stale
    #[arg(long)]
    pub alone: bool,
    #[command(flatten)]
    pub act: ActArgs,
}

#[derive(Debug, Args)]
pub struct OverrideArgs {
    /// The run's id, the start or end of its id, or `last`
    #[arg(value_name = "RUN")]
    pub run: String,
    /// The node's id
    #[arg(value_name = "NODE")]
    pub node: String,
    /// The result: JSON, or text that does not start like JSON [default: none, the node is done]
    #[arg(value_name = "VALUE")]
    pub value: Option<String>,
    #[command(flatten)]
    pub act: ActArgs,
}

#[derive(Debug, Args)]
pub struct GuideArgs {
    /// The run's id, the start or end of its id, or `last`
    #[arg(value_name = "RUN")]
    pub run: String,
    /// The node's id
    #[arg(value_name = "NODE")]
    pub node: String,
    /// The message to the agent
    #[arg(value_name = "TEXT")]
    pub text: String,
    #[command(flatten)]
    pub act: ActArgs,
}

#[derive(Debug, Args)]
pub struct RewindArgs {
    /// The run's id, the start or end of its id, or `last`
    #[arg(value_name = "RUN")]
    pub run: String,
    /// The node whose result is rejected
    #[arg(value_name = "NODE")]
    pub node: String,
    /// What is wrong with the result
    #[arg(value_name = "FEEDBACK")]
    pub feedback: String,
    /// The earlier node that runs again with the feedback [default: NODE itself]
    #[arg(long, value_name = "NODE")]
    pub to: Option<String>,
    #[command(flatten)]
    pub act: ActArgs,
}

#[derive(Debug, Args)]
pub struct EditArgs {
    /// The run's id, the start or end of its id, or `last`
    #[arg(value_name = "RUN")]
    pub run: String,
    /// The changed plan: a file, or `-` for stdin; `dagdeck export RUN` writes the current one
    #[arg(value_name = "FILE")]
    pub file: String,
    #[command(flatten)]
    pub act: ActArgs,
}

#[derive(Debug, Args)]
pub struct BranchArgs {
    /// The run's id, the start or end of its id, or `last`
    #[arg(value_name = "RUN")]
    pub run: String,
    /// The number of the last event to keep [default: the newest]
    #[arg(long, value_name = "EVENT", allow_negative_numbers = true)]
    pub at: Option<i64>,
    /// Keep all events up to the last one of this node
    #[arg(long, value_name = "NODE", conflicts_with = "at")]
    pub until: Option<String>,
    /// The plan of the new run: a file, or `-` for stdin
    #[arg(long, value_name = "FILE")]
    pub edit: Option<String>,
    /// Why the plan changes, kept in the journal
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true, requires = "edit")]
    pub why: String,
    #[command(flatten)]
    pub on: OnArgs,
}

#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The run's id, the start or end of its id, or `last`
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: String,
    /// The run as it was after this event [default: the newest]
    #[arg(long, value_name = "EVENT", allow_negative_numbers = true)]
    pub at: Option<i64>,
    /// The run as it was after the last event of this node
    #[arg(long, value_name = "NODE", conflicts_with = "at")]
    pub until: Option<String>,
    /// List the events up to that point
    #[arg(long)]
    pub events: bool,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct DecideArgs {
    /// The run's id, the start or end of its id, or `last`
    #[arg(value_name = "RUN")]
    pub run: String,
    /// The gate's number or its node; not needed if only one is open
    #[arg(value_name = "GATE|NODE")]
    pub gate: Option<String>,
    #[command(flatten)]
    pub gates: GateArgs,
    /// Print events as they happen, one JSON object per line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ApproveArgs {
    #[command(flatten)]
    pub decide: DecideArgs,
    /// Approve this changed payload instead of the one shown
    #[arg(long, value_name = "JSON")]
    pub payload: Option<String>,
}

#[derive(Debug, Args)]
pub struct RejectArgs {
    #[command(flatten)]
    pub decide: DecideArgs,
    /// Your reason; the agent that asked gets it
    #[arg(long, short, value_name = "TEXT", default_value = "")]
    pub message: String,
}

#[derive(Debug, Args)]
pub struct AnswerArgs {
    #[command(flatten)]
    pub decide: DecideArgs,
    /// The answer: JSON if it parses, otherwise text
    #[arg(long, short, value_name = "VALUE")]
    pub value: String,
}
