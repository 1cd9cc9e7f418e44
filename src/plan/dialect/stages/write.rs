//! From a plan to a stage document.

use super::super::draft::Loss;
use super::super::draft::{DocumentDraft, rename};
use super::super::field_names::DocumentPart;
use super::super::names::NAMES;
use super::layout::StagesLayout;
use super::names::{IMPLIED, is_memo};
use super::{DIALECT, StageType, name_of, plain_work, read};
use crate::plan::{Node, NodeId, Plan};
use serde_json::{Map, Value, json};

pub(in crate::plan) fn write(plan: &Plan) -> (Value, Vec<Loss>) {
    let mut draft = DocumentDraft::new(plan, DIALECT);
    let mut document = Map::new();
    draft.head(&mut document, &[]);
    let note = if draft.is_same() { StagesLayout::of(&plan.ext) } else { StagesLayout::default() };
    let is_line = draft.is_same() && is_line(plan);
    let edges = draft.edges();
    let (entries, exits) = draft.walk(&edges);
    let stage_ids = !draft.is_same() || plan.nodes.iter().any(|node| stood(node, "stage_id"));
    let sources = read::sources(plan);
    let mut stages = Vec::new();
    for (at, node) in draft.nodes() {
        let place = format!("nodes[{at}]");
        let Some(kind) = StageType::of(&node.kind) else { continue };
        let mut written = Map::new();
        let key = match (stood(node, "stage_id"), note.keyed(&node.id)) {
            (true, _) => Some("stage_id"),
            (false, true) => stood(node, "id").then_some("id"),
            (false, false) if stage_ids && (node.ext.is_empty() || !draft.is_same()) => Some("stage_id"),
            (false, false) => Some("id"),
        };
        written.extend(key.map(|key| (key.to_owned(), json!(node.id.as_str()))));
        let mut ext = node.ext.clone();
        put_type(&draft, &mut ext, kind, &mut written);
        for (name, flags) in [("entrypoint", &entries), ("terminal", &exits)] {
            if flags.contains(&at) {
                written.insert(name.into(), json!(true));
            }
        }
        let mut fields = draft.fields(node);
        ["entry", "exit"].iter().for_each(|key| drop(fields.shift_remove(*key)));
        let from: &[&NodeId] = sources.get(&node.id).map_or(&[], Vec::as_slice);
        put_kind(&mut draft, &place, (node, kind, from), &mut fields, &mut written);
        draft.carry_gate(&node.ext, &mut fields, &mut written);
        draft.lose_rest(&place, &fields);
        draft.carry(&place, &mut written, &ext, DocumentPart::Node);
        stages.push((node.id.to_string(), Value::Object(written)));
    }
    let names = [("when", "condition"), ("id", "edge_id")];
    let edges = if is_line { Vec::new() } else { draft.put_edges(&edges, ["from_stage_id", "to_stage_id"], &names) };
    let edges = (!edges.is_empty()).then_some(Value::Array(edges));
    note.put(&mut document, stages, edges);
    (Value::Object(document), draft.finish())
}

/// The type as it was written, if the work is still of that type; a stage that was read without one may do without.
fn put_type(draft: &DocumentDraft, ext: &mut Map<String, Value>, kind: StageType, written: &mut Map<String, Value>) {
    let noted = ext.shift_remove("type").filter(|_| draft.is_same());
    let name = match &noted {
        Some(Value::String(name)) if StageType::named(name) == Some(kind) => name.as_str(),
        Some(Value::Null) if implies(ext, kind) => return,
        Some(_) => {
            // The work was changed since: how it was written before is of no use.
            ext.retain(|key, _| !is_memo(key));
            kind.name()
        }
        None => kind.name(),
    };
    written.insert("type".into(), json!(name));
}

/// Whether other fields show the type.
fn implies(ext: &Map<String, Value>, kind: StageType) -> bool {
    match ext.get("role").and_then(Value::as_str).and_then(StageType::named) {
        Some(role) => role == kind,
        None => matches!(kind, StageType::Agent | StageType::Tool),
    }
}

/// Whether the plan is one line in document order, which is what a document without edges says.
fn is_line(plan: &Plan) -> bool {
    let mut before: Option<&NodeId> = None;
    plan.edges.is_empty()
        && plan.nodes.iter().all(|node| {
            let expected = before.replace(&node.id).filter(|before| **before != node.id);
            node.depends_on.len() <= 1 && node.depends_on.first() == expected
        })
}

/// Whether a field of this name was read.
fn stood(node: &Node, name: &str) -> bool {
    node.ext.get(name).is_some_and(|value| !value.is_null())
}

/// The name under which a field stood, or the first of its names.
pub(super) fn under<'n>(node: &Node, names: &[&'n str]) -> &'n str {
    let noted = names.iter().find(|name| stood(node, name));
    noted.or(names.first()).copied().unwrap_or_default()
}

fn put_kind(
    draft: &mut DocumentDraft,
    place: &str,
    (node, kind, sources): (&Node, StageType, &[&NodeId]),
    fields: &mut Map<String, Value>,
    written: &mut Map<String, Value>,
) {
    let name = |names: &[&'static str]| if draft.is_same() { under(node, names) } else { names[0] };
    // The agent of a stage without one has a role, for which stages have no field.
    let may_be_implied = node.ext.contains_key(IMPLIED) || kind == StageType::Agent;
    if draft.is_same() && may_be_implied && plain_work(kind, name_of(node), sources).as_ref() == Some(&node.kind) {
        for key in ["role", "decide", "value"] {
            fields.shift_remove(key);
        }
        return;
    }
    match kind {
        StageType::Agent => put_agent(fields, written, name(&NAMES.stage.agent), name(&NAMES.stage.objective)),
        StageType::Tool => {
            rename(fields, "tool", written, name(&NAMES.stage.tool));
            rename(fields, "query", written, "query");
            rename(fields, "args", written, name(&NAMES.stage.args));
        }
        StageType::Decision => match fields.shift_remove("decide") {
            Some(Value::Object(mut agent)) => {
                put_agent(&mut agent, written, name(&NAMES.stage.agent), name(&NAMES.stage.objective));
                draft.lose_rest(&format!("{place}.decide"), &agent);
            }
            Some(expression) => {
                written.insert(name(&NAMES.stage.decide).into(), expression);
            }
            None => {}
        },
        StageType::Merge => {
            if let Some(Value::Object(mut merge)) = fields.shift_remove("merge") {
                rename(&mut merge, "template", written, "template");
            }
        }
        StageType::Transform => rename(fields, "value", written, name(&NAMES.stage.value)),
    }
}

fn put_agent(fields: &mut Map<String, Value>, written: &mut Map<String, Value>, agent: &str, objective: &str) {
    rename(fields, "agent", written, agent);
    rename(fields, "objective", written, objective);
}
