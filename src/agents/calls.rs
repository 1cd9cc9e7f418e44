//! Tool calls of one reply: each is checked, decided alone through the port, and answered to the model.

use futures::future::join_all;
use serde_json::{Map, Value};

use super::attempt::call_id;
use super::offers::{ASK_OPERATOR, Offers, REQUEST_REPLAN, RETURN_RESULT};
use super::{Port, Question, ToolReply, answer};
use crate::engine::ToolCall;
use crate::models::CallRequest;
use crate::plan::{Risk, dialect::exact_json, value_text};

/// What came of one call.
pub(super) enum CallOutcome {
    /// Words for the model; the call did what was asked.
    Reply(String),
    /// Words for the model; the call was wrong, refused, or failed.
    Wrong(String),
    /// The agent hands in its result.
    Result(Value),
}

/// What a call asks for.
enum WantedCall {
    Tool(ToolCall, Risk),
    Ask(Question),
    Replan(String),
    Result(Value),
    Invalid(String),
}

/// How often the same call is made before it is refused.
const MOST_REPEATS: u32 = 2;

/// The calls of one conversation, each with its arguments and how often it was asked for.
#[derive(Default)]
pub(super) struct MadeCalls(Vec<(String, Value, u32)>);

impl MadeCalls {
    /// How often this call was asked for, this time included.
    fn count(&mut self, tool: &str, args: &Value) -> u32 {
        match self.0.iter_mut().find(|(name, made, _)| name == tool && made == args) {
            Some((_, _, count)) => {
                *count += 1;
                *count
            }
            None => {
                self.0.push((tool.to_owned(), args.clone(), 1));
                1
            }
        }
    }

    /// Whether a call is asked for that was refused as a repeated one before.
    pub fn insists(&self) -> bool {
        self.0.iter().any(|(_, _, count)| *count > MOST_REPEATS + 1)
    }
}

/// Whether anything was done that changes the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SideEffect {
    None,
    Perhaps,
}

/// Carries out the calls of one reply: together when all of them only read, else one after the other.
pub(super) async fn carry_out(
    calls: &[CallRequest],
    offers: &Offers,
    made: &mut MadeCalls,
    port: &dyn Port,
) -> (Vec<CallOutcome>, SideEffect) {
    let wanted: Vec<WantedCall> = calls.iter().map(|call| understand(call, offers, made)).collect();
    let changes = |wanted: &WantedCall| matches!(wanted, WantedCall::Tool(_, risk) if *risk > Risk::Network);
    let trace = if wanted.iter().any(changes) { SideEffect::Perhaps } else { SideEffect::None };
    let together = !wanted.iter().any(|wanted| changes(wanted) || matches!(wanted, WantedCall::Ask(_)));
    if together {
        return (join_all(wanted.into_iter().map(|wanted| carry_out_one(wanted, port))).await, trace);
    }
    let mut outcomes = Vec::with_capacity(wanted.len());
    for wanted in wanted {
        outcomes.push(carry_out_one(wanted, port).await);
    }
    (outcomes, trace)
}

async fn carry_out_one(wanted: WantedCall, port: &dyn Port) -> CallOutcome {
    match wanted {
        WantedCall::Invalid(message) => CallOutcome::Wrong(format!("error: {message}")),
        WantedCall::Result(value) => CallOutcome::Result(value),
        WantedCall::Replan(reason) => {
            port.plan_wanted(&reason);
            CallOutcome::Reply("noted: a new plan is proposed once this step has ended; finish it with what you have".to_owned())
        }
        WantedCall::Ask(question) => match port.ask(question).await {
            Ok(answer) => CallOutcome::Reply(value_text(&answer)),
            Err(message) => CallOutcome::Wrong(format!("refused: {message}")),
        },
        WantedCall::Tool(call, _) => match port.tool(call).await {
            ToolReply::Value(value) => CallOutcome::Reply(value_text(&value)),
            ToolReply::Failed(error) => CallOutcome::Wrong(format!("error: {}", error.message)),
            ToolReply::Refused(message) => CallOutcome::Wrong(format!("refused: {message}")),
        },
    }
}

fn understand(call: &CallRequest, offers: &Offers, made: &mut MadeCalls) -> WantedCall {
    let args = match arguments(&call.arguments) {
        Ok(args) => args,
        Err(message) => {
            made.count(&call.name, &Value::from(call.arguments.as_str()));
            return WantedCall::Invalid(message);
        }
    };
    match call.name.as_str() {
        RETURN_RESULT => match args.get("result") {
            Some(value) => WantedCall::Result(value.clone()),
            None => WantedCall::Invalid("`return_result` needs the argument `result`".to_owned()),
        },
        ASK_OPERATOR => question(&args),
        REQUEST_REPLAN => match args.get("reason").and_then(Value::as_str).filter(|reason| !reason.trim().is_empty()) {
            Some(reason) => WantedCall::Replan(reason.trim().to_owned()),
            None => WantedCall::Invalid("`request_replan` needs the argument `reason`, a text".to_owned()),
        },
        name => {
            let Some(tool) = offers.tool(name) else {
                made.count(name, &Value::Object(args));
                return WantedCall::Invalid(format!("there is no tool `{name}`; the tools are: {}", offers.names()));
            };
            let args = Value::Object(args);
            match answer::argument_faults(&tool.input_schema, &args) {
                Some(faults) => {
                    made.count(&tool.name, &args);
                    WantedCall::Invalid(format!("wrong arguments for `{name}`: {faults}"))
                }
                None if made.count(&tool.name, &args) > MOST_REPEATS => WantedCall::Invalid(format!(
                    "not made: `{name}` was called {MOST_REPEATS} times with the same arguments; use what it gave, or do something else"
                )),
                None => WantedCall::Tool(ToolCall { id: call_id(), tool: tool.name.clone(), args }, tool.risk),
            }
        }
    }
}

fn arguments(text: &str) -> Result<Map<String, Value>, String> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    match exact_json(text) {
        Ok(Value::Object(args)) => Ok(args),
        Ok(_) => Err("the arguments are not a JSON object; send one object with the arguments by name".to_owned()),
        Err(error) => Err(format!("the arguments are not JSON ({error}); send one JSON object with the arguments by name")),
    }
}

fn question(args: &Map<String, Value>) -> WantedCall {
    let Some(text) = args.get("question").and_then(Value::as_str).filter(|text| !text.trim().is_empty()) else {
        return WantedCall::Invalid("`ask_operator` needs the argument `question`, a text".to_owned());
    };
    let options = args.get("options").and_then(Value::as_array).map(|list| list.iter().map(value_text).collect()).unwrap_or_default();
    WantedCall::Ask(Question { call: call_id(), text: text.to_owned(), options, fields: Vec::new(), payload: Value::Null })
}
