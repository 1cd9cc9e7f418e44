//! The schema that a model's plan is held to: `{nodes: [...]}`, each node one of a few flat shapes. Plain enough for strict servers:
//! no `oneOf`, no `items: false`, no recursion. What several shapes share is in `$defs`.

use serde_json::{Map, Value, json};

use super::arguments;
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
/// The fewest and the most nodes of a plan with positional ids. Each length has a schema of its own, because servers that hold an
/// answer to a list of positions want all of them.
pub(super) const POSITIONAL: std::ops::RangeInclusive<usize> = 2..=5;
/// Longest texts of a plan with positional ids, in characters: small models repeat themselves until something stops them.
const TITLE: usize = 60;
const TEXT: usize = 300;

/// `past`: how many past plans are shown, of which the plan may follow one.
pub(super) fn plan_schema(catalog: &Catalog, ids: Ids, past: usize) -> OutputSchema {
    let mut schema = Shapes::new(catalog, ids);
    let nodes = match ids {
        Ids::Free => json!({"type": "array", "maxItems": MOST_FREE, "items": {"anyOf": schema.free()}}),
        Ids::Positional => json!({"anyOf": POSITIONAL.map(|length| schema.positional(length)).collect::<Vec<_>>()}),
    };
    let mut plan = json!({"type": "object", "properties": {"nodes": nodes}, "required": ["nodes"], "additionalProperties": false, "$defs": schema.definitions});
    if past > 0 {
        // After the nodes, which are shown as they come.
        plan["properties"]["follows"] = json!({"type": "integer", "enum": (0..=past).collect::<Vec<_>>()});
        plan["required"] = json!(["nodes", "follows"]);
    }
    OutputSchema { name: "plan".to_owned(), schema: plan }
}

/// The shapes of nodes, one for each kind of work.
struct Shapes<'a> {
    catalog: &'a Catalog,
    definitions: Map<String, Value>,
}

/// The fields that every node has beside its work.
struct Frame {
    id: Value,
    depends_on: Value,
}

impl<'a> Shapes<'a> {
    fn new(catalog: &'a Catalog, ids: Ids) -> Self {
        let text = |most: usize| match ids {
            Ids::Free => json!({"type": "string"}),
            Ids::Positional => json!({"type": "string", "maxLength": most}),
        };
        let mut definitions = Map::new();
        definitions.insert("title".into(), text(TITLE));
        definitions.insert("text".into(), text(TEXT));
        for tool in &catalog.tools {
            definitions.insert(arguments_name(&tool.name), arguments::schema(&tool.input_schema, &defined("text")));
        }
        if !catalog.agents.is_empty() {
            let names: Vec<&str> = catalog.agents.iter().map(|agent| agent.name.as_str()).collect();
            definitions.insert("agent".into(), json!({"type": "string", "enum": names}));
        }
        Self { catalog, definitions }
    }

    /// Every work, with free ids.
    fn free(&self) -> Vec<Value> {
        let frame = Frame {
            id: json!({"type": "string", "description": "what it does in a word or two: lower-case letters, digits and _"}),
            depends_on: json!({"type": "array", "items": {"type": "string"}}),
        };
        let mut shapes = self.named(&frame);
        shapes.extend(self.free_works(&frame));
        let mut inner = self.named(&frame);
        inner.extend(self.free_works(&frame));
        let nodes = json!({"type": "array", "maxItems": MOST_FREE, "items": {"anyOf": inner}});
        let body = json!({"type": "object", "properties": {"nodes": nodes}, "required": ["nodes"], "additionalProperties": false});
        shapes.push(shape(&frame, &[("over", defined("text")), ("body", body)]));
        shapes.push(shape(&frame, &[("decide", defined("text"))]));
        shapes
    }

    /// A plan of exactly so many numbered nodes; the last one needs an earlier one.
    fn positional(&mut self, length: usize) -> Value {
        let nodes = (1..=length).map(|at| {
            let (name, fewest) = if at == length { (format!("last{at}"), 1) } else { (format!("n{at}"), 0) };
            if !self.definitions.contains_key(&name) {
                let earlier: Vec<String> = (1..at).map(|earlier| format!("n{earlier}")).collect();
                let depends_on = match earlier.len() {
                    0 => json!({"type": "array", "maxItems": 0}),
                    most => json!({"type": "array", "minItems": fewest, "maxItems": most, "items": {"type": "string", "enum": earlier}}),
                };
                let frame = Frame { id: json!({"type": "string", "enum": [format!("n{at}")]}), depends_on };
                // Who needs numbered ids writes no code that runs.
                let named = self.named(&frame);
                let shapes = if named.is_empty() { self.free_works(&frame) } else { named };
                self.definitions.insert(name.clone(), json!({"anyOf": shapes}));
            }
            defined(&name)
        });
        let nodes: Vec<Value> = nodes.collect();
        json!({"type": "array", "minItems": length, "maxItems": length, "prefixItems": nodes})
    }

    /// Agents and tools, if there are any.
    fn named(&self, frame: &Frame) -> Vec<Value> {
        let agents =
            self.definitions.contains_key("agent").then(|| shape(frame, &[("agent", defined("agent")), ("objective", defined("text"))]));
        let tools = self.catalog.tools.iter().map(|tool| {
            let name = json!({"type": "string", "enum": [tool.name]});
            shape(frame, &[("tool", name), ("args", defined(&arguments_name(&tool.name)))])
        });
        agents.into_iter().chain(tools).collect()
    }

    /// What needs neither agent nor tool.
    fn free_works(&self, frame: &Frame) -> Vec<Value> {
        ["code", "value", "ask"].map(|work| shape(frame, &[(work, defined("text"))])).into()
    }
}

fn defined(name: &str) -> Value {
    json!({"$ref": format!("#/$defs/{name}")})
}

/// The name of a definition, of characters that need no escape in a pointer.
fn arguments_name(tool: &str) -> String {
    let plain: String = tool.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    format!("args_{plain}")
}

/// A node with this work. The title comes before the work, so that a model says what it is going to do first.
fn shape(frame: &Frame, work: &[(&str, Value)]) -> Value {
    let mut properties = Map::new();
    properties.insert("id".into(), frame.id.clone());
    properties.insert("title".into(), defined("title"));
    properties.extend(work.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())));
    properties.insert("depends_on".into(), frame.depends_on.clone());
    let required: Vec<&String> = properties.keys().collect();
    json!({"type": "object", "required": required, "properties": properties, "additionalProperties": false})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planner::model::tests::catalog;

    fn accepts(ids: Ids, nodes: &Value) -> bool {
        jsonschema::validator_for(&plan_schema(&catalog(), ids, 0).schema).unwrap().is_valid(&json!({ "nodes": nodes }))
    }

    #[test]
    fn good_plans_are_accepted_and_unknown_names_are_not() {
        let nodes = |agent: &str| {
            json!([{"id": "a", "title": "t", "agent": agent, "objective": "x", "depends_on": []},
            {"id": "b", "title": "t", "tool": "read_file", "args": {"path": "{{a.result}}", "limit": 3}, "depends_on": ["a"]}])
        };
        assert!(accepts(Ids::Free, &nodes("writer")));
        assert!(!accepts(Ids::Free, &nodes("nobody")));
        assert!(!accepts(Ids::Free, &json!([{"id": "a", "title": "t", "agent": "writer", "tool": "read_file", "depends_on": []}])));
    }

    #[test]
    fn arguments_are_held_to_the_schema_of_their_tool() {
        let call = |args: Value| json!([{"id": "b", "title": "t", "tool": "read_file", "args": args, "depends_on": []}]);
        assert!(accepts(Ids::Free, &call(json!({"path": "x"}))));
        assert!(accepts(Ids::Free, &call(json!({"path": "x", "limit": "{{a.result}}"}))), "a reference can stand for any value");
        for wrong in [json!({"path": "x", "limit": [3]}), json!({"paht": "x"}), json!({"limit": 3})] {
            assert!(!accepts(Ids::Free, &call(wrong.clone())), "{wrong}");
        }
    }

    #[test]
    fn positional_plans_have_a_few_nodes_that_only_look_back_and_the_last_one_does() {
        let node = |at: usize, depends_on: &[&str]| json!({"id": format!("n{at}"), "title": "t", "agent": "writer", "objective": "x", "depends_on": depends_on});
        let three = |second: &[&str], third: &[&str]| json!([node(1, &[]), node(2, second), node(3, third)]);
        assert!(accepts(Ids::Positional, &three(&[], &["n1", "n2"])));
        assert!(!accepts(Ids::Positional, &three(&["n2"], &["n1"])));
        assert!(!accepts(Ids::Positional, &three(&["n3"], &["n1"])));
        assert!(!accepts(Ids::Positional, &three(&[], &[])), "the last one joins what was done");
        assert!(!accepts(Ids::Positional, &json!([node(1, &[])])));
        let long: Vec<Value> = (1..=6).map(|at| node(at, if at > 1 { &["n1"] } else { &[] })).collect();
        assert!(accepts(Ids::Positional, &json!(long[..5])) && !accepts(Ids::Positional, &json!(long)));
        let mut wordy = three(&[], &["n1"]);
        wordy[0]["objective"] = json!("again and ".repeat(40));
        assert!(!accepts(Ids::Positional, &wordy) && accepts(Ids::Free, &wordy));
    }

    #[test]
    fn without_agents_or_tools_the_other_works_remain() {
        let empty = Catalog::default();
        let accepts = |ids, nodes: Value| {
            jsonschema::validator_for(&plan_schema(&empty, ids, 0).schema).unwrap().is_valid(&json!({ "nodes": nodes }))
        };
        let ask = |at: usize, sources: &[&str]| json!({"id": format!("n{at}"), "title": "t", "ask": "x", "depends_on": sources});
        assert!(accepts(Ids::Free, json!([ask(1, &[])])));
        assert!(accepts(Ids::Positional, json!([ask(1, &[]), ask(2, &["n1"])])));
    }

    #[test]
    fn every_kind_of_the_example_fits() {
        let nodes = json!([
            {"id": "all", "title": "t", "over": "list.result", "body": {"nodes": [{"id": "x", "title": "t", "value": "{{item}}", "depends_on": []}]}, "depends_on": []},
            {"id": "which", "title": "t", "decide": "'a' if all.result else 'b'", "depends_on": ["all"]},
        ]);
        assert!(accepts(Ids::Free, &nodes));
    }
}
