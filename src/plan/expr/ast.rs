//! Expressions as trees.

use super::functions::Function;
use crate::plan::names::Path;
use serde_json::Value;
use std::ops::Range;

/// An expression as a tree.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ast {
    Literal(Value),
    /// With the place where its root's name is written, quotes included.
    Path(Path, Range<usize>),
    List(Vec<Ast>),
    Not(Box<Ast>),
    Negate(Box<Ast>),
    And(Box<Ast>, Box<Ast>),
    Or(Box<Ast>, Box<Ast>),
    If {
        test: Box<Ast>,
        yes: Box<Ast>,
        no: Box<Ast>,
    },
    Binary(Operator, Box<Ast>, Box<Ast>),
    Index(Box<Ast>, Box<Ast>),
    Call(Function, Vec<Ast>),
}

/// Operators that look at both of their values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    NotIn,
    Add,
    Subtract,
    Concat,
    Multiply,
    Divide,
    FloorDivide,
    Remainder,
}

impl Ast {
    pub(super) fn visit_paths<'a>(&'a self, visit: &mut impl FnMut(&'a Path, &Range<usize>)) {
        match self {
            Self::Literal(_) => {}
            Self::Path(path, span) => visit(path, span),
            Self::List(items) | Self::Call(_, items) => items.iter().for_each(|item| item.visit_paths(visit)),
            Self::Not(one) | Self::Negate(one) => one.visit_paths(visit),
            Self::And(a, b) | Self::Or(a, b) | Self::Binary(_, a, b) | Self::Index(a, b) => {
                a.visit_paths(visit);
                b.visit_paths(visit);
            }
            Self::If { test, yes, no } => {
                yes.visit_paths(visit);
                test.visit_paths(visit);
                no.visit_paths(visit);
            }
        }
    }
}
