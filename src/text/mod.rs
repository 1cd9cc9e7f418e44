//! Text that is safe to show: `Plain`, width, wrap, glyphs. Pure.
