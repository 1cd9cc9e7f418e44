//! Why an expression has no value, and how much one may ask for.

use minijinja::{Error, ErrorKind};

/// The longest expression in bytes.
pub const MAX_TEXT: usize = 4096;
/// The most pieces of an expression: names, values, operators, brackets. The library goes as deep as there are operators.
pub const MAX_PIECES: usize = 512;
/// How much text one evaluation may make, in bytes: all of its steps together.
pub const MAX_OUTPUT: usize = 4 << 20;
/// Why an expression can't be read or has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExprError {
    /// It doesn't follow the grammar.
    #[error("{message} at character {at}")]
    Syntax { message: String, at: usize },
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

impl From<Error> for ExprError {
    fn from(error: Error) -> Self {
        let words = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
        match error.kind() {
            ErrorKind::UndefinedError => Self::Missing(words),
            ErrorKind::OutOfFuel => Self::TooMuch(words),
            _ => Self::Mismatch(words),
        }
    }
}
