//! Serves a host to a Unix socket. Whoever comes is of the same user, says what they want in one packet and within a moment, and is refused
//! in words where that can't be. A client that writes nonsense, or reads nothing, costs its own connection and nothing else.

use super::{
    packet::{self, LARGEST_NOTICE, LARGEST_REQUEST, PacketError},
    protocol::{AttachedClient, Greeting, HostAnswer, HostReport, Opening, PROTOCOL},
    setup::HostSetup,
};
use crate::engine::{RunId, Time};
use crate::host::{
    Clock, LocalHost, SystemClock,
    client::{Client, Connection, Hello, Notice, Problem, Request},
    session::FirstCommands,
};
use serde::de::DeserializeOwned;
use std::{collections::BTreeMap, pin::pin, sync::Arc, time::Duration};
use tokio::{
    net::{
        UnixListener, UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::{Semaphore, mpsc, watch},
    task::JoinSet,
    time::timeout,
};

/// How long a client may take to say what it wants, and to hear the last word.
const PATIENCE: Duration = Duration::from_secs(5);

/// Until the next try where the system has no more files to give.
const BREATH: Duration = Duration::from_millis(100);

/// Connections at once: others are refused.
pub(super) const CONNECTIONS: usize = 256;

/// The largest first packet of a client.
const LARGEST_GREETING: u32 = 64 << 10;

/// The clients that are attached, by the order in which they came.
pub type Clients = BTreeMap<u64, AttachedClient>;

/// A host that clients reach by a socket. Cheap to clone.
#[derive(Clone)]
pub struct SocketServer {
    host: LocalHost,
    serving: Arc<Serving>,
}

struct Serving {
    /// Only this user's processes are let in.
    user: u32,
    since: Time,
    clients: watch::Sender<Clients>,
    places: Arc<Semaphore>,
    /// Clients that want the host to end, and wait for the answer.
    stops: mpsc::UnboundedSender<UnixStream>,
    setup: HostSetup,
}

impl SocketServer {
    /// For processes of that user. Clients that want the host to end come out of the receiver: answer them with `stopped` once it has.
    pub fn new(host: LocalHost, user: u32) -> (Self, mpsc::UnboundedReceiver<UnixStream>) {
        let (stops, stopping) = mpsc::unbounded_channel();
        let places = Arc::new(Semaphore::new(CONNECTIONS));
        let setup = HostSetup::of_process(&host.shared().places);
        let serving = Serving { user, since: SystemClock.now(), clients: watch::Sender::default(), places, stops, setup };
        (Self { host, serving: Arc::new(serving) }, stopping)
    }

    /// Who is attached, now and whenever that changes.
    pub fn clients(&self) -> watch::Receiver<Clients> {
        self.serving.clients.subscribe()
    }

    /// Serves whoever comes. Dropping it ends all connections.
    pub async fn serve(&self, listener: UnixListener) {
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => drop(connections.spawn(self.clone().receive(stream))),
                    Err(error) => {
                        tracing::warn!(%error, "no connection could be taken");
                        tokio::time::sleep(BREATH).await;
                    }
                },
                Some(_) = connections.join_next() => {}
            }
        }
    }

    async fn receive(self, mut stream: UnixStream) {
        let Ok(_place) = self.serving.places.try_acquire() else {
            let problem = Problem::new(format!("the host has {CONNECTIONS} connections already")).hint("close one that isn't needed");
            return refuse(&mut stream, problem).await;
        };
        match self.greeting(&mut stream).await {
            Ok(greeting) => self.answer(stream, greeting).await,
            Err(problem) => refuse(&mut stream, problem).await,
        }
    }

    /// What the client wants, if it may want anything.
    async fn greeting(&self, stream: &mut UnixStream) -> Result<Greeting, Problem> {
        let peer = stream.peer_cred().map_err(|error| Problem::new(format!("the system doesn't tell who comes: {error}")))?;
        if peer.uid() != self.serving.user {
            return Err(Problem::new("the host belongs to another user"));
        }
        let read = timeout(PATIENCE, packet::read(stream, LARGEST_GREETING)).await;
        let bytes = match read {
            Ok(Ok(Some(bytes))) => bytes,
            Ok(Ok(None)) => return Err(Problem::new("no greeting came")),
            Ok(Err(error)) => return Err(Problem::new(error.to_string())),
            Err(_) => return Err(Problem::new(format!("no greeting came for {} s", PATIENCE.as_secs()))),
        };
        serde_json::from_slice(&bytes).map_err(|error| Problem::new(format!("the greeting can't be read: {error}")))
    }

    async fn answer(&self, mut stream: UnixStream, greeting: Greeting) {
        match greeting.opening {
            Opening::Attach { .. } | Opening::Start | Opening::Order if greeting.protocol != PROTOCOL => {
                let (own, other) = (env!("CARGO_PKG_VERSION"), greeting.program);
                let problem = Problem::new(format!("the host is dagdeck {own}, which dagdeck {other} can't work with"));
                refuse(&mut stream, problem.hint("`dagdeck host restart` starts one of your version, which goes on with the runs")).await;
            }
            Opening::Attach { from } => self.attend(stream, from).await,
            Opening::StopIdle if self.serving.clients.borrow().is_empty() && live_runs(&self.host).is_empty() => {
                drop(self.serving.stops.send(stream));
            }
            Opening::Status | Opening::StopIdle => {
                // Whoever asks may be about to attach: the host stays for it.
                self.serving.clients.send_modify(|_| {});
                say(&mut stream, &HostAnswer::Status(Box::new(self.status()))).await;
            }
            Opening::Resume(runs) => {
                let answer = HostAnswer::Resumed(self.resume(runs).await);
                say(&mut stream, &answer).await;
            }
            Opening::Start => {
                let started = match more(&mut stream).await {
                    Ok(new) => self.host.start_detached(new).await,
                    Err(problem) => Err(problem),
                };
                self.serving.clients.send_modify(|_| {});
                say(&mut stream, &started.map_or_else(HostAnswer::Refused, HostAnswer::Started)).await;
            }
            Opening::Order => {
                let ordered = match more(&mut stream).await {
                    Ok(order) => self.host.order(order).await,
                    Err(problem) => Err(problem),
                };
                say(&mut stream, &ordered.map_or_else(HostAnswer::Refused, HostAnswer::Ordered)).await;
            }
            // One that ends already ends for this client, too.
            Opening::Stop => drop(self.serving.stops.send(stream)),
        }
    }

    fn status(&self) -> HostReport {
        HostReport {
            protocol: PROTOCOL,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            process: std::process::id(),
            since: self.serving.since,
            clients: self.serving.clients.borrow().values().cloned().collect(),
            runs: live_runs(&self.host),
            setup: self.serving.setup.clone(),
        }
    }

    /// Has runs go on; those that don't come back, each with its reason.
    async fn resume(&self, runs: Vec<RunId>) -> Vec<(RunId, Problem)> {
        let shared = self.host.shared();
        let mut failed = Vec::new();
        for run in runs {
            let last = FirstCommands { commands: Vec::new(), by: shared.actor("host") };
            if let Err(problem) = shared.resume(run.clone(), last, None).await {
                failed.push((run, problem));
            }
        }
        self.serving.clients.send_modify(|_| {});
        failed
    }

    /// Serves a client until it goes.
    async fn attend(&self, mut stream: UnixStream, from: String) {
        let process = stream.peer_cred().ok().and_then(|peer| peer.pid());
        let _attendance = Attendance::begin(&self.serving.clients, AttachedClient { process, from, since: SystemClock.now() });
        say(&mut stream, &HostAnswer::Attached).await;
        let (incoming, outgoing) = stream.into_split();
        let Connection { requests, notices } = self.host.connect();
        let (refuse, refusals) = mpsc::unbounded_channel();
        let mut sending = pin!(send(outgoing, notices, refusals));
        tokio::select! {
            () = &mut sending => return,
            () = take(incoming, requests, refuse) => {}
        }
        // What it asked for last is done; whether it hears of it is up to the client.
        let _ = timeout(PATIENCE, sending).await;
    }
}

/// What comes in a packet of its own behind the greeting.
async fn more<T: DeserializeOwned>(stream: &mut UnixStream) -> Result<T, Problem> {
    let bytes = packet::read(stream, LARGEST_REQUEST).await.map_err(|error| Problem::new(error.to_string()))?;
    let bytes = bytes.ok_or_else(|| Problem::new("what the host is to do didn't come"))?;
    serde_json::from_slice(&bytes).map_err(|error| Problem::new(format!("what the host is to do can't be read: {error}")))
}

/// The runs that a host drives.
pub(super) fn live_runs(host: &LocalHost) -> Vec<RunId> {
    host.shared().live().into_iter().map(|session| session.run).collect()
}

/// Answers a client that wanted the host to end; it may have gone.
pub(super) async fn stopped(mut stream: UnixStream, runs: Vec<RunId>) {
    say(&mut stream, &HostAnswer::Stopped(runs)).await;
}

/// A client in the list of those who are attached, until it goes.
struct Attendance<'a> {
    clients: &'a watch::Sender<Clients>,
    number: u64,
}

impl<'a> Attendance<'a> {
    fn begin(clients: &'a watch::Sender<Clients>, client: AttachedClient) -> Self {
        let mut number = 0;
        clients.send_modify(|all| {
            number = all.last_key_value().map_or(0, |(last, _)| last + 1);
            all.insert(number, client);
        });
        Self { clients, number }
    }
}

impl Drop for Attendance<'_> {
    fn drop(&mut self) {
        self.clients.send_modify(|all| drop(all.remove(&self.number)));
    }
}

/// Passes requests on until the client ends. One that can't be read is answered, and the next one taken.
async fn take(mut from: OwnedReadHalf, requests: mpsc::UnboundedSender<Request>, refuse: mpsc::UnboundedSender<Problem>) {
    loop {
        let read = match packet::read(&mut from, LARGEST_REQUEST).await {
            Ok(None) => return,
            Ok(Some(bytes)) => serde_json::from_slice(&bytes),
            Err(error) => {
                tracing::warn!(%error, "a client's connection ended");
                // Both ends are there as long as the connection is.
                let _ = refuse.send(Problem::new(format!("the connection ends: {error}")));
                return;
            }
        };
        match read {
            Ok(request) => {
                if requests.send(request).is_err() {
                    return;
                }
            }
            Err(error) => {
                let problem = Problem::new(format!("the host can't read what was asked: {error}"));
                // As above.
                let _ = refuse.send(problem.hint("where its version is another, `dagdeck host restart` starts one of yours"));
            }
        }
    }
}

/// Sends notices until there are no more, or the client is gone.
async fn send(mut to: OwnedWriteHalf, mut notices: mpsc::Receiver<Notice>, mut refusals: mpsc::UnboundedReceiver<Problem>) {
    loop {
        let notice = tokio::select! {
            biased;
            Some(problem) = refusals.recv() => Notice::Problem(problem),
            notice = notices.recv() => match notice {
                Some(Notice::Hello(hello)) => Notice::Hello(Hello { runs_go_on: true, ..hello }),
                Some(notice) => notice,
                None => return,
            },
        };
        let sent = match packet::write(&mut to, &notice, LARGEST_NOTICE).await {
            Err(error @ (PacketError::Giant(..) | PacketError::Strange(_))) => {
                let problem = Problem::new(format!("what the host has to say can't be sent: {error}"));
                packet::write(&mut to, &Notice::Problem(problem), LARGEST_NOTICE).await
            }
            sent => sent,
        };
        if sent.is_err() {
            return;
        }
    }
}

async fn refuse(stream: &mut UnixStream, problem: Problem) {
    tracing::warn!(why = problem.message, "a client was refused");
    say(stream, &HostAnswer::Refused(problem)).await;
}

/// A client that has gone, or doesn't read, hears nothing.
async fn say(stream: &mut UnixStream, answer: &HostAnswer) {
    let _ = timeout(PATIENCE, packet::write(stream, answer, LARGEST_NOTICE)).await;
}
