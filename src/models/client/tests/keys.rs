//! Keys that a command prints.

use super::*;

fn with_key(address: &str, key: ApiKey) -> Server {
    Server {
        base: address.parse().unwrap(),
        address_from: "a".into(),
        key,
        key_from: "k".into(),
        limits: limits(),
        traits: ServerTraits::default(),
        small: None,
    }
}

#[tokio::test]
async fn the_key_is_taken_from_a_command_once() {
    let script = ServerScript::play(vec![Reply::text("a"), Reply::text("b")]).await;
    let directory = tempfile::tempdir().unwrap();
    let line = format!("echo run >> {}/runs; echo sk-printed", directory.path().display());
    let key = ApiKey::Command { line, printed: OnceCell::new() };
    let server = with_key(&script.address, key);
    let client = ModelClient::new(server, Knowledge::default()).unwrap();
    for _ in 0..2 {
        client.chat(&request(), &mut |_| ()).await.unwrap();
    }
    assert!(script.seen().iter().all(|seen| seen.head.contains("bearer sk-printed")));
    assert_eq!(std::fs::read_to_string(directory.path().join("runs")).unwrap(), "run\n");
}

#[tokio::test]
async fn a_key_command_that_fails_is_an_error_without_what_it_printed() {
    let key = ApiKey::Command { line: "echo sk-secret; exit 3".into(), printed: OnceCell::new() };
    let server = with_key("http://127.0.0.1:9/v1", key);
    let error = ModelClient::new(server, Knowledge::default()).unwrap().chat(&request(), &mut |_| ()).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::NoKey);
    assert!(!error.message.contains("sk-secret") && error.message.contains('3'), "{error}");
}
