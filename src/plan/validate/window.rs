//! Prompts against the windows of models: whether what an agent is told fits into what its model takes in.

use super::check::{FindingPlace, PlanCheck};
use super::codes::Code;
use super::finding::{Fix, FixKind};
use crate::plan::limits::{CONTEXT_PERCENT, HYBRID_MODEL, LIMITED_CONTEXT_PERCENT};
use crate::plan::reference::{Reference, references, references_in_text};
use crate::plan::{AgentKind, Budget, Dialect, Node, Policy, Root};
use crate::text::{thousands, tokens};
use serde_json::Value;

/// The words that every agent is told beside its own, about.
const FRAME: u64 = 100;

/// What goes into a prompt, in tokens.
struct PromptSize {
    objective: u64,
    system: u64,
    /// Results of earlier steps and named inputs, at most.
    material: u64,
}

impl PromptSize {
    fn fixed(&self) -> u64 {
        self.objective + self.system
    }

    fn total(&self) -> u64 {
        self.fixed() + self.material
    }
}

pub(super) fn check(check: &mut PlanCheck) {
    if check.catalog.models.windows.is_empty() {
        return;
    }
    for at in 0..check.plan.nodes.len() {
        let node = &check.plan.nodes[at];
        let Some((model, window)) = window(check, node) else { continue };
        let Some(prompt) = prompt(check, node, window) else { continue };
        if prompt.total() > window {
            let message = format!(
                "the prompt may need {} tokens (objective {}, role and rules {}, results of earlier nodes and inputs up to {}), and `{model}` \
                 takes in {}",
                thousands(prompt.total()),
                thousands(prompt.objective),
                thousands(prompt.system),
                thousands(prompt.material),
                thousands(window)
            );
            let fix = fix(check, at, &prompt, window);
            check.find(Code::PromptWindow, FindingPlace::Node(at), "", message, fix);
        }
    }
}

/// The model of an agent node, and how much it takes in.
fn window(check: &PlanCheck, node: &Node) -> Option<(String, u64)> {
    node.kind.agent()?;
    let models = &check.catalog.models;
    let class = (check.plan.dialect == Dialect::Hybrid).then_some(HYBRID_MODEL);
    let named = node.policy.model.as_deref().or(check.plan.defaults.model.as_deref()).or(class).or(models.preset.as_deref())?;
    Some((models.resolve(named).to_owned(), models.window(named)?))
}

fn prompt(check: &PlanCheck, node: &Node, window: u64) -> Option<PromptSize> {
    let (plan, agent) = (check.plan, node.kind.agent()?);
    let card = agent.agent.as_deref().and_then(|name| check.stock.agents.get(name)).and_then(|&card| check.catalog.agents.get(card));
    if card.is_some_and(|card| matches!(card.kind, AgentKind::Human | AgentKind::Service)) {
        return None;
    }
    let policy = |field: fn(&Policy) -> Option<u64>| field(&node.policy).or_else(|| field(&plan.defaults));
    let limit = policy(|policy| policy.budget.as_ref()?.tokens).or(card.and_then(|card| card.max_tokens));
    let said = |text: &Option<String>| text.as_deref().map_or(0, |text| in_text(check, text));
    let schema = node.policy.output_schema.as_ref().map_or(0, |schema| tokens(&schema.to_string()));
    let objective = match &agent.objective {
        Some(objective) => in_text(check, objective),
        None => card.map_or(0, |card| tokens(&card.objective_template)),
    };
    let system = FRAME + card.map_or(0, |card| card.prompt_tokens) + said(&agent.role) + said(&agent.goal) + schema;
    let most = limit.map_or(window.saturating_mul(CONTEXT_PERCENT), |limit| limit.saturating_mul(LIMITED_CONTEXT_PERCENT)) / 100;
    let most = match check.catalog.models.context_tokens {
        0 => most,
        configured => most.min(configured),
    };
    let inputs = node.policy.inputs.iter().flatten().map(|(name, value)| tokens(name) + in_value(check, value)).sum();
    let at = check.graph.position(&node.id)?;
    let material = if check.graph.incoming(at).next().is_some() { most } else { most.min(inputs) };
    Some(PromptSize { objective, system, material })
}

/// A text with the plan inputs that it names; results that it names are not known yet.
fn in_text(check: &PlanCheck, text: &str) -> u64 {
    tokens(text) + named(check, references_in_text(text, check))
}

fn in_value(check: &PlanCheck, value: &Value) -> u64 {
    tokens(&value.to_string()) + named(check, references(value, check))
}

fn named(check: &PlanCheck, references: Vec<Reference>) -> u64 {
    let paths = references.iter().flat_map(|reference| &reference.paths);
    let inputs = paths.filter_map(|path| match &path.root {
        Root::Input(name) => check.around.inputs.get(name),
        Root::Inputs => check.around.inputs.get(path.fields.first()?),
        Root::Node(_) | Root::Entry(_) | Root::Unknown(_) => None,
    });
    inputs.map(|value| value.as_str().map_or_else(|| tokens(&value.to_string()), tokens)).sum()
}

/// A limit under which results of earlier steps leave the rest its room. What the plan itself says can't be made shorter here.
fn fix(check: &PlanCheck, at: usize, prompt: &PromptSize, window: u64) -> Option<Fix> {
    let room = window.checked_sub(prompt.fixed()).filter(|room| *room > 0)?;
    let limit = (room.saturating_mul(100) / LIMITED_CONTEXT_PERCENT).min(window);
    check.with_policy(at, FixKind::Guess, format!("limit it to {} tokens", thousands(limit)), |policy| {
        policy.budget.get_or_insert_with(Budget::default).tokens = Some(limit);
    })
}
