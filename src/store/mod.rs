//! SQLite: journal and runs.
