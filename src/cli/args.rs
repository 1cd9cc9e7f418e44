//! The grammar of the command line: one struct per subcommand. What a subcommand does is in the file with its name.
//!
//! Doc comments of arguments are their help texts. Variables of the environment are read where they are used and only named here:
//! clap would count a variable as an argument, and show it as required in the usage line of an error.

use super::{
    AnswerArgs, ApproveArgs, AttachArgs, AuditArgs, BranchArgs, BreakArgs, BudgetArgs, CostArgs, EditArgs, GateArgs, GuideArgs, HostArgs,
    LogsArgs, OverrideArgs, PauseArgs, PermissionsArgs, PruneArgs, ReasonArgs, RejectArgs, ReleaseArgs, ReplanArgs, ReplayArgs, RerunArgs,
    RetryArgs, RewindArgs, RivalArgs, RunNameArgs, RunPartArgs, RunToArgs, ServeArgs, SetupArgs, SkipArgs, StepArgs, TargetArgs, UndoArgs,
    WaitArgs,
};
use crate::plan::{Moment, dialect::Format};
use clap::{
    Args, Parser, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};
use std::path::PathBuf;

/// Operator console for agent DAGs (plans of agents, tools and code): type a request, edit the plan, run it, decide what may happen, see the result.
///
/// Without a subcommand the console opens. It works without a model: the built-in planner makes the plan. A plan that needs a model can
/// be rehearsed: nodes that need a model or would change something, and what depends on them, only show what they would do.
#[derive(Debug, Parser)]
#[command(name = "dagdeck", subcommand_value_name = "SUBCOMMAND", version, max_term_width = 100, propagate_version = true)]
pub struct Cli {
    #[command(flatten)]
    pub common: Common,
    /// The console as lines, for screen readers, pipes and logs
    #[arg(long, conflicts_with_all = ["theme", "ascii", "mouse"])]
    pub plain: bool,
    /// Keep the console and its runs in one process, whatever `DAGDECK_HOST` says
    #[arg(long)]
    pub no_host: bool,
    #[command(flatten)]
    pub look: LookArgs,
    #[command(subcommand)]
    pub subcommand: Option<Subcommand>,
}

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Common options")]
pub struct Common {
    /// Folder that tools work in
    #[arg(long, global = true, value_name = "DIR", default_value = ".")]
    pub workspace: PathBuf,
    /// Folder for the journal of runs; `dagdeck doctor` shows where settings are [default: chosen by platform] [env: DAGDECK_HOME]
    #[arg(long, global = true, value_name = "DIR")]
    pub home: Option<PathBuf>,
    /// Model for planning and for agents, in new and resumed runs; `operator`: you answer in its place [env: DAGDECK_MODEL]
    #[arg(long, global = true, value_name = "NAME")]
    pub model: Option<String>,
    /// Use the workspace's own agents and settings this once, even if you have not trusted them
    #[arg(long, global = true)]
    pub trust: bool,
}

#[derive(Debug, clap::Subcommand)]
pub enum Subcommand {
    /// Open the console, as `dagdeck` alone does; takes options
    Console(ConsoleArgs),
    /// Make a plan from a request and print it
    Plan(PlanArgs),
    /// Run a plan file or a request without the console
    Run(RunArgs),
    /// Open the console on the host, where runs go on without it
    ///
    /// Close the console or lose the terminal: the host goes on with the runs. `dagdeck attach` comes back to them, from any terminal.
    Attach(AttachArgs),
    /// Show, stop or restart the host, which outlives consoles
    ///
    /// The host is a process of its own, one for a workspace. The first `dagdeck attach` or `run --detach` starts it; it ends by itself 30 s after
    /// nothing runs and nobody is attached.
    Host(HostArgs),
    /// Wait for the end of a run that goes on in another process
    ///
    /// Prints the output of the run and exits as `dagdeck run` does, also where the run waits for a person.
    Wait(WaitArgs),
    /// Go on with a run that was interrupted or paused, or that waits
    Resume(ResumeArgs),
    /// Serve chats and runs over HTTP, for clients of OpenAI's API
    ///
    /// A chat becomes a plan and a run; docs/http.md describes the addresses. Runs that go on when it ends can be resumed.
    Serve(ServeArgs),
    /// Approve an open gate of a run and resume the run
    Approve(ApproveArgs),
    /// Reject an open gate of a run and resume the run
    Reject(RejectArgs),
    /// Answer an open question of a run and resume the run
    Answer(AnswerArgs),
    /// Cancel a run, a node or a branch of the plan
    Cancel(TargetArgs),
    /// Finish early: agents return what they have, nothing more starts
    ///
    /// Agents at work finish now with the result they have so far. Nodes that have not started are cancelled.
    Stop(TargetArgs),
    /// Pause a run: no node starts until you resume it
    Pause(PauseArgs),
    /// Keep a run, a node or a branch of the plan from starting
    Hold(TargetArgs),
    /// End a hold, or go on after a breakpoint, and resume the run
    Release(ReleaseArgs),
    /// Start one node or make one held call, then pause the run
    Step(StepArgs),
    /// Run what a node needs, then pause before it
    RunTo(RunToArgs),
    /// Hold one node at a breakpoint: set, list and remove them
    Break(BreakArgs),
    /// Run a node again, and every node that depends on it
    Rerun(RerunArgs),
    /// Retry a failed node now, also one that waits for its next attempt
    Retry(RetryArgs),
    /// Skip a node: it never runs
    Skip(SkipArgs),
    /// Set a node's result yourself, or mark the node as done
    Override(OverrideArgs),
    /// Send a message to an agent, read before its next model call
    Guide(GuideArgs),
    /// Have an agent make its result again, with your feedback
    ///
    /// The agent that made the result, or the earlier one named by `--to`, runs again with your feedback, and so does every node that
    /// depends on it.
    Rewind(RewindArgs),
    /// Have the planner propose a new plan for what is left of a run
    ///
    /// What has ended well or is under way stays as it is. The new plan is shown as a list of changes that waits for your yes:
    /// `dagdeck approve` takes it or some pieces of it, `dagdeck reject` refuses it, or with `-m` has the planner try again.
    Replan(ReplanArgs),
    /// Change a run's plan; nodes that ran and are changed run again
    Edit(EditArgs),
    /// Undo the last action, if it has had no effect yet
    Undo(UndoArgs),
    /// Start a new run from a point of another run
    Branch(BranchArgs),
    /// Show a run as it was after any of its events
    Replay(ReplayArgs),
    /// Check a plan and list every finding
    Validate(ValidateArgs),
    /// Show what a plan will take before it runs
    Estimate(super::EstimateArgs),
    /// Write a plan in another format, or a whole run to a file
    Export(ExportArgs),
    /// Read an exported run, to look at it or branch from it
    Import(ImportArgs),
    /// Show what differs between two plans or two runs
    ///
    /// The order of nodes doesn't count. The exit code is 0 if the plans are equal and 4 if they differ.
    Diff(DiffArgs),
    /// List runs, newest first
    Ls(LsArgs),
    /// Delete runs that have ended, with their results and logs
    ///
    /// Name the runs, or choose them by `--older` or `--keep`. Without `--yes` it only lists what would be deleted, with the space that
    /// it takes. Runs that have not ended are deleted only if you name them, and never while a process has them open.
    Prune(PruneArgs),
    /// Show what model calls took, by node, model, tool, run or day
    ///
    /// Also how much of it went into attempts that failed, and into results that were made again. Tokens are those that servers report; a
    /// figure that was counted here has a `~`, an unknown price a `?`.
    Cost(CostArgs),
    /// List results that later runs take, say why, or delete them
    ///
    /// A result is taken where all that went into it is the same: the task, the results before it, the agent, its tools and model, and
    /// the files that it read. `dagdeck run --no-cache` does all work anew.
    Cache(super::CacheArgs),
    /// Show how agents and models did in past runs, and what they took
    Stats(super::StatsArgs),
    /// List what past runs suggest, and take or dismiss it
    Suggestions(super::SuggestionsArgs),
    /// Learn nothing more from runs; the journal and the audit keep them
    Forget(super::ForgetArgs),
    /// List who allowed and changed what, and which tools ran
    ///
    /// The audit covers all runs of the journal, also those that were deleted since. Each entry is written before what it allows happens,
    /// with a hash that covers the entry before it: `--verify` shows whether all are as they were written.
    Audit(AuditArgs),
    /// Show one run
    Show(ShowArgs),
    /// Show what a run or node waits for and what you can do about it
    Why(AboutArgs),
    /// Print what happened in a run, as it happens with `-f`
    Logs(LogsArgs),
    /// Show where the result of a run or node came from
    Trace(AboutArgs),
    /// List the agents
    Agents(ListArgs),
    /// List the tools, their risk, and which need approval
    Tools(ToolsArgs),
    /// List the models you can use, or set one up
    Models(ModelsArgs),
    /// List the workspace's own agents and settings, and trust them
    Trust(TrustArgs),
    /// List the rules that decide calls, and revoke your own
    Permissions(PermissionsArgs),
    /// Check the set-up: what works, what is missing, how to fix it
    Doctor(ListArgs),
    /// Print the JSON Schema of plans, or the codes of findings
    Schema(SchemaArgs),
    /// Print the completions for a shell
    Completions(CompletionsArgs),
    /// Print the manual page
    Man,
}

pub(super) fn moments() -> impl TypedValueParser<Value = Moment> {
    PossibleValuesParser::new(Moment::ALL.map(Moment::word)).try_map(|name| name.parse::<Moment>())
}

/// With the names listed in help and completions.
fn formats() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::all().map(Format::name)).try_map(|name| name.parse::<Format>())
}

#[derive(Clone, Debug, Default, Args)]
pub struct ConsoleArgs {
    /// A plan file to open, or a request to plan
    #[arg(value_name = "PLAN|REQUEST")]
    pub open: Option<String>,
    /// Open this run: its id, 4 or more characters from its start or end, or `last`
    #[arg(long, value_name = "RUN", conflicts_with = "open")]
    pub run: Option<String>,
    #[command(flatten)]
    pub look: LookArgs,
    /// Keep the console and its runs in one process, whatever `DAGDECK_HOST` says
    #[arg(long)]
    pub no_host: bool,
    /// The console as lines, for screen readers, pipes and logs: events as sentences, replies by the numbers of gates
    #[arg(long, conflicts_with_all = ["theme", "ascii", "mouse"])]
    pub plain: bool,
}

/// How the console looks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct LookArgs {
    /// Theme: a name or a file [env: DAGDECK_THEME]
    #[arg(long, value_name = "NAME|FILE")]
    pub theme: Option<String>,
    /// Draw with ASCII characters only
    #[arg(long)]
    pub ascii: bool,
    /// A click selects, the wheel scrolls; neither ever decides
    #[arg(long)]
    pub mouse: bool,
}

#[derive(Debug, Args)]
pub struct PlanArgs {
    /// What you want done; `-` reads it from stdin
    #[arg(value_name = "REQUEST")]
    pub request: String,
    /// Let the request go on from the results of this run, as in `--after last "and now as a table"`
    #[arg(long, value_name = "RUN", conflicts_with = "rivals")]
    pub after: Option<String>,
    /// Change the plan of this file instead of making a new one; the file itself is not changed
    #[arg(long, value_name = "FILE", conflicts_with_all = ["rivals", "after"])]
    pub on: Option<String>,
    #[command(flatten)]
    pub among: RivalArgs,
    /// Format to print
    #[arg(long, value_name = "FORMAT", default_value = "native", value_parser = formats())]
    pub format: Format,
    /// Print one JSON object with the plan and its findings
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct InputArgs {
    /// Set an input of the plan; the value is JSON if it parses, otherwise text
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Set an input of the plan to the text of a file, or of stdin (`-`); dagdeck asks before this text is sent to any host
    #[arg(long = "set-file", value_name = "NAME=FILE")]
    pub set_file: Vec<String>,
}

#[derive(Debug, Args)]
pub struct RunArgs {
    /// A plan file, a request in quotes, or `-` to read either from stdin
    #[arg(value_name = "PLAN|REQUEST")]
    pub what: String,
    /// Let the request go on from the results of this run, as in `--after last "and now as a table"`
    #[arg(long, value_name = "RUN", conflicts_with = "rivals")]
    pub after: Option<String>,
    #[command(flatten)]
    pub among: RivalArgs,
    #[command(flatten)]
    pub given: InputArgs,
    /// Change nothing: nodes that need a model or would change something, and what depends on them, only show what they would do
    #[arg(long, conflicts_with = "model")]
    pub rehearse: bool,
    /// Run what was understood of a request, and leave out what wasn't
    #[arg(long)]
    pub partial: bool,
    #[command(flatten)]
    pub caps: BudgetArgs,
    #[command(flatten)]
    pub cache: super::CachingArgs,
    /// Of a request that can be read in several ways, run the reading of this number
    #[arg(long, value_name = "NUMBER", conflicts_with = "partial")]
    pub reading: Option<usize>,
    /// Leave the run to the host and print its id: it goes on without this terminal, and waits where no flag decides a gate
    #[arg(long, short)]
    pub detach: bool,
    /// Print events as they happen, one JSON object per line
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub gates: GateArgs,
}

#[derive(Debug, Args)]
pub struct ResumeArgs {
    #[command(flatten)]
    pub of: RunNameArgs,
    #[command(flatten)]
    pub reason: ReasonArgs,
    /// Print events as they happen, one JSON object per line
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub gates: GateArgs,
}

#[derive(Debug, Args)]
pub struct TrustArgs {
    /// Trust these files as they are now
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
    /// Trust all of them
    #[arg(long, conflicts_with = "files")]
    pub all: bool,
    /// Let private data of this workspace be sent to this host from now on
    #[arg(long, value_name = "HOST:PORT")]
    pub host: Vec<String>,
    /// End the trust in a file, or the permission for a host
    #[arg(long, value_name = "FILE|HOST:PORT")]
    pub revoke: Vec<String>,
    /// Print the list as JSON
    #[arg(long, conflicts_with_all = ["files", "all", "host", "revoke"])]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ValidateArgs {
    /// A plan file, or `-` for stdin
    #[arg(value_name = "FILE")]
    pub file: String,
    /// Print the findings as JSON
    #[arg(long)]
    pub json: bool,
    /// Apply the safe fixes and write the file; `guess` also applies guesses that leave fewer findings
    #[arg(long, value_name = "KIND", num_args = 0..=1, require_equals = true, default_missing_value = "safe", value_parser = ["safe", "guess"])]
    pub fix: Option<String>,
    /// Show what the fixes would change, and write nothing
    #[arg(long)]
    pub diff: bool,
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// A plan file, `-` for stdin, or a run
    #[arg(value_name = "FILE|RUN", default_value = "last")]
    pub what: String,
    /// Format to write
    #[arg(long, value_name = "FORMAT", default_value = "native", value_parser = formats())]
    pub format: Format,
    /// Write YAML instead of JSON; not for drawings
    #[arg(long, conflicts_with = "ascii")]
    pub yaml: bool,
    /// Draw with ASCII characters only; for `--format text`
    #[arg(long)]
    pub ascii: bool,
    /// Write the whole run without its secrets to this file (`-` for stdout); `dagdeck import` reads it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["format", "yaml", "ascii"])]
    pub run_file: Option<String>,
}

#[derive(Debug, Args)]
pub struct ImportArgs {
    /// A run file, or `-` for stdin
    #[arg(value_name = "FILE")]
    pub file: String,
    /// Print the run's id as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(allow_missing_positional = true)]
pub struct DiffArgs {
    /// The old plan: a file, `-` for stdin, or a run; the newest run if you name only NEW
    #[arg(value_name = "OLD")]
    pub old: Option<String>,
    /// The new plan: a file, `-` for stdin, or a run
    #[arg(value_name = "NEW")]
    pub new: String,
    /// For two runs: also compare the state, result and cost of each node
    #[arg(long)]
    pub results: bool,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct LsArgs {
    /// List at most this many
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..))]
    pub limit: u16,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ShowArgs {
    #[command(flatten)]
    pub of: RunPartArgs,
    /// Show the timeline: wait time, work time, retries, the critical path
    #[arg(long, conflicts_with = "part")]
    pub timeline: bool,
    /// Print nothing but the result of the run or node, as `run` prints it
    #[arg(long, conflicts_with_all = ["timeline", "json"])]
    pub result: bool,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct AboutArgs {
    #[command(flatten)]
    pub of: RunPartArgs,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ListArgs {
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ToolsArgs {
    #[command(flatten)]
    pub list: ListArgs,
    /// Start the MCP servers whose tools aren't known yet, so that they are listed, too
    #[arg(long)]
    pub start: bool,
    /// List the MCP servers in place of the tools
    #[arg(long)]
    pub servers: bool,
    /// Sign in to an MCP server at an address, with your browser
    #[arg(long, value_name = "SERVER", conflicts_with_all = ["start", "servers"])]
    pub sign_in: Option<String>,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_value_name = "setup", disable_help_subcommand = true)]
pub struct ModelsArgs {
    #[command(flatten)]
    pub list: ListArgs,
    #[command(subcommand)]
    pub action: Option<ModelsAction>,
}

#[derive(Debug, clap::Subcommand)]
pub enum ModelsAction {
    /// Set up a model: try it, and make it the default
    ///
    /// What you leave out is asked if you are at a terminal. Your `config.toml` keeps its comments.
    Setup(SetupArgs),
}

#[derive(Debug, Args)]
pub struct SchemaArgs {
    /// What to print
    #[arg(value_enum, default_value_t = SchemaDocument::Plan)]
    pub document: SchemaDocument,
}

#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaDocument {
    /// The JSON Schema of a plan in the native format
    Plan,
    /// Every code of a finding, with its severity
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
    fn common_options_go_before_or_after_the_subcommand() {
        let before = Cli::parse_from(["dagdeck", "--home", "h", "ls"]);
        let after = Cli::parse_from(["dagdeck", "ls", "--home", "h"]);
        assert_eq!(before.common.home, after.common.home);
    }

    #[test]
    fn whatever_a_person_does_to_a_run_takes_a_message_by_m_and_needs_no_name_of_the_run() {
        let acts = [
            "approve", "reject", "answer", "cancel", "stop", "pause", "hold", "release", "step", "run-to", "break", "rerun", "retry",
            "skip", "override", "guide", "rewind", "replan", "edit", "branch", "resume",
        ];
        let command = Cli::command();
        for subcommand in command.get_subcommands() {
            let arguments: Vec<&clap::Arg> = subcommand.get_arguments().collect();
            let message = arguments.iter().find(|argument| argument.get_short() == Some('m'));
            let is_message = message.is_some_and(|message| message.get_long() == Some("message"));
            assert!(is_message || !acts.contains(&subcommand.get_name()), "{}", subcommand.get_name());
            let runs = arguments.iter().filter(|argument| {
                argument.get_value_names().into_iter().flatten().any(|name| ["RUN", "FILE|RUN", "OLD"].contains(&name.as_str()))
            });
            // What is deleted for good is named.
            let is_named = |run: &clap::Arg| !run.is_required_set() || subcommand.get_name() == "forget";
            runs.for_each(|run| assert!(is_named(run), "{} {run}", subcommand.get_name()));
        }
    }

    #[test]
    fn usage_lines_show_only_what_is_required() {
        // A variable that clap reads itself would stand in the usage line as if the option were required.
        let command = Cli::command();
        let all = command.get_subcommands().chain([&command]).flat_map(clap::Command::get_arguments);
        let read: Vec<String> = all.filter(|argument| argument.get_env().is_some()).map(ToString::to_string).collect();
        assert_eq!(read, Vec::<String>::new(), "name the variable in the help text and read it with `env` where it is used");
    }
}
