//! The planner against a model that answers from a script.

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use std::{collections::VecDeque, sync::Mutex};

use super::*;
use crate::engine::TokenUsage;
use crate::models::{ChatAnswer, ChatRequest, Delta};
use crate::plan::Node;
use crate::plan::{AgentInfo, Risk, ToolInfo, Verdict as Permission};

pub(super) fn catalog() -> Catalog {
    let agent = |name: &str, description: &str, objective: &str| AgentInfo {
        name: name.into(),
        description: description.into(),
        objective_template: objective.into(),
        kind: crate::plan::AgentKind::Llm,
        tools: Vec::new(),
        origin: "shipped".into(),
        ..AgentInfo::default()
    };
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}}, "required": ["path"]});
    Catalog {
        agents: vec![agent("web_researcher", "searches", ""), agent("writer", "writes texts", "Write about {topic}")],
        tools: vec![ToolInfo {
            name: "read_file".into(),
            description: "reads a file".into(),
            input_schema: schema,
            risk: Risk::Read,
            verdict: Permission::Allow,
            reach: None,
        }],
        ..Catalog::default()
    }
}

/// Plays deltas, then an outcome, for each call.
struct Scripted {
    answers: Mutex<VecDeque<Answered>>,
    asked: Mutex<Vec<ChatRequest>>,
}

#[async_trait]
impl ChatModel for Scripted {
    fn provider(&self) -> &str {
        "script"
    }

    async fn chat(&self, request: &ChatRequest, sink: &mut (dyn FnMut(Delta) + Send)) -> Result<ChatAnswer, ModelError> {
        self.asked.lock().unwrap().push(request.clone());
        let (deltas, outcome) = self.answers.lock().unwrap().pop_front().expect("an answer for each call");
        deltas.into_iter().for_each(sink);
        let text = outcome?;
        let usage = TokenUsage::of(100, 10);
        Ok(ChatAnswer { text, usage, model: "gpt-4o-2024-11-20".into(), ..ChatAnswer::default() })
    }

    async fn list(&self) -> Result<Vec<String>, ModelError> {
        Ok(Vec::new())
    }
}

#[derive(Debug, Default)]
struct Told {
    progress: Vec<String>,
    nodes: Vec<String>,
}

impl PlanSink for Told {
    fn progress(&mut self, text: &str) {
        self.progress.push(text.to_owned());
    }

    fn node(&mut self, node: Node) {
        self.nodes.push(node.id.to_string());
    }
}

type Answered = (Vec<Delta>, Result<String, ModelError>);

/// An answer that comes whole.
fn says(answer: &Value) -> Answered {
    let text = answer.to_string();
    (vec![Delta::Text(text.clone())], Ok(text))
}

/// An answer that fails after some text.
fn fails(text: &str, kind: ModelErrorKind) -> Answered {
    let error = ModelError::new(kind, TryVerdict::Never, "it broke");
    (vec![Delta::Text(text.to_owned())], Err(error))
}

fn node(id: &str, agent: &str, depends_on: &[&str]) -> Value {
    json!({"id": id, "agent": agent, "objective": format!("do {id}"), "depends_on": depends_on})
}

struct PlanningEnd {
    planned: Result<Planned, (ModelError, Vec<ModelCall>)>,
    told: Told,
    asked: Vec<ChatRequest>,
}

impl PlanningEnd {
    fn ids(&self) -> Vec<&str> {
        self.planned.as_ref().unwrap().plan.nodes.iter().map(|node| node.id.as_str()).collect()
    }
}

async fn plan_with(ids: Ids, before: Option<&Plan>, answers: Vec<Answered>) -> PlanningEnd {
    let model = Scripted { answers: Mutex::new(answers.into()), asked: Mutex::default() };
    let mut told = Told::default();
    let prices = Prices::shipped();
    let planner =
        ModelPlanner { model: &model, name: "gpt-4o", settings: ModelSettings::default(), prices: &prices, ids, taken: Mutex::default() };
    let (catalog, inputs, surroundings) = (catalog(), Map::new(), Surroundings::default());
    let request = PlanningRequest {
        text: "Plan a trip to Paris",
        catalog: &catalog,
        inputs: &inputs,
        surroundings: &surroundings,
        before,
        rival: 0,
        under_way: None,
        after: None,
    };
    let planned = plan_by_model(&planner, &request, &mut told).await;
    assert!(model.answers.lock().unwrap().is_empty(), "every answer was asked for");
    PlanningEnd { planned, told, asked: model.asked.into_inner().unwrap() }
}

async fn plan(answers: Vec<Answered>) -> PlanningEnd {
    plan_with(Ids::Free, None, answers).await
}

#[tokio::test]
async fn a_good_plan_streams_node_by_node_and_is_taken_as_it_is() {
    let text = json!({"nodes": [node("a", "web_researcher", &[]), node("b", "writer", &["a"])]}).to_string();
    let pieces = text.as_bytes().chunks(7).map(|piece| Delta::Text(String::from_utf8_lossy(piece).into_owned())).collect();
    let outcome = plan(vec![(pieces, Ok(text))]).await;
    assert_eq!(outcome.told.nodes, ["a", "b"]);
    let planned = outcome.planned.unwrap();
    assert_eq!(planned.plan.goal, "Plan a trip to Paris");
    assert_eq!(planned.plan.nodes[1].depends_on, ["a".into()]);
    assert_eq!((planned.origin.as_str(), planned.remarks), ("gpt-4o-2024-11-20", Vec::new()), "named as the answer names it");
    assert_eq!(outcome.asked[0].messages.last(), Some(&ChatMessage::User { content: "Plan a trip to Paris".into() }));
}

#[tokio::test]
async fn faults_go_back_to_the_model_which_corrects_them() {
    let wrong = json!({"nodes": [node("a", "writer", &["ghost"])]});
    let right = json!({"nodes": [node("a", "writer", &[])]});
    let outcome = plan(vec![says(&wrong), says(&right)]).await;
    let [_, _, ChatMessage::Assistant { content: said, .. }, ChatMessage::User { content: faults }] = outcome.asked[1].messages.as_slice()
    else {
        panic!("{:?}", outcome.asked[1].messages)
    };
    assert!(said.contains("\"ghost\"") && faults.contains("ghost"), "{faults}");
    let planned = outcome.planned.unwrap();
    assert_eq!(planned.remarks, ["the model corrected its plan once"]);
    let tokens: Vec<u64> = planned.calls.iter().map(|call| call.usage.total()).collect();
    assert_eq!(tokens, [110, 110], "the answer that was rejected counts too");
    assert!(planned.calls.iter().all(|call| call.cost_usd.is_some() && !call.estimated));
}

#[tokio::test]
async fn a_cycle_is_found_and_spelled_out() {
    let wrong = json!({"nodes": [node("a", "writer", &["b"]), node("b", "writer", &["a"])]});
    let right = json!({"nodes": [node("a", "writer", &[]), node("b", "writer", &["a"])]});
    let outcome = plan(vec![says(&wrong), says(&right)]).await;
    assert!(outcome.told.progress.iter().any(|line| line.contains("corrects its plan, round 1 of 2")), "{:?}", outcome.told.progress);
    assert_eq!(outcome.ids(), ["a", "b"]);
}

#[tokio::test]
async fn after_two_corrections_numbered_ids_are_tried() {
    let wrong = || says(&json!({"nodes": [node("a", "nobody", &["ghost"])]}));
    let outcome = plan(vec![wrong(), wrong(), wrong(), says(&json!({"nodes": [node("n1", "writer", &[])]}))]).await;
    assert_eq!(outcome.ids(), ["n1"]);
    let schema = outcome.asked[3].schema.as_ref().unwrap();
    assert!(schema.schema["$defs"]["last2"].is_object());
    let reason = outcome.told.progress.last().unwrap();
    assert!(reason.contains("a plan; the last one can't run: ") && reason.contains("ghost"), "{reason}");
    assert_eq!(outcome.planned.as_ref().unwrap().learned, Some(Ids::Positional));
    assert!(!format!("{:?}", outcome.asked[3].messages).contains("ghost"), "the new way starts afresh");
}

#[tokio::test]
async fn a_plan_that_stays_wrong_is_kept_with_the_fewest_faults() {
    let faulty = |count: usize| says(&json!({"nodes": (0..count).map(|i| node(&format!("x{i}"), "nobody", &[])).collect::<Vec<_>>()}));
    let outcome = plan(vec![faulty(3), faulty(1), faulty(2), faulty(3)]).await;
    assert_eq!(outcome.ids(), ["x0"]);
    let remarks = outcome.planned.unwrap().remarks;
    assert!(remarks.last().unwrap().starts_with("the plan can't run yet: "), "{remarks:?}");
}

#[tokio::test]
async fn positional_ids_by_configuration_have_no_other_way() {
    let wrong = || says(&json!({"nodes": [node("n1", "nobody", &[])]}));
    let outcome = plan_with(Ids::Positional, None, vec![wrong(), wrong(), wrong()]).await;
    assert_eq!(outcome.ids(), ["n1"]);
}

#[tokio::test]
async fn a_cut_answer_is_asked_for_again_and_its_nodes_are_not_lost() {
    let half = format!("{{\"nodes\": [{}, {{\"id\": \"b\", \"agent\": \"wri", node("a", "writer", &[]));
    let cut = |kind| fails(&half, kind);
    let whole = says(&json!({"nodes": [node("a", "writer", &[]), node("b", "writer", &["a"])]}));
    assert_eq!(plan(vec![cut(ModelErrorKind::Nonsense), whole]).await.ids(), ["a", "b"]);
    let outcome = plan(vec![cut(ModelErrorKind::CutStream)]).await;
    assert_eq!(outcome.ids(), ["a"], "what came is shown, and nobody waits for more from a broken line");
    assert_eq!(outcome.planned.unwrap().remarks, ["steps may be missing: it broke"]);
}

#[tokio::test]
async fn a_server_that_fails_ends_planning_unless_there_is_a_draft() {
    let (error, calls) = plan(vec![fails("", ModelErrorKind::WrongKey)]).await.planned.unwrap_err();
    assert_eq!((error.kind, calls), (ModelErrorKind::WrongKey, Vec::new()), "a server that turned it away took nothing");
    let wrong = says(&json!({"nodes": [node("a", "nobody", &[])]}));
    assert_eq!(plan(vec![wrong, fails("", ModelErrorKind::RateLimit)]).await.ids(), ["a"]);
}

#[tokio::test]
async fn nonsense_all_the_way_is_an_error() {
    let outcome = plan((0..4).map(|_| fails("Sure thing!", ModelErrorKind::Nonsense)).collect()).await;
    let (error, calls) = outcome.planned.unwrap_err();
    assert_eq!((error.kind, calls.len()), (ModelErrorKind::Nonsense, 4));
    assert!(calls.iter().all(|call| call.estimated && call.usage.prompt > 0 && call.usage.completion > 0), "counted here: {calls:?}");
    let outcome = plan((0..4).map(|_| says(&json!({"nodes": []}))).collect()).await;
    assert!(outcome.planned.unwrap_err().0.message.contains("without any nodes"));
}

#[tokio::test]
async fn a_restart_voids_the_nodes_that_had_come() {
    let first = json!({"nodes": [node("old", "writer", &[])]}).to_string();
    let second = json!({"nodes": [node("new", "writer", &[])]}).to_string();
    let restarted = |usage| {
        let restart = Delta::Restart { why: "the stream was cut".into(), usage };
        vec![(vec![Delta::Text(first.clone()), restart, Delta::Text(second.clone())], Ok(second.clone()))]
    };
    let outcome = plan(restarted(None)).await;
    assert_eq!(outcome.ids(), ["new"]);
    assert!(outcome.told.progress.contains(&"starting over: the stream was cut".to_owned()));
    let estimated: Vec<bool> = outcome.planned.unwrap().calls.iter().map(|call| call.estimated).collect();
    assert_eq!(estimated, [true, false], "the part that was cut counts too");
    let calls = plan(restarted(Some(TokenUsage::of(3, 2)))).await.planned.unwrap().calls;
    assert_eq!((calls.len(), calls[0].usage, calls[0].estimated), (2, TokenUsage::of(3, 2), false), "as it was reported");
}

/// Says something, and then nothing more.
struct Endless;

#[async_trait]
impl ChatModel for Endless {
    fn provider(&self) -> &str {
        "script"
    }

    async fn chat(&self, _: &ChatRequest, sink: &mut (dyn FnMut(Delta) + Send)) -> Result<ChatAnswer, ModelError> {
        sink(Delta::Text("some words of a plan".into()));
        std::future::pending().await
    }

    async fn list(&self) -> Result<Vec<String>, ModelError> {
        Ok(Vec::new())
    }
}

#[tokio::test]
async fn a_planning_that_is_stopped_has_taken_what_was_sent_and_said() {
    let (prices, settings) = (Prices::default(), ModelSettings::default());
    let planner = ModelPlanner { model: &Endless, name: "gpt-4o", settings, prices: &prices, ids: Ids::Free, taken: Mutex::default() };
    let (catalog, inputs, surroundings) = (catalog(), Map::new(), Surroundings::default());
    let (text, before, rival) = ("Plan a trip to Paris", None, 0);
    let request = PlanningRequest {
        text,
        catalog: &catalog,
        inputs: &inputs,
        surroundings: &surroundings,
        before,
        rival,
        under_way: None,
        after: None,
    };
    let mut told = Told::default();
    let planning = plan_by_model(&planner, &request, &mut told);
    assert!(futures::FutureExt::now_or_never(planning).is_none());
    let taken = planner.taken();
    let [call] = &taken[..] else { panic!("{taken:?}") };
    assert!(call.estimated && call.usage.prompt > 0 && call.usage.completion > 0, "{call:?}");
}

#[tokio::test]
async fn edges_that_references_imply_are_added_and_remarked() {
    let mut second = node("b", "writer", &[]);
    second["objective"] = json!("Sum up {{a.result}}");
    let outcome = plan(vec![says(&json!({"nodes": [node("a", "writer", &[]), second]}))]).await;
    let planned = outcome.planned.unwrap();
    assert_eq!(planned.plan.nodes[1].depends_on, ["a".into()]);
    assert_eq!(planned.remarks, ["`b` now waits for `a`, because it uses {{a.result}}"]);
}

#[tokio::test]
async fn a_request_that_goes_on_from_a_plan_keeps_its_goal_and_says_that_it_changed_it() {
    let first = json!({"nodes": [node("a", "web_researcher", &[]), node("b", "writer", &["a"])]});
    let before = Plan { goal: "Sum up the news.".into(), ..plan(vec![says(&first)]).await.planned.unwrap().plan };
    let more = json!({"nodes": [node("a", "web_researcher", &[]), node("b", "writer", &["a"]), node("c", "writer", &["b"])]});
    let planned = plan_with(Ids::Free, Some(&before), vec![says(&more)]).await.planned.unwrap();
    assert!(planned.changes);
    assert_eq!(planned.plan.goal, "Sum up the news; Plan a trip to Paris");
    let other = json!({"nodes": [node("x", "web_researcher", &[])]});
    let planned = plan_with(Ids::Free, Some(&before), vec![says(&other)]).await.planned.unwrap();
    assert_eq!((planned.changes, planned.plan.goal.as_str()), (false, "Plan a trip to Paris"));
}

#[tokio::test]
async fn every_request_has_a_cap_and_a_low_temperature() {
    let outcome = plan(vec![says(&json!({"nodes": [node("a", "writer", &[])]}))]).await;
    let settings = &outcome.asked[0].settings;
    assert!(settings.max_tokens.is_some() && settings.temperature.is_some_and(|temperature| temperature < 0.5), "{settings:?}");
}

#[tokio::test]
async fn a_model_sees_the_plans_that_worked_for_similar_requests_and_says_which_one_it_follows() {
    const KEY: &str = "sk-proj-abcdefghij1234567890";
    let mut answer = json!({"nodes": [node("a", "writer", &[])]});
    answer["follows"] = json!(2);
    let model = Scripted { answers: Mutex::new(vec![says(&answer)].into()), asked: Mutex::default() };
    let (prices, settings) = (Prices::shipped(), ModelSettings::default());
    let planner = ModelPlanner { model: &model, name: "gpt-4o", settings, prices: &prices, ids: Ids::Free, taken: Mutex::default() };
    let (catalog, inputs) = (catalog(), Map::new());
    let past = |label: &str| PastPlan {
        label: label.into(),
        request: format!("Plan a trip to Rome with {KEY}"),
        outline: format!("find (writer): Find {KEY}"),
    };
    let past = vec![past("run `1` (succeeded, $0.01)"), past("run `2` (succeeded, $0.02)")];
    let surroundings = Surroundings { past, ..Surroundings::default() };
    let (text, before, rival) = ("Plan a trip to Paris", None, 0);
    let request = PlanningRequest {
        text,
        catalog: &catalog,
        inputs: &inputs,
        surroundings: &surroundings,
        before,
        rival,
        under_way: None,
        after: None,
    };
    let planned = plan_by_model(&planner, &request, &mut Told::default()).await.unwrap();
    assert_eq!(planned.remarks, ["it follows the plan of run `2` (succeeded, $0.02)"]);
    let asked = model.asked.lock().unwrap()[0].clone();
    let ChatMessage::System { content } = &asked.messages[0] else { panic!("{asked:?}") };
    assert!(
        content.contains("1. \"Plan a trip to Rome with [redacted]\": run `1` (succeeded, $0.01)\n   find (writer): Find [redacted]\n"),
        "{content}"
    );
    assert!(!content.contains(KEY), "a key that was typed once goes nowhere");
    let schema = &asked.schema.as_ref().unwrap().schema;
    assert_eq!((&schema["required"], &schema["properties"]["follows"]["enum"]), (&json!(["nodes", "follows"]), &json!([0, 1, 2])));
    let nothing = plan(vec![says(&json!({"nodes": [node("a", "writer", &[])], "follows": 1}))]).await;
    assert_eq!(nothing.planned.unwrap().remarks, [""; 0], "there was none to follow");
    assert!(!nothing.asked[0].schema.as_ref().unwrap().schema.to_string().contains("follows"));
}
