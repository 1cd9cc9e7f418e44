//! Which steps wait for which: only where one changes what another reads or changes, or where the request says "then" and something is changed.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::planner::builtin::{
    rows,
    slots::{SlotValue, SlotValues},
    tree::{Clause, Operation, Query, Source, Step},
    words::words,
};

/// Words that say in which order things are done.
const ORDERING: [&str; 7] = ["then", "after", "afterwards", "before", "finally", "next", "once"];

/// Files and folders, each with all that is in it; `.` is everything.
#[derive(Default)]
struct Touched {
    reads: Vec<String>,
    changes: Vec<String>,
}

/// A step with the nodes that end it, and the steps that it waits for.
struct OrderedStep {
    touched: Touched,
    changes: bool,
    ends: Vec<String>,
    behind: BTreeSet<usize>,
}

/// The steps so far.
pub(super) struct StepOrder {
    done: Vec<OrderedStep>,
    is_said: bool,
}

impl StepOrder {
    pub fn new(request: &str) -> Self {
        Self { done: Vec::new(), is_said: words(request).iter().any(|word| ORDERING.iter().any(|said| word.is(said))) }
    }

    /// The nodes that a step waits for.
    pub fn before(&self, step: &Step) -> Vec<String> {
        let behind = self.behind(step);
        // Not those that another one of them waits for already.
        let last = |at: &&usize| !behind.iter().any(|other| self.done[*other].behind.contains(at));
        behind.iter().filter(last).flat_map(|at| self.done[*at].ends.clone()).collect()
    }

    fn behind(&self, step: &Step) -> BTreeSet<usize> {
        let (touched, changes) = (Touched::by(step), has_effect(step));
        let meets = |done: &OrderedStep| self.is_said && (changes || done.changes) || done.touched.meets(&touched);
        let next: Vec<usize> = (0..self.done.len()).filter(|at| meets(&self.done[*at])).collect();
        next.iter().flat_map(|at| self.done[*at].behind.iter().chain([at])).copied().collect()
    }

    /// Puts a step behind the others, with its own nodes among all: what ends it is what nothing follows.
    pub fn push(&mut self, step: &Step, own: &[Value], edges: &[Value]) {
        let followed = |id: &Value| {
            own.iter().any(|node| node["depends_on"].as_array().is_some_and(|sources| sources.contains(id)))
                || edges.iter().any(|edge| edge["from"] == *id)
        };
        let ids = own.iter().map(|node| &node["id"]).filter(|id| !followed(id));
        let ends = ids.filter_map(Value::as_str).map(str::to_owned).collect();
        self.done.push(OrderedStep { touched: Touched::by(step), changes: has_effect(step), ends, behind: self.behind(step) });
    }
}

/// Lets those of a step's nodes that wait for earlier steps' results only wait for what the step waits for, too.
pub(super) fn wait(own: &mut [Value], before: &[String]) {
    let ids: Vec<Value> = own.iter().map(|node| node["id"].clone()).collect();
    for node in own {
        if let Some(sources) = node["depends_on"].as_array_mut().filter(|sources| !sources.iter().any(|source| ids.contains(source)))
            && !sources.is_empty()
        {
            sources.extend(before.iter().map(|id| json!(id)).filter(|id| !sources.contains(id)).collect::<Vec<_>>());
        }
    }
}

impl Touched {
    fn by(step: &Step) -> Self {
        let mut touched = Self::default();
        touched.add(step);
        touched
    }

    fn add(&mut self, step: &Step) {
        match step {
            Step::Do(Clause { operation, target }) => {
                self.operation(operation);
                self.changes.extend(target.iter().map(|target| target.path.clone()));
            }
            Step::If { condition, then, otherwise } => {
                self.operation(&condition.operation);
                then.iter().chain(otherwise).for_each(|step| self.add(step));
            }
            Step::Unknown(_) => self.changes.push(".".into()),
        }
    }

    fn operation(&mut self, operation: &Operation) {
        match operation {
            Operation::Query(query) => self.reads.extend(places(query)),
            Operation::OnFiles { query, target, .. } => {
                self.changes.extend(places(query));
                self.changes.extend(target.clone());
            }
            Operation::Row { name, slots } => self.row(name, slots),
            Operation::Agent(_) => self.reads.push(".".into()),
            Operation::Previous => {}
        }
    }

    fn row(&mut self, name: &str, slots: &SlotValues) {
        let row = rows::row(name);
        let tool = row.and_then(|row| row.tool.as_deref()).unwrap_or_default();
        let changes = row.is_none_or(|row| row.needs.effect);
        // What a template or a command touches, nobody knows.
        if row.is_none() || tool == "run_command" || tool == "git" {
            let all = if changes { &mut self.changes } else { &mut self.reads };
            return all.push(".".into());
        }
        for (slot, value) in slots {
            let paths = match value {
                SlotValue::Path(path) => vec![path.clone()],
                SlotValue::Text { text, .. } if ["path", "path2", "target"].contains(&slot.as_str()) => vec![text.clone()],
                SlotValue::Paths(paths) => paths.clone(),
                _ => continue,
            };
            let is_kept = slot == "source" && (tool == "copy_file" || row.is_some_and(|row| row.writes.is_some()));
            if changes && !is_kept { self.changes.extend(paths) } else { self.reads.extend(paths) }
        }
    }

    fn meets(&self, later: &Self) -> bool {
        let inside = |a: &str, b: &str| b == "." || a == b || a.strip_prefix(b).is_some_and(|rest| rest.starts_with('/'));
        let meet = |some: &[String], others: &[String]| {
            some.iter().any(|one| {
                others.iter().any(|other| {
                    let (one, other) = (one.trim_end_matches('/'), other.trim_end_matches('/'));
                    inside(one, other) || inside(other, one)
                })
            })
        };
        meet(&self.changes, &later.reads) || meet(&self.changes, &later.changes) || meet(&self.reads, &later.changes)
    }
}

/// Whether something outside changes.
pub(in crate::planner::builtin) fn has_effect(step: &Step) -> bool {
    match step {
        Step::Do(Clause { operation, target }) => {
            let changes = match operation {
                Operation::Row { name, .. } => rows::row(name).is_some_and(|row| row.needs.effect),
                Operation::OnFiles { .. } => true,
                Operation::Query(_) | Operation::Previous | Operation::Agent(_) => false,
            };
            changes || target.is_some()
        }
        Step::If { then, otherwise, .. } => then.iter().chain(otherwise).any(has_effect),
        Step::Unknown(_) => true,
    }
}

/// What a question is about.
fn places(query: &Query) -> Vec<String> {
    match &query.source {
        Source::Files(set) | Source::Matches { files: set, .. } => std::iter::once(&set.place).chain(&set.also).cloned().collect(),
        Source::Lines(file) | Source::Table(file) => vec![file.clone()],
        Source::Commits { .. } => vec![".git".into()],
    }
}
