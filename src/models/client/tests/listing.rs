//! Which models a server has, and which one is meant.

use super::*;

#[tokio::test]
async fn a_server_without_a_list_of_models_says_so_and_not_that_it_has_no_answers() {
    let script = ServerScript::play(vec![Reply::json(404, &json!({"detail": "Not Found"}))]).await;
    let error = client(&script.address, limits()).list().await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Unlisted);
    assert!(error.message.contains("doesn't list its models"), "{error}");
}

#[tokio::test]
async fn models_are_listed_by_name() {
    let script = ServerScript::play(vec![
        Reply::json(200, &json!({"object": "list", "data": [{"id": "b"}, {"id": "a"}]})),
        Reply::json(200, &json!({"nothing": []})),
    ])
    .await;
    let client = client(&script.address, limits());
    assert_eq!(client.list().await.unwrap(), ["a", "b"]);
    assert!(script.seen()[0].head.starts_with("get /v1/models"));
    assert_eq!(client.list().await.unwrap_err().kind, ModelErrorKind::Nonsense);
}

/// What `auto` means to a client of a server that answers so; and why.
async fn chosen(replies: Vec<Reply>, is_local: bool, small: Option<&str>) -> (String, String) {
    let script = ServerScript::play(replies.into_iter().chain([Reply::text("x"), Reply::text("y")]).collect()).await;
    let traits = ServerTraits { is_local, ..ServerTraits::default() };
    let client = ModelClient { traits, small: small.map(str::to_owned), ..client(&script.address, limits()) };
    let request = ChatRequest { model: AUTO.into(), ..request() };
    let first = client.chat(&request, &mut |_| ()).await.unwrap();
    let second = client.chat(&request, &mut |_| ()).await.unwrap();
    assert_eq!((first.notes.len(), second.notes.len()), (1, 0));
    assert_eq!(script.seen().last().unwrap().body["model"], first.model.as_str());
    (first.model, first.notes[0].clone())
}

#[tokio::test]
async fn auto_means_what_runs_or_is_the_only_one_and_says_why() {
    let list = |names: &[&str]| Reply::json(200, &json!({"data": names.iter().map(|name| json!({"id": name})).collect::<Vec<_>>()}));
    let none = || Reply::json(404, &json!({"error": "not found"}));
    let ollama = vec![list(&["a-embed", "b", "c"]), Reply::json(200, &json!({"models": [{"name": "nomic-embed"}, {"name": "c"}]})), none()];
    let studio = json!({"data": [{"id": "b", "state": "not-loaded"}, {"id": "c", "state": "loaded"}]});
    for (replies, is_local, small, model, why) in [
        (ollama, true, None, "c", "runs at"),
        (vec![list(&["b", "c"]), none(), Reply::json(200, &studio)], true, None, "c", "runs at"),
        (vec![list(&["z", "b"]), none(), none()], true, None, "z", "first of 2"),
        (vec![list(&["a-embed", "z"])], false, None, "z", "only one"),
        (vec![list(&["z", "s"])], false, Some("s"), "s", "small one"),
    ] {
        let (chosen, reason) = chosen(replies, is_local, small).await;
        assert!(chosen == model && reason.contains(why), "{chosen}: {reason}");
    }
}

#[tokio::test]
async fn an_unknown_model_is_answered_with_the_nearest_names() {
    let unknown = Reply::json(404, &refused("The model `m` does not exist", json!("model_not_found")));
    let list = Reply::json(200, &json!({"data": [{"id": "zzzzzz"}, {"id": "m2"}, {"id": "other"}, {"id": "models/m3"}]}));
    let error = error_of(vec![unknown, list]).await;
    assert_eq!(error.kind, ModelErrorKind::UnknownModel);
    assert!(error.hint.as_deref().unwrap().starts_with("it offers `m2`, `m3`, `other`;"), "{error:?}");
}

#[tokio::test]
async fn servers_of_one_machine_are_known_by_what_they_list_and_asked_how_many_calls_they_work() {
    let owned = |owner: &str| Reply::json(200, &json!({"data": [{"id": "a", "owned_by": owner}]}));
    let props = |props: Value| Reply::json(200, &props);
    for (replies, slots) in [
        (vec![owned("llamacpp"), props(json!({"total_slots": 4}))], Some(4)),
        (vec![owned("llamacpp"), props(json!({"error": "no"}))], Some(2)),
        (vec![owned("library")], Some(2)),
        (vec![owned("organization_owner")], Some(2)),
        (vec![owned("openai")], None),
        (vec![Reply::raw(404, "", "")], None),
    ] {
        let asked = replies.len();
        let script = ServerScript::play(replies).await;
        let client = client(&script.address, limits());
        assert_eq!(client.slots().await, slots);
        assert_eq!(script.seen().len(), asked);
        let times = if slots.is_some() { 5 } else { 1 };
        assert_eq!(client.first_limit(), limits().first * times, "it reads a prompt slowly");
    }
    let other = client("https://127.0.0.1:9/v1", limits());
    assert_eq!(other.slots().await, None);
}

#[tokio::test]
async fn the_seed_has_the_name_that_its_server_knows() {
    let seeded = ChatRequest { settings: ModelSettings { seed: Some(7), ..ModelSettings::default() }, ..request() };
    for (seed, known, unknown) in [(None, "seed", "random_seed"), (Some("random_seed"), "random_seed", "seed")] {
        let script =
            ServerScript::play(vec![Reply::done(&[piece("a"), json!({"choices": [{"delta": {}, "finish_reason": "stop"}]})])]).await;
        let traits = ServerTraits { seed: seed.map(str::to_owned), ..ServerTraits::default() };
        let client = ModelClient { traits, ..client(&script.address, limits()) };
        client.chat(&seeded, &mut |_| {}).await.unwrap();
        let body = &script.seen()[0].body;
        assert_eq!((&body[known], &body[unknown]), (&json!(7), &Value::Null));
    }
}
