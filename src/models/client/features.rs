//! What a server's model takes, learned from its refusals, so that a refusal costs one round trip once.

use serde::{Deserialize, Serialize};

use super::complaint::Complaint;
use super::room::{self, CapFix};
use crate::models::{ChatRequest, ModelErrorKind};

/// The limit of an answer for models whose own is unknown, where a limit must be sent.
pub const UNKNOWN_OUTPUT: u64 = 4_096;

/// How an answer is held to a schema, from strict to loose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SchemaMode {
    #[default]
    JsonSchema,
    /// `response_format: json_object`, the schema in the prompt.
    JsonObject,
    /// The schema in the prompt only.
    Prompt,
}

impl SchemaMode {
    /// The next looser one.
    fn looser(self) -> Option<Self> {
        match self {
            Self::JsonSchema => Some(Self::JsonObject),
            Self::JsonObject => Some(Self::Prompt),
            Self::Prompt => None,
        }
    }
}

/// How a server takes the limit of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CapParameter {
    #[default]
    MaxTokens,
    MaxCompletionTokens,
    /// It refuses both.
    Refused,
}

/// Tokens of a request that was refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sent {
    /// Its limit of the answer.
    pub cap: Option<u64>,
    /// Its prompt, as counted here.
    pub prompt: u64,
}

/// An optional part of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RefusedPart {
    UsageOption,
    Cap,
    Sampling,
    ReasoningEffort,
    Tools,
    Schema,
}

/// Optional parts of a request, as a server's model takes them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Features {
    pub schema: SchemaMode,
    pub cap: CapParameter,
    /// The largest limit of an answer that it takes.
    pub largest_cap: Option<u64>,
    pub refuses_tools: bool,
    pub refuses_usage_option: bool,
    pub refuses_sampling: bool,
    pub refuses_reasoning_effort: bool,
    /// What is left for an answer beside this prompt.
    #[serde(skip)]
    pub cap_now: Option<u64>,
}

impl Features {
    /// What of the request a refusal is about, as far as it can still be left out or changed.
    pub(super) fn refused_part(&self, request: &ChatRequest, kind: ModelErrorKind, complaint: &Complaint) -> Option<RefusedPart> {
        let text = complaint.text();
        let says = |names: &[&str]| names.iter().any(|name| text.contains(name));
        let settings = &request.settings;
        let offers_tools = !request.tools.is_empty() && !self.refuses_tools && is_about_tools(&text);
        match kind {
            ModelErrorKind::ContextTooLong => room::may_be_about_cap(&text).then_some(RefusedPart::Cap),
            // OpenRouter has credits for a shorter answer.
            ModelErrorKind::RateLimit => room::affordable(&text).map(|_| RefusedPart::Cap),
            // llama.cpp without templates for tools says so as a failure of its own.
            ModelErrorKind::Server => offers_tools.then_some(RefusedPart::Tools),
            ModelErrorKind::BadRequest => {
                if !self.refuses_usage_option && says(&["stream_options", "include_usage"]) {
                    Some(RefusedPart::UsageOption)
                } else if self.cap != CapParameter::Refused && room::is_about_cap(&text) {
                    Some(RefusedPart::Cap)
                } else if !self.refuses_sampling
                    && (settings.temperature.is_some() || settings.top_p.is_some())
                    && says(&["temperature", "top_p"])
                {
                    Some(RefusedPart::Sampling)
                } else if !self.refuses_reasoning_effort
                    && settings.reasoning_effort.is_some()
                    && says(&["reasoning_effort", "reasoning effort", "thinking"])
                {
                    Some(RefusedPart::ReasoningEffort)
                } else if offers_tools {
                    Some(RefusedPart::Tools)
                } else {
                    // Servers name this refusal in too many ways to tell it from others: any refusal loosens the schema.
                    request.schema.is_some().then_some(RefusedPart::Schema)
                }
            }
            _ => None,
        }
    }

    /// What is left to try without a part; `None` when nothing is.
    pub(super) fn without(&self, part: RefusedPart, sent: Sent, complaint: &Complaint) -> Option<Self> {
        let mut less = self.clone();
        let text = complaint.text();
        match part {
            RefusedPart::UsageOption => less.refuses_usage_option = true,
            RefusedPart::Sampling => less.refuses_sampling = true,
            RefusedPart::ReasoningEffort => less.refuses_reasoning_effort = true,
            RefusedPart::Tools => less.refuses_tools = true,
            RefusedPart::Schema => less.schema = self.schema.looser()?,
            RefusedPart::Cap if room::affordable(&text).is_some() => {
                less.cap_now = room::affordable(&text).filter(|now| self.cap_now.is_none_or(|before| *now < before));
                less.cap_now?;
            }
            RefusedPart::Cap => match (room::cap_fix(&text, sent.cap?, sent.prompt), self.cap) {
                (CapFix::Largest(size), _) => less.largest_cap = Some(size),
                (CapFix::Now(size), _) => less.cap_now = Some(size),
                (CapFix::OtherName, CapParameter::MaxTokens) => less.cap = CapParameter::MaxCompletionTokens,
                (CapFix::PromptTooLong, _) => return None,
                (CapFix::OtherName | CapFix::LeaveOut, _) => less.cap = CapParameter::Refused,
            },
        }
        Some(less)
    }

    /// In what way a request is sent again, for people.
    pub(super) fn changed_to(&self, less: &Self) -> &'static str {
        match less.schema {
            SchemaMode::JsonObject if less.schema != self.schema => return "as JSON, with the schema in words",
            SchemaMode::Prompt if less.schema != self.schema => return "with the schema in words",
            SchemaMode::JsonSchema | SchemaMode::JsonObject | SchemaMode::Prompt => {}
        }
        match less.cap {
            CapParameter::MaxCompletionTokens if less.cap != self.cap => return "with the limit of the answer under its other name",
            CapParameter::Refused if less.cap != self.cap => return "without a limit of the answer",
            CapParameter::MaxTokens | CapParameter::MaxCompletionTokens | CapParameter::Refused => {}
        }
        [
            (less.refuses_tools != self.refuses_tools, "without tools"),
            (less.refuses_usage_option != self.refuses_usage_option, "without asking what it takes"),
            (less.refuses_sampling != self.refuses_sampling, "without a temperature"),
            (less.refuses_reasoning_effort != self.refuses_reasoning_effort, "without a reasoning effort"),
        ]
        .into_iter()
        .find_map(|(changed, how)| changed.then_some(how))
        .unwrap_or("with a smaller limit of the answer")
    }
}

/// Whether a refusal says that a model, or the server as it was started, can't call tools: Ollama's "does not support tools", vLLM's
/// "requires --enable-auto-tool-choice", llama.cpp's "tools param requires --jinja flag", OpenRouter's "No endpoints found that support
/// tool use", Groq's "`tool calling` is not supported with this model", "Function calling is not enabled for this model".
fn is_about_tools(text: &str) -> bool {
    let subject = ["tool", "function call"].iter().any(|word| text.contains(word));
    // Gemini's way to say that it takes no type of the answer beside tools is about the type.
    let is_about_type = text.contains("response mime type");
    let verb = ["not support", "n't support", "unsupported", "not enabled", "not available", "requires --", "no endpoints found"];
    subject && !is_about_type && verb.iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::{ModelSettings, OutputSchema, ToolOffer};
    use serde_json::json;

    fn part(features: &Features, request: &ChatRequest, message: &str) -> Option<RefusedPart> {
        let complaint = Complaint { message: message.into(), ..Complaint::default() };
        features.refused_part(request, ModelErrorKind::BadRequest, &complaint)
    }

    #[test]
    fn only_the_part_that_was_refused_is_blamed() {
        let settings =
            ModelSettings { temperature: Some(0.0), max_tokens: Some(10), reasoning_effort: Some("low".into()), ..Default::default() };
        let tools = vec![ToolOffer { name: "t".into(), description: String::new(), parameters: json!({}) }];
        let request = ChatRequest { settings, tools, ..ChatRequest::default() };
        for (message, expected) in [
            ("Unknown field `stream_options`", Some(RefusedPart::UsageOption)),
            (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                Some(RefusedPart::Cap),
            ),
            ("'temperature' does not support 0 with this model", Some(RefusedPart::Sampling)),
            ("reasoning_effort is not supported", Some(RefusedPart::ReasoningEffort)),
            ("registry.ollama.ai/library/gemma3:4b does not support tools", Some(RefusedPart::Tools)),
            ("\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set", Some(RefusedPart::Tools)),
            ("tools param requires --jinja flag", Some(RefusedPart::Tools)),
            ("No endpoints found that support tool use. To learn more", Some(RefusedPart::Tools)),
            ("`tool calling` is not supported with this model", Some(RefusedPart::Tools)),
            ("Function calling is not enabled for this model", Some(RefusedPart::Tools)),
            ("Function calling with a response mime type: 'application/json' is unsupported", None),
            ("messages must not be empty", None),
            ("tool_call_id is missing in message 3", None),
        ] {
            assert_eq!(part(&Features::default(), &request, message), expected, "{message}");
        }
    }

    #[test]
    fn a_schema_is_loosened_step_by_step_and_no_further() {
        let schema = Some(OutputSchema { name: "s".into(), schema: json!({}) });
        let request = ChatRequest { schema, ..ChatRequest::default() };
        let mut features = Features::default();
        let mut modes = Vec::new();
        while let Some(next) =
            part(&features, &request, "bad request").and_then(|part| features.without(part, Sent::default(), &Complaint::default()))
        {
            modes.push(next.schema);
            features = next;
        }
        assert_eq!(modes, [SchemaMode::JsonObject, SchemaMode::Prompt]);
    }
}
