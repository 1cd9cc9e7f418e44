//! The built-in planner: plan templates for what people ask most, and the splitting of any other request into steps. Needs no model,
//! gives the same plan for the same request, and always gives one.

mod choose;
mod phrases;
mod places;
mod shipped;
mod slots;
mod steps;
mod template;
#[cfg(test)]
mod tests;
mod words;

use serde_json::{Map, Value, json};

use super::{PlanSink, Planned};
use crate::plan::{Catalog, Node, NodeId, Plan, is_legal_id, native};
use choose::{NodeDraft, PREVIOUS, Setting};
use slots::ParsedRequest;
use steps::{RequestStep, StepLink};

pub use slots::{SlotKind, TemplateSlot};
pub use template::{Template, TemplateError};

/// Longest goal that is kept in words for people.
const LONGEST_NAME: usize = 40;

/// Makes a plan of any request.
pub fn plan(request: &str, catalog: &Catalog, templates: &[Template], sink: &mut dyn PlanSink) -> Planned {
    let steps = steps::split(request);
    let mut draft = Building { catalog, nodes: Vec::new(), inputs: Map::new() };
    let (origin, remarks) = match best(request, &steps, catalog, templates) {
        Some((template, fit, covered)) => {
            sink.progress(&format!("the template `{}` fits: {}", template.name, template.description));
            draft.inputs = fit.inputs;
            draft.add_template(template);
            let rest = &steps[covered..];
            draft.append(rest, request);
            let remark = (!rest.is_empty()).then(|| format!("{} beyond the template were added as steps for agents", counted(rest.len())));
            (format!("built-in planner, template `{}`", template.name), remark)
        }
        None if steps.is_empty() => {
            sink.progress("the request is empty: the plan asks for one");
            draft.ask();
            ("built-in planner".to_owned(), None)
        }
        None => {
            sink.progress("no template fits: the request is split into steps");
            draft.append(&steps, request);
            ("built-in planner, split into steps".to_owned(), None)
        }
    };
    for node in &draft.nodes {
        sink.node(node.clone());
    }
    let mut plan = Plan { goal: request.trim().to_owned(), inputs: draft.inputs, nodes: draft.nodes, ..Plan::default() };
    if plan.goal.is_empty() {
        plan.goal = "Find out what shall be done".to_owned();
    }
    Planned { plan, origin, remarks: remarks.into_iter().collect() }
}

/// The template that fits best, what fills its slots, and how many of the steps it carries out.
fn best<'t>(
    request: &str,
    steps: &[RequestStep],
    catalog: &Catalog,
    templates: &'t [Template],
) -> Option<(&'t Template, template::Fit, usize)> {
    let usable = templates.iter().filter(|template| template.is_usable(catalog));
    let fits = usable.filter_map(|template| {
        let covered = steps.iter().take_while(|step| covers(template, step)).count();
        if template.has_topic() && steps[..covered].iter().any(|step| steps::enumerated(&step.text).is_some_and(|parts| parts.len() > 2)) {
            // Several topics are better served by a step each.
            return None;
        }
        let part = &request[..steps[..covered].last()?.end];
        let fit = template.fit(&ParsedRequest::new(part))?;
        Some((template, fit, covered))
    });
    // The first of several equal ones: templates are sorted by name.
    fits.fold(None, |best, next| match best {
        Some((_, ref fit, covered)) if score(fit, covered) >= score(&next.1, next.2) => best,
        _ => Some(next),
    })
}

fn score(fit: &template::Fit, covered: usize) -> i64 {
    fit.score + 2 * i64::try_from(covered).unwrap_or(0)
}

/// Whether the template's plan does what the step asks: its verb says so. A step without a verb goes with the others.
fn covers(template: &Template, step: &RequestStep) -> bool {
    let words = words::words(&step.text);
    words::leading_verb(&words).is_none_or(|verb| template.verbs.iter().any(|known| known == verb))
}

fn counted(steps: usize) -> String {
    if steps == 1 { "one step".to_owned() } else { format!("{steps} steps") }
}

struct Building<'a> {
    catalog: &'a Catalog,
    nodes: Vec<Node>,
    inputs: Map<String, Value>,
}

impl Building<'_> {
    fn add_template(&mut self, template: &Template) {
        for (at, value) in template.nodes(&self.inputs).into_iter().enumerate() {
            // A template's file is checked when it is read; a node that is none is left out.
            if let Ok(node) = native::node_from_value(value, &format!("nodes[{at}]")) {
                self.nodes.push(node);
            }
        }
    }

    /// Steps behind what is there, and a synthesis when several results would be left side by side.
    fn append(&mut self, steps: &[RequestStep], request: &str) {
        let mut sources = self.exits();
        let mut group: Vec<NodeId> = Vec::new();
        for step in steps {
            if step.link == StepLink::After && !group.is_empty() {
                sources = std::mem::take(&mut group);
            }
            let parts = steps::enumerated(&step.text).unwrap_or_else(|| vec![step.text.clone()]);
            for part in parts {
                let setting = Setting { catalog: self.catalog, follows: !sources.is_empty() };
                let drafts = choose::drafts(&part, &setting);
                if let Some(last) = self.chain(drafts, &sources) {
                    group.push(last);
                }
            }
        }
        let exits = self.exits();
        if exits.len() > 1 && !steps.is_empty() {
            self.chain(vec![choose::synthesis(request, self.catalog)], &exits);
        }
    }

    fn ask(&mut self) {
        let asked = self.chain(vec![choose::ask_what(self.catalog)], &[]);
        self.chain(vec![choose::do_what_was_said(self.catalog)], asked.as_slice());
    }

    /// Adds nodes that follow each other; gives the last one.
    fn chain(&mut self, drafts: Vec<NodeDraft>, sources: &[NodeId]) -> Option<NodeId> {
        let mut before = sources.to_vec();
        for NodeDraft { name, mut node } in drafts {
            let id = self.free_id(&name);
            node["id"] = json!(id);
            node["depends_on"] = before.iter().map(|source| json!(source.as_str())).collect();
            if let Some(content) = node.pointer_mut("/args/content").filter(|content| *content == PREVIOUS) {
                *content = json!(before.iter().map(|source| format!("{{{{{source}}}}}")).collect::<Vec<_>>().join("\n\n"));
            }
            if let Ok(node) = native::node_from_value(node, "") {
                before = vec![node.id.clone()];
                self.nodes.push(node);
            }
        }
        before.into_iter().next_back().filter(|last| !sources.contains(last))
    }

    /// Nodes that nobody follows yet.
    fn exits(&self) -> Vec<NodeId> {
        let followed = |id: &NodeId| self.nodes.iter().any(|node| node.depends_on.contains(id));
        self.nodes.iter().map(|node| &node.id).filter(|id| !followed(id)).cloned().collect()
    }

    /// A legal id that no node has yet.
    fn free_id(&self, name: &str) -> String {
        let name: String = name.chars().take(LONGEST_NAME).collect();
        let name = if name.is_empty() || !is_legal_id(&name) || crate::plan::RESERVED_IDS.contains(&name.as_str()) {
            format!("step_{}", self.nodes.len() + 1)
        } else {
            name
        };
        let taken = |id: &str| self.nodes.iter().any(|node| node.id.as_str() == id);
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        std::iter::once(name.clone()).chain(numbered).find(|id| !taken(id)).unwrap_or(name)
    }
}
