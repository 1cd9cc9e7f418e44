//! The audit: who asked, allowed, refused and changed what, and which calls ran. An entry is written in the transaction of the event that
//! it keeps, so before any effect of that event, and it stays when its run is deleted.
//!
//! The entries are a chain: the hash of each is the SHA-256 (hex) of the hash before it (of the first: nothing), its number and its JSON,
//! with a line break after each of the first two. Whoever changes, removes or inserts an entry has to change every hash behind it.

use super::row::unsigned;
use crate::engine::{Actor, Event, EventTrait, GateId, NodeFact, Record, Run, RunId, RunSettings, Time};
use crate::plan::Plan;
use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::{collections::BTreeSet, path::Path};

/// One entry of the audit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// When it happened.
    pub at: Time,
    /// Absent where it is about no run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// The computer where it was decided.
    pub host: String,
    /// The user of the process there, as the system has it. The name of a person is what the session says.
    pub uid: u32,
    /// The address that the person's terminal was connected from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ssh: Option<String>,
    #[serde(flatten)]
    pub fact: AuditFact,
}

/// What an entry keeps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditFact {
    /// An event of the run. That a run was created is kept without its plan, and that a call ended without its result.
    Event(Event),
    /// The run was deleted from the journal.
    RunDeleted { by: Actor },
    /// What may happen without asking in a workspace is another from here on.
    PermissionChanged(Box<PermissionChange>),
}

/// What may happen from now on, or no longer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PermissionChange {
    pub workspace: String,
    pub turn: PermissionTurn,
    pub permission: LastingPermission,
    /// What it lets happen, in words.
    pub what: String,
    /// The gate of the entry's run whose reply made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateId>,
    pub by: Actor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PermissionTurn {
    Given,
    Ended,
}

/// What lasts longer than one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LastingPermission {
    /// A rule for calls of a tool, as far as its scope reaches.
    Rule { number: u32, tool: String, scope: String },
    /// A host that private data may be sent to.
    Host(String),
    /// A file of the workspace that was trusted, with the SHA-256 of what it held then.
    File {
        path: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sha256: Option<String>,
    },
}

/// The audit as it was read.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    /// The entries that are as they were written, oldest first.
    pub rows: Vec<AuditRow>,
    /// How many entries are in the journal.
    pub all: usize,
}

/// An entry in its place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AuditRow {
    /// From 1, without gaps.
    pub number: u64,
    /// Of this entry and all before it.
    pub hash: String,
    #[serde(flatten)]
    pub entry: AuditEntry,
}

impl Audit {
    /// What the audit keeps of records that are appended to a run here: of those that were copied from another one only what is still asked.
    pub(super) fn of(run: &RunId, records: &[Record]) -> Vec<AuditEntry> {
        let copied = records.iter().rposition(|record| matches!(record.event, Event::Branched { .. })).unwrap_or(0);
        let (copied, own) = records.split_at(copied);
        // What the run that it leaves asked, and nobody has answered, is asked here.
        let left = Run::replay(copied);
        let open = |event: &Event| matches!(event, Event::ApprovalRequired { gate } if left.open_gates().any(|open| open.id == gate.id));
        let asked = copied.iter().filter(|record| open(&record.event));
        let kept = asked.chain(own).filter_map(|record| Some((record.at, AuditFact::Event(audited(&record.event)?))));
        kept.map(|(at, fact)| AuditEntry::here(at, Some(run), fact)).collect()
    }
}

impl Audit {
    /// The events of the runs of a workspace, oldest first.
    pub fn of_workspace(&self, workspace: &Path) -> Vec<(&RunId, &AuditEntry, &Event)> {
        let (mut here, mut found) = (BTreeSet::new(), Vec::new());
        for AuditRow { entry, .. } in &self.rows {
            let (AuditFact::Event(event), Some(run)) = (&entry.fact, &entry.run) else { continue };
            let is_here = if let Event::RunCreated { settings, .. } = event {
                settings.host.get("workspace").and_then(Value::as_str).map(Path::new) == Some(workspace)
            } else if let Event::Branched { from, .. } = event {
                here.contains(from)
            } else {
                here.contains(run)
            };
            if is_here {
                here.insert(run);
                found.push((run, entry, event));
            }
        }
        found
    }
}

impl AuditEntry {
    /// An entry of this process.
    fn here(at: Time, run: Option<&RunId>, fact: AuditFact) -> Self {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let ssh = std::env::var("SSH_CONNECTION").ok().and_then(|ends| Some(ends.split(' ').next()?.to_owned()));
        Self { at, run: run.cloned(), host, uid: rustix::process::getuid().as_raw(), ssh, fact }
    }

    pub(super) fn permission(at: Time, run: Option<&RunId>, change: PermissionChange) -> Self {
        Self::here(at, run, AuditFact::PermissionChanged(Box::new(change)))
    }

    pub(super) fn deleted(at: Time, run: &RunId, by: &Actor) -> Self {
        Self::here(at, Some(run), AuditFact::RunDeleted { by: by.clone() })
    }
}

/// The event as the audit keeps it; nothing where it says neither who decided what nor that a call ran.
fn audited(event: &Event) -> Option<Event> {
    if !event.has(EventTrait::Audited) {
        return None;
    }
    let mut kept = event.clone();
    if let Event::RunCreated { plan, settings, .. } = &mut kept {
        **plan = Plan { goal: std::mem::take(&mut plan.goal), ..Plan::default() };
        let host = json!({"workspace": settings.host.get("workspace").unwrap_or(&Value::Null)});
        **settings = RunSettings { host, ..RunSettings::default() };
    }
    if let Event::Node { fact: NodeFact::ToolFinished { report, .. }, .. } = &mut kept
        && report.ok
    {
        report.value = Value::Null;
    }
    Some(kept)
}

/// Appends entries to the chain, within the transaction of what they are of.
pub(super) fn append(transaction: &Connection, entries: &[AuditEntry]) -> rusqlite::Result<()> {
    if entries.is_empty() {
        return Ok(());
    }
    let last = transaction
        .prepare_cached("SELECT number, hash FROM audit ORDER BY number DESC LIMIT 1")?
        .query_row([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))
        .optional()?;
    let (mut number, mut hash) = last.unwrap_or_default();
    let mut insert = transaction.prepare_cached("INSERT INTO audit (number, json, hash) VALUES (?1, ?2, ?3)")?;
    for entry in entries {
        let json = serde_json::to_string(entry).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        number += 1;
        hash = chained(&hash, number, &json);
        insert.execute(params![number, json, hash])?;
    }
    Ok(())
}

fn chained(before: &str, number: i64, json: &str) -> String {
    format!("{:x}", Sha256::digest(format!("{before}\n{number}\n{json}")))
}

/// The audit of the home folder, up to the first entry that is not as it was written.
pub(super) fn read(db: &Connection) -> rusqlite::Result<Audit> {
    let mut rows = db.prepare_cached("SELECT number, json, hash FROM audit ORDER BY number")?;
    let found = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let found = found.collect::<rusqlite::Result<Vec<(i64, String, String)>>>()?;
    let mut audit = Audit { rows: Vec::new(), all: found.len() };
    let mut before = String::new();
    for ((number, json, hash), due) in found.into_iter().zip(1..) {
        let is_whole = number == due && hash == chained(&before, number, &json);
        let entry = serde_json::from_str::<AuditEntry>(&json).ok();
        let Some(entry) = entry.filter(|_| is_whole) else { break };
        before.clone_from(&hash);
        audit.rows.push(AuditRow { number: unsigned(number), hash, entry });
    }
    Ok(audit)
}
