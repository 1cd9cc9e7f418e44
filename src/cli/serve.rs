//! `dagdeck serve`: chats and runs over HTTP, on a host in this process.

use super::{CliContext, CliError, Exit, Io, ServeArgs, show, signals::end_signal};
use crate::{
    files,
    host::user,
    serve::{self, BearerToken, ServeOptions},
};
use std::{os::unix::fs::MetadataExt, path::Path};
use tokio::net::TcpListener;

/// Serves until a signal comes. Runs that go on then can be resumed.
///
/// # Errors
/// When the address can't be listened at, others reach it and no token is asked for, or the tokens or the host can't be used.
pub async fn serve(args: &ServeArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let tokens = args.tokens.as_deref().map(tokens).transpose()?.unwrap_or_default();
    if tokens.is_empty() && !args.http.ip().is_loopback() {
        return Err(CliError::usage(format!("other machines reach `{}`, and no token is asked for", args.http))
            .hint("`--tokens FILE` asks for one; `--http 127.0.0.1:8765` is reached by this machine only"));
    }
    let host = place.host()?;
    host.watch_cards();
    let unable = |error: std::io::Error| CliError::new(format!("can't listen at `{}`: {error}", args.http));
    let listener = TcpListener::bind(args.http).await.map_err(unable)?;
    let address = listener.local_addr().map_err(unable)?;
    io.line(&format!("http://{address}/v1"))?;
    io.out.flush()?;
    if tokens.is_empty() {
        io.say("note: every program and user of this machine can use this address; `--tokens FILE` asks for a token");
    }
    let connecting = host.clone();
    let options = ServeOptions {
        connect: Box::new(move |by| connecting.connect_as(by)),
        user: user(),
        state: show::json_of,
        tokens,
        most_runs: args.most_runs.into(),
        most_queued: args.most_queued.into(),
    };
    let signal = tokio::select! {
        ended = serve::serve(listener, options) => return ended.map(|()| Exit::Success).map_err(unable),
        signal = end_signal() => signal,
    };
    host.leave(Some(signal)).await;
    Ok(Exit::Signalled(signal))
}

/// The tokens of a file that only its owner can read.
fn tokens(file: &Path) -> Result<Vec<BearerToken>, CliError> {
    let name = file.display();
    let unreadable = |error: std::io::Error| CliError::new(format!("can't read `{name}`: {error}"));
    let text = files::read_text(file, files::DOCUMENT).map_err(unreadable)?;
    if file.metadata().map_err(unreadable)?.mode() & 0o077 != 0 {
        return Err(CliError::new(format!("other users can read `{name}`")).hint(format!("`chmod 600 {name}` keeps the tokens yours")));
    }
    let tokens = BearerToken::read(&text).map_err(|why| CliError::new(format!("`{name}`: {why}")))?;
    if tokens.is_empty() { Err(CliError::new(format!("`{name}` has no token")).hint("write a line `ROLE NAME TOKEN`")) } else { Ok(tokens) }
}
