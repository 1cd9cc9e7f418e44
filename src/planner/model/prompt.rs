//! What a model gets when it plans: its job, who and what there is (the public side of cards only), the rules, the request.

use serde_json::{Map, Value, json};
use std::fmt::Write;

use super::schema::{Ids, MOST_POSITIONAL};
use crate::models::ChatMessage;
use crate::plan::{Catalog, ToolInfo};

/// The longest description of a tool that is passed on.
const DESCRIPTION: usize = 240;
/// Faults that are listed in one round; the first ones often cause the others.
const FAULTS: usize = 12;
/// What the example answers.
const EXAMPLE_REQUEST: &str = "Find out how to travel to Rome";
/// The longest value of an input that is passed on.
const INPUT: usize = 400;

const JOB: &str = "You are the planner of an operator console. You turn a request into a plan: a directed acyclic graph of small steps \
(nodes) that run as soon as the steps they depend on are done. You do not do the work yourself. You answer with one JSON object \
{\"nodes\": [...]} and nothing else.";

const RULES: &str = "A node has an `id`, `depends_on` (ids of the nodes whose results it needs; [] if none) and exactly one kind of work:
- `agent` and `objective`: a model with a role does what needs language or judgement. The objective is one clear task.
- `tool` and `args`: one call of one tool, exactly with these arguments, without any model. Prefer it where the arguments are known or \
are another node's result.
- `code`: the body of a JavaScript function without input or output devices, for counting, sorting, filtering, formatting. It reads \
`deps.ID.output` and `inputs.NAME` and returns a value: `return deps.files.output.length`.
- `value`: a text that is put together from references, without any model.
- `ask`: a question to the operator, only where the request wants a person to decide.

Rules:
- To use the result of node ID, write {{ID.result}} or {{ID.result.field}} in an objective, in args or in a value, and list ID in \
depends_on. Inputs are {{inputs.NAME}}. In code there are no references.
- Nodes that don't need each other must not depend on each other: they run at the same time.
- No cycles. Every id in depends_on is the id of a node of this plan.
- As few nodes as do the job well, usually 2 to 8. The last node gives what was asked for.
- Writing files and running commands are asked about by the console itself; don't add questions for them.";

/// The conversation that asks for a plan.
pub(super) fn messages(request: &str, catalog: &Catalog, inputs: &Map<String, Value>, ids: Ids) -> Vec<ChatMessage> {
    let mut system = format!("{JOB}\n\n{RULES}");
    if ids == Ids::Positional {
        let rule = format!("\n- The ids are n1, n2, n3, … in order, at most {MOST_POSITIONAL}; a node depends on earlier nodes only.");
        system.push_str(&rule);
    }
    system.push_str("\n\nAgents:\n");
    system.push_str(&agents(catalog));
    system.push_str("\nTools:\n");
    system.push_str(&tools(catalog));
    if !inputs.is_empty() {
        system.push_str("\nInputs:\n");
        for (name, value) in inputs {
            line(&mut system, format_args!("- {name} = {}", clip(&value.to_string(), INPUT)));
        }
    }
    let mut messages = Vec::new();
    match ids {
        Ids::Free => {
            line(&mut system, format_args!("\nAn example of the form:\n{}", example(catalog)));
        }
        // Small models follow an exchange better than a description.
        Ids::Positional => {
            messages.push(ChatMessage::User { content: EXAMPLE_REQUEST.to_owned() });
            messages.push(ChatMessage::Assistant { content: example(catalog).to_string(), calls: Vec::new() });
        }
    }
    messages.insert(0, ChatMessage::System { content: system });
    messages.push(ChatMessage::User { content: request.to_owned() });
    messages
}

/// What the model hears about a plan that is not right yet.
pub(super) fn correction(faults: &[String]) -> ChatMessage {
    let mut content = String::from("This plan can't run yet:\n");
    for fault in faults.iter().take(FAULTS) {
        line(&mut content, format_args!("- {fault}"));
    }
    content.push_str("Answer with the whole corrected plan as one JSON object {\"nodes\": [...]}, all nodes included.");
    ChatMessage::User { content }
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a String can't fail.
    writeln!(text, "{line}").unwrap_or_default();
}

fn agents(catalog: &Catalog) -> String {
    let mut text = String::new();
    for agent in &catalog.agents {
        let objective = agent.objective_template.trim();
        let like = if objective.is_empty() { String::new() } else { format!(" Objective like: {}", clip(objective, DESCRIPTION)) };
        line(&mut text, format_args!("- {}: {}{like}", agent.name, clip(&agent.description, DESCRIPTION)));
    }
    if text.is_empty() { "(none)\n".to_owned() } else { text }
}

fn tools(catalog: &Catalog) -> String {
    let mut text = String::new();
    for tool in &catalog.tools {
        line(&mut text, format_args!("- {}({}): {}", tool.name, parameters(tool), clip(&tool.description, DESCRIPTION)));
    }
    if text.is_empty() { "(none)\n".to_owned() } else { text }
}

/// `path: string, limit?: integer`.
fn parameters(tool: &ToolInfo) -> String {
    let required: Vec<&str> =
        tool.input_schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = tool.input_schema.get("properties").and_then(Value::as_object);
    let parts = properties.into_iter().flatten().map(|(name, schema)| {
        let kind = match (schema.get("enum"), schema.get("type")) {
            (Some(choices), _) => choices.to_string(),
            (None, Some(Value::String(kind))) => kind.clone(),
            (None, _) => "any".to_owned(),
        };
        let mark = if required.contains(&name.as_str()) { "" } else { "?" };
        format!("{name}{mark}: {kind}")
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// A small plan with names that exist, so that a model that copies from it copies nothing wrong.
fn example(catalog: &Catalog) -> Value {
    let named = |wanted: &[&str]| {
        let agents = &catalog.agents;
        wanted.iter().find_map(|name| agents.iter().find(|agent| agent.name == *name)).or(agents.first()).map(|agent| agent.name.as_str())
    };
    let gather = |id: &str, what: &str| match named(&["web_researcher", "deep_reasoner"]) {
        Some(agent) => json!({"id": id, "agent": agent, "objective": what, "depends_on": []}),
        None => json!({"id": id, "ask": what, "depends_on": []}),
    };
    let sum = "Compare both ways to travel and recommend one: {{n1.result}} {{n2.result}}";
    let last = match named(&["writer"]) {
        Some(agent) => json!({"id": "n3", "agent": agent, "objective": sum, "depends_on": ["n1", "n2"]}),
        None => json!({"id": "n3", "value": sum, "depends_on": ["n1", "n2"]}),
    };
    json!({"nodes": [gather("n1", "Find trains to Rome"), gather("n2", "Find flights to Rome"), last]})
}

/// The beginning of a text, on one line.
fn clip(text: &str, most: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planner::model::tests::catalog;

    fn system(ids: Ids) -> String {
        let inputs = json!({"city": "Paris"});
        match messages("go", &catalog(), inputs.as_object().unwrap(), ids).swap_remove(0) {
            ChatMessage::System { content } => content,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_planner_sees_the_public_side_of_cards_tools_and_inputs() {
        let text = system(Ids::Free);
        assert!(text.contains("- writer: writes texts Objective like: Write about {topic}\n"), "{text}");
        assert!(text.contains("- read_file(path: string, limit?: integer): reads a file\n"), "{text}");
        assert!(text.contains("- city = \"Paris\"\n"));
        assert!(!text.contains("shipped"), "where a card comes from is no business of the model's");
    }

    #[test]
    fn positional_ids_are_faults() {
        assert!(system(Ids::Positional).contains("n1, n2, n3"));
        assert!(!system(Ids::Free).contains("n1, n2, n3"));
    }
}
