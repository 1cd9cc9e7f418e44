//! Conditions on files: their size, lines, age and name.

use super::pieces::Bag;
use crate::planner::builtin::slots::{Literal, Relation, SlotValue};
use crate::planner::builtin::tree::{Match, RowFilter, Test};

pub(super) fn file_filters(bag: &mut Bag, folders: bool) -> Option<Vec<RowFilter>> {
    let mut filters = Vec::new();
    let mut add = |field: &str, test: Test| filters.push(RowFilter { field: field.to_owned(), test, not: false });
    for piece in bag.all("file_size") {
        let Some(SlotValue::Number(bytes)) = piece.slot("size") else { return None };
        let comparison = match (piece.slot("cmp"), piece.choice("more")) {
            (Some(SlotValue::Compare(comparison)), _) => *comparison,
            (None, Some("less")) => Relation::Less,
            _ => Relation::Greater,
        };
        add("size", Test::Compare(comparison, Literal::Number(*bytes)));
    }
    for piece in bag.all("file_lines") {
        let (Some(SlotValue::Number(lines)), Some(SlotValue::Compare(comparison))) = (piece.slot("number"), piece.slot("cmp")) else {
            return None;
        };
        add("lines", Test::Compare(*comparison, Literal::Number(*lines)));
    }
    for piece in bag.all("file_where") {
        if let (Some(day), Some(SlotValue::Compare(comparison)), Some("modified")) =
            (piece.value("day"), piece.slot("cmp"), piece.choice("measure"))
        {
            add("modified", Test::Compare(*comparison, day));
            continue;
        }
        let (Some(SlotValue::Number(number)), Some(SlotValue::Compare(comparison))) = (piece.slot("number"), piece.slot("cmp")) else {
            return None;
        };
        let measure = piece.choice("measure").filter(|measure| ["size", "lines"].contains(measure))?;
        add(measure, Test::Compare(*comparison, Literal::Number(*number)));
    }
    for _ in bag.all("empty_files") {
        add(if folders { "entries" } else { "size" }, Test::Compare(Relation::Equal, Literal::Number(0.0)));
    }
    for piece in bag.all("modified").into_iter().chain(bag.all("changed")) {
        // A month without its year is no day.
        let (from, to) = match (piece.slot("period"), piece.value("age")) {
            (Some(SlotValue::Period(from, to)), _) if !from.starts_with('-') => (from.clone(), to.clone()),
            (None, Some(Literal::Text(day))) => (day.clone(), day),
            _ => return None,
        };
        let (after, before) = match piece.value {
            "before" => (None, Some(from)),
            "after" => (Some(to), None),
            "since" => (Some(from), None),
            _ => (Some(from), Some(to)),
        };
        let day = |day: Option<String>, relation| day.map(|day| Test::Compare(relation, Literal::Text(day)));
        day(after, Relation::AtLeast).into_iter().chain(day(before, Relation::Less)).for_each(|test| add("modified", test));
    }
    for piece in bag.all("named") {
        let (text, _) = piece.text("text")?;
        match piece.value {
            // `called notes` can be the whole name, or the name without its ending.
            "is" if text.contains('*') || !folders && !text.contains('.') => return None,
            "is" => add("name", Test::Compare(Relation::Equal, Literal::Text(text))),
            _ => add("name", Test::Contains(text, Match::EXACT)),
        }
    }
    for piece in bag.all("named_start") {
        add("name", Test::Starts(piece.text("text")?.0));
    }
    Some(filters)
}
