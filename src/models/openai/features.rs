//! What a server's model can do, learned from its refusals and remembered by the client, so that a refusal costs one round trip once.

use super::wire::Complaint;
use crate::models::ChatRequest;

/// How an answer is held to a schema, from strict to loose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SchemaMode {
    JsonSchema,
    /// `response_format: json_object`, the schema in the prompt.
    JsonObject,
    /// The schema in the prompt only.
    Prompt,
}

impl SchemaMode {
    /// The next looser one.
    pub(super) fn looser(self) -> Option<Self> {
        match self {
            Self::JsonSchema => Some(Self::JsonObject),
            Self::JsonObject => Some(Self::Prompt),
            Self::Prompt => None,
        }
    }
}

/// Optional parts of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Features {
    pub schema: SchemaMode,
    pub usage_option: bool,
    /// `max_completion_tokens` rather than `max_tokens`.
    pub completion_cap: bool,
    pub sampling: bool,
    pub reasoning_effort: bool,
}

impl Default for Features {
    fn default() -> Self {
        Self { schema: SchemaMode::JsonSchema, usage_option: true, completion_cap: false, sampling: true, reasoning_effort: true }
    }
}

impl Features {
    /// What is left to try after a request was refused as malformed; `None` when the refusal is not about an optional part.
    pub(super) fn without_what_was_refused(&self, request: &ChatRequest, complaint: &Complaint) -> Option<Self> {
        let text = format!("{} {} {}", complaint.message, complaint.code, complaint.param).to_lowercase();
        let says = |names: &[&str]| names.iter().any(|name| text.contains(name));
        let settings = &request.settings;
        let mut less = self.clone();
        if self.usage_option && says(&["stream_options", "include_usage"]) {
            less.usage_option = false;
        } else if settings.max_tokens.is_some() && !self.completion_cap && says(&["max_completion_tokens"]) {
            less.completion_cap = true;
        } else if self.sampling && (settings.temperature.is_some() || settings.top_p.is_some()) && says(&["temperature", "top_p"]) {
            less.sampling = false;
        } else if self.reasoning_effort && settings.reasoning_effort.is_some() && says(&["reasoning_effort", "reasoning effort"]) {
            less.reasoning_effort = false;
        } else if request.schema.is_some() {
            // Servers name this refusal in too many ways to tell it from others: any refusal loosens the schema.
            less.schema = self.schema.looser()?;
        } else {
            return None;
        }
        Some(less)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::{ModelSettings, OutputSchema};

    fn less(features: &Features, request: &ChatRequest, message: &str) -> Option<Features> {
        features.without_what_was_refused(request, &Complaint { message: message.into(), ..Complaint::default() })
    }

    #[test]
    fn only_the_part_that_was_refused_is_left_out() {
        let all = Features::default();
        let settings =
            ModelSettings { temperature: Some(0.0), max_tokens: Some(10), reasoning_effort: Some("low".into()), ..Default::default() };
        let request = ChatRequest { settings, ..ChatRequest::default() };
        let check = |message: &str, want: Features| assert_eq!(less(&all, &request, message), Some(want), "{message}");
        check("Unknown field `stream_options`", Features { usage_option: false, ..all.clone() });
        check("Use 'max_completion_tokens' instead of 'max_tokens'", Features { completion_cap: true, ..all.clone() });
        check("'temperature' does not support 0 with this model", Features { sampling: false, ..all.clone() });
        check("reasoning_effort is not supported", Features { reasoning_effort: false, ..all.clone() });
        assert_eq!(less(&all, &request, "messages must not be empty"), None);
    }

    #[test]
    fn a_schema_is_loosened_step_by_step_and_no_further() {
        let schema = Some(OutputSchema { name: "s".into(), schema: serde_json::json!({}) });
        let request = ChatRequest { schema, ..ChatRequest::default() };
        let mut features = Features::default();
        let mut modes = Vec::new();
        while let Some(next) = less(&features, &request, "bad request") {
            modes.push(next.schema);
            features = next;
        }
        assert_eq!(modes, [SchemaMode::JsonObject, SchemaMode::Prompt]);
    }
}
