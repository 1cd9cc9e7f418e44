//! Describes what the engine knows, once, for console, shell and docs alike: text without colour, and glyphs by their meaning.

mod cause;
mod counts;
mod estimate;
mod event;
mod impact;
mod result;
mod state;
mod status;
mod timeline;
mod times;
mod totals;

pub use counts::{CountedNodes, NodeCounts, inside_ended};
pub use event::{EventKind, EventLine, EventTone, arguments};
pub use impact::ImpactLine;
pub use result::{is_effect, result_line, result_notes, result_text};
pub use status::RunStatus;
pub use times::{elapsed, elapsed_of, work};
pub use totals::{calls_label, listed};
