//! The table of operations and phrases: how people word them, and what does them.

use super::slots::{SlotValue, SlotValues};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::sync::LazyLock;

use super::{
    form::{self, FormPart},
    lists,
    words::Word,
};

/// An operation that is a whole clause.
#[derive(Debug, Deserialize)]
pub(super) struct Row {
    pub name: String,
    /// What it does, with `{slot}` for values.
    pub title: String,
    pub forms: Vec<String>,
    pub tool: Option<String>,
    #[serde(default)]
    pub args: Map<String, Value>,
    /// Slots whose files the code gets as text under the slot's name.
    #[serde(default)]
    pub reads: Vec<String>,
    /// Sees the tool's `result`.
    pub code: Option<String>,
    /// The slot of the file that becomes what the code gives.
    pub writes: Option<String>,
    /// Whether its code gives a list of rows.
    #[serde(default)]
    pub rows: bool,
    #[serde(flatten)]
    pub each: Each,
    /// What must hold before it is planned.
    #[serde(flatten)]
    pub needs: Needs,
    #[serde(skip)]
    pub parsed: Vec<Vec<FormPart>>,
}

/// What the answers for several files are.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Each {
    /// What the answer for each is called.
    pub column: Option<String>,
    /// Whether they are added up, too.
    #[serde(default)]
    pub sum: bool,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Needs {
    /// Slots whose file or folder has to be there.
    #[serde(default)]
    pub exists: Vec<String>,
    /// Slots whose file or folder must not be there yet.
    #[serde(default)]
    pub absent: Vec<String>,
    /// Slots that have to be in quotes unless the text occurs exactly so.
    #[serde(default)]
    pub sharp: Vec<String>,
    /// Whether something outside changes, so that a person is asked first.
    #[serde(default)]
    pub effect: bool,
    /// Whether the workspace has to be a repository.
    #[serde(default)]
    pub git: bool,
    /// Whether its code gives true or false.
    #[serde(default)]
    pub truth: bool,
    /// What true and false are to people; else yes and no.
    pub say: Option<(String, String)>,
    /// The endings that its file may have.
    pub only: Option<String>,
}

/// A part of a question about rows.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Phrase {
    pub piece: String,
    #[serde(default)]
    pub value: String,
    pub forms: Vec<String>,
    #[serde(skip)]
    pub parsed: Vec<Vec<FormPart>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct OperationTable {
    #[serde(default, rename = "operation")]
    pub operations: Vec<Row>,
    #[serde(default, rename = "phrase")]
    pub phrases: Vec<Phrase>,
    /// How people name several files at once.
    #[serde(default, rename = "set")]
    pub sets: Vec<Phrase>,
}

/// Both tables. A table that can't be read would leave nothing understood; a test reads them.
pub(super) static ROWS: LazyLock<OperationTable> =
    LazyLock::new(|| read().unwrap_or(OperationTable { operations: Vec::new(), phrases: Vec::new(), sets: Vec::new() }));

pub(super) fn read() -> Result<OperationTable, String> {
    let text = concat!(include_str!("operations.toml"), include_str!("phrases.toml"));
    let mut rows: OperationTable = toml::from_str(text).map_err(|error| error.to_string())?;
    for row in &mut rows.operations {
        row.parsed = row.forms.iter().map(|form| form::parse(form)).collect::<Result<_, _>>()?;
        // What it is said back as is read again.
        row.parsed.push(row.title_form()?);
    }
    for phrase in rows.phrases.iter_mut().chain(&mut rows.sets) {
        phrase.parsed = phrase.forms.iter().map(|form| form::parse(form)).collect::<Result<_, _>>()?;
    }
    Ok(rows)
}

pub(super) fn row(name: &str) -> Option<&'static Row> {
    ROWS.operations.iter().find(|row| row.name == name)
}

/// The title of the one operation that has the most words of a request in its forms, and more than one.
pub(super) fn nearest(words: &[Word]) -> Option<String> {
    let says = |word: &&Word| !word.quoted && word.lower.len() > 2 && !lists::has("function_words", &word.lower);
    let shared = |row: &&Row| {
        let mut own = Vec::new();
        row.parsed.iter().for_each(|form| form::vocabulary(form, &mut |word| own.push(word)));
        words.iter().filter(says).filter(|word| own.contains(&word.lower.as_str())).count()
    };
    let most = ROWS.operations.iter().map(|row| shared(&row)).max().filter(|most| *most > 1)?;
    let mut rows = ROWS.operations.iter().filter(|row| shared(row) == most);
    let only = rows.next().filter(|_| rows.next().is_none())?;
    let parts = only.title.split(['{', '}']).enumerate();
    Some(parts.map(|(at, part)| if at % 2 == 0 { part } else { "…" }).collect())
}

impl Row {
    fn title_form(&self) -> Result<Vec<FormPart>, String> {
        let mut slots = Vec::new();
        self.parsed.iter().for_each(|form| form::typed_slots(form, &mut slots));
        let title = slots
            .iter()
            .fold(self.title.clone(), |title, (name, kind)| title.replace(&format!("{{{name}}}"), &format!("{{{name}:{kind}}}")));
        form::parse(&title)
    }

    /// What it does, in one line, with every value.
    pub fn title(&self, slots: &SlotValues) -> String {
        let mut title = self.title.clone();
        let shown: Vec<&(String, SlotValue)> = slots.iter().collect();
        for (name, slot) in &shown {
            // What the title names itself stands there.
            let others = (2..=3).map(|nth| format!("{name}{nth}")).filter(|other| !self.title.contains(&format!("{{{other}}}")));
            let more: Vec<String> = others.filter_map(|other| Some(shown.iter().find(|(known, _)| *known == other)?.1.show())).collect();
            let all = std::iter::once(slot.show()).chain(more).collect::<Vec<_>>();
            let text = if all.len() > 2 { all.join(", ").replacen(", ", " , ", 1) } else { all.join(" and ") };
            title = title.replace(&format!("{{{name}}}"), &text);
        }
        title
    }
}

/// The forms that mean several files.
pub(super) static SETS: LazyLock<Vec<&'static [FormPart]>> =
    LazyLock::new(|| ROWS.sets.iter().flat_map(|set| &set.parsed).map(Vec::as_slice).collect());

/// Every word of every form: dagdeck's own words.
pub(super) static VOCABULARY: LazyLock<Vec<&'static str>> = LazyLock::new(vocabulary);

fn vocabulary() -> Vec<&'static str> {
    let mut words = Vec::new();
    let phrases = ROWS.phrases.iter().chain(&ROWS.sets).flat_map(|phrase| &phrase.parsed);
    let forms = ROWS.operations.iter().flat_map(|row| &row.parsed).chain(phrases);
    forms.for_each(|form| form::vocabulary(form, &mut |word| words.push(word)));
    words.sort_unstable();
    words.dedup();
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_tables_can_be_read() {
        let rows = read().unwrap();
        assert!(rows.operations.len() > 40 && rows.phrases.len() > 40);
        for row in &rows.operations {
            assert_eq!(rows.operations.iter().filter(|other| other.name == row.name).count(), 1, "{}", row.name);
        }
    }
}
