//! The servers of one host, and which of them a model's name means. Clients are made when they are first needed; nothing is sent here.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use secrecy::SecretString;

use super::client::{ApiKey, CallLimits, Knowledge, ModelClient, Server};
use super::config::{AUTO, Connected, Lookup, ModelsConfig, NotConnected, limits};
use super::providers::{FoundServer, KnownProvider, by_provider_table, configured, known, set};
use super::{ChatModel, ModelError};

/// A client, or why there is none.
type ReadyClient = Result<Arc<dyn ChatModel>, NotConnected>;

/// The servers that are configured, the usual one first.
pub struct Servers {
    all: Vec<Result<OneServer, NotConnected>>,
    /// The model where nobody chose one, and who says so.
    usual: (String, String),
    limits: CallLimits,
    knowledge: Knowledge,
    /// Servers of the configuration that can't be used, by name.
    broken: BTreeMap<String, NotConnected>,
}

struct OneServer {
    name: String,
    provider: Option<&'static KnownProvider>,
    is_listed: bool,
    /// Until its client is made.
    found: Mutex<Option<FoundServer>>,
    client: OnceLock<ReadyClient>,
}

impl Servers {
    /// Makes ready what is configured.
    pub fn new(config: &ModelsConfig, env: Lookup<'_>, knowledge: Knowledge) -> Self {
        let mut found = configured(config, env);
        // The server of the default model that a person set up is the usual one.
        let default = config.default.as_ref().map(|name| config.resolve(name));
        let is_default = |found: &FoundServer| {
            found.is_listed && default.as_ref().and_then(|name| name.split_once('/')).is_some_and(|(server, _)| server == found.name)
        };
        found.sort_by_key(|found| !found.as_ref().is_ok_and(is_default));
        let usual = usual_model(config, found.first().and_then(|first| first.as_ref().ok()), env);
        let (limits, wrong_limits) = match limits(&config.timeouts) {
            Ok(limits) => (limits, None),
            Err(not) => (CallLimits::default(), Some(not)),
        };
        let ready = |found: Result<FoundServer, NotConnected>| {
            if let Some(not) = &wrong_limits {
                return Err(not.clone());
            }
            let FoundServer { name, provider, is_listed, .. } = found.as_ref().map_err(Clone::clone)?;
            let (name, provider, is_listed) = (name.clone(), *provider, *is_listed);
            Ok(OneServer { name, provider, is_listed, found: Mutex::new(found.ok()), client: OnceLock::new() })
        };
        let broken = config.providers.iter().filter_map(|(name, own)| Some((name.clone(), by_provider_table(name, own, env).err()?)));
        Self { all: found.into_iter().map(ready).collect(), usual, limits, knowledge, broken: broken.collect() }
    }

    /// The model where nobody chose one.
    pub fn usual(&self) -> &str {
        &self.usual.0
    }

    /// Who says that this is the usual model, for people.
    pub fn usual_by(&self) -> &str {
        &self.usual.1
    }

    /// Where a model of this name is asked, with its name there.
    ///
    /// # Errors
    /// When nothing is configured, or what is can't work.
    pub fn connect(&self, model: &str) -> Result<Connected, NotConnected> {
        let first = self.all.first().ok_or_else(absent)?;
        let (server, name) = self.route(first, model)?;
        if name == AUTO
            && let Ok(OneServer { provider: Some(provider), .. }) = server
            && provider.needs_name
        {
            return Err(unnamed(provider));
        }
        let client = self.client(server)?;
        let provider = client.provider().to_owned();
        Ok(Connected { model: client, name: name.to_owned(), provider })
    }

    /// The server that a model of this name is asked at, named as `clients` does, and its name there.
    pub fn place(&self, model: &str) -> Option<(Option<&str>, String)> {
        let first = self.all.first()?;
        let (server, name) = self.route(first, model).ok()?;
        let is_further = !std::ptr::eq(server, first);
        Some((server.as_ref().ok().filter(|_| is_further).map(|server| server.name.as_str()), name.to_owned()))
    }

    /// Whether a model of this name is asked through a gateway, which says nothing of where it runs.
    pub fn is_gateway(&self, model: &str) -> bool {
        let server = self.all.first().and_then(|first| self.route(first, model).ok());
        server.and_then(|(server, _)| server.as_ref().ok()?.provider).is_some_and(|provider| provider.is_gateway)
    }

    /// Clients of every server that works, the usual one first, with the name of the others.
    pub fn clients(&self) -> Vec<(Option<&str>, ReadyClient)> {
        let mut clients = Vec::new();
        for (at, server) in self.all.iter().enumerate() {
            let name = server.as_ref().ok().filter(|_| at > 0).map(|server| server.name.as_str());
            clients.push((name, self.client(server)));
        }
        clients
    }

    /// The keys that are known by now, the usual server's first, with the name of the others. No client is made for that.
    pub fn keys(&self) -> Vec<(Option<&str>, SecretString)> {
        let mut keys = Vec::new();
        for (at, server) in self.all.iter().enumerate() {
            let Ok(server) = server else { continue };
            let key = match server.client.get() {
                Some(Ok(client)) => client.key().cloned(),
                Some(Err(_)) => None,
                None => match server.found.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|found| &found.key) {
                    Some(ApiKey::Given(key)) => Some(key.clone()),
                    Some(ApiKey::None | ApiKey::Command { .. }) | None => None,
                },
            };
            keys.extend(key.map(|key| ((at > 0).then_some(server.name.as_str()), key)));
        }
        keys
    }

    /// A name may begin with its server's (`anthropic/claude-sonnet-4-5`); else the family of a known provider says where it is, unless
    /// the usual server has it; else it is of the usual server. The names of a gateway begin with a provider of their own.
    fn route<'s, 'm>(
        &'s self,
        first: &'s Result<OneServer, NotConnected>,
        model: &'m str,
    ) -> Result<(&'s Result<OneServer, NotConnected>, &'m str), NotConnected> {
        let usual = first.as_ref().ok().and_then(|server| server.provider);
        let is_gateway = usual.is_some_and(|usual| usual.is_gateway);
        if let Some((prefix, name)) = model.split_once('/')
            && !name.is_empty()
        {
            if let Some(not) = self.broken.get(prefix) {
                return Err(not.clone());
            }
            let named = |server: &&Result<OneServer, NotConnected>| server.as_ref().is_ok_and(|server| server.name == prefix);
            let is_own = |server: &OneServer| server.is_listed || server.provider.is_none_or(|provider| provider.name != prefix);
            match self.all.iter().find(named) {
                Some(Ok(server)) if is_gateway && first.as_ref().is_ok_and(|first| first.name != prefix) && !is_own(server) => {}
                Some(server) => return Ok((server, name)),
                None => {
                    let vendor = usual.filter(|usual| !usual.families.is_empty());
                    if let (Some(_), Some(provider)) = (vendor, known().iter().find(|provider| provider.name == prefix)) {
                        return Err(not_configured(provider, model));
                    }
                }
            }
        }
        let fits = |provider: Option<&KnownProvider>| {
            provider.is_some_and(|provider| provider.families.iter().any(|family| model.starts_with(family.as_str())))
        };
        let is_elsewhere = usual.is_some_and(|usual| !usual.families.is_empty()) && !fits(usual);
        let other = self.all.iter().find(|server| server.as_ref().is_ok_and(|server| fits(server.provider)));
        Ok((other.filter(|_| is_elsewhere).unwrap_or(first), model))
    }

    fn client(&self, server: &Result<OneServer, NotConnected>) -> ReadyClient {
        let server = server.as_ref().map_err(Clone::clone)?;
        server.client.get_or_init(|| self.make(server)).clone()
    }

    fn make(&self, server: &OneServer) -> ReadyClient {
        let found = server.found.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.client_for(found.ok_or_else(absent)?)
    }

    /// A client for a server that need not be configured.
    ///
    /// # Errors
    /// When TLS can't be set up.
    pub fn client_for(&self, found: FoundServer) -> ReadyClient {
        let FoundServer { base, address_from, key, key_from, traits, provider, .. } = found;
        let small = provider.and_then(|provider| provider.default.clone());
        let server = Server { base, address_from, key, key_from, limits: self.limits.clone(), traits, small };
        let broken = |error: ModelError| NotConnected::new(error.message, error.hint.unwrap_or_default());
        Ok(Arc::new(ModelClient::new(server, self.knowledge.clone()).map_err(broken)?))
    }
}

/// The model where nobody chose one, by the nearest word, with who says so.
fn usual_model(config: &ModelsConfig, first: Option<&FoundServer>, env: Lookup<'_>) -> (String, String) {
    if let Some(name) = set(env, "DAGDECK_MODEL") {
        return (config.resolve(&name), "DAGDECK_MODEL names it".to_owned());
    }
    let default = config.default.as_ref().map(|name| (config.resolve(name), "it is the default in config.toml".to_owned()));
    // A default of a server that the file names is no matter of a variable, which is about another server.
    let names_server = |name: &str| name.split_once('/').is_some_and(|(server, _)| config.providers.contains_key(server));
    let is_own = default.as_ref().is_some_and(|(name, _)| names_server(name) || first.is_some_and(FoundServer::is_at_own_address));
    let provider = first.and_then(|first| first.provider);
    let named = first.and_then(|first| first.model.clone()).filter(|_| !is_own);
    if let Some(name) = named {
        let variable = provider.and_then(|provider| provider.model_env.as_deref()).unwrap_or("OPENAI_MODEL");
        return (name, format!("{variable} names it"));
    }
    if let Some(default) = default {
        return default;
    }
    match provider.and_then(|provider| Some((provider.default.clone()?, &provider.title))) {
        Some((name, title)) => (name, format!("no model is named, so the small one of {title} is used")),
        None => (AUTO.to_owned(), "no model is named, so the server is asked".to_owned()),
    }
}

fn not_configured(provider: &KnownProvider, model: &str) -> NotConnected {
    let variable = provider.key_env.first().or(provider.address_env.first()).map(String::as_str).unwrap_or_default();
    NotConnected::new(
        format!("`{model}` is a model of {}, which is not set up", provider.title),
        format!("set {variable}, or write [models.providers.{}] in config.toml", provider.name),
    )
}

fn unnamed(provider: &KnownProvider) -> NotConnected {
    let variable = provider.model_env.as_deref().unwrap_or("OPENAI_MODEL");
    NotConnected::new(
        format!("{} is asked by the name of a deployment of yours, and none is named", provider.title),
        format!("set {variable} to its name, or --model, or `dagdeck models setup {}`", provider.name),
    )
}

fn absent() -> NotConnected {
    NotConnected {
        why: "no model is set up".to_owned(),
        how: "set one up with `dagdeck models setup` (`M` in the console), or put a provider's key into its usual variable, such as OPENAI_API_KEY".to_owned(),
        is_absent: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn servers(table: &str, pairs: &[(&str, &str)]) -> Servers {
        let env = |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        Servers::new(&toml::from_str(table).unwrap(), &env, Knowledge::default())
    }

    fn asked(servers: &Servers, model: &str) -> String {
        match servers.connect(model) {
            Ok(Connected { name, provider, .. }) => format!("{name} at {provider}"),
            Err(not) => not.why,
        }
    }

    #[test]
    fn nothing_configured_says_how_to_connect() {
        let not = servers("", &[]).connect(AUTO).err().unwrap();
        assert!(not.is_absent && not.how.contains("OPENAI_API_KEY") && not.how.contains("dagdeck models setup"), "{}", not.how);
    }

    #[test]
    fn without_a_name_a_provider_has_a_small_model_and_other_servers_are_asked() {
        for (pairs, usual) in [
            (vec![("OPENAI_API_KEY", "k")], "gpt-4o-mini"),
            (vec![("OPENAI_API_KEY", "k"), ("OPENAI_MODEL", "m")], "m"),
            (vec![("ANTHROPIC_API_KEY", "k")], "claude-haiku-4-5"),
            (vec![("OPENAI_BASE_URL", "localhost:11434")], AUTO),
            (vec![("OPENAI_BASE_URL", "http://h"), ("OPENAI_MODEL", "m")], "m"),
            (vec![("LITELLM_PROXY_BASE_URL", "http://h"), ("OPENAI_MODEL", "m")], "m"),
        ] {
            assert_eq!(servers("", &pairs).usual(), usual, "{pairs:?}");
        }
        assert_eq!(servers("default = \"anthropic/claude-x\"", &[("OPENAI_API_KEY", "k")]).usual(), "anthropic/claude-x");
    }

    #[test]
    fn the_models_name_is_taken_from_the_nearest_word() {
        let usual = |table: &str, pairs: &[(&str, &str)]| {
            let servers = servers(table, pairs);
            (servers.usual().to_owned(), servers.usual_by().to_owned())
        };
        let table = "default = \"haiku\"\n[aliases]\nhaiku = \"small-1\"";
        let named = |name: &str, by: &str| (name.to_owned(), by.to_owned());
        let all = [("DAGDECK_MODEL", "from-env"), ("OPENAI_API_KEY", "k"), ("OPENAI_MODEL", "m")];
        assert_eq!(usual(table, &all), named("from-env", "DAGDECK_MODEL names it"));
        assert_eq!(usual(table, &all[1..]), named("m", "OPENAI_MODEL names it"));
        assert_eq!(usual(table, &all[1..2]), named("small-1", "it is the default in config.toml"));
        let set_up = "default = \"work/big\"\n[providers.work]\nbase_url = \"http://work\"";
        assert_eq!(usual(set_up, &all[1..]), named("work/big", "it is the default in config.toml"), "its server is set up");
        assert_eq!(usual("", &all[1..]), named("m", "OPENAI_MODEL names it"));
        assert_eq!(usual("", &all[1..2]), named("gpt-4o-mini", "no model is named, so the small one of OpenAI is used"));
        assert_eq!(usual("", &[]), named(AUTO, "no model is named, so the server is asked"));
    }

    #[test]
    fn a_models_name_says_which_server_is_asked() {
        let both = servers("", &[("OPENAI_API_KEY", "k"), ("ANTHROPIC_API_KEY", "a")]);
        for (model, expected) in [
            ("gpt-4o", "gpt-4o at api.openai.com"),
            ("claude-x", "claude-x at api.anthropic.com"),
            ("anthropic/claude-x", "claude-x at api.anthropic.com"),
            ("openai/gpt-4o", "gpt-4o at api.openai.com"),
            ("ft:own", "ft:own at api.openai.com"),
            ("groq/llama", "`groq/llama` is a model of Groq, which is not set up"),
        ] {
            assert_eq!(asked(&both, model), expected);
        }
        let gateway = servers("", &[("LITELLM_PROXY_BASE_URL", "http://l"), ("OPENAI_API_KEY", "k")]);
        assert_eq!(asked(&gateway, "openai/gpt-4o"), "openai/gpt-4o at l");
        assert_eq!(asked(&gateway, "litellm/openai/gpt-4o"), "openai/gpt-4o at l");
        assert!(gateway.is_gateway("smart") && !both.is_gateway("gpt-4o"));
        let listed = servers("[providers.openai]", &[("LITELLM_PROXY_BASE_URL", "http://l"), ("OPENAI_API_KEY", "k")]);
        assert_eq!(asked(&listed, "openai/gpt-4o"), "gpt-4o at api.openai.com", "what a person set up is meant");
        let own =
            servers("default = \"work/big\"\n[providers.groq]\n[providers.work]\nbase_url = \"http://work\"", &[("OPENAI_API_KEY", "k")]);
        assert_eq!(asked(&own, "other"), "other at work", "names go where the default model is");
        let plain = servers("[providers.work]\nbase_url = \"http://work\"", &[("OPENAI_BASE_URL", "http://h")]);
        assert_eq!(asked(&plain, "work/big"), "big at work");
        assert_eq!(asked(&plain, "mistral/own-name"), "mistral/own-name at h");
    }

    #[test]
    fn azure_is_asked_by_the_name_of_a_deployment_only() {
        let azure =
            [("AZURE_OPENAI_ENDPOINT", "https://me.openai.azure.com"), ("AZURE_OPENAI_API_KEY", "k"), ("AZURE_OPENAI_DEPLOYMENT", "mine")];
        let without = servers("", &azure[..2]);
        assert!(asked(&without, without.usual()).contains("none is named"));
        assert_eq!(asked(&without, "mine"), "mine at me.openai.azure.com");
        let named = servers("", &azure);
        assert_eq!(asked(&named, named.usual()), "mine at me.openai.azure.com");
    }

    #[test]
    fn a_wrong_setting_is_an_error_where_its_server_is_asked() {
        let broken = servers("[providers.work]\nbase_url = \"http://work\"", &[("OPENAI_BASE_URL", "ftp://x")]);
        assert!(asked(&broken, "m").contains("neither http nor https"));
        assert_eq!(asked(&broken, "work/big"), "big at work");
        let unfinished = servers("default = \"antropic/claude\"\n[providers.antropic]", &[("OPENAI_BASE_URL", "http://h")]);
        assert!(asked(&unfinished, unfinished.usual()).contains("[models.providers.antropic] has no address"), "no other server is asked");
        assert!(asked(&servers("[timeouts]\nfirst_s = 0", &[("OPENAI_API_KEY", "k")]), "m").contains("first_s"));
    }
}
