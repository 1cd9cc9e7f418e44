//! Plans that show a model the form, made of names that exist, so that one that copies from it copies nothing wrong.

use serde_json::{Value, json};

use crate::plan::Catalog;

/// What the short example answers.
pub(super) const SHORT_REQUEST: &str = "Find out how to travel to Rome";
/// What the long one answers.
pub(super) const LONG_REQUEST: &str = "Which of our notes are out of date?";

/// A plan with each kind of work that there is something for: tools, code, a decision, a map, agents.
pub(super) fn long(catalog: &Catalog) -> Value {
    let has = |tool: &str| catalog.tool(tool).is_some();
    if !has("list_directory") || !has("read_file") {
        return short(catalog, &["trains", "flights", "advice"]);
    }
    let work =
        |id: &str, title: &str, objective: &str, depends_on: &[&str]| agent_or_text(catalog, "writer", id, title, objective, depends_on);
    json!({"nodes": [
        {"id": "list_notes", "title": "List the notes", "tool": "list_directory",
         "args": {"path": "notes", "recursive": true, "glob": "*.md"}, "depends_on": []},
        {"id": "oldest", "title": "Take the ten oldest",
         "code": "return deps.list_notes.output.filter(f => f.type === 'file').sort((a, b) => a.modified < b.modified ? -1 : 1).slice(0, 10)",
         "depends_on": ["list_notes"]},
        {"id": "any", "title": "Are there any notes?", "decide": "'review' if oldest.result else 'nothing'", "depends_on": ["oldest"]},
        {"id": "review", "title": "Review each note", "over": "oldest.result",
         "body": {"nodes": [
             {"id": "read", "title": "Read the note", "tool": "read_file", "args": {"path": "{{item.path}}"}, "depends_on": []},
             work("judge", "Judge the note", "Say in one line what in this note is out of date, if anything.", &["read"]),
         ]}, "depends_on": ["any"]},
        {"id": "nothing", "title": "Say that there are none", "value": "There are no notes.", "depends_on": ["any"]},
        work("report", "Write the report", "List the notes that need work, the most urgent first.", &["review"]),
    ]})
}

/// A plan of three nodes with these ids.
pub(super) fn short(catalog: &Catalog, ids: &[&str; 3]) -> Value {
    let [first, second, last] = *ids;
    let gather =
        |id: &str, title: &str| agent_or_text(catalog, "web_researcher", id, title, &format!("{title}, with times and prices."), &[]);
    let advice = "Compare both ways to travel and recommend one.";
    json!({"nodes": [
        gather(first, "Find trains to Rome"),
        gather(second, "Find flights to Rome"),
        agent_or_text(catalog, "writer", last, "Compare both and recommend one", advice, &[first, second]),
    ]})
}

/// An agent's node; where there are no agents, a question in its place.
fn agent_or_text(catalog: &Catalog, wanted: &str, id: &str, title: &str, objective: &str, depends_on: &[&str]) -> Value {
    let agents = &catalog.agents;
    match agents.iter().find(|agent| agent.name == wanted).or(agents.first()) {
        Some(agent) => json!({"id": id, "title": title, "agent": agent.name, "objective": objective, "depends_on": depends_on}),
        None => json!({"id": id, "title": title, "ask": objective, "depends_on": depends_on}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;
    use crate::planner::model::{
        check::faults,
        read,
        schema::{Ids, plan_schema},
        tests::catalog,
    };

    /// The example as a planner would take it.
    fn taken(example: &Value) -> Plan {
        let nodes = example["nodes"].as_array().unwrap().iter().enumerate().filter_map(|(at, node)| read::node(node, at)).collect();
        Plan { goal: LONG_REQUEST.into(), nodes, ..Plan::default() }
    }

    #[test]
    fn the_examples_fit_their_schema_and_have_no_faults() {
        let tools = crate::tools::ToolRegistry::builtin(&crate::tools::ToolsConfig::default()).unwrap();
        for catalog in [Catalog { tools: tools.infos(), ..catalog() }, catalog(), Catalog { tools: tools.infos(), ..Catalog::default() }] {
            for (ids, example) in [(Ids::Free, long(&catalog)), (Ids::Positional, short(&catalog, &["n1", "n2", "n3"]))] {
                let schema = plan_schema(&catalog, ids, 0).schema;
                let allowed = jsonschema::validator_for(&schema).unwrap();
                let errors: Vec<String> = allowed.iter_errors(&example).map(|error| error.to_string()).collect();
                // Small models get no questions to write where there are tools.
                if ids == Ids::Free || !catalog.agents.is_empty() {
                    assert_eq!(errors, Vec::<String>::new(), "{example}");
                }
                assert_eq!(faults(&taken(&example), &catalog), Vec::<String>::new());
            }
        }
    }
}
