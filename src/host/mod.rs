//! Runs the engine against the world: sessions, workers, the client protocol.

pub mod client;
