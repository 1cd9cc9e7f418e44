//! Pictures of small plans, compared whole.
