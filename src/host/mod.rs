//! Runs the engine against the world: sessions, workers, the client protocol.

pub mod client;
mod clock;
pub mod config;
mod connection;
mod doctor;
mod gates;
mod headless;
mod jobs;
mod local;
mod models;
mod places;
mod planning;
mod run_task;
mod session;
mod streams;
mod timers;
mod worker_agent;
mod worker_code;
mod worker_tool;
mod workers;

pub use clock::{Clock, SystemClock};
pub use doctor::{Check, Health, examine};
pub use headless::{Flags, Headless, HeadlessEnd, ParkedGate, Yes};
pub use local::LocalHost;
pub use places::Places;
