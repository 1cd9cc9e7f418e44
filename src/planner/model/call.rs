//! One model call of planning: what is sent, the nodes as they come, and what it took.

use std::time::Instant;

use super::{ModelPlanner, PlanningRequest, read, scan, schema, schema::Ids};
use crate::engine::{ModelCall, TokenUsage};
use crate::models::{ChatAnswer, ChatMessage, ChatRequest, Delta, ModelError, ModelErrorKind, ModelSettings, tokens};
use crate::plan::{Edge, Node};
use crate::planner::PlanSink;

/// Most tokens of an answer: of `MOST_FREE` nodes with some thinking before, and of a few short ones.
const CAP_FREE: u64 = 8_192;
const CAP_POSITIONAL: u64 = 1_500;
/// Plans are to be the likeliest, unless several are wanted.
const TEMPERATURE: f64 = 0.2;
const RIVAL_TEMPERATURE: f64 = 0.8;

/// One answer of the model.
#[derive(Default)]
pub(super) struct ModelAnswer {
    pub nodes: Vec<Node>,
    /// Its `edges`, for models that write them apart.
    pub edges: Vec<Edge>,
    /// The number of the past plan that it follows, as it says.
    pub follows: Option<usize>,
    /// Why it ended before its end.
    pub cut: Option<ModelError>,
}

/// Asks once. Nodes go to the sink as they close, and what each send took to the planner.
///
/// # Errors
/// When nothing came that could be a plan.
pub(super) async fn ask(
    planner: &ModelPlanner<'_>,
    wanted: &PlanningRequest<'_>,
    (messages, ids): (&[ChatMessage], Ids),
    sink: &mut dyn PlanSink,
) -> Result<ModelAnswer, ModelError> {
    let request = ChatRequest {
        model: planner.name.to_owned(),
        messages: messages.to_vec(),
        schema: Some(schema::plan_schema(wanted.catalog, ids, wanted.past().len())),
        settings: settings(&planner.settings, ids, wanted.rival),
        ..ChatRequest::default()
    };
    let mut bill = Bill {
        planner,
        prompt: tokens::count_prompt(&request),
        since: Instant::now(),
        told: TokenUsage::default(),
        written: 0,
        is_open: true,
    };
    let mut scanner = scan::AnswerScanner::default();
    let mut nodes: Vec<Node> = Vec::new();
    let mut take = |delta: Delta| match delta {
        Delta::Text(text) => {
            bill.written += tokens::count(&text);
            for value in scanner.push(&text) {
                if let Some(node) = read::node(&value, nodes.len() + 1) {
                    sink.node(node.clone());
                    nodes.push(node);
                }
            }
        }
        Delta::Reasoning(text) => bill.written += tokens::count(&text),
        Delta::Call | Delta::Otherwise { .. } => {}
        Delta::Waits { why } => sink.progress(&why),
        Delta::Restart { why, usage } => {
            bill.broken(usage);
            scanner = scan::AnswerScanner::default();
            nodes.clear();
            sink.progress(&format!("starting over: {why}"));
        }
    };
    let outcome = planner.model.chat(&request, &mut take).await;
    bill.is_open = false;
    match outcome {
        Ok(reply) => {
            bill.answered(&reply);
            Ok(ModelAnswer { nodes, edges: read::edges(&reply.text), follows: read::follows(&reply.text), cut: None })
        }
        Err(error) => {
            use ModelErrorKind::{CutStream, Nonsense, Refused, Timeout};
            // A server that turned the request away did no work for it.
            if error.usage.is_some() || bill.written > 0 || matches!(error.kind, Nonsense | Refused | CutStream | Timeout) {
                let told = bill.told;
                bill.broken(error.usage.map(|usage| usage.without(told)).filter(|usage| *usage != TokenUsage::default()));
            }
            match error.kind {
                Nonsense => Ok(ModelAnswer { nodes, cut: Some(error), ..ModelAnswer::default() }),
                CutStream | Timeout if !nodes.is_empty() => Ok(ModelAnswer { nodes, cut: Some(error), ..ModelAnswer::default() }),
                _ => Err(error),
            }
        }
    }
}

fn settings(wanted: &ModelSettings, ids: Ids, rival: u32) -> ModelSettings {
    let cap = match ids {
        Ids::Free => CAP_FREE,
        Ids::Positional => CAP_POSITIONAL,
    };
    let temperature = if rival == 0 { TEMPERATURE } else { RIVAL_TEMPERATURE };
    ModelSettings {
        max_tokens: wanted.max_tokens.or(Some(cap)),
        temperature: wanted.temperature.or(Some(temperature)),
        // The same seed would give the same plan again.
        seed: wanted.seed.map(|seed| seed + i64::from(rival)),
        ..wanted.clone()
    }
}

/// What the sends of a call took.
struct Bill<'a> {
    planner: &'a ModelPlanner<'a>,
    prompt: u64,
    since: Instant,
    /// What was reported of answers that were no use; the reply has it too.
    told: TokenUsage,
    /// Tokens of the answer under way, counted here.
    written: u64,
    /// Whether the call is still under way.
    is_open: bool,
}

/// A planning that is stopped has taken what was sent and said.
impl Drop for Bill<'_> {
    fn drop(&mut self) {
        if self.is_open {
            self.broken(None);
        }
    }
}

impl Bill<'_> {
    fn answered(&mut self, reply: &ChatAnswer) {
        let model = if reply.model.is_empty() { self.planner.name } else { &reply.model };
        let is_first = self.told == TokenUsage::default();
        let call = self.call(model, reply.usage.without(self.told), reply.finish.word());
        // A price that the reply carries is of all that was sent.
        let cost_usd = reply.cost_usd.filter(|_| is_first).or(call.cost_usd);
        self.planner.taken().push(ModelCall { estimated: reply.estimated, cost_usd, ..call });
    }

    /// A send that gave nothing whole: what the provider reported, else what is counted here.
    fn broken(&mut self, reported: Option<TokenUsage>) {
        self.told.add(reported.unwrap_or_default());
        let written = std::mem::take(&mut self.written);
        let call = self.call(self.planner.name, reported.unwrap_or_else(|| TokenUsage::of(self.prompt, written)), "failed");
        self.planner.taken().push(ModelCall { estimated: reported.is_none(), ..call });
    }

    fn call(&mut self, model: &str, usage: TokenUsage, finish: &str) -> ModelCall {
        let now = Instant::now();
        let duration_ms = u64::try_from(now.duration_since(std::mem::replace(&mut self.since, now)).as_millis()).unwrap_or(u64::MAX);
        tracing::info!(provider = self.planner.model.provider(), model, ?usage, finish, duration_ms, "a model was asked to plan");
        ModelCall {
            model: model.to_owned(),
            provider: self.planner.model.provider().to_owned(),
            usage,
            estimated: false,
            cost_usd: self.planner.prices.cost(model, usage),
            duration_ms,
            finish: finish.to_owned(),
            id: String::new(),
        }
    }
}
