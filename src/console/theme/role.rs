//! `Role`: what a piece of the screen means, by the name it has in theme files.

macro_rules! roles {
    ($($role:ident $name:literal $about:literal,)+) => {
        /// What a piece of the screen means.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Role { $(#[doc = $about] $role,)+ }

        impl Role {
            /// Every role, in order.
            pub const ALL: &'static [Self] = &[$(Self::$role,)+];

            /// Its name in theme files.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$role => $name,)+ }
            }
        }
    };
}

roles! {
    Text "text" "Ordinary text.",
    Dim "dim" "What matters less.",
    Accent "accent" "What should catch the eye.",
    Heading "heading" "A heading within a pane.",
    Title "title" "A pane's title.",
    Selection "selection" "The selected row of the pane that has the focus.",
    SelectionUnfocused "selection_unfocused" "The selected row of another pane.",
    Border "border" "A pane's border.",
    BorderFocused "border_focused" "The border of the pane that has the focus.",
    Badge "badge" "A count that asks for attention.",
    Key "key" "A key's name.",
    Hint "hint" "What a key does.",
    Code "code" "Code, paths, payloads.",
    Match "match" "What a search found.",
    Input "input" "Typed text.",
    Cursor "cursor" "The cursor of a text field.",
    Placeholder "placeholder" "What an empty text field says.",
    Gate "gate" "A question that waits.",
    Active "active" "A gate that accepts keys now.",
    Error "error" "An error.",
    Warning "warning" "A warning.",
    Success "success" "Something that went well.",
    Hidden "hidden" "A note that text holds spelled-out characters.",
    DiffAdd "diff_add" "An added line.",
    DiffDel "diff_del" "A removed line.",
    Pending "pending" "State pending.",
    Ready "ready" "State ready.",
    Held "held" "State held.",
    Waiting "waiting" "State waiting.",
    Running "running" "State running.",
    Retrying "retrying" "State retrying.",
    Succeeded "succeeded" "State succeeded.",
    Rehearsed "rehearsed" "State rehearsed.",
    Passed "passed" "State passed.",
    Skipped "skipped" "State skipped.",
    Failed "failed" "State failed.",
    FailedSafe "failed_safe" "State failed_safe.",
    Cancelled "cancelled" "State cancelled.",
    Unknown "unknown" "State unknown.",
    Stale "stale" "A result that was made of earlier ones.",
}

impl Role {
    /// The role of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|role| role.name() == name)
    }
}
