//! Seeds 003 and 004 word by word: slow interpreters of their rules that know nothing of the engine, and random documents that both
//! run. The same nodes are visited in the same order, the same ones are skipped, and the same results are passed on.

use super::kit::*;
use crate::engine::*;
use crate::plan::dialect;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// What one walk did: nodes in the order of their visits with what came in and what came out, and those that were passed through.
#[derive(Debug, Default, PartialEq)]
struct Walk {
    visits: Vec<(String, Value, Value)>,
    passed: Vec<String>,
    /// A walk of stages that stops at one that is not terminal failed.
    failed: bool,
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

/// A bare path, its negation, or a comparison with a text.
fn evaluate(condition: &str, scope: &Map<String, Value>) -> bool {
    let find = |path: &str| {
        let mut steps = path.split('.');
        let first = scope.get(steps.next().unwrap()).cloned().unwrap_or_default();
        steps.fold(first, |value, step| value.get(step).cloned().unwrap_or_default())
    };
    let truthy = |value: Value| match value {
        Value::Null => false,
        Value::Bool(yes) => yes,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(map) => !map.is_empty(),
    };
    match condition.split_once(" == ") {
        Some((path, wanted)) => find(path) == json!(wanted.trim_matches('\'')),
        None => condition.strip_prefix("not ").map_or_else(|| truthy(find(condition)), |path| !truthy(find(path))),
    }
}

/// Seed 003, `WorkflowRunner`.
struct WorkflowRunner<'a> {
    config: &'a Value,
    context: Map<String, Value>,
    passed: Vec<String>,
    /// What the connections on the way let through; absent while they let everything through.
    handed: Option<Map<String, Value>>,
}

impl WorkflowRunner<'_> {
    fn get_next_node(&mut self, current: &str) -> Option<String> {
        let connections = self.config["connections"].as_array().unwrap().iter().filter(|conn| text(conn, "source_id") == Some(current));
        for conn in connections {
            if text(conn, "condition").is_some_and(|condition| !evaluate(condition, &self.context)) {
                continue;
            }
            let target = text(conn, "target_id").unwrap();
            let node = self.config["nodes"].as_array().unwrap().iter().find(|node| text(node, "id") == Some(target)).unwrap();
            if let Some(keys) = conn.get("context_passed").and_then(Value::as_array) {
                let from = self.handed.as_ref().unwrap_or(&self.context);
                let keys = keys.iter().filter_map(Value::as_str);
                self.handed = Some(keys.filter_map(|key| Some((key.to_string(), from.get(key)?.clone()))).collect());
            }
            if text(node, "skip_condition").is_some_and(|condition| evaluate(condition, &self.context)) {
                self.passed.push(target.to_string());
                return self.get_next_node(target);
            }
            return Some(target.to_string());
        }
        None
    }
}

fn walk_workflow(config: &Value, inputs: &Map<String, Value>, results: &[Value]) -> Walk {
    let mut runner = WorkflowRunner { config, context: inputs.clone(), passed: Vec::new(), handed: None };
    let mut walk = Walk::default();
    let mut next = Some("w0".to_string());
    let mut source: Option<Value> = None;
    while let Some(current) = next {
        let result = results[current[1..].parse::<usize>().unwrap()].clone();
        let came = match (runner.handed.take(), source) {
            (Some(handed), Some(_)) => Value::Object(handed),
            (_, source) => source.unwrap_or_default(),
        };
        walk.visits.push((current.clone(), came, result.clone()));
        if let Value::Object(given) = &result {
            runner.context.extend(given.clone());
        }
        source = Some(result);
        next = runner.get_next_node(&current);
    }
    walk.passed = runner.passed;
    walk
}

/// Seed 004, `Router.resolve_edge`.
fn resolve_edge<'a>(output: &Value, edges: &[&'a Value]) -> &'a str {
    let named = match output {
        Value::Object(map) => ["condition", "route", "next"].iter().find_map(|key| map.get(*key)).cloned(),
        other => Some(other.clone()),
    };
    let named =
        edges.iter().find(|edge| named.is_some() && (edge.get("condition") == named.as_ref() || edge.get("to_stage_id") == named.as_ref()));
    text(named.unwrap_or(&edges[0]), "to_stage_id").unwrap()
}

fn walk_stages(pipeline: &Value, results: &[Value]) -> Walk {
    let stages = pipeline["stages"].as_array().unwrap();
    let edges = pipeline["edges"].as_array().unwrap();
    let mut walk = Walk::default();
    let mut given: Map<String, Value> = Map::new();
    let mut at = stages.iter().find(|stage| edges.is_empty() || stage["entrypoint"] == true);
    let mut source: Option<(String, Value)> = None;
    while let Some(stage) = at {
        let id = text(stage, "stage_id").unwrap();
        let number = id[1..].parse::<usize>().unwrap();
        let came = source.as_ref().map(|(_, value)| value.clone());
        let result = match text(stage, "type").unwrap() {
            "AGENT" => results[number].clone(),
            "MERGE" => Value::Object(source.clone().into_iter().collect()),
            _ => came.clone().unwrap_or_else(|| json!({})),
        };
        walk.visits.push((id.to_string(), came.unwrap_or_default(), result.clone()));
        given.insert(id.to_string(), result.clone());
        let out: Vec<&Value> = edges.iter().filter(|edge| text(edge, "from_stage_id") == Some(id)).collect();
        let next = if edges.is_empty() {
            stages.get(number + 1).and_then(|stage| text(stage, "stage_id"))
        } else if stage["terminal"] == true || out.is_empty() {
            None
        } else if stage["type"] == "DECISION" {
            Some(resolve_edge(&result, &out))
        } else {
            let holds = |edge: &&&Value| text(edge, "condition").is_none_or(|condition| evaluate(condition, &given));
            out.iter().find(holds).and_then(|edge| text(edge, "to_stage_id"))
        };
        source = Some((id.to_string(), result));
        walk.failed = !edges.is_empty() && next.is_none() && stage["terminal"] != true;
        at = next.and_then(|next| stages.iter().find(|stage| text(stage, "stage_id") == Some(next)));
    }
    walk
}

/// What the engine does with the same document; agents give the same results.
fn walk_engine(document: &Value, inputs: Map<String, Value>, results: &[Value]) -> Walk {
    let (mut plan, _) = dialect::read(&document.to_string(), "random").unwrap_or_else(|error| panic!("{error}: {document:#}"));
    plan.inputs = inputs;
    let mut world = World::new(plan);
    let mut deps: Vec<(String, Value)> = Vec::new();
    let mut seen = 0;
    while let Some(effect) = world.effects.get(seen).cloned() {
        seen += 1;
        if let Effect::Start { node, deps: came, .. } = effect {
            let came: Vec<&Dep> = came.iter().filter(|dep| !dep.result.is_null()).collect();
            assert!(came.len() <= 1, "one token comes one way");
            deps.push((node.to_string(), came.first().map(|dep| (*dep.result).clone()).unwrap_or_default()));
            world.done(&node, results[node[1..].parse::<usize>().unwrap()].clone());
        }
    }
    let outcome = world.outcome().unwrap_or_else(|| panic!("no end: {}", world.states()));
    assert!(matches!(outcome, Outcome::Succeeded | Outcome::Failed), "{outcome:?}: {}", world.states());
    let mut walk = Walk { failed: outcome == Outcome::Failed, ..Walk::default() };
    for record in &world.records {
        match &record.event {
            Event::Node { node_id, fact: NodeFact::Started { .. }, .. } => {
                let came = deps.iter().find(|(id, _)| *id == **node_id).map(|(_, came)| came.clone());
                let result = world.node(node_id).result.as_deref().cloned().unwrap_or_default();
                walk.visits.push((node_id.to_string(), came.unwrap_or_default(), result));
            }
            Event::Node { node_id, fact: NodeFact::Passed { .. }, .. } => walk.passed.push(node_id.to_string()),
            _ => {}
        }
    }
    walk
}

fn condition() -> impl Strategy<Value = Option<String>> {
    let path = || (0..3_u8).prop_map(|flag| format!("flags.k{flag}"));
    prop_oneof![
        2 => Just(None),
        2 => path().prop_map(Some),
        1 => path().prop_map(|path| Some(format!("not {path}"))),
        1 => Just(Some("mood == 'good'".to_string())),
    ]
}

fn gives() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!("words")),
        Just(json!({"mood": "good"})),
        (any::<bool>(), any::<bool>()).prop_map(|(a, b)| json!({"flags": {"k0": a, "k1": b}})),
        any::<bool>().prop_map(|c| json!({"flags": {"k2": c}, "mood": "bad", "user_name": "Ann"})),
    ]
}

/// Connections from earlier to later nodes, in any order.
fn workflow() -> impl Strategy<Value = (Value, Vec<Value>)> {
    let conn = || (any::<prop::sample::Index>(), any::<prop::sample::Index>(), condition(), prop::option::weighted(0.3, 0..4_usize));
    (2..9_usize)
        .prop_flat_map(move |count| {
            let skips = prop::collection::vec(condition(), count);
            (skips, prop::collection::vec(conn(), 1..16), prop::collection::vec(gives(), count))
        })
        .prop_map(|(skips, conns, results)| {
            let count = skips.len();
            let nodes = skips.into_iter().enumerate().map(|(at, skip)| {
                let mut node = json!({"id": format!("w{at}"), "agent_name": "worker", "is_entry": at == 0, "is_exit": at + 1 == count});
                if let Some(skip) = skip {
                    node["skip_condition"] = json!(skip);
                }
                node
            });
            let nodes: Vec<Value> = nodes.collect();
            let conns = conns.into_iter().map(|(from, to, condition, passed)| {
                let from = from.index(count - 1);
                let to = from + 1 + to.index(count - from - 1);
                let mut conn = json!({"source_id": format!("w{from}"), "target_id": format!("w{to}")});
                if let Some(condition) = condition {
                    conn["condition"] = json!(condition);
                }
                if let Some(keys) = passed {
                    conn["context_passed"] = json!(["flags", "mood", "user_name"][..keys]);
                }
                conn
            });
            (json!({"nodes": nodes, "connections": conns.collect::<Vec<_>>()}), results)
        })
}

fn stage_gives() -> impl Strategy<Value = Value> {
    let target = || (0..8_u8).prop_map(|at| format!("s{at}"));
    let label = || (0..3_u8).prop_map(|label| format!("l{label}"));
    prop_oneof![
        label().prop_map(|label| json!({"route": label, "ok": true})),
        label().prop_map(|label| json!(label)),
        target().prop_map(|target| json!({"next": target})),
        (label(), label()).prop_map(|(a, b)| json!({"condition": a, "route": b})),
        Just(json!({"ok": false})),
    ]
}

fn pipeline() -> impl Strategy<Value = (Value, Vec<Value>)> {
    let edge = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..6_u8);
    (2..8_usize)
        .prop_flat_map(move |count| {
            let stages = prop::collection::vec((0..6_u8, prop::bool::weighted(0.2)), count);
            (stages, prop::collection::vec(edge.clone(), 0..14), prop::collection::vec(stage_gives(), count))
        })
        .prop_map(|(stages, edges, results)| {
            let count = stages.len();
            let kinds: Vec<&str> = stages
                .iter()
                .enumerate()
                .map(|(at, (kind, _))| match kind {
                    0..=2 => "AGENT",
                    _ if at == 0 => "AGENT",
                    3 => "DECISION",
                    4 => "MERGE",
                    _ => "TRANSFORM",
                })
                .collect();
            let stage = |(at, (_, terminal)): (usize, &(u8, bool))| {
                let mut stage = json!({"stage_id": format!("s{at}"), "type": kinds[at], "entrypoint": at == 0, "terminal": *terminal || at + 1 == count});
                if kinds[at] == "AGENT" {
                    stage["agent_id"] = json!("worker");
                }
                stage
            };
            let stages: Vec<Value> = stages.iter().enumerate().map(stage).collect();
            let edges = edges.into_iter().map(|(from, to, how)| {
                let from = from.index(count - 1);
                let to = from + 1 + to.index(count - from - 1);
                let mut edge = json!({"from_stage_id": format!("s{from}"), "to_stage_id": format!("s{to}")});
                match (kinds[from], how) {
                    ("DECISION", 0..=2) => edge["condition"] = json!(format!("l{how}")),
                    ("AGENT", 0) => edge["condition"] = json!(format!("s{from}.ok")),
                    ("AGENT", 1) => edge["condition"] = json!("not s0.ok"),
                    _ => {}
                }
                edge
            });
            (json!({"stages": stages, "edges": edges.collect::<Vec<_>>()}), results)
        })
}

#[test]
fn the_workflow_of_the_seed_is_walked_as_its_runner_would() {
    let agent = |id: &str| json!({"id": id, "agent_name": "worker", "is_entry": id == "w0", "is_exit": id == "w3"});
    let mut nodes: Vec<Value> = ["w0", "w1", "w2", "w3"].map(agent).into();
    nodes[1]["skip_condition"] = json!("flags.k0");
    let conn = |from: &str, to: &str| json!({"source_id": from, "target_id": to});
    let config = json!({"nodes": nodes, "connections": [conn("w0", "w1"), conn("w1", "w2"), conn("w2", "w3")]});
    let results = [json!({"flags": {"k0": true}}), json!(1), json!(2), json!(3)];
    let walk = walk_workflow(&config, &Map::new(), &results);
    assert_eq!(walk.visits.iter().map(|(id, _, _)| id.as_str()).collect::<Vec<_>>(), ["w0", "w2", "w3"]);
    assert_eq!(walk.passed, ["w1"]);
    assert_eq!(walk_engine(&config, Map::new(), &results), walk);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_workflow_is_walked_as_the_runner_of_its_seed_would((config, results) in workflow(), k1 in any::<bool>()) {
        let inputs = Map::from_iter([("flags".to_string(), json!({"k1": k1}))]);
        prop_assert_eq!(walk_engine(&config, inputs.clone(), &results), walk_workflow(&config, &inputs, &results));
    }

    #[test]
    fn any_stages_are_walked_as_their_seed_says((pipeline, results) in pipeline()) {
        let mut literal = walk_stages(&pipeline, &results);
        // The engine starts workers for agents only, so what came in is seen there.
        for (id, came, _) in &mut literal.visits {
            if pipeline["stages"][id[1..].parse::<usize>().unwrap()]["type"] != "AGENT" {
                *came = Value::Null;
            }
        }
        prop_assert_eq!(walk_engine(&pipeline, Map::new(), &results), literal);
    }
}
