//! The arguments of `dagdeck audit`.

use super::prune_args::age;
use crate::engine::Time;
use clap::Args;

#[derive(Debug, Args)]
pub struct AuditArgs {
    /// Only this run: `last`, an id, or 4 or more characters from its start or end
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Only since then: an age such as `2d`, or a date or time (UTC) such as `2026-11-24`
    #[arg(long, value_name = "WHEN", value_parser = when)]
    pub since: Option<AuditMoment>,
    /// Only before then
    #[arg(long, value_name = "WHEN", value_parser = when)]
    pub until: Option<AuditMoment>,
    /// Only what this person did
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
    /// Only calls of these tools and what was asked about them; a glob such as `write_*`
    #[arg(long, value_name = "GLOB")]
    pub tool: Option<String>,
    /// Check that no entry was changed, removed or inserted; with the hash of an earlier check, also that no entry up to it was cut off
    #[arg(long, value_name = "HASH", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["run", "since", "until", "by", "tool"])]
    pub verify: Option<String>,
    /// Print as JSON, one entry per line
    #[arg(long)]
    pub json: bool,
}

/// A moment as a person gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditMoment {
    /// So many milliseconds ago.
    Ago(u64),
    At(Time),
}

impl AuditMoment {
    pub(super) fn time(self, now: Time) -> Time {
        match self {
            Self::Ago(ms) => Time(now.0.saturating_sub(ms)),
            Self::At(time) => time,
        }
    }
}

pub(super) fn when(text: &str) -> Result<AuditMoment, String> {
    let utc = |at: jiff::civil::DateTime| at.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|at| at.timestamp());
    let at = text.parse::<jiff::Timestamp>().ok().or_else(|| utc(text.parse().ok()?));
    match at.and_then(|at| u64::try_from(at.as_millisecond()).ok()) {
        Some(ms) => Ok(AuditMoment::At(Time(ms))),
        None => age(text).map(AuditMoment::Ago).map_err(|_| "write an age such as `2d`, or a date such as `2026-11-24`".to_owned()),
    }
}
