//! The JSON Schema of the native form, as `dagdeck schema plan` publishes it.

use super::dialect::names::NAMES;
use super::{
    ApprovalNode, Budget, Dialect, FACTS, Moment, Policy, RESERVED_IDS, SandboxLimits,
    native::{FORMAT, object},
};
use jsonschema::Validator;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value, json};

/// What a value has against a schema, the first faults of it; `None` when it fits.
pub fn schema_faults(validator: &Validator, value: &Value, most: usize) -> Option<String> {
    let faults = validator.iter_errors(value).take(most).map(|fault| match fault.instance_path().to_string() {
        path if path.is_empty() => fault.to_string(),
        path => format!("at {path}: {fault}"),
    });
    let faults: Vec<String> = faults.collect();
    (!faults.is_empty()).then(|| faults.join("; "))
}

/// The schema without what is made from the code, which has its name in braces there.
const DOCUMENT: &str = include_str!("schema.json");

/// The schema (draft 2020-12). Unknown fields are allowed on plans, nodes and edges, since they are kept.
pub fn schema() -> Value {
    let form = json!({ "type": "object", "required": ["stages"] });
    let graph = |name: &&str| json!({ "required": [name], "properties": { *name: form, "dagdeck": false } });
    let graphs: Value = NAMES.stage.graphs.iter().map(graph).collect();
    let made = [
        ("\"{format}\"", json!(FORMAT).to_string()),
        ("\"{dialects}\"", json!(Dialect::ALL.map(Dialect::name)).to_string()),
        ("\"{reserved}\"", json!(RESERVED_IDS).to_string()),
        ("\"{budget}\"", of::<Budget>().to_string()),
        ("\"{sandbox}\"", of::<SandboxLimits>().to_string()),
        ("\"{approval}\"", of::<ApprovalNode>().to_string()),
        ("\"{policy}\": true", inside(&Value::Object(policy()))),
        ("\"{graphs}\"", inside(&graphs)),
    ];
    let text = made.iter().fold(DOCUMENT.to_owned(), |text, (name, value)| text.replace(name, value));
    // A test reads it.
    serde_json::from_str(&text).unwrap_or_default()
}

/// What is between the brackets of a value.
fn inside(value: &Value) -> String {
    let text = value.to_string();
    text[1..text.len() - 1].to_owned()
}

/// The schema of a type that serde reads, whole in its place.
fn of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().subschema_for::<T>().to_value()
}

/// The fields of a policy, each with its schema.
fn policy() -> Map<String, Value> {
    let (mut policy, moment) = (object(of::<Policy>()["properties"].take()), of::<Moment>());
    let when = json!({ "type": "string", "description": format!("condition over {}", FACTS.join(", ")) });
    let whole = json!({ "type": "object", "properties": { "at": moment, "when": when }, "additionalProperties": false });
    let any = json!([{ "type": ["boolean", "null"] }, moment, whole]);
    policy.insert("breakpoint".into(), json!({ "description": "where the run stops at this node; true means before it", "anyOf": any }));
    policy
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::dialect::{plan_from_value, plan_to_value};
    use crate::plan::samples::plan;
    use proptest::prelude::*;

    fn is_valid(document: &Value) -> bool {
        jsonschema::options().build(&schema()).unwrap().is_valid(document)
    }

    #[test]
    fn what_the_reader_takes_the_schema_takes_and_the_other_way_round() {
        let node = |node: Value| json!({"nodes": [node]});
        let right = [
            crate::plan::native::every_work(),
            node(json!({"id": "a", "ask": "Sure?"})),
            node(json!({"id": "a", "role": "r", "goal": "g", "objective": "o"})),
            node(json!({"id": "a", "agent": "w", "cache": "off", "budget": {"tokens": 3}, "x": 1})),
            node(json!({"id": "a", "plan": {"dag": [{"id": "b", "tool": "t", "query": "q", "dependencies": []}]}})),
            node(json!({"id": "a", "over": "[1]", "body": {"tasks": [{"id": "b", "type": "code_execution", "code": "return 1"}]}})),
            node(json!({"id": "a", "until": "true", "body": {"nodes": [{"id": "b", "agent": "w", "objective": "o"}]}})),
        ];
        for document in right {
            assert!(is_valid(&document), "{document}");
            assert!(plan_from_value(document).is_ok());
        }
        let wrong = [
            json!([]),
            json!({"goal": "g"}),
            json!({"dagdeck": 2, "nodes": []}),
            node(json!({"id": "a", "tool": "t", "code": "c"})),
            node(json!({"id": "a", "tool": "t", "args": {}, "query": "q"})),
            node(json!({"id": "a", "merge": 3})),
            node(json!({"id": "a", "merge": true, "join": "some"})),
            node(json!({"id": "a", "merge": true, "budget": {"dollars": 3}})),
            json!({"nodes": [], "edges": [{"from": "a"}]}),
            node(json!({"id": "a", "plan": {"steps": []}})),
            json!({"nodes": [], "defaults": {"colour": 1}}),
        ];
        for document in wrong {
            assert!(!is_valid(&document), "{document}");
            assert!(plan_from_value(document).is_err());
        }
        assert!(!is_valid(&node(json!({"id": "a"}))), "what has no kind is read for validation to tell");
        assert!(!is_valid(&node(json!({"id": "run", "merge": true}))));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn every_written_plan_is_valid_against_the_schema(plan in plan(6)) {
            prop_assert!(is_valid(&plan_to_value(&plan)));
        }
    }
}
