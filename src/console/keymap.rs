//! Keys: how they are named, which command each one means, and how a file rebinds them.
//! Every key literal of the console stands here or in the command table, as a name such as `ctrl-p`.

use std::{collections::BTreeMap, fmt};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::commands::{self, ConsoleCommand, KeyContext};

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
            _ => Err(format!("`{name}` names no key")),
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

/// Which keys mean which command.
#[derive(Clone, Debug, PartialEq)]
pub struct Keymap {
    /// Keys of each command, by the command's id; the first is the one that hints show.
    keys: BTreeMap<&'static str, Vec<Key>>,
}

impl Default for Keymap {
    fn default() -> Self {
        let keys = commands::all().map(|command| (command.id, command.keys.iter().filter_map(|name| Key::parse(name).ok()).collect()));
        Self { keys: keys.collect() }
    }
}

impl Keymap {
    /// The default keys with a person's own over them, by command id (no key unbinds), and what is wrong with those, in words.
    pub fn with(bindings: &BTreeMap<String, Vec<String>>) -> (Self, Vec<String>) {
        let mut map = Self::default();
        let mut problems = Vec::new();
        for (id, names) in bindings {
            let Some(command) = commands::find(id) else {
                problems.push(format!("key bindings: no command `{id}`"));
                continue;
            };
            let mut keys = Vec::new();
            for name in names {
                match Key::parse(name) {
                    Ok(key) => keys.push(key),
                    Err(error) => problems.push(format!("key bindings: `{id}`: {error}")),
                }
            }
            map.keys.insert(command.id, keys);
        }
        problems.extend(map.conflicts());
        (map, problems)
    }

    /// Keys that mean two commands in one context, in words.
    pub fn conflicts(&self) -> Vec<String> {
        let mut seen: BTreeMap<(KeyContext, String), &'static str> = BTreeMap::new();
        let mut found = Vec::new();
        for command in commands::all() {
            for key in self.keys_of(command.id) {
                if let Some(other) = seen.insert((command.context, key.to_string()), command.id) {
                    found.push(format!("key bindings: `{key}` means both `{other}` and `{}`", command.id));
                }
            }
        }
        found
    }

    /// The keys of a command.
    pub fn keys_of(&self, id: &str) -> &[Key] {
        self.keys.get(id).map_or(&[], Vec::as_slice)
    }

    /// The key to show for a command.
    pub fn hint(&self, id: &str) -> Option<String> {
        self.keys_of(id).first().map(ToString::to_string)
    }

    /// The first key of a command that means it where these contexts hold: others mean something else further inside.
    pub fn reaching(&self, contexts: &[KeyContext], command: &ConsoleCommand) -> Option<Key> {
        let means = |key: &Key| self.resolve(contexts, *key).is_some_and(|meant| meant.id == command.id);
        self.keys_of(command.id).iter().copied().find(means)
    }

    /// The command that a key means where these contexts hold, innermost first.
    pub fn resolve(&self, contexts: &[KeyContext], key: Key) -> Option<&'static ConsoleCommand> {
        contexts
            .iter()
            .find_map(|context| commands::all().find(|command| command.context == *context && self.keys_of(command.id).contains(&key)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_key_has_a_name_that_reads_back() {
        for command in commands::all() {
            for name in command.keys {
                assert_eq!(Key::parse(name).unwrap().to_string(), *name, "in `{}`", command.id);
            }
        }
    }

    #[test]
    fn default_keys_have_no_conflicts() {
        assert_eq!(Keymap::default().conflicts(), Vec::<String>::new());
    }

    #[test]
    fn a_persons_keys_replace_the_usual_ones_and_faults_are_named() {
        let own = [("plan.add", "insert"), ("no.such", "x"), ("plan.undo", "hyper-x"), ("plan.delete", "insert")];
        let own = own.map(|(command, key)| (command.to_owned(), vec![key.to_owned()])).into();
        let (map, problems) = Keymap::with(&own);
        assert_eq!(map.hint("plan.add").as_deref(), Some("insert"));
        let mut problems = problems;
        problems.sort();
        assert_eq!(
            problems,
            [
                "key bindings: `insert` means both `plan.add` and `plan.delete`",
                "key bindings: `plan.undo`: `hyper-x` names no key",
                "key bindings: no command `no.such`",
            ]
        );
    }

    #[test]
    fn shift_is_part_of_a_character() {
        let event = KeyEvent::new(KeyCode::Char('G'), KeyModifiers::SHIFT);
        assert_eq!(Key::of(&event), Key::parse("G").unwrap());
    }
}
