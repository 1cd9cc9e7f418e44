//! References as other systems write them: `${a.output}`, `{a.result}`, `$1`, `#E2`, `<node-0>`, `@1.x`. Here they are plain text, so what
//! they mean would be lost. Where the plan has one thing that is meant, its reference is offered, with the order that it needs.

use super::check::{FindingPlace, PlanCheck};
use super::codes::Code;
use super::finding::{Fix, FixKind};
use super::positions::{self, PositionInText};
use super::structure::position_in;
use super::wording::legible;
use crate::plan::dialect::names::NAMES;
use crate::plan::dialect::plain;
use crate::plan::edit::Edit;
use crate::plan::names::is_id_byte;
use crate::plan::reference::fields;
use crate::plan::{Node, NodeText, NodeTextMut, Plan, Risk, TextPlace, each_text_mut, is_legal_id, node_texts, node_texts_mut};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::Range;

/// How many of a node are told.
const MOST_IN_NODE: usize = 50;

#[derive(Clone, Copy, PartialEq)]
enum Spelling {
    /// `${a}`, `{a}`
    Braces,
    /// `$a`, `$1`
    Dollar,
    /// `#E1`
    Hash,
    /// `@1.x`
    At,
    /// `<node-0>`, `<result of step 1>`, `<GENERATED>-0`
    Angle,
}

/// A spelling in a text that may be a reference.
struct ForeignReference {
    span: Range<usize>,
    spelling: Spelling,
    /// What names the node.
    name: String,
    /// Fields of its result, each with the point before it.
    fields: String,
    /// It says itself that it is a result.
    is_result: bool,
}

/// One of them in a node, with all that tells whether it is one.
struct Found<'a> {
    at: usize,
    place: TextPlace<'a>,
    reference: ForeignReference,
    written: String,
    is_alone: bool,
    is_quoted: bool,
}

/// What a reference means.
struct Meant {
    /// The node, or nothing for an input.
    source: Option<usize>,
    right: String,
    is_sure: bool,
    /// By its id, or a number in that.
    is_named: bool,
}

pub(super) fn check(check: &mut PlanCheck) {
    let names = NodeNames::of(check.plan);
    let found = found(check.plan, &names);
    if found.is_empty() {
        return;
    }
    let counting = positions::counting(check).texts;
    for one in &found {
        report(check, &names, counting, one);
    }
}

/// Every spelling in the texts of a plan's nodes that may be a reference.
fn found<'a>(plan: &'a Plan, names: &NodeNames) -> Vec<Found<'a>> {
    let mut found = Vec::new();
    for (at, node) in plan.nodes.iter().enumerate() {
        let mut seen: Vec<String> = Vec::new();
        node_texts(node, |place, text| {
            let mut text_of = |text: &str| {
                for reference in names.whole(text, at).map_or_else(|| foreign(text), |reference| vec![reference]) {
                    let written = text[reference.span.clone()].to_owned();
                    if place.key.is_some_and(|key| NAMES.foreign.of_their_own.contains(&plain(key).as_str()))
                        || seen.len() > MOST_IN_NODE
                        || seen.contains(&written)
                    {
                        continue;
                    }
                    seen.push(written.clone());
                    let is_alone = text.trim() == written;
                    let is_quoted = text[..reference.span.start].matches('`').count() % 2 == 1;
                    found.push(Found { at, place, reference, written, is_alone, is_quoted });
                }
            };
            match text {
                NodeText::Template(text) => text_of(text),
                NodeText::Json(value) => each_text(value, &mut text_of),
                NodeText::Code(_) | NodeText::Expression(_) | NodeText::Condition(_) | NodeText::ResultCondition(_) => {}
            }
        });
    }
    found
}

/// The names by position in spellings of other systems that are references whatever the order is.
pub(super) fn positional(check: &PlanCheck) -> Vec<PositionInText> {
    let names = NodeNames::of(check.plan);
    let lost = |one: &Found| {
        let Found { reference, is_alone, .. } = one;
        let says = reference.is_result || *is_alone;
        let is_own = (runs_programs(check, one.at) || one.is_quoted) && !reference.is_result;
        let is_one = match reference.spelling {
            Spelling::Braces => says || !reference.is_number(),
            Spelling::Dollar => says || in_order(check, one),
            Spelling::Hash => *is_alone,
            Spelling::At => says,
            Spelling::Angle => true,
        };
        let is_known = names.find(check, &reference.name).is_some() || check.around.inputs.contains_key(&reference.name);
        let number = position_in(&reference.name).filter(|_| is_one && !is_own && !is_known)?;
        Some(PositionInText { number, reader: one.at, usual: Some(reference.counts_from()) })
    };
    found(check.plan, &names).iter().filter_map(lost).collect()
}

/// Whether the order says the same number, or led to that node by it.
fn in_order(check: &PlanCheck, found: &Found) -> bool {
    let number = position_in(&found.reference.name);
    check.plan.nodes[found.at].depends_on.iter().any(|id| position_in(id) == number)
}

fn each_text(value: &Value, visit: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => visit(text),
        Value::Array(list) => list.iter().for_each(|value| each_text(value, visit)),
        Value::Object(map) => map.values().for_each(|value| each_text(value, visit)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Names of nodes that differ from their ids in spelling alone, those of their results, and the numbers in their ids; nothing for what
/// two nodes share.
struct NodeNames {
    plain: BTreeMap<String, Option<usize>>,
    /// What nodes call their results, as they write it.
    results: BTreeMap<String, Option<usize>>,
    numbers: BTreeMap<usize, Option<usize>>,
}

impl NodeNames {
    fn of(plan: &Plan) -> Self {
        fn add<K: Ord>(map: &mut BTreeMap<K, Option<usize>>, key: K, at: usize) {
            map.entry(key).and_modify(|there| *there = there.filter(|there| *there == at)).or_insert(Some(at));
        }
        let mut names = Self { plain: BTreeMap::new(), results: BTreeMap::new(), numbers: BTreeMap::new() };
        for (at, node) in plan.nodes.iter().enumerate() {
            add(&mut names.plain, plain(&node.id), at);
            for value in NAMES.foreign.named_result.iter().filter_map(|field| node.ext.get(*field)) {
                each_text(value, &mut |name| {
                    add(&mut names.plain, plain(name.trim_matches(|c: char| !c.is_alphanumeric())), at);
                    // A word by itself may be anything.
                    if name.contains(|c: char| c.is_ascii_digit() || ['$', '<', '_'].contains(&c)) && !name.contains(' ') {
                        add(&mut names.results, name.to_owned(), at);
                    }
                });
            }
            if let Some(number) = position_in(&node.id) {
                add(&mut names.numbers, number, at);
            }
        }
        names
    }

    /// A text that is as a whole what one other node calls its result.
    fn whole(&self, text: &str, at: usize) -> Option<ForeignReference> {
        self.results.get(text).copied().flatten().filter(|source| *source != at)?;
        let name = text.to_owned();
        Some(ForeignReference { span: 0..text.len(), spelling: Spelling::Braces, name, fields: String::new(), is_result: true })
    }

    /// The node with this name, or with this number in its id.
    fn find(&self, check: &PlanCheck, name: &str) -> Option<usize> {
        let by_number = || self.numbers.get(&position_in(name)?).copied().flatten();
        let named = check.graph.position(name).or_else(|| self.results.get(name).copied().flatten());
        named.or_else(|| self.plain.get(&plain(name)).copied().flatten()).or_else(by_number)
    }
}

impl ForeignReference {
    /// `<node-0>` and `<GENERATED>-0` count from 0 where they come from, all others from 1.
    fn counts_from(&self) -> usize {
        let is_node = self.is_number() || plain(&self.name).starts_with("node");
        usize::from(!(is_node && self.spelling == Spelling::Angle))
    }

    fn is_number(&self) -> bool {
        self.name.bytes().all(|byte| byte.is_ascii_digit())
    }
}

fn report(check: &mut PlanCheck, names: &NodeNames, counting: [(usize, bool); 2], found: &Found) {
    let reference = &found.reference;
    let meant = meant(check, names, counting[reference.counts_from()], reference);
    if !is_reference(check, found, meant.as_ref()) {
        return;
    }
    let field = found.place.path();
    let place = FindingPlace::Node(found.at);
    let written = legible(&found.written);
    let Some(meant) = meant else {
        let words = "looks like a result in another system's words, but no node is meant by it, so it stays plain text";
        return check.find(Code::ForeignReference, place, &field, format!("`{written}` {words}"), None);
    };
    let order = positions::counting(check).order;
    let fix = if check.may_suggest() { fix(check, found, &meant, order) } else { None };
    let message = format!("`{written}` is plain text here: what it seems to mean is `{}`", meant.right);
    check.find(Code::ForeignReference, place, &field, message, fix);
}

fn meant(check: &PlanCheck, names: &NodeNames, (base, is_sure): (usize, bool), reference: &ForeignReference) -> Option<Meant> {
    let result = |at: usize, is_sure: bool, is_named: bool| {
        let id = check.graph.id(at);
        is_legal_id(id).then(|| Meant { source: Some(at), right: format!("{{{{{id}.result{}}}}}", reference.fields), is_sure, is_named })
    };
    if let Some(at) = names.find(check, &reference.name) {
        return result(at, true, true);
    }
    if check.around.inputs.contains_key(&reference.name) {
        let right = format!("{{{{{}{}}}}}", reference.name, reference.fields);
        return Some(Meant { source: None, right, is_sure: reference.is_result, is_named: true });
    }
    let at = position_in(&reference.name)?.checked_sub(base).filter(|at| *at < check.plan.nodes.len())?;
    result(at, is_sure, false)
}

/// Whether this is no ordinary text: a price, a colour, a variable of a shell or of code, a tag.
fn is_reference(check: &PlanCheck, found: &Found, meant: Option<&Meant>) -> bool {
    let Found { reference, is_alone, at, .. } = found;
    let says = reference.is_result || *is_alone;
    if (runs_programs(check, *at) || found.is_quoted) && !reference.is_result {
        return false;
    }
    let is_position = position_in(&reference.name).is_some();
    let Some(meant) = meant else {
        return reference.is_result && reference.spelling != Spelling::At || reference.spelling == Spelling::Angle && is_position;
    };
    if meant.source == Some(*at) {
        return false;
    }
    let is_named = meant.source.is_none() || check.graph.position(&reference.name).is_some();
    let after = meant.source.is_some_and(|source| check.graph.predecessors(*at).any(|other| other == source));
    let follows = meant.is_named && after;
    match reference.spelling {
        Spelling::Braces => says || !reference.is_number(),
        Spelling::Dollar => says || is_named || after || !is_position || in_order(check, found),
        Spelling::Hash => *is_alone || is_named || follows,
        Spelling::At => says || follows && is_position || is_named && !reference.fields.is_empty(),
        Spelling::Angle => says || is_position,
    }
}

/// Whether a node runs programs, which have words of their own.
fn runs_programs(check: &PlanCheck, at: usize) -> bool {
    let tool = check.plan.nodes[at].kind.tool().and_then(|work| check.catalog.tool(&work.tool));
    tool.is_some_and(|tool| tool.risk >= Risk::Execute)
}

/// The reference in the place of what is written, with a dependency where there is no order yet.
fn fix(check: &PlanCheck, found: &Found, meant: &Meant, order: (usize, FixKind)) -> Option<Fix> {
    let at = found.at;
    if runs_programs(check, at) {
        return None;
    }
    let node = rewritten(&check.plan.nodes[at], &found.written, &meant.right);
    let mut edits = vec![Edit::SpliceNodes { at, remove: 1, insert: vec![node] }];
    let mut title = format!("read `{}`", meant.right);
    let is_after = meant.source.is_none_or(|source| check.graph.descendants(source)[at]);
    if let Some(source) = meant.source.filter(|_| !is_after) {
        let (node, on) = (check.graph.id(at).clone(), check.graph.id(source).clone());
        if check.graph.position(&node) != Some(at) || check.plan.dialect.walks() || check.graph.closes(source, at).is_some() {
            return None;
        }
        title = format!("{title}, and make `{node}` depend on `{on}`");
        edits.push(Edit::AddDependency { node, on });
    }
    let reference = &found.reference;
    // What a position means is sure or not, whatever the order is by now; the fixes of others may add to that.
    let follows = is_after || !meant.is_named || meant.source.is_some_and(|source| will_follow(check, at, source, order));
    let writes =
        check.plan.nodes[at].kind.tool().and_then(|work| check.catalog.tool(&work.tool)).is_some_and(|tool| tool.risk >= Risk::Write);
    let is_whole = reference.is_result || found.is_alone;
    let is_clear = match reference.spelling {
        Spelling::Braces | Spelling::Angle => is_whole || follows && meant.source.is_some() && !writes,
        Spelling::Dollar | Spelling::Hash | Spelling::At => is_whole,
    };
    let is_exact = reference.is_result && position_in(&reference.name).is_none_or(|_| check.graph.position(&reference.name).is_some());
    let is_safe = meant.is_sure && is_clear && !found.is_quoted && (follows || is_exact);
    Some(Fix::new(if is_safe { FixKind::Safe } else { FixKind::Guess }, title, Edit::batch(edits)))
}

/// Whether a node will come after another one by its other safe fixes: it reads that, or what comes after it, in words of its own, or its
/// order names one of these otherwise than by its id.
fn will_follow(check: &PlanCheck, at: usize, source: usize, (base, kind): (usize, FixKind)) -> bool {
    let node = &check.plan.nodes[at];
    let mut paths = Vec::new();
    node_texts(node, |_, text| paths.extend(text.paths(check)));
    let read = paths.iter().filter_map(|path| check.graph.position(path.node()?));
    let named = check.plan.all_edges().filter(|edge| edge.to == node.id).filter_map(|edge| {
        let mut alike = (0..check.graph.len()).filter(|other| plain(check.graph.id(*other)) == plain(&edge.from));
        let by_name = alike.next().filter(|_| alike.next().is_none());
        let by_number = || position_in(&edge.from)?.checked_sub(base).filter(|at| kind == FixKind::Safe && *at < check.graph.len());
        check.graph.position(&edge.from).or(by_name).or_else(by_number)
    });
    let after = check.graph.descendants(source);
    read.chain(named).any(|other| other == source || after[other])
}

fn rewritten(node: &Node, written: &str, right: &str) -> Node {
    let mut node = node.clone();
    node_texts_mut(&mut node, |place, text| match text {
        _ if place.key.is_some_and(|key| NAMES.foreign.of_their_own.contains(&plain(key).as_str())) => {}
        NodeTextMut::Template(text) => replace(text, written, right),
        NodeTextMut::Json(value) => each_text_mut(value, &mut |text| replace(text, written, right)),
        NodeTextMut::Code(_) | NodeTextMut::Expression(_) | NodeTextMut::Condition(_) | NodeTextMut::ResultCondition(_) => {}
    });
    node
}

fn replace(text: &mut String, written: &str, right: &str) {
    if text == written {
        right.clone_into(text);
        return;
    }
    for reference in foreign(text).into_iter().rev().filter(|reference| &text[reference.span.clone()] == written).collect::<Vec<_>>() {
        text.replace_range(reference.span, right);
    }
}

/// Every spelling in a text that may be a reference, in order.
fn foreign(text: &str) -> Vec<ForeignReference> {
    let mut found = Vec::new();
    let mut at = 0;
    // Behind the last `}}` nothing closes.
    let last = text.rfind("}}").unwrap_or(0);
    while let Some(next) = text[at..].find(['$', '{', '#', '@', '<']) {
        at += next;
        let before = text[..at].chars().next_back();
        if text[at..].starts_with("{{") {
            at += if at < last { text[at..].find("}}").map_or(2, |end| end + 2) } else { 2 };
            continue;
        }
        match spelled(&text[at..], before) {
            Some((length, reference)) => {
                if let Some(reference) = reference {
                    found.push(ForeignReference { span: at..at + length, ..reference });
                }
                at += length;
            }
            None => at += 1,
        }
    }
    found
}

/// What a text begins with, and its length; no reference where it is one of ours.
fn spelled(rest: &str, before: Option<char>) -> Option<(usize, Option<ForeignReference>)> {
    let joins = before.is_some_and(|c| c.is_alphanumeric() || ['$', '\\', '&'].contains(&c));
    let until = |open: usize, close: char| {
        let end = rest[open..].char_indices().take(80).find(|(_, c)| *c == close || ['{', '<', '\n'].contains(c));
        Some(&rest[open..open + end.filter(|(_, c)| *c == close)?.0])
    };
    if rest.starts_with("$OUTPUT[") {
        return Some(("$OUTPUT[".len(), None));
    }
    if joins {
        return None;
    }
    if let Some(open) = ["${", "{"].iter().find(|open| rest.starts_with(**open)).map(|open| open.len()) {
        let inner = until(open, '}')?;
        return Some((open + inner.len() + 1, path(inner.trim(), Spelling::Braces)));
    }
    if rest.starts_with('<') {
        let inner = until(1, '>')?;
        let mut length = inner.len() + 2;
        if plain(inner) == "generated" {
            let digits = rest[length..].strip_prefix('-')?.bytes().take_while(u8::is_ascii_digit).count();
            let name = rest.get(length + 1..length + 1 + digits).filter(|name| !name.is_empty())?;
            return Some((length + 1 + digits, path(name, Spelling::Angle)));
        }
        let mut reference = in_words(inner)?;
        if let Some(behind) =
            path(&format!("{}{}", reference.name, fields(&rest[length..])), Spelling::Angle).filter(|_| reference.fields.is_empty())
        {
            length += fields(&rest[length..]).len();
            reference = ForeignReference { is_result: reference.is_result || behind.is_result, ..behind };
        }
        return Some((length, Some(reference)));
    }
    let spelling = match rest.as_bytes().first()? {
        b'$' => Spelling::Dollar,
        b'#' => Spelling::Hash,
        _ => Spelling::At,
    };
    let length = rest[1..].bytes().take_while(|byte| is_id_byte(*byte) || *byte == b'.').count();
    let name = rest[1..1 + length].trim_end_matches(['.', '-']);
    let mut reference = path(name, spelling)?;
    let behind = &rest[1 + name.len()..];
    // `$name.field$`
    let closing = usize::from(spelling == Spelling::Dollar && behind.starts_with('$') && !reference.is_number());
    reference.is_result |= closing > 0;
    // A price, or a colour.
    let has_digit = |text: Option<&str>| text.is_some_and(|text| text.starts_with(|c: char| c.is_ascii_digit()));
    let goes_on = has_digit(reference.fields.strip_prefix('.')) || behind.starts_with('%') || has_digit(behind.strip_prefix(','));
    let is_figure = reference.is_number() && goes_on;
    let is_other = spelling == Spelling::Hash
        && (!reference.fields.is_empty() || position_in(&reference.name).is_none() || reference.is_number() || is_colour(&reference.name));
    (!is_figure && !is_other).then_some((1 + name.len() + closing, Some(reference)))
}

fn is_colour(name: &str) -> bool {
    [3, 4, 6, 8].contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A name with its fields, without the words that other systems put around them.
fn path(text: &str, spelling: Spelling) -> Option<ForeignReference> {
    let mut parts: Vec<&str> = text.split('.').collect();
    if !parts.iter().all(|part| !part.is_empty() && part.bytes().all(is_id_byte)) {
        return None;
    }
    let mut is_result = false;
    while parts.len() > 1 && NAMES.foreign.before.contains(&plain(parts[0]).as_str()) {
        parts.remove(0);
        is_result = true;
    }
    if parts.get(1).is_some_and(|part| NAMES.foreign.behind.contains(&plain(part).as_str())) {
        parts.remove(1);
        is_result = true;
    }
    let fields = parts[1..].iter().map(|part| format!(".{part}")).collect();
    Some(ForeignReference { span: 0..0, spelling, name: parts[0].to_owned(), fields, is_result })
}

/// `node-0`, `step 1`, `result of step 1`, `step_1.output.url`.
fn in_words(text: &str) -> Option<ForeignReference> {
    let words: Vec<&str> = text.split_whitespace().filter(|word| !["the", "of", "from"].contains(&plain(word).as_str())).collect();
    let is_behind = |word: &&&str| NAMES.foreign.behind.contains(&plain(word).as_str());
    let (first, last) = (words.first().filter(is_behind), words.last().filter(is_behind));
    let inner = &words[usize::from(first.is_some())..words.len().saturating_sub(usize::from(first.is_none() && last.is_some()))];
    let name = inner.join("_");
    let reference = path(&name, Spelling::Angle)?;
    Some(ForeignReference { is_result: reference.is_result || first.is_some() || last.is_some(), ..reference })
}
