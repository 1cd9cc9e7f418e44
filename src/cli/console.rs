//! `dagdeck console`: the full-screen console on a host in this process.

use super::{ConsoleArgs, Exit, Failure, Place, block_on, env};
use crate::{
    console::runtime::{self, Options},
    host::config::ConsoleConfig,
};
use std::io::IsTerminal;

/// Opens the console. What still runs when it is left is cancelled: the person was asked.
///
/// # Errors
/// When there is no terminal, or the configuration or the journal can't be used.
pub fn console(args: &ConsoleArgs, place: &Place) -> Result<Exit, Failure> {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Err(Failure::usage("the console needs a terminal, and stdin or stdout is none")
            .hint("`dagdeck run \"request\"` runs without one; `dagdeck --help` lists all verbs"));
    }
    let config = place.config()?.console;
    block_on(async {
        let host = place.host()?;
        host.watch_cards();
        let ended = runtime::run(&host, options(args, config, place), Box::new(std::io::stdout()), env).await;
        host.shutdown().await;
        ended.map(|()| Exit::Success).map_err(|error| Failure::new(format!("the console ended: {error}")))
    })?
}

/// The command line's settings over those of the configuration.
fn options(args: &ConsoleArgs, config: ConsoleConfig, place: &Place) -> Options {
    Options {
        theme: args.theme.clone().or(config.theme),
        themes: place.places.config.as_ref().map(|folder| folder.join("themes")),
        ascii: args.ascii || config.ascii,
        keys: config.keys.into_iter().map(|(command, keys)| (command, keys.list())).collect(),
        request: args.open.clone(),
    }
}
