//! The grammar of the verbs that steer a stored run, or look at it.

use super::GateArgs;
use clap::Args;

/// What every verb that steers a stored run understands.
#[derive(Debug, Default, Args)]
pub struct ActArgs {
    /// Why, for the record
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub why: String,
    /// How the run goes on.
    #[command(flatten)]
    pub on: OnArgs,
}

/// How a stored run goes on after a verb.
#[derive(Debug, Default, Args)]
pub struct OnArgs {
    /// Only tell what it would change
    #[arg(long)]
    pub dry_run: bool,
    /// Leave the run paused afterwards, rather than go on with it
    #[arg(long)]
    pub pause: bool,
    /// Print as JSON: events as they come, one a line
    #[arg(long)]
    pub json: bool,
    /// How gates are decided.
    #[command(flatten)]
    pub gates: GateArgs,
}

/// `dagdeck pause`
#[derive(Debug, Args)]
pub struct PauseArgs {
    /// The run's name, the beginning of it, or `last`
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: String,
    /// What all of them understand.
    #[command(flatten)]
    pub act: ActArgs,
}

/// `dagdeck undo`
#[derive(Debug, Args)]
pub struct UndoArgs {
    /// The run's name, the beginning of it, or `last`
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: String,
    /// How the run goes on.
    #[command(flatten)]
    pub on: OnArgs,
}

/// Verbs about a run, a node, or a branch.
#[derive(Debug, Args)]
pub struct TargetArgs {
    /// The run's name, the beginning of it, or `last`
    #[arg(value_name = "RUN")]
    pub run: String,
    /// Only this node
    #[arg(value_name = "NODE")]
    pub node: Option<String>,
    /// The node with everything that only it feeds
    #[arg(long, requires = "node")]
    pub branch: bool,
    /// What all of them understand.
    #[command(flatten)]
    pub act: ActArgs,
}

/// Verbs about a node.
#[derive(Debug, Args)]
pub struct NodeArgs {
    /// The run's name, the beginning of it, or `last`
    #[arg(value_name = "RUN")]
    pub run: String,
    /// The node's id
    #[arg(value_name = "NODE")]
    pub node: String,
    /// What all of them understand.
    #[command(flatten)]
    pub act: ActArgs,
}

/// `dagdeck rerun`
#[derive(Debug, Args)]
pub struct RerunArgs {
    /// The run's name, the beginning of it, or `last`
    #[arg(value_name = "RUN")]
    pub run: String,
    /// The node's id
    #[arg(value_name = "NODE")]
    pub node: String,
    /// Only this node: what depends on it keeps its results, marked stale
    #[arg(long)]
    pub alone: bool,
    /// What all of them understand.
    #[command(flatten)]
    pub act: ActArgs,
}

/// `dagdeck override`
#[derive(Debug, Args)]
pub struct OverrideArgs {
    /// The run's name, the beginning of it, or `last`
    #[arg(value_name = "RUN")]
    pub run: String,
    /// The node's id
    #[arg(value_name = "NODE")]
    pub node: String,
    /// The result: JSON, or text that does not begin as JSON does; without it the node is marked done
    #[arg(value_name = "VALUE")]
    pub value: Option<String>,
    /// What all of them understand.
    #[command(flatten)]
    pub act: ActArgs,
}

/// `dagdeck guide`
#[derive(Debug, Args)]
pub struct GuideArgs {
    /// The run's name, the beginning of it, or `last`
    #[arg(value_name = "RUN")]
    pub run: String,
    /// The node's id
    #[arg(value_name = "NODE")]
    pub node: String,
    /// What it is told
    #[arg(value_name = "TEXT")]
    pub text: String,
    /// What all of them understand.
    #[command(flatten)]
    pub act: ActArgs,
}

/// `dagdeck rewind`
#[derive(Debug, Args)]
pub struct RewindArgs {
    /// The run's name, the beginning of it, or `last`
    #[arg(value_name = "RUN")]
    pub run: String,
    /// The node whose result is rejected
    #[arg(value_name = "NODE")]
    pub node: String,
    /// What is wrong with it
    #[arg(value_name = "FEEDBACK")]
    pub feedback: String,
    /// The node upstream that is to do better [default: the node itself]
    #[arg(long, value_name = "NODE")]
    pub to: Option<String>,
    /// What all of them understand.
    #[command(flatten)]
    pub act: ActArgs,
}

/// `dagdeck edit`
#[derive(Debug, Args)]
pub struct EditArgs {
    /// The run's name, the beginning of it, or `last`
    #[arg(value_name = "RUN")]
    pub run: String,
    /// The plan as it should be: a file, or `-` for stdin; `dagdeck export RUN` writes the one that it has
    #[arg(value_name = "FILE")]
    pub file: String,
    /// What all of them understand.
    #[command(flatten)]
    pub act: ActArgs,
}

/// `dagdeck branch`
#[derive(Debug, Args)]
pub struct BranchArgs {
    /// The run's name, the beginning of it, or `last`
    #[arg(value_name = "RUN")]
    pub run: String,
    /// The last event that is kept [default: the newest]
    #[arg(long, value_name = "SEQ", allow_negative_numbers = true)]
    pub at: Option<i64>,
    /// Keep everything up to the last event of this node
    #[arg(long, value_name = "NODE", conflicts_with = "at")]
    pub until: Option<String>,
    /// The branch's plan: a file, or `-` for stdin
    #[arg(long, value_name = "FILE")]
    pub edit: Option<String>,
    /// Why the plan is another one, for the record
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true, requires = "edit")]
    pub why: String,
    /// How the branch goes on.
    #[command(flatten)]
    pub on: OnArgs,
}

/// `dagdeck replay`
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The run's name, the beginning of it, or `last`
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: String,
    /// As it stood after this event [default: the newest]
    #[arg(long, value_name = "SEQ", allow_negative_numbers = true)]
    pub at: Option<i64>,
    /// As it stood after the last event of this node
    #[arg(long, value_name = "NODE", conflicts_with = "at")]
    pub until: Option<String>,
    /// List the events up to there
    #[arg(long)]
    pub events: bool,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

/// Which gate of a stored run.
#[derive(Debug, Args)]
pub struct DecideArgs {
    /// The run's name, the beginning of it, or `last`
    #[arg(value_name = "RUN")]
    pub run: String,
    /// The gate's number or its node; not needed where only one is open
    #[arg(value_name = "GATE|NODE")]
    pub gate: Option<String>,
    /// How further gates are decided.
    #[command(flatten)]
    pub gates: GateArgs,
    /// Print events as they come, one JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// `dagdeck approve`
#[derive(Debug, Args)]
pub struct ApproveArgs {
    /// Which gate.
    #[command(flatten)]
    pub decide: DecideArgs,
    /// Approve this payload instead of the one that was shown
    #[arg(long, value_name = "JSON")]
    pub payload: Option<String>,
}

/// `dagdeck reject`
#[derive(Debug, Args)]
pub struct RejectArgs {
    /// Which gate.
    #[command(flatten)]
    pub decide: DecideArgs,
    /// Words that go back to whoever asked
    #[arg(long, short, value_name = "TEXT", default_value = "")]
    pub message: String,
}

/// `dagdeck answer`
#[derive(Debug, Args)]
pub struct AnswerArgs {
    /// Which question.
    #[command(flatten)]
    pub decide: DecideArgs,
    /// The answer: JSON where it parses as such, else text
    #[arg(long, short, value_name = "VALUE")]
    pub value: String,
}
