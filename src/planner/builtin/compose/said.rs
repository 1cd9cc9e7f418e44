//! What the phrases of a question about rows say together, as queries: none where they say nothing, several where they say several things.

use super::pieces::AskedFor;
use crate::planner::builtin::{
    facts::{ColumnFacts, TableFacts},
    lists,
    slots::{Literal, Relation},
    tree::{Direction, Figure, Query, Range, RowFilter, Test, Total, Want, figure_name},
};

/// What rows are ordered by; none is their number.
pub(super) type OrderKey = (Option<String>, Direction);

/// Whether it was asked by "which" or "what", or several were named.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    Not,
    One,
    Several,
}

/// What the phrases about columns say.
pub(super) struct Said {
    pub head: AskedFor,
    pub which: Which,
    pub columns: Vec<String>,
    pub figures: Vec<Figure>,
    pub groups: Vec<String>,
    pub having: Option<(Figure, Relation, f64)>,
    pub sort: Vec<OrderKey>,
    pub top: Option<(u64, Option<Direction>)>,
    /// The groups with the most rows, or the fewest.
    pub most: Option<(u64, Direction)>,
    pub shape: Option<&'static str>,
    /// Whether rows or entries are named.
    pub noun: bool,
    /// Whether groups of what is named are counted without being asked to: of what happens, and "per" something.
    pub counted: bool,
}

impl Said {
    /// Whether nothing is said of groups and order.
    pub fn is_plain(&self) -> bool {
        self.groups.is_empty()
            && self.having.is_none()
            && self.sort.is_empty()
            && self.top.is_none()
            && self.most.is_none()
            && self.shape.is_none()
    }

    /// Whether nothing but an average is asked for, or rows: what `per order` can be said of.
    pub fn is_mean(&self) -> bool {
        self.head != AskedFor::Count && self.figures.iter().all(|figure| matches!(figure, Some((Total::Average, _))))
    }

    pub fn queries(self, base: Query, is_rate: bool, table: &TableFacts) -> Vec<Query> {
        let one = |query: Query| vec![query];
        if let Some((figure, relation, number)) = self.having.clone() {
            return self.only_groups(&figure, (relation, number), base);
        }
        // `the cheapest host in each region`
        if let (Some((1, _)), [_], [(Some(key), direction)], []) = (self.top, &self.groups[..], &self.sort[..], &self.figures[..])
            && let Some(want) = self.of_group()
            && base.part.is_none()
        {
            let sort = vec![(key.clone(), *direction)];
            return one(Query { want, group: self.groups.clone(), sort, part: Some(Range::Top(1)), ..base });
        }
        // `the last order of each customer` is the last by its day.
        if let (Some(part @ (Range::First(1) | Range::Last(1))), [_], None, [], []) =
            (base.part, &self.groups[..], self.top, &self.sort[..], &self.figures[..])
            && let Some((want, date)) = self.of_group().zip(table.date())
        {
            let direction = if part == Range::First(1) { Direction::Ascending } else { Direction::Descending };
            let sort = vec![(date.to_owned(), direction)];
            return one(Query { want, group: self.groups.clone(), sort, part: Some(Range::Top(1)), ..base });
        }
        // `the last order of each region` is none of the regions' figures.
        if base.part.is_some() && !self.groups.is_empty() && self.sort.is_empty() {
            return Vec::new();
        }
        if let Some((count, direction)) = self.most {
            let (([column], []) | ([], [column])) = (&self.columns[..], &self.groups[..]) else { return Vec::new() };
            let count = match self.top {
                None => count,
                Some((top, None)) if count == 1 => top,
                Some(_) => return Vec::new(),
            };
            // `the station with the most desks` has one number of desks.
            let is_amount = self.noun && table.column(column).is_some_and(|column| column.is_number);
            let fits = !is_amount && self.sort.is_empty() && self.figures.is_empty() && self.shape.is_none();
            let sort = vec![("count".to_owned(), direction)];
            let query = Query { want: Want::Count, group: vec![column.clone()], sort, part: Some(Range::Top(count)), ..base };
            return if fits && query.filters.iter().all(|filter| filter.field != *column) { one(query) } else { Vec::new() };
        }
        if let ([column], Some(part @ (Range::First(_) | Range::Last(_))), [], []) =
            (&self.columns[..], base.part, &self.sort[..], &self.figures[..])
            && self.noun
            && self.which != Which::Not
            && !table.is_log()
        {
            return self.first_by(column, part, base, table).into_iter().collect();
        }
        let query = match (&self.figures[..], self.shape) {
            ([], Some("percent")) => self.percent(base, is_rate),
            ([Some((total, column))], None) if self.head != AskedFor::Count => return self.with_total(*total, column, base, table),
            ([_, _, ..], None) => self.with_figures(base),
            ([], Some("by")) => None,
            ([], _) => return self.without_total(base, table),
            _ => None,
        };
        query.into_iter().collect()
    }

    /// What is ranked within each group: one row of each by a column, and none of the groups.
    pub fn within_groups(mut self, table: &TableFacts) -> Option<Self> {
        if let (Some((1, Some(direction))), [], [column], true) = (self.top, &self.sort[..], &self.columns[..], self.noun)
            && table.column(column).is_some_and(|column| column.is_number)
        {
            self.sort.push((self.columns.pop(), direction));
        }
        let ranks = matches!((self.top, &self.sort[..]), (Some((1, _)), [(Some(_), _)]));
        (ranks && self.groups.len() == 1 && self.figures.is_empty() && self.most.is_none()).then_some(self)
    }

    /// What is wanted of the one row of each group; none where it isn't plain that rows are.
    fn of_group(&self) -> Option<Want> {
        let plain = self.head != AskedFor::Count && self.shape.is_none() && !self.groups[0].contains(" of the ");
        let fields = if self.columns.is_empty() { Vec::new() } else { [&self.groups[..], &self.columns].concat() };
        (plain && (self.noun || !fields.is_empty())).then_some(Want::Rows(fields))
    }

    /// `which shop opened first`: the first by that day.
    fn first_by(&self, column: &str, part: Range, base: Query, table: &TableFacts) -> Option<Query> {
        table.column(column).filter(|column| column.is_date && self.is_plain())?;
        let (count, direction) = match part {
            Range::First(count) => (count, Direction::Ascending),
            Range::Last(count) => (count, Direction::Descending),
            _ => return None,
        };
        Some(Query { sort: vec![(column.to_owned(), direction)], part: Some(Range::Top(count)), ..base })
    }

    fn percent(&self, base: Query, is_rate: bool) -> Option<Query> {
        // `which service has the highest failure rate`
        let (group, columns) = if self.top.is_some() { (&self.columns, &self.groups) } else { (&self.groups, &self.columns) };
        let sorts = self.sort.iter().all(|(key, _)| key.is_none()) && (is_rate && group.len() == 1 || self.sort.is_empty());
        let plain = columns.is_empty() && self.having.is_none() && sorts && base.part.is_none();
        // Of several conditions, nothing says which is the whole, and of groups with one, whether it is theirs.
        let fits = !base.filters.is_empty() && is_rate || group.is_empty() != base.filters.is_empty() && base.filters.len() < 2;
        let ranks = self.top.map(|(_, looks)| vec![("percent".to_owned(), looks.unwrap_or(Direction::Descending))]);
        let sort = ranks.unwrap_or_else(|| self.sort.iter().map(|(_, direction)| ("percent".to_owned(), *direction)).collect());
        let part = self.top.map(|(count, _)| Range::Top(count));
        (plain && fits && (self.top.is_none() || group.len() == 1)).then(|| Query {
            want: Want::Percent,
            group: group.clone(),
            sort,
            part,
            ..base
        })
    }

    /// `stations with more than 7 trips`: groups by what they come to.
    fn only_groups(&self, figure: &Figure, having: (Relation, f64), base: Query) -> Vec<Query> {
        let group = match (&self.columns[..], &self.groups[..]) {
            ([column], []) => vec![column.clone()],
            ([], groups @ [_, ..]) => groups.to_vec(),
            _ => return Vec::new(),
        };
        let want = figure.as_ref().map_or(Want::Count, |(total, column)| Want::Total(*total, column.clone()));
        let plain = self.sort.is_empty() && self.top.is_none() && self.shape.is_none() && base.part.is_none() && self.figures.is_empty();
        if plain && self.head != AskedFor::Count { vec![Query { want, group, having: Some(having), ..base }] } else { Vec::new() }
    }

    fn with_figures(&self, base: Query) -> Option<Query> {
        // A median is of sorted rows, so it is asked for alone.
        let has_median = self.figures.iter().flatten().any(|(total, _)| *total == Total::Median);
        if has_median
            || !self.columns.is_empty()
            || self.top.is_some()
            || base.part.is_some()
            || self.groups.is_empty() && !self.sort.is_empty()
        {
            return None;
        }
        let named = |(key, order): &OrderKey| {
            let of = |figure: &&Figure| figure.as_ref().map(|(_, column)| column) == key.as_ref();
            let group = key.as_ref().filter(|key| self.groups.contains(key)).cloned();
            Some((group.or_else(|| self.figures.iter().find(of).map(figure_name))?, *order))
        };
        let sort = self.sort.iter().map(named).collect::<Option<Vec<_>>>()?;
        let mut figures = self.figures.clone();
        figures.dedup();
        Some(Query { want: Want::Figures(figures), group: self.groups.clone(), sort, ..base })
    }

    fn with_total(&self, total: Total, column: &str, base: Query, table: &TableFacts) -> Vec<Query> {
        let grouped = |group: Vec<String>, total: Total, sort: Vec<(String, Direction)>, part: Option<Range>| Query {
            want: Want::Total(total, column.to_owned()),
            group,
            sort,
            part,
            ..base.clone()
        };
        let value = Query { want: Want::Total(total, column.to_owned()), ..base.clone() }.value_name();
        let sorts = !self.sort.is_empty();
        // `docks per borough` names the column alone.
        let columns = if self.figures.is_empty() { &[] } else { &self.columns[..] };
        match (columns, &self.groups[..], self.top) {
            _ if base.part.is_some() && self.groups.is_empty() => Vec::new(),
            // The sum of a column, or of each group.
            ([], groups, top) if !groups.is_empty() || !sorts && !base.reverse && top.is_none() => {
                let key = |(key, order): &OrderKey| match key {
                    Some(key) if key == column => Some((value.clone(), *order)),
                    Some(key) if groups.contains(key) => Some((key.clone(), *order)),
                    None => Some((value.clone(), *order)),
                    Some(_) => None,
                };
                let Some(mut sort) = self.sort.iter().map(key).collect::<Option<Vec<_>>>() else { return Vec::new() };
                let part = match top {
                    Some((count, looks)) if sort.is_empty() => {
                        sort.push((value, looks.unwrap_or(Direction::Descending)));
                        Some(Range::Top(count))
                    }
                    Some((count, None)) => Some(Range::Top(count)),
                    Some(_) => return Vec::new(),
                    None => base.part,
                };
                vec![grouped(groups.to_vec(), total, sort, part)]
            }
            // `top 3 regions by total revenue`, `which region has the highest total revenue`
            ([name], [], Some((count, looks))) if !sorts && !matches!(total, Total::Largest | Total::Smallest) => {
                vec![grouped(vec![name.clone()], total, vec![(value, looks.unwrap_or(Direction::Descending))], Some(Range::Top(count)))]
            }
            // `which product has the highest price`: the row, or the product over all of its rows.
            (names, [], None) if matches!(total, Total::Largest | Total::Smallest) && !sorts && (self.noun || !names.is_empty()) => {
                let order = if total == Total::Largest { Direction::Descending } else { Direction::Ascending };
                let fields = if names.is_empty() { Vec::new() } else { [names, &[column.to_owned()]].concat() };
                let sort = vec![(column.to_owned(), order)];
                let row = Query { want: Want::Rows(fields), sort, part: Some(Range::Top(1)), ..base.clone() };
                let is_row = |name: &String| table.column(name).is_some_and(|column| column.is_unique);
                match names {
                    [name] if !is_row(name) && !self.noun => {
                        let sort = vec![(format!("total_{column}"), order)];
                        let sum = grouped(vec![name.clone()], Total::Sum, sort, Some(Range::Top(1)));
                        // Of what comes in bit by bit, all of it is meant.
                        if lists::has("flows", &column.to_lowercase()) { vec![sum] } else { vec![row, sum] }
                    }
                    _ => vec![row],
                }
            }
            _ => Vec::new(),
        }
    }

    fn without_total(&self, base: Query, table: &TableFacts) -> Vec<Query> {
        let one = |query: Query| vec![query];
        let [distinct, duplicates] = ["distinct", "duplicates"].map(|shape| self.shape == Some(shape));
        let plain = !distinct && !duplicates;
        let sorted = |grouped: bool| -> Option<Vec<(String, Direction)>> {
            let key = |(key, order): &OrderKey| match key {
                None => grouped.then(|| ("count".to_owned(), *order)),
                Some(key) if !grouped || self.groups.contains(key) => Some((key.clone(), *order)),
                Some(_) => None,
            };
            self.sort.iter().map(key).collect()
        };
        let part = match (self.top, base.part) {
            (None, part) => part,
            (Some((count, _)), None) if !self.sort.is_empty() || !self.groups.is_empty() => Some(Range::Top(count)),
            _ => return Vec::new(),
        };
        // `requests by status, top 3`
        let by_rank =
            self.top.filter(|_| self.sort.is_empty()).map(|(_, looks)| vec![("count".to_owned(), looks.unwrap_or(Direction::Descending))]);
        let ranked = !self.sort.is_empty() || part.is_some() || base.reverse;
        // Entries of a log are never the same: what they say could be.
        if (distinct || duplicates) && self.columns.is_empty() && (table.is_log() || table.is_access()) {
            return Vec::new();
        }
        let by_count = matches!(self.sort[..], [(None, _)]);
        match (self.head, &self.columns[..], &self.groups[..]) {
            (head, columns, groups @ [_, ..]) if plain => {
                let counts = head == AskedFor::Count || self.noun && self.counted;
                let sort = by_rank.or_else(|| sorted(true));
                match (columns, sort) {
                    ([], Some(sort)) if counts => one(Query { want: Want::Count, group: groups.to_vec(), sort, part, ..base }),
                    ([column], Some(_)) if head != AskedFor::Count && self.adds_up(column, table).is_some() => {
                        // What can be added up is; of a price or an age it isn't plain.
                        let average = self.with_total(Total::Average, column, base.clone(), table);
                        let sums = self.with_total(Total::Sum, column, base, table);
                        if lists::has("intensive", &column.to_lowercase()) { [sums, average].concat() } else { sums }
                    }
                    ([column], Some(sort)) if head == AskedFor::Count && !self.noun => match self.adds_up(column, table) {
                        None => one(Query { want: Want::CountDistinct(column.clone()), group: groups.to_vec(), sort, part, ..base }),
                        Some(true) => self.with_total(Total::Sum, column, base, table),
                        Some(false) => Vec::new(),
                    },
                    _ => Vec::new(),
                }
            }
            (_, _, [_, ..]) => Vec::new(),
            // `top 3 stations by number of trips`
            (AskedFor::Show | AskedFor::None, [column], []) if by_count && plain => {
                one(Query { want: Want::Count, group: vec![column.clone()], sort: sorted(true).unwrap_or_default(), part, ..base })
            }
            (AskedFor::Count, [], []) if self.noun && !ranked && plain => one(Query { want: Want::Count, ..base }),
            (AskedFor::Count, [column], []) if self.counts_values(column, &base, table) && !ranked && !duplicates => {
                match self.adds_up(column, table) {
                    None => one(Query { want: Want::CountDistinct(column.clone()), ..base }),
                    Some(true) => one(Query { want: Want::Total(Total::Sum, column.clone()), ..base }),
                    Some(false) => Vec::new(),
                }
            }
            (AskedFor::Exists, [], []) if self.noun && !ranked && plain => one(Query { want: Want::Exists, ..base }),
            (AskedFor::Show | AskedFor::None, columns, []) if duplicates && columns.len() < 2 && !ranked => {
                one(Query { want: Want::Duplicates(columns.first().cloned()), ..base })
            }
            (AskedFor::Show | AskedFor::None, columns, []) if distinct && (self.noun || !columns.is_empty()) => match sorted(false) {
                Some(sort) if columns.is_empty() || sort.iter().all(|(key, _)| columns.contains(key)) => {
                    one(Query { want: Want::Distinct(columns.to_vec()), sort, part, ..base })
                }
                _ => Vec::new(),
            },
            (AskedFor::Show | AskedFor::None, columns, []) if !duplicates => {
                self.plain_rows(base, columns, sorted(false), part, ranked, table)
            }
            _ => Vec::new(),
        }
    }

    /// Whether the values of a column are counted. `how many customers spent over 1000` could mean in one order, or in all of theirs.
    fn counts_values(&self, column: &str, base: &Query, table: &TableFacts) -> bool {
        let facts = table.column(column);
        let adds = self.adds_up(column, table).is_none() && base.filters.iter().any(|filter| is_amount(filter, table));
        !(self.noun || is_flag(facts) || adds && facts.is_some_and(|own| !own.is_unique))
    }

    /// Whether `how many docks` adds the column's numbers up; of years and prices it isn't plain. None where values are counted.
    fn adds_up(&self, column: &str, table: &TableFacts) -> Option<bool> {
        let name = column.to_lowercase();
        let is_code = name.ends_with("id") || name.ends_with("code");
        table.column(column).filter(|column| column.is_number && !is_code && self.shape.is_none())?;
        Some(!lists::has("intensive", &name))
    }

    fn plain_rows(
        &self,
        base: Query,
        columns: &[String],
        sort: Option<Vec<(String, Direction)>>,
        part: Option<Range>,
        ranked: bool,
        table: &TableFacts,
    ) -> Vec<Query> {
        let Some(sort) = sort else { return Vec::new() };
        let filtered = !base.filters.is_empty();
        let says = self.noun || !columns.is_empty() || filtered || ranked;
        let shown =
            self.head == AskedFor::Show || ranked || self.noun && !columns.is_empty() || filtered && (self.noun || !columns.is_empty());
        if !says || !shown {
            return Vec::new();
        }
        // `discontinued products` are those that are, and so are `which are in stock and discontinued`.
        if self.noun && (self.which == Which::Not || filtered) && columns.len() == 1 && is_flag(table.column(&columns[0])) {
            return Vec::new();
        }
        // `trips started before noon`: the column is a part of the condition.
        if self.head == AskedFor::None && self.noun && columns.len() == 1 && base.filters.iter().any(|filter| columns[0] == filter.field) {
            return Vec::new();
        }
        // `the trip with the longest minutes` is a trip.
        let is_key = |name: &String| self.noun && part == Some(Range::Top(1)) && sort.iter().any(|(key, _)| key == name);
        let columns = if columns.len() == 1 && is_key(&columns[0]) { &[] } else { columns };
        let rows = Query { want: Want::Rows(columns.to_vec()), sort, part, ..base.clone() };
        // A list of a column that repeats its values may mean each value once.
        let [column] = columns else { return vec![rows] };
        let repeats = table.column(column).is_some_and(|column| !column.is_unique && !column.is_number);
        let distinct = Query { want: Want::Distinct(vec![column.clone()]), ..base };
        // `top 5 products by revenue` over rows where a product comes more than once: its rows, or its sum.
        let key = rows.sort.first().filter(|(key, _)| key != column && table.column(key).is_some_and(|key| key.is_number));
        let key = key.filter(|(key, _)| repeats && !self.noun && !lists::has("intensive", &key.to_lowercase()));
        let adds = key.is_some_and(|(key, _)| !["lengths", "prices"].iter().any(|list| lists::has(list, &key.to_lowercase())));
        let sums = key.map(|(key, direction)| Query {
            want: Want::Total(Total::Sum, key.clone()),
            group: vec![column.clone()],
            sort: vec![(format!("total_{key}"), *direction)],
            ..rows.clone()
        });
        let entries = self.noun && table.is_log() && repeats && !ranked;
        // `what is the revenue in March`: what each row has, or all of it.
        let asks_one = matches!((self.head, self.which), (AskedFor::None, Which::Not) | (AskedFor::Show, Which::One));
        let is_one_row = |filter: &RowFilter| {
            matches!(filter.test, Test::Compare(Relation::Equal, _)) && table.column(&filter.field).is_some_and(|column| column.is_unique)
        };
        if asks_one && filtered && !ranked && self.adds_up(column, table) == Some(true) && !rows.filters.iter().any(is_one_row) {
            let all = Query { want: Want::Total(Total::Sum, column.clone()), ..rows.clone() };
            return vec![rows, all];
        }
        match (entries || repeats && !ranked && !self.noun, self.which != Which::Not, filtered) {
            (false, ..) => Some(rows).filter(|_| !adds).into_iter().chain(sums).collect(),
            (true, true, _) => self.of_rows_or_groups(distinct, column, table),
            (true, false, true) => vec![rows, distinct],
            (true, false, false) => Vec::new(),
        }
    }
}

impl Said {
    /// `regions with more than 40 desks`: one row has so many, or all of the region's together.
    fn of_rows_or_groups(&self, distinct: Query, column: &str, table: &TableFacts) -> Vec<Query> {
        let number = |filter: &RowFilter| match &filter.test {
            Test::Compare(relation, Literal::Number(number)) if !filter.not => Some((*relation, *number)),
            _ => None,
        };
        let Some(filter) = distinct.filters.iter().find(|filter| number(filter).is_some() && is_amount(filter, table)).cloned() else {
            return vec![distinct];
        };
        let filters = distinct.filters.iter().filter(|other| **other != filter).cloned().collect();
        let want = Want::Total(Total::Sum, filter.field.clone());
        let groups = Query { want, group: vec![column.to_owned()], having: number(&filter), filters, ..distinct.clone() };
        vec![distinct, groups]
    }
}

/// Whether a condition compares what could be added up.
fn is_amount(filter: &RowFilter, table: &TableFacts) -> bool {
    let adds = !lists::has("intensive", &filter.field.to_lowercase());
    adds && matches!(filter.test, Test::Compare(_, Literal::Number(_)) | Test::Between(..))
        && table.column(&filter.field).is_some_and(|column| column.is_number)
}

fn is_flag(column: Option<&ColumnFacts>) -> bool {
    column.is_some_and(|column| column.truths.is_some())
}
