//! Widgets of other crates, fed with and giving safe text, and the few ways from `Plain` to styled spans.

mod ascii;

pub use ascii::to_ascii;

use ratatui::style::Style;
use ratatui::text::Line;

use crate::text::Plain;

/// Safe text as a line of one style.
pub fn line(text: &Plain, style: Style) -> Line<'_> {
    Line::styled(text.as_str(), style)
}
