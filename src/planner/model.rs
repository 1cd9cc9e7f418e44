//! A plan by a model: asked for with a schema, streamed node by node, checked, corrected by the model at most twice, then once more
//! asked for with numbered ids, which leave less room for error. What is still wrong after that opens in the editor; nothing that
//! the model made is thrown away. At most four requests in all.

mod arguments;
mod call;
mod check;
mod edges;
mod example;
mod prompt;
mod read;
mod scan;
mod schema;
mod small;
#[cfg(test)]
mod tests;
mod under_way;
mod workspace;

use serde_json::{Map, Value};
use std::sync::{Mutex, MutexGuard, PoisonError};

use call::ModelAnswer;
pub use schema::Ids;
pub use small::is_small;
pub use workspace::describe as describe_workspace;

use super::{PlanSink, Planned};
use crate::engine::{ModelCall, PLANNED_BY, RunBrief, TryVerdict};
use crate::models::config::AUTO;
use crate::models::prices::Prices;
use crate::models::{ChatMessage, ChatModel, ModelError, ModelErrorKind, ModelSettings};
use crate::plan::{Catalog, Plan};

/// Requests for one plan, whatever becomes of their answers.
const MOST_REQUESTS: usize = 4;
/// Rounds in which the model corrects its plan.
const CORRECTIONS: usize = 2;
/// Added edges that are remarked one by one.
const EDGES_REMARKED: usize = 4;
/// What rivals are asked for beyond the first, so that there is something to choose between.
const WAYS: [&str; 4] = [
    "Make this plan with as few nodes as possible.",
    "Make this plan with as much as possible at the same time.",
    "Make this plan with tools and code wherever they can do the work of an agent.",
    "Make this plan as careful as possible: check results before they are used.",
];

/// Who plans, and how it is asked.
pub struct ModelPlanner<'a> {
    pub model: &'a dyn ChatModel,
    /// Its name, as the provider knows it.
    pub name: &'a str,
    pub settings: ModelSettings,
    pub prices: &'a Prices,
    /// How nodes are named at first; free ids fall back to positional ones.
    pub ids: Ids,
    /// What every call took so far, also of those whose answer was no use.
    pub taken: Mutex<Vec<ModelCall>>,
}

impl ModelPlanner<'_> {
    pub fn taken(&self) -> MutexGuard<'_, Vec<ModelCall>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is wanted, and what there is to plan with.
pub struct PlanningRequest<'a> {
    /// The request in a person's words.
    pub text: &'a str,
    /// Agents and tools that can be used.
    pub catalog: &'a Catalog,
    pub inputs: &'a Map<String, Value>,
    pub surroundings: &'a Surroundings,
    /// The plan of the request before, which has not run: this request may go on from it.
    pub before: Option<&'a Plan>,
    /// Which of several plans for the same request this is, from 0.
    pub rival: u32,
    /// The run whose plan is made anew from here on.
    pub under_way: Option<&'a RunBrief>,
    /// The goal of the run that has ended, whose results are the inputs.
    pub after: Option<&'a str>,
}

impl PlanningRequest<'_> {
    /// Plans that worked for similar requests; none where a plan is changed.
    fn past(&self) -> &[PastPlan] {
        if self.before.is_some() { &[] } else { &self.surroundings.past }
    }

    /// What makes this rival another one.
    fn way(&self) -> Option<&'static str> {
        let at = usize::try_from(self.rival.checked_sub(1)?).ok()?;
        WAYS.get(at % WAYS.len()).copied()
    }
}

/// What is known of day and place.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// `Friday, 2026-03-06`
    pub today: String,
    /// Lines about the workspace, each with its end.
    pub workspace: String,
    /// Plans that worked for similar requests, the best first.
    pub past: Vec<PastPlan>,
}

/// A plan that worked for a similar request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PastPlan {
    /// Its run, with how it ended and what it took, for people.
    pub label: String,
    pub request: String,
    /// A node a line.
    pub outline: String,
}

/// Asks a model for a plan. The plan may still have findings.
///
/// # Errors
/// When the model can't be asked, or gave nothing that could be a plan; with what the calls took.
pub async fn plan_by_model(
    planner: &ModelPlanner<'_>,
    request: &PlanningRequest<'_>,
    sink: &mut dyn PlanSink,
) -> Result<Planned, (ModelError, Vec<ModelCall>)> {
    let mut session = PlanningSession { planner, request, sink, best: None, corrections: 0, why: None, failure: None };
    // Numbered ids are the last resort: a model that could not correct its plan twice is not asked for corrections again.
    let ways = match planner.ids {
        // Numbers would name other nodes than those that have run.
        _ if request.under_way.is_some() => [(Ids::Free, CORRECTIONS)].as_slice(),
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
    session.finish().map_err(|failed| *failed)
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
    /// The model's own part of it, as it would write that again.
    said: String,
    ids: Ids,
    faults: Vec<String>,
    /// Whether the answer ended before its end, so that steps may be missing.
    is_cut: bool,
    /// Edges that were added.
    remarks: Vec<String>,
    /// The number of the past plan that the model says it follows.
    follows: Option<usize>,
}

struct PlanningSession<'a> {
    planner: &'a ModelPlanner<'a>,
    request: &'a PlanningRequest<'a>,
    sink: &'a mut dyn PlanSink,
    /// The draft with the fewest faults.
    best: Option<PlanDraft>,
    corrections: usize,
    /// What was wrong with the last answer.
    why: Option<String>,
    failure: Option<ModelError>,
}

impl PlanningSession<'_> {
    /// Asks, checks, has corrected.
    async fn rounds(&mut self, ids: Ids, corrections: usize) -> Result<PlanVerdict, ModelError> {
        let mut messages = prompt::messages(self.request, ids);
        let opening = messages.len();
        let name = self.model_name();
        if self.planner.taken().len() >= MOST_REQUESTS {
            return Ok(PlanVerdict::Wrong);
        }
        let why = self.why.take().map(|why| format!("; the last one can't run: {why}")).unwrap_or_default();
        self.sink.progress(&format!("asking {name} for a plan{why}"));
        for round in 0..=corrections {
            if self.planner.taken().len() >= MOST_REQUESTS {
                break;
            }
            let answer = call::ask(self.planner, self.request, (&messages, ids), self.sink).await?;
            let broken = answer.cut.clone().filter(|error| error.kind != ModelErrorKind::Nonsense);
            let reason = answer.cut.as_ref().map(|error| error.message.clone());
            self.corrections += usize::from(round > 0);
            let draft = self.draft(answer, ids);
            let (said, faults) = (draft.said.clone(), draft.faults_for_model());
            self.keep(draft);
            // The client has tried again already where that can help; a person who waited that long gets what there is.
            if let Some(error) = broken {
                return Err(error);
            }
            let Some(first) = faults.first() else { return Ok(PlanVerdict::Good) };
            let why = reason.unwrap_or_else(|| first.clone());
            if round < corrections {
                self.sink.progress(&format!("{} corrects its plan, round {} of {corrections}: {why}", self.model_name(), round + 1));
                // Only the latest attempt goes back, so that the prompt doesn't grow with each round.
                messages.truncate(opening);
                messages.push(ChatMessage::Assistant { content: said, calls: Vec::new() });
                messages.push(prompt::correction(&faults));
            }
            self.why = Some(why);
        }
        Ok(PlanVerdict::Wrong)
    }

    /// The model as answers name it; before there is one, as it is asked for.
    fn model_name(&self) -> String {
        let taken = self.planner.taken();
        let answered = taken.iter().rev().map(|call| call.model.as_str()).find(|model| *model != AUTO);
        match answered.unwrap_or(self.planner.name) {
            AUTO => format!("the model of `{}`", self.planner.model.provider()),
            name => format!("`{name}`"),
        }
    }

    fn draft(&mut self, answer: ModelAnswer, ids: Ids) -> PlanDraft {
        let ModelAnswer { nodes, edges, follows, cut } = answer;
        let is_cut = cut.is_some();
        self.failure = cut.or(self.failure.take());
        if let Some(brief) = self.request.under_way {
            let said = prompt::as_answer(&Plan { nodes: nodes.clone(), edges: edges.clone(), ..Plan::default() }).to_string();
            let (plan, faults) = under_way::laid_over(brief, nodes, edges, self.request.catalog);
            return PlanDraft { plan, said, ids, faults, is_cut, remarks: Vec::new(), follows: None };
        }
        let mut plan = Plan { goal: self.request.text.to_owned(), inputs: self.request.inputs.clone(), nodes, ..Plan::default() };
        edges::add_written(&mut plan, edges);
        let remarks = edges::add_implied(&mut plan);
        let faults = check::faults(&plan, self.request.catalog);
        let said = prompt::as_answer(&plan).to_string();
        PlanDraft { plan, said, ids, faults, is_cut, remarks, follows }
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

    fn finish(self) -> Result<Planned, Box<(ModelError, Vec<ModelCall>)>> {
        let name = self.model_name();
        let Some(PlanDraft { mut plan, said: _, ids, faults, is_cut, remarks: added, follows }) = self.best else {
            let error = self.failure.unwrap_or_else(|| {
                ModelError::new(ModelErrorKind::Nonsense, TryVerdict::Never, format!("{name} answered with a plan without any nodes"))
                    .hint("say more of what should be done, or choose a larger model")
            });
            return Err(Box::new((error, self.planner.taken().clone())));
        };
        let origin = name.trim_matches('`').to_owned();
        if self.request.under_way.is_none() {
            plan.metadata.insert(PLANNED_BY.to_owned(), Value::from(origin.as_str()));
        }
        let changes = self.request.before.is_some_and(|before| goes_on(before, &plan));
        if let Some(before) = self.request.before.filter(|_| changes) {
            plan.goal = format!("{}; {}", before.goal.trim_end_matches(['.', ';']), self.request.text.trim());
            plan.inputs = before.inputs.clone().into_iter().chain(plan.inputs).collect();
        }
        let followed = follows.and_then(|number| self.request.past().get(number.checked_sub(1)?));
        let followed = followed.map(|past| format!("it follows the plan of {}", past.label));
        let mut remarks: Vec<String> = followed.into_iter().chain(added.iter().take(EDGES_REMARKED).cloned()).collect();
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
        let learned = (faults.is_empty() && ids != self.planner.ids).then_some(ids);
        Ok(Planned { plan, origin, remarks, calls: self.planner.taken().clone(), changes, learned, faults })
    }
}

/// Whether a plan is another one changed: a step of it is still there as it was.
fn goes_on(before: &Plan, now: &Plan) -> bool {
    before.nodes.iter().any(|old| now.nodes.iter().any(|new| new.id == old.id && new.kind == old.kind))
}

impl PlanDraft {
    /// What the model hears about it.
    fn faults_for_model(&self) -> Vec<String> {
        self.is_cut.then(|| CUT.to_owned()).into_iter().chain(self.faults.iter().cloned()).collect()
    }
}
