//! Suggestions from past runs, and what a person does with them: takes one, which changes their own settings or card, dismisses it, or undoes
//! that. Nothing is changed by itself.

use super::{
    client::{Notice, Problem},
    config_text::ConfigText,
    learned::{SuggestionEntry, SuggestionState, SuggestionTurn},
    local::{LocalHost, Shared},
};
use crate::agents::{Card, CardKind};
use crate::engine::{Stats, SuggestedChange, SuggestedFor, Suggestion, Time};
use crate::files;
use crate::store::{KeptAnswer, RunHistory, TakenChange};
use std::{path::Path, sync::Arc};

/// The table of the configuration that says which model works for an agent.
const BY_AGENT: [&str; 2] = ["models", "by_agent"];

impl LocalHost {
    /// The suggestions: open ones first.
    ///
    /// # Errors
    /// When the history can't be read.
    pub fn suggestions(&self) -> Result<Vec<SuggestionEntry>, Problem> {
        let history = RunHistory::open(&self.shared().store)?;
        self.shared().suggestions(&history, &history.stats(Time(0))?)
    }

    /// Takes a suggestion, dismisses it, or undoes that: says what happened.
    ///
    /// # Errors
    /// When there is no such suggestion, or a file can't be written.
    pub fn turn_suggestion(&self, id: &str, turn: SuggestionTurn) -> Result<String, Problem> {
        self.shared().turn_suggestion(id, turn)
    }
}

impl Shared {
    pub(super) fn suggestions(&self, history: &RunHistory, stats: &Stats) -> Result<Vec<SuggestionEntry>, Problem> {
        let answers = history.answers()?;
        let open = Suggestion::all(stats, &self.suggested_for());
        let open = open.into_iter().filter(|suggestion| answers.iter().all(|answer| answer.suggestion.id != suggestion.id));
        let open = open.map(|suggestion| SuggestionEntry { suggestion, state: SuggestionState::Open, file: None });
        let answered = answers.iter().map(|answer| SuggestionEntry {
            suggestion: answer.suggestion.clone(),
            state: if answer.taken.is_some() { SuggestionState::Taken } else { SuggestionState::Dismissed },
            file: answer.taken.as_ref().map(|taken| taken.file.clone()),
        });
        Ok(open.chain(answered).collect())
    }

    /// The agents that a model works for, as they are set up now.
    fn suggested_for(&self) -> Vec<SuggestedFor> {
        let (catalog, models) = (self.catalog(), self.kit.models());
        let can_use = |tool: &&String| catalog.tool(tool).is_some() && !catalog.not_set_up.contains(catalog.canonical(tool));
        let chosen = self.chosen();
        let agent = |card: &Arc<Card>| SuggestedFor {
            agent: card.name.clone(),
            model: models.config().by_agent.get(&card.name).cloned().or_else(|| chosen.clone()),
            tools: card.tools.iter().filter(can_use).cloned().collect(),
        };
        self.kit.cards().iter().filter(|card| card.kind == CardKind::Llm).map(agent).collect()
    }

    pub(super) fn turn_suggestion(&self, id: &str, turn: SuggestionTurn) -> Result<String, Problem> {
        let mut history = RunHistory::open(&self.store)?;
        let answered = history.answers()?.into_iter().find(|answer| answer.suggestion.id == id);
        if turn == SuggestionTurn::Undo {
            let answer = answered.ok_or_else(|| Problem::new(format!("nothing was done with the suggestion `{id}`")))?;
            let said = answer.taken.as_ref().map(|taken| self.undo_change(&answer.suggestion.change, taken)).transpose()?;
            history.drop_answer(id)?;
            return Ok(said.unwrap_or_else(|| "the suggestion is open again".to_owned()));
        }
        let open = Suggestion::all(&history.stats(Time(0))?, &self.suggested_for());
        let suggestion = open.into_iter().find(|suggestion| suggestion.id == id && answered.is_none());
        let suggestion = suggestion
            .ok_or_else(|| Problem::new(format!("there is no open suggestion `{id}`")).hint("`dagdeck suggestions` lists them"))?;
        let (taken, said) = match turn {
            SuggestionTurn::Take => {
                let taken = self.make_change(&suggestion.change)?;
                let said = format!("{}: changed {}", suggestion.change.label(), taken.file);
                (Some(taken), said)
            }
            SuggestionTurn::Dismiss | SuggestionTurn::Undo => (None, "dismissed: it is not suggested again".to_owned()),
        };
        history.keep_answer(&KeptAnswer { suggestion, taken })?;
        Ok(said)
    }

    fn make_change(&self, change: &SuggestedChange) -> Result<TakenChange, Problem> {
        match change {
            SuggestedChange::Model { agent, model } => {
                let (file, before) = self.put_model(agent, Some(model))?;
                Ok(TakenChange { file, before, after: model.clone() })
            }
            SuggestedChange::DropTool { agent, tool } => {
                let card = self.card_text(agent)?;
                let after = without_tool(&card.text, tool)
                    .filter(|text| Card::parse(text, agent, "changed").is_ok_and(|card| !card.tools.contains(tool)))
                    .ok_or_else(|| Problem::new(format!("the card of `{agent}` doesn't list `{tool}` as expected: edit it by hand")))?;
                let before = files::read_text(&card.file, files::DOCUMENT).ok();
                match self.save_card(agent, after.clone())? {
                    Notice::CardRefused { why, .. } => Err(Problem::new(format!("the changed card can't be used: {why}"))),
                    _ => Ok(TakenChange { file: card.file.display().to_string(), before, after }),
                }
            }
        }
    }

    fn undo_change(&self, change: &SuggestedChange, taken: &TakenChange) -> Result<String, Problem> {
        let changed_since = || Problem::new(format!("{} was changed since: undo it there by hand", taken.file));
        match change {
            SuggestedChange::Model { agent, .. } => {
                if self.kit.models().config().by_agent.get(agent) != Some(&taken.after) {
                    return Err(changed_since());
                }
                self.put_model(agent, taken.before.as_deref())?;
            }
            SuggestedChange::DropTool { agent, .. } => {
                let file = Path::new(&taken.file);
                if files::read_text(file, files::DOCUMENT).ok().as_ref() != Some(&taken.after) {
                    return Err(changed_since());
                }
                match &taken.before {
                    Some(before) => drop(self.save_card(agent, before.clone())?),
                    // The shipped card counts again.
                    None => {
                        std::fs::remove_file(file).map_err(|error| Problem::new(format!("{} can't be removed: {error}", taken.file)))?
                    }
                }
                self.kit.reload(&*self.env);
            }
        }
        Ok(format!("undone: {} is as it was", taken.file))
    }

    /// Sets which model works for an agent in the person's settings: the file, and what was set before.
    fn put_model(&self, agent: &str, model: Option<&str>) -> Result<(String, Option<String>), Problem> {
        let folder = self.places.config.as_ref().ok_or_else(|| Problem::new("the system names no folder for your settings"))?;
        let file = folder.join("config.toml");
        let mut config = ConfigText::open(&file)?;
        let before = config.table(&BY_AGENT).and_then(|table| table.get(agent)?.as_str().map(str::to_owned));
        config.put(&[BY_AGENT[0], BY_AGENT[1], agent], model.map(Into::into));
        config.save()?;
        let models = self.set_up().again()?;
        self.kit.set_models(models);
        Ok((file.display().to_string(), before))
    }
}

/// A card without one of its tools, whether they are on one line or one a line; none where it isn't found.
fn without_tool(text: &str, tool: &str) -> Option<String> {
    let name = |item: &str| item.trim().trim_matches(['"', '\'']).to_owned();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let at = lines.iter().position(|line| line.starts_with("tools:"))?;
    let mut kept: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    if let Some((head, rest)) = lines[at].split_once('[') {
        let (items, tail) = rest.split_once(']')?;
        let items: Vec<&str> = items.split(',').map(str::trim).filter(|item| name(item) != tool).collect();
        kept[at] = format!("{head}[{}]{tail}", items.join(", "));
    } else {
        let is_it = |line: &&str| line.trim_start().strip_prefix("- ").is_some_and(|item| name(item) == tool);
        let mut of_list = lines[at + 1..].iter().take_while(|line| line.trim_start().starts_with("- "));
        kept.remove(at + 1 + of_list.position(is_it)?);
    }
    Some(kept.concat()).filter(|changed| changed != text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_taken_from_a_card_and_everything_else_stays() {
        let line = "---\nname: a\ntools: [read_file, summarize, git] # few\nneeds_tools: true\n---\nUse summarize.\n";
        let expected = line.replace("read_file, summarize, git", "read_file, git");
        assert_eq!(without_tool(line, "summarize").as_deref(), Some(expected.as_str()));
        let list = "---\nname: a\ntools:\n  - read_file\n  - \"summarize\"\nneeds_tools: true\n---\n- summarize\n";
        let expected = list.replace("  - \"summarize\"\n", "");
        assert_eq!(without_tool(list, "summarize").as_deref(), Some(expected.as_str()));
        assert_eq!(without_tool(list, "git"), None);
        assert_eq!(without_tool("no card", "git"), None);
    }
}
