//! Models that a person chose for agents: where a plan names none, it gets them when it starts, so that it shows which it asks.

use crate::engine::Run;
use crate::engine::{OPERATOR, REHEARSAL};
use crate::plan::{Dialect, Plan};
use std::collections::BTreeMap;

/// Gives agents the models that a person chose for them, where the plan names none. Agents of hybrid plans ask for a class of their own.
pub(super) fn with_own_models(plan: &mut Plan, by_agent: &BTreeMap<String, String>, model: Option<&str>) {
    // Where the operator answers, or nobody does, no model is asked.
    let is_asked = model.is_some_and(|model| model != OPERATOR && model != REHEARSAL);
    if !is_asked || by_agent.is_empty() || plan.defaults.model.is_some() || plan.dialect == Dialect::Hybrid {
        return;
    }
    for node in &mut plan.nodes {
        let own = node.kind.agent().and_then(|work| by_agent.get(work.agent.as_deref()?)).cloned();
        if node.policy.model.is_none() {
            node.policy.model = own;
        }
        if let Some(body) = node.kind.body_mut() {
            with_own_models(body, by_agent, model);
        }
    }
}

/// The model that a run was begun with.
pub(super) fn own_model(run: &Run) -> Option<String> {
    run.settings().and_then(|settings| settings.model.clone())
}
