//! Phrases as they lie in a bag until a rule takes them, and what most rules take: the question word, order, parts, places and texts.

use crate::planner::builtin::{
    facts::WorkspaceFacts,
    slots::{Literal, Relation, SlotValue, SlotValues},
    tree::{Direction, FileSet, Match, Query, Range, RowFilter, Source, Test},
};

/// Conditions on rows.
pub(super) const CONDITIONS: [&str; 11] =
    ["filter", "member", "not_member", "flag", "not_flag", "period", "status", "clock", "level", "empty", "outcome"];

/// One phrase with its slots.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::planner::builtin) struct Piece {
    pub piece: &'static str,
    pub value: &'static str,
    pub slots: SlotValues,
    /// Whether its last word names several.
    pub plural: bool,
    /// Its first word that is no article.
    pub first: String,
    /// Whether it hangs on what is before it by a word such as "in", and no verb says so of that.
    pub loose: bool,
}

impl Piece {
    /// A phrase that another one stands for.
    pub fn made(piece: &'static str, value: &'static str, slots: SlotValues) -> Self {
        Self { piece, value, slots, plural: false, first: String::new(), loose: false }
    }

    pub fn slot(&self, name: &str) -> Option<&SlotValue> {
        self.slots.iter().find(|(slot, _)| slot == name).map(|(_, slot)| slot)
    }

    pub fn path(&self, name: &str) -> Option<String> {
        match self.slot(name)? {
            SlotValue::Path(path) => Some(path.clone()),
            _ => None,
        }
    }

    pub fn text(&self, name: &str) -> Option<(String, bool)> {
        match self.slot(name)? {
            SlotValue::Text { text, quoted } => Some((text.clone(), *quoted)),
            _ => None,
        }
    }

    pub fn column(&self, name: &str) -> Option<String> {
        match self.slot(name)? {
            SlotValue::Column(column) => Some(column.clone()),
            _ => None,
        }
    }

    pub fn count(&self, name: &str) -> Option<u64> {
        match self.slot(name)? {
            SlotValue::Number(number) if *number >= 1.0 && number.fract() == 0.0 => Some(*number as u64),
            _ => None,
        }
    }

    pub fn choice(&self, name: &str) -> Option<&'static str> {
        match self.slot(name)? {
            SlotValue::Choice(choice) => Some(choice),
            _ => None,
        }
    }

    pub fn value(&self, name: &str) -> Option<Literal> {
        match self.slot(name)? {
            SlotValue::Value(value) => Some(value.clone()),
            _ => None,
        }
    }
}

/// The phrases that no rule has taken yet.
#[derive(Clone, Debug)]
pub(super) struct Bag(pub Vec<Piece>);

impl Bag {
    pub fn take(&mut self, piece: &str) -> Option<Piece> {
        let at = self.0.iter().position(|held| held.piece == piece)?;
        Some(self.0.remove(at))
    }

    pub fn takes(&mut self, piece: &str) -> bool {
        self.take(piece).is_some()
    }

    pub fn all(&mut self, piece: &str) -> Vec<Piece> {
        std::iter::from_fn(|| self.take(piece)).collect()
    }

    pub fn has(&self, piece: &str) -> bool {
        self.0.iter().any(|held| held.piece == piece)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// What most questions share: conditions, order and part; each is taken out of the bag.
pub(super) struct SharedPieces {
    pub part: Option<Range>,
    pub reverse: bool,
}

impl SharedPieces {
    pub fn take(bag: &mut Bag) -> Option<Self> {
        let mut parts = Vec::new();
        for (name, make) in [("first", Range::First as fn(u64) -> Range), ("last", Range::Last)] {
            for piece in bag.all(name) {
                parts.push(make(if piece.value == "one" { 1 } else { piece.count("number")? }));
            }
        }
        for piece in bag.all("range") {
            let (from, to) = match piece.slot("range") {
                Some(SlotValue::Range(from, to)) => (*from, *to),
                _ => (piece.count("number")?, piece.count("number2")?),
            };
            if from == 0 || to < from {
                return None;
            }
            parts.push(Range::Lines(from, to));
        }
        for piece in bag.all("from_line") {
            parts.push(Range::From(if piece.value == "skip" { 1 + piece.count("number").unwrap_or(1) } else { piece.count("number")? }));
        }
        for piece in bag.all("nth") {
            let line = piece.count("number")?;
            parts.push(Range::Lines(line, line));
        }
        let all = bag.takes("all");
        if parts.len() > 1 || all && !matches!(parts[..], [] | [Range::From(_)]) {
            return None;
        }
        Some(Self { part: parts.pop(), reverse: bag.takes("reverse") })
    }
}

/// The question word: what is wanted when no other phrase says it.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum AskedFor {
    Show,
    Count,
    Exists,
    None,
}

pub(super) fn head(bag: &mut Bag) -> Option<AskedFor> {
    let which = bag.0.iter().any(|piece| piece.piece == "show" && ["which", "who"].contains(&piece.value));
    let place = |name: &str| bag.0.iter().position(|piece| piece.piece == name);
    let shows_last = place("show") > place("count");
    let found: Vec<AskedFor> = [("count", AskedFor::Count), ("exists", AskedFor::Exists), ("show", AskedFor::Show)]
        .into_iter()
        .flat_map(|(name, head)| bag.all(name).into_iter().map(move |_| head))
        .collect();
    match found[..] {
        [] => Some(AskedFor::None),
        [head] => Some(head),
        // `show the number of`: the number is what is shown; `how many GET requests` shows nothing.
        [AskedFor::Count, AskedFor::Show] if !shows_last => Some(AskedFor::Count),
        [AskedFor::Exists, AskedFor::Show] if !which => Some(AskedFor::Exists),
        _ => None,
    }
}

pub(super) fn direction(order: &str) -> Direction {
    match order {
        "descending" => Direction::Descending,
        "ascending" => Direction::Ascending,
        superlative => looks(superlative),
    }
}

/// What comes first in the order that a phrase names, if it says so.
pub(super) fn superlative_of(piece: &Piece) -> Option<&'static str> {
    let first = piece.choice("order").filter(|order| !["ascending", "descending"].contains(order));
    piece.choice("superlative").or(first)
}

/// The order that a phrase names, if it names one.
pub(super) fn order_of(piece: &Piece) -> Option<Direction> {
    piece.choice("order").map(direction).or_else(|| piece.choice("superlative").map(looks))
}

/// The direction in which a superlative looks.
pub(super) fn looks(superlative: &str) -> Direction {
    if ["largest", "longest", "slowest", "newest", "highest", "dearest"].contains(&superlative) {
        Direction::Descending
    } else {
        Direction::Ascending
    }
}

pub(super) fn contains(field: &str, piece: &Piece) -> Option<RowFilter> {
    let (text, quoted) = piece.text("text").or_else(|| piece.text("quoted"))?;
    let mode = Match { word: piece.value.ends_with("word"), ..case(&text, quoted) };
    Some(RowFilter { field: field.to_owned(), not: piece.value.starts_with("not"), test: Test::Contains(text, mode) })
}

/// Quoted text is meant as it is spelled; a bare word in small letters in any case.
pub(super) fn case(text: &str, quoted: bool) -> Match {
    if !quoted && text.to_lowercase() == text { Match::ANY_CASE } else { Match::EXACT }
}

/// The folder or file that is asked about, and what is left out of it.
pub(super) fn place(bag: &mut Bag, facts: &WorkspaceFacts) -> Option<FileSet> {
    let mut set = FileSet { place: String::new(), also: Vec::new(), globs: Vec::new(), except: Vec::new(), folders: false, direct: false };
    let direct = bag.all("direct");
    let said = bag.all("folder");
    let mut folders: Vec<String> = said.iter().chain(&direct).filter_map(|piece| piece.path("folder")).collect();
    set.also = said.iter().flat_map(|piece| ["folder2", "folder3"].map(|name| piece.path(name))).flatten().collect();
    set.direct = !direct.is_empty();
    let apart = |a: &String, b: &String| a != b && !a.starts_with(&format!("{b}/")) && a != ".";
    let all: Vec<&String> = folders.iter().chain(&set.also).collect();
    let is_apart = all.iter().enumerate().all(|(at, a)| all.iter().enumerate().all(|(other, b)| at == other || apart(a, b)));
    if !set.also.is_empty() && (set.direct || folders.len() != 1 || !is_apart || !set.also.iter().all(|folder| facts.is_folder(folder))) {
        return None;
    }
    folders.dedup();
    match &folders[..] {
        [] => {}
        [folder] => set.place = folder.clone(),
        // `in src in this project`
        [one, here] | [here, one] if here == "." => set.place = one.clone(),
        _ => return None,
    }
    for piece in bag.all("except_files") {
        let (_, slot) = piece.slots.first()?;
        match slot {
            SlotValue::Path(path) if facts.exists(path) => {
                set.except.push(if facts.is_folder(path) { format!("{path}/") } else { path.clone() })
            }
            SlotValue::Globs(globs) => set.except.extend(globs.clone()),
            _ => return None,
        }
    }
    if !set.place.is_empty() && !facts.is_folder(&set.place) { None } else { Some(set) }
}

pub(super) fn compare(field: String, comparison: Relation, value: Literal) -> RowFilter {
    let test = match (comparison, &value) {
        (Relation::Contains, Literal::Text(text)) => Test::Contains(text.clone(), Match::ANY_CASE),
        (Relation::Starts, Literal::Text(text)) => Test::Starts(text.clone()),
        (Relation::Ends, Literal::Text(text)) => Test::Ends(text.clone()),
        (comparison, _) => Test::Compare(comparison, value),
    };
    RowFilter { field, test, not: false }
}

pub(super) fn source_of(previous: Option<&Query>) -> Option<&Source> {
    previous.map(|query| &query.source)
}
