//! Requests with their checked answers, read from `open/` and `closed/`.
//!
//! `closed` is a third of each area. Nobody who builds the planner reads it; its requests and the program's answers to them are never
//! printed, only counted, unless somebody asks by `DAGDECK_SHOW=closed`.

use serde::Deserialize;
use std::{collections::BTreeMap, fs, path::Path};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Open,
    Closed,
}

impl Part {
    pub const BOTH: [Self; 2] = [Self::Open, Self::Closed];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
    request: Vec<Request>,
}

/// What a person asks, and how it has to end.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub area: String,
    /// The workspace's name.
    #[serde(rename = "in")]
    pub world: String,
    pub ask: String,
    #[serde(default)]
    pub ends: Ends,
    /// It asks for a command to be run.
    #[serde(default)]
    pub runs: bool,
    /// What the output has to say; with changes and no answer, the output isn't judged.
    pub answer: Option<Answer>,
    /// Other outputs that are as right as `answer`.
    #[serde(default)]
    pub or: Vec<Answer>,
    /// What is different afterwards, by path; everything else has to stay as it was.
    #[serde(default)]
    pub changes: BTreeMap<String, Change>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ends {
    #[default]
    Answered,
    /// Exit code 3: not understood, two readings, a name that isn't there.
    Refused,
    /// Exit code 8: a model is needed.
    Model,
}

/// What an output or a file has to say. All that is given has to hold.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Answer {
    pub numbers: Vec<f64>,
    pub text: Option<String>,
    /// Each row in a line, an entry or a block of its own, with all its cells.
    pub rows: Vec<Vec<Cell>>,
    /// Rows or files come in this order.
    pub ordered: bool,
    /// Other lines may come between the rows.
    pub loose: bool,
    /// Rows that may be there too.
    pub may: Vec<Vec<Cell>>,
    pub any_case: bool,
    /// These files are named, and no others of the workspace.
    pub files: Vec<String>,
    pub yes: Option<bool>,
    /// The text has to be written in this form.
    pub form: Option<Form>,
    /// What a wrong reading would say.
    pub never: Vec<Cell>,
    /// Numbers that may be said besides.
    pub also: Vec<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    Json,
    Yaml,
    /// A table of Markdown.
    Markdown,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Cell {
    Number(f64),
    Text(String),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    Gone,
    Folder,
    /// The whole text; a newline at its end doesn't count.
    Text(String),
    /// The same bytes as this file had before.
    Same(String),
    /// A document of equal value.
    Json(String),
    Yaml(String),
    /// A table with its header, cells by value.
    Table(Vec<Vec<Cell>>),
    Says(Answer),
}

pub fn load(part: Part) -> Vec<Request> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/requests").join(part.word());
    let mut pages: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.sort();
    let read = |path: &std::path::PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        toml::from_str::<Page>(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display())).request
    };
    pages.iter().flat_map(read).collect()
}
