//! The last rows: what just happened, and which keys help here.

use ratatui::layout::Rect;

use super::{called, pen::Pen, sentence};
use crate::console::commands;
use crate::console::model::{Focus, Key, KeyContext, Model, RunView, Screen, TypedLine, contexts};
use crate::console::theme::Role;
use crate::text::Plain;

/// Draws the last rows: what happened above the keys. A dialog shows its own keys, so that what happened is on the last rows.
pub fn draw(model: &Model, pen: &mut Pen<'_>, area: Rect) {
    if !model.dialogs.is_empty() {
        let rows = said(model, area.width, BELOW_DIALOG);
        let height = u16::try_from(rows.len()).unwrap_or(0).min(area.height);
        let area = Rect { y: area.bottom() - height, height, ..area };
        pen.wash(area, Role::Text);
        for y in area.top()..area.bottom() {
            pen.text(area.x, y, area.width, &Plain::blank(usize::from(area.width)), Role::Text);
        }
        return pen.lines(Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area }, &rows);
    }
    let rows = said(model, area.width, area.height.saturating_sub(1));
    pen.lines(Rect { x: area.x + 1, width: area.width.saturating_sub(2), height: area.height.saturating_sub(1), ..area }, &rows);
    draw_hints(model, pen, Rect { y: area.bottom().saturating_sub(1), height: 1, ..area });
}

/// Rows of what happened below a dialog.
const BELOW_DIALOG: u16 = 2;

/// What happened, on so many rows at most: a longer text ends in an ellipsis.
fn said(model: &Model, width: u16, most: u16) -> Vec<Vec<(Plain, Role)>> {
    let Some(status) = &model.status else { return Vec::new() };
    let (columns, most) = (usize::from(width.saturating_sub(2)), usize::from(most));
    let mut room = columns * most;
    let mut rows = sentence::rows(&status.text, status.role, columns);
    while rows.len() > most && room > 0 {
        rows = sentence::rows(&status.text.truncate(room), status.role, columns);
        room = room.saturating_sub(4);
    }
    rows
}

/// A key that helps here.
#[derive(Clone, Debug, PartialEq)]
pub struct Hint {
    pub key: Key,
    /// The command that it means.
    pub command: &'static str,
    /// What it does, in a word or two.
    pub words: String,
}

/// Keys that help here, the most useful first. One that means something else here isn't among them.
pub fn hints(model: &Model) -> Vec<Hint> {
    let contexts = contexts(model);
    let hint = |id: &str| {
        let command = commands::find(id)?;
        let key = model.look.keymap.reaching(&contexts, command)?;
        let is_at_tree = model.place.screen == Screen::Plan && model.place.focus == Focus::Tree;
        let idle = match id {
            "app.inbox" => model.inbox.gates.is_empty(),
            "plan.inputs" => model.plan().inputs.is_empty(),
            // Nothing is left to close there.
            "app.back" => is_at_tree && model.tree().filter.is_empty() && model.replay().is_none(),
            _ => false,
        };
        let is_of_use = !idle && (command.guard)(model).is_ok();
        is_of_use.then(|| Hint { key, command: command.id, words: called::name(model, id).unwrap_or_else(|| command.in_hints()) })
    };
    called::for_now(model, hinted(model, &contexts)).into_iter().filter_map(hint).collect()
}

/// Keys that are shown: the one that comes next, and six.
const SHOWN: usize = 7;

/// The keys in their order; how to get help is always at the right end. Those without room are left out whole.
fn draw_hints(model: &Model, pen: &mut Pen<'_>, area: Rect) {
    let mut x = area.x + 1;
    let mut end = area.right().saturating_sub(1);
    let (help, keys): (Vec<Hint>, Vec<Hint>) =
        hints(model).into_iter().partition(|hint| ["app.help", "app.help_here"].contains(&hint.command));
    let pieces =
        |hint: &Hint| [(Plain::line(&hint.key.to_string()), Role::Key), (Plain::blank(1).then(&Plain::line(&hint.words)), Role::Hint)];
    for hint in &help {
        end = pen.pieces_right(Rect { x, width: end.saturating_sub(x), ..area }, &pieces(hint)).saturating_sub(2);
    }
    for hint in keys.iter().take(SHOWN) {
        let pieces = pieces(hint);
        let width = u16::try_from(pieces.iter().map(|(text, _)| text.width()).sum::<usize>()).unwrap_or(u16::MAX);
        if x.saturating_add(width) <= end {
            x = pen.pieces(Rect { x, width, ..area }, &pieces) + 2;
        }
    }
}

/// Commands that help most here, the most useful first, by their ids. Dialogs show their own keys.
fn hinted(model: &Model, contexts: &[KeyContext]) -> impl Iterator<Item = &'static str> {
    // Of a run and of a replay there are commands in front of those of the inspector.
    let replies = [KeyContext::Draft, KeyContext::Gate, KeyContext::Decide];
    let mut inside = contexts.iter().filter(|context| !replies.contains(context));
    let inner = contexts.iter().find(|context| **context == KeyContext::Inspector).or(inside.next());
    let run = model.shown_run().map(RunView::goes_on);
    let ids = match inner {
        // Up and down also move within the text, so that they are never refused; they are hints only where there is something to go to.
        Some(KeyContext::Request) if model.request.typed.before(TypedLine::Request).is_empty() => {
            "request.submit request.leave app.interrupt request.newline app.help_here"
        }
        Some(KeyContext::Request) => "request.submit request.leave app.interrupt request.newline request.older app.help_here",
        Some(KeyContext::Filter) => "filter.done filter.clear filter.older app.help_here",
        Some(KeyContext::Start) => "app.help start.open request.focus app.runs app.model app.palette app.quit",
        Some(KeyContext::Found) => "app.help found.next found.previous app.back tree.open tree.attention",
        Some(KeyContext::LogFilter) => "log.filter_done log.filter_clear log.filter_older app.help_here",
        Some(KeyContext::Deps) => "deps.toggle deps.done deps.undo move.down move.up",
        Some(KeyContext::Replay) => REPLAY,
        Some(KeyContext::Log) => LOG,
        Some(KeyContext::Versus) => "app.help app.back versus.node move.down app.runs app.quit",
        Some(KeyContext::Timeline) => TIMELINE,
        Some(KeyContext::Trace) => TRACE,
        Some(KeyContext::Cost) => "app.help cost.group cost.node cost.budget move.down app.timeline app.log app.back app.quit",
        Some(KeyContext::Tree | KeyContext::Run) if run == Some(true) => RUN_GOES_ON,
        Some(KeyContext::Tree | KeyContext::Run) if run == Some(false) => RUN_ENDED,
        Some(KeyContext::Tree | KeyContext::Run) if model.plan().nodes.is_empty() => {
            "app.help request.focus request.cancel app.runs app.palette app.quit"
        }
        Some(KeyContext::Tree | KeyContext::Run) => PLAN,
        Some(KeyContext::Graph) => GRAPH,
        Some(KeyContext::Inspector) => INSPECTOR,
        Some(KeyContext::Inbox) if model.card_gate().is_some() => GATE,
        Some(KeyContext::Inbox) => "app.help rules.propose gate.go_on move.down app.back app.runs app.quit",
        Some(KeyContext::Compare) => "app.help app.back compare.back compare.accept compare.undo compare.node move.down app.quit",
        Some(KeyContext::Inventory) => {
            "app.help inventory.open inventory.try inventory.edit inventory.start inventory.stop inventory.revoke app.back app.quit"
        }
        Some(KeyContext::Stats) => "app.help stats.take stats.dismiss stats.undo stats.by app.back app.runs app.quit",
        Some(KeyContext::Runs) => "app.help runs.open runs.resume runs.search runs.delete app.back app.quit",
        _ => "",
    };
    ids.split_whitespace()
}

const PLAN: &str = "app.help plan.run app.inbox request.cancel plan.edit plan.add plan.deps plan.inputs plan.findings request.focus \
    plan.undo tree.filter stage.next tree.attention app.graph app.palette app.quit";
const GRAPH: &str = "app.help app.back graph.open graph.form graph.fold plan.run run.gate app.inbox tree.attention plan.edit plan.add \
    graph.next_turn plan.undo stage.next app.palette app.quit";
const RUN_GOES_ON: &str = "app.help rules.propose run.gate app.inbox act.undo act.menu act.pause stage.next act.step act.break tree.attention \
    app.graph request.focus replay.toggle app.log app.timeline app.trace run.take_plan app.palette app.quit";
const RUN_ENDED: &str = "app.help rules.propose run.resume app.inbox act.undo run.save_result tree.open stage.next tree.attention replay.toggle app.timeline app.trace \
    app.log act.again app.graph run.take_plan request.focus app.runs app.palette app.quit";
const REPLAY: &str = "app.help replay.back replay.forward replay.node_back replay.play replay.branch replay.find replay.next replay.last \
    app.log run.gate app.back app.quit";
const LOG: &str = "app.help log.go log.filter log.node log.follow log.copy replay.back replay.forward replay.last app.back app.quit";
const TIMELINE: &str = "app.help timeline.node timeline.trace replay.back replay.forward replay.last act.menu act.pause replay.toggle app.log \
    app.back app.quit";
const TRACE: &str = "app.help trace.go trace.from replay.back replay.forward replay.last replay.toggle app.log app.timeline app.back \
    app.quit";
const INSPECTOR: &str = "app.help app.back move.down inspector.right inspector.zoom inspector.copy replay.back replay.forward replay.play \
    replay.last app.inbox act.menu act.pause focus.next app.quit";
const GATE: &str = "app.help gate.approve gate.allow_host gate.edit gate.reject gate.skip rules.propose gate.drop gate.cancel_branch gate.node gate.zoom app.back";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::tests::Deck;
    use serde_json::json;
    use std::collections::BTreeSet;

    fn planned() -> Deck {
        Deck::planned(120, 40)
    }

    fn waiting() -> Deck {
        Deck::waiting(120, 40)
    }

    fn ended() -> Deck {
        let mut deck = waiting();
        deck.keys("i a");
        deck.done("write", json!({"bytes": 12}));
        deck.keys("1");
        deck
    }

    /// A console, and keys from it to places that have hints of their own.
    type Ways = (fn() -> Deck, &'static [&'static str]);

    const PLACES: [Ways; 4] = [
        (|| Deck::new(120, 40), &["esc", "3"]),
        (planned, &["esc", "n", "/", "D", "tab", "4", "=", "2", "3"]),
        (waiting, &["esc", "<", "n", "/", "tab", "H", "4", "2", "3", "5", "6", "7", "5 /", "5 H", "6 H", "7 H"]),
        (ended, &["j", "tab", "H", "4", "5", "6", "7"]),
    ];

    #[test]
    fn every_hint_is_a_command_and_its_key_means_just_that_where_it_is_shown() {
        let (mut seen, mut shown) = (BTreeSet::new(), BTreeSet::new());
        for (make, ways) in PLACES {
            for keys in ways {
                let mut deck = make();
                deck.keys(keys);
                let contexts = contexts(&deck.model);
                for id in hinted(&deck.model, &contexts) {
                    let command = commands::find(id).unwrap_or_else(|| panic!("no command `{id}`"));
                    if (command.guard)(&deck.model).is_ok() && !command.keys.is_empty() {
                        // One whose key replies to gates in a run has another there.
                        let key = deck.model.look.keymap.reaching(&contexts, command);
                        let key = key.unwrap_or_else(|| panic!("no key reaches `{id}` after {keys}, in {contexts:?}"));
                        let meant = deck.model.look.keymap.resolve(&contexts, key).map(|meant| meant.id);
                        assert_eq!(meant, Some(id), "after {keys}, in {contexts:?}");
                        shown.insert(id);
                    }
                }
                let replies = [KeyContext::Draft, KeyContext::Gate, KeyContext::Decide];
                seen.extend(contexts.iter().find(|context| !replies.contains(context)).copied());
            }
        }
        assert!(seen.len() >= 14 && shown.len() >= 60, "{} places, {} hints", seen.len(), shown.len());
    }
}
