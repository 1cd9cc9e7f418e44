//! Text that is safe to show: `Plain` and `Block`, width, wrap, glyphs, and figures in a person's form. Pure.
//!
//! Text from models, tools, files and plans is untrusted. It may be drawn, set as a title or copied only as a `Plain`,
//! in which everything that a terminal would obey or hide is spelled out as `\u{1b}`.

mod block;
mod escape;
mod figures;
mod glyphs;
mod plain;
mod secret;

#[cfg(test)]
mod tests;

pub use block::Block;
pub use escape::safe_json;
pub use figures::{
    ago, began, bytes, clock, cost, count, counted, date_and_time, duration, hex, keeps_digits, offset, some_of, stopwatch, thousands,
    time_of_day, timestamp, tokens,
};
pub use glyphs::{Glyph, GlyphSet, ascii_of};
pub use plain::Plain;
pub use secret::{
    KEY_LENGTH, REDACTED, SECRET_END, SECRET_PATTERNS, SECRET_START, TEXT_CUT, begins_as_key, has_key, secret_mark, secret_names,
    without_marks,
};
