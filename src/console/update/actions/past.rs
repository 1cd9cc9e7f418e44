//! Past runs: reading what is shown of the selected one, and searching all of them. Both ask the host for one thing at a time.

use super::super::UpdateTurn;
use crate::console::model::{Dialog, Model, PickItem, PickThen, Screen, texts};
use crate::host::client::{FoundSummary, Notice, Request, RunSummary};
use crate::text::timestamp;

/// Runs that a search shows before anything is typed.
const NEWEST: usize = 50;

/// Searches for runs by their goal, state, time or results.
pub fn search(model: &mut Model, _: &mut UpdateTurn) {
    let items = model.runs.listing.iter().take(NEWEST).map(|summary| item(summary, None)).collect();
    let mut dialog = Dialog::pick("search the runs and their results", items);
    if let Dialog::Pick(pick) = &mut dialog {
        pick.found_for = Some(String::new());
    }
    model.dialogs.push(dialog);
}

fn item(summary: &RunSummary, line: Option<&str>) -> PickItem {
    let (name, word, began) = (texts::run_name(&summary.run), summary.status.word(), timestamp(summary.created.0));
    let detail = match line {
        Some(line) => format!("{name}: {line} ({word}, {began})"),
        None => format!("{name}, {word}, {began}"),
    };
    PickItem::new(PickThen::OpenRun(summary.run.clone()), &summary.goal, &detail)
}

/// Asks the host for what is on the screen and not known yet: the runs that have what is typed, and what is in the selected one.
pub fn read_on(model: &mut Model, turn: &mut UpdateTurn) {
    if let Some(Dialog::Pick(pick)) = model.dialogs.last()
        && let Some(found_for) = &pick.found_for
        && model.runs.searching.is_none()
    {
        let words = pick.query.text().trim().to_owned();
        if *found_for != words {
            model.runs.searching = Some(words.clone());
            turn.send(Request::SearchRuns(words));
        }
    }
    let wanted: Vec<usize> = match model.place.screen {
        Screen::Runs => vec![model.runs.place.selected],
        _ if model.at_start() => model.runs.latest.named().collect(),
        _ => Vec::new(),
    };
    for summary in wanted.into_iter().filter_map(|at| model.runs.listing.get(at).cloned()) {
        // An open run is looked at here.
        if model.runs.get(&summary.run).is_none()
            && let Some(run) = model.runs.peeked.ask(&summary)
        {
            turn.send(Request::PeekRun(run));
        }
    }
}

/// The host has read a run, or searched.
pub fn heard(model: &mut Model, notice: Notice) {
    match notice {
        Notice::RunPeeked { run, peek } => model.runs.peeked.came(&run, *peek),
        Notice::RunsFound { words, found } => self::found(model, &words, found),
        _ => {}
    }
}

fn found(model: &mut Model, words: &str, found: Vec<FoundSummary>) {
    model.runs.searching = None;
    let Some(Dialog::Pick(pick)) = model.dialogs.last_mut() else { return };
    let Some(found_for) = &mut pick.found_for else { return };
    words.clone_into(found_for);
    let marked = pick.marked().map(|item| item.then.clone());
    pick.items = found.iter().map(|found| item(&found.summary, found.line.as_deref())).collect();
    pick.search();
    // What is marked stays so, as long as it is there.
    pick.selected = pick.shown.iter().position(|at| Some(&pick.items[*at].then) == marked.as_ref()).unwrap_or_default();
}
