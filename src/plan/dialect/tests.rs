//! Dialects are told apart by shape, read with places in errors, and written back equal.

use super::*;
use crate::plan::samples::plan;
use crate::plan::{Catalog, Dialect, Plan};
use proptest::prelude::*;
use serde_json::{Value, json};

const ITINERARY: &str = r#"{"nodes": [
  {"id": "paris", "agent": "web_researcher", "objective": "Hotels", "depends_on": []},
  {"id": "flights", "agent": "web_researcher", "objective": "Flights", "depends_on": [], "priority": 2},
  {"id": "plan", "agent": "travel_planner", "objective": "Itinerary from {{paris.result}}", "depends_on": ["paris", "flights"]}
], "metadata": {"by": "planner"}, "version": "x"}"#;

#[test]
fn an_orchestration_plan_is_told_by_its_shape_and_written_back_equal() {
    let (plan, dialect) = read(ITINERARY, "p.json").unwrap();
    assert_eq!(dialect, Dialect::Orchestration);
    let written = write(&plan, Format::Document(Dialect::Orchestration));
    assert_eq!(written.lost, []);
    assert_eq!(serde_json::from_str::<Value>(&written.text).unwrap(), serde_json::from_str::<Value>(ITINERARY).unwrap());
    let (again, dialect) = read(&write(&plan, Format::Document(Dialect::Native)).text, "p.json").unwrap();
    assert_eq!((again, dialect), (plan, Dialect::Native));
}

#[test]
fn a_dialect_is_told_by_its_shape() {
    let native = r#"{"nodes": [{"id": "a", "agent": "x", "objective": "y", "retry": {"attempts": 2}}]}"#;
    assert_eq!(read(native, "-").unwrap().1, Dialect::Native);
    assert_eq!(read(r#"{"nodes": [{"id": "a", "tool": "x"}]}"#, "-").unwrap().1, Dialect::Native);
    for (text, dialect) in [
        (r#"{"dag": []}"#, Dialect::Tools),
        (r#"{"tasks": []}"#, Dialect::Hybrid),
        (r#"{"nodes": [], "connections": []}"#, Dialect::Workflow),
        (r#"{"nodes": [{"id": "a", "agent_name": "x"}]}"#, Dialect::Workflow),
        (r#"{"stages": []}"#, Dialect::Stages),
        (r#"{"graph": {"stages": []}}"#, Dialect::Stages),
    ] {
        let (plan, shape) = read(text, "f").unwrap();
        assert_eq!((plan.dialect, shape), (dialect, dialect), "{text}");
    }
}

#[test]
fn a_plan_inside_a_field_or_a_fence_is_read_and_its_places_are_those_of_the_text() {
    let wrapped =
        "{\"title\": \"t\",\n \"plan\": {\"nodes\": [\n {\"id\": \"a\", \"code\": \"return 1\", \"retry\": {\"attempts\": \"3\"}}]}}";
    assert!(read("Here\n```json\n{\"title\": \"t\"}\n```", "-").is_err(), "a text without anything like nodes is no plan");
    let fenced = format!("\n```json\n{wrapped}\n```\n");
    let between = format!("Here\n```json\n{wrapped}\n```\nand more");
    for (text, line) in [(wrapped, 3), (fenced.as_str(), 5), (between.as_str(), 5)] {
        let (plan, shape) = read(text, "p.json").unwrap();
        assert_eq!((plan.nodes.len(), shape), (1, Dialect::Native));
        let findings = crate::plan::validate::validate(&plan, &Catalog::default());
        let finding = findings.iter().find(|finding| finding.path.starts_with("nodes[0]")).unwrap();
        assert!(finding.message.ends_with("read as 3"), "{}", finding.message);
        let place = source_path(&plan, shape, &finding.path);
        assert_eq!(locate(text, "p.json", &[place])[0].unwrap().0, line);
        assert!(findings.iter().any(|finding| finding.message.contains("the plan is in `plan`")));
        let written: Value = serde_json::from_str(&write(&plan, Format::Document(shape)).text).unwrap();
        assert_eq!(written, serde_json::from_str::<Value>(wrapped).unwrap());
    }
}

#[test]
fn errors_name_file_line_column_and_path() {
    let cases = [
        ("{\n  \"nodes\": [\n", "p.json:3:1: not JSON: EOF while parsing a list"),
        ("  ", "p.json:1:2: the text is empty; a plan is an object in JSON or YAML"),
        ("[]", "p.json:1:1: a plan must be an object, not a list"),
        ("{\"goal\": \"é\",\n  \"nodes\": 3}", "p.json:2:12: `nodes`: must be a list, not a number"),
    ];
    for (text, words) in cases {
        assert_eq!(read(text, "p.json").unwrap_err().to_string(), words);
    }
    assert_eq!(read("goal: é\nnodes: yes\n", "p.yml").unwrap_err().at, Some((2, 8)));
}

#[test]
fn what_orchestration_cannot_say_is_listed_by_path() {
    let document = json!({"goal": "g", "nodes": [
        {"id": "a", "agent": "x", "objective": "o", "timeout_s": 3.0},
        {"id": "t", "tool": "read_file", "args": {"path": "p"}},
        {"id": "b", "agent": "x", "depends_on": ["t"]}
    ], "edges": [{"from": "a", "to": "b", "when": "a.ok"}]});
    let (plan, _) = read(&document.to_string(), "-").unwrap();
    let written = write(&plan, Format::Document(Dialect::Orchestration));
    let paths: Vec<&str> = written.lost.iter().map(|loss| loss.path.as_str()).collect();
    assert_eq!(paths, ["nodes[1]", "goal", "edges[0].when", "nodes[0].timeout_s", "nodes[2]", "nodes[2].depends_on"]);
    let text: Value = serde_json::from_str(&written.text).unwrap();
    assert_eq!(text["nodes"][1], json!({"id": "b", "agent": "x", "objective": "", "depends_on": ["a"]}));
}

#[test]
fn drawings_show_structure_and_escape_what_authors_wrote() {
    let document = json!({"goal": "Go \u{1b}[31m", "nodes": [
        {"id": "a", "agent": "wr\"iter"}, {"id": "b", "decide": "a"}, {"id": "c", "tool": "t", "depends_on": ["a"]}, {"id": "d", "merge": true, "depends_on": ["c"]}
    ], "edges": [{"from": "a", "to": "b"}, {"from": "b", "to": "d", "when": "yes<no"}]});
    let (plan, _) = read(&document.to_string(), "-").unwrap();
    let tree = write(&plan, Format::Tree).text;
    let rows: Vec<&str> = tree.lines().skip(1).collect();
    assert_eq!(rows, ["a  agent wr\"iter", "├ b  decision", "└ c  tool t", "  d  merge  + b  when yes<no"]);
    assert!(!tree.contains('\u{1b}'));
    let mermaid = write(&plan, Format::Mermaid).text;
    assert!(mermaid.contains("n0[\"a<br/>agent wr&quot;iter\"]") && mermaid.contains("n1 -->|\"yes&lt;no\"| n3"), "{mermaid}");
    let dot = write(&plan, Format::Dot).text;
    assert!(dot.contains("n0 [label=\"a: agent wr\\\"iter\"];") && dot.contains("n1 -> n3 [label=\"yes<no\"];"), "{dot}");
}

#[test]
fn labels_of_mermaid_that_begin_with_a_backtick_are_escaped() {
    let text =
        r##"{"nodes": [{"id": "a", "agent": "`#1`"}, {"id": "b", "value": 1}], "edges": [{"from": "a", "to": "b", "label": "`x`"}]}"##;
    let mermaid = write(&read(text, "-").unwrap().0, Format::Mermaid).text;
    assert!(mermaid.contains("agent #96;#35;1#96;") && mermaid.contains("|\"#96;x#96;\"|"), "{mermaid}");
}

#[test]
fn formats_are_named() {
    for format in Format::all() {
        assert_eq!(format.name().parse(), Ok(format));
    }
    let names = Format::all().map(Format::name).collect::<Vec<_>>().join(", ");
    assert!(names.starts_with("native, orchestration, ") && names.ends_with(", text"), "{names}");
    assert_eq!("png".parse::<Format>().unwrap_err().to_string(), format!("unknown format `png`; use one of {names}"));
}

#[test]
fn messages_name_fields_as_the_document_does() {
    let text = r#"{"tasks": [{"id": "a", "type": "agent_delegation", "agent_role": "r", "agent_goal": "g"}, {"id": "tools", "tool": "t", "arguments": {}}]}"#;
    let (plan, shape) = read(text, "-").unwrap();
    let said = |path: &str, words: &str| source_message(&plan, shape, path, words);
    assert_eq!(said("nodes[0].objective", "give it `objective` or `timeout_s`, not `x`"), "give it `agent_goal` or `timeout`, not `x`");
    assert_eq!(said("nodes[1]", "`args` and `tools`"), "`arguments` and `tools`", "`tools` is a node here");
    assert_eq!(said("", "`args`"), "`args`");
}

#[test]
fn a_body_in_the_orchestration_form_keeps_it() {
    let body = json!({"nodes": [{"id": "b", "agent": "w", "objective": "o", "depends_on": []}], "metadata": {"k": 1}});
    let document = json!({"dagdeck": 1, "nodes": [{"id": "a", "plan": body}]});
    let (plan, _) = read(&document.to_string(), "-").unwrap();
    assert_eq!(plan.nodes[0].kind.body().map(|body| body.dialect), Some(Dialect::Orchestration));
    assert_eq!(plan_to_value(&plan), document);
}

#[test]
fn places_are_found_in_one_pass_and_the_last_of_equal_keys_counts() {
    let text = "{\"a\": 1, \"b\": [0,\n {\"c\": \"é\", \"d\": {}}],\n \"a\": [2]}";
    let paths = ["a", "b[1].d", "b[1].d.x", "b[7]", "a[0]", ""].map(str::to_owned);
    let places: Vec<_> = locate(text, "x.json", &paths).into_iter().flatten().collect();
    assert_eq!(places, [(3, 7), (2, 18), (2, 18), (1, 15), (3, 8), (1, 1)]);
    let many: Vec<String> = (0..50_000).map(|i| format!("nodes[{i}].id")).collect();
    let nodes = (0..50_000).map(|i| format!("{{\"id\": \"n{i}\"}}")).collect::<Vec<_>>().join(",");
    let found = locate(&format!("{{\"nodes\": [{nodes}]}}"), "x.json", &many);
    assert!(found.iter().all(Option::is_some), "however many there are");
}

#[test]
fn drawings_show_what_stands_inside_of_nodes() {
    let text = r#"{"nodes": [{"id": "a", "value": 1}, {"id": "each", "depends_on": ["a"], "over": "a", "body": {"nodes": [{"id": "b", "value": 1}]}},
        {"id": "c", "value": 1, "depends_on": ["each"]}]}"#;
    let (plan, _) = read(text, "-").unwrap();
    let drawing = |format| write(&plan, format).text;
    assert_eq!(drawing(Format::Tree), "a  transform\neach  map\n╘ b  transform\nc  transform\n");
    let mermaid = drawing(Format::Mermaid);
    assert!(
        mermaid.contains("  subgraph n1[\"each: map\"]\n    n2[\"b<br/>transform\"]\n  end\n") && mermaid.contains("n1 --> n3"),
        "{mermaid}"
    );
    let dot = drawing(Format::Dot);
    assert!(
        dot.contains("  subgraph cluster_n1 {\n    n1 [label=\"each: map\", shape=box3d];\n    n2 [label=\"b: transform\"];\n  }\n"),
        "{dot}"
    );
}

fn lost(document: Value, format: Format) -> Vec<String> {
    let (plan, _) = read(&document.to_string(), "-").unwrap();
    write(&plan, format).lost.into_iter().map(|loss| format!("{}: {}", loss.path, loss.reason)).collect()
}

#[test]
fn what_one_dialect_says_and_another_cannot_is_listed() {
    let fan = json!({"nodes": [
        {"id": "a", "agent": "writer"}, {"id": "b", "agent": "writer", "depends_on": ["a"], "approve": "before"},
        {"id": "c", "agent": "writer", "depends_on": ["a"]}, {"id": "d", "code": "return 1", "depends_on": ["b", "c"]}
    ]});
    assert_eq!(
        lost(fan, Format::Document(Dialect::Workflow)),
        [
            "nodes[3]: the workflow format can't hold this kind of node, so `d` is left out",
            "nodes[3].depends_on: `d` is left out",
            "nodes[3].depends_on: `d` is left out",
            "nodes[0]: the workflow format takes one outgoing edge, so only `b` would run",
            "nodes[1].approve: the workflow format has no such field",
        ]
    );
    let stages = json!({"stages": [
        {"stage_id": "a", "type": "TOOL", "tool_id": "clock", "role": "transform", "args": {"zone": "UTC"}},
        {"stage_id": "b", "type": "AGENT", "agent_id": "writer", "objective": "Tell", "terminal": true}
    ], "edges": [{"from_stage_id": "a", "to_stage_id": "b", "condition": "a.result", "edge_type": "normal"}]});
    assert_eq!(
        lost(stages.clone(), Format::Document(Dialect::Tools)),
        [
            "nodes[1]: the tools format can't hold this kind of node, so `b` is left out",
            "edges[0].when: the tools format only has plain dependencies",
            "edges[0].edge_type: the tools format only has plain dependencies",
            "nodes[0].args.zone: the tools format has one `query`, so the argument's name is lost",
        ]
    );
    assert_eq!(lost(stages, Format::Document(Dialect::Native)), [""; 0]);
    let hybrid = json!({"tasks": [
        {"id": "a", "type": "agent_delegation", "agent_role": "coder", "agent_goal": "Write", "budget": 5, "side_effects": false}
    ]});
    assert_eq!(
        lost(hybrid, Format::Document(Dialect::Orchestration)),
        [
            "nodes[0].role: the orchestration format needs the name of an agent: the role is used",
            "nodes[0].goal: the orchestration format has no `goal`, so it is written as `objective`",
            "nodes[0].budget: the orchestration format has no such field",
            "nodes[0].on_failure: the orchestration format has no such field",
        ]
    );
}

#[test]
fn a_walk_has_one_entry_and_what_it_never_comes_to_or_never_joins_is_told() {
    let (plan, _) = read(ITINERARY, "p.json").unwrap();
    for (format, mark) in [(Format::Document(Dialect::Workflow), "is_entry"), (Format::Document(Dialect::Stages), "entrypoint")] {
        let written = write(&plan, format);
        let name = format!("the {} format", format.name());
        let lost: Vec<String> = written.lost.iter().map(|loss| format!("{}: {}", loss.path, loss.reason)).collect();
        let expected = [
            format!("nodes[1]: {name} starts at one node, `paris`, which doesn't lead here, so this would never run"),
            format!("nodes[2]: {name} starts this after one node, not after all 2"),
        ];
        assert!(expected.iter().all(|words| lost.contains(words)), "{lost:#?}");
        assert_eq!(written.text.matches(mark).count(), 1, "{}", written.text);
    }
    let tools = json!({"dag": [
        {"id": "a", "tool": "x", "query": "1", "dependencies": []}, {"id": "b", "tool": "x", "query": "2", "dependencies": []},
        {"id": "c", "tool": "x", "query": "3", "dependencies": ["b"]}
    ]});
    let begins = "the stages format starts at one node, `a`, which doesn't lead here, so this would never run";
    assert_eq!(lost(tools, Format::Document(Dialect::Stages)), [format!("nodes[1]: {begins}"), format!("nodes[2]: {begins}")]);
}

#[test]
fn several_conditions_that_may_hold_at_once_are_told_unless_the_plan_takes_the_first() {
    let mut plan = json!({"nodes": [{"id": "a", "agent": "x"}, {"id": "b", "agent": "x"}, {"id": "c", "agent": "x"}], "edges": [
        {"from": "a", "to": "b", "when": "a.result.n > 3"}, {"from": "a", "to": "c", "when": "a.result.n > 1"}
    ]});
    for format in [Format::Document(Dialect::Workflow), Format::Document(Dialect::Stages)] {
        let words = format!(
            "nodes[0]: the {} format takes one outgoing edge, the first whose condition holds, but here all of those are taken",
            format.name()
        );
        assert_eq!(lost(plan.clone(), format), [words]);
    }
    plan["nodes"][0]["route"] = json!("first");
    assert_eq!(lost(plan.clone(), Format::Document(Dialect::Workflow)), [""; 0], "that is how a walk goes");
    plan["nodes"][0] = json!({"id": "a", "decide": "1 > 0"});
    assert_eq!(lost(plan, Format::Document(Dialect::Stages)), [""; 0], "a decision takes one way");
}

#[test]
fn an_agent_without_a_card_is_called_by_its_role_where_that_is_a_name_else_by_its_node() {
    let hybrid = json!({"tasks": [
        {"id": "a", "type": "agent_delegation", "agent_role": "coder", "agent_goal": "Write"},
        {"id": "b", "type": "agent_delegation", "agent_role": "A senior coder", "agent_goal": "Write"}
    ]});
    let (plan, _) = read(&hybrid.to_string(), "-").unwrap();
    for (format, list, key) in
        [(Format::Document(Dialect::Orchestration), "nodes", "agent"), (Format::Document(Dialect::Workflow), "nodes", "agent_name")]
    {
        let written = write(&plan, format);
        let document: Value = serde_json::from_str(&written.text).unwrap();
        assert_eq!((&document[list][0][key], &document[list][1][key]), (&json!("coder"), &json!("b")));
        for path in ["nodes[0].role", "nodes[1].role"] {
            assert!(written.lost.iter().any(|loss| loss.path == path), "{:?}", written.lost);
        }
    }
}

#[test]
fn a_query_and_the_argument_that_it_fills_are_the_same_where_the_tool_is_known() {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}, "most": {"type": "integer"}}, "required": ["path"]});
    let tool = crate::plan::ToolInfo {
        name: "read_file".into(),
        description: String::new(),
        input_schema: schema,
        risk: crate::plan::Risk::Read,
        verdict: crate::plan::Verdict::Allow,
        reach: None,
    };
    let catalog = Catalog { tools: vec![tool], ..Catalog::default() };
    let tools = json!({"dag": [
        {"id": "a", "tool": "read_file", "query": "a.txt", "dependencies": []}, {"id": "b", "tool": "other", "query": "x", "dependencies": []}
    ]});
    let (plan, _) = read(&tools.to_string(), "-").unwrap();
    let hybrid = write_as(&plan, Format::Document(Dialect::Hybrid), Syntax::Json, &catalog);
    let document: Value = serde_json::from_str(&hybrid.text).unwrap();
    assert_eq!(document["tasks"][0]["arguments"], json!({"path": "a.txt"}));
    assert_eq!(document["tasks"][1]["arguments"], json!({"query": "x"}));
    assert!(hybrid.lost.iter().all(|loss| !loss.path.starts_with("nodes[0].query")), "{:?}", hybrid.lost);
    assert!(hybrid.lost.iter().any(|loss| loss.path == "nodes[1].query"), "{:?}", hybrid.lost);
    let (back, _) = read(&hybrid.text, "-").unwrap();
    let written = write_as(&back, Format::Document(Dialect::Tools), Syntax::Json, &catalog);
    let document: Value = serde_json::from_str(&written.text).unwrap();
    assert_eq!(document["dag"][0]["query"], "a.txt");
    assert!(!written.lost.iter().any(|loss| loss.path.starts_with("nodes[0].args")), "{:?}", written.lost);
}

#[test]
fn of_several_marked_entries_a_walk_keeps_the_first_in_another_dialect() {
    let stages = json!({"stages": [
        {"stage_id": "a", "type": "AGENT", "agent_id": "x", "entrypoint": true}, {"stage_id": "b", "type": "AGENT", "agent_id": "x", "entrypoint": true},
        {"stage_id": "c", "type": "AGENT", "agent_id": "x", "terminal": true}
    ], "edges": [{"from_stage_id": "a", "to_stage_id": "c"}, {"from_stage_id": "b", "to_stage_id": "c"}]});
    assert_eq!(
        lost(stages.clone(), Format::Document(Dialect::Workflow)),
        ["nodes[1].entry: only one node can be the entry, and `a` is the first one marked"]
    );
    assert_eq!(lost(stages, Format::Document(Dialect::Stages)), [""; 0]);
}

#[test]
fn a_hybrid_task_without_side_effects_is_safe_to_fail() {
    let document = json!({"tasks": [
        {"id": "a", "tool": "x", "arguments": {}}, {"id": "b", "tool": "x", "side_effects": false}, {"id": "c", "type": "code_execution", "code": "return 1"},
        {"id": "d", "type": "code_execution", "code": "return 1", "side_effects": true},
        {"id": "e", "type": "agent_delegation", "agent_role": "r", "agent_goal": "g", "timeout": 1500, "budget": 10}
    ]});
    let (mut plan, _) = read(&document.to_string(), "-").unwrap();
    let safe: Vec<bool> = plan.nodes.iter().map(|node| node.policy.on_failure == Some(crate::plan::OnFailure::Safe)).collect();
    assert_eq!(safe, [false, true, true, false, false]);
    assert_eq!((plan.nodes[4].policy.timeout_s, plan.nodes[4].policy.budget.as_ref().unwrap().tokens), (Some(1.5), Some(10)));
    plan.nodes[0].policy.on_failure = Some(crate::plan::OnFailure::Safe);
    plan.nodes[1].policy.on_failure = None;
    let paths: Vec<String> = write(&plan, Format::Document(Dialect::Hybrid)).lost.into_iter().map(|loss| loss.path).collect();
    assert_eq!(paths, ["nodes[0].on_failure", "nodes[1].on_failure"]);
}

#[test]
fn stages_without_edges_are_one_line_and_become_edges_when_they_are_no_more() {
    let document =
        json!({"stages": [{"stage_id": "a", "type": "TRANSFORM"}, {"stage_id": "b", "type": "Merge"}, {"stage_id": "c", "type": "agent"}]});
    let (mut plan, _) = read(&document.to_string(), "-").unwrap();
    assert_eq!(plan.nodes.iter().map(|node| node.depends_on.len()).collect::<Vec<_>>(), [0, 1, 1]);
    plan.nodes[2].depends_on = vec!["a".into()];
    let written: Value = serde_json::from_str(&write(&plan, Format::Document(Dialect::Stages)).text).unwrap();
    assert_eq!(written["stages"], document["stages"]);
    assert_eq!(written["edges"], json!([{"from_stage_id": "a", "to_stage_id": "b"}, {"from_stage_id": "a", "to_stage_id": "c"}]));
}

proptest! {
    #[test]
    fn native_text_reads_back_as_the_same_plan(plan in plan(10)) {
        let text = write(&plan, Format::Document(Dialect::Native)).text;
        let (again, _) = read(&text, "-").unwrap();
        prop_assert_eq!(write(&again, Format::Document(Dialect::Native)).text, text);
        prop_assert_eq!(again, plan);
    }

    #[test]
    fn any_text_gives_a_plan_or_an_error(text in "[{}\\[\\]\":,a-e0 nodesi]{0,40}") {
        if let Err(error) = read(&text, "-") {
            prop_assert!(!error.message.is_empty());
        }
    }

    #[test]
    fn any_node_gives_a_plan_or_an_error_with_a_place(key in "id|agent|tool|args|retry|ask|merge|budget|locks|when", value in "null|true|3|\"x\"|\\[1\\]|\\{\"a\":1\\}") {
        let text = format!("{{\"nodes\": [{{\"id\": \"a\", \"value\": 1, {key:?}: {value}}}]}}");
        if let Err(error) = read(&text, "-") {
            prop_assert!(error.at.is_some(), "{}", error);
        }
    }

    #[test]
    fn a_plan_written_in_any_dialect_is_a_document_of_it(plan in plan(10)) {
        for format in [Format::Document(Dialect::Orchestration), Format::Document(Dialect::Tools), Format::Document(Dialect::Hybrid), Format::Document(Dialect::Workflow), Format::Document(Dialect::Stages)] {
            let written = write(&plan, format);
            let (again, shape) = read(&written.text, "-").unwrap();
            // Without a node, nodes of agents can't be told from native ones.
            prop_assert!(shape.name() == format.name() || again.nodes.is_empty(), "{}", written.text);
            if shape != Dialect::Native {
                let second = write(&again, format);
                prop_assert_eq!(&second.lost, &[]);
                let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
                prop_assert_eq!(value(&second.text), value(&written.text));
            }
            let left_out = plan.nodes.len() - again.nodes.len();
            prop_assert!(left_out <= written.lost.len());
        }
    }

    #[test]
    fn yaml_says_what_json_says(text in "[ -~\\n\t\u{85}\u{a0}é\u{200b}\u{e0041}𝄞]{0,12}", number in any::<f64>().prop_filter("finite", |n| n.is_finite())) {
        let value = json!({&text: [text, number, {"a": {&text: text}, "b": [[text], []]}, {}], "n": number, "t": text});
        let written = yaml::write(&value, &std::collections::BTreeMap::new());
        prop_assert_eq!(yaml::read(&written).map(|(value, _)| value).map_err(|fault| format!("{fault:?}\n{written}")), Ok(value), "{}", written);
    }
}

#[test]
fn a_body_in_the_shape_of_another_dialect_reads_as_a_file_does_and_is_written_back_equal() {
    let document = json!({"dagdeck": 1, "nodes": [
        {"id": "s", "plan": {"dag": [{"id": "c", "tool": "calculator", "query": "2+2", "dependencies": []}], "by": "hand"}},
        {"id": "w", "until": "iteration > 1", "body": {"nodes": [{"id": "a", "agent_name": "x", "is_entry": true}], "connections": []}}
    ]});
    let (mut plan, _) = read(&document.to_string(), "-").unwrap();
    let dialects: Vec<Dialect> = plan.nodes.iter().map(|node| node.kind.body().unwrap().dialect).collect();
    assert_eq!(dialects, [Dialect::Tools, Dialect::Workflow]);
    let written = |plan: &Plan| serde_json::from_str::<Value>(&write(plan, Format::Document(Dialect::Native)).text).unwrap();
    assert_eq!(written(&plan), document);
    assert_eq!(read(&written(&plan).to_string(), "-").unwrap().0, plan);
    assert_eq!(source_path(&plan, Dialect::Native, "nodes[0].plan.nodes[0].args.x"), "nodes[0].plan.dag[0].query");
    // What the shape can't hold is written natively.
    plan.nodes[0].kind.body_mut().unwrap().nodes[0].policy.timeout_s = Some(1.0);
    assert_eq!(written(&plan)["nodes"][0]["plan"]["nodes"][0]["timeout_s"], 1.0);
    assert_eq!(written(&plan)["nodes"][0]["plan"]["dialect"], "tools");
    let slip = json!({"dagdeck": 1, "nodes": [{"id": "s", "plan": {"dag": [{"id": 3, "tool": "t", "query": 4, "deps": "x"}]}}]});
    assert_eq!(written(&read(&slip.to_string(), "-").unwrap().0), slip);
}

#[test]
fn the_place_of_a_finding_is_told_in_the_words_of_its_document() {
    let cases = [
        (
            json!({"dag": [{"id": "a", "tool": "x", "query": "q", "dependencies": ["b"]}]}),
            "nodes[0].depends_on[0]",
            "dag[0].dependencies[0]",
        ),
        (json!({"dag": [{"id": "a", "tool": "x", "query": "q"}]}), "nodes[0].args.path", "dag[0].query"),
        (json!({"tasks": [{"id": "a", "tool": "x", "arguments": {"p": 1}}]}), "nodes[0].args.p", "tasks[0].arguments.p"),
        (
            json!({"tasks": [{"id": "a", "type": "agent_delegation", "agent_role": "r", "agent_goal": "g", "agent_tools": ["t"]}]}),
            "nodes[0].tools[0]",
            "tasks[0].agent_tools[0]",
        ),
        (
            json!({"nodes": [{"id": "a", "agent_name": "x"}, {"id": "b", "agent_name": "x", "skip_condition": "q"}], "connections": []}),
            "nodes[1].skip_if",
            "nodes[1].skip_condition",
        ),
        (
            json!({"nodes": [{"id": "a", "agent_name": "x"}], "connections": [{"source_id": "a", "target_id": "a", "condition": "q"}]}),
            "edges[0].when",
            "connections[0].condition",
        ),
        (json!({"stages": {"a b": {"type": "AGENT", "agent": "x"}}}), "nodes[0].agent", "stages[\"a b\"].agent"),
        (
            json!({"stages": ["a", "b"], "all": [{"id": "b", "type": "MERGE"}, {"id": "a", "type": "TOOL", "tool_name": "x"}]}),
            "nodes[0].tool",
            "all[1].tool_name",
        ),
        (
            json!({"graph": {"stages": [{"id": "a", "type": "DECISION", "agent_id": "x"}], "edges": [{"from_stage_id": "a", "to_stage_id": "a"}]}}),
            "nodes[0].decide.agent",
            "graph.stages[0].agent_id",
        ),
        (
            json!({"graph": {"stages": [{"id": "a", "type": "MERGE"}], "edges": [{"from_stage_id": "a", "to_stage_id": "a"}]}}),
            "edges[0].to",
            "graph.edges[0].to_stage_id",
        ),
        (json!({"nodes": [{"id": "a", "value": 1}]}), "nodes[0].value", "nodes[0].value"),
    ];
    for (document, native, told) in cases {
        let (plan, shape) = read(&document.to_string(), "-").unwrap();
        assert_eq!(source_path(&plan, shape, native), told, "{document}");
        let text = format!("{document:#}");
        let places = locate(&text, "-", &[told.to_owned(), format!("{told}.nothing")]);
        assert!(places[0].is_some_and(|(line, _)| line > 1) && places[0] == places[1], "{places:?} {text}");
    }
}

#[test]
fn yaml_errors_speak_of_the_text() {
    let cases = [
        ("~: 1\nnodes: []", "-:1:1: a key must be text"),
        ("? [a]\n: 1", "-:1:3: a key must be text"),
        ("x: &a [*a]", "-:1:8: an alias refers to itself"),
        ("nodes: .inf", "-:1:8: `nodes`: must be a list, not text"),
        ("<<: 3\nnodes: []", "-:1:5: `<<` must refer to an object"),
    ];
    for (text, words) in cases {
        assert_eq!(read(text, "-").unwrap_err().to_string(), words);
    }
}
