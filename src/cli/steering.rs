//! The grammar of the subcommands that act on a stored run. A run is optional everywhere and means `last`; `-m` is the message everywhere.

use super::{GateArgs, RuleArgs, moments};
use crate::plan::Moment;
use clap::Args;

/// A run.
#[derive(Debug, Args)]
pub struct RunNameArgs {
    /// The run's id, 4 or more characters from its start or end, or `last`
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: String,
}

/// A run, and one of its nodes.
#[derive(Debug, Args)]
#[command(allow_missing_positional = true)]
pub struct RunNodeArgs {
    /// The run's id, 4 or more characters from its start or end, or `last`
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: String,
    /// The node's id
    #[arg(value_name = "NODE")]
    pub node: String,
}

/// A run, or something of it. One name alone is what the newest run has by that name, else a run.
#[derive(Debug, Args)]
pub struct RunPartArgs {
    /// The run's id, 4 or more characters from its start or end, or `last` [default: last]
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// A node's id; without RUN, a node of the newest run
    #[arg(value_name = "NODE")]
    pub part: Option<String>,
}

/// What every subcommand that acts on a stored run takes.
#[derive(Debug, Default, Args)]
pub struct ActArgs {
    /// Only show what would change
    #[arg(long)]
    pub dry_run: bool,
    /// Print events as they happen, one JSON object per line
    #[arg(long)]
    pub json: bool,
}

/// Why a person acts.
#[derive(Debug, Default, Args)]
pub struct ReasonArgs {
    /// Your reason, kept in the journal
    #[arg(long, short, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub message: String,
}

/// How a stored run continues after an action.
#[derive(Debug, Default, Args)]
pub struct DriveArgs {
    /// Leave this run paused instead of going on with it
    #[arg(long, conflicts_with_all = ["yes", "approve", "deny", "unknown"])]
    pub pause: bool,
    #[command(flatten)]
    pub gates: GateArgs,
}

#[derive(Debug, Args)]
pub struct PauseArgs {
    #[command(flatten)]
    pub of: RunNameArgs,
    #[command(flatten)]
    pub reason: ReasonArgs,
    #[command(flatten)]
    pub act: ActArgs,
}

#[derive(Debug, Args)]
pub struct UndoArgs {
    #[command(flatten)]
    pub of: RunNameArgs,
    #[command(flatten)]
    pub act: ActArgs,
}

#[derive(Debug, Args)]
pub struct TargetArgs {
    #[command(flatten)]
    pub of: RunPartArgs,
    /// The node, and every node that depends on it alone
    #[arg(long)]
    pub branch: bool,
    #[command(flatten)]
    pub reason: ReasonArgs,
    #[command(flatten)]
    pub act: ActArgs,
}

#[derive(Debug, Args)]
pub struct ReleaseArgs {
    #[command(flatten)]
    pub target: TargetArgs,
    #[command(flatten)]
    pub go_on: DriveArgs,
}

#[derive(Debug, Args)]
pub struct SkipArgs {
    #[command(flatten)]
    pub of: RunNodeArgs,
    #[command(flatten)]
    pub reason: ReasonArgs,
    #[command(flatten)]
    pub act: ActArgs,
}

#[derive(Debug, Args)]
pub struct RetryArgs {
    #[command(flatten)]
    pub node: SkipArgs,
    #[command(flatten)]
    pub go_on: DriveArgs,
}

#[derive(Debug, Args)]
pub struct RerunArgs {
    /// Only this node: nodes that depend on it keep their results, marked stale
    #[arg(long)]
    pub alone: bool,
    #[command(flatten)]
    pub node: RetryArgs,
}

#[derive(Debug, Args)]
pub struct StepArgs {
    #[command(flatten)]
    pub of: RunPartArgs,
    #[command(flatten)]
    pub reason: ReasonArgs,
    #[command(flatten)]
    pub act: ActArgs,
    #[command(flatten)]
    pub gates: GateArgs,
}

#[derive(Debug, Args)]
pub struct RunToArgs {
    #[command(flatten)]
    pub of: RunNodeArgs,
    #[command(flatten)]
    pub reason: ReasonArgs,
    #[command(flatten)]
    pub act: ActArgs,
    #[command(flatten)]
    pub gates: GateArgs,
}

#[derive(Debug, Args)]
pub struct BreakArgs {
    /// The run's id, 4 or more characters from its start or end, or `last` [default: last]
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// A node's id, or a pattern with `*`; without one, all breakpoints are listed
    #[arg(value_name = "NODE")]
    pub part: Option<String>,
    /// When the run halts: before the node, after its result, on its failure, or before each of its calls
    #[arg(long, value_name = "MOMENT", default_value = "before", value_parser = moments())]
    pub at: Moment,
    /// Halt only if this is true, such as `cost_usd > 1` or `tool == 'write_file'`
    #[arg(long, value_name = "CONDITION")]
    pub when: Option<String>,
    /// Remove the breakpoint with this number
    #[arg(long, value_name = "NUMBER", group = "known", conflicts_with_all = ["part", "at", "when"])]
    pub remove: Option<u32>,
    /// Turn the breakpoint with this number off, and keep it
    #[arg(long, value_name = "NUMBER", group = "known", conflicts_with_all = ["part", "at", "when"])]
    pub disable: Option<u32>,
    /// Turn the breakpoint with this number on again
    #[arg(long, value_name = "NUMBER", group = "known", conflicts_with_all = ["part", "at", "when"])]
    pub enable: Option<u32>,
    #[command(flatten)]
    pub reason: ReasonArgs,
    #[command(flatten)]
    pub act: ActArgs,
}

#[derive(Debug, Args)]
pub struct OverrideArgs {
    #[command(flatten)]
    pub node: SkipArgs,
    /// The result: JSON, or plain text. Without it the node is marked done
    #[arg(long, value_name = "VALUE")]
    pub value: Option<String>,
}

#[derive(Debug, Args)]
pub struct GuideArgs {
    #[command(flatten)]
    pub of: RunNodeArgs,
    /// The message to the agent
    #[arg(long, short, value_name = "TEXT")]
    pub message: String,
    #[command(flatten)]
    pub act: ActArgs,
}

#[derive(Debug, Args)]
pub struct ReplanArgs {
    #[command(flatten)]
    pub of: RunNameArgs,
    /// What the planner is to do otherwise
    #[arg(long, short, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub message: String,
    /// Print events as they happen, one JSON object per line
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub gates: GateArgs,
}

#[derive(Debug, Args)]
pub struct RewindArgs {
    #[command(flatten)]
    pub of: RunNodeArgs,
    /// What is wrong with the node's result
    #[arg(long, short, value_name = "TEXT")]
    pub message: String,
    /// The earlier node that runs again with the message [default: NODE itself]
    #[arg(long, value_name = "NODE")]
    pub to: Option<String>,
    #[command(flatten)]
    pub act: ActArgs,
    #[command(flatten)]
    pub go_on: DriveArgs,
}

#[derive(Debug, Args)]
#[command(allow_missing_positional = true)]
pub struct EditArgs {
    #[command(flatten)]
    pub of: RunNameArgs,
    /// The changed plan: a file, or `-` for stdin; `dagdeck export RUN` writes the current one
    #[arg(value_name = "FILE")]
    pub file: String,
    #[command(flatten)]
    pub reason: ReasonArgs,
    #[command(flatten)]
    pub act: ActArgs,
}

#[derive(Debug, Args)]
pub struct BranchArgs {
    #[command(flatten)]
    pub of: RunNameArgs,
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
    #[arg(long, short, value_name = "TEXT", default_value = "", hide_default_value = true, requires = "edit")]
    pub message: String,
    #[command(flatten)]
    pub act: ActArgs,
    #[command(flatten)]
    pub go_on: DriveArgs,
}

#[derive(Debug, Args)]
pub struct ReplayArgs {
    #[command(flatten)]
    pub of: RunNameArgs,
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
    /// The run's id, 4 or more characters from its start or end, or `last` [default: last]
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// The gate's number or its node, if several are open
    #[arg(value_name = "GATE|NODE")]
    pub part: Option<String>,
    /// Print events as they happen, one JSON object per line
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub gates: GateArgs,
}

#[derive(Debug, Args)]
pub struct ApproveArgs {
    /// Approve this changed payload instead of the one shown
    #[arg(long, value_name = "JSON")]
    pub payload: Option<String>,
    /// Of a new plan, take only the piece with this number; can be given several times
    #[arg(long, value_name = "NUMBER", conflicts_with = "payload")]
    pub piece: Vec<usize>,
    /// Your reason, kept in the journal and in the audit
    #[arg(long, short, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub message: String,
    #[command(flatten)]
    pub rule: RuleArgs,
    #[command(flatten)]
    pub decide: DecideArgs,
}

#[derive(Debug, Args)]
pub struct RejectArgs {
    /// Your reason; the agent that asked gets it
    #[arg(long, short, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub message: String,
    #[command(flatten)]
    pub rule: RuleArgs,
    #[command(flatten)]
    pub decide: DecideArgs,
}

#[derive(Debug, Args)]
pub struct AnswerArgs {
    /// The answer: JSON if it parses, otherwise text
    #[arg(long, short, value_name = "ANSWER")]
    pub message: String,
    #[command(flatten)]
    pub decide: DecideArgs,
}
