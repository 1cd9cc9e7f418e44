//! What a tree is called in words: a print of the tree that reads back as the same tree.

use std::fmt::{self, Display, Formatter};

use super::{
    slots::{path, quoted},
    tree::{Clause, Condition, Direction, Figure, FileSet, Operation, Query, Range, RowFilter, Source, Step, Test, Total, Want},
};

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
    /// How many files come first in an order that has a word of its own: `the 3 largest files`.
    fn best(&self) -> Option<(u64, &'static str)> {
        let (Source::Files(_), [(field, direction)], Some(Range::Top(count))) = (&self.source, &self.sort[..], self.part) else {
            return None;
        };
        let best = match (field.as_str(), direction) {
            ("size", Direction::Descending) => "largest",
            ("size", Direction::Ascending) => "smallest",
            ("lines", Direction::Descending) => "longest",
            ("lines", Direction::Ascending) => "shortest",
            ("modified", Direction::Descending) => "newest",
            ("modified", Direction::Ascending) => "oldest",
            _ => return None,
        };
        (!self.reverse).then_some((count, best))
    }

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
        let best = self.best();
        let noun = match &self.source {
            Source::Files(files) if !files.globs.is_empty() => format!("{} {}", files.globs.join(" and "), self.noun()),
            _ => self.noun().to_owned(),
        };
        let noun = match &best {
            Some((1, best)) => format!("{best} {}", noun.trim_end_matches('s')),
            Some((count, best)) => format!("{count} {best} {noun}"),
            None => noun,
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
        if best.is_some() {
            return Ok(());
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
