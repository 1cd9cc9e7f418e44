//! What is said where nothing reads it, whatever its field is called: other nodes that no edge joins, a person who is asked by no gate, a
//! condition. It looks at values, also inside of others, in `tags` and `metadata`; names alone count only as far as they say the same.

use super::asking::{Asking, asking, plain_words};
use super::check::PlanCheck;
use super::finding::{Fix, FixKind};
use super::lost_order::{is_together, right_place};
use super::naming::{NamedOrder, NamingText, sorts};
use super::wording::legible;
use crate::plan::dialect::names::NAMES;
use crate::plan::dialect::plain;
use crate::plan::edit::Edit;
use crate::plan::expr::Expr;
use crate::plan::fields::{AS_WRITTEN, step};
use crate::plan::{Approve, Dialect, NodeId, NodeKind, Policy};
use serde_json::Value;
use std::borrow::Cow;

/// Something that is said and does nothing.
pub(super) struct UnreadMeaning {
    /// Where, from the object on that holds the field.
    pub path: String,
    pub message: String,
    pub fix: Option<Fix>,
}

/// How deep and how far a value is looked through.
const MOST: (usize, usize) = (6, 300);

/// Whom a field is about.
#[derive(Clone, Copy)]
pub(super) enum About {
    Plan,
    Node(usize),
    /// The edge to this node.
    EdgeTo(usize),
}

/// What is said of another node, and how sure that is.
type SaidLink = (usize, NamedOrder, FixKind);
/// From which node to which, and how sure that is.
type MissingEdge = (usize, usize, FixKind);

/// One value inside of a field.
struct Leaf<'v> {
    path: String,
    /// The nearest name.
    name: &'v str,
    value: Cow<'v, Value>,
}

/// The first thing that an unknown field says and that must not be passed over.
pub(super) fn unread_meaning(check: &PlanCheck, about: About, name: &str, value: &Value) -> Option<UnreadMeaning> {
    if name == AS_WRITTEN || name.starts_with(['_', '$']) || is_words(name) {
        return None;
    }
    let mut leaves = Vec::new();
    gather(name, value, step("", name), MOST.0, &mut leaves);
    let asked = leaves.iter().find_map(|leaf| lost_asking(check, about, leaf));
    asked.or_else(|| leaves.iter().find_map(|leaf| lost_condition(check, about, leaf))).or_else(|| lost_links(check, about, &leaves))
}

/// Whether authors write in a field about something else than what happens.
fn is_words(name: &str) -> bool {
    let word = plain(name);
    !["metadata", "id"].contains(&name) && NAMES.unknown.harmless.contains(&name) || NAMES.naming.about.contains(&word.as_str())
}

fn gather<'v>(name: &'v str, value: &'v Value, path: String, depth: usize, leaves: &mut Vec<Leaf<'v>>) {
    if leaves.len() >= MOST.1 {
        return;
    }
    match value {
        Value::Null => {}
        Value::Array(list) if depth > 0 => {
            list.iter().enumerate().for_each(|(at, value)| gather(name, value, format!("{path}[{at}]"), depth - 1, leaves));
        }
        Value::Object(fields) if depth > 0 => {
            for (inner, value) in fields.iter().filter(|(inner, _)| !is_words(inner) && !inner.starts_with(['_', '$'])) {
                // A key may be a name, too.
                leaves.push(Leaf { path: path.clone(), name, value: Cow::Owned(Value::from(inner.as_str())) });
                gather(inner, value, step(&path, inner), depth - 1, leaves);
            }
        }
        Value::Array(_) | Value::Object(_) => {}
        Value::Bool(_) | Value::Number(_) | Value::String(_) => leaves.push(Leaf { path, name, value: Cow::Borrowed(value) }),
    }
}

/// A person who is to be asked, and no gate that asks.
fn lost_asking(check: &PlanCheck, about: About, leaf: &Leaf) -> Option<UnreadMeaning> {
    let asking = asking(leaf.name, &leaf.value).filter(|_| matches!(leaf.value, Cow::Borrowed(_)))?;
    if condition(check, about, leaf).is_some() {
        return None;
    }
    let nodes = match about {
        About::Plan => named(check, leaf),
        About::Node(at) | About::EdgeTo(at) => vec![at],
    };
    let open: Vec<usize> = nodes.iter().copied().filter(|at| !asks(check, *at)).collect();
    let is_asked = if nodes.is_empty() { (0..check.plan.nodes.len()).any(|at| asks(check, at)) } else { open.is_empty() };
    if is_asked {
        return None;
    }
    let path = legible(&leaf.path);
    let place = match about {
        About::Plan if nodes.is_empty() => "nothing in this plan asks: write `approve` at the nodes that it is about, or into `defaults`",
        About::Plan => "nothing asks there: write `approve` at these nodes",
        About::Node(_) => "nothing asks here: write `approve`",
        About::EdgeTo(_) => "nothing asks here: write `approve` at the node that the edge leads to",
    };
    let message = format!("`{path}` speaks of asking a person, but {place}");
    Some(UnreadMeaning { path: leaf.path.clone(), message, fix: ask(check, &open, asking, matches!(about, About::Node(_))) })
}

/// The nodes that a value of the plan is about: the one that is its name, or those that it names.
fn named(check: &PlanCheck, leaf: &Leaf) -> Vec<usize> {
    let own = check.graph.position(leaf.name);
    let in_text = || NamingText::of(check, leaf.value.as_str()?).map(|text| text.exact());
    own.map(|at| vec![at]).or_else(in_text).unwrap_or_default()
}

/// Whether a node asks a person, or one that only asks stands directly before or after it.
pub(super) fn asks(check: &PlanCheck, at: usize) -> bool {
    let plan = check.plan;
    let is_question = |at: usize| matches!(plan.nodes[at].kind, NodeKind::Approval(_));
    let approve = plan.nodes[at].policy.approve.or(plan.defaults.approve);
    let gated = approve.is_some_and(|approve| approve != Approve::Never);
    gated || is_question(at) || check.graph.predecessors(at).chain(check.graph.successors(at)).any(is_question)
}

fn ask(check: &PlanCheck, nodes: &[usize], asking: Asking, is_own: bool) -> Option<Fix> {
    let approve = if asking.is_after { Approve::After } else { Approve::Before };
    if nodes.is_empty() {
        let may = check.plan.dialect == Dialect::Native && check.plan.defaults.approve.is_none();
        let defaults = Box::new(Policy { approve: Some(approve), ..check.plan.defaults.clone() });
        return may.then(|| Fix::guess("ask at every node", Edit::SetDefaults { defaults }));
    }
    // Somebody said that nobody is to be asked there.
    if nodes.iter().any(|at| check.plan.nodes[*at].policy.approve.is_some()) {
        return None;
    }
    let kind = if is_own && asking.is_plain && !asking.is_after { FixKind::Safe } else { FixKind::Guess };
    let edits = nodes.iter().map(|at| check.changed(*at, |node| node.policy.approve = Some(approve)));
    let when = if asking.is_after { "ask about its result" } else { "ask before it starts" };
    Some(Fix::new(kind, when, one_or_batch(edits.collect())))
}

/// A condition over another node's result, which nothing tests.
fn lost_condition(check: &PlanCheck, about: About, leaf: &Leaf) -> Option<UnreadMeaning> {
    let bare = condition(check, about, leaf).filter(|_| !tests(check, about))?;
    let path = legible(&leaf.path);
    let message =
        format!("`{path}` reads as a condition, but nothing tests it, so it changes nothing: write `when`, or a condition on an edge");
    let own = if let About::Node(at) = about { Some(at) } else { None };
    let may = |at: &usize| check.plan.dialect == Dialect::Native && check.plan.nodes[*at].policy.when.is_none();
    let fix = own.filter(may).map(|at| {
        let edit = check.changed(at, |node| node.policy.when = Some(bare));
        Fix::guess("write it as `when`", edit)
    });
    Some(UnreadMeaning { path: leaf.path.clone(), message, fix })
}

/// A text that compares what another node gave, as a condition has it.
fn condition(check: &PlanCheck, about: About, leaf: &Leaf) -> Option<String> {
    const COMPARES: [&str; 10] = ["==", "!=", ">", "<", " and ", " or ", "not ", " in ", " contains ", "!"];
    let (Value::String(text), Cow::Borrowed(_)) = (&*leaf.value, &leaf.value) else { return None };
    if !COMPARES.iter().any(|sign| text.contains(sign)) {
        return None;
    }
    let bare = text.replace(['{', '}', '$'], "");
    let expression = Expr::parse(&bare, check).ok()?;
    let own = if let About::Node(at) = about { Some(at) } else { None };
    let reads = |id: &str| check.graph.position(id).is_some_and(|at| Some(at) != own);
    expression.paths().iter().any(|path| path.node().is_some_and(reads) && !path.fields.is_empty()).then_some(bare)
}

/// Whether the plan tests a condition there: on the way to the node or before it starts.
fn tests(check: &PlanCheck, about: About) -> bool {
    let plan = check.plan;
    let guards = |at: usize| plan.nodes[at].policy.when.is_some() || plan.nodes[at].policy.skip_if.is_some();
    let is_tested = |link: usize| check.plan.edge_at(check.graph.links()[link].place).is_some_and(|edge| edge.when.is_some());
    match about {
        About::Plan => (0..plan.nodes.len()).any(guards) || plan.edges.iter().any(|edge| edge.when.is_some()),
        About::Node(at) | About::EdgeTo(at) => guards(at) || check.graph.incoming(at).any(is_tested),
    }
}

/// Nodes that a field names and that no edge joins as it says.
fn lost_links(check: &PlanCheck, about: About, leaves: &[Leaf]) -> Option<UnreadMeaning> {
    let mut lost: Vec<MissingEdge> = Vec::new();
    let mut first = None;
    for leaf in leaves {
        let before = lost.len();
        match about {
            About::Plan => lost.extend(said_pairs(check, leaf)),
            About::Node(own) => lost.extend(said_links(check, leaf, own).into_iter().map(|said| link(own, said))),
            // The name of a node alone is what the edge is called.
            About::EdgeTo(own) => {
                let said = said_links(check, leaf, own).into_iter().filter(|(_, relation, _)| *relation != NamedOrder::Named);
                lost.extend(said.map(|said| link(own, said)));
            }
        }
        if lost.len() > before && first.is_none() {
            first = Some(leaf);
        }
    }
    let leaf = first?;
    let named = |(from, to, _): &MissingEdge| {
        let other = match about {
            About::Node(own) | About::EdgeTo(own) if *to == own => *from,
            About::Node(_) | About::EdgeTo(_) | About::Plan => *to,
        };
        legible(check.graph.id(other))
    };
    let mut names: Vec<String> = lost.iter().map(named).collect();
    names.dedup();
    let message = format!("`{}` names `{}`, but no edge joins them like that", legible(&leaf.path), names.join("`, `"));
    // Different fields of an object may be ways of which one is gone.
    let ways = leaves.iter().filter(|leaf| check.graph.position(leaf.value.as_str().unwrap_or_default()).is_some());
    let mut ways: Vec<&str> = ways.map(|leaf| leaf.name).collect();
    ways.dedup();
    let may_fix = !matches!(about, About::EdgeTo(_)) && !leaves.iter().any(|leaf| is_otherwise(leaf.name)) && ways.len() < 2;
    let fix = if may_fix { depend(check, &lost) } else { None };
    Some(UnreadMeaning { path: leaf.path.clone(), message: format!("{message}: {}", right_place(check.plan.dialect)), fix })
}

/// What a value says of nodes beside its own, where the plan doesn't say it.
fn said_links(check: &PlanCheck, leaf: &Leaf, own: usize) -> Vec<SaidLink> {
    if is_together(leaf.name) {
        return Vec::new();
    }
    let by_name = order_in(leaf.name);
    let text = match &*leaf.value {
        Value::String(text) => text.clone(),
        // A number is a node's where its name says both an order and of what.
        Value::Number(number) if by_name != NamedOrder::Named && names_parts(leaf.name) => number.to_string(),
        Value::Number(_) | Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return Vec::new(),
    };
    let Some(said) = NamingText::of(check, &text) else {
        let made = check.maker(&text).filter(|at| *at != own && !sorts(leaf.name) && !makes(leaf.name) && !check.comes_before(*at, own));
        return made.map(|at| (at, NamedOrder::Source, FixKind::Guess)).into_iter().collect();
    };
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit()) && !names_parts(leaf.name);
    let is_lost = |(other, relation, _): &SaidLink| match relation {
        NamedOrder::Source => !check.comes_before(*other, own),
        NamedOrder::Target => !check.comes_before(own, *other),
        // What is to follow a failure alone is more than an order.
        NamedOrder::Named if is_otherwise(leaf.name) => true,
        NamedOrder::Named => !sorts(leaf.name) && !is_number && !check.comes_before(*other, own) && !check.comes_before(own, *other),
    };
    let kind = said.kind();
    // What the name says of the order counts where there is none.
    let with_name = |(other, relation, _)| (other, if relation == NamedOrder::Named { by_name } else { relation }, kind);
    said.about(own).into_iter().map(|(other, relation)| (other, relation, kind)).filter(is_lost).map(with_name).collect()
}

/// The order of nodes that a value of the plan says, where the plan doesn't.
fn said_pairs(check: &PlanCheck, leaf: &Leaf) -> Vec<MissingEdge> {
    let Value::String(text) = &*leaf.value else { return Vec::new() };
    if let Some(own) = check.graph.position(leaf.name) {
        return said_links(check, leaf, own)
            .into_iter()
            .filter(|(_, relation, _)| *relation != NamedOrder::Named)
            .map(|said| link(own, said))
            .collect();
    }
    let Some(said) = NamingText::of(check, text) else { return Vec::new() };
    let kind = said.kind();
    said.pairs().into_iter().filter(|(from, to)| !check.comes_before(*from, *to)).map(|(from, to)| (from, to, kind)).collect()
}

/// What a name says of the order: `runs_after`, `feeds_into`.
fn order_in(name: &str) -> NamedOrder {
    let said = plain_words(name);
    let has = |words: &[&str]| said.split(' ').any(|word| words.contains(&word));
    match (has(&NAMES.naming.sources), has(&NAMES.naming.targets)) {
        (true, false) => NamedOrder::Source,
        (false, true) => NamedOrder::Target,
        (true, true) | (false, false) => NamedOrder::Named,
    }
}

/// Whether a field says what a node gives, not what it takes.
fn makes(name: &str) -> bool {
    NAMES.foreign.named_result.contains(&name)
}

/// Whether a name is about what follows in some cases alone.
fn is_otherwise(name: &str) -> bool {
    plain_words(name).split(' ').any(|word| NAMES.naming.otherwise.contains(&word))
}

fn names_parts(name: &str) -> bool {
    plain_words(name).split(' ').any(|word| ["step", "steps", "node", "nodes", "task", "tasks", "stage", "stages"].contains(&word))
}

/// A missing edge; where nothing says its direction, the node that is written first comes first.
fn link(own: usize, (other, relation, kind): SaidLink) -> MissingEdge {
    match relation {
        NamedOrder::Source => (other, own, kind),
        NamedOrder::Target => (own, other, kind),
        NamedOrder::Named => (own.min(other), own.max(other), FixKind::Guess),
    }
}

/// The missing edges, unless they would close a cycle.
fn depend(check: &PlanCheck, lost: &[MissingEdge]) -> Option<Fix> {
    if check.plan.dialect.walks() || lost.iter().any(|(from, to, _)| from == to || check.graph.closes(*from, *to).is_some()) {
        return None;
    }
    let mut targets: Vec<usize> = lost.iter().map(|(_, to, _)| *to).collect();
    targets.sort_unstable();
    targets.dedup();
    let sources = |to: usize| {
        let mut sources: Vec<NodeId> = Vec::new();
        for (from, _, _) in lost.iter().filter(|(_, other, _)| *other == to) {
            let id = check.graph.id(*from);
            if !sources.contains(id) && !check.plan.nodes[to].depends_on.contains(id) {
                sources.push(id.clone());
            }
        }
        sources
    };
    let title = match targets[..] {
        [to] => format!("make `{}` depend on `{}`", check.graph.id(to), sources(to).join("`, `")),
        _ => "make these nodes depend on each other as it says".to_owned(),
    };
    let edits = targets.iter().map(|to| check.changed(*to, |node| node.depends_on.extend(sources(*to))));
    let kind = lost.iter().map(|(_, _, kind)| *kind).max().unwrap_or(FixKind::Guess);
    Some(Fix::new(kind, title, one_or_batch(edits.collect())))
}

fn one_or_batch(mut edits: Vec<Edit>) -> Edit {
    if edits.len() == 1 { edits.remove(0) } else { Edit::batch(edits) }
}
