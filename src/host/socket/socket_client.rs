//! `SocketClient`: a client of a host in another process.

use super::{
    packet::{self, LARGEST_NOTICE, LARGEST_REQUEST, PacketError},
    protocol::{Greeting, HostAnswer, Opening},
};
use crate::host::client::{Client, Connection, Notice, Problem, Request};
use rustix::process::getuid;
use serde::Serialize;
use std::{
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};
use tokio::{
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::mpsc,
};

/// Notices between the socket and the console.
const NOTICES: usize = 256;

/// Why a host gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// There is none.
    #[error("no host runs")]
    Absent,
    #[error("the host belongs to another user")]
    OtherUser,
    #[error("the host ended before it answered")]
    Ended,
    #[error(transparent)]
    Packet(#[from] PacketError),
}

impl From<io::Error> for CallError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::ConnectionRefused => Self::Absent,
            _ => Self::Packet(error.into()),
        }
    }
}

/// Asks a host one thing.
///
/// # Errors
/// When there is none, or it gives no answer.
pub async fn call(socket: &Path, opening: Opening) -> Result<HostAnswer, CallError> {
    Ok(greet(socket, opening).await?.1)
}

/// Asks a host one thing that goes with more data.
///
/// # Errors
/// When there is no host, the data is too large, or no answer comes.
pub async fn call_with(socket: &Path, opening: Opening, data: &impl Serialize) -> Result<HostAnswer, CallError> {
    let mut stream = connect(socket).await?;
    packet::write(&mut stream, &Greeting::new(opening), LARGEST_REQUEST).await?;
    let written = packet::write(&mut stream, data, LARGEST_REQUEST).await;
    answer(&mut stream, written).await
}

/// A connection to a host of the same user.
async fn connect(socket: &Path) -> Result<UnixStream, CallError> {
    let stream = UnixStream::connect(socket).await?;
    if stream.peer_cred()?.uid() == getuid().as_raw() { Ok(stream) } else { Err(CallError::OtherUser) }
}

/// What a host answers to what was written. One that refuses whoever comes may have closed before, and has sent why.
async fn answer(stream: &mut UnixStream, written: Result<(), PacketError>) -> Result<HostAnswer, CallError> {
    let Some(bytes) = packet::read(stream, LARGEST_NOTICE).await? else {
        return Err(written.err().map_or(CallError::Ended, CallError::from));
    };
    Ok(serde_json::from_slice(&bytes).map_err(PacketError::from)?)
}

async fn greet(socket: &Path, opening: Opening) -> Result<(UnixStream, HostAnswer), CallError> {
    let mut stream = connect(socket).await?;
    let written = packet::write(&mut stream, &Greeting::new(opening), LARGEST_REQUEST).await;
    let answer = answer(&mut stream, written).await?;
    Ok((stream, answer))
}

/// A host in another process. Cheap to clone.
#[derive(Clone, Debug)]
pub struct SocketClient {
    socket: PathBuf,
    /// Where its clients are, for those who ask the host.
    from: String,
    /// What each client asks first.
    first: Option<Request>,
    /// The first notice of each client.
    news: Option<Problem>,
}

impl SocketClient {
    pub fn new(socket: PathBuf, from: impl Into<String>) -> Self {
        Self { socket, from: from.into(), first: None, news: None }
    }

    /// The same, where each client gets this notice first.
    #[must_use]
    pub fn telling(self, news: Option<Problem>) -> Self {
        Self { news, ..self }
    }

    /// The same, where each client asks this first.
    #[must_use]
    pub fn asking(self, first: Option<Request>) -> Self {
        Self { first, ..self }
    }
}

impl Client for SocketClient {
    fn connect(&self) -> Connection {
        let (requests, asked) = mpsc::unbounded_channel();
        let (sender, notices) = mpsc::channel(NOTICES);
        // The other end is there.
        self.first.iter().for_each(|first| drop(requests.send(first.clone())));
        tokio::spawn(carry(self.clone(), asked, sender));
        Connection { requests, notices }
    }
}

/// Carries requests and notices until either side ends.
async fn carry(host: SocketClient, asked: mpsc::UnboundedReceiver<Request>, notices: mpsc::Sender<Notice>) {
    let problem = match greet(&host.socket, Opening::Attach { from: host.from }).await {
        Ok((stream, HostAnswer::Attached)) => {
            let (incoming, outgoing) = stream.into_split();
            return tokio::select! {
                () = ask(outgoing, asked, &notices) => {}
                () = hear(incoming, &notices, host.news) => {}
            };
        }
        Ok((_, HostAnswer::Refused(problem))) => problem,
        Ok((_, answer)) => Problem::new(format!("the host answers something else: {answer:?}")),
        Err(error) => Problem::new(error.to_string()),
    };
    // A client that has gone need not know.
    let _ = notices.send(Notice::Problem(problem)).await;
}

async fn ask(mut to: OwnedWriteHalf, mut asked: mpsc::UnboundedReceiver<Request>, notices: &mpsc::Sender<Notice>) {
    while let Some(request) = asked.recv().await {
        let problem = match packet::write(&mut to, &request, LARGEST_REQUEST).await {
            Ok(()) => continue,
            Err(error @ (PacketError::Giant(..) | PacketError::Strange(_))) => Problem::new(format!("the host wasn't asked: {error}")),
            // What it has sent is still read, to its end.
            Err(_) => return std::future::pending().await,
        };
        // A client that has gone need not know.
        let _ = notices.send(Notice::Problem(problem)).await;
    }
}

/// The first notice comes behind the greeting, which begins what the client shows.
async fn hear(mut from: OwnedReadHalf, notices: &mpsc::Sender<Notice>, mut news: Option<Problem>) {
    loop {
        let notice = match packet::read(&mut from, LARGEST_NOTICE).await {
            Ok(Some(bytes)) => serde_json::from_slice(&bytes).unwrap_or_else(|error| {
                let problem = Problem::new(format!("what the host says can't be read: {error}"));
                Notice::Problem(problem.hint("where its version is another, `dagdeck host restart` starts one of yours"))
            }),
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(%error, "the connection to the host ended");
                return;
            }
        };
        let news = news.take_if(|_| matches!(notice, Notice::Runs(_))).map(Notice::Problem);
        for notice in [notice].into_iter().chain(news) {
            if notices.send(notice).await.is_err() {
                return;
            }
        }
    }
}
