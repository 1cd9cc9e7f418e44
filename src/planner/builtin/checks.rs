//! What must hold of the workspace before an operation is planned: what is named is there, as it is spelled, and of the right kind.

use super::{
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
        let files: Vec<String> = ["file", "path"].iter().flat_map(|name| paths(&(*name).to_owned())).collect();
        if let Some(wanted) = &row.needs.only {
            let fits = |file: &&String| file.rsplit_once('.').is_some_and(|(_, ending)| wanted.split(' ').any(|wanted| wanted == ending));
            if let Some(file) = files.iter().find(|file| !fits(file)) {
                return Err(Trouble::WrongKind { file: file.clone(), wanted: wanted.to_uppercase().replace(' ', " or ") });
            }
        }
        if ["json_value", "yaml_value"].contains(&row.name.as_str())
            && let Some(file) = files.first().filter(|file| facts.table(file).is_some())
        {
            return Err(Trouble::WrongKind { file: file.clone(), wanted: "settings".into() });
        }
        if ["json_value", "yaml_value", "toml_value"].contains(&row.name.as_str())
            && let (Some(file), Some((_, SlotValue::Text { text, .. }))) = (files.first(), slots.iter().find(|(name, _)| name == "key"))
            && !text.split(['.', '[', ']', '$']).all(|part| facts.text(file).is_some_and(|whole| whole.contains(part)))
        {
            return Err(Trouble::NotThere { text: text.clone(), file: file.clone() });
        }
        self.sharpened(row, &files, &mut slots)?;
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

    /// Whether a file is named by its name alone, and its folder nowhere.
    fn is_short(&self, path: &str, slot: &SlotValue) -> bool {
        let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
        let is_set = matches!(slot, SlotValue::Paths(_)) && !self.request.contains(name);
        !is_set && !self.request.contains(path) && !self.words.iter().any(|word| word.text.trim_end_matches('/') == folder)
    }

    /// Text that is changed has to occur as it is said; of several files, those in which it does. A bare word that occurs only in another
    /// case could mean either.
    fn sharpened(&self, row: &Row, files: &[String], slots: &mut SlotValues) -> Result<(), Trouble> {
        let (Some(sharp), Some(first)) = (row.needs.sharp.first(), files.first()) else { return Ok(()) };
        let Some((_, SlotValue::Text { text, quoted })) = slots.iter().find(|(name, _)| name == sharp).cloned() else { return Ok(()) };
        let whole = |file: &String| self.facts.text(file).unwrap_or_default();
        let exact = |file: &&String| whole(file).contains(&text);
        let is_sharp = |file: &String| {
            quoted || whole(file).matches(&text).count() == whole(file).to_lowercase().matches(&text.to_lowercase()).count()
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
        if let Some(file) = files.iter().find(is_key).filter(|_| row.name == "replace" && !quoted) {
            return Err(Trouble::Key { text, file: file.clone() });
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
