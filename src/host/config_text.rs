//! `ConfigText`: the user's `config.toml` as its person wrote it, to change some settings of it. Comments, order and everything else stay,
//! and what would not be read afterwards is not written.

use super::{client::Problem, config::Config};
use crate::files::{self, beside};
use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
};
use toml_edit::{DocumentMut, Item, Table, TableLike, Value};

/// The file's text, with changes.
pub(super) struct ConfigText {
    file: PathBuf,
    document: DocumentMut,
}

impl ConfigText {
    /// Reads the file; one that isn't there is empty.
    ///
    /// # Errors
    /// When it is there and can't be read.
    pub(super) fn open(file: &Path) -> Result<Self, Problem> {
        let text = match files::read_text(file, files::DOCUMENT) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(Problem::new(format!("{} can't be read: {error}", file.display()))),
        };
        let document = text.parse().map_err(|error: toml_edit::TomlError| {
            Problem::new(format!("{} can't be read: {}", file.display(), error.message())).hint("correct the file first")
        })?;
        Ok(Self { file: file.to_path_buf(), document })
    }

    /// Sets the value at the end of a path of tables, or removes it. A comment behind it stays.
    pub(super) fn put(&mut self, path: &[&str], value: Option<Value>) {
        let Some((name, tables)) = path.split_last() else { return };
        let Some(value) = value else {
            if let Some(table) = self.table(tables) {
                table.remove(name);
            }
            return;
        };
        let Some(table) = self.table(tables) else { return };
        match table.get_mut(name).and_then(Item::as_value_mut) {
            Some(known) => {
                let decor = known.decor().clone();
                *known = value;
                *known.decor_mut() = decor;
            }
            None => {
                table.insert(name, Item::Value(value));
            }
        }
    }

    /// The table of a path, made where it isn't there; none where something else has its name.
    pub(super) fn table(&mut self, path: &[&str]) -> Option<&mut dyn TableLike> {
        let mut table: &mut dyn TableLike = self.document.as_table_mut();
        for (at, name) in path.iter().enumerate() {
            if !table.contains_key(name) {
                let mut new = Table::new();
                // Only the last one needs a head of its own.
                new.set_implicit(at + 1 < path.len());
                table.insert(name, Item::Table(new));
            }
            table = table.get_mut(name)?.as_table_like_mut()?;
        }
        Some(table)
    }

    /// Writes the file, and its folder where there is none.
    ///
    /// # Errors
    /// When it can't be written, or could not be read as a configuration.
    pub(super) fn save(&self) -> Result<(), Problem> {
        let text = self.document.to_string();
        let unwritten = |why: &dyn std::fmt::Display| Problem::new(format!("{} can't be written: {why}", self.file.display()));
        toml::from_str::<Config>(&text).map_err(|error| unwritten(&error.message()).hint("correct the file by hand"))?;
        // A link stays one: what it names is written.
        let file = self.file.canonicalize().unwrap_or_else(|_| self.file.clone());
        file.parent()
            .map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| beside::write(&file, text.as_bytes()))
            .map_err(|error| unwritten(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(text: &str, change: impl FnOnce(&mut ConfigText)) -> Result<String, Problem> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new/config.toml");
        if !text.is_empty() {
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, text).unwrap();
        }
        let mut config = ConfigText::open(&file)?;
        change(&mut config);
        config.save()?;
        Ok(std::fs::read_to_string(&file).unwrap())
    }

    #[test]
    fn comments_order_and_other_settings_stay() {
        let text = "# mine\n[limits]\nslots = 4 # few\n\n[models]\n# the good one\ndefault = \"old\" # for now\n[models.providers.x]\nbase_url = \"http://x\"\napi_key_env = \"X\"\n";
        let new = changed(text, |config| {
            config.put(&["models", "default"], Some("x/new".into()));
            config.put(&["models", "providers", "x", "api_key_env"], None);
            config.put(&["models", "providers", "x", "none"], None);
            config.put(&["models", "windows", "gpt-4.1"], Some(9000_i64.into()));
        });
        let expected = "# mine\n[limits]\nslots = 4 # few\n\n[models]\n# the good one\ndefault = \"x/new\" # for now\n[models.providers.x]\nbase_url = \"http://x\"\n\n[models.windows]\n\"gpt-4.1\" = 9000\n";
        assert_eq!(new.unwrap(), expected);
    }

    #[test]
    fn a_file_and_its_folder_are_made() {
        let new = changed("", |config| {
            config.table(&["models", "providers", "ollama"]);
            config.put(&["models", "default"], Some("ollama/m".into()));
        });
        assert_eq!(new.unwrap(), "[models]\ndefault = \"ollama/m\"\n\n[models.providers.ollama]\n");
    }

    #[test]
    fn what_could_not_be_read_is_not_written() {
        let problem = changed("[models]\ndefault = 1 +", |_| {}).unwrap_err();
        assert!(problem.message.contains("can't be read"), "{}", problem.message);
        let problem = changed("[models]\n", |config| config.put(&["models", "no_such_setting"], Some(1.into()))).unwrap_err();
        assert!(problem.message.contains("can't be written") && problem.message.contains("no_such_setting"), "{}", problem.message);
    }
}
