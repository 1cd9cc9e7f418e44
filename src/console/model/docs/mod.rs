//! What panes say, as `Doc`s: pure functions of the model, used for drawing, for copying and for knowing what was seen.

mod act;
mod compare;
mod cost;
mod diff;
mod event;
mod gate;
mod inventory;
mod node;
mod outcome;
mod run;
mod stats;
mod trace;
mod versus;

pub use act::{proposal, proposal_title};
pub use compare::compare;
pub use cost::cost_of;
pub use diff::mark_role;
pub use event::{event, json as event_json, streamed};
pub use gate::{asks, gate_doc, gate_title};
pub use inventory::{agent_kind, inventory, verdict};
pub use run::{failure_title, halt_title};
pub use stats::stats;
pub use trace::{stretches, trace_line, traced};
pub use versus::{totals, versus};

use super::{Doc, Model, RunView, Tab, log::LogRow};
use crate::console::theme::Role;
use crate::plan::NodeId;
use crate::text::{Glyph, Plain};

/// What the inspector says of the selected node, on its tab.
pub fn inspector(model: &Model) -> Doc<'_> {
    let Some(node) = model.selected_node() else { return Doc::default() };
    let Some(run) = model.shown_run() else {
        return match model.tab() {
            Tab::Source => node::source(node),
            Tab::Node | Tab::Output | Tab::Prompt | Tab::Tools | Tab::Timing => node::details(model, node),
        };
    };
    if let Some(text) = model.card_gate().and_then(|key| model.inbox.doc(&key)) {
        return text.doc.borrowed();
    }
    match model.tab() {
        Tab::Output => {
            let mut doc = run::output((model, run), &node.id, stale(model, run, &node.id), &going_on(model, run));
            run::held(model, run, &node.id, &mut doc);
            doc
        }
        Tab::Prompt => run::prompt(run, &node.id),
        Tab::Tools => run::tools(run, &node.id),
        Tab::Timing => run::timing((run, &model.look.zone), &node.id, stale(model, run, &node.id)),
        Tab::Node | Tab::Source => node::details(model, node),
    }
}

/// What the selected line in the log of the shown run tells.
pub fn selected_event(model: &Model) -> Doc<'static> {
    let Some(view) = model.shown_run() else { return Doc::default() };
    let (records, run) = (view.journal().records(), (&view.newest().run, &model.look.zone));
    match view.log.row() {
        Some(LogRow::Event(at)) => records.get(*at).map(|record| event(record, run)).unwrap_or_default(),
        Some(LogRow::Stream(stream)) => streamed(stream, records, run),
        None => Doc::default(),
    }
}

/// Why a node's result was made of earlier ones, and what to do about it; empty where it was not.
fn stale(model: &Model, run: &RunView, node: &NodeId) -> Doc<'static> {
    let mut doc = Doc::default();
    let Some(why) = run.seen().run.node(node).and_then(|node| node.stale.as_ref()) else { return doc };
    let mark = Plain::line(&format!("{} stale: ", model.look.theme.glyph(Glyph::Stale)));
    doc.line(Role::Stale, mark.then(&Plain::summary(&why.message())));
    let key = model.look.keymap.hint("act.again").filter(|_| run.replay().is_none() && run.driver.is_here());
    if let Some(key) = key {
        doc.line(Role::Stale, Plain::line(&format!("  {key} runs this and all after it again, and first shows what that changes")));
    }
    doc
}

/// How a node that a breakpoint keeps goes on, by key; nothing where no key reaches it.
fn going_on(model: &Model, run: &RunView) -> String {
    let key = |id: &str| model.look.keymap.hint(id);
    let reaches = run.replay().is_none() && run.goes_on();
    let keys = key("act.hold").zip(key("act.pause")).zip(key("act.menu")).filter(|_| reaches);
    keys.map(|((node, all), menu)| format!("{node} releases this node, {all} resumes the run; {menu} has more")).unwrap_or_default()
}

/// A doc of one dim sentence.
fn says(words: &str) -> Doc<'static> {
    let mut doc = Doc::default();
    doc.line(Role::Dim, Plain::line(words));
    doc
}
