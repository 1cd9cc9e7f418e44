//! The command line's grammar. One struct a verb; the verbs themselves live in files of their names.

use super::{
    AnswerArgs, ApproveArgs, BranchArgs, EditArgs, GuideArgs, NodeArgs, OverrideArgs, PauseArgs, RejectArgs, ReplayArgs, RerunArgs,
    RewindArgs, TargetArgs, UndoArgs,
};
use crate::{host::Unknown, plan::dialect::Format};
use clap::{
    Args, Parser, Subcommand, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};
use std::path::PathBuf;

/// Operator console for agent DAGs: type a request, read and edit the plan, run it, decide, see the result.
///
/// Without a verb the console opens. Nothing needs a key: with no model connected, plans come from the built-in planner and
/// nodes that need a model are rehearsed.
#[derive(Debug, Parser)]
#[command(name = "dagdeck", version, max_term_width = 100, propagate_version = true)]
pub struct Cli {
    /// Settings that every verb understands.
    #[command(flatten)]
    pub common: Common,
    /// What to do.
    #[command(subcommand)]
    pub verb: Option<CliCommand>,
}

impl Cli {
    /// Whether a model that is named does something.
    pub(super) fn takes_model(&self) -> bool {
        let Some(verb) = &self.verb else { return true };
        use CliCommand::{Console, Doctor, Models, Plan, Run, Validate};
        matches!(verb, Console(_) | Plan(_) | Run(_) | Validate(_) | Models(_) | Doctor(_))
    }
}

/// Settings that every verb understands.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Everywhere")]
pub struct Common {
    /// Folder that tools work in
    #[arg(long, global = true, value_name = "DIR", default_value = ".")]
    pub workspace: PathBuf,
    /// Folder for runs and settings [default: by the platform's rules]
    #[arg(long, global = true, value_name = "DIR", env = "DAGDECK_HOME")]
    pub home: Option<PathBuf>,
    /// Model of plans and new runs; `rehearsal` or `operator` for none
    #[arg(long, global = true, value_name = "NAME", env = "DAGDECK_MODEL")]
    pub model: Option<String>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Open the console (the same as no verb)
    Console(ConsoleArgs),
    /// Make a plan from a request and print it
    Plan(PlanArgs),
    /// Run a plan file, or plan and run a request, without a console
    Run(RunArgs),
    /// Go on with a run that was interrupted, is paused, or waits
    Resume(ResumeArgs),
    /// Approve a gate of a stored run, and go on
    Approve(ApproveArgs),
    /// Reject a gate of a stored run, and go on
    Reject(RejectArgs),
    /// Answer a question of a stored run, and go on
    Answer(AnswerArgs),
    /// Cancel a stored run, one of its nodes, or a branch of it
    Cancel(TargetArgs),
    /// Let agents hand back what they have
    Stop(TargetArgs),
    /// Pause a stored run: nothing starts until it is resumed
    Pause(PauseArgs),
    /// Keep a node, a branch or a run from starting
    Hold(TargetArgs),
    /// Let go what is held, or stands at a breakpoint
    Release(TargetArgs),
    /// Run a node again, with everything that depends on it
    Rerun(RerunArgs),
    /// Try a node again that ended badly
    Retry(NodeArgs),
    /// Never run a node
    Skip(NodeArgs),
    /// Give a node's result yourself, or mark it done
    Override(OverrideArgs),
    /// Say something to an agent, for when it starts or goes on
    Guide(GuideArgs),
    /// Reject a result with feedback, and have it made again
    ///
    /// Who is to do better runs again with the feedback, and with it everything that depends on it.
    Rewind(RewindArgs),
    /// Change the plan of a stored run, as far as it has not run
    Edit(EditArgs),
    /// Take the newest verb back, unless its effect has begun
    Undo(UndoArgs),
    /// Make a new run that keeps a run's events up to a point
    Branch(BranchArgs),
    /// Show a run as it stood at any of its events; nothing is called
    Replay(ReplayArgs),
    /// Check a plan and list every finding
    Validate(ValidateArgs),
    /// Write a plan in another form, or a whole run into a file
    Export(ExportArgs),
    /// Take in a run that was exported, to look at
    Import(ImportArgs),
    /// Tell what differs between two plans
    Diff(DiffArgs),
    /// List runs, newest first
    Ls(LsArgs),
    /// Tell about one run
    Show(ShowArgs),
    /// Tell what a node waits for, down to what a person can do
    Why(AboutArgs),
    /// Tell where a node's result came from
    Trace(AboutArgs),
    /// List agent cards
    Agents(ListArgs),
    /// List tools, their risk, and what is decided about them
    Tools(ListArgs),
    /// List the models on offer
    Models(ListArgs),
    /// Say what is configured, what is missing, and how to mend it
    Doctor(ListArgs),
    /// Print the JSON Schema of a document
    Schema(SchemaArgs),
    /// Print a shell's completions
    Completions(CompletionsArgs),
    /// Print the manual page
    Man,
}

/// Forms by their names, with completion.
fn forms() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::name)).try_map(|name| name.parse::<Format>())
}

/// What may become of unknown nodes, by its names.
fn unknowns() -> impl TypedValueParser<Value = Unknown> {
    let all = [Unknown::Again, Unknown::Done, Unknown::Skip];
    PossibleValuesParser::new(all.map(Unknown::word))
        .try_map(move |name| all.into_iter().find(|unknown| unknown.word() == name).ok_or("no such word"))
}

/// `dagdeck console`
#[derive(Clone, Debug, Default, Args)]
pub struct ConsoleArgs {
    /// A plan file to open, or a request to plan at once
    #[arg(value_name = "PLAN|REQUEST")]
    pub open: Option<String>,
    /// Open this run: its name, the beginning of it, or `last`
    #[arg(long, value_name = "RUN", conflicts_with = "open")]
    pub run: Option<String>,
    /// Theme by name or file
    #[arg(long, value_name = "NAME|FILE", env = "DAGDECK_THEME")]
    pub theme: Option<String>,
    /// Draw with ASCII only
    #[arg(long)]
    pub ascii: bool,
}

/// `dagdeck plan`
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// What is wanted; `-` reads it from stdin
    #[arg(value_name = "REQUEST")]
    pub request: String,
    /// Form to print
    #[arg(long, value_name = "FORM", default_value = "native", value_parser = forms())]
    pub format: Format,
    /// Print findings too, all as one JSON object
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
}

/// `dagdeck run`
#[derive(Debug, Args)]
pub struct RunArgs {
    /// A plan file (or `-` for stdin), or a request in words
    #[arg(value_name = "PLAN|REQUEST")]
    pub what: String,
    /// A plan input; the value is JSON where it parses as such, else text
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Print events as they come, one JSON object a line
    #[arg(long)]
    pub json: bool,
    /// How gates are decided.
    #[command(flatten)]
    pub gates: GateArgs,
}

/// How gates are decided without a person.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Gates")]
pub struct GateArgs {
    /// Approve every gate that a yes can answer
    #[arg(long)]
    pub yes: bool,
    /// Approve gates whose node or tool matches
    #[arg(long, value_name = "GLOB")]
    pub approve: Vec<String>,
    /// Reject gates whose node or tool matches; beats every approval
    #[arg(long, value_name = "GLOB")]
    pub deny: Vec<String>,
    /// What becomes of nodes of which nobody knows whether they took effect
    #[arg(long, value_name = "WHAT", value_parser = unknowns())]
    pub unknown: Option<Unknown>,
}

/// `dagdeck resume`
#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// The run's name, the beginning of it, or `last`
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: String,
    /// Print events as they come, one JSON object a line
    #[arg(long)]
    pub json: bool,
    /// How gates are decided.
    #[command(flatten)]
    pub gates: GateArgs,
}

/// `dagdeck validate`
#[derive(Debug, Args)]
pub struct ValidateArgs {
    /// A plan file, or `-` for stdin
    #[arg(value_name = "FILE")]
    pub file: String,
    /// Print the findings as JSON
    #[arg(long)]
    pub json: bool,
}

/// `dagdeck export`
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// A plan file, `-` for stdin, or a run (`last` for the newest)
    #[arg(value_name = "FILE|RUN")]
    pub what: String,
    /// Form to write
    #[arg(long, value_name = "FORM", default_value = "native", value_parser = forms())]
    pub format: Format,
    /// Write YAML rather than JSON; for the forms that are documents, not pictures
    #[arg(long, conflicts_with = "ascii")]
    pub yaml: bool,
    /// Draw the form `text` with ASCII only
    #[arg(long)]
    pub ascii: bool,
    /// Write the whole run with all its events into this file (`-` for stdout), secrets taken out; `dagdeck import` reads it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["format", "yaml", "ascii"])]
    pub run_file: Option<String>,
}

/// `dagdeck import`
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// A run file, or `-` for stdin
    #[arg(value_name = "FILE")]
    pub file: String,
    /// Print the run's name as JSON
    #[arg(long)]
    pub json: bool,
}

/// `dagdeck diff`
///
/// The order of nodes doesn't count. Exit code 0: the plans are equal; 4: they differ; 1 to 3 are errors, as everywhere.
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// The plan as it was: a file, `-` for stdin, or a run (`last` for the newest)
    #[arg(value_name = "OLD")]
    pub old: String,
    /// The plan as it is: a file, `-` for stdin, or a run
    #[arg(value_name = "NEW")]
    pub new: String,
    /// Two runs: also what became of each node, what it gave and what it took, side by side
    #[arg(long)]
    pub results: bool,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

/// `dagdeck ls`
#[derive(Debug, Args)]
pub struct LsArgs {
    /// How many at the most
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..))]
    pub limit: u16,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

/// `dagdeck show`
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The run's name, the beginning of it, or `last`
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: String,
    /// Only this node, with its whole result
    #[arg(value_name = "NODE")]
    pub node: Option<String>,
    /// The run against time: waiting, work, retries, the critical path
    #[arg(long, conflicts_with = "node")]
    pub timeline: bool,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

/// `dagdeck why`, `dagdeck trace`
#[derive(Debug, Args)]
pub struct AboutArgs {
    /// The run's name, the beginning of it, or `last`
    #[arg(value_name = "RUN")]
    pub run: String,
    /// The node, as `dagdeck show` names it
    #[arg(value_name = "NODE")]
    pub node: String,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

/// Verbs that only list something.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

/// `dagdeck schema`
#[derive(Debug, Args)]
pub struct SchemaArgs {
    /// Which document
    #[arg(value_enum, default_value_t = SchemaDocument::Plan)]
    pub document: SchemaDocument,
}

/// `dagdeck completions`
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// Which shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// Documents with a published schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaDocument {
    /// A plan in the native form
    Plan,
    /// Every code that a finding may have, with its severity
    Findings,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_grammar_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn common_settings_stand_before_or_after_the_verb() {
        let before = Cli::parse_from(["dagdeck", "--home", "h", "ls"]);
        let after = Cli::parse_from(["dagdeck", "ls", "--home", "h"]);
        assert_eq!(before.common.home, after.common.home);
    }
}
