//! Which models are used: the `[models]` table of the configuration, and the choice made for a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, sync::Arc, time::Duration};

use super::{ChatModel, ModelSettings, client::CallLimits, prices::Price, providers::ProviderConfig};

pub use crate::engine::AUTO;

/// Classes of models, from cheap to able, that plans name where the model itself is nobody's business but the configuration's.
pub const CLASSES: [&str; 3] = ["haiku", "sonnet", "opus"];

/// Which model plans and works for agents. Without an address and a key here, the environment variables say where it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ModelsConfig {
    /// Address of a server with an OpenAI-compatible API; it usually ends in `/v1`.
    pub base_url: Option<String>,
    /// Name of the environment variable that holds the key.
    pub api_key_env: Option<String>,
    /// Shell command that prints the key, such as one of a password manager.
    pub api_key_command: Option<String>,
    /// Model for plans and agents; `anthropic/claude-sonnet-4-5` names its server too. Without it: a small one, or what runs there.
    pub default: Option<String>,
    /// Further servers, by the name that models of theirs begin with: `work` for `work/big-model`. For `anthropic`, `groq` and others
    /// that dagdeck knows, the key's variable in the environment is enough.
    pub providers: BTreeMap<String, ProviderConfig>,
    /// How long dagdeck waits for a model.
    pub timeouts: TimeoutsConfig,
    /// How much the server is asked at once and in a minute.
    pub limits: ProviderLimits,
    /// Sampling and limits of every model call. What is absent is left to the server.
    pub settings: ModelSettings,
    /// Short name for a model, as in `small = "gpt-4o-mini"`.
    pub aliases: BTreeMap<String, String>,
    /// Model or alias for a class that plans name: `haiku`, `sonnet` or `opus`. A class without a model uses the run's model.
    pub classes: BTreeMap<String, String>,
    /// Model or alias for an agent, where the plan names none: `writer = "gpt-5-mini"`. Suggestions that you take are kept here.
    pub by_agent: BTreeMap<String, String>,
    /// Your price for a model, over the shipped ones.
    pub prices: BTreeMap<String, Price>,
    /// Tokens that a model takes in, for models that dagdeck doesn't know.
    pub windows: BTreeMap<String, u64>,
    /// Ask for plans of two to five nodes called n1, n2, … in order. Helps small models that mix up node ids. Without it: for models that are
    /// known to be small, and those that needed it before.
    pub positional_plans: Option<bool>,
}

/// How much a server of models is asked at once and in a minute, by all runs together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProviderLimits {
    /// Calls at the same time. Without it: as many as a local server reports, else 2 for Ollama, LM Studio and llama.cpp, and 16 for others.
    pub slots: Option<u32>,
    /// Most calls in a minute.
    pub requests_per_minute: Option<u64>,
    /// Most tokens in a minute, of prompts and answers.
    pub tokens_per_minute: Option<u64>,
    /// Calls that the server refuses because of its rate are sent again; they fail when it has accepted none for this many seconds.
    pub refused_s: f64,
}

impl Default for ProviderLimits {
    fn default() -> Self {
        Self { slots: None, requests_per_minute: None, tokens_per_minute: None, refused_s: 600.0 }
    }
}

/// How long dagdeck waits for a model, in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TimeoutsConfig {
    /// Time to connect.
    pub connect_s: f64,
    /// Time until the first part of an answer; five times as much for servers that are known to run on one machine, such as Ollama.
    pub first_s: f64,
    /// Time between two parts of an answer.
    pub between_s: f64,
    /// Time of one try of a call.
    pub overall_s: f64,
}

impl Default for TimeoutsConfig {
    fn default() -> Self {
        let CallLimits { connect, first, between, overall } = CallLimits::default();
        let [connect_s, first_s, between_s, overall_s] = [connect, first, between, overall].map(|limit| limit.as_secs_f64());
        Self { connect_s, first_s, between_s, overall_s }
    }
}

/// A model that can be asked.
pub struct Connected {
    /// The client.
    pub model: Arc<dyn ChatModel>,
    /// The model's name as the server knows it.
    pub name: String,
    /// The server, for people.
    pub provider: String,
}

/// Why no model can be asked, for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct NotConnected {
    /// The cause, lower-case start.
    pub why: String,
    /// How to set one up.
    pub how: String,
    /// Nothing is configured; else something is that can't work.
    pub is_absent: bool,
}

impl NotConnected {
    /// Something is configured that can't work.
    pub(super) fn new(why: impl Into<String>, how: impl Into<String>) -> Self {
        Self { why: why.into(), how: how.into(), is_absent: false }
    }
}

/// Looks a variable up.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The same, for as long as somebody may look.
pub type Environment = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

impl ModelsConfig {
    /// A name with class and alias resolved: a class may be worked by an alias. An alias of an alias is not followed.
    pub fn resolve(&self, name: &str) -> String {
        let name = self.classes.get(name).map_or(name, String::as_str);
        self.aliases.get(name).cloned().unwrap_or_else(|| name.to_owned())
    }

    /// Every alias and class that leads to a model, with the model.
    pub fn names(&self) -> BTreeMap<String, String> {
        let names = self.aliases.keys().chain(self.classes.keys());
        names.map(|name| (name.clone(), self.resolve(name))).collect()
    }

    /// Whether a name is that of a class which no model is known for.
    pub fn is_open_class(&self, name: &str) -> bool {
        CLASSES.contains(&name) && !self.classes.contains_key(name) && !self.aliases.contains_key(name)
    }

    /// The classes that plans may ask for, and the model behind each, if there is one.
    pub fn all_classes(&self) -> BTreeMap<&str, Option<String>> {
        let names = CLASSES.into_iter().chain(self.classes.keys().map(String::as_str));
        names.map(|name| (name, (!self.is_open_class(name)).then(|| self.resolve(name)))).collect()
    }
}

pub(super) fn limits(config: &TimeoutsConfig) -> Result<CallLimits, NotConnected> {
    let duration = |name: &str, seconds: f64| {
        Duration::try_from_secs_f64(seconds)
            .ok()
            .filter(|limit| !limit.is_zero())
            .ok_or_else(|| NotConnected::new(format!("`models.timeouts.{name}` is {seconds}"), "set it to a number of seconds above 0"))
    };
    Ok(CallLimits {
        connect: duration("connect_s", config.connect_s)?,
        first: duration("first_s", config.first_s)?,
        between: duration("between_s", config.between_s)?,
        overall: duration("overall_s", config.overall_s)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_means_a_model_or_its_alias() {
        let table = "[classes]\nhaiku = \"small\"\nreview = \"big-2\"\n[aliases]\nsmall = \"mini-1\"\nopus = \"big-1\"";
        let config: ModelsConfig = toml::from_str(table).unwrap();
        assert_eq!(
            (config.resolve("haiku"), config.resolve("opus"), config.resolve("review")),
            ("mini-1".into(), "big-1".into(), "big-2".into())
        );
        let classes: Vec<(&str, Option<String>)> = config.all_classes().into_iter().collect();
        let some = |name: &str| Some(name.to_owned());
        assert_eq!(classes, [("haiku", some("mini-1")), ("opus", some("big-1")), ("review", some("big-2")), ("sonnet", None)]);
        assert!(config.is_open_class("sonnet") && !config.is_open_class("haiku") && !config.is_open_class("gpt-4o"));
    }

    #[test]
    fn timeouts_of_nothing_are_refused() {
        let config = TimeoutsConfig { first_s: 0.0, ..Default::default() };
        assert!(limits(&config).unwrap_err().why.contains("first_s"));
        assert!(limits(&TimeoutsConfig { first_s: f64::NAN, ..Default::default() }).is_err());
        assert_eq!(limits(&TimeoutsConfig { first_s: 1.5, ..Default::default() }).unwrap().first, Duration::from_millis(1500));
    }

    #[test]
    fn the_table_of_the_configuration_is_read() {
        let text = "base_url = \"http://h\"\n[timeouts]\nfirst_s = 5\n[settings]\ntemperature = 0.0\n[aliases]\nhaiku = \"x\"\n[prices]\nx = { prompt = 1, completion = 2 }";
        let config: ModelsConfig = toml::from_str(text).unwrap();
        assert_eq!(config.prices["x"], Price { prompt: 1.0, completion: 2.0, ..Price::default() });
        assert_eq!(config.settings.temperature, Some(0.0));
        assert!(toml::from_str::<ModelsConfig>("base_ulr = \"x\"").is_err());
    }
}
