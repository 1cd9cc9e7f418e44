//! Plans that may not start, and why.

use super::client::Problem;
use crate::plan::reference::{references, references_in_text};
use crate::plan::validate::{Code, Finding, validate};
use crate::plan::{Catalog, NodeId, NodeText, Plan, PlanNames, nest, node_texts};
use crate::text::secret_names;
use crate::tools::KnownSecrets;
use serde_json::Map;

/// Everything that is to be said about a plan here, where some values are secrets.
pub(super) fn findings(plan: &Plan, catalog: &Catalog, secrets: &KnownSecrets) -> Vec<Finding> {
    let mut findings = secret_values(plan, secrets);
    findings.extend(validate(plan, catalog));
    findings
}

/// Errors of a plan stop it before anything is journalled.
pub(super) fn refuse(findings: &[Finding]) -> Result<(), Problem> {
    let mut errors = findings.iter().filter(|finding| finding.is_error());
    let Some(first) = errors.next() else { return Ok(()) };
    let more = match errors.count() {
        0 => String::new(),
        count => format!(" (and {count} more)"),
    };
    let fix = first.fix.as_ref().map(|fix| fix.title.clone());
    Err(Problem { message: format!("the plan can't run: {}{more}", first.message), hint: fix })
}

/// What names something or is read as a language can't hold a marked piece, so no secret may be part of it.
pub(super) fn secret_values(plan: &Plan, secrets: &KnownSecrets) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut find = |node: Option<&NodeId>, field: &str, what: &str, text: &str| {
        let mut masked = text.to_owned();
        secrets.mask_text(&mut masked);
        let Some(secret) = secret_names(&masked).next() else { return };
        let (code, top) = (Code::SecretValue, node.and_then(|node| node.split('/').next()));
        let at = plan.nodes.iter().position(|node| Some(node.id.as_str()) == top);
        let is_inside = node.is_some_and(|node| nest::owner(node).is_some());
        let path = at.map(|at| if is_inside { format!("nodes[{at}]") } else { format!("nodes[{at}].{field}") });
        let message = format!(
            "the value of the secret {secret} is in {what}, where it can't be hidden: change that, or in `.env` or the environment the \
             name of the variable {secret}, as one that ends in KEY, TOKEN, SECRET or PASSWORD makes its value a secret"
        );
        let (node, path) = (node.cloned(), path.unwrap_or_default());
        findings.push(Finding { code, severity: code.severity(), node, edge: None, path, message, fix: None });
    };
    let (flat, no_inputs) = (nest::outline(plan), Map::new());
    let nothing = PlanNames::new([], &no_inputs);
    for node in &flat.nodes {
        let tool = node.kind.tool().map(|work| work.tool.as_str());
        let agent = node.kind.agent().and_then(|agent| agent.agent.as_deref());
        let names = [("id", Some(nest::name(&node.id))), ("tool", tool), ("agent", agent), ("model", node.policy.model.as_deref())];
        for (field, name) in names.into_iter().filter_map(|(field, name)| Some((field, name?))) {
            find(Some(&node.id), field, "the name of a node, tool, agent or model", name);
        }
        node_texts(node, |place, text| match text {
            NodeText::Code(code) => find(Some(&node.id), &place.path(), "code", code),
            NodeText::Expression(text) | NodeText::Condition(text) | NodeText::ResultCondition(text) => {
                find(Some(&node.id), &place.path(), "a condition or an expression", text);
            }
            NodeText::Template(text) => {
                references_in_text(text, &nothing).iter().for_each(|read| find(Some(&node.id), &place.path(), "a reference", &read.text))
            }
            NodeText::Json(value) => {
                references(value, &nothing).iter().for_each(|read| find(Some(&node.id), &place.path(), "a reference", &read.text))
            }
        });
    }
    flat.edges.iter().filter_map(|edge| edge.when.as_deref()).for_each(|when| find(None, "", "the condition of an edge", when));
    findings
}
