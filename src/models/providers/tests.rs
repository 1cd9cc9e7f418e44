//! Providers by settings and variables, in the order of the table.

use super::*;
use crate::models::client::Auth;
use secrecy::ExposeSecret;
use std::collections::BTreeMap;

fn env<'a>(pairs: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
    move |name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
}

/// Name, address and key of a server, or why it can't be used.
type Shown = Result<(String, String, Option<String>), String>;

fn servers(config: &ModelsConfig, pairs: &[(&str, &str)]) -> Vec<Shown> {
    let key = |key: &ApiKey| match key {
        ApiKey::None => None,
        ApiKey::Given(key) => Some(key.expose_secret().to_owned()),
        ApiKey::Command { line, .. } => Some(format!("$({line})")),
    };
    let shown = |found: FoundServer| (found.name, found.base.to_string(), key(&found.key));
    configured(config, &env(pairs)).into_iter().map(|found| found.map(shown).map_err(|not| not.why)).collect()
}

fn at(name: &str, address: &str, key: Option<&str>) -> Shown {
    Ok((name.to_owned(), address.to_owned(), key.map(str::to_owned)))
}

#[test]
fn every_known_provider_works_by_being_set() {
    let none = ModelsConfig::default();
    for (pairs, expected) in [
        (vec![("OPENAI_API_KEY", "k")], at("openai", "https://api.openai.com/v1", Some("k"))),
        (vec![("OPENAI_API_KEY", "k"), ("OPENAI_API_BASE", "http://h/v1")], at("openai", "http://h/v1", Some("k"))),
        (vec![("OPENAI_BASE_URL", "http://h")], at("openai", "http://h/v1", None)),
        (vec![("LITELLM_PROXY_BASE_URL", "http://l"), ("LITELLM_PROXY_API_KEY", "lk")], at("litellm", "http://l/v1", Some("lk"))),
        (vec![("ANTHROPIC_API_KEY", "k")], at("anthropic", "https://api.anthropic.com/v1", Some("k"))),
        (vec![("GEMINI_API_KEY", "k")], at("gemini", "https://generativelanguage.googleapis.com/v1beta/openai", Some("k"))),
        (vec![("GEMINI_BASE_URL", "http://h"), ("GEMINI_API_KEY", "k")], at("gemini", "http://h/v1beta", Some("k"))),
        (
            vec![("GOOGLE_GEMINI_BASE_URL", "http://h/google/v1beta/openai"), ("GEMINI_API_KEY", "k")],
            at("gemini", "http://h/google/v1beta/openai", Some("k")),
        ),
        (
            vec![("ANTHROPIC_BASE_URL", "https://h/anthropic/"), ("ANTHROPIC_API_KEY", "k")],
            at("anthropic", "https://h/anthropic/v1", Some("k")),
        ),
        (vec![("ANTHROPIC_BASE_URL", "https://h/a/v1"), ("ANTHROPIC_API_KEY", "k")], at("anthropic", "https://h/a/v1", Some("k"))),
        (vec![("ANTHROPIC_BASE_URL", "https://h/a/messages"), ("ANTHROPIC_API_KEY", "k")], at("anthropic", "https://h/a", Some("k"))),
        (vec![("OPENROUTER_API_KEY", "k")], at("openrouter", "https://openrouter.ai/api/v1", Some("k"))),
        (vec![("MISTRAL_API_KEY", "k")], at("mistral", "https://api.mistral.ai/v1", Some("k"))),
        (vec![("GROQ_API_KEY", "k")], at("groq", "https://api.groq.com/openai/v1", Some("k"))),
        (vec![("DEEPSEEK_API_KEY", "k")], at("deepseek", "https://api.deepseek.com/v1", Some("k"))),
        (
            vec![("AZURE_OPENAI_ENDPOINT", "https://me.openai.azure.com/"), ("AZURE_OPENAI_API_KEY", "k")],
            at("azure", "https://me.openai.azure.com/openai/v1", Some("k")),
        ),
        (vec![("OLLAMA_HOST", "0.0.0.0")], at("ollama", "http://localhost:11434/v1", None)),
        (vec![("OLLAMA_HOST", "big-machine:8000")], at("ollama", "http://big-machine:8000/v1", None)),
        (vec![(LOCAL_SERVER, "http://127.0.0.1:1234/v1")], at("lmstudio", "http://127.0.0.1:1234/v1", None)),
    ] {
        assert_eq!(servers(&none, &pairs), [expected], "{pairs:?}");
    }
    assert!(servers(&none, &[("OPENAI_API_KEY", " "), (LOCAL_SERVER, "none")]).is_empty());
    assert!(known().iter().all(|provider| provider.default.is_some() || provider.traits.is_local || provider.address.is_none()));
}

#[test]
fn the_first_of_the_table_is_used_and_a_server_on_this_machine_only_alone() {
    let pairs = [("ANTHROPIC_API_KEY", "a"), ("OPENAI_API_KEY", "o"), (LOCAL_SERVER, "http://127.0.0.1:1234/v1")];
    let names: Vec<String> = servers(&ModelsConfig::default(), &pairs).into_iter().map(|found| found.unwrap().0).collect();
    assert_eq!(names, ["openai", "anthropic"]);
}

#[test]
fn traits_follow_the_address_and_not_the_variable_that_gave_it() {
    let traits = |pairs: &[(&str, &str)]| configured(&ModelsConfig::default(), &env(pairs)).remove(0).unwrap().traits;
    assert_eq!(traits(&[("OPENAI_BASE_URL", "http://elsewhere/v1")]), ServerTraits::default());
    assert!(traits(&[("OPENAI_BASE_URL", "http://127.0.0.1:11434/v1")]).is_local);
    assert_eq!(traits(&[("OPENAI_BASE_URL", "https://api.anthropic.com")]).api, Api::Anthropic);
    assert_eq!(traits(&[("ANTHROPIC_BASE_URL", "http://127.0.0.1:18110"), ("ANTHROPIC_API_KEY", "k")]).api, Api::Anthropic);
    let gemini = |pairs: &[(&str, &str)]| (traits(pairs).api, traits(pairs).auth);
    assert_eq!(gemini(&[("GEMINI_API_KEY", "k")]), (Api::Openai, Auth::Bearer));
    assert_eq!(gemini(&[("GEMINI_BASE_URL", "http://127.0.0.1:18110/v1beta/openai/")]), (Api::Openai, Auth::Bearer));
    assert_eq!(gemini(&[("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:18110")]), (Api::Gemini, Auth::XGoogApiKey));
    assert_eq!(gemini(&[("OPENAI_BASE_URL", "https://generativelanguage.googleapis.com/v1beta")]), (Api::Gemini, Auth::XGoogApiKey));
}

#[test]
fn half_a_setting_says_what_is_missing() {
    let half = servers(&ModelsConfig::default(), &[("LITELLM_PROXY_API_KEY", "k")]).remove(0).unwrap_err();
    assert!(half.contains("LITELLM_PROXY_API_KEY") && half.contains("address"), "{half}");
    assert!(servers(&ModelsConfig::default(), &[("OPENAI_BASE_URL", "ftp://x")]).remove(0).unwrap_err().contains("neither http"));
}

#[test]
fn the_configuration_comes_first_and_names_what_it_misses() {
    let config = ModelsConfig { base_url: Some("http://own/v1".into()), api_key_env: Some("OWN_KEY".into()), ..Default::default() };
    let first = |config: &ModelsConfig, pairs: &[(&str, &str)]| servers(config, pairs).remove(0);
    assert_eq!(first(&config, &[("OPENAI_API_KEY", "k"), ("OWN_KEY", "o")]), at("server", "http://own/v1", Some("o")));
    assert!(first(&config, &[("OPENAI_API_KEY", "k")]).unwrap_err().contains("OWN_KEY"));
    let command = ModelsConfig { api_key_command: Some("pass show x".into()), ..Default::default() };
    assert_eq!(first(&command, &[]), at("openai", "https://api.openai.com/v1", Some("$(pass show x)")));
    // OpenAI's key is not for other servers.
    let config = ModelsConfig { base_url: Some("http://own/v1".into()), ..Default::default() };
    assert_eq!(first(&config, &[("OPENAI_API_KEY", "k")]), at("server", "http://own/v1", None));
}

#[test]
fn further_servers_are_named_in_the_configuration() {
    let own = ProviderConfig { base_url: Some("http://work:8000".into()), api_key_env: Some("WORK".into()), ..Default::default() };
    let providers = BTreeMap::from([("work".to_owned(), own), ("groq".to_owned(), ProviderConfig::default())]);
    let config = ModelsConfig { providers, ..Default::default() };
    let found = servers(&config, &[("WORK", "w"), ("GROQ_API_KEY", "g"), ("OPENAI_API_KEY", "o")]);
    assert_eq!(
        found,
        [
            at("openai", "https://api.openai.com/v1", Some("o")),
            at("groq", "https://api.groq.com/openai/v1", Some("g")),
            at("work", "http://work:8000/v1", Some("w")),
        ]
    );
}

#[test]
fn a_key_in_a_file_is_taken_if_nobody_else_can_read_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("key");
    let own = ProviderConfig { api_key_file: Some(file.display().to_string()), ..Default::default() };
    let config = ModelsConfig { providers: BTreeMap::from([("openai".to_owned(), own)]), ..Default::default() };
    // A key that somebody gave for a server stays there.
    let first = || servers(&config, &[("OPENAI_API_KEY", "other"), ("OPENAI_BASE_URL", "http://elsewhere")]).remove(0);
    assert!(first().unwrap_err().contains("can't be read"));
    for (text, mode, expected) in
        [("kept-key\n", 0o600, None), ("kept-key", 0o640, Some("read by others")), (" \n", 0o600, Some("is empty"))]
    {
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        match expected {
            None => assert_eq!(first(), at("openai", "https://api.openai.com/v1", Some("kept-key"))),
            Some(why) => assert!(first().unwrap_err().contains(why)),
        }
    }
}

#[test]
fn a_server_is_called_by_what_is_known_there_or_by_its_host() {
    let work = ProviderConfig { base_url: Some("http://work:1/v1".into()), ..Default::default() };
    let config = ModelsConfig { providers: BTreeMap::from([("work".to_owned(), work)]), ..Default::default() };
    for (address, name) in [
        ("localhost:11434", "ollama"),
        ("https://api.anthropic.com", "anthropic"),
        ("http://127.0.0.1:18080/v1", "local"),
        ("https://api.llm.example.com/v1", "llm"),
        ("openai.example.com", "openai-2"),
        ("http://work:1", "work"),
        ("http://work:2", "work-2"),
    ] {
        assert_eq!(name_for(address, &config), Ok(name.to_owned()), "{address}");
    }
    assert!(name_for("ftp://x", &config).unwrap_err().why.contains("neither http nor https"));
    let typo = name_for("antropic", &ModelsConfig::default()).unwrap_err();
    assert!(typo.why.contains("`antropic` is neither a provider") && typo.why.contains("anthropic, gemini"), "{typo}");
}

#[test]
fn addresses_are_corrected_or_refused() {
    let corrected = |address: &str| parse_address(address, None).map(|url| url.to_string());
    for (written, meant) in [
        ("localhost:11434", "http://localhost:11434/v1"),
        ("http://localhost:4000/", "http://localhost:4000/v1"),
        ("https://api.openai.com/v1/", "https://api.openai.com/v1"),
        ("https://h/openai/v1/chat/completions", "https://h/openai/v1"),
        ("api.example.com/v1", "https://api.example.com/v1"),
    ] {
        assert_eq!(corrected(written), Ok(meant.to_owned()), "{written}");
    }
    for bad in ["", "ftp://h", "http://", "http://user:pass@h/v1"] {
        assert!(corrected(bad).is_err(), "{bad}");
    }
}

#[test]
fn keys_are_never_shown() {
    let key = ApiKey::Given(SecretString::from("sk-secret"));
    assert!(!format!("{key:?}").contains("sk-secret"));
}

#[test]
fn an_address_in_the_environment_goes_before_the_files_and_gets_no_key_of_the_files() {
    let config = ModelsConfig { base_url: Some("http://own/v1".into()), api_key_env: Some("OWN_KEY".into()), ..Default::default() };
    let pairs = [("OWN_KEY", "own"), ("OPENAI_BASE_URL", "http://env"), ("OPENAI_API_KEY", "k")];
    assert_eq!(servers(&config, &pairs), [at("openai", "http://env/v1", Some("k"))]);
    assert_eq!(servers(&config, &pairs[..2]), [at("openai", "http://env/v1", None)]);
    let same = [("OWN_KEY", "own"), ("OPENAI_BASE_URL", "http://own")];
    assert_eq!(servers(&config, &same)[0], at("server", "http://own/v1", Some("own")));
}
