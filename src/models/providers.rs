//! Known providers, and which servers are configured: by the `[models]` table, by the environment, or one found on this machine. The
//! environment comes in as a function, so that nothing here reads it by itself; only files of keys are read, and nothing is sent.

use reqwest::Url;
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use std::{os::unix::fs::PermissionsExt, path::Path, sync::LazyLock};
use tokio::sync::OnceCell;

use super::client::{Api, ApiKey, ServerTraits};
use super::config::{Lookup, ModelsConfig, NotConnected};
use crate::files;

/// Holds the address of a server on this machine, which is used where nothing else is configured.
pub const LOCAL_SERVER: &str = "DAGDECK_LOCAL_SERVER";

/// A provider of the shipped table.
#[derive(Debug, Deserialize)]
pub struct KnownProvider {
    pub name: String,
    /// Its name for people.
    pub title: String,
    pub address: Option<String>,
    #[serde(default)]
    pub address_env: Vec<String>,
    /// What an address without a path means.
    pub path: Option<String>,
    #[serde(default)]
    pub key_env: Vec<String>,
    pub model_env: Option<String>,
    /// The model where nobody names one.
    pub default: Option<String>,
    /// What it lists may not be asked: a person names the model.
    #[serde(default)]
    pub needs_name: bool,
    /// How the names of its models begin.
    #[serde(default)]
    pub families: Vec<String>,
    /// Its models are named with their own provider.
    #[serde(default)]
    pub is_gateway: bool,
    #[serde(flatten)]
    pub traits: ServerTraits,
}

impl KnownProvider {
    /// How it is spoken to at an address.
    fn traits_at(&self, base: &Url) -> ServerTraits {
        let traits = self.traits.clone();
        if base.path().ends_with("/openai") { traits.speaking(Api::Openai) } else { traits }
    }
}

#[derive(Deserialize)]
struct ProviderTable {
    provider: Vec<KnownProvider>,
}

/// The largest file of a key.
const KEY_FILE: u64 = 16 << 10;

/// The shipped table.
pub fn known() -> &'static [KnownProvider] {
    // The file is part of the program and a test reads it, so the default is never used.
    static KNOWN: LazyLock<Vec<KnownProvider>> =
        LazyLock::new(|| toml::from_str::<ProviderTable>(include_str!("providers.toml")).map(|table| table.provider).unwrap_or_default());
    &KNOWN
}

/// One more server, for models that are named with it: `work/big-model`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProviderConfig {
    /// Its address; for a provider that dagdeck knows, the usual one without it.
    pub base_url: Option<String>,
    /// Name of the environment variable that holds its key.
    pub api_key_env: Option<String>,
    /// Shell command that prints its key.
    pub api_key_command: Option<String>,
    /// File that holds its key and that only you can read, named from the folder of `config.toml`. `dagdeck models setup` writes it.
    pub api_key_file: Option<String>,
    /// The API that it speaks: `openai`, `anthropic` or `gemini`.
    pub api: Option<Api>,
}

/// A server that is configured.
#[derive(Debug)]
pub struct FoundServer {
    /// What names of its models may begin with.
    pub name: String,
    pub base: Url,
    /// What set the address, for messages.
    pub address_from: String,
    pub key: ApiKey,
    /// What gave the key, or what would, for messages.
    pub key_from: String,
    pub traits: ServerTraits,
    /// The provider that this address is known for.
    pub provider: Option<&'static KnownProvider>,
    /// The model that the environment names for it.
    pub model: Option<String>,
    /// The configuration names it, so that its name before a model's means it and no gateway.
    pub is_listed: bool,
}

/// Every server that is configured, the one first that is used where a name says nothing else. A wrong setting is an error of its
/// server alone.
pub fn configured(config: &ModelsConfig, env: Lookup<'_>) -> Vec<Result<FoundServer, NotConnected>> {
    let mut found = Vec::new();
    let is_set = config.base_url.is_some() || config.api_key_env.is_some() || config.api_key_command.is_some();
    // An address in the environment is asked with the key from there: the file's is for the file's address.
    if is_set && !is_overridden(config, env) {
        found.push(by_models_table(config, env));
    }
    let is_listed = |provider: &&KnownProvider| !config.providers.contains_key(&provider.name);
    found.extend(known().iter().filter(is_listed).filter_map(|provider| by_environment(provider, env)));
    found.extend(config.providers.iter().map(|(name, own)| by_provider_table(name, own, env)));
    if found.is_empty()
        && let Some(address) = set(env, LOCAL_SERVER).filter(|address| address != "none")
    {
        found.push(found_at(&address, "a server found on this machine", None, "OPENAI_API_KEY".to_owned(), ApiKey::None, env));
    }
    found
}

/// Whether the environment names another address than the file does.
fn is_overridden(config: &ModelsConfig, env: Lookup<'_>) -> bool {
    let named = ["OPENAI_BASE_URL", "OPENAI_API_BASE"].iter().find_map(|name| set(env, name));
    let base = |address: &str| parse_address(address, None).ok();
    config.base_url.as_ref().zip(named).is_some_and(|(own, named)| base(own) != base(&named))
}

fn by_environment(provider: &'static KnownProvider, env: Lookup<'_>) -> Option<Result<FoundServer, NotConnected>> {
    let address = address_by_environment(provider, env);
    let key = provider.key_env.iter().find_map(|name| Some((set(env, name)?, name.as_str())));
    let (address, address_from) = match (address, &provider.address, &key) {
        (Some((address, from)), ..) => (address, from),
        (None, Some(address), Some(_)) => (address.clone(), provider.address_env.first().map_or("providers", String::as_str)),
        (None, None, Some((_, variable))) => {
            let wanted = provider.address_env.first().map(String::as_str).unwrap_or_default();
            return Some(Err(NotConnected::new(
                format!("{variable} is set, but the address of {} is missing", provider.title),
                format!("set {wanted}, for example to http://localhost:4000"),
            )));
        }
        (None, _, None) => return None,
    };
    let key_from = key.as_ref().map(|(_, name)| *name).or(provider.key_env.first().map(String::as_str)).unwrap_or("OPENAI_API_KEY");
    let key = key.map_or(ApiKey::None, |(key, _)| ApiKey::Given(SecretString::from(key)));
    Some(found_at(&address, address_from, Some(provider), key_from.to_owned(), key, env))
}

/// What an address of the file is called in messages.
const OWN_ADDRESS: &str = "base_url of [models]";

impl FoundServer {
    /// Whether the file says where it is, so that the environment's word about models is not about it.
    pub fn is_at_own_address(&self) -> bool {
        self.address_from == OWN_ADDRESS
    }
}

/// The server of `base_url`, `api_key_env` and `api_key_command` themselves.
fn by_models_table(config: &ModelsConfig, env: Lookup<'_>) -> Result<FoundServer, NotConnected> {
    let openai = known().iter().find(|provider| provider.name == "openai");
    let (address, from) = match (&config.base_url, set(env, "OPENAI_BASE_URL")) {
        (Some(address), _) => (address.clone(), OWN_ADDRESS),
        (None, Some(address)) => (address, "OPENAI_BASE_URL"),
        (None, None) => (openai.and_then(|openai| openai.address.clone()).unwrap_or_default(), OWN_ADDRESS),
    };
    let own = ProviderConfig {
        base_url: Some(address),
        api_key_env: config.api_key_env.clone(),
        api_key_command: config.api_key_command.clone(),
        ..ProviderConfig::default()
    };
    found_by(&own, None, from, "[models]", env)
}

/// The server that a table of this name means.
///
/// # Errors
/// When it has no address, or a setting is wrong.
pub fn by_provider_table(name: &str, own: &ProviderConfig, env: Lookup<'_>) -> Result<FoundServer, NotConnected> {
    let provider = known().iter().find(|provider| provider.name == name);
    let table = format!("[models.providers.{name}]");
    let from = format!("base_url of {table}");
    let has_key = own.api_key_file.is_some() || own.api_key_command.is_some() || own.api_key_env.is_some();
    // A key that somebody gave goes where they said, not where a variable points.
    let moved = provider.filter(|_| own.base_url.is_none() && !has_key).and_then(|provider| address_by_environment(provider, env));
    let found = match moved {
        Some((address, from)) => found_by(&ProviderConfig { base_url: Some(address), ..own.clone() }, provider, from, &table, env)?,
        None => found_by(own, provider, &from, &table, env)?,
    };
    Ok(FoundServer { name: name.to_owned(), is_listed: true, ..found })
}

fn address_by_environment(provider: &'static KnownProvider, env: Lookup<'_>) -> Option<(String, &'static str)> {
    provider.address_env.iter().find_map(|name| Some((set(env, name)?, name.as_str())))
}

/// A server by what a table of the configuration says.
fn found_by(
    own: &ProviderConfig,
    provider: Option<&'static KnownProvider>,
    from: &str,
    table: &str,
    env: Lookup<'_>,
) -> Result<FoundServer, NotConnected> {
    let Some(address) = own.base_url.clone().or_else(|| provider?.address.clone()) else {
        return Err(NotConnected::new(format!("{table} has no address"), format!("write base_url under {table} in config.toml")));
    };
    let base = address_of(&address, from, provider)?;
    let provider = at(&base).or(provider);
    let (key, key_from) = if let Some(file) = &own.api_key_file {
        (ApiKey::Given(key_in(Path::new(file), table)?), format!("api_key_file of {table}"))
    } else if let Some(line) = &own.api_key_command {
        (ApiKey::Command { line: line.clone(), printed: OnceCell::new() }, format!("api_key_command of {table}"))
    } else if let Some(variable) = &own.api_key_env {
        let key = set(env, variable).ok_or_else(|| {
            NotConnected::new(
                format!("{variable} should hold the key (api_key_env of {table}), but it isn't set"),
                format!("set {variable}, or change api_key_env under {table} in config.toml"),
            )
        })?;
        (ApiKey::Given(SecretString::from(key)), variable.clone())
    } else {
        // Without a word about keys a provider's usual variable serves at its own address only: its key is not for other servers.
        let usual = at(&base).map_or(&[][..], |provider| &provider.key_env);
        let key = usual.iter().find_map(|name| set(env, name)).or_else(|| set(env, "DAGDECK_API_KEY"));
        let name = usual.first().map_or("DAGDECK_API_KEY", String::as_str);
        let key_from = format!("{name}, or set api_key_env of {table} to another variable");
        (key.map_or(ApiKey::None, |key| ApiKey::Given(SecretString::from(key))), key_from)
    };
    let mut found = found_at(&address, from, provider, key_from, key, env)?;
    if let Some(api) = own.api {
        found.traits = found.traits.speaking(api);
    }
    Ok(found)
}

fn found_at(
    address: &str,
    from: &str,
    provider: Option<&'static KnownProvider>,
    key_from: String,
    key: ApiKey,
    env: Lookup<'_>,
) -> Result<FoundServer, NotConnected> {
    let base = address_of(address, from, provider)?;
    // Whose variables named the address says nothing about what answers there.
    let there = at(&base).or(provider.filter(|provider| provider.name != "openai"));
    let named = provider.or(there);
    Ok(FoundServer {
        name: named.map_or_else(|| "server".to_owned(), |provider| provider.name.clone()),
        traits: there.map(|provider| provider.traits_at(&base)).unwrap_or_default(),
        model: set(env, named.and_then(|provider| provider.model_env.as_deref()).unwrap_or("OPENAI_MODEL")),
        base,
        address_from: from.to_owned(),
        key,
        key_from,
        provider: there,
        is_listed: false,
    })
}

/// The key in a file, which nobody else may read.
fn key_in(file: &Path, table: &str) -> Result<SecretString, NotConnected> {
    let not = |why: String, how: &str| NotConnected::new(format!("the file of the key (api_key_file of {table}) {why}"), how);
    let unreadable = |error: std::io::Error| not(format!("can't be read: {error}"), "give the key again: `dagdeck models setup`");
    let text = files::read_text(file, KEY_FILE).map_err(unreadable)?;
    let mode = std::fs::metadata(file).map_err(unreadable)?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(not("can be read by others".to_owned(), &format!("chmod 600 {}", file.display())));
    }
    match text.trim() {
        "" => Err(not("is empty".to_owned(), "give the key again: `dagdeck models setup`")),
        key => Ok(SecretString::from(key.to_owned())),
    }
}

/// The provider whose usual address has this host, and this port on this machine.
fn at(base: &Url) -> Option<&'static KnownProvider> {
    let place = |url: &Url| {
        let host = url.host_str().unwrap_or_default().to_owned();
        let is_here = matches!(host.as_str(), "localhost" | "127.0.0.1" | "[::1]");
        (if is_here { "localhost".to_owned() } else { host }, url.port_or_known_default())
    };
    known().iter().find(|provider| {
        provider.address.as_ref().and_then(|usual| Url::parse(usual).ok()).is_some_and(|usual| place(&usual) == place(base))
    })
}

/// The name for a server at an address that a person gave: of the provider that is known there, else the first word of the host that says
/// something and is nobody else's.
///
/// # Errors
/// When it is no address.
pub fn name_for(address: &str, config: &ModelsConfig) -> Result<String, NotConnected> {
    if !address.contains(['.', ':', '/']) && address.trim() != "localhost" {
        let known = known().iter().map(|provider| provider.name.as_str()).collect::<Vec<_>>().join(", ");
        return Err(NotConnected::new(
            format!("`{}` is neither a provider that dagdeck knows ({known}) nor an address", address.trim()),
            "write an address like http://localhost:8080/v1",
        ));
    }
    let base = address_of(address, "what you gave", None)?;
    if let Some(provider) = at(&base) {
        return Ok(provider.name.clone());
    }
    let host = base.host_str().unwrap_or_default().to_lowercase();
    let is_word =
        |label: &&str| label.starts_with(|first: char| first.is_ascii_alphabetic()) && !["api", "www", "localhost"].contains(label);
    let stem = host.split('.').find(is_word).unwrap_or("local").to_owned();
    let is_free = |name: &String| {
        let same =
            |own: &ProviderConfig| own.base_url.as_ref().is_some_and(|other| parse_address(other, None).is_ok_and(|other| other == base));
        known().iter().all(|provider| provider.name != *name) && config.providers.get(name).is_none_or(same)
    };
    let numbered = (2..100).map(|number| format!("{stem}-{number}"));
    Ok(std::iter::once(stem.clone()).chain(numbered).find(is_free).unwrap_or(stem))
}

fn address_of(address: &str, from: &str, provider: Option<&KnownProvider>) -> Result<Url, NotConnected> {
    parse_address(address, provider)
        .map_err(|why| NotConnected::new(format!("the address in {from} is wrong: {why}"), "write it like http://localhost:8080/v1"))
}

/// A variable that is set and not blank.
pub fn set(env: Lookup<'_>, name: &str) -> Option<String> {
    env(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

/// Corrects what people leave out or write too much of: the scheme, Ollama's port, the path, `/chat/completions`, credentials.
fn parse_address(address: &str, provider: Option<&KnownProvider>) -> Result<Url, String> {
    let address = address.trim();
    let is_ollama = provider.is_some_and(|provider| provider.name == "ollama");
    let with_scheme = if address.contains("://") {
        address.to_owned()
    } else {
        let local = ["localhost", "127.", "0.0.0.0", "[::1]", "192.168.", "10."].iter().any(|start| address.starts_with(start));
        format!("{}://{address}", if local || is_ollama { "http" } else { "https" })
    };
    let mut url = Url::parse(&with_scheme).map_err(|error| error.to_string())?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("`{}` is neither http nor https", url.scheme()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it contains a user name or password; use a key instead".to_owned());
    }
    // Ollama's own variable says where it listens: everywhere, and a port only where it isn't the usual one.
    if url.host_str() == Some("0.0.0.0") {
        url.set_host(Some("localhost")).map_err(|error| error.to_string())?;
    }
    if is_ollama && url.port().is_none() && url.scheme() == "http" {
        url.set_port(Some(11434)).map_err(|()| "it takes no port".to_owned())?;
    }
    url.set_query(None);
    url.set_fragment(None);
    let path = url.path().trim_end_matches('/').to_owned();
    let usual = provider.and_then(|provider| provider.path.as_deref()).unwrap_or("/v1");
    let named_whole = ["/chat/completions", "/messages"].iter().find_map(|end| path.strip_suffix(end));
    // Anthropic's and Google's own clients put the version after whatever path an address has.
    let adds_version = provider.is_some_and(|provider| provider.traits.api != Api::Openai) && !has_version(&path);
    url.set_path(&match named_whole {
        Some(whole) => whole.to_owned(),
        None if path.is_empty() => usual.to_owned(),
        None if adds_version => path + usual,
        None => path,
    });
    Ok(url)
}

/// Whether a path says which version of an interface is meant: `/v1`, `/v1beta`, `/v1beta/openai`.
fn has_version(path: &str) -> bool {
    path.split('/').any(|part| part.strip_prefix('v').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit())))
}

#[cfg(test)]
mod tests;
