//! HTTP clients for everything that speaks HTTP: TLS by rustls with ring, proxies by environment (`HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`).
//!
//! reqwest is built without a default crypto provider and would panic when a client is made before one is installed, so every
//! client comes from here.

use std::{sync::Once, time::Duration};

/// How every client names itself.
pub const USER_AGENT: &str = concat!("dagdeck/", env!("CARGO_PKG_VERSION"));

/// Whether a client goes through the proxies that the environment names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proxies {
    /// `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, but not for `NO_PROXY`.
    Environment,
    /// Straight to the server. Right for loopback addresses, which no proxy can reach.
    Direct,
}

/// A client that gives up connecting after `connect`.
///
/// # Errors
/// When TLS can't be set up, for instance because the machine has no certificates.
pub fn client(connect: Duration, proxies: Proxies) -> Result<reqwest::Client, reqwest::Error> {
    builder(connect, proxies).build()
}

/// The same, before it is built, for callers that need their own redirects or name resolution.
pub fn builder(connect: Duration, proxies: Proxies) -> reqwest::ClientBuilder {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // An error says that another provider is installed already, which serves as well.
        drop(rustls::crypto::ring::default_provider().install_default());
    });
    let builder = reqwest::Client::builder().connect_timeout(connect).user_agent(USER_AGENT);
    match proxies {
        Proxies::Environment => builder,
        Proxies::Direct => builder.no_proxy(),
    }
}

/// Right proxies for a host: loopback is never proxied.
pub fn proxies_for(url: &reqwest::Url) -> Proxies {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let loopback = host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    if loopback { Proxies::Direct } else { Proxies::Environment }
}

/// What happened, as the innermost cause says it: the outer ones only tell which layer passed it on.
pub fn root_cause(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(error) = innermost.source() {
        innermost = error;
    }
    innermost.to_string()
}

/// An error with its causes, innermost last, as one line. reqwest's own text leaves the causes out.
pub fn causes(error: &dyn std::error::Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let text = error.to_string();
        if parts.last().is_none_or(|last| !last.contains(&text)) {
            parts.push(text);
        }
        next = error.source();
    }
    parts.join(": ")
}

/// Whether a connection failed because it could not be made secure: a certificate, or a server that doesn't speak TLS.
pub fn is_tls(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        let inside = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        if error.is::<rustls::Error>() || inside.is_some_and(|inside| inside.is::<rustls::Error>() || is_tls(inside)) {
            return true;
        }
        next = error.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_can_be_made_twice() {
        client(Duration::from_secs(1), Proxies::Environment).unwrap();
        client(Duration::from_secs(1), Proxies::Direct).unwrap();
    }

    #[test]
    fn loopback_is_never_proxied() {
        for (url, want) in [
            ("http://localhost:11434/v1", Proxies::Direct),
            ("http://127.0.0.1:8080", Proxies::Direct),
            ("http://[::1]:8080", Proxies::Direct),
            ("https://api.openai.com/v1", Proxies::Environment),
            ("http://192.168.0.7/v1", Proxies::Environment),
        ] {
            assert_eq!(proxies_for(&url.parse().unwrap()), want, "{url}");
        }
    }
}
