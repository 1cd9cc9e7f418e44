//! The client protocol over a Unix socket: a host that outlives its clients, and a `Client` that reaches it.

mod packet;
mod place;
mod process;
mod protocol;
mod server;
mod setup;
mod socket_client;
#[cfg(test)]
mod socket_tests;

pub use packet::PacketError;
pub use place::HostPlace;
pub use process::{HostEnd, HostProcess};
pub use protocol::{AttachedClient, Greeting, HostAnswer, HostReport, Opening, PROTOCOL};
pub use setup::HostSetup;
pub use socket_client::{CallError, SocketClient, call, call_with};
