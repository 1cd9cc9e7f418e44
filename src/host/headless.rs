//! Runs a plan without a person: gates are decided by flags, and where no flag decides the run is left open, parked.

use super::{
    client::{Notice, Problem},
    gate_with_tool::GateWithTool,
    local::{LocalHost, Shared},
    new_run::NewRun,
    session::{FirstCommands, Order, RunSession},
};
use crate::engine::{
    Actor, Command, Event, Gate, GateId, GateKind, GateReply, LostChoice, Outcome, Outgoing, Preview, Record, Run, RunId, StopSignal,
};
use crate::plan::{Catalog, DecisionNode, NodeId, NodeKind, Plan, ToolServer, may_mean, nest::outline};
use crate::tools::Globs;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

/// How actions without a person are recorded.
pub(super) const VIA: &str = "cli";

/// How replies that flags give are recorded.
const BY_RULE: &str = "rule";

/// How gates are decided. Deny beats approve beats yes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flags {
    /// `--yes`: approve what no other flag names.
    pub yes: Yes,
    /// `--approve GLOB`: node ids or tools.
    pub approve: Vec<String>,
    /// `--deny GLOB`: node ids or tools.
    pub deny: Vec<String>,
    /// `--allow-host GLOB`: hosts, with or without a port, that private data may be sent to.
    pub allow_host: Vec<String>,
    /// `--unknown`: what becomes of nodes of which nobody knows whether they took effect.
    pub unknown: Option<LostChoice>,
    /// `--ask-at-cap`.
    pub at_cap: CapPolicy,
}

/// What happens where a budget is used up and nobody is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum CapPolicy {
    /// Who gave the budget has said that it is enough: agents return what they have.
    #[default]
    HandBack,
    Ask,
}

impl Flags {
    /// Whether every glob can be read; to be asked before a plan is paid for.
    ///
    /// # Errors
    /// The first flag that is not a valid pattern.
    pub fn check(&self) -> Result<(), Problem> {
        FlagRules::new(self, Vec::new()).map(drop)
    }

    /// Flags that could decide nothing in a run of this plan, whichever of its gates open: they name neither a node nor a tool.
    pub fn unmatched(&self, plan: &Plan, catalog: &Catalog) -> Vec<String> {
        let flat = outline(plan);
        let kinds = || flat.nodes.iter().map(|node| &node.kind);
        // An agent may call any tool; without one only those count that the plan names.
        let is_any = kinds().any(|kind| matches!(kind, NodeKind::Agent(_) | NodeKind::Decision(DecisionNode::Agent(_))));
        let all = catalog.tools.iter().map(|tool| tool.name.as_str()).filter(|_| is_any);
        let tools = all.chain(kinds().filter_map(NodeKind::tool).map(|node| catalog.canonical(&node.tool)));
        let ids = flat.nodes.iter().map(|node| node.id.as_str());
        let names: Vec<&str> = ids.chain(tools).collect();
        let aliases = || catalog.aliases.keys().map(String::as_str);
        let mut messages = Vec::new();
        for (flag, globs) in [("--approve", &self.approve), ("--deny", &self.deny)] {
            // The entries of a map and the turns of a loop are nodes once it runs.
            let Ok(known) = Globs::of(globs.iter().map(|glob| (glob.as_str(), without_turns(glob)))) else { continue };
            let own = names.iter().copied().chain(aliases().filter(|_| flag == "--deny"));
            // A server that wasn't listed yet may have such a tool.
            let unlisted =
                |glob: &str| is_any && catalog.servers.iter().any(|(name, state)| *state == ToolServer::Unlisted && may_mean(glob, name));
            for glob in known.without(own).filter(|glob| !unlisted(glob)) {
                let meant = catalog.aliases.iter().find(|(alias, _)| *alias == glob).filter(|_| flag == "--approve");
                let means = meant.map(|(_, tool)| format!("; that is another name of `{tool}`, and a yes goes by the tool's own name"));
                messages.push(format!("`{flag} {glob}` matches no node and no tool of this run{}", means.unwrap_or_default()));
            }
        }
        messages
    }
}

/// Whether `--yes` was given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Yes {
    Given,
    /// To gates of the nodes that the action starts, such as a step.
    ToStarted,
    #[default]
    Absent,
}

/// Where a run is continued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResumeFrom {
    /// Where it is now.
    End,
    /// In a branch that keeps the events up to this one.
    Event(u64),
}

/// Where signals come in.
pub type RunSignals = mpsc::UnboundedReceiver<StopSignal>;

/// How a run without a person ended.
#[derive(Clone, Debug, PartialEq)]
pub enum HeadlessEnd {
    /// It went to its end.
    Ended { outcome: Outcome, reason: String },
    /// A signal stopped it where it was. It can be resumed.
    Stopped(StopSignal),
    /// Its journal can't be written, so nothing of it goes on.
    Frozen(Problem),
    /// Nothing can go on until these gates are decided. The run stays open in the journal.
    Parked(Vec<ParkedGate>),
}

/// A gate that no flag decides.
#[derive(Clone, Debug, PartialEq)]
pub struct ParkedGate {
    pub gate: GateId,
    /// Who is held up.
    pub node: NodeId,
    /// The tool that it asks about, if any.
    pub tool: Option<String>,
    pub why: String,
    /// The flag that would decide it; none for a question, which only a person can answer.
    pub flag: Option<String>,
    /// What its call would do, if that can be told.
    pub preview: Option<Preview>,
}

/// What a run without a person gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Headless {
    pub run: RunId,
    pub end: HeadlessEnd,
    /// Its state at the end.
    pub state: Run,
}

impl LocalHost {
    /// Runs a plan to its end, or to where it is parked. Every event goes to `sink` once it is in the journal. A signal from `stop` stops it.
    ///
    /// # Errors
    /// When a flag is not a valid pattern, or the journal can't be used.
    pub async fn run_headless(
        &self,
        new: NewRun,
        flags: &Flags,
        stop: &mut RunSignals,
        sink: &mut (dyn FnMut(&Record) + Send),
    ) -> Result<Headless, Problem> {
        let rules = FlagRules::new(flags, self.shared().places.kept_trust().hosts())?;
        let (listener, notices) = mpsc::unbounded_channel();
        let session = self.shared().start(new, self.shared().actor(VIA), Some(listener)).await?;
        self.attend(session, notices, rules, stop, sink).await
    }

    /// Continues a run that was parked or interrupted, or a branch of it, to its end or to where it is parked again; `commands` come before
    /// anything starts. Every event that is new goes to `sink`. A signal from `stop` stops it, to be continued later.
    ///
    /// # Errors
    /// When there is no such event, a flag is not a valid pattern, a command is refused, another process runs it, it is over, or the
    /// journal can't be used.
    pub async fn resume_headless(
        &self,
        (run, from): (&RunId, ResumeFrom),
        commands: Vec<Command>,
        flags: &Flags,
        stop: &mut RunSignals,
        sink: &mut (dyn FnMut(&Record) + Send),
    ) -> Result<Headless, Problem> {
        let rules = FlagRules::new(flags, self.shared().places.kept_trust().hosts())?;
        let (listener, notices) = mpsc::unbounded_channel();
        let last = FirstCommands { commands, by: self.shared().actor(VIA) };
        let session = match from {
            ResumeFrom::End => self.shared().resume(run.clone(), last, Some(listener)).await?,
            ResumeFrom::Event(at) => self.shared().branch(run.clone(), at, last, Some(listener)).await?,
        };
        self.attend(session, notices, rules, stop, sink).await
    }

    /// Journals what is asked of a run that nobody drives, and starts nothing. Every event that is new goes to `sink`; returns the run.
    ///
    /// # Errors
    /// When a command is refused, another process runs it, it is over, or the journal can't be used.
    pub async fn record(&self, run: &RunId, commands: Vec<Command>, sink: &mut (dyn FnMut(&Record) + Send)) -> Result<Run, Problem> {
        let mut last = FirstCommands { commands, by: self.shared().actor(VIA) };
        let stored = self.shared().take(run.clone(), &mut last).await?;
        let (records, state) = stored.record((&*self.shared().store, &self.shared().kit.secrets), last, self.shared().clock.now()).await?;
        records.iter().for_each(sink);
        Ok(state)
    }

    /// Decides the gates of a run by flags for as long as it goes on here. Where none decides, it waits for a person.
    pub(super) fn decide_by(
        &self,
        flags: &Flags,
        session: RunSession,
        mut notices: mpsc::UnboundedReceiver<Notice>,
    ) -> Result<(), Problem> {
        let (rules, host) = (FlagRules::new(flags, self.shared().places.kept_trust().hosts())?, self.clone());
        tokio::spawn(async move {
            let mut warden = Warden { rules, shared: host.shared(), session, state: Run::default(), started: Vec::new(), asked: 0 };
            while let Some(notice) = notices.recv().await {
                if let Notice::RunOpened { records, .. } | Notice::Events { records, .. } = notice {
                    warden.take(&records, &mut |_| {});
                }
            }
        });
        Ok(())
    }

    /// Watches a run, and decides its gates by the rules, until it is over or parked.
    async fn attend(
        &self,
        session: RunSession,
        mut notices: mpsc::UnboundedReceiver<Notice>,
        rules: FlagRules,
        stop: &mut RunSignals,
        sink: &mut (dyn FnMut(&Record) + Send),
    ) -> Result<Headless, Problem> {
        let mut warden = Warden { rules, shared: self.shared(), session, state: Run::default(), started: Vec::new(), asked: 0 };
        let (mut stopped, mut frozen) = (None, None);
        loop {
            let notice = tokio::select! {
                notice = notices.recv() => notice,
                Some(signal) = stop.recv(), if stopped.is_none() => {
                    stopped = Some(signal);
                    warden.session.order(Order::Interrupt(signal));
                    continue;
                }
            };
            match notice {
                Some(Notice::RunOpened { records, .. } | Notice::Events { records, .. }) => warden.take(&records, sink),
                Some(Notice::Frozen { problem, .. }) => {
                    frozen = Some(problem);
                    warden.session.order(Order::Leave);
                }
                Some(_) => {}
                None => break,
            }
            if warden.is_parked() {
                warden.session.order(Order::Leave);
                break;
            }
        }
        warden.session.ended().await;
        let cut = frozen.map(HeadlessEnd::Frozen).or(stopped.map(HeadlessEnd::Stopped)).filter(|_| warden.state.outcome().is_none());
        Ok(match cut {
            Some(end) => Headless { run: warden.session.run, end, state: warden.state },
            None => self.verdict(warden.session.run, warden.state).await,
        })
    }

    /// How a run stands that is over or goes no further without a person, with what the calls at its gates would do.
    pub async fn verdict(&self, run: RunId, state: Run) -> Headless {
        let end = match state.outcome() {
            Some((outcome, reason)) => HeadlessEnd::Ended { outcome, reason: reason.message() },
            None => {
                let mut gates: Vec<ParkedGate> = state.open_gates().filter_map(|gate| ParkedGate::of(&state, gate)).collect();
                let looks = self.look_at(&run, &state, gates.iter().map(|gate| gate.gate)).await;
                for gate in &mut gates {
                    gate.preview = looks.iter().find(|look| look.gate == gate.gate).and_then(|look| look.preview.clone());
                }
                HeadlessEnd::Parked(gates)
            }
        };
        Headless { run, end, state }
    }
}

/// Watches one run: folds what happens, and decides gates by the flags as they open.
struct Warden<'a> {
    rules: FlagRules,
    shared: &'a Shared,
    session: RunSession,
    state: Run,
    /// The nodes that its first action starts.
    started: Vec<NodeId>,
    /// Decisions that were sent and are not journalled yet.
    asked: usize,
}

impl Warden<'_> {
    /// Folds what happened, tells what of it is new, and decides the gates that opened and still wait.
    fn take(&mut self, records: &[Record], sink: &mut (dyn FnMut(&Record) + Send)) {
        for record in records {
            // What an earlier driver did was told then.
            if record.seq > self.session.known {
                sink(record);
                if let Event::Acted { nodes, .. } = &record.event {
                    self.started.extend_from_slice(nodes);
                }
            }
            self.state.evolve(record);
        }
        for record in records {
            if let Event::ApprovalRequired { gate } = &record.event {
                // As the state has it: a question of an older journal may be about an unknown effect.
                let open = self.state.open_gates().find(|open| open.id == gate.id).cloned();
                open.into_iter().for_each(|gate| self.decide(&gate));
            }
            // Each reply that was sent comes back as one of these; replies of earlier drivers were counted then.
            if let Event::GateDecided { by, .. } | Event::Refused { by, .. } = &record.event
                && by.via == BY_RULE
                && record.seq > self.session.known
            {
                self.asked = self.asked.saturating_sub(1);
            }
        }
    }

    fn decide(&mut self, gate: &Gate) {
        let Some((decision, flag)) = self.verdict_on(gate) else { return };
        let command = Command::decide(gate.id, decision, gate.hash.clone());
        let by = Actor { who: format!("{} ({flag})", self.shared.user), via: BY_RULE.into() };
        if self.session.command(command, by) {
            self.asked += 1;
        }
    }

    /// The decision with the flag that made it.
    fn verdict_on(&self, gate: &Gate) -> Option<(GateReply, String)> {
        if let GateKind::UnknownEffect { .. } = gate.kind {
            let choice = self.rules.unknown?;
            return Some((GateReply::Lost { choice }, format!("--unknown {}", choice.word())));
        }
        if gate.kind.cap().is_some() {
            let message = "the budget is used up".to_owned();
            return (self.rules.at_cap == CapPolicy::HandBack).then(|| (GateReply::Reject { message }, "without --ask-at-cap".to_owned()));
        }
        let is_within = |node: &NodeId| {
            let rest = gate.node.strip_prefix(node.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '[']))
        };
        // A question wants to be answered by a person who read it.
        let is_yes = gate.kind.question().is_none()
            && match self.rules.yes {
                Yes::Given => true,
                Yes::ToStarted => self.started.iter().any(is_within),
                Yes::Absent => false,
            };
        self.rules.decide(&GateWithTool::of(&self.state, gate.id)?, is_yes)
    }

    fn is_parked(&self) -> bool {
        self.asked == 0 && self.state.outcome().is_none() && self.state.is_parked()
    }
}

impl ParkedGate {
    fn of(state: &Run, gate: &Gate) -> Option<Self> {
        let seen = GateWithTool::of(state, gate.id)?;
        let flag = match (matches!(gate.kind, GateKind::UnknownEffect { .. }), gate.kind.wants_answer(), seen.leaves()) {
            (true, _, _) => Some("--unknown again|done|skip".to_owned()),
            (false, true, _) => None,
            (false, false, Some(Outgoing { host, asks_anyway: true, .. })) => {
                Some(format!("--allow-host '{host}' --approve {}", gate.node))
            }
            (false, false, Some(Outgoing { host, .. })) => Some(format!("--allow-host '{host}'")),
            (false, false, None) => Some(format!("--approve {}", gate.node)),
        };
        Some(Self { gate: gate.id, node: gate.node.clone(), tool: seen.tool, why: gate.why.clone(), flag, preview: None })
    }
}

/// The flags, ready to decide.
struct FlagRules {
    deny: Globs,
    approve: Globs,
    hosts: Globs,
    /// Hosts that a person allowed for good in this workspace.
    kept_hosts: Vec<String>,
    yes: Yes,
    unknown: Option<LostChoice>,
    at_cap: CapPolicy,
}

impl FlagRules {
    /// What approves matches a tool's own name, as its gate shows it, and never another name that somebody gave it.
    fn new(flags: &Flags, kept_hosts: Vec<String>) -> Result<Self, Problem> {
        let globs = |flag: &str, globs: &[String]| {
            Globs::of(globs.iter().map(|glob| (glob.as_str(), literal_turns(glob))))
                .map_err(|error| Problem::new(format!("{flag}: {error}")).hint("name node ids or tools; `*` matches any text"))
        };
        Ok(Self {
            deny: globs("--deny", &flags.deny)?,
            approve: globs("--approve", &flags.approve)?,
            hosts: Globs::new(&flags.allow_host)
                .map_err(|error| Problem::new(format!("--allow-host: {error}")).hint("name hosts; `*` matches any text"))?,
            kept_hosts,
            yes: flags.yes,
            unknown: flags.unknown,
            at_cap: flags.at_cap,
        })
    }

    /// The decision with the flag that made it.
    fn decide(&self, seen: &GateWithTool, is_yes: bool) -> Option<(GateReply, String)> {
        if seen.gate.kind.wants_answer() {
            return None;
        }
        let own = [Some(seen.gate.node.as_str()), seen.tool.as_deref()];
        let find = |flag: &str, globs: &Globs, names: &[Option<&str>]| {
            names.iter().flatten().find_map(|name| globs.find(name)).map(|glob| format!("{flag} {glob}"))
        };
        // A no means the tool by whichever name; a yes only by its own.
        let any: Vec<_> = own.into_iter().chain(seen.aliases.iter().map(|alias| Some(alias.as_str()))).collect();
        if let Some(flag) = find("--deny", &self.deny, &any) {
            return Some((GateReply::Reject { message: flag.clone() }, flag));
        }
        let approved = || find("--approve", &self.approve, &own).or_else(|| is_yes.then(|| "--yes".to_owned()));
        let flag = match seen.leaves() {
            Some(outgoing) => {
                let flag = self.allowed_host(&outgoing.host)?;
                if outgoing.asks_anyway { format!("{flag} {}", approved()?) } else { flag }
            }
            None => approved()?,
        };
        Some((GateReply::Approve, flag))
    }

    /// The flag, or the yes of before, that lets private data go to this host and port.
    fn allowed_host(&self, host: &str) -> Option<String> {
        if self.kept_hosts.iter().any(|kept| kept == host) {
            return Some(format!("{host} is allowed in this workspace"));
        }
        let bare = host.rsplit_once(':').map_or(host, |(bare, _)| bare);
        let glob = self.hosts.find(host).or_else(|| self.hosts.find(bare))?;
        Some(format!("--allow-host {glob}"))
    }
}

/// The number of a turn or entry in an id (`each[3]/write`, or `each[*]/write` for all) means itself, and no set of characters.
fn literal_turns(glob: &str) -> String {
    with_turns(glob, |number| format!("[[]{number}[]]"))
}

/// The same as the plan has it, where no turn or entry has a number yet.
fn without_turns(glob: &str) -> String {
    with_turns(glob, |_| String::new())
}

fn with_turns(glob: &str, turn: impl Fn(&str) -> String) -> String {
    let mut literal = String::with_capacity(glob.len());
    let mut rest = glob;
    while let Some((before, after)) = rest.split_once('[') {
        literal.push_str(before);
        match after.split_once(']') {
            Some((number, behind)) if number == "*" || !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) => {
                literal.push_str(&turn(number));
                rest = behind;
            }
            _ => {
                literal.push('[');
                rest = after;
            }
        }
    }
    literal + rest
}

#[cfg(test)]
mod tests {
    use super::literal_turns;
    use globset::Glob;

    #[test]
    fn a_flag_names_one_entry_by_its_number() {
        let matches = |glob: &str, id: &str| Glob::new(&literal_turns(glob)).unwrap().compile_matcher().is_match(id);
        assert!(matches("each[1]/write", "each[1]/write"));
        assert!(!matches("each[1]/write", "each1/write"));
        assert!(matches("each*/write", "each[12]/write"));
        assert!(matches("each[*]/write", "each[12]/write"), "all entries");
        assert!(matches("write[ab]", "writeb"), "other sets stay sets");
    }
}
