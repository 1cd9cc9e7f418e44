//! Questions about the rows of tables and the entries of logs.

use super::{AskedFor, Bag, SharedPieces, compare, contains, head, order, order_of, source_of, table};
use crate::planner::builtin::slots::{Literal, Relation, SlotValue};
use crate::planner::builtin::{
    facts::{TableFacts, WorkspaceFacts},
    tree::{Direction, Query, Range, RowFilter, Source, Test, Total, Want},
};

pub(super) fn rows(mut bag: Bag, facts: &WorkspaceFacts, previous: Option<&Query>) -> Vec<Query> {
    let pronoun = bag.takes("previous");
    let files = bag.all("file");
    let before = match source_of(previous) {
        Some(Source::Table(file)) => Some(file.clone()),
        _ => None,
    };
    let file = match (&files[..], before) {
        ([file], _) if !pronoun => file.path("file"),
        ([], Some(file)) => Some(file),
        _ => None,
    };
    let Some((file, table)) = file.and_then(|file| Some((file.clone(), table(facts, &file)?))) else { return Vec::new() };
    let asked = TableRequest { table, file: &file, facts };
    let found = asked.queries(bag).unwrap_or_default();
    match previous.filter(|_| files.is_empty()) {
        Some(previous) => found.into_iter().filter_map(|query| super::listings::merged(previous, query)).collect(),
        None => found,
    }
}

struct TableRequest<'a> {
    table: &'a TableFacts,
    file: &'a str,
    facts: &'a WorkspaceFacts,
}

/// What rows are ordered by, and how many of them are wanted.
struct Ranking {
    sort: Option<(Option<String>, Direction)>,
    top: Option<(u64, Option<Direction>)>,
}

/// What the phrases about columns say.
struct Said {
    head: AskedFor,
    columns: Vec<String>,
    totals: Vec<(Total, String)>,
    groups: Vec<String>,
    ranking: Ranking,
    by: bool,
    frequent: Option<u64>,
    distinct: bool,
    duplicates: bool,
    percent: bool,
    /// Whether rows or entries are named.
    noun: bool,
    /// Whether what is named is something that happens, so that "by hour" counts it.
    events: bool,
}

impl TableRequest<'_> {
    fn known(&self, column: String) -> Option<String> {
        self.table.column(&column).map(|_| column)
    }

    fn queries(&self, mut bag: Bag) -> Option<Vec<Query>> {
        let mut filters = self.filters(&mut bag)?;
        let wants_columns = bag.takes("columns");
        let level = bag.all("level");
        for piece in &level {
            self.table.column("level")?;
            let level = piece.choice("level")?;
            filters.push(RowFilter {
                field: "level".into(),
                test: Test::Compare(Relation::Equal, Literal::Text(level.to_owned())),
                not: false,
            });
        }
        if level.len() > 1 {
            return None;
        }
        let events = bag.takes("log_entries") && self.table.has_entries() || !level.is_empty();
        let head = head(&mut bag)?;
        let said = self.said(&mut bag, head, events)?;
        let SharedPieces { part, reverse } = SharedPieces::take(&mut bag)?;
        bag.takes("has");
        if !bag.is_empty() {
            return None;
        }
        let base = Query {
            source: Source::Table(self.file.to_owned()),
            filters,
            want: Want::Rows(Vec::new()),
            group: Vec::new(),
            sort: None,
            part,
            reverse,
        };
        if wants_columns {
            let plain = said.columns.is_empty()
                && said.totals.is_empty()
                && said.groups.is_empty()
                && said.ranking.top.is_none()
                && base.filters.is_empty()
                && part.is_none()
                && said.ranking.sort.is_none();
            let want = if said.head == AskedFor::Count { Want::CountColumns } else { Want::Columns };
            return (plain && !said.noun).then(|| vec![Query { want, ..base }]);
        }
        Some(said.queries(base, self.table))
    }

    fn said(&self, bag: &mut Bag, head: AskedFor, events: bool) -> Option<Said> {
        let mut columns = Vec::new();
        for piece in bag.all("column") {
            let column = self.known(piece.column("column")?)?;
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        let totals = self.totals(bag)?;
        let mut groups = Vec::new();
        for piece in bag.all("group") {
            groups.push(self.known(piece.column("column")?)?);
            if piece.slot("column2").is_some() {
                groups.push(self.known(piece.column("column2")?)?);
            }
        }
        for (piece, field) in [("group_hour", "hour"), ("group_day", "day")] {
            for _ in bag.all(piece) {
                self.table.column("time")?;
                groups.push(field.to_owned());
            }
        }
        let ranking = self.ranking(bag)?;
        let frequent = match bag.take("frequent") {
            Some(piece) if piece.slot("number").is_some() => Some(piece.count("number")?),
            Some(piece) => {
                columns.extend(piece.column("column"));
                Some(1)
            }
            None => None,
        };
        Some(Said {
            head,
            columns,
            totals,
            groups,
            ranking,
            by: bag.takes("by"),
            frequent,
            distinct: bag.takes("distinct"),
            duplicates: bag.takes("duplicates"),
            percent: bag.takes("percent"),
            noun: bag.takes("rows") || bag.takes("lines") && self.table.is_log() && bag.has("level") || events,
            events,
        })
    }

    fn totals(&self, bag: &mut Bag) -> Option<Vec<(Total, String)>> {
        let mut totals = Vec::new();
        for piece in bag.all("total") {
            let total = match piece.value {
                "sum" => Total::Sum,
                "avg" => Total::Average,
                "max" => Total::Largest,
                "min" => Total::Smallest,
                _ => Total::Median,
            };
            let column = self.known(piece.column("column")?)?;
            if !self.table.column(&column)?.is_number {
                return None;
            }
            totals.push((total, column));
        }
        Some(totals)
    }

    fn ranking(&self, bag: &mut Bag) -> Option<Ranking> {
        let mut sort = None;
        for piece in bag.all("sort") {
            let order = order(&piece, bag).unwrap_or(Direction::Ascending);
            if sort.replace((Some(self.known(piece.column("column")?)?), order)).is_some() {
                return None;
            }
        }
        let sorts = bag.takes("sort_verb");
        for piece in bag.all("sort_by") {
            // `top 5 by price` begins with the highest.
            let first = match bag.0.iter().find(|held| held.piece == "top") {
                Some(top) => order_of(top).unwrap_or(Direction::Descending),
                None if sorts => Direction::Ascending,
                None => return None,
            };
            let order = order(&piece, bag).unwrap_or(first);
            if sort.replace((Some(self.known(piece.column("column")?)?), order)).is_some() {
                return None;
            }
        }
        if sorts && sort.is_none() {
            return None;
        }
        for piece in bag.all("sort_count") {
            let order = order_of(&piece).unwrap_or(Direction::Descending);
            if sort.replace((None, order)).is_some() {
                return None;
            }
        }
        let mut top = None;
        if let Some(piece) = bag.take("top") {
            let count = if piece.slot("number").is_some() { piece.count("number")? } else { 1 };
            let looks = match piece.choice("superlative") {
                Some("highest" | "largest") => Some(Direction::Descending),
                Some("lowest" | "smallest") => Some(Direction::Ascending),
                Some(_) => return None,
                None => None,
            };
            top = Some((count, looks));
        }
        Some(Ranking { sort, top })
    }

    fn filters(&self, bag: &mut Bag) -> Option<Vec<RowFilter>> {
        let mut filters = Vec::new();
        for piece in bag.all("filter") {
            let column = self.known(piece.column("column")?)?;
            if piece.slots.iter().filter(|(name, _)| name == "column").count() > 1 {
                return None;
            }
            let value = self.fitting(&column, piece.value("value")?)?;
            let second = match piece.value("value2") {
                Some(value) => Some(self.fitting(&column, value)?),
                None => None,
            };
            let filter = match (piece.slot("cmp"), piece.slot("between"), second) {
                (_, Some(_), Some(second)) => RowFilter { field: column, test: Test::Between(value, second), not: false },
                (Some(SlotValue::Compare(comparison @ (Relation::Equal | Relation::NotEqual))), None, Some(second)) => {
                    RowFilter { field: column, test: Test::OneOf(vec![value, second]), not: *comparison == Relation::NotEqual }
                }
                (Some(SlotValue::Compare(comparison)), None, None) => {
                    let ordered = !matches!(
                        comparison,
                        Relation::Equal | Relation::NotEqual | Relation::Contains | Relation::Starts | Relation::Ends
                    );
                    let is_text = matches!(value, Literal::Text(_));
                    // Words are not ordered; dates are.
                    if ordered && is_text && !matches!(&value, Literal::Text(text) if text.parse::<jiff::civil::Date>().is_ok()) {
                        return None;
                    }
                    compare(column, *comparison, value)
                }
                (None, None, None) => compare(column, Relation::Equal, value),
                _ => return None,
            };
            filters.push(filter);
        }
        for (name, not) in [("empty", false), ("not_empty", true)] {
            for piece in bag.all(name) {
                filters.push(RowFilter { field: self.known(piece.column("column")?)?, test: Test::Empty, not });
            }
        }
        for (name, not) in [("member", false), ("not_member", true)] {
            for piece in bag.all(name) {
                let Some(SlotValue::Member { column, value }) = piece.slot("member") else { return None };
                let named = piece.column("column");
                if named.is_some_and(|named| named != *column) {
                    return None;
                }
                filters.push(RowFilter {
                    field: self.known(column.clone())?,
                    test: Test::Compare(Relation::Equal, Literal::Text(value.clone())),
                    not,
                });
            }
        }
        // `for North and South` is both, not neither.
        let mut joined: Vec<RowFilter> = Vec::new();
        for filter in filters {
            let same = joined.iter_mut().find(|known| known.field == filter.field && known.not == filter.not && !filter.not);
            match (same, &filter.test) {
                (Some(known), Test::Compare(Relation::Equal, value)) => match &mut known.test {
                    Test::Compare(Relation::Equal, first) => known.test = Test::OneOf(vec![first.clone(), value.clone()]),
                    Test::OneOf(values) => values.push(value.clone()),
                    _ => joined.push(filter),
                },
                _ => joined.push(filter),
            }
        }
        if self.table.has_entries() {
            let field = if self.table.is_log() { "message" } else { "path" };
            for piece in bag.all("contains") {
                joined.push(contains(field, &piece)?);
            }
        }
        Some(joined)
    }

    /// A value as the column has it; none when it is almost one of its values, or a word for a number.
    fn fitting(&self, column: &str, value: Literal) -> Option<Literal> {
        let facts = self.table.column(column)?;
        match value {
            Literal::Text(_) if facts.is_number => None,
            Literal::Text(text) => {
                if self.facts.near_value(self.file, column, &text).is_some() {
                    return None;
                }
                let own: Vec<&String> = facts.values.iter().filter(|known| known.to_lowercase() == text.to_lowercase()).collect();
                Some(Literal::Text(if let [only] = own[..] { only.clone() } else { text }))
            }
            Literal::Number(number) if !facts.is_number => Some(Literal::Text(number.to_string())),
            Literal::Number(number) => Some(Literal::Number(number)),
        }
    }
}

impl Said {
    fn queries(self, base: Query, table: &TableFacts) -> Vec<Query> {
        let simple = !self.percent && !self.duplicates && !self.distinct && self.frequent.is_none();
        let query = match (&self.totals[..], self.percent, self.frequent) {
            (_, true, None) if self.totals.is_empty() && !base.filters.is_empty() && self.rest_is_plain() && self.columns.is_empty() => {
                Some(Query { want: Want::Percent, ..base })
            }
            ([], false, Some(count)) if self.columns.len() == 1 && self.rest_is_plain() => {
                let sort = Some(("count".to_owned(), Direction::Descending));
                Some(Query { want: Want::Count, group: self.columns.clone(), sort, part: Some(Range::First(count)), ..base })
            }
            ([(total, column)], false, None) if simple && self.head != AskedFor::Count => {
                return self.with_total(*total, column, base, table);
            }
            ([], false, None) if !self.by => self.without_total(base, table),
            _ => None,
        };
        let sums = query.as_ref().and_then(|query| self.sums(query, table));
        query.into_iter().chain(sums).collect()
    }

    /// `top 5 products by revenue` over rows where a product comes more than once: its rows, or its sum.
    fn sums(&self, query: &Query, table: &TableFacts) -> Option<Query> {
        let ([column], Some((key, direction))) = (&self.columns[..], &query.sort) else { return None };
        let repeats = self.ranking.top.is_some()
            && table.column(column).is_some_and(|column| !column.is_unique)
            && table.column(key).is_some_and(|key| key.is_number);
        repeats.then(|| Query {
            want: Want::Total(Total::Sum, key.clone()),
            group: self.columns.clone(),
            sort: Some((format!("total_{key}"), *direction)),
            ..query.clone()
        })
    }

    fn rest_is_plain(&self) -> bool {
        self.groups.is_empty()
            && self.ranking.sort.is_none()
            && self.ranking.top.is_none()
            && !self.by
            && !self.distinct
            && !self.duplicates
    }

    fn with_total(&self, total: Total, column: &str, base: Query, table: &TableFacts) -> Vec<Query> {
        let grouped = |group: Vec<String>, total: Total, sort: Option<(String, Direction)>, part: Option<Range>| Query {
            want: Want::Total(total, column.to_owned()),
            group,
            sort,
            part,
            ..base.clone()
        };
        let value = Query { want: Want::Total(total, column.to_owned()), ..base.clone() }.value_name();
        if base.part.is_some() && self.groups.is_empty() {
            return Vec::new();
        }
        match (&self.columns[..], &self.groups[..], self.ranking.top) {
            // The sum of a column, or of each group.
            ([], groups, None) if !self.by => {
                let sort = match &self.ranking.sort {
                    None => None,
                    Some((None, _)) => return Vec::new(),
                    Some((Some(key), order)) if key == column => Some((value, *order)),
                    Some((Some(key), order)) if groups.contains(key) => Some((key.clone(), *order)),
                    Some(_) => return Vec::new(),
                };
                if groups.is_empty() && (sort.is_some() || base.reverse) {
                    Vec::new()
                } else {
                    vec![grouped(groups.to_vec(), total, sort, base.part)]
                }
            }
            // `top 3 regions by total revenue`, `which region has the highest total revenue`
            ([name], [], Some((count, looks))) if !matches!(total, Total::Largest | Total::Smallest) => {
                vec![grouped(vec![name.clone()], total, Some((value, looks.unwrap_or(Direction::Descending))), Some(Range::First(count)))]
            }
            // `which product has the highest price`: the row, or the product over all of its rows.
            ([name], [], None) if matches!(total, Total::Largest | Total::Smallest) && self.ranking.sort.is_none() && !self.by => {
                let order = if total == Total::Largest { Direction::Descending } else { Direction::Ascending };
                let fields = vec![name.clone(), column.to_owned()];
                let row =
                    Query { want: Want::Rows(fields), sort: Some((column.to_owned(), order)), part: Some(Range::First(1)), ..base.clone() };
                if table.column(name).is_some_and(|column| column.is_unique) {
                    return vec![row];
                }
                let sum = grouped(vec![name.clone()], Total::Sum, Some((format!("total_{column}"), order)), Some(Range::First(1)));
                vec![row, sum]
            }
            ([], [], None) if self.noun && matches!(total, Total::Largest | Total::Smallest) => Vec::new(),
            _ => Vec::new(),
        }
    }

    fn without_total(&self, base: Query, table: &TableFacts) -> Option<Query> {
        let sort = |grouped: bool| match &self.ranking.sort {
            None => Some(None),
            Some((None, order)) => grouped.then(|| Some(("count".to_owned(), *order))),
            Some((Some(key), order)) if !grouped || self.groups.contains(key) => Some(Some((key.clone(), *order))),
            Some(_) => None,
        };
        let part = match (self.ranking.top, base.part) {
            (None, part) => part,
            (Some((count, _)), None) if self.ranking.sort.is_some() => Some(Range::First(count)),
            _ => return None,
        };
        let ranked = self.ranking.sort.is_some() || part.is_some() || base.reverse;
        match (self.head, &self.columns[..], &self.groups[..]) {
            (AskedFor::Count, [], groups @ [_, ..]) if !self.distinct && !self.duplicates => {
                Some(Query { want: Want::Count, group: groups.to_vec(), sort: sort(true)?, part, ..base })
            }
            (AskedFor::Show | AskedFor::None, [], groups @ [_, ..]) if self.events && !self.distinct && !self.duplicates => {
                Some(Query { want: Want::Count, group: groups.to_vec(), sort: sort(true)?, part, ..base })
            }
            (_, _, [_, ..]) => None,
            (AskedFor::Count, [], []) if self.noun && !ranked && !self.distinct => {
                (!self.duplicates).then_some(Query { want: Want::Count, ..base })
            }
            (AskedFor::Count, [column], []) if !ranked && !self.duplicates && !self.noun => {
                Some(Query { want: Want::CountDistinct(column.clone()), ..base })
            }
            (AskedFor::Exists, [], []) if self.noun && !ranked && !self.distinct && !self.duplicates => {
                Some(Query { want: Want::Exists, ..base })
            }
            (AskedFor::Show | AskedFor::None, columns, []) if self.duplicates && !self.distinct && columns.len() < 2 && !ranked => {
                Some(Query { want: Want::Duplicates(columns.first().cloned()), ..base })
            }
            (AskedFor::Show | AskedFor::None, [], []) if self.distinct && self.noun => {
                Some(Query { want: Want::Distinct(Vec::new()), sort: sort(false)?, part, ..base })
            }
            (AskedFor::Show | AskedFor::None, columns @ [_, ..], []) if self.distinct => {
                let sort = sort(false)?
                    .filter(|(key, _)| columns.contains(key))
                    .map_or_else(|| self.ranking.sort.is_none().then_some(None), |sort| Some(Some(sort)))?;
                Some(Query { want: Want::Distinct(columns.to_vec()), sort, part, ..base })
            }
            (AskedFor::Show | AskedFor::None, columns, []) if !self.duplicates => {
                let says = self.noun || !columns.is_empty() || !base.filters.is_empty() || ranked;
                let shown = self.head == AskedFor::Show || ranked || !base.filters.is_empty() && self.noun;
                // A list of a column that repeats its values may mean each value once: that is not decided here.
                let repeats = matches!(columns, [column] if table.column(column).is_some_and(|column| !column.is_unique))
                    && base.filters.is_empty()
                    && self.ranking.sort.is_none();
                (says && shown && !repeats).then_some(Query { want: Want::Rows(columns.to_vec()), sort: sort(false)?, part, ..base })
            }
            _ => None,
        }
    }
}
