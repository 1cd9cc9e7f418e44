//! `Keyboard`: what comes from the terminal, with characters of one read kept apart from single keys: text that somebody pasted
//! into a terminal without bracketed paste, or keys typed ahead on a slow line. Nobody reads a gate between them, so none of them decides.

use crossterm::event::{Event as Input, EventStream, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use futures::StreamExt as _;
use std::{collections::VecDeque, io, time::Duration};

/// Within this time characters count as one read; the library gives them one by one.
const SAME_READ: Duration = Duration::from_millis(2);
/// So many characters in one read are text, if enough of them differ; fewer, and those of a key that is held down, are keys.
const TEXT: usize = 8;
/// So many different characters make a text.
const DIFFERENT: usize = 5;

#[derive(Debug)]
pub(super) enum Arrived {
    /// A key, a resize, a bracketed paste.
    Input(Input),
    /// So many keys at once; they follow.
    Burst(usize),
    Text(String),
}

/// The terminal's input; none while a child has it.
#[derive(Default)]
pub(super) struct Keyboard {
    stream: Option<EventStream>,
    /// What came in one read so far.
    read: Vec<Input>,
    /// What of earlier reads is still to be given, in order.
    came: VecDeque<Input>,
}

impl Keyboard {
    /// Begins to read, if nothing reads yet.
    pub(super) fn take(&mut self) {
        self.stream.get_or_insert_with(EventStream::new);
    }

    /// Stops reading; what came and was not given is dropped.
    pub(super) fn release(&mut self) {
        *self = Self::default();
    }

    /// What comes next; `None` at the end of the input, nothing ever while a child has it. Nothing is lost when this is dropped before it
    /// is done.
    pub(super) async fn next(&mut self) -> Option<io::Result<Arrived>> {
        if let Some(input) = self.came.pop_front() {
            return Some(Ok(Arrived::Input(input)));
        }
        let Some(stream) = &mut self.stream else { return std::future::pending().await };
        if self.read.is_empty() {
            match stream.next().await? {
                Ok(input) => self.read.push(input),
                Err(error) => return Some(Err(error)),
            }
        }
        while self.read.last().and_then(character).is_some()
            && let Ok(Some(next)) = tokio::time::timeout(SAME_READ, stream.next()).await
        {
            match next {
                Ok(input) => self.read.push(input),
                Err(error) => return Some(Err(error)),
            }
        }
        let burst = of(&self.read);
        let keys = self.read.iter().map_while(character).count();
        self.came.extend(self.read.drain(..));
        match burst {
            Burst::Key => self.came.pop_front().map(Arrived::Input).map(Ok),
            Burst::Keys => Some(Ok(Arrived::Burst(keys))),
            Burst::Text(text, events) => {
                self.came.drain(..events);
                Some(Ok(Arrived::Text(text)))
            }
        }
    }
}

/// What the characters of one read are.
#[derive(Debug, PartialEq)]
enum Burst {
    /// One key, as usual.
    Key,
    /// Several keys that came too fast to be meant for what a gate shows.
    Keys,
    /// Pasted text; so many events of the read belong to it.
    Text(String, usize),
}

/// Looks at what came in one read, from its first event on. A last Enter or Tab stays a key, so that what a program types is sent, or goes
/// to the next field.
fn of(read: &[Input]) -> Burst {
    let mut text: Vec<char> = read.iter().map_while(character).collect();
    let all = text.len();
    while matches!(text.last(), Some('\n' | '\t')) {
        text.pop();
    }
    let mut different = text.clone();
    different.sort_unstable();
    different.dedup();
    match text.len() {
        _ if all < 2 => Burst::Key,
        length if length >= TEXT && different.len() >= DIFFERENT => Burst::Text(text.iter().collect(), length),
        _ => Burst::Keys,
    }
}

/// The character that a key types.
fn character(input: &Input) -> Option<char> {
    let Input::Key(KeyEvent { code, modifiers, kind, .. }) = input else { return None };
    if *kind == KeyEventKind::Release || !(*modifiers - KeyModifiers::SHIFT).is_empty() {
        return None;
    }
    match code {
        KeyCode::Char(character) => Some(*character),
        KeyCode::Enter => Some('\n'),
        KeyCode::Tab => Some('\t'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Input> {
        let code = |character| match character {
            '\n' => KeyCode::Enter,
            '\t' => KeyCode::Tab,
            character => KeyCode::Char(character),
        };
        text.chars().map(|character| Input::Key(KeyEvent::new(code(character), KeyModifiers::NONE))).collect()
    }

    #[test]
    fn characters_of_one_read_are_text_and_never_keys_that_decide() {
        assert_eq!(of(&read("approve it\nnow\n")), Burst::Text("approve it\nnow".into(), 14));
        assert_eq!(of(&read("GJJ2")), Burst::Keys, "keys typed ahead move, and decide nothing");
        assert_eq!(of(&read("jjjjjjjj")), Burst::Keys, "a key that is held on a slow line moves");
        assert_eq!(of(&read("a")), Burst::Key);
        assert_eq!(of(&read("a\n")), Burst::Keys, "a line of one character is a line");
        assert_eq!(of(&read("\n")), Burst::Key);
        assert_eq!(of(&read("made.txt\t")), Burst::Text("made.txt".into(), 8), "the tab goes to the next field of a form");
    }

    #[test]
    fn a_key_with_a_modifier_ends_the_text() {
        let mut keys = read("some text");
        keys.push(Input::Key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)));
        keys.extend(read("more"));
        assert_eq!(of(&keys), Burst::Text("some text".into(), 9));
    }
}
