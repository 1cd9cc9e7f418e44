//! One run as a pure state machine: inputs in, events out, effects from events. No clock, no I/O, no randomness.

mod event;
mod gate;
mod input;
mod report;
mod run;
mod state;
mod time;

pub use event::{EdgeId, Event, Outcome, Record, RunId, RunSettings};
pub use gate::{Actor, Decided, Decision, Gate, GateId, GateKind, Preview};
pub use input::{AgentJob, Answer, Command, Dep, Effect, Input, Job, Timer, TimerKind, WorkFact};
pub use report::{DataSource, Done, ErrorKind, FileAccess, ModelCall, NodeError, Span, TokenUsage, ToolCall, ToolReport};
pub use run::{Batch, Run};
pub use state::{Lineage, NodeRun, NodeState};
pub use time::Time;
