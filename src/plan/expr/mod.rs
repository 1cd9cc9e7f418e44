//! Conditions and expressions: one small, total language without side effects. minijinja parses and evaluates them, in an environment that
//! holds nothing but our own list of functions. Before it come names (ids may hold `-`: `scan`) and guards around operands (null and
//! hostile sizes must not matter: `guards`), behind it the border to JSON (`values`). There are no loops, no statements and no way to make
//! more than `MAX_OUTPUT` bytes of text.
//!
//! Values: paths (`a.result.score`, `deps["a-b"].status`, `inputs.city`), numbers, text in quotes, lists, `true`, `false`, `null`.
//! Operators: `or and not == != < <= > >= in, not in, + - ~ * / // %`, `x if c else y`; `|| && !` mean the same as their words.
//! Functions (`length(x)` or `x | length`): see `FUNCTIONS`. A path alone is truthy. In a condition a missing path is null, and null is
//! neither less nor greater than anything; calculating with null gives null.

mod error;
mod functions;
mod guards;
mod opposite;
mod scan;
#[cfg(test)]
mod tests;
mod values;

pub use error::{ExprError, MAX_OUTPUT, MAX_PIECES, MAX_TEXT};
pub use functions::{FUNCTIONS, FunctionInfo};
pub use opposite::are_opposite;

use super::names::{NameLookup, NameScope, Path, Root};
use minijinja::{Environment, Error, ErrorKind, Expression, UndefinedBehavior, value::Value as Inner};
use serde_json::Value;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

/// Instructions of one evaluation.
const FUEL: u64 = 10_000;

/// Empty but for our own functions and guards: the library's own can take gigabytes.
static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut env = Environment::empty();
    env.set_undefined_behavior(UndefinedBehavior::Chainable);
    env.set_fuel(Some(FUEL));
    functions::add(&mut env);
    guards::add(&mut env);
    env
});

/// What a missing path means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnMissing {
    /// Null, as conditions want it.
    Null,
    /// An error that names the path, as templates want it.
    Error,
}

/// An expression that was read; reading fixes which node or input each name means.
#[derive(Clone, Debug)]
pub struct Expr {
    /// In order of mention, with the place of the root's name.
    paths: Vec<(Path, Range<usize>)>,
    /// Absent when it is its one path and nothing else, whose value is read in place.
    compiled: Option<Arc<Expression<'static, 'static>>>,
}

impl Expr {
    /// Reads an expression; `{{ … }}` around it is accepted.
    ///
    /// # Errors
    /// When it is empty, too long, or doesn't follow the grammar.
    pub fn parse(text: &str, scope: &dyn NameScope) -> Result<Self, ExprError> {
        let scan::Scanned { tokens, paths } = scan::scan(text, scope)?;
        if tokens.len() == 1 && paths.len() == 1 {
            return Ok(Self { paths, compiled: None });
        }
        let source = guards::GuardedSource::new(&tokens)?;
        let compiled = ENVIRONMENT.compile_expression_owned(source.text.clone()).map_err(|error| {
            let at = source.character(error.range().map_or(0, |range| range.start));
            ExprError::Syntax { message: ExprError::from(error).to_string(), at }
        })?;
        Ok(Self { paths, compiled: Some(Arc::new(compiled)) })
    }

    /// Every path that it mentions, in order of mention.
    pub fn paths(&self) -> Vec<&Path> {
        self.paths.iter().map(|(path, _)| path).collect()
    }

    /// Its value.
    ///
    /// # Errors
    /// When an operator or a function doesn't fit its values, or `missing` says so.
    pub fn eval(&self, scope: &dyn NameScope, missing: OnMissing) -> Result<Value, ExprError> {
        if let Some(compiled) = &self.compiled {
            return Ok(values::json(&self.run(compiled, scope, missing)?)?);
        }
        match (self.found(scope), missing) {
            (NameLookup::Value(value), _) => Ok(value.into_owned()),
            (NameLookup::Nothing, _) | (NameLookup::Missing(_), OnMissing::Null) => Ok(Value::Null),
            (NameLookup::Missing(words), OnMissing::Error) => Err(ExprError::Missing(words)),
        }
    }

    /// Whether it holds as a condition.
    ///
    /// # Errors
    /// When an operator or a function doesn't fit its values.
    pub fn truthy(&self, scope: &dyn NameScope) -> Result<bool, ExprError> {
        match &self.compiled {
            Some(compiled) => self.run(compiled, scope, OnMissing::Null).map(|value| value.is_true()),
            None => Ok(matches!(self.found(scope), NameLookup::Value(value) if is_truthy(&value))),
        }
    }

    /// What the first path leads to.
    fn found<'a>(&self, scope: &'a dyn NameScope) -> NameLookup<'a> {
        self.paths.first().map_or(NameLookup::Nothing, |(path, _)| path.find(scope))
    }

    fn run(&self, compiled: &Expression, scope: &dyn NameScope, missing: OnMissing) -> Result<Inner, ExprError> {
        let mut variables = vec![(values::METER.to_owned(), Inner::from_object(values::Meter::default()))];
        let mut left = values::MAX_READ;
        for (i, (path, _)) in self.paths.iter().enumerate() {
            let value = match (path.find(scope), missing) {
                (NameLookup::Value(value), _) => values::read(&value, &mut left)?,
                (NameLookup::Nothing, _) | (NameLookup::Missing(_), OnMissing::Null) => Inner::UNDEFINED,
                // It fails when it is really read.
                (NameLookup::Missing(words), OnMissing::Error) => Inner::from(Error::new(ErrorKind::UndefinedError, words)),
            };
            variables.push((format!("p{i}"), value));
        }
        Ok(compiled.eval(Inner::from_pairs(variables))?)
    }
}

/// Checks that a text is an expression and gives the paths that it mentions.
///
/// # Errors
/// When it can't be read.
pub fn check(text: &str, scope: &dyn NameScope) -> Result<Vec<Path>, ExprError> {
    Expr::parse(text, scope).map(|expr| expr.paths.into_iter().map(|(path, _)| path).collect())
}

/// Reads a text and gives its value, with missing paths as null.
///
/// # Errors
/// When it can't be read or has no value.
pub fn eval(text: &str, scope: &dyn NameScope) -> Result<Value, ExprError> {
    Expr::parse(text, scope)?.eval(scope, OnMissing::Null)
}

/// Reads a text and says whether it holds as a condition.
///
/// # Errors
/// When it can't be read or has no value.
pub fn truthy(text: &str, scope: &dyn NameScope) -> Result<bool, ExprError> {
    Expr::parse(text, scope)?.truthy(scope)
}

/// The text with a node's name changed; unchanged when it can't be read.
pub fn rename(text: &str, old: &str, new: &str, scope: &dyn NameScope) -> String {
    let Ok(Expr { paths, .. }) = Expr::parse(text, scope) else { return text.to_owned() };
    let mut renamed = text.to_owned();
    for (path, span) in paths.into_iter().rev().filter(|(path, _)| path.node() == Some(old)) {
        let quoted = text[span.clone()].starts_with(['"', '\'']);
        let bare = matches!(path.root, Root::Node(_));
        let name = match (quoted, bare && scan::is_word_of_language(new)) {
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

/// A value as text: texts bare, null empty, everything else as compact JSON.
pub(crate) fn plain(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null => Cow::Borrowed(""),
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}
