//! `StoredRow` and `Headline`: an event as the database keeps it, and what it changes in the list of runs.

use crate::engine::{Action, Event, Record, Time};
use serde::Deserialize;
use std::borrow::Cow;

/// An event as stored: raw JSON, with its kind beside it.
#[derive(Debug)]
pub(super) struct StoredRow {
    pub(super) seq: i64,
    pub(super) at: i64,
    pub(super) more: bool,
    pub(super) kind: String,
    pub(super) json: String,
}

/// What an event changes in the list of runs.
#[derive(Debug)]
pub(super) enum Headline {
    /// The run is new.
    Created { workspace: String, goal: String, created: i64, nodes: i64, after: Option<String> },
    /// The run was over and goes on.
    Reopened,
    /// Its plan was changed: how many nodes it has is in its journal only.
    Edited,
    /// The run leaves another one, whose end isn't its own.
    Branched { parent: String, seq: i64, created: i64 },
    /// The run was read from a file, into the list of a workspace.
    Imported { workspace: String, at: i64 },
    /// The run is over.
    Settled { outcome: &'static str, finished: i64 },
}

#[derive(Deserialize)]
struct EventTag<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
}

impl StoredRow {
    pub(super) fn of(record: &Record) -> Result<Self, serde_json::Error> {
        let json = serde_json::to_string(&record.event)?;
        let kind = serde_json::from_str::<EventTag<'_>>(&json)?.kind.into_owned();
        Ok(Self { seq: signed(record.seq), at: signed(record.at.0), more: record.more, kind, json })
    }

    /// The event; or why it can't be read, in words.
    pub(super) fn record(&self) -> Result<Record, String> {
        let event = serde_json::from_str::<Event>(&self.json).map_err(|error| format!("`{}` can't be read: {error}", self.kind))?;
        Ok(Record { seq: unsigned(self.seq), at: Time(unsigned(self.at)), more: self.more, event })
    }
}

impl Headline {
    pub(super) fn of(record: &Record) -> Option<Self> {
        if let Event::RunCreated { plan, settings, .. } = &record.event {
            return Some(Self::Created {
                workspace: settings.host.get("workspace").and_then(|path| path.as_str()).unwrap_or_default().to_owned(),
                goal: plan.goal.clone(),
                created: signed(record.at.0),
                nodes: i64::try_from(plan.nodes.len()).unwrap_or(i64::MAX),
                after: settings.after.as_ref().map(|run| run.0.clone()),
            });
        }
        if let Event::Branched { from, from_seq, .. } = &record.event {
            return Some(Self::Branched { parent: from.0.clone(), seq: signed(*from_seq), created: signed(record.at.0) });
        }
        if let Event::RunEnded { outcome, .. } = &record.event {
            return Some(Self::Settled { outcome: outcome.word(), finished: signed(record.at.0) });
        }
        if let Event::Acted { action, .. } = &record.event {
            return matches!(**action, Action::Edit { .. }).then_some(Self::Edited);
        }
        matches!(record.event, Event::RunReopened { .. }).then_some(Self::Reopened)
    }
}

// SQLite's integers are signed; a time or count beyond its range can't occur before the year 292 million.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
