//! `web_search`: asks the search service that is configured. Keys come from the environment and go nowhere but to their service.

use async_trait::async_trait;
use reqwest::{RequestBuilder, StatusCode, Url};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;

use super::{arguments, describe};
use crate::engine::DataSource;
use crate::models::http;
use crate::plan::{Risk, ToolInfo, ToolReach};
use crate::tools::{Assessment, SearchConfig, SearchService, Tool, ToolContext, ToolError, ToolOutput, ToolsConfig};

/// Longest wait for a service.
const LIMIT: Duration = Duration::from_secs(30);
/// Largest answer in bytes.
const CAP: usize = 4 << 20;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WebSearchArgs {
    /// What to search for.
    #[schemars(length(min = 1, max = 2000))]
    query: String,
    /// How many results. Default: 8.
    #[schemars(range(min = 1, max = 20))]
    count: Option<usize>,
}

/// Reads the environment; tests have one of their own.
type ReadVariable = fn(&str) -> Option<String>;

pub(super) struct WebSearch {
    info: ToolInfo,
    config: SearchConfig,
    environment: ReadVariable,
}

/// A service that can be asked.
struct Service {
    provider: SearchService,
    url: Url,
    key: String,
}

impl WebSearch {
    pub(super) fn new(config: &ToolsConfig) -> Self {
        Self::with(config.search.clone(), |name| std::env::var(name).ok().filter(|value| !value.trim().is_empty()))
    }

    fn with(config: SearchConfig, environment: ReadVariable) -> Self {
        let description = "Search the web. Gives a list of {title, url, snippet}; a direct answer, where the service has one, comes first.";
        Self { info: describe::<WebSearchArgs>("web_search", description, Risk::Network, ToolReach::Public), config, environment }
    }

    fn service(&self) -> Result<Service, ToolError> {
        use SearchService as P;
        let chosen = self.config.provider.or_else(|| P::ALL.into_iter().find(|provider| (self.environment)(provider.variable()).is_some()));
        let Some(provider) = chosen.or_else(|| self.config.url.is_some().then_some(P::Searxng)) else {
            return Err(ToolError::refused("no search service is set up").hint(
                "set `SERPER_API_KEY`, `BRAVE_API_KEY`, `TAVILY_API_KEY` or `SEARXNG_URL` in the environment, \
                 or `provider` and `url` under `[tools.search]` in the configuration",
            ));
        };
        let set = (self.environment)(provider.variable());
        let missing = || {
            ToolError::refused(format!("`{}` is not set", provider.variable()))
                .hint("set this environment variable and start dagdeck again")
        };
        let usual = match provider {
            P::Serper => Some("https://google.serper.dev/search".to_owned()),
            P::Brave => Some("https://api.search.brave.com/res/v1/web/search".to_owned()),
            P::Tavily => Some("https://api.tavily.com/search".to_owned()),
            P::Searxng => set.clone(),
        };
        let url = self.config.url.clone().or(usual).ok_or_else(missing)?;
        let url =
            Url::parse(&url).map_err(|cause| ToolError::refused(format!("the search service's address `{url}` can't be used: {cause}")))?;
        let key = if provider == P::Searxng { String::new() } else { set.ok_or_else(missing)? };
        Ok(Service { provider, url, key })
    }
}

#[async_trait]
impl Tool for WebSearch {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn is_configured(&self) -> bool {
        self.service().is_ok()
    }

    fn assess(&self, _args: &Value, _context: &ToolContext) -> Assessment {
        let host = self.service().ok().and_then(|service| service.url.host_str().map(str::to_owned));
        Assessment::local(Risk::Network, host.map_or("no search service is set up".into(), |host| format!("asks {host}")))
    }

    async fn call(&self, args: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let args: WebSearchArgs = arguments(args)?;
        let service = self.service()?;
        let count = args.count.unwrap_or(8);
        let answer = service.ask(&args.query, count).await?;
        let results = results(service.provider, &answer, count);
        let source = |result: &Value| {
            let url = result["url"].as_str().filter(|url| !url.is_empty())?;
            Some(DataSource { kind: "web".into(), identifier: url.to_owned(), query: Some(args.query.clone()) })
        };
        Ok(ToolOutput { sources: results.iter().filter_map(source).collect(), value: Value::Array(results), files: Vec::new() })
    }
}

impl Service {
    async fn ask(&self, query: &str, count: usize) -> Result<Value, ToolError> {
        let client = http::builder(Duration::from_secs(10), http::proxies_for(&self.url)).timeout(LIMIT).build();
        let client = client.map_err(|cause| ToolError::refused(format!("can't set up HTTP: {}", http::causes(&cause))))?;
        let mut response = self.request(&client, query, count).send().await.map_err(|cause| {
            let (began, timeout) = (!cause.is_connect(), cause.is_timeout());
            let reason = if timeout { "the search service did not answer in time".into() } else { http::causes(&cause.without_url()) };
            ToolError { nothing_began: !began, ..ToolError::failed(format!("the search failed: {reason}")).transient() }
        })?;
        self.accepted(response.status())?;
        let mut body = Vec::new();
        while let Some(piece) = response
            .chunk()
            .await
            .map_err(|_| ToolError::failed("the search service closed the connection during its answer").transient())?
        {
            body.extend_from_slice(&piece);
            if body.len() > CAP {
                return Err(ToolError::failed("the search service's answer is too long"));
            }
        }
        serde_json::from_slice(&body).map_err(|_| {
            let error = ToolError::failed("the search service's answer is not JSON");
            if self.provider == SearchService::Searxng { error.hint("enable the `json` format in SearXNG's settings") } else { error }
        })
    }

    fn request(&self, client: &reqwest::Client, query: &str, count: usize) -> RequestBuilder {
        let mut url = self.url.clone();
        match self.provider {
            SearchService::Serper => client.post(url).header("X-API-KEY", &self.key).json(&json!({"q": query, "num": count})),
            SearchService::Tavily => {
                client.post(url).bearer_auth(&self.key).json(&json!({"query": query, "max_results": count, "include_answer": true}))
            }
            SearchService::Brave => {
                url.query_pairs_mut().append_pair("q", query).append_pair("count", &count.to_string());
                client.get(url).header("X-Subscription-Token", &self.key)
            }
            SearchService::Searxng => {
                if !url.path().ends_with("/search") {
                    url.set_path(&format!("{}/search", url.path().trim_end_matches('/')));
                }
                url.query_pairs_mut().append_pair("q", query).append_pair("format", "json");
                client.get(url)
            }
        }
    }

    fn accepted(&self, status: StatusCode) -> Result<(), ToolError> {
        let message = format!("the search service answered {status}");
        match status {
            _ if status.is_success() => Ok(()),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(ToolError::refused(message).hint(match self.provider {
                SearchService::Searxng => "enable the `json` format in SearXNG's settings".to_owned(),
                provider => format!("check the key in `{}`", provider.variable()),
            })),
            StatusCode::TOO_MANY_REQUESTS => Err(ToolError { nothing_began: true, ..ToolError::failed(message).transient() }),
            _ if status.is_server_error() => Err(ToolError::failed(message).transient()),
            _ => Err(ToolError::failed(message)),
        }
    }
}

/// Every service's answer in one form.
fn results(provider: SearchService, answer: &Value, count: usize) -> Vec<Value> {
    let (direct, list, url, snippet) = match provider {
        SearchService::Serper => {
            let direct = &answer["answerBox"];
            (direct["answer"].as_str().or(direct["snippet"].as_str()), &answer["organic"], "link", "snippet")
        }
        SearchService::Brave => (None, &answer["web"]["results"], "url", "description"),
        SearchService::Tavily => (answer["answer"].as_str(), &answer["results"], "url", "content"),
        SearchService::Searxng => {
            (answer["answers"][0].as_str().or(answer["answers"][0]["answer"].as_str()), &answer["results"], "url", "content")
        }
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let first = direct.filter(|direct| !direct.is_empty()).map(|direct| json!({"title": "Answer", "url": "", "snippet": direct}));
    let listed = list.as_array().into_iter().flatten().take(count);
    let listed = listed.map(|item| json!({"title": text(&item["title"]), "url": text(&item[url]), "snippet": text(&item[snippet])}));
    first.into_iter().chain(listed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wiremock::{
        Mock, MockServer, ResponseTemplate,
        matchers::{body_partial_json, header, method, path, query_param},
    };

    fn context() -> ToolContext {
        ToolContext::of(std::env::temp_dir())
    }

    fn tool(provider: SearchService, url: String) -> WebSearch {
        WebSearch::with(SearchConfig { provider: Some(provider), url: Some(url) }, |_| Some("the-key".into()))
    }

    #[tokio::test]
    async fn without_a_service_it_says_how_to_configure_one() {
        let search = WebSearch::with(SearchConfig::default(), |_| None);
        let error = search.call(json!({"query": "x"}), &context()).await.unwrap_err();
        assert_eq!(error.message, "no search service is set up");
        assert!(error.nothing_began && error.hint.unwrap().contains("SERPER_API_KEY"));
        let search = WebSearch::with(SearchConfig { provider: Some(SearchService::Brave), url: None }, |_| None);
        assert_eq!(search.call(json!({"query": "x"}), &context()).await.unwrap_err().message, "`BRAVE_API_KEY` is not set");
    }

    #[test]
    fn the_environment_alone_is_enough() {
        let search = WebSearch::with(SearchConfig::default(), |name| (name == "TAVILY_API_KEY").then(|| "k".into()));
        let service = search.service().unwrap();
        assert_eq!((service.provider, service.url.host_str(), service.key.as_str()), (SearchService::Tavily, Some("api.tavily.com"), "k"));
        let search = WebSearch::with(SearchConfig::default(), |name| (name == "SEARXNG_URL").then(|| "http://sx.example".into()));
        assert_eq!(search.service().unwrap().provider, SearchService::Searxng);
    }

    #[tokio::test]
    async fn every_service_is_asked_in_its_way_and_gives_one_form() {
        let server = MockServer::start().await;
        let item = |url: &str, text: &str| json!({"title": "T", url: "https://a.example", text: "S"});
        let posted = |at: &str, body: Value| Mock::given(method("POST")).and(path(at)).and(body_partial_json(body));
        let got = |at: &str| Mock::given(method("GET")).and(path(at)).and(query_param("q", "cats & dogs"));
        let ok = |body: Value| ResponseTemplate::new(200).set_body_json(body);
        let serper = json!({"answerBox": {"answer": "42"}, "organic": [item("link", "snippet")]});
        posted("/serper", json!({"q": "cats & dogs"})).and(header("X-API-KEY", "the-key")).respond_with(ok(serper)).mount(&server).await;
        let tavily = json!({"answer": "42", "results": [item("url", "content")]});
        let mock = posted("/tavily", json!({"query": "cats & dogs"})).and(header("authorization", "Bearer the-key"));
        mock.respond_with(ok(tavily)).mount(&server).await;
        let brave = ok(json!({"web": {"results": [item("url", "description")]}}));
        got("/brave").and(header("X-Subscription-Token", "the-key")).respond_with(brave).mount(&server).await;
        got("/sx/search")
            .and(query_param("format", "json"))
            .respond_with(ok(json!({"results": [item("url", "content")]})))
            .mount(&server)
            .await;
        let (answer, found) =
            (json!({"title": "Answer", "url": "", "snippet": "42"}), json!({"title": "T", "url": "https://a.example", "snippet": "S"}));
        for (provider, at, expected) in [
            (SearchService::Serper, "/serper", json!([answer, found])),
            (SearchService::Tavily, "/tavily", json!([answer, found])),
            (SearchService::Brave, "/brave", json!([found])),
            (SearchService::Searxng, "/sx/", json!([found])),
        ] {
            let output = tool(provider, format!("{}{at}", server.uri())).call(json!({"query": "cats & dogs"}), &context()).await.unwrap();
            assert_eq!(output.value, expected, "{provider:?}");
            assert_eq!(
                output.sources,
                [DataSource { kind: "web".into(), identifier: "https://a.example".into(), query: Some("cats & dogs".into()) }]
            );
        }
    }

    #[tokio::test]
    async fn failures_name_what_to_fix_and_never_the_key() {
        for (status, transient, nothing_began) in [(401, false, true), (429, true, true), (500, true, false), (400, false, false)] {
            let server = MockServer::start().await;
            Mock::given(method("POST")).respond_with(ResponseTemplate::new(status)).mount(&server).await;
            let error = tool(SearchService::Serper, server.uri()).call(json!({"query": "x"}), &context()).await.unwrap_err();
            assert_eq!((error.transient, error.nothing_began), (transient, nothing_began), "{status}");
            assert!(!format!("{error:?}").contains("the-key"));
        }
    }
}
