//! Which command a key means: the default keys of the command table, and how a person's own replace them.

use std::collections::BTreeMap;

use super::commands;
use super::commands::ConsoleCommand;
use super::model::{Key, KeyContext, Keymap};

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
                "key bindings: `plan.undo`: there is no key `hyper-x`",
                "key bindings: no command `no.such`",
            ]
        );
    }
}
