//! Statistics from the history.

use super::RunHistory;
use crate::engine::{Follows, Stats, StatsCell, StatsKey, Time, ToolUse, WorkStats};
use crate::store::{
    StoreError,
    row::{signed, unsigned},
};
use rusqlite::{Row, params};
use std::collections::BTreeMap;

/// Pairs of agents that are told at most.
const MOST_PAIRS: i64 = 20;

impl RunHistory {
    /// What agents did and took in the runs that ended since then.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn stats(&self, since: Time) -> Result<Stats, StoreError> {
        self.stats_since(signed(since.0)).map_err(|error| self.wrap(&error))
    }

    fn stats_since(&self, since: i64) -> rusqlite::Result<Stats> {
        let runs = self.db.query_row("SELECT count(*) FROM runs WHERE ended >= ?1", params![since], |row| row.get(0))?;
        let (cells, asked) = self.cells(since)?;
        let mut follows = self.db.prepare_cached(
            "SELECT before, after, count(*) AS runs FROM follows JOIN runs ON runs.id = follows.run
             WHERE ended >= ?1 AND outcome = 'succeeded' GROUP BY before, after ORDER BY runs DESC, before, after LIMIT ?2",
        )?;
        let follows = follows.query_map(params![since, MOST_PAIRS], |row| {
            Ok(Follows { before: row.get(0)?, after: row.get(1)?, runs: unsigned(row.get(2)?) })
        })?;
        Ok(Stats { runs: unsigned(runs), cells, asked, follows: follows.collect::<rusqlite::Result<_>>()? })
    }

    /// By agent, model and kind of goal: with models as answers name them, and as they were asked for.
    fn cells(&self, since: i64) -> rusqlite::Result<(Vec<StatsCell>, Vec<StatsCell>)> {
        let mut works: BTreeMap<i64, WorkStats> = BTreeMap::new();
        let mut sums = self.db.prepare_cached(
            "SELECT work, count(*), sum(outcome = 'succeeded'), sum(outcome = 'handed_back'), sum(outcome = 'failed'), sum(prompt),
                    sum(completion), sum(calls), total(cost), sum(cost IS NULL), sum(estimated), sum(took_ms)
             FROM attempts WHERE ended >= ?1 GROUP BY work",
        )?;
        let mut rows = sums.query(params![since])?;
        while let Some(row) = rows.next()? {
            works.insert(row.get(0)?, done(row)?);
        }
        let mut tools = self.db.prepare_cached(
            "SELECT work, tool, count(*), sum(calls) FROM tools
             WHERE ?1 = 0 OR run IN (SELECT id FROM runs WHERE ended >= ?1) GROUP BY work, tool",
        )?;
        let mut rows = tools.query(params![since])?;
        while let Some(row) = rows.next()? {
            if let Some(done) = works.get_mut(&row.get::<_, i64>(0)?) {
                done.tools.insert(row.get(1)?, ToolUse { attempts: unsigned(row.get(2)?), calls: unsigned(row.get(3)?) });
            }
        }
        let mut names = self.db.prepare_cached("SELECT id, worker, model, goal, asked FROM works WHERE sort = 'agent'")?;
        let mut rows = names.query([])?;
        let (mut cells, mut asked): (BTreeMap<StatsKey, WorkStats>, BTreeMap<StatsKey, WorkStats>) = Default::default();
        while let Some(row) = rows.next()? {
            let Some(done) = works.get(&row.get::<_, i64>(0)?) else { continue };
            let name = |at: usize| row.get::<_, String>(at).map(|name| Some(name).filter(|name| !name.is_empty()));
            let key = |model: usize| Ok::<_, rusqlite::Error>(StatsKey { agent: name(1)?, model: name(model)?, goal: name(3)? });
            cells.entry(key(2)?).or_default().add(done);
            asked.entry(key(4)?).or_default().add(done);
        }
        let listed = |cells: BTreeMap<StatsKey, WorkStats>| cells.into_iter().map(|(key, done)| StatsCell { key, done }).collect();
        Ok((listed(cells), listed(asked)))
    }
}

fn done(row: &Row<'_>) -> rusqlite::Result<WorkStats> {
    let figure = |at: usize| row.get::<_, i64>(at).map(unsigned);
    Ok(WorkStats {
        attempts: figure(1)?,
        succeeded: figure(2)?,
        handed_back: figure(3)?,
        failed: figure(4)?,
        prompt: figure(5)?,
        completion: figure(6)?,
        model_calls: figure(7)?,
        known_cost_usd: row.get(8)?,
        unpriced: figure(9)?,
        estimated: figure(10)?,
        took_ms: figure(11)?,
        tools: BTreeMap::new(),
    })
}
