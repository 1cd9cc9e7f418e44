//! The seeds' own rules, each broken alone, and that the rules of other plans don't fire in them.

use super::tests::{fixed, found, message};
use serde_json::{Value, json};

fn workflow(nodes: Value, edges: Value) -> Value {
    json!({"dialect": "workflow", "defaults": {"budget": {"tokens": 5}}, "nodes": nodes, "edges": edges})
}

fn stages(nodes: Value, edges: Value) -> Value {
    json!({"dialect": "stages", "nodes": nodes, "edges": edges})
}

#[test]
fn a_sound_workflow_reads_its_context_by_any_name() {
    let document = workflow(
        json!([{"id": "in", "agent": "writer", "entry": true}, {"id": "a", "agent": "writer", "skip_if": "flags.skip_meal"},
            {"id": "b", "agent": "writer", "objective": "{{in.result}}"}, {"id": "out", "agent": "writer", "exit": true}]),
        json!([{"from": "in", "to": "a", "when": "user.is_new", "context": ["user"]}, {"from": "in", "to": "b"}, {"from": "a", "to": "out"}, {"from": "b", "to": "out"}]),
    );
    assert_eq!(found(document), Vec::<String>::new());
}

#[test]
fn a_workflow_has_one_entry_and_an_exit_and_reaches_every_node() {
    let nodes = json!([{"id": "b", "agent": "writer"}, {"id": "a", "agent": "writer"}, {"id": "c", "agent": "writer"}]);
    let edges = json!([{"from": "a", "to": "b"}]);
    assert_eq!(found(workflow(nodes.clone(), edges.clone())), ["no-entry nodes", "missing-exit nodes"]);
    assert_eq!(message(workflow(nodes.clone(), edges.clone())), "a workflow needs exactly one entry, but no node is marked as one");
    assert_eq!(fixed(workflow(nodes, edges)), ["not-reached"]);
    let nodes = json!([{"id": "a", "agent": "writer", "entry": true, "skip_if": "x"}, {"id": "b", "agent": "writer", "entry": true}, {"id": "c", "agent": "writer", "exit": true}]);
    let document = workflow(nodes, json!([{"from": "a", "to": "b"}]));
    assert_eq!(
        found(document.clone()),
        ["no-effect nodes[0].skip_if", "no-exit nodes[0]", "many-entries nodes[1].entry", "no-exit nodes[1]", "not-reached nodes[2]"]
    );
    assert_eq!(fixed(document), ["not-reached"]);
}

#[test]
fn a_workflow_has_no_cycles_and_knows_its_agents() {
    let document = workflow(
        json!([{"id": "a", "agent": "writer", "entry": true, "exit": true}, {"id": "b", "agent": "writr"}]),
        json!([{"from": "a", "to": "b"}, {"from": "b", "to": "a"}]),
    );
    assert_eq!(found(document.clone()), ["cycle nodes[0].depends_on", "unknown-agent nodes[1].agent"]);
    assert_eq!(fixed(document), Vec::<String>::new());
}

#[test]
fn in_a_workflow_only_texts_that_must_have_a_value_are_doubted() {
    let document = workflow(
        json!([{"id": "a", "agent": "writer", "entry": true, "objective": "{{user_name}}"}, {"id": "b", "agent": "writer", "exit": true, "objective": "{{c}}"},
            {"id": "c", "agent": "writer", "exit": true}]),
        json!([{"from": "a", "to": "b"}, {"from": "a", "to": "c"}]),
    );
    assert_eq!(found(document.clone()), ["unknown-input nodes[0].objective", "unordered-reference nodes[1].objective"]);
    let document_inputs = workflow(
        json!([{"id": "a", "agent": "writer", "entry": true}, {"id": "b", "agent": "writer", "exit": true, "objective": "{{inputs.mood}}",
            "skip_if": "inputs.flags.done"}]),
        json!([{"from": "a", "to": "b", "when": "inputs.flags.ok and flags.ok"}]),
    );
    assert_eq!(found(document_inputs.clone()), ["unknown-input nodes[1].objective"]);
    assert_eq!(message(document_inputs), "there is no input `mood` yet: an earlier result must provide it, or the node fails");
    // An edge would be another way to go, so none is offered.
    assert_eq!(fixed(document), ["unknown-input", "unordered-reference"]);
}

#[test]
fn stages_without_edges_are_a_chain() {
    let chain = json!([{"id": "a", "value": 1}, {"id": "b", "decide": "'x'", "depends_on": ["a"]}, {"id": "c", "merge": true, "depends_on": ["b"]}]);
    assert_eq!(found(stages(chain, json!([]))), Vec::<String>::new());
    let broken = json!([{"id": "a", "value": 1}, {"id": "b", "value": 1}]);
    assert_eq!(found(stages(broken, json!([]))), ["not-reached nodes[1]"]);
}

#[test]
fn a_decision_among_stages_needs_no_default_and_no_second_way() {
    let nodes = json!([{"id": "a", "value": {"route": 1}, "entry": true}, {"id": "d", "decide": "a.route"}, {"id": "e", "decide": "a.other"},
        {"id": "x", "value": 1, "exit": true}, {"id": "y", "value": 1, "exit": true}]);
    let edges = json!([{"from": "a", "to": "d"}, {"from": "d", "to": "e"}, {"from": "e", "to": "x", "when": "p"}, {"from": "e", "to": "y", "when": "q"}]);
    assert_eq!(found(stages(nodes, edges)), ["unordered-reference nodes[2].decide"][1..]);
}

#[test]
fn stages_with_edges_have_entries_and_terminals() {
    let nodes = json!([{"id": "a", "value": 1}, {"id": "b", "value": 1}, {"id": "c", "value": 1}]);
    let document = stages(nodes, json!([{"from": "a", "to": "b"}, {"from": "a", "to": "c"}]));
    assert_eq!(found(document.clone()), ["no-entry nodes", "missing-exit nodes"]);
    assert_eq!(fixed(document), Vec::<String>::new());
    let nodes = json!([{"id": "a", "value": 1, "entry": true}, {"id": "t", "value": 1, "exit": true}, {"id": "c", "value": 1}, {"id": "d", "value": 1},
        {"id": "e", "value": 1, "entry": true}]);
    let edges = json!([{"from": "a", "to": "t"}, {"from": "t", "to": "c"}, {"from": "a", "to": "d"}, {"from": "e", "to": "t"}]);
    assert_eq!(
        found(stages(nodes, edges)),
        ["not-reached nodes[2]", "dead-end nodes[2]", "dead-end nodes[3]", "later-entry nodes[4].entry", "never-taken edges[1]"]
    );
}

#[test]
fn what_a_stage_needs_goes_by_its_type_and_written_edges() {
    let nodes = json!([{"id": "a", "value": 1, "entry": true}, {"id": "m", "merge": true}, {"id": "d", "decide": "1"}, {"id": "z", "value": 1, "exit": true},
        {"id": "e", "decide": "1"}]);
    let edges =
        json!([{"from": "a", "to": "m"}, {"from": "m", "to": "d"}, {"from": "d", "to": "z"}, {"from": "a", "to": "e", "when": "false"}]);
    assert_eq!(found(stages(nodes, edges)), ["transition nodes[1]", "dead-end nodes[4]", "transition nodes[4]"]);
}

#[test]
fn every_edge_of_a_walk_is_an_alternative() {
    let nodes = json!([{"id": "d", "decide": "'other'", "entry": true}, {"id": "x", "value": 1}, {"id": "y", "value": 1}, {"id": "z", "value": 1, "exit": true}]);
    let edges = json!([{"from": "d", "to": "x", "when": "p"}, {"from": "d", "to": "y", "when": "q"}, {"from": "x", "to": "z"}, {"from": "y", "to": "z"}]);
    assert_eq!(found(stages(nodes.clone(), edges.clone())), Vec::<String>::new());
    let native = json!({"nodes": nodes, "edges": edges});
    assert_eq!(found(native), ["no-route nodes[0].decide", "alternatives nodes[3].join"]);
}

#[test]
fn hybrid_agents_have_budgets_and_narrow_tools() {
    let document = json!({"dialect": "hybrid", "nodes": [
        {"id": "a", "tool": "read_file", "args": {"path": "x"}},
        {"id": "b", "role": "tester", "goal": "{{a}} $OUTPUT[a]", "tools": ["*"], "max_iterations": 100},
        {"id": "c", "role": "tester", "goal": "x", "tools": ["read_*"], "budget": {"tokens": 9}, "inputs": {"from": "$OUTPUT[b]"}, "depends_on": ["b"]}
    ]});
    assert_eq!(
        found(document.clone()),
        [
            "open-side-effects nodes[1].approve",
            "unordered-reference nodes[1].goal",
            "unordered-reference nodes[1].goal",
            "bad-limit nodes[1].max_iterations",
            "private-data nodes[1]"
        ]
    );
    assert_eq!(fixed(document), ["private-data"], "no edit can say that what was read may leave");
}
