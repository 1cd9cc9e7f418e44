//! `dagdeck console`: the full-screen console on a host in this process.

use super::{
    CliContext, CliError, ConsoleArgs, Exit, Io,
    context::{block_on, env},
    source,
};
use crate::{
    console::{
        runtime::{self, Opened, Options},
        update::Parting,
    },
    host::config::ConsoleConfig,
    store::RunFilter,
};
use std::io::IsTerminal;

/// Opens the console. When the person leaves, runs are cancelled if they said so; otherwise they can be resumed.
///
/// # Errors
/// When there is no terminal, the plan file can't be read, there is no such run, or the configuration or the journal can't be used.
pub fn console(args: &ConsoleArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Err(CliError::usage("the console needs a terminal, but stdin or stdout is not one")
            .hint("without one, use `dagdeck run \"REQUEST\"`; `dagdeck --help` lists all subcommands"));
    }
    let options = options(args, place.config()?.console, place, io)?;
    block_on(async {
        let host = place.host_to_look()?;
        host.watch_cards();
        let ended = runtime::run(&host, options, Box::new(std::io::stdout()), env).await;
        match ended {
            Ok(Parting::Cancels) => host.shutdown().await,
            Ok(Parting::Interrupted(signal)) => host.leave(Some(signal)).await,
            Ok(Parting::Leaves) | Err(_) => host.leave(None).await,
        }
        ended.map(|_| Exit::Success).map_err(|error| CliError::new(format!("the console ended: {error}")))
    })?
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
    let open = match (args.open.as_deref(), args.run.as_deref()) {
        (None, None) => None,
        (None, Some(run)) => Some(Opened::Run(place.store()?.resolve(run, RunFilter::Workspace(&place.places.workspace))?)),
        (Some(what), _) if source::is_path(what) => {
            Some(Opened::Plan { plan: Box::new(source::read(what, io)?), file: (what != "-").then(|| what.to_owned()) })
        }
        (Some(request), _) => Some(Opened::Request(request.to_owned())),
    };
    let settings = settings(config, place);
    Ok(Options {
        theme: args.theme.clone().or(settings.theme),
        ascii: args.ascii || settings.ascii,
        mouse: args.mouse || settings.mouse,
        open,
        ..settings
    })
}
