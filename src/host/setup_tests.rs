//! Setting up a model against servers that answer as real ones do: what is kept, and what is said of what is wrong.

use std::{path::Path, sync::Arc};

use serde_json::{Value, json};
use tempfile::TempDir;
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{header, method, path},
};

use super::{
    client::{KeptModel, ModelSetup, SetupFailure, SetupFault, SetupKey, SetupNews, SetupStep, TypedKey},
    config::Config,
    models::Models,
    places::Folders,
    setup::SetUp,
};
use crate::models::client::Learned;

const KEY: &str = "sk-very-secret-1";

struct SetupBed {
    folder: TempDir,
    server: MockServer,
}

impl SetupBed {
    async fn new() -> Self {
        Self { folder: TempDir::new().unwrap(), server: MockServer::start().await }
    }

    fn file(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join("config").join(name)
    }

    fn set_up(&self, env: &'static [(&str, &str)]) -> SetUp {
        let at = |name: &str| self.folder.path().join(name);
        let places = Folders { workspace: at("work"), settings: at("work"), home: at("home"), config: Some(at("config")) };
        let env = Arc::new(|name: &str| env.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()));
        let (user, project) = places.config_files();
        let config = Config::load(user.as_deref(), &project).unwrap();
        SetUp { places, models: Arc::new(Models::new(config.models, &*env, Learned::default())), env }
    }

    fn setup(&self, key: SetupKey, model: &str) -> ModelSetup {
        ModelSetup { address: Some(self.server.uri()), key, model: model.to_owned(), ..ModelSetup::default() }
    }

    /// The server lists these, and answers for the first, to those who have the key.
    async fn serves(&self, models: &[&str]) {
        let data: Vec<Value> = models.iter().map(|id| json!({"id": id})).collect();
        let bearer = || header("authorization", format!("Bearer {KEY}"));
        let list = ResponseTemplate::new(200).set_body_json(json!({"object": "list", "data": data}));
        Mock::given(path("/v1/models")).and(bearer()).respond_with(list).mount(&self.server).await;
        let answer = json!({"model": models[0], "usage": {"prompt_tokens": 9, "completion_tokens": 1},
            "choices": [{"message": {"content": "ready"}, "finish_reason": "stop"}]});
        let chat = Mock::given(method("POST")).and(bearer()).and(wiremock::matchers::body_partial_json(json!({"model": models[0]})));
        chat.respond_with(ResponseTemplate::new(200).set_body_json(answer)).mount(&self.server).await;
        let unknown = json!({"error": {"message": "The model does not exist", "code": "model_not_found"}});
        let other = Mock::given(method("POST")).and(bearer());
        other.respond_with(ResponseTemplate::new(404).set_body_json(unknown)).mount(&self.server).await;
        let refusal = json!({"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}});
        Mock::given(wiremock::matchers::any()).respond_with(ResponseTemplate::new(401).set_body_json(refusal)).mount(&self.server).await;
    }
}

fn typed(key: &str) -> SetupKey {
    SetupKey::Typed(TypedKey::new(key))
}

fn failure(news: SetupNews) -> (SetupFault, String) {
    let SetupNews::Failed(SetupFailure { message, fault }) = news else { panic!("{news:?}") };
    assert!(!message.contains(KEY), "{message}");
    (fault, message)
}

#[tokio::test]
async fn a_model_is_listed_tried_and_kept_with_its_key_in_a_file_of_its_own() {
    let bed = SetupBed::new().await;
    bed.serves(&["gpt-4o", "own"]).await;
    std::fs::create_dir(bed.file("")).unwrap();
    std::fs::write(bed.file("config.toml"), "# mine\n[limits]\nslots = 3\n").unwrap();
    let set_up = bed.set_up(&[]);
    let mut setup = bed.setup(typed(&format!(" {KEY}\n")), "");
    let SetupNews::Models(offers) = set_up.step(SetupStep::Look, &setup).await else { panic!() };
    assert_eq!((offers[0].name.as_str(), offers[0].window, offers[0].price), ("gpt-4o", Some(128_000), Some((2.5, 10.0))));
    assert_eq!((offers[1].window, offers[1].price), (None, None));
    setup.model = "gpt-4o".to_owned();
    let SetupNews::Answered(trial) = set_up.step(SetupStep::Try, &setup).await else { panic!() };
    assert_eq!((trial.tokens, trial.files.len()), (10, 2));
    assert!(!bed.file("keys").exists(), "nothing is written before the person says so");
    (setup.window, setup.price) = (Some(9000), Some((0.5, 1.0)));
    let SetupNews::Kept(KeptModel { model, overruled, .. }) = set_up.step(SetupStep::Keep, &setup).await else { panic!() };
    assert_eq!((model.as_str(), overruled), ("local/gpt-4o", None));

    let text = std::fs::read_to_string(bed.file("config.toml")).unwrap();
    assert!(text.starts_with("# mine\n[limits]\nslots = 3\n") && !text.contains(KEY), "{text}");
    use std::os::unix::fs::PermissionsExt;
    let mode = |file: &Path| file.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&bed.file("keys/local")), mode(&bed.file("keys"))), (0o600, 0o700));
    // The next start uses it.
    let again = bed.set_up(&[]);
    let list = again.models.list(again.models.preset(None).as_deref()).await;
    assert_eq!((list.used.as_deref(), list.why.as_deref()), (Some("gpt-4o"), Some("it is the default in config.toml")));
    assert_eq!(again.models.prices().window("gpt-4o"), Some(9000));
    assert!(!format!("{setup:?}").contains(KEY));

    // Another way to the key takes the place of the file.
    setup.key = SetupKey::Command("pass show x".to_owned());
    assert!(matches!(set_up.step(SetupStep::Keep, &setup).await, SetupNews::Kept(_)));
    let text = std::fs::read_to_string(bed.file("config.toml")).unwrap();
    assert!(text.contains("api_key_command = \"pass show x\"") && !text.contains("api_key_file"), "{text}");
}

#[tokio::test]
async fn what_is_wrong_is_said_without_the_key() {
    let bed = SetupBed::new().await;
    bed.serves(&["gpt-4o"]).await;
    let set_up = bed.set_up(&[("SET", KEY)]);
    let look = |key| set_up.step(SetupStep::Look, Box::leak(Box::new(bed.setup(key, ""))));
    for (key, words) in [
        (typed("sk-wrong-key-22"), "refused the key"),
        (typed("two words"), "no key looks like this"),
        (typed(""), "no key looks like this"),
        (SetupKey::None, "needs a key"),
        (SetupKey::Variable("UNSET".into()), "`UNSET` isn't set"),
        (SetupKey::Command("exit 3".into()), "key"),
    ] {
        let (fault, message) = failure(look(key).await);
        assert_eq!(fault, SetupFault::Key, "{message}");
        assert!(message.contains(words) && !message.contains("sk-wrong"), "{message}");
    }
    assert!(matches!(look(SetupKey::Variable("SET".into())).await, SetupNews::Models(_)));
    assert!(matches!(look(SetupKey::Command(format!("echo {KEY}"))).await, SetupNews::Models(_)));

    let (fault, message) = failure(set_up.step(SetupStep::Try, &bed.setup(typed(KEY), "gpt-4x")).await);
    assert_eq!(fault, SetupFault::Model);
    assert!(message.contains("has no model `gpt-4x`") && message.contains("it offers `gpt-4o`"), "{message}");

    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (address, words) in [(format!("http://{nobody}"), "can't reach"), ("ftp://x".to_owned(), "neither http nor https")] {
        let setup = ModelSetup { address: Some(address), ..bed.setup(typed(KEY), "") };
        let (fault, message) = failure(set_up.step(SetupStep::Look, &setup).await);
        assert!(fault == SetupFault::Address && message.contains(words), "{fault:?} {message}");
    }
}

#[tokio::test]
async fn a_server_without_a_list_of_models_can_be_used_by_name() {
    let bed = SetupBed::new().await;
    let answer = json!({"model": "m", "choices": [{"message": {"content": "ready"}, "finish_reason": "stop"}]});
    Mock::given(method("POST")).respond_with(ResponseTemplate::new(200).set_body_json(answer)).mount(&bed.server).await;
    let set_up = bed.set_up(&[]);
    let (fault, message) = failure(set_up.step(SetupStep::Look, &bed.setup(SetupKey::None, "")).await);
    assert!(fault == SetupFault::List && message.contains("doesn't list its models"), "{message}");
    assert!(matches!(set_up.step(SetupStep::Try, &bed.setup(SetupKey::None, "m")).await, SetupNews::Answered(_)));
}

#[tokio::test]
async fn a_variable_that_names_another_model_is_told() {
    let bed = SetupBed::new().await;
    let set_up = bed.set_up(&[("DAGDECK_MODEL", "other"), ("OPENAI_API_KEY", "k")]);
    let SetupNews::Kept(kept) = set_up.step(SetupStep::Keep, &bed.setup(SetupKey::None, "m")).await else { panic!() };
    assert_eq!(kept.overruled.as_deref(), Some("the next start uses `other`: DAGDECK_MODEL names it"));
    let first = &set_up.providers()[0];
    assert!(first.name == "openai" && first.has_key, "what is there already comes first");
}
