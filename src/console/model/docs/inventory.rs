//! What is told of an agent, a tool, an MCP server or a rule.

use super::Doc;
use crate::console::model::InventoryRow;
use crate::console::theme::Role;
use crate::host::client::UseCount;
use crate::plan::{AgentKind, Verdict};
use crate::text::{Plain, counted, timestamp};
use serde_json::Value;

/// How an agent works, in words.
pub fn agent_kind(kind: AgentKind) -> &'static str {
    match kind {
        AgentKind::Llm => "by a model",
        AgentKind::Class => "built in",
        AgentKind::Service => "by a service",
        AgentKind::Dynamic => "written by a model",
        AgentKind::Human => "by a person",
    }
}

/// What becomes of calls of a tool, in a word.
pub fn verdict(is_set_up: bool, verdict: Verdict) -> &'static str {
    match verdict {
        _ if !is_set_up => "not set up",
        Verdict::Allow => "allowed",
        Verdict::Ask => "asks",
        Verdict::Deny => "denied",
    }
}

/// All of a row.
pub fn inventory(row: Option<InventoryRow<'_>>) -> Doc<'static> {
    let mut doc = Doc::default();
    let Some(row) = row else { return doc };
    let field = |doc: &mut Doc<'static>, name: &str, text: &str| {
        if !text.is_empty() {
            doc.field(name, &Plain::summary(text));
        }
    };
    match row {
        InventoryRow::Agent(agent) => {
            let info = &agent.info;
            doc.line(Role::Heading, Plain::line(&info.name));
            doc.text(Role::Text, &info.description);
            field(&mut doc, "works", agent_kind(info.kind));
            field(&mut doc, "from", &info.origin);
            let tools = if info.tools.is_empty() { "none".to_owned() } else { info.tools.join(", ") };
            field(&mut doc, "tools", &tools);
            field(&mut doc, "objective", &info.objective_template);
            used(&mut doc, &agent.used, "node");
        }
        InventoryRow::Tool(tool) => {
            let info = &tool.info;
            let risk: &str = info.risk.into();
            doc.line(Role::Heading, Plain::line(&info.name));
            doc.text(Role::Text, &info.description);
            field(&mut doc, "from", info.name.split_once(':').map_or("dagdeck", |(server, _)| server));
            field(&mut doc, "risk", risk);
            field(&mut doc, "calls", verdict(tool.is_set_up, info.verdict));
            field(&mut doc, "because", &tool.rule);
            used(&mut doc, &tool.used, "call");
            doc.heading("its arguments");
            info.input_schema["properties"].as_object().into_iter().flatten().for_each(|(name, schema)| {
                let is_needed = info.input_schema["required"].as_array().is_some_and(|names| names.iter().any(|known| known == name));
                doc.text(Role::Dim, &argument(name, schema, is_needed));
            });
        }
        InventoryRow::Server(server) => {
            doc.line(Role::Heading, Plain::line(&server.name));
            doc.text(if server.is_fine { Role::Text } else { Role::Error }, &server.state);
            field(&mut doc, "started by", &server.label);
            field(&mut doc, "from", &server.origin);
            field(&mut doc, "log", &server.log);
            server.problems.iter().for_each(|problem| doc.text(Role::Warning, problem));
        }
        InventoryRow::Rule(rule) => {
            doc.line(Role::Heading, Plain::line(&format!("rule {}", rule.id)));
            doc.text(Role::Text, &rule.label);
            doc.field("made", &timestamp(rule.made.0));
            field(&mut doc, "kept in", &rule.file);
            field(&mut doc, "decided", &counted(usize::try_from(rule.hits).unwrap_or(usize::MAX), "call"));
        }
    }
    doc
}

/// A parameter of a tool in words.
fn argument(name: &str, schema: &Value, is_needed: bool) -> String {
    let kinds = schema["type"].as_array().map_or_else(|| vec![&schema["type"]], |kinds| kinds.iter().collect());
    let kinds: Vec<&str> = kinds.into_iter().filter_map(Value::as_str).filter(|kind| *kind != "null").collect();
    let need = if is_needed { "needed" } else { "may be left out" };
    let about = [kinds.join(" or "), need.to_owned()].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
    let what = schema["description"].as_str().map(|text| format!(": {text}")).unwrap_or_default();
    format!("{name} ({about}){what}")
}

fn used(doc: &mut Doc<'static>, used: &UseCount, what: &str) {
    let times = counted(usize::try_from(used.times).unwrap_or(usize::MAX), what);
    let failed = if used.failed > 0 { format!(", {} failed", used.failed) } else { String::new() };
    let last = used.last.map(|last| format!(", the last {}", timestamp(last.0))).unwrap_or_default();
    doc.field("used", &Plain::line(&format!("{times}{failed}{last}")));
    if let Some(error) = &used.last_error {
        doc.heading("its last error");
        doc.text(Role::Error, error);
    }
}
