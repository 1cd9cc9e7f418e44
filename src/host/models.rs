//! `Models`: who answers where a model is needed: the configured server, rehearsal, or the operator.

use super::{
    client::ModelStatus,
    provider::Provider,
    tries::{LoneModel, Tries},
};
use crate::agents::Responder;
use crate::engine::{ModelSlots, NodeError, OPERATOR, REHEARSAL};
use crate::models::{
    ChatModel, ModelError,
    client::{Knowledge, Learned},
    config::{AUTO, CLASSES, Connected, Lookup, ModelChoice, ModelsConfig, NotConnected, connect},
    prices::Prices,
};
use crate::plan::ModelFacts;
use crate::tools::KnownSecrets;
use secrecy::ExposeSecret;
use std::sync::Arc;

/// A real model: where it is asked, and its name there.
pub(super) type Real = (Arc<dyn ChatModel>, String);

/// The models of one host. A choice is a model's name, `operator`, `rehearsal`, or nothing, where none is connected.
pub(super) struct Models {
    config: ModelsConfig,
    server: Result<Connected, NotConnected>,
    /// The way to the server, for all runs.
    way: Arc<Provider>,
    prices: Arc<Prices>,
}

impl Models {
    /// Makes ready what is configured; nothing is sent yet.
    pub(super) fn new(config: ModelsConfig, env: Lookup<'_>, learned: Learned) -> Self {
        let prices = Arc::new(Prices::with(&config.prices, &config.windows));
        let knowledge = Knowledge { learned: Arc::new(learned), prices: prices.clone() };
        let server = connect(&config, None, env, knowledge);
        let name = server.as_ref().map(|server| server.provider.clone()).unwrap_or_default();
        let way = Arc::new(Provider::new(name, config.limits.clone()));
        Self { config, server, way, prices }
    }

    /// The choice that holds until somebody makes one: what was wanted on the command line, else the configured model.
    pub(super) fn preset(&self, wanted: Option<&str>) -> Option<String> {
        match wanted.map(ModelChoice::parse) {
            Some(ModelChoice::Rehearsal) => Some(REHEARSAL.into()),
            Some(ModelChoice::Operator) => Some(OPERATOR.into()),
            Some(ModelChoice::Real { model }) => Some(self.config.resolve(&model)),
            None => match &self.server {
                Ok(server) => Some(server.name.clone()),
                Err(not) => (!not.is_absent).then(|| AUTO.into()),
            },
        }
    }

    /// Makes the key of the server known as a secret, once it is known here: a command may have printed it.
    pub(super) fn teach(&self, secrets: &KnownSecrets) {
        if let Some(key) = self.server.as_ref().ok().and_then(|server| server.model.key()) {
            secrets.learn("api_key", key.expose_secret());
        }
    }

    pub(super) fn prices(&self) -> &Prices {
        &self.prices
    }

    /// What plans are checked against, where `choice` works for agents that name no model.
    pub(super) fn facts(&self, choice: Option<&str>, context_tokens: u64) -> ModelFacts {
        let preset = choice.filter(|name| ![OPERATOR, REHEARSAL, AUTO].contains(name)).map(str::to_owned);
        let windows = self.prices.windows.clone();
        // A class that no model is known for is worked by the model of the run.
        let open = CLASSES.iter().filter(|class| self.config.is_open_class(class)).map(|class| (*class).to_owned());
        let stand_in = open.filter_map(|class| Some((class, preset.clone()?)));
        ModelFacts { names: self.config.names().into_iter().chain(stand_in).collect(), preset, windows, context_tokens }
    }

    /// How a model is asked: every call of runs and planning goes this way.
    pub(super) fn tries(&self, model: Arc<dyn ChatModel>) -> Tries {
        Tries { model, provider: self.way.clone() }
    }

    pub(super) fn config(&self) -> &ModelsConfig {
        &self.config
    }

    pub(super) fn status(&self, choice: Option<&str>) -> ModelStatus {
        match (choice, &self.server) {
            (Some(OPERATOR), _) => ModelStatus::Operator,
            (Some(REHEARSAL), _) => ModelStatus::Rehearsal,
            (Some(model), Ok(server)) => ModelStatus::Connected { model: model.to_owned(), provider: server.provider.clone() },
            (None, Ok(server)) => {
                ModelStatus::Absent { how: format!("choose a model, for example `{}` at {}", server.name, server.provider) }
            }
            (None, Err(not)) if not.is_absent => ModelStatus::Absent { how: not.how.clone() },
            (Some(_) | None, Err(not)) => ModelStatus::Broken { why: not.why.clone(), how: not.how.clone() },
        }
    }

    /// A real model that tries its calls by itself, if the choice is one: for work outside of runs.
    ///
    /// # Errors
    /// When a real model is chosen and none can be reached by the configuration.
    pub(super) fn real(&self, choice: Option<&str>) -> Result<Option<Real>, NotConnected> {
        let found = self.server_of(choice)?;
        Ok(found.map(|(model, name)| (Arc::new(LoneModel { tries: self.tries(model) }) as Arc<dyn ChatModel>, name)))
    }

    /// How many calls the server works at once, where the choice is a real model.
    pub(super) async fn slots(&self, choice: Option<&str>) -> Option<ModelSlots> {
        let (model, _) = self.server_of(choice).ok().flatten()?;
        Some(ModelSlots { provider: self.way.name().to_owned(), slots: self.way.slots(model.as_ref()).await })
    }

    /// The server and the model's name there.
    fn server_of(&self, choice: Option<&str>) -> Result<Option<Real>, NotConnected> {
        let Some(name) = choice.filter(|name| ![OPERATOR, REHEARSAL].contains(name)) else { return Ok(None) };
        let server = self.server.as_ref().map_err(Clone::clone)?;
        Ok(Some((server.model.clone(), self.config.resolve(name))))
    }

    /// Who answers for a node: its own model where it names one, else the run's; the run's too for a class that no model is known for.
    /// In a rehearsal all is rehearsed, except what a node gives to the operator.
    pub(super) fn responder(&self, run: Option<&str>, node: Option<&str>) -> Result<Responder, NodeError> {
        let node = node.filter(|name| !self.config.is_open_class(name)).map(|name| self.config.resolve(name));
        let choice = match (run, node.as_deref()) {
            (_, Some(OPERATOR)) => Some(OPERATOR),
            (None, _) => None,
            (Some(REHEARSAL), _) => None,
            (Some(run), node) => Some(node.unwrap_or(run)),
        };
        if choice == Some(OPERATOR) {
            return Ok(Responder::Operator);
        }
        match self.server_of(choice).map_err(|not| NodeError::permanent(not.why).hint(not.how))? {
            Some((provider, name)) => Ok(Responder::Model { provider, name, settings: self.config.settings.clone() }),
            None => Ok(Responder::Rehearsal),
        }
    }

    /// Words for the log of a node that asks for a class which no model is known for.
    pub(super) fn stand_in(&self, run: Option<&str>, node: Option<&str>) -> Option<String> {
        let class = node.filter(|name| self.config.is_open_class(name))?;
        let run = run.filter(|run| *run != class)?;
        Some(format!(
            "no model is set for the class `{class}`, so the run's model `{run}` is used; to change that, set in config.toml: [models.classes] {class} = \"model\""
        ))
    }

    /// Names of the models on offer, with the ways to do without.
    ///
    /// # Errors
    /// When the server can't be asked.
    pub(super) async fn list(&self) -> Result<Vec<String>, ModelError> {
        let mut names = match &self.server {
            Ok(server) => server.model.list().await?,
            Err(_) => Vec::new(),
        };
        names.extend([OPERATOR.to_owned(), REHEARSAL.to_owned()]);
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn models(table: &str) -> Models {
        let config = toml::from_str(table).unwrap();
        Models::new(config, &|name: &str| (name == "OPENAI_API_KEY").then(|| "k".to_owned()), Learned::default())
    }

    fn named(models: &Models, run: Option<&str>, node: Option<&str>) -> String {
        match models.responder(run, node) {
            Ok(Responder::Model { name, .. }) => name,
            Ok(Responder::Operator) => OPERATOR.to_owned(),
            Ok(Responder::Rehearsal) => REHEARSAL.to_owned(),
            Err(error) => error.message,
        }
    }

    #[test]
    fn a_class_is_worked_by_its_model_and_without_one_by_the_runs_with_a_line_in_the_log() {
        let models = models("[classes]\nhaiku = \"mini-1\"\nopus = \"operator\"");
        assert_eq!(named(&models, Some("gpt-4o"), Some("haiku")), "mini-1");
        assert_eq!(named(&models, Some("gpt-4o"), Some("opus")), OPERATOR);
        assert_eq!(named(&models, Some("gpt-4o"), Some("sonnet")), "gpt-4o");
        assert_eq!(named(&models, Some("gpt-4o"), Some("own-model")), "own-model");
        assert_eq!(named(&models, Some("gpt-4o"), None), "gpt-4o");
        assert_eq!(named(&models, None, Some("haiku")), REHEARSAL);
        let words = models.stand_in(Some("gpt-4o"), Some("sonnet")).unwrap();
        assert!(words.contains("run's model `gpt-4o`") && words.ends_with("[models.classes] sonnet = \"model\""), "{words}");
        for (run, node) in
            [(Some("gpt-4o"), Some("haiku")), (Some("gpt-4o"), None), (None, Some("sonnet")), (Some("sonnet"), Some("sonnet"))]
        {
            assert_eq!(models.stand_in(run, node), None);
        }
    }
}
