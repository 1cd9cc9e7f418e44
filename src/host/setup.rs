//! `SetUp`: sets up a model from nothing. A server is asked and a model tried before anything is written; then the person's own
//! `config.toml` names them, with a typed key in a file of its own that only that person can read. A key is shown nowhere.

use super::{
    client::Problem,
    config::Config,
    config_text::ConfigText,
    model_setup::{KeptModel, ModelOffer, ModelSetup, ModelTrial, ProviderOffer, SetupFailure, SetupFault, SetupKey, SetupNews, SetupStep},
    models::{Models, Real},
    places::Folders,
};
use crate::files::beside;
use crate::models::{
    ChatMessage, ChatModel, ChatRequest, ModelError, ModelErrorKind,
    client::ApiKey,
    config::{Environment, NotConnected},
    providers::{LOCAL_SERVER, ProviderConfig, by_provider_table, known, name_for, set},
};
use secrecy::SecretString;
use std::{
    fs::Permissions,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

/// The folder of keys, beside `config.toml`.
const KEYS: &str = "keys";
/// What a model is asked to see whether it answers.
const TRIAL: &str = "Answer with the one word: ready";

/// Sets up models for one host.
pub struct SetUp {
    pub(super) places: Folders,
    pub(super) models: Arc<Models>,
    pub(super) env: Environment,
}

impl SetUp {
    /// The providers to choose from: found on this machine first, then those whose key is set.
    pub fn providers(&self) -> Vec<ProviderOffer> {
        let found = set(&*self.env, LOCAL_SERVER);
        let offer = |provider: &crate::models::providers::KnownProvider| {
            let is_set = provider.key_env.iter().find(|name| set(&*self.env, name).is_some());
            ProviderOffer {
                name: provider.name.clone(),
                title: provider.title.clone(),
                address: provider.address.clone(),
                key_variable: is_set.or(provider.key_env.first()).cloned(),
                has_key: is_set.is_some(),
                is_local: provider.traits.is_local,
                is_found: provider.address.is_some() && provider.address == found,
            }
        };
        let mut offers: Vec<ProviderOffer> = known().iter().map(offer).collect();
        offers.sort_by_key(|offer| (!offer.is_found, !offer.has_key, offer.address.is_none()));
        offers
    }

    pub async fn step(&self, step: SetupStep, setup: &ModelSetup) -> SetupNews {
        let news = match step {
            SetupStep::Look => self.look(setup).await.map(SetupNews::Models),
            SetupStep::Try => self.try_out(setup).await.map(SetupNews::Answered),
            SetupStep::Keep => self.keep(setup).map(SetupNews::Kept).map_err(|problem| {
                let hint = problem.hint.map(|hint| format!("; {hint}")).unwrap_or_default();
                SetupFailure { message: format!("{}{hint}", problem.message), fault: SetupFault::Other }
            }),
        };
        news.unwrap_or_else(SetupNews::Failed)
    }

    async fn look(&self, setup: &ModelSetup) -> Result<Vec<ModelOffer>, SetupFailure> {
        let (client, name) = self.client(setup)?;
        if let Some(provider) = known().iter().find(|provider| provider.name == name && provider.needs_name) {
            let message = format!("{} doesn't list your deployments: the model is the name of one", provider.title);
            return Err(SetupFailure { message, fault: SetupFault::List });
        }
        let names = client.list().await.map_err(|error| SetupFailure::of(error, SetupStep::Look))?;
        if names.is_empty() {
            let message = format!("`{}` lists no models", client.provider());
            return Err(SetupFailure { message, fault: SetupFault::List });
        }
        Ok(names.into_iter().map(|name| self.offer(name, client.as_ref())).collect())
    }

    async fn try_out(&self, setup: &ModelSetup) -> Result<ModelTrial, SetupFailure> {
        let (client, name) = self.client(setup)?;
        let messages = vec![ChatMessage::User { content: TRIAL.to_owned() }];
        let request = ChatRequest { model: setup.model.clone(), messages, ..ChatRequest::default() };
        let started = Instant::now();
        let reply = client.chat(&request, &mut |_| {}).await.map_err(|error| SetupFailure::of(error, SetupStep::Try))?;
        let files = self.files(setup, &name).map(|files| files.iter().map(|file| file.display().to_string()).collect());
        Ok(ModelTrial {
            answered: reply.model,
            offer: self.offer(setup.model.clone(), client.as_ref()),
            host: client.provider().to_owned(),
            ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            tokens: reply.usage.prompt + reply.usage.completion,
            cost_usd: reply.cost_usd,
            files: files.unwrap_or_default(),
        })
    }

    fn offer(&self, name: String, client: &dyn ChatModel) -> ModelOffer {
        let prices = self.models.prices();
        let price = prices.of(&name).map(|price| (price.prompt, price.completion));
        ModelOffer { window: client.window(&name), price, name }
    }

    /// A client by what was given so far, and the server's name.
    fn client(&self, setup: &ModelSetup) -> Result<Real, SetupFailure> {
        let failed = |fault| move |not: NotConnected| SetupFailure { message: not.why, fault };
        let name = self.name(setup).map_err(failed(SetupFault::Address))?;
        let key = match &setup.key {
            SetupKey::Typed(key) if !key.is_possible() => {
                let message = "no key looks like this: it is empty, or has blanks or letters that keys don't have".to_owned();
                return Err(SetupFailure { message, fault: SetupFault::Key });
            }
            SetupKey::Variable(variable) if set(&*self.env, variable).is_none() => {
                let message = format!("the variable `{variable}` isn't set where dagdeck was started");
                return Err(SetupFailure { message, fault: SetupFault::Key });
            }
            SetupKey::Typed(key) => Some(ApiKey::Given(SecretString::from(key.expose()))),
            SetupKey::None | SetupKey::Command(_) | SetupKey::Variable(_) => None,
        };
        let mut found = by_provider_table(&name, &self.table(setup, &name), &*self.env).map_err(failed(SetupFault::Address))?;
        found.key = key.unwrap_or(found.key);
        let client = self.models.servers().client_for(found).map_err(failed(SetupFault::Other))?;
        Ok((client, name))
    }

    fn name(&self, setup: &ModelSetup) -> Result<String, NotConnected> {
        match (setup.provider.as_str(), &setup.address) {
            ("", Some(address)) => name_for(address, self.models.config()),
            (provider, _) => Ok(provider.to_owned()),
        }
    }

    /// The server's table of the configuration, without a key that was typed.
    fn table(&self, setup: &ModelSetup, name: &str) -> ProviderConfig {
        let (api_key_env, api_key_command) = match &setup.key {
            SetupKey::Variable(name) => (Some(name.clone()), None),
            SetupKey::Command(line) => (None, Some(line.clone())),
            SetupKey::Typed(_) | SetupKey::None => (None, None),
        };
        let api = self.models.config().providers.get(name).and_then(|own| own.api);
        ProviderConfig { base_url: setup.address.clone(), api_key_env, api_key_command, api_key_file: None, api }
    }

    /// What is written: the configuration, and a file for a typed key.
    fn files(&self, setup: &ModelSetup, name: &str) -> Option<Vec<PathBuf>> {
        let folder = self.places.config.as_ref()?;
        let key = matches!(setup.key, SetupKey::Typed(_)).then(|| folder.join(KEYS).join(name));
        Some([folder.join("config.toml")].into_iter().chain(key).collect())
    }

    fn keep(&self, setup: &ModelSetup) -> Result<KeptModel, Problem> {
        let name = self.name(setup).map_err(|not| Problem::new(not.why).hint(not.how))?;
        let Some(files) = self.files(setup, &name) else {
            return Err(Problem::new("there is no folder for your settings: the system has no home folder"));
        };
        let model = format!("{name}/{}", setup.model);
        let mut config = ConfigText::open(&files[0])?;
        let ProviderConfig { base_url, api_key_env, api_key_command, .. } = self.table(setup, &name);
        let key_file = files.get(1).map(|_| format!("{KEYS}/{name}"));
        config.put(&["models", "default"], Some(model.as_str().into()));
        config.table(&["models", "providers", &name]);
        for (setting, value) in
            [("base_url", base_url), ("api_key_env", api_key_env), ("api_key_command", api_key_command), ("api_key_file", key_file)]
        {
            config.put(&["models", "providers", &name, setting], value.map(Into::into));
        }
        if let Some(window) = setup.window {
            config.put(&["models", "windows", &setup.model], Some(i64::try_from(window).unwrap_or(i64::MAX).into()));
        }
        if let Some((prompt, completion)) = setup.price {
            let price = [("prompt", prompt), ("completion", completion)].into_iter().collect::<toml_edit::InlineTable>();
            config.put(&["models", "prices", &setup.model], Some(price.into()));
        }
        if let (Some(file), SetupKey::Typed(key)) = (files.get(1), &setup.key) {
            write_key(key.expose(), file).map_err(|error| Problem::new(format!("{} can't be written: {error}", file.display())))?;
        }
        config.save()?;
        let overruled = self.again()?.overruled(&model);
        Ok(KeptModel { model, files: files.iter().map(|file| file.display().to_string()).collect(), overruled })
    }

    /// The models by the configuration as it is written now.
    pub(super) fn again(&self) -> Result<Models, Problem> {
        let (user, project) = self.places.config_files();
        let config = Config::load(user.as_deref(), &project)?;
        Ok(self.models.again(config.models, &*self.env))
    }
}

impl SetupFailure {
    fn of(error: ModelError, step: SetupStep) -> Self {
        let fault = match (error.kind, step) {
            (ModelErrorKind::NoKey | ModelErrorKind::WrongKey, _) => SetupFault::Key,
            (ModelErrorKind::NoRoute | ModelErrorKind::Timeout, _) => SetupFault::Address,
            (
                ModelErrorKind::UnknownModel | ModelErrorKind::BadRequest | ModelErrorKind::Unlisted | ModelErrorKind::Nonsense,
                SetupStep::Look,
            ) => SetupFault::List,
            (ModelErrorKind::UnknownModel, _) => SetupFault::Model,
            _ => SetupFault::Other,
        };
        let message = match fault {
            SetupFault::List if error.kind == ModelErrorKind::Unlisted => error.message,
            SetupFault::List => format!("no list of models came: {}", error.message),
            // What is offered instead is said nowhere else.
            SetupFault::Model => error.hint.map_or(error.message.clone(), |hint| format!("{}; {}", error.message, first_part(&hint))),
            SetupFault::Key | SetupFault::Address | SetupFault::Other => error.message,
        };
        Self { message, fault }
    }
}

fn first_part(hint: &str) -> &str {
    hint.split(';').next().unwrap_or(hint)
}

/// Writes a key so that nobody else can read it at any moment.
fn write_key(key: &str, file: &Path) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    std::fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    beside::write_private(file, format!("{key}\n").as_bytes())
}
