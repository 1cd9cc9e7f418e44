//! Joins of branches that are not taken together: a node that needs both sides of one condition never runs, and one that needs a branch
//! which may be left out is skipped with it.

use super::check::{FindingPlace, PlanCheck};
use super::codes::Code;
use super::finding::FixKind;
use super::wording::legible;
use crate::plan::expr::are_opposite;
use crate::plan::order::{EdgePlace, OrderedEdge};
use crate::plan::{Edge, Join, NodeKind, Route};

/// How many conditions are remembered for one node.
const MOST_GUARDS: usize = 8;

/// What a branch depends on.
#[derive(Clone, Copy, PartialEq)]
enum JoinGuard<'a> {
    /// One edge of a node that takes one of several.
    Way { source: usize, link: usize },
    /// A condition of an edge or of a node.
    Holds(&'a str),
    /// None of the conditions beside it holds.
    Otherwise { source: usize },
}

/// An edge into a node, with what has to hold so that it is taken.
struct IncomingEdge<'a> {
    /// What its source depends on.
    before: Vec<JoinGuard<'a>>,
    own: Option<JoinGuard<'a>>,
    is_alternative: bool,
}

impl<'a> IncomingEdge<'a> {
    fn guards(&self) -> impl Iterator<Item = JoinGuard<'a>> + '_ {
        self.before.iter().copied().chain(self.own)
    }
}

/// In a walk one edge leads to a node at a time.
pub(super) fn check(check: &mut PlanCheck) {
    if check.plan.dialect.walks() {
        return;
    }
    let mut guards: Vec<Vec<JoinGuard>> = vec![Vec::new(); check.graph.len()];
    for node in check.graph.topological() {
        guards[node] = join(check, node, &guards);
    }
}

/// Looks at a node's join, and gives what has to hold so that the node runs.
fn join<'a>(check: &mut PlanCheck<'a>, node: usize, guards: &[Vec<JoinGuard<'a>>]) -> Vec<JoinGuard<'a>> {
    let plan = check.plan;
    let doc = &plan.nodes[node];
    let natural = if matches!(doc.kind, NodeKind::Merge(_)) { Some(Join::Settled) } else { None };
    let written = doc.policy.join.or(plan.defaults.join).or(natural);
    let edges: Vec<IncomingEdge> = check.graph.incoming(node).map(|link| incoming(check, link, guards)).collect();
    let needs = |edge: &IncomingEdge| match written {
        Some(Join::Always) => false,
        _ if edges.len() == 1 => true,
        None => !edge.is_alternative,
        Some(Join::All) => true,
        Some(Join::Settled | Join::Any) => false,
    };
    let common = in_all(&edges);
    let (mut needed, mut clash): (Vec<(usize, JoinGuard)>, _) = (Vec::new(), None);
    for (at, edge) in edges.iter().enumerate().filter(|(_, edge)| needs(edge)) {
        for guard in edge.guards() {
            // What excludes another is said here, and not again of every node behind.
            match needed.iter().find(|(from, other)| *from != at && excludes(check, guard, *other)) {
                Some((_, other)) => clash = clash.or(Some((*other, guard))),
                None if needed.len() < MOST_GUARDS && needed.iter().all(|(_, other)| *other != guard) => needed.push((at, guard)),
                None => {}
            }
        }
    }
    let is_known = edges.iter().all(|edge| edge.before.len() < MOST_GUARDS);
    let plain = edges.iter().filter(|edge| needs(edge) && !edge.is_alternative);
    let left_out = plain.flat_map(|edge| &edge.before).find(|guard| is_known && !common.contains(guard));
    let found = match (clash, left_out) {
        (Some((one, other)), _) => Some((FixKind::Safe, never(check, one, other))),
        (None, Some(guard)) => Some((FixKind::Guess, sometimes(check, *guard))),
        (None, None) => None,
    };
    if let Some((kind, message)) = found {
        let fix = check.with_policy(node, kind, "join what is taken, with `join: settled`", |policy| policy.join = Some(Join::Settled));
        check.find(Code::Alternatives, FindingPlace::Node(node), "join", message, fix);
    }
    let mut own = if written == Some(Join::Always) { Vec::new() } else { common };
    for guard in needed.into_iter().map(|(_, guard)| guard).chain(doc.policy.when.as_deref().map(JoinGuard::Holds)) {
        if own.len() < MOST_GUARDS && !own.contains(&guard) {
            own.push(guard);
        }
    }
    own
}

fn incoming<'a>(check: &PlanCheck<'a>, link: usize, guards: &[Vec<JoinGuard<'a>>]) -> IncomingEdge<'a> {
    let plan = check.plan;
    let OrderedEdge { from, place, .. } = check.graph.links()[link];
    let doc: Option<&Edge> = if let EdgePlace::Edge(at) = place { Some(&plan.edges[at]) } else { None };
    let own = from.and_then(|source| match doc {
        _ if takes_one(check, source) => Some(JoinGuard::Way { source, link }),
        Some(Edge { when: Some(when), .. }) => Some(JoinGuard::Holds(when)),
        Some(Edge { default: true, .. }) => Some(JoinGuard::Otherwise { source }),
        Some(_) | None => None,
    });
    let is_alternative = doc.is_some_and(|edge| edge.when.is_some() || edge.default) || from.is_some_and(|from| check.decides(from));
    IncomingEdge { before: from.map(|from| guards[from].clone()).unwrap_or_default(), own, is_alternative }
}

/// Whether a node takes one of several edges.
fn takes_one(check: &PlanCheck, source: usize) -> bool {
    let route = check.plan.nodes[source].policy.route.or(check.plan.defaults.route);
    (check.decides(source) || route == Some(Route::First)) && check.graph.outgoing(source).count() > 1
}

/// What all edges depend on.
fn in_all<'a>(edges: &[IncomingEdge<'a>]) -> Vec<JoinGuard<'a>> {
    let Some((first, rest)) = edges.split_first() else { return Vec::new() };
    first.guards().filter(|guard| rest.iter().all(|edge| edge.guards().any(|other| other == *guard))).take(MOST_GUARDS).collect()
}

/// Whether two guards never hold together.
fn excludes(check: &PlanCheck, one: JoinGuard, other: JoinGuard) -> bool {
    match (one, other) {
        (JoinGuard::Way { source, link }, JoinGuard::Way { source: from, link: to }) => source == from && link != to,
        (JoinGuard::Holds(one), JoinGuard::Holds(other)) => are_opposite(one, other, check),
        (JoinGuard::Otherwise { source }, JoinGuard::Holds(when)) | (JoinGuard::Holds(when), JoinGuard::Otherwise { source }) => {
            let is_it = |link: usize| {
                let place = check.graph.links()[link].place;
                matches!(place, EdgePlace::Edge(at) if check.plan.edges[at].when.as_deref() == Some(when))
            };
            check.graph.outgoing(source).any(is_it)
        }
        (JoinGuard::Way { .. } | JoinGuard::Otherwise { .. }, _) | (_, JoinGuard::Way { .. }) => false,
    }
}

fn never(check: &PlanCheck, one: JoinGuard, other: JoinGuard) -> String {
    match (one, other) {
        (JoinGuard::Way { source, .. }, _) if check.decides(source) => {
            let decision = check.graph.id(source);
            format!("needs several branches of the decision `{decision}`, but only one is taken, so it would be skipped")
        }
        (JoinGuard::Way { source, .. }, _) => {
            format!("needs several branches of `{}`, but only one is taken, so it would be skipped", check.graph.id(source))
        }
        (one, other) => format!(
            "needs the branch {} and the one {}, but only one is taken, so it would be skipped",
            of_branch(check, one),
            of_branch(check, other)
        ),
    }
}

fn sometimes(check: &PlanCheck, guard: JoinGuard) -> String {
    format!("needs the branch {}; when that is not taken, it is skipped and the run doesn't succeed", of_branch(check, guard))
}

fn of_branch(check: &PlanCheck, guard: JoinGuard) -> String {
    match guard {
        JoinGuard::Way { source, link } => match check.plan.edge_at(check.graph.links()[link].place) {
            Some(edge) => format!("of `{}` to `{}`", check.graph.id(source), legible(&edge.to)),
            None => format!("of `{}`", check.graph.id(source)),
        },
        JoinGuard::Holds(when) => format!("for `{}`", legible(when)),
        JoinGuard::Otherwise { source } => format!("of `{}` for everything else", check.graph.id(source)),
    }
}
