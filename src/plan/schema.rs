//! The JSON Schema of the native form, as `dagdeck schema plan` prints it.

use super::native::FORMAT;
use serde_json::{Map, Value, json};

/// The schema of a plan (JSON Schema 2020-12).
pub fn schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "dagdeck plan",
        "description": "A goal and a DAG of nodes. References `{{id.result}}`, `{{inputs.name}}` may stand in texts and argument values.",
        "type": "object",
        "required": ["nodes"],
        "properties": {
            "dagdeck": {"const": FORMAT, "description": "format version"},
            "goal": {"type": "string", "description": "what the plan is for, in a person's words"},
            "inputs": {"type": "object", "description": "values known at the start"},
            "nodes": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            "edges": {"type": "array", "items": {"$ref": "#/$defs/edge"}},
            "budget": {"$ref": "#/$defs/budget"},
            "defaults": {"type": "object", "description": "policy of nodes that don't say otherwise", "properties": policy()},
            "metadata": {"type": "object"},
        },
        "$defs": {"node": node(), "edge": edge(), "budget": budget(), "ask": ask()},
    })
}

fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

fn texts(description: &str) -> Value {
    json!({"type": "array", "items": {"type": "string"}, "description": description})
}

fn node() -> Value {
    let mut properties = policy();
    for (key, schema) in [
        ("id", json!({"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"})),
        ("depends_on", texts("ids of nodes whose results this one needs")),
        ("agent", text("name of an agent card")),
        ("objective", text("what the agent should accomplish")),
        ("role", text("inline agent: who it is")),
        ("goal", text("inline agent: what it is after")),
        ("tool", text("name of a tool, `name` or `server:name`")),
        ("args", json!({"type": "object", "description": "the tool's arguments"})),
        ("query", text("for the tool's one required string argument")),
        ("code", text("JavaScript function body; sees `deps` and `inputs`; its `return` value is the result")),
        ("sandbox", json!({"type": "object", "properties": {"memory_mb": {"type": "integer"}, "time_ms": {"type": "integer"}}})),
        ("decide", text("expression whose value names an outgoing edge")),
        ("merge", json!({"anyOf": [{"const": true}, {"type": "object", "required": ["template"], "properties": {"template": {}}}]})),
        ("value", json!({"description": "data with references: the result"})),
        ("ask", json!({"$ref": "#/$defs/ask"})),
    ] {
        properties.insert(key.into(), schema);
    }
    let works = ["tool", "code", "decide", "merge", "value", "ask"].map(|work| json!({"required": [work]}));
    let agent = json!({"anyOf": [{"required": ["agent"]}, {"required": ["role"]}, {"required": ["objective"]}]});
    let one_of: Vec<Value> = works.into_iter().chain([agent]).collect();
    json!({"type": "object", "required": ["id"], "oneOf": one_of, "properties": properties})
}

fn edge() -> Value {
    json!({
        "type": "object",
        "required": ["from", "to"],
        "properties": {
            "from": text("source node"),
            "to": text("target node"),
            "when": text("condition; on an edge that leaves a decision, a literal label"),
            "context": texts("keys of the source's result that pass; absent: all"),
            "default": {"type": "boolean", "description": "taken when a decision's answer matches no edge"},
            "id": {"type": "string"},
            "label": {"type": "string"},
        },
    })
}

fn budget() -> Value {
    json!({
        "type": "object",
        "description": "caps",
        "properties": {
            "tokens": {"type": "integer", "minimum": 0},
            "usd": {"type": "number", "minimum": 0},
            "seconds": {"type": "number", "minimum": 0},
            "model_calls": {"type": "integer", "minimum": 0},
        },
    })
}

fn ask() -> Value {
    let field = json!({
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"type": "string"}, "kind": {"enum": ["text", "number", "boolean"]}, "label": {"type": "string"}, "default": {},
        },
    });
    json!({
        "description": "a question to a person",
        "anyOf": [
            {"type": "string"},
            {
                "type": "object",
                "required": ["text"],
                "properties": {"text": {"type": "string"}, "options": texts("choices offered"), "fields": {"type": "array", "items": field}},
            },
        ],
    })
}

fn policy() -> Map<String, Value> {
    let fields = [
        ("when", text("guard: false means skipped")),
        ("skip_if", text("true means passed through")),
        ("join", json!({"enum": ["all", "settled", "any", "always"]})),
        ("route", json!({"enum": ["all", "first", "decision"]})),
        ("approve", json!({"enum": ["never", "before", "after", "both"]})),
        ("side_effects", json!({"type": "boolean"})),
        (
            "retry",
            json!({"type": "object", "properties": {
                "attempts": {"type": "integer", "minimum": 1}, "backoff_ms": {"type": "integer"}, "max_ms": {"type": "integer"}}}),
        ),
        ("timeout_s", json!({"type": "number", "exclusiveMinimum": 0})),
        ("budget", json!({"$ref": "#/$defs/budget"})),
        ("model", text("model of this node")),
        ("tools", texts("globs that narrow the card's tools")),
        ("context", json!({"enum": ["concat", "structured", "selected"]})),
        ("inputs", json!({"type": "object", "description": "named extra context"})),
        ("on_failure", json!({"enum": ["fail", "safe", "replan", "ask"]})),
        ("cache", json!({"description": "`off`, or an object with `ttl_s`"})),
        ("locks", texts("nodes that share a name never run together")),
        ("output_schema", json!({"description": "JSON Schema of the result"})),
        ("breakpoint", json!({})),
        ("max_iterations", json!({"type": "integer", "minimum": 1, "maximum": 20})),
        ("replan_when", text("condition over the result that calls for a new plan")),
        ("notes", text("words for people")),
    ];
    fields.into_iter().map(|(key, schema)| (key.to_string(), schema)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(plan: &Value) -> Vec<String> {
        let validator = jsonschema::validator_for(&schema()).unwrap();
        validator.iter_errors(plan).map(|error| error.to_string()).collect()
    }

    #[test]
    fn a_plan_with_every_work_follows_the_schema() {
        let plan = json!({"dagdeck": 1, "goal": "g", "nodes": [
            {"id": "a", "agent": "writer", "objective": "o"}, {"id": "t", "tool": "read_file", "args": {"path": "p"}},
            {"id": "c", "code": "return 1", "sandbox": {"time_ms": 5}, "depends_on": ["a"]}, {"id": "d", "decide": "a"},
            {"id": "m", "merge": true}, {"id": "v", "value": null}, {"id": "q", "ask": "sure?", "approve": "never"}],
            "edges": [{"from": "d", "to": "m", "when": "yes"}], "budget": {"tokens": 5}});
        assert_eq!(check(&plan), Vec::<String>::new());
        assert!(crate::plan::native::plan_from_value(plan).is_ok());
    }

    #[test]
    fn a_node_with_two_works_or_none_breaks_the_schema() {
        assert!(!check(&json!({"nodes": [{"id": "a", "tool": "t", "code": "c"}]})).is_empty());
        assert!(!check(&json!({"nodes": [{"id": "a"}]})).is_empty());
    }
}
