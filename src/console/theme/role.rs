//! `Role`: what a piece of the screen means, by the name it has in theme files.

use strum::VariantArray;

/// What a piece of the screen means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, strum::EnumString, strum::IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Role {
    /// Ordinary text.
    Text,
    /// What matters less.
    Dim,
    /// What should catch the eye.
    Accent,
    /// A heading within a pane.
    Heading,
    /// A pane's title.
    Title,
    /// The selected row of the pane that has the focus.
    Selection,
    /// The selected row of another pane.
    SelectionUnfocused,
    /// A pane's border.
    Border,
    /// The border of the pane that has the focus.
    BorderFocused,
    /// The side of a node that a card shows.
    Tab,
    /// The same of the card that has the focus.
    TabFocused,
    /// A count that asks for attention.
    Badge,
    /// A key's name.
    Key,
    /// What a key does.
    Hint,
    /// Code, paths, payloads.
    Code,
    /// Words that a text stresses.
    Emphasis,
    /// What a search found.
    Match,
    /// Typed text.
    Input,
    /// The cursor of a text field.
    Cursor,
    /// What an empty text field says.
    Placeholder,
    /// A question that waits.
    Gate,
    /// A gate that accepts keys now.
    Active,
    /// An error.
    Error,
    /// A warning.
    Warning,
    /// Something that went well.
    Success,
    /// A note that text holds spelled-out characters.
    Hidden,
    /// An added line.
    DiffAdd,
    /// A removed line.
    DiffDel,
    /// What an added line has that the removed one before it has not.
    DiffAddWord,
    /// What a removed line has that the added one behind it has not.
    DiffDelWord,
    /// State pending.
    Pending,
    /// State ready.
    Ready,
    /// State held.
    Held,
    /// State waiting.
    Waiting,
    /// State running.
    Running,
    /// State retrying.
    Retrying,
    /// State succeeded.
    Succeeded,
    /// State rehearsed.
    Rehearsed,
    /// State passed.
    Passed,
    /// State skipped.
    Skipped,
    /// State failed.
    Failed,
    /// State failed_safe.
    FailedSafe,
    /// State cancelled.
    Cancelled,
    /// State unknown.
    Unknown,
    /// A result that was made of earlier ones.
    Stale,
}

impl Role {
    /// Every role, in order.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// Its name in theme files.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
