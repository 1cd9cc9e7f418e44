//! What is told of a row of the statistics.

use super::Doc;
use crate::console::model::{StatsRow, StatsScreen};
use crate::console::theme::Role;
use crate::engine::{Follows, StatsCell, SuggestedChange, ToolUse};
use crate::host::client::{SuggestionEntry, SuggestionState};
use crate::text::{Plain, cost, count, duration, thousands};
use std::cmp::Reverse;

/// All of the selected row, and how good estimates were.
pub fn stats(screen: &StatsScreen) -> Doc<'static> {
    let mut doc = Doc::default();
    let StatsCell { key, done } = match screen.selected() {
        Some(StatsRow::Cell(cell)) => cell,
        Some(StatsRow::Suggestion(entry)) => {
            suggestion(entry, &mut doc);
            return doc;
        }
        None => return doc,
    };
    doc.line(Role::Heading, Plain::summary(&key.label()));
    doc.field("attempts", &Plain::line(&thousands(done.attempts)));
    let broken_off = done.attempts - done.ran_out();
    for (name, figure) in
        [("succeeded", done.succeeded), ("at a limit", done.handed_back), ("failed", done.failed), ("broken off", broken_off)]
    {
        if figure > 0 {
            doc.field(name, &Plain::line(&thousands(figure)));
        }
    }
    doc.heading("an attempt on average");
    doc.field("time", &duration(done.mean_ms()));
    doc.field("calls", &Plain::line(&format!("{:.1} of its model", done.mean_calls())));
    let about = if done.estimated > 0 { "~" } else { "" };
    doc.field("tokens", &Plain::line(&format!("{about}{}", count(done.mean_tokens()))));
    doc.field("cost", &done.mean_cost().map_or_else(|| Plain::line("?, as a price is unknown"), cost));
    if !done.tools.is_empty() {
        doc.heading("tools");
        let mut tools: Vec<(&String, &ToolUse)> = done.tools.iter().collect();
        tools.sort_by_key(|(name, used)| (Reverse(used.attempts), *name));
        for (tool, used) in tools {
            doc.line(
                Role::Text,
                Plain::summary(&format!("{tool}  in {} of {} attempts, {} calls", used.attempts, done.attempts, used.calls)),
            );
        }
    }
    let Some(report) = &screen.report else { return doc };
    let about = |pair: &&Follows| key.agent.as_ref().is_some_and(|agent| *agent == pair.before || *agent == pair.after);
    let pairs: Vec<&Follows> = report.stats.follows.iter().filter(about).collect();
    if !pairs.is_empty() {
        doc.heading("in runs that succeeded");
        for Follows { before, after, runs } in pairs {
            doc.line(Role::Text, Plain::summary(&format!("{after} follows {before}  {runs}×")));
        }
    }
    if let Some(record) = report.record.label() {
        doc.heading("estimates");
        doc.text(Role::Dim, &record);
    }
    doc
}

/// What is suggested, why, and where taking it is kept.
fn suggestion(entry: &SuggestionEntry, doc: &mut Doc<'static>) {
    doc.line(Role::Heading, entry.suggestion.change.label());
    doc.text(Role::Text, &entry.suggestion.evidence);
    let state: &str = entry.state.into();
    doc.field("state", &Plain::line(state));
    if let Some(file) = &entry.file {
        doc.field("changed", &Plain::summary(file));
    }
    let kept = match (&entry.suggestion.change, entry.state) {
        (SuggestedChange::Model { .. }, SuggestionState::Open) => {
            "Taking it sets the model in your settings file, under `models.by_agent`."
        }
        (SuggestedChange::DropTool { .. }, SuggestionState::Open) => {
            "Taking it changes the agent's card; a shipped card becomes a file of your own."
        }
        (_, SuggestionState::Taken | SuggestionState::Dismissed) => "Undo sets it back to how it was.",
    };
    doc.text(Role::Dim, kept);
}
