//! What each piece of the material may take of the room that there is, and the piece within its share.

use serde_json::{Map, Value};

use super::{Form, MaterialPiece};
use crate::agents::tokens;

/// A piece with what it takes.
pub(super) struct SizedPiece<'a> {
    pub piece: &'a MaterialPiece<'a>,
    text: String,
    /// Tokens of the text.
    size: u64,
    /// Tokens of what is around it.
    frame: u64,
}

/// A piece within its share.
pub(super) struct MaterialPart<'a> {
    pub piece: &'a MaterialPiece<'a>,
    /// The text, or its beginning.
    shown: String,
    /// Tokens cut off its end.
    pub cut: u64,
}

impl<'a> SizedPiece<'a> {
    pub fn new(piece: &'a MaterialPiece<'a>, form: Form) -> Self {
        let text = piece.text(form);
        Self { piece, size: tokens::of_text(&text), frame: tokens::of_text(&piece.frame(form)) + RESULT_KEY, text }
    }

    /// Tokens of the words that say what was cut.
    fn note(&self) -> u64 {
        tokens::of_text(&note(self.size, self.piece.name))
    }

    pub fn part(&self, form: Form, share: u64) -> MaterialPart<'a> {
        if self.size <= share {
            return MaterialPart { piece: self.piece, shown: self.text.clone(), cut: 0 };
        }
        let shown = match form {
            Form::Text => tokens::head(&self.text, share).to_owned(),
            Form::Json => quoted_head(&self.piece.text(Form::Text), share).to_owned(),
        };
        // At least one is cut, however the parts are rounded.
        let cut = self.size.saturating_sub(tokens::of_text(&shown)).max(1);
        MaterialPart { piece: self.piece, shown, cut }
    }
}

impl MaterialPart<'_> {
    pub fn text(&self) -> String {
        let note = if self.cut > 0 { note(self.cut, self.piece.name) } else { String::new() };
        format!("{}{}{note}", self.piece.frame(Form::Text), self.shown)
    }

    /// What was cut is text; what is whole keeps its type.
    pub fn entry(&self) -> Map<String, Value> {
        let mut entry = self.piece.lineage();
        let value = match (self.cut, self.piece.error()) {
            (0, None) => self.piece.value.clone().into_owned(),
            (0, Some(error)) => error.into(),
            (cut, _) => format!("{}{}", self.shown, note(cut, self.piece.name)).into(),
        };
        let key = match (self.piece.error(), self.piece.step) {
            (Some(_), _) => "error",
            (None, Some(_)) => "result",
            (None, None) => "value",
        };
        entry.insert(key.to_owned(), value);
        entry
    }
}

/// Tokens of the key before a structured result.
const RESULT_KEY: u64 = 4;

fn note(cut: u64, name: &str) -> String {
    format!("\n[… {cut} tokens of `{name}` were cut]")
}

/// As much of a text as takes no more than this as a JSON string.
fn quoted_head(text: &str, share: u64) -> &str {
    let mut room = share;
    loop {
        let head = tokens::head(text, room);
        let taken = tokens::of_text(&Value::from(head).to_string());
        if taken <= share || head.is_empty() {
            return head;
        }
        room = (room * share / taken).min(room - 1);
    }
}

/// The tokens that each piece's text may take; fewer shares than pieces when not even all the names fit.
pub(super) fn fit(pieces: &[SizedPiece<'_>], room: u64) -> Vec<u64> {
    let sizes: Vec<u64> = pieces.iter().map(|piece| piece.size).collect();
    if pieces.iter().map(|piece| piece.frame + piece.size).sum::<u64>() <= room {
        return sizes;
    }
    // Names and notes may take half of the room, and a few words of each result belong beside them.
    let mut frames = 0;
    let named = pieces.iter().take_while(|piece| {
        frames += piece.frame + piece.note();
        frames <= room / 2
    });
    let count = named.count();
    let taken: u64 = pieces[..count].iter().map(|piece| piece.frame + piece.note()).sum();
    let left_out = if count < pieces.len() { LEFT_OUT } else { 0 };
    shares(&sizes[..count], room.saturating_sub(taken + left_out))
}

/// Tokens of the words that name what was left out.
const LEFT_OUT: u64 = 100;

/// Shares a limit fairly: what a short text doesn't need goes to the long ones.
pub(super) fn shares(sizes: &[u64], limit: u64) -> Vec<u64> {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|&at| sizes[at]);
    let mut shares = vec![0; sizes.len()];
    let (mut left, mut rest) = (limit, u64::try_from(sizes.len()).unwrap_or(u64::MAX));
    for at in order {
        shares[at] = sizes[at].min(left / rest.max(1));
        left -= shares[at];
        rest -= 1;
    }
    shares
}
