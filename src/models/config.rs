//! Which model is used: the `[models]` table of the configuration, the environment's usual variables, and the choice made for a run.
//!
//! Order: an address or key of the configuration, then `LITELLM_PROXY_*`, then `OPENAI_*`. The environment comes in as a function,
//! so that nothing here reads it by itself.

use reqwest::Url;
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio::sync::OnceCell;

use super::{
    ChatModel, ModelSettings,
    client::{ApiKey, CallLimits, Knowledge, ModelClient, Server, ServerTraits},
    prices::Price,
};

/// The address that is meant when only a key is given.
pub const OPENAI: &str = "https://api.openai.com/v1";
/// The model that is meant at OpenAI when none is named.
pub const DEFAULT_MODEL: &str = "gpt-4o-mini";
/// Means whatever another server offers, when no model is named: the client asks at the first call.
pub const AUTO: &str = "auto";

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
    /// Model for plans and agents. Without it: `gpt-4o-mini` at OpenAI, elsewhere the first model that the server lists.
    pub default: Option<String>,
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
    /// Calls that the server refuses because of its rate are sent again; they fail once it has taken none for so many seconds.
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

/// What answers where a model is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelChoice {
    /// Nobody.
    Rehearsal,
    /// The operator, asked by the agent loop.
    Operator,
    /// A real model.
    Real {
        /// Its name.
        model: String,
    },
}

impl ModelChoice {
    /// Reads `rehearsal`, `operator`, or else a model's name.
    pub fn parse(name: &str) -> Self {
        match name.trim() {
            "rehearsal" => Self::Rehearsal,
            "operator" => Self::Operator,
            model => Self::Real { model: model.to_owned() },
        }
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
    /// How to connect one.
    pub how: String,
    /// Nothing is configured; else something is that can't work.
    pub is_absent: bool,
}

/// Looks a variable up.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Connects the configured model. Nothing is sent yet. `wanted` is the model that a person named for this run.
///
/// # Errors
/// When nothing is configured, or something is that can't work.
pub fn connect(config: &ModelsConfig, wanted: Option<&str>, env: Lookup<'_>, knowledge: Knowledge) -> Result<Connected, NotConnected> {
    let found = find_server(config, env)?;
    let base = parse_address(&found.address).map_err(|why| NotConnected {
        why: format!("the address in {} is wrong: {why}", found.address_from),
        how: "write it like http://localhost:8080/v1".to_owned(),
        is_absent: false,
    })?;
    let named = model_name(config, wanted, env);
    let name = named.unwrap_or_else(|| if base.host_str() == Some("api.openai.com") { DEFAULT_MODEL } else { AUTO }.to_owned());
    let server = Server {
        base,
        address_from: found.address_from,
        key: found.key,
        key_from: found.key_from,
        limits: limits(&config.timeouts)?,
        traits: ServerTraits::default(),
    };
    let model = ModelClient::new(server, knowledge).map_err(|error| NotConnected {
        why: error.message,
        how: error.hint.unwrap_or_default(),
        is_absent: false,
    })?;
    let provider = model.provider().to_owned();
    Ok(Connected { model: Arc::new(model), name, provider })
}

/// The name to ask for: as wanted, else as the environment or the configuration says; aliases resolved.
pub fn model_name(config: &ModelsConfig, wanted: Option<&str>, env: Lookup<'_>) -> Option<String> {
    let name = wanted
        .map(str::to_owned)
        .or_else(|| set(env, "DAGDECK_MODEL"))
        .or_else(|| config.default.clone())
        .or_else(|| set(env, "OPENAI_MODEL"))?;
    Some(config.resolve(&name))
}

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

struct FoundServer {
    address: String,
    address_from: String,
    key: ApiKey,
    key_from: String,
}

fn find_server(config: &ModelsConfig, env: Lookup<'_>) -> Result<FoundServer, NotConnected> {
    if config.base_url.is_some() || config.api_key_env.is_some() || config.api_key_command.is_some() {
        return configured(config, env);
    }
    if let Some(address) = set(env, "LITELLM_PROXY_BASE_URL").or_else(|| set(env, "LITELLM_PROXY_API_BASE")) {
        return Ok(found(address, "LITELLM_PROXY_BASE_URL", "LITELLM_PROXY_API_KEY", env));
    }
    for variable in ["OPENAI_BASE_URL", "OPENAI_API_BASE"] {
        if let Some(address) = set(env, variable) {
            return Ok(found(address, variable, "OPENAI_API_KEY", env));
        }
    }
    if set(env, "OPENAI_API_KEY").is_some() {
        return Ok(found(OPENAI.to_owned(), "OPENAI_BASE_URL", "OPENAI_API_KEY", env));
    }
    if set(env, "LITELLM_PROXY_API_KEY").is_some() {
        return Err(NotConnected {
            why: "LITELLM_PROXY_API_KEY is set, but the proxy's address is missing".to_owned(),
            how: "set LITELLM_PROXY_BASE_URL, for example to http://localhost:4000".to_owned(),
            is_absent: false,
        });
    }
    Err(NotConnected {
        why: "no model is configured".to_owned(),
        how: "set OPENAI_API_KEY; or OPENAI_BASE_URL to any OpenAI-compatible server (http://localhost:11434/v1 for Ollama); or LITELLM_PROXY_BASE_URL \
              and LITELLM_PROXY_API_KEY; or write base_url under [models] in config.toml. OPENAI_MODEL or --model names the model"
            .to_owned(),
        is_absent: true,
    })
}

fn found(address: String, address_from: &str, key_from: &str, env: Lookup<'_>) -> FoundServer {
    let key = set(env, key_from).map_or(ApiKey::None, |key| ApiKey::Given(SecretString::from(key)));
    FoundServer { address, address_from: address_from.to_owned(), key, key_from: key_from.to_owned() }
}

fn configured(config: &ModelsConfig, env: Lookup<'_>) -> Result<FoundServer, NotConnected> {
    let (address, address_from) = match (&config.base_url, set(env, "OPENAI_BASE_URL")) {
        (Some(address), _) => (address.clone(), "base_url of [models]".to_owned()),
        (None, Some(address)) => (address, "OPENAI_BASE_URL".to_owned()),
        (None, None) => (OPENAI.to_owned(), "base_url of [models]".to_owned()),
    };
    if let Some(line) = &config.api_key_command {
        let key = ApiKey::Command { line: line.clone(), printed: OnceCell::new() };
        return Ok(FoundServer { address, address_from, key, key_from: "api_key_command of [models]".to_owned() });
    }
    let Some(variable) = &config.api_key_env else {
        // Without a word about keys the usual variable serves at OpenAI only: its key is not for other servers.
        let key_from = if address.contains("//api.openai.com") { "OPENAI_API_KEY" } else { "DAGDECK_API_KEY" };
        return Ok(FoundServer {
            key_from: format!("{key_from}, or set api_key_env of [models] to another variable"),
            ..found(address, &address_from, key_from, env)
        });
    };
    if set(env, variable).is_none() {
        return Err(NotConnected {
            why: format!("{variable} should hold the key (api_key_env of [models]), but it isn't set"),
            how: format!("set {variable}, or change api_key_env under [models] in config.toml"),
            is_absent: false,
        });
    }
    Ok(found(address, &address_from, variable, env))
}

/// A variable that is set and not blank.
fn set(env: Lookup<'_>, name: &str) -> Option<String> {
    env(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

/// Corrects what people leave out or write too much of: the scheme, `/v1`, `/chat/completions`, credentials.
fn parse_address(address: &str) -> Result<Url, String> {
    let address = address.trim();
    let with_scheme = if address.contains("://") {
        address.to_owned()
    } else {
        let local = ["localhost", "127.", "0.0.0.0", "[::1]", "192.168.", "10."].iter().any(|start| address.starts_with(start));
        format!("{}://{address}", if local { "http" } else { "https" })
    };
    let mut url = Url::parse(&with_scheme).map_err(|error| error.to_string())?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("`{}` is neither http nor https", url.scheme()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it contains a user name or password; use a key instead".to_owned());
    }
    url.set_query(None);
    url.set_fragment(None);
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix("/chat/completions").unwrap_or(path).to_owned();
    url.set_path(if path.is_empty() { "/v1" } else { &path });
    Ok(url)
}

fn limits(config: &TimeoutsConfig) -> Result<CallLimits, NotConnected> {
    let duration = |name: &str, seconds: f64| {
        Duration::try_from_secs_f64(seconds).ok().filter(|limit| !limit.is_zero()).ok_or_else(|| NotConnected {
            why: format!("`models.timeouts.{name}` is {seconds}"),
            how: "set it to a number of seconds above 0".to_owned(),
            is_absent: false,
        })
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

    fn env<'a>(pairs: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
        move |name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    }

    fn server(config: &ModelsConfig, pairs: &[(&str, &str)]) -> Result<(String, Option<String>), String> {
        use secrecy::ExposeSecret;
        let found = find_server(config, &env(pairs)).map_err(|not| not.why)?;
        let key = match found.key {
            ApiKey::None => None,
            ApiKey::Given(key) => Some(key.expose_secret().to_owned()),
            ApiKey::Command { line, .. } => Some(format!("$({line})")),
        };
        Ok((found.address, key))
    }

    #[test]
    fn the_usual_variables_connect() {
        let none = ModelsConfig::default();
        let at = |address: &str, key: Option<&str>| Ok((address.to_owned(), key.map(str::to_owned)));
        assert_eq!(server(&none, &[("OPENAI_API_KEY", "k")]), at(OPENAI, Some("k")));
        assert_eq!(server(&none, &[("OPENAI_API_KEY", "k"), ("OPENAI_API_BASE", "http://h/v1")]), at("http://h/v1", Some("k")));
        assert_eq!(server(&none, &[("OPENAI_BASE_URL", "http://h/v1")]), at("http://h/v1", None));
        let both = [("OPENAI_API_KEY", "k"), ("LITELLM_PROXY_BASE_URL", "http://l"), ("LITELLM_PROXY_API_KEY", "lk")];
        assert_eq!(server(&none, &both), at("http://l", Some("lk")));
    }

    #[test]
    fn nothing_configured_says_how_to_connect() {
        let blank = env(&[("OPENAI_API_KEY", " ")]);
        let not = connect(&ModelsConfig::default(), None, &blank, Knowledge::default()).err().unwrap();
        assert_eq!(not.why, "no model is configured");
        assert!(not.how.contains("OPENAI_API_KEY"));
        let half = server(&ModelsConfig::default(), &[("LITELLM_PROXY_API_KEY", "k")]).unwrap_err();
        assert!(half.contains("LITELLM_PROXY_API_KEY"), "{half}");
    }

    #[test]
    fn the_configuration_comes_first_and_names_what_it_misses() {
        let config = ModelsConfig { base_url: Some("http://own/v1".into()), api_key_env: Some("OWN_KEY".into()), ..Default::default() };
        assert_eq!(server(&config, &[("OPENAI_API_KEY", "k"), ("OWN_KEY", "o")]), Ok(("http://own/v1".into(), Some("o".into()))));
        assert!(server(&config, &[("OPENAI_API_KEY", "k")]).unwrap_err().contains("OWN_KEY"));
        let command = ModelsConfig { api_key_command: Some("pass show x".into()), ..Default::default() };
        assert_eq!(server(&command, &[]), Ok((OPENAI.into(), Some("$(pass show x)".into()))));
    }

    #[test]
    fn openais_key_is_not_sent_to_another_server_of_the_configuration() {
        let config = ModelsConfig { base_url: Some("http://own/v1".into()), ..Default::default() };
        assert_eq!(server(&config, &[("OPENAI_API_KEY", "k")]), Ok(("http://own/v1".into(), None)));
    }

    #[test]
    fn the_models_name_is_taken_from_the_nearest_word() {
        let config = ModelsConfig {
            default: Some("from-config".into()),
            aliases: BTreeMap::from([("haiku".into(), "small-1".into())]),
            ..Default::default()
        };
        let variables = [("DAGDECK_MODEL", "from-env"), ("OPENAI_MODEL", "from-openai")];
        let name = |config: &ModelsConfig, wanted, variables| model_name(config, wanted, &env(variables));
        assert_eq!(name(&config, Some("haiku"), &variables).as_deref(), Some("small-1"));
        assert_eq!(name(&config, None, &variables).as_deref(), Some("from-env"));
        assert_eq!(name(&config, None, &variables[1..]).as_deref(), Some("from-config"));
        assert_eq!(name(&ModelsConfig::default(), None, &variables[1..]).as_deref(), Some("from-openai"));
        assert_eq!(name(&ModelsConfig::default(), None, &[]), None);
    }

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
    fn without_a_name_openai_has_a_default_and_other_servers_are_asked() {
        let name = |pairs: &[(&str, &str)]| connect(&ModelsConfig::default(), None, &env(pairs), Knowledge::default()).unwrap().name;
        assert_eq!(name(&[("OPENAI_API_KEY", "k")]), DEFAULT_MODEL);
        assert_eq!(name(&[("OPENAI_BASE_URL", "localhost:11434")]), AUTO);
    }

    #[test]
    fn addresses_are_corrected_or_refused() {
        let mended = |address: &str| parse_address(address).map(|url| url.to_string());
        for (written, meant) in [
            ("localhost:11434", "http://localhost:11434/v1"),
            ("http://localhost:4000/", "http://localhost:4000/v1"),
            ("https://api.openai.com/v1/", "https://api.openai.com/v1"),
            ("https://h/openai/v1/chat/completions", "https://h/openai/v1"),
            ("api.example.com/v1", "https://api.example.com/v1"),
        ] {
            assert_eq!(mended(written), Ok(meant.to_owned()), "{written}");
        }
        for bad in ["", "ftp://h", "http://", "http://user:pass@h/v1"] {
            assert!(mended(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_choice_is_read_from_its_name() {
        assert_eq!(ModelChoice::parse("rehearsal"), ModelChoice::Rehearsal);
        assert_eq!(ModelChoice::parse("operator"), ModelChoice::Operator);
        assert_eq!(ModelChoice::parse("gpt-4o"), ModelChoice::Real { model: "gpt-4o".into() });
    }

    #[test]
    fn keys_are_never_shown() {
        let key = ApiKey::Given(SecretString::from("sk-secret"));
        assert!(!format!("{key:?}").contains("sk-secret"));
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
