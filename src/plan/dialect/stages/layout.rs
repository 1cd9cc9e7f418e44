//! Where the stages of a document are: a list of objects, an object by id, or a list with ids of objects beside it; all of it at the
//! top or inside of a `workflow`. What isn't the plain list is noted, so that the document is written back as it was.

use super::super::names::NAMES;
use super::names::LAYOUT;
use crate::plan::fields::{ShapeError, is_quiet, kind, step};
use serde_json::{Map, Value, json};

/// One stage as it is.
pub(super) struct PlacedStage {
    pub path: String,
    /// Its id, where an object's key tells it.
    pub key: Option<String>,
    pub value: Value,
}

/// The parts of a document.
pub(super) struct Parts {
    pub stages: Vec<PlacedStage>,
    /// With the path of the list.
    pub edges: Option<(String, Value)>,
    /// What else the document holds, with the note.
    pub rest: Map<String, Value>,
}

/// Takes a document apart.
pub(super) fn take(mut document: Map<String, Value>) -> Result<Parts, ShapeError> {
    let mut note = Map::new();
    let graph = NAMES.stage.graphs.iter().copied().find(|name| document.get(*name).is_some_and(|graph| graph.get("stages").is_some()));
    let mut prefix = String::new();
    let mut graph_edges = None;
    let mut stages = None;
    if let Some(name) = graph
        && let Some(Value::Object(inner)) = document.get_mut(name)
    {
        prefix = format!("{name}.");
        note.insert("graph".into(), json!(name));
        stages = inner.shift_remove("stages");
        // Edges that say nothing stay as they are.
        let says = inner.get("edges").is_some_and(|edges| !is_quiet(edges));
        graph_edges = says.then(|| inner.shift_remove("edges")).flatten();
    }
    let edges = match graph_edges {
        Some(edges) => {
            note.insert("edges".into(), json!("graph"));
            Some((format!("{prefix}edges"), edges))
        }
        None => document.shift_remove("edges").map(|edges| ("edges".to_owned(), edges)),
    };
    let stages = stages.or_else(|| document.shift_remove("stages")).unwrap_or_default();
    let path = format!("{prefix}stages");
    let stages = match stages {
        Value::Array(list) if list.iter().any(Value::is_string) => {
            let inner = graph.and_then(|name| document.get_mut(name)).and_then(Value::as_object_mut);
            match inner.filter(|inner| holds_one(inner, &list)) {
                Some(inner) => {
                    note.insert("beside".into(), json!("graph"));
                    beside(list, &path, (inner, &prefix), &mut note)?
                }
                None => beside(list, &path, (&mut document, ""), &mut note)?,
            }
        }
        Value::Array(list) => {
            list.into_iter().enumerate().map(|(i, value)| PlacedStage { path: format!("{path}[{i}]"), key: None, value }).collect()
        }
        Value::Object(map) => {
            note.insert("form".into(), json!("map"));
            map.into_iter().map(|(key, value)| PlacedStage { path: step(&path, &key), key: Some(key), value }).collect()
        }
        other => return Err(ShapeError { path, message: format!("must be a list of stages, not {}", kind(&other)) }),
    };
    if !note.is_empty() {
        document.insert(LAYOUT.to_owned(), Value::Object(note));
    }
    Ok(Parts { stages, edges, rest: document })
}

/// The id that a stage object tells of itself.
fn own_id(stage: &Value) -> Option<&str> {
    let field = |name: &str| stage.get(name).and_then(Value::as_str);
    field("stage_id").or_else(|| field("id"))
}

/// The name under which the objects of stages are beside the list of their ids, if they have one in common.
fn home(holder: &Map<String, Value>, ids: &[&str]) -> Option<String> {
    let holds = |value: &Value| match value {
        Value::Array(list) => list.iter().any(|stage| own_id(stage).is_some_and(|id| ids.contains(&id))),
        Value::Object(map) => ids.iter().any(|id| map.get(*id).is_some_and(Value::is_object)),
        _ => false,
    };
    holder.iter().find(|(_, value)| holds(value)).map(|(key, _)| key.clone())
}

fn ids(list: &[Value]) -> Vec<&str> {
    list.iter().filter_map(Value::as_str).collect()
}

/// Whether the object of some stage in the list is among the fields of `holder`.
pub(in crate::plan::dialect) fn holds_one(holder: &Map<String, Value>, list: &[Value]) -> bool {
    let ids = ids(list);
    home(holder, &ids).is_some() || ids.iter().any(|id| holder.get(*id).is_some_and(Value::is_object))
}

/// The objects beside a list of ids, each with its id, its path in `holder`, and whether its key is its id.
pub(in crate::plan::dialect) fn beside_list<'h>(
    holder: &'h mut Map<String, Value>,
    list: &[Value],
) -> Vec<(String, String, bool, &'h mut Value)> {
    let ids = ids(list);
    let Some(home) = home(holder, &ids) else { return by_id(holder, "", &ids) };
    let path = step("", &home);
    match holder.get_mut(&home) {
        Some(Value::Array(objects)) => {
            let own = |(at, stage): (usize, &'h mut Value)| {
                let id = own_id(stage).filter(|id| ids.contains(id))?.to_owned();
                Some((id, format!("{path}[{at}]"), false, stage))
            };
            objects.iter_mut().enumerate().filter_map(own).collect()
        }
        Some(Value::Object(objects)) => by_id(objects, &path, &ids),
        _ => Vec::new(),
    }
}

fn by_id<'h>(objects: &'h mut Map<String, Value>, path: &str, ids: &[&str]) -> Vec<(String, String, bool, &'h mut Value)> {
    let entries = objects.iter_mut().filter(|(key, value)| ids.contains(&key.as_str()) && value.is_object());
    entries.map(|(key, value)| (key.clone(), step(path, key), true, value)).collect()
}

/// Stages of which some are ids in a list: their objects are found under another name, by their ids or as entries by id.
fn beside(
    list: Vec<Value>,
    path: &str,
    (holder, prefix): (&mut Map<String, Value>, &str),
    note: &mut Map<String, Value>,
) -> Result<Vec<PlacedStage>, ShapeError> {
    let ids = ids(&list);
    let inline: Value = list.iter().filter_map(own_id).map(Value::from).collect();
    if inline.as_array().is_some_and(|inline| !inline.is_empty()) {
        note.insert("inline".into(), inline);
    }
    note.insert("form".into(), json!("ids"));
    let missing = |i: usize, id: &str| ShapeError { path: format!("{path}[{i}]"), message: no_object(id) };
    let home = home(holder, &ids);
    let under = |name: &str| format!("{prefix}{}", step("", name));
    let objects = home.as_ref().and_then(|home| holder.shift_remove(home));
    let mut placed = Vec::new();
    for (i, entry) in list.iter().enumerate() {
        let Some(id) = entry.as_str() else {
            placed.push(PlacedStage { path: format!("{path}[{i}]"), key: None, value: entry.clone() });
            continue;
        };
        let name = home.as_deref().unwrap_or_default();
        let (path, key, value) = match &objects {
            Some(Value::Array(objects)) => {
                let at = objects.iter().position(|stage| own_id(stage) == Some(id)).ok_or_else(|| missing(i, id))?;
                (format!("{}[{at}]", under(name)), None, objects.get(at))
            }
            Some(objects) => (step(&under(name), id), Some(id.to_owned()), objects.get(id)),
            None => (under(id), Some(id.to_owned()), holder.get(id).filter(|value| value.is_object())),
        };
        placed.push(PlacedStage { path, key, value: value.cloned().ok_or_else(|| missing(i, id))? });
    }
    match objects {
        Some(Value::Array(objects)) => {
            let mut seen: Vec<String> = Vec::new();
            let places = objects.into_iter().map(|stage| match own_id(&stage).map(str::to_owned) {
                Some(id) if ids.contains(&id.as_str()) && !seen.contains(&id) => {
                    seen.push(id.clone());
                    Value::String(id)
                }
                _ => json!([stage]),
            });
            note.insert("places".into(), places.collect());
        }
        Some(Value::Object(mut objects)) => {
            ids.iter().for_each(|id| drop(objects.shift_remove(*id)));
            note.insert("places".into(), Value::Object(objects));
        }
        _ => ids.iter().for_each(|id| drop(holder.shift_remove(*id))),
    }
    note.extend(home.map(|home| ("objects".to_owned(), json!(home))));
    Ok(placed)
}

/// What is missing where a list names a stage.
pub(in crate::plan::dialect) fn no_object(id: &str) -> String {
    format!("there is no stage object for `{id}`; write it in its place, or beside the list as an entry of `stage_definitions`")
}

/// How the stages of a plan were laid out when it was read.
#[derive(Default)]
pub(super) struct StagesLayout<'n> {
    note: Option<&'n Map<String, Value>>,
}

impl<'n> StagesLayout<'n> {
    /// The note in a plan's unknown fields.
    pub fn of(ext: &'n Map<String, Value>) -> Self {
        Self { note: ext.get(LAYOUT).and_then(Value::as_object) }
    }

    fn text(&self, key: &str) -> Option<&'n str> {
        self.note?.get(key)?.as_str()
    }

    /// Whether a stage's place tells its id.
    pub fn keyed(&self, id: &str) -> bool {
        match self.text("form") {
            Some("map") => true,
            Some("ids") => !self.is_inline(id) && !self.note.is_some_and(|note| note.get("places").is_some_and(Value::is_array)),
            _ => false,
        }
    }

    /// Whether the object of a stage is in the list, among ids of others.
    fn is_inline(&self, id: &str) -> bool {
        let inline = self.note.and_then(|note| note.get("inline")?.as_array());
        inline.is_some_and(|ids| ids.iter().any(|inline| inline.as_str() == Some(id)))
    }

    /// The name of what `stages` and maybe `edges` are inside, with a point behind it.
    fn prefix(&self) -> String {
        self.text("graph").map(|name| format!("{name}.")).unwrap_or_default()
    }

    /// The place of a stage.
    pub fn place(&self, at: usize, id: &str) -> String {
        let list = format!("{}stages", self.prefix());
        match self.text("form") {
            Some("map") => step(&list, id),
            Some("ids") if !self.is_inline(id) => {
                let prefix = if self.text("beside") == Some("graph") { self.prefix() } else { String::new() };
                let home = format!("{prefix}{}", step("", self.text("objects").unwrap_or_default()));
                match self.note.and_then(|note| note.get("places")) {
                    Some(Value::Array(places)) => {
                        let place = places.iter().position(|place| place.as_str() == Some(id));
                        place.map_or(format!("{list}[{at}]"), |place| format!("{home}[{place}]"))
                    }
                    Some(Value::Object(_)) => step(&home, id),
                    _ => format!("{prefix}{}", step("", id)),
                }
            }
            _ => format!("{list}[{at}]"),
        }
    }

    /// The place of the list of edges.
    pub fn edges(&self) -> String {
        if self.text("edges") == Some("graph") { format!("{}edges", self.prefix()) } else { "edges".to_owned() }
    }

    /// Puts stages and edges where they were.
    pub fn put(&self, document: &mut Map<String, Value>, stages: Vec<(String, Value)>, edges: Option<Value>) {
        let list = match self.text("form") {
            Some("map") => Value::Object(stages.into_iter().collect()),
            Some("ids") => {
                let list = stages.iter().map(|(id, stage)| if self.is_inline(id) { stage.clone() } else { json!(id) }).collect();
                let name = self.text("graph").filter(|_| self.text("beside") == Some("graph"));
                let beside = stages.into_iter().filter(|(id, _)| !self.is_inline(id)).collect();
                let inner = name.and_then(|name| document.get_mut(name)).and_then(Value::as_object_mut);
                match inner {
                    Some(inner) => self.put_beside(inner, beside),
                    None => self.put_beside(document, beside),
                }
                list
            }
            _ => stages.into_iter().map(|(_, stage)| stage).collect(),
        };
        let graph = self.text("graph").and_then(|name| document.get_mut(name)).and_then(Value::as_object_mut);
        let in_graph = self.text("edges") == Some("graph");
        match graph {
            Some(graph) => {
                graph.insert("stages".into(), list);
                match (edges, in_graph) {
                    (Some(edges), true) => drop(graph.insert("edges".into(), edges)),
                    (Some(edges), false) => drop(document.insert("edges".into(), edges)),
                    (None, _) => {}
                }
            }
            None => {
                document.insert("stages".into(), list);
                if let Some(edges) = edges {
                    document.insert("edges".into(), edges);
                }
            }
        }
    }

    fn put_beside(&self, document: &mut Map<String, Value>, stages: Vec<(String, Value)>) {
        let home = self.text("objects").unwrap_or_default().to_owned();
        match self.note.and_then(|note| note.get("places")) {
            Some(Value::Array(places)) => {
                let mut objects = Vec::new();
                for place in places {
                    match place {
                        Value::String(id) => objects.extend(stages.iter().find(|(known, _)| known == id).map(|(_, stage)| stage.clone())),
                        // What is no stage of the plan is in a list, as it was.
                        other => objects.extend(other.as_array().into_iter().flatten().cloned()),
                    }
                }
                let mut written: Vec<&str> = places.iter().filter_map(Value::as_str).collect();
                for (id, stage) in &stages {
                    if !written.contains(&id.as_str()) {
                        written.push(id);
                        objects.push(stage.clone());
                    }
                }
                document.insert(home, Value::Array(objects));
            }
            Some(Value::Object(places)) => {
                let objects: Map<String, Value> = places.clone().into_iter().chain(stages).collect();
                document.insert(home, Value::Object(objects));
            }
            _ => document.extend(stages),
        }
    }
}
