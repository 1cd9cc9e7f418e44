//! `HelpDialog`: what works here, in groups, searched by typing, and how its lines stand in columns and pages.

use super::{KeyContext, TextField, box_width};
use crate::console::theme::Role;
use crate::text::Plain;

/// Columns of a row's keys, of a row, and between two of them.
const KEYS: usize = 10;
const COLUMN: usize = 37;
const GAP: usize = 2;
/// Most columns of rows side by side.
const MOST: usize = 3;
/// Columns of the keys and of the title of what was found, and from how many columns on the description stands behind them.
const FOUND: (usize, usize, usize) = (16, 28, 100);
/// Columns of the whole, with its frame.
const WIDTH: u16 = 118;

/// Help that lies open.
#[derive(Clone, Debug)]
pub struct HelpDialog {
    /// Contexts that held when help was asked for, innermost first.
    pub contexts: Vec<KeyContext>,
    /// What is searched for.
    pub query: TextField,
    pub page: usize,
    /// Made anew before each frame: what can be used changes while it is read.
    pub groups: Vec<HelpGroup>,
}

/// Lines of one purpose.
#[derive(Clone, Debug)]
pub struct HelpGroup {
    pub title: &'static str,
    /// Where not all has room, one that everybody knows is one row until it is searched for.
    pub folds: bool,
    pub lines: Vec<HelpLine>,
}

/// A key and what it does, or a mark and what it means.
#[derive(Clone, Debug)]
pub struct HelpLine {
    pub keys: Vec<String>,
    pub title: Plain,
    pub description: Plain,
    pub role: Role,
    /// It is only found: not now, or not here.
    pub is_elsewhere: bool,
}

/// A row in pieces.
pub type HelpRow = Vec<(Plain, Role)>;

impl HelpDialog {
    pub fn new(contexts: Vec<KeyContext>) -> Self {
        Self { contexts, query: TextField::line(""), page: 0, groups: Vec::new() }
    }

    /// Columns of its box on a screen that is so wide.
    pub fn width(screen: u16) -> u16 {
        box_width(screen, WIDTH)
    }

    /// Columns and rows of its text on a screen of that size: without frame, search line, an empty row and the keys.
    pub fn room((width, height): (u16, u16)) -> (usize, usize) {
        (usize::from(Self::width(width).saturating_sub(4)), usize::from(height.saturating_sub(7)).max(1))
    }

    /// All pages, each in columns of rows.
    pub fn pages(&self, (width, rows): (usize, usize)) -> Vec<Vec<Vec<HelpRow>>> {
        if !self.query.is_empty() {
            return self.found(width).chunks(rows).map(|page| vec![page.to_vec()]).collect();
        }
        let columns = ((width + GAP) / (COLUMN + GAP)).clamp(1, MOST);
        let column = (width + GAP) / columns - GAP;
        let whole = self.flow(column, rows, true);
        let filled = if whole.len() <= columns { whole } else { self.flow(column, rows, false) };
        filled.chunks(columns).map(<[_]>::to_vec).collect()
    }

    /// All groups one below the other, in columns of so many rows.
    fn flow(&self, width: usize, rows: usize, unfolds: bool) -> Vec<Vec<HelpRow>> {
        let mut filled: Vec<Vec<HelpRow>> = Vec::new();
        let mut now: Vec<HelpRow> = Vec::new();
        for group in self.groups.iter().filter(|group| unfolds || !group.folds) {
            let mut lines = group.lines.iter().filter(|line| !line.is_elsewhere).flat_map(|line| row(line, width)).peekable();
            if lines.peek().is_none() {
                continue;
            }
            // A heading without a line below it, or an empty row at the end, says nothing.
            if now.len() + 3 > rows {
                filled.push(std::mem::take(&mut now));
            }
            if !now.is_empty() {
                now.push(Vec::new());
            }
            now.push(vec![(Plain::line(group.title), Role::Heading)]);
            for line in lines {
                if now.len() >= rows {
                    filled.push(std::mem::take(&mut now));
                }
                now.push(line);
            }
        }
        let folded: Vec<String> =
            self.groups.iter().filter(|group| group.folds && !unfolds).map(|group| group.title.to_lowercase()).collect();
        if !folded.is_empty() {
            for piece in Plain::line(&format!("Type to see more: {}.", folded.join(", "))).wrap(width) {
                if now.len() >= rows {
                    filled.push(std::mem::take(&mut now));
                }
                now.push(vec![(piece, Role::Dim)]);
            }
        }
        filled.push(now);
        filled.retain(|column| !column.is_empty());
        filled
    }

    /// What is searched for: a key that is named so, else all that has its words.
    fn found(&self, width: usize) -> Vec<HelpRow> {
        let query = self.query.text().trim().to_owned();
        let is_key = self.lines().any(|(_, line)| line.keys.contains(&query));
        let words = query.to_lowercase();
        let has = |group: &HelpGroup, line: &HelpLine| {
            let text =
                format!("{} {} {} {}", group.title, line.keys.join(" "), line.title.as_str(), line.description.as_str()).to_lowercase();
            if is_key { line.keys.contains(&query) } else { words.split_whitespace().all(|word| text.contains(word)) }
        };
        let mut found = Vec::new();
        for group in &self.groups {
            let lines: Vec<&HelpLine> = group.lines.iter().filter(|line| has(group, line)).collect();
            if !lines.is_empty() {
                found.extend((!found.is_empty()).then(Vec::new));
                found.push(vec![(Plain::line(group.title), Role::Heading)]);
                found.extend(lines.into_iter().flat_map(|line| described(line, width)));
            }
        }
        if found.is_empty() {
            found.push(vec![(Plain::line("nothing has these words"), Role::Dim)]);
        }
        found
    }

    fn lines(&self) -> impl Iterator<Item = (&HelpGroup, &HelpLine)> {
        self.groups.iter().flat_map(|group| group.lines.iter().map(move |line| (group, line)))
    }

    /// All of it as text, with what each does.
    pub fn copied(&self) -> String {
        let line = |(group, line): (&HelpGroup, &HelpLine)| {
            format!("{}: {}  {}: {}", group.title, line.keys.join(", "), line.title.as_str(), line.description.as_str())
        };
        self.lines().map(line).collect::<Vec<_>>().join("\n")
    }
}

/// A line among others: as many of its keys as have room, and its title.
fn row(line: &HelpLine, width: usize) -> Vec<HelpRow> {
    if line.keys.is_empty() {
        return line.title.wrap(width).into_iter().map(|text| vec![(text, line.role)]).collect();
    }
    let mut keys = line.keys[0].clone();
    for key in &line.keys[1..] {
        if Plain::line(&keys).width() + 1 + Plain::line(key).width() < KEYS {
            keys = format!("{keys} {key}");
        }
    }
    let keys = Plain::line(&keys).pad(KEYS).then(&Plain::blank(1));
    vec![vec![(keys, key_role(line)), (line.title.clone(), line.role)]]
}

/// A line that was found: all of its keys, its title, and what it does.
fn described(line: &HelpLine, width: usize) -> Vec<HelpRow> {
    let (keys, title, behind) = FOUND;
    let role = if line.is_elsewhere { Role::Dim } else { line.role };
    let head = Plain::line(&line.keys.join(" ")).pad(keys).then(&Plain::blank(1));
    if line.keys.is_empty() {
        return row(line, width);
    }
    let mut rows = vec![vec![(head, key_role(line)), (line.title.clone(), role)]];
    let at = if width >= behind { keys + 1 + title } else { keys + 1 };
    for (nth, piece) in line.description.wrap(width.saturating_sub(at).max(20)).into_iter().enumerate() {
        match rows.first_mut().filter(|_| nth == 0 && width >= behind) {
            Some(first) => first.push((Plain::blank(title.saturating_sub(line.title.width())).then(&piece), Role::Dim)),
            None => rows.push(vec![(Plain::blank(at).then(&piece), Role::Dim)]),
        }
    }
    rows
}

fn key_role(line: &HelpLine) -> Role {
    match line.role {
        _ if line.is_elsewhere => Role::Dim,
        Role::Text => Role::Key,
        role => role,
    }
}
