//! Token counts of conversations, and texts cut to a count.

use crate::models::{ChatMessage, ChatRequest, ToolOffer, tokens};

/// About how many tokens a text takes, rather too many than too few.
pub(super) use crate::models::tokens::count as of_text;

/// Tokens of a conversation.
pub(super) fn of_messages(messages: &[ChatMessage]) -> u64 {
    tokens::count_prompt(&ChatRequest { messages: messages.to_vec(), ..ChatRequest::default() })
}

/// Tokens of the tools on offer.
pub(super) fn of_offers(offers: &[ToolOffer]) -> u64 {
    tokens::count_prompt(&ChatRequest { tools: offers.to_vec(), ..ChatRequest::default() })
}

/// The text, or as much of its beginning as the tokens allow, with words that say what was cut.
pub(super) fn cut(text: &str, tokens: u64) -> String {
    let shown = head(text, tokens);
    if shown.len() == text.len() {
        return text.to_owned();
    }
    format!("{shown}\n[cut here: the first {} of {} characters are shown]", shown.chars().count(), text.chars().count())
}

/// As much of a text's beginning as the tokens allow.
pub(super) fn head(text: &str, tokens: u64) -> &str {
    if of_text(text) <= tokens {
        return text;
    }
    // Quarters of a token, as the count has it: one for a byte of ASCII, two for any other.
    let mut left = tokens.saturating_mul(4);
    let end = text.char_indices().find_map(|(at, c)| {
        let cost = if c.is_ascii() { 1 } else { 2 * c.len_utf8() as u64 };
        match left.checked_sub(cost) {
            Some(rest) => {
                left = rest;
                None
            }
            None => Some(at),
        }
    });
    &text[..end.unwrap_or(text.len())]
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
        assert_eq!(cut(&"é".repeat(10), 1), "é\n[cut here: the first 1 of 10 characters are shown]");
        assert_eq!(cut("abcdefgh", 1), "abcd\n[cut here: the first 4 of 8 characters are shown]");
        assert_eq!(cut("abc", 0), "\n[cut here: the first 0 of 3 characters are shown]");
    }
}
