//! From a request to a plan: by the model where one is connected, else by the built-in planner. Planning goes on beside runs.

use super::{
    client::{Notice, PlanningId, Problem},
    local::{LocalHost, Shared},
    session::Listener,
};
use crate::models::ModelError;
use crate::plan::{Catalog, Node};
use crate::planner::{
    PlanSink, Planned,
    builtin::{self, Template, WorkspaceFacts},
    model::{Ids, ModelPlanner, plan_by_model},
};
use serde_json::{Map, Value};
use std::sync::Arc;

impl LocalHost {
    /// Makes a plan. It may have findings.
    ///
    /// # Errors
    /// When the request is empty.
    pub async fn plan(&self, request: &str, inputs: &Map<String, Value>, sink: &mut dyn PlanSink) -> Result<Planned, Problem> {
        self.shared().plan(request, inputs, sink).await
    }
}

impl Shared {
    async fn plan(&self, request: &str, inputs: &Map<String, Value>, sink: &mut dyn PlanSink) -> Result<Planned, Problem> {
        if request.trim().is_empty() {
            return Err(Problem::new("the request is empty").hint("say in one sentence what to do"));
        }
        let catalog = self.catalog();
        match self.by_model(request, &catalog, inputs, sink).await {
            Some(planned) => planned.map_err(Problem::from),
            None => Ok(self.built_in(request, catalog, inputs, sink)),
        }
    }

    /// Plans without a model. Template files that can't be used are told in the remarks.
    fn built_in(&self, request: &str, catalog: Catalog, inputs: &Map<String, Value>, sink: &mut dyn PlanSink) -> Planned {
        let (templates, problems) = Template::load(&self.places.settings, self.places.config.as_deref());
        let mut planned = builtin::plan(request, WorkspaceFacts::look(&self.places.workspace), &catalog, &templates, sink);
        planned.plan.inputs.extend(inputs.clone());
        planned.remarks.extend(problems.iter().map(ToString::to_string));
        planned
    }

    async fn by_model(
        &self,
        request: &str,
        catalog: &Catalog,
        inputs: &Map<String, Value>,
        sink: &mut dyn PlanSink,
    ) -> Option<Result<Planned, ModelError>> {
        let models = &self.kit.models;
        let (model, name) = models.real(self.chosen().as_deref()).ok().flatten()?;
        let ids = if models.config().positional_plans { Ids::Positional } else { Ids::Free };
        let planner = ModelPlanner { model: model.as_ref(), name: &name, settings: models.config().settings.clone(), ids };
        Some(plan_by_model(&planner, request, catalog, inputs, sink).await)
    }
}

/// Makes a plan for a client and tells it as it grows.
pub(super) async fn plan(shared: Arc<Shared>, id: PlanningId, text: String, listener: Listener) {
    let mut sink = PlanningProgress { id, listener: listener.clone() };
    let notice = match shared.plan(&text, &Map::new(), &mut sink).await {
        Ok(Planned { plan, origin, remarks }) => Notice::PlanReady { id, plan: Box::new(plan), origin, remarks },
        Err(problem) => Notice::PlanFailed { id, problem },
    };
    // A client that has gone needs no plan.
    let _ = listener.send(notice);
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
