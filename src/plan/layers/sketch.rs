//! What is to be laid out: boxes by their sizes, and the ties between them.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Columns; boxes with an odd number have a middle.
    pub width: u32,
    pub height: u32,
}

/// A line that is wanted from one box down to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tie {
    /// Position of the source among the boxes.
    pub from: usize,
    /// Position of the target among the boxes.
    pub to: usize,
    /// Columns of the words beside it; 0 for none.
    pub label: u32,
}

/// What is to be laid out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sketch {
    /// Sizes of the boxes, at least 5 by 2. Their order decides where nothing else does.
    pub boxes: Vec<Size>,
    pub ties: Vec<Tie>,
}
