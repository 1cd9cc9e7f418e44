//! Agents' cards as texts to edit: where each is, and what is kept of what a person wrote.

use super::{
    client::{Notice, Problem, There},
    local::Shared,
    save,
};
use crate::agents::Card;
use crate::files;
use std::{fs, path::PathBuf};

/// A card as it is written, and the file that a change of it goes to.
pub(super) struct CardText {
    pub(super) text: String,
    pub(super) file: PathBuf,
}

impl Shared {
    pub(super) fn card_text(&self, name: &str) -> Result<CardText, Problem> {
        let source = self.kit.lock_cards().source(name).ok_or_else(|| Problem::new(format!("there is no agent `{name}`")))?;
        let Some(file) = source.file else {
            let folder = self.places.config.as_ref().ok_or_else(|| Problem::new("the system names no folder for your agents"))?;
            return Ok(CardText { text: source.text, file: folder.join("agents").join(format!("{name}.md")) });
        };
        // What counts of the workspace is a copy; the person edits their own file.
        let own = file.strip_prefix(&self.places.settings).ok().map(|path| self.places.workspace.join(path));
        let file = own.unwrap_or(file);
        let text = files::read_text(&file, files::DOCUMENT).unwrap_or(source.text);
        Ok(CardText { text, file })
    }

    /// A card, to be edited.
    pub(super) fn read_card(&self, name: &str) -> Result<Notice, Problem> {
        let CardText { text, file } = self.card_text(name)?;
        Ok(Notice::CardRead { name: name.to_owned(), text, file: file.display().to_string() })
    }

    /// Keeps a card as a person wrote it; one that can't be used comes back.
    pub(super) fn save_card(&self, name: &str, text: String) -> Result<Notice, Problem> {
        let CardText { file, .. } = self.card_text(name)?;
        if let Err(error) = Card::parse(&text, &file.display().to_string(), "edited") {
            let hint = error.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
            return Ok(Notice::CardRefused { name: name.to_owned(), text, why: format!("{error}{hint}") });
        }
        let unwritten = |error: std::io::Error| Problem::new(format!("`{}` can't be written: {error}", file.display()));
        file.parent().map_or(Ok(()), fs::create_dir_all).map_err(unwritten)?;
        save::text(&text, &file, There::IsReplaced).map_err(unwritten)?;
        self.places.kept_trust().saved(&file, &self.permission_log())?;
        self.kit.reload(&*self.env);
        Ok(Notice::CardSaved { name: name.to_owned(), file: file.display().to_string() })
    }
}
