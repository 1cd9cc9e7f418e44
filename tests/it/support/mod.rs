//! What the tests share: the real program with and without a terminal, and a server that speaks chat completions.

pub mod chat;
pub mod hosted;
pub mod program;
pub mod pty;
pub mod service;
