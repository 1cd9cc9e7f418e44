//! The arguments of `dagdeck cost`.

use super::audit_args::{AuditMoment, when};
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub struct CostArgs {
    /// Only this run: `last`, an id, or 4 or more characters from its start or end; without it all of the workspace
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// What to sum up by; usually by node for one run, and by run for several
    #[arg(long, value_name = "WHAT")]
    pub by: Option<CostBy>,
    /// Only model calls since then: an age such as `7d`, or a date or time (UTC) such as `2026-11-24`
    #[arg(long, value_name = "WHEN", value_parser = when)]
    pub since: Option<AuditMoment>,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

/// What model calls are summed up by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum CostBy {
    Node,
    Agent,
    Model,
    /// The tool that asked the model
    Tool,
    Run,
    /// The day, in local time
    Day,
}
