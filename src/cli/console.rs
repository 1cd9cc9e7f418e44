//! `dagdeck console` and `dagdeck attach`: the full-screen console, on the host of the workspace or in one process with its runs.

use super::{
    AttachArgs, Cli, CliContext, CliError, ConsoleArgs, Exit, Io, LookArgs,
    context::{block_on, env},
    headless::signals,
    host::{self, ReachedHost},
    ls::short,
    plain::LineMode,
    source,
};
use crate::{
    console::{
        runtime::{self, Opened, Options},
        update::Parting,
    },
    host::{
        Clock, LocalHost, SystemClock,
        client::{Client, Notice, Request},
        config::ConsoleConfig,
        socket::{HostPlace, SocketClient},
    },
    store::RunFilter,
};
use std::io::{IsTerminal, stdin};
use std::thread;
use tokio::sync::mpsc;

/// Opens the console: in one process with its runs, or on the host where the person's environment says so and a host can be had.
///
/// # Errors
/// When there is no terminal, the plan file can't be read, there is no such run, or the configuration or the journal can't be used.
pub fn console(args: &ConsoleArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    if args.plain {
        let open = opened(args, place, io)?;
        return block_on(lines(open, place, io))?;
    }
    needs_terminal()?;
    let options = options(args, place.config()?.console, place, io)?;
    let is_alone = args.no_host || place.trusts_once() || env("DAGDECK_HOST").as_deref() != Some("on");
    block_on(async {
        if is_alone {
            return alone(&place.host_to_look()?, options).await;
        }
        match host::reach(place).await {
            Ok(host) => on_host(host, options, place).await,
            Err(error) => {
                let own = place.host_to_look()?;
                io.say(&error.to_string().replacen("error: ", "warning: runs end with this console: ", 1));
                alone(&own, options).await
            }
        }
    })?
}

/// The console and its runs in one process. When the person leaves, runs are cancelled if they said so; otherwise they can be resumed.
async fn alone(host: &LocalHost, options: Options) -> Result<Exit, CliError> {
    host.watch_cards();
    let ended = runtime::run(host, options, Box::new(std::io::stdout()), env).await;
    match ended {
        Ok(Parting::Cancels) => host.shutdown().await,
        Ok(Parting::Interrupted(signal)) => host.leave(Some(signal)).await,
        Ok(Parting::Leaves) | Err(_) => host.leave(None).await,
    }
    ended.map(|_| Exit::Success).map_err(|error| CliError::new(format!("the console ended: {error}")))
}

/// The console on a host that goes on with its runs when the person leaves.
async fn on_host(host: ReachedHost, options: Options, place: &CliContext) -> Result<Exit, CliError> {
    let model = place.picked().filter(|_| !host.is_new).map(|model| Request::UseModel { model: model.to_owned(), run: None });
    let client = SocketClient::new(HostPlace::of(&place.places).socket, here()).asking(model).telling(host.news);
    let ended = runtime::run(&client, options, Box::new(std::io::stdout()), env).await;
    ended.map(|_| Exit::Success).map_err(|error| CliError::new(format!("the console ended: {error}")))
}

/// Opens the console on the host of the workspace, which is started where none runs. Runs go on when the person leaves.
///
/// # Errors
/// When there is no terminal, there is no such run, or the host can't be reached.
pub fn attach(args: &AttachArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    needs_terminal()?;
    if place.trusts_once() {
        return Err(CliError::usage("`--trust` holds for one process, and the host is another one")
            .hint("`dagdeck trust` trusts files for good; `dagdeck console --trust` opens a console without the host"));
    }
    let console = ConsoleArgs { run: args.run.clone(), look: args.look.clone(), ..ConsoleArgs::default() };
    let options = options(&console, place.config()?.console, place, io)?;
    block_on(async {
        let host = host::reach(place).await?;
        let newest = host.report.runs.iter().max().cloned().map(Opened::Run);
        on_host(host, Options { open: options.open.or(newest), ..options }, place).await
    })?
}

/// Where this process is, for others at the same host: its terminal, and the address that the person came from.
fn here() -> String {
    let terminal =
        rustix::termios::ttyname(stdin(), Vec::new()).map_or_else(|_| "no terminal".to_owned(), |name| name.to_string_lossy().into_owned());
    match env("SSH_CONNECTION").as_deref().and_then(|from| from.split(' ').next()) {
        Some(from) => format!("{terminal} from {from}"),
        None => terminal,
    }
}

fn needs_terminal() -> Result<(), CliError> {
    if stdin().is_terminal() && std::io::stdout().is_terminal() {
        return Ok(());
    }
    Err(CliError::usage("the console needs a terminal, but stdin or stdout is not one").hint(
        "without one, use `dagdeck --plain`, which talks in lines, or `dagdeck run \"REQUEST\"`; `dagdeck --help` lists all subcommands",
    ))
}

impl ConsoleArgs {
    /// With what is before the subcommand, where it says nothing else itself.
    pub(super) fn under(self, cli: &Cli) -> Self {
        let (own, before) = (self.look, &cli.look);
        let look = LookArgs {
            theme: own.theme.or_else(|| before.theme.clone()),
            ascii: own.ascii || before.ascii,
            mouse: own.mouse || before.mouse,
        };
        Self { look, plain: self.plain || cli.plain, no_host: self.no_host || cli.no_host, ..self }
    }
}

/// The settings of the configuration, under those of the environment.
pub(super) fn settings(config: ConsoleConfig, place: &CliContext) -> Options {
    Options {
        theme: env("DAGDECK_THEME").or(config.theme),
        themes: place.places.config.as_ref().map(|folder| folder.join("themes")),
        ascii: config.ascii,
        mouse: config.mouse,
        reduced_motion: config.reduced_motion,
        keys: config.keys.into_iter().map(|(command, keys)| (command, keys.list())).collect(),
        flags: place.flags.clone(),
        open: None,
    }
}

/// The command line's settings over those.
fn options(args: &ConsoleArgs, config: ConsoleConfig, place: &CliContext, io: &mut Io<'_>) -> Result<Options, CliError> {
    let open = opened(args, place, io)?;
    let settings = settings(config, place);
    Ok(Options {
        theme: args.look.theme.clone().or(settings.theme),
        ascii: args.look.ascii || settings.ascii,
        mouse: args.look.mouse || settings.mouse,
        open,
        ..settings
    })
}

/// What the command line says to begin with.
fn opened(args: &ConsoleArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Option<Opened>, CliError> {
    Ok(match (args.open.as_deref(), args.run.as_deref()) {
        (None, None) => None,
        (None, Some(run)) => Some(Opened::Run(place.store()?.resolve(run, RunFilter::Workspace(&place.places.workspace))?)),
        (Some(what), _) if source::is_path(what) => {
            Some(Opened::Plan { plan: Box::new(source::read(what, io)?), file: (what != "-").then(|| what.to_owned()) })
        }
        (Some(request), _) => Some(Opened::Request(request.to_owned())),
    })
}

/// The console as lines: typed ones in, sentences out. Lines of a pipe wait until what the last one began needs somebody or has ended.
async fn lines(open: Option<Opened>, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let host = place.host_to_look()?;
    host.watch_cards();
    let mut connection = host.connect();
    let (typed, mut lines) = mpsc::unbounded_channel();
    // It ends with the input, or with the program.
    thread::spawn(move || stdin().lines().map_while(Result::ok).try_for_each(|line| typed.send(line)));
    let is_terminal = stdin().is_terminal();
    let (mut mode, mut open, mut is_known, mut has_ended) = (LineMode::default(), open, false, false);
    let mut stop = signals();
    let signal = loop {
        if let Some(open) = open.take_if(|_| is_known) {
            mode.begin(open);
        }
        for line in mode.said.drain(..) {
            io.line(line.as_str())?;
        }
        io.out.flush()?;
        for request in mode.asked.drain(..) {
            // A host that is gone is known by the end of its notices.
            let _ = connection.requests.send(request);
        }
        if mode.quits || has_ended && is_known && !mode.is_busy() {
            break None;
        }
        tokio::select! {
            biased;
            notice = connection.notices.recv() => match notice {
                Some(notice) => {
                    is_known |= matches!(notice, Notice::Catalog { .. });
                    mode.now = SystemClock.now();
                    mode.notice(notice);
                }
                None => break None,
            },
            line = lines.recv(), if !has_ended && is_known && (is_terminal || !mode.is_busy()) => match line {
                Some(line) => mode.line(&line),
                None => has_ended = true,
            },
            Some(signal) = stop.recv() => break Some(signal),
        }
    };
    if let Some(run) = mode.run.as_ref().filter(|run| run.goes_on()) {
        io.line(&format!("`dagdeck resume {}` resumes the run", short(&run.id.0)))?;
    }
    host.leave(signal).await;
    Ok(match signal {
        Some(signal) => Exit::Signalled(signal),
        None if is_terminal => Exit::Success,
        None => mode.exit(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::Subcommand;
    use super::*;
    use clap::Parser;

    #[test]
    fn how_the_console_looks_is_said_before_the_subcommand_or_behind_it() {
        let read = |args: &[&str]| Cli::try_parse_from(["dagdeck"].iter().chain(args)).unwrap();
        let alone = read(&["--theme", "light", "--ascii"]);
        assert_eq!((alone.look.theme.as_deref(), alone.look.ascii, alone.look.mouse), (Some("light"), true, false));
        let both = read(&["--theme", "light", "--mouse", "console", "--theme", "dark", "x"]);
        let Some(Subcommand::Console(args)) = &both.subcommand else { panic!("{both:?}") };
        let look = args.clone().under(&both).look;
        assert_eq!(look, LookArgs { theme: Some("dark".into()), ascii: false, mouse: true });
        assert!(Cli::try_parse_from(["dagdeck", "--plain", "--theme", "dark"]).is_err(), "lines have no colours");
    }
}
