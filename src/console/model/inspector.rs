//! `Inspector`: which side of the selected node is shown, and from which line.

/// Which side of the selected node is shown, and from which line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inspector {
    /// The chosen tab, while a run is shown; the plan has its own.
    pub run_tab: Tab,
    /// The chosen tab, while the plan is shown.
    pub plan_tab: Tab,
    /// Where reading goes on.
    pub scroll: Scroll,
    /// Whether Markdown is shown as it is written.
    pub source: bool,
}

impl Default for Inspector {
    fn default() -> Self {
        Self { run_tab: Tab::Output, plan_tab: Tab::Node, scroll: Scroll::Start, source: false }
    }
}

/// Where reading goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scroll {
    /// From the first line; follows the end on the output tab.
    Start,
    /// From this line.
    Line(usize),
    /// The end, whatever comes.
    End,
}

/// One side of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Tab {
    /// Streamed text, result, error.
    Output,
    /// The conversation with a model.
    Prompt,
    Tools,
    /// Times, tokens, money.
    Timing,
    /// What the node is to do, and what validation says.
    Node,
    /// The node as JSON.
    Source,
}

impl Tab {
    /// Tabs while a run is shown.
    pub const RUN: [Self; 5] = [Self::Output, Self::Prompt, Self::Tools, Self::Timing, Self::Node];
    /// Tabs while the plan is shown.
    pub const PLAN: [Self; 2] = [Self::Node, Self::Source];

    pub fn title(self) -> &'static str {
        self.into()
    }
}
