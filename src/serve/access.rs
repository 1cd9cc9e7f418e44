//! Who may ask what: bearer tokens with roles, and the checks against pages of other sites. Nothing else reads `Authorization`.

use super::{http_error::HttpError, http_server::HttpServer};
use crate::engine::Actor;
use axum::{
    extract::{Request, State},
    http::{HeaderMap, header},
    middleware::Next,
    response::Response,
};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// How what is asked by HTTP is recorded.
const VIA: &str = "http";

/// What a caller may do; each may also do what those before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum HttpRole {
    /// Looks at runs.
    Watcher,
    /// Replies to gates.
    Approver,
    /// Starts and steers runs.
    Owner,
}

/// A token that is known by its hash only, so that comparing it says nothing of it.
#[derive(Clone, Debug)]
pub struct BearerToken {
    role: HttpRole,
    name: String,
    hash: [u8; 32],
}

/// A line that is no token. It never says the token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct TokenError {
    line: usize,
    why: &'static str,
}

impl BearerToken {
    /// The tokens of a file: a role, a name and the token a line; `#` begins a comment.
    ///
    /// # Errors
    /// When a line is no token.
    pub fn read(text: &str) -> Result<Vec<Self>, TokenError> {
        let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
        let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        lines.map(|(number, line)| Self::of(line).map_err(|why| TokenError { line: number, why })).collect()
    }

    fn of(line: &str) -> Result<Self, &'static str> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [role, name, token] = words[..] else { return Err("write ROLE NAME TOKEN") };
        let role = role.parse().map_err(|_| "the role is owner, approver or watcher")?;
        if token.len() < 16 {
            return Err("a token has at least 16 characters");
        }
        Ok(Self { role, name: name.to_owned(), hash: Sha256::digest(token).into() })
    }
}

/// Who asks.
#[derive(Clone, Debug)]
pub(super) struct HttpCaller {
    pub(super) name: String,
    role: HttpRole,
}

impl HttpCaller {
    /// Refuses who may not do what only this role may.
    pub(super) fn needs(&self, role: HttpRole) -> Result<(), HttpError> {
        if self.role >= role {
            return Ok(());
        }
        let (own, needed): (&str, &str) = (self.role.into(), role.into());
        Err(HttpError::new(403, "permission_denied", format!("the token's role is {own}, and this needs the role {needed}")))
    }

    /// As the journal names it.
    pub(super) fn actor(&self) -> Actor {
        Actor { who: self.name.clone(), via: VIA.to_owned() }
    }
}

/// Lets in who has a token, and where none is asked for, programs of this machine but no page of another site.
pub(super) async fn admit(State(server): State<Arc<HttpServer>>, mut request: Request, next: Next) -> Result<Response, HttpError> {
    let caller = server.caller(request.headers())?;
    request.extensions_mut().insert(caller);
    Ok(next.run(request).await)
}

impl HttpServer {
    fn caller(&self, headers: &HeaderMap) -> Result<HttpCaller, HttpError> {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let host = text(header::HOST);
        // A page of another site may send requests here, and its name may have been made to mean this machine.
        if headers.contains_key(header::ORIGIN) {
            let own = text(header::ORIGIN).split_once("://").map(|(_, origin)| origin);
            if own != Some(host) {
                return Err(HttpError::new(403, "origin_refused", "pages of other sites may not ask here"));
            }
        }
        if self.is_open && !is_this_machine(host) {
            return Err(HttpError::new(403, "host_refused", "without a token only `localhost` and `127.0.0.1` name this server"));
        }
        if self.is_open {
            return Ok(HttpCaller { name: self.options.user.clone(), role: HttpRole::Owner });
        }
        let given = text(header::AUTHORIZATION).split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        let hash: [u8; 32] = Sha256::digest(given.map_or("", |(_, token)| token.trim())).into();
        let token = self.options.tokens.iter().find(|token| token.hash == hash);
        token.map(|token| HttpCaller { name: token.name.clone(), role: token.role }).ok_or_else(|| {
            let why =
                if given.is_some() { "the token is not known here" } else { "a token is missing: send `Authorization: Bearer TOKEN`" };
            HttpError::new(401, "invalid_api_key", why)
        })
    }
}

/// Whether a `Host` header names this machine by a name that no other site can have.
fn is_this_machine(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|letter| letter.is_ascii_digit()) => name,
        _ => host,
    };
    ["localhost", "127.0.0.1", "[::1]"].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_tokens_is_read_line_by_line_and_a_wrong_line_is_named() {
        let read = BearerToken::read("# who\nowner ada 0123456789abcdef\n\n watcher  bob\t0123456789abcdeg\n").unwrap();
        let tokens: Vec<_> = read.iter().map(|token| (token.role, token.name.as_str())).collect();
        assert_eq!(tokens, [(HttpRole::Owner, "ada"), (HttpRole::Watcher, "bob")]);
        let wrong = |text| BearerToken::read(text).unwrap_err().to_string();
        assert_eq!(wrong("\nking ada 0123456789abcdef"), "line 2: the role is owner, approver or watcher");
        assert_eq!(wrong("owner ada short"), "line 1: a token has at least 16 characters");
        assert_eq!(wrong("owner"), "line 1: write ROLE NAME TOKEN");
    }

    #[test]
    fn only_names_that_no_other_site_can_have_mean_this_machine() {
        for host in ["localhost", "localhost:80", "127.0.0.1:8765", "[::1]:8765", "[::1]"] {
            assert!(is_this_machine(host), "{host}");
        }
        for host in ["", "evil.example", "localhost.evil.example:80", "127.0.0.1.evil.example", "evil:x"] {
            assert!(!is_this_machine(host), "{host}");
        }
    }
}
