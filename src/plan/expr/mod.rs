//! Conditions and expressions: one small, total language without side effects. It reads JSON in place (nothing is copied into another
//! value model), knows ids with `-`, and has no loops, no statements and no way to build more than `MAX_OUTPUT` bytes of text.
//!
//! Values: paths (`a.result.score`, `deps["a-b"].status`, `inputs.city`), numbers, text in quotes, lists, `true`, `false`, `null`.
//! Operators: `or and not == != < <= > >= in, not in, + - ~ * / // %`, `x if c else y`; `|| && !` mean the same as their words.
//! Functions (`length(x)` or `x | length`): see `FUNCTIONS`. A path alone is truthy. In a condition a missing path is null, and null is
//! neither less nor greater than anything.

mod ast;
mod eval;
mod functions;
mod parse;
#[cfg(test)]
mod tests;

pub(crate) use eval::plain;
pub use functions::{FUNCTIONS, FunctionInfo};

use super::names::{Path, Root, Scope};
use ast::Ast;
use serde_json::Value;

/// The longest expression in bytes.
pub const MAX_TEXT: usize = 512;
/// The longest text that an expression may make, in bytes.
pub const MAX_OUTPUT: usize = 1 << 20;

/// Why an expression can't be read or has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExprError {
    /// It doesn't follow the grammar.
    #[error("{message} at character {at}")]
    Syntax {
        /// What was expected or found.
        message: String,
        /// From 1.
        at: usize,
    },
    /// It reads something that isn't there.
    #[error("{0}")]
    Missing(String),
    /// An operator or a function doesn't fit its values.
    #[error("{0}")]
    Mismatch(String),
    /// It asks for too much work or too long a text.
    #[error("{0}")]
    TooMuch(String),
}

/// What a missing path means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnMissing {
    /// Null, as conditions want it.
    Null,
    /// An error that names the path, as templates want it.
    Error,
}

/// An expression that was read; reading fixes which node or input each name means.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    ast: Ast,
}

impl Expr {
    /// Reads an expression; `{{ … }}` around it is accepted.
    ///
    /// # Errors
    /// When it is empty, too long, or doesn't follow the grammar.
    pub fn parse(text: &str, scope: &dyn Scope) -> Result<Self, ExprError> {
        parse::parse(text, scope).map(|ast| Self { ast })
    }

    /// Every path that it mentions, in order of mention.
    pub fn paths(&self) -> Vec<&Path> {
        let mut paths = Vec::new();
        self.ast.visit_paths(&mut |path, _| paths.push(path));
        paths
    }

    /// Its value.
    ///
    /// # Errors
    /// When an operator or a function doesn't fit its values, or `missing` says so.
    pub fn eval(&self, scope: &dyn Scope, missing: OnMissing) -> Result<Value, ExprError> {
        eval::eval(&self.ast, scope, missing)
    }

    /// Whether it holds as a condition.
    ///
    /// # Errors
    /// When an operator or a function doesn't fit its values.
    pub fn truthy(&self, scope: &dyn Scope) -> Result<bool, ExprError> {
        self.eval(scope, OnMissing::Null).map(|value| is_truthy(&value))
    }
}

/// Checks that a text is an expression and gives the paths that it mentions.
///
/// # Errors
/// When it can't be read.
pub fn check(text: &str, scope: &dyn Scope) -> Result<Vec<Path>, ExprError> {
    Expr::parse(text, scope).map(|expr| expr.paths().into_iter().cloned().collect())
}

/// Reads a text and gives its value, with missing paths as null.
///
/// # Errors
/// When it can't be read or has no value.
pub fn eval(text: &str, scope: &dyn Scope) -> Result<Value, ExprError> {
    Expr::parse(text, scope)?.eval(scope, OnMissing::Null)
}

/// Reads a text and says whether it holds as a condition.
///
/// # Errors
/// When it can't be read or has no value.
pub fn truthy(text: &str, scope: &dyn Scope) -> Result<bool, ExprError> {
    Expr::parse(text, scope)?.truthy(scope)
}

/// The text with a node's name changed; unchanged when it can't be read.
pub fn rename(text: &str, old: &str, new: &str, scope: &dyn Scope) -> String {
    let Ok(ast) = parse::parse(text, scope) else { return text.to_owned() };
    let mut spots = Vec::new();
    ast.visit_paths(&mut |path, span| {
        if path.node() == Some(old) {
            spots.push((span.clone(), matches!(path.root, Root::Node(_))));
        }
    });
    spots.sort_by_key(|(span, _)| span.start);
    let mut renamed = text.to_owned();
    for (span, bare) in spots.into_iter().rev() {
        let quoted = text[span.clone()].starts_with(['"', '\'']);
        let name = match (quoted, bare && parse::is_word_of_language(new)) {
            (true, _) => format!("\"{new}\""),
            (false, true) => format!("nodes[\"{new}\"]"),
            (false, false) => new.to_owned(),
        };
        renamed.replace_range(span, &name);
    }
    renamed
}

/// Null, false, 0, and empty texts, lists and objects are false; everything else is true.
pub fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(yes) => *yes,
        Value::Number(number) => number.as_f64().is_none_or(|number| number != 0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(map) => !map.is_empty(),
    }
}
