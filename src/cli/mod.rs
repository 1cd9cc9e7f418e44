//! The command line: one file per subcommand. Data goes to stdout, messages to stderr; every error says what is wrong, where, and what
//! to do.

mod act;
mod args;
mod audit;
mod audit_args;
mod branch;
mod breaks;
mod budget_args;
mod cache;
mod cache_args;
mod console;
mod context;
mod cost;
mod cost_args;
mod decide;
mod detach;
mod diff;
mod doctor;
mod estimate;
mod exit;
mod export;
mod fix;
mod follow;
mod gate_args;
mod headless;
mod help;
mod host;
mod host_args;
mod import;
mod io;
mod list;
mod log;
mod logs;
mod ls;
mod named;
mod past_args;
mod permission_args;
mod permissions;
mod plain;
mod plain_orders;
mod plan;
mod prune;
mod prune_args;
mod relevance;
mod replay;
mod resume;
mod rivals;
mod run;
mod run_driver;
mod schema;
mod serve;
mod serve_args;
mod setup;
mod setup_args;
mod show;
mod signals;
mod source;
mod stats;
mod steering;
mod suggestions;
mod timeline;
mod trace;
mod trust;
mod undo;
mod validate;
mod why;

use args::moments;
pub use args::{
    AboutArgs, Cli, Common, CompletionsArgs, ConsoleArgs, DiffArgs, ExportArgs, ImportArgs, ListArgs, LookArgs, LsArgs, ModelsAction,
    ModelsArgs, PlanArgs, ResumeArgs, RunArgs, SchemaArgs, SchemaDocument, ShowArgs, Subcommand, ToolsArgs, TrustArgs, ValidateArgs,
};
pub use audit_args::AuditArgs;
pub use budget_args::BudgetArgs;
pub use cache_args::{CacheAction, CacheArgs, CacheClearArgs, CacheWhyArgs, CachingArgs};
pub use context::CliContext;
use context::block_on;
pub use cost_args::{CostArgs, CostBy};
pub use exit::{CliError, Exit};
pub use gate_args::GateArgs;
pub use help::GROUPS;
pub use host_args::{AttachArgs, HostAction, HostArgs, LogsArgs, WaitArgs};
use io::Listened;
pub use io::{Io, columns};
pub use past_args::{EstimateArgs, ForgetArgs, StatsArgs, SuggestionsArgs};
pub use permission_args::{PermissionsArgs, RuleArgs};
pub use prune_args::PruneArgs;
pub use rivals::RivalArgs;
pub use serve_args::ServeArgs;
pub use setup_args::SetupArgs;
pub use steering::{
    ActArgs, AnswerArgs, ApproveArgs, BranchArgs, BreakArgs, DecideArgs, DriveArgs, EditArgs, GuideArgs, OverrideArgs, PauseArgs,
    ReasonArgs, RejectArgs, ReleaseArgs, ReplanArgs, ReplayArgs, RerunArgs, RetryArgs, RewindArgs, RunNameArgs, RunNodeArgs, RunPartArgs,
    RunToArgs, SkipArgs, StepArgs, TargetArgs, UndoArgs,
};

use crate::{engine::Action, plan::validate::nearest, text::Plain, tools::KnownSecrets};
use clap::{
    FromArgMatches,
    error::{ContextKind, ContextValue, ErrorKind},
    parser::ValueSource,
};
use std::{ffi::OsString, path::Path};

/// Why `--model` is refused.
const MODEL_OF_A_RUN: &str = "`--model` works only where something is planned or runs";

/// Runs one command line to its exit code.
pub fn main(args: impl IntoIterator<Item = OsString>, io: &mut Io<'_>) -> Exit {
    let mut out = Listened::new(io.out);
    let io = &mut Io { out: &mut out, err: io.err, stdin: io.stdin, columns: io.columns, secrets: KnownSecrets::default() };
    let mut command = help::command();
    let mut args: Vec<OsString> = args.into_iter().collect();
    if args.len() == 3 && args[1] == "help" && (args[2] == "--help" || args[2] == "-h") {
        args.pop();
    }
    let parsed = command.try_get_matches_from_mut(&args).and_then(|matches| {
        let cli = Cli::from_arg_matches(&matches)?;
        let is_said = matches.value_source("model") == Some(ValueSource::CommandLine);
        if is_said && !cli.takes_model() { Err(clap::Error::raw(ErrorKind::ArgumentConflict, MODEL_OF_A_RUN)) } else { Ok(cli) }
    });
    let cli = match parsed.map_err(|error| plainly(error.format(&mut command), &args, &mut command)) {
        Ok(cli) => cli,
        Err(error) => return grammar(&error, io),
    };
    let ended = dispatch(&cli, io).and_then(|exit| {
        io.out.flush()?;
        Ok(exit)
    });
    match ended {
        Ok(exit) => exit,
        Err(failure) => {
            io.say(&failure.to_string());
            failure.exit
        }
    }
}

/// The error with the plain usage line: clap's own shows as required what happens to be given. A near subcommand is named below, by the
/// measure that all other names go by.
fn plainly(mut error: clap::Error, args: &[OsString], command: &mut clap::Command) -> clap::Error {
    command.build();
    let name = args.iter().skip(1).find_map(|arg| arg.to_str().filter(|arg| command.find_subcommand(arg).is_some()));
    let usage = match name.and_then(|name| command.find_subcommand_mut(name)) {
        Some(subcommand) => subcommand.render_usage(),
        None => command.render_usage(),
    };
    if error.remove(ContextKind::Usage).is_some() {
        error.insert(ContextKind::Usage, ContextValue::StyledStr(usage));
    }
    error.remove(ContextKind::SuggestedSubcommand);
    error.remove(ContextKind::Suggested);
    error
}

/// Help and version are data; everything else that the grammar refuses is a message.
fn grammar(error: &clap::Error, io: &mut Io<'_>) -> Exit {
    let text = error.render();
    if error.use_stderr() {
        io.say(text.to_string().replace("\n\n\n", "\n\n").trim_end());
        if error.kind() == ErrorKind::InvalidSubcommand {
            let name = match error.get(ContextKind::InvalidSubcommand) {
                Some(ContextValue::String(name)) => name.as_str(),
                _ => "",
            };
            let near = nearest(name, GROUPS.iter().flat_map(|(_, names)| names.iter().copied()));
            io.say(&match near {
                _ if Path::new(name).is_file() => {
                    let name = Plain::line(name);
                    format!("hint: `{name}` is a file: open it with `dagdeck console {name}`, or run it with `dagdeck run {name}`")
                }
                Some(near) => format!("hint: did you mean `dagdeck {near}`?"),
                None => "hint: `dagdeck plan \"REQUEST\"` makes a plan, `dagdeck run \"REQUEST\"` makes one and runs it; `dagdeck --help` lists the subcommands"
                    .to_owned(),
            });
        }
        Exit::Usage
    } else {
        io.line(text.to_string().trim_end()).map_or(Exit::Error, |()| Exit::Success)
    }
}

fn dispatch(cli: &Cli, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let place = || CliContext::find(&cli.common);
    if let Ok(place) = place() {
        io.secrets = KnownSecrets::of_process(&place.places.workspace);
    }
    if cli.subcommand.as_ref().is_some_and(Subcommand::uses_settings) {
        trust::announce(&place()?, io);
    }
    match &cli.subcommand {
        None => console::console(&ConsoleArgs::default().under(cli), &place()?, io),
        Some(Subcommand::Console(args)) => console::console(&args.clone().under(cli), &place()?, io),
        Some(_) if cli.plain => Err(CliError::usage("`--plain` is for the console; what subcommands print is plain already")),
        Some(_) if cli.no_host || cli.look != LookArgs::default() => {
            Err(CliError::usage("`--theme`, `--ascii`, `--mouse` and `--no-host` before a subcommand are for the console"))
        }
        Some(Subcommand::Plan(args)) => block_on(plan::plan(args, &place()?, io))?,
        Some(Subcommand::Run(args)) => block_on(run::run(args, &place()?, io))?,
        Some(Subcommand::Attach(args)) => console::attach(args, &place()?, io),
        Some(Subcommand::Host(args)) => block_on(host::host(args, &place()?, io))?,
        Some(Subcommand::Logs(args)) => block_on(logs::logs(args, &place()?, io))?,
        Some(Subcommand::Wait(args)) => block_on(logs::wait(args, &place()?, io))?,
        Some(Subcommand::Resume(args)) => block_on(resume::resume(args, &place()?, io))?,
        Some(Subcommand::Approve(args)) => block_on(decide::approve(args, &place()?, io))?,
        Some(Subcommand::Reject(args)) => block_on(decide::reject(args, &place()?, io))?,
        Some(Subcommand::Answer(args)) => block_on(decide::answer(args, &place()?, io))?,
        Some(Subcommand::Cancel(args)) => block_on(act::target(|target| Action::Cancel { target }, args, &place()?, io))?,
        Some(Subcommand::Stop(args)) => block_on(act::target(|target| Action::Stop { target }, args, &place()?, io))?,
        Some(Subcommand::Hold(args)) => block_on(act::target(|target| Action::Hold { target }, args, &place()?, io))?,
        Some(Subcommand::Release(args)) => block_on(act::release(args, &place()?, io))?,
        Some(Subcommand::Pause(args)) => block_on(act::pause(args, &place()?, io))?,
        Some(Subcommand::Step(args)) => block_on(act::step(args, &place()?, io))?,
        Some(Subcommand::RunTo(args)) => block_on(act::run_to(args, &place()?, io))?,
        Some(Subcommand::Break(args)) => block_on(breaks::breakpoint(args, &place()?, io))?,
        Some(Subcommand::Rerun(args)) => block_on(act::rerun(args, &place()?, io))?,
        Some(Subcommand::Retry(args)) => block_on(act::retry(args, &place()?, io))?,
        Some(Subcommand::Skip(args)) => block_on(act::skip(args, &place()?, io))?,
        Some(Subcommand::Override(args)) => block_on(act::overrule(args, &place()?, io))?,
        Some(Subcommand::Guide(args)) => block_on(act::guide(args, &place()?, io))?,
        Some(Subcommand::Rewind(args)) => block_on(act::rewind(args, &place()?, io))?,
        Some(Subcommand::Replan(args)) => block_on(decide::replan(args, &place()?, io))?,
        Some(Subcommand::Edit(args)) => block_on(act::edit(args, &place()?, io))?,
        Some(Subcommand::Undo(args)) => block_on(undo::undo(args, &place()?, io))?,
        Some(Subcommand::Branch(args)) => block_on(branch::branch(args, &place()?, io))?,
        Some(Subcommand::Replay(args)) => replay::replay(args, &place()?, io),
        Some(Subcommand::Validate(args)) => validate::validate(args, &place()?, io),
        Some(Subcommand::Estimate(args)) => estimate::estimate(args, &place()?, io),
        Some(Subcommand::Export(args)) => export::export(args, &place()?, io),
        Some(Subcommand::Import(args)) => block_on(import::import(args, &place()?, io))?,
        Some(Subcommand::Diff(args)) => diff::diff(args, &place()?, io),
        Some(Subcommand::Ls(args)) => ls::ls(args, &place()?, io),
        Some(Subcommand::Prune(args)) => prune::prune(args, &place()?, io),
        Some(Subcommand::Audit(args)) => audit::audit(args, &place()?, io),
        Some(Subcommand::Cache(args)) => cache::cache(args, &place()?, io),
        Some(Subcommand::Cost(args)) => cost::cost(args, &place()?, io),
        Some(Subcommand::Stats(args)) => stats::stats(args, &place()?, io),
        Some(Subcommand::Suggestions(args)) => suggestions::suggestions(args, &place()?, io),
        Some(Subcommand::Forget(args)) => stats::forget(args, &place()?, io),
        Some(Subcommand::Show(args)) => block_on(show::show(args, &place()?, io))?,
        Some(Subcommand::Why(args)) => why::why(args, &place()?, io),
        Some(Subcommand::Trace(args)) => trace::trace(args, &place()?, io),
        Some(Subcommand::Agents(args)) => list::agents(args, &place()?, io),
        Some(Subcommand::Tools(args)) => block_on(list::tools(args, &place()?, io))?,
        Some(Subcommand::Models(args)) => block_on(setup::models(args, &place()?, io))?,
        Some(Subcommand::Permissions(args)) => permissions::permissions(args, &place()?, io),
        Some(Subcommand::Trust(args)) => trust::trust(args, &place()?, io),
        Some(Subcommand::Doctor(args)) => block_on(doctor::doctor(args, &place()?, io))?,
        Some(Subcommand::Serve(args)) => block_on(serve::serve(args, &place()?, io))?,
        Some(Subcommand::Schema(args)) => schema::schema(args, io),
        Some(Subcommand::Completions(args)) => schema::completions(args, io),
        Some(Subcommand::Man) => schema::man(io),
    }
}
