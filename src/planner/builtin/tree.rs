//! The tree of typed operations that a request means, and its sentence: a print of the tree that reads back as the same tree.

use std::fmt::{self, Display, Formatter};

use super::slots::{Literal, Relation, SlotValues, path, quoted};

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
    fn said(self, text: &str) -> String {
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
    fn noun(&self) -> &'static str {
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

pub(super) fn sentence(steps: &[Step]) -> String {
    steps.iter().map(ToString::to_string).collect::<Vec<_>>().join(", then ")
}

impl Display for Step {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Do(clause) => clause.fmt(f),
            Self::If { condition, then, otherwise } => {
                write!(f, "if {condition}, {}", sentence(then))?;
                if otherwise.is_empty() { Ok(()) } else { write!(f, ", otherwise {}", sentence(otherwise)) }
            }
            Self::Unknown(text) => write!(f, "ask about {}", quoted(text)),
        }
    }
}

impl Display for Clause {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match (&self.operation, &self.target) {
            (Operation::Previous, Some(target)) if target.append => write!(f, "append the result to {}", path(&target.path)),
            (Operation::Previous, Some(target)) => write!(f, "write the result to {}", path(&target.path)),
            (operation, None) => operation.fmt(f),
            (operation, Some(target)) if target.append => write!(f, "{operation}, and append it to {}", path(&target.path)),
            (Operation::Row { name, .. }, Some(target)) if super::rows::row(name).is_some_and(|row| row.writes.is_some()) => {
                write!(f, "{}, but write it to {}", self.operation, path(&target.path))
            }
            (operation, Some(target)) => write!(f, "{operation}, and write it to {}", path(&target.path)),
        }
    }
}

impl Display for Operation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Query(query) => query.fmt(f),
            Self::Row { name, slots } => match super::rows::row(name) {
                Some(row) => f.write_str(&row.title(slots)),
                None => {
                    let values: Vec<String> = slots.iter().map(|(_, slot)| slot.show()).collect();
                    write!(f, "{}: {}", name.replace('_', " "), values.join(", "))
                }
            },
            Self::OnFiles { query, row, target } => {
                let listed = query.to_string();
                let listed = listed.strip_prefix("list the ").unwrap_or(&listed);
                match target {
                    None => write!(f, "{row} the {listed}"),
                    Some(target) => write!(f, "{} the {listed} into the folder {}", row.trim_end_matches("_into"), path(target)),
                }
            }
            Self::Previous => f.write_str("the result"),
            Self::Agent(text) => f.write_str(text),
        }
    }
}

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match (&self.operation, self.test) {
            (operation, None) => write!(f, "{}{operation}", if self.not { "not " } else { "" }),
            (operation, Some((comparison, number))) => write!(f, "{operation} is {} {number}", comparison.words()),
        }
    }
}

impl FileSet {
    /// Where all of it is.
    pub fn root(&self) -> &str {
        if self.also.is_empty() { &self.place } else { "." }
    }
}

impl Display for FileSet {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let noun = if self.folders { "folders" } else { "files" };
        match self.globs[..] {
            [] => f.write_str(noun)?,
            _ => write!(f, "{} {noun}", self.globs.join(" and "))?,
        }
        match (self.place.as_str(), self.direct) {
            (place, true) => write!(f, " directly in {}", path(if place == "." { "this folder" } else { place }))?,
            (".", false) => {}
            (place, false) => write!(f, " under {}", path(place))?,
        }
        self.also.iter().try_for_each(|also| write!(f, " and {}", path(also)))?;
        self.except.iter().try_for_each(|except| write!(f, " except {}", path(except)))
    }
}

impl Query {
    fn wanted(&self, noun: &str, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.want {
            Want::Rows(fields) if fields.is_empty() || matches!(self.source, Source::Files(_)) => write!(f, "list the {noun}")?,
            Want::Rows(fields) => write!(f, "list {} of the {noun}", fields.join(" and "))?,
            Want::Lacking => f.write_str("list")?,
            Want::Distinct(_) if matches!(self.source, Source::Matches { .. }) => f.write_str("list")?,
            Want::Distinct(fields) if fields.is_empty() => write!(f, "list the distinct {noun}")?,
            Want::Distinct(fields) => write!(f, "list the distinct {} of the {noun}", fields.join(" and "))?,
            Want::Count => write!(f, "count the {noun}")?,
            Want::CountDistinct(field) => {
                write!(f, "count the distinct {field}{}", if noun == "rows" { String::new() } else { format!(" of the {noun}") })?
            }
            Want::Total(Total::Sum, field) if field == "lines" && matches!(self.source, Source::Files(_)) => {
                write!(f, "count the lines of the {noun}")?;
            }
            Want::Total(total, field) => write!(f, "{} {field} of the {noun}", total.name())?,
            Want::Figures(figures) => {
                let said =
                    |figure: &Figure| figure.as_ref().map_or("count".to_owned(), |(total, field)| format!("{} {field}", total.name()));
                write!(f, "{} of the {noun}", figures.iter().map(said).collect::<Vec<_>>().join(" and "))?;
            }
            Want::Duplicates(None) => write!(f, "list the duplicate {noun}")?,
            Want::Duplicates(Some(field)) => write!(f, "list the duplicate {field} of the {noun}")?,
            Want::Percent => write!(f, "percentage of the {noun}")?,
            Want::Exists => write!(f, "are there any {noun}")?,
            Want::Columns => f.write_str("list the columns")?,
            Want::CountColumns => f.write_str("count the columns")?,
        }
        Ok(())
    }

    fn sourced(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.source {
            Source::Files(files) => {
                let text = files.to_string();
                f.write_str(text.split_once(self.noun()).map_or("", |(_, rest)| rest))?;
                if let Want::Rows(fields) = &self.want {
                    fields.iter().try_for_each(|field| write!(f, " with their {field}"))?;
                }
            }
            Source::Commits { path: None } => {}
            Source::Commits { path: Some(file) } | Source::Lines(file) | Source::Table(file) => write!(f, " of {}", path(file))?,
            Source::Matches { text, files, mode } if matches!(self.want, Want::Distinct(_) | Want::Lacking) => {
                let contain = if self.want == Want::Lacking { "do not contain" } else { "contain" };
                write!(f, " the {files} that {contain} {}", mode.said(text))?
            }
            Source::Matches { text, mode, files } => {
                write!(f, " of {} in {files}", mode.said(text))?;
            }
        }
        Ok(())
    }
}

impl Display for Query {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let (Source::Matches { text, files, .. }, Some(Range::First(count) | Range::Last(count))) = (&self.source, self.part)
            && text.is_empty()
        {
            let end = if matches!(self.part, Some(Range::First(_))) { "first" } else { "last" };
            return write!(f, "list the {end} {count} lines of each of the {files}");
        }
        let noun = match &self.source {
            Source::Files(files) if !files.globs.is_empty() => format!("{} {}", files.globs.join(" and "), self.noun()),
            _ => self.noun().to_owned(),
        };
        self.wanted(&noun, f)?;
        self.sourced(f)?;
        for (at, filter) in self.filters.iter().enumerate() {
            write!(f, "{}{filter}", if at == 0 { " where " } else { " and " })?;
        }
        for (at, filter) in self.whole.iter().enumerate() {
            write!(f, "{}{filter}", if at == 0 { " among those where " } else { " and " })?;
        }
        if !self.group.is_empty() {
            write!(f, " for each {}", self.group.join(" and "))?;
        }
        if let Some((relation, number)) = self.having {
            write!(f, " having {} {} {number}", self.value_name().replace('_', " "), relation.words())?;
        }
        for (at, (field, direction)) in self.sort.iter().enumerate() {
            let field = match &self.want {
                Want::Total(_, column) if *field == self.value_name() => column,
                _ => field,
            };
            let order = if *direction == Direction::Ascending { "ascending" } else { "descending" };
            write!(f, "{} by {field} {order}", if at == 0 { ", sorted" } else { " and then" })?;
        }
        match self.part {
            None => {}
            Some(Range::First(count)) => write!(f, ", first {count}")?,
            Some(Range::Top(count)) => write!(f, ", top {count}")?,
            Some(Range::Last(count)) => write!(f, ", last {count}")?,
            Some(Range::Lines(from, to)) => write!(f, ", lines {from} to {to}")?,
            Some(Range::From(from)) => write!(f, ", from line {from} on")?,
        }
        if self.reverse {
            f.write_str(", in reverse")?;
        }
        match self.round {
            None => Ok(()),
            Some(0) => f.write_str(", as whole numbers"),
            Some(decimals) => write!(f, ", rounded to {decimals} decimals"),
        }
    }
}

impl Display for RowFilter {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { field, test, not } = self;
        let no = if *not { "not " } else { "" };
        match test {
            Test::Compare(comparison, value) => write!(f, "{no}{field} {} {value}", comparison.words()),
            Test::OneOf(values) => {
                write!(f, "{field} is {no}{}", values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or "))
            }
            Test::Between(from, to) => write!(f, "{field} is {no}between {from} and {to}"),
            Test::Contains(text, mode) => {
                write!(f, "{field} {} {}", if *not { "does not contain" } else { "contains" }, mode.said(text))
            }
            Test::Starts(text) => write!(f, "{field} {no}starts with {}", quoted(text)),
            Test::Ends(text) => write!(f, "{field} {no}ends with {}", quoted(text)),
            Test::Empty => write!(f, "{field} is {no}empty"),
        }
    }
}
