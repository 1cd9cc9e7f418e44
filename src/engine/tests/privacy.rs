//! Data leaves only by a yes: what counts as private, and which calls ask. A property compares with a slow, literal reading of the plan.

use super::kit::*;
use crate::engine::*;
use crate::plan::*;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const HOST: &str = "collector.example:443";

fn outgoing() -> Option<Box<Outgoing>> {
    Some(Box::new(Outgoing { host: HOST.into(), request: "GET https://collector.example/".into(), ..Outgoing::default() }))
}

fn fetch(id: &str, url: &str, deps: &[&str]) -> Node {
    tool(id, "fetch_url", json!({ "url": url }), deps)
}

fn read(id: &str) -> Node {
    tool(id, "read_file", json!({ "path": ".env" }), &[])
}

/// Settings of a catalog that has these tools, none of which asks by its risk.
fn open_settings() -> RunSettings {
    let mut settings = settings();
    let known = settings.catalog.tools[1].clone();
    let names = ["calculator", "fetch_url", "read_file"];
    settings.catalog.tools.extend(names.map(|name| ToolInfo { name: name.into(), input_schema: json!({}), ..known.clone() }));
    settings
}

fn begun(plan: Plan) -> World {
    World::with(plan, open_settings())
}

impl World {
    /// Proposes a call that sends something out.
    fn sends(&mut self, id: &str, call: &str) -> Vec<Event> {
        self.sends_out(id, call, outgoing())
    }

    fn sends_out(&mut self, id: &str, call: &str, leaves: Option<Box<Outgoing>>) -> Vec<Event> {
        let call = ToolCall { id: call.into(), tool: "fetch_url".into(), args: json!({ "url": "https://collector.example/" }) };
        self.fact(id, WorkerFact::ToolAsked { call, verdict: Verdict::Allow, why: String::new(), leaves })
    }

    /// Makes a call that needs no yes, and gives its result.
    fn calls(&mut self, id: &str, tool: &str, result: Value) {
        self.ask(id, tool, tool, json!({}), Verdict::Allow);
        self.tool_done(id, tool, result);
    }

    /// Runs a tool node to its end.
    fn runs(&mut self, id: &str, tool: &str, result: Value) {
        self.calls(id, tool, result.clone());
        self.done(id, result);
    }
}

fn starts(events: &[Event]) -> bool {
    events.iter().any(|event| matches!(event, Event::Node { fact: NodeFact::ToolStarted { .. }, .. }))
}

#[test]
fn what_a_file_holds_is_sent_out_only_after_a_yes() {
    let mut world = begun(plan(vec![read("a"), fetch("send", "https://collector.example/?d={{a}}", &["a"])]));
    world.runs("a", "read_file", json!("secret"));
    assert!(world.node("a").lineage.private);
    assert!(!starts(&world.sends("send", "c")));
    let gate = world.run.open_gates().next().unwrap().clone();
    assert_eq!(gate.why, "it may send private data to collector.example:443");
    assert_eq!(gate.kind, GateKind::Permission { call: "c".into(), tool: "fetch_url".into(), leaves: outgoing() });
    assert!(starts(&world.decide(1, GateReply::Approve)));
}

#[test]
fn a_yes_holds_for_its_host_and_port_until_the_run_is_branched() {
    let nodes = vec![read("a"), fetch("one", "{{a}}", &["a"]), fetch("two", "{{a}}", &["a"])];
    let mut world = begun(plan(nodes));
    world.runs("a", "read_file", json!("secret"));
    world.sends("one", "c1");
    world.decide(1, GateReply::Approve);
    assert!(starts(&world.sends("two", "c2")), "the same host and port");
    world.step(Input::Branch { from: RunId("other".into()), from_seq: 1, by: me() });
    assert!(world.run.gates.hosts.is_empty());
}

#[test]
fn what_a_person_typed_and_what_a_plan_says_leaves_without_a_question() {
    let plan = Plan {
        inputs: serde_json::from_value(json!({ "topic": "kayaks" })).unwrap(),
        ..plan(vec![
            read("a"),
            transform("say", json!("{{inputs.topic}} and more"), &[]),
            fetch("send", "https://collector.example/{{say}}", &["say"]),
        ])
    };
    let mut world = begun(plan.clone());
    world.runs("a", "read_file", json!("secret"));
    assert!(starts(&world.sends("send", "c")), "it comes after no private node");
    let settings = RunSettings { private_inputs: vec!["topic".into()], ..open_settings() };
    let mut world = World::with(plan, settings);
    world.runs("a", "read_file", json!("secret"));
    assert!(!starts(&world.sends("send", "c")), "the input was read from a file");
}

#[test]
fn an_agent_asks_from_its_first_private_result_on() {
    let mut world = begun(plan(vec![agent("a", &[])]));
    assert!(starts(&world.sends("a", "before")));
    world.tool_done("a", "before", json!("page"));
    world.calls("a", "read_file", json!("secret"));
    assert!(!starts(&world.sends("a", "after")));
    let mut world = begun(plan(vec![read("r"), agent("a", &["r"])]));
    world.runs("r", "read_file", json!("secret"));
    assert!(!starts(&world.sends("a", "c")), "a private dependency");
}

#[test]
fn a_private_guard_route_or_list_makes_a_node_private() {
    let guarded = |when: &str| {
        let mut node = fetch("send", "https://collector.example/", &["a"]);
        node.policy.when = Some(when.into());
        plan(vec![read("a"), node])
    };
    let routed = Plan { edges: vec![edge("a", "send", "a == 'secret'")], ..plan(vec![read("a"), fetch("send", "x", &[])]) };
    let decision = node("choose", NodeKind::Decision(DecisionNode::Expression("a".into())), &["a"]);
    let decided = Plan {
        edges: vec![edge("choose", "send", "secret"), edge("choose", "stay", "other")],
        ..plan(vec![read("a"), decision, fetch("send", "x", &[]), transform("stay", json!(1), &[])])
    };
    let list = |over: &str| {
        let body = Box::new(plan(vec![fetch("send", "https://collector.example/", &[])]));
        plan(vec![read("a"), node("each", NodeKind::Map(MapNode { over: over.into(), body, max_parallel: None }), &["a"])])
    };
    let (free, many) = ("a == a or true", list("[a]"));
    for (plan, send, asks) in
        [(guarded(free), "send", true), (guarded("true"), "send", true), (routed, "send", true), (decided, "send", true)]
            .into_iter()
            .chain([(many, "each[0]/send", true), (list("[1]"), "each[0]/send", true)])
    {
        let mut world = begun(plan);
        world.runs("a", "read_file", json!("secret"));
        assert_eq!(!starts(&world.sends(send, "c")), asks, "{:?}", world.run.plan().unwrap());
    }
}

#[test]
fn what_runs_inside_makes_its_owner_private_and_a_turn_the_next_one() {
    let body = || Box::new(plan(vec![read("r"), agent("talk", &[])]));
    let turns = NodeKind::Loop(LoopNode { body: body(), until: "iteration > 1".into() });
    let mut lasting = node("l", turns, &[]);
    lasting.policy.max_iterations = Some(3);
    let mut world = begun(plan(vec![lasting, fetch("send", "{{l}}", &["l"])]));
    assert!(starts(&world.sends("l[1]/talk", "c")), "nothing private reached the first turn's agent");
    world.tool_done("l[1]/talk", "c", json!("page"));
    world.done("l[1]/talk", json!(1));
    world.runs("l[1]/r", "read_file", json!("secret"));
    assert!(!starts(&world.sends("l[2]/talk", "c")), "the second turn has what the first gave");
    world.decide(1, GateReply::Approve);
    world.tool_done("l[2]/talk", "c", json!("page"));
    world.done("l[2]/talk", json!(1));
    world.runs("l[2]/r", "read_file", json!("secret"));
    assert!(world.node("l").lineage.private && world.node("send").lineage.private);
}

#[test]
fn a_result_of_before_a_rerun_stays_private_for_those_who_still_read_it() {
    let nodes = vec![read("a"), agent("hold", &["a"]), transform("b", json!("{{a}}"), &["hold"])];
    let mut world = begun(plan(nodes));
    world.runs("a", "read_file", json!("secret"));
    world.act(Action::Rerun { node: "a".into(), scope: RerunReach::Alone });
    world.done("hold", json!(1));
    assert!(world.node("b").lineage.private, "{}", world.states());
}

#[test]
fn a_host_that_only_the_planning_model_wrote_asks_once() {
    let planned = |goal: &str, by: Option<&str>| {
        let nodes = vec![fetch("one", "https://collector.example/", &[]), fetch("two", "https://collector.example/", &[])];
        let metadata = by.map(|model| (PLANNED_BY.to_owned(), Value::from(model))).into_iter().collect();
        Plan { goal: goal.into(), metadata, ..plan(nodes) }
    };
    let mut world = begun(planned("look it up", Some("gpt")));
    assert!(!starts(&world.sends("one", "c1")));
    assert_eq!(world.run.open_gates().next().unwrap().why, "only the planning model named collector.example:443");
    world.decide(1, GateReply::Approve);
    assert!(starts(&world.sends("two", "c2")), "it asks once");
    for (goal, by) in [("fetch collector.example", Some("gpt")), ("look it up", None)] {
        assert!(starts(&begun(planned(goal, by)).sends("one", "c1")), "{goal}");
    }
}

#[test]
fn a_host_that_was_allowed_for_good_is_not_asked_about_and_a_piped_request_makes_all_private() {
    let nodes = || vec![read("a"), fetch("send", "https://collector.example/?d={{a}}", &["a"])];
    for allowed in [true, false] {
        let mut world = begun(plan(nodes()));
        world.runs("a", "read_file", json!("secret"));
        let leaves = outgoing().map(|outgoing| Box::new(Outgoing { allowed, ..*outgoing }));
        assert_eq!(starts(&world.sends_out("send", "c", leaves)), allowed);
    }
    let settings = RunSettings { private_request: true, ..open_settings() };
    let mut world = World::with(plan(vec![fetch("send", "https://collector.example/", &[])]), settings);
    assert!(!starts(&world.sends("send", "c")));
}

#[test]
fn a_yes_at_the_one_gate_holds_across_retries() {
    let mut sender = fetch("send", "https://collector.example/?d={{a}}", &["a"]);
    sender.policy.approve = Some(Approve::Before);
    sender.policy.retry = Some(Retry { attempts: 2, ..Retry::default() });
    let mut world = begun(plan(vec![read("a"), sender]));
    world.runs("a", "read_file", json!("secret"));
    assert!(!starts(&world.sends("send", "c1")));
    assert!(starts(&world.decide(1, GateReply::Approve)));
    world.fail("send", ErrorKind::NothingBegan);
    world.due("send", TimerKind::Retry);
    assert!(starts(&world.sends("send", "c2")), "{}", world.states());
}

/// Whether a node ran, and how it ended, tells of what decided it.
#[test]
fn control_flow_is_no_way_out_for_what_is_private() {
    let code = |id: &str| node(id, NodeKind::Code(CodeNode { code: "throw 1".into(), sandbox: SandboxLimits::default() }), &["a"]);
    let last = |deps: &[&str], join: Option<Join>| {
        let mut last = fetch("send", "https://collector.example/", deps);
        last.policy.join = join;
        last
    };
    let mut guarded = transform("v", json!("1"), &["a"]);
    guarded.policy.when = Some("'never' in a".into());
    let read = |_| read("a");
    let skipped = || plan(vec![read(0), guarded.clone()]);
    let with = |plan: Plan, node: Node| Plan { nodes: plan.nodes.into_iter().chain([node]).collect(), ..plan };
    let mut status = fetch("send", "https://collector.example/?{{nodes.v.status}}", &["v"]);
    status.policy.join = Some(Join::Always);
    let dead = Plan {
        edges: vec![edge("a", "x", "a == 'never'")],
        ..plan(vec![read(0), transform("x", json!(1), &[]), transform("y", json!(1), &["x"]), last(&["y"], Some(Join::Always))])
    };
    let mut either = node("m", NodeKind::Merge(MergeNode::default()), &["v", "other"]);
    either.policy.join = Some(Join::Always);
    let merged = with(with(with(skipped(), transform("other", json!(1), &[])), either), last(&["m"], None));
    for (plan, fails) in [
        (plan(vec![read(0), code("t"), last(&["t"], None)]), false),
        (plan(vec![read(0), code("t"), last(&["t"], Some(Join::Always))]), true),
        (with(skipped(), last(&["v"], Some(Join::Always))), false),
        (with(skipped(), status), false),
        (dead, false),
        (merged, false),
    ] {
        let mut world = begun(plan);
        world.runs("a", "read_file", json!("secret"));
        if world.run.node(&"t".into()).is_some() {
            if fails { drop(world.fail("t", ErrorKind::Permanent)) } else { drop(world.done("t", json!(1))) }
        }
        assert_eq!(world.state("send"), "running", "{}", world.states());
        assert!(!starts(&world.sends("send", "c")), "{:?}", world.run.plan().unwrap());
    }
    let inner = Box::new(plan(vec![read(0), code("t")]));
    let mut world = begun(plan(vec![node("p", NodeKind::Subplan(SubplanNode::Inline(inner)), &[]), last(&["p"], Some(Join::Always))]));
    world.runs("p/a", "read_file", json!("secret"));
    world.fail("p/t", ErrorKind::Permanent);
    assert!(!starts(&world.sends("send", "c")), "{}", world.states());
}

#[test]
fn a_command_with_network_always_asks_because_it_reads_this_computer_itself() {
    let mut world = begun(plan(vec![tool("c", "save", json!({ "path": "x" }), &[])]));
    let call = ToolCall { id: "1".into(), tool: "save".into(), args: json!({ "path": "x" }) };
    let leaves = Some(Box::new(Outgoing { host: "*".into(), ..Outgoing::default() }));
    let events = world.fact("c", WorkerFact::ToolAsked { call, verdict: Verdict::Allow, why: String::new(), leaves });
    assert!(!starts(&events));
}

#[test]
fn an_answer_that_was_owed_to_another_question_lets_nothing_out() {
    let mut world = begun(plan(vec![agent("a", &[])]));
    let call = |id: &str| ToolCall { id: id.into(), tool: "fetch_url".into(), args: json!({ "url": "https://collector.example/" }) };
    world.fact("a", WorkerFact::ToolAsked { call: call("c1"), verdict: Verdict::Ask, why: "it asks".into(), leaves: outgoing() });
    world.fact("a", WorkerFact::ToolAsked { call: call("c2"), verdict: Verdict::Ask, why: "it asks".into(), leaves: outgoing() });
    world.decide(1, GateReply::Approve);
    assert!(world.run.gates.hosts.is_empty(), "that yes was for the call, and not for a host");
}

#[test]
fn a_tool_that_was_rejected_while_nobody_drove_the_run_is_not_asked_about_again() {
    let mut world = begun(plan(vec![read("a"), fetch("send", "https://collector.example/?d={{a}}", &["a"])]));
    world.runs("a", "read_file", json!("secret"));
    assert!(!starts(&world.sends("send", "c1")));
    let hash = world.run.gate(GateId(1)).unwrap().0.hash.clone();
    let no = Command::decide(GateId(1), GateReply::Reject { message: "no".into() }, hash);
    let inputs = [Input::Command { command: no, by: me() }, Input::Recover { by: me() }];
    let batch = world.run.steps(&inputs, Time(2_000));
    world.records.extend(batch.records);
    assert!(!starts(&world.sends("send", "c2")));
    assert_eq!(world.state("send"), "cancelled", "{}", world.states());
}

/// One node as drawn: what it does, and which earlier nodes it reads.
#[derive(Clone, Debug)]
struct DrawnSource {
    work: u8,
    guarded: bool,
    /// Whether the plan asks before the node.
    asks: bool,
    sources: BTreeSet<u8>,
}

fn drawn() -> impl Strategy<Value = Vec<DrawnSource>> {
    let node = (any::<u8>(), prop::bool::weighted(0.2), prop::bool::weighted(0.3), prop::collection::btree_set(0_u8..8, 0..3));
    prop::collection::vec(node.prop_map(|(work, guarded, asks, sources)| DrawnSource { work, guarded, asks, sources }), 2..9)
}

/// The plan, and the nodes that something private reaches, read straight from the drawing.
fn planned(drawn: &[DrawnSource]) -> (Plan, BTreeMap<String, bool>) {
    let mut private: BTreeMap<String, bool> = BTreeMap::new();
    let mut nodes = Vec::new();
    for (at, DrawnSource { work, guarded, asks, sources }) in drawn.iter().enumerate() {
        let id = format!("n{at}");
        let deps: Vec<String> = sources.iter().filter(|&&source| usize::from(source) < at).map(|source| format!("n{source}")).collect();
        let deps: Vec<&str> = deps.iter().map(String::as_str).collect();
        let text = deps.iter().map(|dep| format!("{{{{{dep}}}}}")).collect::<String>();
        let reached = deps.iter().any(|dep| private[*dep]);
        let (mut node, is_private) = match work % 9 {
            0 => (tool(&id, "read_file", json!({ "path": "a" }), &deps), true),
            1 => (tool(&id, "calculator", json!({ "expression": "1" }), &deps), false),
            2 => (transform(&id, json!({ "text": text }), &deps), false),
            3 => (transform(&id, json!("fixed"), &deps), false),
            4 => (agent(&id, &deps), false),
            5 => (node(&id, NodeKind::Merge(MergeNode::default()), &deps), false),
            6 => (node(&id, NodeKind::Code(CodeNode { code: "return 1".into(), sandbox: SandboxLimits::default() }), &deps), false),
            7 => (fetch(&id, "https://collector.example/", &deps), false),
            _ => (fetch(&id, &format!("https://collector.example/{text}"), &deps), false),
        };
        let guard = deps.first().filter(|_| *guarded);
        node.policy.when = guard.map(|dep| format!("{dep} == 1 or true"));
        node.policy.approve = (*asks && matches!(work % 9, 7 | 8)).then_some(Approve::Before);
        private.insert(id, is_private || reached);
        nodes.push(node);
    }
    (plan(nodes), private)
}

proptest! {
    #[test]
    fn no_call_that_leaves_happens_without_its_yes_and_none_asks_where_nothing_private_reaches_it(
        drawn in drawn(), answers in prop::collection::vec(any::<bool>(), 12),
    ) {
        let (plan, private) = planned(&drawn);
        let mut world = begun(plan.clone());
        let (mut said_yes, mut answers) = (false, answers.into_iter());
        // Nodes start in any order that their dependencies allow; the first that works goes on.
        while let Some(id) = plan.nodes.iter().map(|node| node.id.as_str()).find(|id| matches!(world.state(id), "running" | "waiting")) {
            let doc = plan.nodes.iter().find(|node| node.id.as_str() == id).unwrap();
            let asks = doc.policy.approve.is_some();
            if world.state(id) == "waiting" {
                prop_assert!(asks && !private[id], "{} of {:?}", id, drawn);
                let gate = world.run.open_gates().find(|gate| gate.node.as_str() == id).unwrap().id.0;
                world.decide(gate, GateReply::Approve);
                continue;
            }
            let sends = match &doc.kind {
                NodeKind::Tool(ToolNode { tool, .. }) if tool != "fetch_url" => {
                    world.calls(id, tool, json!(1));
                    false
                }
                NodeKind::Code(_) => false,
                _ => true,
            };
            if sends {
                let started = starts(&world.sends(id, "c"));
                let is_free = !private[id] || said_yes && !asks;
                prop_assert_eq!(started, is_free, "{} of {:?}", id, drawn);
                if !started {
                    let gate = world.run.open_gates().find(|gate| gate.node.as_str() == id).unwrap().id.0;
                    prop_assert_eq!(world.run.gate(GateId(gate)).unwrap().0.host().is_none(), said_yes, "it asks for both at once");
                    let yes = answers.next().unwrap_or(true);
                    let events = world.decide(gate, if yes { GateReply::Approve } else { reject("no") });
                    prop_assert_eq!(starts(&events), yes);
                    said_yes |= yes;
                }
            }
            if world.state(id) == "running" {
                world.done(id, json!(1));
            }
        }
        for node in &plan.nodes {
            let gates = world.records.iter().filter(|record| matches!(&record.event, Event::ApprovalRequired { gate } if gate.node == node.id));
            prop_assert!(gates.count() <= 1, "{} asked twice", node.id);
        }
        for (id, is_private) in &private {
            if world.state(id) == "succeeded" {
                prop_assert_eq!(world.node(id).lineage.private, *is_private, "{}", id);
            }
        }
    }
}
