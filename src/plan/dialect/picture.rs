//! Plans as pictures: Mermaid, Graphviz, and a tree of text. What authors wrote is escaped, so a title can't break out of its box.

use crate::plan::order::{EdgePlace, Graph};
use crate::plan::tree::{Orientation, RowKind, Tree};
use crate::plan::{Edge, Plan, Work};
use crate::text::Plain;

/// The work in a few words: `agent writer`, `tool read_file`, `code`.
fn words(work: &Work) -> String {
    match work {
        Work::Agent(agent) => {
            let name = agent.agent.as_deref().or(agent.role.as_deref());
            name.map_or_else(|| "agent".into(), |name| format!("agent {name}"))
        }
        Work::Tool(tool) => format!("tool {}", tool.tool),
        Work::Code(_) => "code".into(),
        Work::Decision(_) => "decision".into(),
        Work::Merge(_) => "merge".into(),
        Work::Transform(_) => "value".into(),
        Work::Approval(_) => "question".into(),
        Work::Plan(_) => "sub-plan".into(),
        Work::Loop(_) => "loop".into(),
        Work::Map(_) => "map".into(),
    }
}

fn caption(edge: &Edge) -> Option<&str> {
    edge.label.as_deref().or(edge.when.as_deref())
}

fn safe(text: &str) -> String {
    Plain::summary(text).into_string()
}

pub(super) fn mermaid(plan: &Plan) -> String {
    let escape = |text: &str| safe(text).replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;");
    let graph = Graph::new(plan);
    let mut text = String::from("flowchart TD\n");
    for (i, node) in plan.nodes.iter().enumerate() {
        let (open, close) = match node.work {
            Work::Decision(_) => ("{", "}"),
            Work::Approval(_) => ("[/", "/]"),
            Work::Merge(_) => ("((", "))"),
            Work::Plan(_) | Work::Loop(_) | Work::Map(_) => ("[[", "]]"),
            Work::Agent(_) | Work::Tool(_) | Work::Code(_) | Work::Transform(_) => ("[", "]"),
        };
        text.push_str(&format!("  n{i}{open}\"{}<br/>{}\"{close}\n", escape(&node.id), escape(&words(&node.work))));
    }
    for (from, to, edge) in whole_edges(plan, &graph) {
        let arrow = caption(&edge).map_or_else(|| "-->".into(), |caption| format!("-->|\"{}\"|", escape(caption)));
        text.push_str(&format!("  n{from} {arrow} n{to}\n"));
    }
    text
}

pub(super) fn dot(plan: &Plan) -> String {
    let quote = |text: &str| format!("\"{}\"", safe(text).replace('\\', "\\\\").replace('"', "\\\""));
    let graph = Graph::new(plan);
    let mut text = String::from("digraph plan {\n  node [shape=box];\n");
    for (i, node) in plan.nodes.iter().enumerate() {
        let shape = match node.work {
            Work::Decision(_) => ", shape=diamond",
            Work::Approval(_) => ", shape=parallelogram",
            Work::Merge(_) => ", shape=circle",
            Work::Plan(_) | Work::Loop(_) | Work::Map(_) => ", shape=box3d",
            Work::Agent(_) | Work::Tool(_) | Work::Code(_) | Work::Transform(_) => "",
        };
        let label = quote(&format!("{}: {}", node.id, words(&node.work)));
        text.push_str(&format!("  n{i} [label={label}{shape}];\n"));
    }
    for (from, to, edge) in whole_edges(plan, &graph) {
        let label = caption(&edge).map_or_else(String::new, |caption| format!(" [label={}]", quote(caption)));
        text.push_str(&format!("  n{from} -> n{to}{label};\n"));
    }
    text + "}\n"
}

/// Edges whose ends exist, in canonical order.
fn whole_edges<'a>(plan: &'a Plan, graph: &'a Graph) -> impl Iterator<Item = (usize, usize, Edge)> + 'a {
    graph.links().iter().filter_map(|link| Some((link.from?, link.to?, plan.edge_at(link.place)?)))
}

pub(super) fn tree(plan: &Plan) -> String {
    let graph = Graph::new(plan);
    let tree = Tree::new(&graph, Orientation::Start);
    let mut text = String::new();
    if !plan.goal.is_empty() {
        text.push_str(&format!("{}\n", safe(&plan.goal)));
    }
    for (at, row) in tree.rows.iter().enumerate() {
        let guides = tree.guides(at);
        let (own, above) = guides.split_last().map_or((None, &[][..]), |(own, above)| (Some(*own), above));
        above.iter().for_each(|runs| text.push_str(if *runs { "│  " } else { "   " }));
        text.push_str(own.map_or("", |runs| if runs { "├─ " } else { "└─ " }));
        let node = &plan.nodes[row.node];
        match row.kind {
            RowKind::Reference => text.push_str(&format!("→ {}\n", safe(&node.id))),
            RowKind::Node => {
                text.push_str(&format!("{}  {}", safe(&node.id), safe(&words(&node.work))));
                let conditions = graph.incoming(row.node).filter_map(|link| condition(plan, graph.links()[link].place));
                let conditions: Vec<String> = conditions.collect();
                if !conditions.is_empty() {
                    text.push_str(&format!("  when {}", conditions.join(" | ")));
                }
                text.push('\n');
            }
        }
    }
    text
}

fn condition(plan: &Plan, place: EdgePlace) -> Option<String> {
    match place {
        EdgePlace::Edge(at) => plan.edges.get(at)?.when.as_deref().map(safe),
        EdgePlace::Dependency(..) => None,
    }
}
