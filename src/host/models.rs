//! `Models`: who answers where a model is needed: the configured server, rehearsal, or the operator.

use super::{
    client::{ModelList, ModelStatus, Problem},
    provider::Provider,
    purse::{PlanningPurse, Purse, Purses},
    tries::{LoneModel, Tries},
};
use crate::agents::Responder;
use crate::engine::{ModelSlots, NodeError, OPERATOR, REHEARSAL};
use crate::models::{
    ChatModel, ModelErrorKind,
    client::{Knowledge, Learned},
    config::{AUTO, CLASSES, Connected, Lookup, ModelsConfig, NotConnected},
    prices::Prices,
    servers::Servers,
};
use crate::plan::{Budget, ModelFacts};
use crate::tools::KnownSecrets;
use secrecy::ExposeSecret;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

/// A real model: where it is asked, and its name there.
pub(super) type Real = (Arc<dyn ChatModel>, String);

/// The models of one host. A choice is a model's name, `operator`, `rehearsal`, or nothing, where none is set up.
pub(super) struct Models {
    config: ModelsConfig,
    servers: Servers,
    /// The way to each server, by its name for people: for all runs.
    ways: Arc<Mutex<BTreeMap<String, Arc<Provider>>>>,
    knowledge: Knowledge,
    /// What caps the calls of all runs.
    day: Option<Arc<dyn Purse>>,
}

impl Models {
    /// Makes ready what is configured; nothing is sent yet.
    pub(super) fn new(config: ModelsConfig, env: Lookup<'_>, learned: Learned) -> Self {
        Self::knowing(config, env, Arc::new(learned), Arc::default(), None)
    }

    /// The same, under a cap of all calls.
    pub(super) fn under(self, day: Option<Arc<dyn Purse>>) -> Self {
        Self { day, ..self }
    }

    /// The same by another configuration: what was learned stays, and calls go the ways that are there.
    pub(super) fn again(&self, config: ModelsConfig, env: Lookup<'_>) -> Self {
        Self::knowing(config, env, self.knowledge.learned.clone(), self.ways.clone(), self.day.clone())
    }

    fn knowing(
        config: ModelsConfig,
        env: Lookup<'_>,
        learned: Arc<Learned>,
        ways: Arc<Mutex<BTreeMap<String, Arc<Provider>>>>,
        day: Option<Arc<dyn Purse>>,
    ) -> Self {
        let knowledge = Knowledge { learned, prices: Arc::new(Prices::with(&config.prices, &config.windows)) };
        Self { servers: Servers::new(&config, env, knowledge.clone()), config, ways, knowledge, day }
    }

    /// The choice that holds until somebody makes one: what was wanted on the command line, else the configured model.
    pub(super) fn preset(&self, wanted: Option<&str>) -> Option<String> {
        match wanted.map(str::trim) {
            Some(name @ (REHEARSAL | OPERATOR)) => Some(name.to_owned()),
            Some(model) => Some(self.config.resolve(model)),
            None => match self.servers.connect(self.servers.usual()) {
                Ok(_) => Some(self.servers.usual().to_owned()),
                Err(not) => (!not.is_absent).then(|| self.servers.usual().to_owned()),
            },
        }
    }

    /// Makes the keys of the servers known as secrets, once they are known here: a command may have printed one.
    pub(super) fn teach(&self, secrets: &KnownSecrets) {
        for (name, key) in self.servers.keys() {
            let name = name.map_or_else(|| "api_key".to_owned(), |name| format!("api_key of {name}"));
            secrets.learn(&name, key.expose_secret());
        }
    }

    pub(super) fn prices(&self) -> &Prices {
        &self.knowledge.prices
    }

    pub(super) fn learned(&self) -> &Learned {
        &self.knowledge.learned
    }

    pub(super) fn servers(&self) -> &Servers {
        &self.servers
    }

    /// What plans are checked against, where `choice` works for agents that name no model.
    pub(super) fn facts(&self, choice: Option<&str>, context_tokens: u64) -> ModelFacts {
        let preset = match choice {
            Some(OPERATOR | REHEARSAL) => None,
            // Once the server was asked, it is known which model that is.
            Some(AUTO) => self.servers.connect(AUTO).ok().and_then(|auto| Some(auto.model.known_auto()?.name.clone())),
            named => named.map(str::to_owned),
        };
        let mut windows = self.knowledge.prices.windows.clone();
        if let Some(name) = &preset
            && let Ok(Connected { model, name: there, .. }) = self.servers.connect(&self.config.resolve(name))
        {
            windows.extend(model.window(&there).map(|window| (name.clone(), window)));
        }
        // A class that no model is known for is worked by the model of the run.
        let open = CLASSES.iter().filter(|class| self.config.is_open_class(class)).map(|class| (*class).to_owned());
        let stand_in = open.filter_map(|class| Some((class, preset.clone()?)));
        ModelFacts { names: self.config.names().into_iter().chain(stand_in).collect(), preset, windows, context_tokens }
    }

    /// How a model is asked: every call of runs and planning goes this way.
    pub(super) fn tries(&self, model: Arc<dyn ChatModel>) -> Tries {
        let provider = self.way(model.provider());
        let purses = Purses { all: self.day.iter().cloned().collect(), prices: self.knowledge.prices.clone() };
        Tries { model, provider, purses }
    }

    fn way(&self, server: &str) -> Arc<Provider> {
        let mut ways = self.ways.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Arc::new(Provider::new(server.to_owned(), self.config.limits.clone()));
        ways.entry(server.to_owned()).or_insert_with(new).clone()
    }

    pub(super) fn config(&self) -> &ModelsConfig {
        &self.config
    }

    pub(super) fn status(&self, choice: Option<&str>) -> ModelStatus {
        let model = match choice {
            Some(OPERATOR) => return ModelStatus::Operator,
            Some(REHEARSAL) => return ModelStatus::Rehearsal,
            Some(model) => self.config.resolve(model),
            None => self.servers.usual().to_owned(),
        };
        match (choice, self.servers.connect(&model)) {
            (Some(choice), Ok(server)) => {
                // Once the server was asked, it is known which model that is.
                let auto = server.model.known_auto().filter(|_| choice == AUTO).map(|auto| auto.name.as_str());
                ModelStatus::Connected { model: auto.unwrap_or(choice).to_owned(), provider: server.provider }
            }
            (None, Ok(server)) => {
                ModelStatus::Absent { how: format!("choose a model, for example `{}` at {}", server.name, server.provider) }
            }
            (None, Err(not)) if not.is_absent => ModelStatus::Absent { how: not.how },
            (Some(_) | None, Err(not)) => ModelStatus::Broken { why: not.why, how: not.how },
        }
    }

    /// Whether the choice is asked through a gateway.
    pub(super) fn is_gateway(&self, choice: Option<&str>) -> bool {
        self.servers.is_gateway(&self.config.resolve(choice.unwrap_or(AUTO)))
    }

    /// A real model that tries its calls by itself within a budget, if the choice is one: for work outside of runs.
    ///
    /// # Errors
    /// When a real model is chosen and none can be reached by the configuration.
    pub(super) fn real(&self, choice: Option<&str>, budget: &Budget) -> Result<Option<Real>, NotConnected> {
        let Some((model, name)) = self.server_of(choice)? else { return Ok(None) };
        let mut tries = self.tries(model);
        if *budget != Budget::default() {
            tries.purses.all.push(Arc::new(PlanningPurse::new(budget.clone())));
        }
        Ok(Some((Arc::new(LoneModel { tries }) as Arc<dyn ChatModel>, name)))
    }

    /// How many calls the server works at once, where the choice is a real model.
    pub(super) async fn slots(&self, choice: Option<&str>) -> Option<ModelSlots> {
        let (model, _) = self.server_of(choice).ok().flatten()?;
        let way = self.way(model.provider());
        Some(ModelSlots { provider: way.name().to_owned(), slots: way.slots(model.as_ref()).await })
    }

    /// The server and the model's name there.
    fn server_of(&self, choice: Option<&str>) -> Result<Option<Real>, NotConnected> {
        let Some(name) = choice.filter(|name| ![OPERATOR, REHEARSAL].contains(name)) else { return Ok(None) };
        let Connected { model, name, .. } = self.servers.connect(&self.config.resolve(name))?;
        Ok(Some((model, name)))
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

    /// The further servers by name, with how many models each lists, or why it can't be asked.
    pub(super) async fn further(&self) -> Vec<(String, Result<usize, Problem>)> {
        let mut all = Vec::new();
        for (name, client) in self.servers.clients() {
            let Some(name) = name else { continue };
            let listed = match client {
                Ok(client) => client.list().await.map(|names| names.len()).map_err(Problem::from),
                Err(not) => Err(Problem::new(not.why).hint(not.how)),
            };
            all.push((name.to_owned(), listed));
        }
        all
    }

    /// The models on offer, with the ways to do without. Those of further servers begin with the server's name.
    pub(super) async fn list(&self, choice: Option<&str>) -> ModelList {
        let used = choice.and_then(|choice| self.servers.place(&self.config.resolve(choice)));
        let usual = used.as_ref().and_then(|(server, _)| *server);
        let in_list = |server: Option<&str>, name: String| server.map_or_else(|| name.clone(), |server| format!("{server}/{name}"));
        let mut list = ModelList::default();
        for (server, client) in self.servers.clients() {
            let (offered, is_unlisted) = match client {
                Ok(client) => {
                    let listed = client.list().await;
                    let is_unlisted = listed.as_ref().is_err_and(|error| error.kind == ModelErrorKind::Unlisted);
                    (listed.map_err(Problem::from), is_unlisted)
                }
                Err(not) => (Err(Problem::new(not.why).hint(not.how)), false),
            };
            match offered {
                Ok(offered) => list.names.extend(offered.into_iter().map(|name| in_list(server, name))),
                // Without a list a server may answer all the same.
                Err(problem) if server == usual && !is_unlisted => list.usual_problem = Some(problem),
                Err(problem) => {
                    let message = server.map_or_else(|| problem.message.clone(), |server| format!("{server}: {}", problem.message));
                    list.problems.push(Problem { message, ..problem });
                }
            }
        }
        list.used = match choice {
            Some(OPERATOR | REHEARSAL) => choice.map(str::to_owned),
            _ => used.map(|(server, name)| in_list(server, name)),
        };
        list.names.extend([OPERATOR.to_owned(), REHEARSAL.to_owned()]);
        list.why = self.why(choice).await;
        list
    }

    /// Why another model is used where nobody chooses one.
    pub(super) fn overruled(&self, model: &str) -> Option<String> {
        let usual = self.servers.usual();
        (usual != model).then(|| format!("the next start uses `{usual}`: {}", self.servers.usual_by()))
    }

    /// Who chose the model that is used; of `auto` also which one that is.
    async fn why(&self, choice: Option<&str>) -> Option<String> {
        let choice = choice.filter(|name| ![OPERATOR, REHEARSAL].contains(name))?;
        if choice == AUTO
            && let Ok(Connected { model, .. }) = self.servers.connect(AUTO)
            && let Some(auto) = model.auto().await
        {
            return Some(auto.why);
        }
        Some(if choice == self.servers.usual() { self.servers.usual_by().to_owned() } else { "chosen for this session".to_owned() })
    }
}

/// The model's own name, also where nobody named one.
pub(super) async fn known_name(model: &dyn ChatModel, name: &str) -> String {
    let auto = if name == AUTO { model.auto().await } else { None };
    auto.map_or_else(|| name.to_owned(), |auto| auto.name)
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
