//! A body that names a node of a plan around it. It doesn't see that node; the node that holds the body can hand the result in as one of
//! its `inputs`. Then the name means the result itself, so `{{a.result.title}}` becomes `{{a.title}}` wherever the body says it.

use super::check::{FindingPlace, Outer, PlanCheck};
use super::codes::Code;
use super::finding::Fix;
use crate::plan::edit::Edit;
use crate::plan::reference::references_in_text;
use crate::plan::{NodeId, NodeKind, NodeTextMut, Plan, PlanNames, Root, SubplanNode, each_text_mut, expr, node_texts_mut};
use serde_json::{Map, Value};
use std::rc::Rc;

/// The nearest plan around this one that has such a node, unless an input has the name, or may be meant by it.
pub(super) fn find<'a, 'c>(check: &'c PlanCheck<'a>, id: &str) -> Option<&'c Rc<Outer<'a>>> {
    let is_input = |name: &String| name.strip_prefix(id).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    let mut next = check.around.outer.as_ref();
    while let Some(outer) = next {
        if outer.graph.position(id).is_some() {
            return (!check.around.inputs.keys().any(is_input)).then_some(outer);
        }
        next = outer.around.outer.as_ref();
    }
    None
}

/// Reports such a name; `false` if it is none.
pub(super) fn report(check: &mut PlanCheck, place: FindingPlace, field: &str, id: &str) -> bool {
    let Some(outer) = find(check, id).map(Rc::clone) else { return false };
    let owner = &outer.node().id;
    let itself = outer.graph.position(id) == Some(outer.at);
    let message = if itself {
        format!("`{id}` is the node around this one, which has no result yet")
    } else {
        format!(
            "`{id}` is outside `{}`, and a body only sees its own nodes and inputs: pass it as `inputs: {{\"{id}\": \"{{{{{id}}}}}\"}}` of `{owner}`",
            outer.address
        )
    };
    let fix = if itself || !check.may_suggest() { None } else { given(&outer, id) };
    // The whole body is written anew, which costs in proportion to it.
    let cost = outer.node().kind.body().map_or(0, |body| body.nodes.len() / 50);
    check.stock.suggestions = check.stock.suggestions.saturating_sub(cost);
    check.push(Code::OuterReference, place, field, message, fix);
    true
}

/// Hands the result in at the node that stands beside the one that is named.
fn given(outer: &Outer, id: &str) -> Option<Fix> {
    let mut node = outer.node().clone();
    rewrite_inside(&mut node.kind, id)?;
    let inputs = node.policy.inputs.get_or_insert_with(|| outer.plan.defaults.inputs.clone().unwrap_or_default());
    inputs.insert(id.to_owned(), Value::from(format!("{{{{{id}}}}}")));
    let edit = Edit::SpliceNodes { at: outer.at, remove: 1, insert: vec![node] };
    let mut edits = vec![edit];
    let (target, source) = (outer.at, outer.graph.position(id)?);
    let after = outer.graph.descendants(source)[target];
    let is_first = outer.graph.position(&outer.node().id) == Some(target);
    if !is_first || outer.around.is_sealed {
        return None;
    }
    if !after {
        // In a walk an edge is another way to go, not something to wait for.
        if outer.plan.dialect.walks() || outer.graph.closes(source, target).is_some() {
            return None;
        }
        edits.push(Edit::AddDependency { node: outer.node().id.clone(), on: NodeId::new(id) });
    }
    let place = outer.around.outer.as_ref().map(|outer| outer.address.as_str());
    let edit = Edit::within(place, if edits.len() == 1 { edits.remove(0) } else { Edit::batch(edits) });
    Some(Fix::safe(format!("pass `{id}` to `{}` as an input", outer.address), edit))
}

/// The body with the name read as an input, also further inside, where inputs reach. Nothing for a plan from a file, which no edit can
/// write down.
fn rewritten(body: &Plan, id: &str) -> Option<Plan> {
    let mut body = body.clone();
    for node in &mut body.nodes {
        node_texts_mut(node, |_, text| match text {
            NodeTextMut::Template(text) => rewrite(text, id, template),
            NodeTextMut::Json(value) => rewrite_json(value, id),
            NodeTextMut::Expression(text) | NodeTextMut::Condition(text) | NodeTextMut::ResultCondition(text) => {
                rewrite(text, id, condition);
            }
            NodeTextMut::Code(_) => {}
        });
        rewrite_inside(&mut node.kind, id)?;
    }
    body.edges.iter_mut().filter_map(|edge| edge.when.as_mut()).for_each(|text| rewrite(text, id, condition));
    body.defaults.inputs.iter_mut().flat_map(Map::values_mut).for_each(|value| rewrite_json(value, id));
    Some(body)
}

fn rewrite_inside(kind: &mut NodeKind, id: &str) -> Option<()> {
    match kind {
        NodeKind::Subplan(SubplanNode::File { loaded: Some(_), .. }) => return None,
        NodeKind::Subplan(SubplanNode::Inline(body)) => **body = rewritten(body, id)?,
        NodeKind::Loop(inner) => {
            *inner.body = rewritten(&inner.body, id)?;
            rewrite(&mut inner.until, id, condition);
        }
        NodeKind::Map(inner) => *inner.body = rewritten(&inner.body, id)?,
        _ => {}
    }
    Some(())
}

fn rewrite(text: &mut String, id: &str, how: fn(&str, &str) -> String) {
    if text.contains(id) {
        *text = how(text, id);
    }
}

fn rewrite_json(value: &mut Value, id: &str) {
    each_text_mut(value, &mut |text| rewrite(text, id, template));
}

fn template(text: &str, id: &str) -> String {
    let inputs = Map::new();
    let mut written = String::with_capacity(text.len());
    let mut done = 0;
    for reference in references_in_text(text, &PlanNames::new([id], &inputs)) {
        written.push_str(&text[done..reference.span.start]);
        done = reference.span.end;
        let inner = reference.text.strip_prefix("{{").and_then(|text| text.strip_suffix("}}"));
        let is_entry = reference.paths.iter().any(|path| path.root == Root::Entry(id.to_owned()));
        match inner {
            Some(inner) => written.push_str(&format!("{{{{{}}}}}", condition(inner, id))),
            None if is_entry => written.push_str(&format!("{{{{{id}}}}}")),
            None => written.push_str(&reference.text),
        }
    }
    written + &text[done..]
}

/// An expression that reads the result itself where it read the node: `a.result.x`, `deps.a.output.x`, `deps["a"].x`.
fn condition(text: &str, id: &str) -> String {
    let inputs = Map::new();
    let Ok(expression) = expr::Expr::parse(text, &PlanNames::new([id], &inputs)) else { return text.to_owned() };
    if !expression.paths().iter().any(|path| path.node() == Some(id)) {
        return text.to_owned();
    }
    let mut written = text.to_owned();
    for table in ["deps", "nodes"] {
        for entry in [format!("{table}.{id}"), format!("{table}[\"{id}\"]"), format!("{table}['{id}']")] {
            written = replaced(&written, &format!("{entry}.output"), id);
            written = replaced(&written, &format!("{entry}.result"), id);
            written = replaced(&written, &entry, id);
        }
    }
    replaced(&written, &format!("{id}.result"), id)
}

/// Replaces a text where it stands as a name of its own.
fn replaced(text: &str, from: &str, to: &str) -> String {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-' || c == '.';
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(from) {
        let (before, behind) = (&rest[..at], &rest[at + from.len()..]);
        let ends = !behind.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '-');
        let goes_on = if before.is_empty() { written.ends_with(is_name) } else { before.ends_with(is_name) };
        written.push_str(before);
        written.push_str(if ends && !goes_on { to } else { from });
        rest = behind;
    }
    written + rest
}
