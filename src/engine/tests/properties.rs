//! Random plans with every work, join and route, plans inside of plans, by the rules of every dialect; random orders of completion,
//! failures, calls, answers and cancels. After every event the rules hold.

use super::kept::check;
use super::kit::*;
use super::views::check_views;
use crate::engine::*;
use crate::plan::*;
use proptest::prelude::*;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// One node as drawn: its work, its policy and which earlier nodes feed it, by which kind of edge.
#[derive(Clone, Debug)]
pub(super) struct Drawn {
    work: u8,
    join: u8,
    guards: u8,
    approve: u8,
    failing: u8,
    lock: u8,
    route: u8,
    sources: Vec<(u8, u8)>,
}

pub(super) fn drawn() -> impl Strategy<Value = Drawn> {
    let edges = prop::collection::vec((any::<u8>(), any::<u8>()), 0..4);
    (any::<u8>(), any::<u8>(), any::<u8>(), any::<u8>(), any::<u8>(), any::<u8>(), any::<u8>(), edges).prop_map(
        |(work, join, guards, approve, failing, lock, route, sources)| Drawn { work, join, guards, approve, failing, lock, route, sources },
    )
}

fn work(code: u8) -> NodeKind {
    let tool = |name: &str| {
        let input = ToolInput::Args([("path".to_string(), json!("x"))].into_iter().collect());
        NodeKind::Tool(ToolNode { tool: name.into(), input })
    };
    match code % 15 {
        0..=3 => NodeKind::Agent(AgentNode { agent: Some("worker".into()), objective: Some("do it".into()), ..AgentNode::default() }),
        4 => tool("read"),
        5 => tool("save"),
        6 => tool("write"),
        7 => NodeKind::Code(CodeNode { code: "return 1".into(), sandbox: SandboxLimits::default() }),
        8 => NodeKind::Transform(TransformNode { value: json!({"route": "left", "ok": true}) }),
        9 => NodeKind::Decision(DecisionNode::Expression(if code > 128 { "'left'".into() } else { "'right'".into() })),
        10 => NodeKind::Merge(MergeNode::default()),
        11 if code > 128 => NodeKind::Decision(DecisionNode::Agent(AgentNode { agent: Some("worker".into()), ..AgentNode::default() })),
        12 => NodeKind::Subplan(SubplanNode::Inline(Box::new(body(code)))),
        13 => NodeKind::Loop(LoopNode { body: Box::new(body(code)), until: "iteration > 1 or b.ok".into() }),
        14 => NodeKind::Map(MapNode {
            over: format!("[{}]", ["", "1", "1, 2, 3"][usize::from(code % 3)]),
            body: Box::new(body(code / 2)),
            max_parallel: code.is_multiple_of(2).then_some(2),
        }),
        _ if code > 250 => tool("delete"),
        _ => NodeKind::Approval(ApprovalNode { text: "go on?".into(), ..ApprovalNode::default() }),
    }
}

/// What runs inside: a chain with a gate, a walk, or another plan inside.
fn body(code: u8) -> Plan {
    let mut inner = match code % 4 {
        0 => plan(vec![node("a", work(6), &[]), node("b", work(0), &["a"])]),
        1 => plan(vec![node("b", NodeKind::Map(MapNode { over: "[1, 2]".into(), body: Box::new(body(2)), max_parallel: None }), &[])]),
        2 => plan(vec![node("a", work(0), &[]), node("b", work(8), &["a"])]),
        _ => Plan {
            dialect: Dialect::Workflow,
            ..plan(vec![node("a", work(0), &[]), node("b", work(7), &["a"]), node("c", work(4), &["b"])])
        },
    };
    inner.nodes[0].entry = true;
    inner.nodes[0].policy.on_failure = code.is_multiple_of(5).then_some(OnFailure::Safe);
    inner
}

fn policy(it: &Drawn) -> Policy {
    let yes_no = |code: u8| match code % 10 {
        0 => Some("false".to_string()),
        1 => Some("true".to_string()),
        _ => None,
    };
    Policy {
        join: [None, None, None, Some(Join::All), Some(Join::Settled), Some(Join::Any), Some(Join::Always)][usize::from(it.join % 7)],
        when: yes_no(it.guards),
        skip_if: yes_no(it.guards / 10),
        approve: [None, None, None, Some(Approve::Before), Some(Approve::After), Some(Approve::Both), Some(Approve::Never)]
            [usize::from(it.approve % 7)],
        on_failure: [Some(OnFailure::Safe), Some(OnFailure::Ask), Some(OnFailure::Replan), None][usize::from(it.failing % 4)],
        replan_when: (it.guards / 100 == 2).then(|| "true".to_string()),
        retry: it.failing.is_multiple_of(3).then_some(Retry { attempts: 2, ..Retry::default() }),
        timeout_s: it.failing.is_multiple_of(5).then_some(5.0),
        locks: it
            .lock
            .is_multiple_of(3)
            .then(|| vec![format!("lock{}", it.lock % 2), "lock2".to_string()][..1 + usize::from(it.lock % 2)].to_vec()),
        max_iterations: Some(2),
        route: [None, None, None, Some(Route::First), Some(Route::Decision)][usize::from(it.route % 5)],
        ..Policy::default()
    }
}

pub(super) fn build(drawn: &[Drawn], dialect: Dialect) -> Plan {
    let mut plan = Plan { dialect, ..plan(Vec::new()) };
    for (at, it) in drawn.iter().enumerate() {
        let id = format!("n{at}");
        let mut own = node(&id, work(it.work), &[]);
        own.policy = policy(it);
        own.entry = at == 0;
        own.exit = it.route > 200;
        let mut sources = BTreeSet::new();
        for (source, kind) in it.sources.iter().filter(|_| at > 0) {
            let source = usize::from(*source) % at;
            if !sources.insert(source) {
                continue;
            }
            let source = format!("n{source}");
            match kind % 6 {
                0 => plan.edges.push(edge(&source, &id, "left")),
                1 => plan.edges.push(edge(&source, &id, "true")),
                2 => plan.edges.push(edge(&source, &id, &format!("{source}.ok"))),
                3 => plan.edges.push(Edge { default: true, ..Edge::new(source.as_str(), id.as_str()) }),
                _ => own.depends_on.push(source.as_str().into()),
            }
        }
        plan.nodes.push(own);
    }
    plan
}

/// What happens next, as drawn; what is meant depends on what there is.
pub(super) type Draw = (u8, u8, u8);

/// A worker that was started and has not ended, with its open calls.
struct DrawnWorkers {
    alive: BTreeMap<(String, u32), BTreeMap<String, bool>>,
}

pub(super) struct Player {
    pub world: World,
    workers: DrawnWorkers,
    timers: Vec<(Timer, Time)>,
    calls: u32,
    seen: usize,
}

impl Player {
    pub fn new(plan: Plan, slots: u32) -> Self {
        let mut player = Self::created(plan, slots);
        player.world.command(Command::Start);
        player.take_effects();
        player
    }

    pub fn created(plan: Plan, slots: u32) -> Self {
        let world = World::created(plan, RunSettings { slots, ..settings() });
        Self { world, workers: DrawnWorkers { alive: BTreeMap::new() }, timers: Vec::new(), calls: 0, seen: 0 }
    }

    /// A new run that keeps the events of another one up to a place, and to the end of the step there.
    pub fn branch(records: &[Record], at: u64) -> Self {
        let at = Record::whole(records, at);
        let records = records[..usize::try_from(at).unwrap()].to_vec();
        let world = World { run: Run::replay(&records), now: records.last().unwrap().at.0, records, effects: Vec::new() };
        let mut player = Self { world, workers: DrawnWorkers { alive: BTreeMap::new() }, timers: Vec::new(), calls: 10_000, seen: 0 };
        let branch = Input::Branch { from: RunId("run".into()), from_seq: at, by: me() };
        let start = (!player.world.run.is_started()).then(|| Input::Command { command: Command::Start, by: me() });
        player.world.steps(&[branch].into_iter().chain(start).collect::<Vec<_>>());
        player.take_effects();
        player
    }

    pub fn take_effects(&mut self) {
        let mut plans = Vec::new();
        for effect in self.world.effects[self.seen..].iter().cloned() {
            match effect {
                Effect::Replan { number } => plans.push(number),
                Effect::Start { node, attempt, .. } => {
                    self.workers.alive.insert((node.to_string(), attempt), BTreeMap::new());
                }
                Effect::Abort { node, attempt, .. } => {
                    self.workers.alive.remove(&(node.to_string(), attempt));
                }
                Effect::Answer { node, attempt, call, answer, .. } => {
                    let calls = self.workers.alive.get_mut(&(node.to_string(), attempt)).expect("answers go to live workers");
                    assert!(calls.contains_key(&call), "an answer goes to a call that was asked");
                    match answer {
                        Answer::Run { .. } => calls.insert(call, true),
                        Answer::Refused { .. } | Answer::Value(_) | Answer::Go { .. } | Answer::Again { .. } => calls.remove(&call),
                    };
                }
                Effect::SetTimer { timer, at } => self.timers.push((timer, at)),
                Effect::UseModel { model } => assert_eq!(self.world.run.settings().unwrap().model, Some(model)),
            }
        }
        self.seen = self.world.effects.len();
        self.check_slots();
        plans.into_iter().for_each(|number| self.propose(number));
    }

    /// The planner answers: with nothing, or with one more node.
    fn propose(&mut self, number: u32) {
        let mut plan = self.world.run.plan().unwrap().clone();
        plan.nodes.push(agent(&format!("r{number}"), &[]));
        let plan = if number.is_multiple_of(3) { Err("no idea".to_owned()) } else { Ok(Box::new(plan)) };
        self.world.step(Input::Replanned { number, answer: Box::new(ReplanAnswer { plan, calls: Vec::new() }) });
        self.take_effects();
    }

    fn check_slots(&self) {
        let run = &self.world.run;
        let working =
            run.nodes().filter(|(id, node)| node.state == NodeState::Running && !run.node_doc(id).unwrap().kind.is_composite()).count();
        let slots = self.world.run.settings().unwrap().slots;
        assert!(working <= slots as usize, "{working} nodes work with {slots} slots");
    }

    pub fn play(&mut self, (kind, pick, how): Draw) {
        self.world.now += u64::from(how);
        match kind % 8 {
            0..=3 => self.play_worker(pick, how),
            4 | 5 => self.play_gate(pick, how),
            6 => self.play_timer(pick),
            _ => self.play_cancel(pick, how),
        }
        self.take_effects();
    }

    fn work(&mut self, node: &str, attempt: u32, fact: WorkerFact) {
        let generation = self.world.node(node).generation;
        self.world.step(Input::Work { node: node.into(), generation, attempt, fact });
    }

    /// A worker is about to ask a model, if none of its calls is under way.
    pub fn ask_model(&mut self, pick: u8) {
        self.play_worker(pick, 7);
        self.take_effects();
    }

    fn play_worker(&mut self, pick: u8, how: u8) {
        let count = self.workers.alive.len();
        if count == 0 {
            return;
        }
        let ((node, attempt), calls) = self.workers.alive.iter().nth(usize::from(pick) % count).unwrap();
        let (node, attempt) = (node.clone(), *attempt);
        let running = calls.iter().find(|(_, running)| **running).map(|(call, _)| call.clone());
        let blocked = !calls.is_empty() && running.is_none();
        let kinds = [ErrorKind::Transient, ErrorKind::NothingBegan, ErrorKind::Permanent, ErrorKind::Timeout];
        match (how % 8, running) {
            (_, Some(call)) => {
                self.workers.alive.get_mut(&(node.clone(), attempt)).unwrap().remove(&call);
                let report = ToolReport { ok: true, value: json!(1), ..ToolReport::default() };
                self.work(&node, attempt, WorkerFact::ToolDone { call, report });
            }
            (0 | 1, None) => {
                self.calls += 1;
                let id = format!("c{}", self.calls);
                self.workers.alive.get_mut(&(node.clone(), attempt)).unwrap().insert(id.clone(), false);
                let verdict = [Verdict::Ask, Verdict::Allow, Verdict::Deny][usize::from(pick % 3)];
                // A call let go at once beside an open question may run past the slots; everything else is held to them exactly.
                let (tool, verdict) = match verdict {
                    Verdict::Allow | Verdict::Ask if blocked => ("other", Verdict::Ask),
                    Verdict::Allow | Verdict::Ask | Verdict::Deny => (if how.is_multiple_of(2) { "write" } else { "read" }, verdict),
                };
                let call = ToolCall { id, tool: tool.into(), args: json!({"path": pick % 3}) };
                self.work(&node, attempt, WorkerFact::ToolAsked { call, verdict, why: "it asks".into(), leaves: None });
            }
            (2, None) => {
                self.calls += 1;
                let call = format!("q{}", self.calls);
                self.workers.alive.get_mut(&(node.clone(), attempt)).unwrap().insert(call.clone(), false);
                let fact = WorkerFact::QuestionAsked {
                    call,
                    text: "which?".into(),
                    options: vec![],
                    fields: vec![],
                    payload: json!({"seen": how}),
                    within: None,
                };
                self.work(&node, attempt, fact);
            }
            // The one who waits for an answer asks no model meanwhile.
            (7, None) if !blocked => {
                self.calls += 1;
                let call = format!("m{}", self.calls);
                self.workers.alive.get_mut(&(node.clone(), attempt)).unwrap().insert(call.clone(), false);
                self.work(&node, attempt, WorkerFact::ModelAsked { call, model: "m".into(), need: None });
            }
            (3, None) => {
                self.workers.alive.remove(&(node.clone(), attempt));
                let kind = kinds[usize::from(pick) % kinds.len()];
                self.work(
                    &node,
                    attempt,
                    WorkerFact::Failed(NodeError { kind, message: "it broke".into(), hint: None, retry_after_ms: None }),
                );
            }
            (4, None) => self.work(&node, attempt, WorkerFact::Output("text".into())),
            (_, None) => {
                self.workers.alive.remove(&(node.clone(), attempt));
                let result = if pick.is_multiple_of(2) { json!({"ok": true, "route": "left"}) } else { json!("right") };
                self.work(&node, attempt, WorkerFact::Done(Done { result, mark: None }));
            }
        }
    }

    fn play_gate(&mut self, pick: u8, how: u8) {
        let open = self.world.open();
        if open.is_empty() {
            return;
        }
        let gate = open[usize::from(pick) % open.len()];
        let (kind, payload) = self.world.run.gate(GateId(gate)).map(|(gate, _)| (gate.kind.clone(), gate.payload.clone())).unwrap();
        let decision = match (how % 8, &kind) {
            (0, _) => reject("no"),
            (1, _) => GateReply::Skip,
            (2, _) => GateReply::CancelBranch,
            (_, kind) if kind.question().is_some_and(|question| !question.options.is_empty()) => {
                let options = kind.question().unwrap().options;
                // Another one each time: who always retried would never be done.
                GateReply::Answer { value: json!(options[(usize::from(how / 8) + gate as usize) % options.len()]) }
            }
            (3, _) | (_, GateKind::Question { .. }) => GateReply::Answer { value: json!("left") },
            (4, _) => GateReply::Modify { payload },
            _ => GateReply::Approve,
        };
        let events = self.world.decide(gate, decision);
        // A proposal that fits no longer can only be refused.
        if matches!(kind, GateKind::Replan { .. }) && matches!(events.first(), Some(Event::Refused { .. })) {
            self.world.decide(gate, reject(""));
        }
    }

    fn play_timer(&mut self, pick: u8) {
        if self.timers.is_empty() {
            return;
        }
        let (timer, at) = self.timers.remove(usize::from(pick) % self.timers.len());
        self.world.now = self.world.now.max(at.0);
        self.world.step(Input::TimerDue { timer, unfinished: None });
    }

    fn play_cancel(&mut self, pick: u8, how: u8) {
        let count = self.world.run.nodes().count();
        let node = self.world.run.nodes().nth(usize::from(pick) % count).unwrap().0.clone();
        match how % 16 {
            0 => drop(self.world.command(Command::act(Action::Cancel { target: ActionTarget::Run }))),
            1..=3 => drop(self.world.command(Command::act(Action::Cancel { target: ActionTarget::Node(node) }))),
            4..=6 => drop(self.world.command(Command::act(Action::Cancel { target: ActionTarget::Branch(node) }))),
            7 | 8 => self.crash(),
            _ => {}
        }
    }

    /// The driver ends with its workers and timers, and another one opens what is in the journal.
    pub fn crash(&mut self) {
        self.workers.alive.clear();
        self.timers.clear();
        self.world.run = Run::replay(&self.world.records);
        self.world.step(Input::Recover { by: me() });
    }

    /// Somebody drives the run.
    pub fn drive(&mut self, how: u8) {
        let run = &self.world.run;
        let stands = |id: &NodeId| run.kept(id).is_some() || run.held_calls(id).next().is_some();
        let kept = run.nodes().find(|(id, _)| stands(id)).map(|(id, _)| id.clone());
        let some = run.nodes().nth(usize::from(how) % run.nodes().count()).map(|(id, _)| id.clone());
        match how % 12 {
            6 => some.into_iter().for_each(|node| drop(self.world.act(Action::StepInto { node }))),
            7 => some.into_iter().for_each(|node| drop(self.world.act(Action::Guide { node, text: "be brief".into() }))),
            8 if how > 128 => some.into_iter().for_each(|node| drop(self.world.act(Action::Stop { target: ActionTarget::Branch(node) }))),
            8 => some.into_iter().for_each(|node| drop(self.world.act(Action::Stop { target: ActionTarget::Node(node) }))),
            9 if how > 200 => drop(self.world.act(Action::Stop { target: ActionTarget::Run })),
            0 => drop(self.world.act(Action::Pause)),
            1 => drop(self.world.act(Action::Resume)),
            2 => drop(self.world.act(Action::Step { node: None })),
            3 | 4 => kept.into_iter().for_each(|id| drop(self.world.act(Action::Release { target: ActionTarget::Node(id) }))),
            5 => kept.into_iter().for_each(|id| drop(self.world.act(Action::Step { node: Some(id) }))),
            10 if how > 128 => some.into_iter().for_each(|node| drop(self.world.act(Action::RunTo { node }))),
            10 => some.into_iter().for_each(|node| drop(self.world.act(Action::Hold { target: ActionTarget::Node(node) }))),
            9 if how > 100 => drop(self.world.command(Command::Replan { guidance: String::new() })),
            11 if how > 200 => drop(self.world.act(Action::Hold { target: ActionTarget::Run })),
            11 if run.outcome().is_none() => drop(self.world.command(Command::UseModel { model: "other".into(), slots: None })),
            _ => {}
        }
        self.take_effects();
    }

    /// Answers everything and lets every worker end, until nothing is left to do.
    pub fn finish(&mut self) {
        for round in 0..2_000_u32 {
            if self.world.outcome().is_some() {
                return;
            }
            let how = u8::try_from(round % 3).unwrap() + 5;
            let goes_on = [Action::Resume, Action::Release { target: ActionTarget::Run }];
            if let Some(action) = goes_on.into_iter().find(|action| self.world.run.refusal(&Command::act(action.clone())).is_none()) {
                self.world.act(action);
                self.take_effects();
                continue;
            }
            if !self.world.open().is_empty() {
                self.play_gate(0, how);
            } else if !self.workers.alive.is_empty() {
                self.play_worker(0, how);
            } else {
                self.play_timer(0);
            }
            self.take_effects();
        }
        let run = &self.world.run;
        panic!("the run doesn't settle: {}; agenda {:?}, queue {:?}", self.world.states(), run.agenda, run.queue);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_plan_in_any_order_keeps_the_rules_and_settles(
        nodes in prop::collection::vec(drawn(), 1..12),
        slots in 1_u32..4,
        draws in prop::collection::vec(any::<Draw>(), 0..60),
        dialect in 0..10_usize,
    ) {
        let dialect = Dialect::ALL.get(dialect).copied().unwrap_or_default();
        let mut player = Player::new(build(&nodes, dialect), slots);
        for draw in draws {
            player.play(draw);
        }
        check_views(&player.world);
        player.finish();
        check(&player.world);
        check_views(&player.world);
    }
}
