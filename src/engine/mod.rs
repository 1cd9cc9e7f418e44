//! One run as a pure state machine: inputs in, events out, effects from events. No clock, no I/O, no randomness.

mod action;
mod acts;
mod agent_job;
mod branch;
mod budget;
mod by_index;
mod cached;
mod cause;
mod decide;
mod effects;
mod ends;
mod event;
mod event_traits;
mod evolve;
mod flow;
mod gate;
mod gates;
mod graph;
mod held;
mod inner_run;
mod input;
mod mark;
mod privacy;
mod queue;
mod record;
mod rehearse;
mod renames;
mod replan;
mod report;
mod resolve;
mod route;
mod run;
mod run_id;
mod state;
mod step;
mod stop_signal;
mod time;
mod tries;
mod usage;
mod views;
mod wire;

pub use crate::plan::{Breakpoint, Moment};
pub use action::{Action, ActionTarget, BreakId, HeldAt, RerunReach, WrittenValue, WrittenValueError};
pub use budget::{Account, BudgetScope, CallNeed, CapAmount, Granted, Reservation, Shortage, TokenPrice, reservation};
pub use cause::{BadEnd, Cause};
pub use event::{Event, NodeFact};
pub use event_traits::{EventTrait, SearchMark, Topic};
pub use evolve::Run;
pub use evolve::steer::Pace;
pub use gate::{
    Actor, CapQuestion, Decided, FailureChoice, Gate, GateId, GateKind, GateQuestion, GateReply, LostChoice, OPTION, Outgoing, Preview,
    ReplanTrigger, form_has_option,
};
pub use held::{HeldCall, NextCall};
pub use input::{AgentJob, Answer, CacheUse, Command, Dep, Effect, Input, Job, Provenance, Timer, TimerKind, WorkerFact};
pub use mark::Mark;
pub use privacy::PLANNED_BY;
pub use record::{EdgeId, ModelSlots, Outcome, Record, RunSettings};
pub use rehearse::{AUTO, OPERATOR, REHEARSAL, REHEARSED};
pub use renames::{NewNames, Renames, carry};
pub use replan::{ReplanAnswer, ReplanPiece, ReplanUnderWay};
pub use report::{
    CachedResult, DataSource, Done, ErrorKind, FileAccess, MessageRole, ModelCall, NodeError, TokenUsage, ToolCall, ToolReport, TryVerdict,
    UNHEARD, UnfinishedAnswer, WorkSpan,
};
pub use run::RunState;
pub use run_id::{RunId, short_name};
pub use state::{EdgeState, Inside, Lineage, NodeRun, NodeState, ResultNote, SkippedBy, Spent, StateGroup};
pub use step::Batch;
pub use stop_signal::StopSignal;
pub use time::Time;
pub use tries::{FailedTry, next_try};
pub use views::brief::{NodeBrief, RunBrief};
pub use views::changes::RunChanges;
pub use views::compare::{Comparison, NodeComparison, ResultChange, Side, Totals};
pub use views::describe::{
    CountedNodes, EventKind, EventLine, EventTone, ImpactLine, NodeCounts, RunStatus, arguments, calls_label, elapsed, elapsed_of,
    inside_ended, is_effect, listed, result_line, result_notes, result_text, work,
};
pub use views::estimate::{
    BrokenCap, Calibration, Estimate, EstimateBand, EstimateBasis, EstimateScore, EstimateSources, FEWEST_CASES, Forecast, Measure,
    NodeEstimate, PastCase, PastCases, PriceOf,
};
pub use views::expense::{EXPENSE_EVENTS, Expense, SpentFor, expenses, failed_requests, saved};
pub use views::impact::{Impact, NodeImpact};
pub use views::outline::WayOut;
pub use views::past::{AttemptOutcome, PAST_EVENTS, PastAttempt, PastRun, WorkerSort, goal_sort};
pub use views::peek::{PeekedText, RunPeek};
pub use views::stats::{Follows, Stats, StatsBy, StatsCell, StatsKey, ToolUse, WorkStats};
pub use views::suggest::{FEWEST_EVIDENCE, SuggestedChange, SuggestedFor, Suggestion};
pub use views::timeline::{After, Bar, Doing, StartCause, Stretch, Timeline, TimelineChart};
pub use views::trace::{Approval, Came, How, Made, Trace, TraceRow, TraceStep, TracedCall};
pub use views::transcript::{Transcript, TranscriptEntry};
pub use views::why::{Blocker, Obstacle};

/// Counts the nodes and edges that a step looks at, so that tests can hold it to what its input touches.
#[cfg(test)]
fn touch() {
    tests::TOUCHES.with(|touches| touches.set(touches.get() + 1));
}

#[cfg(not(test))]
fn touch() {}

#[cfg(test)]
mod tests;
