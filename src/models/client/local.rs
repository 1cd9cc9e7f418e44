//! Servers of one machine: known by how they answer, and asked how many calls they work at once.

use serde_json::Value;
use std::time::Duration;
use tokio::time::timeout;

use super::ModelClient;

/// Who owns the models that such servers list: llama.cpp, Ollama, LM Studio.
const OWNERS: [&str; 3] = [LLAMA_CPP, "library", "organization_owner"];
const LLAMA_CPP: &str = "llamacpp";
/// Calls at once where the server doesn't say.
const FEW: u32 = 2;
/// How long such a server may take to say what it is.
const PROBE: Duration = Duration::from_secs(2);

/// One machine takes so many times as long to read a prompt.
const PATIENCE: u32 = 5;

impl ModelClient {
    /// How long the first piece of an answer may take.
    pub(super) fn first_limit(&self) -> Duration {
        let is_local = self.traits.is_local || self.known_local.get().is_some();
        if is_local { self.limits.first * PATIENCE } else { self.limits.first }
    }

    /// How many calls a server of one machine works at once; none of other servers, which are not asked where the address says so.
    pub(super) async fn local_slots(&self) -> Option<u32> {
        if self.base.scheme() != "http" {
            return None;
        }
        let models = timeout(PROBE, self.fetch_text("models")).await.ok()?.ok()?;
        let list = serde_json::from_str(&models).unwrap_or_default();
        self.learn_windows(&list);
        let owner = owner(&list)?;
        // Whoever came first has said the same.
        let _ = self.known_local.set(());
        if owner != LLAMA_CPP {
            return Some(FEW);
        }
        let props = self.base.join("/props").ok()?;
        let props = timeout(PROBE, self.fetch_from(props.as_str())).await.ok().and_then(Result::ok).unwrap_or_default();
        let props: Value = serde_json::from_str(&props).unwrap_or_default();
        props.get("total_slots").and_then(Value::as_u64).and_then(|slots| u32::try_from(slots).ok()).or(Some(FEW))
    }
}

fn owner(models: &Value) -> Option<&'static str> {
    let said = models.get("data")?.as_array()?.iter().find_map(|model| model.get("owned_by")?.as_str())?;
    OWNERS.into_iter().find(|owner| *owner == said)
}
