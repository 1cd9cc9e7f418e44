//! Plans as drawings: Mermaid, Graphviz, and a tree of text. What authors wrote is escaped, so a title can't break out of its box.

use crate::plan::order::{EdgePlace, PlanGraph};
use crate::plan::tree::{DrawnTree, Orientation, RowBranch};
use crate::plan::{Edge, NodeKind, Plan, nest};
use crate::text::Plain;

/// The kind in a short text: `agent writer`, `tool read_file`, `code`.
fn label(kind: &NodeKind) -> String {
    match (kind, kind.worker()) {
        (NodeKind::Decision(_), Some(name)) => format!("decision: {name}"),
        (_, Some(name)) => format!("{} {name}", kind.name()),
        (NodeKind::Subplan(_), None) => "subplan".into(),
        (_, None) => kind.name().into(),
    }
}

fn caption(edge: &Edge) -> Option<&str> {
    edge.label.as_deref().or(edge.when.as_deref())
}

fn safe(text: &str) -> String {
    Plain::summary(text).into_string()
}

/// A plan with what is inside its nodes, flat, and for each node those right inside it.
struct Nested {
    plan: Plan,
    inside: Vec<Vec<usize>>,
    /// Nodes of the plan itself.
    outer: Vec<usize>,
}

impl Nested {
    fn new(plan: &Plan) -> Self {
        let plan = nest::outline(plan);
        let graph = PlanGraph::new(&plan);
        let mut inside = vec![Vec::new(); plan.nodes.len()];
        let mut outer = Vec::new();
        for (i, node) in plan.nodes.iter().enumerate() {
            match nest::owner(&node.id).and_then(|owner| graph.position(owner)) {
                Some(owner) => inside[owner].push(i),
                None => outer.push(i),
            }
        }
        Self { plan, inside, outer }
    }

    fn name(&self, i: usize) -> &str {
        nest::name(&self.plan.nodes[i].id)
    }
}

pub(super) fn mermaid(plan: &Plan) -> String {
    let nested = Nested::new(plan);
    let mut text = String::from("flowchart TD\n");
    nested.outer.iter().for_each(|&i| mermaid_node(&nested, i, 1, &mut text));
    for (from, to, edge) in whole_edges(&nested.plan, &PlanGraph::new(&nested.plan)) {
        let arrow = caption(&edge).map_or_else(|| "-->".into(), |caption| format!("-->|\"{}\"|", html(caption)));
        text.push_str(&format!("  n{from} {arrow} n{to}\n"));
    }
    text
}

/// A label of Mermaid. A backtick would begin Markdown, and a `#` a character by its number.
fn html(text: &str) -> String {
    let text = safe(text).replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('#', "#35;").replace('`', "#96;")
}

/// A box, or a frame around what is inside.
fn mermaid_node(nested: &Nested, i: usize, depth: usize, text: &mut String) {
    let kind = &nested.plan.nodes[i].kind;
    let (gap, name, label) = ("  ".repeat(depth), html(nested.name(i)), html(&label(kind)));
    if !nested.inside[i].is_empty() {
        text.push_str(&format!("{gap}subgraph n{i}[\"{name}: {label}\"]\n"));
        nested.inside[i].iter().for_each(|&inner| mermaid_node(nested, inner, depth + 1, text));
        text.push_str(&format!("{gap}end\n"));
        return;
    }
    let (open, close) = match kind {
        NodeKind::Decision(_) => ("{", "}"),
        NodeKind::Approval(_) => ("[/", "/]"),
        NodeKind::Merge(_) => ("((", "))"),
        NodeKind::Subplan(_) | NodeKind::Loop(_) | NodeKind::Map(_) => ("[[", "]]"),
        NodeKind::Agent(_) | NodeKind::Tool(_) | NodeKind::Code(_) | NodeKind::Transform(_) => ("[", "]"),
    };
    text.push_str(&format!("{gap}n{i}{open}\"{name}<br/>{label}\"{close}\n"));
}

pub(super) fn dot(plan: &Plan) -> String {
    let nested = Nested::new(plan);
    let mut text = String::from("digraph plan {\n  node [shape=box];\n");
    nested.outer.iter().for_each(|&i| dot_node(&nested, i, 1, &mut text));
    for (from, to, edge) in whole_edges(&nested.plan, &PlanGraph::new(&nested.plan)) {
        let label = caption(&edge).map_or_else(String::new, |caption| format!(" [label={}]", quote(caption)));
        text.push_str(&format!("  n{from} -> n{to}{label};\n"));
    }
    text + "}\n"
}

fn quote(text: &str) -> String {
    format!("\"{}\"", safe(text).replace('\\', "\\\\").replace('"', "\\\""))
}

/// A box; what is inside is drawn in a frame of its own, which begins with the box. Edges of Graphviz can't end at frames.
fn dot_node(nested: &Nested, i: usize, depth: usize, text: &mut String) {
    let kind = &nested.plan.nodes[i].kind;
    let gap = "  ".repeat(depth);
    let shape = match kind {
        NodeKind::Decision(_) => ", shape=diamond",
        NodeKind::Approval(_) => ", shape=parallelogram",
        NodeKind::Merge(_) => ", shape=circle",
        NodeKind::Subplan(_) | NodeKind::Loop(_) | NodeKind::Map(_) => ", shape=box3d",
        NodeKind::Agent(_) | NodeKind::Tool(_) | NodeKind::Code(_) | NodeKind::Transform(_) => "",
    };
    let label = quote(&format!("{}: {}", nested.name(i), label(kind)));
    if nested.inside[i].is_empty() {
        text.push_str(&format!("{gap}n{i} [label={label}{shape}];\n"));
        return;
    }
    text.push_str(&format!("{gap}subgraph cluster_n{i} {{\n{gap}  n{i} [label={label}{shape}];\n"));
    for &inner in &nested.inside[i] {
        dot_node(nested, inner, depth + 1, text);
    }
    text.push_str(&format!("{gap}}}\n"));
}

/// Edges whose ends exist, in canonical order.
fn whole_edges<'a>(plan: &'a Plan, graph: &'a PlanGraph) -> impl Iterator<Item = (usize, usize, Edge)> + 'a {
    graph.links().iter().filter_map(|link| Some((link.from?, link.to?, plan.edge_at(link.place)?)))
}

pub(super) fn tree(plan: &Plan) -> String {
    let plan = &nest::outline(plan);
    let graph = PlanGraph::new(plan);
    let tree = DrawnTree::new(&graph, Orientation::Start);
    let mut text = String::new();
    if !plan.goal.is_empty() {
        text.push_str(&format!("{}\n", safe(&plan.goal)));
    }
    for (at, row) in tree.rows.iter().enumerate() {
        let mut guides = tree.guides(at);
        let own = if row.branch == RowBranch::Straight { None } else { guides.pop() };
        guides.iter().for_each(|runs| text.push_str(if *runs { "│ " } else { "  " }));
        text.push_str(match (own, row.inside) {
            (None, _) => "",
            (Some(true), false) => "├ ",
            (Some(false), false) => "└ ",
            (Some(true), true) => "╞ ",
            (Some(false), true) => "╘ ",
        });
        let node = &plan.nodes[row.node];
        text.push_str(&format!("{}  {}", safe(nest::name(&node.id)), safe(&label(&node.kind))));
        let others: Vec<String> = tree.other_parents(&graph, row.node).map(|other| safe(nest::name(graph.id(other)))).collect();
        if !others.is_empty() {
            text.push_str(&format!("  + {}", others.join(", ")));
        }
        let conditions: Vec<String> = graph.incoming(row.node).filter_map(|link| condition(plan, graph.links()[link].place)).collect();
        if !conditions.is_empty() {
            text.push_str(&format!("  when {}", conditions.join(" | ")));
        }
        text.push('\n');
    }
    text
}

fn condition(plan: &Plan, place: EdgePlace) -> Option<String> {
    match place {
        EdgePlace::Edge(at) => plan.edges.get(at)?.when.as_deref().map(safe),
        EdgePlace::Dependency(..) => None,
    }
}
