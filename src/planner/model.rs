//! A plan by a model: asked for with a schema, streamed node by node, checked, corrected by the model at most twice, then once more
//! asked for with numbered ids, which leave less room for error. What is still wrong after that opens in the editor; nothing that
//! the model made is thrown away.

mod check;
mod edges;
mod prompt;
mod read;
mod scan;
mod schema;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

pub use schema::Ids;

use super::{PlanSink, Planned};
use crate::engine::{PLANNED_BY, TryVerdict};
use crate::models::config::AUTO;
use crate::models::{ChatMessage, ChatModel, ChatRequest, Delta, ModelError, ModelErrorKind, ModelSettings};
use crate::plan::{Catalog, Node, Plan, native};

/// Rounds in which the model corrects its plan.
const CORRECTIONS: usize = 2;
/// Added edges that are remarked one by one.
const EDGES_REMARKED: usize = 4;

/// Who plans, and how it is asked.
pub struct ModelPlanner<'a> {
    pub model: &'a dyn ChatModel,
    /// Its name, as the provider knows it.
    pub name: &'a str,
    pub settings: ModelSettings,
    /// How nodes are named at first; free ids fall back to positional ones.
    pub ids: Ids,
}

/// Asks a model for a plan. The plan may still have findings.
///
/// # Errors
/// When the model can't be asked, or gave nothing that could be a plan.
pub async fn plan_by_model(
    planner: &ModelPlanner<'_>,
    request: &str,
    catalog: &Catalog,
    inputs: &Map<String, Value>,
    sink: &mut dyn PlanSink,
) -> Result<Planned, ModelError> {
    let mut session = PlanningSession {
        planner,
        request,
        catalog,
        inputs,
        sink,
        best: None,
        corrections: 0,
        origin: planner.name.to_owned(),
        failure: None,
    };
    // Numbered ids are the last resort: a model that could not correct its plan twice is not asked for corrections again.
    let ways = match planner.ids {
        Ids::Free => [(Ids::Free, CORRECTIONS), (Ids::Positional, 0)].as_slice(),
        Ids::Positional => &[(Ids::Positional, CORRECTIONS)],
    };
    for (ids, corrections) in ways {
        match session.rounds(*ids, *corrections).await {
            Ok(PlanVerdict::Good) => break,
            Ok(PlanVerdict::Wrong) => {}
            Err(error) => {
                session.failure = Some(error);
                break;
            }
        }
    }
    session.finish()
}

/// Whether a plan can run.
#[derive(PartialEq, Eq)]
enum PlanVerdict {
    Good,
    Wrong,
}

/// What the model hears when its answer ended before its end.
const CUT: &str = "the answer ended before its end: be brief, and answer in JSON only";

/// A plan with what is wrong with it.
struct PlanDraft {
    plan: Plan,
    faults: Vec<String>,
    /// Whether the answer ended before its end, so that steps may be missing.
    is_cut: bool,
    /// Edges that were added.
    remarks: Vec<String>,
}

/// One answer of the model.
#[derive(Default)]
struct ModelAnswer {
    nodes: Vec<Node>,
    /// Its `edges`, for models that write them apart.
    edges: Vec<(String, String)>,
    /// Why it ended before its end.
    cut: Option<ModelError>,
}

struct PlanningSession<'a> {
    planner: &'a ModelPlanner<'a>,
    request: &'a str,
    catalog: &'a Catalog,
    inputs: &'a Map<String, Value>,
    sink: &'a mut dyn PlanSink,
    /// The draft with the fewest faults.
    best: Option<PlanDraft>,
    corrections: usize,
    /// The model's name for people.
    origin: String,
    failure: Option<ModelError>,
}

impl PlanningSession<'_> {
    /// Asks, checks, has corrected.
    async fn rounds(&mut self, ids: Ids, corrections: usize) -> Result<PlanVerdict, ModelError> {
        let mut messages = prompt::messages(self.request, self.catalog, self.inputs, ids);
        let opening = messages.len();
        let name = self.planner.name;
        let form = if ids == Ids::Positional { "a plan with numbered steps" } else { "a plan" };
        self.sink.progress(&format!("asking `{name}` for {form}"));
        for round in 0..=corrections {
            let answer = self.ask(&messages, ids).await?;
            let broken = answer.cut.clone().filter(|error| error.kind != ModelErrorKind::Nonsense);
            self.corrections += usize::from(round > 0);
            let draft = self.draft(answer);
            let (said, faults) = (draft.as_answer(), draft.faults_for_model());
            self.keep(draft);
            // The client has tried again already where that can help; a person who waited that long gets what there is.
            if let Some(error) = broken {
                return Err(error);
            }
            if faults.is_empty() {
                return Ok(PlanVerdict::Good);
            }
            if round < corrections {
                self.sink.progress(&format!("`{name}` corrects its plan, round {} of {corrections}: {}", round + 1, faults[0]));
                // Only the latest attempt goes back, so that the prompt doesn't grow with each round.
                messages.truncate(opening);
                messages.push(ChatMessage::Assistant { content: said, calls: Vec::new() });
                messages.push(prompt::correction(&faults));
            }
        }
        Ok(PlanVerdict::Wrong)
    }

    /// One call. Nodes go to the sink as they close.
    async fn ask(&mut self, messages: &[ChatMessage], ids: Ids) -> Result<ModelAnswer, ModelError> {
        let request = ChatRequest {
            model: self.planner.name.to_owned(),
            messages: messages.to_vec(),
            schema: Some(schema::plan_schema(self.catalog, ids)),
            settings: self.planner.settings.clone(),
            ..ChatRequest::default()
        };
        let mut scanner = scan::AnswerScanner::default();
        let mut nodes: Vec<Node> = Vec::new();
        let sink = &mut *self.sink;
        let mut take = |delta: Delta| match delta {
            Delta::Text(text) => {
                for value in scanner.push(&text) {
                    if let Some(node) = read::node(&value, nodes.len() + 1) {
                        sink.node(node.clone());
                        nodes.push(node);
                    }
                }
            }
            Delta::Reasoning(_) => {}
            Delta::Restart { why } => {
                scanner = scan::AnswerScanner::default();
                nodes.clear();
                sink.progress(&format!("starting over: {why}"));
            }
        };
        let outcome = self.planner.model.chat(&request, &mut take).await;
        match outcome {
            Ok(reply) => {
                // Where the server chose the model, people want to know which one it was.
                if self.planner.name == AUTO {
                    self.origin.clone_from(&reply.model);
                }
                Ok(ModelAnswer { nodes, edges: read::edges(&reply.text), cut: None })
            }
            Err(error) => match error.kind {
                ModelErrorKind::Nonsense => Ok(ModelAnswer { nodes, cut: Some(error), ..ModelAnswer::default() }),
                ModelErrorKind::CutStream | ModelErrorKind::Timeout if !nodes.is_empty() => {
                    Ok(ModelAnswer { nodes, cut: Some(error), ..ModelAnswer::default() })
                }
                _ => Err(error),
            },
        }
    }

    fn draft(&mut self, answer: ModelAnswer) -> PlanDraft {
        let ModelAnswer { nodes, edges, cut } = answer;
        let mut plan = Plan { goal: self.request.to_owned(), inputs: self.inputs.clone(), nodes, ..Plan::default() };
        edges::add_written(&mut plan, &edges);
        let remarks = edges::add_implied(&mut plan);
        let faults = check::faults(&plan, self.catalog);
        let is_cut = cut.is_some();
        self.failure = cut.or(self.failure.take());
        PlanDraft { plan, faults, is_cut, remarks }
    }

    /// Keeps the better draft: a plan without nodes is none; else fewer faults, else the later one.
    fn keep(&mut self, draft: PlanDraft) {
        let better = match &self.best {
            Some(best) => draft.faults_for_model().len() <= best.faults_for_model().len(),
            None => true,
        };
        if better && !draft.plan.nodes.is_empty() {
            self.best = Some(draft);
        }
    }

    fn finish(self) -> Result<Planned, ModelError> {
        let Some(PlanDraft { mut plan, faults, is_cut, remarks: added }) = self.best else {
            return Err(self.failure.unwrap_or_else(|| {
                let message = format!("`{}` answered with a plan without any nodes", self.planner.name);
                ModelError::new(ModelErrorKind::Nonsense, TryVerdict::Never, message)
                    .hint("say more of what should be done, or choose a larger model")
            }));
        };
        plan.metadata.insert(PLANNED_BY.to_owned(), Value::from(self.origin.as_str()));
        let mut remarks: Vec<String> = added.iter().take(EDGES_REMARKED).cloned().collect();
        if added.len() > EDGES_REMARKED {
            remarks.push(format!("{} more edges were added for references", added.len() - EDGES_REMARKED));
        }
        match self.corrections {
            0 => {}
            1 => remarks.push("the model corrected its plan once".to_owned()),
            times => remarks.push(format!("the model corrected its plan {times} times")),
        }
        if !faults.is_empty() {
            let more = if faults.len() > 1 { format!(", and {} more", faults.len() - 1) } else { String::new() };
            remarks.push(format!("the plan can't run yet: {}{more}", faults[0]));
        }
        if let Some(error) = self.failure.filter(|_| is_cut || !faults.is_empty()) {
            let lack = if is_cut { "steps may be missing: " } else { "" };
            remarks.push(format!("{lack}{}", error.message));
        }
        Ok(Planned { plan, origin: self.origin, remarks })
    }
}

impl PlanDraft {
    /// What the model hears about it.
    fn faults_for_model(&self) -> Vec<String> {
        self.is_cut.then(|| CUT.to_owned()).into_iter().chain(self.faults.iter().cloned()).collect()
    }

    /// The plan as the model would have written it, for the next round: only what was understood, in the usual form.
    fn as_answer(&self) -> String {
        let nodes: Vec<Value> = self.plan.nodes.iter().map(native::node_to_value).collect();
        serde_json::json!({ "nodes": nodes }).to_string()
    }
}
