//! The greeting of a client and a host: who it is and what it wants. A client that attaches then sends requests and gets notices;
//! everything else is one answer.

use super::setup::HostSetup;
use crate::engine::{Record, RunId, Time};
use crate::host::client::Problem;
use serde::{Deserialize, Serialize};

/// The shape of requests, notices and events. Programs of another number understand each other's status and stop, and nothing more.
pub const PROTOCOL: u32 = 1;

/// The first packet of a client. Fields are only ever added, so that programs of any age can read it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Greeting {
    pub protocol: u32,
    /// The program's version.
    pub program: String,
    pub opening: Opening,
}

impl Greeting {
    pub fn new(opening: Opening) -> Self {
        Self { protocol: PROTOCOL, program: env!("CARGO_PKG_VERSION").to_owned(), opening }
    }
}

/// What a client comes for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Opening {
    /// To send requests and get notices, from that terminal.
    Attach { from: String },
    /// To see how the host is.
    Status,
    /// To end the host. Its runs are left as they are.
    Stop,
    /// To end it only where nothing runs and nobody is attached; else its status is the answer.
    StopIdle,
    /// To have runs go on that another host left.
    Resume(Vec<RunId>),
    /// To start a run, a `DetachedRun`, which is in the next packet.
    Start,
    /// To send commands to a run that goes on, a `RunOrder`, which is in the next packet.
    Order,
}

/// What a host answers to a greeting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum HostAnswer {
    /// Notices follow, and requests are taken.
    Attached,
    Status(Box<HostReport>),
    /// It ends: these runs were left.
    Stopped(Vec<RunId>),
    Started(RunId),
    /// What is in the journal since, the commands included.
    Ordered(Vec<Record>),
    /// These runs don't go on, each for its reason.
    Resumed(Vec<(RunId, Problem)>),
    /// Nothing was done, and nothing follows.
    Refused(Problem),
}

/// How a host is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostReport {
    pub protocol: u32,
    /// The program's version.
    pub program: String,
    pub process: u32,
    /// When it began.
    pub since: Time,
    pub clients: Vec<AttachedClient>,
    /// The runs that it drives.
    pub runs: Vec<RunId>,
    /// What it was started with.
    #[serde(default)]
    pub setup: HostSetup,
}

/// A client that is attached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachedClient {
    /// Its process, where the system gives it.
    pub process: Option<i32>,
    /// Where it is, as it says itself: its terminal.
    pub from: String,
    pub since: Time,
}
