//! SQLite: the journal of events, the list of runs, and what past runs teach. All SQL of dagdeck stands here.
//!
//! One thread writes; what arrives while it commits is gathered into the next transaction. Nothing may act on an event before
//! `Store::append` has said that it is committed.

mod audit;
mod cache;
mod error;
mod handle;
mod history;
mod owner;
mod plannings;
mod prune;
mod reader;
mod row;
mod run_file;
mod schema;
mod search;
mod secrets;
mod uses;
mod writer;

#[cfg(test)]
mod tests;

pub use audit::{Audit, AuditEntry, AuditFact, AuditRow, LastingPermission, PermissionChange, PermissionTurn};
pub use cache::{CacheEntry, CacheLook, CacheRow, CacheScope, KeyPart, ResultCache};
pub use error::StoreError;
pub use handle::{Durability, Journal, Store};
pub use history::{HistoryBefore, KeptAnswer, RunHistory, SimilarRun, TakenChange};
pub use owner::Ownership;
pub use plannings::{PLANNINGS, PlanningRecord};
pub use reader::{RowStatus, RunFilter, RunRow, SHORTEST_NAME};
pub use run_file::{RUN_FILE_VERSION, ReadRun, RunFile, RunFileError, read_run, rescue, write_run};
pub use search::FoundRun;
pub use secrets::Secrets;
pub use uses::AgentUse;
