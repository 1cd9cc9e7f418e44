//! Keys, where they work, and which ones mean a command. Keys have the names that key files and hints use; every key literal of the
//! console is here or in the command table.

use std::{collections::BTreeMap, fmt};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::MoveBy;

/// One key with its modifiers. Shift is part of the character, except with named keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd)]
pub struct Key {
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

    /// The end of a whole text that the key goes to, if it goes to one.
    pub fn text_end(&self) -> Option<MoveBy> {
        match self.code {
            KeyCode::Home if self.mods == KeyModifiers::CONTROL => Some(MoveBy::Top),
            KeyCode::End if self.mods == KeyModifiers::CONTROL => Some(MoveBy::Bottom),
            _ => None,
        }
    }

    /// Whether the key undoes what was typed last.
    pub fn undoes(&self) -> bool {
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

/// What the palette makes of the commands of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// They are about what is shown, or about the console.
    Anywhere,
    /// They are about what is selected on a screen of its own.
    OnItsScreen,
    /// They only make sense in a dialog, while typing, or in a pane.
    Never,
}

macro_rules! contexts {
    ($($context:ident $offered:ident $title:literal $place:literal,)+) => {
        /// Where keys work. Several hold at a time, innermost first; see [`super::contexts`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum KeyContext { $(#[doc = $title] $context,)+ }

        impl KeyContext {
            /// A heading for help and docs.
            pub fn title(self) -> &'static str {
                match self { $(Self::$context => $title,)+ }
            }

            pub fn offered(self) -> Offered {
                match self { $(Self::$context => Offered::$offered,)+ }
            }

            /// Where its keys work, for somebody who pressed one elsewhere; nothing where that is no place to go to.
            pub fn place(self) -> Option<&'static str> {
                let place = match self { $(Self::$context => $place,)+ };
                (!place.is_empty()).then_some(place)
            }
        }
    };
}

contexts! {
    Always Anywhere "Everywhere, also while typing" "",
    Global Anywhere "Everywhere" "",
    Moving Never "Moving" "",
    Plan Anywhere "Plan screen" "on the plan screen",
    Tree Anywhere "Tree" "in the tree",
    Start Never "Start" "",
    StartRows Never "Runs at the start" "",
    Run Anywhere "Run" "in a run",
    Replay Anywhere "Replay" "in a replay",
    Log OnItsScreen "Log" "in the log",
    LogFilter Never "Filter line of the log" "",
    Timeline OnItsScreen "Timeline" "on the timeline",
    Trace OnItsScreen "Trace" "on the trace",
    Cost OnItsScreen "Cost" "on the cost screen",
    Versus OnItsScreen "Differences between two runs" "in the comparison of two runs",
    Graph OnItsScreen "Graph" "on the graph",
    Inspector Never "Inspector" "in the inspector",
    Request Never "Request line" "",
    Filter Never "Search line" "",
    Found Never "What a search found" "",
    Deps Never "Dependencies" "",
    Decide OnItsScreen "Replying to a gate" "at a gate",
    Gate Never "Gate" "at a gate",
    Draft Never "Reply that isn't sent yet" "",
    Inbox OnItsScreen "Inbox" "in the inbox",
    Runs OnItsScreen "Runs" "in the list of runs",
    Inventory OnItsScreen "Agents and tools" "on the screen of agents and tools",
    Stats OnItsScreen "Statistics" "on the screen of statistics",
    Compare OnItsScreen "Comparison" "in the comparison of plans",
    Line Never "One line of text" "",
    Editor Never "Text editor" "",
    Words Never "Words of yours" "",
    Form Never "Form" "",
    Pick Never "Lists" "",
    Findings Never "Findings" "",
    Act Never "Before an action" "",
    Breaks Never "Breakpoints" "",
    Why Never "Why a node isn't running" "",
    Confirm Never "Questions" "",
    Reader Never "Reading" "",
    Help Never "Help" "",
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

    /// Gives a command these keys in place of its own.
    pub fn set(&mut self, id: &'static str, keys: Vec<Key>) {
        self.keys.insert(id, keys);
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
