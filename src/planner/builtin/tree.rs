//! The tree of typed operations that a request means.

use super::slots::{Literal, Relation, SlotValues, quoted};

/// What a request means: clauses, in order.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    Do(Clause),
    If {
        condition: Condition,
        then: Vec<Step>,
        otherwise: Vec<Step>,
    },
    /// A part that isn't understood; the plan asks about it.
    Unknown(String),
}

/// One operation, and the file that its result goes to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Clause {
    pub operation: Operation,
    pub target: Option<Target>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Target {
    pub path: String,
    pub append: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operation {
    Query(Query),
    /// A row of the table of operations, by its name, with its slots.
    Row {
        name: String,
        slots: SlotValues,
    },
    /// A row's effect on each file of a listing.
    OnFiles {
        query: Query,
        row: String,
        target: Option<String>,
    },
    /// What came before, for a target.
    Previous,
    /// Words for a model.
    Agent(String),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Condition {
    pub operation: Operation,
    /// Compared with the number that the operation gives; none: its truth.
    pub test: Option<(Relation, f64)>,
    pub not: bool,
}

/// A question about rows: of a listing, a text, a table or a log.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Query {
    pub source: Source,
    pub filters: Vec<RowFilter>,
    pub want: Want,
    pub group: Vec<String>,
    /// What the value of a group has to be.
    pub having: Option<(Relation, f64)>,
    pub sort: Vec<(String, Direction)>,
    pub part: Option<Range>,
    pub reverse: bool,
    /// With how many decimals figures are given.
    pub round: Option<u64>,
    /// Which rows a percentage is of; none: all.
    pub whole: Vec<RowFilter>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Source {
    Files(FileSet),
    /// Lines of a text.
    Lines(String),
    /// Rows of a table, or entries of a log.
    Table(String),
    /// Commits of the repository, or of a file or folder in it.
    Commits {
        path: Option<String>,
    },
    /// Places of a text in files.
    Matches {
        text: String,
        mode: Match,
        files: FileSet,
    },
}

/// How a text is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Match {
    pub any_case: bool,
    /// Only where it is no part of another word.
    pub word: bool,
}

impl Match {
    pub const EXACT: Self = Self { any_case: false, word: false };
    pub const ANY_CASE: Self = Self { any_case: true, word: false };

    /// `the word "bank" in any case`
    pub fn said(self, text: &str) -> String {
        let (word, case) = (if self.word { "the word " } else { "" }, if self.any_case { " in any case" } else { "" });
        format!("{word}{}{case}", quoted(text))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct FileSet {
    /// A folder or one file; `.` is the workspace.
    pub place: String,
    /// Folders beside it.
    pub also: Vec<String>,
    pub globs: Vec<String>,
    /// Folders, files and patterns that are left out.
    pub except: Vec<String>,
    pub folders: bool,
    /// Only what is in the folder itself.
    pub direct: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct RowFilter {
    pub field: String,
    pub test: Test,
    pub not: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Test {
    Compare(Relation, Literal),
    OneOf(Vec<Literal>),
    Between(Literal, Literal),
    Contains(String, Match),
    Starts(String),
    Ends(String),
    Empty,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Want {
    /// Rows with these fields; none: all that belong to them.
    Rows(Vec<String>),
    Distinct(Vec<String>),
    /// Files in which the text is nowhere.
    Lacking,
    Count,
    CountDistinct(String),
    Total(Total, String),
    /// Several figures beside each other; none of a column is the count.
    Figures(Vec<Figure>),
    /// Values, or whole rows, that occur more than once, with how often.
    Duplicates(Option<String>),
    /// Share of the rows that pass the filters, in percent of all.
    Percent,
    /// Whether there is a row.
    Exists,
    /// The names of the columns.
    Columns,
    CountColumns,
}

pub(super) type Figure = Option<(Total, String)>;

/// The name of a figure as a field of the result.
pub(super) fn figure_name(figure: &Figure) -> String {
    figure.as_ref().map_or_else(|| "count".to_owned(), |(total, field)| format!("{}_{field}", total.name()))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Total {
    Sum,
    Average,
    Largest,
    Smallest,
    Median,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Ascending,
    Descending,
}

/// Rows from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Range {
    First(u64),
    /// The first of an order, and all that are equal to the last of these.
    Top(u64),
    Last(u64),
    Lines(u64, u64),
    From(u64),
}

impl Query {
    pub fn rows(source: Source) -> Self {
        Self {
            source,
            filters: Vec::new(),
            want: Want::Rows(Vec::new()),
            group: Vec::new(),
            having: None,
            sort: Vec::new(),
            part: None,
            reverse: false,
            round: None,
            whole: Vec::new(),
        }
    }

    /// Whether it gives one value and no rows.
    pub fn is_scalar(&self) -> bool {
        self.group.is_empty()
            && matches!(
                self.want,
                Want::Count | Want::CountDistinct(_) | Want::Total(..) | Want::Percent | Want::Exists | Want::CountColumns
            )
    }

    /// The name of what is counted or aggregated, as a field of the result.
    pub fn value_name(&self) -> String {
        match &self.want {
            Want::Total(total, field) => figure_name(&Some((*total, field.clone()))),
            Want::Percent => "percent".into(),
            _ => "count".into(),
        }
    }

    /// What one row is, for sentences.
    pub fn noun(&self) -> &'static str {
        match &self.source {
            Source::Files(files) if files.folders => "folders",
            Source::Files(_) => "files",
            Source::Lines(_) => "lines",
            Source::Table(_) => "rows",
            Source::Matches { .. } => "matches",
            Source::Commits { .. } => "commits",
        }
    }
}

impl Total {
    pub fn name(self) -> &'static str {
        match self {
            Self::Sum => "total",
            Self::Average => "average",
            Self::Largest => "highest",
            Self::Smallest => "lowest",
            Self::Median => "median",
        }
    }
}

impl Step {
    /// The files that are looked through.
    pub fn sets(&self) -> Vec<&FileSet> {
        let query = match self {
            Self::Do(Clause { operation: Operation::Query(query) | Operation::OnFiles { query, .. }, .. }) => query,
            Self::If { then, otherwise, .. } => return then.iter().chain(otherwise).flat_map(Self::sets).collect(),
            Self::Do(_) | Self::Unknown(_) => return Vec::new(),
        };
        match &query.source {
            Source::Files(files) | Source::Matches { files, .. } => vec![files],
            Source::Lines(_) | Source::Table(_) | Source::Commits { .. } => Vec::new(),
        }
    }
}

impl FileSet {
    /// Where all of it is.
    pub fn root(&self) -> &str {
        if self.also.is_empty() { &self.place } else { "." }
    }
}
