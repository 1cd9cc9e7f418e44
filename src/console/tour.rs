//! `Tour`: the program shown by itself on the first start, for about ten seconds: a request, its plan, its run, a gate, the result. It is a
//! console of its own with an engine of its own: nothing of it reaches the host, a file or the screen's real model, and any key ends it.

use std::collections::BTreeMap;

use ratatui::buffer::Buffer;
use serde_json::{Value, json};

use super::model::{Key, Look, Model};
use super::update::{ConsoleEffect, Msg, next_wake, prepare, update};
use super::view;
use crate::engine::{
    Actor, Command, Done, Effect, GateId, Input, Preview, REHEARSAL, Record, Run, RunId, RunSettings, Time, ToolCall, ToolReport,
    WorkerFact,
};
use crate::host::client::{Driver, Hello, MadePlan, ModelStatus, Notice, PlanningId, Request};
use crate::plan::{Catalog, NodeId, Plan, Risk, ToolInfo, Verdict};

const REQUEST: &str = "Sum the sales of each shop, and write report.md";
const REPORT: &str = "# Sales\n\n| shop | sum |\n| --- | ---: |\n| Lisbon | 1,204 |\n| Graz | 988 |\n";

/// Rows for what the tour says, below the console that it shows; and the least that there is to be above them.
const SAID: u16 = 3;
const LEAST: (u16, u16) = (72, 21);

/// When the typing begins, and how long a character takes.
const TYPING: (u64, u64) = (500, 35);

/// One thing that happens.
#[derive(Clone, Copy, Debug, PartialEq)]
enum TourStep {
    Types(char),
    Presses(&'static str),
    /// The plan comes.
    Plans,
    /// The work of a node ends.
    Ends(&'static str),
    Says(&'static str),
}

use TourStep::{Ends, Plans, Presses, Says, Types};

/// What happens after the typing, in milliseconds from its end.
const AFTER: &[(u64, TourStep)] = &[
    (300, Presses("enter")),
    (700, Plans),
    (700, Says("The plan: each row is a node. ◆ asks you before it changes something. Nothing runs yet.")),
    (2_900, Presses("r")),
    (2_900, Says("r runs it. A node starts as soon as what it needs is there; p pauses, s goes step by step.")),
    (3_900, Ends("find")),
    (4_900, Ends("check")),
    (5_500, Ends("sum")),
    (5_700, Presses(".")),
    (5_700, Says("A gate: the card shows what would change. a approves it, x rejects it, e edits it.")),
    (8_300, Presses("a")),
    (8_900, Ends("write")),
    (9_000, Says("Done: what came out, and what changed. ? shows the keys, : every command. Now any key begins.")),
];

/// What is said where the gate is still open at the end.
const WAITS: &str = "The run waits for the reply to its gate. ? shows the keys, : every command. Now any key begins.";

/// The tour while it is shown.
pub struct Tour {
    model: Model,
    run: Run,
    workers: BTreeMap<NodeId, (u32, u32)>,
    planning: Option<PlanningId>,
    /// What happens, and when; how much of it has.
    steps: Vec<(Time, TourStep)>,
    done: usize,
    said: &'static str,
}

impl Tour {
    /// The tour on a screen of that size; none where it has no room.
    pub fn new(look: Look, (width, height): (u16, u16), now: Time) -> Option<Self> {
        if !Self::fits((width, height)) {
            return None;
        }
        let typed = REQUEST.chars().zip(0..).map(|(c, at)| (TYPING.0 + at * TYPING.1, Types(c)));
        let end = TYPING.0 + REQUEST.chars().count() as u64 * TYPING.1;
        let after = AFTER.iter().map(|(at, step)| (end + at, *step));
        let mut tour = Self {
            model: Model::new(look, (width, height - SAID)),
            run: Run::default(),
            workers: BTreeMap::new(),
            planning: None,
            steps: typed.chain(after).map(|(at, step)| (Time(now.0 + at), step)).collect(),
            done: 0,
            said: "You type what you want done, and dagdeck makes a plan of it.",
        };
        let hello = Hello {
            workspace: "tour".into(),
            user: "you".into(),
            model: ModelStatus::Connected { model: REHEARSAL.into(), provider: String::new() },
            is_picked: false,
            requests: Vec::new(),
            looked: None,
            is_first: false,
            settings: None,
            runs_go_on: false,
        };
        tour.notice(Notice::Hello(hello), now);
        tour.notice(Notice::Catalog { catalog: Box::new(catalog()), problems: Vec::new() }, now);
        Some(tour)
    }

    /// Whether it still has room.
    pub fn fits((width, height): (u16, u16)) -> bool {
        width >= LEAST.0 && height >= LEAST.1 + SAID
    }

    /// When something of it happens next.
    pub fn due(&self, now: Time) -> Option<Time> {
        let step = self.steps.get(self.done).map(|(at, _)| *at);
        [step, next_wake(&self.model, now)].into_iter().flatten().min()
    }

    /// Does what is due.
    pub fn tick(&mut self, now: Time) {
        while let Some((at, step)) = self.steps.get(self.done).copied().filter(|(at, _)| *at <= now) {
            self.done += 1;
            match step {
                Types(c) => self.model.request.field.paste(&c.to_string()),
                Presses(key) => self.press(key, at.max(now)),
                Plans => self.plan(now),
                Ends(node) => self.end(node, now),
                // It is said as it is: on a slow machine the reply may not have counted.
                Says(_) if self.done == self.steps.len() && self.run.outcome().is_none() => self.said = WAITS,
                Says(words) => self.said = words,
            }
        }
        self.send(Msg::Tick, now);
    }

    /// Draws it: the console above, what the tour says below.
    pub fn draw(&mut self, now: Time, screen: &mut Buffer) {
        let area = screen.area;
        self.model.place.size = (area.width, area.height.saturating_sub(SAID));
        let mut above = Buffer::empty(ratatui::layout::Rect { height: area.height.saturating_sub(SAID), ..area });
        // What a frame says of what was seen, it says of the frame before.
        for _ in 0..2 {
            prepare(&mut self.model, now);
            above.reset();
            let shown = view::draw(&self.model, now, &mut above);
            self.send(Msg::FrameFlushed(shown.gates), now);
        }
        view::tour(&self.model, self.said, screen, SAID);
        for y in above.area.top()..above.area.bottom() {
            for x in above.area.left()..above.area.right() {
                if let (Some(to), Some(from)) = (screen.cell_mut((x, y)), above.cell((x, y))) {
                    to.clone_from(from);
                }
            }
        }
    }

    fn press(&mut self, key: &str, now: Time) {
        if let Ok(key) = Key::parse(key) {
            self.send(Msg::Key(key), now);
        }
    }

    fn plan(&mut self, now: Time) {
        let made = plan().zip(self.planning.take());
        if let Some((plan, id)) = made {
            let made = MadePlan { plan, origin: "the tour".into(), ..MadePlan::default() };
            self.notice(Notice::PlanReady { id, made: Box::new(made) }, now);
        }
    }

    fn end(&mut self, node: &str, now: Time) {
        let result = match node {
            "find" => json!(["sales/graz.csv", "sales/lisbon.csv"]),
            "sum" => json!(REPORT),
            "check" => json!("every amount is a number above 0"),
            _ => json!({"path": "report.md", "bytes": REPORT.len(), "created": true}),
        };
        let node = NodeId::new(node);
        let Some((generation, attempt)) = self.workers.get(&node).copied() else { return };
        let mut facts = vec![WorkerFact::Done(Done { result: result.clone(), mark: None })];
        if *node == *"write" {
            let (id, args) = ("1".to_owned(), json!({"path": "report.md", "content": REPORT}));
            let call = ToolCall { id: id.clone(), tool: "write_file".into(), args };
            let asked = WorkerFact::ToolAsked { call, verdict: Verdict::Allow, why: String::new(), leaves: None };
            let report = ToolReport { ok: true, value: result, ..ToolReport::default() };
            facts.splice(0..0, [asked, WorkerFact::ToolDone { call: id, report }]);
        }
        for fact in facts {
            self.input(Input::Work { node: node.clone(), generation, attempt, fact }, now);
        }
    }

    fn notice(&mut self, notice: Notice, now: Time) {
        self.send(Msg::Notice(Box::new(notice)), now);
    }

    /// What the console asks of the world is answered here, and goes nowhere else.
    fn send(&mut self, msg: Msg, now: Time) {
        for effect in update(&mut self.model, msg, now) {
            match effect {
                ConsoleEffect::Send(Request::Plan { id, .. }) => self.planning = Some(id),
                ConsoleEffect::Send(Request::Start { plan, .. }) => self.start(*plan, now),
                ConsoleEffect::Send(Request::Command { command, .. }) => self.input(Input::Command { command, by: actor() }, now),
                ConsoleEffect::Send(Request::Preview { run, gate, payload }) => self.preview(run, gate, &payload, now),
                _ => {}
            }
        }
    }

    fn start(&mut self, plan: Plan, now: Time) {
        let settings = Box::new(RunSettings { catalog: catalog(), ..RunSettings::default() });
        let records = self.step(Input::Create { run: id(), plan: Box::new(plan), settings, by: actor() }, now);
        self.notice(Notice::RunOpened { run: id(), records, driver: Driver::Here }, now);
        self.input(Input::Command { command: Command::Start, by: actor() }, now);
    }

    fn input(&mut self, input: Input, now: Time) {
        let records = self.step(input, now);
        self.notice(Notice::Events { run: id(), records }, now);
    }

    fn step(&mut self, input: Input, now: Time) -> Vec<Record> {
        let (mut records, mut next) = (Vec::new(), Some(input));
        while let Some(input) = next.take() {
            let batch = self.run.step(&input, now);
            for effect in batch.effects {
                if let Effect::Start { node, generation, attempt, .. } = effect {
                    self.workers.insert(node, (generation, attempt));
                }
            }
            records.extend(batch.records);
            next = batch.more.then_some(Input::Proceed);
        }
        records
    }

    fn preview(&mut self, run: RunId, gate: GateId, payload: &Value, now: Time) {
        let text = |name: &str| payload.get(name).and_then(Value::as_str).map(str::to_owned);
        if let (Some(path), Some(after)) = (text("path"), text("content")) {
            self.notice(Notice::Preview { run, gate, preview: Preview::Diff { path, before: None, after } }, now);
        }
    }
}

fn id() -> RunId {
    RunId("tour".into())
}

fn actor() -> Actor {
    Actor { who: "you".into(), via: "console".into() }
}

fn plan() -> Option<Plan> {
    let nodes = json!([
        {"id": "find", "title": "Find the sales of each shop", "tool": "list_files", "args": {"path": "sales"}},
        {"id": "sum", "title": "Add them up", "code": "return deps.find;", "depends_on": ["find"]},
        {"id": "check", "title": "Look for amounts that can't be", "code": "return deps.find;", "depends_on": ["find"]},
        {"id": "write", "title": "Write the report", "tool": "write_file", "args": {"path": "report.md", "content": "{{sum}}"},
         "depends_on": ["sum", "check"], "approve": "before"},
    ]);
    serde_json::from_value(json!({"dagdeck": 1, "goal": REQUEST, "nodes": nodes})).ok()
}

fn catalog() -> Catalog {
    let tool = |name: &str, risk: Risk, verdict: Verdict| ToolInfo {
        name: name.into(),
        description: String::new(),
        input_schema: json!({"type": "object"}),
        risk,
        verdict,
        reach: None,
    };
    Catalog {
        tools: vec![tool("list_files", Risk::Read, Verdict::Allow), tool("write_file", Risk::Write, Verdict::Ask)],
        ..Catalog::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::tests::{Deck, text};
    use ratatui::layout::Rect;

    /// All that the tour shows on a screen of that size, a frame at each moment when something happens, and how long it takes.
    fn shown(width: u16, height: u16) -> (Vec<String>, u64) {
        let look = Deck::new(width, height).model.look;
        let began = Time(1_750_000_000_000);
        let mut tour = Tour::new(look, (width, height), began).unwrap();
        let (mut now, mut frames) = (began, Vec::new());
        while tour.done < tour.steps.len() {
            now = tour.due(now).filter(|due| *due > now).unwrap_or(Time(now.0 + 100));
            tour.tick(now);
            let mut screen = Buffer::empty(Rect::new(0, 0, width, height));
            tour.draw(now, &mut screen);
            frames.push(text(&screen));
        }
        (frames, now.since(began))
    }

    #[test]
    fn the_tour_goes_from_a_request_to_a_result_in_about_ten_seconds_at_any_size() {
        for (width, height) in [(80, 24), (120, 40), (200, 50), (72, 24)] {
            let (frames, took) = shown(width, height);
            assert!((9_000..13_000).contains(&took), "{took}");
            let at = |words: &str| {
                frames.iter().position(|frame| frame.contains(words)).unwrap_or_else(|| panic!("{words}:\n{}", frames[frames.len() - 1]))
            };
            let order = ["Sum the sales of each", "4 nodes", "● Find the sales", "1 needs you", "4/4 done"].map(at);
            assert!(order.is_sorted(), "{order:?}");
            assert!(frames.iter().all(|frame| frame.contains("any key ends it")), "{}", frames[0]);
            let is_unseen = frames.iter().find(|frame| frame.contains("keys active") && frame.contains("not seen"));
            assert!(is_unseen.is_none(), "all of the gate is on its card:\n{}", is_unseen.map_or("", String::as_str));
            assert!(frames[frames.len() - 1].contains("Lisbon"), "{}", frames[frames.len() - 1]);
        }
    }

    #[test]
    fn where_it_has_no_room_there_is_none() {
        let look = Deck::new(80, 24).model.look;
        assert!(Tour::new(look, (59, 24), Time(0)).is_none());
    }
}
