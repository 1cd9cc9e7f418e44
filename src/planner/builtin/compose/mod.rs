//! From the phrases of a clause to a query: types decide how they go together. A phrase that no rule takes refuses the whole reading, so that
//! nothing said is dropped.

mod commits;
mod filters;
mod listings;
mod measures;
pub(super) mod pieces;
mod said;
mod tables;

use super::{
    facts::WorkspaceFacts,
    tree::{Operation, Query, Want},
};
use pieces::{Bag, Piece};

/// Every operation that the phrases of a clause can mean together.
pub(super) fn compose(pieces: Vec<Piece>, facts: &WorkspaceFacts, previous: Option<&Query>, implied: bool) -> Vec<Operation> {
    let mut bag = Bag(pieces);
    let asks = bag.0.iter().any(|piece| ["file", "member"].contains(&piece.piece) && piece.value == "does");
    if asks && !["show", "count", "exists"].iter().any(|head| bag.has(head)) {
        bag.0.push(Piece { piece: "exists", value: "", slots: Vec::new(), plural: false });
    }
    // `the last trips` says that there are several, and not how many.
    let one = |piece: &Piece| piece.value == "one" && ["top", "first", "last"].contains(&piece.piece);
    let nouns = ["noun", "rows", "log_entries", "files", "folders", "lines", "level", "commits"];
    if bag.0.iter().any(one) && bag.0.iter().any(|piece| piece.plural && nouns.contains(&piece.piece)) && !bag.has("top_by") {
        return Vec::new();
    }
    // Of members who made trips, nobody counts the trips.
    let doers = ["flag", "member", "column", "noun"];
    let acts = |around: &[Piece]| {
        around[1].piece == "happens"
            && doers.contains(&around[0].piece)
            && (nouns.contains(&around[2].piece) || doers.contains(&around[2].piece))
    };
    // `the price is below 25` compares the price, `more than 5 orders` their number.
    let bare = |piece: &Piece| piece.piece == "filter" && piece.slot("column").is_none();
    let compares = |pair: &[Piece]| {
        pair[0].piece == "column" && bare(&pair[1]) || bare(&pair[0]) && (nouns.contains(&pair[1].piece) || doers.contains(&pair[1].piece))
    };
    if bag.0.windows(3).any(acts) || bag.0.windows(2).any(compares) {
        return Vec::new();
    }
    let effects = [("delete_set", "delete"), ("copy_set", "copy_into"), ("move_set", "move_into")];
    if let Some((piece, row)) = effects.into_iter().find(|(piece, _)| bag.has(piece)) {
        bag.take(piece);
        return on_files(bag, row, facts, previous).into_iter().collect();
    }
    if bag.0.iter().filter(|piece| piece.piece == "file").count() > 1 {
        return Vec::new();
    }
    let mut found: Vec<Operation> = Vec::new();
    let mut add = |queries: Vec<Query>| {
        for operation in queries.into_iter().map(Operation::Query) {
            if !found.contains(&operation) {
                found.push(operation);
            }
        }
    };
    add(commits::commits(bag.clone(), facts));
    add(listings::files(bag.clone(), facts, previous));
    add(listings::matches(bag.clone(), facts, previous));
    // "lines 3 to 5" are lines of the text, "rows 3 to 5" those of the table.
    let ranges = |value: &str| bag.0.iter().any(|piece| ["range", "nth", "from_line"].contains(&piece.piece) && piece.value == value);
    if !ranges("rows") {
        add(listings::lines(bag.clone(), facts, previous));
    }
    if !ranges("") {
        add(tables::rows(bag, facts, previous, implied));
    }
    found
}

/// An effect on each file of a listing.
fn on_files(mut bag: Bag, row: &str, facts: &WorkspaceFacts, previous: Option<&Query>) -> Option<Operation> {
    let target = match bag.take("into") {
        Some(piece) => Some(piece.path("folder")?),
        None => None,
    };
    if (row == "delete") != target.is_none() {
        return None;
    }
    if bag.has("folder_noun") && bag.has("folders") {
        return None;
    }
    bag.0.push(Piece { piece: "show", value: "", slots: Vec::new(), plural: false });
    let queries = listings::files(bag, facts, previous);
    let [query] = &queries[..] else { return None };
    // The last file by which order?
    if query.part.is_some() && query.sort.is_empty() {
        return None;
    }
    (query.group.is_empty() && matches!(query.want, Want::Rows(_))).then(|| Operation::OnFiles {
        query: query.clone(),
        row: row.to_owned(),
        target,
    })
}
