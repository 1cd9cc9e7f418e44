//! The ways in which a text can be a list of records: JSON, lines, blocks, a sentence.

use serde_json::Value;

#[derive(Clone, Debug)]
pub struct Record {
    pub text: String,
}

impl Record {
    fn of(text: &str) -> Self {
        Self { text: text.trim().to_owned() }
    }

    /// A line of a frame: nothing but strokes, a heading, a name with a colon.
    pub fn is_frame(&self) -> bool {
        self.text.chars().all(|letter| "-|:=+ _─│".contains(letter))
            || self.text.starts_with('#')
            || self.text.ends_with(':')
            || self.text.starts_with("```")
    }

    /// How many strokes, tabs or commas divide it.
    pub fn delimiters(&self) -> usize {
        let counts = ["|", "\t", " · ", ",", "│"].map(|mark| self.text.matches(mark).count());
        counts.into_iter().find(|count| *count > 0).unwrap_or(0)
    }

    pub fn cells(&self) -> impl Iterator<Item = &str> {
        let marks = if self.text.contains('|') {
            "|"
        } else if self.text.contains('\t') {
            "\t"
        } else {
            ",:;"
        };
        self.text
            .split(move |letter: char| marks.contains(letter))
            .map(|cell| cell.trim_matches(|letter: char| letter.is_whitespace() || "`\"'*-".contains(letter)))
    }
}

/// Every way in which the text can be cut, likely ones first.
pub fn segmentations(text: &str) -> Vec<Vec<Record>> {
    let text = text.replace("\\|", "/");
    let mut ways = Vec::new();
    let inner = text.trim().trim_start_matches("```json").trim_matches('`');
    let value: Option<Value> = serde_json::from_str(inner).ok();
    ways.extend(value.iter().map(entries));
    ways.extend(value.iter().filter_map(Value::as_object).filter_map(|fields| fields.values().find(|value| value.is_array())).map(entries));
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let values: Option<Vec<Value>> = lines.iter().map(|line| serde_json::from_str(line).ok().filter(Value::is_object)).collect();
    ways.extend(values.map(|values| values.iter().map(flat).collect()));
    ways.push(lines.iter().map(|line| Record::of(line)).collect());
    ways.push(blocks(&text, |line| line.trim().is_empty()));
    ways.push(blocks(&text, |line| line.starts_with("commit ")));
    ways.push(blocks(&text, |line| line.starts_with('#') || line.ends_with(':') || line.starts_with("==>")));
    if lines.len() <= 3 {
        let sentence = text.replace(" and ", ",").replace([';', '\n'], ",");
        ways.push(sentence.split(',').filter(|part| !part.trim().is_empty()).map(Record::of).collect());
    }
    ways
}

/// Blocks that begin at such lines.
fn blocks(text: &str, begins: impl Fn(&str) -> bool) -> Vec<Record> {
    let mut found: Vec<String> = Vec::new();
    for line in text.lines() {
        if begins(line) || found.is_empty() {
            found.push(String::new());
        }
        if let Some(block) = found.last_mut() {
            block.push_str(line.trim());
            block.push('\n');
        }
    }
    found.iter().filter(|block| !block.trim().is_empty()).map(|block| Record::of(block)).collect()
}

fn entries(value: &Value) -> Vec<Record> {
    match value {
        Value::Array(items) => items.iter().map(flat).collect(),
        Value::Object(fields) => {
            match fields.values().find(|value| value.as_array().is_some_and(|items| items.iter().any(Value::is_object))) {
                Some(items) => entries(items),
                None => fields.iter().flat_map(|(name, value)| named(name, value)).collect(),
            }
        }
        other => vec![flat(other)],
    }
}

/// A field by its name; a text of several lines by its lines.
fn named(name: &str, value: &Value) -> Vec<Record> {
    match value.as_str().filter(|text| text.trim().contains('\n')) {
        Some(text) => text.lines().map(Record::of).collect(),
        None => vec![Record { text: format!("{name} | {}", flat(value).text) }],
    }
}

/// The values of an entry, without the names of its fields.
fn flat(value: &Value) -> Record {
    fn walk(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| walk(item, found)),
            Value::Object(fields) => fields.values().for_each(|item| walk(item, found)),
            Value::String(text) => found.push(text.clone()),
            other => found.push(other.to_string()),
        }
    }
    let mut found = Vec::new();
    walk(value, &mut found);
    Record { text: found.join(" | ") }
}
