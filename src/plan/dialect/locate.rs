//! Where a path of a JSON document stands in its text. The text is known to be JSON; a path that leads to nothing ends at the nearest
//! thing around.

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Into an object.
    Key(String),
    /// Into a list.
    Index(usize),
}

/// The steps of a path such as `nodes[2].args` or `stages["a b"].type`; ends at the first thing that is no step.
pub(super) fn steps(path: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let mut quoted = serde_json::Deserializer::from_str(inner).into_iter::<String>();
            let (step, taken) = match quoted.next() {
                Some(Ok(key)) => (Step::Key(key), quoted.byte_offset()),
                _ => {
                    let digits = inner.find(']').unwrap_or(inner.len());
                    let Ok(index) = inner[..digits].parse() else { return steps };
                    (Step::Index(index), digits)
                }
            };
            steps.push(step);
            rest = inner[taken..].strip_prefix(']').unwrap_or_default();
        } else {
            let name = rest.strip_prefix('.').unwrap_or(rest);
            let end = name.find(['.', '[']).unwrap_or(name.len());
            steps.push(Step::Key(name[..end].to_owned()));
            rest = &name[end..];
        }
    }
    steps
}

/// Line and column, from 1, of the value that `path` leads to (`nodes[2].args`).
pub(super) fn locate(text: &str, path: &str) -> Option<(usize, usize)> {
    let mut walk = Walk { text, at: 0 };
    walk.space();
    for step in steps(path) {
        let here = walk.at;
        let entered = match step {
            Step::Index(index) => walk.enter_list(index),
            Step::Key(key) => walk.enter_object(&key),
        };
        if entered.is_none() {
            walk.at = here;
            break;
        }
    }
    let before = text.get(..walk.at)?;
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    Some((line, column))
}

struct Walk<'a> {
    text: &'a str,
    at: usize,
}

impl Walk<'_> {
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while self.byte().is_some_and(|b| b.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn take(&mut self, wanted: u8) -> Option<()> {
        self.space();
        let found = self.byte() == Some(wanted);
        self.at += usize::from(found);
        self.space();
        found.then_some(())
    }

    /// Stands at the value of the last such key, which is the one that counts.
    fn enter_object(&mut self, key: &str) -> Option<()> {
        self.take(b'{')?;
        let mut found = None;
        while self.byte()? == b'"' {
            let from = self.at;
            self.text();
            let name: String = serde_json::from_str(self.text.get(from..self.at)?).ok()?;
            self.take(b':')?;
            if name == key {
                found = Some(self.at);
            }
            self.value();
            if self.take(b',').is_none() {
                break;
            }
        }
        self.at = found?;
        Some(())
    }

    fn enter_list(&mut self, index: usize) -> Option<()> {
        self.take(b'[')?;
        for _ in 0..index {
            self.value();
            self.take(b',')?;
        }
        self.byte().filter(|byte| *byte != b']').map(drop)
    }

    fn text(&mut self) {
        self.at += 1;
        while let Some(byte) = self.byte() {
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == b'"' {
                return;
            }
        }
    }

    /// Steps over one value.
    fn value(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.byte() {
            match byte {
                b'"' => {
                    self.text();
                    if depth == 0 {
                        return;
                    }
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' if depth <= 1 => {
                    self.at += depth;
                    return;
                }
                b'}' | b']' => depth -= 1,
                b',' if depth == 0 => return,
                _ => {}
            }
            self.at += 1;
        }
    }
}
