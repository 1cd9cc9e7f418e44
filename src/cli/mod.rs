//! The command line: one file a verb. Data goes to stdout, messages to stderr; every failure says what, where, and a way out.

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
    AboutArgs, Cli, CliCommand, Common, CompletionsArgs, ConsoleArgs, DiffArgs, ExportArgs, GateArgs, ImportArgs, ListArgs, LsArgs,
    PlanArgs, ResumeArgs, RunArgs, SchemaArgs, SchemaDocument, ShowArgs, ValidateArgs,
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
const MODEL_OF_A_RUN: &str = "`--model` is for plans and new runs; a stored run keeps the model that it started with";

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
                    format!("hint: `{0}` is a file: `dagdeck console {0}` opens it, `dagdeck run {0}` runs it", Plain::line(name))
                }
                _ => "hint: `dagdeck run \"…\"` takes a request in words, `dagdeck console \"…\"` opens the console with it".to_owned(),
            });
        }
        Exit::Usage
    } else {
        io.line(text.to_string().trim_end()).map_or(Exit::Error, |()| Exit::Success)
    }
}

fn dispatch(cli: &Cli, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let place = || CliContext::find(&cli.common);
    match &cli.verb {
        None => console::console(&ConsoleArgs::default(), &place()?, io),
        Some(CliCommand::Console(args)) => console::console(args, &place()?, io),
        Some(CliCommand::Plan(args)) => block_on(plan::plan(args, &place()?, io))?,
        Some(CliCommand::Run(args)) => block_on(run::run(args, &place()?, io))?,
        Some(CliCommand::Resume(args)) => block_on(resume::resume(args, &place()?, io))?,
        Some(CliCommand::Approve(args)) => block_on(decide::approve(args, &place()?, io))?,
        Some(CliCommand::Reject(args)) => block_on(decide::reject(args, &place()?, io))?,
        Some(CliCommand::Answer(args)) => block_on(decide::answer(args, &place()?, io))?,
        Some(CliCommand::Cancel(args)) => block_on(act::target(Whom::Cancel, args, &place()?, io))?,
        Some(CliCommand::Stop(args)) => block_on(act::target(Whom::Stop, args, &place()?, io))?,
        Some(CliCommand::Pause(args)) => block_on(act::pause(args, &place()?, io))?,
        Some(CliCommand::Hold(args)) => block_on(act::target(Whom::Hold, args, &place()?, io))?,
        Some(CliCommand::Release(args)) => block_on(act::target(Whom::Release, args, &place()?, io))?,
        Some(CliCommand::Rerun(args)) => block_on(act::rerun(args, &place()?, io))?,
        Some(CliCommand::Retry(args)) => block_on(act::retry(args, &place()?, io))?,
        Some(CliCommand::Skip(args)) => block_on(act::skip(args, &place()?, io))?,
        Some(CliCommand::Override(args)) => block_on(act::overrule(args, &place()?, io))?,
        Some(CliCommand::Guide(args)) => block_on(act::guide(args, &place()?, io))?,
        Some(CliCommand::Rewind(args)) => block_on(act::rewind(args, &place()?, io))?,
        Some(CliCommand::Edit(args)) => block_on(act::edit(args, &place()?, io))?,
        Some(CliCommand::Undo(args)) => block_on(act::undo(args, &place()?, io))?,
        Some(CliCommand::Branch(args)) => block_on(branch::branch(args, &place()?, io))?,
        Some(CliCommand::Replay(args)) => replay::replay(args, &place()?, io),
        Some(CliCommand::Validate(args)) => validate::validate(args, &place()?, io),
        Some(CliCommand::Export(args)) => export::export(args, &place()?, io),
        Some(CliCommand::Import(args)) => block_on(import::import(args, &place()?, io))?,
        Some(CliCommand::Diff(args)) => diff::diff(args, &place()?, io),
        Some(CliCommand::Ls(args)) => ls::ls(args, &place()?, io),
        Some(CliCommand::Show(args)) => show::show(args, &place()?, io),
        Some(CliCommand::Why(args)) => why::why(args, &place()?, io),
        Some(CliCommand::Trace(args)) => trace::trace(args, &place()?, io),
        Some(CliCommand::Agents(args)) => list::agents(args, &place()?, io),
        Some(CliCommand::Tools(args)) => list::tools(args, &place()?, io),
        Some(CliCommand::Models(args)) => block_on(list::models(args, &place()?, io))?,
        Some(CliCommand::Doctor(args)) => block_on(doctor::doctor(args, &place()?, io))?,
        Some(CliCommand::Schema(args)) => schema::schema(args, io),
        Some(CliCommand::Completions(args)) => schema::completions(args, io),
        Some(CliCommand::Man) => schema::man(io),
    }
}

/// Runs a verb that waits for the world. The verb is a spawned-sized task of its own runtime, which ends with it.
fn block_on<T>(verb: impl Future<Output = T>) -> Result<T, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::new(format!("can't start the runtime: {error}")))?;
    let ended = runtime.block_on(verb);
    // A thread that reads a pipe nobody writes to must not keep the program open.
    runtime.shutdown_timeout(FAREWELL);
    Ok(ended)
}

/// Where a verb works, and with which model.
pub struct CliContext {
    /// Workspace, home, and the user's configuration.
    pub places: Places,
    /// The model named on the command line.
    pub model: Option<String>,
}

impl CliContext {
    fn find(common: &Common) -> Result<Self, CliError> {
        let places = Places::find(Some(common.workspace.clone()), common.home.clone())?;
        Ok(Self { places, model: common.model.clone() })
    }

    /// The configuration of user and project.
    ///
    /// # Errors
    /// When a file is there and can't be used; names file and line.
    pub fn config(&self) -> Result<Config, CliError> {
        let (user, project) = self.places.config_files();
        Config::load(user.as_deref(), &project).map_err(|error| CliError::new(error.to_string()).hint(error.hint))
    }

    /// The journal, to be looked at.
    ///
    /// # Errors
    /// When it can't be opened.
    pub fn store(&self) -> Result<Store, CliError> {
        Store::open_to_look(&self.places.home).map_err(CliError::from)
    }

    /// What there is to plan with; works without a journal.
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

    /// The same, also where the journal can only be looked at.
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
