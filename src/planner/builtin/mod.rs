//! The built-in planner is a small compiler: words with their places → entities → clauses → readings → a tree of typed operations → a plan.
//! It needs no model and gives the same plan for the same request and workspace. Every word that carries meaning is used by an operation; what
//! isn't understood, or can be read in two ways, becomes a question, and nothing is run.

mod checks;
mod compose;
mod conditions;
mod entities;
mod facts;
mod figures;
mod form;
mod lists;
mod lower;
mod names;
#[cfg(test)]
mod property;
mod questions;
mod readings;
mod reword;
mod rows;
mod sentence;
mod sets;
mod shipped;
mod slots;
mod template;
#[cfg(test)]
mod tests;
mod tree;
mod words;

use serde_json::{Value, json};

use std::cell::Cell;

use super::{PlanSink, Planned};
use crate::plan::{Catalog, NodeKind, Plan, TransformNode, dialect, native};
use lower::Lowering;
use readings::{Read, Reader, Trouble};
use sentence::sentence;
use tree::{Clause, FileSet, Operation, Query, Range, Source, Step, Want};
use words::{Word, as_written};

pub use facts::WorkspaceFacts;
pub use template::{Template, TemplateError};

/// How much is tried to understand a request, and as much again to find the part that isn't understood.
const EFFORT: usize = 20_000;
/// Most readings that are offered.
const OFFERED: usize = 6;

/// What a request leaves open: nothing is run before a person has settled it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenRequest {
    /// Parts that no operation uses, in the request's own words.
    pub not_understood: Vec<String>,
    /// What it can mean, each in one sentence, when that is more than one thing.
    pub readings: Vec<String>,
    /// Why what was understood can't be done here.
    pub problems: Vec<String>,
}

impl OpenRequest {
    /// What a plan of the built-in planner left open.
    pub fn of(plan: &Plan) -> Self {
        let list = |name: &str| {
            let list = plan.metadata.get("open").and_then(|open| open.get(name)).and_then(Value::as_array);
            list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        Self { not_understood: list("not_understood"), readings: list("readings"), problems: list("problems") }
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn to_value(&self) -> Value {
        json!({ "not_understood": self.not_understood, "readings": self.readings, "problems": self.problems })
    }

    /// Answers the plan's question about what is meant with one of the readings, from 1, if there is such a one.
    pub fn pick(&self, plan: &mut Plan, number: usize) -> bool {
        let picked = number.checked_sub(1).and_then(|at| self.readings.get(at));
        let question = plan.nodes.iter_mut().find(|node| matches!(node.kind, NodeKind::Approval(_)));
        let (Some(said), Some(question)) = (picked, question) else { return false };
        question.kind = NodeKind::Transform(TransformNode { value: json!({ "answer": lower::literal(said) }) });
        plan.metadata.remove("open");
        plan.metadata.insert("understood".into(), json!(said));
        true
    }

    /// What to say about it, a line each.
    pub fn messages(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.problems.clone();
        lines.extend(self.not_understood.iter().map(|part| format!("not understood: {}", slots::quoted(part))));
        if !self.readings.is_empty() {
            lines.push("this can be read in several ways:".into());
            lines.extend(self.readings.iter().enumerate().map(|(at, reading)| format!("  {}. {reading}", at + 1)));
        }
        lines
    }
}

/// Makes a plan of a request.
pub fn plan(request: &str, facts: WorkspaceFacts, catalog: &Catalog, templates: &[Template], sink: &mut dyn PlanSink) -> Planned {
    let words = words::words(request);
    let facts = facts.with_tables(&words);
    let templates: Vec<Template> = templates.iter().filter(|template| template.is_usable(catalog)).cloned().collect();
    let compiler = Compiler { facts: &facts, request, templates: &templates, effort: Cell::new(0) };
    let Compiled { steps, readings, open, mut remarks, facts: last } = compiler.compile(&words);
    let mut lowering = Lowering::new(last.as_ref().unwrap_or(&facts), catalog, &templates, request);
    lowering.steps(&steps);
    if let Some(question) = question(&open) {
        lowering.nodes.clear();
        lowering.edges.clear();
        let ask = lowering.add("ask", question);
        lowering.steps(&steps);
        if !readings.is_empty() {
            lowering.readings(&ask, &readings);
        }
    }
    let mut plan = Plan { goal: request.trim().to_owned(), ..Plan::default() };
    if plan.goal.is_empty() {
        plan.goal = "Find out what shall be done".to_owned();
    }
    for (at, node) in lowering.nodes.into_iter().enumerate() {
        match dialect::node_from_value(node, &format!("nodes[{at}]")) {
            Ok(node) => {
                sink.node(node.clone());
                plan.nodes.push(node);
            }
            Err(error) => remarks.push(error.to_string()),
        }
    }
    plan.edges = lowering.edges.into_iter().filter_map(|edge| native::edge_from_value(edge, "").ok()).collect();
    let sets: Vec<&FileSet> = steps.iter().flat_map(Step::sets).collect();
    let mut left_out: Vec<String> = sets.iter().flat_map(|set| facts.left_out(&set.place)).collect();
    let mut hidden: Vec<String> = sets
        .iter()
        .flat_map(|set| {
            let places: Vec<&String> = std::iter::once(&set.place).chain(&set.also).collect();
            facts.hidden(&places, &set.globs, (set.direct, set.folders))
        })
        .collect();
    left_out.dedup();
    hidden.dedup();
    if steps.iter().any(takes_equals) {
        remarks.push("rows that are equal to the last of these are taken, too".to_owned());
    }
    if !left_out.is_empty() {
        remarks.push(format!("left out, as git ignores them: {}", left_out.join(", ")));
    }
    if !hidden.is_empty() {
        remarks.push(format!("left out, as their names begin with a dot: {}", hidden.join(", ")));
    }
    if open.is_empty() {
        let said = sentence(&steps);
        sink.progress(&said);
        plan.metadata.insert("understood".into(), json!(said));
    } else {
        open.messages().iter().for_each(|line| sink.progress(line));
        plan.metadata.insert("open".into(), open.to_value());
    }
    Planned { plan, origin: "the built-in planner".to_owned(), remarks, ..Planned::default() }
}

/// The node that asks about what is open.
fn question(open: &OpenRequest) -> Option<Value> {
    let text = match (open.readings.is_empty(), open.problems.first(), open.not_understood.first()) {
        (false, ..) => "This can be read in several ways. Which one is meant?".to_owned(),
        (true, Some(problem), _) => format!("{problem}. What is to be done?"),
        (true, None, Some(_)) => return None,
        (true, None, None) => return None,
    };
    Some(json!({ "title": "ask what is meant", "ask": { "text": lower::literal(&text), "options": open.readings } }))
}

#[derive(Default)]
struct Compiled {
    steps: Vec<Step>,
    /// Each thing that it can mean with its sentence, when that is more than one thing.
    readings: Vec<(String, Vec<Step>)>,
    open: OpenRequest,
    remarks: Vec<String>,
    /// The workspace as the last steps find it, where steps before them change it.
    facts: Option<WorkspaceFacts>,
}

impl Compiled {
    fn choice(readings: &[Vec<Step>]) -> Self {
        let readings: Vec<_> = readings.iter().take(OFFERED).map(|steps| (sentence(steps), steps.clone())).collect();
        let open = OpenRequest { readings: readings.iter().map(|(said, _)| said.clone()).collect(), ..OpenRequest::default() };
        Self { readings, open, ..Self::default() }
    }
}

/// A part that isn't understood.
struct Unread {
    words: String,
    /// What is nearest to it and would be understood, for people.
    nearest: Option<String>,
}

struct Compiler<'a> {
    facts: &'a WorkspaceFacts,
    request: &'a str,
    templates: &'a [Template],
    effort: Cell<usize>,
}

impl Compiler<'_> {
    fn read(&self, words: &[Word]) -> Read {
        let mut read = Reader::new(self.facts, self.request, words, self.templates, &self.effort).read();
        // The reading that leaves the fewest words to a model says most, and one operation more than two.
        for cost in [free_words, <[Step]>::len] {
            if let Some(least) = read.readings.iter().map(|steps| cost(steps)).min() {
                read.readings.retain(|steps| cost(steps) == least);
            }
        }
        // What is said in the same words is the same.
        let mut said: Vec<String> = Vec::new();
        read.readings.retain(|steps| {
            let sentence = sentence(steps);
            let is_new = !said.contains(&sentence);
            said.extend(is_new.then_some(sentence));
            is_new
        });
        // All of the rows' columns are an answer for some of them, too.
        let wide = read.readings.iter().map(|steps| widest(steps)).collect::<Vec<_>>();
        if wide.len() > 1 && wide.iter().all(|steps| steps == &wide[0]) && read.readings.contains(&wide[0]) {
            read.readings = vec![wide[0].clone()];
        }
        read
    }

    fn fresh_read(&self, words: &[Word]) -> Read {
        self.effort.set(EFFORT);
        self.read(words)
    }

    fn compile(&self, words: &[Word]) -> Compiled {
        let read = self.fresh_read(words);
        self.effort.set(EFFORT);
        if let [steps] = &read.readings[..] {
            return Compiled { steps: steps.clone(), ..Compiled::default() };
        }
        if !read.readings.is_empty() {
            return Compiled::choice(&read.readings);
        }
        if let Some(compiled) = self.reworded(words) {
            return compiled;
        }
        // That it is another kind of file matters where nothing else is in the way.
        let is_kind = |trouble: &&Trouble| matches!(trouble, Trouble::WrongKind { .. });
        let only_kinds = read.troubles.iter().all(|trouble| is_kind(&trouble));
        let troubles = read.troubles.iter().filter(|trouble| only_kinds || !is_kind(trouble));
        let mut problems: Vec<String> = troubles.map(Trouble::message).chain(self.missing(words)).collect();
        problems.dedup();
        problems.truncate(3);
        if !problems.is_empty() {
            return Compiled { open: OpenRequest { problems, ..OpenRequest::default() }, ..Compiled::default() };
        }
        let (steps, parts) = self.parts(words);
        let remarks = parts.iter().filter_map(|part| part.nearest.clone()).collect();
        let not_understood = parts.into_iter().map(|part| part.words).collect();
        Compiled { steps, open: OpenRequest { not_understood, ..OpenRequest::default() }, remarks, ..Compiled::default() }
    }

    /// Files that are named and aren't there, but for those that are to be made.
    fn missing(&self, words: &[Word]) -> Vec<String> {
        let makes = |word: &Word| lists::words("making").iter().any(|verb| word.is(verb));
        let made = |at: usize| {
            at > 0 && ["to", "into", "as", "called", "named", ">"].iter().any(|word| words[at - 1].is(word))
                || words[..at].iter().any(makes)
        };
        let named = words.iter().enumerate().filter(|(at, word)| !word.quoted && !made(*at)).filter_map(|(_, word)| words::path_text(word));
        // A folder needs no slash to be one.
        let is_name = |word: &Word| word.text.starts_with(char::is_alphabetic) && !lists::has("function_words", &word.lower);
        let under = words.windows(2).filter(|pair| pair[0].is("under") && is_name(&pair[1])).map(|pair| pair[1].text.clone());
        let named = named.chain(under);
        let titled =
            words.iter().filter(|word| !word.quoted && lists::has("titled_files", &word.lower) && self.facts.titled(&word.lower).is_none());
        let named = named.chain(titled.map(|word| word.text.clone()));
        let gone = named.filter(|path| self.facts.located(path).is_none() && !self.facts.exists(path));
        gone.map(|path| Trouble::Missing { nearest: self.facts.nearest(&path).map(str::to_owned), path }.message()).collect()
    }

    /// The clauses of a request, those that aren't understood as questions, and what it is that isn't understood.
    fn parts(&self, words: &[Word]) -> (Vec<Step>, Vec<Unread>) {
        let said = |words: &[Word]| as_written(words, self.request).unwrap_or(self.request).trim().to_owned();
        let (mut steps, mut open, mut unknown): (Vec<Step>, Vec<Unread>, Option<(usize, usize)>) = Default::default();
        let mut from = 0;
        while from < words.len() {
            let reader = Reader::new(self.facts, self.request, words, self.templates, &self.effort);
            let cuts = reader.cuts(from, words.len());
            let understood = cuts[..1].iter().chain(cuts[1..].iter().rev()).find_map(|(stop, next)| {
                // What doesn't begin with a verb belongs to the clause before it, and so does all behind a part that isn't understood.
                let is_sentence = words[*stop..*next].iter().any(|word| [".", ";"].contains(&word.text.as_str()));
                let is_whole = *next >= words.len() || is_sentence || reader.begins(*next);
                let read = (reader.begins(from) && is_whole).then(|| self.read(&words[from..*stop]))?;
                let [only] = &read.readings[..] else { return None };
                Some((*next, only.clone()))
            });
            if let Some((next, found)) = understood {
                if let Some((start, end)) = unknown.take() {
                    open.push(self.extra(&words[start..end]));
                    steps.push(Step::Unknown(said(&words[start..end])));
                }
                steps.extend(found);
                from = next;
            } else {
                let (stop, next) = cuts.get(1).copied().unwrap_or(cuts[0]);
                unknown = Some((unknown.map_or(from, |(start, _)| start), stop));
                from = next;
            }
        }
        if let Some((start, end)) = unknown {
            open.push(self.extra(&words[start..end]));
            steps.push(Step::Unknown(said(&words[start..end])));
        }
        if open.is_empty() {
            (steps, open) = (vec![Step::Unknown(said(words))], vec![Unread { words: said(words), nearest: None }]);
        }
        (steps, open)
    }

    /// The shortest part of a clause without which the rest would be understood, or all of it, and the nearest that is.
    fn extra(&self, words: &[Word]) -> Unread {
        let said = |words: &[Word]| as_written(words, self.request).unwrap_or(self.request).trim().to_owned();
        for length in 1..=4.min(words.len().saturating_sub(2)) {
            for from in 0..=words.len() - length {
                let part = &words[from..from + length];
                let rest: Vec<Word> = words[..from].iter().chain(&words[from + length..]).cloned().collect();
                if !part.iter().any(|word| word.text.contains(char::is_alphanumeric)) {
                    continue;
                }
                let part = said(part);
                match &self.read(&rest).readings[..] {
                    [] => {}
                    // What changes something is not suggested by leaving words out.
                    [only] if !only.iter().any(lower::has_effect) => {
                        let nearest = format!("without {} it would be: {}", slots::quoted(&part), sentence(only));
                        return Unread { words: part, nearest: Some(nearest) };
                    }
                    _ => return Unread { words: part, nearest: None },
                }
            }
        }
        Unread { words: said(words), nearest: rows::nearest(words).map(|title| format!("the nearest that is understood: {title}")) }
    }
}

/// Whether more rows can come than were asked for, as they are equal in what orders them.
fn takes_equals(step: &Step) -> bool {
    let Step::Do(Clause { operation: Operation::Query(query), .. }) = step else { return false };
    matches!((&query.source, query.part), (Source::Table(_), Some(Range::Top(2..))))
}

/// The same with all columns of the rows that are listed.
fn widest(steps: &[Step]) -> Vec<Step> {
    let wide = |step: &Step| match step {
        Step::Do(Clause { operation: Operation::Query(query), target: None })
            if matches!((&query.want, &query.source), (Want::Rows(_), Source::Table(_))) =>
        {
            let operation = Operation::Query(Query { want: Want::Rows(Vec::new()), ..query.clone() });
            Step::Do(Clause { operation, target: None })
        }
        step => step.clone(),
    };
    steps.iter().map(wide).collect()
}

/// How many words are left to a model as they are.
fn free_words(steps: &[Step]) -> usize {
    let of = |clause: &Clause| match &clause.operation {
        Operation::Agent(text) => 1 + text.split_whitespace().count(),
        Operation::Row { slots, name } => slots
            .iter()
            .map(|(_, slot)| match slot {
                // A single bare word is a name; a template's words are all left to its agents.
                slots::SlotValue::Text { text, quoted: false } => {
                    text.split_whitespace().count().saturating_sub(usize::from(rows::row(name).is_some()))
                }
                _ => 0,
            })
            .sum(),
        _ => 0,
    };
    steps
        .iter()
        .map(|step| match step {
            Step::Do(clause) => of(clause),
            Step::If { then, otherwise, .. } => free_words(then) + free_words(otherwise),
            Step::Unknown(text) => text.split_whitespace().count(),
        })
        .sum()
}

impl Trouble {
    fn message(&self) -> String {
        match self {
            Self::Missing { path, nearest: Some(nearest) } => format!("there is no {path} here; did you mean {nearest}?"),
            Self::Missing { path, nearest: None } => format!("there is no {path} here"),
            Self::There(path) => format!("{path} is there already"),
            Self::NoRepository => "this folder is no git repository".to_owned(),
            Self::NotThere { text, file } => {
                format!("{} does not occur in {file} exactly so; put it in quotes as it is spelled there", slots::quoted(text))
            }
            Self::Key { text, file } => format!("{text} is the name of a value in {file}: say \"set {text} to …\", or put it in quotes"),
            Self::Short(path) => format!("did you mean {path}? what is changed has to be named with its whole path"),
            Self::Other(sentence) => sentence.clone(),
            Self::Unclear { text, found } => format!("{text} could be {}: say which", found.join(" or ")),
            Self::WrongKind { file, wanted } => format!("{file} is no {wanted}"),
        }
    }
}
