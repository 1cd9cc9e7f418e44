//! Runs the engine against the world: sessions, workers, the client protocol.

mod cache_config;
mod cache_key;
mod call_asker;
mod cards;
pub mod client;
mod clock;
pub mod config;
mod config_text;
mod connection;
mod day_cap;
mod detached;
mod doctor;
mod estimating;
mod follow;
mod follow_up;
#[cfg(test)]
mod gate_tests;
mod gate_with_tool;
mod gates;
mod headless;
#[cfg(test)]
mod headless_tests;
#[cfg(test)]
mod host_tests;
mod inventory;
mod jobs;
mod kept_rules;
mod learned;
mod learning;
mod link;
mod local;
mod looked;
mod mcp;
#[cfg(test)]
mod model_choice_tests;
mod model_setup;
mod models;
mod new_run;
mod own_models;
mod past;
mod permission_log;
mod places;
mod planning;
mod problem;
mod prompts;
mod provider;
mod purse;
mod refusing;
mod replanning;
mod resources;
mod result_cache;
mod rule_offers;
#[cfg(test)]
mod rule_route_tests;
mod run_task;
mod run_watch;
mod save;
mod session;
#[cfg(test)]
mod session_journal_tests;
#[cfg(test)]
mod session_tests;
#[cfg(test)]
mod settings_tests;
mod setup;
#[cfg(test)]
mod setup_tests;
mod shell_previews;
mod shown_previews;
pub mod socket;
mod streams;
mod suggestions;
mod survey;
mod timers;
mod tries;
#[cfg(test)]
mod tries_tests;
mod trust;
mod use_counts;
mod worker_agent;
mod worker_code;
mod worker_model;
mod worker_tool;
mod workers;

pub use clock::{Clock, SystemClock};
pub use detached::{DetachedRun, RunOrder};
pub use doctor::{DoctorCheck, Health, examine};
pub use headless::{CapPolicy, Flags, Headless, HeadlessEnd, ParkedGate, ResumeFrom, RunSignals, Yes};
pub use inventory::{Inventory, RuleOffer, RuleScope};
pub use kept_rules::{KeptRule, KeptRules, RuledCall};
pub use link::{Linked, link};
pub use local::{LocalHost, user};
pub use new_run::{Caching, NewRun};
pub use permission_log::PermissionLog;
pub use places::Folders;
pub use rule_offers::RuleSource;
pub use run_watch::RunWatch;
pub use setup::SetUp;
pub use shell_previews::{GateLook, PreviewSeen};
pub use survey::Survey;
pub use trust::{Trust, TrustItem, TrustState};
pub use use_counts::UseCounts;
