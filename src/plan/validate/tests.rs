//! Each finding: its code, place, words and fix; and that applying fixes settles them.

use super::*;
use crate::plan::samples::plan;
use crate::plan::{AgentInfo, NodeId, NodeKind, Risk, ToolInfo, Verdict};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::time::Instant;

pub(super) fn catalog() -> Catalog {
    let agent = |name: &str, tools: &[&str]| AgentInfo {
        name: name.into(),
        description: String::new(),
        objective_template: String::new(),
        kind: crate::plan::AgentKind::Llm,
        tools: tools.iter().map(ToString::to_string).collect(),
        origin: "test".into(),
        ..AgentInfo::default()
    };
    let tool = |name: &str, schema: Value, risk, verdict| ToolInfo {
        name: name.into(),
        description: String::new(),
        input_schema: schema,
        risk,
        verdict,
        reach: None,
    };
    let text = json!({"type": "string"});
    Catalog {
        agents: vec![agent("code_analyzer", &["read_*"]), agent("writer", &["*_file"])],
        tools: vec![
            tool("append", json!({"type": "object"}), Risk::Write, Verdict::Allow),
            tool(
                "echo",
                json!({"type": "object", "properties": {"text": {"type": ["string", "array"]}, "n": {"type": "integer"}}, "additionalProperties": false}),
                Risk::Read,
                Verdict::Allow,
            ),
            tool("fetch_url", json!({"type": "object"}), Risk::Network, Verdict::Ask),
            tool("read_file", json!({"type": "object", "properties": {"path": text}, "required": ["path"]}), Risk::Read, Verdict::Allow),
            tool("rm", json!({"type": "object"}), Risk::Execute, Verdict::Deny),
            tool(
                "write_file",
                json!({"type": "object", "properties": {"path": text, "content": text}, "required": ["path", "content"]}),
                Risk::Write,
                Verdict::Ask,
            ),
        ],
        aliases: [("cat".into(), "read_file".into()), ("add".into(), "append".into()), ("gone".into(), "nothing".into())].into(),
        ..Catalog::default()
    }
}

pub(super) fn read(document: Value) -> Plan {
    serde_json::from_value(document).unwrap()
}

/// `code path` of every finding.
pub(super) fn found(document: Value) -> Vec<String> {
    let findings = validate(&read(document), &catalog());
    findings.iter().map(|finding| format!("{} {}", finding.code, finding.path)).collect()
}

pub(super) fn message(document: Value) -> String {
    let findings = validate(&read(document), &catalog());
    findings.into_iter().next().unwrap().message
}

/// Applies every first fix until none is left; gives the codes that stay.
pub(super) fn fixed(document: Value) -> Vec<String> {
    let mut plan = read(document);
    for _ in 0..20 {
        let findings = validate(&plan, &catalog());
        match findings.iter().find_map(|finding| finding.fix.as_ref()) {
            Some(fix) => drop(fix.edit.apply(&mut plan).unwrap()),
            None => return findings.iter().map(|finding| finding.code.to_string()).collect(),
        }
    }
    panic!("fixes never end");
}

#[test]
fn a_sound_plan_has_no_findings() {
    let document = json!({"goal": "g", "nodes": [
        {"id": "a", "agent": "writer", "objective": "x", "budget": {"tokens": 5}},
        {"id": "b", "tool": "read_file", "query": "{{a.result.path}}", "depends_on": ["a"]},
        {"id": "c", "decide": "a.route", "depends_on": ["a", "b"]},
        {"id": "d", "value": "{{b}}"}, {"id": "e", "value": 1}, {"id": "f", "merge": true, "depends_on": ["d", "e"]}
    ], "edges": [{"from": "c", "to": "d", "when": "yes", "default": true}, {"from": "c", "to": "e", "when": "no"}, {"from": "a", "to": "f", "when": "a.result.ok"}]});
    assert_eq!(found(document), Vec::<String>::new());
}

#[test]
fn ids_and_edges() {
    let document = json!({"nodes": [
        {"id": "a b", "value": 1}, {"id": "research", "value": 1}, {"id": "research", "value": 1, "depends_on": ["reserch", "nobody-at-all"]},
        {"id": "run", "value": 1, "depends_on": ["run"]}, {"id": "x", "value": 1, "depends_on": ["research", "research"]}
    ], "edges": [{"from": "x", "to": "researsh"}, {"from": "x", "to": "x", "default": true}]});
    assert_eq!(
        found(document.clone()),
        [
            "bad-id nodes[0].id",
            "no-exit nodes[1]",
            "duplicate-id nodes[2].id",
            "unknown-dependency nodes[2].depends_on[0]",
            "unknown-dependency nodes[2].depends_on[1]",
            "bad-id nodes[3].id",
            "self-dependency nodes[3].depends_on[0]",
            "duplicate-edge nodes[4].depends_on",
            "unknown-dependency edges[0].to",
            "self-dependency edges[1]",
            "default-outside edges[1].default",
        ]
    );
    assert_eq!(found(json!({"nodes": []})), ["empty-plan nodes"]);
    let words = message(json!({"nodes": [{"id": "research", "value": 1}, {"id": "b", "value": 1, "depends_on": ["reserch"]}]}));
    assert_eq!(words, "there is no node `reserch`; did you mean `research`?");
    let left = fixed(document);
    assert!(
        !left.iter().any(|code| ["bad-id", "duplicate-id", "unknown-dependency", "self-dependency"].contains(&code.as_str())),
        "{left:?}"
    );
}

#[test]
fn a_cycle_is_spelled_out_and_its_fix_breaks_it() {
    let document = json!({"nodes": [
        {"id": "s", "value": 1}, {"id": "a", "value": 1, "depends_on": ["s", "b"]}, {"id": "b", "value": 1, "depends_on": ["a"]}, {"id": "z", "value": 1, "depends_on": ["b"]}
    ]});
    assert_eq!(found(document.clone()), ["cycle nodes[1].depends_on", "unreachable nodes[3]"]);
    assert_eq!(message(document.clone()), "nodes depend on each other in a cycle: a → b → a");
    assert_eq!(fixed(document), Vec::<String>::new());
    let sink = json!({"nodes": [{"id": "s", "value": 1}, {"id": "a", "value": 1, "depends_on": ["s", "b"]}, {"id": "b", "value": 1, "depends_on": ["a"]}]});
    assert_eq!(found(sink), ["no-exit nodes[0]", "cycle nodes[1].depends_on"]);
}

#[test]
fn agents_tools_and_arguments() {
    let document = json!({"nodes": [
        {"id": "a", "agent": "code_analizer"}, {"id": "b", "objective": "x"}, {"id": "c", "tool": "read_fil", "args": {"path": "x"}},
        {"id": "d", "tool": "read_file", "args": {"path": 3}}, {"id": "e", "tool": "read_file"}, {"id": "f", "tool": "write_file", "query": "x"},
        {"id": "g", "tool": "echo", "args": {"n": "{{d}}", "text": ["{{d}}"], "extra": 1}, "depends_on": ["d"]},
        {"id": "h", "tool": "rm"}, {"id": "i", "tool": "append", "args": {}, "approve": "never"},
        {"id": "j", "agent": "writer", "approve": "never", "tools": ["append", "gitub:*"]}, {"id": "k", "agent": "code_analyzer", "approve": "never"}
    ]});
    assert_eq!(
        found(document.clone()),
        [
            "unknown-agent nodes[0].agent",
            "no-agent nodes[1].agent",
            "unknown-tool nodes[2].tool",
            "bad-arguments nodes[3].args.path",
            "bad-arguments nodes[4].args.path",
            "bad-query nodes[5].query",
            "bad-arguments nodes[6].args.extra",
            "denied-tool nodes[7].tool",
            "open-side-effects nodes[8].approve",
            "beyond-card nodes[9].tools[0]",
            "tool-pattern nodes[9].tools[1]",
        ]
    );
    assert_eq!(message(document.clone()), "there is no agent `code_analizer`; did you mean `code_analyzer`?");
    assert!(!fixed(document).iter().any(|code| code.starts_with("unknown-")));
    let beyond = json!({"nodes": [{"id": "j", "agent": "writer", "tools": ["write_file", "append", "a*"], "budget": {"tokens": 9}}]});
    assert_eq!(found(beyond.clone()), ["beyond-card nodes[0].tools[1]", "beyond-card nodes[0].tools[2]"]);
    assert_eq!(fixed(beyond), Vec::<String>::new());
}

#[test]
fn references_and_conditions() {
    let document = json!({"inputs": {"city": "Oslo"}, "nodes": [
        {"id": "a", "value": "{{city}} {{inputs.city}} {{inputs.age}} {{nobod}} {{a b}} \\{{x}}"},
        {"id": "b", "agent": "writer", "objective": "{{a.result}}"},
        {"id": "c", "value": "$OUTPUT[a]", "depends_on": ["b"], "when": "a >", "skip_if": "nobody.x and d"},
        {"id": "d", "value": "{{d}}", "depends_on": ["c"], "replan_when": "d.full"},
        {"id": "e", "code": " "}, {"id": "f", "ask": ""}
    ], "edges": [{"from": "c", "to": "e", "when": "c.ok and d.ok"}]});
    assert_eq!(
        found(document.clone()),
        [
            "unknown-input nodes[0].value",
            "unknown-reference nodes[0].value",
            "bad-reference nodes[0].value",
            "unordered-reference nodes[1].objective",
            "bad-condition nodes[2].when",
            "unknown-name nodes[2].skip_if",
            "unordered-reference nodes[2].value",
            "unordered-reference nodes[2].skip_if",
            "unordered-reference nodes[3].value",
            "empty-text nodes[4].code",
            "empty-text nodes[5].ask.text",
            "unordered-reference edges[0].when",
        ]
    );
    let plan = read(document);
    let findings = validate(&plan, &catalog());
    let fix = |at: usize| {
        findings
            .iter()
            .filter(|finding| finding.code == Code::UnorderedReference)
            .nth(at)
            .unwrap()
            .fix
            .as_ref()
            .map(|fix| fix.title.as_str())
    };
    assert_eq!(fix(0), Some("make `b` depend on `a`"));
    assert_eq!(fix(2), Some("read `b`"), "an edge from d to c would close a cycle, and c waits for b alone");
    let one = json!({"nodes": [{"id": "a", "value": 1}, {"id": "b", "value": "{{a}}"}]});
    assert_eq!(fixed(one), Vec::<String>::new());
}

#[test]
fn code_that_reads_a_node_without_depending_on_it_is_found_and_mended() {
    let document = json!({"nodes": [
        {"id": "a", "value": 1}, {"id": "b", "value": 1},
        {"id": "c", "code": "return deps.a.output + deps['b'].output + deps.gone", "depends_on": ["a"]},
    ]});
    assert_eq!(found(document.clone()), ["code-reads nodes[2].code", "unknown-reference nodes[2].code"]);
    let fixes: Vec<_> = validate(&read(document), &catalog()).into_iter().map(|finding| finding.fix.map(|fix| fix.title)).collect();
    assert_eq!(fixes, [Some("make `c` depend on `b`".to_owned()), None]);
}

#[test]
fn a_node_is_never_told_to_read_itself() {
    let document = json!({"nodes": [
        {"id": "zebra", "value": "{{zebr}}"}, {"id": "debra", "code": "return deps.debr", "depends_on": ["zebra"], "when": "debr2"}
    ]});
    let words: Vec<String> = validate(&read(document), &catalog()).into_iter().map(|finding| finding.message).collect();
    assert_eq!(
        words,
        [
            "`zebr` is neither a node nor an input of the plan; did you mean `debra`?",
            "the code reads `deps.debr`, but there is no such node; did you mean `zebra`?",
            "`debr2` is neither a node nor an input of the plan, so it reads null; did you mean `zebra`?",
        ]
    );
    let unlike = json!({"nodes": [{"id": "a", "value": 1}, {"id": "b", "code": "return deps.zz", "depends_on": ["a"]}]});
    assert_eq!(message(unlike), "the code reads `deps.zz`, but there is no such node");
    let itself = json!({"nodes": [{"id": "zebra", "value": 1, "depends_on": ["zebr"]}]});
    assert_eq!(message(itself), "there is no node `zebr`");
}

#[test]
fn inputs_that_there_are_not_are_told_in_arguments_too() {
    let document = json!({"nodes": [{"id": "a", "tool": "read_file", "args": {"path": "{{inputs.y}}/{{inputs.z.list}}"}}]});
    assert_eq!(found(document), ["unknown-input nodes[0].args.path", "unknown-input nodes[0].args.path"]);
}

#[test]
fn the_sandbox_gives_so_much_and_no_more() {
    let document = json!({"nodes": [
        {"id": "a", "code": "return 1", "sandbox": {"memory_mb": 1025, "time_ms": 0}},
        {"id": "b", "code": "return 1", "sandbox": {"memory_mb": 1024, "time_ms": 600_000}},
        {"id": "c", "code": "return 1", "sandbox": {"time_ms": u64::MAX}}
    ]});
    assert_eq!(
        found(document.clone()),
        ["bad-limit nodes[0].sandbox.memory_mb", "bad-limit nodes[0].sandbox.time_ms", "bad-limit nodes[2].sandbox.time_ms"]
    );
    assert_eq!(message(document.clone()), "`sandbox.memory_mb` must be 1 to 1024, not 1025");
    let mut plan = read(document.clone());
    validate(&plan, &catalog())[0].fix.as_ref().unwrap().edit.apply(&mut plan).unwrap();
    let NodeKind::Code(code) = &plan.nodes[0].kind else { panic!() };
    assert_eq!(code.sandbox.memory_mb, Some(1024));
    assert_eq!(fixed(document), Vec::<String>::new());
}

#[test]
fn what_is_quoted_is_cut() {
    let long = "x".repeat(100_000);
    let document = json!({"nodes": [
        {"id": long, "value": format!("{{{{{long}.y}}}}"), "when": format!("{long} ==")},
        {"id": "b", "tool": long, "args": {"path": [long]}, "depends_on": [long, format!("{long}y")]},
        {"id": "c", "tool": "read_file", "args": {"path": [long], (long.clone()): 1}},
    ]});
    let findings = validate(&read(document), &catalog());
    assert!(findings.len() >= 6, "{:?}", findings.iter().map(|finding| finding.code).collect::<Vec<_>>());
    for finding in &findings {
        assert!(finding.message.len() < 700, "{}", finding.message.len());
        assert!(finding.fix.as_ref().is_none_or(|fix| fix.title.len() < 300));
    }
    let words = findings.iter().find(|finding| finding.code == Code::UnknownTool).unwrap();
    assert_eq!(words.message, format!("there is no tool `{}…`", "x".repeat(79)));
}

#[test]
fn decisions_and_joins() {
    let document = json!({"inputs": {"r": 1}, "nodes": [
        {"id": "d", "decide": "r"}, {"id": "a", "value": 1}, {"id": "b", "value": 1}, {"id": "b2", "value": 1, "depends_on": ["b"]},
        {"id": "all", "value": 1, "depends_on": ["a", "b2"]}, {"id": "fine", "merge": true, "depends_on": ["a", "b2"]},
        {"id": "lone", "decide": "1", "depends_on": ["all"]}, {"id": "one", "decide": "1", "depends_on": ["all"]}, {"id": "m", "merge": true, "depends_on": ["one"]}
    ], "edges": [{"from": "d", "to": "a", "when": "x"}, {"from": "d", "to": "b", "when": "x"}]});
    assert_eq!(
        found(document.clone()),
        [
            "no-default nodes[0]",
            "alternatives nodes[4].join",
            "decision-routes nodes[6]",
            "one-route nodes[7]",
            "merge-inputs nodes[8]",
            "route-labels edges[1].when"
        ]
    );
    assert_eq!(fixed(document), ["decision-routes", "one-route", "merge-inputs", "route-labels"]);
    let agent = json!({"nodes": [{"id": "d", "agent": "writer", "objective": "x", "decide": true}, {"id": "a", "value": 1}, {"id": "b", "value": 1}],
        "edges": [{"from": "d", "to": "a"}, {"from": "d", "to": "b", "default": true}]});
    assert_eq!(found(agent), ["no-labels nodes[0]"]);
    let direct = |join: Value| {
        json!({"nodes": [{"id": "d", "decide": "1"}, {"id": "x", "value": 1, "join": join}],
            "edges": [{"from": "d", "to": "x", "when": "a", "default": true}, {"from": "d", "to": "x", "when": "b"}]})
    };
    assert_eq!(found(direct(json!("all"))), ["alternatives nodes[1].join"]);
    assert_eq!(found(direct(Value::Null)), Vec::<String>::new());
}

#[test]
fn an_agent_with_an_empty_objective_is_an_error() {
    let agent = json!({"id": "a", "agent": "writer", "objective": " ", "approve": "before"});
    let decision = json!({"id": "b", "decide": {"role": "judge", "goal": ""}});
    let after = json!({"id": "c", "value": 1, "depends_on": ["b"]});
    let mut found = found(json!({"nodes": [agent, decision, after]}));
    found.retain(|finding| finding.starts_with("empty-objective"));
    assert_eq!(found, ["empty-objective nodes[0].objective", "empty-objective nodes[1].goal"]);
}

#[test]
fn every_code_is_published_once() {
    let mut names: Vec<&str> = codes().iter().map(|info| info.name).collect();
    for (at, info) in codes().iter().enumerate() {
        assert_eq!(info.code as usize, at);
        assert_eq!(serde_json::to_value(info.code).unwrap(), info.name);
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), codes().len());
}

#[test]
fn a_large_wrong_plan_is_told_apart_in_reasonable_time() {
    let nodes: Vec<Value> = (0..5_000)
        .map(|n| json!({"id": format!("node-{n}"), "tool": "nope", "query": "{{node-0.result}} {{nobody}}", "depends_on": ["zzz"]}))
        .collect();
    let started = Instant::now();
    let findings = validate(&read(json!({ "nodes": nodes })), &catalog());
    assert!(findings.len() >= 4 * 5_000);
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
}

proptest! {
    #[test]
    fn a_dag_that_reads_only_its_sources_has_no_errors(plan in plan(10)) {
        let findings = validate(&plan, &catalog());
        prop_assert!(!findings.iter().any(Finding::is_error), "{:?}", findings);
    }

    #[test]
    fn any_document_is_validated_without_a_panic(plan in plan(6), id in "[a-c \\-{}é]{0,3}", text in "[{}a-c.$\\[\\]n0-3 <>='|()]{0,30}") {
        let mut plan = plan;
        plan.nodes[0].id = NodeId::new(&id);
        plan.nodes[0].depends_on.push(NodeId::new(&id));
        plan.nodes[0].policy.when = Some(text.clone());
        plan.edges.push(crate::plan::Edge { when: Some(text), default: true, ..crate::plan::Edge::new("n1", id.as_str()) });
        for finding in validate(&plan, &catalog()) {
            if let Some(fix) = finding.fix {
                let mut plan = plan.clone();
                let before = plan.clone();
                if let Ok(inverse) = fix.edit.apply(&mut plan) {
                    inverse.replay(&mut plan).unwrap();
                }
                prop_assert_eq!(plan, before);
            }
        }
    }
}

#[test]
fn a_change_is_open_only_where_neither_configuration_nor_plan_asks() {
    let codes = found(json!({ "nodes": [
        {"id": "a", "tool": "append", "args": {}, "approve": "before"},
        {"id": "b", "tool": "append", "args": {}, "approve": "after"},
        {"id": "c", "tool": "write_file", "args": {"path": "a", "content": "b"}, "approve": "never"},
        {"id": "d", "tool": "append", "args": {}},
    ]}));
    assert_eq!(codes, ["open-side-effects nodes[1].approve", "open-side-effects nodes[3].approve"]);
}

#[test]
fn a_tool_may_have_any_of_its_names() {
    let codes = found(json!({ "nodes": [
        {"id": "a", "tool": "cat", "args": {"path": "x"}},
        {"id": "b", "tool": "cat", "query": "x"},
        {"id": "c", "agent": "writer", "objective": "x", "tools": ["cat"]},
        {"id": "d", "tool": "cat", "args": {}},
        {"id": "e", "tool": "add", "args": {}},
        {"id": "f", "tool": "gone", "args": {}},
    ]}));
    assert_eq!(codes, ["bad-arguments nodes[3].args.path", "open-side-effects nodes[4].approve", "unknown-tool nodes[5].tool"]);
}

#[test]
fn a_prompt_that_may_be_larger_than_the_models_window_is_a_warning_with_its_numbers() {
    let mut catalog = catalog();
    catalog.models.windows = [("tiny".into(), 4_096)].into();
    catalog.models.names = [("small".into(), "tiny-2025".into())].into();
    let plan = read(json!({"budget": {"tokens": 90_000}, "inputs": {"text": "word ".repeat(4_000)}, "nodes": [
        {"id": "a", "agent": "writer", "objective": "Write.", "model": "small", "budget": {"tokens": 20_000}},
        {"id": "b", "agent": "writer", "objective": "Write.", "model": "small", "budget": {"tokens": 60_000}, "depends_on": ["a"]},
        {"id": "c", "agent": "writer", "objective": "{{inputs.text}}", "model": "tiny", "depends_on": ["b"]},
        {"id": "d", "agent": "writer", "objective": "Write.", "model": "unknown", "budget": {"tokens": 20_000}, "depends_on": ["c"]},
        {"id": "e", "agent": "writer", "objective": "Write.", "depends_on": ["d"], "budget": {"tokens": 60_000}}
    ]}));
    let of = |catalog: &Catalog| -> Vec<Finding> {
        validate(&plan, catalog).into_iter().filter(|finding| finding.code == Code::PromptWindow).collect()
    };
    let findings = of(&catalog);
    assert_eq!(findings.iter().map(|finding| finding.path.as_str()).collect::<Vec<_>>(), ["nodes[1]", "nodes[2]"]);
    assert!(findings[0].message.contains("up to 9,000), and `tiny-2025` takes in 4,096"), "{}", findings[0].message);
    let fix = findings[0].fix.as_ref().unwrap();
    let mut fixed = plan.clone();
    fix.edit.apply(&mut fixed).unwrap();
    assert!(validate(&fixed, &catalog).iter().all(|finding| finding.code != Code::PromptWindow || finding.path == "nodes[2]"));
    assert_eq!(findings[1].fix, None, "no limit makes an objective shorter");
    catalog.models.preset = Some("small".into());
    assert_eq!(of(&catalog).len(), 3, "the model of the run counts where a node names none");
}
