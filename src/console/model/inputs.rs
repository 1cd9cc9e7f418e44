//! The plan's inputs where nodes name them: which ones a node names, and texts with the values in their places.

use serde_json::{Map, Value};

use crate::plan::{
    DecisionNode, NameScope, Node, NodeKind, NodeValue, Path, Plan, PlanNames, Root, ToolInput, expr, names_in_code,
    reference::{references, references_in_text, resolve_text},
};

/// A text with `{{inputs.name}}` replaced by the input's value; everything else stays as it is written.
pub fn filled(text: &str, inputs: &Map<String, Value>) -> String {
    let names = PlanNames::new([], inputs);
    let mut filled = String::with_capacity(text.len());
    let mut done = 0;
    for reference in references_in_text(text, &names) {
        if let [Path { root: Root::Inputs, .. }] = reference.paths.as_slice()
            && let Ok(value) = resolve_text(&reference.text, &names)
        {
            filled.push_str(&text[done..reference.span.start]);
            filled.push_str(&value);
            done = reference.span.end;
        }
    }
    filled + &text[done..]
}

/// Names of the plan's inputs that a node's texts, conditions and code name, in order, each once.
pub fn named<'a>(plan: &'a Plan, node: &'a Node) -> Vec<String> {
    let scope = InPlan(plan);
    let mut named = FoundInputs { scope, names: Vec::new() };
    match &node.kind {
        NodeKind::Agent(work) | NodeKind::Decision(DecisionNode::Agent(work)) => {
            [&work.role, &work.goal, &work.objective].into_iter().flatten().for_each(|text| named.text(text))
        }
        NodeKind::Tool(work) => match &work.input {
            ToolInput::Args(args) => args.values().for_each(|value| named.value(value)),
            ToolInput::Query(query) => named.text(query),
        },
        NodeKind::Code(work) => names_in_code(&work.code, "inputs").into_iter().for_each(|name| named.add(name)),
        NodeKind::Decision(DecisionNode::Expression(text)) => named.condition(text),
        NodeKind::Map(work) => named.condition(&work.over),
        NodeKind::Subplan(_) | NodeKind::Loop(_) => {}
        NodeKind::Merge(work) => work.template.iter().for_each(|value| named.value(value)),
        NodeKind::Transform(work) => named.value(&work.value),
        NodeKind::Approval(ask) => named.text(&ask.text),
    }
    let policy = &node.policy;
    policy.inputs.iter().flat_map(Map::values).for_each(|value| named.value(value));
    [&policy.when, &policy.skip_if, &policy.replan_when].into_iter().flatten().for_each(|text| named.condition(text));
    named.names
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

struct FoundInputs<'a> {
    scope: InPlan<'a>,
    names: Vec<String>,
}

impl FoundInputs<'_> {
    fn text(&mut self, text: &str) {
        for reference in references_in_text(text, &self.scope) {
            reference.paths.iter().for_each(|path| self.path(path));
        }
    }

    fn value(&mut self, value: &Value) {
        for reference in references(value, &self.scope) {
            reference.paths.iter().for_each(|path| self.path(path));
        }
    }

    fn condition(&mut self, text: &str) {
        // What can't be read is a finding of its own.
        expr::check(text, &self.scope).unwrap_or_default().iter().for_each(|path| self.path(path));
    }

    fn path(&mut self, path: &Path) {
        match (&path.root, path.fields.first()) {
            (Root::Input(name), _) | (Root::Inputs, Some(name)) => self.add(name),
            (Root::Inputs, None) | (Root::Node(_) | Root::Entry(_) | Root::Unknown(_), _) => {}
        }
    }

    fn add(&mut self, name: &str) {
        if !self.names.iter().any(|known| known == name) {
            self.names.push(name.to_owned());
        }
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
