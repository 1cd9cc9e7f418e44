//! One small function for each thing that a person can do. The command table points here.

pub mod act;
pub mod app;
pub mod branch;
pub mod breaks;
pub mod change;
pub mod compare;
pub mod deps;
pub mod dialogs;
pub mod findings;
pub mod gates;
pub mod graph;
pub mod inspector;
pub mod log;
pub mod moving;
pub mod origins;
pub mod past;
pub mod plan;
pub mod prompts;
pub mod replay;
pub mod request;
pub mod run;
pub mod save;
pub mod setup;
pub mod tree;
pub mod typing;
pub mod why;
