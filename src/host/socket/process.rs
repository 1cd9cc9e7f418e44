//! `HostProcess`: what a process does that is the host of a workspace: it serves clients until nothing runs and nobody is attached for a
//! while, until somebody stops it, or until a signal comes. Runs that still go on then are left as they are, to be resumed.

use super::{
    HostPlace,
    server::{Clients, SocketServer, live_runs, stopped},
};
use crate::engine::StopSignal;
use crate::host::{LocalHost, client::Problem};
use rustix::process::getuid;
use std::{
    fs::{File, Permissions},
    io,
    os::unix::fs::PermissionsExt,
    time::Duration,
};
use tokio::{net::UnixListener, sync::watch, time::sleep};

/// The right to be the host of a workspace.
pub struct HostProcess {
    place: HostPlace,
    /// Locked as long as it is open.
    _lock: File,
}

/// Why a host ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostEnd {
    /// Nothing ran, and nobody was attached.
    Idle,
    /// A client asked for it.
    Stopped,
    Signalled(StopSignal),
}

impl HostProcess {
    /// Takes the right; `None` where another process has it.
    ///
    /// # Errors
    /// When the folders can't be used.
    pub fn claim(place: HostPlace) -> Result<Option<Self>, Problem> {
        place.prepare()?;
        let lock = place.lock().map_err(|error| cannot(&place, &error))?;
        Ok(lock.map(|lock| Self { place, _lock: lock }))
    }

    /// Serves the host until it ends. `ready` is called once clients can come; `idle` is how long nothing runs and nobody is attached
    /// before it ends by itself.
    ///
    /// # Errors
    /// When the socket can't be made.
    pub async fn serve(
        self,
        host: LocalHost,
        idle: Duration,
        ready: impl FnOnce(),
        signal: impl Future<Output = StopSignal>,
    ) -> Result<HostEnd, Problem> {
        let listener = listen(&self.place).map_err(|error| cannot(&self.place, &error))?;
        let (server, mut stops) = SocketServer::new(host.clone(), getuid().as_raw());
        ready();
        let (end, client) = tokio::select! {
            () = server.serve(listener) => (HostEnd::Idle, None),
            () = nothing_to_do(&host, server.clients(), idle) => (HostEnd::Idle, None),
            Some(client) = stops.recv() => (HostEnd::Stopped, Some(client)),
            signal = signal => (HostEnd::Signalled(signal), None),
        };
        // Whoever comes now starts another host, which waits for the lock.
        if let Err(error) = std::fs::remove_file(&self.place.socket) {
            tracing::warn!(%error, "the socket stays behind");
        }
        let runs = live_runs(&host);
        host.leave(if let HostEnd::Signalled(signal) = end { Some(signal) } else { None }).await;
        if let Some(client) = client {
            stopped(client, runs).await;
        }
        Ok(end)
    }
}

fn cannot(place: &HostPlace, error: &io::Error) -> Problem {
    Problem::new(format!("no host can be at `{}`: {error}", place.socket.display()))
}

/// Only whoever has the lock may call it: a socket that is there was left behind.
fn listen(place: &HostPlace) -> io::Result<UnixListener> {
    match std::fs::remove_file(&place.socket) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let listener = UnixListener::bind(&place.socket)?;
    std::fs::set_permissions(&place.socket, Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Waits until nothing has run and nobody was attached or asked for so long. Only clients start runs, so nothing else needs a look.
async fn nothing_to_do(host: &LocalHost, mut clients: watch::Receiver<Clients>, idle: Duration) {
    loop {
        let is_alone = clients.borrow_and_update().is_empty();
        let busy = host.shared().live().into_iter().next();
        let next = async {
            match &busy {
                Some(session) => session.ended().await,
                None if is_alone => sleep(idle).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            Ok(()) = clients.changed() => {}
            () = next => {
                if busy.is_none() {
                    return;
                }
            }
        }
    }
}
