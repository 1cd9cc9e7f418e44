//! References that follow a rename: dependencies, edges, texts, conditions, and `deps` and `nodes` in code.

use super::Edit;
use super::lower::{put_edge, put_node};
use crate::plan::code::is_identifier;
use crate::plan::expr::rename as rename_expression;
use crate::plan::fields::is_stand_in;
use crate::plan::reference::{rename_text, rename_value};
use crate::plan::{Edge, Node, NodeId, NodeTextMut, Plan, PlanNames, is_legal_id, node_texts_mut};
use serde_json::{Map, Value};
use std::collections::HashSet;

/// The edits that rename the node at `at`.
pub(super) fn rename(plan: &Plan, at: usize, from: &NodeId, to: &NodeId) -> Vec<Edit> {
    let names = PlanNames::new(plan.nodes.iter().map(|node| node.id.as_str()), &plan.inputs);
    let decisions = plan.nodes.iter().filter(|node| node.kind.is_decision()).map(|node| node.id.as_str()).collect();
    let follow = Follow { from, to, names, decisions };
    let mut edits = Vec::new();
    for (i, node) in plan.nodes.iter().enumerate() {
        let mut changed = follow.node(node);
        if i == at {
            changed.id = to.clone();
        }
        if changed != *node {
            edits.push(put_node(i, changed));
        }
    }
    for (i, edge) in plan.edges.iter().enumerate() {
        let changed = follow.edge(edge);
        if changed != *edge {
            edits.push(put_edge(i, changed));
        }
    }
    edits
}

/// A node whose texts read one name instead of another, which may be that of no node.
pub(in crate::plan) fn with_name(node: &Node, from: &str, to: &NodeId, inputs: &Map<String, Value>) -> Node {
    let from = NodeId::new(from);
    let names = PlanNames::new([from.as_str(), to.as_str()], inputs);
    let follow = Follow { from: &from, to, names, decisions: HashSet::new() };
    Node { depends_on: node.depends_on.clone(), ..follow.node(node) }
}

struct Follow<'a> {
    from: &'a NodeId,
    to: &'a NodeId,
    names: PlanNames<'a>,
    decisions: HashSet<&'a str>,
}

impl Follow<'_> {
    fn id(&self, id: &NodeId) -> NodeId {
        if id == self.from { self.to.clone() } else { id.clone() }
    }

    fn condition(&self, text: &mut String) {
        if text.contains(self.from.as_str()) {
            *text = if is_legal_id(self.from) {
                rename_expression(text, self.from, self.to, &self.names)
            } else {
                rename_as_written(text, self.from, self.to)
            };
        }
    }

    /// What is inside a node sees nothing of the plan around it; it gets `inputs`, which follow.
    fn node(&self, node: &Node) -> Node {
        let mut node = node.clone();
        node.depends_on = node.depends_on.iter().map(|id| self.id(id)).collect();
        node_texts_mut(&mut node, |_, text| match text {
            NodeTextMut::Template(text) if text.contains(self.from.as_str()) => {
                *text = rename_text(text, self.from, self.to, &self.names);
            }
            NodeTextMut::Template(_) => {}
            NodeTextMut::Json(value) => rename_value(value, self.from, self.to, &self.names),
            NodeTextMut::Code(code) => *code = rename_in_code(code, self.from, self.to),
            NodeTextMut::Expression(text) | NodeTextMut::Condition(text) | NodeTextMut::ResultCondition(text) => self.condition(text),
        });
        node
    }

    /// The label of an edge that leaves a decision is no expression, so it stays.
    fn edge(&self, edge: &Edge) -> Edge {
        let mut edge = edge.clone();
        if !self.decisions.contains(edge.from.as_str()) {
            edge.when.iter_mut().for_each(|text| self.condition(text));
        }
        // The place of a name that is missing means no node.
        for end in [&mut edge.from, &mut edge.to].into_iter().filter(|end| !is_stand_in(end, &edge.ext)) {
            *end = self.id(end);
        }
        edge
    }
}

/// A name that isn't legal, which no condition can be read with, wherever it stands as one.
fn rename_as_written(text: &str, from: &str, to: &str) -> String {
    let is_inside = |c: char| is_identifier(c) || c == '-';
    let (mut renamed, mut done) = (String::with_capacity(text.len()), 0);
    for (at, _) in text.match_indices(from) {
        let (before, behind) = (&text[..at], &text[at + from.len()..]);
        let is_text =
            ['"', '\''].iter().any(|quote| before.matches(*quote).count() % 2 == 1) && !before.ends_with("[\"") && !before.ends_with("['");
        if !is_text && !before.ends_with(is_inside) && !behind.starts_with(is_inside) {
            renamed.push_str(&text[done..at]);
            renamed.push_str(to);
            done = at + from.len();
        }
    }
    renamed + &text[done..]
}

/// `deps.id`, `deps["id"]` and the same behind `nodes`, wherever they are in the code.
fn rename_in_code(code: &str, from: &str, to: &str) -> String {
    let mut renamed = String::with_capacity(code.len());
    let mut rest = code;
    while let Some((at, word)) = ["deps", "nodes"].iter().filter_map(|word| rest.find(word).map(|at| (at, *word))).min() {
        let starts_word = !rest[..at].ends_with(|c: char| is_identifier(c) || c == '.');
        renamed.push_str(&rest[..at + word.len()]);
        rest = &rest[at + word.len()..];
        if !starts_word {
            continue;
        }
        for quote in ['"', '\'', '`'] {
            if let Some(behind) = rest.strip_prefix(format!("[{quote}{from}{quote}]").as_str()) {
                renamed.push_str(&format!("[{quote}{to}{quote}]"));
                rest = behind;
            }
        }
        for dot in [".", "?."] {
            let behind = rest.strip_prefix(dot).and_then(|behind| behind.strip_prefix(from));
            if let Some(behind) = behind.filter(|behind| !behind.starts_with(is_identifier)) {
                let plain = to.chars().all(is_identifier) && !to.starts_with(|c: char| c.is_ascii_digit());
                renamed.push_str(&if plain { format!("{dot}{to}") } else { format!("{}[\"{to}\"]", if dot == "?." { "?." } else { "" }) });
                rest = behind;
            }
        }
    }
    renamed + rest
}
