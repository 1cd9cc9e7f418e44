//! Counting tokens without a tokenizer: an upper estimate, so that limits hold for every model.

use crate::models::{ChatMessage, ToolOffer};

/// Tokens that a message costs besides its text.
const FRAME: u64 = 6;

/// About how many tokens a text takes, rather too many than too few.
pub(super) fn of_text(text: &str) -> u64 {
    u64::try_from(text.len().div_ceil(3)).unwrap_or(u64::MAX)
}

/// Tokens of a conversation.
pub(super) fn of_messages(messages: &[ChatMessage]) -> u64 {
    messages.iter().map(of_message).sum()
}

/// Tokens of the tools on offer.
pub(super) fn of_offers(offers: &[ToolOffer]) -> u64 {
    offers.iter().map(|offer| FRAME + of_text(&offer.name) + of_text(&offer.description) + of_text(&offer.parameters.to_string())).sum()
}

fn of_message(message: &ChatMessage) -> u64 {
    FRAME
        + match message {
            ChatMessage::System { content } | ChatMessage::User { content } | ChatMessage::Tool { content, .. } => of_text(content),
            ChatMessage::Assistant { content, calls } => {
                of_text(content) + calls.iter().map(|call| FRAME + of_text(&call.name) + of_text(&call.arguments)).sum::<u64>()
            }
        }
}

/// The text, or as much of its beginning as the tokens allow, with words that say what was cut.
pub(super) fn cut(text: &str, tokens: u64) -> String {
    let bytes = usize::try_from(tokens.saturating_mul(3)).unwrap_or(usize::MAX);
    if text.len() <= bytes {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(bytes);
    let (kept, all) = (text[..end].chars().count(), text.chars().count());
    format!("{}\n[cut here: the first {kept} of {all} characters are shown]", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_not_cut() {
        assert_eq!(cut("abc", 1), "abc");
    }

    #[test]
    fn a_cut_says_how_much_is_shown_and_never_splits_a_character() {
        let text = "é".repeat(10);
        assert_eq!(cut(&text, 1), "é\n[cut here: the first 1 of 10 characters are shown]");
    }

    #[test]
    fn more_text_is_never_fewer_tokens() {
        assert!(of_text("") == 0 && of_text("a") == 1 && of_text("abcd") == 2);
    }
}
