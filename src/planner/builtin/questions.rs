//! Questions: sequences of phrases that cover a whole clause, with what the clauses beside it say for it too. The longest phrases count.

use std::rc::Rc;

use super::{
    compose::{compose, pieces::Piece},
    form::{self, is_article},
    lists,
    readings::{Phrases, Reader, question_before},
    rows::ROWS,
    slots::SlotValue,
    tree::{Clause, Operation, Query, Source, Step},
    words::Word,
};

/// How many phrases more than the fewest a clause may be taken apart into.
const SPARE: usize = 6;
/// A word that carries no meaning, as a piece of its own.
const FILLER: &str = "filler";

impl<'a> Reader<'a> {
    /// A question as it is, or with what clauses beside it say for it too: `count the errors in a.log and the warnings`.
    pub(super) fn questions(&self, from: usize, end: usize, before: &[Step], implied: bool, begins: bool) -> Vec<(Operation, bool)> {
        let asks = self.asks(from).is_some();
        let head = if begins { self.head_before(from) } else { &[] };
        // What only says in which order or how many asks for nothing.
        let place = if asks || !head.is_empty() { self.place_beside(from, end) } else { &[] };
        let beside: [(&[Word], &[Word]); 3] = match (head, place) {
            ([], place) => [(&[], &[]), (&[], place), (&[], &[])],
            (head, place) => [(head, &[]), (head, place), (&[], &[])],
        };
        for (at, (head, place)) in beside.into_iter().enumerate() {
            if beside[..at].contains(&(head, place)) {
                continue;
            }
            let found = if head.is_empty() && place.is_empty() {
                self.covered(from, end, before, implied)
            } else {
                let words = [head, &self.words[from..end], place].concat();
                self.of(&words).covered(0, words.len(), before, implied)
            };
            // `read a.txt and count the lines with e` counts nothing of other files.
            let says_all = self.words[from..end].iter().any(|word| lists::has("everywhere", &word.lower));
            let is_elsewhere = |operation: &Operation| !says_all && is_anywhere(operation) && before.iter().any(names_source);
            let found: Vec<_> = found.into_iter().filter(|(operation, _)| !is_elsewhere(operation)).collect();
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    /// Where the words that ask for something end, if such begin here, and whether they ask for a number or for yes or no.
    pub(super) fn asks(&self, at: usize) -> Option<(usize, bool)> {
        let phrases = self.phrases_at(at);
        let heads = phrases.iter().filter(|(_, piece)| ["count", "exists", "show"].contains(&piece.piece));
        heads.map(|(to, piece)| (*to, piece.piece != "show")).max()
    }

    /// The words that ask for a number, before a clause that asks for nothing itself.
    fn head_before(&self, from: usize) -> &'a [Word] {
        if from == 0 || self.asks(from).is_some() {
            return &[];
        }
        let joins = |at: usize| [",", "and", "then", "&"].iter().any(|word| self.words[at].is(word));
        let sentence = (0..from).rfind(|at| [".", ";", "?"].iter().any(|mark| self.words[*at].is(mark))).map_or(0, |at| at + 1);
        let starts = (sentence..from).filter(|at| *at == sentence || joins(at - 1)).map(|at| self.trim(at, from).0);
        match starts.filter(|at| *at < from).filter_map(|at| Some((at, self.asks(at)?))).next_back() {
            Some((at, (to, true))) if to <= from => &self.words[at..to],
            _ => &[],
        }
    }

    /// The words that say where, for a clause that says it nowhere: the only place beside it.
    fn place_beside(&self, from: usize, end: usize) -> &'a [Word] {
        let said = |at: usize| {
            let phrases = self.phrases_at(at);
            let places = phrases.iter().filter(|(_, piece)| ["file", "folder"].contains(&piece.piece) && piece.value.is_empty());
            places.filter(|(_, piece)| !piece.slots.is_empty()).map(|(to, _)| (at, *to)).max()
        };
        let in_clause = |at: &usize| (from..end).contains(at);
        if (from..end).any(|at| said(at).is_some()) {
            return &[];
        }
        let is_behind = |at: usize| {
            let is_read = at > 0 && lists::has("reading_verbs", &self.words[at - 1].lower) && self.begins(at - 1);
            is_read || ["in", "of", "from", "for"].iter().any(|word| self.words[at].is(word))
        };
        let mut found = (0..self.words.len()).filter(|at| !in_clause(at) && is_behind(*at)).filter_map(said);
        let (Some((at, to)), None) = (found.next(), found.next()) else { return &[] };
        // Where more is said beside the place, it could hold for both: `the first and the last order of Ann in orders.csv`.
        let between = if at >= end { end..at } else { self.start_before(at)..at };
        let (mut rest, mut words) = (between, 0);
        while let Some(at) = rest.next() {
            let joins = [",", "and", "&", "or"].iter().any(|word| self.words[at].is(word)) || is_article(&self.words[at]);
            match self.asks(at) {
                Some((to, _)) => rest.start = to.min(rest.end),
                None => words += usize::from(!joins && !is_filler(&self.words[at])),
            }
        }
        let several = words > 2;
        if several { &[] } else { &self.words[at..to] }
    }

    /// Where the words behind those that ask begin, in the clause of a word.
    fn start_before(&self, at: usize) -> usize {
        let begins = |at: &usize| *at == 0 || [",", "and", "then", "&", ".", ";", "?"].iter().any(|word| self.words[*at - 1].is(word));
        let start = (0..=at).rev().find(begins).map_or(0, |start| self.trim(start, at.max(start)).0);
        self.asks(start).map_or(start, |(to, _)| to.min(at))
    }

    /// Questions made of phrases that cover the whole clause. The fewest phrases are the longest and say most: more of them count where those
    /// say nothing.
    fn covered(&self, from: usize, end: usize, before: &[Step], implied: bool) -> Vec<(Operation, bool)> {
        let previous = question_before(before);
        let implied = implied && previous.is_none();
        let covers = Covers::new(self, from, end);
        let mut found: Vec<(Operation, bool)> = Vec::new();
        for size in covers.sizes() {
            for pieces in covers.of_size(size, self) {
                let alone = compose(pieces.clone(), self.facts, None, implied);
                let behind = previous.map(|previous| compose(pieces, self.facts, Some(previous), implied)).unwrap_or_default();
                let behind: Vec<_> = behind.into_iter().filter(|operation| !alone.contains(operation)).collect();
                let all =
                    alone.into_iter().map(|operation| (operation, false)).chain(behind.into_iter().map(|operation| (operation, true)));
                for operation in all {
                    if !found.contains(&operation) {
                        found.push(operation);
                    }
                }
            }
            if !found.is_empty() {
                break;
            }
        }
        found
    }

    /// Whether a phrase hangs on the one before it by a word such as "in", and no verb says so.
    fn is_loose(&self, at: usize) -> bool {
        let is = |at: usize, list: &str| lists::has(list, &self.words[at].lower) && !self.words[at].quoted;
        is(at, "prepositions") && !(at > 0 && is(at - 1, "linking_verbs"))
    }

    /// Every phrase that begins at a word, with where it ends.
    pub(super) fn phrases_at(&self, at: usize) -> Phrases {
        if let Some(known) = self.phrases.borrow().get(&at) {
            return Rc::clone(known);
        }
        let mut found: Vec<(usize, Piece)> = Vec::new();
        for phrase in &ROWS.phrases {
            let ways = phrase.parsed.iter().flat_map(|form| form::matches(form, self.scene(self.words.len()), at));
            for (to, slots) in ways.filter(|(to, _)| *to > at) {
                let plural = is_plural(&self.words[to - 1]);
                // `GET requests` fetches nothing.
                let is_value =
                    || self.words[at].text.chars().all(char::is_uppercase) && !self.facts.members(&self.words[at].lower).is_empty();
                if phrase.piece == "show" && is_value() {
                    continue;
                }
                let first = self.words[at..to].iter().find(|word| !is_article(word)).map(|word| word.lower.clone()).unwrap_or_default();
                let piece = Piece { piece: &phrase.piece, value: &phrase.value, slots, plural, first, loose: self.is_loose(at) };
                let way = (to, piece);
                if !found.contains(&way) {
                    found.push(way);
                }
            }
        }
        let found = Rc::new(found);
        self.phrases.borrow_mut().insert(at, Rc::clone(&found));
        found
    }
}

/// Every sequence of phrases from a place to the end.
struct Covers {
    from: usize,
    end: usize,
    /// At each place, where a phrase or a word without meaning leads to.
    ways: Vec<Vec<(usize, Option<Piece>)>>,
    /// The fewest and the most phrases from each place to the end.
    sizes: Vec<Option<(usize, usize)>>,
}

impl Covers {
    fn new(reader: &Reader<'_>, from: usize, end: usize) -> Self {
        let mut ways: Vec<Vec<(usize, Option<Piece>)>> = vec![Vec::new(); end + 1];
        let mut sizes = vec![None; end + 1];
        sizes[end] = Some((0, 0));
        for at in (from..end).rev() {
            let word = &reader.words[at];
            let phrases = reader.phrases_at(at);
            let here = phrases.iter().filter(|(_, piece)| piece.piece != "target");
            let mut here: Vec<(usize, Option<Piece>)> = here.map(|(to, piece)| (*to, Some(piece.clone()))).collect();
            if is_article(word) {
                // Phrases take an article before them: what is left are other words, and the end.
                let next: Vec<_> = ways[at + 1].iter().filter(|way| !here.contains(way)).cloned().collect();
                here.extend(next);
            } else if is_filler(word) && (at > from || !lists::has("asking_verbs", &word.lower)) {
                here.push((at + 1, Some(Piece::made(FILLER, "", Vec::new()))));
            }
            here.retain(|(to, _)| *to <= end && sizes[*to].is_some());
            let sized = here.iter().filter_map(|(to, piece)| sizes[*to].map(|(least, most)| (least, most, usize::from(piece.is_some()))));
            sizes[at] = sized.map(|(least, most, own)| (least + own, most + own)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
            ways[at] = here;
        }
        Self { from, end, ways, sizes }
    }

    /// How many phrases the sequences have, from the fewest on.
    fn sizes(&self) -> std::ops::Range<usize> {
        self.sizes[self.from].map_or(0..0, |(least, most)| least..(most + 1).min(least + SPARE))
    }

    /// The sequences of so many phrases, without those that carry no meaning.
    fn of_size(&self, size: usize, reader: &Reader<'_>) -> Vec<Vec<Piece>> {
        let mut found = Vec::new();
        self.walk(self.from, size, &mut Vec::new(), &mut found, reader);
        found
    }

    fn walk(&self, at: usize, left: usize, so_far: &mut Vec<Piece>, found: &mut Vec<Vec<Piece>>, reader: &Reader<'_>) {
        if self.sizes[at].is_none_or(|(least, most)| left < least || left > most) {
            return;
        }
        if at == self.end {
            if reader.may_try() {
                found.push(so_far.iter().filter(|piece| piece.piece != FILLER).cloned().collect());
            }
            return;
        }
        for (to, piece) in &self.ways[at] {
            let length = so_far.len();
            so_far.extend(piece.clone());
            self.walk(*to, left.saturating_sub(usize::from(piece.is_some())), so_far, found, reader);
            so_far.truncate(length);
            if reader.effort.get() == 0 {
                return;
            }
        }
    }
}

/// Whether a text is sought in the whole workspace.
fn is_anywhere(operation: &Operation) -> bool {
    matches!(operation, Operation::Query(Query { source: Source::Matches { files, .. }, .. }) if files.place == "." && files.globs.is_empty())
}

/// Whether a step is about some files and not all.
fn names_source(step: &Step) -> bool {
    let Step::Do(Clause { operation, .. }) = step else { return false };
    match operation {
        Operation::Row { slots, .. } => slots.iter().any(|(_, slot)| matches!(slot, SlotValue::Path(_) | SlotValue::Paths(_))),
        Operation::Query(query) | Operation::OnFiles { query, .. } => match &query.source {
            Source::Lines(_) | Source::Table(_) => true,
            Source::Files(files) | Source::Matches { files, .. } => files.place != "." || !files.globs.is_empty(),
            Source::Commits { .. } => false,
        },
        Operation::Previous | Operation::Agent(_) => false,
    }
}

/// A word between phrases that carries no meaning of its own.
fn is_filler(word: &Word) -> bool {
    !word.quoted && lists::has("fillers", &word.lower)
}

/// Whether a word names several, by how it ends.
fn is_plural(word: &Word) -> bool {
    !word.quoted && word.lower.len() > 3 && word.lower.ends_with('s') && !word.lower.ends_with("ss")
}
