//! What came out of a run that is over: the results of its final nodes, each with its name where there are several, and what it changed in
//! all. Where the last step only had an effect, the newest text that was made for a person comes first.

use super::super::{Doc, Inspector, RunView, Tab};
use crate::console::model::{Model, inputs};
use crate::console::theme::Role;
use crate::engine::{NodeRun, is_effect, result_line};
use crate::plan::{Node, NodeId, NodeKind, nest};
use crate::text::Plain;

impl RunView {
    /// Whether a node's result is output of the run, which is over.
    pub fn is_output(&self, id: &NodeId) -> bool {
        let run = &self.seen().run;
        run.outcome().is_some() && run.is_final(id) && run.node(id).is_some_and(|node| node.result.is_some())
    }

    /// The final nodes with a result, of a run that is over.
    fn outputs(&self) -> impl Iterator<Item = &NodeId> {
        let run = &self.seen().run;
        run.own_nodes().map(|(id, _)| id).filter(|id| self.is_output(id))
    }

    /// The node that made the newest text for a person, where a final node only had an effect.
    pub fn text_before(&self, id: &NodeId) -> Option<&NodeId> {
        let run = &self.seen().run;
        let node = run.node(id)?;
        let is_only_effect = self.is_output(id) && node.result.as_deref().is_some_and(|result| is_effect(result, node.reporter(result)));
        let has_text = |id: &NodeId, node: &NodeRun| {
            let text = node.result.as_deref().and_then(|result| result.as_str()).is_some_and(|text| text.trim().contains([' ', '\n']));
            let kind = self.seen().run.node_doc(id).map(|node| &node.kind);
            text && matches!(kind, Some(NodeKind::Agent(_) | NodeKind::Code(_) | NodeKind::Merge(_) | NodeKind::Transform(_)))
        };
        let texts = run.own_nodes().filter(|(id, node)| is_only_effect && has_text(id, node));
        texts.max_by_key(|(_, node)| node.span.finished).map(|(id, _)| id)
    }

    /// Columns that the output of a run that is over would like to have.
    pub fn output_columns(&self) -> usize {
        let shown = self.outputs().flat_map(|id| [Some(id), self.text_before(id)]).flatten();
        shown.filter_map(|id| Some(self.seen().transcript(id)?.widest)).max().unwrap_or(0)
    }

    /// What a node gave on one line, or why it failed; nothing where it has neither.
    pub fn result_line(&self, id: &NodeId) -> Option<Plain> {
        let node = self.seen().run.node(id)?;
        let result = node.result.as_deref().filter(|result| !result.is_null());
        let failure = || node.error.as_ref().map(|error| error.message.lines().next().unwrap_or_default().to_owned());
        result.map(|result| result_line(result, node.reporter(result))).or_else(failure).map(|line| Plain::summary(&line))
    }

    /// What a node is called: its title; of one of many entries with which it is.
    pub fn title_of(&self, id: &NodeId) -> Plain {
        let name = nest::name(id);
        let entry = name.split_once(']').filter(|_| name.starts_with('[')).map(|(entry, _)| format!("{entry}] ")).unwrap_or_default();
        match self.seen().run.node_doc(id).and_then(Node::title) {
            Some(title) => Plain::line(&entry).then(&self.filled(id, title)),
            None => Plain::summary(id),
        }
    }

    /// A title with what is known by now in the place of its references.
    pub fn filled(&self, id: &NodeId, title: Plain) -> Plain {
        if title.as_str().contains("{{") { Plain::summary(&self.seen().run.filled(id, title.as_str())) } else { title }
    }

    /// A sentence with the titles of its nodes in place of their ids.
    pub fn titled(&self, sentence: &str) -> String {
        self.seen().run.named(sentence, |id| self.title_of(id).into_string())
    }
}

/// The outputs of a run that is over, the one of a node first.
pub fn outcome<'a>((model, run): (&Model, &'a RunView), id: &NodeId, doc: &mut Doc<'a>) {
    let inspector = &model.inspector;
    if let Some(text) = run.text_before(id) {
        doc.heading(run.title_of(text).as_str());
        result(inspector, run, text, doc);
    }
    let others: Vec<&NodeId> = run.outputs().filter(|other| *other != id).collect();
    let is_alone = others.is_empty() && run.text_before(id).is_none();
    let own = if is_alone { Plain::line("output of the run") } else { run.title_of(id) };
    doc.heading(own.as_str());
    result(inspector, run, id, doc);
    for other in others {
        doc.heading(run.title_of(other).as_str());
        result(inspector, run, other, doc);
    }
    let mut changes = run.seen().run.changes().lines();
    let plan = || format!("changed in this run: {} puts the change into the plan too", model.hint("run.take_plan"));
    changes.extend(model.offers_plan().then(|| ("plan", plan())));
    if !changes.is_empty() {
        doc.line(Role::Text, Plain::default());
    }
    for (name, what) in changes {
        doc.line(Role::Dim, Plain::line(&format!("{name:<8} ")).then(&Plain::summary(&what)));
    }
}

/// The result of one node, drawn or as it is written.
pub fn result<'a>(inspector: &Inspector, run: &'a RunView, id: &NodeId, doc: &mut Doc<'a>) {
    let Some(transcript) = run.seen().transcript(id) else { return };
    match transcript.drawn.as_deref().filter(|_| !inspector.source) {
        Some(drawn) => doc.drawn(drawn),
        None => doc.lines(Role::Text, &transcript.result),
    }
    if transcript.result.iter().all(|line| line.as_str().trim().is_empty()) {
        doc.line(Role::Dim, Plain::line("an empty text"));
    }
    doc.lines(Role::Warning, &transcript.notes);
}

impl Model {
    /// What a node of the shown plan or run does, as far as somebody wrote it, with what is known in the place of its references.
    pub fn title_of(&self, node: &Node) -> Option<Plain> {
        let title = node.title()?;
        Some(match self.shown_run() {
            Some(run) => run.filled(&node.id, title),
            None if title.as_str().contains("{{") => Plain::summary(&inputs::filled(title.as_str(), &self.plan().inputs)),
            None => title,
        })
    }

    /// Whether the shown run is over and its plan was changed in it, so that the edited plan doesn't have the change.
    pub fn offers_plan(&self) -> bool {
        let run = self.shown_run().filter(|view| view.plan_before_changes().is_some());
        run.is_some_and(|view| view.newest().run.plan() != Some(self.editor.plan()))
    }

    /// Whether the output of a run that is over is read: it has the keys, and the room.
    pub fn reads_output(&self) -> bool {
        let is_read = self.place.focus == super::super::Focus::Inspector && self.tab() == Tab::Output && self.replay().is_none();
        is_read && self.shown_run().zip(self.selected_id()).is_some_and(|(run, id)| run.is_output(id))
    }
}
