//! `dagdeck suggestions`: what past runs say could be done better, and what to do with it.

use super::{CliContext, CliError, Exit, Io, SuggestionsArgs};
use crate::{
    host::client::{SuggestionEntry, SuggestionState, SuggestionTurn},
    text::Plain,
};
use serde_json::json;

/// Lists suggestions, or takes, dismisses or undoes one.
///
/// # Errors
/// When there is no such suggestion, or a file can't be written.
pub fn suggestions(args: &SuggestionsArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let turn = [(&args.take, SuggestionTurn::Take), (&args.dismiss, SuggestionTurn::Dismiss), (&args.undo, SuggestionTurn::Undo)]
        .into_iter()
        .find_map(|(id, turn)| Some((id.as_ref()?, turn)));
    if let Some((id, turn)) = turn {
        let said = place.host()?.turn_suggestion(id, turn)?;
        if args.json {
            io.json(&json!({"suggestion": id, "done": said}))?;
        } else {
            io.say(&said);
            if turn != SuggestionTurn::Undo {
                io.say(&format!("`dagdeck suggestions --undo {}` undoes it", Plain::line(id)));
            }
        }
        return Ok(Exit::Success);
    }
    let entries = place.host_to_look()?.suggestions()?;
    if args.json {
        io.json(&json!(entries))?;
        return Ok(Exit::Success);
    }
    for entry in &entries {
        let SuggestionEntry { suggestion, state, file } = entry;
        let state = match state {
            SuggestionState::Open => String::new(),
            SuggestionState::Taken | SuggestionState::Dismissed => format!("  ({})", <&str>::from(*state)),
        };
        io.line(Plain::summary(&format!("{}{state}", suggestion.change.label())).as_str())?;
        io.line(&format!("  {}", Plain::summary(&suggestion.evidence)))?;
        let file = file.as_ref().map(|file| format!("; changed {file}")).unwrap_or_default();
        io.line(&format!("  {}", Plain::summary(&format!("id: {}{file}", suggestion.id))))?;
    }
    if entries.is_empty() {
        io.say("nothing to suggest: that needs ten attempts of an agent at least, and something that they show");
    } else if entries.iter().any(|entry| entry.state == SuggestionState::Open) {
        io.say("`dagdeck suggestions --take ID` makes the change, `--dismiss ID` ends the suggestion, `--undo ID` undoes either");
    }
    Ok(Exit::Success)
}
