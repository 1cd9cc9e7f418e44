//! From a request to a plan: by the model where one is connected, else by the built-in planner. Planning goes on beside runs.

use super::{
    client::{Notice, PlanWish, PlanningId, Problem},
    follow_up::EarlierRun,
    local::{LocalHost, Shared},
    models::{Models, known_name},
    replanning::{planner, today, usable},
    session::Listener,
};
use crate::engine::{ModelCall, Run, calls_label};
use crate::plan::{Catalog, Node};
use crate::planner::{
    PlanSink, Planned,
    builtin::{self, Template, WorkspaceFacts},
    model::{Ids, ModelPlanner, PastPlan, PlanningRequest, Surroundings, describe_workspace, is_small, plan_by_model},
};
use crate::store::{PlanningRecord, RunHistory, SimilarRun};
use serde_json::Map;
use std::sync::Arc;

/// Past plans that a planner is shown at most.
const PAST_PLANS: usize = 3;

impl LocalHost {
    /// Makes a plan. It may have findings.
    ///
    /// # Errors
    /// When the request is empty.
    pub async fn plan(&self, wish: &PlanWish, sink: &mut dyn PlanSink) -> Result<Planned, Problem> {
        self.shared().plan(wish, sink).await
    }
}

impl Shared {
    async fn plan(&self, wish: &PlanWish, sink: &mut dyn PlanSink) -> Result<Planned, Problem> {
        if wish.text.trim().is_empty() {
            return Err(Problem::new("the request is empty").hint("say in one sentence what to do"));
        }
        let root = self.places.workspace.clone();
        let facts = tokio::task::spawn_blocking(move || WorkspaceFacts::look(&root)).await.unwrap_or_default();
        let catalog = self.catalog();
        let earlier = match &wish.after {
            Some(run) => Some(EarlierRun::of(run, &Run::replay(&self.store.records(run)?))?),
            None => None,
        };
        match self.by_model((wish, earlier.as_ref()), &catalog, &facts, sink).await {
            Some(planned) => planned,
            None if earlier.is_some() => Err(Problem::new("only a model can go on from the results of a run, and none is connected")
                .hint("make it a request of its own")),
            None => {
                self.put_on_record(wish, None, &[]);
                Ok(self.built_in(&wish.text, facts, catalog, sink))
            }
        }
    }

    /// Plans without a model. Template files that can't be used are told in the remarks.
    fn built_in(&self, request: &str, facts: WorkspaceFacts, catalog: Catalog, sink: &mut dyn PlanSink) -> Planned {
        let (templates, problems) = Template::load(&self.places.settings, self.places.config.as_deref());
        let mut planned = builtin::plan(request, facts, &catalog, &templates, sink);
        planned.remarks.extend(problems.iter().map(ToString::to_string));
        planned
    }

    async fn by_model(
        &self,
        (wish, earlier): (&PlanWish, Option<&EarlierRun>),
        catalog: &Catalog,
        facts: &WorkspaceFacts,
        sink: &mut dyn PlanSink,
    ) -> Option<Result<Planned, Problem>> {
        let models = self.kit.models();
        // With a wrong setting nothing is planned in another way than the person asked for.
        let (model, name) = match models.real(self.chosen().as_deref(), &wish.budget) {
            Ok(real) => real?,
            Err(not) => return Some(Err(Problem::new(not.why).hint(not.how))),
        };
        let known = known_name(model.as_ref(), &name).await;
        let ids = match models.config().positional_plans {
            Some(true) => Ids::Positional,
            Some(false) => Ids::Free,
            None if models.is_gateway(self.chosen().as_deref()) => ids_for(&known, "", &models),
            None => ids_for(&known, model.provider(), &models),
        };
        let planner = planner(model.as_ref(), &known, &models, ids);
        let usable = usable(catalog.clone());
        let past = if wish.on.is_none() && earlier.is_none() { self.past_plans(&wish.text).await } else { Vec::new() };
        let surroundings = Surroundings { today: today(self.clock.now()), workspace: describe_workspace(facts, &wish.text), past };
        let nothing = Map::new();
        let request = PlanningRequest {
            text: wish.text.trim(),
            catalog: &usable,
            inputs: earlier.map_or(&nothing, |earlier| &earlier.results),
            surroundings: &surroundings,
            before: wish.on.as_deref(),
            rival: wish.rival,
            under_way: None,
            after: earlier.map(|earlier| earlier.goal.as_str()),
        };
        let mut unless_it_ends = Stopped { shared: self, wish, planner: &planner, has_ended: false };
        let planned = plan_by_model(&planner, &request, sink).await;
        unless_it_ends.has_ended = true;
        Some(match planned {
            Ok(mut planned) => {
                let remarks = earlier.map(|earlier| earlier.settle(&mut planned.plan)).unwrap_or_default();
                planned.remarks.extend(remarks);
                self.put_on_record(wish, None, &planned.calls);
                if planned.learned == Some(Ids::Positional) {
                    models.learned().needs_numbers(model.provider(), &known);
                }
                Ok(planned)
            }
            Err((error, calls)) => {
                let mut problem = Problem::from(error);
                self.put_on_record(wish, Some(&problem.message), &calls);
                if !calls.is_empty() {
                    problem.message = format!("{} (planning took {})", problem.message, calls_label(&calls));
                }
                Err(problem)
            }
        })
    }

    /// Plans that worked here for similar requests. Without a history a plan is made all the same.
    async fn past_plans(&self, request: &str) -> Vec<PastPlan> {
        let (store, workspace, request) = (self.store.clone(), self.places.workspace.clone(), request.to_owned());
        let found = tokio::task::spawn_blocking(move || RunHistory::open(&store)?.similar(&request, &workspace, PAST_PLANS)).await;
        let found = found.unwrap_or_else(|_| Ok(Vec::new())).unwrap_or_else(|error| {
            tracing::warn!(%error, "the history can't be read");
            Vec::new()
        });
        let plan = |run: SimilarRun| PastPlan { label: run.label(), request: run.request, outline: run.outline };
        found.into_iter().map(plan).collect()
    }

    /// What planning took is on record also where no run follows.
    fn put_on_record(&self, wish: &PlanWish, failed: Option<&str>, calls: &[ModelCall]) {
        let record = PlanningRecord {
            at: self.clock.now(),
            workspace: self.places.workspace.display().to_string(),
            request: wish.text.trim().to_owned(),
            failed: failed.map(str::to_owned),
            calls: calls.to_vec(),
        };
        if let Err(error) = self.kit.secrets.masked(record).keep(&self.places.home) {
            tracing::warn!(%error, "planning can't be put on record");
        }
    }
}

/// A planning that a person stops is on record with what it took.
struct Stopped<'a> {
    shared: &'a Shared,
    wish: &'a PlanWish,
    planner: &'a ModelPlanner<'a>,
    has_ended: bool,
}

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            self.shared.put_on_record(self.wish, Some("planning was stopped"), &self.planner.taken());
        }
    }
}

fn ids_for(model: &str, provider: &str, models: &Models) -> Ids {
    let is_known = models.prices().window(model).is_some();
    let needs_numbers = models.learned().is_numbered(provider, model) || is_small(model, provider, is_known);
    if needs_numbers { Ids::Positional } else { Ids::Free }
}

/// Makes a plan for a client and tells it as it grows.
pub(super) async fn plan(shared: Arc<Shared>, id: PlanningId, wish: PlanWish, listener: Listener) {
    let mut sink = PlanningProgress { id, listener: listener.clone() };
    let _told = PanicReport { id, listener: listener.clone() };
    let notice = match shared.plan(&wish, &mut sink).await {
        Ok(planned) => Notice::PlanReady { id, made: Box::new(planned.into()) },
        Err(problem) => Notice::PlanFailed { id, problem },
    };
    // A client that has gone needs no plan.
    let _ = listener.send(notice);
}

impl From<Planned> for super::client::MadePlan {
    fn from(planned: Planned) -> Self {
        let Planned { plan, origin, remarks, calls, changes, learned: _, faults: _ } = planned;
        Self { plan, origin, remarks, calls, changes }
    }
}

/// Tells a client that planning panicked, so that nobody waits for a plan that never comes.
struct PanicReport {
    id: PlanningId,
    listener: Listener,
}

impl Drop for PanicReport {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let problem =
                Problem::new("planning was broken off by a fault in dagdeck").hint("say it in other words, and report the request");
            let _ = self.listener.send(Notice::PlanFailed { id: self.id, problem });
        }
    }
}

/// Tells a client how its plan grows.
struct PlanningProgress {
    id: PlanningId,
    listener: Listener,
}

impl PlanSink for PlanningProgress {
    fn progress(&mut self, text: &str) {
        let _ = self.listener.send(Notice::PlanProgress { id: self.id, text: text.to_owned() });
    }

    fn node(&mut self, node: Node) {
        let _ = self.listener.send(Notice::PlanNode { id: self.id, node: Box::new(node) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn planning_that_panics_is_reported_as_failed() {
        let (listener, mut heard) = tokio::sync::mpsc::unbounded_channel();
        let report = PanicReport { id: PlanningId(1), listener };
        let task = tokio::spawn(async move {
            let _report = report;
            panic!("a fault of the planner");
        });
        assert!(task.await.is_err());
        let Some(Notice::PlanFailed { problem, .. }) = heard.recv().await else { panic!("nothing was heard") };
        assert_eq!(problem.message, "planning was broken off by a fault in dagdeck");
    }
}
