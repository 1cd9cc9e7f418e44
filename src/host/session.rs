//! `RunSession`: the handle of a live run, and how one begins: as a new run, or from what an earlier driver left in the journal.

use super::{
    client::{Driver, Notice},
    clock::Clock,
    gate_with_tool::GateWithTool,
    run_task::RunTask,
    workers::JobRunner,
};
use crate::engine::{
    Action, Actor, Batch, Command, Event, GateId, GateReply, Input, Record, ReplanAnswer, Run, RunId, RunSettings, StopSignal, Time,
};
use crate::plan::Plan;
use crate::store::{Durability, Journal, Ownership, StoreError};
use crate::tools::KnownSecrets;
use std::{path::PathBuf, sync::Arc};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// Where a listener's notices go. Unbounded, so that a slow terminal never holds up a run.
pub(super) type Listener = mpsc::UnboundedSender<Notice>;

/// What every run of a host uses.
#[derive(Clone)]
pub(super) struct Services {
    pub(super) journal: Arc<dyn Journal>,
    pub(super) runner: Arc<dyn JobRunner>,
    pub(super) clock: Arc<dyn Clock>,
    /// The folder for runs whose journal can't be written any more.
    pub(super) rescues: PathBuf,
    pub(super) secrets: Arc<KnownSecrets>,
}

/// What a session is told, ahead of everything that its workers say.
#[derive(Debug)]
pub(super) enum Order {
    /// Somebody asks something of the run. Who comes when it is over is told so; all else is answered by its events.
    Command { command: Command, by: Actor, asker: Option<Listener> },
    /// Somebody wants to see the run: all so far, then what follows.
    Attach(Listener),
    /// Somebody wants to see a gate, and the plan's tool behind it.
    Gate { gate: GateId, reply: oneshot::Sender<Option<GateWithTool>> },
    /// The planner has answered.
    Replanned { number: u32, answer: Box<ReplanAnswer> },
    /// The run is left open as it stands; its workers stop.
    Leave,
    /// The same because of a signal, which is put on record.
    Interrupt(StopSignal),
}

/// A run as an earlier driver left it, and the right to drive it.
pub(super) struct Stored {
    id: RunId,
    ownership: Ownership,
    records: Vec<Record>,
    /// So many of them are in the journal already.
    journalled: usize,
    run: Run,
}

impl Stored {
    /// Takes a run over. What was journalled before is there in full, since nobody else writes any more.
    ///
    /// # Errors
    /// When the run is unknown, somebody else drives it, or the journal can't be read.
    pub(super) async fn take(journal: &dyn Journal, id: RunId, by: &Actor) -> Result<Self, StoreError> {
        // Asked first, so that a name that fits no run leaves nothing behind.
        journal.load(&id).await?;
        let ownership = journal.own(&id, by)?;
        let records = journal.load(&id).await?;
        let run = Run::replay(&records);
        Ok(Self { id, ownership, journalled: records.len(), records, run })
    }

    pub(super) fn id(&self) -> &RunId {
        &self.id
    }

    /// Journals what is asked of the run, and starts nothing. Returns the new events, and the run after them.
    ///
    /// # Errors
    /// When the journal can't be written; nothing has changed then.
    pub(super) async fn record(
        mut self,
        (journal, secrets): (&dyn Journal, &KnownSecrets),
        last: FirstCommands,
        now: Time,
    ) -> Result<(Vec<Record>, Run), StoreError> {
        let inputs: Vec<Input> = self.inputs(last).into_iter().map(|input| secrets.masked(input)).collect();
        let records = self.run.record(&inputs, now);
        journal.append(&self.id, &records, Durability::Power).await?;
        Ok((records, self.run))
    }

    /// Answers come first of all: they are for questions as they were left.
    fn inputs(&self, last: FirstCommands) -> Vec<Input> {
        let FirstCommands { commands, by } = last;
        let (answers, actions): (Vec<_>, Vec<_>) = commands.into_iter().partition(|command| matches!(command, Command::Decide { .. }));
        let start = (!self.run.is_started()).then_some(Command::Start);
        let input = |command| Input::Command { command, by: by.clone() };
        let mut inputs: Vec<Input> = answers.into_iter().map(input).collect();
        inputs.push(Input::Recover { by: by.clone() });
        inputs.extend(start.into_iter().chain(actions).map(input));
        inputs
    }

    /// Its state as journalled.
    pub(super) fn run(&self) -> &Run {
        &self.run
    }
}

/// The part of a run that a branch keeps.
pub(super) struct KeptRecords {
    pub(super) from: RunId,
    /// From its first event on.
    pub(super) records: Vec<Record>,
    /// Where the branch works.
    pub(super) workspace: String,
}

/// Events of one run as those of another one that works in this folder.
fn rename(records: &mut [Record], name: &RunId, workspace: &str) {
    if let Some(Record { event: Event::RunCreated { run, settings, .. }, .. }) = records.first_mut() {
        run.clone_from(name);
        if let Some(place) = settings.host.get_mut("workspace") {
            *place = workspace.into();
        }
    }
}

/// What is asked of a run at the moment that it is driven on.
pub(super) struct FirstCommands {
    pub(super) commands: Vec<Command>,
    pub(super) by: Actor,
}

#[derive(Clone, Debug)]
pub(super) struct RunSession {
    pub(super) run: RunId,
    /// Events that were there before this session.
    pub(super) known: u64,
    orders: mpsc::UnboundedSender<Order>,
    ended: CancellationToken,
}

impl RunSession {
    /// Creates a run, journals that, carries the first verbs out, and lets its nodes start. The listener hears of it first.
    ///
    /// # Errors
    /// When the journal can't be written; nothing was started then.
    pub(super) async fn start(
        services: Services,
        plan: Plan,
        settings: RunSettings,
        first: Vec<Action>,
        by: Actor,
        listener: Option<Listener>,
    ) -> Result<Self, StoreError> {
        let id = RunId(uuid::Uuid::now_v7().to_string());
        let ownership = services.journal.own(&id, &by)?;
        let create = Input::Create { run: id.clone(), plan: Box::new(plan), settings: Box::new(settings), by: by.clone() };
        let stored = Stored { id, ownership, records: Vec::new(), journalled: 0, run: Run::default() };
        let commands = first.into_iter().map(Command::act).chain([Command::Start]);
        let commands = commands.map(|command| Input::Command { command, by: by.clone() });
        let inputs: Vec<Input> = [create].into_iter().chain(commands).collect();
        Self::begin(services, stored, &inputs, listener).await
    }

    /// Goes on with a run whose driver ended: what was at work then goes again, or is asked about. The commands are heard before
    /// anything starts.
    ///
    /// # Errors
    /// When the journal can't be written; nothing goes on then.
    pub(super) async fn resume(
        services: Services,
        stored: Stored,
        last: FirstCommands,
        listener: Option<Listener>,
    ) -> Result<Self, StoreError> {
        let inputs = stored.inputs(last);
        Self::begin(services, stored, &inputs, listener).await
    }

    /// A new run that keeps a part of another one and goes on from there; the commands are heard before anything starts.
    ///
    /// # Errors
    /// When the journal can't be written; nothing was made then.
    pub(super) async fn branch(
        services: Services,
        copy: KeptRecords,
        last: FirstCommands,
        listener: Option<Listener>,
    ) -> Result<Self, StoreError> {
        let FirstCommands { commands, by } = last;
        let KeptRecords { from, mut records, workspace } = copy;
        let id = RunId(uuid::Uuid::now_v7().to_string());
        let ownership = services.journal.own(&id, &by)?;
        rename(&mut records, &id, &workspace);
        let run = Run::replay(&records);
        let start = (!run.is_started()).then_some(Command::Start);
        let input = |command| Input::Command { command, by: by.clone() };
        let mut inputs = vec![Input::Branch { from, from_seq: run.last_seq(), by: by.clone() }];
        inputs.extend(start.into_iter().chain(commands).map(input));
        let stored = Stored { id, ownership, records, journalled: 0, run };
        Self::begin(services, stored, &inputs, listener).await
    }

    /// Carries the first inputs through, journals what follows, and drives the run from there.
    async fn begin(services: Services, stored: Stored, inputs: &[Input], listener: Option<Listener>) -> Result<Self, StoreError> {
        let Stored { id, ownership, mut records, journalled, mut run } = stored;
        let now = services.clock.now();
        let inputs: Vec<Input> = inputs.iter().map(|input| services.secrets.masked(input.clone())).collect();
        let mut first = run.steps(&inputs, now);
        reply_by_permission(&services, &mut run, &mut first, now);
        let known = run.last_seq() - first.records.len() as u64;
        records.extend_from_slice(&first.records);
        services.journal.append(&id, &records[journalled..], Durability::Power).await?;
        if let Some(listener) = &listener {
            // A listener that has gone already is dropped with the next notice.
            let _ = listener.send(Notice::RunOpened { run: id.clone(), records, driver: Driver::Here });
        }
        let (orders, inbox) = mpsc::unbounded_channel();
        let ended = CancellationToken::new();
        let task = RunTask::new(services, run, inbox, listener.into_iter().collect());
        let guard = ended.clone().drop_guard();
        tokio::spawn(async move {
            task.drive(first).await;
            // Others may drive it before anybody is told that this one doesn't.
            drop(ownership);
            drop(guard);
        });
        Ok(Self { run: id, known, orders, ended })
    }

    /// The same, where everything up to this event was there before.
    pub(super) fn since(&self, known: u64) -> Self {
        Self { known, ..self.clone() }
    }

    /// Passes an order on; false when the run has ended.
    pub(super) fn order(&self, order: Order) -> bool {
        self.orders.send(order).is_ok()
    }

    /// Passes on a command whose answer nobody waits for; false when the run has ended.
    pub(super) fn command(&self, command: Command, by: Actor) -> bool {
        self.order(Order::Command { command, by, asker: None })
    }

    /// Whether the run still goes on in this host.
    pub(super) fn is_live(&self) -> bool {
        !self.ended.is_cancelled()
    }

    /// Waits until the run has ended or was left, its workers are gone, and all is journalled.
    pub(super) async fn ended(&self) {
        self.ended.cancelled().await;
    }
}

/// Approves the gates that opened in a batch because a tool asks, where the rules let this very call run.
pub(super) fn reply_by_permission(services: &Services, run: &mut Run, batch: &mut Batch, now: Time) {
    let mut seen = 0;
    while let Some(record) = batch.records.get(seen) {
        seen += 1;
        let Event::ApprovalRequired { gate } = &record.event else { continue };
        let is_open = run.open_gates().any(|open| open.id == gate.id);
        let Some(gate) = GateWithTool::of(run, gate.id).filter(|seen| is_open && run.asks_by_permission(&seen.gate)) else { continue };
        if let Some(rule) = run.id().and_then(|id| services.runner.permits(id, &gate)) {
            let command = Command::decide(gate.gate.id, GateReply::Approve, gate.gate.hash);
            let by = Actor { who: rule, via: "permission".to_owned() };
            append(batch, run.step(&services.secrets.masked(Input::Command { command, by }), now));
        }
    }
}

/// Puts one batch behind another.
pub(super) fn append(batch: &mut Batch, more: Batch) {
    batch.records.extend(more.records);
    batch.effects.extend(more.effects);
    batch.more = more.more;
}

/// The earlier of two moments, of which either may not exist.
pub(super) fn sooner(a: Option<Time>, b: Option<Time>) -> Option<Time> {
    a.into_iter().chain(b).min()
}
