//! `RunTask`: the one task that owns a live run. It waits for one input, takes all that are there, steps the engine, commits once,
//! tells the listeners, and only then acts. It sleeps when nothing is due.

use super::{
    client::{Driver, Notice, Problem},
    gate_with_tool::GateWithTool,
    session::{Listener, Order, Services, append, reply_by_permission, sooner},
    streams::Streams,
    timers::Timers,
    workers::{Assignment, AttemptKey, JobRunner, Report, Workers, is_last},
};
use crate::engine::{
    Batch, Command, Effect, Event, EventTrait, GateId, Input, NodeFact, NodeState, Record, ReplanAnswer, Run, RunBrief, RunId, Time, Timer,
    TimerKind,
};
use crate::plan::Risk;
use crate::store::{Durability, StoreError, rescue};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
};

/// Places in the channel from the workers; a full one makes them wait.
const REPORTS: usize = 256;

pub(super) struct RunTask {
    services: Services,
    run: Run,
    orders: mpsc::UnboundedReceiver<Order>,
    /// Orders that came while the run was frozen.
    backlog: Vec<Order>,
    reports: mpsc::Receiver<Report>,
    workers: Workers,
    streams: Streams,
    timers: Timers,
    listeners: Vec<Listener>,
    /// Who makes a new plan.
    planner: Option<PlannerTask>,
    /// The engine has more to do by itself.
    more: bool,
}

/// Whether a run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunContinues {
    On,
    Over,
}

impl RunTask {
    pub(super) fn new(services: Services, run: Run, orders: mpsc::UnboundedReceiver<Order>, listeners: Vec<Listener>) -> Self {
        let (sender, reports) = mpsc::channel(REPORTS);
        let workers = Workers::new(services.runner.clone(), sender);
        Self {
            services,
            run,
            orders,
            backlog: Vec::new(),
            reports,
            workers,
            streams: Streams::default(),
            timers: Timers::default(),
            listeners,
            planner: None,
            more: false,
        }
    }

    /// Runs until the run settles or is left, and everything is cleaned up.
    pub(super) async fn drive(mut self, first: Batch) {
        self.more = first.more;
        self.act(first.effects);
        while self.run.outcome().is_none() {
            let report = self.wait().await;
            if self.turn(report).await == RunContinues::Over {
                break;
            }
        }
        self.close().await;
        // Workers that still speak find nobody and stop waiting.
        drop(self.reports);
        self.workers.dismiss().await;
    }

    /// Answers those who came too late; whoever comes from now on finds the door closed.
    async fn close(&mut self) {
        self.orders.close();
        while let Ok(order) = self.orders.try_recv() {
            self.backlog.push(order);
        }
        for order in std::mem::take(&mut self.backlog) {
            match order {
                Order::Command { command, asker, .. } => self.turn_away(&command, asker.as_ref()),
                Order::Attach(listener) => self.attach(listener).await,
                Order::Gate { gate, reply } => self.show_gate(gate, reply),
                Order::Leave | Order::Interrupt(_) | Order::Replanned { .. } => {}
            }
        }
    }

    /// Says why a run that is over, or left, takes no command.
    fn turn_away(&self, command: &Command, asker: Option<&Listener>) {
        let message = self.run.refusal(command).unwrap_or_else(|| "the run stays as it is".to_owned());
        if let Some(asker) = asker {
            // Whoever asked may have gone.
            let _ = asker.send(Notice::Problem(Problem::new(message)));
        }
    }

    /// Waits until there is something to do: an order, a report (given back), or something due.
    async fn wait(&mut self) -> Option<Report> {
        if !self.backlog.is_empty() || self.more {
            return None;
        }
        let due = sooner(self.timers.next(), self.streams.next());
        let sleep = due.map(|at| Duration::from_millis(at.since(self.services.clock.now())));
        tokio::select! {
            biased;
            order = self.orders.recv() => {
                // Nobody holds the run any more: it is left as it stands.
                self.backlog.push(order.unwrap_or(Order::Leave));
                None
            }
            report = self.reports.recv() => report,
            planned = PlannerTask::answer(&mut self.planner), if self.planner.is_some() => {
                self.backlog.extend(planned);
                None
            }
            () = tokio::time::sleep(sleep.unwrap_or_default()), if sleep.is_some() => None,
        }
    }

    /// Takes everything that is there, in order of rank, and carries it through: step, journal, listeners, effects.
    async fn turn(&mut self, first: Option<Report>) -> RunContinues {
        let now = self.services.clock.now();
        let (mut inputs, mut batch, mut flow) = (Vec::new(), Batch::default(), RunContinues::On);
        let mut interrupted = None;
        while let Ok(order) = self.orders.try_recv() {
            self.backlog.push(order);
        }
        for order in std::mem::take(&mut self.backlog) {
            match order {
                // A run that ended in this very turn goes on by what it can go on by.
                Order::Command { command, asker, .. } if self.run.outcome().is_some() && self.run.refusal(&command).is_some() => {
                    self.turn_away(&command, asker.as_ref());
                }
                Order::Command { command, by, .. } => {
                    let input = self.services.secrets.masked(Input::Command { command, by });
                    self.break_off(&input, now, &mut batch);
                    append(&mut batch, self.run.step(&input, now));
                }
                Order::Attach(listener) => self.attach(listener).await,
                Order::Gate { gate, reply } => self.show_gate(gate, reply),
                Order::Replanned { number, answer } => inputs.push(Input::Replanned { number, answer }),
                Order::Leave => flow = RunContinues::Over,
                Order::Interrupt(signal) => (flow, interrupted) = (RunContinues::Over, Some(signal)),
            }
        }
        self.take_reports(first, now, &mut inputs);
        inputs.extend(self.timers.take_due(now).into_iter().map(|timer| self.workers.overtime(timer)));
        inputs.extend(self.streams.take_due(if flow == RunContinues::Over { Time(u64::MAX) } else { now }));
        if self.more {
            inputs.push(Input::Proceed);
        }
        if flow == RunContinues::Over {
            inputs.extend(self.workers.all_broken_off());
        }
        // Nothing comes after it, so that it says how the run was left.
        inputs.extend(interrupted.map(|signal| Input::Interrupt { signal }));
        for input in inputs {
            append(&mut batch, self.run.step(&self.services.secrets.masked(input), now));
        }
        reply_by_permission(&self.services, &mut self.run, &mut batch, now);
        self.more = batch.more;
        if self.commit(&batch.records).await == RunContinues::Over || flow == RunContinues::Over {
            return RunContinues::Over;
        }
        self.act(batch.effects);
        // One that was asked for something that nobody wants any more stops.
        let wanted = self.run.replan().map(|replan| replan.number);
        self.planner.take_if(|planner| wanted != Some(planner.number));
        if batch.records.iter().any(|record| record.event.has(EventTrait::Steers)) {
            let run = &self.run;
            self.workers.tell_stopping(|node| run.node(node).is_some_and(|node| node.state == NodeState::Stopping));
        }
        RunContinues::On
    }

    /// Puts on record what the models have taken whose answers a command breaks off.
    fn break_off(&mut self, input: &Input, now: Time, batch: &mut Batch) {
        let Input::Command { command, .. } = input else { return };
        if !command.steers() || !self.workers.ask_models() {
            return;
        }
        for effect in self.run.clone().step(input, now).effects {
            if let Effect::Abort { node, generation, attempt } = effect
                && let Some(taken) = self.workers.broken_off(&AttemptKey { node, generation, attempt })
            {
                append(batch, self.run.step(&self.services.secrets.masked(taken), now));
            }
        }
    }

    fn take_reports(&mut self, first: Option<Report>, now: Time, inputs: &mut Vec<Input>) {
        let mut next = first.or_else(|| self.reports.try_recv().ok());
        let mut places = REPORTS;
        while let Some(Report { origin, message }) = next {
            let fact = self.workers.heard(&origin, message);
            if is_last(&fact) {
                self.timers.clear(&timeout(&origin));
            }
            inputs.extend(self.streams.take(origin, fact, now));
            places -= 1;
            next = if places == 0 { None } else { self.reports.try_recv().ok() };
        }
    }

    /// Writes the events, and tells the listeners once they are committed. A journal that can't be written freezes the run: what
    /// is in memory stays, nothing is acted on, and each command of a person tries again.
    async fn commit(&mut self, records: &[Record]) -> RunContinues {
        let Some(run) = self.run.id().cloned().filter(|_| !records.is_empty()) else { return RunContinues::On };
        let durability = durability(&self.run, records);
        let mut rescued = None;
        while let Err(error) = self.services.journal.append(&run, records, durability).await {
            if rescued.is_none() {
                rescued = self.rescue(&run, records).await;
            }
            let frozen = Notice::Frozen { run: run.clone(), problem: frozen(&error, rescued.as_deref()) };
            self.notify(&frozen);
            if self.wait_frozen(&frozen).await == RunContinues::Over {
                return RunContinues::Over;
            }
        }
        // What it holds is in the journal now; where it stays nothing is lost.
        let _ = rescued.map(std::fs::remove_file);
        // First, so that a run which somebody starts because of it finds what is kept.
        if let Some(kept) = self.services.runner.completed(&self.run, records) {
            let _ = kept.await;
        }
        self.notify(&Notice::Events { run, records: records.to_vec() });
        RunContinues::On
    }

    /// Saves the run as it is in memory, with what the journal doesn't take, if anything can be written at all.
    async fn rescue(&self, run: &RunId, records: &[Record]) -> Option<PathBuf> {
        let mut all = self.services.journal.load(run).await.ok()?;
        all.extend_from_slice(records);
        rescue(&all, &self.services.rescues).ok()
    }

    /// Waits for a command, which tries again. Who only wants to see something is answered meanwhile: a client may look at a gate
    /// before it sends its command.
    async fn wait_frozen(&mut self, frozen: &Notice) -> RunContinues {
        loop {
            match self.orders.recv().await {
                Some(Order::Leave | Order::Interrupt(_)) | None => return RunContinues::Over,
                // Nobody orders it: it comes from this task itself.
                Some(Order::Replanned { .. }) => {}
                Some(order @ Order::Command { .. }) => {
                    self.backlog.push(order);
                    return RunContinues::On;
                }
                Some(Order::Attach(listener)) => {
                    self.attach(listener.clone()).await;
                    // Whoever asked may have gone.
                    let _ = listener.send(frozen.clone());
                }
                Some(Order::Gate { gate, reply }) => self.show_gate(gate, reply),
            }
        }
    }

    fn act(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Start { node, generation, attempt, job, deps, approved, cache } => {
                    let origin = AttemptKey { node, generation, attempt };
                    // Only a run that was created has effects.
                    let Some(run) = self.run.id().cloned() else { continue };
                    self.workers.start(Assignment { run, origin, job: *job, deps, approved, cache });
                }
                Effect::Abort { node, generation, attempt } => self.workers.abort(&AttemptKey { node, generation, attempt }),
                Effect::Answer { node, generation, attempt, call, answer } => {
                    self.workers.answer(&AttemptKey { node, generation, attempt }, &call, answer);
                }
                Effect::SetTimer { timer, at } => self.timers.set(timer, at),
                Effect::UseModel { model } => self.services.runner.use_model(&model),
                Effect::Replan { number } => {
                    let asked = self.run.brief().map(|brief| PlannerTask::new(self.services.runner.clone(), number, brief));
                    self.planner = asked.or(self.planner.take());
                }
            }
        }
    }

    /// Shows a newcomer everything that is committed; what follows reaches it like everybody else.
    async fn attach(&mut self, listener: Listener) {
        let Some(run) = self.run.id().cloned() else { return };
        let notice = match self.services.journal.load(&run).await {
            Ok(records) => {
                let driver = if self.run.outcome().is_none() { Driver::Here } else { Driver::Nobody };
                Notice::RunOpened { run, records, driver }
            }
            Err(error) => Notice::Problem(error.into()),
        };
        if listener.send(notice).is_ok() {
            self.listeners.push(listener);
        }
    }

    /// Whoever asked may have gone.
    fn show_gate(&self, gate: GateId, reply: oneshot::Sender<Option<GateWithTool>>) {
        let _ = reply.send(GateWithTool::of(&self.run, gate));
    }

    fn notify(&mut self, notice: &Notice) {
        self.listeners.retain(|listener| listener.send(notice.clone()).is_ok());
    }
}

/// A planner at work on a new plan; it stops when this is dropped.
struct PlannerTask {
    number: u32,
    task: JoinHandle<ReplanAnswer>,
}

impl PlannerTask {
    fn new(runner: Arc<dyn JobRunner>, number: u32, brief: RunBrief) -> Self {
        Self { number, task: tokio::spawn(async move { runner.replan(brief).await }) }
    }

    /// Waits for the answer; nothing where no planner is at work.
    async fn answer(planner: &mut Option<Self>) -> Option<Order> {
        let working = planner.as_mut()?;
        let broke = |_| ReplanAnswer { plan: Err("planning was broken off by a fault in dagdeck".to_owned()), calls: Vec::new() };
        let answer = (&mut working.task).await.unwrap_or_else(broke);
        let number = working.number;
        *planner = None;
        Some(Order::Replanned { number, answer: Box::new(answer) })
    }
}

impl Drop for PlannerTask {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn frozen(error: &StoreError, rescued: Option<&Path>) -> Problem {
    let saved = rescued.map(|file| format!("the run as it is now was saved: `dagdeck import {}`", file.display()));
    let hints = error.hint().map(Into::into).into_iter().chain(saved).collect::<Vec<String>>();
    let message = format!("the run is frozen, nothing more of it starts: {error}");
    Problem { message, hint: Some(hints.join("; ")).filter(|hint| !hint.is_empty()) }
}

fn timeout(origin: &AttemptKey) -> Timer {
    Timer { node: origin.node.clone(), generation: origin.generation, attempt: origin.attempt, kind: TimerKind::Timeout }
}

/// Decisions of people, and calls that change the world, must outlive a loss of power before anything follows from them.
fn durability(run: &Run, records: &[Record]) -> Durability {
    let is_harmless =
        |event: &Event| matches!(event, Event::Node { fact: NodeFact::ToolStarted { call, .. }, .. } if !changes_world(run, &call.tool));
    let weighty = |record: &Record| record.event.has(EventTrait::Durable) && !is_harmless(&record.event);
    if records.iter().any(weighty) { Durability::Power } else { Durability::Process }
}

/// By the catalog that the run started with; a tool that isn't in it is thought able to do anything.
fn changes_world(run: &Run, tool: &str) -> bool {
    let info = run.settings().and_then(|settings| settings.catalog.tool(tool));
    info.is_none_or(|info| matches!(info.risk, Risk::Write | Risk::Execute))
}
