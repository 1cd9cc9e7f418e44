//! `ListCursor`: where a person is in a list of rows, the same for every screen that is one.

/// Where a person is in a list of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListCursor {
    pub selected: usize,
    /// The first row in sight.
    pub top: usize,
    /// The first line in sight of what is beside the list about the selected row.
    pub scroll: usize,
}

/// How far to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveBy {
    Rows(isize),
    Top,
    Bottom,
}

impl MoveBy {
    /// Where it leads from one of so many places.
    pub fn from(self, at: usize, len: usize) -> usize {
        let last = len.saturating_sub(1);
        match self {
            Self::Rows(by) => at.saturating_add_signed(by).min(last),
            Self::Top => 0,
            Self::Bottom => last,
        }
    }
}

impl ListCursor {
    /// Selects a row of so many, or the last one. What is beside another row begins at its first line.
    pub fn select(&mut self, row: usize, len: usize) {
        let row = row.min(len.saturating_sub(1));
        if row != self.selected {
            (self.selected, self.scroll) = (row, 0);
        }
    }

    /// Scrolls so that the selected row is among `height` of `len` rows in sight.
    pub fn settle(&mut self, len: usize, height: usize) {
        self.selected = self.selected.min(len.saturating_sub(1));
        self.top = scrolled(self.top, self.selected, len, height);
    }
}

/// The one so many further among these, on from the last to the first.
pub fn around<T: Copy + PartialEq>(among: &[T], from: T, by: isize) -> T {
    let at = among.iter().position(|one| *one == from).unwrap_or(0);
    among.get(turned(at, among.len(), by)).copied().unwrap_or(from)
}

/// The place so many further among `len`, on from the last to the first.
pub fn turned(at: usize, len: usize, by: isize) -> usize {
    (at.cast_signed() + by).rem_euclid(len.max(1).cast_signed()).cast_unsigned()
}

/// The first row in sight, when `selected` must be among `height` of `len` rows: moved no further than needed.
pub fn scrolled(top: usize, selected: usize, len: usize, height: usize) -> usize {
    let height = height.max(1);
    let top = top.min(len.saturating_sub(height));
    if selected < top {
        selected
    } else if selected >= top + height {
        selected + 1 - height
    } else {
        top
    }
}
