//! Keys that are written into a plan, which whoever reads the plan or the journal of its runs has; and marks in the place of secrets.

use super::check::{FindingPlace, PlanCheck};
use super::codes::Code;
use crate::plan::{NodeText, node_texts};
use crate::text::{has_key, secret_names};
use serde_json::Value;

pub(super) fn check(check: &mut PlanCheck) {
    let plan = check.plan;
    for (at, node) in plan.nodes.iter().enumerate() {
        node_texts(node, |place, text| {
            let holds = |is: &dyn Fn(&str) -> bool| match text {
                NodeText::Template(text)
                | NodeText::Code(text)
                | NodeText::Expression(text)
                | NodeText::Condition(text)
                | NodeText::ResultCondition(text) => is(text),
                NodeText::Json(value) => in_value(value, is),
            };
            if holds(&|text| secret_names(text).next().is_some()) {
                let message =
                    "the mark of a secret is here in place of its value: in a plan of its own it is only text, so write the value";
                check.find(Code::SecretMark, FindingPlace::Node(at), &place.path(), message, None);
            }
            let holds_key = holds(&has_key);
            if holds_key {
                let message = "what looks like a key is written here, and the journal of each run keeps it as it is: \
                               take it out, and let the program that needs it read it from its environment or a file";
                check.find(Code::LiteralKey, FindingPlace::Node(at), &place.path(), message, None);
            }
        });
    }
}

fn in_value(value: &Value, is: &dyn Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => is(text),
        Value::Array(list) => list.iter().any(|value| in_value(value, is)),
        Value::Object(map) => map.iter().any(|(name, value)| is(name) || in_value(value, is)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
