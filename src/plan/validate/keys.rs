//! Keys that are written into a plan: whoever reads the plan or the journal of its runs has them.

use super::check::{FindingPlace, PlanCheck};
use super::codes::Code;
use crate::plan::{NodeText, node_texts};
use crate::text::has_key;
use serde_json::Value;

pub(super) fn check(check: &mut PlanCheck) {
    let plan = check.plan;
    for (at, node) in plan.nodes.iter().enumerate() {
        node_texts(node, |place, text| {
            let holds_key = match text {
                NodeText::Template(text)
                | NodeText::Code(text)
                | NodeText::Expression(text)
                | NodeText::Condition(text)
                | NodeText::ResultCondition(text) => has_key(text),
                NodeText::Json(value) => in_value(value),
            };
            if holds_key {
                let message = "what looks like a key is written here, and the journal of each run keeps it as it is: \
                               take it out, and let the program that needs it read it from its environment or a file";
                check.find(Code::LiteralKey, FindingPlace::Node(at), &place.path(), message, None);
            }
        });
    }
}

fn in_value(value: &Value) -> bool {
    match value {
        Value::String(text) => has_key(text),
        Value::Array(list) => list.iter().any(in_value),
        Value::Object(map) => map.iter().any(|(name, value)| has_key(name) || in_value(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
