//! An action before it is done, in words: what it would change and cost, and what was written for it.

use crate::console::model::{Doc, Model, Proposal, RunView, texts};
use crate::console::theme::Role;
use crate::engine::{Action, ImpactLine};
use crate::text::Plain;

/// The question.
pub fn proposal_title(view: &RunView, proposal: &Proposal) -> Plain {
    let label = view.titled(&proposal.action.label());
    let words: String =
        label.split('`').enumerate().map(|(at, part)| if at % 2 == 1 { format!("“{part}”") } else { part.to_owned() }).collect();
    let mut letters = words.chars();
    let title: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    Plain::summary(&format!("{title}?"))
}

/// What an action would change.
pub fn proposal(model: &Model, proposal: &Proposal) -> Doc<'static> {
    let mut doc = Doc::default();
    let view = model.runs.get(&proposal.run);
    if let Some(why) = &proposal.refused {
        doc.line(Role::Error, Plain::summary(&format!("this can't be done any more: {why}")));
        return doc;
    }
    if let Action::Override { value, .. } = &proposal.action
        && !value.is_null()
    {
        let sort = if value.is_string() { "the text " } else { "the JSON " };
        doc.line(Role::Text, Plain::line("the new result is ").then(&Plain::line(sort)).then(&texts::on_a_line(value)));
    }
    let lines = proposal.impact.lines_by(|node| view.map_or_else(|| node.to_string(), |view| view.title_of(node).into_string()));
    if !lines.iter().any(|(about, _)| matches!(about, ImpactLine::Nodes(_))) {
        doc.line(Role::Dim, Plain::line("no other node changes at once"));
    }
    for (about, line) in lines {
        doc.line(texts::impact_role(about), line);
    }
    if !proposal.why.is_empty() {
        doc.line(Role::Text, Plain::default());
        doc.line(Role::Text, Plain::line("why: ").then(&Plain::summary(&proposal.why)));
    }
    doc
}
