//! Conditions of which one holds where the other doesn't, as far as their texts say so: `c` and `not c`, `n > 3` and `n <= 3`.

use super::scan::{LexemeKind, Scanned, scan};
use crate::plan::names::NameScope;

/// Comparisons and their opposites, by the names of their guards and as the library sees them.
const OPPOSITES: [(&str, &str); 4] = [("less_", "at_least_"), ("greater_", "at_most_"), ("==", "!="), ("within_", "not_within_")];

/// Whether one of two conditions is the other's opposite.
pub fn are_opposite(a: &str, b: &str, scope: &dyn NameScope) -> bool {
    match (pieces(a, scope), pieces(b, scope)) {
        (Some(a), Some(b)) => opposite(&a).as_deref() == Some(bare(&b)) || opposite(&b).as_deref() == Some(bare(&a)),
        (None, _) | (_, None) => false,
    }
}

/// The same for the same meaning, whatever its spaces and spellings.
#[derive(Clone, PartialEq)]
struct ConditionPart {
    text: String,
    /// How far it opens or closes brackets.
    depth: i32,
    is_logic: bool,
}

fn pieces(text: &str, scope: &dyn NameScope) -> Option<Vec<ConditionPart>> {
    let Scanned { tokens, paths } = scan(text, scope).ok()?;
    let mut paths = paths.into_iter();
    let mut named = 0;
    let piece = |token: super::scan::Lexeme| {
        let text = match token.kind {
            LexemeKind::Compare(Some(guard)) => guard.to_owned(),
            LexemeKind::Value if token.shown == format!("p{named}") => {
                named += 1;
                paths.next().map(|(path, _)| format!("{path:?}")).unwrap_or_default()
            }
            _ => token.shown,
        };
        let depth = match token.kind {
            LexemeKind::Open(_) => 1,
            LexemeKind::Close => -1,
            _ => 0,
        };
        ConditionPart { text, depth, is_logic: matches!(token.kind, LexemeKind::Logic) }
    };
    Some(tokens.into_iter().map(piece).collect())
}

/// Without the brackets around the whole.
fn bare(pieces: &[ConditionPart]) -> &[ConditionPart] {
    match pieces {
        [open, inner @ .., close] if open.text == "(" && close.text == ")" && at_top(inner).is_some() => bare(inner),
        _ => pieces,
    }
}

/// The pieces outside all brackets, by position; `None` where a bracket closes that opened before them.
fn at_top(pieces: &[ConditionPart]) -> Option<Vec<usize>> {
    let (mut depth, mut found) = (0, Vec::new());
    for (at, piece) in pieces.iter().enumerate() {
        if depth == 0 && piece.depth == 0 {
            found.push(at);
        }
        depth += piece.depth;
        if depth < 0 {
            return None;
        }
    }
    Some(found)
}

/// What holds where these don't; `None` where that can't be said by turning one word.
fn opposite(pieces: &[ConditionPart]) -> Option<Vec<ConditionPart>> {
    let pieces = bare(pieces);
    let is_one = |part: &[ConditionPart]| at_top(part).is_some_and(|top| top.iter().all(|&at| !part[at].is_logic));
    if let Some((first, rest)) = pieces.split_first().filter(|(first, rest)| first.text == "not" && is_one(rest)) {
        debug_assert!(first.is_logic);
        return Some(bare(rest).to_vec());
    }
    let turned = |word: &str| {
        let pair = OPPOSITES.iter().find(|(one, other)| *one == word || *other == word)?;
        Some(if pair.0 == word { pair.1 } else { pair.0 })
    };
    let at = at_top(pieces)?.into_iter().find(|&at| turned(&pieces[at].text).is_some()).filter(|_| is_one(pieces))?;
    let mut opposite = pieces.to_vec();
    opposite[at].text = turned(&pieces[at].text)?.to_owned();
    Some(opposite)
}
