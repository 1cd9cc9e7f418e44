//! One client's connection: requests in, notices out. Two tasks: requests are never held up by a screen that is slow to take notices.

mod tools;

use super::{
    client::{Client, Connection, Hello, ModelSetup, Notice, PlanningId, Problem, Request, ServerTurn, SetupNews, SetupStep, There},
    config_text::ConfigText,
    follow::{SeenRuns, follow},
    gate_with_tool::GateWithTool,
    gates::{self, TurnedAway},
    inventory::RuleScope,
    kept_rules::{KeptRule, RuledCall},
    learning,
    local::{LocalHost, Shared},
    looked::LastLook,
    mcp::servers,
    new_run::NewRun,
    planning, prompts,
    save::{self, Saved},
    session::{FirstCommands, Listener, Order, RunSession},
    trust::{TrustItem, TrustState},
};
use crate::engine::{Action, Actor, Command, GateId, GateReply, Run, RunId, short_name};
use crate::plan::{Plan, Verdict};
use crate::store::{PlanningRecord, StoreError};
use serde_json::Value;
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};
use tokio::{
    sync::mpsc,
    task::{AbortHandle, JoinSet},
};

use super::local::VIA;

/// Notices between the host and one client's screen; a slow client is waited for beyond that, and never by a run.
const NOTICES: usize = 256;

/// Earlier requests that a client gets.
const REQUESTS: usize = 100;

impl Client for LocalHost {
    fn connect(&self) -> Connection {
        self.connect_as(self.shared().actor(VIA))
    }
}

impl LocalHost {
    /// A connection for somebody: what it asks of runs is recorded as theirs.
    pub fn connect_as(&self, by: Actor) -> Connection {
        let (requests, inbox) = mpsc::unbounded_channel();
        let (outbox, notices) = mpsc::channel(NOTICES);
        tokio::spawn(serve(self.shared().clone(), by, inbox, outbox));
        Connection { requests, notices }
    }
}

/// Serves one client until it goes. Its plannings end with it; its runs go on.
async fn serve(shared: Arc<Shared>, by: Actor, requests: mpsc::UnboundedReceiver<Request>, outbox: mpsc::Sender<Notice>) {
    let (listener, notices) = mpsc::unbounded_channel();
    let (seen, host, follower) = (Arc::<SeenRuns>::default(), shared.clone(), listener.clone());
    let places = shared.places.clone();
    let is_console = by.via == VIA;
    let client = ClientSession { shared, by, listener, tasks: JoinSet::new(), plannings: HashMap::new(), offered: <_>::default() };
    tokio::select! {
        () = pump(notices, outbox, &seen) => {}
        () = follow(&host, &seen, &follower) => {}
        () = client.answer(requests) => {}
    }
    if is_console {
        LastLook::keep(&places.home, &places.workspace, host.clock.now());
    }
}

async fn pump(mut notices: mpsc::UnboundedReceiver<Notice>, outbox: mpsc::Sender<Notice>, seen: &SeenRuns) {
    while let Some(notice) = notices.recv().await {
        let Some(notice) = seen.pass(notice) else { continue };
        if outbox.send(notice).await.is_err() {
            return;
        }
    }
}

struct ClientSession {
    shared: Arc<Shared>,
    /// Whose what it asks of runs is.
    by: Actor,
    listener: Listener,
    tasks: JoinSet<()>,
    plannings: HashMap<PlanningId, AbortHandle>,
    /// The prompts and tools that the client knows.
    offered: (Vec<super::client::PromptOffer>, crate::plan::Catalog),
}

impl ClientSession {
    async fn answer(mut self, mut requests: mpsc::UnboundedReceiver<Request>) {
        let (mut model, mut cards) = (self.shared.watch_model(), self.shared.watch_cards());
        let mut servers = self.shared.kit.toolbox.servers().watch();
        self.greet();
        loop {
            tokio::select! {
                biased;
                request = requests.recv() => match request {
                    Some(request) => self.handle(request).await,
                    None => return,
                },
                Ok(()) = model.changed() => {
                    self.notify(Notice::Model(self.shared.model()));
                    self.offer();
                }
                Ok(()) = cards.changed() => self.offer(),
                Ok(()) = servers.changed() => self.offer_anew(),
                Some(_) = self.tasks.join_next() => {}
            }
        }
    }

    fn greet(&self) {
        let places = &self.shared.places;
        let last = LastLook::read(&places.home, &places.workspace);
        if self.by.via == VIA {
            LastLook::keep(&places.home, &places.workspace, self.shared.clock.now());
        }
        self.notify(Notice::Hello(Hello {
            workspace: self.shared.places.workspace.display().to_string(),
            user: self.shared.user.clone(),
            model: self.shared.model(),
            is_picked: self.shared.is_picked(),
            requests: self.requests(),
            looked: last.at,
            is_first: last.is_first,
            settings: self.settings_file().map(|file| file.display().to_string()),
            runs_go_on: false,
        }));
        self.offer();
        if let Some(error) = self.shared.store.refusal() {
            self.notify(Notice::Problem(error.into()));
        }
    }

    fn settings_file(&self) -> Option<std::path::PathBuf> {
        Some(self.shared.places.config.as_ref()?.join("config.toml"))
    }

    /// The theme that consoles have from now on.
    fn keep_theme(&self, theme: String) -> Result<Notice, Problem> {
        let file = self.keep(&["console", "theme"], theme.as_str().into())?;
        Ok(Notice::ThemeKept { theme, file })
    }

    /// The keys that a command has in consoles from now on.
    fn keep_keys(&self, command: String, keys: &[String]) -> Result<Notice, Problem> {
        let keys: toml_edit::Array = keys.iter().map(String::as_str).collect();
        let file = self.keep(&["console", "keys", &command], keys.into())?;
        Ok(Notice::KeysKept { command, file })
    }

    /// Keeps a value in the person's settings; says in which file.
    fn keep(&self, path: &[&str], value: toml_edit::Value) -> Result<String, Problem> {
        let file = self.settings_file().ok_or_else(|| Problem::new("the system names no folder for your settings, so it isn't kept"))?;
        let mut config = ConfigText::open(&file)?;
        config.put(path, Some(value));
        config.save()?;
        Ok(file.display().to_string())
    }

    /// What was asked for here before, oldest first.
    fn requests(&self) -> Vec<String> {
        let mut planned = PlanningRecord::all(&self.shared.places.home, &self.shared.places.workspace);
        let first = planned.len().saturating_sub(REQUESTS);
        planned.drain(first..).map(|record| record.request).collect()
    }

    /// What servers list is another than the client knows; what is wrong with files is not said again.
    fn offer_anew(&mut self) {
        let now = (prompts::offers(&self.shared.kit.toolbox.servers()), self.shared.catalog());
        if now != self.offered {
            self.notify(Notice::Prompts(now.0.clone()));
            self.notify(Notice::Catalog { catalog: Box::new(now.1.clone()), problems: Vec::new() });
            self.offered = now;
        }
    }

    fn catalog(&self) -> Notice {
        Notice::Catalog { catalog: Box::new(self.shared.catalog()), problems: self.shared.kit.card_problems() }
    }

    /// What there is to plan and to begin with.
    fn offer(&self) {
        self.notify(self.catalog());
        let prompts = prompts::offers(&self.shared.kit.toolbox.servers());
        if !prompts.is_empty() {
            self.notify(Notice::Prompts(prompts));
        }
    }

    async fn handle(&mut self, request: Request) {
        match request {
            Request::Plan { id, wish } => {
                let task = self.tasks.spawn(planning::plan(self.shared.clone(), id, wish, self.listener.clone()));
                self.plannings.insert(id, task);
            }
            Request::CancelPlanning(id) => {
                self.plannings.remove(&id).into_iter().for_each(|task| task.abort());
            }
            Request::Start { mut plan, inputs, first, model, planning } => {
                plan.inputs.extend(inputs);
                let new = NewRun { plan: *plan, first, model, planning, ..NewRun::default() };
                self.tell(self.shared.start(new, self.by.clone(), Some(self.listener.clone())).await);
            }
            Request::Command { run, command } => self.command(run, command).await,
            Request::ListRuns => self.notify_with(self.shared.runs().map(Notice::Runs)),
            Request::OpenRun(run) => self.open(run),
            Request::KeepTheme(theme) => self.notify_with(self.keep_theme(theme)),
            Request::KeepKeys { command, keys } => self.notify_with(self.keep_keys(command, &keys)),
            Request::PeekRun(run) => {
                let shared = self.shared.clone();
                self.aside(move || Notice::RunPeeked { peek: Box::new(shared.peek(&run)), run });
            }
            Request::SearchRuns(words) => {
                let shared = self.shared.clone();
                self.aside(move || shared.search(&words).map_or_else(Notice::Problem, |found| Notice::RunsFound { words, found }));
            }
            Request::WeighRun(run) => self.notify_with(self.shared.size(&run).map(|bytes| Notice::RunWeighed { run, bytes })),
            Request::DeleteRun(run) => {
                let deleted = self.shared.delete(&run, &self.by.via);
                self.notify_with(deleted.map(|bytes| Notice::RunDeleted { run, bytes }));
                self.notify_with(self.shared.runs().map(Notice::Runs));
            }
            Request::Resume(run) => self.resume(run).await,
            Request::Branch { run, seq, actions } => self.branch(run, seq, actions).await,
            Request::Preview { run, gate, payload } => self.preview(run, gate, payload),
            Request::UseModel { model, run } => self.use_model(&model, run).await,
            Request::ListModels => self.list_models(),
            Request::ListProviders => self.notify(Notice::Providers(self.shared.set_up().providers())),
            Request::SetUp { id, step, setup } => self.set_up(id, step, setup),
            Request::Prompt { server, name, arguments } => self.prompt(server, name, arguments),
            Request::ListTrust => self.list_trust(),
            Request::Trust(item) => self.trust(&item),
            Request::AllowHost(host) => {
                self.tell(self.shared.places.kept_trust().allow_host(&host, &self.shared.permission_log()));
            }
            Request::ApproveAlways { run, gate, hash } => self.approve_always(run, gate, hash).await,
            of_tools @ (Request::ListInventory
            | Request::TurnServer { .. }
            | Request::ReadServerLog(_)
            | Request::ReadCard(_)
            | Request::SaveCard { .. }
            | Request::RevokeRule(_)
            | Request::OfferRules { .. }
            | Request::WeighRule { .. }
            | Request::KeepRule { .. }) => self.of_tools(of_tools),
            Request::Learn(wish) => learning::answer(&self.shared, wish, self.listener.clone()),
            Request::ReadPlan(path) => self.read_plan(path),
            Request::SaveText { path, text, there } => self.save_text(path, text, there),
            Request::SavePlan { path, plan, form, there } => self.save_plan(path, plan, form, there),
        }
    }

    async fn command(&self, run: RunId, command: Command) {
        let Some(session) = self.shared.session(&run) else { return self.reopen(run, command).await };
        if self.is_turned_away(&session, &command).await {
            return;
        }
        let order = Order::Command { command: command.clone(), by: self.by.clone(), asker: Some(self.listener.clone()) };
        if !session.order(order) {
            session.ended().await;
            self.reopen(run, command).await;
        }
    }

    /// Whether a command doesn't reach its run; the client is told why.
    async fn is_turned_away(&self, session: &RunSession, command: &Command) -> bool {
        match gates::check(&self.shared.kit, session, command).await {
            Ok(()) => return false,
            Err(TurnedAway::Refused(problem)) => self.notify(Notice::Problem(problem)),
            Err(TurnedAway::Changed(gate, preview)) => {
                self.notify(Notice::Preview { run: session.run.clone(), gate, preview });
                self.notify(Notice::Problem(Problem::new("the preview changed since you last saw it; look at it again")));
            }
        }
        true
    }

    fn inventory(&mut self) {
        let shared = self.shared.clone();
        self.aside(move || shared.inventory().unwrap_or_else(Notice::Problem));
    }

    fn turn_server(&mut self, name: String, turn: ServerTurn) {
        let (shared, listener) = (self.shared.clone(), self.listener.clone());
        self.tasks.spawn(async move {
            // A client that has gone hears nothing.
            shared.turn_server(&name, turn).await.into_iter().for_each(|notice| drop(listener.send(notice)));
        });
    }

    /// Without a rule nothing is approved.
    async fn approve_always(&self, run: RunId, gate: GateId, hash: String) {
        let command = Command::decide(gate, GateReply::Approve, hash.clone());
        let Some(session) = self.shared.session(&run) else { return self.reopen(run, command).await };
        let seen = gates::look(&session, gate).await.filter(|seen| seen.gate.hash == hash);
        let Some(GateWithTool { gate, tool: Some(tool), .. }) = seen else {
            return self.notify(Notice::Problem(Problem::new("the gate is no longer as it was shown; nothing was approved")));
        };
        if self.is_turned_away(&session, &command).await {
            return;
        }
        let by = (self.shared.user.clone(), self.shared.clock.now());
        let workspace = &self.shared.places.workspace;
        let call = RuledCall { run: &run, node: &gate.node, tool: &tool, args: &gate.payload, workspace };
        let rule = KeptRule::of(call, Verdict::Allow, RuleScope::Project, BTreeMap::new(), by);
        let origin = Some(super::kept_rules::RuleOrigin { run: run.clone(), gate: gate.id });
        let log = self.shared.permission_log();
        match rule.and_then(|rule| self.shared.places.kept_trust().rules().add(KeptRule { origin, ..rule }, &log)) {
            Ok(_) => self.command(run, command).await,
            Err(problem) => {
                self.notify(Notice::Problem(Problem { message: format!("nothing was approved: {}", problem.message), ..problem }))
            }
        }
    }

    /// A run that goes on here asks it too; one that doesn't, once it is let go on.
    async fn use_model(&self, model: &str, run: Option<RunId>) {
        self.shared.choose(model);
        if let (Some(session), Some(model)) = (run.and_then(|run| self.shared.session(&run)), self.shared.chosen()) {
            let command = self.shared.use_model(model).await;
            session.command(command, self.by.clone());
        }
    }

    /// A verb on a run that is over goes on with it here. Everything else is turned away.
    async fn reopen(&self, run: RunId, command: Command) {
        let state = self.shared.store.records(&run).map(|records| Run::replay(&records));
        let result = match (state, command) {
            (Err(StoreError::NoSuchRun { .. }), _) => return self.gone(run),
            (Err(error), _) => Err(error.into()),
            (Ok(state), command @ (Command::Act { .. } | Command::Undo | Command::Replan { .. })) if state.outcome().is_some() => {
                let last = FirstCommands { commands: vec![command], by: self.by.clone() };
                self.shared.resume(run, last, Some(self.listener.clone())).await.map(|_| ())
            }
            (Ok(state), command) => Err(state.refusal(&command).map_or_else(|| not_live(&run), Problem::new)),
        };
        self.tell(result);
    }

    fn open(&self, run: RunId) {
        if let Some(session) = self.shared.session(&run)
            && session.order(Order::Attach(self.listener.clone()))
        {
            return;
        }
        match self.shared.store.records(&run) {
            Ok(records) => {
                let driver = self.shared.driver(&run);
                self.notify(Notice::RunOpened { run, records, driver });
            }
            Err(StoreError::NoSuchRun { .. }) => self.gone(run),
            Err(error) => self.notify(Notice::Problem(error.into())),
        }
    }

    /// A run that was deleted meanwhile leaves the list too.
    fn gone(&self, run: RunId) {
        self.notify(Notice::RunGone(run));
        self.notify_with(self.shared.runs().map(Notice::Runs));
    }

    /// A run that goes on here already is shown.
    async fn resume(&self, run: RunId) {
        if self.shared.session(&run).is_some() {
            return self.open(run);
        }
        let last = FirstCommands { commands: Vec::new(), by: self.by.clone() };
        self.tell(self.shared.resume(run, last, Some(self.listener.clone())).await);
    }

    async fn branch(&self, run: RunId, seq: u64, actions: Vec<Action>) {
        let last = FirstCommands { commands: actions.into_iter().map(Command::act).collect(), by: self.by.clone() };
        self.tell(self.shared.branch(run, seq, last, Some(self.listener.clone())).await);
    }

    fn preview(&mut self, run: RunId, gate: GateId, payload: Value) {
        let (shared, listener) = (self.shared.clone(), self.listener.clone());
        self.tasks.spawn(async move {
            if let Some(preview) = gates::preview(&shared, &run, gate, &payload).await {
                // A client that has gone needs no picture.
                let _ = listener.send(Notice::Preview { run, gate, preview });
            }
        });
    }

    fn prompt(&mut self, server: String, name: String, arguments: serde_json::Map<String, Value>) {
        let (servers, listener) = (self.shared.kit.toolbox.servers(), self.listener.clone());
        self.tasks.spawn(async move {
            // A client that has gone needs no text.
            let _ = listener.send(prompts::text(&servers, &server, &name, arguments).await);
        });
    }

    fn list_trust(&self) {
        let mut items = self.shared.places.trust().map(|trust| trust.items()).unwrap_or_default();
        items.retain(|item| item.state != TrustState::Trusted);
        self.notify(Notice::Trust(items));
    }

    /// Cards and MCP servers count from now on, other files from the next start on.
    fn trust(&self, item: &TrustItem) {
        if let Some(Err(problem)) = self.shared.places.trust().map(|trust| trust.record(item, &self.shared.permission_log())) {
            return self.notify(Notice::Problem(problem));
        }
        self.shared.kit.reload(&*self.shared.env);
        let (shared, toolbox) = (&self.shared, &self.shared.kit.toolbox);
        toolbox.set_servers(servers(&shared.places, &shared.mcp, &shared.kit.secrets, &*shared.env, Some(&toolbox.servers())));
        self.offer();
    }

    fn list_models(&mut self) {
        let (shared, listener) = (self.shared.clone(), self.listener.clone());
        self.tasks.spawn(async move {
            let list = shared.kit.models().list(shared.chosen().as_deref()).await;
            // A client that has gone needs no list.
            let _ = listener.send(Notice::Models(list));
        });
    }

    /// A model that is made the default is used from now on.
    fn set_up(&mut self, id: u64, step: SetupStep, setup: Box<ModelSetup>) {
        let (shared, listener) = (self.shared.clone(), self.listener.clone());
        self.tasks.spawn(async move {
            let set_up = shared.set_up();
            let news = set_up.step(step, &setup).await;
            if let (SetupNews::Kept(kept), Ok(models)) = (&news, set_up.again()) {
                shared.kit.set_models(models);
                shared.choose(&kept.model);
            }
            // A client that has gone hears nothing.
            let _ = listener.send(Notice::SetUp { id, news });
        });
    }

    fn read_plan(&mut self, path: String) {
        let file = self.shared.places.workspace.join(&path);
        self.aside(move || match super::link::open(&file) {
            Ok(plan) => Notice::PlanRead { path, plan: Box::new(plan) },
            Err(message) => Notice::Problem(Problem::new(format!("`{path}`: {message}"))),
        });
    }

    fn save_text(&mut self, path: String, text: String, there: There) {
        let file = self.shared.places.workspace.join(&path);
        self.aside(move || match save::text(&text, &file, there) {
            Ok(true) => Notice::TextSaved(path),
            Ok(false) => Notice::TextThere { path, text },
            Err(error) => Notice::Problem(Problem::new(format!("`{path}` can't be written: {error}"))),
        });
    }

    fn save_plan(&mut self, path: String, plan: Box<Plan>, form: crate::plan::Dialect, there: There) {
        let shared = self.shared.clone();
        let file = shared.places.workspace.join(&path);
        self.aside(move || match save::plan(&plan, form, &file, there) {
            Ok(Saved::Written) => match shared.places.kept_trust().saved(&file, &shared.permission_log()) {
                Ok(()) => Notice::PlanSaved { path, plan },
                Err(problem) => Notice::Problem(problem),
            },
            Ok(Saved::IsThere { has_comments }) => Notice::PlanThere { path, plan, form, has_comments },
            Err(error) => Notice::Problem(Problem::new(format!("`{path}` can't be written: {error}"))),
        });
    }

    /// Blocking work; a client that has gone gets no report of its end.
    fn aside(&mut self, work: impl FnOnce() -> Notice + Send + 'static) {
        let listener = self.listener.clone();
        self.tasks.spawn_blocking(move || drop(listener.send(work())));
    }

    fn notify(&self, notice: Notice) {
        // The pump ends only together with this session.
        let _ = self.listener.send(notice);
    }

    /// Tells what went wrong, if anything did.
    fn tell<T>(&self, done: Result<T, Problem>) {
        if let Err(problem) = done {
            self.notify(Notice::Problem(problem));
        }
    }

    fn notify_with(&self, notice: Result<Notice, Problem>) {
        self.notify(notice.unwrap_or_else(Notice::Problem));
    }
}

fn not_live(run: &RunId) -> Problem {
    Problem::new(format!("run `{}` is open for reading only", short_name(&run.0)))
}
