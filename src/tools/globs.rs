//! `Globs`: a list of patterns that a person wrote, matched at once, and which of them it was that matched.

use std::collections::BTreeSet;

use globset::{Glob, GlobSet, GlobSetBuilder};

/// Patterns as they were written.
#[derive(Clone, Debug)]
pub struct Globs {
    written: Vec<String>,
    set: GlobSet,
}

/// A text that is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{glob}` is not a valid pattern: {cause}")]
pub struct GlobError {
    pub glob: String,
    pub cause: String,
}

impl Globs {
    /// Each pattern as it is written.
    ///
    /// # Errors
    /// The first text that is no pattern.
    pub fn new(globs: &[String]) -> Result<Self, GlobError> {
        Self::of(globs.iter().map(|glob| (glob.as_str(), glob.clone())))
    }

    /// Pairs of what is written and of a pattern that it means.
    ///
    /// # Errors
    /// The first text that is no pattern.
    pub fn of<'a>(globs: impl IntoIterator<Item = (&'a str, String)>) -> Result<Self, GlobError> {
        let refuse = |glob: &str, cause: &globset::Error| GlobError { glob: glob.to_owned(), cause: cause.kind().to_string() };
        let (mut set, mut written) = (GlobSetBuilder::new(), Vec::new());
        for (glob, pattern) in globs {
            set.add(Glob::new(&pattern).map_err(|cause| refuse(glob, &cause))?);
            written.push(glob.to_owned());
        }
        Ok(Self { written, set: set.build().map_err(|cause| refuse("", &cause))? })
    }

    /// The first pattern that matches, as it is written.
    pub fn find(&self, name: &str) -> Option<&str> {
        self.set.matches(name).first().and_then(|index| self.written.get(*index)).map(String::as_str)
    }

    /// The patterns that match none of these names, as they are written.
    pub fn without<'a>(&self, names: impl Iterator<Item = &'a str>) -> impl Iterator<Item = &str> {
        let matched: BTreeSet<usize> = names.flat_map(|name| self.set.matches(name)).collect();
        self.written.iter().enumerate().filter(move |(at, _)| !matched.contains(at)).map(|(_, glob)| glob.as_str())
    }
}
