//! The terminal: model, update, view, theme, keymap, command table, term.

pub mod term;
pub mod theme;
pub mod widget;
