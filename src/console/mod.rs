//! The full-screen terminal program: keys in, requests out; notices in, frames out. `model` is what is known, `update` changes it,
//! `view` draws it, `runtime` connects them to the terminal and the host. Everything but `runtime` and `term` is pure.

pub mod commands;
pub mod keymap;
pub mod model;
pub mod runtime;
pub mod term;
pub mod theme;
mod tour;
pub mod update;
pub mod view;
pub mod widget;

#[cfg(test)]
mod tests;
