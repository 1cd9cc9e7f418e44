//! Questions about the commits of the repository: by whom, when, of which files, with which message, how many of each.

use super::pieces::{AskedFor, Bag, Piece, SharedPieces, head, looks, order_of};
use crate::planner::builtin::{
    facts::WorkspaceFacts,
    figures,
    slots::{Literal, Relation, SlotValue},
    tree::{Direction, Match, Query, Range, RowFilter, Source, Test, Want},
};

pub(super) fn commits(bag: Bag, facts: &WorkspaceFacts) -> Vec<Query> {
    if bag.has("commits") && facts.is_repository() { asked(bag).into_iter().collect() } else { Vec::new() }
}

fn asked(mut bag: Bag) -> Option<Query> {
    (bag.all("commits").len() == 1).then_some(())?;
    let mut filters = Vec::new();
    let names: Vec<Literal> = bag.all("commit_author").iter().flat_map(authors).collect();
    if !names.is_empty() {
        filters.push(RowFilter { field: "author".into(), test: Test::OneOf(names), not: false });
    }
    filters.extend(days(&mut bag)?);
    for piece in bag.all("commit_message").into_iter().chain(bag.all("contains")) {
        let (text, _) =
            piece.text("text").or_else(|| piece.text("quoted")).filter(|_| !["not", "word", "not word", "agent"].contains(&piece.value))?;
        filters.push(RowFilter { field: "message".into(), test: Test::Contains(text, Match::ANY_CASE), not: false });
    }
    let messages = filters.iter().filter(|filter| filter.field == "message").count();
    let path = path(&mut bag)?;
    let when = bag.takes("when");
    bag.takes("happens");
    let who = bag.0.iter().any(|piece| piece.piece == "show" && piece.value == "who");
    let head = head(&mut bag)?;
    let most = bag.take("frequent");
    let mut group: Vec<String> = [("group_author", "author"), ("group_month", "month"), ("group_day", "day"), ("group_year", "year")]
        .into_iter()
        .filter(|(piece, _)| bag.takes(piece))
        .map(|(_, field)| field.to_owned())
        .collect();
    if who && most.is_some() && group.is_empty() {
        group.push("author".into());
    }
    let shown = bag.all("commit_fields").into_iter().flat_map(|piece| [piece.choice("field"), piece.choice("field2")]).flatten();
    let fields: Vec<String> = shown.map(str::to_owned).collect();
    let order = bag.take("sort_count").or_else(|| bag.take("order").filter(|_| !group.is_empty()));
    let part = part(&mut bag)?;
    let SharedPieces { reverse, .. } = SharedPieces::take(&mut bag)?;
    if !bag.is_empty() || reverse || messages > 1 || group.len() > 1 || most.is_some() && (group.is_empty() || part.is_some()) {
        return None;
    }
    let mut query = Query { filters, ..Query::rows(Source::Commits { path }) };
    if let Some(field) = group.first() {
        let by_count = most.is_some() || order.is_some() || field == "author";
        let least = most.as_ref().is_some_and(|piece| piece.value == "least");
        let way = order.and_then(|piece| order_of(&piece)).unwrap_or(if least || !by_count {
            Direction::Ascending
        } else {
            Direction::Descending
        });
        query.sort = vec![(if by_count { "count".into() } else { field.clone() }, way)];
        query.part = match (most, part) {
            (Some(piece), _) => Some(Range::First(piece.count("number").unwrap_or(1))),
            (None, part @ (None | Some(Range::First(_)))) => part,
            (None, _) => return None,
        };
        return (!when && head != AskedFor::Exists && fields.is_empty()).then_some(Query { group, want: Want::Count, ..query });
    }
    query.want = match (head, part) {
        (AskedFor::Count, None) if !when && !who => Want::Count,
        (AskedFor::Exists, None) if !when && !who => Want::Exists,
        (AskedFor::Show | AskedFor::None, part) if order.is_none() && (part.is_some() || !when && !who) => Want::Rows(fields.clone()),
        _ => return None,
    };
    (fields.is_empty() || matches!(query.want, Want::Rows(_))).then_some(Query { part, ..query })
}

fn authors(piece: &Piece) -> Vec<Literal> {
    ["author", "author2"].iter().filter_map(|name| Some(Literal::Text(piece.text(name)?.0))).collect()
}

/// From when and until when.
fn days(bag: &mut Bag) -> Option<Vec<RowFilter>> {
    let mut found = Vec::new();
    let mut add = |relation, day: &str| {
        found.push(RowFilter { field: "date".into(), test: Test::Compare(relation, Literal::Text(day.to_owned())), not: false });
    };
    for piece in bag.all("period") {
        let period = |name: &str| match piece.slot(name) {
            // A month without its year is the last such one.
            Some(SlotValue::Period(from, to)) => figures::latest(from, to),
            _ => None,
        };
        if piece.slot("column").is_some() {
            return None;
        }
        let (from, to) = period("period")?;
        match piece.value {
            "" => {
                add(Relation::AtLeast, &from);
                add(Relation::Less, &to);
            }
            "after" => add(Relation::AtLeast, &to),
            "since" => add(Relation::AtLeast, &from),
            "before" => add(Relation::Less, &from),
            "until" => add(Relation::Less, &to),
            "between" => {
                add(Relation::AtLeast, &from);
                add(Relation::Less, &period("period2")?.1);
            }
            _ => return None,
        }
    }
    for piece in bag.all("commit_date") {
        let Some(Literal::Text(day)) = piece.value("day").or_else(|| piece.value("age")) else { return None };
        match piece.slot("cmp") {
            Some(SlotValue::Compare(relation @ (Relation::AtLeast | Relation::Less))) => add(*relation, &day),
            None => add(Relation::AtLeast, &day),
            Some(_) => return None,
        }
    }
    Some(found)
}

/// The file or folder whose commits are meant; the whole repository is none.
fn path(bag: &mut Bag) -> Option<Option<String>> {
    let pieces: Vec<Piece> = ["commit_path", "file", "folder"].iter().flat_map(|piece| bag.all(piece)).collect();
    let mut paths: Vec<String> = Vec::new();
    for piece in &pieces {
        let (_, SlotValue::Path(path)) = piece.slots.first()? else { return None };
        paths.push(path.clone());
    }
    paths.retain(|path| path != ".");
    (paths.len() < 2).then(|| paths.pop())
}

/// The newest come last: `the last 3 commits`, `the newest commit`, `the first commit`.
fn part(bag: &mut Bag) -> Option<Option<Range>> {
    let mut parts = Vec::new();
    for piece in bag.all("top") {
        let count = if piece.slot("number").is_some() { piece.count("number")? } else { 1 };
        parts.push(match piece.choice("superlative") {
            Some(newest @ ("newest" | "oldest")) if looks(newest) == Direction::Descending => Range::Last(count),
            Some("oldest") => Range::First(count),
            None if piece.slot("number").is_some() && piece.value.is_empty() => Range::First(count),
            _ => return None,
        });
    }
    for (name, make) in [("first", Range::First as fn(u64) -> Range), ("last", Range::Last)] {
        for piece in bag.all(name) {
            parts.push(make(if piece.value == "one" { 1 } else { piece.count("number")? }));
        }
    }
    (parts.len() < 2).then(|| parts.pop())
}
