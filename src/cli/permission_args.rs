//! The arguments of `dagdeck permissions`, and those by which a reply to a gate makes a rule.

use crate::host::RuleScope;
use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};

#[derive(Debug, Args)]
pub struct PermissionsArgs {
    /// End the rule of this number
    #[arg(long, value_name = "NUMBER")]
    pub revoke: Vec<u32>,
    /// Propose rules for calls like the one that was approved at this node or gate, with the earlier calls that each would have covered; with `--for` keep one
    #[arg(long, value_name = "NODE", conflicts_with = "revoke")]
    pub like: Option<String>,
    /// The run of `--like` [default: last]
    #[arg(long, requires = "like")]
    pub run: Option<String>,
    #[command(flatten)]
    pub rule: RuleArgs,
    /// Print the rules, or the proposals, as JSON
    #[arg(long, conflicts_with = "revoke")]
    pub json: bool,
}

/// How far a reply to a gate reaches.
#[derive(Debug, Args)]
pub struct RuleArgs {
    /// Let the reply hold for more calls: `same` tool and arguments in this run, the tool on this `node`, the tool in this `run`, the tool in this `project` (of `run_command` the same command)
    #[arg(long = "for", value_name = "SCOPE", value_parser = scopes())]
    pub scope: Option<RuleScope>,
    /// With `--for`: only calls whose argument fits, as in `command=git log *` or `path=docs/**`
    #[arg(long, value_name = "NAME=PATTERN", requires = "scope")]
    pub only: Vec<String>,
}

fn scopes() -> impl TypedValueParser<Value = RuleScope> {
    PossibleValuesParser::new(RuleScope::ALL.map(RuleScope::word)).try_map(|name| name.parse::<RuleScope>())
}
