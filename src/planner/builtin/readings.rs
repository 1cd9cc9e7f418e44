//! Readings: every way in which operations cover the words of a request, all of them. None means that it is not understood.

use super::{
    compose::{Piece, compose},
    entities::{self},
    facts::WorkspaceFacts,
    form::{self, is_article},
    lists,
    rows::{ROWS, Row},
    template::Template,
    tree::{Clause, Operation, Step, Target},
    words::Word,
};
use crate::planner::builtin::entities::Scene;
use crate::planner::builtin::slots::{SlotValue, SlotValues};

/// Most covers of one clause that are looked at.
const COVERS: usize = 4_000;
/// Most places at which a request is cut into clauses.
const CUTS: usize = 8;

/// What must hold of the workspace, and doesn't.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Trouble {
    Missing { path: String, nearest: Option<String> },
    There(String),
    NoRepository,
    NotThere { text: String, file: String },
    WrongKind { file: String, wanted: String },
}

/// What a request was read as.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub readings: Vec<Vec<Step>>,
    /// Why readings were refused.
    pub troubles: Vec<Trouble>,
}

pub(super) struct Reader<'a> {
    pub facts: &'a WorkspaceFacts,
    pub request: &'a str,
    pub words: &'a [Word],
    pub templates: &'a [Template],
}

impl<'a> Reader<'a> {
    pub(super) fn scene(&self, end: usize) -> Scene<'a> {
        Scene { words: &self.words[..end], facts: self.facts, request: self.request }
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
        read.readings = unique;
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
        if let Some(found) = self.conditional(from, end, before, read) {
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
            for (clause, follows) in self.clause(from, stop, before, read) {
                let mut after = before.clone();
                join(&mut after, clause, follows);
                self.steps(next, end, &mut after, read, cuts + 1);
            }
        }
    }

    /// Where the clause that begins at a place may end, and where the next one begins.
    fn cuts(&self, from: usize, end: usize) -> Vec<(usize, usize)> {
        const CONNECTORS: &[&str] = &[",", ";", ".", "and", "then", "&", "afterwards", "finally", "also"];
        let joins = |at: usize| {
            CONNECTORS.iter().any(|word| self.words[at].is(word))
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
                found.push((stop, at));
            } else {
                at += 1;
            }
        }
        found
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
    fn clause(&self, from: usize, end: usize, before: &[Step], read: &mut Read) -> Vec<(Clause, bool)> {
        let (from, end) = self.trim(from, end);
        if from >= end {
            return Vec::new();
        }
        let mut found: Vec<(Clause, bool)> = Vec::new();
        for (stop, target) in self.targets(from, end) {
            let (from, stop) = if target.is_some() { self.trim(from, stop) } else { (from, stop) };
            let points_back = target.is_some() && self.points_back(from, stop);
            // "append the output" before "to b.txt" keeps what is in the file.
            let appends = points_back && self.words[from..stop].iter().any(|word| word.is("append") || word.is("add"));
            let target = target.map(|target| Target { append: target.append || appends, ..target });
            let operations = if points_back { vec![(Operation::Previous, false)] } else { self.operations(from, stop, before, read) };
            for (operation, follows) in operations {
                let has_effect = matches!(&operation, Operation::Row { name, .. } if super::rows::row(name).is_some_and(|row| row.needs.effect && row.name != "run"));
                if target.is_some() && (has_effect || matches!(operation, Operation::OnFiles { .. }))
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
        for phrase in ROWS.phrases.iter().filter(|phrase| phrase.piece == "target") {
            for at in from..end {
                for form in &phrase.parsed {
                    for (_, slots) in form::matches(form, self.scene(end), at).into_iter().filter(|(to, _)| *to == end) {
                        if let Some(SlotValue::Path(path)) = slots
                            .first()
                            .map(|(_, slot)| slot)
                            .filter(|slot| !matches!(slot, SlotValue::Path(path) if self.facts.is_folder(path.as_str())))
                        {
                            let target = (at, Some(Target { path: path.clone(), append: phrase.value == "append" }));
                            if !found.contains(&target) {
                                found.push(target);
                            }
                        }
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
        let opens = ["write", "save", "store", "put", "export"].iter().any(|verb| self.words[from].is(verb));
        let starts: Vec<usize> = if opens && from + 1 < end { vec![from, from + 1] } else { vec![from] };
        let mut found = Vec::new();
        for from in starts {
            let whole = self.whole(from, end, read).into_iter().map(|operation| (operation, false));
            for operation in whole.chain(self.questions(from, end, before)) {
                if !found.contains(&operation) {
                    found.push(operation);
                }
            }
        }
        found
    }

    /// Rows and templates whose form is the whole clause.
    fn whole(&self, from: usize, end: usize, read: &mut Read) -> Vec<Operation> {
        let mut found: Vec<Operation> = Vec::new();
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
                    Err(trouble) => read.troubles.push(trouble),
                }
            }
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

    /// A row with its slots, if the workspace is as the row needs it.
    fn checked(&self, row: &Row, mut slots: SlotValues) -> Result<Operation, Trouble> {
        let facts = self.facts;
        if row.name == "rename" {
            stay_in_folder(&mut slots);
        }
        let path = |name: &String| match slots.iter().find(|(slot, _)| slot == name) {
            Some((_, SlotValue::Path(path) | SlotValue::Text { text: path, .. })) => Some(path.clone()),
            _ => None,
        };
        if row.needs.git && !facts.is_folder(".git") && !facts.exists(".git") {
            return Err(Trouble::NoRepository);
        }
        if let Some(missing) = row.needs.exists.iter().filter_map(path).find(|path| !facts.exists(path)) {
            return Err(Trouble::Missing { nearest: facts.nearest(&missing).map(str::to_owned), path: missing });
        }
        if let Some(there) = row.needs.absent.iter().filter_map(path).find(|path| facts.exists(path)) {
            return Err(Trouble::There(there));
        }
        if let Some((wanted, file)) =
            row.needs.only.clone().zip(path(&"file".to_owned())).filter(|(ending, file)| !file.ends_with(&format!(".{ending}")))
        {
            return Err(Trouble::WrongKind { file, wanted });
        }
        // A bare word that occurs only in another case could mean either.
        if let (Some(sharp), Some(file)) = (row.needs.sharp.first(), path(&"path".to_owned()).or_else(|| path(&"file".to_owned())))
            && let Some((_, SlotValue::Text { text, quoted })) = slots.iter().find(|(name, _)| name == sharp)
        {
            let whole = facts.text(&file).unwrap_or_default();
            let exact = whole.matches(text.as_str()).count();
            let any = whole.to_lowercase().matches(&text.to_lowercase()).count();
            if row.needs.effect && exact == 0 || !quoted && exact != any {
                return Err(Trouble::NotThere { text: text.clone(), file });
            }
        }
        Ok(Operation::Row { name: row.name.clone(), slots })
    }

    /// Questions made of phrases that cover the whole clause.
    fn questions(&self, from: usize, end: usize, before: &[Step]) -> Vec<(Operation, bool)> {
        let previous = before.iter().rev().find_map(|step| match step {
            Step::Do(Clause { operation: Operation::Query(query), .. }) => Some(query),
            _ => None,
        });
        let previous = previous
            .filter(|_| matches!(before.last(), Some(Step::Do(Clause { operation: Operation::Query(_) | Operation::Previous, .. }))));
        let mut found = Vec::new();
        for pieces in self.covers(from, end) {
            let alone = compose(pieces.clone(), self.facts, None);
            let behind = compose(pieces, self.facts, previous).into_iter().filter(|operation| !alone.contains(operation));
            let behind: Vec<_> = behind.map(|operation| (operation, true)).collect();
            for operation in alone.iter().map(|operation| (operation.clone(), false)).chain(behind) {
                if !found.contains(&operation) {
                    found.push(operation);
                }
            }
        }
        found
    }

    /// Every sequence of phrases from a place to the end.
    fn covers(&self, from: usize, end: usize) -> Vec<Vec<Piece>> {
        let scene = self.scene(end);
        let mut ways: Vec<Vec<(usize, Option<Piece>)>> = vec![Vec::new(); end];
        let mut reaches = vec![false; end + 1];
        reaches[end] = true;
        for at in (from..end).rev() {
            let mut here: Vec<(usize, Option<Piece>)> = Vec::new();
            if is_article(&self.words[at]) || is_filler(&self.words[at]) {
                here.push((at + 1, None));
            }
            for phrase in ROWS.phrases.iter().filter(|phrase| phrase.piece != "target") {
                for form in &phrase.parsed {
                    for (to, slots) in form::matches(form, scene, at).into_iter().filter(|(to, _)| *to > at) {
                        let way = (to, Some(Piece { piece: phrase.piece.as_str(), value: phrase.value.as_str(), slots }));
                        if !here.contains(&way) {
                            here.push(way);
                        }
                    }
                }
            }
            here.retain(|(to, _)| reaches[*to]);
            reaches[at] = !here.is_empty();
            ways[at] = here;
        }
        let mut found = Vec::new();
        walk(&ways, from, end, &mut Vec::new(), &mut found);
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
        let tells = verb.is("tell")
            || verb.is("write") && self.words[from..end].iter().any(|word| entities::path_text(word).is_some() || word.quoted);
        (takes && !tells).then(|| Clause {
            operation: Operation::Agent(self.request[self.words[from].from..self.words[end - 1].to].to_owned()),
            target: None,
        })
    }
}

fn walk(ways: &[Vec<(usize, Option<Piece>)>], at: usize, end: usize, so_far: &mut Vec<Piece>, found: &mut Vec<Vec<Piece>>) {
    if found.len() >= COVERS {
        return;
    }
    if at == end {
        found.push(so_far.clone());
        return;
    }
    for (to, piece) in &ways[at] {
        let length = so_far.len();
        so_far.extend(piece.clone());
        walk(ways, *to, end, so_far, found);
        so_far.truncate(length);
    }
}

/// A word between phrases that carries no meaning of its own.
fn is_filler(word: &Word) -> bool {
    ["are", "is", "there", "that", "do", "does", "i", "we", "me", ",", "of"].iter().any(|filler| word.is(filler))
}

/// A new name without a folder stays in the folder of the old one.
fn stay_in_folder(slots: &mut SlotValues) {
    let folder = slots.iter().find_map(|(name, slot)| match slot {
        SlotValue::Path(path) if name == "source" => path.rsplit_once('/').map(|(folder, _)| folder.to_owned()),
        _ => None,
    });
    for (name, slot) in slots {
        if name == "target" {
            let text = match slot {
                SlotValue::Path(text) | SlotValue::Text { text, .. } => text.clone(),
                _ => continue,
            };
            *slot = SlotValue::Path(match &folder {
                Some(folder) if !text.contains('/') => format!("{folder}/{text}"),
                _ => text,
            });
        }
    }
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
    if follows && matches!(steps.last(), Some(Step::Do(Clause { operation: Operation::Query(_), target: None }))) {
        steps.pop();
    }
    steps.push(Step::Do(clause));
}

fn can_be_written(operation: &Operation) -> bool {
    match operation {
        Operation::Row { name, .. } => super::rows::row(name).is_none_or(|row| !row.needs.effect || row.name == "run"),
        Operation::Query(_) | Operation::Agent(_) => true,
        Operation::OnFiles { .. } | Operation::Previous => false,
    }
}
