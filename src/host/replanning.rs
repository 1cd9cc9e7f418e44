//! A new plan for what is left of a run, by the run's own model. And what every planning by a model needs.

use super::{
    models::{Models, known_name},
    refusing::{refuse, secret_values},
    tries::LoneModel,
};
use crate::agents::Responder;
use crate::engine::{ReplanAnswer, RunBrief, Time};
use crate::models::ChatModel;
use crate::plan::{Catalog, Node, Plan};
use crate::planner::{
    PlanSink, Planned,
    builtin::WorkspaceFacts,
    model::{Ids, ModelPlanner, PlanningRequest, Surroundings, describe_workspace, plan_by_model},
};
use crate::tools::KnownSecrets;
use serde_json::Map;
use std::path::Path;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

/// Asks the model. A plan that could not run is none.
pub(super) async fn replan(
    (workspace, secrets): (&Path, &KnownSecrets),
    catalog: Catalog,
    (choice, models): (Option<&str>, &Models),
    brief: &RunBrief,
) -> ReplanAnswer {
    let none = |why: String| ReplanAnswer { plan: Err(why), calls: Vec::new() };
    let (model, name) = match models.responder(choice, None) {
        Ok(Responder::Model { provider, name, .. }) => (LoneModel { tries: models.tries(provider) }, name),
        Ok(_) => return none("a new plan needs a model, and none is connected".to_owned()),
        Err(error) => return none(error.message),
    };
    let root = workspace.to_owned();
    let facts = tokio::task::spawn_blocking(move || WorkspaceFacts::look(&root)).await.unwrap_or_default();
    let known = known_name(&model, &name).await;
    let planner = planner(&model, &known, models, Ids::Free);
    let catalog = usable(catalog);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX));
    let surroundings = Surroundings { today: today(Time(now)), workspace: describe_workspace(&facts, &brief.plan.goal), past: Vec::new() };
    let request = PlanningRequest {
        text: &brief.plan.goal,
        catalog: &catalog,
        inputs: &Map::new(),
        surroundings: &surroundings,
        before: None,
        rival: 0,
        under_way: Some(brief),
        after: None,
    };
    match plan_by_model(&planner, &request, &mut Unheard).await {
        Ok(Planned { plan, calls, faults, remarks, .. }) => {
            let whole = match faults.first() {
                Some(fault) => Err(format!("the planner's plan can't run: {fault}")),
                // An answer that broke off may lack nodes, and what it lacks would be dropped.
                None => remarks.iter().find(|remark| remark.starts_with("steps may be missing")).map_or(Ok(plan), |cut| Err(cut.clone())),
            };
            ReplanAnswer { plan: whole.and_then(|plan| allowed(plan, secrets)), calls }
        }
        Err((error, calls)) => ReplanAnswer { plan: Err(error.to_string()), calls },
    }
}

/// The plan, with what reads like a marked secret as the text that it is.
fn allowed(plan: Plan, secrets: &KnownSecrets) -> Result<Box<Plan>, String> {
    refuse(&secret_values(&plan, secrets)).map_err(|problem| problem.message)?;
    Ok(Box::new(secrets.sealed(plan)))
}

/// `Friday, 2026-03-06`, where this computer is.
pub(super) fn today(now: Time) -> String {
    let now = i64::try_from(now.0).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok()).unwrap_or_default();
    now.to_zoned(jiff::tz::TimeZone::system()).strftime("%A, %Y-%m-%d").to_string()
}

/// The planner that a model is.
pub(super) fn planner<'a>(model: &'a dyn ChatModel, name: &'a str, models: &'a Models, ids: Ids) -> ModelPlanner<'a> {
    ModelPlanner { model, name, settings: models.config().settings.clone(), prices: models.prices(), ids, taken: Mutex::default() }
}

/// Without the tools that are not set up.
pub(super) fn usable(mut catalog: Catalog) -> Catalog {
    let Catalog { tools, not_set_up, .. } = &mut catalog;
    tools.retain(|tool| !not_set_up.contains(&tool.name));
    catalog
}

/// Nobody follows how the plan grows: it is shown whole.
struct Unheard;

impl PlanSink for Unheard {
    fn progress(&mut self, _text: &str) {}

    fn node(&mut self, _node: Node) {}
}
