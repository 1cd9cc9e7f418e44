//! Names without quotes that YAML takes for numbers or flags: where a document names a node, `01` and `1.10` are what is written.

use super::forms::shape;
use super::locate::PathStep;
use super::locate::at_mut;
use super::names::NAMES;
use super::{aliases, yaml};
use crate::plan::Dialect;
use serde_json::{Map, Value};

/// Puts the text of each name in the place of the number that YAML takes it for.
pub(super) fn keep_names(value: &mut Value, text: &str) {
    let mut found = FoundNames::default();
    found.document(value);
    if found.places.is_empty() {
        return;
    }
    for (place, written) in found.places.iter().zip(yaml::scalars(text, &found.places)) {
        let (Some(named), Some(written)) = (at_mut(value, place), written) else { continue };
        let usual = named.to_string();
        // A number that is written as numbers are is amended with everything else.
        if usual != written {
            *named = Value::String(written);
        }
    }
}

/// Places of names that are no text.
#[derive(Default)]
struct FoundNames {
    here: Vec<PathStep>,
    places: Vec<Vec<PathStep>>,
}

impl FoundNames {
    fn at(&mut self, step: PathStep, find: impl FnOnce(&mut Self)) {
        self.here.push(step);
        find(self);
        self.here.pop();
    }

    /// A plan, a list of nodes, or something that holds a plan.
    fn document(&mut self, value: &Value) {
        let Value::Object(map) = value else { return self.entries(value, Self::node) };
        let shapes = Dialect::ALL.map(shape);
        let is_nodes = |key: &str| shapes.iter().any(|shape| shape.nodes == key) || NAMES.node.lists.contains(&key);
        let is_edges = |key: &str| {
            let edges = shapes.iter().filter_map(|shape| Some((shape.edges?, shape.document_names)));
            edges.into_iter().any(|(edges, names)| key == edges || names.contains(&(key, edges)))
        };
        let is_plan = map.keys().any(|key| is_nodes(key));
        // Objects of stages may be beside a list of their ids, under any name.
        let is_ids = map.get("stages").and_then(Value::as_array).is_some_and(|list| list.iter().any(|entry| !entry.is_object()));
        for (key, value) in map {
            self.at(PathStep::Key(key.clone()), |found| match () {
                () if is_nodes(key) => found.entries(value, Self::node),
                () if is_edges(key) => found.entries(value, Self::edge),
                () if NAMES.stage.graphs.contains(&key.as_str()) || !is_plan && value.is_object() => found.document(value),
                () if is_ids => found.entries(value, Self::node),
                () => {}
            });
        }
    }

    fn entries(&mut self, value: &Value, one: fn(&mut Self, &Map<String, Value>)) {
        match value {
            Value::Array(list) => {
                for (at, entry) in list.iter().enumerate() {
                    self.at(PathStep::Index(at), |found| match entry {
                        Value::Object(map) => one(found, map),
                        other => found.name(other),
                    });
                }
            }
            Value::Object(by_id) => {
                for (key, entry) in by_id.iter().filter_map(|(key, entry)| Some((key, entry.as_object()?))) {
                    self.at(PathStep::Key(key.clone()), |found| one(found, entry));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn node(&mut self, node: &Map<String, Value>) {
        let names = Dialect::ALL.map(|dialect| shape(dialect).node_names(node)).concat();
        self.fields(node, &names, &NAMES.node.text);
        for (key, body) in
            node.iter().filter(|(key, body)| ["plan", "body"].contains(&key.as_str()) && (body.is_object() || body.is_array()))
        {
            self.at(PathStep::Key(key.clone()), |found| found.document(body));
        }
    }

    fn edge(&mut self, edge: &Map<String, Value>) {
        let names = Dialect::ALL.map(|dialect| shape(dialect).edge_names).concat();
        self.fields(edge, &names, &NAMES.node.edge_text);
    }

    fn fields(&mut self, map: &Map<String, Value>, others: &[(&str, &str)], names: &[&str]) {
        for (key, value) in map.iter().filter(|(_, value)| !value.is_string()) {
            let is_name = |name: &str| names.iter().any(|known| aliases::is_alike(known, name));
            if is_name(key) || others.iter().any(|(other, name)| is_name(name) && aliases::is_alike(other, key)) {
                self.at(PathStep::Key(key.clone()), |found| found.name(value));
            }
        }
    }

    /// A name, a list of names, or an object that names a node.
    fn name(&mut self, value: &Value) {
        match value {
            Value::Bool(_) | Value::Number(_) => self.places.push(self.here.clone()),
            Value::Array(list) => list.iter().enumerate().for_each(|(at, entry)| self.at(PathStep::Index(at), |found| found.name(entry))),
            Value::Object(map) => map.iter().for_each(|(key, entry)| {
                if NAMES.node.reference.contains(&key.as_str()) {
                    self.at(PathStep::Key(key.clone()), |found| found.name(entry));
                }
            }),
            Value::Null | Value::String(_) => {}
        }
    }
}
