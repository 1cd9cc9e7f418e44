//! The driver: a run and everything that came of it. Each step checks that folding the journal gives the live state.

use crate::engine::*;
use crate::plan::*;
use serde_json::{Value, json};

pub(super) fn me() -> Actor {
    Actor { who: "anna".into(), via: "console".into() }
}

pub(super) fn agent(id: &str, deps: &[&str]) -> Node {
    node(id, NodeKind::Agent(AgentNode { agent: Some("worker".into()), objective: Some("do it".into()), ..AgentNode::default() }), deps)
}

pub(super) fn node(id: &str, work: NodeKind, deps: &[&str]) -> Node {
    Node { depends_on: deps.iter().map(|id| NodeId::from(*id)).collect(), ..Node::new(id, work) }
}

pub(super) fn tool(id: &str, tool: &str, args: Value, deps: &[&str]) -> Node {
    let Value::Object(args) = args else { panic!("arguments are an object") };
    node(id, NodeKind::Tool(ToolNode { tool: tool.into(), input: ToolInput::Args(args) }), deps)
}

pub(super) fn transform(id: &str, value: Value, deps: &[&str]) -> Node {
    node(id, NodeKind::Transform(TransformNode { value }), deps)
}

pub(super) fn plan(nodes: Vec<Node>) -> Plan {
    Plan { goal: "a goal".into(), nodes, ..Plan::default() }
}

pub(super) fn edge(from: &str, to: &str, when: &str) -> Edge {
    Edge { when: Some(when.into()), ..Edge::new(from, to) }
}

pub(super) fn settings() -> RunSettings {
    let info = |name: &str, risk, verdict| ToolInfo {
        name: name.into(),
        description: String::new(),
        input_schema: json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] }),
        risk,
        verdict,
        reach: None,
    };
    let catalog = Catalog {
        agents: Vec::new(),
        tools: vec![
            info("delete", Risk::Write, Verdict::Deny),
            info("read", Risk::Read, Verdict::Allow),
            info("save", Risk::Write, Verdict::Allow),
            info("write", Risk::Write, Verdict::Ask),
        ],
        aliases: [("put".into(), "write".into()), ("rm".into(), "delete".into())].into(),
        ..Catalog::default()
    };
    RunSettings { catalog, model: Some("test".into()), ..RunSettings::default() }
}

/// A run and everything that came of it.
pub(super) struct World {
    pub run: Run,
    pub records: Vec<Record>,
    pub effects: Vec<Effect>,
    pub now: u64,
}

impl World {
    pub fn new(plan: Plan) -> Self {
        Self::with(plan, settings())
    }

    pub fn with(plan: Plan, settings: RunSettings) -> Self {
        let mut world = Self::created(plan, settings);
        world.command(Command::Start);
        world
    }

    pub fn created(plan: Plan, settings: RunSettings) -> Self {
        let mut world = Self { run: Run::default(), records: Vec::new(), effects: Vec::new(), now: 1_000 };
        world.step(Input::Create { run: RunId("run".into()), plan: Box::new(plan), settings: Box::new(settings), by: me() });
        world
    }

    /// Carries an input through, with all that follows from it.
    pub fn step(&mut self, input: Input) -> Vec<Event> {
        self.steps(&[input])
    }

    /// The same with several as one step.
    pub fn steps(&mut self, inputs: &[Input]) -> Vec<Event> {
        let mut events = Vec::new();
        let mut next = Some(inputs.to_vec());
        while let Some(inputs) = next.take() {
            let mut fold = self.run.clone();
            let batch = self.run.steps(&inputs, Time(self.now));
            let within: Vec<bool> = batch.records.iter().map(|record| record.more).collect();
            assert!(within.iter().rev().skip(1).all(|more| *more) && within.last() != Some(&true), "only the last record ends the step");
            for record in &batch.records {
                let text = serde_json::to_string(record).unwrap();
                let read: Record = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
                assert_eq!(read, *record, "a record reads back equal");
                fold.evolve(&read);
            }
            assert_eq!(fold, self.run, "the fold of the journal is the live state");
            self.records.extend(batch.records.iter().cloned());
            self.effects.extend(batch.effects);
            events.extend(batch.records.into_iter().map(|record| record.event));
            next = batch.more.then(|| vec![Input::Proceed]);
        }
        events
    }

    pub fn command(&mut self, command: Command) -> Vec<Event> {
        self.step(Input::Command { command, by: me() })
    }

    pub fn act(&mut self, action: Action) -> Vec<Event> {
        self.command(Command::act(action))
    }

    pub fn fact(&mut self, id: &str, fact: WorkerFact) -> Vec<Event> {
        let (generation, attempt) = (self.node(id).generation, self.node(id).attempt);
        self.step(Input::Work { node: id.into(), generation, attempt, fact })
    }

    pub fn done(&mut self, id: &str, result: Value) -> Vec<Event> {
        self.fact(id, WorkerFact::Done(Done { result, mark: None }))
    }

    pub fn fail(&mut self, id: &str, kind: ErrorKind) -> Vec<Event> {
        self.fact(id, WorkerFact::Failed(NodeError { kind, message: "it broke".into(), hint: None, retry_after_ms: None }))
    }

    pub fn ask(&mut self, id: &str, call: &str, tool: &str, args: Value, verdict: Verdict) -> Vec<Event> {
        let call = ToolCall { id: call.into(), tool: tool.into(), args };
        self.fact(id, WorkerFact::ToolAsked { call, verdict, why: "it writes".into(), leaves: None })
    }

    pub fn tool_done(&mut self, id: &str, call: &str, value: Value) -> Vec<Event> {
        self.fact(id, WorkerFact::ToolDone { call: call.into(), report: ToolReport { ok: true, value, ..ToolReport::default() } })
    }

    pub fn decide(&mut self, gate: u32, decision: GateReply) -> Vec<Event> {
        let hash = self.run.gate(GateId(gate)).map(|(gate, _)| gate.hash.clone()).unwrap_or_default();
        self.command(Command::decide(GateId(gate), decision, hash))
    }

    pub fn due(&mut self, id: &str, kind: TimerKind) -> Vec<Event> {
        let (generation, attempt) = (self.node(id).generation, self.node(id).attempt);
        self.step(Input::TimerDue { timer: Timer { node: id.into(), generation, attempt, kind }, unfinished: None })
    }

    pub fn node(&self, id: &str) -> &NodeRun {
        self.run.node(&id.into()).unwrap_or_else(|| panic!("no node {id}"))
    }

    pub fn reason(&self, id: &str) -> String {
        self.node(id).reason.message()
    }

    /// Why a gate closed without an answer.
    pub fn voided(&self, gate: u32) -> Option<String> {
        self.run.voided(GateId(gate)).map(Cause::message)
    }

    /// Why the run ended as it did.
    pub fn ended_by(&self) -> Option<String> {
        self.run.outcome().map(|(_, reason)| reason.message())
    }

    pub fn state(&self, id: &str) -> &'static str {
        self.node(id).state.word()
    }

    pub fn states(&self) -> String {
        self.run.nodes().map(|(id, node)| format!("{id} {}", node.state.word())).collect::<Vec<_>>().join(", ")
    }

    pub fn outcome(&self) -> Option<Outcome> {
        self.run.outcome().map(|(outcome, _)| outcome)
    }

    /// Ids of the nodes that were started, in order.
    pub fn started(&self) -> Vec<String> {
        let starts = self.effects.iter().filter_map(|effect| match effect {
            Effect::Start { node, .. } => Some(node.to_string()),
            _ => None,
        });
        starts.collect()
    }

    /// Answers that went to workers: call and answer.
    pub fn answers(&self) -> Vec<(String, Answer)> {
        let answers = self.effects.iter().filter_map(|effect| match effect {
            Effect::Answer { call, answer, .. } => Some((call.clone(), answer.clone())),
            _ => None,
        });
        answers.collect()
    }

    /// What a node waits for, each link as far in as it is deep.
    pub fn why(&self, id: &str) -> Vec<String> {
        self.run.why(&id.into()).into_iter().map(|link| format!("{}{}", "  ".repeat(link.depth), link.sentence)).collect()
    }

    pub fn open(&self) -> Vec<u32> {
        self.run.open_gates().map(|gate| gate.id.0).collect()
    }
}

pub(super) fn on(id: &str) -> ActionTarget {
    ActionTarget::Node(NodeId::new(id))
}

pub(super) fn reject(message: &str) -> GateReply {
    GateReply::Reject { message: message.into() }
}

/// The state as far as an undo restores it: all but what is on record only.
pub(super) fn same(run: &RunState) -> RunState {
    let mut run = run.clone();
    run.seq = 0;
    run.progress.last = Time::default();
    run.gates.all.retain(|_, gate| !matches!(gate.end, crate::engine::run::GateEnd::Voided(_)));
    run
}

/// The run without what is there only to take actions back.
pub(super) fn plain(run: &RunState) -> RunState {
    let mut run = same(run);
    run.steer.shadow = None;
    run
}
