//! What must hold of the workspace before an operation is planned: what is named is there, as it is spelled, and of the right kind.

use super::{
    lists,
    readings::{Reader, Trouble},
    rows::Row,
    slots::{SlotValue, SlotValues},
    tree::Operation,
};

impl Reader<'_> {
    /// A row with its slots, if the workspace is as the row needs it.
    pub(super) fn checked(&self, row: &Row, mut slots: SlotValues) -> Result<Operation, Trouble> {
        let facts = self.facts;
        if row.name == "rename" {
            stay_in_folder(&mut slots);
        }
        let paths = |name: &String| match slots.iter().find(|(slot, _)| slot == name) {
            Some((_, SlotValue::Path(path) | SlotValue::Text { text: path, .. })) => vec![path.clone()],
            Some((_, SlotValue::Paths(paths))) => paths.clone(),
            _ => Vec::new(),
        };
        if row.needs.git && !facts.is_folder(".git") && !facts.exists(".git") {
            return Err(Trouble::NoRepository);
        }
        let there: Vec<String> = row.needs.exists.iter().flat_map(paths).collect();
        if let Some(missing) = there.iter().find(|path| !facts.exists(path)) {
            return Err(Trouble::Missing { nearest: facts.nearest(missing).map(str::to_owned), path: missing.clone() });
        }
        // What is changed has to be named in full.
        let named = slots.iter().filter(|(name, _)| row.needs.effect && row.needs.exists.contains(name));
        let short =
            named.flat_map(|(name, slot)| paths(name).into_iter().filter(move |path| path != "." && self.is_short(path, slot))).next();
        if let Some(short) = short {
            return Err(Trouble::Short(short));
        }
        if let Some(there) = row.needs.absent.iter().flat_map(paths).find(|path| facts.exists(path)) {
            return Err(Trouble::There(there));
        }
        self.tables_fit(row, paths)?;
        let files: Vec<String> = ["file", "path"].iter().flat_map(|name| paths(&(*name).to_owned())).collect();
        if let Some(wanted) = &row.needs.only {
            let fits = |file: &&String| file.rsplit_once('.').is_some_and(|(_, ending)| wanted.split(' ').any(|wanted| wanted == ending));
            if let Some(file) = files.iter().find(|file| !fits(file)) {
                return Err(Trouble::WrongKind {
                    file: file.clone(),
                    wanted: format!("{} file", wanted.to_uppercase().replace(' ', " or ")),
                });
            }
        }
        if ["json_value", "yaml_value"].contains(&row.name.as_str())
            && let Some(file) = files.first().filter(|file| facts.table(file).is_some())
        {
            return Err(Trouble::WrongKind { file: file.clone(), wanted: "file of settings".into() });
        }
        if ["json_value", "yaml_value", "toml_value"].contains(&row.name.as_str())
            && let (Some(file), Some((_, SlotValue::Text { text, .. }))) = (files.first(), slots.iter().find(|(name, _)| name == "key"))
            && !text.split(['.', '[', ']', '$']).all(|part| facts.text(file).is_some_and(|whole| whole.contains(part)))
        {
            return Err(Trouble::NotThere { text: text.clone(), file: file.clone() });
        }
        self.sharpened(row, &files, &mut slots)?;
        self.settings_fit(row, &files, &mut slots)?;
        // A folder that goes "to" a name that isn't there gets this name.
        let folder = |name: &str| {
            slots.iter().find_map(|(slot, value)| if let (true, SlotValue::Path(path)) = (slot == name, value) { Some(path) } else { None })
        };
        if ["copy_into", "move_into"].contains(&row.name.as_str())
            && !self.words.iter().any(|word| word.is("into") || word.is("in"))
            && let (Some(source), Some(target)) = (folder("source"), folder("target"))
            && facts.is_folder(source)
            && !facts.is_folder(target)
            && folder("source2").is_none()
        {
            return Err(Trouble::Missing { path: target.clone(), nearest: None });
        }
        Ok(Operation::Row { name: row.name.clone(), slots })
    }

    /// Whether the tables are such that the row can be done to them.
    fn tables_fit(&self, row: &Row, paths: impl Fn(&String) -> Vec<String>) -> Result<(), Trouble> {
        let columns = |path: &String| Some(self.facts.table(path)?.columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>());
        let named = |name: &str| paths(&name.to_owned()).into_iter().next();
        match row.name.as_str() {
            "convert" | "convert_to" => match named("file").filter(|file| columns(file).is_none()) {
                Some(file) => Err(Trouble::WrongKind { file, wanted: "table".into() }),
                None => Ok(()),
            },
            "joined_files" => match (named("a"), named("b")) {
                (Some(a), Some(b)) if columns(&a).zip(columns(&b)).is_some_and(|(first, second)| first != second) => {
                    Err(Trouble::WrongKind { file: b, wanted: format!("table with the columns of {a}") })
                }
                _ => Ok(()),
            },
            "values_only_in" | "values_in_both" => match ["a", "b"].into_iter().filter_map(named).find(|file| columns(file).is_none()) {
                Some(file) => Err(Trouble::WrongKind { file, wanted: "table".into() }),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Whether a setting is there as it is named, and can be set so.
    fn settings_fit(&self, row: &Row, files: &[String], slots: &mut SlotValues) -> Result<(), Trouble> {
        let text = |name: &str| match slots.iter().find(|(slot, _)| slot == name) {
            Some((_, SlotValue::Text { text, .. })) => Some(text.clone()),
            _ => None,
        };
        let (Some(file), Some(key)) = (files.first(), text("key")) else { return Ok(()) };
        if let ("set_plain", Some(new)) = (row.name.as_str(), text("new")) {
            self.settable(file, &key, &new)?;
        }
        if row.name == "yaml_value" {
            let whole = self.setting(file, &key)?;
            slots
                .iter_mut()
                .filter(|(name, _)| name == "key")
                .for_each(|(_, slot)| *slot = SlotValue::Text { text: whole.clone(), quoted: false });
        }
        Ok(())
    }

    /// A value is set where one of its kind stands alone behind its name, and where it needs no quotes.
    fn settable(&self, file: &str, key: &str, new: &str) -> Result<(), Trouble> {
        let text = self.facts.text(file).unwrap_or_default();
        let value = |line: &'_ str| {
            let rest = line.trim_start().strip_prefix(key)?.trim_start().strip_prefix([':', '='])?;
            let value = rest.split(" #").next().unwrap_or(rest).trim();
            let is_plain = !value.is_empty()
                && !value.contains(char::is_whitespace)
                && !value.starts_with(['"', '\'', '[', '{', '|', '>', '&', '*', '#']);
            is_plain.then(|| value.to_owned())
        };
        let found: Vec<String> = text.lines().filter_map(value).collect();
        let [old] = &found[..] else {
            let many = if found.is_empty() { "no plain value".to_owned() } else { format!("{} values", found.len()) };
            return Err(Trouble::Other(format!("{file} has {many} of {key}, so none can be set")));
        };
        let is_number = |text: &str| text.parse::<f64>().is_ok();
        let is_truth = |text: &str| ["true", "false", "yes", "no", "on", "off"].contains(&text);
        if is_number(old) && !is_number(new) || is_truth(old) && !is_truth(new) {
            return Err(Trouble::Other(format!("{key} is {old} in {file}, and {} is of another kind", super::slots::quoted(new))));
        }
        let opens = |c: char| "\"'[]{}&*!|>%@`#:-?,".contains(c) && !is_number(new);
        if new.is_empty() || new.starts_with(opens) || new.ends_with(':') || new.contains(": ") || new.contains('#') || new.contains(' ') {
            return Err(Trouble::Other(format!("{} can't stand in {file} without quotes", super::slots::quoted(new))));
        }
        Ok(())
    }

    /// A setting by its whole name, where it was named by the end of it.
    fn setting(&self, file: &str, key: &str) -> Result<String, Trouble> {
        let names = self.facts.settings(file);
        let mut found: Vec<String> = names.iter().filter(|name| name.ends_with(&format!(".{key}"))).cloned().collect();
        match found.pop() {
            _ if names.iter().any(|name| name == key) => Ok(key.to_owned()),
            None => Err(Trouble::NotThere { text: key.to_owned(), file: file.to_owned() }),
            Some(only) if found.is_empty() => Ok(only),
            Some(last) => Err(Trouble::Unclear { text: key.to_owned(), found: [&found[..], &[last]].concat() }),
        }
    }

    /// Whether a file is named by its name alone, and its folder nowhere.
    fn is_short(&self, path: &str, slot: &SlotValue) -> bool {
        let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
        let is_set = matches!(slot, SlotValue::Paths(_)) && !self.request.contains(name);
        !is_set && !self.request.contains(path) && !self.words.iter().any(|word| [folder, path].contains(&word.text.trim_end_matches('/')))
    }

    /// Text that is changed has to occur as it is said; of several files, those in which it does. A bare word that occurs only in another
    /// case could mean either.
    fn sharpened(&self, row: &Row, files: &[String], slots: &mut SlotValues) -> Result<(), Trouble> {
        let (Some(sharp), Some(first)) = (row.needs.sharp.first(), files.first()) else { return Ok(()) };
        let Some((_, SlotValue::Text { text, quoted })) = slots.iter().find(|(name, _)| name == sharp).cloned() else { return Ok(()) };
        let whole = |file: &String| self.facts.text(file).unwrap_or_default();
        let exact = |file: &&String| whole(file).contains(&text);
        let is_sharp = |file: &String| {
            quoted
                || text != text.to_lowercase()
                || whole(file).matches(&text).count() == whole(file).to_lowercase().matches(&text.to_lowercase()).count()
        };
        // `change port to 9100` sets the port; it doesn't rename it.
        let is_key = |file: &&String| {
            let names = |line: &str| {
                line.trim_start()
                    .trim_start_matches(['"', '-', ' '])
                    .strip_prefix(&text)
                    .is_some_and(|rest| rest.trim_start_matches(['"', ' ']).starts_with([':', '=']))
            };
            whole(file).lines().any(names)
        };
        let has_keys = |file: &&String| file.rsplit('.').next().is_some_and(|ending| lists::has("settings", ending));
        if let Some(file) = files.iter().filter(has_keys).find(is_key).filter(|_| row.name == "replace" && !quoted) {
            return Err(Trouble::Key { text, file: file.clone() });
        }
        // `the word news` is no part of another word.
        let at = self.words.iter().position(|word| word.text == text).filter(|at| *at > 0 && self.words[at - 1].is("word"));
        let inside = |file: &&String| {
            let whole = whole(file);
            let is_letter = |near: Option<char>| near.is_some_and(char::is_alphanumeric);
            whole
                .match_indices(&text)
                .any(|(from, found)| is_letter(whole[..from].chars().next_back()) || is_letter(whole[from + found.len()..].chars().next()))
        };
        if let Some(file) = files.iter().find(inside).filter(|_| at.is_some() && row.needs.effect) {
            return Err(Trouble::Other(format!("{} is also a part of other words in {file}", super::slots::quoted(&text))));
        }
        let with: Vec<String> = files.iter().filter(exact).cloned().collect();
        let is_guess = !quoted && text.contains(' ');
        if (row.needs.effect || is_guess) && with.is_empty() || !files.iter().all(is_sharp) {
            return Err(Trouble::NotThere { text, file: if files.len() > 1 { "these files".into() } else { first.clone() } });
        }
        if let Some((_, slot)) = slots.iter_mut().find(|(_, slot)| row.needs.effect && matches!(slot, SlotValue::Paths(_))) {
            *slot = SlotValue::Paths(with);
        }
        Ok(())
    }
}

/// A new name without a folder stays in the folder of the old one.
fn stay_in_folder(slots: &mut SlotValues) {
    let folder = slots.iter().find_map(|(name, slot)| match slot {
        SlotValue::Path(path) if name == "source" => path.rsplit_once('/').map(|(folder, _)| folder.to_owned()),
        _ => None,
    });
    for (name, slot) in slots {
        if name == "target" {
            let text = match slot {
                SlotValue::Path(text) | SlotValue::Text { text, .. } => text.clone(),
                _ => continue,
            };
            *slot = SlotValue::Path(match &folder {
                Some(folder) if !text.contains('/') => format!("{folder}/{text}"),
                _ => text,
            });
        }
    }
}
