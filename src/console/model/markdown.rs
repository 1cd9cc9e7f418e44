//! `DrawnText`: Markdown and tables as they are read. Headings and strong words are bold, code has its tint, lists hang, and tables have
//! columns in place of bars. Text that has none of this stays as it is.

use std::ops::Range;
use std::sync::Arc;

use pulldown_cmark::{Alignment, CodeBlockKind, Event as Piece, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::console::theme::Role;
use crate::text::Plain;

/// Columns of text for reading at most.
const READABLE: usize = 88;
/// Columns between two columns of a table.
const BETWEEN: usize = 2;
/// The least columns of a column of a table.
const NARROWEST: usize = 4;
/// Bytes up to which a text is drawn.
const LARGEST: usize = 256 << 10;

/// Text in pieces, each with how it looks.
type Pieces = Vec<(Plain, Role)>;

/// One line of a text as it is read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DrawnLine {
    text: Plain,
    pieces: Pieces,
    /// Columns that its later rows are indented by.
    hang: usize,
    /// The row of a table that it is.
    cells: Option<TableCells>,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq)]
struct TableCells {
    cells: Vec<Pieces>,
    columns: Arc<Vec<DrawnColumn>>,
}

/// A column of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct DrawnColumn {
    width: usize,
    is_right: bool,
}

impl DrawnLine {
    /// A line of pieces; its later rows are indented by so many columns.
    pub fn of(pieces: Pieces, hang: usize) -> Self {
        Self { text: joined(&pieces), pieces, hang, cells: None }
    }

    /// All of it on one line.
    pub fn text(&self) -> &Plain {
        &self.text
    }

    /// Its rows in so many columns.
    pub fn rows(&self, columns: usize) -> Vec<Pieces> {
        let columns = columns.min(READABLE);
        let fitted = self.cells.as_ref().and_then(|row| Some((row, fitted(&row.columns, columns)?)));
        match fitted {
            Some((row, widths)) => row.rows(&widths),
            None => wrapped(&self.pieces, columns, self.hang),
        }
    }
}

impl TableCells {
    fn rows(&self, widths: &[usize]) -> Vec<Pieces> {
        let cells: Vec<Vec<Pieces>> = self.cells.iter().zip(widths).map(|(cell, width)| wrapped(cell, *width, 0)).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(1);
        let row = |at: usize| {
            let mut row = Pieces::new();
            for (at_column, ((cell, width), column)) in cells.iter().zip(widths).zip(self.columns.iter()).enumerate() {
                let between = if at_column + 1 == cells.len() { 0 } else { BETWEEN };
                let pieces = cell.get(at).cloned().unwrap_or_default();
                let blank = width.saturating_sub(pieces.iter().map(|(text, _)| text.width()).sum());
                let (before, after) = if column.is_right { (blank, between) } else { (0, blank + between) };
                row.push((Plain::blank(before), Role::Text));
                row.extend(pieces);
                row.push((Plain::blank(after), Role::Text));
            }
            row
        };
        (0..height).map(row).collect()
    }
}

/// The widths of a table's columns in so many columns of the screen: the widest give way. Nothing where it has no room at all.
fn fitted(columns: &[DrawnColumn], room: usize) -> Option<Vec<usize>> {
    let mut widths: Vec<usize> = columns.iter().map(|column| column.width).collect();
    let room = room.checked_sub(BETWEEN * columns.len().saturating_sub(1))?;
    while widths.iter().sum::<usize>() > room {
        let widest = widths.iter_mut().max().filter(|width| **width > NARROWEST)?;
        *widest -= 1;
    }
    Some(widths)
}

fn joined(pieces: &[(Plain, Role)]) -> Plain {
    pieces.iter().fold(Plain::default(), |line, (text, _)| line.then(text))
}

/// Pieces in rows of so many columns, the later ones indented.
fn wrapped(pieces: &[(Plain, Role)], columns: usize, hang: usize) -> Vec<Pieces> {
    let whole = joined(pieces);
    if whole.width() <= columns {
        return vec![pieces.to_vec()];
    }
    let hang = if hang > columns / 3 { 0 } else { hang };
    let mut at = 0;
    let mut rows = Vec::new();
    for (number, line) in whole.wrap_below(columns, hang).iter().enumerate() {
        let indent = if number == 0 { 0 } else { hang };
        let shown = &line.as_str()[indent..];
        while !whole.as_str()[at..].starts_with(shown) && whole.as_str()[at..].starts_with(' ') {
            at += 1;
        }
        let mut row = vec![(Plain::blank(indent), Role::Text)];
        row.extend(cut(pieces, at..at + shown.len()));
        rows.push(row);
        at += shown.len();
    }
    rows
}

/// The pieces of so many bytes.
fn cut(pieces: &[(Plain, Role)], bytes: Range<usize>) -> impl Iterator<Item = (Plain, Role)> {
    let mut start = 0;
    pieces.iter().filter_map(move |(text, role)| {
        let (from, to) = (bytes.start.max(start), bytes.end.min(start + text.as_str().len()));
        let piece = (from < to).then(|| (Plain::line(&text.as_str()[from - start..to - start]), *role));
        start += text.as_str().len();
        piece
    })
}

/// A text for people as it is read; nothing where it has no marks of Markdown.
pub fn drawn_markdown(text: &str) -> Option<Vec<DrawnLine>> {
    if text.len() > LARGEST || !Parser::new_ext(text, OPTIONS).any(|event| is_mark(&event)) {
        return None;
    }
    let mut writer = DrawnText::default();
    Parser::new_ext(text, OPTIONS).for_each(|event| writer.take(event));
    writer.end_line();
    Some(writer.lines)
}

/// A table that was made of values, whose cells are no Markdown; nothing where the text is none.
pub fn drawn_table(text: &str) -> Option<Vec<DrawnLine>> {
    let mut lines = text.lines().map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    if text.len() > LARGEST {
        return None;
    }
    let (head, rule) = (lines.next()??, lines.next()??);
    let is_rule = rule.chars().all(|c| matches!(c, '-' | ':' | '|' | ' '));
    let rights: Vec<bool> = rule.split(" | ").map(|rule| rule.ends_with(':')).collect();
    let cells = |line: &str, role: Role| -> Vec<Pieces> {
        // A bar inside of a cell is written with a backslash.
        let cells = line.replace("\\|", "\u{1}");
        cells.split(" | ").map(|cell| vec![(Plain::line(&cell.trim().replace('\u{1}', "|")), role)]).collect()
    };
    let mut rows = vec![cells(head, Role::Heading)];
    for line in lines {
        rows.push(cells(line?, Role::Text));
    }
    is_rule.then(|| table(rows, &rights))
}

/// The lines of a table, the first row of which is its head.
fn table(rows: Vec<Vec<Pieces>>, rights: &[bool]) -> Vec<DrawnLine> {
    let width = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| joined(cell).width()).max().unwrap_or(0);
    let columns: Arc<Vec<DrawnColumn>> =
        Arc::new(rights.iter().enumerate().map(|(at, is_right)| DrawnColumn { width: width(at).max(1), is_right: *is_right }).collect());
    let line = |cells: Vec<Pieces>| {
        let between = || std::iter::once((Plain::blank(BETWEEN), Role::Text));
        let pieces: Pieces = cells.iter().flat_map(|cell| cell.iter().cloned().chain(between())).collect();
        DrawnLine { cells: Some(TableCells { cells, columns: columns.clone() }), ..DrawnLine::of(pieces, 0) }
    };
    rows.into_iter().map(line).collect()
}

const OPTIONS: Options = Options::ENABLE_TABLES.union(Options::ENABLE_TASKLISTS);

/// Whether this makes a text Markdown: people write the rest by chance.
fn is_mark(event: &Piece<'_>) -> bool {
    match event {
        Piece::Start(Tag::CodeBlock(kind)) => matches!(kind, CodeBlockKind::Fenced(_)),
        Piece::Start(tag) => matches!(tag, Tag::Heading { .. } | Tag::List(_) | Tag::Table(_) | Tag::Strong | Tag::Link { .. }),
        Piece::Code(_) => true,
        _ => false,
    }
}

/// Markdown on its way into lines.
#[derive(Default)]
struct DrawnText {
    lines: Vec<DrawnLine>,
    line: Pieces,
    roles: Vec<Role>,
    /// The next number of each list around; none where it has dots.
    lists: Vec<Option<u64>>,
    /// Levels of quotes around.
    quotes: usize,
    /// Columns where the text of the line begins.
    hang: usize,
    is_code: bool,
    rows: Vec<Vec<Pieces>>,
    rights: Vec<bool>,
    links: Vec<String>,
}

impl DrawnText {
    fn take(&mut self, event: Piece<'_>) {
        match event {
            Piece::Start(tag) => self.open(tag),
            Piece::End(tag) => self.close(tag),
            Piece::Text(text) if self.is_code => self.code(&text),
            Piece::Text(text) | Piece::Html(text) | Piece::InlineHtml(text) => self.words(text.trim_end_matches('\n'), None),
            Piece::Code(code) => self.words(&code, Some(Role::Code)),
            Piece::SoftBreak | Piece::HardBreak => self.next_line(),
            Piece::Rule => {
                self.gap();
                self.words("---", Some(Role::Dim));
                self.end_line();
            }
            Piece::TaskListMarker(done) => self.words(if done { "[x] " } else { "[ ] " }, None),
            Piece::FootnoteReference(text) | Piece::InlineMath(text) | Piece::DisplayMath(text) => self.words(&text, None),
        }
    }

    fn open(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock if self.line.is_empty() => self.gap(),
            Tag::Heading { .. } => {
                self.gap();
                self.roles.push(Role::Heading);
            }
            Tag::CodeBlock(_) => {
                self.gap();
                self.is_code = true;
            }
            Tag::BlockQuote(_) => {
                self.gap();
                self.quotes += 1;
                self.roles.push(Role::Dim);
            }
            Tag::List(first) => {
                if self.lists.is_empty() {
                    self.gap();
                } else {
                    self.end_line();
                }
                self.lists.push(first);
            }
            Tag::Item => self.item(),
            Tag::Table(sides) => {
                self.gap();
                self.rights = sides.iter().map(|side| *side == Alignment::Right).collect();
            }
            Tag::TableHead => {
                self.rows.push(Vec::new());
                self.roles.push(Role::Heading);
            }
            Tag::TableRow => self.rows.push(Vec::new()),
            Tag::Strong => self.roles.push(Role::Heading),
            Tag::Emphasis => self.roles.push(Role::Emphasis),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => self.links.push(dest_url.into_string()),
            _ => {}
        }
    }

    fn close(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock | TagEnd::Item => self.end_line(),
            TagEnd::Heading(level) => {
                self.roles.pop();
                self.end_line();
                if level == HeadingLevel::H1 {
                    self.lines.push(DrawnLine::default());
                }
            }
            TagEnd::CodeBlock => self.is_code = false,
            TagEnd::BlockQuote(_) => {
                self.end_line();
                self.quotes -= 1;
                self.roles.pop();
            }
            TagEnd::List(_) => {
                self.end_line();
                self.lists.pop();
            }
            TagEnd::TableHead | TagEnd::Strong | TagEnd::Emphasis => _ = self.roles.pop(),
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.line);
                self.rows.last_mut().into_iter().for_each(|row| row.push(cell.clone()));
            }
            TagEnd::Table => {
                let rows = std::mem::take(&mut self.rows);
                // Numbers are aligned to the right, whether the text says so or not.
                let is_number = |at: usize| {
                    let mut cells = rows.iter().skip(1).filter_map(|row| row.get(at)).map(|cell| joined(cell)).peekable();
                    cells.peek().is_some() && cells.all(|cell| cell.as_str().trim().replace(',', "").parse::<f64>().is_ok())
                };
                let rights: Vec<bool> = self.rights.iter().enumerate().map(|(at, right)| *right || is_number(at)).collect();
                self.lines.extend(table(rows, &rights));
            }
            TagEnd::Link | TagEnd::Image => {
                let to = self.links.pop().unwrap_or_default();
                if !joined(&self.line).as_str().ends_with(&to) {
                    self.words(&format!(" ({to})"), Some(Role::Dim));
                }
            }
            _ => {}
        }
    }

    /// An entry of a list: its dot or number, behind which its later rows begin.
    fn item(&mut self) {
        self.end_line();
        let mark = match self.lists.last_mut() {
            Some(Some(number)) => {
                *number += 1;
                format!("{:>2}  ", *number - 1)
            }
            _ => "- ".to_owned(),
        };
        let indent = 2 * (self.lists.len().saturating_sub(1) + self.quotes);
        self.hang = indent + mark.len();
        self.line = vec![(Plain::line(&format!("{}{mark}", " ".repeat(indent))), Role::Dim)];
    }

    /// An empty line before a block that begins.
    fn gap(&mut self) {
        self.end_line();
        let is_inside = !self.lists.is_empty();
        if self.lines.last().is_some_and(|line| !line.text.is_empty()) && !is_inside {
            self.lines.push(DrawnLine::default());
        }
    }

    fn code(&mut self, text: &str) {
        for line in Plain::block(text) {
            let indent = 2 + self.hang;
            self.lines.push(DrawnLine::of(vec![(Plain::blank(indent), Role::Text), (line, Role::Code)], indent));
        }
    }

    fn words(&mut self, text: &str, role: Option<Role>) {
        if self.line.is_empty() && self.rows.is_empty() {
            self.line.push((Plain::blank(self.hang.max(2 * self.quotes)), Role::Text));
        }
        let role = role.or(self.roles.last().copied()).unwrap_or(Role::Text);
        self.line.push((Plain::line(text), role));
    }

    /// Ends a line of a paragraph that goes on.
    fn next_line(&mut self) {
        let hang = self.hang;
        self.end_line();
        self.hang = hang;
    }

    fn end_line(&mut self) {
        if !self.line.is_empty() {
            let line = std::mem::take(&mut self.line);
            self.lines.push(DrawnLine::of(line, self.hang.max(2 * self.quotes)));
        }
        self.hang = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, columns: usize) -> Vec<String> {
        let lines = drawn_markdown(text).unwrap();
        let rows = lines.iter().flat_map(|line| line.rows(columns));
        rows.map(|row| joined(&row).as_str().trim_end().to_owned()).collect()
    }

    #[test]
    fn marks_of_markdown_are_drawn_and_their_signs_are_not() {
        let text = "# Release 2.4\n\nRetries **never** outlive `lease`.\n\n## Fixed\n\n1. a wait\n2. a slot that goes on and on\n   - inner\n\n```rust\nlet a = 1;\n\n    b();\n```\n> said\n\n[docs](https://a.b)";
        let due = [
            "Release 2.4",
            "",
            "Retries never outlive",
            "lease.",
            "",
            "Fixed",
            "",
            " 1  a wait",
            " 2  a slot that goes",
            "    on and on",
            "  - inner",
            "",
            "  let a = 1;",
            "",
            "      b();",
            "",
            "  said",
            "",
            "docs (https://a.b)",
        ];
        assert_eq!(read(text, 22), due);
        let roles: Vec<Role> = drawn_markdown(text).unwrap()[2].pieces.iter().map(|(_, role)| *role).collect();
        assert!(roles.contains(&Role::Heading) && roles.contains(&Role::Code));
        assert_eq!(drawn_markdown("a * b_c_d\nno marks <b>here</b>"), None);
    }

    #[test]
    fn a_table_has_columns_numbers_to_the_right_and_wraps_in_its_cells() {
        let text = "| name | n |\n|---|---|\n| the longest of all | 3 |\n| b | 12 |";
        assert_eq!(read(text, 40), ["name                 n", "the longest of all   3", "b                   12"]);
        assert_eq!(read(text, 16), ["name           n", "the longest    3", "of all", "b             12"]);
        let rows: Vec<_> = drawn_table("| a    |   b |\n| ---- | --: |\n| x\\|y | **7** |").unwrap();
        assert_eq!(
            rows.iter().map(|row| joined(&row.rows(40)[0]).as_str().trim_end().to_owned()).collect::<Vec<_>>(),
            ["a        b", "x|y  **7**"]
        );
        assert_eq!(drawn_table("| a |\nno rule"), None);
    }

    #[test]
    fn the_rows_of_a_line_hold_all_of_its_words_however_narrow() {
        let text = "- **aaa bbb** ccc `dddddddddddddddddd` eee\n\n  fff";
        for columns in 1..60 {
            let words: String = read(text, columns).concat().replace(' ', "");
            assert_eq!(words, "-aaabbbcccddddddddddddddddddeeefff", "{columns}");
        }
    }
}
