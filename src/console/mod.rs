//! The terminal: model, update, view, theme, keymap, command table, term.
