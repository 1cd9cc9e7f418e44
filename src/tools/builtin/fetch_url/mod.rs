//! `fetch_url`: a page as readable text, JSON as data. Every hop is checked: its host by name, then the addresses that the name leads
//! to, and the connection goes to exactly those. A private host can be reached only when it stands in the call itself, where a person
//! or a rule decided on it, or in the configuration; a redirect or a name that leads there is refused. A redirect to another host or
//! port is not followed: it is a call of its own, which is decided on like any other.

mod address;
mod body;

use async_trait::async_trait;
use reqwest::{Response, StatusCode, Url, header, redirect};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use super::{arguments, describe};
use crate::engine::{DataSource, Outgoing};
use crate::models::http;
use crate::plan::{Risk, ToolInfo, ToolReach};
use crate::tools::{Assessment, FetchConfig, Tool, ToolContext, ToolError, ToolOutput, ToolsConfig, sandbox::SandboxConfig};
use address::Reach;

/// Most redirects that are followed.
const HOPS: usize = 5;
/// Text of an answer that doesn't ask for more, in characters.
const TEXT: usize = 100_000;
const ACCEPT: &str = "text/html,text/plain,application/json;q=0.9,*/*;q=0.5";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FetchUrlArgs {
    /// Address, `http` or `https`.
    #[schemars(length(min = 1))]
    url: String,
    /// Most characters of text to give; more is cut, which is said at the end. Default: 100000.
    #[schemars(range(min = 100))]
    max_chars: Option<usize>,
}

pub(super) struct FetchUrl {
    info: ToolInfo,
    config: FetchConfig,
    sandbox: SandboxConfig,
}

impl FetchUrl {
    pub(super) fn new(config: &ToolsConfig) -> Self {
        let description = "Fetch a web page. Gives readable text, or data when the answer is JSON.";
        let info = describe::<FetchUrlArgs>("fetch_url", description, Risk::Network, ToolReach::AnyAddress);
        Self { info, config: config.fetch.clone(), sandbox: config.sandbox.clone() }
    }

    /// Whose a host is, going by what is in the address and in the configuration.
    fn reach(&self, url: &Url) -> Reach {
        let host = host(url);
        if self.config.private_hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(&host)) {
            return Reach::Public;
        }
        host.parse::<IpAddr>().map_or_else(|_| address::of_name(&host), address::of_address)
    }

    /// Gets a page, following redirects to the same host and port.
    async fn get(&self, first: Url) -> Result<Response, ToolError> {
        let approved = first.clone();
        let mut url = first;
        for _ in 0..=HOPS {
            let response = self.hop(&url, &approved).await?;
            let next = response.headers().get(header::LOCATION).and_then(|to| to.to_str().ok());
            match next.filter(|_| response.status().is_redirection()) {
                None => return Ok(response),
                Some(next) => {
                    let next = url.join(next).map_err(|cause| ToolError::failed(format!("`{url}` leads to a bad address: {cause}")))?;
                    allowed_scheme(&next)?;
                    if place(&next) != place(&approved) {
                        return Err(self.leads_elsewhere(&url, &next));
                    }
                    url = next;
                }
            }
        }
        Err(ToolError::failed(format!("more than {HOPS} redirects")))
    }

    /// The call ends here; the one that it leads to is its own. A page of others never leads into your own network.
    fn leads_elsewhere(&self, url: &Url, next: &Url) -> ToolError {
        match (self.reach(next), self.reach(url)) {
            (Reach::Public, _) | (Reach::Private, Reach::Private) => {
                let message = format!("`{url}` leads to `{next}`");
                ToolError { goes_on: Some(Box::new(json!({ "url": next.as_str() }))), ..ToolError::failed(message) }
            }
            (Reach::Private, Reach::Public | Reach::Never) | (Reach::Never, _) => closed(&host(next)),
        }
    }

    async fn hop(&self, url: &Url, approved: &Url) -> Result<Response, ToolError> {
        let host = host(url);
        let most = match self.reach(url) {
            Reach::Public if self.config.private_hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(&host)) => Reach::Never,
            Reach::Public => Reach::Public,
            Reach::Private if same_place(url, approved) => Reach::Private,
            Reach::Private | Reach::Never => return Err(closed(&host)),
        };
        let proxies = http::proxies_for(url);
        let mut client = http::builder(Duration::from_secs(10), proxies).redirect(redirect::Policy::none());
        // A proxy looks names up by itself, and where there is one this computer often can't.
        if proxies == http::Proxies::Direct || !proxied() {
            let addresses = resolve(url, &host).await?;
            if !reachable(&addresses, most) {
                return Err(closed(&host));
            }
            client = client.no_proxy().resolve_to_addrs(&host, &addresses);
        }
        let client = client.build().map_err(|cause| ToolError::refused(format!("can't set up HTTP: {}", http::causes(&cause))))?;
        let sent = client.get(url.clone()).header(header::ACCEPT, ACCEPT).send().await;
        sent.map_err(|cause| {
            let nothing_began = cause.is_connect();
            let message = format!("`{url}` can't be reached: {}", http::causes(&cause.without_url()));
            ToolError { nothing_began, ..ToolError::failed(message).transient() }
        })
    }
}

#[async_trait]
impl Tool for FetchUrl {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn refusal(&self, args: &Value) -> Option<ToolError> {
        let url = match parse(args["url"].as_str()?) {
            Ok(url) => url,
            Err(error) => return Some(error),
        };
        (self.reach(&url) == Reach::Never).then(|| closed(&host(&url)))
    }

    fn assess(&self, args: &Value, _context: &ToolContext) -> Assessment {
        let Ok(url) = parse(args["url"].as_str().unwrap_or_default()) else {
            return Assessment::local(Risk::Network, "the address is not valid; the call will be refused");
        };
        let host = host(&url);
        let (risk, why) = match self.reach(&url) {
            Reach::Public => (Risk::Network, format!("fetches from {host}")),
            Reach::Private => {
                (Risk::Execute, format!("fetches from {host}, an address of your own network; what answers there is unknown"))
            }
            Reach::Never => (Risk::Execute, format!("{host} is not open to tools; the call will be refused")),
        };
        let headers = [("accept".to_owned(), ACCEPT.to_owned()), ("user-agent".to_owned(), http::USER_AGENT.to_owned())];
        let leaves = Outgoing { host: place(&url), request: format!("GET {url}"), headers: headers.into(), ..Outgoing::default() };
        Assessment { leaves: Some(leaves), ..Assessment::local(risk, why) }
    }

    async fn call(&self, args: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let args: FetchUrlArgs = arguments(args)?;
        let url = parse(&args.url)?;
        let limit = Duration::from_secs(self.config.timeout_s);
        let timeout = |_| ToolError::failed(format!("`{url}` did not answer within {} s", limit.as_secs())).transient();
        let work = async {
            let response = accepted(self.get(url.clone()).await?)?;
            body::read(response, &self.config, &self.sandbox, args.max_chars.unwrap_or(TEXT)).await
        };
        let value = tokio::time::timeout(limit, work).await.map_err(timeout)??;
        let source = DataSource { kind: "web".into(), identifier: url.to_string(), query: None };
        Ok(ToolOutput { value, files: Vec::new(), sources: vec![source] })
    }
}

/// The host as it is in the address, without the brackets of IPv6.
fn host(url: &Url) -> String {
    url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned()
}

/// Host and port, as in `example.com:443`.
fn place(url: &Url) -> String {
    format!("{}:{}", url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or(443))
}

/// Whether a hop stays where the call was decided to go: the same host, and its port or a usual one.
fn same_place(url: &Url, approved: &Url) -> bool {
    url.host() == approved.host() && (url.port() == approved.port() || url.port().is_none())
}

fn parse(text: &str) -> Result<Url, ToolError> {
    let text = text.trim();
    // People write addresses without the scheme.
    let whole = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
    let url = Url::parse(&whole).map_err(|cause| ToolError::refused(format!("`{}` is not an address: {cause}", text.escape_debug())))?;
    allowed_scheme(&url)?;
    Ok(url)
}

fn allowed_scheme(url: &Url) -> Result<(), ToolError> {
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(ToolError::refused(format!("`{}` addresses are not fetched", url.scheme())).hint("give an `http` or `https` address"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ToolError::refused("addresses with a user name or password are not fetched"));
    }
    Ok(())
}

fn closed(host: &str) -> ToolError {
    ToolError::refused(format!("`{host}` leads to an address of this computer or its network"))
        .hint(format!("to allow it, add `{host}` to `tools.fetch.private_hosts` in config.toml"))
}

/// Whether none of a name's addresses is worse than what was decided on.
fn reachable(addresses: &[SocketAddr], most: Reach) -> bool {
    !addresses.is_empty() && addresses.iter().all(|address| address::of_address(address.ip()) <= most)
}

/// Whether the environment names a proxy.
fn proxied() -> bool {
    ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"]
        .iter()
        .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

async fn resolve(url: &Url, host: &str) -> Result<Vec<SocketAddr>, ToolError> {
    let port = url.port_or_known_default().unwrap_or(443);
    let unknown = |cause: String| {
        let message = format!("`{host}` can't be found: {cause}");
        ToolError { nothing_began: true, ..ToolError::failed(message).transient().hint("check the name and the network") }
    };
    let found = tokio::time::timeout(Duration::from_secs(10), tokio::net::lookup_host((host, port))).await;
    let found = found.map_err(|_| unknown("no name server answered".into()))?.map_err(|cause| unknown(cause.to_string()))?;
    Ok(found.collect())
}

/// An answer that carries a page.
fn accepted(response: Response) -> Result<Response, ToolError> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let message = format!("`{}` answers {status}", response.url());
    Err(match status {
        StatusCode::TOO_MANY_REQUESTS => ToolError { nothing_began: true, ..ToolError::failed(message).transient() },
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY => ToolError::failed(message).transient(),
        _ if status.is_server_error() => ToolError::failed(message).transient(),
        _ => ToolError::failed(message),
    })
}

#[cfg(test)]
mod tests;
