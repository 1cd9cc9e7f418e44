//! `LaidPlan`: a plan made ready to be drawn: its nodes in order, each with what it is known to take, and the plans inside.

use super::{EstimateBasis, EstimateSources, Forecast, Measure, PastCase, limits, spread::Spread};
use crate::engine::WorkerSort;
use crate::plan::{
    Join, Node, NodeId, NodeKind, OnFailure, Plan, Route,
    order::{EdgePlace, PlanGraph},
};
use crate::text::tokens;
use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

/// A plan, or one inside another.
pub(super) struct LaidPlan<'a> {
    pub(super) plan: &'a Plan,
    pub(super) graph: PlanGraph,
    /// Positions of nodes, each behind its sources.
    pub(super) order: Vec<usize>,
    pub(super) nodes: Vec<LaidNode<'a>>,
    /// A walk that may come round again: how often is not known.
    pub(super) goes_round: bool,
}

pub(super) struct LaidNode<'a> {
    pub(super) node: &'a Node,
    /// Its address from outside.
    pub(super) address: NodeId,
    pub(super) work: LaidWork<'a>,
    pub(super) basis: EstimateBasis,
    pub(super) cases: Option<usize>,
    pub(super) prompt_tokens: Option<u64>,
    /// Tokens of its own texts.
    pub(super) own_tokens: u64,
}

/// What a node is known to take.
pub(super) enum LaidWork<'a> {
    /// The engine does it at once, or a person.
    Nothing,
    Past(Rc<PastWork>),
    Bounds(Box<Forecast>),
    Inside {
        passes: Passes,
        body: Box<LaidPlan<'a>>,
    },
    /// The plan of a sub-plan is in a file that was not read.
    Unread,
}

/// What past cases say.
pub(super) struct PastWork {
    /// By `Measure::ALL`; absent where it is not known.
    spreads: [Option<Spread>; 4],
    result: Option<Spread>,
    /// The share that gave a result.
    pub(super) success: f64,
    cases: usize,
}

/// What is known of workers: looked up once, however many nodes have the same one.
struct KnownWork<'s> {
    sources: EstimateSources<'s>,
    works: RefCell<BTreeMap<WorkKey, Option<Rc<PastWork>>>>,
}

/// Its sort, its name, and its model.
type WorkKey = (WorkerSort, String, Option<String>);

impl KnownWork<'_> {
    /// What past cases say of a worker with this model, or with any: then its cost is only known where it asks none.
    fn work(&self, sort: WorkerSort, worker: &str, model: Option<&str>) -> Option<Rc<PastWork>> {
        let key = (sort, worker.to_owned(), model.map(str::to_owned));
        let mut works = self.works.borrow_mut();
        let look =
            || PastWork::of(&self.sources.past.cases(sort, worker, model), sort != WorkerSort::Agent || model.is_some()).map(Rc::new);
        works.entry(key).or_insert_with(look).clone()
    }
}

/// How often the plan inside runs.
pub(super) enum Passes {
    Times(u32),
    Past(Spread),
    /// At least once or not at all, and at most so often where that is known.
    Between(u32, Option<u32>),
}

impl PastWork {
    fn of(cases: &[PastCase], knows_cost: bool) -> Option<Self> {
        let spread =
            |unit: f64, figure: fn(&PastCase) -> f64| Spread::of(cases.iter().map(|case| (case.input_tokens as f64, figure(case))), unit);
        let priced = knows_cost && cases.iter().all(|case| case.cost_usd.is_some());
        let spreads = Measure::ALL.map(|measure| match measure {
            Measure::Tokens => spread(measure.unit(), |case| case.tokens as f64),
            Measure::Usd => spread(measure.unit(), |case| case.cost_usd.unwrap_or_default()).filter(|_| priced),
            Measure::Ms => spread(measure.unit(), |case| case.took_ms as f64),
            Measure::ModelCalls => spread(measure.unit(), |case| case.calls as f64),
        });
        let success = cases.iter().filter(|case| case.has_result).count() as f64 / cases.len().max(1) as f64;
        let known = spreads[0].is_some();
        known.then(|| Self { spreads, result: spread(1.0, |case| case.result_tokens as f64), success, cases: cases.len() })
    }

    pub(super) fn spread(&self, at: usize) -> Option<&Spread> {
        self.spreads[at].as_ref()
    }

    pub(super) fn result(&self) -> Option<&Spread> {
        self.result.as_ref()
    }
}

impl<'a> LaidPlan<'a> {
    pub(super) fn of(plan: &'a Plan, sources: &EstimateSources<'_>) -> Self {
        Self::under("", plan, &KnownWork { sources: *sources, works: RefCell::default() })
    }

    fn under(prefix: &str, plan: &'a Plan, sources: &KnownWork<'_>) -> Self {
        let graph = PlanGraph::new(plan);
        let order = graph.topological();
        let nodes = plan.nodes.iter().map(|node| LaidNode::of(prefix, plan, node, sources)).collect();
        let goes_round = order.len() < plan.nodes.len();
        Self { plan, graph, order, nodes, goes_round }
    }

    /// Whether something decides which nodes run.
    pub(super) fn has_branches(&self) -> bool {
        let conditional = self.plan.edges.iter().any(|edge| edge.when.is_some() || edge.default);
        conditional || self.nodes.iter().any(LaidNode::may_be_left_out)
    }

    /// How many nodes there are at all depths.
    pub(super) fn size(&self) -> usize {
        let inside = |node: &LaidNode<'_>| if let LaidWork::Inside { body, .. } = &node.work { body.size() } else { 0 };
        self.nodes.len() + self.nodes.iter().map(inside).sum::<usize>()
    }

    /// All nodes, those inside others behind them.
    pub(super) fn all(&self) -> Vec<&LaidNode<'a>> {
        let inside = |node: &'_ LaidNode<'a>| -> usize { if let LaidWork::Inside { body, .. } = &node.work { body.size() } else { 0 } };
        let mut all = Vec::with_capacity(self.nodes.iter().map(|node| 1 + inside(node)).sum());
        for node in &self.nodes {
            all.push(node);
            if let LaidWork::Inside { body, .. } = &node.work {
                all.extend(body.all());
            }
        }
        all
    }

    /// Whether an edge is taken only if something says so.
    pub(super) fn is_conditional(&self, link: usize) -> bool {
        match self.graph.links()[link].place {
            EdgePlace::Edge(at) => self.plan.edges.get(at).is_some_and(|edge| edge.when.is_some() || edge.default),
            EdgePlace::Dependency(..) => false,
        }
    }

    pub(super) fn join(&self, node: &Node) -> Option<Join> {
        node.policy.join.or(self.plan.defaults.join)
    }

    /// Whether only one of its ways out is taken.
    pub(super) fn takes_one(&self, node: &Node) -> bool {
        let route = node.policy.route.or(self.plan.defaults.route);
        node.kind.is_decision() || self.plan.dialect.walks() || matches!(route, Some(Route::First | Route::Decision))
    }

    pub(super) fn fails_safe(&self, node: &Node) -> bool {
        node.policy.on_failure.or(self.plan.defaults.on_failure) == Some(OnFailure::Safe)
    }
}

impl<'a> LaidNode<'a> {
    fn of(prefix: &str, plan: &'a Plan, node: &'a Node, known: &KnownWork<'_>) -> Self {
        let address = NodeId::new(format!("{prefix}{}", node.id));
        let mut laid =
            Self { node, own_tokens: 0, address, work: LaidWork::Nothing, basis: EstimateBasis::Unknown, cases: None, prompt_tokens: None };
        match &node.kind {
            NodeKind::Agent(_) | NodeKind::Decision(crate::plan::DecisionNode::Agent(_)) => laid.agent(plan, known),
            NodeKind::Tool(work) => {
                laid.own_tokens = match &work.input {
                    crate::plan::ToolInput::Args(args) => tokens(&serde_json::json!(args).to_string()),
                    crate::plan::ToolInput::Query(query) => tokens(query),
                };
                let tool = known.sources.catalog.canonical(&work.tool);
                laid.machine(WorkerSort::Tool, tool, known);
            }
            NodeKind::Code(_) => laid.machine(WorkerSort::Code, "", known),
            NodeKind::Subplan(_) | NodeKind::Loop(_) | NodeKind::Map(_) => laid.composite(plan, known),
            NodeKind::Decision(_) | NodeKind::Merge(_) | NodeKind::Transform(_) | NodeKind::Approval(_) => {}
        }
        laid
    }

    /// Whether something may keep it from running, beside its sources.
    fn may_be_left_out(&self) -> bool {
        self.node.policy.when.is_some() || self.node.policy.skip_if.is_some() || self.node.kind.is_decision()
    }

    fn agent(&mut self, plan: &Plan, known: &KnownWork<'_>) {
        let sources = known.sources;
        let Some(agent) = self.node.kind.agent() else { return };
        let texts = [&agent.role, &agent.goal, &agent.objective].into_iter().flatten().map(|text| tokens(text)).sum::<u64>();
        let inputs = self.node.policy.inputs.as_ref().or(plan.defaults.inputs.as_ref());
        self.own_tokens = texts + inputs.map_or(0, |inputs| tokens(&serde_json::json!(inputs).to_string()));
        let model = limits::model(plan, self.node, sources.catalog, sources.model);
        self.prompt_tokens = limits::first_prompt(plan, self.node, sources.catalog);
        let worker = agent.agent.as_deref().or(agent.role.as_deref()).unwrap_or_default();
        let own = model.as_deref().and_then(|model| known.work(WorkerSort::Agent, worker, Some(model)));
        let past = own.map(|past| (past, EstimateBasis::History));
        let past = past.or_else(|| Some((known.work(WorkerSort::Agent, worker, None)?, EstimateBasis::OtherModels)));
        if let Some((past, basis)) = past {
            (self.basis, self.cases) = (basis, Some(past.cases));
            self.work = LaidWork::Past(past);
        } else {
            let bounds = limits::bounds(plan, self.node, sources.catalog, (model.as_deref(), sources.price));
            self.basis = if bounds.tokens.is_unknown() { EstimateBasis::Unknown } else { EstimateBasis::Limits };
            self.work = LaidWork::Bounds(Box::new(bounds));
        }
    }

    /// A tool or code: of what was never run here nobody knows how long it takes.
    fn machine(&mut self, sort: WorkerSort, worker: &str, known: &KnownWork<'_>) {
        if let Some(past) = known.work(sort, worker, None) {
            (self.basis, self.cases) = (EstimateBasis::History, Some(past.cases));
            self.work = LaidWork::Past(past);
        } else {
            let asks_model = sort == WorkerSort::Tool && crate::plan::needs_model(self.node, known.sources.catalog);
            self.work = LaidWork::Bounds(Box::new(limits::without_past(asks_model)));
        }
    }

    fn composite(&mut self, plan: &'a Plan, known: &KnownWork<'_>) {
        let Some(body) = self.node.kind.body() else {
            self.work = LaidWork::Unread;
            return;
        };
        let most = self.node.policy.max_iterations.or(plan.defaults.max_iterations);
        let past = |text: &str| {
            let cases = known.sources.past.cases(WorkerSort::Passes, text, None);
            let spread = Spread::of(cases.iter().map(|case| (0.0, case.calls as f64)), 1.0);
            spread.map(|spread| (Passes::Past(spread), cases.len()))
        };
        let (passes, cases) = match &self.node.kind {
            NodeKind::Loop(inner) => past(&inner.until).unzip(),
            NodeKind::Map(inner) => past(&inner.over).unzip(),
            _ => (Some(Passes::Times(1)), None),
        };
        let unknown = if let NodeKind::Loop(_) = self.node.kind { Passes::Between(1, most) } else { Passes::Between(0, None) };
        self.cases = cases;
        self.basis = if passes.is_some() { EstimateBasis::History } else { EstimateBasis::Limits };
        let body = LaidPlan::under(&format!("{}/", self.address), body, known);
        self.work = LaidWork::Inside { passes: passes.unwrap_or(unknown), body: Box::new(body) };
    }
}
