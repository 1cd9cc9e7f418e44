//! What every writer of a dialect shares: the fields that are left when a writer has taken those that it can express, the links
//! between nodes, unknown fields, and the list of what is lost.

use super::field_names::{self, DocumentPart};
use super::reading::readings;
use crate::plan::fields::AS_WRITTEN;
use crate::plan::fields::is_quiet;
use crate::plan::native::{edge_to_value, node_to_value, object, plan_to_value};
use crate::plan::{Dialect, Edge, Join, Node, NodeId, Plan, Route, is_agent_name};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

/// Something that a format can't express.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Where it is in the native form.
    pub path: String,
    /// Why it is lost.
    pub reason: String,
}

/// A document while it is written.
pub(super) struct DocumentDraft<'p> {
    plan: &'p Plan,
    target: Dialect,
    lost: Vec<Loss>,
    /// Nodes that the target can't hold.
    left_out: HashSet<&'p str>,
    /// Positions in `Plan::edges` by target.
    incoming: HashMap<&'p str, Vec<usize>>,
}

impl<'p> DocumentDraft<'p> {
    /// Begins with the nodes that the target can't hold.
    pub fn new(plan: &'p Plan, target: Dialect) -> Self {
        let mut draft = Self { plan, target, lost: Vec::new(), left_out: HashSet::new(), incoming: HashMap::new() };
        for (at, edge) in plan.edges.iter().enumerate() {
            draft.incoming.entry(edge.to.as_str()).or_default().push(at);
        }
        for (at, node) in plan.nodes.iter().enumerate() {
            if !target.holds(&node.kind) {
                draft.left_out.insert(node.id.as_str());
                draft.lose(format!("nodes[{at}]"), format!("{} can't hold this kind of node, so `{}` is left out", draft.name(), node.id));
            }
        }
        draft
    }

    /// A document that is a list of nodes, which name the sources of their edges.
    pub fn whole(
        mut self,
        list: &str,
        known: &[&str],
        put: impl FnMut(&mut Self, (usize, &'p Node), &mut Map<String, Value>, &mut Map<String, Value>),
    ) -> (Value, Vec<Loss>) {
        let mut document = Map::from_iter([(list.to_owned(), Value::Null)]);
        self.head(&mut document, known);
        self.lose_edges();
        self.put_nodes(&mut document, list, put);
        (Value::Object(document), self.finish())
    }

    /// The target in words.
    fn name(&self) -> String {
        format!("the {} format", self.target.name())
    }

    /// Whether the plan is of the dialect that is written.
    pub fn is_same(&self) -> bool {
        self.plan.dialect == self.target
    }

    /// Nodes that are written, with their positions.
    pub fn nodes(&self) -> Vec<(usize, &'p Node)> {
        let plan = self.plan;
        plan.nodes.iter().enumerate().filter(|(_, node)| !self.left_out.contains(node.id.as_str())).collect()
    }

    /// Notes something that the target can't express.
    pub fn lose(&mut self, path: impl Into<String>, reason: impl Into<String>) {
        self.lost.push(Loss { path: path.into(), reason: reason.into() });
    }

    /// The native fields of a node's work and policy, from which a writer takes what it can express.
    pub fn fields(&self, node: &Node) -> Map<String, Value> {
        let mut bare = Node { depends_on: Vec::new(), ext: Map::new(), ..node.clone() };
        if self.target.walks() {
            // That is how a walk goes anyhow.
            bare.policy.route = bare.policy.route.filter(|route| *route != Route::First);
            bare.policy.join = bare.policy.join.filter(|join| *join != Join::Settled);
        }
        let mut fields = object(node_to_value(&bare, |_| None));
        fields.shift_remove("id");
        fields
    }

    /// Notes the fields that nobody took.
    pub fn lose_rest(&mut self, place: &str, rest: &Map<String, Value>) {
        for (key, value) in rest {
            if !is_quiet(value) {
                self.lose(format!("{place}.{key}"), format!("{} has no such field", self.name()));
            }
        }
    }

    /// What stands beside the nodes: goal, inputs and free data, which the plan's own dialect carries as further fields. `known` are
    /// fields that the target has by itself.
    pub fn head(&mut self, document: &mut Map<String, Value>, known: &[&str]) {
        let bare = Plan { nodes: Vec::new(), edges: Vec::new(), ext: Map::new(), dialect: Dialect::Native, ..self.plan.clone() };
        let mut fields = object(plan_to_value(&bare, |_| None));
        for key in ["dagdeck", "nodes", "edges"] {
            fields.shift_remove(key);
        }
        for key in ["goal", "inputs", "metadata"] {
            if (self.is_same() || known.contains(&key))
                && let Some(value) = fields.shift_remove(key)
            {
                document.insert(key.to_owned(), value);
            }
        }
        self.carry_gate(&self.plan.ext, &mut fields, document);
        for (key, value) in &fields {
            if !is_quiet(value) {
                self.lose(key.as_str(), format!("{} has no such field", self.name()));
            }
        }
        self.carry("", document, &self.plan.ext, DocumentPart::Plan);
    }

    /// Unknown fields: all of them in the plan's own dialect; in another one those that mean nothing there.
    pub fn carry(&mut self, place: &str, target: &mut Map<String, Value>, ext: &Map<String, Value>, part: DocumentPart) {
        for (key, value) in ext {
            let memo = field_names::is_memo(self.plan.dialect, part, key);
            if key == AS_WRITTEN {
                self.carry_readings(place, target, ext);
                continue;
            }
            if target.contains_key(key) || (memo && !self.is_same()) {
                continue;
            }
            if self.is_same() {
                if !memo || field_names::is_field(self.target, part, key) {
                    target.insert(key.clone(), value.clone());
                }
            } else if field_names::is_taken(self.target, part, key) {
                if !is_quiet(value) {
                    let path = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
                    self.lose(path, format!("`{key}` means something else in {}", self.name()));
                }
            } else if !(is_quiet(value) && field_names::is_field(self.plan.dialect, part, key)) {
                target.insert(key.clone(), value.clone());
            }
        }
    }

    /// What was read otherwise than it is written stays with the plan's own dialect; in another what couldn't be read is lost.
    fn carry_readings(&mut self, place: &str, target: &mut Map<String, Value>, ext: &Map<String, Value>) {
        if self.is_same() {
            target.extend(ext.get(AS_WRITTEN).map(|readings| (AS_WRITTEN.to_owned(), readings.clone())));
            return;
        }
        for reading in readings(ext).into_iter().filter(|reading| reading.wrong && reading.written.is_some()) {
            let path = if place.is_empty() { reading.name.clone() } else { format!("{place}.{}", reading.name) };
            self.lose(path, format!("it could not be read: {}", reading.message));
        }
    }

    /// A gate under another name is written back under that name, which its reading tells.
    pub fn carry_gate(&self, ext: &Map<String, Value>, fields: &mut Map<String, Value>, written: &mut Map<String, Value>) {
        for reading in
            readings(ext).into_iter().filter(|reading| self.is_same() && ["approve", "defaults"].contains(&reading.field.as_str()))
        {
            if fields.get(&reading.field) == reading.read.as_ref() {
                rename(fields, &reading.field, written, &reading.field);
            }
        }
    }

    /// Writes the nodes as a list of the document: `put` moves what the target can express from the native fields to the written ones.
    pub fn put_nodes(
        &mut self,
        document: &mut Map<String, Value>,
        list: &str,
        mut put: impl FnMut(&mut Self, (usize, &'p Node), &mut Map<String, Value>, &mut Map<String, Value>),
    ) {
        let mut nodes = Vec::new();
        for (at, node) in self.nodes() {
            let mut fields = self.fields(node);
            let mut written = Map::from_iter([("id".to_owned(), json!(node.id.as_str()))]);
            put(self, (at, node), &mut fields, &mut written);
            self.carry_gate(&node.ext, &mut fields, &mut written);
            self.lose_rest(&place(at), &fields);
            self.carry(&place(at), &mut written, &node.ext, DocumentPart::Node);
            nodes.push(Value::Object(written));
        }
        document.insert(list.to_owned(), Value::Array(nodes));
    }

    /// Writes the edges as a list: each with its ends under these names, and the native fields under the names that the target has.
    pub fn put_edges(&mut self, edges: &[(String, Edge)], ends: [&str; 2], names: &[(&str, &str)]) -> Vec<Value> {
        let mut list = Vec::new();
        for (place, edge) in edges {
            let mut fields = self.edge_fields(edge);
            let mut written = Map::from_iter([(ends[0].to_owned(), json!(edge.from)), (ends[1].to_owned(), json!(edge.to))]);
            names.iter().for_each(|(native, name)| rename(&mut fields, native, &mut written, name));
            if self.target == Dialect::Stages && self.plan.edges.iter().find(|other| other.from == edge.from) == Some(edge) {
                // A decision of a stage plan without a match takes its first edge anyhow.
                fields.shift_remove("default");
            }
            self.lose_rest(place, &fields);
            self.carry(place, &mut written, &edge.ext, DocumentPart::Edge);
            list.push(Value::Object(written));
        }
        list
    }

    /// Writes the ids of the nodes that a node waits for; an empty list where one is usual.
    pub fn put_sources(&mut self, at: usize, key: &str, written: &mut Map<String, Value>, is_usual: bool) {
        let sources = self.sources(at);
        if !sources.is_empty() || is_usual {
            written.insert(key.to_owned(), json!(sources));
        }
    }

    /// Ids of the nodes that a node waits for, for targets without edges; conditions and the like are lost.
    fn sources(&mut self, at: usize) -> Vec<&'p str> {
        let node = &self.plan.nodes[at];
        let written = self.incoming.get(node.id.as_str()).cloned().unwrap_or_default();
        let mut sources: Vec<&'p str> = Vec::new();
        let mut absent = Vec::new();
        for edge in written {
            let source = self.plan.edges[edge].from.as_str();
            if self.left_out.contains(source) {
                absent.push(source);
            } else if !sources.contains(&source) {
                sources.push(source);
            }
        }
        let own = sources.len();
        for source in &node.depends_on {
            if self.left_out.contains(source.as_str()) {
                absent.push(source);
            } else if !sources[..own].contains(&source.as_str()) {
                sources.push(source);
            }
        }
        for source in absent {
            self.lose(format!("nodes[{at}].depends_on"), format!("`{source}` is left out"));
        }
        sources
    }

    /// Notes what the plan's edges say beyond an order, for targets without edges.
    pub fn lose_edges(&mut self) {
        let plan = self.plan;
        for (at, edge) in plan.edges.iter().enumerate() {
            for key in object(edge_to_value(edge)).keys().filter(|key| !["from", "to"].contains(&key.as_str())) {
                if !edge.ext.get(key).is_some_and(|value| is_quiet(value) || field_names::is_memo(plan.dialect, DocumentPart::Edge, key)) {
                    self.lose(format!("edges[{at}].{key}"), format!("{} only has plain dependencies", self.name()));
                }
            }
        }
        if plan.dialect.walks() {
            let mut ways: HashMap<&str, usize> = HashMap::new();
            plan.edges.iter().for_each(|edge| *ways.entry(edge.from.as_str()).or_default() += 1);
            for (at, node) in self.nodes() {
                if let Some(ways) = ways.get(node.id.as_str()).filter(|ways| **ways > 1) {
                    self.lose(format!("nodes[{at}]"), format!("{} runs all {ways} of its outgoing edges, not one", self.name()));
                }
            }
        }
    }

    /// The plan's edges and then its dependencies, in canonical order, for targets that have edges.
    pub fn edges(&mut self) -> Vec<(String, Edge)> {
        let plan = self.plan;
        let mut edges = Vec::new();
        let written = plan.edges.iter().enumerate().map(|(at, edge)| (format!("edges[{at}]"), edge.clone()));
        let plain = plan.nodes.iter().enumerate().flat_map(|(at, node)| {
            node.depends_on.iter().map(move |source| (format!("nodes[{at}].depends_on"), Edge::new(source.clone(), node.id.clone())))
        });
        for (path, edge) in written.chain(plain) {
            let absent = [&edge.from, &edge.to].into_iter().find(|id| self.left_out.contains(id.as_str()));
            match absent {
                Some(id) => self.lose(path, format!("`{id}` is left out")),
                None => edges.push((path, edge)),
            }
        }
        edges
    }

    /// Positions of the nodes where a walk starts and where it may end, for targets in which one token walks: in the plan's own dialect
    /// those that say so; else one entry, with a note of what that token never comes to.
    pub fn walk(&mut self, edges: &[(String, Edge)]) -> (HashSet<usize>, HashSet<usize>) {
        let nodes = self.nodes();
        let marked_by =
            |flag: fn(&Node) -> bool| -> Vec<usize> { nodes.iter().filter(|(_, node)| flag(node)).map(|(at, _)| *at).collect() };
        let untouched = |touched: HashSet<&str>| -> Vec<usize> {
            nodes.iter().filter(|(_, node)| !touched.contains(node.id.as_str())).map(|(at, _)| *at).collect()
        };
        let (mut entries, mut exits) = (marked_by(|node| node.entry), marked_by(|node| node.exit));
        if self.is_same() {
            return (entries.into_iter().collect(), exits.into_iter().collect());
        }
        if exits.is_empty() {
            exits = untouched(edges.iter().map(|(_, edge)| edge.from.as_str()).collect());
        }
        let marked = entries.len();
        if marked == 0 {
            entries = untouched(edges.iter().map(|(_, edge)| edge.to.as_str()).collect());
        }
        if let [entry, ref further @ ..] = entries[..] {
            if marked > 0 {
                for at in further {
                    let begin = &self.plan.nodes[entry].id;
                    self.lose(
                        format!("nodes[{at}].entry"),
                        format!("only one node can be the entry, and `{begin}` is the first one marked"),
                    );
                }
            }
            if !self.plan.dialect.walks() {
                self.lose_unreached(edges, entry);
            }
        }
        if !self.plan.dialect.walks() {
            self.lose_branches(edges);
            self.lose_joins(edges);
        }
        (entries.into_iter().take(1).collect(), exits.into_iter().collect())
    }

    /// Notes the nodes that no way leads to from where the walk begins.
    fn lose_unreached(&mut self, edges: &[(String, Edge)], entry: usize) {
        let begin = &self.plan.nodes[entry].id;
        let mut ways: HashMap<&NodeId, Vec<&NodeId>> = HashMap::new();
        edges.iter().for_each(|(_, edge)| ways.entry(&edge.from).or_default().push(&edge.to));
        let mut reached = HashSet::from([begin]);
        let mut open = vec![begin];
        while let Some(id) = open.pop() {
            open.extend(ways.get(id).into_iter().flatten().copied().filter(|to| reached.insert(*to)));
        }
        for (at, node) in self.nodes() {
            if !reached.contains(&node.id) {
                let words = format!("{} starts at one node, `{begin}`, which doesn't lead here, so this would never run", self.name());
                self.lose(format!("nodes[{at}]"), words);
            }
        }
    }

    /// Notes where several ways are taken at once, of which a walk takes one.
    fn lose_branches(&mut self, edges: &[(String, Edge)]) {
        let mut ways: HashMap<&NodeId, Vec<&Edge>> = HashMap::new();
        edges.iter().for_each(|(_, edge)| ways.entry(&edge.from).or_default().push(edge));
        for (at, node) in self.nodes() {
            let route = node.policy.route.or(self.plan.defaults.route);
            let Some(ways) = ways.get(&node.id).filter(|_| !node.kind.is_decision() && route != Some(Route::First)) else { continue };
            let mut always = ways.iter().filter(|edge| edge.when.is_none()).map(|edge| &edge.to);
            let words = match (always.next(), ways.iter().any(|edge| edge.when.is_some())) {
                (Some(first), false) if always.any(|other| other != first) => format!("so only `{first}` would run"),
                (_, true) if ways.iter().any(|edge| edge.to != ways[0].to) => {
                    "the first whose condition holds, but here all of those are taken".into()
                }
                (Some(_) | None, _) => continue,
            };
            self.lose(format!("nodes[{at}]"), format!("{} takes one outgoing edge, {words}", self.name()));
        }
    }

    /// Notes where a node waits for several, of which the token comes from one.
    fn lose_joins(&mut self, edges: &[(String, Edge)]) {
        let decides: HashSet<&NodeId> = self.plan.nodes.iter().filter(|node| node.kind.is_decision()).map(|node| &node.id).collect();
        let mut waits: HashMap<&NodeId, Vec<&NodeId>> = HashMap::new();
        for (_, edge) in edges.iter().filter(|(_, edge)| edge.when.is_none() && !decides.contains(&edge.from)) {
            let sources = waits.entry(&edge.to).or_default();
            if !sources.contains(&&edge.from) {
                sources.push(&edge.from);
            }
        }
        for (at, node) in self.nodes() {
            let is_any = node.policy.join.or(self.plan.defaults.join) == Some(Join::Any);
            if let Some(sources) = waits.get(&node.id).filter(|sources| !is_any && sources.len() > 1) {
                let count = sources.len();
                self.lose(format!("nodes[{at}]"), format!("{} starts this after one node, not after all {count}", self.name()));
            }
        }
    }

    /// The agent's name for targets that know agents by nothing else: its card, else the role where that could name one, else the id.
    pub fn agent_name(&mut self, place: &str, node: &Node, fields: &mut Map<String, Value>) -> Value {
        if let Some(card) = fields.shift_remove("agent") {
            return card;
        }
        let role = fields.shift_remove("role");
        let (path, words, name) = match role.as_ref().and_then(Value::as_str) {
            Some(role) if is_agent_name(role) => (format!("{place}.role"), "the role is used", role),
            Some(_) => (format!("{place}.role"), "the role is not a valid name, so the node's id is used", node.id.as_str()),
            None => (place.to_owned(), "the node's id is used", node.id.as_str()),
        };
        self.lose(path, format!("{} needs the name of an agent: {words}", self.name()));
        json!(name)
    }

    /// The native fields of an edge beside its ends.
    fn edge_fields(&self, edge: &Edge) -> Map<String, Value> {
        let bare = Edge { ext: Map::new(), ..edge.clone() };
        let mut fields = object(edge_to_value(&bare));
        for key in ["from", "to"] {
            fields.shift_remove(key);
        }
        fields
    }

    /// Everything that was lost.
    pub fn finish(self) -> Vec<Loss> {
        self.lost
    }
}

/// The path of a node in the native form.
pub(super) fn place(at: usize) -> String {
    format!("nodes[{at}]")
}

/// Moves a field under another name.
pub(super) fn rename(from: &mut Map<String, Value>, key: &str, to: &mut Map<String, Value>, name: &str) {
    if let Some(value) = from.shift_remove(key) {
        to.insert(name.to_owned(), value);
    }
}
