//! `NewRun`: what a run is to start with, as whoever starts it says.

use crate::engine::{Action, ModelCall, Run};
use crate::plan::Plan;
use serde::{Deserialize, Serialize};

/// A run that is to start.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct NewRun {
    pub plan: Plan,
    /// Inputs that were read from files or stdin.
    pub private_inputs: Vec<String>,
    /// Whether the request that the plan was made of was read from stdin.
    pub private_request: bool,
    /// Actions that come before its nodes may start.
    pub first: Vec<Action>,
    /// In place of the chosen model.
    pub model: Option<String>,
    pub planning: Vec<ModelCall>,
    pub caching: Caching,
}

/// Whether a run takes results of earlier ones, and keeps its own for later ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Caching {
    #[default]
    On,
    Off,
}

impl Caching {
    /// What a run was started with.
    pub fn of(run: &Run) -> Self {
        let said = run.settings().and_then(|settings| settings.host.get("caching"));
        if said.is_some_and(|said| said == "off") { Self::Off } else { Self::On }
    }
}
