//! Room for an answer, in the words with which servers refuse a limit that is too large: what they take at most, or what is left beside
//! the prompt. Pure.

use super::phrases::{PHRASES, is_said};

/// What to do about a refused limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CapFix {
    /// The model never writes more than this.
    Largest(u64),
    /// So much is left beside this prompt.
    Now(u64),
    /// It is `max_completion_tokens` there.
    OtherName,
    LeaveOut,
    /// No limit helps: the prompt alone is too long.
    PromptTooLong,
}

/// No shorter answer is worth asking for.
const SHORTEST_PAID: u64 = 256;

/// Whether a refusal (in lower case) is about the limit of the answer.
pub(super) fn is_about_cap(text: &str) -> bool {
    is_said(&PHRASES.about_cap, text)
}

/// Whether a refusal (in lower case) of a prompt may be about the limit of the answer beside it: it names one, or the window only.
pub(super) fn may_be_about_cap(text: &str) -> bool {
    is_about_cap(text) || window(text).is_some()
}

/// How long an answer an account can pay for, where a refusal (in lower case) says so.
pub(super) fn affordable(text: &str) -> Option<u64> {
    after(text, &["but can only afford "]).filter(|tokens| *tokens >= SHORTEST_PAID)
}

/// The window that a refusal (in lower case) names.
pub(super) fn window(text: &str) -> Option<u64> {
    after(text, &["maximum context length is ", "available context size (", "must be <= "]).or_else(|| over(text, "context limit"))
}

/// What a refusal (in lower case) of the limit `sent` asks for. `counted` is the prompt as counted here, where the server names none.
pub(super) fn cap_fix(text: &str, sent: u64, counted: u64) -> CapFix {
    let window = window(text);
    let prompt = before(text, &[" in the messages", " in your prompt", " input tokens", " `inputs` tokens", " in the input"])
        .or_else(|| after(text, &["prompt contains ", "exceed context limit: "]));
    if let Some(window) = window {
        let prompt = prompt.unwrap_or(counted);
        return match window.checked_sub(prompt) {
            Some(left) if left > 0 && left < sent => CapFix::Now(left),
            _ => CapFix::PromptTooLong,
        };
    }
    let largest = after(text, &["supports at most ", "less than or equal to ", "max_tokens is [1, ", "at most "])
        .or_else(|| after(text, &["(inclusive) to "]).map(|end| end.saturating_sub(1)))
        .or_else(|| over(text, "maximum allowed number of output tokens"));
    match largest {
        Some(largest) if largest > 0 && largest < sent => CapFix::Largest(largest),
        _ if text.contains("max_completion_tokens") => CapFix::OtherName,
        _ => CapFix::LeaveOut,
    }
}

/// The number after the first of these phrases that has one.
fn after(text: &str, phrases: &[&str]) -> Option<u64> {
    phrases.iter().find_map(|phrase| {
        let rest = &text[text.find(phrase)? + phrase.len()..];
        number(rest.trim_start_matches(['`', '\'', '"', ' ']).trim_start_matches("at least "))
    })
}

/// The number before the first of these phrases that has one.
fn before(text: &str, phrases: &[&str]) -> Option<u64> {
    phrases.iter().find_map(|phrase| {
        let text = &text[..text.find(phrase)?];
        let start = text.rfind(|letter: char| !letter.is_ascii_digit() && letter != ',').map_or(0, |at| at + 1);
        number(&text[start..])
    })
}

/// The number after `>`, in Anthropic's way to write what is wrong, where a phrase is said too.
fn over(text: &str, phrase: &str) -> Option<u64> {
    text.contains(phrase).then(|| number(text.split_once("> ")?.1)).flatten()
}

fn number(text: &str) -> Option<u64> {
    let digits: String =
        text.chars().take_while(|letter| letter.is_ascii_digit() || *letter == ',').filter(|letter| *letter != ',').collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_limits_are_understood_in_the_words_of_real_servers() {
        for (message, sent, fix) in [
            // OpenAI, Azure and what passes their words on.
            (
                "max_tokens is too large: 6000. This model supports at most 4096 completion tokens, whereas you provided 6000.",
                6000,
                CapFix::Largest(4096),
            ),
            (
                "This model's maximum context length is 8192 tokens. However, you requested 8256 tokens (64 in the messages, 8192 in the completion). Please reduce the length of the messages or completion.",
                8192,
                CapFix::Now(8128),
            ),
            (
                "This model's maximum context length is 4097 tokens, however you requested 4430 tokens (3430 in your prompt; 1000 for the completion).",
                1000,
                CapFix::Now(667),
            ),
            (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                100,
                CapFix::OtherName,
            ),
            ("Unrecognized request argument supplied: max_tokens", 100, CapFix::LeaveOut),
            // vLLM.
            (
                "'max_tokens' or 'max_completion_tokens' is too large: 64000. This model's maximum context length is 64001 tokens and your request has 24235 input tokens (64000 > 64001 - 24235).",
                64000,
                CapFix::Now(39766),
            ),
            (
                "This model's maximum context length is 2048 tokens. However, you requested 1500 output tokens and your prompt contains at least 900 input tokens, for a total of at least 2400 tokens.",
                1500,
                CapFix::Now(1148),
            ),
            // Anthropic.
            (
                "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-haiku-20241022",
                100_000,
                CapFix::Largest(8192),
            ),
            (
                "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again",
                20_000,
                CapFix::Now(10_000),
            ),
            // Groq, DeepSeek, Gemini, Text Generation Inference.
            (
                "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model",
                9000,
                CapFix::Largest(8192),
            ),
            ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 9000, CapFix::Largest(8192)),
            (
                "Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 65537 (exclusive).",
                100_000,
                CapFix::Largest(65536),
            ),
            (
                "`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 5000 `inputs` tokens and 4000 `max_new_tokens`",
                4000,
                CapFix::Now(3193),
            ),
        ] {
            let text = message.to_lowercase();
            assert!(may_be_about_cap(&text), "{message}");
            assert_eq!(cap_fix(&text, sent, 300), fix, "{message}");
        }
        assert!(!may_be_about_cap("the request exceeds the available context size, try increasing it"));
        let credits =
            "this request requires more credits, or fewer max_tokens. you requested up to 65536 tokens, but can only afford 3395.";
        assert_eq!((affordable(credits), affordable(&credits.replace("3395", "95"))), (Some(3395), None));
    }
}
