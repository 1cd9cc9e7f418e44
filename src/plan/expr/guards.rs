//! Guards around what operators look at, because the library's own order null below everything and repeat texts (`'x' * 100000000`):
//! null is neither less nor greater than anything, calculating with it gives null, and text that is made is counted. A guard is a
//! function whose name no function that a person can call has; where it is put depends on how strongly the operators bind.

use super::error::ExprError;
use super::scan::{Lexeme, LexemeKind};
use super::values::{is_null, kind, made, misfit, no_secret, text_of};
use minijinja::value::{Value, ValueKind};
use minijinja::{Environment, Error, State};
use std::cmp::Ordering;
use std::ops::Range;

/// What guards the operands of the operators that chain, from the weakest.
const CHAINS: [&str; 3] = ["term_", "text_", "number_"];

/// Adds the guards to the environment.
pub(super) fn add(env: &mut Environment<'static>) {
    env.add_function("less_", |a: Value, b: Value| holds(&a, &b, Ordering::is_lt));
    env.add_function("at_most_", |a: Value, b: Value| holds(&a, &b, Ordering::is_le));
    env.add_function("greater_", |a: Value, b: Value| holds(&a, &b, Ordering::is_gt));
    env.add_function("at_least_", |a: Value, b: Value| holds(&a, &b, Ordering::is_ge));
    env.add_function("within_", |a: Value, b: Value| contains(&b, &a));
    env.add_function("not_within_", |a: Value, b: Value| contains(&b, &a).map(|within| !within));
    env.add_function("number_", number);
    env.add_function("term_", term);
    env.add_function("text_", |state: &State, value: Value| made(state, text_of(&value)?.into_owned()));
    env.add_function("result_", result);
}

fn holds(a: &Value, b: &Value, wanted: impl Fn(Ordering) -> bool) -> Result<bool, Error> {
    order(a, b).map(|order| order.is_some_and(wanted))
}

/// `None` when either is null: nothing is less or greater than what isn't there.
pub(super) fn order(a: &Value, b: &Value) -> Result<Option<Ordering>, Error> {
    match (a.kind(), b.kind()) {
        _ if is_null(a) || is_null(b) => Ok(None),
        (ValueKind::Number, ValueKind::Number) => Ok(Some(a.cmp(b))),
        (ValueKind::String, ValueKind::String) => {
            [a, b].into_iter().try_for_each(|text| no_secret("a comparison", text))?;
            Ok(Some(a.cmp(b)))
        }
        _ => Err(misfit(format!("{} can't be compared with {}; convert with `float(x)` or `string(x)`", kind(a), kind(b)))),
    }
}

/// Whether a text holds a text, a list an entry, an object a key. Null holds nothing and is in no text.
pub(super) fn contains(whole: &Value, part: &Value) -> Result<bool, Error> {
    match (whole.as_str(), whole.kind()) {
        _ if is_null(whole) => Ok(false),
        (Some(text), _) => {
            no_secret("`in`", whole)?;
            no_secret("`in`", part)?;
            Ok(!is_null(part) && text.contains(&*text_of(part)?))
        }
        (None, ValueKind::Seq | ValueKind::Iterable | ValueKind::Map) => Ok(whole.try_iter()?.any(|entry| entry == *part)),
        _ => Err(misfit(format!("{} has nothing in it", kind(whole)))),
    }
}

/// A number to calculate with; null becomes "not a number", which stays so through every operator.
fn number(value: Value) -> Result<Value, Error> {
    match value.kind() {
        _ if is_null(&value) => Ok(Value::from(f64::NAN)),
        ValueKind::Number => Ok(value),
        _ => Err(misfit(format!("can't calculate with {}", kind(&value)))),
    }
}

/// What `+` and `-` take: a number, or a text or a list to append to.
fn term(state: &State, value: Value) -> Result<Value, Error> {
    match value.as_str() {
        Some(text) => made(state, text.to_owned()),
        None if value.kind() == ValueKind::Seq || value.kind() == ValueKind::Iterable => Ok(value),
        None => number(value),
    }
}

/// What an operator gave.
fn result(value: Value) -> Result<Value, Error> {
    match f64::try_from(value.clone()) {
        Ok(float) if float.is_nan() => Ok(Value::UNDEFINED),
        Ok(float) if float.is_infinite() => Err(misfit("the number is too large")),
        _ => Ok(value),
    }
}

/// The text that the library compiles.
pub(super) struct GuardedSource {
    pub(super) text: String,
    /// Where each token starts in it, and at which character of what a person wrote.
    places: Vec<(usize, usize)>,
}

impl GuardedSource {
    /// The tokens with guards around them.
    pub(super) fn new(tokens: &[Lexeme]) -> Result<Self, ExprError> {
        let mut guards = Guards { tokens, before: vec![String::new(); tokens.len()], after: vec![0; tokens.len()] };
        guards.logic(0..tokens.len())?;
        let mut source = Self { text: String::new(), places: Vec::with_capacity(tokens.len()) };
        for (i, token) in tokens.iter().enumerate() {
            source.text.push_str(&guards.before[i]);
            source.places.push((source.text.len(), token.at));
            source.text.push_str(&token.shown);
            source.text.extend(std::iter::repeat_n(')', guards.after[i]));
            source.text.push(' ');
        }
        Ok(source)
    }

    /// The character of what a person wrote that is at a place.
    pub(super) fn character(&self, place: usize) -> usize {
        self.places.iter().take_while(|(start, _)| *start <= place).last().map_or(1, |(_, at)| *at)
    }
}

struct Guards<'a> {
    tokens: &'a [Lexeme],
    /// What opens before each token, and how many brackets close behind it.
    before: Vec<String>,
    after: Vec<usize>,
}

impl Guards<'_> {
    /// The pieces of a range between tokens of a kind; what is in brackets stays whole.
    fn split(&self, range: Range<usize>, splits: impl Fn(LexemeKind) -> bool) -> Vec<Range<usize>> {
        let (mut pieces, mut start, mut i) = (Vec::new(), range.start, range.start);
        while i < range.end {
            match self.tokens[i].kind {
                LexemeKind::Open(close) => i = close,
                kind if splits(kind) => {
                    pieces.push(start..i);
                    start = i + 1;
                }
                _ => {}
            }
            i += 1;
        }
        pieces.push(start..range.end);
        pieces.retain(|piece| !piece.is_empty());
        pieces
    }

    fn wrap(&mut self, piece: &Range<usize>, guard: &str) {
        self.before[piece.start].push_str(guard);
        self.before[piece.start].push('(');
        self.after[piece.end - 1] += 1;
    }

    fn logic(&mut self, range: Range<usize>) -> Result<(), ExprError> {
        let pieces = self.split(range, |kind| matches!(kind, LexemeKind::Logic | LexemeKind::Comma));
        pieces.into_iter().try_for_each(|piece| self.comparison(piece))
    }

    fn comparison(&mut self, range: Range<usize>) -> Result<(), ExprError> {
        let sides = self.split(range.clone(), |kind| matches!(kind, LexemeKind::Compare(_)));
        match sides.as_slice() {
            [left, _] => {
                if let LexemeKind::Compare(Some(guard)) = self.tokens[left.end].kind {
                    self.wrap(&range, guard);
                }
            }
            [_, second, ..] => return Err(self.tokens[second.end].error("comparisons don't chain, use `and`")),
            [] | [_] => {}
        }
        sides.into_iter().try_for_each(|side| self.chain(side, 0))
    }

    fn chain(&mut self, range: Range<usize>, strength: usize) -> Result<(), ExprError> {
        let Some(guard) = CHAINS.get(strength) else { return self.operand(range) };
        let operands = self.split(range.clone(), |kind| matches!(kind, LexemeKind::Chain(found) if found == strength));
        if operands.len() > 1 {
            self.wrap(&range, "result_");
            operands.iter().for_each(|operand| self.wrap(operand, guard));
        }
        operands.into_iter().try_for_each(|operand| self.chain(operand, strength + 1))
    }

    /// Signs, and what is in the brackets of one operand.
    fn operand(&mut self, range: Range<usize>) -> Result<(), ExprError> {
        let signs = self.tokens[range.clone()].iter().take_while(|token| token.shown == "-").count();
        if signs > 0 {
            self.wrap(&range, "result_");
            self.wrap(&(range.start + signs..range.end), "number_");
        }
        let mut i = range.start;
        while i < range.end {
            let called = match self.tokens.get(i + 1).map(|token| token.kind) {
                Some(LexemeKind::Open(close)) => i + 2..close,
                _ => i..i,
            };
            match self.tokens[i].kind {
                LexemeKind::Function(info, before) => {
                    let given = before + self.split(called, |kind| matches!(kind, LexemeKind::Comma)).len();
                    info.check(given).map_err(|message| self.tokens[i].error(message))?;
                }
                LexemeKind::Open(close) => {
                    self.logic(i + 1..close)?;
                    i = close;
                }
                _ => {}
            }
            i += 1;
        }
        Ok(())
    }
}
