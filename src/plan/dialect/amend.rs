//! Makes a document readable before its reader sees it, so that every document with anything like nodes opens. Names and values with one
//! obvious meaning are read that way; what the reader refuses is set aside, field by field, with the reader's own words, until it reads
//! the rest. Each step is a `FieldReading`, so nothing is lost. Refuses only what holds nothing like nodes.

use super::aliases;
use super::coerce::{coerced, ends_of};
use super::field_names::{DocumentPart, is_field};
use super::forms::{DocumentShape, is_alias};
use super::locate::{PathStep, at, steps};
use super::names::NAMES;
use super::outline::{self, outline};
use super::reading::{self, FieldReading, aside, read_as, rename_key, replace, stand_in_id};
use super::stages;
use super::values::{node_from_value, node_to_value, shaped, tell};
use crate::plan::Dialect;
use crate::plan::fields::{is_quiet, step};
use crate::plan::native::{MAX_DEPTH, ShapeError, is_node_field, node_fields, object};
use serde_json::{Map, Value, json};

/// How often one object is read again, at most: each time something of it was set aside.
const MOST_TRIES: usize = 64;

/// Amends a document in place and tells its dialect.
///
/// # Errors
/// When it holds nothing like nodes.
pub(super) fn amend(document: &mut Value, path: &str, depth: usize) -> Result<Dialect, ShapeError> {
    let mut notes = outline(document);
    let mut shape = loop {
        match (tell(document), &mut *document) {
            (Ok(shape), _) => break shape,
            // Of two shapes the first counts.
            (Err(error), Value::Object(map)) if map.contains_key(&error.path) => aside(map, &error.path, error.message, &mut notes),
            (Err(error), _) => return Err(error),
        }
    };
    let Value::Object(map) = document else { return Ok(shape) };
    outline::version(map, &mut notes)?;
    let form = DocumentShape::of(map, shape);
    notes.extend(document_names(map, &form));
    notes.extend(form.edges.and_then(|edges| super::spread::spread(map, edges, &form.end_names())));
    parts(map, &form, path, depth);
    // Fields under other names may have hidden whose nodes these are.
    let told = if shape == Dialect::Native { tell(document)? } else { shape };
    let Value::Object(map) = document else { return Ok(shape) };
    if told != shape {
        shape = told;
        parts(map, &DocumentShape::of(map, shape), path, depth);
    }
    head(map, shape, path, &mut notes);
    reading::note(map, notes);
    Ok(shape)
}

/// Every node and every edge of a document, with its place.
fn parts(map: &mut Map<String, Value>, shape: &DocumentShape, path: &str, depth: usize) {
    if shape.dialect == Dialect::Stages
        && let Some(graph) =
            NAMES.stage.graphs.iter().copied().find(|name| map.get(*name).is_some_and(|graph| graph.get("stages").is_some()))
        && let Some(Value::Object(mut inner)) = map.get_mut(graph).map(Value::take)
    {
        let place = step(path, graph);
        stage_ids(&mut inner, (map, path), shape, &place, depth);
        lists(&mut inner, shape, &place, depth);
        map.insert(graph.to_owned(), Value::Object(inner));
    }
    stage_ids(map, (&mut Map::new(), path), shape, path, depth);
    lists(map, shape, path, depth);
}

/// Stages of which some are ids in their list: the objects beside it are amended, and what has none gets a stand-in.
fn stage_ids(map: &mut Map<String, Value>, outer: (&mut Map<String, Value>, &str), shape: &DocumentShape, path: &str, depth: usize) {
    let is_ids = |list: &mut Value| list.as_array().is_some_and(|list| list.iter().any(Value::is_string));
    if shape.dialect != Dialect::Stages || !map.get_mut(shape.nodes).is_some_and(is_ids) {
        return;
    }
    let Some(Value::Array(mut list)) = map.get_mut(shape.nodes).map(Value::take) else { return };
    let (holder, place) = if stages::holds_one(map, &list) { (&mut *map, path) } else { outer };
    let mut found = Vec::new();
    for (id, inner, is_key, object) in stages::beside_list(holder, &list) {
        if is_key {
            own_id(object, &id);
        }
        let prefix = if place.is_empty() || inner.starts_with('[') { place.to_owned() } else { format!("{place}.") };
        node_at(object, shape, &format!("{prefix}{inner}"), None, depth);
        found.push(id);
    }
    for entry in &mut list {
        let Some(id) = entry.as_str().filter(|id| !found.iter().any(|found| found == id)).map(str::to_owned) else { continue };
        let mut object = Map::from_iter([("stage_id".to_owned(), json!(id)), ("type".to_owned(), json!("AGENT"))]);
        // Two readings, so that the object is still missing when its id was changed.
        let whole = FieldReading { read: Some(Value::Object(object.clone())), written: Some(entry.take()), ..FieldReading::default() };
        let kind = FieldReading::of("type", json!("AGENT"), stages::no_object(&id));
        let kind = FieldReading { inside: Some(String::new()), wrong: true, ..kind };
        reading::note(&mut object, vec![whole, kind]);
        *entry = Value::Object(object);
    }
    map.insert(shape.nodes.to_owned(), Value::Array(list));
}

fn lists(map: &mut Map<String, Value>, shape: &DocumentShape, path: &str, depth: usize) {
    let place = step(path, shape.nodes);
    outline::ids_by_name(map, shape);
    match map.get_mut(shape.nodes) {
        Some(Value::Array(list)) => {
            // Ids beside which the objects stand are no stages themselves.
            let is_id = |node: &Value| shape.dialect == Dialect::Stages && node.is_string();
            for (at, node) in list.iter_mut().enumerate().filter(|(_, node)| !is_id(node)) {
                node_at(node, shape, &format!("{place}[{at}]"), Some(at), depth);
            }
        }
        Some(Value::Object(by_id)) => {
            for (key, node) in by_id.iter_mut() {
                own_id(node, key);
                node_at(node, shape, &step(&place, key), None, depth);
            }
        }
        _ => {}
    }
    let Some(edges) = shape.edges else { return };
    let place = step(path, edges);
    if let Some(Value::Array(list)) = map.get_mut(edges) {
        for (at, edge) in list.iter_mut().enumerate() {
            edge_at(edge, shape, &format!("{place}[{at}]"));
        }
    }
}

/// Where the key is the id, another one inside is set aside.
fn own_id(node: &mut Value, key: &str) {
    let Value::Object(map) = node else { return };
    let mut notes = Vec::new();
    for name in ["stage_id", "id"] {
        if let Some(id) = map.get(name).filter(|id| !id.is_null() && id.as_str() != Some(key)) {
            let message = format!("this stage has the key `{key}` but the id {id}: the key counts");
            aside(map, name, message, &mut notes);
        }
    }
    reading::note(map, notes);
}

/// `at` is the position in a list, which can give an id.
fn node_at(node: &mut Value, shape: &DocumentShape, path: &str, at: Option<usize>, depth: usize) {
    let mut stands_in = None;
    if !node.is_object() {
        stands_in = Some(whole(node, json!({}), "must be an object".to_owned(), true));
    }
    let Value::Object(map) = node else { return };
    let mut notes = renamed(map, &shape.node_names(map));
    if let Some(field) = shape.depends_on {
        dependencies(map, field, &mut notes);
    } else {
        away(map, &NAMES.node.depends_on, "write the order as an edge of the document", &mut notes);
    }
    if !shape.is_literal {
        gate(map, shape.dialect, &mut notes);
    }
    shape.implied(map, &mut notes);
    let is_named = |name: &str| map.get(name).is_some_and(|id| !id.is_null());
    if let Some(at) = at.filter(|_| !(is_named("id") || shape.dialect == Dialect::Stages && is_named("stage_id"))) {
        let field = if shape.dialect == Dialect::Stages { "stage_id" } else { "id" };
        let here = map.keys().position(|key| key == field).unwrap_or(0);
        let written = map.shift_remove(field);
        let id = stand_in_id(at);
        let message = format!("has no `{field}`: read as `{id}`");
        map.shift_insert(here, field.to_owned(), json!(id));
        notes.push(FieldReading { written, ..FieldReading::of(field, json!(id), message) });
    }
    if shape.dialect == Dialect::Native {
        for field in ["plan", "body"] {
            let place = step(path, field);
            if let Some(body) = map.get_mut(field).filter(|body| (body.is_object() || body.is_array()) && depth < MAX_DEPTH) {
                // What is no plan is set aside below, with the words of the reader.
                let _ = amend(body, &place, depth + 1);
            }
        }
    }
    settle(map, (shape, path), &mut notes, |value| (shape.read_node)(value, path));
    if shape.dialect == Dialect::Native && !notes.is_empty() {
        as_written_again(map, path, &mut notes);
    }
    note_all(map, notes, stands_in);
}

/// What was read, as a native node is written again: with the defaults of an object and the form of a number.
fn as_written_again(map: &Map<String, Value>, path: &str, notes: &mut [FieldReading]) {
    let Ok(node) = node_from_value(Value::Object(map.clone()), path) else { return };
    let fields = object(node_to_value(&node));
    for note in notes.iter_mut().filter(|note| note.list.is_none() && note.read.is_some()) {
        if let Some(written) = fields.get(&note.field) {
            note.read = Some(written.clone());
        }
    }
}

fn edge_at(edge: &mut Value, shape: &DocumentShape, path: &str) {
    let [from, to] = shape.ends;
    let mut stands_in = None;
    if !edge.is_object() {
        stands_in = Some(match ends_of(edge) {
            Some((a, b)) => {
                let message = format!("is read as an edge from `{a}` to `{b}`");
                whole(edge, json!({from: a, to: b}), message, false)
            }
            None => whole(edge, json!({from: "", to: ""}), "must be an object with the ends of an edge".to_owned(), true),
        });
    }
    let Value::Object(map) = edge else { return };
    let mut notes = renamed(map, shape.edge_names);
    away(map, &NAMES.gate.names, "an edge asks nobody: write `approve` on a node", &mut notes);
    settle(map, (shape, path), &mut notes, |value| (shape.read_edge)(value, path));
    note_all(map, notes, stands_in);
}

/// Something else is where an object belongs.
fn whole(place: &mut Value, stand_in: Value, message: String, wrong: bool) -> FieldReading {
    let written = std::mem::replace(place, stand_in);
    FieldReading { written: Some(written), message, wrong, ..FieldReading::default() }
}

/// Notes what was read; where the whole object stands in for something else, that one thing.
fn note_all(map: &mut Map<String, Value>, notes: Vec<FieldReading>, stands_in: Option<FieldReading>) {
    match stands_in {
        Some(whole) => reading::note(map, vec![FieldReading { read: Some(Value::Object(map.clone())), ..whole }]),
        None => reading::note(map, notes),
    }
}

/// Ids in the field that holds them: text for a list, numbers, objects with an id, and words that mean none.
fn dependencies(map: &mut Map<String, Value>, field: &str, notes: &mut Vec<FieldReading>) {
    let Some(written) = map.get(field) else { return };
    let one = |value: &Value| match value {
        Value::String(id) => Some(vec![id.clone()]),
        Value::Number(number) => Some(if number.as_f64() < Some(0.0) { Vec::new() } else { vec![number.to_string()] }),
        Value::Object(entry) => {
            let name = NAMES.node.reference.iter().find(|name| entry.get(**name).is_some_and(Value::is_string))?;
            // What else it says holds of any dependency.
            let is_usual = |(field, value): (&String, &Value)| {
                let said = value.as_str().map(aliases::plain).unwrap_or_default();
                let words = [&NAMES.outcome.success, &NAMES.node.usual];
                field == name || is_quiet(value) || words.iter().any(|words| words.contains(&said.as_str()))
            };
            entry.iter().all(is_usual).then(|| vec![entry[*name].as_str().unwrap_or_default().to_owned()])
        }
        Value::Null | Value::Bool(_) | Value::Array(_) => None,
    };
    let none = ["", "none", "null", "n/a", "nil", "-"];
    let ids: Option<Vec<String>> = match written {
        Value::String(text) if none.contains(&text.trim().to_ascii_lowercase().as_str()) => Some(Vec::new()),
        Value::String(text) => Some(text.split(',').map(|id| id.trim().to_owned()).filter(|id| !id.is_empty()).collect()),
        Value::Number(_) | Value::Object(_) => one(written),
        Value::Array(list) => list.iter().map(one).collect::<Option<Vec<_>>>().map(|lists| lists.concat()),
        Value::Null | Value::Bool(_) => return,
    };
    let Some(read) = ids.map(|ids| json!(ids)).filter(|read| read != written) else { return };
    let written = written.clone();
    let message = format!("`{field}` is a list of ids: {written} is read as {read}");
    replace(map, field, read, message, false, notes);
}

/// Whether a field means something here, whatever it holds.
fn is_known(dialect: Dialect, part: DocumentPart, name: &str) -> bool {
    is_field(dialect, part, name) || is_alias(dialect, part, name) || NAMES.unknown.harmless.contains(&name)
}

/// Fields that would ask a person are never passed over: they read as `approve`.
fn gate(map: &mut Map<String, Value>, dialect: Dialect, notes: &mut Vec<FieldReading>) {
    let own = (dialect != Dialect::Native).then_some("approve");
    let names: Vec<String> = map.keys().cloned().collect();
    for name in names {
        let Some(asked) = map.get(&name).and_then(|value| aliases::gate(&name, value, own)) else { continue };
        if name != "approve" && map.get("approve").is_some_and(|approve| !approve.is_null()) {
            if map.get("approve") != Some(&json!(asked)) {
                aside(map, &name, format!("`{name}` means `approve`, which is there too: keep one of them"), notes);
            }
            continue;
        }
        let message = format!("`{name}` is read as `approve: {asked}`");
        read_as(map, (&name, "approve"), json!(asked), message, notes);
    }
    if let Some((name, asked)) = aliases::inner_gate(map, |name| is_known(dialect, DocumentPart::Node, name)) {
        match map.get("approve").filter(|approve| !approve.is_null()) {
            Some(approve) if approve == asked => {}
            Some(_) => aside(map, holder(&name), format!("`{name}` means `approve`, which is there too: keep one of them"), notes),
            None => {
                let message = format!("`{name}` is read as `approve: {asked}`");
                map.insert("approve".into(), json!(asked));
                notes.push(FieldReading { field: "approve".into(), read: Some(json!(asked)), name, message, ..FieldReading::default() });
            }
        }
    }
    // `approve: true` is no choice of the field's own.
    if dialect == Dialect::Native
        && let Some(asked) = map.get("approve").filter(|value| aliases::is_no_choice(value)).and_then(aliases::asks)
    {
        replace(map, "approve", json!(asked), format!("`approve` is read as `{asked}`"), false, notes);
    }
}

/// The fields of the document itself.
fn document_names(map: &mut Map<String, Value>, shape: &DocumentShape) -> Vec<FieldReading> {
    let mut notes = renamed(map, shape.document_names);
    if shape.is_literal {
        return notes;
    }
    let names: Vec<String> = map.keys().cloned().collect();
    for name in names {
        let Some(asked) = map.get(&name).and_then(|value| aliases::gate(&name, value, Some("approve"))) else { continue };
        if map.contains_key("defaults") {
            aside(map, &name, format!("`{name}` would ask for every node: write `approve` into `defaults`"), &mut notes);
            continue;
        }
        let message = format!("`{name}` is read as `approve: {asked}` for every node that says nothing else");
        read_as(map, (&name, "defaults"), json!({ "approve": asked }), message, &mut notes);
    }
    defaults_gate(map, shape.dialect, &mut notes);
    notes
}

/// The field that a path begins with.
fn holder(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}

/// A gate for every node, in `defaults` of a form that has none, or inside of what holds settings of the plan.
fn defaults_gate(map: &mut Map<String, Value>, dialect: Dialect, notes: &mut Vec<FieldReading>) {
    let other = aliases::inner_gate(map, |name| name == "defaults" || is_known(dialect, DocumentPart::Plan, name));
    if let (Some((name, asked)), Some(defaults)) = (other, map.get("defaults"))
        && defaults.get("approve") != Some(&json!(asked))
    {
        aside(map, holder(&name), format!("`{name}` would ask for every node: write `approve` into `defaults`"), notes);
    }
    let mut read_as = |map: &mut Map<String, Value>, name: &str, asked: &str| {
        let (written, read) = (map.get(name).cloned(), json!({ "approve": asked }));
        map.insert("defaults".into(), read.clone());
        let (shown, name) = (if name == "defaults" { "defaults.approve" } else { name }, name.to_owned());
        let message = format!("`{shown}` is read as `approve: {asked}` for every node that says nothing else");
        notes.push(FieldReading { field: "defaults".into(), read: Some(read), name, written, message, ..FieldReading::default() });
    };
    match map.get("defaults").filter(|_| dialect != Dialect::Native) {
        Some(Value::Object(defaults)) => {
            let Some(asked) = defaults.get("approve").and_then(aliases::asks) else { return };
            if defaults.len() == 1 {
                read_as(map, "defaults", asked);
            } else {
                let name = dialect.name();
                aside(map, "defaults", format!("the {name} format takes `approve` alone from `defaults`"), notes);
            }
        }
        Some(_) | None => {
            if let Some((name, asked)) =
                aliases::inner_gate(map, |name| is_known(dialect, DocumentPart::Plan, name)).filter(|_| !map.contains_key("defaults"))
            {
                read_as(map, &name, asked);
            }
        }
    }
}

/// Reads the document without its nodes and edges until that succeeds.
fn head(map: &mut Map<String, Value>, dialect: Dialect, path: &str, notes: &mut Vec<FieldReading>) {
    let shape = DocumentShape::of(map, dialect);
    if dialect == Dialect::Stages {
        if map.get("edges").is_some_and(|edges| !edges.is_array() && !edges.is_null()) {
            aside(map, "edges", "must be a list".to_owned(), notes);
        }
        return;
    }
    let mut bare: Map<String, Value> = map.clone();
    for list in [Some(shape.nodes), shape.edges].into_iter().flatten() {
        match map.get(list) {
            Some(Value::Array(_)) => drop(bare.insert(list.to_owned(), json!([]))),
            // A plan without anything like nodes is refused.
            Some(_) if list == shape.nodes => return,
            Some(_) | None => {}
        }
    }
    let lists = bare.clone();
    settle(&mut bare, (&shape, path), notes, |value| shaped(dialect, value).map(drop));
    for (key, value) in bare {
        if lists.get(&key) != Some(&value) {
            map.insert(key, value);
        }
    }
    for reading in notes.iter().filter(|reading| reading.read.is_none() && reading.list.is_none()) {
        map.shift_remove(&reading.field);
    }
}

/// Reads an object until that succeeds: the field that the reader refuses is read as what it obviously means, or set aside; a field that
/// is missing gets a stand-in.
fn settle<T>(
    map: &mut Map<String, Value>,
    (shape, path): (&DocumentShape, &str),
    notes: &mut Vec<FieldReading>,
    read: impl Fn(Value) -> Result<T, ShapeError>,
) {
    for _ in 0..MOST_TRIES {
        let Err(error) = read(Value::Object(map.clone())) else { return };
        let rest = error.path.strip_prefix(path).unwrap_or(&error.path).trim_start_matches('.');
        let way = steps(rest);
        let Some(PathStep::Key(field)) = way.first() else { return };
        if !map.contains_key(field) {
            let stand_in = shape.stand_in(field);
            let here = notes.iter().find(|note| note.field == *field).and_then(|note| note.at).unwrap_or(map.len());
            map.shift_insert(here.min(map.len()), field.clone(), stand_in.clone());
            match notes.iter().position(|note| note.field == *field) {
                Some(at) => notes[at].read = Some(stand_in),
                None => {
                    // What kind a node is of was missed already.
                    let is_missed = notes.iter().any(|note| note.field == "type" && note.wrong);
                    let message = if is_missed { String::new() } else { error.message };
                    notes.push(FieldReading { wrong: true, ..FieldReading::of(field, stand_in, message) });
                }
            }
            continue;
        }
        let meant = coerced(map, field, &way[1..]).into_iter().find(|changed| {
            let tried = read(Value::Object(changed.clone()));
            tried.err().is_none_or(|next| next.path != error.path)
        });
        match meant {
            Some(changed) => {
                let read = changed.get(field).cloned().unwrap_or_default();
                let message = format!("{}; read as {}", error.message, at(&read, &way[1..]).unwrap_or(&read));
                replace(map, field, read, message, false, notes);
            }
            None => {
                aside(map, field, error.message, notes);
                if let Some(note) = notes.iter_mut().find(|note| note.field == *field) {
                    note.inside = Some(rest.to_owned()).filter(|_| way.len() > 1 && note.name == *field);
                }
            }
        }
    }
}

/// Sets fields aside that say something which this kind of object can't hold.
fn away(map: &mut Map<String, Value>, names: &[&str], words: &str, notes: &mut Vec<FieldReading>) {
    let found: Vec<String> =
        map.iter().filter(|(key, value)| names.contains(&key.as_str()) && !is_quiet(value)).map(|(key, _)| key.clone()).collect();
    for name in found {
        aside(map, &name, format!("`{name}` means nothing here: {words}"), notes);
    }
}

/// Puts known fields under their right names: those of the table, and those that differ in case and separators alone.
fn renamed(map: &mut Map<String, Value>, names: &[(&str, &str)]) -> Vec<FieldReading> {
    let mut notes: Vec<FieldReading> = Vec::new();
    // `if: false` says something.
    let says = |key: &str, value: &Value| !is_quiet(value) || *value == Value::Bool(false) && names.contains(&(key, "when"));
    let written: Vec<String> = map.iter().filter(|(key, value)| says(key, value)).map(|(key, _)| key.clone()).collect();
    for name in written {
        let right = names.iter().find(|(wrong, right)| *wrong == name && *right != name).or_else(|| {
            let known = names.iter().any(|(_, right)| *right == name) || is_node_field(&name);
            names.iter().find(|(wrong, right)| !known && (aliases::is_alike(wrong, &name) || aliases::is_alike(right, &name)))
        });
        let native = || node_fields().find(|field| *field != name && !is_node_field(&name) && aliases::is_alike(field, &name));
        let is_native_node = names.iter().any(|(wrong, _)| *wrong == "tool_args");
        let Some(right) = right.map(|(_, right)| *right).or_else(|| native().filter(|_| is_native_node)) else { continue };
        if let Some(there) = map.get(right).filter(|value| !value.is_null()) {
            // Beside an id a name is the title.
            if (name.as_str(), right) != ("name", "id") && Some(there) != map.get(&name) {
                let message = format!("`{name}` means `{right}`, which is there too: keep one of them");
                let written = map.shift_remove(&name);
                notes.push(FieldReading { field: name.clone(), name, written, message, wrong: true, ..FieldReading::default() });
            }
            continue;
        }
        map.shift_remove(right);
        rename_key(map, &name, right);
        let (read, message) = (map.get(right).cloned(), format!("`{name}` is read as `{right}`"));
        notes.push(FieldReading { field: right.to_owned(), written: read.clone(), read, name, message, ..FieldReading::default() });
    }
    notes
}
