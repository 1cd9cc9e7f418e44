//! What is known of a node that nothing like it has run before: its counted prompt below, its limits above. And what a plan's caps and gates
//! say before it runs.

use super::{BrokenCap, EstimateBand, Forecast, Measure, NodeEstimate, PriceOf};
use crate::plan::{
    AgentInfo, Budget, Catalog, Dialect, Node, NodeId, Plan, Policy, gated,
    limits::{AGENT_ITERATIONS, HYBRID_MODEL, MOST_ITERATIONS},
    nest,
};
use crate::text::tokens;

/// The words that every agent is told beside its own, about.
const FRAME: u64 = 100;

/// The model that a node asks, by the name that the run would keep.
pub(super) fn model(plan: &Plan, node: &Node, catalog: &Catalog, preset: Option<&str>) -> Option<String> {
    let class = (plan.dialect == Dialect::Hybrid).then_some(HYBRID_MODEL);
    let named = node.policy.model.as_deref().or(plan.defaults.model.as_deref()).or(class);
    named.or(preset).or(catalog.models.preset.as_deref()).map(str::to_owned)
}

fn card<'c>(node: &Node, catalog: &'c Catalog) -> Option<&'c AgentInfo> {
    let name = node.kind.agent()?.agent.as_deref()?;
    catalog.agents.iter().find(|card| card.name == name)
}

/// Tokens of an agent's first prompt, without results of other nodes and without its tools.
pub(super) fn first_prompt(plan: &Plan, node: &Node, catalog: &Catalog) -> Option<u64> {
    let agent = node.kind.agent()?;
    let card = card(node, catalog);
    let said = |text: &Option<String>| text.as_deref().map_or(0, tokens);
    let objective = agent.objective.as_deref().or(card.map(|card| card.objective_template.as_str())).map_or(0, tokens);
    let schema = node.policy.output_schema.as_ref().map_or(0, |schema| tokens(&schema.to_string()));
    let inputs = node.policy.inputs.as_ref().map_or(0, |inputs| tokens(&serde_json::json!(inputs).to_string()));
    let own = said(&agent.role) + said(&agent.goal) + objective + schema + inputs;
    Some(FRAME + card.map_or(0, |card| card.prompt_tokens) + own + tokens(&plan.goal))
}

/// What an agent takes at least and at most.
pub(super) fn bounds(plan: &Plan, node: &Node, catalog: &Catalog, (model, price): (Option<&str>, PriceOf<'_>)) -> Forecast {
    let Some(model) = model else { return Forecast::default() };
    let prompt = first_prompt(plan, node, catalog).unwrap_or_default();
    let policy = |field: fn(&Policy) -> Option<u64>| field(&node.policy).or_else(|| field(&plan.defaults));
    let written = policy(|policy| policy.budget.as_ref()?.tokens).or(card(node, catalog).and_then(|card| card.max_tokens));
    let turns =
        policy(|policy| policy.max_iterations.map(u64::from)).unwrap_or(u64::from(AGENT_ITERATIONS)).clamp(1, u64::from(MOST_ITERATIONS));
    let by_window = catalog.models.window(model).map(|window| window.saturating_mul(turns));
    let most = [written, by_window].into_iter().flatten().min();
    let real = catalog.models.resolve(model);
    // The dearer way to spend them all.
    let dearest = |most: u64| Some(price(real, most, 0)?.max(price(real, 0, most)?));
    Forecast {
        tokens: EstimateBand { low: prompt as f64, expected: None, worst: most.map(|most| most as f64) },
        usd: EstimateBand { low: price(real, prompt, 0).unwrap_or_default(), expected: None, worst: most.and_then(dearest) },
        ms: EstimateBand::default(),
        model_calls: EstimateBand { low: 1.0, expected: None, worst: Some(turns as f64) },
    }
}

/// What a tool or code takes that was never run here.
pub(super) fn without_past(asks_model: bool) -> Forecast {
    let tokens = if asks_model { EstimateBand::default() } else { EstimateBand::exactly(0.0) };
    Forecast { tokens, usd: tokens, ms: EstimateBand::default(), model_calls: tokens }
}

/// The caps that the worst case breaks: of the run, then of its nodes.
pub(super) fn broken(plan: &Plan, whole: &Forecast, nodes: &[NodeEstimate]) -> Vec<BrokenCap> {
    let mut found = over(None, &plan.budget, whole);
    for estimate in nodes {
        let budget = nest::find(plan, &estimate.node).and_then(|node| node.policy.budget.as_ref());
        found.extend(budget.into_iter().flat_map(|budget| over(Some(&estimate.node), budget, &estimate.takes)));
    }
    found
}

fn over(node: Option<&NodeId>, budget: &Budget, takes: &Forecast) -> Vec<BrokenCap> {
    let cap = |measure: Measure| match measure {
        Measure::Tokens => budget.tokens.map(|tokens| tokens as f64),
        Measure::Usd => budget.usd,
        Measure::Ms => budget.seconds.map(|seconds| seconds * 1000.0),
        Measure::ModelCalls => budget.model_calls.map(|calls| calls as f64),
    };
    let broken = |measure: Measure| {
        let (cap, worst) = (cap(measure)?, takes.get(measure).worst?);
        (worst > cap).then(|| BrokenCap { node: node.cloned(), measure, cap, worst })
    };
    Measure::ALL.into_iter().filter_map(broken).collect()
}

/// The nodes at which a person is asked, whatever they are given. Calls of an agent's tools may ask beside that.
pub(super) fn gates(plan: &Plan, catalog: &Catalog) -> Vec<NodeId> {
    nest::outline(plan).nodes.iter().filter(|node| gated(node, catalog)).map(|node| node.id.clone()).collect()
}
