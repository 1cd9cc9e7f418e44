//! Where a server is and how it is spoken to: its address, its key, its form, how long it may take. Plain data.

use reqwest::Url;
use secrecy::SecretString;
use std::time::Duration;
use tokio::sync::OnceCell;

use super::{Api, CapParameter};

/// How long one try of a call may take.
#[derive(Clone, Debug, PartialEq)]
pub struct CallLimits {
    pub connect: Duration,
    /// Until the first piece of the answer: a long prompt on a small machine takes its time.
    pub first: Duration,
    pub between: Duration,
    pub overall: Duration,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first: Duration::from_secs(120),
            between: Duration::from_secs(60),
            overall: Duration::from_secs(900),
        }
    }
}

/// Where a key comes from. It is never shown, logged or sent anywhere but to the server.
#[derive(Debug)]
pub enum ApiKey {
    /// The server wants none, or nobody gave one.
    None,
    /// It is written in a setting or a file.
    Given(SecretString),
    /// A shell command that prints it; run at the first call, then remembered.
    Command { line: String, printed: OnceCell<SecretString> },
}

/// The header that a key goes in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Auth {
    /// `authorization: Bearer …`
    #[default]
    Bearer,
    /// `x-api-key: …`
    XApiKey,
    /// `api-key: …`
    ApiKey,
    /// `x-goog-api-key: …`
    XGoogApiKey,
}

/// How a provider's servers are spoken to.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(default)]
pub struct ServerTraits {
    pub api: Api,
    pub auth: Auth,
    pub cap: CapParameter,
    /// Its name for the seed, where that is another one.
    pub seed: Option<String>,
    /// Models run on a machine of the user: a call costs nothing.
    pub is_local: bool,
}

impl ServerTraits {
    /// The same in another form. The key goes where Google looks for it in Google's form only.
    #[must_use]
    pub fn speaking(self, api: Api) -> Self {
        let auth = match (api, self.auth) {
            (Api::Gemini, _) => Auth::XGoogApiKey,
            (_, Auth::XGoogApiKey) => Auth::Bearer,
            (_, auth) => auth,
        };
        Self { api, auth, ..self }
    }
}

/// Where a server is and how to speak to it.
#[derive(Debug)]
pub struct Server {
    /// The address up to and without `/chat/completions`.
    pub base: Url,
    /// What set the address, for messages.
    pub address_from: String,
    pub key: ApiKey,
    /// What gave the key, or what would, for messages.
    pub key_from: String,
    pub limits: CallLimits,
    pub traits: ServerTraits,
    /// A small model of its provider, which `auto` means where it is offered.
    pub small: Option<String>,
}
