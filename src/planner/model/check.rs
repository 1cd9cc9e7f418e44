//! What is wrong with a model's plan, in words for the model.

use super::edges::waits_for;
use crate::plan::{Catalog, Plan, Work};

/// The faults that keep a plan from running.
pub(super) fn faults(plan: &Plan, catalog: &Catalog) -> Vec<String> {
    if plan.nodes.is_empty() {
        return vec!["the plan has no nodes".to_owned()];
    }
    let mut faults = Vec::new();
    for node in &plan.nodes {
        for source in &node.depends_on {
            if !plan.nodes.iter().any(|other| other.id == *source) {
                faults.push(format!("node `{}` depends on `{source}`, which is no node of the plan", node.id));
            }
        }
        if let Some(source) = node.depends_on.iter().find(|source| waits_for(plan, source, &node.id)) {
            faults.push(format!("nodes `{}` and `{source}` wait for each other: a cycle", node.id));
        }
        match &node.work {
            Work::Agent(agent) if !catalog.agents.iter().any(|known| Some(&known.name) == agent.agent.as_ref()) => {
                faults.push(format!("node `{}` names no agent that exists", node.id));
            }
            Work::Tool(tool) if !catalog.tools.iter().any(|known| known.name == tool.tool) => {
                faults.push(format!("node `{}`: there is no tool `{}`", node.id, tool.tool));
            }
            _ => {}
        }
    }
    faults
}
