//! The arguments of `dagdeck prune`.

use clap::Args;

#[derive(Debug, Args)]
pub struct PruneArgs {
    /// The runs: `last`, an id, or 4 or more characters from its start or end
    #[arg(value_name = "RUN", conflicts_with_all = ["older", "keep"])]
    pub runs: Vec<String>,
    /// Only runs that ended longer ago than this: `30d`, `2w`, `12h`
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub older: Option<u64>,
    /// Keep the newest N runs of the workspace
    #[arg(long, value_name = "N")]
    pub keep: Option<usize>,
    /// Delete them
    #[arg(long)]
    pub yes: bool,
}

/// An age in milliseconds; a day has 24 hours.
pub(super) fn age(text: &str) -> Result<u64, String> {
    let span: jiff::Span = text.parse().map_err(|_| "not an age: write `30d`, `2w` or `12h`".to_owned())?;
    let ms = span.total((jiff::Unit::Millisecond, jiff::SpanRelativeTo::days_are_24_hours()));
    let ms = ms.map_err(|_| "months and years differ in length: write days, such as `30d`".to_owned())?;
    // No age of a run has more digits than this holds.
    if ms >= 0.0 { Ok(ms as u64) } else { Err("an age is not negative".to_owned()) }
}
