//! Values of expressions. Every step and every piece of text costs fuel, so no expression runs long or grows without bound.

use super::ast::{Ast, Operator};
use super::{ExprError, MAX_OUTPUT, OnMissing, is_truthy};
use crate::plan::names::{Found, Scope};
use crate::plan::native::kind;
use serde_json::{Number, Value};
use std::{borrow::Cow, cmp::Ordering};

/// Steps of one evaluation: AST nodes, list entries, and bytes of text (by 64).
const FUEL: usize = 1_000_000;

pub(super) type Val<'a> = Cow<'a, Value>;

pub(super) fn eval(ast: &Ast, scope: &dyn Scope, missing: OnMissing) -> Result<Value, ExprError> {
    Machine { scope, missing, fuel: FUEL }.eval(ast).map(Cow::into_owned)
}

pub(super) struct Machine<'a> {
    scope: &'a dyn Scope,
    missing: OnMissing,
    fuel: usize,
}

impl<'a> Machine<'a> {
    pub(super) fn burn(&mut self, steps: usize) -> Result<(), ExprError> {
        self.fuel = self.fuel.checked_sub(steps).ok_or_else(|| ExprError::TooMuch("the expression takes too many steps".into()))?;
        Ok(())
    }

    /// Lets a text of this length be made.
    pub(super) fn make_text(&mut self, length: usize) -> Result<(), ExprError> {
        if length > MAX_OUTPUT {
            return Err(ExprError::TooMuch(format!("the expression makes more than {MAX_OUTPUT} bytes of text")));
        }
        self.burn(length / 64)
    }

    fn eval(&mut self, ast: &'a Ast) -> Result<Val<'a>, ExprError> {
        self.burn(1)?;
        match ast {
            Ast::Literal(value) => Ok(Cow::Borrowed(value)),
            Ast::Path(path, _) => match path.find(self.scope) {
                Found::Value(value) => Ok(value),
                Found::Nothing => Ok(null()),
                Found::Missing(_) if self.missing == OnMissing::Null => Ok(null()),
                Found::Missing(words) => Err(ExprError::Missing(words)),
            },
            Ast::List(items) => {
                let items = items.iter().map(|item| self.eval(item).map(Cow::into_owned));
                items.collect::<Result<Vec<_>, _>>().map(|items| Cow::Owned(Value::Array(items)))
            }
            Ast::Not(one) => self.holds(one).map(|holds| bool_value(!holds)),
            Ast::Negate(one) => {
                let value = self.eval(one)?;
                self.arithmetic(Operator::Subtract, &Value::from(0), &value).map(Cow::Owned)
            }
            Ast::And(a, b) => {
                let left = self.eval(a)?;
                if is_truthy(&left) { self.eval(b) } else { Ok(left) }
            }
            Ast::Or(a, b) => {
                let left = self.eval(a)?;
                if is_truthy(&left) { Ok(left) } else { self.eval(b) }
            }
            Ast::If { test, yes, no } => {
                if self.holds(test)? {
                    self.eval(yes)
                } else {
                    self.eval(no)
                }
            }
            Ast::Binary(operator, a, b) => {
                let (left, right) = (self.eval(a)?, self.eval(b)?);
                self.binary(*operator, &left, &right).map(Cow::Owned)
            }
            Ast::Index(base, key) => {
                let (base, key) = (self.eval(base)?, self.eval(key)?);
                self.index(base, &key)
            }
            Ast::Call(function, arguments) => {
                let arguments = arguments.iter().map(|argument| self.eval(argument)).collect::<Result<Vec<_>, _>>()?;
                self.call(*function, arguments).map(Cow::Owned)
            }
        }
    }

    fn holds(&mut self, ast: &'a Ast) -> Result<bool, ExprError> {
        self.eval(ast).map(|value| is_truthy(&value))
    }

    fn index(&mut self, base: Val<'a>, key: &Value) -> Result<Val<'a>, ExprError> {
        let found = match base {
            Cow::Borrowed(base) => entry(base, key).map(Cow::Borrowed),
            Cow::Owned(ref base) => entry(base, key).map(|value| Cow::Owned(value.clone())),
        };
        match (found, self.missing) {
            (Some(value), _) => Ok(value),
            (None, OnMissing::Null) => Ok(null()),
            (None, OnMissing::Error) if base.is_null() => Ok(null()),
            (None, OnMissing::Error) => Err(ExprError::Missing(format!("{} has no `{}`", kind(&base), plain(key)))),
        }
    }

    fn binary(&mut self, operator: Operator, a: &Value, b: &Value) -> Result<Value, ExprError> {
        Ok(match operator {
            Operator::Equal => Value::Bool(self.equal(a, b)?),
            Operator::NotEqual => Value::Bool(!self.equal(a, b)?),
            Operator::Less => Value::Bool(self.order(a, b)?.is_some_and(Ordering::is_lt)),
            Operator::LessOrEqual => Value::Bool(self.order(a, b)?.is_some_and(Ordering::is_le)),
            Operator::Greater => Value::Bool(self.order(a, b)?.is_some_and(Ordering::is_gt)),
            Operator::GreaterOrEqual => Value::Bool(self.order(a, b)?.is_some_and(Ordering::is_ge)),
            Operator::In => Value::Bool(self.contains(b, a)?),
            Operator::NotIn => Value::Bool(!self.contains(b, a)?),
            Operator::Concat => Value::String(self.join(&[plain(a), plain(b)], "")?),
            Operator::Add => match (a, b) {
                (Value::String(a), Value::String(b)) => Value::String(self.join(&[a, b], "")?),
                (Value::Array(a), Value::Array(b)) => {
                    self.burn(a.len() + b.len())?;
                    a.iter().chain(b).cloned().collect()
                }
                _ => self.arithmetic(operator, a, b)?,
            },
            Operator::Subtract | Operator::Multiply | Operator::Divide | Operator::FloorDivide | Operator::Remainder => {
                self.arithmetic(operator, a, b)?
            }
        })
    }

    /// Joins texts within the limit.
    pub(super) fn join(&mut self, parts: &[impl AsRef<str>], separator: &str) -> Result<String, ExprError> {
        let text: usize = parts.iter().map(|part| part.as_ref().len()).sum();
        self.make_text(text.saturating_add(separator.len().saturating_mul(parts.len().saturating_sub(1))))?;
        let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
        Ok(parts.join(separator))
    }

    /// Equal as JSON; numbers by their value, so 1 equals 1.0.
    pub(super) fn equal(&mut self, a: &Value, b: &Value) -> Result<bool, ExprError> {
        self.burn(1)?;
        match (a, b) {
            (Value::Number(a), Value::Number(b)) => Ok(compare_numbers(a, b) == Ordering::Equal),
            (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
                for (a, b) in a.iter().zip(b) {
                    if !self.equal(a, b)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (Value::Object(a), Value::Object(b)) if a.len() == b.len() => {
                for (key, a) in a {
                    let Some(b) = b.get(key) else { return Ok(false) };
                    if !self.equal(a, b)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            _ => Ok(a == b),
        }
    }

    /// `None` when either is null: nothing is less or greater than what isn't there.
    pub(super) fn order(&mut self, a: &Value, b: &Value) -> Result<Option<Ordering>, ExprError> {
        match (a, b) {
            (Value::Null, _) | (_, Value::Null) => Ok(None),
            (Value::Number(a), Value::Number(b)) => Ok(Some(compare_numbers(a, b))),
            (Value::String(a), Value::String(b)) => Ok(Some(a.cmp(b))),
            _ => Err(ExprError::Mismatch(format!("{} can't be ordered against {}; `float(x)` and `string(x)` convert", kind(a), kind(b)))),
        }
    }

    pub(super) fn contains(&mut self, whole: &Value, part: &Value) -> Result<bool, ExprError> {
        match whole {
            Value::Null => Ok(false),
            Value::String(text) => match part {
                Value::String(part) => {
                    self.burn(text.len() / 64)?;
                    Ok(text.contains(part.as_str()))
                }
                other => Ok(text.contains(plain(other).as_ref())),
            },
            Value::Array(list) => {
                for entry in list {
                    if self.equal(entry, part)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Value::Object(map) => Ok(part.as_str().is_some_and(|key| map.contains_key(key))),
            Value::Bool(_) | Value::Number(_) => Err(ExprError::Mismatch(format!("{} has nothing in it", kind(whole)))),
        }
    }

    /// Null with anything gives null. Whole numbers stay whole while they fit; division gives a whole number when it comes out even.
    fn arithmetic(&mut self, operator: Operator, a: &Value, b: &Value) -> Result<Value, ExprError> {
        let (x, y) = match (a, b) {
            (Value::Null, _) | (_, Value::Null) => return Ok(Value::Null),
            (Value::Number(x), Value::Number(y)) => (x, y),
            _ => return Err(ExprError::Mismatch(format!("{} and {} can't be calculated with", kind(a), kind(b)))),
        };
        if let (Some(x), Some(y)) = (whole(x), whole(y))
            && let Some(result) = whole_arithmetic(operator, x, y)
        {
            return Ok(result);
        }
        let (x, y) = (x.as_f64().unwrap_or(f64::NAN), y.as_f64().unwrap_or(f64::NAN));
        let result = match operator {
            Operator::Add => x + y,
            Operator::Subtract => x - y,
            Operator::Multiply => x * y,
            Operator::Divide => x / y,
            Operator::FloorDivide => (x / y).floor(),
            _ => x - y * (x / y).floor(),
        };
        float(result)
            .ok_or_else(|| ExprError::Mismatch(if y == 0.0 { "division by zero".into() } else { "the number is too large".into() }))
    }
}

fn whole(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

/// `None` when the result is no whole number of 64 bits.
fn whole_arithmetic(operator: Operator, x: i128, y: i128) -> Option<Value> {
    let result = match operator {
        Operator::Add => x + y,
        Operator::Subtract => x - y,
        Operator::Multiply => x.checked_mul(y)?,
        Operator::Divide if y != 0 && x % y == 0 => x / y,
        Operator::FloorDivide if y != 0 => x.div_euclid(y) - i128::from(y < 0 && x.rem_euclid(y) != 0),
        Operator::Remainder if y != 0 => x - y * (x.div_euclid(y) - i128::from(y < 0 && x.rem_euclid(y) != 0)),
        _ => return None,
    };
    i64::try_from(result).map(Value::from).or_else(|_| u64::try_from(result).map(Value::from)).ok()
}

/// A finite number.
pub(super) fn float(number: f64) -> Option<Value> {
    Number::from_f64(number).map(Value::Number)
}

pub(super) fn compare_numbers(a: &Number, b: &Number) -> Ordering {
    match (whole(a), whole(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        // Adding zero makes -0.0 equal to 0.0.
        _ => (a.as_f64().unwrap_or(0.0) + 0.0).total_cmp(&(b.as_f64().unwrap_or(0.0) + 0.0)),
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

/// An entry by key, or by position (from the end when negative).
fn entry<'v>(base: &'v Value, key: &Value) -> Option<&'v Value> {
    match (base, key) {
        (Value::Object(map), Value::String(key)) => map.get(key),
        (Value::Array(list), Value::Number(at)) => {
            let at = at.as_i64()?;
            let at = if at < 0 { i64::try_from(list.len()).ok()?.checked_add(at)? } else { at };
            list.get(usize::try_from(at).ok()?)
        }
        (Value::Array(list), Value::String(at)) => list.get(at.parse::<usize>().ok()?),
        _ => None,
    }
}

fn null<'a>() -> Val<'a> {
    Cow::Owned(Value::Null)
}

fn bool_value<'a>(yes: bool) -> Val<'a> {
    Cow::Owned(Value::Bool(yes))
}
