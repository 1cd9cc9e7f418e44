//! What lies over the screens: lists to pick from, lines, editors, forms, questions, and things to read.

use ratatui::layout::Rect;

use super::doc::InSight;
use super::pen::{Pen, Shown};
use super::request::{draw_rows, field};
use super::{act, doc, sentence};
use crate::console::commands::guards;
use crate::console::model::{
    Asks, Confirm, Dialog, Doc, EditorDialog, FormDialog, GateShown, LineDialog, LineThen, ListOf, Model, Pick, PickItem, READING,
    ReaderDialog, Reading, ScreenLayout, Tab, box_width, docs, scrolled, texts,
};
use crate::console::theme::Role;
use crate::plan::validate::{Code, Finding, FixKind};
use crate::text::{Glyph, Plain};

use crate::console::model::FormThen;

/// Rows for what a rule would cover.
const RULE_ROWS: u16 = 4;

/// Whether the topmost dialog leaves nothing of the screen below.
pub fn fills_screen(model: &Model) -> bool {
    matches!(model.dialogs.last(), Some(Dialog::Reader(ReaderDialog { what: Reading::Inspector | Reading::Gate, .. })))
}

/// Draws the topmost dialog.
pub fn draw(model: &Model, layout: &ScreenLayout, pen: &mut Pen<'_>, shown: &mut Shown) {
    match model.dialogs.last() {
        None => {}
        Some(Dialog::Pick(pick)) => draw_pick(model, pick, pen, shown),
        Some(Dialog::Line(line)) => draw_line(model, line, pen, shown),
        Some(Dialog::Editor(editor)) => draw_editor(model, editor, pen, shown),
        Some(Dialog::Form(form)) => draw_form(model, form, pen, shown),
        Some(Dialog::List { of: ListOf::Findings, selected }) => draw_findings(model, *selected, pen),
        Some(Dialog::List { of: ListOf::Breaks, selected }) => act::breakpoints(model, *selected, pen),
        Some(Dialog::List { of: ListOf::Why(node), selected }) => act::why(model, node, *selected, pen),
        Some(Dialog::Act(proposal)) => act::proposal(model, proposal, pen, layout),
        Some(Dialog::Confirm(confirm)) => draw_confirm(model, confirm, pen),
        Some(Dialog::Reader(reader)) => draw_reader(model, reader, pen, shown),
        Some(Dialog::Help(help)) => super::help::draw(model, help, pen, shown),
    }
}

/// Columns of a list to pick from: of commands with their keys, and of what has words behind it.
const PANEL: u16 = 64;
const WIDE_PANEL: u16 = 72;
/// Columns of a question.
const NARROW: u16 = 76;
/// Below so many columns for the keys of something to read, the way out goes before the way on.
const ROOM_FOR_PAGES: u16 = 40;

/// A box of so many rows, as far as they fit. Gives its inside.
pub(super) fn boxed_rows(pen: &mut Pen<'_>, rows: usize, title: &Plain) -> Rect {
    let rows = u16::try_from(rows).unwrap_or(u16::MAX).min(tall(pen));
    pen.dialog(box_width(pen.buffer.area.width, READING), rows, title)
}

/// Columns of text in a box.
pub(super) fn columns(pen: &Pen<'_>) -> usize {
    usize::from(box_width(pen.buffer.area.width, READING).saturating_sub(4))
}

/// The rows of a box from one to the last, which has the keys.
fn rows_from(inside: Rect, y: u16) -> Rect {
    Rect { y, height: last_row(inside).y.saturating_sub(y), ..inside }
}

/// Most rows of a panel: the screen below is seen around it.
fn panel(pen: &Pen<'_>) -> u16 {
    (pen.buffer.area.height * 2 / 3).max(12).min(tall(pen))
}

fn tall(pen: &Pen<'_>) -> u16 {
    pen.buffer.area.height.saturating_sub(4).max(4)
}

/// Keys of a dialog on its last row; those that don't fit are left out.
pub(super) fn keys(model: &Model, pen: &mut Pen<'_>, row: Rect, hints: &[(&str, &str)]) {
    let mut x = row.x;
    for (id, words) in hints {
        let Some(key) = model.look.keymap.hint(id) else { continue };
        let width = Plain::line(&key).width() + 1 + Plain::line(words).width();
        if usize::from(x) + width > usize::from(row.right()) {
            continue;
        }
        x += pen.words(x, row.y, row.right().saturating_sub(x), &key, Role::Key) + 1;
        x += pen.words(x, row.y, row.right().saturating_sub(x), words, Role::Hint) + 2;
    }
}

pub(super) fn last_row(area: Rect) -> Rect {
    Rect { y: area.bottom().saturating_sub(1), height: 1.min(area.height), ..area }
}

fn row(area: Rect, at: u16) -> Rect {
    Rect { y: area.y + at.min(area.height.saturating_sub(1)), height: 1.min(area.height), ..area }
}

/// A row of a list to pick from.
#[derive(Clone, Copy, PartialEq)]
enum PickRow {
    Heading(&'static str),
    /// What is shown at that place.
    Item(usize),
    /// What can't be taken now.
    Fold,
}

fn rows_of(pick: &Pick) -> Vec<PickRow> {
    let mut rows = Vec::new();
    let mut group = "";
    for (at, item) in pick.shown.iter().map(|at| &pick.items[*at]).enumerate() {
        let heading = if item.refused.is_some() && !item.group.is_empty() { "Not now" } else { item.group };
        if pick.query.is_empty() && heading != group {
            rows.push(PickRow::Heading(heading));
            group = heading;
        }
        rows.push(PickRow::Item(at));
    }
    rows.extend((pick.folded() > 0).then_some(PickRow::Fold));
    rows
}

fn draw_pick(model: &Model, pick: &Pick, pen: &mut Pen<'_>, shown: &mut Shown) {
    let is_keyed = pick.items.iter().any(|item| item.key.is_some());
    // What is to be chosen is never cut for want of a wider panel.
    let widest = pick.items.iter().map(|item| item.label.width() + 6).max().unwrap_or(0);
    let wide = WIDE_PANEL.max(u16::try_from(widest).unwrap_or(u16::MAX));
    let width = box_width(pen.buffer.area.width, if is_keyed { PANEL } else { wide });
    let columns = usize::from(width.saturating_sub(4));
    let names = names(pick, columns);
    // What stands whole on its row is not said again.
    let is_told = |item: &&PickItem| is_keyed || names.0 + item_description(item).width() + 5 > columns;
    let tells = pick.items.iter().any(|item| is_told(&item));
    let marked = sentence::rows(&pick.marked().filter(is_told).map(item_description).unwrap_or_default(), Role::Dim, columns);
    // A reason that takes two lines doesn't move the list: there is always room for it.
    let below = u16::from(tells) + u16::from(pick.items.iter().any(|item| item_description(item).width() > columns));
    let note = if pick.note.is_empty() { Vec::new() } else { sentence::rows(&pick.note, Role::Text, columns) };
    let above = u16::try_from(note.len()).unwrap_or(u16::MAX);
    let rows = rows_of(pick);
    // The box stays as it is while it is searched.
    let most = rows.len().max(unsearched(pick)) + usize::from(3 + below + above);
    let inside = pen.panel(width, u16::try_from(most).unwrap_or(u16::MAX).min(panel(pen)), &pick.title);
    pen.lines(inside, &note);
    let inside = Rect { y: inside.y + above.min(inside.height), height: inside.height.saturating_sub(above), ..inside };
    pen.words(inside.x, inside.y, 1, ">", Role::Key);
    let query = Rect { x: inside.x + 2, width: inside.width.saturating_sub(2), height: 1, ..inside };
    field(pen, query, &pick.query, true, shown);
    let list = Rect { y: inside.y + 1, height: inside.height.saturating_sub(2 + below), ..inside };
    let at = rows.iter().position(|row| *row == PickRow::Item(pick.selected)).unwrap_or(rows.len().saturating_sub(1));
    let top = scrolled(0, at, rows.len(), usize::from(list.height));
    if rows.is_empty() {
        let words = match &pick.otherwise {
            Some((_, otherwise)) => otherwise.clone(),
            None if pick.found_for.is_some() && model.runs.searching.is_some() => Plain::line("searching …"),
            None => Plain::line("nothing matches"),
        };
        pen.text(list.x, list.y, list.width, &words, Role::Dim);
    }
    pen.list(list, (top, rows.len()), Some(at), true, |pen, at, line| match rows[at] {
        PickRow::Heading(group) => _ = pen.words(line.x, line.y, line.width, group, Role::Dim),
        PickRow::Item(at) => draw_item(&pick.items[pick.shown[at]], names, pen, line),
        PickRow::Fold => {
            let words = format!("{} {} that can't be used now", pen.theme.glyph(Glyph::Folded), pick.folded());
            pen.words(line.x + 2, line.y, line.width.saturating_sub(2), &words, Role::Dim);
        }
    });
    pen.lines(rows_from(inside, list.bottom()), &marked);
    let mut room = last_row(inside);
    let is_cut = rows.len() > usize::from(list.height);
    if is_cut {
        let shown = |from: usize, to: usize| rows[from..to].iter().filter(|row| !matches!(row, PickRow::Heading(_))).count();
        let end = (top + usize::from(list.height)).min(rows.len());
        let place = format!("{}-{} of {}", shown(0, top) + 1, shown(0, end), pick.lines());
        room.width = pen.pieces_right(room, &[(Plain::line(&place), Role::Dim)]).saturating_sub(room.x + 2);
    }
    let takes = if pick.is_at_fold() { "show them, with why" } else { "choose" };
    let does = [("pick.take", takes), ("pick.page_down", "page down")];
    keys(model, pen, room, &does[..1 + usize::from(is_cut)]);
}

/// Rows of a list before anything is searched for in it.
fn unsearched(pick: &Pick) -> usize {
    let usable = || pick.items.iter().filter(|item| pick.unfolded || item.refused.is_none());
    let mut groups: Vec<&str> = usable().map(|item| item.group).filter(|group| !group.is_empty()).collect();
    groups.dedup();
    usable().count() + groups.len() + usize::from(pick.items.iter().any(|item| item.refused.is_some()))
}

/// Columns of the names, and whether keys are at the ends of the lines.
fn names(pick: &Pick, columns: usize) -> (usize, bool) {
    let keyed = pick.items.iter().any(|item| item.key.is_some());
    let is_described = pick.items.iter().any(|item| !item_description(item).is_empty());
    let most = match (keyed, is_described) {
        (true, _) => columns.saturating_sub(12),
        (false, true) => columns * 2 / 3,
        (false, false) => columns,
    };
    (pick.items.iter().map(|item| item.label.width()).max().unwrap_or(0).min(most), keyed)
}

/// Where esc leads: one step back, or out.
fn leaving(model: &Model) -> &'static str {
    if model.dialogs.len() > 1 { "back" } else { "close" }
}

/// What an item does, or why it can't be taken.
fn item_description(item: &PickItem) -> Plain {
    match &item.refused {
        Some(why) => Plain::line("not now: ").then(why),
        None => item.detail.clone(),
    }
}

fn draw_item(item: &PickItem, (names, keyed): (usize, bool), pen: &mut Pen<'_>, line: Rect) {
    let key = Plain::line(item.key.as_deref().unwrap_or_default());
    let role = if item.refused.is_some() { Role::Dim } else { Role::Text };
    let row = Rect { x: line.x + 2, width: line.width.saturating_sub(3), ..line };
    // A list with keys has them at its end; what the marked one does is below the list.
    if keyed {
        let end = pen.pieces_right(row, &[(key, if item.refused.is_some() { Role::Dim } else { Role::Key })]);
        let row = Rect { width: end.saturating_sub(row.x + 1), ..row };
        let why = item.refused.as_ref().map(|why| Plain::blank(2).then(&sentence::bare(why)));
        pen.pieces(row, &[(item.label.clone(), role), (why.unwrap_or_default(), Role::Dim)]);
        return;
    }
    let words = Plain::blank(1).then(&sentence::bare(&item_description(item)));
    pen.pieces(row, &[(item.label.pad(names), role), (words, Role::Dim)]);
}

/// What enter does with a line.
fn line_keeps(line: &LineDialog) -> &'static str {
    if matches!(line.then, LineThen::Reject(_)) { "keep this reason" } else { "OK" }
}

fn draw_line(model: &Model, line: &LineDialog, pen: &mut Pen<'_>, shown: &mut Shown) {
    let note = if line.note.is_empty() { Vec::new() } else { sentence::rows(&line.note, Role::Dim, columns(pen)) };
    let inside = boxed_rows(pen, note.len() + 2, &line.title);
    field(pen, row(inside, 0), &line.field, true, shown);
    pen.lines(rows_from(inside, inside.y + 1), &note);
    let before = model.line().map_or(&[][..], |line| model.request.typed.before(line));
    let hints = [("line.keep", line_keeps(line)), ("line.cancel", leaving(model)), ("line.older", "earlier")];
    keys(model, pen, last_row(inside), &hints[..if before.is_empty() { 2 } else { 3 }]);
}

fn draw_editor(model: &Model, editor: &EditorDialog, pen: &mut Pen<'_>, shown: &mut Shown) {
    let (rows, cursor) = editor.field.rows(columns(pen));
    let lines = u16::try_from(rows.len()).unwrap_or(u16::MAX).saturating_add(4);
    let inside = pen.dialog(box_width(pen.buffer.area.width, READING), lines.clamp(10, tall(pen).max(10)), &editor.title);
    let text = Rect { height: inside.height.saturating_sub(2), ..inside };
    draw_rows(pen, text, (&rows, cursor), (true, editor.field.is_offered()), shown);
    let top = (cursor.0 + 1).saturating_sub(usize::from(text.height));
    let goes_on = editor.field.goes_on(columns(pen));
    for (y, _) in (text.top()..text.bottom()).zip(goes_on.iter().skip(top)).filter(|(_, goes_on)| **goes_on) {
        pen.glyph(text.right().saturating_sub(1), y, 1, Glyph::ArrowRight, Role::Dim);
    }
    let note = match &editor.note {
        Some(note) => sentence::row(note, Role::Error),
        None => sentence::row(&Plain::line(editor.then.about()), Role::Dim),
    };
    pen.pieces(Rect { y: inside.bottom().saturating_sub(2), height: 1, ..inside }, &note);
    let hints = match editor.is_words() {
        true => [("words.keep", "OK"), ("words.newline", "new line"), ("words.undo", "undo"), ("words.cancel", "close")],
        false => [("editor.keep", "OK"), ("editor.newline", "new line"), ("editor.undo", "undo"), ("editor.cancel", "close")],
    };
    keys(model, pen, last_row(inside), &hints);
}

fn draw_form(model: &Model, form: &FormDialog, pen: &mut Pen<'_>, shown: &mut Shown) {
    // What a rule would cover takes rows of its own.
    let is_rule = matches!(form.then, FormThen::Rule(..));
    let (notes, role) = if is_rule { (RULE_ROWS, Role::Text) } else { (1, Role::Error) };
    let inside = boxed_rows(pen, form.fields.len() * 2 + usize::from(notes) + 2, &form.title);
    // What doesn't fit is above or below the field that takes keys.
    let rows = usize::from(inside.height.saturating_sub(notes + 1) / 2).max(1);
    let first = form.focus.saturating_sub(rows - 1);
    for (at, (asked, typed)) in form.fields.iter().enumerate().skip(first).take(rows) {
        let y = u16::try_from((at - first) * 2).unwrap_or(u16::MAX);
        let label = match asked {
            Asks::Option(options) => Plain::summary(&format!("one of: {}", options.join(", "))),
            Asks::Field(field) => texts::field(field),
        };
        let focused = at == form.focus;
        pen.text(inside.x, inside.y + y, inside.width, &label, if focused { Role::Heading } else { Role::Dim });
        let line = Rect { x: inside.x + 2, width: inside.width.saturating_sub(2), ..row(inside, y + 1) };
        pen.words(inside.x, line.y, 1, ">", if focused { Role::Key } else { Role::Dim });
        field(pen, line, typed, focused, shown);
    }
    if let Some(note) = &form.note {
        let first = inside.bottom().saturating_sub(notes + 1);
        let rows = sentence::rows(note, role, usize::from(inside.width));
        for (y, pieces) in (first..first + notes).zip(rows) {
            pen.pieces(Rect { y, height: 1, ..inside }, &pieces);
        }
    }
    let keeps = match form.then {
        FormThen::Try(_) => "run it",
        FormThen::Rule(..) => "keep the rule",
        FormThen::Reply(_) | FormThen::Prompt(_) => "OK",
    };
    keys(model, pen, last_row(inside), &[("form.next", "next field"), ("form.keep", keeps), ("form.cancel", "close")]);
}

fn draw_findings(model: &Model, selected: usize, pen: &mut Pen<'_>) {
    let findings = model.editor.findings();
    let title = Plain::line(&format!("findings: {} of {}", (selected + 1).min(findings.len()), findings.len()));
    let inside = boxed_rows(pen, findings.len() * 2 + 5, &title);
    let list = Rect { height: inside.height.saturating_sub(4), ..inside };
    let selected = selected.min(findings.len().saturating_sub(1));
    let shown = usize::from(list.height / 2).max(1);
    let top = scrolled(0, selected, findings.len(), shown);
    for (slot, (at, finding)) in findings.iter().enumerate().skip(top).take(shown).enumerate() {
        let line = row(list, u16::try_from(slot * 2).unwrap_or(0));
        let (word, glyph, role) = texts::severity(finding.severity);
        let mark = Plain::line(pen.theme.glyph(glyph)).then(&Plain::line(&format!(" {word:<8}")));
        let place = Plain::summary(&texts::finding_place(finding, model.editor.edge_of(finding).as_ref()));
        let mut pieces = vec![(mark, role), (place.then(&Plain::blank(2)), Role::Accent)];
        pieces.extend(sentence::row(&Plain::summary(&finding.message), Role::Text));
        pen.pieces(Rect { x: line.x + 2, width: line.width.saturating_sub(2), ..line }, &pieces);
        let fix = match &finding.fix {
            Some(fix) => Plain::line(&format!("{}: ", fix.kind.label())).then(&Plain::summary(&fix.title)),
            None if finding.code == Code::NotUnderstood => {
                Plain::line(&format!("close this, then {} opens your request again, to say it in other words", model.hint("request.focus")))
            }
            None if finding.edge.is_some() => Plain::line("no automatic fix: edit the edge"),
            None if finding.node.is_some() => Plain::line("no automatic fix: edit the node"),
            None => Plain::line("no automatic fix: edit the plan"),
        };
        if line.y + 1 < list.bottom() {
            let row = Rect { x: line.x + 4, y: line.y + 1, width: line.width.saturating_sub(4), height: 1 };
            pen.pieces(row, &sentence::row(&fix, Role::Dim));
        }
        if at == selected {
            pen.select(line, true);
        }
    }
    // The selected one in full, since its row may be cut.
    let whole = findings.get(selected).map(|finding| Plain::summary(&finding.message)).unwrap_or_default();
    pen.lines(rows_from(inside, list.bottom() + 1), &sentence::rows(&whole, Role::Text, usize::from(inside.width)));
    let fix = findings.get(selected).and_then(|finding| finding.fix.as_ref()).map(|_| ("findings.fix", "fix"));
    let is_safe = |finding: &Finding| finding.fix.as_ref().is_some_and(|fix| fix.kind == FixKind::Safe);
    let all = findings.iter().any(is_safe).then_some(("findings.fix_all", "fix what is safe"));
    let hints: Vec<_> = [("findings.go", "to the node")].into_iter().chain(fix).chain(all).chain([("findings.close", "close")]).collect();
    keys(model, pen, last_row(inside), &hints);
}

fn draw_confirm(model: &Model, confirm: &Confirm, pen: &mut Pen<'_>) {
    let width = box_width(pen.buffer.area.width, NARROW);
    let columns = usize::from(width.saturating_sub(4));
    let roles = [Role::Heading].into_iter().chain(std::iter::repeat(Role::Text));
    let lines: Vec<_> = confirm.lines.iter().zip(roles).flat_map(|(line, role)| sentence::rows(line, role, columns)).collect();
    let rows = u16::try_from(lines.len() + 2).unwrap_or(u16::MAX).min(tall(pen));
    let inside = pen.dialog(width, rows, &Plain::line("please confirm"));
    pen.lines(Rect { height: inside.height.saturating_sub(2), ..inside }, &lines);
    let cancels = guards::quitting_runs(model).is_ok();
    let keeps = if model.runs.going_on().count() == 1 { "quit, keep it" } else { "quit, keep them" };
    let yes = if cancels { keeps } else { "yes" };
    let cancels = cancels.then_some(("confirm.cancel_runs", "cancel for good, quit"));
    let saves = guards::quitting_unsaved(model).is_ok().then_some(("confirm.save", "save the plan first"));
    let hints: Vec<(&str, &str)> = [("confirm.yes", yes)].into_iter().chain(cancels).chain(saves).chain([("confirm.no", "no")]).collect();
    keys(model, pen, last_row(inside), &hints);
}

fn draw_reader(model: &Model, reader: &ReaderDialog, pen: &mut Pen<'_>, shown: &mut Shown) {
    match &reader.what {
        Reading::Inspector => {
            // A result stands alone, to be copied; what a node is to do has its title.
            let node = model.selected_node().filter(|_| matches!(model.tab(), Tab::Node | Tab::Source));
            let title = node.map(|node| model.title_of(node).unwrap_or_else(|| node.title_or_id()));
            bare(model, title.as_ref(), &docs::inspector(model), reader.scroll, pen);
        }
        Reading::Gate => {
            let Some(key) = &model.inbox.selected else { return };
            let Some(text) = model.inbox.doc(key) else { return };
            let seen = bare(model, None, &text.doc, reader.scroll, pen);
            shown.gates.push(GateShown { key: key.clone(), revision: text.revision, from: seen.from, to: seen.to, total: seen.of });
        }
        Reading::Words { title, lines } => {
            let mut text = Doc::default();
            text.lines(Role::Text, lines);
            boxed(model, title, &text, reader.scroll, pen);
        }
    }
}

/// Text alone on the screen, for reading and for copying with the mouse, with one row of keys below it.
fn bare(model: &Model, title: Option<&Plain>, text: &Doc<'_>, scroll: usize, pen: &mut Pen<'_>) -> InSight {
    let whole = pen.buffer.area;
    let title = title.map(|title| sentence::rows(title, Role::Title, usize::from(whole.width))).unwrap_or_default();
    pen.lines(whole, &title);
    let above = u16::try_from(title.len()).map_or(0, |rows| if rows > 0 { rows + 1 } else { 0 }).min(whole.height / 2);
    let body = Rect { y: whole.y + above, height: whole.height.saturating_sub(above + 1), ..whole };
    let seen = doc::draw(pen, body, text, scroll);
    reader_keys(model, seen, pen, last_row(whole));
    seen
}

fn reader_keys(model: &Model, seen: InSight, pen: &mut Pen<'_>, row: Rect) {
    let mut hints = vec![("reader.close", "back"), ("reader.copy", "copy")];
    let mut room = row;
    if !seen.is_all() {
        room.width = pen.pieces_right(row, &[seen.label()]).saturating_sub(row.x);
        if room.width >= ROOM_FOR_PAGES {
            hints.insert(0, ("move.page_down", "page down"));
        }
        hints.insert(0, ("move.down", "down"));
    }
    keys(model, pen, room, &hints);
}

fn boxed(model: &Model, title: &Plain, text: &Doc<'_>, scroll: usize, pen: &mut Pen<'_>) {
    // Lines that are wrapped take several rows; no more are counted than fit.
    let (columns, room) = (columns(pen), usize::from(tall(pen)));
    let lines = text.from(0).take(room).map(|line| line.height(columns)).sum::<usize>();
    let inside = boxed_rows(pen, lines + 2, title);
    let body = Rect { height: inside.height.saturating_sub(1), ..inside };
    let seen = doc::draw(pen, body, text, scroll.min(text.len().saturating_sub(1)));
    reader_keys(model, seen, pen, last_row(inside));
}
