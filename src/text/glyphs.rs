//! Glyphs: every mark that the console draws, in Unicode and in ASCII. No private-use characters, nothing that terminals
//! show as an emoji, each exactly as wide in one set as in the other.

use strum::VariantArray;

/// Which characters may be drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GlyphSet {
    /// Box lines and marks that common fonts have.
    #[default]
    Unicode,
    /// Only ASCII (`--ascii`).
    Ascii,
}

/// A mark by its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray)]
pub enum Glyph {
    Pending,
    Ready,
    Held,
    Waiting,
    Running,
    Stopping,
    Retrying,
    Succeeded,
    Rehearsed,
    Passed,
    Skipped,
    Failed,
    FailedSafe,
    Cancelled,
    Unknown,
    Stale,
    Gate,
    Active,
    Error,
    Warning,
    Unchecked,
    Checked,
    Bullet,
    ArrowRight,
    Folded,
    Unfolded,
    TreeBranch,
    TreeLast,
    TreePipe,
    TreeBlank,
    InsideBranch,
    InsideLast,
    LineHorizontal,
    LineHeavy,
    /// The bar at the left of a card.
    CardBar,
    /// What works right now, at the end of its line.
    LineTip,
    /// Waits for a person or stands.
    LineWaits,
    /// Held at a breakpoint or before a held call.
    AtBreakpoint,
    /// A breakpoint that nothing met yet.
    Breakpoint,
    Cursor,
    Modified,
    /// Where a person did something.
    Acted,
    /// Where somebody is on a line.
    Here,
    /// Needs this one too.
    Also,
    /// Comes before the selected one, and comes behind it.
    Before,
    Behind,
    BarFull,
    BarEmpty,
}

impl Glyph {
    /// The mark in both sets: Unicode, ASCII.
    const fn pair(self) -> (&'static str, &'static str) {
        match self {
            Self::Pending => ("·", "."),
            Self::Ready => ("○", "o"),
            Self::Held => ("‖", "h"),
            Self::Waiting => ("◆", "?"),
            Self::Running => ("●", "*"),
            Self::Stopping => ("◒", "_"),
            Self::Retrying => ("◔", "%"),
            Self::Succeeded => ("✓", "+"),
            Self::Rehearsed => ("◇", "r"),
            Self::Passed => ("»", "p"),
            Self::Skipped => ("-", "-"),
            Self::Failed => ("✗", "x"),
            Self::FailedSafe => ("⊗", "X"),
            Self::Cancelled => ("⊘", "c"),
            Self::Unknown => ("!", "!"),
            Self::Stale => ("↻", "s"),
            Self::Gate => ("◆", "?"),
            Self::Active => ("◉", "@"),
            Self::Error => ("✗", "x"),
            Self::Warning => ("▲", "w"),
            Self::Unchecked => ("[ ]", "[ ]"),
            Self::Checked => ("[✓]", "[x]"),
            Self::Bullet => ("•", "-"),
            Self::ArrowRight => ("→", ">"),
            Self::Folded => ("▸", ">"),
            Self::Unfolded => ("▾", "v"),
            Self::TreeBranch => ("├ ", "|-"),
            Self::TreeLast => ("└ ", "`-"),
            Self::TreePipe => ("│ ", "| "),
            Self::TreeBlank => ("  ", "  "),
            Self::InsideBranch => ("╞ ", "|="),
            Self::InsideLast => ("╘ ", "`="),
            Self::LineHorizontal => ("─", "-"),
            Self::LineHeavy => ("━", "="),
            Self::CardBar => ("┃", "|"),
            Self::LineTip => ("╸", ">"),
            Self::LineWaits => ("┄", "?"),
            Self::AtBreakpoint => ("■", "#"),
            Self::Breakpoint => ("□", "b"),
            Self::Cursor => ("▶", ">"),
            Self::Modified => ("*", "*"),
            Self::Acted => ("▴", "^"),
            Self::Here => ("┃", "|"),
            Self::Also => ("+", "&"),
            Self::Before => ("↑", "^"),
            Self::Behind => ("↓", "v"),
            Self::BarFull => ("█", "#"),
            Self::BarEmpty => ("░", ":"),
        }
    }
}

impl GlyphSet {
    /// The characters of a mark.
    pub const fn get(self, glyph: Glyph) -> &'static str {
        let (unicode, ascii) = glyph.pair();
        match self {
            Self::Unicode => unicode,
            Self::Ascii => ascii,
        }
    }
}

/// What stands for a cell's content where only ASCII may be drawn: marks and lines by their likeness, else `?`.
/// Takes what fills one cell (or two, if it is wide) and gives one character.
pub fn ascii_of(cell: &str) -> &'static str {
    let twin = Glyph::VARIANTS.iter().copied().map(Glyph::pair).find(|(unicode, _)| *unicode == cell).map(|(_, ascii)| ascii);
    if let Some(ascii) = twin {
        return ascii;
    }
    match cell {
        "⏎" | "↑" => "^",
        "←" => "<",
        "↓" => "v",
        "…" => "~",
        "═" | "╌" | "▔" | "▁" => "-",
        "│" | "║" | "▌" | "▐" | "▏" | "▕" => "|",
        "▀" | "▄" | "▒" | "▓" => "#",
        "‘" | "’" => "'",
        "“" | "”" => "\"",
        "–" | "—" | "−" | "‐" => "-",
        "×" => "x",
        "\u{a0}" => " ",
        _ if cell.chars().all(|c| matches!(c, '┌'..='╋' | '╒'..='╬' | '╭'..='╰')) => "+",
        _ => "?",
    }
}
