//! `RunId`: what a run is called, in full and in short.

use serde::{Deserialize, Serialize};

/// Names a run; a UUID v7 as text, so that names sort by time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub String);

/// The end of a run's name: enough to tell runs apart, and accepted wherever a run is named.
pub fn short_name(run: &str) -> &str {
    run.char_indices().rev().nth(7).map_or(run, |(at, _)| &run[at..])
}
