//! `sum`, `avg` and `total` for tables of files: a text that is no number is an error, where SQLite would take 0 or the digits before a comma.

use rusqlite::{
    Connection, Error, Result,
    functions::{Aggregate, Context, FunctionFlags, WindowAggregate},
    types::{Value, ValueRef},
};

use crate::tools::{
    builtin::beginning,
    tables::{Cell, number},
};

#[derive(Clone, Copy)]
enum TotalKind {
    Sum,
    Average,
    Total,
}

/// What was added up so far: whole numbers exactly, others with the part that rounding loses.
#[derive(Clone, Default)]
struct RunningTotal {
    count: i64,
    whole: i128,
    reals: i64,
    real: f64,
    lost: f64,
}

/// Puts the three in place of SQLite's own.
pub(super) fn add(database: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    for kind in [TotalKind::Sum, TotalKind::Average, TotalKind::Total] {
        database.create_window_function(kind.name(), 1, flags, kind)?;
    }
    Ok(())
}

impl TotalKind {
    fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Average => "avg",
            Self::Total => "total",
        }
    }

    fn fault(self, what: &str) -> Error {
        Error::UserFunctionError(format!("`{}` {what}", self.name()).into())
    }

    fn change(self, context: &Context<'_>, total: &mut RunningTotal, sign: i8) -> Result<()> {
        let cell = match context.get_raw(0) {
            ValueRef::Null => return Ok(()),
            ValueRef::Integer(whole) => Cell::Integer(whole),
            ValueRef::Real(real) => Cell::Real(real),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                let text = String::from_utf8_lossy(bytes);
                let shown = beginning(&text, 40);
                number(&text).ok_or_else(|| self.fault(&format!("needs numbers; a value is the text `{shown}`")))?
            }
        };
        total.count += i64::from(sign);
        match cell {
            Cell::Integer(whole) => total.whole += i128::from(whole) * i128::from(sign),
            Cell::Real(real) => {
                total.reals += i64::from(sign);
                total.add(real * f64::from(sign));
            }
            Cell::Null | Cell::Boolean(_) | Cell::Text(_) => {}
        }
        Ok(())
    }

    fn result(self, total: Option<&RunningTotal>) -> Result<Value> {
        let nothing = RunningTotal::default();
        let total = total.unwrap_or(&nothing);
        match (self, total.count) {
            (Self::Total, _) => Ok(Value::Real(total.value())),
            (Self::Sum | Self::Average, 0) => Ok(Value::Null),
            (Self::Average, count) => Ok(Value::Real(total.value() / count as f64)),
            (Self::Sum, _) if total.reals > 0 => Ok(Value::Real(total.value())),
            (Self::Sum, _) => i64::try_from(total.whole).map(Value::Integer).map_err(|_| self.fault("is larger than 64 bits hold")),
        }
    }
}

impl RunningTotal {
    /// Neumaier's compensated sum.
    fn add(&mut self, real: f64) {
        let next = self.real + real;
        self.lost += if self.real.abs() >= real.abs() { (self.real - next) + real } else { (real - next) + self.real };
        self.real = next;
    }

    fn value(&self) -> f64 {
        self.whole as f64 + (self.real + self.lost)
    }
}

impl Aggregate<RunningTotal, Value> for TotalKind {
    fn init(&self, _context: &mut Context<'_>) -> Result<RunningTotal> {
        Ok(RunningTotal::default())
    }

    fn step(&self, context: &mut Context<'_>, total: &mut RunningTotal) -> Result<()> {
        self.change(context, total, 1)
    }

    fn finalize(&self, _context: &mut Context<'_>, total: Option<RunningTotal>) -> Result<Value> {
        self.result(total.as_ref())
    }
}

impl WindowAggregate<RunningTotal, Value> for TotalKind {
    fn value(&self, total: Option<&mut RunningTotal>) -> Result<Value> {
        self.result(total.as_deref())
    }

    fn inverse(&self, context: &mut Context<'_>, total: &mut RunningTotal) -> Result<()> {
        self.change(context, total, -1)
    }
}
