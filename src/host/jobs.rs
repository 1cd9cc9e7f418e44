//! `Jobs`: does the jobs of one run, with the kit of its host: agents, tool calls, code.

use super::{
    cache_key::WorkParts,
    client::Problem,
    clock::Clock,
    config::Config,
    gate_with_tool::GateWithTool,
    kept_rules::RuledCall,
    mcp::servers,
    models::Models,
    new_run::Caching,
    places::Folders,
    replanning, resources,
    result_cache::{RunCache, SharedCache},
    shown_previews::ShownPreviews,
    trust::Trust,
    worker_agent::AgentPort,
    worker_code::{self, CodeScope},
    worker_model::{AgentModel, CurrentCall, ToolModel},
    worker_tool::{self, ToolCaller},
    workers::{Assignment, JobRunner, WorkerPort},
};
use crate::agents::{self, AgentRegistry, AttemptEnd, Card, CardKind, Cards, Execution, Reloaded, Responder};
use crate::engine::{AgentJob, Dep, Done, Job, NodeError, REHEARSAL, Record, ReplanAnswer, Run, RunBrief, RunId, WorkerFact};
use crate::models::{
    AutoModel, ChatModel,
    client::Learned,
    config::{AUTO, Lookup},
};
use crate::plan::{Catalog, Verdict, may_mean};
use crate::tools::{
    KnownSecrets, NewAgent, ServiceTool, Tool, ToolContext, Toolbox, names_in,
    sandbox::{SandboxConfig, Watcher},
    unknown_secrets,
};
use async_trait::async_trait;
use serde_json::Value;
use std::{
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
};
use tokio::task::JoinHandle;

use super::{config::LimitsConfig, day_cap::DayCap, purse::Purse};
use crate::plan::WrittenBudget;

/// What work is done with: the same for all runs of a host.
pub(super) struct Kit {
    pub(super) workspace: PathBuf,
    pub(super) toolbox: Toolbox,
    pub(super) cards: Mutex<AgentRegistry>,
    /// Replaced when a model is set up.
    models: RwLock<Arc<Models>>,
    pub(super) sandbox: SandboxConfig,
    /// Most tokens that results of earlier steps take in an agent's prompt, where people set a limit.
    pub(super) context_tokens: Option<u64>,
    /// Previews that people were shown.
    pub(super) previews: Arc<ShownPreviews>,
    pub(super) secrets: Arc<KnownSecrets>,
    /// What of the workspace's own cards and settings counts, unless all does.
    trust: Option<Trust>,
    /// Where people keep which hosts may get private data.
    pub(super) kept_trust: Trust,
    /// The folder of the person's own cards.
    agents: Option<PathBuf>,
    /// Results of earlier runs, unless people turned that off.
    cache: Option<Arc<SharedCache>>,
}

impl Kit {
    /// Reads the cards and makes ready what is configured; no model is asked yet.
    ///
    /// # Errors
    /// When the configuration holds a list of tools that can't be read.
    pub(super) fn new(places: &Folders, mut config: Config, env: Lookup<'_>) -> Result<Self, Problem> {
        config.tools.sandbox.kept = Some(places.home.join("files"));
        let toolbox = Toolbox::new(&config.tools)?;
        let models = Models::new(config.models, env, Learned::open(&places.home)).under(day_cap(places, &config.limits)?);
        let secrets = KnownSecrets::of_process(&places.workspace);
        models.teach(&secrets);
        let secrets = Arc::new(secrets);
        toolbox.set_servers(servers(places, &config.tools.mcp, &secrets, env, None));
        let cards = Mutex::new(AgentRegistry::open(&places.settings, places.config.as_deref()));
        let kit = Self {
            workspace: places.workspace.clone(),
            toolbox,
            cards,
            models: RwLock::new(Arc::new(models)),
            sandbox: config.tools.sandbox,
            context_tokens: config.limits.context_tokens,
            previews: Arc::default(),
            secrets,
            trust: places.trust(),
            kept_trust: places.kept_trust(),
            agents: places.config.as_ref().map(|folder| folder.join("agents")),
            cache: SharedCache::of(&places.home, config.cache, env),
        };
        kit.equip(env);
        Ok(kit)
    }

    /// Gives agents the tools that only their cards have, as the cards are now.
    fn equip(&self, env: Lookup<'_>) {
        let service = |card: &Arc<Card>| Some(Arc::new(ServiceTool::new(&card.name, card.service.as_ref()?, env)) as Arc<dyn Tool>);
        let mut tools: Vec<Arc<dyn Tool>> = self.cards().iter().filter_map(service).collect();
        tools.push(Arc::new(NewAgent::new(self.agents.clone())));
        self.toolbox.set_hidden(tools);
    }

    /// Reads the cards again.
    pub(super) fn reload(&self, env: Lookup<'_>) -> Reloaded {
        let reloaded = self.lock_cards().reload();
        if reloaded == Reloaded::Changed {
            self.equip(env);
        }
        reloaded
    }

    /// The models as they are set up now.
    pub(super) fn models(&self) -> Arc<Models> {
        self.models.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes another configuration of models.
    pub(super) fn set_models(&self, models: Models) {
        models.teach(&self.secrets);
        *self.models.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(models);
    }

    /// What plans may name, where `model` works for agents that name none.
    pub(super) fn catalog(&self, model: Option<&str>) -> Catalog {
        let registry = self.toolbox.now();
        let aliases = registry.aliases().map(|(from, to)| (from.to_owned(), to.to_owned())).collect();
        let models = self.models().facts(model, self.context_tokens.unwrap_or_default());
        let tools = registry.infos();
        let not_set_up = tools.iter().map(|tool| tool.name.clone()).filter(|name| !registry.is_configured(name)).collect();
        let (senders, servers) = (registry.senders(), self.toolbox.servers().catalog());
        Catalog { agents: self.cards().infos(), tools, aliases, not_set_up, senders, servers, models, checks: registry.checks() }
    }

    /// The cards as they are now.
    pub(super) fn cards(&self) -> Arc<Cards> {
        self.lock_cards().cards()
    }

    /// Cards that could not be read, files that are left out because nobody trusted them, and secrets that are not known.
    pub(super) fn card_problems(&self) -> Vec<Problem> {
        let left_out = self.trust.iter().flat_map(Trust::left_out);
        let servers = self.toolbox.servers();
        let of_servers = servers.problems().iter().map(|problem| Problem::new(problem.clone()));
        let unknown = unknown_secrets(&self.workspace).map(Problem::new);
        self.cards().problems().iter().map(Problem::from).chain(left_out).chain(of_servers).chain(unknown).collect()
    }

    pub(super) fn lock_cards(&self) -> MutexGuard<'_, AgentRegistry> {
        self.cards.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What judging and previewing a call may use: no model.
    pub(super) fn context(&self) -> ToolContext {
        ToolContext::of(self.workspace.clone())
    }
}

/// The cap of the day, where people set one.
fn day_cap(places: &Folders, limits: &LimitsConfig) -> Result<Option<Arc<dyn Purse>>, Problem> {
    let Some(WrittenBudget(budget)) = &limits.day else { return Ok(None) };
    let cap = DayCap::open(&places.home, budget.clone());
    let cap = cap.map_err(|error| Problem::new(format!("the budget of the day can't be kept: {}: {error}", places.home.display())))?;
    Ok(Some(Arc::new(cap)))
}

/// Does the jobs of one run.
pub(super) struct Jobs {
    kit: Arc<Kit>,
    own: RwLock<OwnModel>,
    cache: Option<Arc<RunCache>>,
}

/// The model of a run, and the way to it: a server that is set up meanwhile is not asked by the run before a person chooses a model for it.
#[derive(Clone)]
struct OwnModel {
    name: Option<String>,
    models: Arc<Models>,
}

impl Jobs {
    pub(super) fn new(kit: Arc<Kit>, model: Option<String>, clock: &Arc<dyn Clock>, caching: Caching) -> Self {
        let models = kit.models();
        let shared = kit.cache.clone().filter(|_| caching == Caching::On);
        let cache = shared.map(|shared| Arc::new(RunCache::new(shared, kit.workspace.clone(), clock.clone())));
        Self { kit, own: RwLock::new(OwnModel { name: model, models }), cache }
    }

    /// The result that an earlier run made of the same work, if one may be taken.
    async fn cached(&self, parts: Option<WorkParts>, caller: &ToolCaller<'_>) -> Option<WorkerFact> {
        let (cache, parts) = self.cache.as_ref().zip(parts)?;
        let entry = cache.find(caller.task, (parts, caller.port.steered().clone()), |call, strict| caller.needs_yes(call, strict)).await?;
        caller.port.report(WorkerFact::Cached(Box::new(entry.source)));
        Some(WorkerFact::Done(Done { result: entry.result, mark: None }))
    }

    fn own(&self) -> OwnModel {
        self.own.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn agent(&self, job: &AgentJob, deps: &[Dep], own: &OwnModel, caller: ToolCaller<'_>) -> Result<WorkerFact, NodeError> {
        // Cards are looked up now, so that an edited one takes effect for the next node that starts.
        let card = self.kit.cards().for_job(job)?;
        let OwnModel { name, models } = own;
        let run = name.as_deref();
        let call = Arc::<CurrentCall>::default();
        let responder = match card.kind {
            _ if job.rehearsed => Responder::Rehearsal,
            // A person and a service are there whether a model is or not.
            CardKind::Human | CardKind::Service if run != Some(REHEARSAL) => Responder::Operator,
            CardKind::Human | CardKind::Service | CardKind::Llm | CardKind::Dynamic | CardKind::DeepReasoner => {
                if let Some(line) = models.stand_in(run, job.model.as_deref()) {
                    caller.port.report(WorkerFact::Log(line));
                }
                models.responder(run, job.model.as_deref())?
            }
        };
        let (mut window, mut server) = (None, None);
        let responder = match responder {
            Responder::Model { provider, name, settings } => {
                let auto = if name == AUTO { provider.auto().await } else { None };
                if let Some(AutoModel { why, .. }) = &auto {
                    caller.port.report(WorkerFact::Log(why.clone()));
                }
                let name = auto.map_or(name, |auto| auto.name);
                window = provider.window(&name).or_else(|| models.prices().window(&name));
                server = Some(provider.clone());
                let model = AgentModel { tries: models.tries(provider), port: caller.port.clone(), call: call.clone() };
                Responder::Model { provider: Arc::new(model), name, settings }
            }
            Responder::Operator | Responder::Rehearsal => responder,
        };
        let may_use = |server: &str| {
            let means = |patterns: &[String]| patterns.iter().any(|pattern| may_mean(pattern, server));
            means(&card.tools) && job.tools.as_deref().is_none_or(means)
        };
        if !job.rehearsed {
            for (server, error) in self.kit.toolbox.list(may_use).await {
                caller.port.report(WorkerFact::Log(format!("the tools of the MCP server `{server}` are not offered: {error}")));
            }
        }
        let port = AgentPort { caller, prices: models.prices(), server, call };
        let (job, deps) = resources::gathered(job, deps, &port).await?;
        let catalog = self.kit.catalog(None);
        let mut tools = card.narrow(&catalog, job.tools.as_deref());
        let registry = self.kit.toolbox.now();
        tools.retain(|tool| registry.is_configured(&tool.name));
        let execution = Execution { card, responder, tools, window, context_tokens: self.kit.context_tokens };
        if let Some(cached) = self.cached(WorkParts::of_agent(&job, &deps, &execution, &self.kit.workspace), &port.caller).await {
            return Ok(cached);
        }
        Ok(self.sealed(match agents::run(&job, &deps, &execution, &port).await? {
            AttemptEnd::Done(done) => WorkerFact::Done(done),
            AttemptEnd::Limit { error, handed_back } => WorkerFact::HandedBack { error, result: handed_back },
        }))
    }

    /// What a call is made of, where its node gives the cache a time: what reads this computer is as quick as the look for it, and what
    /// asks others may be answered otherwise by now.
    async fn tool_parts(&self, (tool, args): (&str, &Value), task: &Assignment, own: &OwnModel) -> Option<WorkParts> {
        task.cache.and_then(|cache| cache.ttl_s)?;
        let registry = self.kit.toolbox.ready(self.kit.toolbox.now().canonical(tool)).await.ok()?;
        Some(WorkParts::of_tool(registry.info(tool)?, args, own.name.as_deref(), &self.kit.workspace))
    }

    /// Marks in what models and code give are text. Tools are sealed call by call, and what an earlier run made was sealed there.
    fn sealed(&self, mut fact: WorkerFact) -> WorkerFact {
        if let WorkerFact::Done(Done { result, .. }) | WorkerFact::HandedBack { result, .. } = &mut fact {
            self.kit.secrets.seal(result);
        }
        fact
    }

    /// A tool that needs a model uses the one that its node uses.
    fn context(&self, job: &Job, own: &OwnModel, port: &WorkerPort) -> ToolContext {
        let node = match job {
            Job::Agent(job) => job.model.as_deref(),
            Job::Tool { .. } | Job::Code { .. } | Job::Inline { .. } | Job::Inside { .. } => None,
        };
        let model = match own.models.responder(own.name.as_deref(), node) {
            Ok(Responder::Model { provider, name, .. }) => {
                let model = ToolModel { tries: own.models.tries(provider), port: port.clone(), kit: self.kit.clone() };
                Some((Arc::new(model) as Arc<dyn ChatModel>, name))
            }
            Ok(Responder::Operator | Responder::Rehearsal) | Err(_) => None,
        };
        // What a service says on its way is the node's output.
        let is_service = |job: &AgentJob| self.kit.cards().for_job(job).is_ok_and(|card| card.kind == CardKind::Service);
        let is_watched = match job {
            Job::Tool { .. } => true,
            Job::Agent(job) => is_service(job),
            Job::Code { .. } | Job::Inline { .. } | Job::Inside { .. } => false,
        };
        let watcher = is_watched.then(|| self.watcher(port));
        ToolContext { model, watcher, ..self.kit.context() }
    }

    /// Tells the run what the call of a tool node writes.
    fn watcher(&self, port: &WorkerPort) -> Arc<Watcher> {
        let (kit, port) = (self.kit.clone(), port.clone());
        Arc::new(move |line: &str, is_cut: bool| port.report(WorkerFact::Output(kit.secrets.sealed_line(line, is_cut))))
    }
}

#[async_trait]
impl JobRunner for Jobs {
    /// Secrets in a call are shown to a person each time.
    fn permits(&self, run: &RunId, gate: &GateWithTool) -> Option<String> {
        let (tool, args) = (gate.tool.as_deref()?, &gate.gate.payload);
        let registry = self.kit.toolbox.now();
        let judgement = registry.judge(tool, args, &self.kit.context()).ok()?;
        let may_run = registry.get(tool)?.asks_because().is_none() && registry.check(tool, args).is_ok() && names_in(args).is_empty();
        let (rules, call) =
            (self.kit.kept_trust.rules(), RuledCall { run, node: &gate.gate.node, tool, args, workspace: &self.kit.workspace });
        let (judgement, rule) = rules.judged(judgement, call);
        if !may_run || judgement.verdict != Verdict::Allow {
            return None;
        }
        rule.into_iter().for_each(|rule| rules.hit(rule));
        Some(judgement.why)
    }

    async fn work(&self, task: Assignment, port: WorkerPort) -> WorkerFact {
        let own = self.own();
        let context = self.context(&task.job, &own, &port);
        let caller = ToolCaller {
            toolbox: &self.kit.toolbox,
            trust: &self.kit.kept_trust,
            models: &own.models,
            secrets: &self.kit.secrets,
            previews: &self.kit.previews,
            context: &context,
            port: &port,
            task: &task,
        };
        match &task.job {
            Job::Agent(job) => self.agent(job, &task.deps, &own, caller).await.unwrap_or_else(WorkerFact::Failed),
            Job::Tool { tool, args } => match self.cached(self.tool_parts((tool, args), &task, &own).await, &caller).await {
                Some(cached) => cached,
                None => worker_tool::work(&task, tool, args.clone(), &caller).await,
            },
            Job::Code { code, inputs } => {
                let parts = WorkParts::of_code(code, inputs, &task.deps, &self.kit.workspace);
                match self.cached(Some(parts), &caller).await {
                    Some(cached) => cached,
                    None => self.sealed(worker_code::work(code, &CodeScope { inputs, deps: &task.deps }, &self.kit.sandbox, &port).await),
                }
            }
            Job::Inline { work } => WorkerFact::Failed(NodeError::permanent(format!("`{work}` is done by the engine, not by a worker"))),
            Job::Inside { .. } => {
                WorkerFact::Failed(NodeError::permanent("the inner plan is run by the engine, not by a worker".to_owned()))
            }
        }
    }

    fn completed(&self, run: &Run, records: &[Record]) -> Option<JoinHandle<()>> {
        let cache = self.cache.clone()?;
        let works = cache.completed(run, records, &self.kit.toolbox.now());
        (!works.is_empty()).then(|| tokio::task::spawn_blocking(move || cache.keep(works)))
    }

    async fn replan(&self, brief: RunBrief) -> ReplanAnswer {
        let OwnModel { name, models } = self.own();
        let catalog = self.kit.catalog(name.as_deref());
        replanning::replan((&self.kit.workspace, &self.kit.secrets), catalog, (name.as_deref(), &models), &brief).await
    }

    fn use_model(&self, model: &str) {
        let own = OwnModel { name: Some(model.to_owned()), models: self.kit.models() };
        *self.own.write().unwrap_or_else(PoisonError::into_inner) = own;
    }
}
