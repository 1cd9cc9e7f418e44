//! `SetupDraft`: a model that is being set up, from the provider to the default.

use crate::host::client::{ModelOffer, ModelSetup, ModelTrial, ProviderOffer, SetupStep};
use crate::text::Plain;

/// A model that is being set up.
#[derive(Clone, Debug, Default)]
pub struct SetupDraft {
    /// What was given so far.
    pub setup: ModelSetup,
    /// The providers to choose from.
    pub offers: Vec<ProviderOffer>,
    /// What came of trying it.
    pub trial: Option<ModelTrial>,
    /// The number of the last step that the host was asked for, and the step.
    pub asked: (u64, Option<SetupStep>),
    /// How many dialogs lay over the screen before.
    pub below: usize,
}

/// What is chosen on the way.
#[derive(Clone, Debug, PartialEq)]
pub enum SetupChoice {
    Begin,
    Provider(String),
    OtherServer,
    OtherKey,
    OtherAddress,
    Model(ModelOffer),
    OtherModel,
    Window,
    Price,
    /// Take the step that failed again.
    Again,
    Keep,
}

/// What is typed on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetupLine {
    Address,
    /// It is not shown, and not offered again.
    Key,
    Model,
    Window,
    Price,
}

impl SetupDraft {
    /// The provider that was chosen, unless the server is another one.
    pub fn provider(&self) -> Option<&ProviderOffer> {
        self.offers.iter().find(|offer| offer.name == self.setup.provider)
    }

    /// What calls go to, for people.
    pub fn server(&self) -> Plain {
        let title = self.provider().map(|provider| provider.title.clone());
        Plain::line(&title.or_else(|| self.setup.address.clone()).unwrap_or_default())
    }

    /// The next number of a step.
    pub fn number(&mut self, step: SetupStep) -> u64 {
        self.asked = (self.asked.0 + 1, Some(step));
        self.asked.0
    }
}
