//! A verb before it is said, in words: what it would change and cost, and what was written for it.

use super::event::outcome_role;
use crate::console::model::{Doc, Fate, Proposal, words};
use crate::console::theme::Role;
use crate::engine::{Action, ImpactRow};
use crate::plan::NodeId;
use crate::text::{Plain, cost, count, duration};

/// Nodes of one fate that are named.
const NAMED: usize = 60;

/// What a verb would change.
pub fn proposal(proposal: &Proposal) -> Doc<'static> {
    let mut doc = Doc::default();
    let words = proposal.verb.words();
    let mut letters = words.chars();
    let title: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    doc.line(Role::Heading, Plain::summary(&format!("{title}?")));
    if let Some(why) = &proposal.refused {
        doc.line(Role::Error, Plain::summary(&format!("this can't be done any more: {why}")));
        return doc;
    }
    if let Action::Override { value, .. } = &proposal.verb
        && !value.is_null()
    {
        let sort = if value.is_string() { "the text " } else { "the JSON " };
        doc.line(Role::Text, Plain::line("takes ").then(&Plain::line(sort)).then(&words::on_a_line(value)));
    }
    let blast = &proposal.blast;
    for fate in Fate::ALL.into_iter().rev().filter(|fate| !fate.of(blast).is_empty()) {
        let nodes = fate.of(blast);
        let head = Plain::line(&format!("{}: ", fate.words(nodes.len())));
        doc.line(fate.role(), head.then(&names(nodes)));
    }
    if Fate::ALL.into_iter().all(|fate| fate.of(blast).is_empty()) {
        doc.line(Role::Dim, Plain::line("it changes no other node at once"));
    }
    if let Some(outcome) = blast.ends {
        doc.line(outcome_role(outcome), Plain::line("the run ends: ").then(&Plain::line(outcome.word())));
    }
    if !blast.lost.is_nothing() {
        doc.line(Role::Text, lost(&blast.lost));
    }
    if !proposal.why.is_empty() {
        doc.line(Role::Text, Plain::default());
        doc.line(Role::Text, Plain::line("why: ").then(&Plain::summary(&proposal.why)));
    }
    doc
}

fn lost(work: &ImpactRow) -> Plain {
    let mut lost = Plain::line("lost or done again: ").then(&duration(work.time_ms)).then(&Plain::line(" of work"));
    if work.tokens > 0 {
        lost = lost.then(&Plain::line(", ")).then(&count(work.tokens)).then(&Plain::line(" tokens"));
    }
    if work.cost_usd > 0.0 {
        lost = lost.then(&Plain::line(", ")).then(&cost(work.cost_usd));
    }
    lost
}

fn names(nodes: &[NodeId]) -> Plain {
    let named: Vec<&str> = nodes.iter().take(NAMED).map(NodeId::as_str).collect();
    let more = if nodes.len() > NAMED { format!(" and {} more", nodes.len() - NAMED) } else { String::new() };
    Plain::summary(&format!("{}{more}", named.join(", ")))
}
