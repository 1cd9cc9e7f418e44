//! Tests of the whole program: one binary, one module a subject.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail a test by them, as the tests themselves do")]

mod auditing;
mod cases;
mod chat;
mod cli;
mod crash;
mod debugging;
mod dialects;
mod driving;
mod endings;
mod failing_models;
mod findings;
mod fixing;
mod foreign;
mod grouped;
mod headless;
mod host;
mod house;
mod journals;
mod keeping_secrets;
mod leaving;
#[cfg(target_os = "linux")]
mod line_mode;
mod looking;
mod mishaps;
mod model_plans;
mod opening;
mod pages;
mod past_runs;
mod permitting;
mod reasons;
mod refusals;
mod rehearsing;
mod requests;
mod said_otherwise;
mod sandbox;
mod setting_up;
mod silence;
mod spending;
mod stored;
mod story;
mod support;
mod terminal;
mod tools;
mod trusting;
mod validating;
