//! Conditions on the rows of a table: each phrase as a filter with a value as the column has it. What fits no column refuses the reading.

use super::pieces::{Bag, CONDITIONS, Piece, compare};
use crate::planner::builtin::facts::{ColumnFacts, TableFacts, WorkspaceFacts};
use crate::planner::builtin::slots::{Literal, Relation, SlotValue};
use crate::planner::builtin::tree::{Match, RowFilter, Test};
use crate::planner::builtin::{figures, lists};
use crate::tools::tables::TableFormat;

pub(super) struct Filters<'a> {
    pub table: &'a TableFacts,
    pub file: &'a str,
    pub facts: &'a WorkspaceFacts,
}

/// Levels from the least to the most severe.
const SEVERITIES: [&str; 8] = ["TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "ERROR", "CRITICAL", "FATAL"];

fn plain(field: String, relation: Relation, value: Literal) -> RowFilter {
    RowFilter { field, test: Test::Compare(relation, value), not: false }
}

/// Whether a value is another word for a level.
fn is_level(value: &str, level: &str) -> bool {
    lists::choices("levels").any(|(said, name)| said == value.to_lowercase() && name == level)
}

impl Filters<'_> {
    fn known(&self, column: String) -> Option<String> {
        self.table.column(&column).map(|_| column)
    }

    pub fn take(&self, bag: &mut Bag) -> Option<Vec<RowFilter>> {
        let mut filters = Vec::new();
        // `how much did Ann spend`
        let of_members: Vec<Piece> =
            bag.0.iter().filter(|piece| piece.piece == "total" && piece.slot("member").is_some()).cloned().collect();
        bag.0.extend(of_members.into_iter().map(|piece| Piece::made("member", "", vec![("member".into(), piece.slots[0].1.clone())])));
        // `success rate`: of which condition.
        for (name, slot) in bag.0.iter().filter(|piece| piece.piece == "percent").flat_map(|piece| piece.slots.clone()).collect::<Vec<_>>()
        {
            let piece = ["member", "level", "outcome", "status"].into_iter().find(|piece| *piece == name)?;
            bag.0.push(Piece::made(piece, "", vec![(name, slot)]));
        }
        for (name, not) in [("empty", false), ("not_empty", true)] {
            for piece in bag.all(name) {
                // `without a newsletter` is a no, and rows are no column of theirs.
                let column = self.table.column(&piece.column("column")?).filter(|column| column.truths.is_none())?;
                if self.facts.by_stem(&column.name).is_some_and(|file| file == self.file) {
                    return None;
                }
                filters.push(RowFilter { field: self.known(piece.column("column")?)?, test: Test::Empty, not });
            }
        }
        filters.extend(self.of_columns(bag)?);
        for piece in bag.all("period") {
            filters.extend(self.period(&piece)?);
        }
        self.statuses(bag, &mut filters)?;
        for piece in bag.all("outcome") {
            filters.push(self.outcome(piece.choice("outcome")? == "good", piece.value == "not")?);
        }
        for piece in bag.all("stock") {
            let column = self.table.measured("stocks")?;
            let relation = if piece.value == "none" { Relation::Equal } else { Relation::Greater };
            filters.push(plain(column, relation, Literal::Number(0.0)));
        }
        for piece in bag.all("clock") {
            filters.extend(self.clock(&piece)?);
        }
        self.levels(bag, &mut filters)?;
        filters.iter_mut().for_each(|filter| self.in_list(filter));
        filters.sort_by(|a, b| a.field.cmp(&b.field));
        filters.dedup();
        // `fatal error`: two values of a column, and nothing says that either will do.
        let values: Vec<&RowFilter> = filters
            .iter()
            .filter(|filter| !filter.not && matches!(filter.test, Test::Compare(Relation::Equal, _) | Test::OneOf(_)))
            .collect();
        (!values.windows(2).any(|pair| pair[0].field == pair[1].field)).then_some(filters)
    }

    /// What a list is said to be is one of its entries.
    fn in_list(&self, filter: &mut RowFilter) {
        let is_list = self.table.column(&filter.field).is_some_and(|column| column.is_list);
        let (entry, not) = match &filter.test {
            Test::Compare(Relation::Equal, Literal::Text(entry)) => (entry, false),
            Test::Compare(Relation::NotEqual, Literal::Text(entry)) => (entry, true),
            _ => return,
        };
        if is_list {
            *filter = RowFilter { test: Test::Contains(format!("\"{entry}\""), Match::EXACT), not: filter.not != not, ..filter.clone() };
        }
    }

    fn statuses(&self, bag: &mut Bag, filters: &mut Vec<RowFilter>) -> Option<()> {
        for piece in bag.all("status") {
            self.known("status".into()).filter(|_| self.table.is_access())?;
            if piece.value == "bad" {
                filters.push(self.outcome(false, false)?);
            }
            if let ("up", Some(SlotValue::Number(status))) = (piece.value, piece.slot("status")) {
                filters.push(plain("status".into(), Relation::AtLeast, Literal::Number(*status)));
                continue;
            }
            for name in ["status", "status2"] {
                if let Some(SlotValue::Range(from, to)) = piece.slot(name) {
                    let test = Test::Between(Literal::Number(*from as f64), Literal::Number(*to as f64));
                    filters.push(RowFilter { field: "status".into(), test, not: false });
                }
                if let Some(SlotValue::Number(status)) = piece.slot(name) {
                    join(filters, plain("status".into(), Relation::Equal, Literal::Number(*status)));
                }
            }
        }
        Some(())
    }

    fn levels(&self, bag: &mut Bag, filters: &mut Vec<RowFilter>) -> Option<()> {
        let pieces = bag.all("level");
        if pieces.len() > 1 {
            return None;
        }
        let together = pieces.iter().any(|piece| piece.value == "and");
        let mut levels: Vec<&str> = pieces.iter().flat_map(|piece| [piece.choice("level"), piece.choice("level2")]).flatten().collect();
        if pieces.iter().any(|piece| piece.value == "up") {
            let at = SEVERITIES.iter().position(|severity| levels.contains(severity))?;
            let own = &self.table.column("level")?.values;
            let occurs = |level: &&str| own.iter().any(|value| is_level(value, level));
            levels = SEVERITIES[at..].iter().copied().filter(occurs).collect();
        }
        for level in &levels {
            // As the file spells it, where it is no log.
            let own: Vec<&String> = self.table.column("level")?.values.iter().filter(|value| is_level(value, level)).collect();
            let level = if let [only] = own[..] { only } else { *level };
            join(filters, plain("level".into(), Relation::Equal, Literal::Text(level.to_owned())));
        }
        if !levels.is_empty() {
            bag.0.push(Piece::made("level_named", if together { "and" } else { "" }, Vec::new()));
        }
        Some(())
    }

    /// Conditions on single columns. `and North` is one more of the column before, `or North` another of it, both as it was or was not.
    fn of_columns(&self, bag: &mut Bag) -> Option<Vec<RowFilter>> {
        let names = ["filter", "member", "not_member", "flag", "not_flag"];
        // `of School in january or of Club 7`: what lies between could be meant for one of them.
        let apart =
            |pair: &[Piece]| ["and", "or"].contains(&pair[1].value) && names.contains(&pair[1].piece) && !names.contains(&pair[0].piece);
        if bag.0.windows(2).any(apart) {
            return None;
        }
        // `except the ones from North that are paid`: what comes behind could be meant for these, or for all.
        let leaves_out = |piece: &Piece| {
            let says_no = ["not", "neither", "that", "which", "who", "are", "is", "were", "was"].contains(&piece.first.as_str());
            piece.piece == "not_member" && !says_no
        };
        let goes_on = |piece: &Piece| CONDITIONS.contains(&piece.piece) && !["and", "or"].contains(&piece.value) && !leaves_out(piece);
        if bag.0.windows(2).any(|pair| leaves_out(&pair[0]) && goes_on(&pair[1])) {
            return None;
        }
        let pieces: Vec<Piece> = bag.0.iter().filter(|piece| names.contains(&piece.piece)).cloned().collect();
        bag.0.retain(|piece| !names.contains(&piece.piece));
        let mut filters: Vec<RowFilter> = Vec::new();
        for piece in pieces {
            if piece.value == "things" {
                // Rows are counted; what is sold or stored isn't.
                let counted = lists::words("stocked").iter().any(|name| self.table.column(name).is_some());
                if counted && !self.table.is_log() && self.table.format != TableFormat::Jsonl {
                    return None;
                }
                bag.0.push(Piece::made("rows", "", Vec::new()));
            }
            // `by members` are those that are, `by member` is a group.
            if piece.value == "plural" && !piece.plural {
                return None;
            }
            let mut found = match piece.piece {
                "filter" => self.compared(&piece)?,
                name => self.members(&piece, name.starts_with("not"), name.ends_with("flag"))?,
            };
            if ["and", "or"].contains(&piece.value) {
                let before = filters.last()?;
                let was_not = before.not || matches!(before.test, Test::Compare(Relation::NotEqual, _));
                let is_same = found.iter().all(|filter| filter.field == before.field);
                if !is_same && (was_not || piece.value == "or") {
                    return None;
                }
                found.iter_mut().filter(|_| is_same).for_each(|filter| filter.not = was_not);
            }
            let linked = ["and", "or"].contains(&piece.value);
            for filter in found {
                if linked { join(&mut filters, filter) } else { filters.push(filter) }
            }
        }
        Some(filters)
    }

    fn compared(&self, piece: &Piece) -> Option<Vec<RowFilter>> {
        let column = self.known(piece.column("column").or_else(|| self.table.measured(piece.value))?)?;
        if piece.slots.iter().filter(|(name, _)| name == "column").count() > 1 || piece.column("unit").is_some_and(|unit| unit != column) {
            return None;
        }
        let facts = self.table.column(&column)?;
        if let Some(other) = piece.column("column2") {
            return self.beside(column, facts, piece, other);
        }
        let literal = piece.value("value")?;
        if piece.value == "known" && !matches!(&literal, Literal::Text(text) if facts.values.contains(text)) && !facts.is_number {
            return None;
        }
        // `which type is slowest`: a word of dagdeck's own that doesn't occur is no value.
        if matches!(&literal, Literal::Text(text) if !facts.is_number && facts.truths.is_none() && !facts.values.contains(text) && lists::knows(&text.to_lowercase()))
        {
            return None;
        }
        let value = self.fitting(&column, literal)?;
        let second = match piece.value("value2") {
            Some(value) => Some(self.fitting(&column, value)?),
            None => None,
        };
        if facts.is_date {
            return days(&column, piece, &value, second.as_ref());
        }
        let filter = match (piece.slot("cmp"), piece.slot("between"), second) {
            (_, Some(_), Some(second)) => RowFilter { field: column, test: Test::Between(value, second), not: false },
            (Some(SlotValue::Compare(comparison @ (Relation::Equal | Relation::NotEqual))), None, Some(second)) => {
                RowFilter { field: column, test: Test::OneOf(vec![value, second]), not: *comparison == Relation::NotEqual }
            }
            (Some(SlotValue::Compare(comparison)), None, None) => {
                let ordered =
                    !matches!(comparison, Relation::Equal | Relation::NotEqual | Relation::Contains | Relation::Starts | Relation::Ends);
                // Words are not ordered.
                if ordered && !matches!(value, Literal::Number(_)) {
                    return None;
                }
                compare(column, *comparison, value)
            }
            (None, None, None) => compare(column, Relation::Equal, value),
            _ => return None,
        };
        Some(vec![filter])
    }

    /// Two columns of a row compared: `products with a stock below their minimum`.
    fn beside(&self, column: String, facts: &ColumnFacts, piece: &Piece, other: String) -> Option<Vec<RowFilter>> {
        let beside = self.table.column(&other).filter(|_| other != column)?;
        let Some(SlotValue::Compare(relation)) = piece.slot("cmp") else { return None };
        let is_ordered = facts.is_number && beside.is_number || facts.is_date && beside.is_date;
        let is_equality = matches!(relation, Relation::Equal | Relation::NotEqual) && facts.is_number == beside.is_number;
        let is_text = matches!(relation, Relation::Contains | Relation::Starts | Relation::Ends);
        (!is_text && (is_ordered || is_equality)).then(|| vec![plain(column, *relation, Literal::Column(other))])
    }

    fn members(&self, piece: &Piece, not: bool, flag: bool) -> Option<Vec<RowFilter>> {
        let mut filters = Vec::new();
        for name in ["member", "flag"] {
            let Some(slot) = piece.slot(name) else { continue };
            let SlotValue::Member { column, value } = slot else { return None };
            if piece.column("column").is_some_and(|named| named != *column) {
                return None;
            }
            let column = self.known(column.clone())?;
            let facts = self.table.column(&column)?;
            // `what did Ann order`: where each name is once, rows are people and not what they did.
            if piece.value == "does" && facts.is_unique {
                return None;
            }
            // A flag is raised or not; a value has to be there.
            let (value, not) = match (flag, facts.truths) {
                (true, Some([yes, no])) => (if not { no } else { yes }.to_owned(), false),
                // Open is what has no day on which it was closed.
                (true, None) if facts.is_date => {
                    filters.push(RowFilter { field: column, test: Test::Empty, not: !not });
                    continue;
                }
                (true, None) => return None,
                (false, _) => (value.clone(), not),
            };
            if !flag && (!facts.values.contains(&value) || facts.is_date) {
                return None;
            }
            let literal = self.fitting(&column, Literal::Text(value))?;
            filters.push(RowFilter { field: column, test: Test::Compare(Relation::Equal, literal), not });
        }
        Some(filters)
    }

    /// What went well, or what failed: by the status of a request, a column that says yes or no, or the one value that says so.
    fn outcome(&self, good: bool, not: bool) -> Option<RowFilter> {
        if self.table.is_access() {
            let relation = if good == not { Relation::AtLeast } else { Relation::Less };
            return Some(plain(self.known("status".into())?, relation, Literal::Number(400.0)));
        }
        let says = |name: &str| lists::choices("outcomes").find(|(said, _)| *said == name.to_lowercase()).map(|(_, sense)| sense == "good");
        let flag =
            self.table.columns.iter().filter(|column| column.truths.is_some()).find_map(|column| Some((column, says(&column.name)?)));
        if let Some((column, sense)) = flag {
            let [yes, no] = column.truths?;
            let value = if (sense == good) != not { yes } else { no };
            return Some(plain(column.name.clone(), Relation::Equal, self.fitting(&column.name, Literal::Text(value.to_owned()))?));
        }
        let all = self.table.columns.iter().flat_map(|column| column.values.iter().map(move |value| (column, value)));
        let mut found = all.filter(|(_, value)| says(value) == Some(good));
        let (column, value) = found.next().filter(|_| found.next().is_none())?;
        Some(RowFilter { not, ..plain(column.name.clone(), Relation::Equal, Literal::Text(value.clone())) })
    }

    /// Rows of some days.
    fn period(&self, piece: &Piece) -> Option<Vec<RowFilter>> {
        let SlotValue::Period(from, to) = self.dated(piece.slot("period")?, piece)? else { return None };
        let column = match piece.column("column") {
            Some(column) => self.known(column)?,
            None => match self.table.date() {
                Some(date) => date.to_owned(),
                None => self.known("year".into()).filter(|_| !self.table.columns.iter().any(|column| column.is_date))?,
            },
        };
        let facts = self.table.column(&column)?;
        let is_year = from.ends_with("-01-01") && to.ends_with("-01-01");
        let value = |day: &str| match (facts.is_number && is_year && column == "year", facts.is_date) {
            (true, _) => day[..4].parse().ok().map(Literal::Number),
            (false, true) => Some(Literal::Text(day.to_owned())),
            (false, false) => None,
        };
        let (at_least, before) = (
            |day: &str| Some(plain(column.clone(), Relation::AtLeast, value(day)?)),
            |day: &str| Some(plain(column.clone(), Relation::Less, value(day)?)),
        );
        Some(match piece.value {
            "after" => vec![at_least(&to)?],
            "since" => vec![at_least(&from)?],
            "before" => vec![before(&from)?],
            "until" => vec![before(&to)?],
            "between" => {
                let SlotValue::Period(_, last) = self.dated(piece.slot("period2")?, piece)? else { return None };
                vec![at_least(&from)?, before(&last)?]
            }
            _ => vec![at_least(&from)?, before(&to)?],
        })
    }

    /// Days with their year: a month alone is of the only year that occurs.
    fn dated(&self, period: &SlotValue, piece: &Piece) -> Option<SlotValue> {
        let SlotValue::Period(from, to) = period else { return None };
        let Some(rest) = from.strip_prefix('-') else { return Some(SlotValue::Period(from.clone(), to.clone())) };
        let column = piece.column("column").or_else(|| self.table.date().map(str::to_owned))?;
        let values = &self.table.column(&column).filter(|column| column.is_date)?.values;
        let year = values.first()?.get(..4)?;
        let (first, next) = figures::dated(year.parse().ok()?, rest, to)?;
        let only = values.iter().all(|value| value.starts_with(year));
        only.then(|| SlotValue::Period(first.to_string(), next.to_string()))
    }

    /// Entries of some time of the day.
    fn clock(&self, piece: &Piece) -> Option<Vec<RowFilter>> {
        let date =
            self.table.date().filter(|date| self.table.column(date).is_some_and(|column| column.values.iter().all(|v| v.len() > 10)))?;
        let value = |name: &str| Some(Literal::Text(piece.text(name)?.0));
        let test = |relation: Relation, value: Literal| plain(format!("clock of the {date}"), relation, value);
        // Whether what is just at the end of it belongs to it, nobody says.
        let edge = match piece.value {
            "after" => Some("clock"),
            "" => Some("clock2"),
            _ => None,
        };
        if let Some((edge, _)) = edge.and_then(|edge| piece.text(edge)) {
            let just = |rest: &str| !rest.trim_start_matches([':', '0', '.']).starts_with(|c: char| c.is_ascii_digit());
            let at_edge = |value: &String| value.get(11..).and_then(|clock| clock.strip_prefix(edge.as_str())).is_some_and(just);
            if self.table.column(date)?.values.iter().any(at_edge) {
                return None;
            }
        }
        Some(match piece.value {
            "after" | "since" => vec![test(Relation::AtLeast, value("clock")?)],
            "before" => vec![test(Relation::Less, value("clock")?)],
            _ => vec![test(Relation::AtLeast, value("clock")?), test(Relation::Less, value("clock2")?)],
        })
    }

    /// A value as the column has it; none when it is almost one of its values, or a word for a number.
    fn fitting(&self, column: &str, value: Literal) -> Option<Literal> {
        let facts = self.table.column(column)?;
        match (value, facts.truths) {
            (Literal::Text(text), Some(["true", _])) => ["true", "false"].contains(&text.as_str()).then(|| Literal::Truth(text == "true")),
            (Literal::Text(_), None) if facts.is_number => None,
            (Literal::Text(text), _) => {
                if self.facts.near_value(self.file, column, &text).is_some() {
                    return None;
                }
                let own: Vec<&String> = facts.values.iter().filter(|known| known.to_lowercase() == text.to_lowercase()).collect();
                Some(Literal::Text(if let [only] = own[..] { only.clone() } else { text }))
            }
            (Literal::Number(_), _) if !facts.is_number => None,
            (value, _) => Some(value),
        }
    }
}

/// A day compared: of a time, it is all of the day.
fn days(column: &str, piece: &Piece, value: &Literal, second: Option<&Literal>) -> Option<Vec<RowFilter>> {
    let day = |literal: &Literal| match literal {
        Literal::Text(text) => text.parse::<jiff::civil::Date>().ok(),
        _ => None,
    };
    let test = |relation: Relation, day: jiff::civil::Date| plain(column.to_owned(), relation, Literal::Text(day.to_string()));
    let first = day(value)?;
    let next = first.tomorrow().ok()?;
    Some(match (piece.slot("cmp"), second) {
        (None, Some(last)) => vec![test(Relation::AtLeast, first), test(Relation::Less, day(last)?.tomorrow().ok()?)],
        (Some(SlotValue::Compare(relation)), None) => match relation {
            Relation::Greater => vec![test(Relation::AtLeast, next)],
            Relation::AtMost => vec![test(Relation::Less, next)],
            Relation::AtLeast | Relation::Less => vec![test(*relation, first)],
            Relation::Equal => vec![test(Relation::AtLeast, first), test(Relation::Less, next)],
            _ => return None,
        },
        (None, None) => vec![test(Relation::AtLeast, first), test(Relation::Less, next)],
        _ => return None,
    })
}

/// One more value of what was said of the same column before: `for North and South` is both, not neither.
fn join(filters: &mut Vec<RowFilter>, more: RowFilter) {
    if let (Some(RowFilter { field, test, not: false }), Test::Compare(Relation::Equal, value)) = (filters.last_mut(), &more.test)
        && *field == more.field
        && !more.not
    {
        let mut values = match test {
            Test::Compare(Relation::Equal, first) => vec![first.clone()],
            Test::OneOf(values) => std::mem::take(values),
            _ => return filters.push(more),
        };
        values.push(value.clone());
        values.sort_by_key(ToString::to_string);
        values.dedup();
        *test = Test::OneOf(values);
        return;
    }
    filters.push(more);
}
