//! The agent loop against a scripted model and a port that records everything.

use super::*;
use crate::engine::{AgentJob, Dep, Done, ErrorKind, Mark, NodeError, NodeState, OPERATOR, Provenance, TokenUsage, TryVerdict};
use crate::models::{
    CallRequest, ChatMessage, ChatModel, ChatReply, ChatRequest, Delta, Finish, ModelError, ModelErrorKind, ModelSettings,
};
use crate::plan::{ContextMode, Risk, ToolInfo, Verdict};
use serde_json::{Value, json};
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::sync::Barrier;

/// What the model says next.
enum Line {
    Reply(ChatReply),
    Error(ModelError),
    Hang,
    /// Thinks aloud first.
    Thought(&'static str, Box<Line>),
    /// Uses the output cap to the last token.
    Fill,
}

struct Script {
    provider: String,
    lines: Mutex<VecDeque<Line>>,
    requests: Mutex<Vec<ChatRequest>>,
}

#[async_trait]
impl ChatModel for Script {
    fn provider(&self) -> &str {
        &self.provider
    }

    async fn chat(&self, request: &ChatRequest, sink: &mut (dyn FnMut(Delta) + Send)) -> Result<ChatReply, ModelError> {
        self.requests.lock().unwrap().push(request.clone());
        let mut line = self.lines.lock().unwrap().pop_front().expect("the script is over");
        if let Line::Thought(thought, then) = line {
            sink(Delta::Reasoning(thought.to_owned()));
            line = *then;
        }
        match line {
            Line::Thought(..) => unreachable!(),
            Line::Reply(reply) => {
                for word in reply.text.split_inclusive(' ') {
                    sink(Delta::Text(word.to_owned()));
                }
                Ok(reply)
            }
            Line::Error(error) => Err(error),
            Line::Fill => {
                let cap = request.settings.max_tokens.unwrap();
                let prompt = tokens::of_messages(&request.messages) + tokens::of_offers(&request.tools);
                let Line::Reply(reply) = text(&"z ".repeat(usize::try_from(cap).unwrap())) else { unreachable!() };
                Ok(ChatReply { usage: TokenUsage::of(prompt, cap), finish: Finish::Length, ..reply })
            }
            Line::Hang => {
                sink(Delta::Text("so far ".to_owned()));
                std::future::pending().await
            }
        }
    }

    async fn list(&self) -> Result<Vec<String>, ModelError> {
        Ok(Vec::new())
    }
}

/// Records what it is told; answers tools by name and questions from a list.
#[derive(Default)]
struct Desk {
    log: Mutex<Vec<String>>,
    notes: Mutex<Vec<String>>,
    output: Mutex<String>,
    tools: Mutex<Vec<ToolCall>>,
    questions: Mutex<Vec<Question>>,
    answers: Mutex<VecDeque<Value>>,
    calls: Mutex<Vec<ModelCall>>,
    /// What people say before each model call, in turn.
    goes: Mutex<VecDeque<GoAhead>>,
    asked: Mutex<usize>,
    together: Option<Barrier>,
    /// Whether the node was stopped and has had its time.
    overdue: bool,
}

#[async_trait]
impl Port for Desk {
    async fn tool(&self, call: ToolCall) -> ToolReply {
        self.tools.lock().unwrap().push(call.clone());
        if let Some(barrier) = &self.together {
            barrier.wait().await;
        }
        match call.tool.as_str() {
            "write_file" => ToolReply::Refused("not today".into()),
            "broken" => ToolReply::Failed("it broke".into()),
            _ => ToolReply::Value(json!({ "said": call.args })),
        }
    }

    async fn ask(&self, question: Question) -> Result<Value, String> {
        self.questions.lock().unwrap().push(question);
        self.answers.lock().unwrap().pop_front().ok_or_else(|| "nobody answers".to_string())
    }

    async fn model(&self, _model: &str) -> Result<GoAhead, String> {
        *self.asked.lock().unwrap() += 1;
        Ok(self.goes.lock().unwrap().pop_front().unwrap_or_default())
    }

    fn model_called(&self, call: ModelCall) {
        self.calls.lock().unwrap().push(call);
    }

    fn message(&self, role: &str, content: &str) {
        self.log.lock().unwrap().push(format!("{role}: {content}"));
    }

    fn output(&self, text: &str) {
        self.output.lock().unwrap().push_str(text);
    }

    async fn overdue(&self) {
        if !self.overdue {
            std::future::pending().await
        }
    }

    fn log(&self, line: &str) {
        self.notes.lock().unwrap().push(line.to_owned());
    }
}

fn text(text: &str) -> Line {
    spent(text, 100)
}

fn spent(text: &str, tokens: u64) -> Line {
    Line::Reply(ChatReply { text: text.into(), usage: TokenUsage::of(tokens, 0), model: "m".into(), ..ChatReply::default() })
}

fn calls(list: &[(&str, &str)]) -> Line {
    let requests = list.iter().enumerate().map(|(at, (name, args))| CallRequest {
        id: format!("c{at}"),
        name: (*name).into(),
        arguments: (*args).into(),
    });
    let Line::Reply(reply) = text("") else { unreachable!() };
    Line::Reply(ChatReply { calls: requests.collect(), finish: Finish::ToolCalls, ..reply })
}

fn fails(kind: ModelErrorKind) -> Line {
    fails_for(kind, TryVerdict::After { ms: 7 })
}

fn fails_for(kind: ModelErrorKind, verdict: TryVerdict) -> Line {
    Line::Error(ModelError::new(kind, verdict, "no").hint("try"))
}

fn tool(name: &str, risk: Risk) -> ToolInfo {
    let input_schema = json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] });
    ToolInfo { name: name.into(), description: name.into(), input_schema, risk, verdict: Verdict::Allow }
}

struct Stage {
    job: AgentJob,
    deps: Vec<Dep>,
    execution: Execution,
    script: Arc<Script>,
    desk: Desk,
}

impl Stage {
    fn new(lines: Vec<Line>) -> Self {
        Self::with(lines, "server")
    }

    fn with(lines: Vec<Line>, provider: &str) -> Self {
        let script = Arc::new(Script { provider: provider.into(), lines: Mutex::new(lines.into()), requests: Mutex::default() });
        let responder =
            Responder::Model { provider: Arc::clone(&script) as Arc<dyn ChatModel>, name: "m".into(), settings: ModelSettings::default() };
        let tools =
            vec![tool("read_file", Risk::Read), tool("git:log", Risk::Read), tool("write_file", Risk::Write), tool("broken", Risk::Read)];
        let card = Arc::new(Card::inline("a clerk", None, ToolList::Given));
        let job = AgentJob { objective: Some("Do it.".into()), ..AgentJob::default() };
        Self {
            job,
            deps: Vec::new(),
            execution: Execution { card, responder, tools, window: None, context_tokens: None },
            script,
            desk: Desk::default(),
        }
    }

    fn shipped(mut self, name: &str) -> Self {
        let cards = AgentRegistry::open(std::path::Path::new("/nonexistent"), None).cards();
        self.execution.card = Arc::clone(cards.get(name).unwrap());
        self
    }

    async fn end(&self) -> Result<AttemptEnd, NodeError> {
        run(&self.job, &self.deps, &self.execution, &self.desk).await
    }

    async fn run(&self) -> Result<Done, NodeError> {
        match self.end().await? {
            AttemptEnd::Done(done) => Ok(done),
            AttemptEnd::Limit { error, .. } => Err(error),
        }
    }

    fn depends_on(mut self, results: &[(&str, Value)]) -> Self {
        self.deps = results
            .iter()
            .map(|(id, result)| Dep {
                node: (*id).into(),
                result: Arc::new(result.clone()),
                state: NodeState::Succeeded,
                error: None,
                provenance: Provenance::default(),
            })
            .collect();
        self
    }

    fn notes(&self) -> Vec<String> {
        self.desk.notes.lock().unwrap().clone()
    }

    fn requests(&self) -> Vec<ChatRequest> {
        self.script.requests.lock().unwrap().clone()
    }

    /// What tools answered in the last request.
    fn told(&self) -> Vec<String> {
        let told = |message: &ChatMessage| match message {
            ChatMessage::Tool { content, .. } => Some(content.clone()),
            _ => None,
        };
        self.requests().last().unwrap().messages.iter().filter_map(told).collect()
    }
}

fn plain(result: Value) -> Result<Done, NodeError> {
    Ok(Done { result, mark: None })
}

fn done(result: Value, mark: Mark) -> Result<Done, NodeError> {
    Ok(Done { result, mark: Some(mark) })
}

fn kind(result: &Result<Done, NodeError>) -> Option<ErrorKind> {
    result.as_ref().err().map(|error| error.kind)
}

#[tokio::test]
async fn an_answer_is_streamed_reported_and_is_the_result() {
    let stage = Stage::new(vec![text("All is well.")]).depends_on(&[("a", json!("found"))]);
    assert_eq!(stage.run().await, plain(json!("All is well.")));
    assert_eq!(*stage.desk.output.lock().unwrap(), "All is well.");
    let log = stage.desk.log.lock().unwrap().clone();
    assert!(log[0].contains("Your role: a clerk."));
    assert!(log[1].contains("[a]: found") && log[1].starts_with("user: Do it.\n\nResults of"));
    assert_eq!(log[2], "assistant: All is well.");
    let calls = stage.desk.calls.lock().unwrap();
    assert_eq!((calls.len(), calls[0].usage.total(), calls[0].finish.as_str()), (1, 100, "stop"));
}

#[tokio::test]
async fn results_of_tools_go_back_until_the_model_answers() {
    let stage = Stage::new(vec![calls(&[("git__log", r#"{"path":"x"}"#)]), text("{\"n\": 1}")]);
    assert_eq!(stage.run().await, plain(json!({ "n": 1 })));
    let called = stage.desk.tools.lock().unwrap().clone();
    assert_eq!((called[0].tool.as_str(), &called[0].args), ("git:log", &json!({ "path": "x" })));
    assert_eq!(stage.told(), [r#"{"said":{"path":"x"}}"#]);
    let log = stage.desk.log.lock().unwrap().join("\n");
    assert!(log.contains("assistant: → git__log({\"path\":\"x\"})"), "{log}");
    assert!(log.contains("tool: {\"said\""));
}

#[tokio::test]
async fn wrong_arguments_unknown_tools_errors_and_refusals_go_back_to_the_model() {
    let stage = Stage::new(vec![
        calls(&[
            ("read_file", "{path"),
            ("read_file", "[1]"),
            ("read_file", r#"{"path": 1}"#),
            ("rm", "{}"),
            ("broken", r#"{"path":"x"}"#),
            ("write_file", r#"{"path":"x"}"#),
        ]),
        text("ok"),
    ]);
    assert_eq!(stage.run().await, plain(json!("ok")));
    let told = stage.told();
    assert!(told[0].starts_with("error: the arguments are not JSON"), "{}", told[0]);
    assert!(told[1].starts_with("error: the arguments are not a JSON object"));
    assert!(told[2].starts_with("error: wrong arguments for `read_file`: at /path"), "{}", told[2]);
    assert!(told[3].starts_with("error: there is no tool `rm`; the tools are: read_file, git__log"));
    assert_eq!(told[4..], ["error: it broke", "refused: not today"]);
    assert_eq!(stage.desk.tools.lock().unwrap().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn calls_that_only_read_run_together() {
    let mut stage = Stage::new(vec![calls(&[("read_file", r#"{"path":"a"}"#), ("git__log", r#"{"path":"b"}"#)]), text("ok")]);
    stage.desk.together = Some(Barrier::new(2));
    let result = tokio::time::timeout(Duration::from_secs(5), stage.run()).await;
    assert_eq!(result, Ok(plain(json!("ok"))));
}

#[tokio::test(start_paused = true)]
async fn calls_run_in_order_when_one_of_them_writes() {
    let mut stage = Stage::new(vec![calls(&[("read_file", r#"{"path":"a"}"#), ("write_file", r#"{"path":"b"}"#)]), text("ok")]);
    stage.desk.together = Some(Barrier::new(2));
    assert!(tokio::time::timeout(Duration::from_secs(5), stage.run()).await.is_err());
    assert_eq!(stage.desk.tools.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn call_ids_are_unique_over_attempts_although_the_provider_repeats_its_own() {
    let lines = || vec![calls(&[("read_file", r#"{"path":"a"}"#)]), text("ok")];
    let (first, second) = (Stage::new(lines()), Stage::new(lines()));
    first.run().await.unwrap();
    second.run().await.unwrap();
    let id = |stage: &Stage| stage.desk.tools.lock().unwrap()[0].id.clone();
    assert_ne!(id(&first), id(&second));
}

#[tokio::test]
async fn return_result_ends_the_node_with_json() {
    let stage = Stage::new(vec![calls(&[("return_result", r#"{"result":{"findings":[1]}}"#)])]);
    assert_eq!(stage.run().await, plain(json!({ "findings": [1] })));
}

#[tokio::test]
async fn return_result_beside_a_failed_call_waits_for_another_look() {
    let stage = Stage::new(vec![calls(&[("broken", r#"{"path":"a"}"#), ("return_result", r#"{"result":1}"#)]), text("2")]);
    assert_eq!(stage.run().await, plain(json!(2)));
    assert!(stage.told()[1].starts_with("not accepted"));
}

#[tokio::test]
async fn an_agent_can_ask_the_operator() {
    let stage = Stage::new(vec![calls(&[("ask_operator", r#"{"question":"Red?","options":["yes","no"]}"#)]), text("ok")]);
    stage.desk.answers.lock().unwrap().push_back(json!("yes"));
    assert_eq!(stage.run().await, plain(json!("ok")));
    assert_eq!(stage.told(), ["yes"]);
    assert_eq!(stage.desk.questions.lock().unwrap()[0].options, ["yes", "no"]);
}

#[tokio::test]
async fn at_the_last_iteration_there_is_one_turn_without_tools_and_the_node_fails_with_what_it_hands_back() {
    let read = || calls(&[("read_file", r#"{"path":"a"}"#)]);
    let mut stage = Stage::new(vec![read(), read(), text("so far")]);
    stage.job.max_iterations = 3;
    let Ok(AttemptEnd::Limit { error, handed_back }) = stage.end().await else { panic!("a limit was reached") };
    assert_eq!((error.kind, handed_back), (ErrorKind::Limit, json!("so far")));
    assert!(error.message.contains("after 3 turns") && error.hint.unwrap().contains("max_iterations"));
    let requests = stage.requests();
    assert!(!requests[1].tools.is_empty() && requests[2].tools.is_empty());
    let mut stage = Stage::new(vec![read(), read()]);
    stage.job.max_iterations = 2;
    let failed = stage.run().await;
    assert_eq!(kind(&failed), Some(ErrorKind::Limit));
    assert_eq!(stage.desk.tools.lock().unwrap().len(), 1, "the call of the last turn is not carried out");
}

#[tokio::test]
async fn the_default_is_five_iterations_and_twenty_are_the_most() {
    let read = |n: u32| calls(&[("read_file", &format!(r#"{{"path":"{n}"}}"#))]);
    let stage = Stage::new((0..5).map(read).collect());
    assert_eq!(kind(&stage.run().await), Some(ErrorKind::Limit));
    assert_eq!(stage.requests().len(), 5);
    let mut stage = Stage::new((0..20).map(read).collect());
    stage.job.max_iterations = 100;
    stage.job.max_tokens = 1_000_000;
    assert_eq!(kind(&stage.run().await), Some(ErrorKind::Limit));
    assert_eq!(stage.requests().len(), 20);
}

#[tokio::test]
async fn a_cards_limits_hold_where_the_plan_says_nothing() {
    let read = || calls(&[("read_file", r#"{"path":"a"}"#)]);
    let stage = Stage::new(vec![read(), read()]);
    let limits = CardLimits { max_iterations: Some(2), max_tokens: None };
    let stage = Stage {
        execution: Execution { card: Arc::new(Card { limits, ..(*stage.execution.card).clone() }), ..stage.execution.clone() },
        ..stage
    };
    assert_eq!(kind(&stage.run().await), Some(ErrorKind::Limit));
    assert_eq!(stage.requests().len(), 2);
}

#[tokio::test]
async fn with_one_iteration_the_agent_answers_without_tools() {
    let mut stage = Stage::new(vec![text("ok")]);
    stage.job.max_iterations = 1;
    assert_eq!(stage.run().await, plain(json!("ok")));
    assert!(stage.requests()[0].tools.is_empty());
}

#[tokio::test]
async fn near_the_limit_of_tokens_the_agent_hands_back_what_it_has() {
    let Line::Reply(mut first) = calls(&[("read_file", r#"{"path":"a"}"#)]) else { unreachable!() };
    first.usage.prompt = 9_400;
    let mut stage = Stage::new(vec![Line::Reply(first), text("what I have")]);
    stage.job.max_tokens = 10_000;
    assert_eq!(stage.run().await, done(json!("what I have"), Mark::BudgetExhausted));
    assert!(stage.requests()[1].tools.is_empty());
}

#[tokio::test]
async fn without_a_written_limit_no_answer_is_capped_and_only_what_the_model_writes_is_counted() {
    let Line::Reply(mut first) = calls(&[("read_file", r#"{"path":"a"}"#)]) else { unreachable!() };
    first.usage = TokenUsage::of(90_000, 9_999);
    let Line::Reply(mut second) = calls(&[("read_file", r#"{"path":"b"}"#)]) else { unreachable!() };
    second.usage = TokenUsage::of(90_000, 2);
    let stage = Stage::new(vec![Line::Reply(first), Line::Reply(second), text("what I have")]);
    assert_eq!(stage.run().await, done(json!("what I have"), Mark::BudgetExhausted));
    let requests = stage.requests();
    assert!(requests.iter().all(|request| request.settings.max_tokens.is_none()));
    assert!(!requests[1].tools.is_empty() && requests[2].tools.is_empty());
    assert_eq!(stage.notes(), ["the model has written 10,001 tokens; where no limit is set, 10,000 are enough"]);
}

#[tokio::test]
async fn one_answer_may_pass_the_default_limit() {
    let Line::Reply(mut long) = text("a book") else { unreachable!() };
    long.usage.completion = 30_000;
    assert_eq!(Stage::new(vec![Line::Reply(long)]).run().await, plain(json!("a book")));
}

#[tokio::test]
async fn a_prompt_that_the_model_finds_too_long_is_sent_again_with_less_of_the_results() {
    let stage = Stage::new(vec![fails(ModelErrorKind::ContextTooLong), fails(ModelErrorKind::ContextTooLong), text("ok")]);
    let stage = stage.depends_on(&[("long", json!("x".repeat(40_000))), ("short", json!("whole"))]);
    assert_eq!(stage.run().await, plain(json!("ok")));
    let sizes: Vec<usize> = stage.requests().iter().map(|request| user(request).matches('x').count()).collect();
    assert!(sizes[0] == 40_000 && sizes[1] < 21_000 && sizes[2] < 11_000 && sizes[2] > 5_000, "{sizes:?}");
    assert!(stage.requests().iter().all(|request| user(request).contains("[short]: whole")));
    assert!(stage.notes().iter().any(|note| note.contains("sent again with less")), "{:?}", stage.notes());
    let hopeless = Stage::new((0..9).map(|_| fails(ModelErrorKind::ContextTooLong)).collect());
    assert_eq!(kind(&hopeless.run().await), Some(ErrorKind::Permanent));
    assert_eq!(hopeless.requests().len(), 1, "nothing can be left out");
}

#[tokio::test]
async fn a_conversation_that_grew_too_long_goes_on_with_less_of_what_tools_gave() {
    let stage = Stage::new(vec![calls(&[("ask_operator", r#"{"question":"?"}"#)]), fails(ModelErrorKind::ContextTooLong), text("ok")]);
    stage.desk.answers.lock().unwrap().push_back(json!("y".repeat(8_000)));
    assert_eq!(stage.run().await, plain(json!("ok")));
    assert!(stage.told()[0].ends_with("the first 4000 of 8000 characters are shown]"), "{:?}", stage.told());
}

#[tokio::test]
async fn the_same_call_is_made_twice_and_an_agent_that_insists_ends_with_what_it_has() {
    let same = || calls(&[("read_file", r#"{"path":"a"}"#)]);
    let stage = Stage::new(vec![same(), same(), same(), text("then so")]);
    assert_eq!(stage.run().await, plain(json!("then so")));
    assert_eq!(stage.desk.tools.lock().unwrap().len(), 2);
    assert!(stage.told()[2].contains("not made: `read_file` was called 2 times with the same arguments"), "{:?}", stage.told());
    let stage = Stage::new(vec![same(), same(), same(), same(), text("what I have")]);
    assert_eq!(stage.run().await, done(json!("what I have"), Mark::RepeatedCall));
    assert!(stage.requests()[4].tools.is_empty());
    assert_eq!(stage.desk.tools.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn thoughts_are_on_record_and_in_no_conversation_and_no_result() {
    let stage = Stage::new(vec![Line::Thought("hm", Box::new(calls(&[("read_file", r#"{"path":"a"}"#)]))), text("ok")]);
    assert_eq!(stage.run().await, plain(json!("ok")));
    assert!(stage.desk.log.lock().unwrap().contains(&"reasoning: hm".to_owned()));
    assert!(!format!("{:?}", stage.requests()).contains("hm\""));
    assert_eq!(*stage.desk.output.lock().unwrap(), "ok");
}

#[tokio::test]
async fn no_call_may_answer_longer_than_the_limit_leaves() {
    let mut stage = Stage::new(vec![calls(&[("read_file", r#"{"path":"a"}"#)]), text("ok")]);
    stage.job.max_tokens = 4_000;
    stage.run().await.unwrap();
    for request in stage.requests() {
        let prompt = tokens::of_messages(&request.messages) + tokens::of_offers(&request.tools);
        assert!(prompt + request.settings.max_tokens.unwrap() <= 4_000);
    }
}

#[tokio::test]
async fn a_provider_that_takes_more_than_was_asked_for_is_not_asked_again() {
    let Line::Reply(mut first) = calls(&[("read_file", r#"{"path":"a"}"#)]) else { unreachable!() };
    first.usage.prompt = 90_000;
    first.text = "first thoughts".into();
    let mut stage = Stage::new(vec![Line::Reply(first.clone())]);
    stage.job.max_tokens = 10_000;
    assert_eq!(stage.run().await, done(json!("first thoughts"), Mark::BudgetExhausted));
    first.text.clear();
    let mut stage = Stage::new(vec![Line::Reply(first)]);
    stage.job.max_tokens = 10_000;
    assert_eq!(kind(&stage.run().await), Some(ErrorKind::Limit));
}

#[tokio::test]
async fn a_prompt_larger_than_the_limit_is_not_sent() {
    let mut stage = Stage::new(Vec::new());
    stage.job.objective = Some("x".repeat(60_000));
    stage.job.max_tokens = 10_000;
    let failed = stage.run().await;
    assert_eq!(kind(&failed), Some(ErrorKind::Limit));
    assert!(failed.unwrap_err().message.contains("the node's limit is 10000"));
}

#[tokio::test]
async fn a_long_tool_result_is_cut_so_that_the_limit_holds() {
    let mut stage = Stage::new(vec![calls(&[("read_file", r#"{"path":"a"}"#)]), text("ok")]);
    stage.desk.answers = Mutex::default();
    let long = "y".repeat(100_000);
    let Line::Reply(first) = calls(&[("ask_operator", r#"{"question":"?"}"#)]) else { unreachable!() };
    stage.script.lines.lock().unwrap()[0] = Line::Reply(first);
    stage.desk.answers.lock().unwrap().push_back(json!(long));
    stage.job.max_tokens = 5_000;
    assert_eq!(stage.run().await, plain(json!("ok")));
    assert!(stage.told()[0].ends_with("of 100000 characters are shown]"));
}

#[tokio::test(start_paused = true)]
async fn the_working_time_of_the_model_is_limited() {
    let mut stage = Stage::new(vec![Line::Hang]);
    stage.job.timeout_s = 2.5;
    let failed = stage.run().await;
    assert_eq!(kind(&failed), Some(ErrorKind::Timeout));
    assert_eq!(failed.unwrap_err().message, "the agent used up its 2.5 s of work time");
}

#[tokio::test]
async fn output_that_matches_the_schema_is_the_result() {
    let mut stage = Stage::new(vec![text("{\"n\": 1}")]);
    stage.job.output_schema = Some(json!({ "type": "object", "required": ["n"] }));
    assert_eq!(stage.run().await, plain(json!({ "n": 1 })));
    assert!(stage.requests()[0].schema.is_some());
}

#[tokio::test]
async fn output_that_does_not_match_the_schema_gets_one_round_of_repair() {
    let schema = json!({ "type": "object", "required": ["n"] });
    let mut stage = Stage::new(vec![text("nothing"), text("{\"n\": 1}")]);
    stage.job.output_schema = Some(schema.clone());
    assert_eq!(stage.run().await, plain(json!({ "n": 1 })));
    let mut stage = Stage::new(vec![text("nothing"), calls(&[("return_result", r#"{"result":{}}"#)])]);
    stage.job.output_schema = Some(schema);
    assert_eq!(kind(&stage.run().await), Some(ErrorKind::Permanent));
}

#[tokio::test]
async fn an_empty_reply_is_asked_again() {
    let stage = Stage::new(vec![text(" "), text("ok")]);
    assert_eq!(stage.run().await, plain(json!("ok")));
}

#[tokio::test]
async fn model_errors_become_the_kinds_that_retry_understands_and_keep_their_hints() {
    let after = TryVerdict::After { ms: 7 };
    for (error, verdict, expected) in [
        (ModelErrorKind::NoRoute, TryVerdict::Again, ErrorKind::NothingBegan),
        (ModelErrorKind::NoRoute, TryVerdict::Never, ErrorKind::Permanent),
        (ModelErrorKind::RateLimit, after, ErrorKind::NothingBegan),
        (ModelErrorKind::RateLimit, TryVerdict::Never, ErrorKind::Permanent),
        (ModelErrorKind::Server, after, ErrorKind::Transient),
        (ModelErrorKind::CutStream, TryVerdict::Again, ErrorKind::Transient),
        (ModelErrorKind::WrongKey, TryVerdict::Never, ErrorKind::Permanent),
    ] {
        let failed = Stage::new(vec![fails_for(error, verdict)]).run().await.unwrap_err();
        let found = (failed.kind, failed.hint.as_deref(), failed.retry_after_ms);
        assert_eq!(found, (expected, Some("try"), verdict.wait_ms()), "{error:?} {verdict:?}");
    }
}

#[tokio::test]
async fn after_a_call_that_may_have_changed_something_no_failure_proves_that_nothing_began() {
    let stage = Stage::new(vec![calls(&[("write_file", r#"{"path":"a"}"#)]), fails(ModelErrorKind::RateLimit)]);
    assert_eq!(kind(&stage.run().await), Some(ErrorKind::Transient));
}

#[tokio::test]
async fn a_rehearsed_prompt_is_assembled_and_shown_and_nobody_is_asked() {
    let mut stage = routes(rehearsing(Stage::new(Vec::new())), &["ship", "fix"]);
    let rehearsed = stage.run().await.unwrap();
    assert_eq!(rehearsed.mark, Some(Mark::Rehearsal));
    let text = rehearsed.result.as_str().unwrap();
    assert!(text.starts_with("[rehearsed] would ask a model, with about ") && text.ends_with("(estimate): Do it."), "{text}");
    assert!(stage.desk.calls.lock().unwrap().is_empty() && stage.desk.questions.lock().unwrap().is_empty());
    stage.job.output_schema = Some(json!({ "type": "object", "properties": { "title": { "type": "string" } }, "required": ["title"] }));
    assert_eq!(stage.run().await, done(json!({ "title": "[rehearsed] title" }), Mark::Rehearsal));
}

#[tokio::test]
async fn the_operator_answers_in_the_models_place_and_sees_the_assembled_prompt() {
    let mut stage = Stage::new(Vec::new());
    stage.execution.responder = Responder::Operator;
    stage.desk.answers.lock().unwrap().push_back(json!("{\"a\": 1}"));
    assert_eq!(stage.run().await, plain(json!({ "a": 1 })));
    let questions = stage.desk.questions.lock().unwrap();
    assert!(questions[0].payload["system"].as_str().unwrap().contains("Your role: a clerk."));
    assert_eq!(questions[0].payload["user"], "Do it.");
    assert_eq!(stage.desk.calls.lock().unwrap()[0].provider, OPERATOR);
}

#[tokio::test]
async fn the_operators_answer_is_checked_once_more_against_the_schema() {
    let mut stage = Stage::new(Vec::new());
    stage.execution.responder = Responder::Operator;
    stage.job.output_schema = Some(json!({ "type": "integer" }));
    stage.desk.answers.lock().unwrap().extend([json!("x"), json!("3")]);
    assert_eq!(stage.run().await, plain(json!(3)));
    assert!(stage.desk.questions.lock().unwrap()[1].text.contains("doesn't match"));
}

#[tokio::test]
async fn a_human_agent_asks_its_objective() {
    let stage = Stage::new(Vec::new()).shipped("operator");
    stage.desk.answers.lock().unwrap().push_back(json!("blue"));
    assert_eq!(stage.run().await, plain(json!("blue")));
    assert_eq!(stage.desk.questions.lock().unwrap()[0].text, "Do it.");
}

#[tokio::test]
async fn the_deep_reasoner_asks_thinks_criticizes_and_answers_within_its_turns() {
    let lines =
        vec![text("1. What is it?\n2. Why?\n3. How much?"), text("a thing"), text("because, and 7"), text("weak"), text("the answer")];
    let mut stage = Stage::new(lines).shipped("deep_reasoner");
    stage.job.max_tokens = 50_000;
    assert_eq!(stage.run().await, plain(json!("the answer")));
    let requests = stage.requests();
    assert_eq!(requests.len(), 5);
    let user = |at: usize| match &requests[at].messages[1] {
        ChatMessage::User { content } => content.clone(),
        _ => String::new(),
    };
    assert!(user(1).contains("What is it?") && !user(1).contains("Answer this, step by step, using what was found before:\nWhy?"));
    assert!(user(2).contains("Why?\nHow much?"), "{}", user(2));
    assert!(user(4).contains("weak") && user(4).contains("because, and 7"));
    assert_eq!(*stage.desk.output.lock().unwrap(), "the answer", "thoughts on the way are not output");
}

#[tokio::test]
async fn the_deep_reasoner_answers_even_with_one_turn_or_few_tokens() {
    let mut stage = Stage::new(vec![text("short")]).shipped("deep_reasoner");
    stage.job.max_iterations = 1;
    assert_eq!(stage.run().await, plain(json!("short")));
    let mut stage = Stage::new(vec![text("short")]).shipped("deep_reasoner");
    stage.job.max_tokens = 1_200;
    assert_eq!(stage.run().await, done(json!("short"), Mark::BudgetExhausted));
}

#[tokio::test]
async fn an_answer_that_was_cut_by_the_nodes_limit_is_marked() {
    let mut stage = Stage::new(vec![Line::Fill]);
    stage.job.max_tokens = 10_000;
    let done = stage.run().await.unwrap();
    assert_eq!(done.mark, Some(Mark::BudgetExhausted));
}

#[tokio::test]
async fn the_deep_reasoner_never_passes_its_limit_of_tokens_and_always_answers() {
    for limit in [1_500, 2_500, 4_000, 6_000, 10_000, 30_000] {
        for turns in 1..=8 {
            let mut stage = Stage::new((0..turns).map(|_| Line::Fill).collect()).shipped("deep_reasoner");
            (stage.job.max_tokens, stage.job.max_iterations) = (limit, turns);
            stage.run().await.unwrap();
            let spent: u64 = stage.desk.calls.lock().unwrap().iter().map(|call| call.usage.total()).sum();
            assert!(spent <= limit, "{spent} of {limit} in {turns} turns");
        }
    }
}

#[test]
fn a_running_agent_can_move_between_threads() {
    fn is_send<T: Send>(_: &T) {}
    let stage = Stage::new(Vec::new());
    is_send(&stage.run());
}

#[tokio::test(start_paused = true)]
async fn what_was_said_before_the_time_was_over_is_handed_back() {
    let said = ChatReply { text: "half of it".into(), ..reply_of(calls(&[("read_file", r#"{"path":"a"}"#)])) };
    let stage = Stage::new(vec![Line::Reply(said), Line::Hang]);
    let Ok(AttemptEnd::Limit { error, handed_back }) = stage.end().await else { panic!("the time is over") };
    assert_eq!((error.kind, handed_back), (ErrorKind::Timeout, json!("half of it")));
}

fn reply_of(line: Line) -> ChatReply {
    let Line::Reply(reply) = line else { unreachable!() };
    reply
}

fn routes(stage: Stage, routes: &[&str]) -> Stage {
    let routes = routes.iter().map(|route| (*route).to_owned()).collect();
    Stage { job: AgentJob { routes, ..stage.job.clone() }, ..stage }
}

#[tokio::test]
async fn a_decision_is_one_of_its_routes_said_bare_or_with_a_reason() {
    let stage = routes(Stage::new(vec![text("Mend.")]), &["ship", "mend"]);
    assert_eq!(stage.run().await, plain(json!("mend")));
    assert_eq!(stage.requests()[0].schema, None, "a word is no JSON");
    let stage = routes(Stage::new(vec![calls(&[("return_result", r#"{"result":{"route":"SHIP","reason":"good"}}"#)])]), &["ship", "mend"]);
    assert_eq!(stage.run().await, plain(json!({ "route": "ship", "reason": "good" })));
}

#[tokio::test]
async fn a_decision_that_names_no_route_is_asked_once_more_and_then_left_to_the_plan() {
    let stage = routes(Stage::new(vec![text("hard to say"), text("ship")]), &["ship", "mend"]);
    assert_eq!(stage.run().await, plain(json!("ship")));
    let ChatMessage::User { content } = stage.requests()[1].messages[3].clone() else { panic!("a request") };
    assert!(content.ends_with("exactly one of these and nothing else: ship, mend"), "{content}");
    let stage = routes(Stage::new(vec![text("hard to say"), text("neither")]), &["ship", "mend"]);
    assert_eq!(stage.run().await, plain(json!("neither")));
    assert_eq!(stage.notes(), ["the answer is none of the routes ship, mend"]);
}

fn rehearsing(mut stage: Stage) -> Stage {
    stage.execution.responder = Responder::Rehearsal;
    stage
}

#[tokio::test]
async fn people_choose_a_route_from_the_options() {
    for mut stage in [Stage::new(Vec::new()).shipped("operator"), Stage::new(Vec::new())] {
        stage.execution.responder = Responder::Operator;
        let stage = routes(stage, &["ship", "mend"]);
        stage.desk.answers.lock().unwrap().push_back(json!("mend"));
        assert_eq!(stage.run().await, plain(json!("mend")));
        assert_eq!(stage.desk.questions.lock().unwrap()[0].options, ["ship", "mend"]);
    }
}

#[tokio::test]
async fn the_deep_reasoner_decides_too() {
    let mut stage = routes(Stage::new(vec![text("unsure"), text("mend")]).shipped("deep_reasoner"), &["ship", "mend"]);
    stage.job.max_iterations = 2;
    stage.job.max_tokens = 50_000;
    assert_eq!(stage.run().await, plain(json!("mend")));
}

fn selecting(lines: Vec<Line>) -> Stage {
    let mut stage = Stage::new(lines).depends_on(&[("bees", json!("they hum")), ("cars", json!("they honk")), ("law", json!("a lot"))]);
    stage.job.context = Some(ContextMode::Selected);
    stage
}

fn user(request: &ChatRequest) -> String {
    let ChatMessage::User { content } = request.messages[1].clone() else { panic!("a user's message") };
    content
}

#[tokio::test]
async fn a_model_picks_what_is_relevant_and_the_call_counts_and_is_on_record() {
    let mut stage = selecting(vec![spent(r#"{"relevant": ["law", "nothing", "bees"]}"#, 700), text("done")]);
    stage.job.max_tokens = 10_000;
    assert_eq!(stage.run().await, plain(json!("done")));
    let requests = stage.requests();
    assert!(user(&requests[0]).contains("Do it.") && user(&requests[0]).contains("[cars] (3 tokens): they honk"));
    let told = user(&requests[1]);
    assert!(told.contains("[bees]: they hum\n\n[law]: a lot") && told.contains("Not picked as relevant: `cars`."), "{told}");
    assert!(!told.contains("honk"));
    assert_eq!(stage.notes(), ["context: the model chose `bees`, `law` and left out `cars`"]);
    assert_eq!(stage.desk.calls.lock().unwrap()[0].usage.total(), 700);
    assert!(requests[1].settings.max_tokens.unwrap() < 10_000 - 700, "what picking took is gone from the node's limit");
    let log = stage.desk.log.lock().unwrap().join("\n");
    assert!(log.contains("assistant: {\"relevant\""), "{log}");
    assert_eq!(*stage.desk.output.lock().unwrap(), "done", "picking is no output");
}

#[tokio::test]
async fn when_picking_fails_all_results_are_given_and_the_log_says_why() {
    for (line, why) in [
        (fails(ModelErrorKind::Server), "the model could not choose: no"),
        (text("the first two, I think"), "the model's answer is not a list of results"),
        (text(r#"{"relevant": ["nonsense"]}"#), "the model chose none of them"),
    ] {
        let stage = selecting(vec![line, text("done")]);
        assert_eq!(stage.run().await, plain(json!("done")));
        assert!(user(&stage.requests()[1]).contains("[bees]: they hum\n\n[cars]: they honk\n\n[law]: a lot"));
        assert_eq!(stage.notes(), [format!("context: all results are passed on, because {why}")]);
    }
}

#[tokio::test]
async fn nobody_picks_with_too_few_tokens_or_with_one_result() {
    let mut short = selecting(vec![text("done")]);
    short.job.max_tokens = 2_000;
    assert_eq!(short.run().await, plain(json!("done")));
    assert_eq!(short.notes(), ["context: all results are passed on, because 2000 tokens are too few to choose first"]);
    let mut one = selecting(vec![text("done")]);
    one.deps.truncate(1);
    assert_eq!(one.run().await, plain(json!("done")));
    assert!(one.notes().is_empty());
}

#[tokio::test]
async fn what_was_cut_of_the_context_is_in_the_log_of_the_node() {
    let mut stage = Stage::new(vec![text("done")]).depends_on(&[("long", json!("x".repeat(40_000)))]);
    stage.job.max_tokens = 10_000;
    stage.run().await.unwrap();
    let notes = stage.notes();
    assert!(notes[0].contains("tokens of `long` were cut") && notes[0].contains("may use 4000 tokens"), "{notes:?}");
    assert!(user(&stage.requests()[0]).contains("tokens of `long` were cut]\n</material>"));
    let mut narrow = Stage::new(vec![text("done")]).depends_on(&[("long", json!("x".repeat(40_000)))]);
    narrow.execution.context_tokens = Some(500);
    narrow.run().await.unwrap();
    assert!(narrow.notes()[0].contains("may use 500 tokens"));
}

#[tokio::test]
async fn a_node_without_a_card_has_its_goal_as_objective_and_its_role_in_the_system_prompt() {
    let mut stage = Stage::new(vec![calls(&[("return_result", r#"{"result":{"findings":["a"]}}"#)])]);
    stage.job = AgentJob { role: Some("api_researcher".into()), goal: Some("Find {the} limits".into()), ..AgentJob::default() };
    stage.execution.card = AgentRegistry::open(std::path::Path::new("/nonexistent"), None).cards().for_job(&stage.job).unwrap();
    assert_eq!(stage.run().await, plain(json!({ "findings": ["a"] })));
    let request = &stage.requests()[0];
    let ChatMessage::System { content } = &request.messages[0] else { panic!("a system prompt") };
    assert!(content.contains("Your role: api_researcher.") && content.contains("`return_result`") && !content.contains("limits"));
    assert_eq!(user(request), "Find {the} limits");
    assert!(request.tools.iter().any(|tool| tool.name == "return_result"));
}

fn guided(words: &str) -> GoAhead {
    GoAhead { guidance: vec![words.into()], wrap_up: false }
}

fn stopped() -> GoAhead {
    GoAhead { guidance: Vec::new(), wrap_up: true }
}

fn steered(stage: Stage, goes: Vec<GoAhead>) -> Stage {
    *stage.desk.goes.lock().unwrap() = goes.into();
    stage
}

#[tokio::test]
async fn words_of_the_operator_reach_the_next_turn_and_are_on_record() {
    let lines = vec![calls(&[("git__log", r#"{"path":"x"}"#)]), text("done")];
    let stage = steered(Stage::new(lines), vec![GoAhead::default(), guided("be brief")]);
    assert_eq!(stage.run().await, plain(json!("done")));
    let requests = stage.requests();
    let said = "The operator says, and it goes before everything else here:\nbe brief";
    assert!(!user(&requests[0]).contains("be brief"));
    assert_eq!(requests[1].messages.last(), Some(&ChatMessage::User { content: said.into() }));
    assert!(stage.desk.log.lock().unwrap().contains(&format!("user: {said}")));
    assert_eq!(*stage.desk.asked.lock().unwrap(), 2, "each model call is asked about, once");
}

#[tokio::test]
async fn a_stopped_agent_hands_back_what_it_has_in_one_turn_without_tools() {
    let lines = vec![calls(&[("git__log", r#"{"path":"x"}"#)]), text("half of it")];
    let stage = steered(Stage::new(lines), vec![GoAhead::default(), stopped()]);
    assert_eq!(stage.run().await, done(json!("half of it"), Mark::Stopped));
    let last = stage.requests().pop().unwrap();
    assert!(last.tools.is_empty());
    assert!(matches!(last.messages.last(), Some(ChatMessage::User { content }) if content.contains("the operator stopped the node")));
    let empty = steered(Stage::new(vec![text("")]), vec![stopped()]);
    assert!(matches!(empty.run().await, Err(error) if error.message.contains("gave no result")));
}

#[tokio::test]
async fn a_stop_ends_an_answer_that_goes_on_and_keeps_what_was_said() {
    let mut stage = Stage::new(vec![Line::Hang]);
    stage.desk.overdue = true;
    assert_eq!(stage.run().await, done(json!("so far"), Mark::Stopped));
    let called = stage.desk.calls.lock().unwrap().pop().unwrap();
    assert!(called.estimated && called.usage.prompt > 0 && called.usage.completion > 0, "{called:?}");
}

#[tokio::test]
async fn the_deep_reasoner_listens_and_stops_between_its_stages() {
    let deep = |lines, goes| {
        let mut stage = steered(Stage::new(lines), goes);
        let kind = CardKind::Class(Class::DeepReasoner);
        stage.execution.card = Arc::new(Card { kind, ..(*stage.execution.card).clone() });
        stage.job.max_iterations = 6;
        stage
    };
    let lines = vec![text("1. Why is it?\n2. What then?"), text("so"), text("thus"), text("weak"), text("the answer")];
    let stage = deep(lines, vec![GoAhead::default(), guided("in metres")]);
    assert_eq!(stage.run().await, plain(json!("the answer")));
    let told: Vec<bool> = stage.requests().iter().map(|request| user(request).contains("in metres")).collect();
    assert_eq!(told, [false, true, true, true, true]);
    let stage = deep(vec![text("1. Why is it?\n2. What then?"), text("as far as I came")], vec![GoAhead::default(), stopped()]);
    assert_eq!(stage.run().await, done(json!("as far as I came"), Mark::Stopped));
    assert_eq!(*stage.desk.asked.lock().unwrap(), 2);
}

#[tokio::test]
async fn what_people_say_while_the_model_picks_its_context_reaches_the_agent() {
    let stage = steered(selecting(vec![text(r#"{"relevant": ["a"]}"#), text("done")]), vec![guided("only facts")]);
    assert_eq!(stage.run().await, plain(json!("done")));
    let requests = stage.requests();
    assert!(
        !user(&requests[0]).contains("only facts")
            && requests[1]
                .messages
                .iter()
                .any(|message| { matches!(message, ChatMessage::User { content } if content.contains("only facts")) })
    );
}

#[tokio::test]
async fn without_an_answer_of_a_person_there_is_no_result() {
    let mut stage = Stage::new(vec![]);
    stage.execution.responder = Responder::Operator;
    assert!(matches!(stage.run().await, Err(NodeError { kind: ErrorKind::Rejected, message, .. }) if message == "nobody answers"));
}
