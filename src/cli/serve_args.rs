//! The arguments of `dagdeck serve`.

use clap::Args;
use std::{net::SocketAddr, path::PathBuf};

#[derive(Debug, Args)]
pub struct ServeArgs {
    /// The address to listen at; port 0 takes a free one
    #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = "127.0.0.1:8765", required = true)]
    pub http: SocketAddr,
    /// Ask for a token of this file: a line each, `ROLE NAME TOKEN`, the role owner, approver or watcher
    #[arg(long, value_name = "FILE")]
    pub tokens: Option<PathBuf>,
    /// Work on at most N chats at once
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..))]
    pub most_runs: u16,
    /// Let at most N more wait; beyond that, clients have to come again
    #[arg(long, value_name = "N", default_value_t = 64)]
    pub most_queued: u16,
}
