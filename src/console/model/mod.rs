//! `Model`: everything that the console shows, as plain data. Changed by `update` only, drawn by `view`. No clock, no I/O.

mod act;
mod confirm;
mod context;
mod cost;
mod dialog;
mod doc;
pub mod docs;
mod drawing;
mod editor;
mod field;
mod forecast;
mod fuzzy;
mod graph_stages;
mod help;
mod inbox;
mod inputs;
mod inspector;
mod inventory;
mod key;
mod list;
mod lists;
pub mod log;
mod look;
mod makers;
mod markdown;
mod peeked;
mod pick;
mod place;
mod request;
mod room;
mod run;
mod runs;
mod safety;
mod session;
mod setup;
mod siblings;
mod stats;
mod trace;
mod transcript;
mod tree;
mod turns;
mod typed;
mod versus;
mod wanted;

pub mod texts;

pub use dialog::FormThen;

pub use act::{Offer, Proposal};
pub use confirm::{Confirm, Confirmed, NewPlan};
pub use context::contexts;
pub use cost::{CostGroup, CostRow, CostView};
pub use dialog::{Asks, Branching, Dialog, EditThen, EditorDialog, FormDialog, LineDialog, LineThen, ListOf, ReaderDialog, Reading};
pub use doc::{Doc, DocLine, LABEL};
pub use drawing::{FoldedGraph, STAGE_GUTTER, StageRow, Stages, address, outermost};
pub use editor::{Addressed, Compare, HistoryStep, PlanEditor, PlanOrigin, Review, Version};
pub use field::{Lines, TextField};
pub use forecast::PlanForecast;
pub use help::{HelpDialog, HelpGroup, HelpLine, HelpRow};
pub use inbox::{Asked, GateDoc, Inbox, Intent, ReplyDraft, RuleProposal, is_question, options_to_pick};
pub use inspector::{Inspector, Scroll, Tab};
pub use inventory::{InventoryRow, InventoryScreen};
pub use key::{Key, KeyContext, Keymap, Offered};
pub use list::{ListCursor, MoveBy, around, scrolled, turned};
pub use log::Log;
pub use look::{Look, Status};
pub use markdown::{DrawnLine, drawn_markdown, drawn_table};
pub use peeked::{PeekedRun, preview};
pub use pick::{Performer, Pick, PickItem, PickThen, TypedAs};
pub use place::{
    Below, CardRoom, Focus, GATE_FRAME, Location, PlanScreen, READING, SMALLEST, Screen, ScreenLayout, WantedRoom, box_width, request_width,
};
pub use request::{EXAMPLES, Planning, RequestLine, Rivals};
pub use run::{Replay, RunAt, RunRecords, RunView, Stop, StopKind, stops};
pub use runs::{LatestRuns, Runs};
pub use safety::{GateKey, GateShown, QUIET_MS, Safety};
pub use session::HostStatus;
pub use setup::{SetupChoice, SetupDraft, SetupLine};
pub use siblings::FinishedRows;
pub use stats::{StatsRow, StatsScreen};
pub use trace::{TraceLine, TraceView, Traced};
pub use transcript::{ConversationMessage, NodeConversation, lines};
pub use tree::{LEVELS, TreeRow, TreeRowKind, TreeView};
pub use turns::Turns;
pub use typed::{Typed, TypedLine};
pub use versus::{CompareScreen, VersusRow};
pub use wanted::Wanted;

use std::cell::LazyCell;

use serde_json::Value;

use crate::engine::{Blocker, Gate, NodeState, Obstacle, StateGroup, result_text};
use crate::plan::{Node, NodeId, Plan};

/// Columns of a row of the tree, from the tree on, that are never cut for what else could be shown.
pub const TITLE: usize = 54;
/// Columns of the lane of time on a wide terminal.
pub const LANE: u16 = 17;
/// Columns of a row around that, in a plan and in a run without its lane.
pub const AROUND_TITLE: (u16, u16) = (25, 12);

/// Everything that the console shows.
#[derive(Clone, Debug)]
pub struct Model {
    /// What the host says about itself.
    pub session: HostStatus,
    /// Where the person is.
    pub place: Location,
    /// The plan that is edited.
    pub editor: PlanEditor,
    pub runs: Runs,
    /// The inspector.
    pub inspector: Inspector,
    /// The request line.
    pub request: RequestLine,
    pub inbox: Inbox,
    /// What lies over the screens, the topmost last.
    pub dialogs: Vec<Dialog>,
    /// A model that is being set up.
    pub setup: SetupDraft,
    /// What a key may decide.
    pub safety: Safety,
    pub look: Look,
    pub status: Option<Status>,
}

impl Model {
    pub fn new(look: Look, size: (u16, u16)) -> Self {
        Self {
            session: HostStatus::default(),
            place: Location { size, ..Location::default() },
            editor: PlanEditor::default(),
            runs: Runs::default(),
            inspector: Inspector::default(),
            request: RequestLine::default(),
            inbox: Inbox::default(),
            dialogs: Vec::new(),
            setup: SetupDraft::default(),
            safety: Safety::default(),
            look,
            status: None,
        }
    }

    /// Whether there is nothing but the runs of before to go on with.
    pub fn at_start(&self) -> bool {
        let is_empty = self.place.shown == PlanScreen::Plan && self.plan().nodes.is_empty() && self.request.planning.is_none();
        is_empty && self.place.screen == Screen::Plan && self.runs.latest.count() > 0
    }

    /// The run that the Plan screen shows, if it shows one.
    pub fn shown_run(&self) -> Option<&RunView> {
        match &self.place.shown {
            PlanScreen::Plan => None,
            PlanScreen::Run(id) => self.runs.get(id),
        }
    }

    /// The same, to change it.
    pub fn shown_run_mut(&mut self) -> Option<&mut RunView> {
        match &self.place.shown {
            PlanScreen::Plan => None,
            PlanScreen::Run(id) => self.runs.get_mut(id),
        }
    }

    /// The replay that is shown, while the shown run is looked at as it was.
    pub fn replay(&self) -> Option<&Replay> {
        self.shown_run()?.replay()
    }

    /// What comes so many steps after what is shown: the plan, then each open run, then the plan again.
    pub fn stage_after(&self, steps: usize) -> PlanScreen {
        let at = match &self.place.shown {
            PlanScreen::Plan => 0,
            PlanScreen::Run(id) => self.runs.number(id).unwrap_or(0),
        };
        let to = (at + steps) % (self.runs.open.len() + 1);
        let run = to.checked_sub(1).and_then(|run| self.runs.open.get(run));
        run.map_or(PlanScreen::Plan, |run| PlanScreen::Run(run.id.clone()))
    }

    /// The plan that the Plan screen shows: the edited one, or that of the shown run.
    pub fn plan(&self) -> &Plan {
        self.shown_run().map_or_else(|| self.editor.shown(), RunView::plan)
    }

    /// The plan that the Plan screen shows, by the addresses that the tree shows.
    pub fn addressed(&self) -> Addressed<'_> {
        let run = self.shown_run().and_then(|run| Some(Addressed { plan: run.seen().run.plan()?, shown: run.plan() }));
        run.unwrap_or_else(|| self.editor.addressed())
    }

    /// The tree that the Plan screen shows.
    pub fn tree(&self) -> &TreeView {
        self.shown_run().map_or(&self.editor.tree, |run| &run.tree)
    }

    /// Selects a node where the tree shows it, unfolding what hides it.
    pub fn reveal(&mut self, node: &NodeId) {
        self.with_tree(|tree, plan| tree.reveal(plan, node));
    }

    /// Changes the tree that the Plan screen shows.
    pub fn with_tree(&mut self, change: impl FnOnce(&mut TreeView, &Plan)) {
        match self.shown_run_mut() {
            Some(run) => run.with_tree(change),
            None => self.editor.with_tree(change),
        }
    }

    /// Computes the drawing of what is shown again, where it must be.
    pub fn refresh_drawing(&mut self) {
        match self.shown_run_mut() {
            Some(run) => run.refresh_drawing(),
            None => self.editor.refresh_drawing(),
        }
    }

    /// The trace that is shown.
    pub fn trace(&self) -> Option<&TraceView> {
        self.shown_run()?.trace.as_deref()
    }

    /// The selected node's id.
    pub fn selected_id(&self) -> Option<&NodeId> {
        self.tree().node()
    }

    pub fn selected_node(&self) -> Option<&Node> {
        let row = self.tree().row().filter(|row| !matches!(row.kind, TreeRowKind::Finished(_)))?;
        self.plan().nodes.get(row.index)
    }

    /// The tabs that the inspector offers now.
    pub fn tabs(&self) -> &'static [Tab] {
        if self.shown_run().is_some() { &Tab::RUN } else { &Tab::PLAN }
    }

    /// The inspector's tab.
    pub fn tab(&self) -> Tab {
        if self.shown_run().is_some() { self.inspector.run_tab } else { self.inspector.plan_tab }
    }

    /// The selected gate while it is open and has its card on this screen.
    pub fn selected_gate(&self) -> Option<(&GateKey, &Gate)> {
        let key = self.inbox.selected.as_ref().filter(|key| self.inbox.gates.contains(key))?;
        if self.place.screen != Screen::Inbox && self.card_gate()? != *key {
            return None;
        }
        let (gate, _) = self.runs.get(&key.run)?.newest().run.gate(key.gate)?;
        Some((key, gate))
    }

    /// The open gates of the selected node, the oldest first. A folded row has none: it stands for more than its node.
    pub fn node_gates(&self) -> Vec<GateKey> {
        let is_folded = self.tree().row().is_none_or(|row| matches!(row.kind, TreeRowKind::Folded(_) | TreeRowKind::Finished(_)));
        let Some(view) = self.shown_run().filter(|view| !is_folded && view.replay().is_none() && view.goes_on()) else { return Vec::new() };
        let gates = view.newest().run.open_gates().filter(|gate| Some(&gate.node) == self.selected_id());
        gates.map(|gate| GateKey { run: view.id.clone(), gate: gate.id }).collect()
    }

    /// The gate that has the card: in the inbox the selected one, beside the tree one of the selected node's, and of several the one that is
    /// selected.
    pub fn card_gate(&self) -> Option<GateKey> {
        let selected = self.inbox.selected.as_ref();
        match self.place.screen {
            Screen::Inbox => selected.filter(|key| self.inbox.gates.contains(key)).cloned(),
            Screen::Plan | Screen::Graph if self.tab() == Tab::Output => {
                let gates = self.node_gates();
                let at = selected.and_then(|key| gates.iter().position(|gate| gate == key)).unwrap_or(0);
                gates.into_iter().nth(at)
            }
            _ => None,
        }
    }

    /// Selects the gate that has the card: by the person's own key only.
    pub fn select_card_gate(&mut self) {
        if let Some(key) = self.card_gate() {
            self.inbox.select(Some(key));
        }
    }

    /// Whether the selected node of the shown run goes on, so that its output may grow.
    pub fn selected_works(&self) -> bool {
        let Some(run) = self.shown_run().filter(|run| run.goes_on()) else { return false };
        self.selected_id().and_then(|id| run.seen().run.node(id)).is_some_and(|node| !node.state.has_ended())
    }

    /// The result of the selected node of the shown run, as it is seen; where a final node only had an effect, the text that was made before.
    pub fn selected_result(&self) -> Option<&Value> {
        let (view, id) = (self.shown_run()?, self.selected_id()?);
        let id = view.text_before(id).unwrap_or(id);
        view.seen().run.node(id)?.result.as_deref().filter(|result| !result.is_null())
    }

    /// The same as it is read.
    pub fn selected_text(&self) -> Option<String> {
        let (result, (view, id)) = (self.selected_result()?, (self.shown_run()?, self.selected_id()?));
        let node = view.seen().run.node(view.text_before(id).unwrap_or(id))?;
        Some(result_text(result, node.reporter(result)))
    }

    /// The gate that the selected node of the shown run waits for.
    pub fn selected_nodes_gate(&self) -> Option<GateKey> {
        let view = self.shown_run()?;
        let NodeState::Waiting { gate } = view.seen().run.node(self.selected_id()?)?.state else { return None };
        Some(GateKey { run: view.id.clone(), gate })
    }

    /// What was written for the selected gate.
    pub fn selected_draft(&self) -> Option<&ReplyDraft> {
        self.inbox.drafts.get(self.inbox.selected.as_ref()?)
    }

    /// The node whose dependencies are being changed in place, while that can be seen.
    pub fn deps_target(&self) -> Option<&NodeId> {
        self.editor.deps.as_ref().filter(|_| self.place.screen == Screen::Plan && self.replay().is_none())
    }

    /// The action that is shown before it is done.
    pub fn proposal(&self) -> Option<&Proposal> {
        self.dialogs.iter().rev().find_map(|dialog| match dialog {
            Dialog::Act(proposal) => Some(&**proposal),
            _ => None,
        })
    }

    /// What the node of the list "why" waits for, as it is seen.
    pub fn blockers(&self) -> Vec<Blocker> {
        match (self.dialogs.last(), self.shown_run()) {
            (Some(Dialog::List { of: ListOf::Why(node), .. }), Some(view)) => self.why(view, node),
            (_, _) => Vec::new(),
        }
    }

    /// What a node waits for, and what continues one that was interrupted.
    pub fn why(&self, view: &RunView, node: &NodeId) -> Vec<Blocker> {
        let (resume, run) = (self.hint("run.resume"), &view.seen().run);
        let resumed = LazyCell::new(|| run.without_driver(view.seen().last));
        let broken_off = |node: &NodeId| {
            let then = resumed.node(node).map(|node| &node.state);
            let next = if then == Some(&NodeState::Unknown) {
                "and asks what to do with it"
            } else if then.is_some_and(NodeState::has_ended) {
                "and uses its result"
            } else {
                "and runs it again"
            };
            format!("`{node}` was interrupted; {resume} resumes the run {next}")
        };
        let mut chain = run.why_in(node, view.seen_status(), broken_off);
        // What kept a node from running for good is at the end of the chain: that comes first.
        let is_over = chain.first().is_some_and(|first| first.obstacle == Obstacle::Nothing);
        if is_over && chain.iter().enumerate().all(|(at, link)| link.depth == at) {
            chain.reverse();
            // What ended well is no cause of it.
            let ended_well = |link: &Blocker| run.node(&link.node).is_some_and(|node| node.state.group() == StateGroup::Done);
            chain.retain(|link| link.node == *node || !ended_well(link));
            chain.iter_mut().for_each(|link| link.depth = 0);
        }
        chain
    }

    /// Shows a screen; keys go to its list.
    pub fn go(&mut self, screen: Screen) {
        self.place.screen = screen;
        self.place.focus = Focus::Tree;
        self.editor.deps = None;
    }

    /// To a screen, or back from it to the tree.
    pub fn toggle(&mut self, screen: Screen) {
        self.go(if self.place.screen == screen { Screen::Plan } else { screen });
    }

    /// The key to show for a command; empty where it has none.
    pub fn hint(&self, id: &str) -> String {
        self.look.keymap.hint(id).unwrap_or_default()
    }

    /// The line of text that takes the keys, if one does whose texts are kept.
    pub fn line(&self) -> Option<TypedLine> {
        match (self.dialogs.last(), self.place.screen, self.place.focus) {
            // A key that was typed is not offered again.
            (Some(Dialog::Line(line)), _, _) if line.field.is_hidden() => None,
            (Some(Dialog::Line(line)), _, _) => Some(TypedLine::of(&line.then)),
            (None, Screen::Plan, Focus::Request) => Some(TypedLine::Request),
            (None, Screen::Plan, Focus::Filter) => Some(TypedLine::Filter),
            (None, Screen::Log, Focus::Filter) => Some(TypedLine::LogFilter),
            (_, _, _) => None,
        }
    }

    /// Whether a text field takes the keys.
    pub fn types(&self) -> bool {
        match (self.dialogs.last(), self.place.screen) {
            (Some(dialog), _) => dialog.types(),
            (None, Screen::Plan) => matches!(self.place.focus, Focus::Request | Focus::Filter),
            (None, Screen::Log) => self.place.focus == Focus::Filter,
            (None, _) => false,
        }
    }

    /// Whether the selected gate takes decision keys, but for the time since the last key: it is before the person's eyes, was
    /// drawn as it is now, and no text field has the focus.
    pub fn gate_is_faced(&self) -> bool {
        let Some((key, _)) = self.selected_gate() else { return false };
        let Some(doc) = self.inbox.doc(key) else { return false };
        let over = match self.dialogs.last() {
            None | Some(Dialog::Reader(ReaderDialog { what: Reading::Gate, .. })) => false,
            Some(_) => true,
        };
        !over && !self.types() && self.safety.in_sight(key, doc.revision)
    }

    /// Lines of the selected gate that were never in sight.
    pub fn unseen_lines(&self) -> usize {
        let doc = self.selected_gate().and_then(|(key, _)| Some((key, self.inbox.doc(key)?)));
        doc.map_or(0, |(key, doc)| self.safety.unseen(key, doc.revision))
    }
}
