//! Conditions: `if …, …, otherwise …`, and what is asked in them.

use super::{
    entities::{self},
    lists,
    readings::{Read, Reader},
    rows,
    tree::{Clause, Condition, Operation, Step, Want},
    words::{self, Word},
};
use crate::planner::builtin::slots::{Relation, SlotValue};

impl Reader<'_> {
    /// `if …, …, otherwise …`, and `… if …`.
    pub(super) fn conditional(&self, from: usize, end: usize, read: &mut Read) -> Option<Vec<Step>> {
        let (from, end) = self.trim(from, end);
        let is = |at: usize, words: &[&str]| words.iter().any(|word| self.words[at].is(word));
        let opening = (from..end).find(|at| is(*at, &["if", "unless"]) || *at == from && is(*at, &["when"]))?;
        // `check if …` is a question and no condition.
        // `when was the last error?` is a question.
        if is(opening, &["when"]) && !(opening..end).any(|at| is(at, &[",", "then"])) {
            return None;
        }
        if opening > from && is(opening - 1, &["check", "me", "see", "know", "verify", "say"]) {
            return None;
        }
        let unless = is(opening, &["unless"]);
        let other = (opening..end).find(|at| is(*at, &["otherwise", "else"]));
        let stop = other.unwrap_or(end);
        let mut found = Vec::new();
        let mut add = |condition: (usize, usize), then: (usize, usize), found: &mut Vec<Step>| {
            let otherwise = match other {
                Some(at) if self.is_idle(at + 1, end) => vec![Vec::new()],
                Some(at) => {
                    let found = self.inner(at + 1, end, read);
                    if found.is_empty() { self.with_place(at + 1, end, then) } else { found }
                }
                None => vec![Vec::new()],
            };
            let conditions = self.condition(condition.0, condition.1, read);
            for then in self.inner(then.0, then.1, read) {
                for otherwise in &otherwise {
                    for condition in &conditions {
                        let condition = Condition { not: condition.not != unless, ..condition.clone() };
                        let step = Step::If { condition, then: then.clone(), otherwise: otherwise.clone() };
                        if !found.contains(&step) {
                            found.push(step);
                        }
                    }
                }
            }
        };
        if opening == from {
            for cut in (opening + 1..stop).filter(|at| is(*at, &[",", "then"])) {
                add((opening + 1, cut), (cut + 1, stop), &mut found);
            }
            // Nothing but the verb may divide them.
            if found.is_empty() {
                for cut in (opening + 2..stop).filter(|at| !self.words[*at].quoted && lists::has("effects", &self.words[*at].lower)) {
                    add((opening + 1, cut), (cut, stop), &mut found);
                }
            }
        } else if other.is_none() && self.is_there(opening + 1, end, unless) {
            for then in self.inner(from, opening, read) {
                found.extend(missing_line(&then).map(|condition| Step::If { condition, then, otherwise: Vec::new() }));
            }
        } else {
            add((opening + 1, stop), (from, opening), &mut found);
            if found.is_empty() {
                return None;
            }
            // `write a.txt and delete b.txt if …`: of both, or of the last.
            found.retain(|step| matches!(step, Step::If { then, .. } if then.len() == 1));
        }
        Some(found)
    }

    /// `…, otherwise write "good"`: into the only file that is written to before.
    fn with_place(&self, from: usize, end: usize, then: (usize, usize)) -> Vec<Vec<Step>> {
        let (from, end) = self.trim(from, end);
        let writes =
            from + 2 == end && ["write", "append", "add"].iter().any(|verb| self.words[from].is(verb)) && self.words[from + 1].quoted;
        let mut named = self.words[then.0..then.1].iter().filter(|word| !word.quoted && words::path_text(word).is_some());
        let (Some(file), None, true) = (named.next(), named.next(), writes) else { return Vec::new() };
        let words = [&self.words[from..end], &[Word::made("to"), file.clone()]].concat();
        self.of(&words).read().readings
    }

    /// `if it is not there yet`, `unless it is already there`
    fn is_there(&self, from: usize, end: usize, unless: bool) -> bool {
        let (from, end) = self.trim(from, end);
        let said: Vec<&str> = self.words[from..end].iter().map(|word| word.lower.as_str()).collect();
        lists::has(if unless { "there" } else { "not_there" }, &said.join(" "))
    }

    fn is_idle(&self, from: usize, end: usize) -> bool {
        let (from, end) = self.trim(from, end);
        let said: Vec<&str> = self.words[from..end].iter().map(|word| word.lower.as_str()).collect();
        lists::has("idle", &said.join(" "))
    }

    /// What is to be done in a branch: nothing of it is joined to what came before the condition.
    fn inner(&self, from: usize, end: usize, read: &mut Read) -> Vec<Vec<Step>> {
        let (from, end) = self.trim(from, end);
        let mut inner = Read::default();
        self.steps(from, end, &mut Vec::new(), &mut inner, 0);
        read.troubles.append(&mut inner.troubles);
        inner.readings
    }

    /// A yes-or-no question, or a number compared with another.
    fn condition(&self, from: usize, end: usize, read: &mut Read) -> Vec<Condition> {
        let (from, end) = self.trim(from, end);
        if from >= end {
            return Vec::new();
        }
        let is = |at: usize, words: &[&str]| words.iter().any(|word| self.words[at].is(word));
        let truth = |operation: &Operation| match operation {
            Operation::Row { name, .. } => rows::row(name).is_some_and(|row| row.needs.truth),
            Operation::Query(query) => query.want == Want::Exists,
            _ => false,
        };
        let plain = self.operations(from, end, &[], read).into_iter().map(|(operation, _)| operation).filter(truth);
        let mut found: Vec<Condition> = plain.map(|operation| Condition { operation, test: None, not: false }).collect();
        // `a.txt is not empty`, where nothing else could be denied.
        let not = (from + 1..end).find(|at| self.words[*at].is("not")).filter(|_| found.is_empty());
        let denies =
            |not: &usize| is(not - 1, &["is", "are", "does", "do"]) && !(from..*not).any(|at| is(at, &["that", "there", "which", "any"]));
        if let Some(not) = not.filter(denies) {
            let words = [&self.words[from..not], &self.words[not + 1..end]].concat();
            let reader = self.of(&words);
            let plain = reader.operations(0, words.len(), &[], read).into_iter().map(|(operation, _)| operation).filter(truth);
            found.extend(plain.map(|operation| Condition { operation, test: None, not: true }));
        }
        for at in from..end {
            for (stop, slot) in entities::read("cmp", self.scene(end), at) {
                let SlotValue::Compare(
                    comparison @ (Relation::Equal
                    | Relation::NotEqual
                    | Relation::Less
                    | Relation::AtMost
                    | Relation::Greater
                    | Relation::AtLeast),
                ) = slot
                else {
                    continue;
                };
                let Some(number) = self.words.get(stop).filter(|_| stop < end).and_then(super::figures::number) else { continue };
                for operation in self.counted(from, at, stop + 1, end) {
                    let condition = Condition { operation, test: Some((comparison, number)), not: false };
                    if !found.contains(&condition) {
                        found.push(condition);
                    }
                }
            }
        }
        found
    }

    /// The number that `app.log has … errors` or `there are … rows in a.csv` speaks of, with the comparison taken out.
    fn counted(&self, from: usize, at: usize, behind: usize, end: usize) -> Vec<Operation> {
        let skip = |from: usize, end: usize| {
            let mut from = from;
            while from < end && ["there", "are", "is"].iter().any(|known| self.words[from].is(known)) {
                from += 1;
            }
            self.words[from..end].to_vec()
        };
        let left = skip(from, at);
        let number_of = ["how", "many"].map(Word::made);
        let mut said = Vec::new();
        if behind < end {
            // `app.log has more than 5 errors` is `how many errors app.log has`.
            said.push([number_of.to_vec(), self.words[behind..end].to_vec(), left.clone()].concat());
            said.push(
                [
                    number_of.to_vec(),
                    self.words[behind..end].to_vec(),
                    vec![Word::made("in")],
                    left.iter().filter(|word| !["has", "have", "contains"].iter().any(|verb| word.is(verb))).cloned().collect(),
                ]
                .concat(),
            );
        } else {
            said.push(left);
        }
        let mut found: Vec<Operation> = Vec::new();
        for words in said {
            let reader = self.of(&words);
            let mut read = Read::default();
            for (operation, _) in reader.operations(0, words.len(), &[], &mut read) {
                let number = match &operation {
                    Operation::Query(query) => query.is_scalar() && query.want != Want::Exists,
                    Operation::Row { name, .. } => name.starts_with("count_") || name.starts_with("git_count"),
                    _ => false,
                };
                if number && !found.contains(&operation) {
                    found.push(operation);
                }
            }
        }
        found
    }
}

/// Whether what is to be appended is no line of the file yet.
fn missing_line(then: &[Step]) -> Option<Condition> {
    let [Step::Do(Clause { operation: Operation::Row { name, slots }, .. })] = then else { return None };
    let of = |slot: &str| slots.iter().find(|(name, _)| name == slot).map(|(_, value)| value.clone());
    let (text, file) = of("content")
        .zip(of("path"))
        .filter(|(_, file)| ["append_text", "insert_top"].contains(&name.as_str()) && matches!(file, SlotValue::Path(_)))?;
    let operation = Operation::Row { name: "has_line".into(), slots: vec![("file".into(), file), ("text".into(), text)] };
    Some(Condition { operation, test: None, not: true })
}
