//! The console driven as a person does: keys and text in, screens and requests out. The host is played by the real engine.

mod actions;
mod agree;
mod asking;
mod attention;
mod cases;
mod compare;
mod costs;
mod editing;
mod failing;
mod fixing;
mod graph;
mod hints;
mod inventory;
mod looking;
mod models;
mod moments;
mod mouse;
mod nesting;
mod newcomers;
mod opening;
mod origins;
mod past_runs;
mod places;
mod prompts;
mod replay;
mod reporting;
mod runs;
mod safety;
mod screens;
mod stale;
mod steering;
mod story;
mod trusting;
mod turns;

use std::collections::BTreeMap;

use ratatui::{buffer::Buffer, layout::Rect};
use serde_json::{Value, json};

use super::{
    model::{Key, Keymap, Look, Model},
    theme::{Depth, Theme, load, shipped},
    update::{ConsoleEffect, Msg, prepare, update},
    view,
};
use crate::engine::{Action, Actor, Command, Done, Effect, GateId, Input, Preview, Run, RunId, RunSettings, Time, WorkerFact};
use crate::host::client::{Driver, Hello, MadePlan, ModelStatus, Notice, PlanningId, Request};
use crate::plan::{AgentInfo, Catalog, NodeId, Plan, Risk, ToolInfo, Verdict};

/// Keys from the tree of a run to every screen and dialog there, where another run is open too.
#[rustfmt::skip]
pub const EVERYWHERE: [&str; 37] = [
    "1", "i", "i e", "3", "3 !", "8", "?", ":", "a", "e", "z", "D", "R", "F", "q", "v", "5", "5 /", "6", "7", "W", "B", "B a", "b B e", "m", "ctrl-x",
    "ctrl-x w", "\"", "= enter", "<", "H", "H v", "H 5", "H 6", "H 7", "H b", "H /",
];

/// A console with a host behind it.
#[derive(Clone)]
pub struct Deck {
    pub model: Model,
    pub now: Time,
    /// What the console asked for and the driver doesn't play itself.
    pub asked: Vec<ConsoleEffect>,
    /// What to answer a planning request with.
    pub plan: Plan,
    /// The run that the last request goes on from.
    pub follows: Option<RunId>,
    runs: BTreeMap<String, Run>,
    /// Workers that were started: generation and attempt.
    workers: BTreeMap<(String, NodeId), (u32, u32)>,
    catalog: Catalog,
}

impl Deck {
    pub fn new(width: u16, height: u16) -> Self {
        Self::themed(width, height, Theme::default())
    }

    pub fn themed(width: u16, height: u16, theme: Theme) -> Self {
        let mut deck = Self::alone(width, height, theme);
        deck.greet();
        deck
    }

    /// A console whose host has not said anything yet.
    pub fn alone(width: u16, height: u16, theme: Theme) -> Self {
        let themes = shipped().into_iter().map(|(name, about)| (name.to_owned(), about)).collect();
        let look = Look::new(theme, "terminal", themes, Keymap::default());
        Self {
            model: Model::new(look, (width, height)),
            now: Time(1_750_000_000_000),
            asked: Vec::new(),
            plan: plan(),
            follows: None,
            runs: BTreeMap::new(),
            workers: BTreeMap::new(),
            catalog: catalog(),
        }
    }

    /// The host says what it says first.
    pub fn greet(&mut self) {
        let model = ModelStatus::Connected { model: "test-model".into(), provider: "here".into() };
        self.notice(Notice::Hello(Hello {
            workspace: "/home/ada/project".into(),
            user: "ada".into(),
            model,
            is_picked: false,
            requests: Vec::new(),
            looked: None,
            is_first: false,
            settings: Some("/home/ada/.config/dagdeck/config.toml".into()),
            runs_go_on: false,
        }));
        self.notice(Notice::Catalog { catalog: Box::new(catalog()), problems: Vec::new() });
    }

    /// A console in which the plan was made.
    pub fn planned(width: u16, height: u16) -> Self {
        let mut deck = Self::new(width, height);
        deck.type_text("list the rust files");
        deck.keys("enter");
        deck
    }

    /// A console in which the plan runs: `scan` and `list` are at work.
    pub fn running(width: u16, height: u16) -> Self {
        let mut deck = Self::planned(width, height);
        deck.keys("r");
        deck
    }

    /// A console in which `write` waits for a decision.
    pub fn waiting(width: u16, height: u16) -> Self {
        let mut deck = Self::running(width, height);
        deck.done("list", json!("src/main.rs\nsrc/lib.rs"));
        deck.done("scan", json!({"todo": 3}));
        deck.done("count", json!(LONGEST.replace("98", "120")));
        deck
    }

    /// The same beside a second run of the same plan.
    pub fn beside_another(width: u16, height: u16) -> Self {
        let mut deck = Self::waiting(width, height);
        deck.start(plan(), Vec::new());
        deck.keys("<");
        deck
    }

    pub fn send(&mut self, msg: Msg) {
        for action in update(&mut self.model, msg, self.now) {
            match action {
                ConsoleEffect::Send(request) => self.host(request),
                ConsoleEffect::Frame => {}
                ConsoleEffect::UseTheme(name) => {
                    let theme = load(&name, None, Depth::True);
                    self.send(Msg::Themed { name, theme: theme.map(Box::new).map_err(|error| error.to_string()) });
                }
                other => self.asked.push(other),
            }
        }
    }

    pub fn notice(&mut self, notice: Notice) {
        self.send(Msg::Notice(Box::new(notice)));
    }

    /// Keys by name, far enough apart to be meant.
    pub fn keys(&mut self, names: &str) {
        for name in names.split(' ') {
            self.later(1_000);
            self.flush();
            self.send(Msg::Key(Key::parse(name).unwrap()));
        }
    }

    /// Text, as fast as fingers go.
    pub fn type_text(&mut self, text: &str) {
        for c in text.chars() {
            self.later(30);
            let name = if c == ' ' { "space".to_owned() } else { c.to_string() };
            self.send(Msg::Key(Key::parse(&name).unwrap()));
        }
    }

    pub fn later(&mut self, ms: u64) {
        self.now = self.now.plus(ms);
    }

    /// Draws a frame that the terminal takes at once.
    pub fn flush(&mut self) -> Buffer {
        let (width, height) = self.model.place.size;
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
        prepare(&mut self.model, self.now);
        let shown = view::draw(&self.model, self.now, &mut buffer);
        self.send(Msg::FrameFlushed(shown.gates));
        buffer
    }

    /// The screen as text.
    pub fn screen(&mut self) -> String {
        self.flush();
        text(&self.flush())
    }

    /// Whether the screen says this.
    pub fn sees(&mut self, words: &str) -> bool {
        self.screen().contains(words)
    }

    fn host(&mut self, request: Request) {
        match request {
            Request::Plan { id, wish } => {
                self.made(id, wish.on.as_deref());
                self.follows = wish.after;
            }
            Request::Start { plan, first, model: None, .. } => self.start(*plan, first),
            Request::Command { run, command } => self.command(&run, command),
            Request::Preview { run, gate, payload } => self.preview(run, gate, &payload),
            other => self.asked.push(ConsoleEffect::Send(other)),
        }
    }

    /// A preview of a write, as the host makes it of the file that is there.
    fn preview(&mut self, run: RunId, gate: GateId, payload: &Value) {
        let text = |name: &str| payload.get(name).and_then(Value::as_str).map(str::to_owned);
        if let (Some(path), Some(after)) = (text("path"), text("content")) {
            let preview = Preview::Diff { path, before: Some(LONGEST.to_owned()), after };
            self.notice(Notice::Preview { run, gate, preview });
        }
    }

    fn made(&mut self, id: PlanningId, before: Option<&Plan>) {
        for node in self.plan.nodes.clone() {
            self.notice(Notice::PlanNode { id, node: Box::new(node) });
        }
        let changes = before.is_some_and(|before| self.plan.nodes.len() > before.nodes.len() && self.plan.nodes.starts_with(&before.nodes));
        let made = MadePlan { plan: self.plan.clone(), origin: "the built-in planner".into(), changes, ..MadePlan::default() };
        self.notice(Notice::PlanReady { id, made: Box::new(made) });
    }

    fn start(&mut self, plan: Plan, first: Vec<Action>) {
        let id = RunId(format!("run-{}", self.runs.len() + 1));
        let settings = Box::new(RunSettings { catalog: self.catalog.clone(), model: Some("test-model".into()), ..RunSettings::default() });
        let create = Input::Create { run: id.clone(), plan: Box::new(plan), settings, by: actor() };
        self.runs.insert(id.0.clone(), Run::default());
        let records = self.step(&id, &create);
        self.notice(Notice::RunOpened { run: id.clone(), records, driver: Driver::Here });
        first.into_iter().for_each(|action| self.command(&id, Command::act(action)));
        self.command(&id, Command::Start);
    }

    fn command(&mut self, run: &RunId, command: Command) {
        let input = Input::Command { command, by: actor() };
        self.input(run, &input);
    }

    fn input(&mut self, run: &RunId, input: &Input) {
        let was_over = self.runs[&run.0].outcome().is_some();
        let records = self.step(run, input);
        if was_over && !records.is_empty() {
            // The host opens a run that was over before it drives it on.
            let known = self.model.runs.get(run).map(|view| view.journal().records().to_vec()).unwrap_or_default();
            return self.notice(Notice::RunOpened { run: run.clone(), records: [known, records].concat(), driver: Driver::Here });
        }
        self.notice(Notice::Events { run: run.clone(), records });
    }

    /// Carries an input through with all that follows from it, as the host does.
    fn step(&mut self, run: &RunId, input: &Input) -> Vec<crate::engine::Record> {
        let mut records = Vec::new();
        let mut input = Some(input.clone());
        while let Some(next) = input.take() {
            let batch = self.runs.get_mut(&run.0).unwrap().step(&next, self.now);
            for effect in batch.effects {
                if let Effect::Start { node, generation, attempt, .. } = effect {
                    self.workers.insert((run.0.clone(), node), (generation, attempt));
                }
            }
            records.extend(batch.records);
            input = batch.more.then_some(Input::Proceed);
        }
        records
    }

    /// A worker of the newest run reports.
    pub fn fact(&mut self, node: &str, fact: WorkerFact) {
        let run = RunId(self.runs.keys().next_back().unwrap().clone());
        let (generation, attempt) = self.workers[&(run.0.clone(), NodeId::new(node))];
        self.input(&run, &Input::Work { node: NodeId::new(node), generation, attempt, fact });
    }

    pub fn done(&mut self, node: &str, result: Value) {
        self.later(1_200);
        self.fact(node, WorkerFact::Done(Done { result, mark: None }));
    }

    /// A worker of another run ends well.
    pub fn done_in(&mut self, run: &RunId, node: &str, result: Value) {
        let node = NodeId::new(node);
        let (generation, attempt) = self.workers[&(run.0.clone(), node.clone())];
        let fact = WorkerFact::Done(Done { result, mark: None });
        self.input(run, &Input::Work { node, generation, attempt, fact });
    }

    /// Selects a node in the tree.
    pub fn select(&mut self, node: &str) {
        self.flush();
        self.model.reveal(&NodeId::new(node));
    }

    /// The engine's own state of the newest run.
    pub fn engine(&self) -> &Run {
        self.runs.values().next_back().unwrap()
    }
}

/// What is in the file that the plan of the story writes.
const LONGEST: &str = "# Longest files\n\n| lines | file |\n| ---: | --- |\n| 98 | src/lib.rs |\n| 40 | src/main.rs |\n";

fn actor() -> Actor {
    Actor { who: "ada".into(), via: "console".into() }
}

/// A screen as text, without the empty ends of lines.
pub fn text(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width);
    let rows = buffer.content.chunks(width).map(|row| {
        let mut line = String::new();
        let mut skip = 0;
        for cell in row {
            if skip > 0 {
                skip -= 1;
                continue;
            }
            line.push_str(cell.symbol());
            skip = unicode_width::UnicodeWidthStr::width(cell.symbol()).saturating_sub(1);
        }
        line.trim_end().to_owned()
    });
    rows.collect::<Vec<_>>().join("\n")
}

/// The plan of the story: two branches, one of them with a gate before a write.
pub fn plan() -> Plan {
    serde_json::from_value(json!({
        "dagdeck": 1,
        "goal": "list the rust files and count their lines",
        "budget": {"tokens": 10000},
        "owner": "ada",
        "nodes": [
            {"id": "list", "tool": "list_directory", "args": {"path": "src"}},
            {"id": "count", "code": "return Object.keys(deps).length;", "depends_on": ["list"]},
            {"id": "scan", "agent": "code_analyzer", "objective": "find what is left to do"},
            {"id": "write", "tool": "write_file", "args": {"path": "longest.md", "content": "{{count}}"}, "depends_on": ["count", "scan"],
             "approve": "before"},
        ],
    }))
    .unwrap()
}

pub fn catalog() -> Catalog {
    let tool = |name: &str, required: Value, risk: Risk, verdict: Verdict| ToolInfo {
        name: name.into(),
        description: format!("{name} as its name says"),
        input_schema: json!({"type": "object", "properties": {"path": {"type": "string"}, "content": {"type": "string"}}, "required": required}),
        risk,
        verdict,
        reach: None,
    };
    let agent = |name: &str| AgentInfo {
        name: name.into(),
        description: format!("a {name}"),
        objective_template: "do it".into(),
        kind: crate::plan::AgentKind::Llm,
        tools: Vec::new(),
        origin: "shipped".into(),
        ..AgentInfo::default()
    };
    Catalog {
        agents: vec![agent("code_analyzer"), agent("writer")],
        tools: vec![
            tool("list_directory", json!(["path"]), Risk::Read, Verdict::Allow),
            tool("read_file", json!(["path"]), Risk::Read, Verdict::Allow),
            tool("write_file", json!(["path", "content"]), Risk::Write, Verdict::Ask),
        ],
        ..Catalog::default()
    }
}
