//! Questions about the rows of tables and the entries of logs: which table is meant, and what its phrases say together.

use super::{
    filters::Filters,
    orders::order_alone,
    pieces::{AskedFor, Bag, Piece, SharedPieces, contains, head, source_of},
    said::{Said, Which},
};
use std::collections::BTreeSet;

use crate::planner::builtin::slots::{Literal, Relation, SlotValue};
use crate::planner::builtin::{
    facts::{TableFacts, WorkspaceFacts, same_words},
    lists,
    tree::{Direction, Figure, Query, Range, RowFilter, Source, Test, Total, Want},
};

/// Pieces that only the rows of one table can be meant by.
const TELLING: &[&str] = &[
    "column",
    "total",
    "totals",
    "most_of",
    "filter",
    "group",
    "member",
    "not_member",
    "sort",
    "sort_by",
    "empty",
    "not_empty",
    "having",
    "level",
    "requests",
    "outcome",
    "percent",
    "frequent",
];

pub(super) fn rows(mut bag: Bag, facts: &WorkspaceFacts, previous: Option<&Query>, implied: bool) -> Vec<Query> {
    let pronoun = bag.takes("previous");
    let mut files: Vec<String> = bag.all("file").iter().filter_map(|piece| piece.path("file")).collect();
    // `which trips` asks for rows.
    let wants_rows = bag.0.windows(2).any(|pair| pair[0].piece == "show" && pair[0].value == "which" && pair[1].piece == "noun");
    let nouns = bag.all("noun");
    files.extend(nouns.iter().filter_map(|piece| piece.path("noun")));
    files.dedup();
    let before = match source_of(previous) {
        Some(Source::Table(file)) => Some(file.clone()),
        _ => None,
    };
    let follows = files.is_empty() || pronoun;
    // `save their names`: what is said of the rows before is shown.
    let theirs = |piece: &Piece| piece.piece == "column" && ["their", "its"].contains(&piece.first.as_str());
    if follows && before.is_some() && bag.0.iter().all(theirs) {
        bag.0.push(Piece::made("show", "", Vec::new()));
    }
    let found: Vec<Query> = match (&files[..], &before) {
        ([file], _) if !pronoun => asked(file, (!nouns.is_empty(), wants_rows), bag, facts),
        ([], Some(file)) => asked(file, (false, false), bag, facts),
        ([], None) if implied && !pronoun && TELLING.iter().any(|piece| bag.has(piece)) => {
            let asked = facts
                .tables()
                .flat_map(|(file, table)| asked(file, (false, false), bag.clone(), facts).into_iter().map(move |query| (table, query)));
            asked.filter(|(table, query)| query.filters.iter().all(|filter| occurs(filter, table))).map(|(_, query)| query).collect()
        }
        _ => Vec::new(),
    };
    match previous.filter(|_| follows && before.is_some()) {
        Some(previous) => found.into_iter().filter_map(|query| super::listings::merged(previous, query)).collect(),
        None => found,
    }
}

/// Whether rows are ranked within each group: `who has the lowest salary in each department`.
fn ranks_within(bag: &Bag) -> bool {
    let of_time = |piece: &Piece| ["group_hour", "group_day", "group_month"].contains(&piece.piece);
    let is_each = |piece: &Piece| match piece.piece {
        "group" => piece.value == "each" || piece.first == "per",
        _ => of_time(piece) && ["each", "every", "in", "for", "on"].contains(&piece.first.as_str()),
    };
    let ranks = |piece: &Piece| ["top", "most_of", "frequent"].contains(&piece.piece);
    let places = bag.0.iter().position(ranks).zip(bag.0.iter().position(is_each));
    // `for each department, who has the lowest salary`
    let asks_behind = |(rank, each): (usize, usize)| {
        let counts = ["total", "totals", "count"].iter().any(|piece| bag.has(piece));
        rank > each && !counts && bag.0[each..rank].iter().any(|piece| piece.piece == "show")
    };
    places.is_some_and(|(rank, each)| rank < each || asks_behind((rank, each)))
}

fn asked(file: &str, (noun, wants_rows): (bool, bool), bag: Bag, facts: &WorkspaceFacts) -> Vec<Query> {
    let Some(table) = facts.table(file) else { return Vec::new() };
    let question = TableQuestion { table, file, facts, noun, wants_rows };
    if question.is_of_others(&bag) { Vec::new() } else { question.queries(bag).unwrap_or_default() }
}

/// Whether a value or a day that is asked for is one of the table's: where nothing names a table, another one is meant.
fn occurs(filter: &RowFilter, table: &TableFacts) -> bool {
    let Some(column) = table.column(&filter.field).filter(|column| !column.values.is_empty()) else { return true };
    match &filter.test {
        Test::Compare(Relation::Equal, Literal::Text(text)) => column.values.contains(text),
        Test::Compare(Relation::AtLeast, Literal::Text(day)) if column.is_date => column.values.iter().any(|value| value >= day),
        Test::Compare(Relation::Less, Literal::Text(day)) if column.is_date => column.values.iter().any(|value| value < day),
        _ => true,
    }
}

/// Whether a `with` or `has` isn't plain: `for each region the order with the highest revenue` asks for orders, `the order with the highest
/// revenue` has what it ranks by, and `people with email` says neither.
fn has_two_meanings(bag: &mut Bag, said: &Said) -> bool {
    let extreme = |figure: &Figure| matches!(figure, Some((Total::Largest | Total::Smallest, _)));
    let of_groups = bag.has("has") && !said.groups.is_empty() && said.figures.iter().any(extreme);
    let with = bag.all("has").iter().any(|piece| piece.value == "with");
    of_groups || with && said.figures.is_empty() && said.top.is_none() && said.most.is_none()
}

pub(super) struct TableQuestion<'a> {
    pub table: &'a TableFacts,
    file: &'a str,
    facts: &'a WorkspaceFacts,
    /// Whether the rows are called by the table's own name.
    noun: bool,
    /// Whether rows are what is asked for.
    wants_rows: bool,
}

impl TableQuestion<'_> {
    pub(super) fn known(&self, column: String) -> Option<String> {
        self.table.column(&column).map(|_| column)
    }

    fn queries(&self, mut bag: Bag) -> Option<Vec<Query>> {
        let by_place = bag.has("rows") || bag.has("lines");
        let when = bag.has("when");
        let trades = bag.0.iter().any(|piece| piece.piece == "happens" && piece.value == "trade" || piece.first == "sold");
        let within = ranks_within(&bag);
        // `which shop earns the most` doesn't count rows.
        let unsaid = bag.0.iter().any(|piece| piece.piece == "frequent" && piece.value.contains("of_what"));
        let gains = bag.0.iter().any(|piece| ["made", "makes", "earns", "generates", "brings"].contains(&piece.first.as_str()));
        let whole = self.whole(&mut bag)?;
        let lacks = self.lacks(&mut bag)?;
        let mut filters = Filters { table: self.table, file: self.file, facts: self.facts }.take(&mut bag)?;
        let wants_columns = bag.takes("columns");
        let level = bag.has("level_named");
        let is_log = self.table.is_log() || self.table.is_access();
        let events = is_log && bag.takes("log_entries") | (self.table.is_access() && bag.takes("requests")) || level;
        let together = bag.all("level_named").iter().any(|piece| piece.value == "and");
        // Lines that pass a condition are entries of a log; without one they are lines of its text.
        let lines = is_log && !filters.is_empty() && bag.takes("lines");
        self.texts(&mut bag, &mut filters)?;
        if !filters.is_empty() {
            bag.takes("only");
        }
        if events || self.noun || bag.has("rows") || bag.has("group_level") || bag.has("column") && bag.has("show") {
            bag.takes("happens");
        }
        let each_row = bag.take("each_row");
        let per_row = each_row.as_ref().is_some_and(|piece| piece.first == "per");
        let each_row = each_row.is_some();
        let distinct_rows = bag.0.iter().any(|piece| piece.piece == "distinct" && piece.value == "rows");
        let named = bag.takes("rows") || events || lines || self.noun || distinct_rows || each_row;
        let round = self.round(&mut bag)?;
        let first = order_alone(&mut bag);
        let said = self.said(&mut bag, named, events)?;
        if trades && self.is_dealt(&said) {
            return None;
        }
        let said = self.ranked(said, first, &filters)?;
        let said = if within { said.within_groups(self.table)? } else { said };
        let says_what = said.noun || is_log || !filters.is_empty() && !gains;
        if unsaid && said.most.is_some() && !says_what {
            return None;
        }
        let SharedPieces { part, reverse } = SharedPieces::take(&mut bag)?;
        if has_two_meanings(&mut bag, &said) || !bag.is_empty() {
            return None;
        }
        let is_rate = whole.is_some();
        let base = Query { filters, part, reverse, whole: whole.unwrap_or_default(), ..Query::rows(Source::Table(self.file.to_owned())) };
        // `warnings per worker` are no rows of `worker.log`.
        if lacks || wants_columns || each_row && !said.is_mean() || per_row && said.figures.is_empty() {
            return self.other_shape(said, base, (lacks, wants_columns));
        }
        let counts = said.head == AskedFor::Count;
        if together && (said.head == AskedFor::Exists || counts && !said.is_plain() && said.groups.is_empty()) {
            return None;
        }
        // `the last 404` of requests is one of them.
        let is_status = matches!(part, Some(Range::First(100..600) | Range::Last(100..600))) && self.table.is_access() && !said.noun;
        if is_status {
            return None;
        }
        let counts = counts || !said.groups.is_empty();
        let mut queries = said.queries(base, is_rate, self.table);
        if round.is_some() {
            queries.retain(|query| matches!(query.want, Want::Total(..) | Want::Figures(_) | Want::Percent));
            queries.iter_mut().for_each(|query| query.round = round);
        }
        // `how many errors and warnings`: of both together, or of each.
        let each = queries
            .iter()
            .filter(|_| together && counts)
            .map(|query| Query { group: [&query.group[..], &["level".to_owned()]].concat(), ..query.clone() });
        let found: Vec<Query> = each.chain(queries.iter().cloned()).collect();
        let by_time: Vec<Query> = found.iter().filter(|_| !by_place).filter_map(|query| self.dated(query)).collect();
        // When something was first is a matter of time.
        Some(if when && !by_time.is_empty() { by_time } else { [found, by_time].concat() })
    }

    /// Whether a word for rows means something else here: `per order` is per row of orders, and `how many items were ordered` asks for the items of
    /// each order where it has a number of them.
    fn is_of_others(&self, bag: &Bag) -> bool {
        let is_column = |piece: &Piece| self.table.columns.iter().any(|column| same_words(&piece.first, &column.name));
        bag.0.iter().any(|piece| match piece.piece {
            "each_row" => piece.path("noun").is_some_and(|file| file != self.file),
            "rows" => is_column(piece),
            _ => false,
        })
    }

    /// Whether what was sold or bought is counted or ranked by rows: nobody says that a row is one piece, or is about sales at all.
    fn is_dealt(&self, said: &Said) -> bool {
        let ranks = said.head == AskedFor::Count || said.most.is_some() || said.top.is_some();
        let deals = self.noun && ["order", "sale", "purchase"].iter().any(|deal| self.table.name.to_lowercase().contains(deal));
        ranks && !deals && said.figures.is_empty() && said.sort.is_empty()
    }

    /// Groups that lack such rows, or the names of the columns.
    fn other_shape(&self, said: Said, base: Query, (lacks, wants_columns): (bool, bool)) -> Option<Vec<Query>> {
        let plain = said.is_plain() && said.figures.is_empty() && base.part.is_none();
        if lacks {
            let [_] = &said.columns[..] else { return None };
            // `deploys without failed status` are deploys that are otherwise, and no statuses.
            let apart = base.filters.iter().all(|filter| !said.columns.contains(&filter.field));
            let fits = plain && said.noun && said.head != AskedFor::Count && !base.filters.is_empty() && apart;
            return fits.then(|| vec![Query { want: Want::Count, group: said.columns, having: Some((Relation::Equal, 0.0)), ..base }]);
        }
        let plain = wants_columns && plain && said.columns.is_empty() && base.filters.is_empty();
        let want = if said.head == AskedFor::Count { Want::CountColumns } else { Want::Columns };
        (plain && (!said.noun || self.noun)).then(|| vec![Query { want, ..base }])
    }

    /// The last errors of a log that isn't in order: those of the last times, where they could be the last lines, too.
    fn dated(&self, query: &Query) -> Option<Query> {
        let (count, direction) = match query.part? {
            Range::First(count) => (count, Direction::Ascending),
            Range::Last(count) => (count, Direction::Descending),
            _ => return None,
        };
        let plain = !self.table.is_in_order && query.sort.is_empty() && matches!(query.want, Want::Rows(_));
        let sort = vec![(self.table.date().filter(|_| plain)?.to_owned(), direction)];
        Some(Query { sort, part: Some(Range::Top(count)), ..query.clone() })
    }

    /// Which rows a percentage is of, where it is of some of them or of each group's.
    fn whole(&self, bag: &mut Bag) -> Option<Option<Vec<RowFilter>>> {
        let Some(at) = bag.0.iter().position(|piece| piece.piece == "among") else { return Some(None) };
        let mut behind = Bag(bag.0.split_off(at));
        behind.take("among");
        let filters = Filters { table: self.table, file: self.file, facts: self.facts }.take(&mut behind)?;
        bag.0.extend(behind.0);
        Some(Some(filters))
    }

    /// Whether groups are asked for in which no row is: the column comes before, what such a row would be behind.
    fn lacks(&self, bag: &mut Bag) -> Option<bool> {
        let Some(at) = bag.0.iter().position(|piece| piece.piece == "lacks") else { return Some(false) };
        bag.0.remove(at);
        let plain = bag.0[..at].iter().all(|piece| ["show", "column", "file", "all"].contains(&piece.piece));
        plain.then_some(true)
    }

    fn said(&self, bag: &mut Bag, noun: bool, events: bool) -> Option<Said> {
        let together = bag.takes("in_total");
        let several = bag.0.iter().any(|piece| piece.piece == "column" && piece.plural);
        let who = bag.0.iter().any(|piece| piece.piece == "show" && piece.value == "who");
        // `how many components had errors` counts components.
        let counts_column = bag.0.windows(2).any(|pair| pair[0].piece == "count" && pair[1].piece == "column");
        // `who are the users` asks for each of them once.
        let names = bag.0.windows(2).any(|pair| pair[0].value == "who" && pair[1].piece == "column" && pair[1].plural);
        let noun = noun && !(counts_column && events && !self.noun) || who && !names;
        if counts_column && events {
            bag.takes("has");
        }
        let which = match bag.0.iter().any(|piece| piece.piece == "show" && piece.value == "which") {
            _ if several => Which::Several,
            asks if asks || who => Which::One,
            _ => Which::Not,
        };
        let mut columns = Vec::new();
        if bag.takes("when") {
            columns.push(self.table.date()?.to_owned());
            bag.0.push(Piece::made("show", "", Vec::new()));
        }
        let head = head(bag)?;
        // `the products with their prices` are shown as they are.
        let counts =
            head == AskedFor::Count || bag.0.iter().any(|piece| ["total", "group"].iter().any(|name| piece.piece.starts_with(name)));
        let beside = noun && !counts && bag.0.iter().filter(|piece| piece.piece == "column").all(|piece| piece.value == "with");
        columns.extend(self.columns(bag, beside)?);
        // `who spent the most`, all of each one's rows together.
        let doer = self.doer().filter(|_| who && columns.is_empty() && bag.has("most_of"));
        columns.extend(doer.clone());
        let only = bag.0.iter().find(|piece| piece.piece == "having" && piece.value == "count").and_then(|piece| piece.column("column"));
        let having = self.having(bag)?;
        let mut figures = self.figures(bag)?;
        let verb = bag.takes("group_verb");
        // `the orders of each region` aren't counted by being named.
        let each = verb || bag.0.iter().any(|piece| piece.piece.starts_with("group") && !(piece.value == "by" || piece.value == "each"));
        let mut sort = self.sort(bag)?;
        let groups = self.groups(bag, head == AskedFor::Count)?;
        if together && (!groups.is_empty() || head != AskedFor::Count && figures.is_empty()) {
            return None;
        }
        if verb && groups.is_empty() || only.is_some_and(|column| groups != [column]) {
            return None;
        }
        let bare = bag.0.iter().any(|piece| piece.piece == "top" && piece.value == "bare");
        let mut top = self.top(bag, &mut sort)?;
        self.most_of(bag, (&columns, &groups), &mut sort, &mut figures, &mut top)?;
        let most = self.most(bag, &mut columns, &mut top, sort.is_empty() && figures.is_empty() && groups.is_empty() && !bare)?;
        let shapes: Vec<&'static str> =
            ["by", "distinct", "duplicates", "percent"].into_iter().filter(|piece| !bag.all(piece).is_empty()).collect();
        if shapes.len() > 1 {
            return None;
        }
        let shape = shapes.first().copied();
        // `the order that has the highest revenue` is an order.
        let plain = columns.is_empty() && groups.is_empty() && sort.is_empty() && top.is_none_or(|(_, looks)| looks.is_none());
        let has = (who || self.wants_rows || bag.has("has") && noun) && plain;
        if let (true, [Some((total @ (Total::Largest | Total::Smallest), column))]) = (has, &figures[..]) {
            let direction = if *total == Total::Largest { Direction::Descending } else { Direction::Ascending };
            (sort, top) = (vec![(Some(column.clone()), direction)], Some(top.unwrap_or((1, None))));
            figures.clear();
        }
        // `who` asks for rows, and so does what has a figure.
        if !figures.is_empty()
            && (who && doer.is_none() || self.wants_rows || bag.has("has") && columns.is_empty() && groups.is_empty() && !noun)
        {
            return None;
        }
        // A number alone says nothing of which rows are meant.
        if bare && !has && most.is_none() && sort.is_empty() {
            return None;
        }
        let counted = each || events || self.noun && head == AskedFor::None;
        Some(Said { head, which, columns, figures, groups, having, sort, top, most, shape, noun, counted })
    }

    /// Texts that the lines of a log have.
    fn texts(&self, bag: &mut Bag, filters: &mut Vec<RowFilter>) -> Option<()> {
        let field = match (self.table.is_log(), self.table.is_access()) {
            (true, _) => "text of the log",
            (false, true) => "text of the requests",
            (false, false) => return Some(()),
        };
        for piece in bag.all("contains") {
            let field = if piece.value == "agent" { self.table.column("agent").map(|_| "agent")? } else { field };
            filters.push(contains(field, &piece)?);
        }
        Some(())
    }

    /// The columns that are named.
    fn columns(&self, bag: &mut Bag, shown_whole: bool) -> Option<Vec<String>> {
        let mut columns = Vec::new();
        for piece in bag.all("column") {
            for name in ["column", "column2", "column3"].iter().filter(|name| piece.slot(name).is_some()) {
                let column = self.known(piece.column(name)?)?;
                if !columns.contains(&column) {
                    columns.push(column);
                }
            }
        }
        Some(if shown_whole { Vec::new() } else { columns })
    }

    /// With how many decimals figures are wanted.
    fn round(&self, bag: &mut Bag) -> Option<Option<u64>> {
        match &bag.all("round")[..] {
            [] => Some(None),
            [piece] if piece.value == "whole" => Some(Some(0)),
            [piece] => Some(Some(piece.count("number").filter(|decimals| *decimals < 16)?)),
            _ => None,
        }
    }

    fn groups(&self, bag: &mut Bag, counts: bool) -> Option<Vec<String>> {
        let mut groups = Vec::new();
        for piece in bag.all("group") {
            let column = self.known(piece.column("column")?)?;
            // `stations by docks` is an order, `trips by members` a condition.
            let facts = self.table.column(&column)?;
            // `price per minute` divides.
            let measures = |list: &&str| lists::has(list, &column.to_lowercase());
            if piece.first == "per" && facts.is_number && ["lengths", "prices", "amounts"].iter().any(measures) {
                return None;
            }
            // Lines of a log that name no component have no groups.
            if self.table.is_log() && facts.values.is_empty() {
                return None;
            }
            if piece.value == "by" && (facts.is_unique && !counts || facts.truths.is_some() && piece.plural) {
                return None;
            }
            groups.push(column);
            if piece.slot("column2").is_some() {
                groups.push(self.known(piece.column("column2")?)?);
            }
        }
        if bag.takes("group_level") {
            groups.push(self.known("level".to_owned())?);
        }
        for (piece, field) in [("group_hour", "hour"), ("group_day", "day"), ("group_month", "month")] {
            for _ in bag.all(piece) {
                let date = self.table.date()?;
                let own = self.table.column(field).is_some();
                // The hours of several days: of each day, or of all days together.
                let days: BTreeSet<&str> = self.table.column(date)?.values.iter().filter_map(|value| value.get(..10)).collect();
                if field == "hour" && !own && days.len() != 1 {
                    return None;
                }
                groups.push(if own { field.to_owned() } else { format!("{field} of the {date}") });
            }
        }
        Some(groups)
    }

    fn total(&self, value: &str, column: String) -> Option<(Total, String)> {
        let total = match value {
            "sum" => Total::Sum,
            "avg" => Total::Average,
            // The best price or time isn't the highest.
            "best" if lists::has("prices", &column.to_lowercase()) || lists::has("lengths", &column.to_lowercase()) => return None,
            "max" | "best" => Total::Largest,
            "min" => Total::Smallest,
            _ => Total::Median,
        };
        // `the oldest customer` is no number of one.
        let column = self.known(column).filter(|column| !column.to_lowercase().ends_with("_id"))?;
        let facts = self.table.column(&column)?;
        let ordered = facts.is_number || facts.is_date && matches!(total, Total::Largest | Total::Smallest);
        ordered.then_some((total, column))
    }

    fn figures(&self, bag: &mut Bag) -> Option<Vec<Figure>> {
        let mut figures: Vec<Figure> = Vec::new();
        for piece in bag.all("total") {
            figures.push(Some(self.total(piece.value, piece.column("column")?)?));
        }
        for piece in bag.all("totals") {
            for value in piece.value.split(' ') {
                figures.push(Some(self.total(value, piece.column("column")?)?));
            }
        }
        for piece in bag.all("total_more") {
            let (_, column) = figures.last()?.clone()?;
            figures.push(Some(self.total(piece.value, column)?));
        }
        if bag.takes("and_count") {
            figures.push(None);
        }
        figures.sort_by_key(Option::is_some);
        Some(figures)
    }

    fn having(&self, bag: &mut Bag) -> Option<Option<(Figure, Relation, f64)>> {
        let Some(piece) = bag.take("having") else { return Some(None) };
        let (Some(SlotValue::Compare(relation)), Some(SlotValue::Number(number))) = (piece.slot("cmp"), piece.slot("number")) else {
            return None;
        };
        let figure = match piece.value {
            "count" if piece.path("noun").is_none_or(|file| file == self.file) => None,
            "count" => return None,
            total => Some(self.total(total, piece.column("column")?)?),
        };
        Some(Some((figure, *relation, *number)))
    }
}
