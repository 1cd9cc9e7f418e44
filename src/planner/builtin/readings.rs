//! Readings: every way in which operations cover the words of a request, all of them. None means that it is not understood.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use super::{
    compose::pieces::Piece,
    facts::WorkspaceFacts,
    form, lists,
    rows::{self, ROWS},
    template::Template,
    tree::{Clause, Operation, Query, Source, Step, Target, Want},
    words::{self, Word, as_written},
};
use crate::planner::builtin::entities::Scene;
use crate::planner::builtin::lower;
use crate::planner::builtin::slots::{SlotValue, SlotValues};

/// Most places at which a request is cut into clauses.
const CUTS: usize = 8;

/// What must hold of the workspace, and doesn't.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Trouble {
    Missing {
        path: String,
        nearest: Option<String>,
    },
    There(String),
    NoRepository,
    NotThere {
        text: String,
        file: String,
    },
    /// What would be replaced is the name of a value.
    Key {
        text: String,
        file: String,
    },
    /// A name that several values have.
    Unclear {
        text: String,
        found: Vec<String>,
    },
    WrongKind {
        file: String,
        wanted: String,
    },
    /// What else is in the way, as a sentence.
    Other(String),
    /// A file that would be changed was named by a part of its path.
    Short(String),
}

/// What a request was read as.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub readings: Vec<Vec<Step>>,
    /// Why readings were refused.
    pub troubles: Vec<Trouble>,
}

/// Phrases with where they end.
pub(super) type Phrases = Rc<Vec<(usize, Piece)>>;

/// Clauses with whether they go on from the rows of the clause before.
type Clauses = Rc<Vec<(Clause, bool)>>;

pub(super) struct Reader<'a> {
    pub facts: &'a WorkspaceFacts,
    pub request: &'a str,
    pub words: &'a [Word],
    pub templates: &'a [Template],
    /// How much may still be tried before the request counts as not understood.
    pub effort: &'a Cell<usize>,
    /// The phrases that begin at a word, with where they end, once they have been looked for.
    pub phrases: RefCell<BTreeMap<usize, Phrases>>,
    /// The clauses between two words behind a question, once they have been looked for.
    clauses: RefCell<Vec<(ClausePlace, Clauses)>>,
}

/// Where a clause is, behind which question, and whether it is the first.
type ClausePlace = (usize, usize, Option<Query>, bool);

impl<'a> Reader<'a> {
    pub fn new(facts: &'a WorkspaceFacts, request: &'a str, words: &'a [Word], templates: &'a [Template], effort: &'a Cell<usize>) -> Self {
        Self { facts, request, words, templates, effort, phrases: RefCell::default(), clauses: RefCell::default() }
    }

    /// Whether something more may be tried.
    pub fn may_try(&self) -> bool {
        let left = self.effort.get();
        self.effort.set(left.saturating_sub(1));
        left > 0
    }

    /// The same for other words of the request.
    pub fn of<'w>(&self, words: &'w [Word]) -> Reader<'w>
    where
        'a: 'w,
    {
        Reader::new(self.facts, self.request, words, self.templates, self.effort)
    }

    pub(super) fn scene(&self, end: usize) -> Scene<'a> {
        Scene { words: &self.words[..end], facts: self.facts, request: self.request, vocabulary: &rows::VOCABULARY, sets: &rows::SETS }
    }

    /// Reads the whole request.
    pub fn read(&self) -> Read {
        let mut read = Read::default();
        self.steps(0, self.words.len(), &mut Vec::new(), &mut read, 0);
        read.readings.dedup();
        let mut unique: Vec<Vec<Step>> = Vec::new();
        for reading in read.readings.drain(..) {
            if !unique.contains(&reading) {
                unique.push(reading);
            }
        }
        // What was not looked at to the end could mean something else, too.
        read.readings = if self.effort.get() == 0 { Vec::new() } else { unique };
        read
    }

    /// Adds every way to read the words from a place on, behind the steps so far.
    pub(super) fn steps(&self, from: usize, end: usize, before: &mut Vec<Step>, read: &mut Read, cuts: usize) {
        if from >= end {
            if !before.is_empty() {
                read.readings.push(before.clone());
            }
            return;
        }
        if !self.may_try() {
            return;
        }
        if let Some(found) = self.conditional(from, end, read) {
            for step in found {
                before.push(step);
                read.readings.push(before.clone());
                before.pop();
            }
            return;
        }
        for (stop, next) in self.cuts(from, end) {
            if stop < end && cuts >= CUTS {
                continue;
            }
            for (clause, follows) in self.clause(from, stop, before, read).iter() {
                if !follows && self.could_be_of_both(before, clause, from) || changes_before(before, clause) {
                    continue;
                }
                let mut after = before.clone();
                join(&mut after, clause.clone(), *follows);
                self.steps(next, end, &mut after, read, cuts + 1);
            }
        }
    }

    /// Whether what is said of a clause could be meant for the one before it, too: `count the orders and sum their price per region`.
    fn could_be_of_both(&self, before: &[Step], clause: &Clause, from: usize) -> bool {
        let Operation::Query(next) = &clause.operation else { return false };
        let (verb, _) = self.trim(from, self.words.len());
        let Some(Step::Do(Clause { operation: Operation::Query(first), target: None })) = before.last() else {
            // `delete the files in a and b`
            return !before.is_empty() && !self.begins(verb);
        };
        // `the average length of the walks and the rides`, `the 3 largest files in a and b`: what lists rows says so, or goes on with a list.
        let lists = |query: &Query| matches!(query.want, Want::Rows(_) | Want::Distinct(_));
        let ranks = |query: &Query| query.part.is_some() || !query.sort.is_empty();
        if !self.begins(verb) && lists(next) && !ranks(next) && (!lists(first) || ranks(first)) {
            return true;
        }
        // `the folders and files in photos`, `the txt files in a and b`
        if let (Source::Files(one), Source::Files(other)) = (&first.source, &next.source)
            && !self.begins(verb)
            && one.place != other.place
            && (one.place == "." || self.is_place(verb))
        {
            return true;
        }
        // `the TODO and FIXME in src`
        if let (Source::Matches { files: one, .. }, Source::Matches { files: other, .. }) = (&first.source, &next.source)
            && !self.begins(verb)
            && (one != other || first.want != next.want)
        {
            return true;
        }
        let Source::Table(file) = &first.source else { return false };
        // `logins and logouts of bob`
        let fields = |query: &Query| query.filters.iter().map(|filter| filter.field.clone()).collect::<BTreeSet<_>>();
        if !self.begins(verb) && first.source == next.source && !fields(first).is_empty() && !fields(next).is_subset(&fields(first)) {
            return true;
        }
        let is_named = self.words[..from].iter().any(|word| self.facts.located(&word.text).as_ref() == Some(file));
        let has_verb = self.asks(verb).is_some_and(|(_, asks)| !asks);
        let plain = first.group.is_empty() && first.filters.is_empty() && !is_named && first.source == next.source;
        // `count errors and warnings by component`: the groups are meant for both.
        let shares =
            !has_verb && self.asks(verb).is_none() && first.group.is_empty() && !next.group.is_empty() && first.source == next.source;
        shares || plain && (!next.group.is_empty() || !next.filters.is_empty() && !has_verb)
    }

    /// Whether nothing but a folder is named here.
    fn is_place(&self, at: usize) -> bool {
        self.words.get(at).is_some_and(|word| self.facts.is_folder(&word.text) || self.facts.folder_of(&word.lower).is_some())
    }

    /// Where the clause that begins at a place may end, and where the next one begins.
    pub(super) fn cuts(&self, from: usize, end: usize) -> Vec<(usize, usize)> {
        let joins = |at: usize| {
            lists::words("connectors").iter().any(|word| self.words[at].is(word))
                || self.words[at].is("after") && self.words.get(at + 1).is_some_and(|word| word.is("that"))
        };
        let mut found = vec![(end, end)];
        let mut at = from + 1;
        while at < end {
            if joins(at) {
                let stop = at;
                while at < end && joins(at) {
                    at += if self.words[at].is("after") { 2 } else { 1 };
                }
                // What "and" leads to has to be there.
                let hangs = at == end && ["and", "then", "&", "also"].iter().any(|word| self.words[at - 1].is(word));
                if !hangs {
                    found.push((stop, at));
                }
            } else {
                at += 1;
            }
        }
        found
    }

    /// Whether a clause of its own begins here, with a verb or a question word.
    pub(super) fn begins(&self, from: usize) -> bool {
        let (from, end) = self.trim(from, self.words.len());
        from < end && (from == 0 || lists::has("verbs", &self.words[from].lower) || self.asks(from).is_some())
    }

    pub(super) fn trim(&self, mut from: usize, mut end: usize) -> (usize, usize) {
        let starts =
            |words: &[Word], opening: &[&str]| words.len() > opening.len() && opening.iter().zip(words).all(|(word, said)| said.is(word));
        while let Some(opening) = lists::words("openings")
            .iter()
            .map(|opening| opening.split(' ').collect::<Vec<_>>())
            .find(|opening| starts(&self.words[from..end], opening))
        {
            from += opening.len();
        }
        let ends = |words: &[Word], closing: &[&str]| {
            words.len() > closing.len() && closing.iter().zip(&words[words.len() - closing.len()..]).all(|(word, said)| said.is(word))
        };
        while let Some(closing) = lists::words("closings")
            .iter()
            .map(|closing| closing.split(' ').collect::<Vec<_>>())
            .find(|closing| ends(&self.words[from..end], closing))
        {
            end -= closing.len();
        }
        (from, end)
    }

    /// Every clause that the words between two places can be, and whether it goes on from the rows of the clause before.
    fn clause(&self, from: usize, end: usize, before: &[Step], read: &mut Read) -> Clauses {
        let (from, end) = self.trim(from, end);
        let place = (from, end, question_before(before).cloned(), before.is_empty());
        if let Some((_, known)) = self.clauses.borrow().iter().find(|(known, _)| *known == place) {
            return Rc::clone(known);
        }
        let found = Rc::new(if from < end { self.clauses_between(from, end, before, read) } else { Vec::new() });
        self.clauses.borrow_mut().push((place, Rc::clone(&found)));
        found
    }

    fn clauses_between(&self, from: usize, end: usize, before: &[Step], read: &mut Read) -> Vec<(Clause, bool)> {
        let mut found: Vec<(Clause, bool)> = Vec::new();
        for (stop, target) in self.targets(from, end) {
            let (from, stop) = if target.is_some() { self.trim(from, stop) } else { (from, stop) };
            let points_back = target.is_some() && self.points_back(from, stop);
            // "append the output" before "to b.txt" keeps what is in the file.
            let appends = points_back && self.words[from..stop].iter().any(|word| word.is("append") || word.is("add"))
                || from < stop && self.words[from].is("append");
            let target = target.map(|target| Target { append: target.append || appends, ..target });
            let operations = if points_back { vec![(Operation::Previous, false)] } else { self.operations(from, stop, before, read) };
            for (operation, follows) in operations {
                let has_effect = matches!(&operation, Operation::Row { name, .. } if super::rows::row(name).is_some_and(|row| row.needs.effect && row.name != "run"));
                // `delete` can be a value of a column: what asks for an effect is no question.
                let asks_effect =
                    from < stop && ["delete", "remove", "erase", "move", "rename", "copy"].iter().any(|verb| self.words[from].is(verb));
                // Without a verb beside what changes something it may belong to that.
                let is_adrift =
                    before.last().is_some_and(lower::has_effect) && (from >= stop || !lists::has("verbs", &self.words[from].lower));
                // A patch is changes, and no list of them.
                let is_patch = target.as_ref().is_some_and(|target| target.path.ends_with(".patch") || target.path.ends_with(".diff"));
                if is_patch && matches!(&operation, Operation::Row { name, .. } if name == "git_status") {
                    continue;
                }
                if is_adrift && matches!(operation, Operation::Query(_) | Operation::Previous)
                    || asks_effect && matches!(operation, Operation::Query(_))
                    || target.is_some() && (has_effect || matches!(operation, Operation::OnFiles { .. }))
                    || matches!(operation, Operation::Previous) && before.is_empty()
                {
                    continue;
                }
                let clause = (Clause { operation, target: target.clone() }, follows);
                if !found.contains(&clause) {
                    found.push(clause);
                }
            }
        }
        if found.is_empty() {
            found.extend(self.for_a_model(from, end).map(|clause| (clause, false)));
        }
        found
    }

    /// Where a clause ends before its target, with the target; the whole clause without one.
    fn targets(&self, from: usize, end: usize) -> Vec<(usize, Option<Target>)> {
        let mut found = vec![(end, None)];
        for at in from..end {
            let phrases = self.phrases_at(at);
            for (_, piece) in phrases.iter().filter(|(to, piece)| *to == end && piece.piece == "target") {
                let format = piece.choice("format");
                if let Some(path) =
                    piece.path("new").filter(|path| format.is_none_or(|format| path.to_lowercase().ends_with(&format!(".{format}"))))
                    && !self.facts.is_folder(&path)
                    && (piece.value != "in"
                        || !self.facts.exists(&path) && self.words[from..at].iter().any(|word| lists::has("making", &word.lower)))
                {
                    let target = (at, Some(Target { path, append: piece.value == "append" }));
                    if !found.contains(&target) {
                        found.push(target);
                    }
                }
            }
        }
        found
    }

    /// Whether nothing is said before a target but that the result is to be written.
    fn points_back(&self, from: usize, stop: usize) -> bool {
        self.words[from..stop].iter().all(|word| lists::words("pointing").iter().any(|known| word.is(known)))
    }

    pub(super) fn operations(&self, from: usize, end: usize, before: &[Step], read: &mut Read) -> Vec<(Operation, bool)> {
        // `write the number of lines of a.txt to b.txt`: what is written is the operation.
        let Some(first) = self.words.get(from) else { return Vec::new() };
        let opens = ["write", "save", "store", "put", "export", "append"].iter().any(|verb| first.is(verb));
        let starts: Vec<usize> = if opens && from + 1 < end { vec![from, from + 1] } else { vec![from] };
        let mut found = Vec::new();
        // A table that nothing names is the last to be thought of.
        for implied in [false, true] {
            for from in &starts {
                let whole = if implied { Vec::new() } else { self.whole(*from, end, read) };
                // A form of the whole clause says more than phrases put together.
                let asked = if whole.is_empty() { self.questions(*from, end, before, implied, *from == starts[0]) } else { Vec::new() };
                for operation in whole.into_iter().map(|operation| (operation, false)).chain(asked) {
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

    /// Rows and templates whose form is the whole clause.
    fn whole(&self, from: usize, end: usize, read: &mut Read) -> Vec<Operation> {
        let mut found: Vec<Operation> = Vec::new();
        let mut troubles: Vec<Trouble> = Vec::new();
        let scene = self.scene(end);
        let all = |forms: &[Vec<form::FormPart>]| -> Vec<SlotValues> {
            let ways = forms.iter().flat_map(|form| form::matches(form, scene, from));
            ways.filter(|(to, _)| *to == end).map(|(_, slots)| slots).collect()
        };
        for row in &ROWS.operations {
            for slots in all(&row.parsed) {
                match self.checked(row, slots) {
                    Ok(operation) if !found.contains(&operation) => found.push(operation),
                    Ok(_) => {}
                    // That a value of another kind of file isn't there says nothing to somebody who asked for something else.
                    Err(Trouble::WrongKind { .. }) if row.name.ends_with("_value") => {}
                    Err(trouble) => troubles.push(trouble),
                }
            }
        }
        if found.is_empty() {
            read.troubles.append(&mut troubles);
        }
        for template in self.templates {
            for slots in all(&template.parsed) {
                let missing = slots.iter().find_map(|(name, slot)| match slot {
                    SlotValue::Path(path) if name != "output" && !self.facts.exists(path) => Some(path.clone()),
                    _ => None,
                });
                match missing {
                    Some(path) => read.troubles.push(Trouble::Missing { nearest: self.facts.nearest(&path).map(str::to_owned), path }),
                    None => {
                        let operation = Operation::Row { name: template.name.clone(), slots };
                        if !found.iter().any(|known| matches!(known, Operation::Row { name, .. } if *name == template.name)) {
                            found.push(operation);
                        }
                    }
                }
            }
        }
        found
    }

    /// A clause that asks for what only a model can do: its words go to an agent, all of them.
    fn for_a_model(&self, from: usize, end: usize) -> Option<Clause> {
        let verb = &self.words[from];
        // With files and figures in it, a request could have been meant for the machine: it says so instead of guessing.
        // What changes something is never left to the words of an objective.
        if self.words[from + 1..end].iter().any(|word| lists::words("effects").iter().any(|verb| word.is(verb))) {
            return None;
        }
        let takes = lists::words("model_verbs").iter().any(|known| verb.is(known)) && end > from + 1;
        // `write it back` is nothing for a model.
        let points = self.words[from + 1..end].iter().all(|word| word.is("back") || lists::has("pointing", &word.lower));
        let is_file = |word: &Word| words::path_text(word).is_some() || word.quoted;
        let reports = verb.is("tell") || verb.is("write") && (points || self.words[from..end].iter().any(is_file));
        let text = as_written(&self.words[from..end], self.request).filter(|_| takes && !reports)?;
        Some(Clause { operation: Operation::Agent(text.to_owned()), target: None })
    }
}

/// The question that the next clause can go on from.
pub(super) fn question_before(before: &[Step]) -> Option<&Query> {
    let Some(Step::Do(Clause { operation: Operation::Query(_) | Operation::Previous, .. })) = before.last() else { return None };
    before.iter().rev().find_map(|step| match step {
        Step::Do(Clause { operation: Operation::Query(query), .. }) => Some(query),
        _ => None,
    })
}

/// Puts a clause behind the others: a question about the rows before takes their place, and a target goes to what it writes.
fn join(steps: &mut Vec<Step>, clause: Clause, follows: bool) {
    if let (Operation::Previous, Some(Step::Do(last))) = (&clause.operation, steps.last_mut())
        && last.target.is_none()
        && can_be_written(&last.operation)
    {
        last.target = clause.target;
        return;
    }
    // A list that was asked for is shown, whatever happens to its files then.
    let lists_on = !matches!(clause.operation, Operation::OnFiles { .. });
    if follows && lists_on && matches!(steps.last(), Some(Step::Do(Clause { operation: Operation::Query(_), target: None }))) {
        steps.pop();
    }
    steps.push(Step::Do(clause));
}

/// Whether what a clause writes elsewhere could be what one before it changed in its place.
fn changes_before(before: &[Step], clause: &Clause) -> bool {
    let Some((Step::Do(last), rest)) = before.split_last() else { return false };
    match clause.operation {
        Operation::Previous => last.target.is_some() || !can_be_written(&last.operation) || rest.iter().any(changes_text),
        _ => clause.target.is_some() && before.iter().any(changes_text),
    }
}

/// Whether the text of a file is changed in its place.
pub(super) fn changes_text(step: &Step) -> bool {
    let Step::Do(Clause { operation: Operation::Row { name, .. }, target: None }) = step else { return false };
    super::rows::row(name).is_some_and(|row| row.writes.is_some() || row.name == "replace")
}

fn can_be_written(operation: &Operation) -> bool {
    match operation {
        // A changed text can go to another file.
        Operation::Row { name, slots } => super::rows::row(name).is_none_or(|row| {
            let is_one = !slots.iter().any(|(_, slot)| matches!(slot, SlotValue::Paths(_)));
            !row.needs.effect || row.name == "run" || row.writes.is_some() && is_one
        }),
        Operation::Query(_) | Operation::Agent(_) => true,
        Operation::OnFiles { .. } | Operation::Previous => false,
    }
}
