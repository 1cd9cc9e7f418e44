//! Where the stages of a document are: a list of objects, an object by id, or a list of ids with the objects beside it; all of it
//! at the top or inside of a `workflow`. What isn't the plain list is noted, so that the document is written back as it was.

use super::names::{GRAPHS, LAYOUT};
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
    let graph = GRAPHS.into_iter().find(|name| document.get(*name).is_some_and(|graph| graph.get("stages").is_some()));
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
        Value::Array(list) if list.iter().any(Value::is_string) => beside(list, &path, &mut document, &mut note)?,
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

/// Stages whose ids are in a list: the objects are found under another name, by their ids or as entries by id.
fn beside(
    list: Vec<Value>,
    path: &str,
    document: &mut Map<String, Value>,
    note: &mut Map<String, Value>,
) -> Result<Vec<PlacedStage>, ShapeError> {
    let mut ids = Vec::new();
    for (i, value) in list.into_iter().enumerate() {
        match value {
            Value::String(id) => ids.push(id),
            other => {
                let message = format!("stages must be all ids or all objects, and this is {}", kind(&other));
                return Err(ShapeError { path: format!("{path}[{i}]"), message });
            }
        }
    }
    let holds = |value: &Value| match value {
        Value::Array(list) => list.iter().any(|stage| own_id(stage).is_some_and(|id| ids.iter().any(|known| known == id))),
        Value::Object(map) => ids.iter().any(|id| map.get(id).is_some_and(Value::is_object)),
        _ => false,
    };
    let home = document.iter().find(|(_, value)| holds(value)).map(|(key, _)| key.clone());
    let missing = |i: usize, id: &str| ShapeError {
        path: format!("{path}[{i}]"),
        message: format!("there is no stage object for `{id}`; write it beside the list, as an entry of `stage_definitions`"),
    };
    note.insert("form".into(), json!("ids"));
    let mut placed = Vec::new();
    match home.as_ref().and_then(|home| document.shift_remove(home).map(|value| (home, value))) {
        Some((home, Value::Array(objects))) => {
            for (i, id) in ids.iter().enumerate() {
                let at = objects.iter().position(|stage| own_id(stage) == Some(id)).ok_or_else(|| missing(i, id))?;
                placed.push(PlacedStage { path: format!("{}[{at}]", step("", home)), key: None, value: objects[at].clone() });
            }
            let mut seen: Vec<String> = Vec::new();
            let places = objects.into_iter().map(|stage| match own_id(&stage).map(str::to_owned) {
                Some(id) if ids.contains(&id) && !seen.contains(&id) => {
                    seen.push(id.clone());
                    Value::String(id)
                }
                _ => json!([stage]),
            });
            note.insert("places".into(), places.collect());
            note.insert("objects".into(), json!(home));
        }
        Some((home, Value::Object(mut objects))) => {
            for (i, id) in ids.iter().enumerate() {
                let value = objects.get(id).cloned().ok_or_else(|| missing(i, id))?;
                placed.push(PlacedStage { path: step(&step("", home), id), key: Some(id.clone()), value });
            }
            ids.iter().for_each(|id| drop(objects.shift_remove(id)));
            note.insert("places".into(), Value::Object(objects));
            note.insert("objects".into(), json!(home));
        }
        _ => {
            for (i, id) in ids.iter().enumerate() {
                let value = document.get(id).filter(|value| value.is_object()).cloned().ok_or_else(|| missing(i, id))?;
                placed.push(PlacedStage { path: step("", id), key: Some(id.clone()), value });
            }
            ids.iter().for_each(|id| drop(document.shift_remove(id)));
        }
    }
    Ok(placed)
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
    pub fn keyed(&self) -> bool {
        match self.text("form") {
            Some("map") => true,
            Some("ids") => !self.note.is_some_and(|note| note.get("places").is_some_and(Value::is_array)),
            _ => false,
        }
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
            Some("ids") => {
                let home = step("", self.text("objects").unwrap_or_default());
                match self.note.and_then(|note| note.get("places")) {
                    Some(Value::Array(places)) => {
                        let place = places.iter().position(|place| place.as_str() == Some(id));
                        place.map_or(format!("{list}[{at}]"), |place| format!("{home}[{place}]"))
                    }
                    Some(Value::Object(_)) => step(&home, id),
                    _ => step("", id),
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
        let ids: Value = stages.iter().map(|(id, _)| json!(id)).collect();
        let list = match self.text("form") {
            Some("map") => Value::Object(stages.into_iter().collect()),
            Some("ids") => {
                self.put_beside(document, stages);
                ids
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
