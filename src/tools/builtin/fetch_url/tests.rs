//! `fetch_url` against a server on this computer, which is private and so is for every private host.

use super::*;
use crate::text::TEXT_CUT;
use crate::tools::{Judgement, ToolRegistry, ToolsConfig, builtin::fixture::Fixture};
use serde_json::json;
use wiremock::{Mock, MockServer, ResponseTemplate, matchers::path};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

/// A server that answers one path.
fn server(runtime: &tokio::runtime::Runtime, at: &str, answer: ResponseTemplate) -> MockServer {
    runtime.block_on(async {
        let server = MockServer::start().await;
        Mock::given(path(at)).respond_with(answer).mount(&server).await;
        server
    })
}

fn judged(registry: &ToolRegistry, url: &str) -> Judgement {
    let context = ToolContext::of(std::env::temp_dir());
    registry.judge("fetch_url", &json!({"url": url}), &context).unwrap()
}

#[test]
fn a_page_becomes_text_and_json_becomes_data() {
    let runtime = runtime();
    let page = ResponseTemplate::new(200).set_body_raw("<h1>Hi</h1><p>a &amp; b<script>x()</script>", "text/html");
    let server = server(&runtime, "/page", page);
    let data = ResponseTemplate::new(200).set_body_json(json!({"a": [1, 2]}));
    runtime.block_on(Mock::given(path("/data")).respond_with(data).mount(&server));
    let fixture = Fixture::new(&[]);
    let output = fixture.call("fetch_url", json!({"url": format!("{}/page", server.uri())})).unwrap();
    let text = output.value.as_str().unwrap();
    assert!(text.contains("Hi") && text.contains("a & b") && !text.contains("x()"), "{text}");
    assert_eq!((output.sources[0].kind.as_str(), output.sources[0].identifier.as_str()), ("web", &*format!("{}/page", server.uri())));
    assert_eq!(fixture.call("fetch_url", json!({"url": format!("{}/data", server.uri())})).unwrap().value, json!({"a": [1, 2]}));
}

#[test]
fn a_public_host_is_fetched_and_a_private_one_asks() {
    use crate::plan::Verdict;
    let registry = ToolRegistry::builtin(&ToolsConfig::default()).unwrap();
    for url in ["https://example.com/a", "example.com", "http://1.1.1.1"] {
        assert_eq!(judged(&registry, url).verdict, Verdict::Allow, "{url}");
    }
    for url in [
        "http://localhost:8080",
        "http://127.0.0.1",
        "http://[::1]/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://10.0.0.7",
        "http://nas.local",
    ] {
        assert_eq!(judged(&registry, url).verdict, Verdict::Ask, "{url}");
    }
    let mut config = ToolsConfig::default();
    config.fetch.private_hosts = vec!["nas.local".into()];
    assert_eq!(judged(&ToolRegistry::builtin(&config).unwrap(), "http://nas.local").verdict, Verdict::Allow);
}

#[test]
fn metadata_services_other_schemes_and_passwords_are_refused_even_when_approved() {
    let fixture = Fixture::new(&[]);
    let refused = |url: &str| {
        let error = fixture.call("fetch_url", json!({"url": url})).unwrap_err();
        assert!(error.nothing_began, "{url}: {error}");
        error.message
    };
    for url in ["http://169.254.169.254/latest/meta-data", "http://[fe80::1]/", "http://0.0.0.0/", "http://metadata.google.internal/"] {
        assert!(refused(url).contains("leads to an address of this computer or its network"), "{url}");
    }
    assert!(refused("file:///etc/passwd").contains("`file` addresses are not fetched"));
    assert!(refused("https://user:secret@example.com").contains("password"));
    assert!(refused("http://").contains("is not an address"));
}

#[test]
fn a_public_page_that_leads_into_the_own_network_is_refused() {
    let runtime = runtime();
    let inner = server(&runtime, "/", ResponseTemplate::new(200).set_body_string("inside"));
    let to = format!("http://localhost:{}/", inner.address().port());
    let outer = server(&runtime, "/out", ResponseTemplate::new(302).insert_header("location", to));
    let mut config = ToolsConfig::default();
    config.fetch.private_hosts = vec!["127.0.0.1".into()];
    let error = Fixture::with(config, &[]).call("fetch_url", json!({"url": format!("{}/out", outer.uri())})).unwrap_err();
    assert!(error.message.starts_with("`localhost` leads to"), "{error}");
    assert!(error.hint.unwrap().contains("tools.fetch.private_hosts"));
    assert!(runtime.block_on(inner.received_requests()).unwrap().is_empty());
}

#[test]
fn a_redirect_within_the_own_network_is_a_call_of_its_own() {
    let runtime = runtime();
    let inner = server(&runtime, "/", ResponseTemplate::new(200).set_body_string("inside"));
    let outer = server(&runtime, "/out", ResponseTemplate::new(302).insert_header("location", inner.uri()));
    let error = Fixture::new(&[]).call("fetch_url", json!({"url": format!("{}/out", outer.uri())})).unwrap_err();
    assert_eq!(error.goes_on, Some(Box::new(json!({ "url": format!("{}/", inner.uri()) }))));
    assert!(runtime.block_on(inner.received_requests()).unwrap().is_empty());
    let outer = server(&runtime, "/out", ResponseTemplate::new(302).insert_header("location", "http://169.254.169.254/"));
    let error = Fixture::new(&[]).call("fetch_url", json!({"url": format!("{}/out", outer.uri())})).unwrap_err();
    assert!(error.message.starts_with("`169.254.169.254` leads to"), "{error}");
}

#[test]
fn a_redirect_to_another_host_is_a_call_of_its_own() {
    let runtime = runtime();
    let inner = server(&runtime, "/", ResponseTemplate::new(200).set_body_string("inside"));
    let outer = server(&runtime, "/out", ResponseTemplate::new(302).insert_header("location", inner.uri()));
    let mut config = ToolsConfig::default();
    config.fetch.private_hosts = vec!["127.0.0.1".into()];
    let fixture = Fixture::with(config, &[]);
    let error = fixture.call("fetch_url", json!({"url": format!("{}/out", outer.uri())})).unwrap_err();
    assert_eq!(error.goes_on, Some(Box::new(json!({ "url": format!("{}/", inner.uri()) }))));
    assert!(runtime.block_on(inner.received_requests()).unwrap().is_empty(), "the next call is decided on first");
}

#[test]
fn a_name_that_leads_to_a_private_address_is_refused() {
    // The name is taken for public, as one would be whose owner points it at this computer.
    let addresses = ["1.1.1.1:80".parse().unwrap(), "127.0.0.1:80".parse().unwrap()];
    assert!(reachable(&addresses, Reach::Private));
    assert!(!reachable(&addresses, Reach::Public));
    assert!(!reachable(&["169.254.169.254:80".parse().unwrap()], Reach::Private));
    assert!(!reachable(&[], Reach::Public));
}

#[test]
fn redirects_on_the_same_host_are_followed_but_not_for_ever() {
    let runtime = runtime();
    let server = server(&runtime, "/a", ResponseTemplate::new(301).insert_header("location", "/b"));
    runtime.block_on(async {
        Mock::given(path("/b")).respond_with(ResponseTemplate::new(200).set_body_string("there")).mount(&server).await;
        Mock::given(path("/loop")).respond_with(ResponseTemplate::new(302).insert_header("location", "/loop")).mount(&server).await;
    });
    let fixture = Fixture::new(&[]);
    assert_eq!(fixture.call("fetch_url", json!({"url": format!("{}/a", server.uri())})).unwrap().value, json!("there"));
    let error = fixture.call("fetch_url", json!({"url": format!("{}/loop", server.uri())})).unwrap_err();
    assert_eq!(error.message, "more than 5 redirects");
}

#[test]
fn failures_say_whether_they_may_pass() {
    let runtime = runtime();
    let fixture = Fixture::new(&[]);
    for (status, transient, nothing_began) in [(404, false, false), (429, true, true), (503, true, false)] {
        let server = server(&runtime, "/", ResponseTemplate::new(status));
        let error = fixture.call("fetch_url", json!({"url": server.uri()})).unwrap_err();
        assert_eq!((error.transient, error.nothing_began), (transient, nothing_began), "{status}");
        assert!(error.message.contains(&status.to_string()));
    }
    let error = fixture.call("fetch_url", json!({"url": "http://127.0.0.1:1/"})).unwrap_err();
    assert!(error.transient && error.nothing_began, "{error}");
}

#[test]
fn what_is_no_text_is_refused_and_what_is_long_is_cut() {
    let runtime = runtime();
    let image = server(&runtime, "/", ResponseTemplate::new(200).set_body_raw("x", "image/png"));
    let fixture = Fixture::new(&[]);
    assert!(fixture.call("fetch_url", json!({"url": image.uri()})).unwrap_err().message.contains("`image/png`, which is not text"));
    let long = server(&runtime, "/", ResponseTemplate::new(200).set_body_string("x".repeat(5_000_000)));
    let text = fixture.call("fetch_url", json!({"url": long.uri(), "max_chars": 100})).unwrap().value;
    assert_eq!(text.as_str().unwrap(), format!("{}{TEXT_CUT}\n[cut after 100 characters]", "x".repeat(100)));
}
