//! Widgets of other crates, fed with and giving safe text, and the few ways from `Plain` to styled spans.

mod ascii;

pub use ascii::to_ascii;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::text::Plain;

/// Safe text as a span that borrows it.
pub fn span(text: &Plain, style: Style) -> Span<'_> {
    Span::styled(text.as_str(), style)
}

/// Safe text as a span that owns it.
pub fn owned(text: Plain, style: Style) -> Span<'static> {
    Span::styled(text.into_string(), style)
}

/// Safe text as a line of one style.
pub fn line(text: &Plain, style: Style) -> Line<'_> {
    Line::from(span(text, style))
}
