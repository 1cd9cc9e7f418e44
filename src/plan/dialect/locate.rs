//! Where paths of a JSON document are in its text. The text is known to be JSON; a path that leads to nothing ends at the nearest thing
//! around.

use serde_json::Value;
use std::collections::BTreeMap;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PathStep {
    Key(String),
    Index(usize),
}

/// The steps of a path such as `nodes[2].args` or `stages["a b"].type`; ends at the first thing that is no step.
pub(super) fn steps(path: &str) -> Vec<PathStep> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let mut quoted = serde_json::Deserializer::from_str(inner).into_iter::<String>();
            let (step, taken) = match quoted.next() {
                Some(Ok(key)) => (PathStep::Key(key), quoted.byte_offset()),
                _ => {
                    let digits = inner.find(']').unwrap_or(inner.len());
                    let Ok(index) = inner[..digits].parse() else { return steps };
                    (PathStep::Index(index), digits)
                }
            };
            steps.push(step);
            rest = inner[taken..].strip_prefix(']').unwrap_or_default();
        } else {
            let name = rest.strip_prefix('.').unwrap_or(rest);
            let end = name.find(['.', '[']).unwrap_or(name.len());
            steps.push(PathStep::Key(name[..end].to_owned()));
            rest = &name[end..];
        }
    }
    steps
}

/// Line and column, from 1, of the values that several paths lead to (`nodes[2].args`), in one pass over the text.
pub(super) fn locate<'p>(text: &str, paths: impl Iterator<Item = &'p str>) -> Vec<(usize, usize)> {
    let paths: Vec<Vec<PathStep>> = paths.map(steps).collect();
    lines(text, &starts(text, &paths))
}

/// The first byte of each of these values.
pub(super) fn starts(text: &str, paths: &[Vec<PathStep>]) -> Vec<usize> {
    let mut wanted = WantedPath::default();
    paths.iter().enumerate().for_each(|(at, path)| wanted.add(path, at));
    let mut walk = PathSearch { text, at: 0, found: vec![0; paths.len()] };
    walk.space();
    walk.find(&wanted);
    walk.found
}

/// Line and column of each of these bytes. They are gone through in their order in the text, so that a long line is counted once.
fn lines(text: &str, bytes: &[usize]) -> Vec<(usize, usize)> {
    let mut order: Vec<usize> = (0..bytes.len()).collect();
    order.sort_unstable_by_key(|&i| bytes[i]);
    let mut places = vec![(1, 1); bytes.len()];
    let (mut here, mut place) = (0, (1, 1));
    for i in order {
        for c in text.get(here..bytes[i]).unwrap_or_default().chars() {
            place = if c == '\n' { (place.0 + 1, 1) } else { (place.0, place.1 + 1) };
        }
        (here, places[i]) = (bytes[i], place);
    }
    places
}

/// What is looked for below a value: by key or position, and which paths end here.
#[derive(Default)]
struct WantedPath {
    paths: Vec<usize>,
    keys: BTreeMap<String, WantedPath>,
    items: BTreeMap<usize, WantedPath>,
}

impl WantedPath {
    fn add(&mut self, steps: &[PathStep], path: usize) {
        let below = match steps.first() {
            None => return self.paths.push(path),
            Some(PathStep::Key(key)) => self.keys.entry(key.clone()).or_default(),
            Some(PathStep::Index(index)) => self.items.entry(*index).or_default(),
        };
        below.add(&steps[1..], path);
    }

    /// All paths that end here or below.
    fn all(&self, of: &mut impl FnMut(usize)) {
        self.paths.iter().for_each(|&path| of(path));
        self.keys.values().chain(self.items.values()).for_each(|below| below.all(of));
    }
}

struct PathSearch<'a> {
    text: &'a str,
    at: usize,
    /// Where each path leads, as far as that is known: the byte of the nearest thing around it.
    found: Vec<usize>,
}

impl PathSearch<'_> {
    /// Steps over the value here, and notes what is wanted of it.
    fn find(&mut self, wanted: &WantedPath) {
        wanted.all(&mut |path| self.found[path] = self.at);
        match self.byte() {
            Some(b'{') if !wanted.keys.is_empty() => self.object(wanted),
            Some(b'[') if !wanted.items.is_empty() => self.list(wanted),
            Some(_) | None => self.value(),
        }
    }

    /// Of several entries with the same key the last one counts.
    fn object(&mut self, wanted: &WantedPath) {
        self.take(b'{');
        while self.byte() == Some(b'"') {
            let from = self.at;
            self.text();
            let key = self.text.get(from..self.at).and_then(|key| serde_json::from_str::<String>(key).ok());
            self.take(b':');
            match key.and_then(|key| wanted.keys.get(&key)) {
                Some(below) => self.find(below),
                None => self.value(),
            }
            if self.take(b',').is_none() {
                break;
            }
        }
        self.take(b'}');
    }

    fn list(&mut self, wanted: &WantedPath) {
        self.take(b'[');
        let mut index = 0;
        while self.byte().is_some_and(|byte| byte != b']') {
            match wanted.items.get(&index) {
                Some(below) => self.find(below),
                None => self.value(),
            }
            index += 1;
            if self.take(b',').is_none() {
                break;
            }
        }
        self.take(b']');
    }

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

pub(super) fn at<'v>(value: &'v Value, way: &[PathStep]) -> Option<&'v Value> {
    way.iter().try_fold(value, |value, step| match step {
        PathStep::Key(key) => value.get(key),
        PathStep::Index(index) => value.get(index),
    })
}

pub(super) fn at_mut<'v>(value: &'v mut Value, way: &[PathStep]) -> Option<&'v mut Value> {
    way.iter().try_fold(value, |value, step| match step {
        PathStep::Key(key) => value.get_mut(key),
        PathStep::Index(index) => value.get_mut(*index),
    })
}
