//! Keys, where they work, and which ones mean a command. Keys have the names that key files and hints use; every key literal of the
//! console is here or in the command table.

use std::{collections::BTreeMap, fmt};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// One key with its modifiers. Shift is part of the character, except with named keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd)]
pub struct Key {
    /// Which key.
    pub code: KeyCode,
    /// What is held down with it.
    pub mods: KeyModifiers,
}

/// Names of keys that are not characters.
const NAMED: &[(&str, KeyCode)] = &[
    ("enter", KeyCode::Enter),
    ("esc", KeyCode::Esc),
    ("tab", KeyCode::Tab),
    ("backtab", KeyCode::BackTab),
    ("backspace", KeyCode::Backspace),
    ("delete", KeyCode::Delete),
    ("insert", KeyCode::Insert),
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("pageup", KeyCode::PageUp),
    ("pagedown", KeyCode::PageDown),
    ("space", KeyCode::Char(' ')),
];

impl Key {
    /// The key of a terminal event.
    pub fn of(event: &KeyEvent) -> Self {
        let mut mods = event.modifiers & (KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SHIFT);
        let code = match event.code {
            KeyCode::Char(c) => {
                mods -= KeyModifiers::SHIFT;
                KeyCode::Char(if mods.contains(KeyModifiers::CONTROL) { c.to_ascii_lowercase() } else { c })
            }
            KeyCode::BackTab => {
                mods -= KeyModifiers::SHIFT;
                KeyCode::BackTab
            }
            other => other,
        };
        Self { code, mods }
    }

    /// Reads a name such as `ctrl-p`, `enter`, `G` or `shift-up`.
    ///
    /// # Errors
    /// Words for a person when it names no key.
    pub fn parse(name: &str) -> Result<Self, String> {
        let mut mods = KeyModifiers::NONE;
        let mut rest = name;
        loop {
            let held = [("ctrl-", KeyModifiers::CONTROL), ("alt-", KeyModifiers::ALT), ("shift-", KeyModifiers::SHIFT)]
                .into_iter()
                .find_map(|(prefix, held)| rest.strip_prefix(prefix).filter(|left| !left.is_empty()).map(|left| (left, held)));
            let Some((left, held)) = held else { break };
            mods |= held;
            rest = left;
        }
        if let Some((_, code)) = NAMED.iter().find(|(known, _)| *known == rest) {
            return Ok(Self { code: *code, mods });
        }
        if let Some(number) = rest.strip_prefix('f').and_then(|n| n.parse::<u8>().ok()).filter(|n| (1..=12).contains(n)) {
            return Ok(Self { code: KeyCode::F(number), mods });
        }
        let mut chars = rest.chars();
        match (chars.next(), chars.next()) {
            (Some(c), None) => Ok(Self { code: KeyCode::Char(c), mods }),
            _ => Err(format!("there is no key `{name}`")),
        }
    }

    /// The character that this key types, if it types one.
    pub fn typed(&self) -> Option<char> {
        match self.code {
            KeyCode::Char(c) if !self.mods.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) => Some(c),
            _ => None,
        }
    }

    /// Whether the key is one of those that never decide a gate.
    pub fn never_decides(&self) -> bool {
        matches!(self.code, KeyCode::Enter | KeyCode::Char(' ' | '\n' | '\r'))
    }

    /// Whether the key types a line end, in the ways in which terminals tell it.
    pub fn ends_line(&self) -> bool {
        let control = self.mods.contains(KeyModifiers::CONTROL);
        match self.code {
            KeyCode::Enter | KeyCode::Char('\n' | '\r') => true,
            KeyCode::Char('j' | 'm') => control,
            _ => false,
        }
    }

    /// Whether the key empties the line that is typed, as in a shell.
    pub fn clears_line(&self) -> bool {
        self.code == KeyCode::Char('u') && self.mods == KeyModifiers::CONTROL
    }

    /// Whether the key takes back what was typed last.
    pub fn takes_back(&self) -> bool {
        self.code == KeyCode::Char('u') && self.mods == KeyModifiers::ALT
    }

    /// Whether the key takes a text away.
    pub fn deletes(&self) -> bool {
        matches!(self.code, KeyCode::Backspace | KeyCode::Delete)
    }

    /// The key as a terminal event, for widgets that take those.
    pub fn event(&self) -> KeyEvent {
        KeyEvent::new(self.code, self.mods)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (held, prefix) in [(KeyModifiers::CONTROL, "ctrl-"), (KeyModifiers::ALT, "alt-"), (KeyModifiers::SHIFT, "shift-")] {
            if self.mods.contains(held) {
                f.write_str(prefix)?;
            }
        }
        if let Some((name, _)) = NAMED.iter().find(|(_, code)| *code == self.code) {
            return f.write_str(name);
        }
        match self.code {
            KeyCode::Char(c) => write!(f, "{c}"),
            KeyCode::F(n) => write!(f, "f{n}"),
            _ => f.write_str("?"),
        }
    }
}
/// Where keys work. Several hold at a time, innermost first; see [`super::contexts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyContext {
    /// Everywhere, also while text is typed.
    Always,
    /// Everywhere but in dialogs and text fields.
    Global,
    /// Wherever something can be moved through.
    Moving,
    /// The Plan screen.
    Plan,
    /// The tree.
    Tree,
    /// A run, on every screen that shows it.
    Run,
    /// A run that is looked at as it was.
    Replay,
    /// The log of a run.
    Log,
    /// The log's filter line.
    LogFilter,
    /// The timeline of a run.
    Timeline,
    /// The trace of a result.
    Trace,
    /// Two runs side by side.
    Versus,
    /// The Graph screen.
    Graph,
    /// The inspector.
    Inspector,
    /// The request line.
    Request,
    /// The tree's filter line.
    Filter,
    /// Changing dependencies in place.
    Deps,
    /// The inbox.
    Inbox,
    /// The list of runs.
    Runs,
    /// The comparison of two plans.
    Compare,
    /// A dialog with one line of text.
    Line,
    /// A dialog with several lines of text.
    Editor,
    /// A form.
    Form,
    /// A dialog to pick from, with its search line.
    Pick,
    /// The list of findings.
    Findings,
    /// An action before it is done.
    Act,
    /// The list of breakpoints.
    Breaks,
    /// Why a node isn't running.
    Why,
    /// A question that wants yes or no.
    Confirm,
    /// Text to read: help, or a zoomed pane.
    Reader,
}

impl KeyContext {
    /// A heading for help and docs.
    pub fn title(self) -> &'static str {
        match self {
            Self::Always => "Everywhere, also while typing",
            Self::Global => "Everywhere",
            Self::Moving => "Moving",
            Self::Plan => "Plan screen",
            Self::Tree => "Tree",
            Self::Run => "Run",
            Self::Replay => "Replay",
            Self::Log => "Log",
            Self::Timeline => "Timeline",
            Self::Trace => "Trace",
            Self::Versus => "Two runs side by side",
            Self::LogFilter => "Filter line of the log",
            Self::Graph => "Graph",
            Self::Inspector => "Inspector",
            Self::Request => "Request line",
            Self::Filter => "Filter line",
            Self::Deps => "Dependencies",
            Self::Inbox => "Inbox",
            Self::Runs => "Runs",
            Self::Compare => "Comparison",
            Self::Line => "One line of text",
            Self::Editor => "Text editor",
            Self::Form => "Form",
            Self::Pick => "Lists",
            Self::Findings => "Findings",
            Self::Act => "Before an action",
            Self::Breaks => "Breakpoints",
            Self::Why => "Why a node isn't running",
            Self::Confirm => "Questions",
            Self::Reader => "Reading",
        }
    }

    /// Where its keys work, in words for somebody who pressed one elsewhere; nothing where that is no place to go to.
    pub fn place(self) -> Option<&'static str> {
        match self {
            Self::Plan => Some("on the plan screen"),
            Self::Tree => Some("in the tree"),
            Self::Run => Some("in a run"),
            Self::Replay => Some("in a replay"),
            Self::Log => Some("in the log"),
            Self::Timeline => Some("on the timeline"),
            Self::Trace => Some("on the trace"),
            Self::Versus => Some("in the comparison of two runs"),
            Self::Graph => Some("on the graph"),
            Self::Inspector => Some("in the inspector"),
            Self::Inbox => Some("in the inbox"),
            Self::Runs => Some("in the list of runs"),
            Self::Compare => Some("in the comparison of plans"),
            _ => None,
        }
    }
}

/// Which keys mean which command.
#[derive(Clone, Debug, PartialEq)]
pub struct Keymap {
    /// Keys of each command, by the command's id; the first is the one that hints show.
    pub(in crate::console) keys: BTreeMap<&'static str, Vec<Key>>,
}

impl Keymap {
    /// The keys of a command.
    pub fn keys_of(&self, id: &str) -> &[Key] {
        self.keys.get(id).map_or(&[], Vec::as_slice)
    }

    /// The key to show for a command.
    pub fn hint(&self, id: &str) -> Option<String> {
        self.keys_of(id).first().map(ToString::to_string)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shift_is_part_of_a_character() {
        let event = KeyEvent::new(KeyCode::Char('G'), KeyModifiers::SHIFT);
        assert_eq!(Key::of(&event), Key::parse("G").unwrap());
    }
}
