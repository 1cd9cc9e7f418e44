//! An action before it is done, in words: what it would change and cost, and what was written for it.

use crate::console::model::{Doc, Proposal, texts};
use crate::console::theme::Role;
use crate::engine::{Action, ImpactLine};
use crate::text::Plain;

/// What an action would change.
pub fn proposal(proposal: &Proposal) -> Doc<'static> {
    let mut doc = Doc::default();
    let words = proposal.action.label();
    let mut letters = words.chars();
    let title: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    doc.line(Role::Heading, Plain::summary(&format!("{title}?")));
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
    let lines = proposal.impact.lines();
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
