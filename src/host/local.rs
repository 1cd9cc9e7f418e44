//! `LocalHost`: dagdeck in one process: its journal, tools, cards and models, and the runs that go on. Clients connect to it.

use super::{
    client::{Driver, ModelStatus, Parent, Problem, RunSummary},
    clock::{Clock, SystemClock},
    config::{Config, LimitsConfig},
    follow_up,
    jobs::{Jobs, Kit},
    link,
    mcp::{kept_catalog, tools_of},
    new_run::{Caching, NewRun},
    own_models::own_model,
    permission_log::PermissionLog,
    places::Folders,
    refusing::{findings, refuse, secret_values},
    session::{FirstCommands, KeptRecords, Listener, Order, RunSession, Services, Stored},
    setup::SetUp,
};
use crate::agents;
use crate::engine::{
    Action, ActionTarget, Actor, Command, ModelSlots, REHEARSAL, Record, Run, RunId, RunSettings, StopSignal, Time, short_name,
};
use crate::models::config::Environment;
use crate::plan::validate::{Finding, validate};
use crate::plan::{Catalog, Plan, nest};
use crate::store::{RunFilter, RunRow, Store, StoreError};
use crate::tools::{McpConfig, sweep};
use serde_json::json;
use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio::sync::watch;

/// How what a client does is recorded.
pub(super) const VIA: &str = "console";

/// A host in this process. Cheap to clone; dropping the last one leaves open runs as they stand.
#[derive(Clone)]
pub struct LocalHost {
    shared: Arc<Shared>,
}

/// What all clients and runs of a host share.
pub(super) struct Shared {
    pub(super) places: Folders,
    pub(super) kit: Arc<Kit>,
    pub(super) store: Arc<Store>,
    pub(super) user: String,
    limits: LimitsConfig,
    pub(super) clock: Arc<dyn Clock>,
    sessions: Mutex<HashMap<RunId, RunSession>>,
    news: News,
    pub(super) env: Environment,
    pub(super) mcp: McpConfig,
}

/// Looks variables of the environment up.
pub trait Variables: Fn(&str) -> Option<String> + Send + Sync + 'static {}
impl<F: Fn(&str) -> Option<String> + Send + Sync + 'static> Variables for F {}

/// What changes while a host lives, with those who wait for it.
struct News {
    /// The model chosen for plans and runs, if there is one.
    model: watch::Sender<Option<String>>,
    /// A person chose it while the host lives.
    is_picked: AtomicBool,
    /// Counts changes of the agent cards.
    cards: watch::Sender<u64>,
}

impl LocalHost {
    /// Opens the journal and reads the cards. `model` is what was named on the command line; `env` looks variables up.
    ///
    /// # Errors
    /// When the journal can't be used, or the configuration holds a list of tools that can't be read.
    pub fn open(places: Folders, config: Config, model: Option<&str>, env: impl Variables) -> Result<Self, Problem> {
        let store = Store::open(&places.home);
        Self::open_on(store?, places, config, model, env)
    }

    /// The same, also on a journal that can't be written: its runs are looked at, and none goes on.
    ///
    /// # Errors
    /// When the journal can't be read, or the configuration holds a list of tools that can't be.
    pub fn open_to_look(places: Folders, config: Config, model: Option<&str>, env: impl Variables) -> Result<Self, Problem> {
        let store = Store::open_to_look(&places.home);
        Self::open_on(store?, places, config, model, env)
    }

    fn open_on(store: Store, places: Folders, config: Config, model: Option<&str>, env: impl Variables) -> Result<Self, Problem> {
        let (limits, mcp) = (config.limits.clone(), config.tools.mcp.clone());
        let kit = Kit::new(&places, config, &env)?;
        let chosen = kit.models().preset(model);
        let shared = Shared {
            places,
            kit: Arc::new(kit),
            store: Arc::new(store),
            user: user(),
            limits,
            clock: Arc::new(SystemClock),
            sessions: Mutex::default(),
            news: News { model: watch::Sender::new(chosen), is_picked: AtomicBool::new(false), cards: watch::Sender::new(0) },
            env: Arc::new(env),
            mcp,
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Follows changes of the agent cards until the host is dropped. Needs a runtime.
    pub fn watch_cards(&self) {
        let folders = self.shared.kit.lock_cards().folders();
        // Without file events cards are read once; everything else works.
        let Ok(mut watch) = agents::Watch::new(folders) else { return };
        let host = Arc::downgrade(&self.shared);
        tokio::spawn(async move {
            loop {
                watch.changed().await;
                let Some(host) = host.upgrade() else { return };
                if host.kit.reload(&*host.env) == agents::Reloaded::Changed {
                    host.news.cards.send_modify(|count| *count += 1);
                }
            }
        });
    }

    /// What plans may name.
    pub fn catalog(&self) -> Catalog {
        self.shared.catalog()
    }

    /// Everything that is to be said about a plan before it runs here.
    pub fn findings(&self, plan: &Plan) -> Vec<Finding> {
        findings(plan, &self.catalog(), &self.shared.kit.secrets)
    }

    /// Cards that could not be read: file, line and words.
    pub fn card_problems(&self) -> Vec<Problem> {
        self.shared.kit.card_problems()
    }

    /// The model that new plans and runs ask, where there is one.
    pub fn chosen_model(&self) -> Option<String> {
        self.shared.chosen()
    }

    /// The model that the host was opened with is a person's choice: runs that are let go on ask it.
    pub fn pick(&self) {
        self.shared.news.is_picked.store(true, Ordering::Relaxed);
    }

    /// Which model is used now.
    pub fn model(&self) -> ModelStatus {
        self.shared.model()
    }

    /// Cancels the runs that still go on, and waits until their workers are gone and all is journalled.
    pub async fn shutdown(&self) {
        let live = self.shared.live();
        let by = self.shared.actor("shutdown");
        for session in &live {
            session.command(Command::act(Action::Cancel { target: ActionTarget::Run }), by.clone());
            // One whose journal can't be written is left as it is.
            session.order(Order::Leave);
        }
        for session in &live {
            session.ended().await;
        }
        self.shared.kit.toolbox.servers().stop().await;
    }

    /// Leaves the runs that still go on as they are, and waits until their workers are gone: they can be resumed. A signal that is the
    /// reason is put on record.
    pub async fn leave(&self, signal: Option<StopSignal>) {
        let live = self.shared.live();
        for session in &live {
            session.order(signal.map_or(Order::Leave, Order::Interrupt));
        }
        for session in &live {
            session.ended().await;
        }
        self.shared.kit.toolbox.servers().stop().await;
    }

    /// Why the run can't be driven on here, whatever is asked of it: another process drives it, it works in another workspace, or it was
    /// read from a file. Told before anything is promised; to drive it asks again.
    ///
    /// # Errors
    /// When it can't be driven on.
    pub fn may_drive(&self, run: &RunId, state: &Run) -> Result<(), Problem> {
        if let Driver::Elsewhere(by) = self.shared.driver(run) {
            return Err(StoreError::Driven { run: run.0.clone(), by }.into());
        }
        self.shared.refuse_to_drive(run, state)
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }
}

impl Shared {
    /// Starts a run. The listener hears of it first.
    pub(super) async fn start(&self, new: NewRun, by: Actor, listener: Option<Listener>) -> Result<RunSession, Problem> {
        let NewRun { mut plan, private_inputs, private_request, first, model, planning, caching } = new;
        let (after, is_private) = follow_up::noted(&plan);
        let model = model.or_else(|| self.chosen());
        link(&mut plan, "the plan", &self.places.workspace);
        let mut plan = nest::inlined(plan);
        super::own_models::with_own_models(&mut plan, &self.kit.models().config().by_agent, model.as_deref());
        let rehearse = model.as_deref() == Some(REHEARSAL);
        if !rehearse {
            let wanted: HashSet<&str> = tools_of(&plan).into_iter().filter_map(|tool| Some(tool.split_once(':')?.0)).collect();
            // What goes wrong here goes wrong at the node, which says so.
            self.kit.toolbox.list(|server| wanted.contains(server)).await;
        }
        let catalog = self.kit.catalog(model.as_deref());
        refuse(&secret_values(&plan, &self.kit.secrets))?;
        let plan = self.kit.secrets.sealed(plan);
        refuse(&validate(&plan, &catalog))?;
        let model = model.filter(|_| !rehearse);
        let model_slots = match &model {
            Some(model) => self.model_slots(model).await,
            None => None,
        };
        let mut host = json!({ "workspace": self.places.workspace, "dagdeck": env!("CARGO_PKG_VERSION") });
        if caching == Caching::Off {
            host["caching"] = json!(caching);
        }
        let settings = RunSettings {
            catalog: kept_catalog(catalog, &plan),
            slots: self.limits.slots,
            agent_limits: self.limits.agents(),
            warn_usd: self.limits.warn_usd,
            model_slots,
            model: model.clone(),
            rehearse,
            private_inputs,
            private_request: private_request || is_private,
            after,
            planning,
            host,
        };
        let services = self.services(model, caching);
        let session = RunSession::start(services, plan, settings, first, by, listener).await?;
        self.keep(&session);
        Ok(session)
    }

    /// Drives a run on that was interrupted, with the settings that it started with, or with the model that a person chose since; the
    /// commands are heard before anything starts. The listener hears of it first.
    pub(super) async fn resume(&self, run: RunId, mut last: FirstCommands, listener: Option<Listener>) -> Result<RunSession, Problem> {
        let stored = self.take(run, &mut last).await?;
        // What tools left whose process was killed. Nothing is lost where it stays.
        let (workspace, paths) = (self.places.workspace.clone(), unfinished_paths(stored.run()));
        let _ = tokio::task::spawn_blocking(move || sweep(&workspace, &paths)).await;
        let services = self.services(own_model(stored.run()), Caching::of(stored.run()));
        let session = RunSession::resume(services, stored, last, listener).await?;
        self.keep(&session);
        Ok(session)
    }

    /// Takes a run over that nobody drives, if it can be asked for all this.
    pub(super) async fn take(&self, run: RunId, last: &mut FirstCommands) -> Result<Stored, Problem> {
        let stored = Stored::take(&*self.store, run, &last.by).await?;
        self.refuse_to_drive(stored.id(), stored.run())?;
        refuse_idle(stored.run(), &last.commands, self.clock.now())?;
        last.commands.splice(0..0, self.other_model(stored.run()).await?);
        Ok(stored)
    }

    /// The command that has a run ask the model that a person chose while the host lives, where that is another one than its own.
    async fn other_model(&self, run: &Run) -> Result<Option<Command>, Problem> {
        let own = own_model(run).unwrap_or_else(|| REHEARSAL.to_owned());
        let Some(model) = self.picked().filter(|model| *model != own) else { return Ok(None) };
        let command = self.use_model(model).await;
        run.refusal(&command).map_or(Ok(Some(command)), |message| Err(Problem::new(message).hint("choose a model (`M` in the console)")))
    }

    /// The command that has a run ask a model.
    pub(super) async fn use_model(&self, model: String) -> Command {
        let slots = self.model_slots(&model).await;
        Command::UseModel { model, slots }
    }

    /// How many calls its provider takes at once, where that is less than a run has slots.
    async fn model_slots(&self, model: &str) -> Option<ModelSlots> {
        self.kit.models().slots(Some(model)).await.filter(|model| model.slots < self.limits.slots)
    }

    /// A new run that keeps another one's events up to `at`, and to the end of the step that it is in; the commands are heard before
    /// anything starts.
    pub(super) async fn branch(
        &self,
        run: RunId,
        at: u64,
        mut last: FirstCommands,
        listener: Option<Listener>,
    ) -> Result<RunSession, Problem> {
        let mut records = self.store.records_to(&run, at)?;
        let there = records.len() as u64;
        if !(1..=there).contains(&at) {
            let message = format!("the run has no event {at}: its events are 1 to {there}");
            return Err(Problem::new(message).hint("`dagdeck replay RUN --events` lists them"));
        }
        let at = Record::whole(&records, at);
        records.truncate(usize::try_from(at).unwrap_or(usize::MAX));
        let kept = Run::replay(&records);
        if let Some(message) = kept.refusal_of(&last.commands, self.clock.now()) {
            return Err(Problem::new(message));
        }
        last.commands.splice(0..0, self.other_model(&kept).await?);
        let services = self.services(own_model(&kept), Caching::of(&kept));
        let copy = KeptRecords { from: run, records, workspace: self.places.workspace.display().to_string() };
        let session = RunSession::branch(services, copy, last, listener).await?;
        self.keep(&session);
        Ok(session)
    }

    /// Whatever is asked of the run, it doesn't go on here.
    fn refuse_to_drive(&self, run: &RunId, state: &Run) -> Result<(), Problem> {
        self.refuse_imported(run)?;
        self.refuse_foreign(state)
    }

    /// The tools of this host work in its own workspace, so a run of another one can't go on here.
    fn refuse_foreign(&self, run: &Run) -> Result<(), Problem> {
        let own = run.settings().and_then(|settings| settings.host.get("workspace")).and_then(|path| path.as_str());
        match own.filter(|own| *own != self.places.workspace.to_string_lossy()) {
            Some(own) => {
                Err(Problem::new(format!("the run belongs to the workspace `{own}`, but this is `{}`", self.places.workspace.display()))
                    .hint(format!("resume it there: --workspace {own}")))
            }
            None => Ok(()),
        }
    }

    /// What people allowed in a run that came from elsewhere, or is said to have, holds for nobody here.
    fn refuse_imported(&self, run: &RunId) -> Result<(), Problem> {
        if self.store.is_imported(run)? {
            let hint = Some(format!("continue in a branch, where approvals are asked again: `dagdeck branch {}`", short_name(&run.0)));
            return Err(Problem { message: "the run was imported from a file, so it can't go on".to_owned(), hint });
        }
        Ok(())
    }

    fn services(&self, model: Option<String>, caching: Caching) -> Services {
        let runner = Arc::new(Jobs::new(self.kit.clone(), model, &self.clock, caching));
        let secrets = self.kit.secrets.clone();
        secrets.read_workspace();
        Services { journal: self.store.clone(), runner, clock: self.clock.clone(), rescues: std::env::temp_dir(), secrets }
    }

    fn keep(&self, session: &RunSession) {
        let mut sessions = self.lock_sessions();
        sessions.retain(|_, session| session.is_live());
        sessions.insert(session.run.clone(), session.clone());
    }

    /// The session of a run that goes on.
    pub(super) fn session(&self, run: &RunId) -> Option<RunSession> {
        self.lock_sessions().get(run).filter(|session| session.is_live()).cloned()
    }

    /// Who drives a run on.
    pub(super) fn driver(&self, run: &RunId) -> Driver {
        if self.session(run).is_some() {
            return Driver::Here;
        }
        self.store.driver(run).map_or(Driver::Nobody, Driver::Elsewhere)
    }

    pub(super) fn live(&self) -> Vec<RunSession> {
        self.lock_sessions().values().filter(|session| session.is_live()).cloned().collect()
    }

    pub(super) fn actor(&self, via: &str) -> Actor {
        Actor { who: self.user.clone(), via: via.to_owned() }
    }

    /// For permissions that a client changes.
    pub(super) fn permission_log(&self) -> PermissionLog<'_> {
        PermissionLog { store: &self.store, by: self.actor(VIA), at: self.clock.now() }
    }

    pub(super) fn chosen(&self) -> Option<String> {
        self.news.model.borrow().clone()
    }

    /// What plans may name.
    pub(super) fn catalog(&self) -> Catalog {
        self.kit.catalog(self.chosen().as_deref())
    }

    /// For setting up a model.
    pub(super) fn set_up(&self) -> SetUp {
        SetUp { places: self.places.clone(), models: self.kit.models(), env: self.env.clone() }
    }

    pub(super) fn choose(&self, model: &str) {
        self.news.model.send_replace(self.kit.models().preset(Some(model)));
        self.news.is_picked.store(true, Ordering::Relaxed);
    }

    /// The model that a person chose while the host lives: runs that are let go on ask it.
    fn picked(&self) -> Option<String> {
        self.chosen().filter(|_| self.is_picked())
    }

    pub(super) fn is_picked(&self) -> bool {
        self.news.is_picked.load(Ordering::Relaxed)
    }

    pub(super) fn model(&self) -> ModelStatus {
        self.kit.models().status(self.chosen().as_deref())
    }

    pub(super) fn watch_model(&self) -> watch::Receiver<Option<String>> {
        self.news.model.subscribe()
    }

    pub(super) fn watch_cards(&self) -> watch::Receiver<u64> {
        self.news.cards.subscribe()
    }

    /// The runs of this workspace, newest first.
    pub(super) fn runs(&self) -> Result<Vec<RunSummary>, Problem> {
        let rows = self.store.runs(RunFilter::Workspace(&self.places.workspace))?;
        Ok(rows.into_iter().map(|row| self.summary(row)).collect())
    }

    /// About how many bytes of the journal a run takes.
    pub(super) fn size(&self, run: &RunId) -> Result<u64, Problem> {
        Ok(self.store.size(run)?)
    }

    /// Deletes a run that nobody drives: returns how many bytes it took.
    pub(super) fn delete(&self, run: &RunId, via: &str) -> Result<u64, Problem> {
        let bytes = self.store.size(run)?;
        self.store.delete(std::slice::from_ref(run), &self.actor(via), self.clock.now())?;
        Ok(bytes)
    }

    pub(super) fn summary(&self, row: RunRow) -> RunSummary {
        let driver = match row.outcome {
            Some(_) => Driver::Nobody,
            None => self.driver(&row.run),
        };
        let status = if driver == Driver::Nobody { row.status.left } else { row.status.driven };
        RunSummary {
            run: row.run,
            status,
            goal: row.goal,
            created: row.created,
            last: row.last,
            over_ms: row.over_ms,
            outcome: row.outcome,
            driver,
            nodes: row.nodes,
            waiting: row.waiting,
            parent: row.parent.map(|(run, seq)| Parent { run, seq }),
            imported: row.imported,
        }
    }

    fn lock_sessions(&self) -> MutexGuard<'_, HashMap<RunId, RunSession>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What can't be carried out is told before anything is written; a run that is over goes on only by a verb.
fn refuse_idle(run: &Run, commands: &[Command], now: Time) -> Result<(), Problem> {
    let refusal = match run.outcome().filter(|_| commands.is_empty()) {
        Some((_, reason)) => Some(format!("the run has ended: {reason}")),
        None => run.refusal_of(commands, now),
    };
    refusal.map_or(Ok(()), |message| Err(Problem::new(message)))
}

/// The paths that calls were given of which nobody knows whether they ended.
fn unfinished_paths(run: &Run) -> Vec<String> {
    let calls = run.nodes().flat_map(|(_, node)| &node.lineage.tools).filter(|(_, report)| report.is_none());
    let paths = calls.flat_map(|(call, _)| ["path", "target"].into_iter().filter_map(|name| call.args.get(name)?.as_str()));
    paths.map(str::to_owned).collect()
}

/// The person's user name, for the record: as the session says, else as the system knows it.
pub fn user() -> String {
    let named = ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok().filter(|user| !user.is_empty()));
    named.or_else(|| whoami::username().ok()).unwrap_or_else(|| format!("user {}", rustix::process::getuid().as_raw()))
}
