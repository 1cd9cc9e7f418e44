//! The command line: one file per subcommand. Data goes to stdout, messages to stderr; every error says what is wrong, where, and what
//! to do.

mod act;
mod args;
mod branch;
mod console;
mod decide;
mod diff;
mod doctor;
mod exit;
mod export;
mod headless;
mod help;
mod import;
mod io;
mod list;
mod log;
mod ls;
mod named;
mod plan;
mod replay;
mod resume;
mod run;
mod schema;
mod show;
mod source;
mod steering;
mod timeline;
mod trace;
mod validate;
mod why;

use act::Whom;
pub use args::{
    AboutArgs, Cli, Common, CompletionsArgs, ConsoleArgs, DiffArgs, ExportArgs, GateArgs, ImportArgs, ListArgs, LsArgs, PlanArgs,
    ResumeArgs, RunArgs, SchemaArgs, SchemaDocument, ShowArgs, Subcommand, ValidateArgs,
};
pub use exit::{CliError, Exit};
use io::Listened;
pub use io::{Io, columns};
pub use steering::{
    ActArgs, AnswerArgs, ApproveArgs, BranchArgs, DecideArgs, EditArgs, GuideArgs, NodeArgs, OnArgs, OverrideArgs, PauseArgs, RejectArgs,
    ReplayArgs, RerunArgs, RewindArgs, TargetArgs, UndoArgs,
};

use crate::{
    host::{LocalHost, Places, Survey, config::Config},
    store::Store,
    text::Plain,
};
use clap::{
    FromArgMatches,
    error::{ContextKind, ContextValue, ErrorKind},
    parser::ValueSource,
};
use std::{ffi::OsString, future::Future, path::Path, time::Duration};

/// How long threads that still read files may take when everything else is done.
const FAREWELL: Duration = Duration::from_secs(1);

/// Why `--model` is refused.
const MODEL_OF_A_RUN: &str = "`--model` works for plans and new runs only; a stored run keeps the model it started with";

/// Runs one command line to its exit code.
pub fn main(args: impl IntoIterator<Item = OsString>, io: &mut Io<'_>) -> Exit {
    let mut out = Listened::new(io.out);
    let io = &mut Io { out: &mut out, err: io.err, stdin: io.stdin, columns: io.columns };
    let mut command = help::command();
    let parsed = command.try_get_matches_from_mut(args).and_then(|matches| {
        let cli = Cli::from_arg_matches(&matches)?;
        let is_said = matches.value_source("model") == Some(ValueSource::CommandLine);
        if is_said && !cli.takes_model() { Err(clap::Error::raw(ErrorKind::ArgumentConflict, MODEL_OF_A_RUN)) } else { Ok(cli) }
    });
    let cli = match parsed.map_err(|error| error.format(&mut command)) {
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

/// Help and version are data; everything else that the grammar refuses is a message.
fn grammar(error: &clap::Error, io: &mut Io<'_>) -> Exit {
    let text = error.render();
    if error.use_stderr() {
        io.say(text.to_string().trim_end());
        if error.kind() == ErrorKind::InvalidSubcommand {
            io.say(&match error.get(ContextKind::InvalidSubcommand) {
                Some(ContextValue::String(name)) if Path::new(name).is_file() => {
                    format!(
                        "hint: `{0}` is a file: open it with `dagdeck console {0}`, or run it with `dagdeck run {0}`",
                        Plain::line(name)
                    )
                }
                _ => "hint: to plan a request, type `dagdeck run \"REQUEST\"`, or `dagdeck console \"REQUEST\"`".to_owned(),
            });
        }
        Exit::Usage
    } else {
        io.line(text.to_string().trim_end()).map_or(Exit::Error, |()| Exit::Success)
    }
}

fn dispatch(cli: &Cli, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let place = || CliContext::find(&cli.common);
    match &cli.subcommand {
        None => console::console(&ConsoleArgs::default(), &place()?, io),
        Some(Subcommand::Console(args)) => console::console(args, &place()?, io),
        Some(Subcommand::Plan(args)) => block_on(plan::plan(args, &place()?, io))?,
        Some(Subcommand::Run(args)) => block_on(run::run(args, &place()?, io))?,
        Some(Subcommand::Resume(args)) => block_on(resume::resume(args, &place()?, io))?,
        Some(Subcommand::Approve(args)) => block_on(decide::approve(args, &place()?, io))?,
        Some(Subcommand::Reject(args)) => block_on(decide::reject(args, &place()?, io))?,
        Some(Subcommand::Answer(args)) => block_on(decide::answer(args, &place()?, io))?,
        Some(Subcommand::Cancel(args)) => block_on(act::target(Whom::Cancel, args, &place()?, io))?,
        Some(Subcommand::Stop(args)) => block_on(act::target(Whom::Stop, args, &place()?, io))?,
        Some(Subcommand::Pause(args)) => block_on(act::pause(args, &place()?, io))?,
        Some(Subcommand::Hold(args)) => block_on(act::target(Whom::Hold, args, &place()?, io))?,
        Some(Subcommand::Release(args)) => block_on(act::target(Whom::Release, args, &place()?, io))?,
        Some(Subcommand::Rerun(args)) => block_on(act::rerun(args, &place()?, io))?,
        Some(Subcommand::Retry(args)) => block_on(act::retry(args, &place()?, io))?,
        Some(Subcommand::Skip(args)) => block_on(act::skip(args, &place()?, io))?,
        Some(Subcommand::Override(args)) => block_on(act::overrule(args, &place()?, io))?,
        Some(Subcommand::Guide(args)) => block_on(act::guide(args, &place()?, io))?,
        Some(Subcommand::Rewind(args)) => block_on(act::rewind(args, &place()?, io))?,
        Some(Subcommand::Edit(args)) => block_on(act::edit(args, &place()?, io))?,
        Some(Subcommand::Undo(args)) => block_on(act::undo(args, &place()?, io))?,
        Some(Subcommand::Branch(args)) => block_on(branch::branch(args, &place()?, io))?,
        Some(Subcommand::Replay(args)) => replay::replay(args, &place()?, io),
        Some(Subcommand::Validate(args)) => validate::validate(args, &place()?, io),
        Some(Subcommand::Export(args)) => export::export(args, &place()?, io),
        Some(Subcommand::Import(args)) => block_on(import::import(args, &place()?, io))?,
        Some(Subcommand::Diff(args)) => diff::diff(args, &place()?, io),
        Some(Subcommand::Ls(args)) => ls::ls(args, &place()?, io),
        Some(Subcommand::Show(args)) => show::show(args, &place()?, io),
        Some(Subcommand::Why(args)) => why::why(args, &place()?, io),
        Some(Subcommand::Trace(args)) => trace::trace(args, &place()?, io),
        Some(Subcommand::Agents(args)) => list::agents(args, &place()?, io),
        Some(Subcommand::Tools(args)) => list::tools(args, &place()?, io),
        Some(Subcommand::Models(args)) => block_on(list::models(args, &place()?, io))?,
        Some(Subcommand::Doctor(args)) => block_on(doctor::doctor(args, &place()?, io))?,
        Some(Subcommand::Schema(args)) => schema::schema(args, io),
        Some(Subcommand::Completions(args)) => schema::completions(args, io),
        Some(Subcommand::Man) => schema::man(io),
    }
}

/// Runs a subcommand on a runtime of its own, which ends with it.
fn block_on<T>(subcommand: impl Future<Output = T>) -> Result<T, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::new(format!("can't start the runtime: {error}")))?;
    let ended = runtime.block_on(subcommand);
    // A thread that reads a pipe nobody writes to must not keep the program open.
    runtime.shutdown_timeout(FAREWELL);
    Ok(ended)
}

/// Where a subcommand works, and with which model.
pub struct CliContext {
    pub places: Places,
    /// The model named on the command line.
    pub model: Option<String>,
}

impl CliContext {
    fn find(common: &Common) -> Result<Self, CliError> {
        let places = Places::find(Some(common.workspace.clone()), common.home.clone())?;
        Ok(Self { places, model: common.model.clone().or_else(|| env("DAGDECK_MODEL")) })
    }

    /// The configuration of user and project.
    ///
    /// # Errors
    /// When a file is there and can't be used; names file and line.
    pub fn config(&self) -> Result<Config, CliError> {
        let (user, project) = self.places.config_files();
        Config::load(user.as_deref(), &project).map_err(|error| CliError::new(error.to_string()).hint(error.hint))
    }

    /// The journal, for reading.
    ///
    /// # Errors
    /// When it can't be opened.
    pub fn store(&self) -> Result<Store, CliError> {
        Store::open_to_look(&self.places.home).map_err(CliError::from)
    }

    /// The agents, tools and models to plan with; works without a journal.
    ///
    /// # Errors
    /// When the configuration can't be used.
    pub fn survey(&self) -> Result<Survey, CliError> {
        Ok(Survey::new(&self.places, self.config()?, self.model.as_deref(), &env)?)
    }

    /// A host in this process, and the log that it writes.
    ///
    /// # Errors
    /// When the configuration or the journal can't be used.
    pub fn host(&self) -> Result<LocalHost, CliError> {
        let host = LocalHost::open(self.places.clone(), self.config()?, self.model.as_deref(), &env)?;
        log::start(&self.places.home, env("DAGDECK_LOG").as_deref());
        Ok(host)
    }

    /// The same, also where the journal can only be read.
    ///
    /// # Errors
    /// When the configuration can't be used, or the journal can't be read.
    pub fn host_to_look(&self) -> Result<LocalHost, CliError> {
        let host = LocalHost::open_to_look(self.places.clone(), self.config()?, self.model.as_deref(), &env)?;
        log::start(&self.places.home, env("DAGDECK_LOG").as_deref());
        Ok(host)
    }
}

/// Looks an environment variable up; an empty one counts as absent.
fn env(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
