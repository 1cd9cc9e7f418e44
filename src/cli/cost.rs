//! `dagdeck cost`: what model calls took, by node, agent, model, tool, run or day, and how much of it was for nothing.

use super::{
    CliContext, CliError, CostArgs, CostBy, Exit, Io,
    ls::{GOAL_COLUMNS, short},
};
use crate::{
    engine::{EXPENSE_EVENTS, Expense, ModelCall, RunId, Spent, SpentFor, Time, Totals, UNHEARD, expenses, failed_requests, saved},
    host::{Clock, SystemClock},
    store::{PlanningRecord, RunFilter, RunRow, Store},
    text::{Plain, count, counted},
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// What no node took.
const PLANNING: &str = "(planning)";
/// What an agent's own calls are listed as, beside those of tools.
const NO_TOOL: &str = "(no tool)";

/// Sums up model calls.
///
/// # Errors
/// When no run has this name, or the journal can't be read.
pub fn cost(args: &CostArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let store = place.store()?;
    let since = args.since.map_or(Time(0), |moment| moment.time(SystemClock.now()));
    let mut bill = CostTable::of(args, since, &store, place)?;
    bill.lines.retain(|line| line.expense.at >= since);
    let by = args.by.unwrap_or(if args.run.is_some() { CostBy::Node } else { CostBy::Run });
    if args.json {
        io.json(&bill.as_json(by))?;
        return Ok(Exit::Success);
    }
    if bill.lines.is_empty() && bill.failed > 0 {
        io.say("no model answered: nothing was spent");
    } else if bill.lines.is_empty() {
        io.say("no model was asked: nothing was spent");
    } else {
        bill.table(by, io)?;
        bill.say_what_was_lost(io);
    }
    if bill.saved.model_calls > 0 {
        io.say(&format!("the cache saved {}; `dagdeck cache why RUN` says where", bill.saved.label()));
    }
    if bill.failed > 0 {
        io.say(&format!("{} failed and cost nothing", counted(bill.failed, "request")));
    }
    if bill.imported > 0 {
        io.say(&format!("{} left out: what was read from a file was spent elsewhere", counted(bill.imported, "run")));
    }
    Ok(Exit::Success)
}

/// Model calls, each with the run that it was for.
struct CostTable {
    lines: Vec<BillLine>,
    imported: usize,
    /// What results took that were taken from the cache.
    saved: Spent,
    /// Requests that failed and cost nothing.
    failed: usize,
}

struct BillLine {
    run: Option<RunRow>,
    expense: Expense,
}

impl CostTable {
    fn of(args: &CostArgs, since: Time, store: &Store, place: &CliContext) -> Result<Self, CliError> {
        let scope = RunFilter::Workspace(&place.places.workspace);
        let named = args.run.as_ref().map(|name| store.resolve(name, scope)).transpose()?;
        let mut runs = store.runs(if named.is_some() { RunFilter::All } else { scope })?;
        let all = runs.len();
        runs.retain(|run| named.as_ref().map_or(run.imported.is_none(), |named: &RunId| run.run == *named));
        let imported = if named.is_some() { 0 } else { all - runs.len() };
        // A run that ended before is not read at all.
        runs.retain(|run| run.finished().is_none_or(|end| end >= since));
        let (mut lines, mut cached, mut failed) = (Vec::new(), Spent::default(), 0);
        for run in runs {
            let records = store.records_of(&run.run, &EXPENSE_EVENTS)?;
            failed += failed_requests(records.iter().filter(|record| record.at >= since));
            cached.add(saved(&records, since));
            lines.extend(expenses(&records).into_iter().map(|expense| BillLine { run: Some(run.clone()), expense }));
        }
        let mut bill = Self { lines, imported, saved: cached, failed };
        if named.is_none() {
            bill.add_plannings(PlanningRecord::all(&place.places.home, &place.places.workspace));
        }
        Ok(bill)
    }

    /// Plannings that no run has: of requests that became no plan, and of plans that were only printed. A plan that was run twice was made once.
    fn add_plannings(&mut self, plannings: Vec<PlanningRecord>) {
        let name = |call: &ModelCall| serde_json::to_string(call).unwrap_or_default();
        let mut known = BTreeSet::new();
        self.lines.retain(|line| line.expense.node.is_some() || known.insert(name(&line.expense.call)));
        for record in plannings {
            let spent_for = if record.failed.is_some() { SpentFor::FailedAttempt } else { SpentFor::Result };
            let new = record.calls.into_iter().filter(|call| known.insert(name(call)));
            let expense = |call| Expense { at: record.at, node: None, agent: None, tools: Vec::new(), call, spent_for };
            self.lines.extend(new.map(|call| BillLine { run: None, expense: expense(call) }));
        }
    }

    /// What each of them took; the dearest first, days in their order.
    fn rows(&self, by: CostBy) -> Vec<(String, Spent)> {
        let mut rows: BTreeMap<String, Spent> = BTreeMap::new();
        for line in &self.lines {
            rows.entry(line.name(by)).or_default().add(Spent::of(&line.expense.call));
        }
        let mut rows: Vec<(String, Spent)> = rows.into_iter().collect();
        if by != CostBy::Day {
            let tokens = |spent: &Spent| spent.tokens.total();
            rows.sort_by(|(_, one), (_, other)| other.cost_usd.total_cmp(&one.cost_usd).then(tokens(other).cmp(&tokens(one))));
        }
        rows
    }

    fn sum(&self, spent_for: Option<SpentFor>) -> Spent {
        Expense::sum(self.lines.iter().map(|line| &line.expense).filter(|expense| spent_for.is_none_or(|what| expense.spent_for == what)))
    }

    fn table(&self, by: CostBy, io: &mut Io<'_>) -> Result<(), CliError> {
        io.line(&format!("{:>10}  {:>7}  {:>7}  {:>9}  {}", "calls", "prompt", "written", "cost", <&str>::from(by)))?;
        let mut rows = self.rows(by);
        if rows.len() > 1 {
            rows.push(("total".to_owned(), self.sum(None)));
        }
        for (name, spent) in rows {
            let totals = Totals::from(spent);
            let about = if spent.estimated { "~" } else { "" };
            let tokens = |n: u64| format!("{about}{}", count(n));
            let (prompt, written) = (tokens(spent.tokens.prompt), tokens(spent.tokens.completion));
            let money = totals.money_label().map_or_else(|| "$0".to_owned(), Plain::into_string);
            let head = format!("{:>10}  {prompt:>7}  {written:>7}  {money:>9}  ", spent.model_calls);
            io.row(&Plain::line(&head), &Plain::summary(&name), GOAL_COLUMNS)?;
        }
        Ok(())
    }

    fn say_what_was_lost(&self, io: &mut Io<'_>) {
        let all = self.sum(None);
        for (what, words) in [
            (SpentFor::FailedAttempt, "for attempts that failed or broke off, and requests that became no plan"),
            (SpentFor::ReplacedResult, "for results that were made again"),
        ] {
            let part = self.sum(Some(what));
            if let Some(share) = share(&part, &all) {
                io.say(&format!("{share} ({}) {words}", part.label()));
            }
        }
        if all.tokens.cached > 0 {
            io.say(&format!("{} prompt tokens were read from the providers' own caches", count(all.tokens.cached)));
        }
        let unheard = self.lines.iter().filter(|line| line.expense.call.finish == UNHEARD).count();
        if unheard > 0 {
            let calls = counted(unheard, "call");
            io.say(&format!(
                "{calls} nobody heard the end of: counted with the most that a budget left to each, else with its prompt alone"
            ));
        }
        let is_priced = |line: &BillLine| line.expense.call.finish == UNHEARD || !Spent::of(&line.expense.call).unpriced;
        if all.unpriced && self.lines.iter().all(is_priced) {
            io.say("?: what was written before a call broke off is unknown, so the dollars are not all");
        } else if all.unpriced {
            io.say("?: a price is unknown, so the dollars are not all; `[models.prices]` in config.toml sets it");
        }
        if all.estimated {
            io.say("~: not every server reported its tokens; these were counted here");
        }
    }

    fn as_json(&self, by: CostBy) -> Value {
        let rows: Vec<Value> = self
            .rows(by)
            .into_iter()
            .map(|(name, spent)| {
                let mut row = figures(&spent);
                row["name"] = Value::from(name);
                row
            })
            .collect();
        json!({
            "by": <&str>::from(by), "rows": rows, "total": figures(&self.sum(None)),
            "failed_attempts": figures(&self.sum(Some(SpentFor::FailedAttempt))),
            "replaced_results": figures(&self.sum(Some(SpentFor::ReplacedResult))),
            "saved_by_cache": figures(&self.saved),
            "under_way": figures(&self.sum(Some(SpentFor::UnderWay))),
            "failed_requests": self.failed,
            "imported_runs_left_out": self.imported,
        })
    }
}

/// A part of all, by money where all prices are known, else by tokens.
fn share(part: &Spent, all: &Spent) -> Option<String> {
    let by_money = all.known_cost().is_some_and(|cost| cost > 0.0);
    let (part, all, of) = match by_money {
        true => (part.cost_usd, all.cost_usd, "of the money"),
        false => (part.tokens.total() as f64, all.tokens.total() as f64, "of the tokens"),
    };
    (part > 0.0).then(|| format!("{:.0} % {of}", 100.0 * part / all))
}

fn figures(spent: &Spent) -> Value {
    json!({
        "model_calls": spent.model_calls, "tokens": spent.tokens, "cost_usd": spent.known_cost(), "known_cost_usd": spent.cost_usd,
        "estimated": spent.estimated,
    })
}

impl BillLine {
    fn name(&self, by: CostBy) -> String {
        let Expense { at, node, agent, tools, call, .. } = &self.expense;
        let planning = || PLANNING.to_owned();
        match by {
            CostBy::Node => node.as_ref().map_or_else(planning, ToString::to_string),
            CostBy::Agent => agent.clone().unwrap_or_else(|| if node.is_some() { "(no agent)".to_owned() } else { planning() }),
            CostBy::Model => format!("{} ({})", call.model, call.provider),
            CostBy::Tool if node.is_none() => planning(),
            CostBy::Tool if tools.is_empty() => NO_TOOL.to_owned(),
            CostBy::Tool => tools.join(" or "),
            CostBy::Run => self.run.as_ref().map_or_else(planning, |run| format!("{}  {}", short(&run.run.0), run.goal)),
            CostBy::Day => day(*at),
        }
    }
}

/// The day of a moment where the person is.
fn day(at: Time) -> String {
    let moment = i64::try_from(at.0).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    moment.map(|moment| moment.to_zoned(jiff::tz::TimeZone::system()).date().to_string()).unwrap_or_default()
}
