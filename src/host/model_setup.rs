//! What a client and a host say to each other while a model is set up. Plain data; a key that was typed is never shown.

use crate::text::count;
use serde::{Deserialize, Serialize};

/// A model that is being set up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelSetup {
    /// Name of a provider; empty for a server at an address of its own.
    pub provider: String,
    pub address: Option<String>,
    pub key: SetupKey,
    /// As the server knows it; empty until one is chosen.
    pub model: String,
    /// Tokens that it takes in, where dagdeck doesn't know.
    pub window: Option<u64>,
    /// US dollars per million tokens of prompts and of answers, where dagdeck doesn't know.
    pub price: Option<(f64, f64)>,
}

/// How a person gives a key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum SetupKey {
    #[default]
    None,
    Typed(TypedKey),
    /// A shell command prints it.
    Command(String),
    /// A variable of the environment holds it.
    Variable(String),
}

impl SetupKey {
    /// What a person typed where a key is asked for: a key, `$NAME` for a variable, `!COMMAND` for what a command prints, nothing for the
    /// usual variable, if that is set.
    pub fn read(typed: &str, usual: Option<&str>) -> Self {
        let typed = typed.trim();
        match (typed.strip_prefix('$'), typed.strip_prefix('!'), usual) {
            (Some(variable), ..) => Self::Variable(variable.trim().to_owned()),
            (_, Some(command), _) => Self::Command(command.trim().to_owned()),
            _ if !typed.is_empty() => Self::Typed(TypedKey::new(typed)),
            (.., Some(variable)) => Self::Variable(variable.to_owned()),
            (.., None) => Self::None,
        }
    }
}

/// A key as it was typed; it can't be shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypedKey(String);

impl TypedKey {
    /// Without blanks around it.
    pub fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    /// Whether any key looks like this.
    pub(super) fn is_possible(&self) -> bool {
        !self.0.is_empty() && self.0.chars().all(|letter| letter.is_ascii_graphic())
    }

    /// For the server, and for the file that it is kept in.
    pub(super) fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for TypedKey {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str("TypedKey")
    }
}

/// A provider to choose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProviderOffer {
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// Its usual address; one without has to be given one.
    pub address: Option<String>,
    /// The variable that usually holds its key.
    pub key_variable: Option<String>,
    /// Whether that is set.
    pub has_key: bool,
    pub is_local: bool,
    /// A server of it runs on this machine.
    pub is_found: bool,
}

/// A model to choose, with what dagdeck knows of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelOffer {
    pub name: String,
    pub window: Option<u64>,
    pub price: Option<(f64, f64)>,
}

impl ModelOffer {
    /// What is known of it, in words; empty where nothing is.
    pub fn detail(&self) -> String {
        let window = self.window.map(|window| format!("{} tokens", count(window)));
        let price = self.price.map(|(prompt, answer)| format!("${prompt} and ${answer} per million"));
        window.into_iter().chain(price).collect::<Vec<_>>().join(", ")
    }
}

/// What a person wrote is no price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write two numbers, as in 0.15,0.6")]
pub struct NoPrice;

/// A price as people write it: `0.15, 0.6`, in US dollars per million tokens of prompts and of answers.
///
/// # Errors
/// When it isn't two numbers.
pub fn read_price(text: &str) -> Result<(f64, f64), NoPrice> {
    let number = |text: &str| text.trim().trim_start_matches('$').parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    let both = text.split_once([',', ' ']).and_then(|(prompt, answer)| Some((number(prompt)?, number(answer)?)));
    both.ok_or(NoPrice)
}

/// What comes of a model that answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelTrial {
    /// The model as it calls itself.
    pub answered: String,
    /// What is known of it.
    pub offer: ModelOffer,
    /// Where it was asked.
    pub host: String,
    pub ms: u64,
    pub tokens: u64,
    pub cost_usd: Option<f64>,
    /// What making it the default would write.
    pub files: Vec<String>,
}

/// A model that is the default now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptModel {
    pub model: String,
    pub files: Vec<String>,
    /// Why the next start uses another one all the same.
    pub overruled: Option<String>,
}

/// One step of setting up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SetupStep {
    /// Ask the server for its models.
    Look,
    /// Ask the model something small.
    Try,
    /// Make it the default.
    Keep,
}

/// What came of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SetupNews {
    Models(Vec<ModelOffer>),
    Answered(ModelTrial),
    Kept(KeptModel),
    Failed(SetupFailure),
}

/// Why a step failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SetupFailure {
    pub message: String,
    pub fault: SetupFault,
}

/// What of a set-up is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SetupFault {
    Key,
    Address,
    Model,
    /// The server doesn't say which models it has.
    List,
    Other,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_for_a_key_is_a_key_a_variable_a_command_or_nothing() {
        for (typed, usual, expected) in [
            (" sk-1\n", Some("USUAL"), SetupKey::Typed(TypedKey("sk-1".into()))),
            ("$WORK", Some("USUAL"), SetupKey::Variable("WORK".into())),
            ("!pass show x", None, SetupKey::Command("pass show x".into())),
            ("", Some("USUAL"), SetupKey::Variable("USUAL".into())),
            (" ", None, SetupKey::None),
        ] {
            assert_eq!(SetupKey::read(typed, usual), expected, "{typed}");
        }
        assert_eq!(format!("{:?}", TypedKey::new("sk-1")), "TypedKey");
    }

    #[test]
    fn a_price_is_two_numbers() {
        for text in ["0.15,0.6", "0.15, 0.6", "$0.15 $0.6"] {
            assert_eq!(read_price(text), Ok((0.15, 0.6)), "{text}");
        }
        for text in ["", "1", "1,-1", "a,b", "1,inf"] {
            assert!(read_price(text).is_err(), "{text}");
        }
    }
}
