//! What is wrong with a model's plan, in words for the model: the errors of validation, each with the change that would settle it.

use crate::plan::{
    Catalog, Plan,
    validate::{Finding, validate},
};

/// The faults that keep a plan from running. Warnings are the operator's to weigh, not the model's.
pub(super) fn faults(plan: &Plan, catalog: &Catalog) -> Vec<String> {
    validate(plan, catalog).iter().filter(|finding| finding.is_error()).map(message).collect()
}

fn message(finding: &Finding) -> String {
    let place = match &finding.node {
        // Most messages name their node already.
        Some(node) if !finding.message.contains(&format!("`{node}`")) => format!("node `{node}`: "),
        Some(_) | None => String::new(),
    };
    let remedy = finding.fix.as_ref().map(|fix| format!(" (to fix it: {})", fix.title)).unwrap_or_default();
    format!("{place}{}{remedy}", finding.message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planner::model::{read, tests::catalog};
    use serde_json::{Value, json};

    fn faults_of(nodes: Value) -> Vec<String> {
        let nodes = nodes.as_array().unwrap().iter().enumerate().map(|(at, value)| read::node(value, at).unwrap()).collect();
        faults(&Plan { goal: "g".into(), nodes, ..Plan::default() }, &catalog())
    }

    #[test]
    fn a_plan_that_can_run_has_no_faults() {
        let nodes = json!([{"id": "a", "tool": "read_file", "args": {"path": "x"}}, {"id": "b", "agent": "writer", "objective": "{{a}}", "depends_on": ["a"]}]);
        assert_eq!(faults_of(nodes), Vec::<String>::new());
        assert_eq!(faults_of(json!([])).len(), 1);
    }

    #[test]
    fn each_fault_names_its_node_and_a_remedy_where_there_is_one() {
        let faults = faults_of(json!([
            {"id": "a", "agent": "writre", "objective": "x", "depends_on": ["ghost"]},
            {"id": "b", "tool": "read_file", "args": {"paht": "x"}},
        ]));
        for words in ["`a`", "`ghost`", "`writre`", "`b`", "path"] {
            assert!(faults.iter().any(|fault| fault.contains(words)), "{words} in {faults:?}");
        }
        assert!(faults.iter().any(|fault| fault.contains("to fix it")), "{faults:?}");
    }
}
