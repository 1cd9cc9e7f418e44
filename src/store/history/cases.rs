//! Past cases for estimates, and how earlier estimates did.

use crate::engine::{Calibration, Estimate, EstimateScore, Measure, Outcome, PastCase, PastCases, PastRun, Time, WorkerSort};
use crate::store::row::{signed, unsigned};
use rusqlite::{Connection, Row, params};

/// The newest attempts of a worker that are looked at.
const NEWEST: i64 = 300;
/// The newest scores that count.
const SCORES: i64 = 100;

/// The history as it was at a moment: what ended before.
#[derive(Clone, Copy, Debug)]
pub struct HistoryBefore<'a> {
    db: &'a Connection,
    before: Time,
}

impl<'a> HistoryBefore<'a> {
    pub(super) fn new(db: &'a Connection, before: Time) -> Self {
        Self { db, before }
    }

    pub(super) fn calibration(self) -> rusqlite::Result<Calibration> {
        let mut calibration = Calibration::default();
        let mut rows =
            self.db.prepare_cached("SELECT place, inside FROM scores WHERE measure = ?1 AND at < ?2 ORDER BY at DESC LIMIT ?3")?;
        for measure in Measure::ALL {
            let scores = rows.query_map(params![<&str>::from(measure), signed(self.before.0), SCORES], |row| {
                Ok(EstimateScore { place: row.get(0)?, inside: row.get(1)? })
            })?;
            calibration.scores.insert(measure, scores.collect::<rusqlite::Result<_>>()?);
        }
        Ok(calibration)
    }

    fn read(self, sort: WorkerSort, worker: &str, model: Option<&str>) -> rusqlite::Result<Vec<PastCase>> {
        let mut rows = self.db.prepare_cached(
            "SELECT max(input), max(result), sum(prompt + completion), total(cost), count(cost) = count(*), sum(took_ms), sum(calls),
                    max(outcome IN ('succeeded', 'handed_back'))
             FROM (SELECT * FROM attempts
                   WHERE work IN (SELECT id FROM works WHERE sort = ?1 AND worker = ?2 AND (?4 IS NULL OR asked = ?4))
                   AND ended < ?3 AND outcome <> 'broken_off' ORDER BY ended DESC LIMIT ?5)
             GROUP BY run, node, generation",
        )?;
        rows.query_map(params![<&str>::from(sort), worker, signed(self.before.0), model, NEWEST], case)?.collect()
    }
}

impl PastCases for HistoryBefore<'_> {
    fn cases(&self, sort: WorkerSort, worker: &str, model: Option<&str>) -> Vec<PastCase> {
        self.read(sort, worker, model).unwrap_or_else(|error| {
            tracing::warn!(%error, "the history can't be read");
            Vec::new()
        })
    }
}

fn case(row: &Row<'_>) -> rusqlite::Result<PastCase> {
    let figure = |at: usize| row.get::<_, i64>(at).map(unsigned);
    let cost: f64 = row.get(3)?;
    let priced: bool = row.get(4)?;
    Ok(PastCase {
        input_tokens: figure(0)?,
        result_tokens: figure(1)?,
        tokens: figure(2)?,
        cost_usd: priced.then_some(cost),
        took_ms: figure(5)?,
        calls: figure(6)?,
        has_result: row.get(7)?,
    })
}

/// Holds a run against the estimate that the history before it gives. Only one that nobody disturbed says something about estimates.
pub(super) fn score(db: &Connection, id: i64, past: &PastRun) -> rusqlite::Result<()> {
    if !past.undisturbed || past.outcome == Outcome::Cancelled {
        return Ok(());
    }
    let before = HistoryBefore { db, before: past.began };
    let raw = Estimate::uncorrected(&past.plan, &before, past.model.as_deref());
    let calibration = before.calibration()?;
    let mut insert = db.prepare_cached("INSERT INTO scores (run, at, measure, place, inside) VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for measure in Measure::ALL {
        let took = past.took(measure);
        if let Some(score) = took.and_then(|took| calibration.score(measure, &raw, took)) {
            insert.execute(params![id, signed(past.ended.0), <&str>::from(measure), score.place, score.inside])?;
        }
    }
    Ok(())
}
