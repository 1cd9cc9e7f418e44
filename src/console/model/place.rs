//! Where the person is: the screen, the pane with the focus, and whether the plan or a run is shown. And the geometry that follows
//! from it, which both moving and drawing need.

use ratatui::layout::Rect;

use crate::engine::RunId;

/// Where the person is.
#[derive(Clone, Debug, PartialEq)]
pub struct Location {
    pub screen: Screen,
    /// The pane that takes keys.
    pub focus: Focus,
    /// What the Plan screen shows.
    pub shown: PlanScreen,
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
    /// The first bar of the timeline in sight.
    pub first_bar: usize,
}

/// Columns of a box to read.
pub const READING: u16 = 110;

/// Columns of a box that would like to have so many. Where only little would be left of the screen below, it takes that too.
pub fn box_width(screen: u16, wanted: u16) -> u16 {
    if screen < wanted + 24 { screen } else { wanted }
}

impl Location {
    /// Columns of text in a box to read.
    pub fn reading_columns(&self) -> usize {
        usize::from(box_width(self.size.0, READING).saturating_sub(4))
    }
}

impl Default for Location {
    fn default() -> Self {
        Self { screen: Screen::Plan, focus: Focus::Request, shown: PlanScreen::Plan, size: (80, 24), first_bar: 0 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Screen {
    /// The tree, the inspector, the request line.
    Plan,
    /// The plan as boxes and lines.
    Graph,
    Inbox,
    /// Runs of now and before.
    Runs,
    /// Agents, tools, MCP servers and rules.
    Inventory,
    /// How agents and models did in past runs.
    Stats,
    /// The plan beside another version of it.
    Compare,
    /// The events of the shown run.
    Log,
    /// The nodes of the shown run against time.
    Timeline,
    /// Where a result of the shown run came from.
    Trace,
    /// What the model calls of the shown run took.
    Cost,
    /// Two runs side by side.
    Versus,
}

impl Screen {
    /// Whether it shows the plan or the run that is on the stage, with what goes on there.
    pub fn shows_stage(self) -> bool {
        match self {
            Self::Plan | Self::Graph | Self::Log | Self::Timeline | Self::Trace | Self::Cost => true,
            Self::Inbox | Self::Runs | Self::Inventory | Self::Compare | Self::Versus => false,
            Self::Stats => false,
        }
    }
}

/// A pane of the Plan screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Focus {
    Tree,
    /// The tree's filter line.
    Filter,
    /// The inspector.
    Inspector,
    /// The request line.
    Request,
}

/// What the Plan screen shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanScreen {
    /// The plan in the editor.
    Plan,
    Run(RunId),
}

/// Where things stand on the screen. Areas of no use now are empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScreenLayout {
    pub header: Rect,
    /// The tree, or the list of the Inbox and Runs screens.
    pub list: Rect,
    /// The inspector, or the gate's payload.
    pub detail: Rect,
    /// On a wide terminal a pane of its own for what goes on in a run, or for the graph of a plan by stages. Else what goes on in a run has
    /// rows below a tree that is cut.
    pub live: Rect,
    /// The request line.
    pub request: Rect,
    /// How far a replay is.
    pub scrub: Rect,
    pub footer: Rect,
}

/// Columns of a request's text on a screen so wide.
pub fn request_width(screen: u16) -> usize {
    usize::from(screen.saturating_sub(4))
}

/// What is between the panes and the last rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Below {
    /// The request with so many lines of text; none while nobody writes one.
    Request(usize),
    /// How far a replay is.
    Scrub,
}

/// What is to be shown, as far as the geometry follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WantedRoom {
    pub below: Below,
    /// Entries of the list.
    pub entries: usize,
    /// Columns in which the rows of the tree are not cut, as far as those are promised.
    pub columns: u16,
    /// Columns that the lane of time should have.
    pub lane: u16,
    /// Whether a run is shown, of which more is to be said beside its card.
    pub is_run: bool,
    /// Rows of what goes on, where the tree leaves none: always as many while the run is not over, so that nothing moves.
    pub told: u16,
    pub card: CardRoom,
    /// Rows of what just happened.
    pub message: u16,
}

/// What the card needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CardRoom {
    /// What the list leaves.
    Rest,
    /// Room for a gate, which is to be read before it is replied to.
    Gate,
    /// Room for what came out of a run that is over: so many columns, and all rows but one while it is read.
    Output { columns: u16, is_read: bool },
}

/// Rows of a gate's card around its text at most.
pub const GATE_FRAME: u16 = 6;
/// Rows of a message at most.
const MESSAGE: u16 = 3;
/// Columns of an output at most, and around it in its card.
const WIDEST_OUTPUT: u16 = 88;
const CARD_FRAME: u16 = 4;
/// Columns of the lane of time that no title gives way to.
const LEAST_LANE: u16 = 9;
/// From this width on there is a third pane; then columns of the tree at least, and of the card.
const THREE_PANES: u16 = 160;
const TREE: u16 = 72;
const CARD_OF_THREE: u16 = 56;
/// Columns of a gate's card where there is so much room, and of the third pane at least.
const GATE_OF_THREE: u16 = 80;
const THIRD: u16 = 32;
/// The same beside a plan, for its graph by stages.
const THIRD_OF_PLAN: u16 = 70;
/// The least columns of a card beside the tree.
const CARD: u16 = 40;
/// The least rows of a gate's card.
const GATE: u16 = 8;

/// Rows below a tree that is cut of what goes on, and rows that the tree keeps.
pub const TOLD: u16 = 3;
const LEAST_ROWS: u16 = 7;

/// Rows of a replay's bar, of its event, and of what its marks mean where the screen is high.
const SCRUB: u16 = 3;

/// Below this, one sentence is all that is shown.
pub const SMALLEST: (u16, u16) = (40, 10);
/// From this width on, list and detail stand side by side.
const SIDE_BY_SIDE: u16 = 100;
/// The same for the log.
const LINES_SIDE_BY_SIDE: u16 = 160;
/// The same for the list of runs.
const RUNS_SIDE_BY_SIDE: u16 = 140;
/// Below this height, only the pane with the focus is shown.
const BOTH_PANES: u16 = 18;
/// From this height on, the header has two rows.
const HIGH: u16 = 20;

impl Location {
    /// Whether anything but one sentence fits.
    pub fn fits(&self) -> bool {
        self.size.0 >= SMALLEST.0 && self.size.1 >= SMALLEST.1
    }

    pub fn layout(&self, wanted: WantedRoom) -> ScreenLayout {
        let (width, height) = self.size;
        if !self.fits() {
            return ScreenLayout::default();
        }
        let (request_rows, scrub_rows) = match (self.screen, wanted.below) {
            (Screen::Plan, Below::Request(lines @ 1..)) => (u16::try_from(lines).unwrap_or(u16::MAX).clamp(1, 8).min(height / 4) + 1, 0),
            (screen, Below::Scrub) if screen.shows_stage() => (0, if height < HIGH { SCRUB - 1 } else { SCRUB }),
            (_, _) => (0, 0),
        };
        // The keys keep their row, whatever has to be said.
        let footer_rows = (1 + wanted.message.min(MESSAGE)).max(if height < BOTH_PANES { 1 } else { 2 });
        let header = Rect::new(0, 0, width, if height < HIGH { 1 } else { 2 });
        let footer = Rect::new(0, height - footer_rows, width, footer_rows);
        let request = Rect::new(0, height - footer_rows - request_rows, width, request_rows);
        let scrub = Rect::new(0, height - footer_rows - scrub_rows, width, scrub_rows);
        let body = Rect::new(0, header.height, width, height - header.height - footer_rows - request_rows - scrub_rows);
        let (list, detail) = self.panes(body, wanted);
        let (list, detail, live) = self.beside(list, detail, wanted);
        let (list, live) = if live.is_empty() { self.told_below(list, live, wanted) } else { (list, live) };
        ScreenLayout { header, list, detail, live, request, scrub, footer }
    }

    /// Where rows of the tree are out of sight, what goes on has rows of its own below those in sight.
    fn told_below(&self, list: Rect, none: Rect, wanted: WantedRoom) -> (Rect, Rect) {
        let rows = wanted.told.min(TOLD);
        let is_cut = wanted.entries + 1 > usize::from(list.height.saturating_sub(rows));
        if self.screen != Screen::Plan || !is_cut || list.height < LEAST_ROWS + rows {
            return (list, none);
        }
        let height = list.height - rows;
        (Rect { height, ..list }, Rect { y: list.y + height, height: rows, ..list })
    }

    /// On a wide terminal the tree takes no more than it needs. What it leaves is the card's, and a third pane's where there is room.
    fn beside(&self, list: Rect, detail: Rect, wanted: WantedRoom) -> (Rect, Rect, Rect) {
        let none = Rect::new(detail.x, detail.y, 0, 0);
        if self.screen != Screen::Plan || self.size.0 < THREE_PANES || detail.x == list.x {
            return (list, detail, none);
        }
        let list = Rect { width: (wanted.columns + wanted.lane).max(TREE), ..list };
        let (x, left) = (list.x + list.width, self.size.0.saturating_sub(list.x + list.width));
        let card = match wanted.card {
            CardRoom::Rest => CARD_OF_THREE,
            CardRoom::Gate => GATE_OF_THREE.min(left.saturating_sub(THIRD)).max(CARD_OF_THREE),
            CardRoom::Output { columns, .. } => (columns.min(WIDEST_OUTPUT) + CARD_FRAME).max(CARD_OF_THREE),
        };
        let third = if wanted.is_run { THIRD } else { THIRD_OF_PLAN };
        if left < card + third {
            return (list, Rect { x, width: left, ..detail }, none);
        }
        (list, Rect { x, width: card, ..detail }, Rect { x: x + card, width: left - card, ..detail })
    }

    fn panes(&self, body: Rect, wanted: WantedRoom) -> (Rect, Rect) {
        let WantedRoom { entries, card, .. } = wanted;
        let none = Rect::new(body.x, body.y, 0, 0);
        let above = |rows: u16| {
            let list = if rows == 0 { none } else { Rect { height: rows, ..body } };
            (list, Rect { y: body.y + rows, height: body.height - rows, ..body })
        };
        let alone = match self.screen {
            Screen::Inbox => false,
            Screen::Stats => entries == 0,
            // The details come when they are asked for.
            Screen::Graph => entries == 0 || self.focus != Focus::Inspector,
            Screen::Plan | Screen::Runs | Screen::Inventory | Screen::Compare => entries == 0,
            Screen::Log | Screen::Timeline | Screen::Trace | Screen::Cost | Screen::Versus => entries == 0,
        };
        if alone {
            return (body, none);
        }
        // Lines of a log and bars are long: what is beside them needs more room.
        let (from, (part, of)) = match self.screen {
            Screen::Log | Screen::Timeline | Screen::Trace | Screen::Cost | Screen::Versus => (LINES_SIDE_BY_SIDE, (5, 9)),
            Screen::Inbox => (SIDE_BY_SIDE, (1, 2)),
            // A wider terminal never shows shorter titles: the card stands below them as long as they would be cut beside it.
            Screen::Plan => (SIDE_BY_SIDE.max(wanted.columns + wanted.lane.min(LEAST_LANE) + CARD), (5, 9)),
            // What a run gave is as wide as it was on its own screen, and its goal is never cut for it.
            Screen::Runs => (RUNS_SIDE_BY_SIDE, (4, 7)),
            Screen::Graph | Screen::Compare | Screen::Inventory | Screen::Stats => (SIDE_BY_SIDE, (5, 9)),
        };
        if body.width >= from {
            let columns = match self.screen {
                Screen::Plan => {
                    let tree = (body.width * part / of).max((wanted.columns + wanted.lane).min(body.width.saturating_sub(CARD)));
                    match card {
                        // What came out takes the columns that it needs, as long as no title is cut for it.
                        CardRoom::Output { columns: needed @ 1.., .. } => tree
                            .min(body.width.saturating_sub(needed.min(WIDEST_OUTPUT) + CARD_FRAME))
                            .max(wanted.columns + wanted.lane.min(LEAST_LANE)),
                        CardRoom::Output { .. } | CardRoom::Rest | CardRoom::Gate => tree,
                    }
                }
                // Bars have the room that a card of three panes leaves.
                Screen::Timeline => body.width - CARD_OF_THREE,
                _ => body.width * part / of,
            };
            return (Rect { width: columns, ..body }, Rect { x: body.x + columns, width: body.width - columns, ..body });
        }
        if body.height < BOTH_PANES - 4 {
            return match (self.screen, self.focus) {
                (Screen::Inbox, _) => above(2),
                (Screen::Plan | Screen::Graph, Focus::Inspector) => above(0),
                (_, _) => (body, none),
            };
        }
        // One above the other, the list takes no more rows than it has entries, so that the rest is there for reading.
        let (least, most) = match self.screen {
            Screen::Inbox => (3, (body.height / 2).clamp(3, 12)),
            Screen::Graph => (body.height / 2, body.height / 2),
            Screen::Compare => (3, body.height / 2),
            Screen::Versus => (5, body.height / 2),
            Screen::Log | Screen::Trace => (6, body.height * 3 / 5),
            Screen::Timeline => (6, body.height * 7 / 10),
            Screen::Plan if matches!(card, CardRoom::Output { is_read: true, .. }) => (2, 2),
            Screen::Plan if card == CardRoom::Gate => (5, (body.height / 2).min(body.height - GATE)),
            Screen::Plan | Screen::Inventory | Screen::Cost => (6, body.height * 11 / 20),
            Screen::Runs => (3, body.height * 11 / 20),
            Screen::Stats => (6, body.height * 11 / 20),
        };
        // A timeline and a comparison have rows of their own around the list.
        let around = match self.screen {
            Screen::Timeline => 5,
            Screen::Versus => 4,
            _ => 2,
        };
        above(u16::try_from(entries + around).unwrap_or(u16::MAX).clamp(least, most))
    }
}

impl ScreenLayout {
    /// Rows of the list pane that hold entries: one is its title.
    pub fn list_rows(&self) -> usize {
        usize::from(self.list.height.saturating_sub(1))
    }

    /// Rows of the detail pane that hold text: one is its title, and beside the list one above it is empty.
    pub fn detail_rows(&self) -> usize {
        usize::from(self.detail.height.saturating_sub(1 + u16::from(self.detail.x > 0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panes_fill_the_screen_and_never_overlap() {
        for size in [(40, 10), (80, 24), (99, 18), (100, 10), (120, 40), (200, 50), (500, 200)] {
            for screen in [
                Screen::Plan,
                Screen::Graph,
                Screen::Inbox,
                Screen::Runs,
                Screen::Inventory,
                Screen::Stats,
                Screen::Compare,
                Screen::Log,
                Screen::Timeline,
                Screen::Trace,
                Screen::Cost,
                Screen::Versus,
            ] {
                for focus in [Focus::Tree, Focus::Inspector, Focus::Request] {
                    let request = [(1, 0), (1, 4), (3, 20), (100, 10_000)].map(|(lines, rows)| (Below::Request(lines), rows));
                    for (below, rows) in request.into_iter().chain([(Below::Scrub, 0), (Below::Scrub, 20)]) {
                        let card = if rows % 8 == 4 { CardRoom::Gate } else { CardRoom::Rest };
                        let message = u16::try_from(rows).unwrap_or(9) % 5;
                        let wanted = WantedRoom {
                            below,
                            entries: rows,
                            columns: 66,
                            lane: 18,
                            is_run: rows % 8 == 4,
                            told: u16::try_from(rows % 5).unwrap_or(0),
                            card,
                            message,
                        };
                        let layout = Location { screen, focus, size, ..Location::default() }.layout(wanted);
                        let parts = [layout.header, layout.list, layout.detail, layout.live, layout.request, layout.scrub, layout.footer];
                        let area: u32 = parts.iter().map(|part| part.area()).sum();
                        assert_eq!(area, u32::from(size.0) * u32::from(size.1), "{size:?} {screen:?} {focus:?}");
                    }
                }
            }
        }
    }
}
