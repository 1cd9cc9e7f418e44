//! `SignIn`: the way to a server's tokens by OAuth: dagdeck registers itself, a person signs in with their browser, and what the browser is
//! sent to comes by a port of this computer, or pasted. Nothing is opened, and the tokens go to no other server.

use super::{error::McpError, tokens::TokenFile};
use crate::models::http::{self, Proxies};
use reqwest::{Url, redirect};
use rmcp::transport::auth::{AuthClient, AuthError, AuthorizationManager, AuthorizationRequest, AuthorizationSession};
use std::time::Duration;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// Longest request of a browser that is read, in bytes.
const MOST: usize = 16 << 10;

/// How long a browser may take to send it.
const PATIENCE: Duration = Duration::from_secs(10);

const DONE: &str = "You can close this page and go back to dagdeck.";

/// A sign-in under way.
pub struct SignIn {
    session: AuthorizationSession,
    listener: TcpListener,
}

impl SignIn {
    /// Finds out where a server's sign-in is, and registers dagdeck there.
    pub(super) async fn begin(url: &str, tokens: TokenFile, patience: Duration) -> Result<Self, McpError> {
        let no_port = |error: std::io::Error| McpError::new(format!("no port of this computer can be had for the answer: {error}"));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(no_port)?;
        let port = listener.local_addr().map_err(no_port)?.port();
        let begun = async {
            let mut manager = manager(url, tokens).await?;
            let found = manager.resolve_metadata().await.map_err(|error| failed(&error))?;
            manager.set_metadata(found.metadata);
            let request = AuthorizationRequest::new(format!("http://127.0.0.1:{port}/callback"));
            let request = request.with_client_name("dagdeck").with_initial_scope_selection();
            AuthorizationSession::new(manager, request).await.map_err(|(_, error)| failed(&error))
        };
        let session = tokio::time::timeout(patience, begun).await;
        let session = session.map_err(|_| McpError::new(format!("it said nothing for {} s", patience.as_secs())))??;
        Ok(Self { session, listener })
    }

    /// Where a person signs in.
    pub fn address(&self) -> &str {
        self.session.get_authorization_url()
    }

    /// Waits for the browser to come back, or for what a person pastes: the address that it ended at, or the code in it. Keeps the tokens.
    ///
    /// # Errors
    /// When the server gives none, and why.
    pub async fn finish(self, pasted: impl Future<Output = Option<String>>) -> Result<(), McpError> {
        let answer = tokio::select! {
            heard = self.heard() => heard?,
            Some(text) = pasted => self.pasted(text.trim())?,
        };
        if let Some(why) = refusal(&answer) {
            return Err(McpError::new(format!("the sign-in was refused: {why}")));
        }
        self.session.handle_callback_url(&answer).await.map(drop).map_err(|error| failed(&error))
    }

    async fn heard(&self) -> Result<String, McpError> {
        loop {
            let (mut browser, _) = self.listener.accept().await.map_err(|error| McpError::new(format!("the port is lost: {error}")))?;
            let Ok(Some(target)) = tokio::time::timeout(PATIENCE, target(&mut browser)).await else { continue };
            let is_answer = target.starts_with("/callback?");
            let (status, text) = if is_answer { ("200 OK", DONE) } else { ("404 Not Found", "") };
            let head = format!("HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close", text.len());
            // A browser that has gone has said all that is needed.
            let _ = browser.write_all(format!("{head}\r\n\r\n{text}").as_bytes()).await;
            if is_answer {
                return Ok(format!("http://127.0.0.1{target}"));
            }
        }
    }

    fn pasted(&self, text: &str) -> Result<String, McpError> {
        if text.starts_with("http://") || text.starts_with("https://") {
            return Ok(text.to_owned());
        }
        let asked = Url::parse(self.address()).map_err(|error| McpError::new(error.to_string()))?;
        let state = asked.query_pairs().find(|(key, _)| key == "state").map(|(_, state)| state.into_owned()).unwrap_or_default();
        let answer = Url::parse_with_params("http://127.0.0.1/callback", [("code", text), ("state", &state)]);
        answer.map(String::from).map_err(|error| McpError::new(error.to_string()))
    }
}

/// The target of a browser's GET.
async fn target(browser: &mut TcpStream) -> Option<String> {
    let mut read = Vec::new();
    while read.len() < MOST && !read.windows(4).any(|end| end == b"\r\n\r\n") {
        let mut piece = [0; 2048];
        match browser.read(&mut piece).await {
            Ok(0) | Err(_) => return None,
            Ok(length) => read.extend_from_slice(&piece[..length]),
        }
    }
    let text = String::from_utf8_lossy(&read);
    let mut words = text.lines().next()?.split(' ');
    (words.next()? == "GET").then_some(())?;
    words.next().map(str::to_owned)
}

/// Why a server refused, as its answer says.
fn refusal(answer: &str) -> Option<String> {
    let answer = Url::parse(answer).ok()?;
    let of = |name: &str| answer.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    let error = of("error")?;
    Some(of("error_description").map_or_else(|| error.clone(), |more| format!("{error}: {more}")))
}

/// A client that sends the tokens that are kept, where somebody signed in.
pub(super) async fn client(
    url: &str,
    tokens: &TokenFile,
    plain: &reqwest::Client,
) -> Result<Option<AuthClient<reqwest::Client>>, McpError> {
    if !tokens.is_there() {
        return Ok(None);
    }
    let mut manager = manager(url, tokens.clone()).await?;
    let is_ready = manager.initialize_from_store().await.map_err(|error| failed(&error))?;
    Ok(is_ready.then(|| AuthClient::new(plain.clone(), manager)))
}

/// Names that a server gives for its sign-in lead to this computer only where the server is on it.
async fn manager(url: &str, tokens: TokenFile) -> Result<AuthorizationManager, McpError> {
    let parsed = Url::parse(url).map_err(|cause| McpError::new(format!("its address can't be read: {cause}")))?;
    let proxies = http::proxies_for(&parsed);
    let own = http::builder(PATIENCE, proxies).redirect(redirect::Policy::none()).build();
    let own = own.map_err(|cause| McpError::new(format!("HTTP can't be set up: {}", http::causes(&cause))))?;
    let mut manager = AuthorizationManager::new(parsed).await.map_err(|error| failed(&error))?;
    if proxies == Proxies::Direct {
        manager.with_client(own).map_err(|error| failed(&error))?;
    }
    manager.set_credential_store(tokens);
    Ok(manager)
}

fn failed(error: &AuthError) -> McpError {
    McpError::new(format!("the sign-in failed: {}", http::causes(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_read_with_its_reason() {
        let answer = "http://127.0.0.1/callback?error=access_denied&error_description=not%20you";
        assert_eq!(refusal(answer).as_deref(), Some("access_denied: not you"));
        assert_eq!(refusal("http://127.0.0.1/callback?code=1&state=2"), None);
    }
}
