//! `dagdeck audit`: who asked, allowed, refused and changed what, and which calls ran, in all runs of the home folder.

use super::{AuditArgs, CliContext, CliError, Exit, Io, ls::short};
use crate::{
    engine::{Event, EventKind, EventLine, Gate, GateId, NodeFact, RunId, RunState, Time, Topic, arguments, result_line},
    host::{Clock, SystemClock},
    plan::NodeId,
    store::{Audit, AuditFact, AuditRow, LastingPermission, PermissionChange, PermissionTurn, RunFilter, Store},
    text::{Plain, counted, duration, timestamp},
    tools::Globs,
};
use std::collections::BTreeMap;

const NONE: &str = "the audit has no entry yet: it begins with the first run of this version";

/// Lists the audit's entries, or checks them.
///
/// # Errors
/// When an entry was changed, no run has this name, or the journal can't be read.
pub fn audit(args: &AuditArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let store = place.store()?;
    let audit = store.audit()?;
    if let Some(earlier) = &args.verify {
        broken(&audit)?;
        return verified(&audit, earlier, &store, io);
    }
    let chosen = AuditFilter::of(args, &audit, (&store, place))?;
    let mut told = AuditHistory::of(&audit);
    let (mut shown, mut proposed) = (0, 0);
    for row in &audit.rows {
        let line = told.next(row);
        if !chosen.fits(row, &line) {
            continue;
        }
        // What is proposed is refused, asked about or run right after.
        if line.is_proposal && !args.json {
            proposed += 1;
            continue;
        }
        shown += 1;
        if args.json {
            io.json_line(row)?;
        } else {
            let run = row.entry.run.as_ref().map_or("-", |run| short(&run.0));
            // Whole: what was allowed must not be cut.
            io.line(&format!("{}  {run:<8}  {}", timestamp(row.entry.at.0), line.text))?;
        }
    }
    if proposed > 0 {
        io.say(&format!("not listed: {} as proposed; `--json` has them, too", counted(proposed, "call")));
    }
    if shown + proposed == 0 {
        io.say(&if audit.all == 0 { none(&store)? } else { "no entry matches; `dagdeck audit` alone lists them all".to_owned() });
    }
    broken(&audit)?;
    Ok(Exit::Success)
}

fn broken(audit: &Audit) -> Result<(), CliError> {
    let (whole, all) = (audit.rows.len(), audit.all);
    if whole == all {
        return Ok(());
    }
    let message =
        format!("entry {} of the audit is not as it was written: it was changed, or one was removed or inserted there", whole + 1);
    Err(CliError::new(message).hint(format!("the {whole} before it are whole; of the {} from there on nothing is sure", all - whole)))
}

/// What an audit without entries says: each run has one from its first event on, unless it is older than the audit.
fn none(store: &Store) -> Result<String, CliError> {
    let runs = store.runs(RunFilter::All)?.len();
    let lost = || format!("the audit has no entry: the journal has {}, older than it, or its entries were removed", counted(runs, "run"));
    Ok(if runs == 0 { NONE.to_owned() } else { lost() })
}

fn verified(audit: &Audit, earlier: &str, store: &Store, io: &mut Io<'_>) -> Result<Exit, CliError> {
    if !earlier.is_empty() && !audit.rows.iter().any(|row| row.hash == earlier) {
        return Err(CliError::new(format!("no entry has the hash {earlier}: entries were cut off, or the whole audit was written anew"))
            .hint("compare it with a copy of the journal"));
    }
    let Some(last) = audit.rows.last() else {
        let none = none(store)?;
        if none != NONE {
            return Err(CliError::new(none).hint("compare it with a copy of the journal"));
        }
        io.say(&none);
        return Ok(Exit::Success);
    };
    io.line(&last.hash)?;
    let all = audit.rows.len();
    io.say(&format!("all entries, 1 to {all}, are as they were written; the hash above is that of the last one"));
    io.say("keep it: `dagdeck audit --verify HASH` shows later whether entries up to here were cut off");
    Ok(Exit::Success)
}

/// Which entries are wanted.
struct AuditFilter<'a> {
    runs: Option<Vec<RunId>>,
    since: Option<Time>,
    until: Option<Time>,
    by: Option<&'a str>,
    tools: Option<Globs>,
}

impl<'a> AuditFilter<'a> {
    fn of(args: &'a AuditArgs, audit: &Audit, (store, place): (&Store, &CliContext)) -> Result<Self, CliError> {
        let now = SystemClock.now();
        let tools = args.tool.as_ref().map(|glob| Globs::new(std::slice::from_ref(glob))).transpose();
        Ok(Self {
            runs: args.run.as_ref().map(|name| named(name, audit, store, place)).transpose()?,
            since: args.since.map(|moment| moment.time(now)),
            until: args.until.map(|moment| moment.time(now)),
            by: args.by.as_deref(),
            tools: tools.map_err(|error| CliError::usage(error.to_string()))?,
        })
    }

    fn fits(&self, row: &AuditRow, line: &AuditLine) -> bool {
        self.runs.as_ref().is_none_or(|runs| row.entry.run.as_ref().is_some_and(|run| runs.contains(run)))
            && self.since.is_none_or(|since| row.entry.at >= since)
            && self.until.is_none_or(|until| row.entry.at < until)
            && self.by.is_none_or(|by| line.person.as_deref() == Some(by))
            && self.tools.as_ref().is_none_or(|tools| line.tool.as_deref().is_some_and(|tool| tools.find(tool).is_some()))
    }
}

/// The runs of this name: those of the journal, else those that were deleted.
fn named(name: &str, audit: &Audit, store: &Store, place: &CliContext) -> Result<Vec<RunId>, CliError> {
    let found = store.resolve(name, RunFilter::Workspace(&place.places.workspace));
    let Err(error) = found else { return Ok(found.into_iter().collect()) };
    let mut runs: Vec<RunId> = audit.rows.iter().filter_map(|row| row.entry.run.clone()).collect();
    runs.sort();
    runs.dedup();
    runs.retain(|run| name.len() >= crate::store::SHORTEST_NAME && (run.0.starts_with(name) || run.0.ends_with(name)));
    if runs.is_empty() { Err(error.into()) } else { Ok(runs) }
}

/// An entry in words, with what it is found by.
struct AuditLine {
    text: Plain,
    person: Option<String>,
    tool: Option<String>,
    /// A call that an agent or a plan wants.
    is_proposal: bool,
}

/// What other entries say of gates and calls.
#[derive(Default)]
struct AuditHistory {
    gates: BTreeMap<(RunId, GateId), Gate>,
    /// The tool of each call, by run, node and generation.
    calls: BTreeMap<(RunId, NodeId, u32, String), String>,
    /// The rule that the reply to a gate made, too.
    rules: BTreeMap<(RunId, GateId), u32>,
}

impl AuditHistory {
    /// What a reply reaches may be on record behind it.
    fn of(audit: &Audit) -> Self {
        let rule = |row: &AuditRow| {
            let AuditFact::PermissionChanged(change) = &row.entry.fact else { return None };
            let LastingPermission::Rule { number, .. } = change.permission else { return None };
            (change.turn == PermissionTurn::Given).then_some(((row.entry.run.clone()?, change.gate?), number))
        };
        Self { rules: audit.rows.iter().filter_map(rule).collect(), ..Self::default() }
    }

    fn next(&mut self, row: &AuditRow) -> AuditLine {
        match &row.entry.fact {
            AuditFact::Event(event) => self.event(row, event),
            AuditFact::RunDeleted { by } => {
                let text = by.label().then(&Plain::line("  deleted the run from the journal"));
                AuditLine { text, person: Some(by.who.clone()), tool: None, is_proposal: false }
            }
            AuditFact::PermissionChanged(change) => self.permission(row, change),
        }
    }

    fn permission(&self, row: &AuditRow, change: &PermissionChange) -> AuditLine {
        let PermissionChange { turn, permission, what, gate, by, .. } = change;
        let (subject, tool) = match permission {
            LastingPermission::Rule { number, tool, .. } => (format!("rule {number}"), Some(tool.clone())),
            LastingPermission::Host(host) => (format!("the host {host} for private data"), None),
            LastingPermission::File { path, .. } => (format!("the file {path}"), None),
        };
        let did = match (turn, permission) {
            (PermissionTurn::Ended, _) => "ended",
            (PermissionTurn::Given, LastingPermission::Rule { .. }) => "made",
            (PermissionTurn::Given, LastingPermission::Host(_)) => "allowed",
            (PermissionTurn::Given, LastingPermission::File { .. }) => "trusted",
        };
        let asked = gate.and_then(|gate| self.gates.get(&(row.entry.run.clone()?, gate)));
        let place = asked.map(|gate| format!(", at gate {} of {}", gate.id.0, gate.node)).unwrap_or_default();
        let what = if what.is_empty() { String::new() } else { format!(": {what}") };
        let text = by.label().then(&Plain::line(&format!("  {did} {subject}{place}{what}")));
        AuditLine { text, person: Some(by.who.clone()), tool, is_proposal: false }
    }

    fn event(&mut self, row: &AuditRow, event: &Event) -> AuditLine {
        let mut line = event.describe(&RunState::default());
        let mut tool = None;
        let key = |gate: GateId| row.entry.run.clone().map(|run| (run, gate));
        if let Event::RunCreated { plan, .. } = event {
            line.head = Plain::line("created the run");
            line.more = Plain::summary(&plan.goal);
        }
        if let Event::ApprovalRequired { gate } = event {
            self.gates.extend(key(gate.id).map(|key| (key, (**gate).clone())));
            (line.head, line.more, tool) = (Plain::line("asked"), asked(gate), gate.tool.clone());
        }
        let is_reply = !matches!(event, Event::ApprovalRequired { .. });
        let replied = gate_of(event).filter(|_| is_reply).and_then(key);
        if let Some((key, gate)) = replied.and_then(|key| Some((key.clone(), self.gates.get(&key)?))) {
            line.node = Some(gate.node.clone());
            let waited = duration(row.entry.at.0.saturating_sub(gate.opened.0));
            let is_persons = matches!(event, Event::GateDecided { by, .. } if !by.is_rule());
            let reach = match self.rules.get(&key) {
                Some(number) if is_persons => format!(", for more calls by rule {number}"),
                None if is_persons && gate.tool.is_some() => ", for this call alone".to_owned(),
                Some(_) | None => String::new(),
            };
            let words = if line.more.is_empty() { Plain::default() } else { Plain::line(" – ").then(&line.more) };
            line.more = asked(gate).then(&words).then(&Plain::line(&format!(" (asked {waited} before{reach})")));
            tool.clone_from(&gate.tool);
        }
        if let (Event::Node { node_id, generation, fact }, Some(run)) = (event, &row.entry.run) {
            tool = self.call((run, node_id, *generation), fact, &mut line);
        }
        let is_person = !matches!(line.kind, EventKind::Tool);
        let who = if is_person { line.who.clone() } else { Plain::default() };
        let text = line.label(&line.what());
        let text = if who.is_empty() { text } else { who.clone().then(&Plain::line("  ")).then(&text) };
        let person = who.as_str().split(" (").next().filter(|who| !who.is_empty()).map(str::to_owned);
        let is_proposal = matches!(event, Event::Node { fact: NodeFact::ToolProposed { .. }, .. });
        AuditLine { text, person, tool, is_proposal }
    }

    /// The tool of a call, which gets its words.
    fn call(&mut self, (run, node, generation): (&RunId, &NodeId, u32), fact: &NodeFact, line: &mut EventLine) -> Option<String> {
        let key = |call: &str| (run.clone(), node.clone(), generation, call.to_owned());
        if let NodeFact::ToolStarted { call, rule } = fact {
            self.calls.insert(key(&call.id), call.tool.clone());
            line.head = Plain::line(&format!("ran {} ({})", call.tool, rule.as_deref().unwrap_or("after a yes")));
            line.more = arguments(&call.args);
            return Some(call.tool.clone());
        }
        if let NodeFact::ToolProposed { call } = fact {
            self.calls.insert(key(&call.id), call.tool.clone());
            return Some(call.tool.clone());
        }
        let ended = if let NodeFact::ToolFinished { call, .. } = fact { Some(call) } else { None };
        let refused = if let NodeFact::ToolRefused { call, .. } = fact { Some(call) } else { None };
        let answered = if let NodeFact::ToolAnswered { call, .. } = fact { Some(call) } else { None };
        let tool = self.calls.get(&key(ended.or(refused).or(answered)?))?.clone();
        line.head = Plain::line(&format!("{tool}: {}", line.head.as_str()));
        // Results are in the journal alone.
        if line.more.as_str() == "null" {
            line.more = Plain::default();
        }
        Some(tool)
    }
}

/// The gate that an event replies to or closes.
fn gate_of(event: &Event) -> Option<GateId> {
    if let Topic::Gate(gate) = event.topic() { Some(gate) } else { None }
}

/// What a gate asks, with what about.
fn asked(gate: &Gate) -> Plain {
    let tool = gate.tool.as_ref().filter(|tool| !gate.asks().contains(tool.as_str())).map(|tool| format!("{tool}: ")).unwrap_or_default();
    let payload = if gate.payload.is_null() { String::new() } else { result_line(&gate.payload, None) };
    Plain::summary(&format!("{} {tool}{payload}", gate.asks()))
}
