//! The arguments of `dagdeck stats`, `suggestions`, `estimate` and `forget`.

use super::audit_args::{AuditMoment, when};
use crate::engine::StatsBy;
use clap::{Args, ValueEnum, builder::PossibleValue};

#[derive(Debug, Args)]
pub struct StatsArgs {
    /// What to sum up by; usually by agent and model
    #[arg(long, value_name = "WHAT", default_value = "agent-and-model", hide_default_value = true)]
    pub by: StatsBy,
    /// Only what ended since then: an age such as `30d`, or a date or time (UTC) such as `2026-11-24`
    #[arg(long, value_name = "WHEN", value_parser = when)]
    pub since: Option<AuditMoment>,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct SuggestionsArgs {
    /// Make the change of this suggestion
    #[arg(long, value_name = "ID", conflicts_with_all = ["dismiss", "undo"])]
    pub take: Option<String>,
    /// Don't suggest it again
    #[arg(long, value_name = "ID", conflicts_with = "undo")]
    pub dismiss: Option<String>,
    /// Undo what taking or dismissing it changed
    #[arg(long, value_name = "ID")]
    pub undo: Option<String>,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct EstimateArgs {
    /// A plan file, or `-` for stdin
    #[arg(value_name = "FILE")]
    pub file: String,
    /// Set an input of the plan; the value is JSON if it parses, otherwise text
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Print also what each agent will get, as far as that is known before
    #[arg(long)]
    pub prompts: bool,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ForgetArgs {
    /// The runs: `last`, an id, or 4 or more characters from its start or end
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<String>,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

impl ValueEnum for StatsBy {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(match self {
            Self::AgentAndModel => "agent-and-model",
            Self::Agent => "agent",
            Self::Model => "model",
            Self::Goal => "goal",
        }))
    }
}
