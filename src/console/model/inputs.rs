//! The plan's inputs where nodes name them: which ones a node names, and texts with the values in their places.

use serde_json::{Map, Value};

use crate::plan::reference::{self, Reference};
use crate::plan::{NameScope, Node, NodeValue, Path, Plan, PlanNames, Root, inputs_read};

/// A text with `{{inputs.name}}` replaced by the input's value; everything else stays as it is written.
pub fn filled(text: &str, inputs: &Map<String, Value>) -> String {
    let is_input = |reference: &Reference| matches!(reference.paths.as_slice(), [Path { root: Root::Inputs, .. }]);
    reference::filled(text, &PlanNames::new([], inputs), usize::MAX, is_input)
}

/// Names of the plan's inputs that a node's texts, conditions and code name, in order, each once.
pub fn named(plan: &Plan, node: &Node) -> Vec<String> {
    inputs_read(node, &InPlan(plan))
}

/// What a plan's texts may name. A node is looked up one by one: few names are, and only for the node that is looked at.
struct InPlan<'a>(&'a Plan);

impl NameScope for InPlan<'_> {
    fn node(&self, id: &str) -> Option<NodeValue<'_>> {
        self.0.nodes.iter().any(|node| node.id.as_str() == id).then(NodeValue::default)
    }

    fn input(&self, name: &str) -> Option<&Value> {
        self.0.inputs.get(name)
    }

    fn inputs(&self) -> Map<String, Value> {
        self.0.inputs.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn plan() -> Plan {
        let document = json!({"inputs": {"glob": "*.rs", "depth": 2, "city": "Oslo"}, "nodes": [
            {"id": "list", "tool": "list_directory", "args": {"glob": "{{inputs.glob}}", "more": ["{{ inputs.depth + 1 }}"]}, "when": "inputs.depth > 1"},
            {"id": "code", "code": "return inputs.depth + inputs['glob'] + deps.list"},
            {"id": "glob", "value": "{{glob}} {{city}} {{inputs.gone}}"},
        ]});
        serde_json::from_value(document).unwrap()
    }

    #[test]
    fn a_nodes_inputs_are_found_in_texts_conditions_and_code() {
        let plan = plan();
        let of = |at: usize| named(&plan, &plan.nodes[at]);
        assert_eq!(of(0), ["glob", "depth"]);
        assert_eq!(of(1), ["depth", "glob"]);
        assert_eq!(of(2), ["city", "gone"], "a node's name goes before an input's");
    }

    #[test]
    fn values_stand_in_the_place_of_inputs_and_of_nothing_else() {
        let plan = plan();
        assert_eq!(
            filled("{{inputs.glob}} under {{list}}, {{inputs.gone}} \\{{x}}", &plan.inputs),
            "*.rs under {{list}}, {{inputs.gone}} \\{{x}}"
        );
    }
}
