//! `Survey`: what there is to plan with: agents, tools, models. It needs no journal, so it works where nothing may be written.

use super::{
    client::{ModelList, ModelStatus, Problem},
    config::Config,
    estimating,
    inventory::Inventory,
    jobs::Kit,
    kept_rules::KeptRule,
    learned::EstimateReport,
    places::Folders,
    refusing::findings,
    setup::SetUp,
    use_counts::UseCounts,
};
use crate::models::config::{Environment, Lookup};
use crate::plan::{Catalog, Plan, validate::Finding};
use crate::store::Store;
use crate::tools::mcp::McpServers;
use std::{collections::BTreeMap, sync::Arc};

/// What there is to plan with.
pub struct Survey {
    kit: Kit,
    chosen: Option<String>,
    model: ModelStatus,
}

impl Survey {
    /// Reads the cards and makes ready what is configured. `model` is what was named on the command line.
    ///
    /// # Errors
    /// When the configuration holds a list of tools that can't be read.
    pub fn new(places: &Folders, config: Config, model: Option<&str>, env: Lookup<'_>) -> Result<Self, Problem> {
        let kit = Kit::new(places, config, env)?;
        let chosen = kit.models().preset(model);
        let model = kit.models().status(chosen.as_deref());
        Ok(Self { kit, chosen, model })
    }

    /// What plans may name.
    pub fn catalog(&self) -> Catalog {
        self.kit.catalog(self.chosen.as_deref())
    }

    /// Everything that is to be said about a plan before it runs here.
    pub fn findings(&self, plan: &Plan) -> Vec<Finding> {
        findings(plan, &self.catalog(), &self.kit.secrets)
    }

    /// What a plan will take here, by the history beside a journal.
    ///
    /// # Errors
    /// When the history can't be read.
    pub fn estimate(&self, plan: &Plan, store: &Store) -> Result<EstimateReport, Problem> {
        estimating::estimate(plan, &self.kit, self.chosen.as_deref(), store)
    }

    /// What there is, with how it was used and the rules that people made.
    pub fn inventory(&self, counts: &UseCounts, rules: &[KeptRule]) -> Inventory {
        self.kit.inventory(self.chosen.as_deref(), counts, rules)
    }

    /// The servers that have tools of their own.
    pub fn servers(&self) -> Arc<McpServers> {
        self.kit.toolbox.servers()
    }

    /// Cards that could not be read: file, line and words.
    pub fn card_problems(&self) -> Vec<Problem> {
        self.kit.card_problems()
    }

    /// Which model would be used.
    pub fn model(&self) -> &ModelStatus {
        &self.model
    }

    /// Classes that plans may ask for, and the model behind each, if there is one.
    pub fn classes(&self) -> BTreeMap<String, Option<String>> {
        self.kit.models().config().all_classes().into_iter().map(|(class, model)| (class.to_owned(), model)).collect()
    }

    /// The models on offer, with the ways to do without.
    pub async fn models(&self) -> ModelList {
        self.kit.models().list(self.chosen.as_deref()).await
    }

    /// For setting up a model.
    pub fn set_up(&self, places: &Folders, env: Environment) -> SetUp {
        SetUp { places: places.clone(), models: self.kit.models(), env }
    }
}
