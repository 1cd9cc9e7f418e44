//! `dagdeck stats`: what agents did and took in past runs; `dagdeck forget`: runs that are learned from no more.

use super::{CliContext, CliError, Exit, ForgetArgs, Io, StatsArgs, estimate, ls::GOAL_COLUMNS};
use crate::{
    engine::{Stats, StatsBy, StatsCell, Time, WorkStats},
    host::{Clock, SystemClock},
    store::{RunFilter, RunHistory},
    text::{Plain, cost, count, counted, duration, some_of},
};
use serde_json::{Value, json};

/// Tools of an agent that its row names.
const TOOLS_NAMED: usize = 6;

/// Prints statistics of the runs that are over.
///
/// # Errors
/// When the journal or the history can't be read.
pub fn stats(args: &StatsArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let since = args.since.map_or(Time(0), |moment| moment.time(SystemClock.now()));
    let history = RunHistory::open(&place.store()?)?;
    let (stats, record) = (history.stats(since)?, history.calibration(Time(u64::MAX))?);
    if args.json {
        let rows: Vec<Value> = stats.by(args.by).iter().map(row_json).collect();
        io.json(&json!({"by": args.by, "runs": stats.runs, "rows": rows, "follows": stats.follows, "estimates": estimate::record_json(&record)}))?;
        return Ok(Exit::Success);
    }
    if stats.cells.is_empty() {
        io.say("no agent has worked in a run that is over: nothing is known yet");
        return Ok(Exit::Success);
    }
    table(&stats, args.by, io)?;
    say_more(&stats, io)?;
    record.label().into_iter().for_each(|line| io.say(&line));
    Ok(Exit::Success)
}

fn table(stats: &Stats, by: StatsBy, io: &mut Io<'_>) -> Result<(), CliError> {
    io.line(&format!(
        "{:>8}  {:>7}  {:>5}  {:>7}  {:>7}  {:>9}  {}",
        "attempts",
        "success",
        "calls",
        "tokens",
        "time",
        "cost",
        by.label()
    ))?;
    for StatsCell { key, done } in stats.by(by) {
        let success = done.success_label();
        let (tokens, time) = (done.tokens_label(), duration(done.mean_ms()));
        let money = done.mean_cost().map_or_else(|| "?".to_owned(), |usd| cost(usd).into_string());
        let calls = format!("{:.1}", done.mean_calls());
        let head = format!("{:>8}  {success:>7}  {calls:>5}  {tokens:>7}  {:>7}  {money:>9}  ", done.attempts, time.as_str());
        io.row(&Plain::line(&head), &Plain::summary(&key.label()), GOAL_COLUMNS)?;
    }
    Ok(())
}

fn say_more(stats: &Stats, io: &mut Io<'_>) -> Result<(), CliError> {
    let agents = stats.by(StatsBy::Agent);
    for StatsCell { key, done } in agents.iter().filter(|cell| !cell.done.tools.is_empty()) {
        let mut tools: Vec<_> = done.tools.iter().collect();
        tools.sort_by_key(|(_, used)| std::cmp::Reverse(used.attempts));
        let tools = tools.iter().map(|(tool, used)| format!("{tool} ({} of {})", used.attempts, done.attempts));
        io.line(Plain::summary(&format!("{} uses {}", key.label(), some_of(tools, TOOLS_NAMED))).as_str())?;
    }
    for pair in &stats.follows {
        let runs = counted(usize::try_from(pair.runs).unwrap_or(usize::MAX), "run");
        io.line(Plain::summary(&format!("{} follows {} in {runs}", pair.after, pair.before)).as_str())?;
    }
    io.say(&format!(
        "averages of an attempt, of {} that are over, in all workspaces; time is without waiting for people",
        counted(usize::try_from(stats.runs).unwrap_or(usize::MAX), "run")
    ));
    if stats.cells.iter().any(|cell| cell.done.unpriced > 0) {
        io.say("?: a price is unknown; `[models.prices]` in config.toml sets it");
    }
    if stats.cells.iter().any(|cell| cell.done.estimated > 0) {
        io.say("~: not every server reported its tokens; these were counted here");
    }
    Ok(())
}

fn row_json(StatsCell { key, done }: &StatsCell) -> Value {
    let mut row = json!(done);
    row["agent"] = json!(key.agent);
    row["model"] = json!(key.model);
    row["goal"] = json!(key.goal);
    row["mean"] =
        json!({"tokens": done.mean_tokens(), "ms": done.mean_ms(), "model_calls": done.mean_calls(), "cost_usd": done.mean_cost()});
    row
}

impl WorkStats {
    /// `97 %` of the attempts that nobody broke off; `-` where each was broken off.
    pub(super) fn success_label(&self) -> String {
        match self.ran_out() {
            0 => "-".to_owned(),
            all => format!("{} %", 100 * self.succeeded / all),
        }
    }

    fn tokens_label(&self) -> String {
        format!("{}{}", if self.estimated > 0 { "~" } else { "" }, count(self.mean_tokens()))
    }
}

/// Takes runs out of what is learned from.
///
/// # Errors
/// When a run is unknown, or the history can't be written.
pub fn forget(args: &ForgetArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let store = place.store()?;
    store.refusal().map_or(Ok(()), Err)?;
    let scope = RunFilter::Workspace(&place.places.workspace);
    // One run may be named twice, as by `last` and its id.
    let mut runs = Vec::new();
    for name in &args.runs {
        let run = store.resolve(name, scope)?;
        if !runs.contains(&run) {
            runs.push(run);
        }
    }
    let known = RunHistory::open(&store)?.forget(&runs)?;
    if args.json {
        io.json(&json!({"forgotten": runs, "were_known": known}))?;
        return Ok(Exit::Success);
    }
    io.say(&format!(
        "{} forgotten: no statistic, estimate or plan is made from them; the journal keeps them, and `dagdeck prune` deletes them",
        counted(runs.len(), "run")
    ));
    Ok(Exit::Success)
}
