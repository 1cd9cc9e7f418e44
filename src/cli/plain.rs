//! The console as lines, for screen readers, pipes and logs: events as sentences, gates with a number each, and the same replies. Pure:
//! notices and typed lines in, requests and lines out. `plain_orders.rs` reads what is typed, `console.rs` connects it to host and terminal.

use super::{
    Exit, headless,
    ls::short,
    show::{payload_lines, preview_lines},
};
use crate::{
    console::model::{RunView, docs, texts},
    engine::{Command, Event, Gate, GateId, NodeRun, Record, Run, RunId, RunStatus, Time},
    host::client::{Driver, Hello, MadePlan, ModelStatus, Notice, PlanningId, Problem, Request, RunSummary, There},
    plan::{Catalog, NodeId, Plan, validate::validate},
    text::{Plain, counted},
};
use std::slice;

/// What a line mode knows, and what it has to say and to ask.
#[derive(Default)]
pub(super) struct LineMode {
    pub(super) catalog: Catalog,
    /// The plan that is to be read and run.
    pub(super) plan: Option<Plan>,
    /// The request that is planned.
    pub(super) planning: Option<PlanningId>,
    /// Requests planned so far.
    pub(super) sent: u64,
    pub(super) run: Option<RunView>,
    /// What waits for a yes.
    pub(super) pending: Option<(Request, String)>,
    /// The runs that were listed or opened.
    pub(super) runs: Vec<RunId>,
    /// What is to be printed.
    pub(super) said: Vec<Plain>,
    /// What is to be asked of the host.
    pub(super) asked: Vec<Request>,
    /// The host works on something and will report its end.
    pub(super) awaits: Option<Awaited>,
    pub(super) now: Time,
    pub(super) quits: bool,
}

/// What the host reports before the next line of a pipe counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Awaited {
    /// What was asked of it last.
    Asked,
    /// That the run is driven here.
    Driven,
    /// That this question is closed.
    Closed(GateId),
}

impl LineMode {
    pub(super) fn say(&mut self, text: &str) {
        self.said.extend(Plain::block(text));
    }

    /// Whether something goes on that will end by itself: typed lines of a pipe wait for that.
    pub(super) fn is_busy(&self) -> bool {
        let works = |run: &RunView| run.goes_on() && run.newest().run.open_gates().next().is_none() && run.status() == RunStatus::Running;
        self.awaits.is_some() || self.planning.is_some() || self.run.as_ref().is_some_and(works)
    }

    /// How the program ends: as the run did that was looked at.
    pub(super) fn exit(&self) -> Exit {
        let Some(view) = &self.run else { return Exit::Success };
        let run = &view.newest().run;
        match run.outcome() {
            Some((outcome, _)) => Exit::from(outcome),
            None if view.goes_on() || run.open_gates().next().is_some() => Exit::Undecided,
            None => Exit::Success,
        }
    }

    /// Takes in a notice.
    pub(super) fn notice(&mut self, notice: Notice) {
        match notice {
            Notice::Hello(hello) => self.greet(&hello),
            Notice::Catalog { catalog, problems } => {
                self.catalog = *catalog;
                problems.iter().for_each(|problem| self.problem(problem));
            }
            Notice::Model(status) => self.say(&format!("model: {}", model_label(&status))),
            Notice::PlanReady { id, made } if self.planning == Some(id) => self.planned(*made),
            Notice::PlanFailed { id, problem } if self.planning == Some(id) => {
                self.planning = None;
                self.problem(&problem);
            }
            Notice::RunOpened { run, records, driver } => self.opened(run, &records, driver),
            Notice::Events { run, records } => self.events(&run, &records),
            Notice::Driver { run, driver } => {
                if let Some(view) = self.run.as_mut().filter(|view| view.id == run) {
                    view.driver = driver;
                }
            }
            Notice::Runs(runs) => self.list(runs),
            Notice::Preview { run, gate, preview } if self.run.as_ref().is_some_and(|view| view.id == run) => {
                self.say(&format!("gate {}, preview:", gate.0));
                self.said.extend(preview_lines(&preview).into_iter().map(|line| Plain::blank(2).then(&line)));
                let open = self.run.iter().flat_map(|view| view.newest().run.open_gates()).find(|open| open.id == gate);
                let replies = open.map(|open| replies(open).into_iter().map(|reply| format!("`{} {reply}`", gate.0)).collect::<Vec<_>>());
                replies.into_iter().for_each(|replies| self.say(&format!("  reply with {}", replies.join(", "))));
            }
            Notice::TextSaved(path) => {
                self.awaits = None;
                self.say(&format!("saved to {path}"));
            }
            Notice::TextThere { path, text } => {
                self.awaits = None;
                let request = Request::SaveText { path: path.clone(), text, there: There::IsReplaced };
                self.confirm(request, &format!("there is already a file {path}; this replaces it"), "replace it");
            }
            Notice::RunGone(run) => self.problem(&Problem::new(format!("run {} is no more: it was deleted elsewhere", short(&run.0)))),
            Notice::Problem(problem) | Notice::Frozen { problem, .. } => self.problem(&problem),
            _ => {}
        }
    }

    fn greet(&mut self, hello: &Hello) {
        self.say(&format!("dagdeck in {}, model: {}", hello.workspace, model_label(&hello.model)));
        self.say("Say what you want done; nothing runs before you say so. `help` lists what else you can say.");
    }

    fn problem(&mut self, problem: &Problem) {
        self.awaits = None;
        self.say(&format!("problem: {}", problem.message));
        if let Some(hint) = &problem.hint {
            self.say(&format!("hint: {hint}"));
        }
    }

    fn planned(&mut self, made: MadePlan) {
        self.planning = None;
        made.remarks.iter().for_each(|remark| self.say(&format!("note: {remark}")));
        self.plan = Some(made.plan);
        if let Some(left) = self.run.take().filter(RunView::goes_on) {
            let name = short(&left.id.0);
            self.say(&format!("run {name} goes on: `open {name}` goes back to it"));
        }
        self.tell_plan();
    }

    /// The plan that is there, as numbered lines, with what is wrong with it.
    pub(super) fn tell_plan(&mut self) {
        let Some(plan) = self.plan.take() else { return self.say("there is no plan: say what you want done") };
        self.say(&format!("plan of {}: {}", counted(plan.nodes.len(), "node"), plan.headline()));
        for (at, node) in plan.nodes.iter().enumerate() {
            let worker = node.kind.worker_label();
            let asks = if texts::gated(node, &self.catalog) { ", asks you" } else { "" };
            let after = if node.depends_on.is_empty() { String::new() } else { format!(", after {}", joined(&node.depends_on)) };
            self.say(&format!("{} {} ({}, {worker}{asks}{after})", at + 1, node.title_or_id(), node.id));
        }
        let findings = validate(&plan, &self.catalog);
        for finding in &findings {
            self.say(&format!("{}: {}", texts::severity(finding.severity).0, finding.message.replace('`', "")));
        }
        let errors = findings.iter().any(|finding| finding.is_error());
        self.say(if errors {
            "It can't run like this: say it in other words."
        } else {
            "`run` starts it; other words change it or make another plan."
        });
        self.plan = Some(plan);
    }

    fn opened(&mut self, id: RunId, records: &[Record], driver: Driver) {
        self.awaits.take_if(|awaited| *awaited != Awaited::Driven || driver.is_here());
        let known = self.run.as_ref().filter(|view| view.id == id).map_or(0, |view| view.journal().len());
        let goes_on = driver.is_here();
        let mut view = RunView::new(id.clone(), driver);
        let (before, new) = records.split_at(known.min(records.len()));
        view.apply(before);
        self.run = Some(view);
        if !self.runs.contains(&id) {
            self.runs.push(id.clone());
        }
        if goes_on {
            self.say(&format!("run {}", short(&id.0)));
            let open: Vec<Gate> = self.run.iter().flat_map(|view| view.newest().run.open_gates()).cloned().collect();
            open.iter().for_each(|gate| self.question(gate));
            self.events(&id, new);
        } else if let Some(view) = &mut self.run {
            view.apply(new);
            self.tell_run();
        }
    }

    /// Each event is reported with the state after it.
    fn events(&mut self, id: &RunId, records: &[Record]) {
        self.awaits.take_if(|awaited| *awaited == Awaited::Asked);
        for record in records {
            let Some(view) = self.run.as_mut().filter(|view| view.id == *id) else { return };
            if !view.apply(slice::from_ref(record)) && view.newest().run.last_seq() > record.seq {
                continue;
            }
            let message = headless::message(&record.event, &view.newest().run);
            if let Some(Awaited::Closed(gate)) = self.awaits
                && view.newest().run.open_gates().all(|open| open.id != gate)
            {
                self.awaits = None;
            }
            if let Event::ApprovalRequired { gate } = &record.event {
                self.question(gate);
            } else if let Event::RunEnded { .. } = &record.event {
                self.tell_end();
            } else {
                message.iter().for_each(|message| self.say(message));
            }
        }
    }

    /// A question with its number, all that there is to know, and what can be replied.
    pub(super) fn question(&mut self, gate: &Gate) {
        let number = gate.id.0;
        let run = self.run.as_ref().map(|view| view.id.clone());
        self.asked.extend(run.map(|run| Request::Preview { run, gate: gate.id, payload: gate.payload.clone() }));
        self.say(&format!("gate {number}, {}: {}", gate.node, docs::asks(gate)));
        if !gate.why.is_empty() {
            self.say(&format!("  because {}", gate.why));
        }
        self.said.extend(payload_lines(gate).into_iter().map(|line| Plain::blank(2).then(&line)));
        self.say("  reply with one of these:");
        replies(gate).iter().for_each(|reply| self.say(&format!("  {number} {reply}")));
    }

    /// How the run is, node by node, with its open questions.
    pub(super) fn tell_run(&mut self) {
        let Some(view) = self.run.take() else { return self.say("no run is open: `runs` lists them") };
        let (run, status) = (&view.newest().run, view.status());
        self.say(&format!("run {}: {}, {}", short(&view.id.0), status.word(), run.counts(status).label()));
        for (id, node) in run.nodes_in_order() {
            let reason = run.reason(id);
            let reason = if reason.is_empty() { reason } else { format!(": {reason}") };
            self.say(&format!("{id}, {}{reason}", node.state.label(status)));
        }
        if view.goes_on() {
            run.open_gates().for_each(|gate| self.question(gate));
        } else if run.outcome().is_none() {
            self.say(&match &view.driver {
                Driver::Elsewhere(who) => format!("This run is under way in {who}."),
                Driver::Here | Driver::Nobody => {
                    "No dagdeck process is running this run: `resume` resumes it, unless it was imported from a file.".to_owned()
                }
            });
        }
        let is_over = run.outcome().is_some();
        self.run = Some(view);
        if is_over {
            self.tell_end();
        }
    }

    /// How the run ended, and its output.
    fn tell_end(&mut self) {
        let Some(view) = self.run.take() else { return };
        let run = &view.newest().run;
        if let Some((_, reason)) = run.outcome() {
            let reason = reason.message();
            let because = if reason.is_empty() { String::new() } else { format!(": {reason}") };
            self.say(&format!("{}{because}", view.status().word()));
        }
        let results = outputs(run);
        self.run = Some(view);
        self.read_out(&results);
    }

    fn list(&mut self, runs: Vec<RunSummary>) {
        self.awaits = None;
        self.runs = runs.iter().map(|run| run.run.clone()).collect();
        if runs.is_empty() {
            return self.say("no runs yet");
        }
        let lines: Vec<String> =
            runs.iter().take(LISTED).map(|run| format!("{} {}: {}", short(&run.run.0), run.status.word(), run.goal)).collect();
        lines.iter().for_each(|line| self.say(line));
        if self.runs.len() > LISTED {
            self.say(&format!("{} more: `dagdeck ls -n {}` lists them all", self.runs.len() - LISTED, self.runs.len()));
        }
        self.say("`open` and the letters of one opens it.");
    }

    /// Reads results out, each with its node and what it is marked as: one that is no plain result never looks like one.
    pub(super) fn read_out(&mut self, results: &[ReadOut]) {
        for result in results {
            let blank = if result.text.trim().is_empty() { " an empty text" } else { "" };
            self.say(&format!("output of {}:{blank}", result.label()));
            self.say(&result.text);
        }
    }

    /// Asks for a yes before something that ends, skips or repeats work, or replaces a file.
    pub(super) fn confirm(&mut self, request: Request, impact: &str, what: &str) {
        self.say(impact);
        self.say(&format!("say `yes` to {what}; anything else leaves it as it is"));
        self.pending = Some((request, what.to_owned()));
    }

    /// Sends a command to the run.
    pub(super) fn command(&mut self, command: Command) {
        let Some(view) = &self.run else { return self.say("no run is open: `runs` lists them") };
        match view.newest().run.refusal(&command) {
            Some(why) => self.say(&format!("not possible: {}", why.replace('`', ""))),
            None => {
                let request = Request::Command { run: view.id.clone(), command };
                self.ask(request);
            }
        }
    }
}

/// What can be replied to a gate.
fn replies(gate: &Gate) -> Vec<String> {
    let options = gate.kind.question().map(|question| question.options).unwrap_or_default();
    let own: Vec<String> = match (gate.kind.wants_answer(), options.is_empty()) {
        (true, false) => {
            let edit = gate.kind.takes_payload().then(|| "edit JSON, to have it do that instead".to_owned());
            options.iter().map(|option| format!("answer {option}")).chain(edit).collect()
        }
        (true, true) => vec!["answer WORDS, or JSON".to_owned()],
        (false, _) => vec!["approve".to_owned(), "edit JSON, to approve that instead".to_owned()],
    };
    own.into_iter().chain(["reject WHY", "skip", "cancel branch"].map(str::to_owned)).collect()
}

/// A result as it is read.
pub(super) struct ReadOut {
    pub(super) node: NodeId,
    /// What it is, where it is no plain result.
    pub(super) mark: Option<String>,
    pub(super) text: String,
}

impl ReadOut {
    pub(super) fn new(id: &NodeId, node: &NodeRun) -> Option<ReadOut> {
        Some(ReadOut { node: id.clone(), mark: headless::mark_of(node), text: node.result_text()? })
    }

    pub(super) fn label(&self) -> String {
        self.mark.as_ref().map_or_else(|| self.node.to_string(), |mark| format!("{} ({mark})", self.node))
    }
}

/// The output of a run.
pub(super) fn outputs(run: &Run) -> Vec<ReadOut> {
    headless::output(run).into_iter().filter_map(|(id, node)| ReadOut::new(id, node)).collect()
}

/// Runs that are listed.
const LISTED: usize = 20;

fn model_label(status: &ModelStatus) -> String {
    match status {
        ModelStatus::Absent { .. } => "none (plans come from the built-in planner)".into(),
        ModelStatus::Broken { why, .. } => format!("none: {why}"),
        ModelStatus::Rehearsal => "rehearsal".into(),
        ModelStatus::Operator => "you answer".into(),
        ModelStatus::Connected { model, provider } => format!("{model} at {provider}"),
    }
}

fn joined<T: ToString>(ids: &[T]) -> String {
    ids.iter().map(T::to_string).collect::<Vec<_>>().join(" and ")
}
