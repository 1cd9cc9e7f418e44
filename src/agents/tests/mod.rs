//! The agent loop against a scripted model and a port that records everything.

mod limits;
mod material;
mod people;
mod reasoner;
mod turns;

use super::*;
use crate::engine::{
    AgentJob, Dep, Done, ErrorKind, Mark, MessageRole, NodeError, NodeState, OPERATOR, Provenance, TokenUsage, TryVerdict,
};
use crate::models::{
    CallRequest, ChatAnswer, ChatMessage, ChatModel, ChatRequest, Delta, Finish, ModelError, ModelErrorKind, ModelSettings,
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
enum AgentLine {
    Reply(ChatAnswer),
    Error(ModelError),
    Hang,
    Thought(&'static str, Box<AgentLine>),
    /// Thinks aloud, breaks off, and is sent again.
    Restarted(&'static str, Box<AgentLine>),
    /// Uses the output cap to the last token.
    Fill,
    /// Says the first once, and the second without an end.
    Endless(&'static str, &'static str),
}

struct AgentScript {
    provider: String,
    lines: Mutex<VecDeque<AgentLine>>,
    requests: Mutex<Vec<ChatRequest>>,
}

#[async_trait]
impl ChatModel for AgentScript {
    fn provider(&self) -> &str {
        &self.provider
    }

    async fn chat(&self, request: &ChatRequest, sink: &mut (dyn FnMut(Delta) + Send)) -> Result<ChatAnswer, ModelError> {
        self.requests.lock().unwrap().push(request.clone());
        let mut line = self.lines.lock().unwrap().pop_front().expect("the script is over");
        if let AgentLine::Thought(thought, then) = line {
            sink(Delta::Reasoning(thought.to_owned()));
            line = *then;
        }
        if let AgentLine::Restarted(thought, then) = line {
            sink(Delta::Reasoning(thought.to_owned()));
            sink(Delta::Restart { why: "it broke".to_owned(), usage: None });
            line = *then;
        }
        match line {
            AgentLine::Thought(..) | AgentLine::Restarted(..) => unreachable!(),
            AgentLine::Reply(reply) => {
                for word in reply.text.split_inclusive(' ') {
                    sink(Delta::Text(word.to_owned()));
                }
                Ok(reply)
            }
            AgentLine::Error(error) => Err(error),
            AgentLine::Fill => {
                let cap = request.settings.max_tokens.unwrap();
                let prompt = tokens::of_messages(&request.messages) + tokens::of_offers(&request.tools);
                let AgentLine::Reply(reply) = text(&"z ".repeat(usize::try_from(cap).unwrap())) else { unreachable!() };
                Ok(ChatAnswer { usage: TokenUsage::of(prompt, cap), finish: Finish::Length, ..reply })
            }
            AgentLine::Endless(first, then) => {
                sink(Delta::Text(first.to_owned()));
                loop {
                    sink(Delta::Text(then.to_owned()));
                    tokio::task::yield_now().await;
                }
            }
            AgentLine::Hang => {
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
    thoughts: Mutex<String>,
    tools: Mutex<Vec<ToolCall>>,
    questions: Mutex<Vec<Question>>,
    answers: Mutex<VecDeque<Value>>,
    calls: Mutex<Vec<ModelCall>>,
    /// What people say before each model call, in turn.
    goes: Mutex<VecDeque<GoAhead>>,
    asked: Mutex<usize>,
    needs: Mutex<Vec<CallNeed>>,
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
            "broken" => ToolReply::Failed(NodeError::permanent("it broke")),
            _ => ToolReply::Value(json!({ "said": call.args })),
        }
    }

    async fn ask(&self, question: Question) -> Result<Value, Refusal> {
        self.questions.lock().unwrap().push(question);
        self.answers.lock().unwrap().pop_front().ok_or_else(|| Refusal("nobody answers".to_string()))
    }

    async fn model(&self, _model: &str, need: Option<CallNeed>) -> Result<GoAhead, Refusal> {
        self.needs.lock().unwrap().extend(need);
        *self.asked.lock().unwrap() += 1;
        Ok(self.goes.lock().unwrap().pop_front().unwrap_or_default())
    }

    fn model_called(&self, call: ModelCall) {
        self.calls.lock().unwrap().push(call);
    }

    fn thought(&self, text: &str) {
        self.thoughts.lock().unwrap().push_str(text);
    }

    fn plan_wanted(&self, why: &str) {
        self.note("plan wanted", why);
    }

    fn note(&self, _: &str, text: &str) {
        self.notes.lock().unwrap().push(text.to_owned());
    }

    fn asks(&self, _: ModelCall, _: u64) {}

    fn hears(&self, _: u64, _: &str) {}

    fn message(&self, role: MessageRole, content: &str) {
        self.log.lock().unwrap().push(format!("{}: {content}", role.word()));
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

fn text(text: &str) -> AgentLine {
    spent(text, 100)
}

fn spent(text: &str, tokens: u64) -> AgentLine {
    AgentLine::Reply(ChatAnswer { text: text.into(), usage: TokenUsage::of(tokens, 0), model: "m".into(), ..ChatAnswer::default() })
}

fn calls(list: &[(&str, &str)]) -> AgentLine {
    let requests = list.iter().enumerate().map(|(at, (name, args))| CallRequest {
        id: format!("c{at}"),
        name: (*name).into(),
        arguments: (*args).into(),
        signature: None,
    });
    let AgentLine::Reply(reply) = text("") else { unreachable!() };
    AgentLine::Reply(ChatAnswer { calls: requests.collect(), finish: Finish::ToolCalls, ..reply })
}

fn fails(kind: ModelErrorKind) -> AgentLine {
    fails_for(kind, TryVerdict::After { ms: 7 })
}

fn fails_for(kind: ModelErrorKind, verdict: TryVerdict) -> AgentLine {
    AgentLine::Error(ModelError::new(kind, verdict, "no").hint("try"))
}

fn tool(name: &str, risk: Risk) -> ToolInfo {
    let input_schema = json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] });
    ToolInfo { name: name.into(), description: name.into(), input_schema, risk, verdict: Verdict::Allow, reach: None }
}

struct AgentStage {
    job: AgentJob,
    deps: Vec<Dep>,
    execution: Execution,
    script: Arc<AgentScript>,
    desk: Desk,
}

impl AgentStage {
    fn new(lines: Vec<AgentLine>) -> Self {
        Self::with(lines, "server")
    }

    fn with(lines: Vec<AgentLine>, provider: &str) -> Self {
        let script = Arc::new(AgentScript { provider: provider.into(), lines: Mutex::new(lines.into()), requests: Mutex::default() });
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

fn reply_of(line: AgentLine) -> ChatAnswer {
    let AgentLine::Reply(reply) = line else { unreachable!() };
    reply
}

fn routes(stage: AgentStage, routes: &[&str]) -> AgentStage {
    let routes = routes.iter().map(|route| (*route).to_owned()).collect();
    AgentStage { job: AgentJob { routes, ..stage.job.clone() }, ..stage }
}

fn rehearsing(mut stage: AgentStage) -> AgentStage {
    stage.execution.responder = Responder::Rehearsal;
    stage
}

fn selecting(lines: Vec<AgentLine>) -> AgentStage {
    let mut stage =
        AgentStage::new(lines).depends_on(&[("bees", json!("they hum")), ("cars", json!("they honk")), ("law", json!("a lot"))]);
    stage.job.context = Some(ContextMode::Selected);
    stage
}

fn user(request: &ChatRequest) -> String {
    let ChatMessage::User { content } = request.messages[1].clone() else { panic!("a user's message") };
    content
}

fn guided(words: &str) -> GoAhead {
    GoAhead { guidance: vec![words.into()], ..GoAhead::default() }
}

fn stopped() -> GoAhead {
    GoAhead { wrap_up: true, ..GoAhead::default() }
}

fn steered(stage: AgentStage, goes: Vec<GoAhead>) -> AgentStage {
    *stage.desk.goes.lock().unwrap() = goes.into();
    stage
}
