//! What the host says about itself: workspace, person, model, catalog.

use super::{InventoryScreen, StatsScreen};
use crate::engine::{AUTO, ModelCall};
use crate::host::client::{Hello, ModelStatus, PromptOffer};
use crate::plan::Catalog;
use crate::text::Plain;

/// What the host says about itself.
#[derive(Clone, Debug, Default)]
pub struct HostStatus {
    pub workspace: Plain,
    /// Which model is used; `None` until the host says so.
    pub model: Option<ModelStatus>,
    /// A person chose it: runs that are let go on ask it.
    pub is_picked: bool,
    /// Agents and tools on offer; none before the host has sent them.
    pub catalog: Catalog,
    /// Whether it has. Before, no plan can be judged.
    pub knows_catalog: bool,
    /// The person's settings file; empty where there is no place for one.
    pub settings: Plain,
    /// Agents, tools, servers and rules, with how they were used.
    pub inventory: InventoryScreen,
    /// How agents and models did in past runs.
    pub stats: StatsScreen,
    /// Runs go on when the console is left.
    pub runs_go_on: bool,
    /// Prompts of servers, to begin a request with.
    pub prompts: Vec<PromptOffer>,
}

impl HostStatus {
    /// Takes in the first notice.
    pub fn greet(&mut self, hello: Hello) {
        self.workspace = Plain::summary(&hello.workspace);
        self.settings = hello.settings.map(|file| Plain::summary(&file)).unwrap_or_default();
        (self.model, self.is_picked) = (Some(hello.model), hello.is_picked);
        self.runs_go_on = hello.runs_go_on;
    }

    /// Takes in what is on offer.
    pub fn offer(&mut self, catalog: Catalog) {
        self.catalog = catalog;
        self.knows_catalog = true;
    }

    /// What planning asked: a model that nobody named is known by its name from then on.
    pub fn planned_by(&mut self, calls: &[ModelCall]) {
        if let (Some(ModelStatus::Connected { model, .. }), Some(call)) = (&mut self.model, calls.last())
            && model == AUTO
        {
            model.clone_from(&call.model);
        }
    }

    /// The model in a few words, for the header.
    pub fn model_label(&self) -> Plain {
        match &self.model {
            None => Plain::line("connecting"),
            Some(ModelStatus::Absent { .. }) => Plain::line("no model"),
            Some(ModelStatus::Broken { .. }) => Plain::line("model: wrong setting"),
            Some(ModelStatus::Rehearsal) => Plain::line("rehearsal"),
            Some(ModelStatus::Operator) => Plain::line("you answer"),
            Some(ModelStatus::Connected { model, .. }) => Plain::summary(model),
        }
    }

    /// Whether nobody answers where a model is needed.
    pub fn lacks_model(&self) -> bool {
        matches!(self.model, Some(ModelStatus::Absent { .. } | ModelStatus::Broken { .. } | ModelStatus::Rehearsal))
    }
}
