//! What shells showed of the gates at which they left a run: kept in the state folder, so that a yes of a later process is for what was
//! shown.

use super::{gate_with_tool::GateWithTool, gates, local::LocalHost};
use crate::engine::{GateId, Preview, Run, RunId};
use crate::files::{self, beside};
use crate::text::hex;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::path::PathBuf;

/// The file in the state folder.
const FILE: &str = "shown-previews.json";
/// The oldest of more are forgotten.
const MOST: usize = 1_000;

/// What a gate's call would do now.
#[derive(Clone, Debug, PartialEq)]
pub struct GateLook {
    pub gate: GateId,
    /// Of those that have one.
    pub preview: Option<Preview>,
    pub seen: PreviewSeen,
}

/// Whether a gate was shown in a shell before, with the payload and the preview that it has now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreviewSeen {
    Never,
    AsItIs,
    /// It was another one.
    Otherwise,
}

impl LocalHost {
    /// What is behind gates now. It counts as shown.
    pub async fn look_at(&self, run: &RunId, state: &Run, gates: impl IntoIterator<Item = GateId>) -> Vec<GateLook> {
        let mut shown = self.shown();
        let mut looks = Vec::new();
        for gate in gates {
            let Some(seen) = GateWithTool::of(state, gate) else { continue };
            let (payload, hash) = (seen.gate.payload.clone(), seen.gate.hash.clone());
            let preview = gates::preview_of(self.shared(), seen, &payload).await;
            let now = json!(fingerprint(&hash, preview.as_ref()));
            let before = shown.insert(format!("{} {}", run.0, gate.0), now.clone());
            let seen = match before {
                None => PreviewSeen::Never,
                Some(before) if before == now => PreviewSeen::AsItIs,
                Some(_) => PreviewSeen::Otherwise,
            };
            looks.push(GateLook { gate, preview, seen });
        }
        if looks.iter().any(|look| look.seen != PreviewSeen::AsItIs) {
            let kept: Map<String, Value> = shown.clone().into_iter().skip(shown.len().saturating_sub(MOST)).collect();
            // Without the file the next look counts as the first.
            let _ = beside::write_private(&self.shown_file(), Value::Object(kept).to_string().as_bytes());
        }
        looks
    }

    fn shown(&self) -> Map<String, Value> {
        let text = files::read_text(&self.shown_file(), files::DOCUMENT).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    fn shown_file(&self) -> PathBuf {
        self.shared().places.home.join(FILE)
    }
}

fn fingerprint(hash: &str, preview: Option<&Preview>) -> String {
    hex(&Sha256::digest(json!([hash, preview]).to_string()))
}
