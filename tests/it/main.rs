//! Tests of the whole program: one binary, one module a subject.
#![expect(clippy::unwrap_used, reason = "helpers of tests may fail a test by it, as the tests themselves do")]

mod host;
mod house;
mod requests;
mod sandbox;
mod tools;
