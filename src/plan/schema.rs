//! The JSON Schema of the native form, as `dagdeck schema plan` publishes it.

use super::dialect::names::NAMES;
use super::{
    ApprovalNode, Budget, FACTS, Moment, Policy, SandboxLimits,
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

/// The schema (draft 2020-12). Unknown fields are allowed on plans, nodes and edges, since they are kept.
pub fn schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "dagdeck plan",
        "type": "object",
        "required": ["nodes"],
        "properties": {
            "dagdeck": { "const": FORMAT, "description": "format version" },
            "goal": text("what the plan is for"),
            "inputs": { "type": "object", "description": "values known at the start" },
            "nodes": { "type": "array", "items": { "$ref": "#/$defs/node" } },
            "edges": { "type": "array", "items": { "$ref": "#/$defs/edge" } },
            "budget": { "$ref": "#/$defs/budget" },
            "defaults": { "type": "object", "properties": policy(), "additionalProperties": false, "description": "policy for nodes that don't set their own" },
            "dialect": { "enum": super::Dialect::ALL.map(super::Dialect::name), "description": "whose rules the plan follows; native when absent" },
            "metadata": { "type": "object" },
            "ext": apart()
        },
        "$defs": {
            "id": { "type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$", "not": { "enum": super::RESERVED_IDS } },
            "node": node(),
            "edge": edge(),
            "foreign": foreign(),
            "budget": of::<Budget>()
        }
    })
}

fn text(words: &str) -> Value {
    json!({ "type": "string", "description": words })
}

fn apart() -> Value {
    json!({ "type": "object", "description": "fields of another format whose names mean something else here" })
}

fn node() -> Value {
    let mut properties = policy();
    properties.append(&mut works());
    properties.insert("ext".into(), apart());
    properties.insert("id".into(), json!({ "$ref": "#/$defs/id" }));
    properties.insert(
        "depends_on".into(),
        json!({ "type": "array", "items": { "$ref": "#/$defs/id" }, "description": "sources of plain edges" }),
    );
    for (field, words) in
        [("entry", "where a workflow or a stage plan starts"), ("exit", "where a workflow may end; a stage plan ends there")]
    {
        properties.insert(field.into(), json!({ "type": "boolean", "description": words }));
    }
    let one = |field: &str| json!({ "required": [field] });
    json!({
        "type": "object",
        "description": "one step of exactly one kind: agent, tool, code, decide, merge, value, ask, plan, until (a loop) or over (a map)",
        "required": ["id"],
        "properties": properties,
        "oneOf": [
            { "anyOf": [one("agent"), one("role"), one("objective")] },
            one("tool"), one("code"), one("decide"), one("merge"), one("value"), one("ask"), one("plan"),
            { "required": ["until", "body"] }, { "required": ["over", "body"] }
        ],
        "not": { "required": ["args", "query"] }
    })
}

fn works() -> Map<String, Value> {
    let works = json!({
        "agent": text("name of an agent card"),
        "objective": text("what the agent should accomplish; may hold references such as {{id.result}}"),
        "role": text("inline card: who the agent is"),
        "goal": text("inline card: what it is after"),
        "tool": text("name of a tool, or server:name"),
        "args": { "type": "object", "description": "the tool's arguments; values may hold references" },
        "query": text("value of the tool's one required text parameter"),
        "code": text("body of a JavaScript function that sees deps and inputs; its return value is the result"),
        "sandbox": of::<SandboxLimits>(),
        "decide": {
            "description": "an expression or an agent that picks the route",
            "oneOf": [
                { "type": "string" },
                {
                    "type": "object",
                    "properties": { "agent": { "type": "string" }, "objective": { "type": "string" }, "role": { "type": "string" }, "goal": { "type": "string" } },
                    "additionalProperties": false
                }
            ]
        },
        "merge": {
            "description": "true, or an object with a template",
            "oneOf": [{ "const": true }, { "type": "object", "properties": { "template": true }, "additionalProperties": false }]
        },
        "value": { "description": "JSON whose texts may hold references; a reference alone keeps its type" },
        "ask": { "oneOf": [text("the question"), of::<ApprovalNode>()] },
        "plan": { "description": "a plan, or the path of its file", "anyOf": [{ "type": "string" }, { "$ref": "#" }, { "$ref": "#/$defs/foreign" }] },
        "until": text("condition over the body's nodes and inputs, checked after each iteration: true ends the loop"),
        "over": text("expression for a list: the body runs once for each entry, which is its input `item`"),
        "body": {
            "description": "the plan to repeat; it sees its own nodes and its inputs",
            "anyOf": [{ "$ref": "#" }, { "$ref": "#/$defs/foreign" }]
        },
        "max_parallel": { "type": "integer", "minimum": 1, "description": "how many bodies of a map run at once" }
    });
    object(works)
}

/// The schema of a type that serde reads, whole in its place.
fn of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().subschema_for::<T>().to_value()
}

fn policy() -> Map<String, Value> {
    let mut policy = object(of::<Policy>()["properties"].take());
    policy.insert("breakpoint".into(), breakpoint());
    policy
}

fn breakpoint() -> Value {
    let moment = of::<Moment>();
    let whole = json!({
        "type": "object",
        "properties": { "at": moment, "when": text(&format!("condition over {}", FACTS.join(", "))) },
        "additionalProperties": false
    });
    json!({ "description": "where the run stops at this node; true means before it", "anyOf": [{ "type": ["boolean", "null"] }, moment, whole] })
}

fn edge() -> Value {
    json!({
        "type": "object",
        "required": ["from", "to"],
        "properties": {
            "from": { "$ref": "#/$defs/id" },
            "to": { "$ref": "#/$defs/id" },
            "when": text("condition; on an edge that leaves a decision, the label of the route"),
            "context": { "type": "array", "items": { "type": "string" }, "description": "keys of the source's result that are passed on; all when absent" },
            "default": { "type": "boolean", "description": "taken when a decision's answer matches no edge" },
            "id": { "type": "string" },
            "label": { "type": "string" },
            "ext": apart()
        }
    })
}

/// A plan inside in the format of another system. Each has rules of its own, which its reader checks.
fn foreign() -> Value {
    let list = |words: &str| json!({ "type": "array", "items": { "type": "object" }, "description": words });
    let has = |field: &str, value: Value| json!({ "required": [field], "properties": { field: value, "dagdeck": false } });
    let names_agents = json!({ "type": "array", "contains": { "type": "object", "required": ["agent_name"] } });
    let graph = json!({ "type": "object", "required": ["stages"] });
    let mut forms = vec![
        has("dag", list("tools: id, tool, query, dependencies")),
        has("tasks", list("hybrid: tool calls, code_execution, agent_delegation")),
        has("connections", list("workflow, with nodes: source_id, target_id, condition, context_passed")),
        has("nodes", names_agents),
        has("stages", json!({ "type": ["array", "object"], "description": "stages: stage_id, type" })),
    ];
    forms.extend(NAMES.stage.graphs.iter().map(|name| has(name, graph.clone())));
    json!({ "type": "object", "description": "a plan in the format of another system, recognised by its shape", "anyOf": forms })
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
