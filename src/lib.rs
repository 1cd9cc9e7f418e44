#![doc = include_str!("ARCHITECTURE.md")]

pub mod agents;
pub mod cli;
pub mod console;
pub mod engine;
pub mod files;
pub mod host;
pub mod models;
pub mod plan;
pub mod planner;
pub mod serve;
pub mod store;
pub mod text;
pub mod tools;
