//! `RunView`: one run as the console shows it: its events, its newest state, the state that is looked at where that is an earlier one,
//! and the tree of its plan.

mod fold;
mod journal;
mod replay;
mod stops;

use std::collections::BTreeMap;

use super::{CostView, Log, TraceView, TreeView, Wanted};
use crate::engine::{
    AUTO, Action, Command, Event, EventTrait, Gate, GateId, GateKind, GateReply, NodeCounts, NodeRun, NodeState, OPERATOR, Pace, Preview,
    Record, RunId, RunStatus, StateGroup, Time, TimelineChart,
};
use crate::host::client::{Driver, Problem};
use crate::plan::{NodeId, Plan};
use crate::text::Plain;
use serde_json::Value;

pub use fold::RunAt;
pub use journal::RunRecords;
pub use replay::Replay;
pub use stops::{Stop, StopKind, stops};

#[derive(Clone, Debug)]
pub struct RunView {
    pub id: RunId,
    journal: RunRecords,
    /// Its state after all of them.
    newest: RunAt,
    /// An earlier state, while that is looked at.
    replay: Option<Box<Replay>>,
    derived: Derived,
    /// The rows of its plan.
    pub tree: TreeView,
    /// Its events as lines.
    pub log: Log,
    /// Where a result came from, while that is looked at.
    pub trace: Option<Box<TraceView>>,
    /// What its calls took, since that was looked at.
    pub cost: CostView,
    /// Previews of what gates' payloads would do.
    pub previews: BTreeMap<GateId, Preview>,
    /// Who drives it on; one that somebody else drives is only looked at.
    pub driver: Driver,
    /// Why its journal can't be written, if it can't.
    pub frozen: Option<Problem>,
}

/// What is made of the state that is seen, and kept as long as it would come out the same.
#[derive(Clone, Debug, Default)]
struct Derived {
    /// Of which shape the plan is.
    shape: u32,
    /// The plan with all that runs inside its nodes, flat; the rows are made of it.
    plan: Plan,
    /// After which event that moved a bar, and in which second, the chart is so.
    charted: (u64, u64),
    /// The nodes that are at work, in the order of the plan.
    at_work: Vec<NodeId>,
    /// After which event that moved a node it waits for a person there.
    stops: (u64, Vec<Stop>),
    /// Whether the run is over, and its plan was changed in it.
    is_changed: bool,
    /// The nodes against time, since that was looked at.
    chart: Option<Box<TimelineChart>>,
}

impl RunView {
    /// A run of which nothing is known yet.
    pub fn new(id: RunId, driver: Driver) -> Self {
        Self {
            id,
            journal: RunRecords::default(),
            newest: RunAt::default(),
            replay: None,
            derived: Derived::default(),
            tree: TreeView::default(),
            log: Log::default(),
            trace: None,
            cost: CostView::default(),
            previews: BTreeMap::new(),
            driver,
            frozen: None,
        }
    }

    /// Takes in events that are in the journal. Says whether gates opened or closed.
    pub fn apply(&mut self, records: &[Record]) -> bool {
        let mut gates = false;
        for record in records {
            if self.journal.push(record) {
                self.newest.apply(record);
                gates |= record.event.has(EventTrait::ChangesGates);
            }
        }
        self.log.add(&self.journal, &self.newest);
        gates
    }

    pub fn journal(&self) -> &RunRecords {
        &self.journal
    }

    /// The event that is selected in the log.
    pub fn selected_event(&self) -> Option<&Record> {
        self.journal.records().get(self.log.event()?)
    }

    /// Filters the log again, after its filter changed.
    pub fn filter_log(&mut self) {
        self.log.filter(&self.journal, &self.newest);
    }

    /// Shows the log of one node only, or of all.
    pub fn log_only(&mut self, node: Option<NodeId>) {
        self.log.only(node, &self.journal, &self.newest);
    }

    /// The events that are seen.
    fn seen_records(&self) -> &[Record] {
        let records = self.journal.records();
        &records[..self.replay.as_deref().map_or(records.len(), Replay::at).min(records.len())]
    }

    /// Looks where a node's result came from. Says whether the node is there.
    pub fn open_trace(&mut self, node: &NodeId) -> bool {
        self.trace = TraceView::new(self.seen(), self.seen_records(), node).map(Box::new);
        self.trace.is_some()
    }

    /// Sums up what the calls took that are seen.
    pub fn refresh_cost(&mut self) {
        let mut cost = std::mem::take(&mut self.cost);
        cost.refresh(self.seen_records());
        self.cost = cost;
    }

    /// Looks again, where other events are seen than it was made for.
    pub fn refresh_trace(&mut self) {
        if let Some(mut trace) = self.trace.take() {
            trace.refresh(self.seen(), self.seen_records());
            self.trace = Some(trace);
        }
    }

    /// The nodes that are seen against time, as they were drawn up last.
    pub fn chart(&self) -> Option<&TimelineChart> {
        self.derived.chart.as_deref()
    }

    /// Draws the chart up again, where a bar moved or a second went by since. In proportion to the run, so not once a frame.
    pub fn refresh_chart(&mut self, now: Time) {
        let now = self.moment(now);
        let fold = self.seen();
        let charted = (fold.moved(), now.0 / 1000);
        if self.derived.chart.is_none() || self.derived.charted != charted {
            let chart = Box::new(fold.timeline.chart(&fold.run, now));
            (self.derived.chart, self.derived.charted) = (Some(chart), charted);
        }
    }

    /// Its state after all events: what is true now.
    pub fn newest(&self) -> &RunAt {
        &self.newest
    }

    /// The state that is looked at: the newest, or an earlier one.
    pub fn seen(&self) -> &RunAt {
        self.replay.as_deref().map_or(&self.newest, Replay::fold)
    }

    /// The replay, while an earlier state is looked at.
    pub fn replay(&self) -> Option<&Replay> {
        self.replay.as_deref()
    }

    /// Changes the replay; begins one at the last event where there is none.
    pub fn with_replay(&mut self, change: impl FnOnce(&mut Replay, &[Record])) {
        let records = self.journal.records();
        if !records.is_empty() {
            let replay = self.replay.get_or_insert_with(|| Box::new(Replay::at_the_end_of(records)));
            change(replay, records);
        }
    }

    /// Ends the replay: the newest state is shown again. Says whether there was one.
    pub fn end_replay(&mut self) -> bool {
        self.replay.take().is_some()
    }

    /// The plan that is run with all that runs inside its nodes, flat; an empty one before its first event.
    pub fn plan(&self) -> &Plan {
        &self.derived.plan
    }

    /// Makes the rows again where other nodes are seen than they were made for: once a frame, however many events came in between.
    pub fn grow(&mut self) {
        let shape = self.seen().shape();
        if shape != self.derived.shape {
            self.derived.plan = self.seen().run.outline();
            self.derived.shape = shape;
            self.tree.rebuild(&self.derived.plan);
        }
        let moved = self.seen().moved();
        if moved != self.derived.stops.0 {
            self.derived.at_work = self.works_now();
            self.derived.stops = (moved, stops(self.seen()));
            self.derived.is_changed = self.is_changed();
            self.fold_finished();
            if self.tree.search.only.is_some() {
                self.filter_states();
            }
        }
    }

    fn is_changed(&self) -> bool {
        let began = self.journal.records().first().map(|record| &record.event);
        let is_over = self.newest.run.outcome().is_some();
        matches!(began, Some(Event::RunCreated { plan, .. }) if is_over && self.newest.run.plan() != Some(&**plan))
    }

    /// Says the tree which nodes are done, with nothing to say of them.
    fn fold_finished(&mut self) {
        let run = &self.seen().run;
        let is_quiet = |node: &NodeRun| {
            let is_done = node.state.group() == StateGroup::Done && node.state != NodeState::Rehearsed && node.stale.is_none();
            is_done && node.mark_label().is_none() && node.inside.nodes == 0
        };
        let done = run.nodes().filter(|(_, node)| is_quiet(node)).map(|(id, _)| NodeId::clone(id)).collect();
        self.tree.finish(&self.derived.plan, done);
    }

    fn works_now(&self) -> Vec<NodeId> {
        let at_work = self.seen().run.nodes().filter(|(_, node)| node.state.is_at_work() && node.inside.nodes == 0);
        at_work.map(|(id, _)| NodeId::clone(id)).collect()
    }

    /// Looks which nodes are in the states that the search asks for.
    pub fn filter_states(&mut self) {
        let states = Wanted::read(&self.tree.filter.text()).states;
        let run = &self.seen().run;
        let is = |id: &NodeId, node: &NodeRun, state: &str| {
            let halts = || run.is_held(id) || run.kept(id).is_some() || run.held_calls(id).next().is_some();
            node.state.word().starts_with(state) || state == "held" && halts() || state == "stale" && node.stale.is_some()
        };
        let nodes = run.nodes().filter(|(id, node)| states.iter().any(|state| is(id, node, state)));
        let only = (!states.is_empty()).then(|| nodes.map(|(id, _)| NodeId::clone(id)).collect());
        self.tree.search.only = only;
        self.tree.rebuild(&self.derived.plan);
    }

    /// Where what is seen waits for a person, the oldest first, as of the newest frame.
    pub fn stops(&self) -> &[Stop] {
        &self.derived.stops.1
    }

    /// Rows for what goes on where its tree leaves none: as many as there may be, while it is not over.
    pub fn told(&self) -> u16 {
        let is_over = self.seen().run.outcome().is_some();
        if is_over { u16::try_from(self.stops().len()).unwrap_or(u16::MAX) } else { super::place::TOLD }
    }

    /// The nodes at work of what is seen, as of the newest frame; of one that runs others these.
    pub fn at_work(&self) -> &[NodeId] {
        &self.derived.at_work
    }

    pub fn with_tree(&mut self, change: impl FnOnce(&mut TreeView, &Plan)) {
        change(&mut self.tree, &self.derived.plan);
    }

    /// Computes the drawing of what is seen again, where it must be.
    pub fn refresh_drawing(&mut self) {
        let seen = self.replay.as_deref().map_or(&self.newest, Replay::fold);
        if let Some(plan) = seen.run.plan() {
            self.tree.drawing.refresh(plan);
        }
    }

    /// Whether it goes on in this host.
    pub fn goes_on(&self) -> bool {
        self.driver.is_here() && self.newest.run.outcome().is_none()
    }

    /// The model of its own that it asks, as far as one is known: of what is over and will go on that is the one that is used now.
    pub fn model(&self, is_picked: bool) -> Option<Plain> {
        let will_change = is_picked && self.replay.is_none() && !self.goes_on();
        let settings = self.seen().run.settings()?;
        let own = settings.model.as_deref().filter(|_| !will_change)?;
        let used = || self.seen().run.nodes().find_map(|(_, node)| node.lineage.model.as_deref());
        Some(match own {
            OPERATOR => Plain::line("you answer"),
            AUTO => Plain::summary(used().or(settings.planning.last().map(|call| call.model.as_str())).unwrap_or(own)),
            own => Plain::summary(own),
        })
    }

    /// Whether something that is looked at works right now, so that elapsed times change.
    pub fn works(&self) -> bool {
        self.goes_on() && self.replay.is_none() && self.status().is_at_work() && self.counts().running > 0
    }

    /// The moment that is looked at: now, while the run goes on here; else when the last event happened of what is seen. So the times of
    /// a run that nobody drives stand still, as it does.
    pub fn moment(&self, now: Time) -> Time {
        if self.replay.is_none() && self.goes_on() { now } else { self.seen().last }
    }

    /// How long the run takes: to now while its time goes by, else to its last event.
    pub fn elapsed_ms(&self, now: Time) -> u64 {
        self.newest.run.elapsed_ms(self.status().moment(self.newest.last, now))
    }

    /// The goal for titles.
    pub fn goal(&self) -> Plain {
        self.derived.plan.headline()
    }

    /// How it is now.
    pub fn status(&self) -> RunStatus {
        match self.newest.run.outcome() {
            None if self.frozen.is_some() => RunStatus::Frozen,
            None if self.driver == Driver::Nobody => self.newest.run.status_without_driver(),
            Some(_) | None => self.newest.run.status(),
        }
    }

    /// How what is seen of it is: a replay shows how it was.
    pub fn seen_status(&self) -> RunStatus {
        if self.replay.is_some() { self.seen().run.status() } else { self.status() }
    }

    /// Its nodes in numbers, as they are now.
    pub fn counts(&self) -> NodeCounts {
        self.newest.run.counts(self.status())
    }

    /// What a person wrote at a gate in the place of what a node was to be given.
    pub fn edited_payload(&self, node: &NodeId) -> Option<&Value> {
        let run = &self.seen().run;
        let generation = run.node(node)?.generation;
        let is_before = |gate: &Gate| gate.generation == generation && gate.kind != GateKind::Review;
        let decided = run.gates().filter(|(gate, _)| gate.node == *node && is_before(gate)).filter_map(|(_, decided)| decided).last()?;
        let GateReply::Modify { payload } = &decided.decision else { return None };
        Some(payload)
    }

    /// The plan as the run began with it, where the plan of the run, which is over, isn't that any more.
    pub fn plan_before_changes(&self) -> Option<&Plan> {
        let Event::RunCreated { plan, .. } = &self.journal.records().first()?.event else { return None };
        self.derived.is_changed.then_some(&**plan)
    }

    /// What the pausing key does to it now.
    pub fn pacing(&self) -> Action {
        let run = &self.newest.run;
        match run.pace() {
            Pace::Pausing | Pace::Paused => Action::Resume,
            // A run that only breakpoints keep goes on by the same key.
            Pace::Going if run.refusal(&Command::act(Action::Resume)).is_none() => Action::Resume,
            Pace::Going => Action::Pause,
        }
    }
}
