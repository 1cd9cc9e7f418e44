//! Fixes of random broken plans: each settles its finding or is refused, and fixing ends and makes nothing worse.

use super::tests::{catalog, read};
use super::*;
use crate::plan::samples::plan;
use crate::plan::{
    AgentNode, DecisionNode, Edge, LoopNode, MapNode, NodeKind, SubplanNode, ToolInput, ToolNode, TransformNode, dialect, samples::id,
};
use crate::plan::{Node, NodeId};
use proptest::prelude::*;
use serde_json::Value;
use serde_json::json;

/// One thing that goes wrong, at one node with another in mind.
fn spoil(plan: &mut Plan, how: u8, at: usize, other: usize) {
    let (at, other) = (at % plan.nodes.len(), other % plan.nodes.len());
    let named = plan.nodes[other].id.clone();
    let node = &mut plan.nodes[at];
    match how % 24 {
        0 => node.depends_on.push(named),
        1 => node.depends_on.push("n-00".into()),
        2 => node.id = named,
        3 => node.id = "a b".into(),
        4 => node.policy.max_iterations = Some(99),
        5 => node.policy.timeout_s = Some(-1.0),
        6 => node.policy.when = Some(format!("{named}.result.x > n00 and inputs.n")),
        7 => {
            let inner = Node { depends_on: vec![], ..node.clone() };
            let body = Plan { nodes: vec![inner, Node::new("x", works(&named))], ..Plan::default() };
            node.kind = NodeKind::Loop(LoopNode { body: Box::new(body), until: format!("x.result == {named}.result") });
        }
        8 => {
            let body = Plan { nodes: vec![node.clone(), Node::new("x", works(&named))], edges: plan.edges.clone(), ..Plan::default() };
            node.kind = NodeKind::Map(MapNode { over: "[1]".into(), body: Box::new(body), max_parallel: Some(0) });
        }
        9 => {
            let body = Plan { nodes: vec![node.clone()], ..Plan::default() };
            node.kind = NodeKind::Subplan(SubplanNode::File { path: "x.json".into(), loaded: Some(Box::new(body)) });
        }
        10 => node.kind = NodeKind::Decision(DecisionNode::Expression("'left'".into())),
        11 => node.kind = NodeKind::Decision(DecisionNode::Agent(AgentNode { agent: Some("writr".into()), ..AgentNode::default() })),
        12 => node.kind = works(&named),
        13 => {
            let args = [("txt".to_owned(), json!(1)), ("n".to_owned(), json!("x"))].into_iter().collect();
            node.kind = NodeKind::Tool(ToolNode { tool: "echo".into(), input: ToolInput::Args(args) });
        }
        14 => node.kind = NodeKind::Tool(ToolNode { tool: "apend".into(), input: ToolInput::Args(serde_json::Map::new()) }),
        15 => node.policy.locks = Some(vec!["disk".into()]),
        16 => plan.dialect = Dialect::ALL[other % Dialect::ALL.len()],
        17 => (node.entry, node.exit) = (other.is_multiple_of(2), at.is_multiple_of(2)),
        18 => plan.edges.push(Edge { default: true, ..Edge::new(node.id.clone(), named) }),
        19 => plan.edges.push(Edge::new(node.id.clone(), id(other + 40))),
        20 => node.policy.tools = Some(vec!["apend".into(), "*".into()]),
        21 => plan.budget.tokens = Some(other as u64),
        22 => node.policy.budget = Some(crate::plan::Budget { tokens: Some(at as u64), usd: Some(-1.0), ..Default::default() }),
        _ => drop(node.ext.insert("depend_on".into(), json!([named]))),
    }
}

fn works(named: &NodeId) -> NodeKind {
    NodeKind::Transform(TransformNode { value: json!([format!("{{{{{named}.result.a}}}} $OUTPUT[{named}] {{{{inputs.q}}}}")]) })
}

fn broken() -> impl Strategy<Value = Plan> {
    (plan(5), proptest::collection::vec((any::<u8>(), any::<u8>(), any::<u8>()), 1..9)).prop_map(|(mut plan, ways)| {
        ways.into_iter().for_each(|(how, at, other)| spoil(&mut plan, how, at.into(), other.into()));
        plan
    })
}

/// How a name is spelled, and its number.
type DrawnPosition = (u8, u8);

fn counts(plan: &Plan) -> (usize, usize) {
    let findings = validate(plan, &catalog());
    (findings.iter().filter(|finding| finding.is_error()).count(), findings.len())
}

proptest! {
    #[test]
    fn a_fix_settles_its_finding_or_is_refused(plan in broken()) {
        let findings = validate(&plan, &catalog());
        for finding in &findings {
            let Some(fix) = &finding.fix else { continue };
            let mut changed = plan.clone();
            let Ok(inverse) = fix.edit.apply(&mut changed) else {
                prop_assert_eq!(&changed, &plan);
                continue;
            };
            let same = |findings: &[Finding]| findings.iter().filter(|one| (one.code, &one.node, &one.message) == (finding.code, &finding.node, &finding.message)).count();
            let after = validate(&changed, &catalog());
            prop_assert!(same(&after) < same(&findings), "{finding:?}\nleft {after:?}");
            inverse.replay(&mut changed).unwrap();
            prop_assert_eq!(&changed, &plan);
        }
    }

    #[test]
    fn mending_ends_and_makes_nothing_worse(plan in broken()) {
        let mut fixed = plan.clone();
        let before = counts(&plan);
        let mut after = before;
        for fix in fixes(&plan, &catalog(), FixKind::Guess) {
            let last = after;
            fix.1.edit.apply(&mut fixed).unwrap();
            after = counts(&fixed);
            prop_assert!(after.0 <= last.0);
        }
        prop_assert!(after.0 < before.0 || after == before || (after.0 == before.0 && after.1 <= before.1), "{before:?} {after:?}");
        prop_assert_eq!(fixes(&fixed, &catalog(), FixKind::Guess).len(), 0, "what is left can't be fixed");
    }

    #[test]
    fn safe_fixes_of_names_by_position_are_all_made_at_the_first_pass(
        drawn in proptest::collection::vec((proptest::collection::vec((0..4_u8, 0..5_u8), 0..3), (0..7_u8, 0..5_u8)), 2..6),
    ) {
        let node = |(at, (sources, (how, number))): (usize, &(Vec<DrawnPosition>, DrawnPosition))| {
            let named = |(how, number): &DrawnPosition| match how {
                0 => format!("Step_{number}"),
                1 => format!("<node-{number}>"),
                2 => number.to_string(),
                _ => format!("own{number}"),
            };
            let text = match how {
                0 => format!("x <node-{number}> y"),
                1 => format!("x {{{{Step_{number}}}}} y"),
                2 => format!("<step {number}>"),
                3 => format!("${number}"),
                4 => format!("x {{Step_{number}}} y"),
                5 => format!("{{{{own{number}}}}} and <node-1>"),
                _ => "x".to_owned(),
            };
            json!({"id": format!("own{at}"), "value": text, "depends_on": sources.iter().map(named).collect::<Vec<_>>()})
        };
        let mut plan = read(json!({"nodes": drawn.iter().enumerate().map(node).collect::<Vec<_>>()}));
        let mut pass = || {
            let made = fixes(&plan, &catalog(), FixKind::Safe);
            made.iter().for_each(|fix| drop(fix.1.edit.apply(&mut plan).unwrap()));
            made
        };
        pass();
        prop_assert_eq!(pass(), []);
    }

    #[test]
    fn every_finding_stands_where_its_path_says(plan in broken()) {
        let document = serde_json::to_value(&plan).unwrap();
        for finding in validate(&plan, &catalog()).iter().filter(|finding| !finding.message.starts_with("in `x.json`")) {
            let address = follow(&document, &finding.path);
            prop_assert_eq!(address.as_deref(), finding.node.as_deref(), "{:?}", finding);
        }
    }
}

/// Goes along a path as far as there are nodes and plans, and gives the address that it comes to.
fn follow(document: &Value, path: &str) -> Option<String> {
    let mut here = document;
    let mut address: Option<String> = None;
    for step in path.split('.') {
        match step.strip_prefix("nodes[").and_then(|rest| rest.strip_suffix(']')).and_then(|at| at.parse::<usize>().ok()) {
            Some(at) => {
                here = &here["nodes"][at];
                let id = here["id"].as_str().unwrap();
                address = Some(address.map_or_else(|| id.to_owned(), |address| format!("{address}/{id}")));
            }
            None if (step == "body" || step == "plan") && here[step].is_object() => here = &here[step],
            None => break,
        }
    }
    address
}

#[test]
fn mending_settles_a_knot_of_cycles_one_by_one() {
    let plan = read(json!({"nodes": [
        {"id": "a", "value": 1, "depends_on": ["b", "c"]}, {"id": "b", "value": 1, "depends_on": ["a"]}, {"id": "c", "value": 1, "depends_on": ["a"]}
    ]}));
    let mut fixed = plan.clone();
    fixes(&plan, &catalog(), FixKind::Guess).iter().for_each(|fix| drop(fix.1.edit.apply(&mut fixed).unwrap()));
    assert_eq!(validate(&fixed, &catalog()), []);
}

#[test]
fn a_fix_that_would_bring_more_errors_is_left_alone() {
    // Without its mark the second stage would not be reached at all.
    let (plan, _) = dialect::read(
        &json!({"stages": [{"stage_id": "a", "type": "TRANSFORM", "entrypoint": true, "terminal": true}, {"stage_id": "b", "type": "TRANSFORM", "entrypoint": true},
            {"stage_id": "c", "type": "TRANSFORM", "terminal": true}], "edges": [{"from_stage_id": "b", "to_stage_id": "c"}, {"from_stage_id": "c", "to_stage_id": "b"}]})
        .to_string(),
        "x.json",
    )
    .unwrap();
    let findings = validate(&plan, &catalog());
    assert!(findings.iter().any(|finding| finding.code == Code::LaterEntry && finding.fix.is_some()), "{findings:?}");
    let mut fixed = plan.clone();
    fixes(&plan, &catalog(), FixKind::Guess).iter().for_each(|fix| drop(fix.1.edit.apply(&mut fixed).unwrap()));
    assert!(fixed.nodes[1].entry);
}

#[test]
fn a_fix_never_connects_an_edge_that_misses_an_end_or_cant_be_read() {
    let edges = [json!([{"from": "a"}, {"to": "b"}]), json!(["b ->", 5, null])];
    for edges in edges {
        let nodes = json!([{"id": "", "value": "e"}, {"id": "a", "value": "1"}, {"id": "b", "value": "2"}]);
        let document = json!({"goal": "g", "nodes": nodes, "edges": edges});
        let (mut plan, _) = dialect::read(&document.to_string(), "-").unwrap();
        let missing = |plan: &Plan| validate(plan, &catalog()).iter().filter(|finding| finding.code == Code::WrongShape).count();
        let before = missing(&plan);
        for fix in fixes(&plan, &catalog(), FixKind::Guess) {
            fix.1.edit.apply(&mut plan).unwrap();
        }
        assert_eq!(plan.nodes[0].id.as_str(), "node");
        assert!(before > 1 && missing(&plan) == before, "the edges are as wrong as they were");
        let written: Value = serde_json::from_str(&dialect::write(&plan, dialect::Format::Document(Dialect::Native)).text).unwrap();
        assert_eq!(written["edges"], document["edges"]);
    }
}

#[test]
fn a_fix_that_is_a_guess_in_the_document_as_written_is_not_made_as_a_safe_one() {
    let nodes = json!([{"id": "a", "value": "A"}, {"id": "b", "value": "B", "depends_on": ["A"]},
        {"id": "c", "value": "C <node-1>", "depends_on": ["A", "B"]}]);
    let plan = read(json!({ "nodes": nodes }));
    let guessed = |finding: &Finding| finding.fix.as_ref().is_some_and(|fix| fix.kind == FixKind::Guess);
    let guesses: Vec<String> = validate(&plan, &catalog()).into_iter().filter(guessed).map(|finding| finding.path).collect();
    assert_eq!(guesses, ["nodes[2].value"]);
    let made = |most| fixes(&plan, &catalog(), most).into_iter().map(|(path, fix)| (path, fix.kind)).collect::<Vec<_>>();
    assert!(made(FixKind::Safe).iter().all(|(path, _)| !guesses.contains(path)), "{:?}", made(FixKind::Safe));
    assert!(made(FixKind::Guess).contains(&(guesses[0].clone(), FixKind::Guess)));
}

/// A plan of `a`, `b` and `c` after its safe fixes, and after the safe fixes of what that gives.
fn fixed_twice(c: &Value) -> (Plan, Plan) {
    let mut plan = read(json!({"nodes": [{"id": "a", "value": "A"}, {"id": "b", "value": "B", "depends_on": ["a"]}, c]}));
    let mut fixed = || {
        fixes(&plan.clone(), &catalog(), FixKind::Safe).iter().for_each(|fix| drop(fix.1.edit.apply(&mut plan).unwrap()));
        plan.clone()
    };
    (fixed(), fixed())
}

#[test]
fn a_name_by_position_is_a_guess_at_each_pass_or_means_the_same_at_each() {
    let c = |value: &str, depends_on: &[&str]| json!({"id": "c", "value": value, "depends_on": depends_on});
    for (written, right) in [
        // No name is 0, and only from 1 all of them lead to earlier nodes.
        (c("C <node-1> {{Step_1}}", &["Step_1", "Step_2"]), c("C {{a.result}} {{a}}", &["a", "b"])),
        (c("C {{Step_1}} <node-1>", &["<node-0>", "1"]), c("C {{b}} {{b.result}}", &["a", "b"])),
        (c("C", &["Step_1", "1"]), c("C", &["a"])),
        // Both countings may be meant.
        (c("C <node-1>", &["a", "b"]), c("C <node-1>", &["a", "b"])),
        // From 1 it would be named twice.
        (c("C <node-1>", &["<node-1>", "a"]), c("C <node-1>", &["<node-1>", "a"])),
        (c("C {b} {{b}}", &[]), c("C {{b.result}} {{b}}", &["b"])),
    ] {
        let (once, twice) = fixed_twice(&written);
        assert_eq!(once.nodes, twice.nodes, "{written}");
        assert_eq!(once.nodes[2], read(json!({"nodes": [right]})).nodes[0], "{written}");
    }
}

#[test]
fn a_number_that_is_the_id_of_a_node_is_no_number() {
    let plan = read(json!({"nodes": [{"id": "1", "value": "A"}, {"id": "2", "value": "B {{1}}", "depends_on": ["1"]},
        {"id": "c", "value": "{{7}}", "depends_on": ["1"]}]}));
    let messages: Vec<String> = validate(&plan, &catalog()).into_iter().map(|finding| finding.message).collect();
    assert_eq!(messages, ["`{{7}}` is the number 7 here: a node is read by its id, as in `{{id}}`"]);
}

#[test]
fn a_name_in_a_text_and_the_same_one_in_the_order_make_one_dependency() {
    let plan = read(json!({"nodes": [{"id": "a", "value": "1"}, {"id": "b", "value": "{{0}}", "depends_on": ["0"]},
        {"id": "c", "value": "{{Step_1}}", "depends_on": ["1"]}]}));
    let mut fixed = plan.clone();
    fixes(&plan, &catalog(), FixKind::Safe).iter().for_each(|fix| drop(fix.1.edit.apply(&mut fixed).unwrap()));
    assert_eq!((validate(&fixed, &catalog()), fixed.nodes[2].depends_on.as_slice()), (vec![], ["b".into()].as_slice()));
}
