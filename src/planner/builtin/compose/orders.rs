//! Orders of rows and groups: by which column, in which direction, how many, and which an adjective speaks of.

use super::{
    pieces::{Bag, Piece, looks, order_of, superlative_of},
    said::{OrderKey, Said},
    tables::TableQuestion,
};
use crate::planner::builtin::{
    facts::ColumnFacts,
    lists,
    tree::{Direction, Figure, RowFilter, Total},
};

/// `newest first`, where nothing else says an order.
pub(super) fn order_alone(bag: &mut Bag) -> Option<&'static str> {
    let names = |piece: &Piece| ["sort", "group", "then_by"].iter().any(|name| piece.piece.starts_with(name));
    let at = bag.0.iter().position(|piece| piece.piece == "order" && superlative_of(piece).is_some())?;
    if bag.0.iter().any(names) { None } else { superlative_of(&bag.0.remove(at)) }
}

/// The direction in which a superlative looks along a column: the oldest have the highest age, and the first day.
fn looks_at(superlative: &str, column: Option<&String>) -> Direction {
    let is_a = |list: &str| column.is_some_and(|column| lists::has(list, &column.to_lowercase()));
    match superlative {
        "oldest" if is_a("ages") => Direction::Descending,
        "newest" if is_a("ages") => Direction::Ascending,
        "youngest" if is_a("births") => Direction::Descending,
        _ => looks(superlative),
    }
}

/// Whether a superlative can speak of a column: of a text, none comes first by its size.
fn suits(superlative: &str, column: &ColumnFacts) -> bool {
    let is_a = |list: &str| lists::has(list, &column.name.to_lowercase());
    match superlative {
        "newest" => column.is_date || is_a("years"),
        "oldest" => column.is_date || is_a("years") || is_a("ages"),
        "youngest" => is_a("ages") || is_a("births"),
        _ => column.is_number,
    }
}

/// Whether the order of its values is that of their letters: `2 MB` and `03/04/2025` have another.
fn has_order(column: &ColumnFacts) -> bool {
    let counts = |value: &String| value.trim_start_matches(['-', '+', '$', '€', '£']).starts_with(|c: char| c.is_ascii_digit());
    let lengths = column.values.iter().map(String::len).collect::<std::collections::BTreeSet<_>>();
    let is_code = || lengths.len() == 1 && column.values.iter().all(|value| value.chars().all(|c| c.is_ascii_digit() || ":-".contains(c)));
    column.is_number || column.is_date || !column.values.iter().any(counts) || is_code()
}

impl TableQuestion<'_> {
    /// How many of the most frequent, or least.
    pub(super) fn most(
        &self,
        bag: &mut Bag,
        columns: &mut Vec<String>,
        top: &mut Option<(u64, Option<Direction>)>,
        plain: bool,
    ) -> Option<Option<(u64, Direction)>> {
        let mut most = None;
        // `top 3 paths` of a log are those that occur most.
        if let (Some((count, None)), [_]) = (*top, &columns[..])
            && (self.table.is_log() || self.table.is_access())
            && plain
        {
            (*top, most) = (None, Some((count, Direction::Descending)));
        }
        let Some(piece) = bag.take("frequent") else { return Some(most) };
        columns.extend(piece.column("column"));
        let count = match (most, piece.slot("number")) {
            (Some((count, _)), None) => count,
            (None, Some(_)) => piece.count("number")?,
            (None, None) => 1,
            (Some(_), Some(_)) => return None,
        };
        Some(Some((count, if piece.value.starts_with("least") { Direction::Ascending } else { Direction::Descending })))
    }

    /// `which customer spent the most`: of each one's rows together; `who earns the most`: of the rows.
    pub(super) fn most_of(
        &self,
        bag: &mut Bag,
        (columns, groups): (&[String], &[String]),
        sort: &mut Vec<OrderKey>,
        figures: &mut Vec<Figure>,
        top: &mut Option<(u64, Option<Direction>)>,
    ) -> Option<()> {
        let Some(piece) = bag.take("most_of") else { return Some(()) };
        let column = self.known(piece.column("column")?)?;
        self.table.column(&column).filter(|column| column.is_number)?;
        let direction = if piece.value == "least" { Direction::Ascending } else { Direction::Descending };
        let count = match (*top, piece.slot("number")) {
            (None, Some(_)) => piece.count("number")?,
            (None, None) => 1,
            (Some((count, None)), None) => count,
            _ => return None,
        };
        let repeats = |name: &String| self.table.column(name).is_some_and(|name| !name.is_unique);
        match columns {
            _ if !sort.is_empty() || !figures.is_empty() || !groups.is_empty() => return None,
            // `which part costs the most`: once, or all of it together.
            [name] if repeats(name) && lists::has("prices", &column.to_lowercase()) => return None,
            [name] if repeats(name) => figures.push(Some((Total::Sum, column))),
            _ => sort.push((Some(column), direction)),
        }
        *top = Some((count, Some(direction)));
        Some(())
    }

    /// Whom `who` means where each of them has several rows.
    pub(super) fn doer(&self) -> Option<String> {
        let repeats = self.table.columns.iter().filter(|column| !column.is_unique && lists::has("doers", &column.name.to_lowercase()));
        repeats.map(|column| column.name.clone()).next()
    }

    /// How many are wanted, and whether the highest or the lowest; an adjective that speaks of a column orders by it.
    pub(super) fn top(&self, bag: &mut Bag, sort: &mut Vec<OrderKey>) -> Option<Option<(u64, Option<Direction>)>> {
        let Some(piece) = bag.take("top") else { return Some(None) };
        let count = if piece.slot("number").is_some() { piece.count("number")? } else { 1 };
        let Some(superlative) = piece.choice("superlative") else { return Some(Some((count, None))) };
        let is_general = ["highest", "lowest", "largest", "smallest"].contains(&superlative);
        match (&mut sort[..], self.measured(superlative)) {
            ([], Some(column)) => sort.push((Some(column.clone()), looks_at(superlative, Some(&column)))),
            ([(Some(key), order)], Some(column)) if *key == column => *order = looks_at(superlative, Some(&column)),
            ([(_, order)], _) if is_general => *order = looks(superlative),
            ([], None) if is_general => {}
            _ => return None,
        }
        Some(Some((count, Some(sort.first().map_or(looks(superlative), |(_, order)| *order)))))
    }

    /// The only column that an adjective such as "cheapest" can speak of.
    pub(super) fn measured(&self, superlative: &str) -> Option<String> {
        let list = match superlative {
            "longest" | "shortest" | "slowest" | "fastest" => "lengths",
            "cheapest" | "dearest" => "prices",
            "newest" | "oldest" => {
                let birth = |day: &String| lists::has("births", &day.to_lowercase());
                let day = self.table.date().map(str::to_owned).or_else(|| self.known("year".into()));
                let day = day.filter(|day| superlative == "oldest" || !birth(day));
                // `the oldest member` by age, or by the day of joining.
                let age = self.table.measured("ages").filter(|_| superlative == "oldest");
                return if age.is_some() && day.is_some() { None } else { day.or(age) };
            }
            "youngest" => {
                let birth = self.table.date().filter(|day| lists::has("births", &day.to_lowercase()));
                return birth.map(str::to_owned).or_else(|| self.table.measured("ages"));
            }
            _ => return None,
        };
        self.table.measured(list)
    }

    /// With the column that a superlative alone speaks of: `the 3 biggest expenses`, `refunds over 100, biggest first`.
    pub(super) fn ranked(&self, mut said: Said, first: Option<&str>, filters: &[RowFilter]) -> Option<Said> {
        let of_top = said.top.and_then(|(_, looks)| looks).filter(|_| said.noun && said.columns.is_empty());
        let of_top = of_top.map(|looks| if looks == Direction::Ascending { "lowest" } else { "highest" });
        let plain = said.sort.is_empty() && said.figures.is_empty() && (said.groups.is_empty() || first.is_none()) && said.most.is_none();
        let Some(superlative) = first.or(of_top).filter(|_| plain) else { return first.is_none().then_some(said) };
        let is_number = |field: &&String| self.table.column(field).is_some_and(|column| column.is_number);
        let compared = || filters.iter().map(|filter| &filter.field).find(is_number).cloned().or_else(|| self.table.measured("amounts"));
        let is_general = ["highest", "lowest", "largest", "smallest"].contains(&superlative);
        match self.measured(superlative).or_else(|| compared().filter(|_| is_general)) {
            Some(column) => said.sort.push((Some(column.clone()), looks_at(superlative, Some(&column)))),
            None if first.is_some() => return None,
            None => {}
        }
        Some(said)
    }

    /// What comes first in the order that phrases name; none of a column is the number of rows.
    pub(super) fn sort(&self, bag: &mut Bag) -> Option<Vec<OrderKey>> {
        let mut sort: Vec<(Option<String>, Option<Direction>)> = Vec::new();
        let top = bag.0.iter().find(|held| held.piece == "top").cloned();
        let verb = bag.take("sort_verb");
        let (sorts, ranks) = (verb.is_some(), verb.is_some_and(|verb| verb.value == "rank"));
        let rank = |piece: &Piece| ["sort", "sort_by", "sort_count", "then_by"].iter().position(|name| *name == piece.piece);
        let pieces: Vec<Piece> = bag.0.iter().filter(|piece| rank(piece).is_some()).cloned().collect();
        bag.0.retain(|piece| rank(piece).is_none());
        let several = pieces.len() > 1;
        let mut then = false;
        for piece in pieces {
            if piece.piece == "sort_by" && top.is_none() && !sorts || piece.piece == "then_by" && sort.is_empty() {
                return None;
            }
            // Whether the rows or a column of theirs is meant, nobody says.
            if piece.piece == "sort_count" && self.table.column("count").is_some() {
                return None;
            }
            let mut key = if piece.piece == "sort_count" { None } else { Some(self.known(piece.column("column")?)?) };
            // `errors by component, highest first` are counted, not put in the order of names.
            let repeats = |key: &String| {
                self.table
                    .column(key)
                    .is_some_and(|column| (!column.is_number || lists::has("codes", key)) && !column.is_date && !column.is_unique)
            };
            if (piece.value == "by" && !sorts || piece.piece == "sort_by" && top.is_some()) && key.as_ref().is_some_and(repeats) {
                return None;
            }
            // `the best team first` of teams: by what they come to.
            if piece.value == "first" && bag.0.iter().any(|group| group.piece == "group" && group.column("column") == key) {
                key = None;
            }
            let first = match (&top, piece.piece) {
                // `top 5 by price` begins with the highest.
                (Some(top), "sort_by") => Some(superlative_of(top).map_or(Direction::Descending, |first| looks_at(first, key.as_ref()))),
                (_, "sort_count") => Some(Direction::Descending),
                (None, _) if piece.value == "first" => Some(Direction::Descending),
                (None, _) if ranks || piece.value == "rank" => {
                    key.as_ref().is_none_or(|key| self.table.column(key).is_some_and(|column| column.is_number)).then_some(())?;
                    Some(Direction::Descending)
                }
                _ => None,
            };
            let held = if order_of(&piece).is_some() {
                Some(piece.clone())
            } else if several {
                None
            } else {
                bag.take("order")
            };
            let said = match held.as_ref().map(|held| (superlative_of(held), order_of(held))) {
                Some((Some(first), _)) => {
                    // The oldest groups have neither the most rows nor the fewest.
                    (key.is_some() || !lists::has("of_time", first)).then_some(())?;
                    key.as_ref().is_none_or(|key| self.table.column(key).is_some_and(|column| suits(first, column))).then_some(())?;
                    Some(looks_at(first, key.as_ref()))
                }
                held => held.and_then(|(_, order)| order),
            };
            key.as_ref().is_none_or(|key| self.table.column(key).is_some_and(has_order)).then_some(())?;
            sort.push((key, said.or(first)));
            then |= piece.value == "then";
        }
        if sort.is_empty()
            && bag.0.iter().any(|piece| piece.piece.starts_with("group"))
            && let Some(piece) = bag.take("order")
        {
            superlative_of(&piece).is_none_or(|first| !lists::has("of_time", first)).then_some(())?;
            sort.push((None, Some(order_of(&piece)?)));
        }
        // An order behind the last of several could be meant for all.
        let said = sort.iter().filter(|(_, order)| order.is_some()).count();
        if sorts && sort.is_empty() || !then && said > 0 && said < sort.len() && sort.last().is_some_and(|(_, order)| order.is_some()) {
            return None;
        }
        Some(sort.into_iter().map(|(key, order)| (key, order.unwrap_or(Direction::Ascending))).collect())
    }
}
