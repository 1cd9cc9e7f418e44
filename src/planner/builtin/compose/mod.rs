//! From the phrases of a clause to a query: types decide how they go together. A phrase that no rule takes refuses the whole reading, so that
//! nothing said is dropped.

mod commits;
mod filters;
mod listings;
mod measures;
mod orders;
pub(super) mod pieces;
mod said;
mod tables;

use super::{
    facts::WorkspaceFacts,
    lists,
    tree::{Operation, Query, Source, Want},
};
use pieces::{Bag, CONDITIONS, Piece};

/// Every operation that the phrases of a clause can mean together.
pub(super) fn compose(pieces: Vec<Piece>, facts: &WorkspaceFacts, previous: Option<&Query>, implied: bool) -> Vec<Operation> {
    let mut bag = Bag(pieces);
    let asks = bag.0.iter().any(|piece| ["file", "member"].contains(&piece.piece) && piece.value == "does");
    if asks && !["show", "count", "exists"].iter().any(|head| bag.has(head)) {
        bag.0.push(Piece::made("exists", "", Vec::new()));
    }
    // `the last trips` says that there are several, and not how many.
    let one = |piece: &Piece| piece.value == "one" && ["top", "first", "last"].contains(&piece.piece);
    let nouns = NOUNS;
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
    // `services without failed deploys` are services that have none.
    let lacks = |at: usize| {
        ["not_member", "not_flag"].contains(&bag.0[at - 1].piece)
            && nouns.contains(&bag.0[at].piece)
            && bag.0[..at].iter().any(|piece| piece.piece == "column")
            && !bag.0[..at].iter().any(|piece| nouns.contains(&piece.piece))
    };
    // `only name and salary` names two columns and no order.
    let orders = |pair: &[Piece]| pair[1].piece == "then_by" && pair[1].value.is_empty() && pair[0].piece == "column";
    if bag.0.windows(2).any(orders) || goes_astray(&bag, previous) {
        return Vec::new();
    }
    if bag.0.windows(3).any(acts) || bag.0.windows(2).any(compares) || (1..bag.0.len()).any(lacks) || apart(&mut bag).is_none() {
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
    add(listings::matches(bag.clone(), facts));
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

/// Whether phrases say something of the rows before, or of a part before it is taken, that no query can say.
fn goes_astray(bag: &Bag, previous: Option<&Query>) -> bool {
    // `keep the first two` goes on from rows; in a file it would change it.
    let keeps = bag.0.iter().any(|piece| piece.piece == "show" && piece.value == "keep");
    // `sort the first 5 rows by price` sorts these, not all.
    let place = |names: &[&str]| bag.0.iter().position(|piece| names.contains(&piece.piece));
    let key = place(&["sort", "sort_by", "sort_files", "sort_plain", "sort_count"]);
    let part = place(&["first", "last", "range", "from_line", "nth"]);
    let sorts_part = place(&["sort_verb"]).zip(part).is_some_and(|(verb, part)| verb < part && key.is_none_or(|key| part < key));
    // `orders from North and unpaid orders`: both, or what is both.
    let names_twice = bag.0.iter().filter(|piece| piece.piece == "noun").count() > 1;
    // `that mention job failed`: where the text ends, nobody says.
    let runs_on = |pair: &[Piece]| {
        let of_text = ["contains", "search", "matches"].contains(&pair[0].piece) && pair[0].text("text").is_some_and(|(_, quoted)| !quoted);
        let says = CONDITIONS.contains(&pair[1].piece) || NOUNS.contains(&pair[1].piece) || ["column", "happens"].contains(&pair[1].piece);
        of_text && says && !pair[1].loose && !lists::has("function_words", &pair[1].first)
    };
    keeps && (previous.is_none() || bag.has("file")) || sorts_part || names_twice || bag.0.windows(2).any(runs_on)
}

/// What rows, lines and files are called.
const NOUNS: [&str; 8] = ["noun", "rows", "log_entries", "files", "folders", "lines", "level", "commits"];

/// Of which rows a percentage is goes behind a mark of its own: what is said of them before a verb says which of them. None where it could be
/// either.
fn apart(bag: &mut Bag) -> Option<()> {
    let names = |piece: &Piece| ["noun", "rows", "log_entries", "lines", "level"].contains(&piece.piece) || piece.value == "things";
    // `error rate of billing` says itself which of them.
    let rate = bag.0.iter().any(|piece| piece.piece == "percent" && !piece.slots.is_empty());
    let noun = if rate { Some(bag.0.len()) } else { bag.0.iter().position(names) };
    let Some(noun) = noun.filter(|_| bag.has("percent") && !bag.has("among")) else { return Some(()) };
    let conditions: Vec<usize> = (0..bag.0.len()).filter(|at| CONDITIONS.contains(&bag.0[*at].piece)).collect();
    let verb = conditions.iter().copied().find(|at| *at > noun && !bag.0[*at].loose);
    let Some(verb) = verb.or(rate.then_some(noun)) else { return (conditions.len() < 2).then_some(()) };
    if conditions.iter().any(|at| *at > verb && bag.0[*at].loose && bag.0[*at].value != "and") {
        return None;
    }
    let whole: Vec<Piece> = conditions.iter().filter(|at| **at < verb).map(|at| bag.0[*at].clone()).collect();
    let mut at = 0;
    bag.0.retain(|_| {
        at += 1;
        at > verb || !conditions.contains(&(at - 1))
    });
    bag.0.push(Piece::made("among", "", Vec::new()));
    bag.0.extend(whole);
    Some(())
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
    // `delete them`: all that was found.
    let points = bag.has("previous") && bag.0.iter().all(|piece| ["previous", "all"].contains(&piece.piece));
    // Rows are deleted from a file that is named.
    let of_table = row == "delete" && (bag.has("file") || points);
    bag.0.push(Piece::made("show", "", Vec::new()));
    let mut queries = if points { previous.cloned().into_iter().collect() } else { listings::files(bag.clone(), facts, previous) };
    if queries.is_empty() && of_table {
        queries = tables::rows(bag, facts, previous, false);
    }
    let [query] = &queries[..] else { return None };
    // The last file by which order?
    if query.part.is_some() && query.sort.is_empty() {
        return None;
    }
    let is_fit = match (&query.source, &query.want) {
        (Source::Files(_), Want::Rows(_)) => true,
        (Source::Matches { .. }, Want::Distinct(_) | Want::Lacking) => true,
        (Source::Table(file), Want::Rows(fields)) => {
            of_table && fields.is_empty() && !(query.filters.is_empty() && query.part.is_none()) && facts.is_delimited(file)
        }
        _ => false,
    };
    (query.group.is_empty() && is_fit).then(|| Operation::OnFiles { query: query.clone(), row: row.to_owned(), target })
}
