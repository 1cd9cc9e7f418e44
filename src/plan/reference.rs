//! References in texts and argument values: `{{id}}`, `{{id.result.field.0}}`, `{{inputs.name}}`, `{{ expression }}`, `$OUTPUT[id]`,
//! `$OUTPUT[id].field`.
//! Our own scanner: there are no statements, and what a node gave is never read as a template again.
//!
//! A reference alone in a JSON text keeps its type; inside text it is rendered: texts bare, null empty, everything else compact JSON.
//! `\{{` is a literal `{{`. Braces that are never closed are text.

use super::expr::{Expr, ExprError, MAX_TEXT, OnMissing, plain};
use super::names::{NameLookup, NameScope, Path, Root, is_id_byte, longest_known, rehearsed};
use super::shell;
use super::texts::each_text_mut;
use serde_json::{Map, Value};
use std::{borrow::Cow, ops::Range};

/// The longest text that references may render to, and the most that a value may hold by them, in bytes.
pub const MAX_RENDERED: usize = 16 << 20;

/// A reference as it is in a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// Its place in the text, with its braces.
    pub span: Range<usize>,
    /// The reference as written.
    pub text: String,
    /// Every path that it reads; one unless it is an expression. Empty when it can't be read.
    pub paths: Vec<Path>,
    /// Why it can't be read.
    pub error: Option<ExprError>,
}

/// A reference that has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RefError {
    /// What it reads is not there, or it can't be read.
    #[error("`{reference}`: {cause}")]
    NoValue { reference: String, cause: ExprError },
    /// The text or value grows too long by this one.
    #[error("`{reference}` makes the text or value longer than {MAX_RENDERED} bytes")]
    TooLong { reference: String },
    /// A value can't be put into a shell command as data there.
    #[error(
        "`{reference}` is {place} in the command, where the shell could run its value: make it an argument, or write a text with `write_file`"
    )]
    InCommand { reference: String, place: &'static str },
}

/// Every reference in a text, in order.
pub fn references_in_text(text: &str, scope: &dyn NameScope) -> Vec<Reference> {
    let spots = pieces(text).filter_map(|piece| match piece {
        TextPiece::Text(_) => None,
        TextPiece::Spot { span, inner } => Some((span, inner)),
    });
    spots
        .map(|(span, inner)| {
            let (paths, error) = match Spot::read(&inner, scope) {
                Ok(Spot::Path(path)) => (vec![path], None),
                Ok(Spot::Expr(expr)) => (expr.paths().into_iter().cloned().collect(), None),
                Err(error) => (Vec::new(), Some(error)),
            };
            Reference { text: text[span.clone()].to_owned(), span, paths, error }
        })
        .collect()
}

/// A text with those of its references rendered that are wanted and have a value of at most so many characters on one line; the rest stays
/// as it is written.
pub fn filled(text: &str, scope: &dyn NameScope, most: usize, is_wanted: impl Fn(&Reference) -> bool) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut done = 0;
    for reference in references_in_text(text, scope).into_iter().filter(is_wanted) {
        let value = resolve_text(&reference.text, scope).ok();
        if let Some(value) = value.filter(|value| value.len() <= most && (most == usize::MAX || !value.contains('\n'))) {
            filled.push_str(&text[done..reference.span.start]);
            filled.push_str(&value);
            done = reference.span.end;
        }
    }
    filled + &text[done..]
}

/// Every reference in the texts of a JSON value, keys excepted, in order.
pub fn references(value: &Value, scope: &dyn NameScope) -> Vec<Reference> {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
        Value::String(text) => references_in_text(text, scope),
        Value::Array(list) => list.iter().flat_map(|value| references(value, scope)).collect(),
        Value::Object(map) => map.values().flat_map(|value| references(value, scope)).collect(),
    }
}

/// Whether a text holds anything that reads like a reference.
pub fn has_references(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
        Value::String(text) => pieces(text).any(|piece| matches!(piece, TextPiece::Spot { .. })),
        Value::Array(list) => list.iter().any(has_references),
        Value::Object(map) => map.values().any(has_references),
    }
}

/// A JSON value with its references replaced by what they read.
///
/// # Errors
/// The first reference that has no value, or makes the value too long.
pub fn resolve(value: &Value, scope: &dyn NameScope) -> Result<Value, RefError> {
    let mut left = MAX_RENDERED;
    resolve_within(value, scope, &mut left)
}

/// `left` are the bytes that references may still fill.
fn resolve_within(value: &Value, scope: &dyn NameScope, left: &mut usize) -> Result<Value, RefError> {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(value.clone()),
        Value::String(text) => {
            let resolved = match alone(text) {
                Some(inner) => read(text.trim(), &inner, scope)?,
                None => Cow::Owned(Value::String(resolve_text(text, scope)?)),
            };
            *left = left.checked_sub(value_bytes(&resolved)).ok_or_else(|| RefError::TooLong { reference: text.trim().to_owned() })?;
            Ok(resolved.into_owned())
        }
        Value::Array(list) => list.iter().map(|value| resolve_within(value, scope, left)).collect(),
        Value::Object(map) => map_within(map, scope, left).map(Value::Object),
    }
}

fn map_within(map: &Map<String, Value>, scope: &dyn NameScope, left: &mut usize) -> Result<Map<String, Value>, RefError> {
    map.iter().map(|(key, value)| Ok((key.clone(), resolve_within(value, scope, left)?))).collect()
}

/// About what a value takes as compact JSON.
pub(crate) fn value_bytes(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 3,
        Value::Array(list) => 2 + list.iter().map(value_bytes).sum::<usize>(),
        Value::Object(map) => 2 + map.iter().map(|(key, value)| key.len() + 4 + value_bytes(value)).sum::<usize>(),
    }
}

/// An object with the references in its values replaced by what they read.
///
/// # Errors
/// The first reference that has no value, or makes the object too long.
pub fn resolve_map(map: &Map<String, Value>, scope: &dyn NameScope) -> Result<Map<String, Value>, RefError> {
    let mut left = MAX_RENDERED;
    map_within(map, scope, &mut left)
}

/// A text with its references rendered.
///
/// # Errors
/// The first reference that has no value, or makes the text too long.
pub fn resolve_text(text: &str, scope: &dyn NameScope) -> Result<String, RefError> {
    resolve_text_by(text, scope, &mut |_, _| None)
}

/// A text with its references rendered; for a path, `name` may give other words than its value.
///
/// # Errors
/// The first reference that has no value, or makes the text too long.
pub fn resolve_text_by(
    text: &str,
    scope: &dyn NameScope,
    name: &mut dyn FnMut(&Path, &Value) -> Option<String>,
) -> Result<String, RefError> {
    render(text, scope, &mut |_, reference| match reference.spot {
        Spot::Path(path) => Ok(name(path, reference.value).unwrap_or_else(|| plain(reference.value).into())),
        Spot::Expr(_) => Ok(plain(reference.value).into()),
    })
}

/// A shell command with its references rendered as data: no shell runs any of a value. A reference that is the whole command is one.
///
/// # Errors
/// The first reference that has no value, makes the text too long, or is where no quoting keeps it data.
pub fn resolve_command(text: &str, scope: &dyn NameScope) -> Result<String, RefError> {
    if alone(text).is_some() {
        return resolve_text(text, scope);
    }
    render(text, scope, &mut |before, reference| {
        let fail = |place| RefError::InCommand { reference: reference.text.to_owned(), place };
        shell::quoted(before, &plain(reference.value)).map_err(fail)
    })
}

/// A reference that has been read.
struct FilledReference<'a> {
    text: &'a str,
    spot: &'a Spot,
    value: &'a Value,
}

/// A text with each reference replaced by the words that `words` gives for it, behind what is rendered already.
fn render(
    text: &str,
    scope: &dyn NameScope,
    words: &mut dyn FnMut(&str, FilledReference<'_>) -> Result<String, RefError>,
) -> Result<String, RefError> {
    let mut rendered = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            TextPiece::Text(piece) => rendered.push_str(piece),
            TextPiece::Spot { span, inner } => {
                let reference = &text[span];
                let spot = read_spot(reference, &inner, scope)?;
                let value = value_of(reference, &spot, scope)?;
                let value = words(&rendered, FilledReference { text: reference, spot: &spot, value: &value })?;
                if rendered.len() + value.len() > MAX_RENDERED {
                    return Err(RefError::TooLong { reference: reference.to_owned() });
                }
                rendered.push_str(&value);
            }
        }
    }
    Ok(rendered)
}

/// A text with a node's name changed in its references; everything else stays as it is written.
pub fn rename_text(text: &str, old: &str, new: &str, scope: &dyn NameScope) -> String {
    let mut renamed = String::with_capacity(text.len());
    let mut done = 0;
    for piece in pieces(text) {
        let TextPiece::Spot { span, inner } = piece else { continue };
        renamed.push_str(&text[done..span.start]);
        done = span.end;
        match inner {
            Inner::Output { id, fields } if id == old => renamed.push_str(&format!("$OUTPUT[{new}]{fields}")),
            Inner::Output { .. } => renamed.push_str(&text[span]),
            Inner::Braces(inner) => renamed.push_str(&format!("{{{{{}}}}}", rename_inner(inner, old, new, scope))),
        }
    }
    renamed.push_str(&text[done..]);
    if old.bytes().all(is_id_byte) {
        return renamed;
    }
    // No reference holds a name that isn't legal, so such a one is looked for as it is written.
    renamed.replace(&format!("$OUTPUT[{old}]"), &format!("$OUTPUT[{new}]"))
}

fn rename_inner(inner: &str, old: &str, new: &str, scope: &dyn NameScope) -> String {
    let fields = inner.trim().strip_prefix(old).filter(|fields| fields.is_empty() || fields.starts_with('.'));
    match plain_path(inner.trim(), scope) {
        // No path holds a name that isn't legal, so a name that has to be made legal is looked for as it is written.
        None if fields.is_some() && !old.bytes().all(is_id_byte) => inner.replacen(old, new, 1),
        Some(Path { root: Root::Node(id), .. }) if id == old => inner.replacen(old, new, 1),
        Some(_) => inner.to_owned(),
        None => super::expr::rename(inner, old, new, scope),
    }
}

/// Changes a node's name in the references of a JSON value's texts.
pub fn rename_value(value: &mut Value, old: &str, new: &str, scope: &dyn NameScope) {
    each_text_mut(value, &mut |text| {
        if text.contains(old) {
            *text = rename_text(text, old, new, scope);
        }
    });
}

/// What is between braces.
enum Spot {
    Path(Path),
    Expr(Expr),
}

impl Spot {
    fn read(inner: &Inner, scope: &dyn NameScope) -> Result<Self, ExprError> {
        match inner {
            Inner::Output { id, fields } => {
                let fields = fields.split('.').skip(1).map(str::to_owned);
                Ok(Self::Path(Path {
                    root: Root::Entry((*id).to_owned()),
                    fields: ["result".to_owned()].into_iter().chain(fields).collect(),
                }))
            }
            Inner::Braces(text) => match plain_path(text.trim(), scope) {
                Some(path) => Ok(Self::Path(path)),
                None => Expr::parse(text.trim(), scope).map(Self::Expr),
            },
        }
    }
}

/// A path that is written without any operator, so that `-` may be in its fields too.
fn plain_path(text: &str, scope: &dyn NameScope) -> Option<Path> {
    let mut parts = text.split('.');
    let first = parts.next()?;
    let fields: Vec<String> = parts.map(str::to_owned).collect();
    if !std::iter::once(first).chain(fields.iter().map(String::as_str)).all(|part| !part.is_empty() && part.bytes().all(is_id_byte)) {
        return None;
    }
    let root = match longest_known(first, scope) {
        Some((root, length)) if length == first.len() => root,
        // `a-1` of a node `a` is a calculation.
        Some(_) => return None,
        None if first.bytes().all(|b| b.is_ascii_digit()) => return None,
        None => match first {
            "inputs" => Root::Inputs,
            "true" | "false" | "null" | "none" | "deps" | "nodes" => return None,
            unknown => Root::Unknown(unknown.to_owned()),
        },
    };
    Some(Path { root, fields })
}

fn read<'a>(reference: &str, inner: &Inner, scope: &'a dyn NameScope) -> Result<Cow<'a, Value>, RefError> {
    value_of(reference, &read_spot(reference, inner, scope)?, scope)
}

fn read_spot(reference: &str, inner: &Inner, scope: &dyn NameScope) -> Result<Spot, RefError> {
    Spot::read(inner, scope).map_err(|cause| RefError::NoValue { reference: reference.to_owned(), cause })
}

fn value_of<'a>(reference: &str, spot: &Spot, scope: &'a dyn NameScope) -> Result<Cow<'a, Value>, RefError> {
    let fail = |cause| RefError::NoValue { reference: reference.to_owned(), cause };
    match spot {
        Spot::Path(path) => match path.find(scope) {
            NameLookup::Value(value) => Ok(value),
            NameLookup::Nothing => Ok(Cow::Owned(Value::Null)),
            NameLookup::Missing(words) => Err(fail(ExprError::Missing(words))),
        },
        Spot::Expr(expr) => match expr.eval(scope, OnMissing::Error) {
            Err(_) if expr.paths().iter().any(|path| scope.is_rehearsed(path)) => Ok(Cow::Owned(rehearsed(&reference))),
            value => value.map(Cow::Owned).map_err(fail),
        },
    }
}

/// A part of a text.
enum TextPiece<'t> {
    Text(&'t str),
    Spot { span: Range<usize>, inner: Inner<'t> },
}

#[derive(Clone, Copy)]
enum Inner<'t> {
    Braces(&'t str),
    Output {
        id: &'t str,
        /// Each with the point before it.
        fields: &'t str,
    },
}

/// The one reference that a text consists of, spaces around it aside.
fn alone(text: &str) -> Option<Inner<'_>> {
    let mut only = None;
    for piece in pieces(text) {
        match piece {
            TextPiece::Text(piece) if piece.trim().is_empty() => {}
            TextPiece::Spot { inner, .. } if only.is_none() => only = Some(inner),
            TextPiece::Text(_) | TextPiece::Spot { .. } => return None,
        }
    }
    only
}

/// Cuts a text into literal pieces and references.
fn pieces(text: &str) -> impl Iterator<Item = TextPiece<'_>> {
    let mut at = 0;
    // Behind the last `}}` nothing closes, so nothing there is searched for it again and again.
    let last = text.rfind("}}").unwrap_or(0);
    std::iter::from_fn(move || {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        if let Some((inner, length)) = spot(rest, at < last) {
            let span = at..at + length;
            at += length;
            return Some(TextPiece::Spot { span, inner });
        }
        if rest.starts_with("\\{{") {
            at += 3;
            return Some(TextPiece::Text("{{"));
        }
        // At least one character is literal; the next place to look at is where a reference or an escape may start.
        let first = rest.chars().next().map_or(1, char::len_utf8);
        let next = rest[first..].find(['{', '$', '\\']).map_or(rest.len(), |next| first + next);
        at += next;
        Some(TextPiece::Text(&rest[..next]))
    })
}

/// The reference that `rest` starts with, and its length.
fn spot(rest: &str, may_close: bool) -> Option<(Inner<'_>, usize)> {
    if let Some(after) = rest.strip_prefix("$OUTPUT[") {
        let end = after.bytes().take(MAX_TEXT).position(|b| b == b']')?;
        let id = after[..end].trim().trim_matches(['"', '\'']);
        let legal = !id.is_empty() && id.bytes().all(is_id_byte);
        let fields = fields(&after[end + 1..]);
        return legal.then_some((Inner::Output { id, fields }, "$OUTPUT[".len() + end + 1 + fields.len()));
    }
    let after = rest.strip_prefix("{{").filter(|_| may_close)?;
    let end = closing(after)?;
    let inner = &after[..end];
    (!inner.trim().is_empty()).then_some((Inner::Braces(inner), 2 + end + 2))
}

/// The fields that a text starts with, each with the point before it; a point that ends a sentence is none.
pub(super) fn fields(text: &str) -> &str {
    let mut end = 0;
    while let Some(name) = text[end..].strip_prefix('.') {
        match name.bytes().take_while(|byte| is_id_byte(*byte)).count() {
            0 => break,
            length => end += 1 + length,
        }
    }
    &text[..end]
}

/// Where `}}` closes: outside quotes if there is such a place, else the first one.
fn closing(after: &str) -> Option<usize> {
    let first = after.find("}}")?;
    let mut quote = None;
    for (i, c) in after.char_indices() {
        match (quote, c) {
            (None, '}') if after[i..].starts_with("}}") => return Some(i),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
    }
    Some(first)
}
