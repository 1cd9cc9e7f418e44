//! What the tests share: a terminal to drive the real program in, and a server that speaks chat completions.

pub mod chat;
pub mod pty;
