//! SQLite: the journal of events and the list of runs. All SQL of dagdeck stands here.
//!
//! One thread writes; what arrives while it commits is gathered into the next transaction. Nothing may act on an event before
//! `Store::append` has said that it is committed.

mod error;
mod handle;
mod owner;
mod reader;
mod row;
mod schema;
mod writer;

#[cfg(test)]
mod tests;

pub use error::StoreError;
pub use handle::{Durability, Journal, Store};
pub use owner::Ownership;
pub use reader::{RunRow, Scope};
