//! `Workers`: the tasks that do a run's work: one for each attempt, started, answered and stopped by the run's effects.
//!
//! What a worker says goes through one queue in order and from there into the run's bounded channel, so a flood of text slows the
//! worker down and nobody else. A worker that panics is a failed attempt, not a hung run.

use super::gate_with_tool::GateWithTool;
use crate::agents::{GoAhead, Refusal};
use crate::engine::{
    Answer, CacheUse, Dep, Input, Job, ModelCall, NodeError, Record, ReplanAnswer, Run, RunBrief, RunId, Timer, TimerKind, TokenUsage,
    ToolCall, UnfinishedAnswer, WorkerFact,
};
use crate::plan::NodeId;
use crate::tools::Judgement;
use async_trait::async_trait;
use futures::FutureExt;
use std::{
    collections::HashMap,
    panic::AssertUnwindSafe,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{
    sync::{mpsc, oneshot, watch},
    task::{JoinHandle, JoinSet},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use crate::engine::CallNeed;

/// How long stopped workers may take to clean up before they are left to the system, or to end what they say before it is cut off.
const FAREWELL: Duration = Duration::from_secs(5);

#[async_trait]
pub(super) trait JobRunner: Send + Sync {
    /// Does one job to its end. Dropping the future stops it and whatever it started.
    async fn work(&self, task: Assignment, port: WorkerPort) -> WorkerFact;

    /// The rule that lets the call of a gate run without asking, if one does.
    fn permits(&self, _run: &RunId, _gate: &GateWithTool) -> Option<String> {
        None
    }

    /// Results are on record: gives what is to end before anybody hears of them, if anything is.
    fn completed(&self, _run: &Run, _records: &[Record]) -> Option<JoinHandle<()>> {
        None
    }

    /// Asks the planner for a new plan of what is left of a run.
    async fn replan(&self, _brief: RunBrief) -> ReplanAnswer {
        ReplanAnswer { plan: Err("a new plan needs a model, and none is connected".to_owned()), calls: Vec::new() }
    }

    /// Jobs from here on ask this model where they name none.
    fn use_model(&self, model: &str);
}

/// Which attempt of which node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct AttemptKey {
    pub(super) node: NodeId,
    pub(super) generation: u32,
    pub(super) attempt: u32,
}

impl AttemptKey {
    /// The fact as the run is told.
    pub(super) fn input(&self, fact: WorkerFact) -> Input {
        Input::Work { node: self.node.clone(), generation: self.generation, attempt: self.attempt, fact }
    }
}

/// What a worker is given.
#[derive(Clone, Debug)]
pub(super) struct Assignment {
    pub(super) run: RunId,
    pub(super) origin: AttemptKey,
    pub(super) job: Job,
    pub(super) deps: Vec<Dep>,
    /// A gate has approved this exact job already.
    pub(super) approved: bool,
    pub(super) cache: Option<CacheUse>,
}

/// What a worker says to its run.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) origin: AttemptKey,
    pub(super) message: WorkerMessage,
}

/// A fact, and where its answer goes if it asks for one.
#[derive(Debug)]
pub(super) struct WorkerMessage {
    pub(super) fact: WorkerFact,
    pub(super) reply: Option<AnswerSender>,
}

/// Where the answer to a call goes.
#[derive(Debug)]
pub(super) struct AnswerSender {
    call: String,
    to: oneshot::Sender<Answer>,
}

/// A worker's line to its run.
#[derive(Clone, Debug)]
pub(super) struct WorkerPort {
    messages: mpsc::UnboundedSender<WorkerMessage>,
    stopping: watch::Receiver<bool>,
    under_way: Arc<AnswerUnderWay>,
    /// People had a part in what the worker does.
    steered: Arc<AtomicBool>,
}

/// The answer that a worker hears right now.
#[derive(Debug, Default)]
pub(super) struct AnswerUnderWay(Mutex<Option<HeardAnswer>>);

/// What there is of an answer.
#[derive(Clone, Debug)]
struct HeardAnswer {
    answer: UnfinishedAnswer,
    since: Instant,
    /// Tokens of its prompt.
    prompt: u64,
    /// Whether its server has the prompt: it does not while the call waits.
    is_sent: bool,
}

impl AnswerUnderWay {
    pub(super) fn begins(&self, call: ModelCall, prompt: u64) {
        let mut heard = self.lock();
        let is_sent = heard.as_ref().is_some_and(|heard| heard.is_sent);
        *heard = Some(HeardAnswer { answer: UnfinishedAnswer { call, text: String::new() }, since: Instant::now(), prompt, is_sent });
    }

    pub(super) fn is_sent(&self, is_sent: bool) {
        if let Some(heard) = &mut *self.lock() {
            heard.is_sent = is_sent;
        }
    }

    /// More of it came; `cost` knows what that costs.
    pub(super) fn goes_on(&self, tokens: u64, text: &str, cost: impl Fn(&str, TokenUsage) -> Option<f64>) {
        if let Some(HeardAnswer { answer, prompt, .. }) = &mut *self.lock() {
            answer.call.usage.add(TokenUsage::of(0, tokens));
            let mut usage = answer.call.usage;
            usage.add(TokenUsage::of(*prompt, 0));
            answer.call.cost_usd = cost(&answer.call.model, usage);
            answer.text.push_str(text);
        }
    }

    pub(super) fn ends(&self) {
        *self.lock() = None;
    }

    /// What it has taken and said by now, for why it goes no further; none where nothing was sent.
    fn so_far(&self, finish: &str) -> Option<UnfinishedAnswer> {
        let HeardAnswer { mut answer, since, prompt, is_sent } = self.lock().clone()?;
        match is_sent {
            true => answer.call.usage.add(TokenUsage::of(prompt, 0)),
            false => answer.call.cost_usd = None,
        }
        answer.call.duration_ms = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
        finish.clone_into(&mut answer.call.finish);
        Some(answer).filter(|answer| answer.call.usage != TokenUsage::default())
    }

    fn lock(&self) -> MutexGuard<'_, Option<HeardAnswer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WorkerPort {
    pub(super) fn under_way(&self) -> &AnswerUnderWay {
        &self.under_way
    }

    /// Whether people had a part in what the worker does, by now.
    pub(super) fn steered(&self) -> &Arc<AtomicBool> {
        &self.steered
    }

    fn is_steered(&self) {
        self.steered.store(true, Ordering::Relaxed);
    }

    /// Says something that needs no answer.
    pub(super) fn report(&self, fact: WorkerFact) {
        if let WorkerFact::PlanWanted(_) = fact {
            self.is_steered();
        }
        // The run may have ended; then nobody needs to know.
        let _ = self.messages.send(WorkerMessage { fact, reply: None });
    }

    /// Proposes a tool call and waits for what is decided about it.
    pub(super) async fn propose(&self, call: ToolCall, judged: Judgement) -> Answer {
        let id = call.id.clone();
        let Judgement { verdict, why, leaves, .. } = judged;
        let proposed = call.args.clone();
        let answer = self.ask(id, WorkerFact::ToolAsked { call, verdict, why, leaves: leaves.map(Box::new) }).await;
        if !matches!(&answer, Answer::Run { args } if *args == proposed) {
            self.is_steered();
        }
        answer
    }

    /// Asks whether a model may be called that takes so much at most, and waits until it may. Gives the call's id too.
    pub(super) async fn request_model(&self, model: &str, need: Option<CallNeed>) -> Result<(String, GoAhead), Refusal> {
        let call = uuid::Uuid::now_v7().simple().to_string();
        match self.ask(call.clone(), WorkerFact::ModelAsked { call: call.clone(), model: model.to_owned(), need }).await {
            Answer::Go { guidance, wrap_up, granted } => {
                if wrap_up || !guidance.is_empty() {
                    self.is_steered();
                }
                Ok((call, GoAhead { guidance, wrap_up, granted }))
            }
            Answer::Refused { message } => Err(Refusal(message)),
            Answer::Again { .. } | Answer::Run { .. } | Answer::Value(_) => Err(Refusal("the model call was not released".to_owned())),
        }
    }

    /// Waits until the node has been stopping for so long that what it still says is cut off.
    pub(super) async fn overdue(&self) {
        let mut stopping = self.stopping.clone();
        loop {
            if stopping.wait_for(|stops| *stops).await.is_err() {
                return std::future::pending().await;
            }
            // A stop may be undone.
            tokio::select! {
                () = tokio::time::sleep(FAREWELL) => return,
                _ = stopping.wait_for(|stops| !*stops) => {}
            }
        }
    }

    /// Says something that is answered under this call's id, and waits for the answer.
    pub(super) async fn ask(&self, call: String, fact: WorkerFact) -> Answer {
        if let WorkerFact::QuestionAsked { .. } = fact {
            self.is_steered();
        }
        let (to, answer) = oneshot::channel();
        let _ = self.messages.send(WorkerMessage { fact, reply: Some(AnswerSender { call, to }) });
        answer.await.unwrap_or_else(|_| Answer::Refused { message: "the run has ended".into() })
    }
}

/// The workers of one run.
pub(super) struct Workers {
    runner: Arc<dyn JobRunner>,
    reports: mpsc::Sender<Report>,
    live: HashMap<AttemptKey, LiveWorker>,
    tasks: JoinSet<()>,
}

#[derive(Debug, Default)]
struct LiveWorker {
    stop: CancellationToken,
    /// Whether it is to return what it has.
    stopping: watch::Sender<bool>,
    replies: HashMap<String, oneshot::Sender<Answer>>,
    under_way: Arc<AnswerUnderWay>,
}

impl Workers {
    pub(super) fn new(runner: Arc<dyn JobRunner>, reports: mpsc::Sender<Report>) -> Self {
        Self { runner, reports, live: HashMap::new(), tasks: JoinSet::new() }
    }

    pub(super) fn start(&mut self, task: Assignment) {
        while self.tasks.try_join_next().is_some() {}
        let stop = CancellationToken::new();
        let worker = LiveWorker { stop: stop.clone(), ..LiveWorker::default() };
        let (messages, queue) = mpsc::unbounded_channel();
        let (stopping, under_way) = (worker.stopping.subscribe(), worker.under_way.clone());
        let port = WorkerPort { messages, stopping, under_way, steered: Arc::default() };
        self.live.insert(task.origin.clone(), worker);
        self.tasks.spawn(attend(self.runner.clone(), task, port, queue, self.reports.clone(), stop));
    }

    /// Stops a worker now; it still reports that it stopped.
    pub(super) fn abort(&mut self, origin: &AttemptKey) {
        if let Some(worker) = self.live.get(origin) {
            worker.stop.cancel();
        }
    }

    /// A timer that is due, with what the model of its node is saying.
    pub(super) fn overtime(&self, timer: Timer) -> Input {
        let origin = AttemptKey { node: timer.node.clone(), generation: timer.generation, attempt: timer.attempt };
        let worker = self.live.get(&origin).filter(|_| timer.kind == TimerKind::Timeout);
        Input::TimerDue { unfinished: worker.and_then(|worker| worker.under_way.so_far("time limit")).map(Box::new), timer }
    }

    /// Whether a model is asked by any of them.
    pub(super) fn ask_models(&self) -> bool {
        self.live.values().any(|worker| worker.under_way.lock().is_some())
    }

    /// What the model of a worker has said by now, as the end of its call.
    pub(super) fn broken_off(&self, origin: &AttemptKey) -> Option<Input> {
        let unfinished = self.live.get(origin)?.under_way.so_far("broken off")?;
        Some(origin.input(WorkerFact::ModelCalled(unfinished.call)))
    }

    /// The same of every worker.
    pub(super) fn all_broken_off(&self) -> Vec<Input> {
        let mut all: Vec<&AttemptKey> = self.live.keys().collect();
        all.sort_by(|a, b| a.node.cmp(&b.node));
        all.into_iter().filter_map(|origin| self.broken_off(origin)).collect()
    }

    /// Tells each worker whether it is to return what it has.
    pub(super) fn tell_stopping(&self, stops: impl Fn(&NodeId) -> bool) {
        for (origin, worker) in &self.live {
            worker.stopping.send_replace(stops(&origin.node));
        }
    }

    pub(super) fn answer(&mut self, origin: &AttemptKey, call: &str, answer: Answer) {
        let waiting = self.live.get_mut(origin).and_then(|worker| worker.replies.remove(call));
        if let Some(reply) = waiting {
            // A worker that was stopped meanwhile needs no answer.
            let _ = reply.send(answer);
        }
    }

    /// Keeps in mind who waits for an answer, and forgets workers that have said their last word.
    pub(super) fn heard(&mut self, origin: &AttemptKey, message: WorkerMessage) -> WorkerFact {
        if is_last(&message.fact) {
            self.live.remove(origin);
        } else if let (Some(worker), Some(reply)) = (self.live.get_mut(origin), message.reply) {
            worker.replies.insert(reply.call, reply.to);
        }
        message.fact
    }

    /// Stops all and waits until they have cleaned up.
    pub(super) async fn dismiss(mut self) {
        for worker in self.live.values() {
            worker.stop.cancel();
        }
        // Ends that never come are cut off when the set is dropped.
        let _ = tokio::time::timeout(FAREWELL, async { while self.tasks.join_next().await.is_some() {} }).await;
    }
}

/// Whether a worker has nothing more to say after this.
pub(super) fn is_last(fact: &WorkerFact) -> bool {
    matches!(fact, WorkerFact::Done(_) | WorkerFact::Failed(_) | WorkerFact::HandedBack { .. } | WorkerFact::Aborted)
}

async fn attend(
    runner: Arc<dyn JobRunner>,
    task: Assignment,
    port: WorkerPort,
    queue: mpsc::UnboundedReceiver<WorkerMessage>,
    reports: mpsc::Sender<Report>,
    stop: CancellationToken,
) {
    let (origin, messages) = (task.origin.clone(), port.messages.clone());
    let work = async move {
        let job = AssertUnwindSafe(runner.work(task, port)).catch_unwind();
        let fact = tokio::select! {
            biased;
            () = stop.cancelled() => WorkerFact::Aborted,
            end = job => end.unwrap_or_else(|_| WorkerFact::Failed(
                NodeError::permanent("the node stopped because of a bug in dagdeck").hint("please report it, with the plan"),
            )),
        };
        let _ = messages.send(WorkerMessage { fact, reply: None });
    };
    tokio::join!(work, forward(&origin, queue, reports));
}

/// Hands a worker's messages on, with neighbouring pieces of text merged. Ends with the worker, or when nobody listens.
async fn forward(origin: &AttemptKey, mut queue: mpsc::UnboundedReceiver<WorkerMessage>, reports: mpsc::Sender<Report>) {
    let mut ahead: Option<WorkerMessage> = None;
    loop {
        let next = match ahead.take() {
            Some(message) => Some(message),
            None => queue.recv().await,
        };
        let Some(mut message) = next else { return };
        if let Some((thinks, text)) = message.fact.streamed() {
            let mut text = text.to_owned();
            ahead = gather(&mut text, thinks, &mut queue);
            message.fact = WorkerFact::stream(thinks, text);
        }
        if reports.send(Report { origin: origin.clone(), message }).await.is_err() {
            return;
        }
    }
}

/// Adds the pieces of the same text that are waiting; gives back the first message that is none.
fn gather(text: &mut String, thinks: bool, queue: &mut mpsc::UnboundedReceiver<WorkerMessage>) -> Option<WorkerMessage> {
    while let Ok(message) = queue.try_recv() {
        match message.fact.streamed() {
            Some((also_thinks, more)) if also_thinks == thinks => text.push_str(more),
            Some(_) | None => return Some(message),
        }
    }
    None
}
