//! The schema that a model's plan is held to: `{nodes: [...]}`, each node one of a few flat shapes. Plain enough for strict servers:
//! no `oneOf`, no `items: false`, no recursion.

use serde_json::{Value, json};

use crate::models::OutputSchema;
use crate::plan::Catalog;

/// How a model names nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ids {
    #[default]
    Free,
    /// n1, n2, …, each depending on earlier ones only: a cycle or an unknown dependency can't be written.
    Positional,
}

/// The most nodes of a plan with free ids: enough for a person to look through, and an end for models that run away.
const MOST_FREE: usize = 30;
/// The most nodes of a plan with positional ids; each has a schema of its own.
pub(super) const MOST_POSITIONAL: usize = 8;

pub(super) fn plan_schema(catalog: &Catalog, ids: Ids) -> OutputSchema {
    let nodes = match ids {
        Ids::Free => {
            let id = json!({"type": "string", "description": "short, of lower-case letters, digits and _"});
            let depends_on = json!({"type": "array", "items": {"type": "string"}});
            json!({"type": "array", "maxItems": MOST_FREE, "items": {"anyOf": shapes(catalog, &id, &depends_on, Works::All)}})
        }
        Ids::Positional => {
            let items: Vec<Value> = (1..=MOST_POSITIONAL).map(|at| positional(catalog, at)).collect();
            json!({"type": "array", "minItems": 1, "maxItems": MOST_POSITIONAL, "prefixItems": items})
        }
    };
    let schema = json!({"type": "object", "properties": {"nodes": nodes}, "required": ["nodes"], "additionalProperties": false});
    OutputSchema { name: "plan".to_owned(), schema }
}

fn positional(catalog: &Catalog, at: usize) -> Value {
    let earlier: Vec<String> = (1..at).map(|earlier| format!("n{earlier}")).collect();
    let depends_on = if earlier.is_empty() {
        json!({"type": "array", "maxItems": 0})
    } else {
        json!({"type": "array", "maxItems": earlier.len(), "items": {"type": "string", "enum": earlier}})
    };
    let id = json!({"type": "string", "enum": [format!("n{at}")]});
    json!({"anyOf": shapes(catalog, &id, &depends_on, Works::Named)})
}

/// Which works are on offer.
#[derive(PartialEq, Eq)]
enum Works {
    All,
    /// Agents and tools, if there are any: who needs numbered ids writes no code that runs.
    Named,
}

/// The shapes of a node, one for each work.
fn shapes(catalog: &Catalog, id: &Value, depends_on: &Value, works: Works) -> Vec<Value> {
    let text = json!({"type": "string"});
    let agents: Vec<&str> = catalog.agents.iter().map(|agent| agent.name.as_str()).collect();
    let tools: Vec<&str> = catalog.tools.iter().map(|tool| tool.name.as_str()).collect();
    let mut shapes = Vec::new();
    let mut shape = |fields: &[(&str, Value)]| {
        let mut properties = serde_json::Map::new();
        properties.insert("id".into(), id.clone());
        properties.extend(fields.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())));
        properties.insert("depends_on".into(), depends_on.clone());
        let required: Vec<&String> = properties.keys().collect();
        shapes.push(json!({"type": "object", "required": required, "properties": properties, "additionalProperties": false}));
    };
    if !agents.is_empty() {
        shape(&[("agent", json!({"type": "string", "enum": agents})), ("objective", text.clone())]);
    }
    if !tools.is_empty() {
        shape(&[("tool", json!({"type": "string", "enum": tools})), ("args", json!({"type": "object"}))]);
    }
    if works == Works::All || (agents.is_empty() && tools.is_empty()) {
        shape(&[("code", text.clone())]);
        shape(&[("value", text.clone())]);
        shape(&[("ask", text)]);
    }
    shapes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planner::model::tests::catalog;

    fn accepts(ids: Ids, plan: &Value) -> bool {
        jsonschema::validator_for(&plan_schema(&catalog(), ids).schema).unwrap().is_valid(plan)
    }

    #[test]
    fn good_plans_are_accepted_and_unknown_names_are_not() {
        let plan = |agent: &str| {
            json!({"nodes": [{"id": "a", "agent": agent, "objective": "x", "depends_on": []},
            {"id": "b", "tool": "read_file", "args": {"path": "{{a.result}}"}, "depends_on": ["a"]}]})
        };
        assert!(accepts(Ids::Free, &plan("writer")));
        assert!(!accepts(Ids::Free, &plan("nobody")));
        assert!(!accepts(Ids::Free, &json!({"nodes": [{"id": "a", "agent": "writer", "tool": "read_file", "depends_on": []}]})));
    }

    #[test]
    fn positional_plans_can_only_look_back() {
        let plan = |first: Value, second: Value| {
            json!({"nodes": [{"id": "n1", "tool": "read_file", "args": {}, "depends_on": first},
            {"id": "n2", "agent": "writer", "objective": "{{n1}}", "depends_on": second}]})
        };
        assert!(accepts(Ids::Positional, &plan(json!([]), json!(["n1"]))));
        assert!(!accepts(Ids::Positional, &plan(json!(["n2"]), json!(["n1"]))));
        assert!(!accepts(Ids::Positional, &plan(json!([]), json!(["n2"]))));
    }

    #[test]
    fn without_agents_or_tools_the_other_works_remain() {
        let schema = plan_schema(&Catalog::default(), Ids::Free).schema;
        assert_eq!(schema["properties"]["nodes"]["items"]["anyOf"].as_array().unwrap().len(), 3);
    }
}
