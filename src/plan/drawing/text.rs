//! A drawing as lines of text.

use super::{BoxBody, BoxText, EdgeStroke, GraphDrawing, GraphView, VisibleBox, Window};
use crate::plan::Plan;
use crate::text::{GlyphSet, Plain, ascii_of};

/// A plan drawn with boxes and lines, all sub-plans open, under its goal. Edges without a line are listed below.
pub fn text(plan: &Plan, glyphs: GlyphSet) -> String {
    let drawing = GraphDrawing::new(plan, BoxText::Ids, &|_| true);
    let mut text = String::new();
    if !plan.goal.is_empty() {
        text.push_str(&format!("{}\n\n", Plain::summary(&plan.goal)));
    }
    let size = drawing.size();
    for (top, rows) in drawing.panes.first().into_iter().flat_map(|pane| &pane.layers.bands).map(|band| (band.top, band.rows)) {
        let window = Window { x: 0, y: top, width: size.width, height: rows };
        let view = drawing.view(window, &|_, _| EdgeStroke::Plain);
        let mut spans = spans(&view, window);
        spans.sort_by_key(|span| (span.y, span.x));
        let mut spans = spans.into_iter().peekable();
        for y in top..top + rows {
            let mut row = String::new();
            let mut x = 0;
            while let Some(span) = spans.next_if(|span| span.y == y) {
                (x..span.x).for_each(|x| row.push_str(view.stroke(x, y).symbol(glyphs)));
                x = span.x + u32::try_from(span.text.width()).unwrap_or(0);
                row.push_str(span.text.as_str());
            }
            (x..size.width).for_each(|x| row.push_str(view.stroke(x, y).symbol(glyphs)));
            text.push_str(row.trim_end());
            text.push('\n');
        }
    }
    let undrawn = drawing.undrawn();
    if !undrawn.is_empty() {
        text.push_str("\nwithout a line, since they close a cycle or are among the longest:\n");
        undrawn.iter().for_each(|(from, to)| text.push_str(&format!("  {} → {}\n", Plain::summary(from), Plain::summary(to))));
    }
    match glyphs {
        GlyphSet::Unicode => text,
        GlyphSet::Ascii => in_ascii(&text),
    }
}

/// The same text in ASCII, as wide as it was.
fn in_ascii(text: &str) -> String {
    use unicode_segmentation::UnicodeSegmentation;
    use unicode_width::UnicodeWidthStr;
    let mut ascii = String::with_capacity(text.len());
    for cell in text.graphemes(true) {
        if cell.is_ascii() {
            ascii.push_str(cell);
        } else {
            ascii.push_str(&ascii_of(cell).repeat(cell.width().max(1)));
        }
    }
    ascii
}

/// A piece of a box on one row.
struct TextSpan {
    x: u32,
    y: u32,
    text: Plain,
}

/// A row of the name of a box; the mark of what is folded is before the first.
fn name(node: &super::Box, row: usize) -> Plain {
    let text = node.rows.get(row).cloned().unwrap_or_default();
    match (node.body, row) {
        (BoxBody::None | BoxBody::Open(_), _) => text,
        (BoxBody::Folded(_), 0) => Plain::line("▸ ").then(&text),
        (BoxBody::Folded(_), _) => Plain::blank(2).then(&text),
    }
}

/// Everything in view that is no line.
fn spans(view: &GraphView<'_>, window: Window) -> Vec<TextSpan> {
    let mut spans: Vec<TextSpan> = view.notes.iter().map(|note| TextSpan { x: note.x, y: note.y, text: note.text.clone() }).collect();
    for VisibleBox { node, area } in &view.boxes {
        let inside = area.width as usize - 2;
        let (last, right) = (area.y + area.height - 1, area.x + area.width - 1);
        let title = match node.body {
            BoxBody::None | BoxBody::Folded(_) => Plain::default(),
            BoxBody::Open(_) => Plain::line(" ▾ ").then(&node.title).then(&Plain::line(": ")).then(&node.caption).then(&Plain::blank(1)),
        };
        for y in area.y.max(window.y)..=last.min(window.y + window.height - 1) {
            let framed = |inner: &Plain| Plain::line("│ ").then(&inner.pad(inside - 2)).then(&Plain::line(" │"));
            let open = matches!(node.body, BoxBody::Open(_));
            let text = match y - area.y {
                0 if open => {
                    let title = title.truncate(inside);
                    let rest = "─".repeat(inside - title.width());
                    Plain::line("┌").then(&title).then(&Plain::line(&format!("{rest}┐")))
                }
                0 => Plain::line(&format!("┌{}┐", "─".repeat(inside))),
                _ if y == last => {
                    let edge = (area.x + 1..right).map(|x| view.stroke(x, y).on_edge().symbol(GlyphSet::Unicode));
                    Plain::line(&format!("└{}┘", edge.collect::<String>()))
                }
                _ if open => {
                    spans.push(TextSpan { x: right, y, text: Plain::line("│") });
                    Plain::line("│")
                }
                _ if y + 1 == last => framed(&node.caption),
                row => framed(&name(node, row as usize - 1)),
            };
            spans.push(TextSpan { x: area.x, y, text });
        }
    }
    spans
}
