//! Tools plans: `{dag: [{id, tool, query, dependencies}]}`, where a query may hold `{{id.field}}`.

use super::draft::Loss;
use super::draft::{DocumentDraft, place};
use super::names::NAMES;
use super::parts::{self, nodes};
use crate::plan::fields::Fields;
use crate::plan::fields::ShapeError;
use crate::plan::{Catalog, Dialect, Node, NodeKind, Plan, ToolInfo, ToolInput, ToolNode};
use serde_json::{Value, json};

pub(super) fn read(value: Value) -> Result<Plan, ShapeError> {
    let mut fields = Fields::open(value, "", &NAMES.form(Dialect::Tools).document)?;
    let nodes = nodes(&mut fields, "dag", task)?;
    Ok(parts::plan(Dialect::Tools, nodes, Vec::new(), fields))
}

pub(super) fn task(value: Value, path: &str) -> Result<Node, ShapeError> {
    let mut fields = Fields::open(value, path, &NAMES.form(Dialect::Tools).node)?;
    let id = fields.need_text("id")?;
    let work = ToolNode { tool: fields.need_text("tool")?, input: ToolInput::Query(fields.need_text("query")?) };
    let depends_on = fields.ids("dependencies")?;
    Ok(Node { depends_on, ext: fields.rest(), ..Node::new(id.as_str(), NodeKind::Tool(work)) })
}

pub(super) fn write(plan: &Plan, catalog: &Catalog) -> (Value, Vec<Loss>) {
    DocumentDraft::new(plan, Dialect::Tools).whole("dag", &[], |draft, (at, node), fields, written| {
        written.insert("tool".into(), fields.shift_remove("tool").unwrap_or_default());
        let args = fields.shift_remove("args");
        let tool = node.kind.tool().and_then(|work| catalog.tool(&work.tool));
        let parameter = tool.and_then(ToolInfo::query_parameter);
        let query = fields.shift_remove("query").unwrap_or_else(|| query(draft, &place(at), parameter, args));
        written.insert("query".into(), query);
        draft.put_sources(at, "dependencies", written, !draft.is_same());
    })
}

/// The one text that can stand for arguments; nothing is lost where it is that of the parameter which a query fills.
fn query(draft: &mut DocumentDraft, place: &str, parameter: Option<&str>, args: Option<Value>) -> Value {
    let args = args.as_ref().and_then(Value::as_object);
    let only = args.filter(|args| args.len() == 1).and_then(|args| args.iter().next());
    match (only, args) {
        (Some((name, Value::String(text))), _) if parameter == Some(name) => json!(text),
        (Some((name, Value::String(text))), _) => {
            draft.lose(format!("{place}.args.{name}"), "the tools format has one `query`, so the argument's name is lost");
            json!(text)
        }
        (_, Some(_)) => {
            draft.lose(format!("{place}.args"), "the tools format has one text, `query`, so the arguments are left out");
            json!("")
        }
        (_, None) => json!(""),
    }
}
