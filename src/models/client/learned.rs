//! What servers were found to take, by server and model, remembered across runs in one small file: versioned, private to the user, and
//! worth nothing when it is damaged.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fs::OpenOptions,
    io::Write,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::features::Features;
use crate::files;

/// The file's name in the state folder.
const FILE: &str = "servers.json";
const VERSION: u32 = 1;
/// The largest file that is read.
const LARGEST: u64 = 1 << 20;
/// After this long a server is asked anew: it may have been given more.
const KEPT_S: i64 = 30 * 24 * 3600;

/// How long a finding holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lasting {
    /// For this process: an answer was of no use, which may have been chance.
    ForNow,
    /// Across runs: the server refused.
    Kept,
}

/// What servers were found to take.
#[derive(Debug, Default)]
pub struct Learned {
    /// `None` where nothing is remembered.
    file: Option<PathBuf>,
    known: Mutex<Known>,
}

/// What is known, as the file has it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Known {
    version: u32,
    servers: Findings,
    /// Models that could plan only with numbered ids, each with the second since 1970 in which that was found.
    #[serde(default)]
    numbered: BTreeMap<String, i64>,
    /// Windows that servers named.
    #[serde(default)]
    windows: BTreeMap<String, NamedWindow>,
}

/// How many tokens a model takes in, as its server said.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct NamedWindow {
    /// Seconds since 1970.
    found: i64,
    tokens: u64,
}

/// By server and model: `api.openai.com gpt-4`.
type Findings = BTreeMap<String, LearnedFinding>;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct LearnedFinding {
    /// Seconds since 1970.
    found: i64,
    #[serde(flatten)]
    features: Features,
}

impl Learned {
    /// Remembers in a folder.
    pub fn open(folder: &Path) -> Self {
        let file = folder.join(FILE);
        Self { known: Mutex::new(read(&file, now())), file: Some(file) }
    }

    pub(super) fn of(&self, host: &str, model: &str) -> Option<Features> {
        self.lock().servers.get(&key(host, model)).map(|finding| finding.features.clone())
    }

    /// Keeps what a successful call showed. A file that can't be written costs a round trip next time, nothing more.
    pub(super) fn keep(&self, host: &str, model: &str, features: &Features, holds: Lasting) {
        let features = Features { cap_now: None, ..features.clone() };
        let finding = LearnedFinding { found: now(), features };
        let add = |known: &mut Known| {
            known.servers.insert(key(host, model), finding.clone());
        };
        add(&mut self.lock());
        if holds == Lasting::Kept {
            self.write(add);
        }
    }

    /// How many tokens a model takes in, as its server said last.
    pub(super) fn window(&self, host: &str, model: &str) -> Option<u64> {
        self.lock().windows.get(&key(host, model)).map(|window| window.tokens)
    }

    /// A server said how many tokens its models take in.
    pub(super) fn has_windows(&self, host: &str, windows: &[(String, u64)]) {
        let is_news = |(model, tokens): &&(String, u64)| self.window(host, model) != Some(*tokens);
        let news: Vec<_> = windows.iter().filter(is_news).collect();
        if news.is_empty() {
            return;
        }
        let add = |known: &mut Known| {
            let named = |(model, tokens): &&(String, u64)| (key(host, model), NamedWindow { found: now(), tokens: *tokens });
            known.windows.extend(news.iter().map(named));
        };
        add(&mut self.lock());
        self.write(add);
    }

    /// Whether a model could plan only with numbered ids.
    pub fn is_numbered(&self, host: &str, model: &str) -> bool {
        self.lock().numbered.contains_key(&key(host, model))
    }

    /// A model could plan only with numbered ids.
    pub fn needs_numbers(&self, host: &str, model: &str) {
        let add = |known: &mut Known| {
            known.numbered.insert(key(host, model), now());
        };
        add(&mut self.lock());
        self.write(add);
    }

    fn write(&self, add: impl Fn(&mut Known)) {
        if let Some(file) = &self.file
            && let Err(error) = write(file, add)
        {
            tracing::debug!(%error, file = %file.display(), "can't remember what a model's server takes");
        }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(host: &str, model: &str) -> String {
    format!("{host} {model}")
}

fn now() -> i64 {
    Timestamp::now().as_second()
}

fn read(file: &Path, now: i64) -> Known {
    let text = files::read_text(file, LARGEST).unwrap_or_default();
    let read: Option<Known> = serde_json::from_str(&text).ok();
    let mut known = read.filter(|read| read.version == VERSION).unwrap_or_default();
    known.servers.retain(|_, finding| now - finding.found < KEPT_S);
    known.windows.retain(|_, window| now - window.found < KEPT_S);
    known.numbered.retain(|_, found| now - *found < KEPT_S);
    known
}

/// Adds to what the file has by now: another process may have written. The file is replaced whole.
fn write(file: &Path, add: impl Fn(&mut Known)) -> std::io::Result<()> {
    let mut known = Known { version: VERSION, ..read(file, now()) };
    add(&mut known);
    let text = serde_json::to_string_pretty(&known)?;
    let part = file.with_extension(format!("{}.part", std::process::id()));
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&part)?.write_all(text.as_bytes())?;
    std::fs::rename(&part, file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn toolless() -> Features {
        Features { refuses_tools: true, largest_cap: Some(4096), ..Features::default() }
    }

    #[test]
    fn findings_outlive_the_process_and_are_private() {
        let folder = tempfile::tempdir().unwrap();
        let learned = Learned::open(folder.path());
        Learned::open(folder.path()).keep("h", "other", &Features::default(), Lasting::Kept);
        learned.keep("h", "m", &toolless(), Lasting::Kept);
        learned.keep("h", "chance", &toolless(), Lasting::ForNow);
        assert_eq!(learned.of("h", "chance"), Some(toolless()));
        let again = Learned::open(folder.path());
        assert_eq!((again.of("h", "m"), again.of("h", "other")), (Some(toolless()), Some(Features::default())));
        assert_eq!((again.of("h", "chance"), again.of("elsewhere", "m")), (None, None));
        let file = folder.path().join(FILE);
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert!(read(&file, now() + KEPT_S).servers.is_empty());
    }

    #[test]
    fn a_model_that_needs_numbered_ids_is_remembered_beside_what_its_server_takes() {
        let folder = tempfile::tempdir().unwrap();
        let learned = Learned::open(folder.path());
        learned.needs_numbers("h", "m");
        learned.keep("h", "m", &toolless(), Lasting::Kept);
        let again = Learned::open(folder.path());
        assert!(again.is_numbered("h", "m") && !again.is_numbered("h", "other"));
        assert_eq!(again.of("h", "m"), Some(toolless()));
        assert!(read(&folder.path().join(FILE), now() + KEPT_S).numbered.is_empty());
    }

    #[test]
    fn a_window_that_a_server_named_is_remembered_and_its_newest_word_holds() {
        let folder = tempfile::tempdir().unwrap();
        let learned = Learned::open(folder.path());
        learned.has_windows("h", &[("m".into(), 4_096), ("big".into(), 128_000)]);
        learned.has_windows("h", &[("m".into(), 8_192)]);
        let again = Learned::open(folder.path());
        assert_eq!((again.window("h", "m"), again.window("h", "big"), again.window("elsewhere", "m")), (Some(8_192), Some(128_000), None));
        assert!(read(&folder.path().join(FILE), now() + KEPT_S).windows.is_empty());
    }

    #[test]
    fn a_damaged_file_is_no_file() {
        let folder = tempfile::tempdir().unwrap();
        for text in ["{", "{\"version\": 9, \"servers\": {}}", "[]", "{\"version\": 1, \"servers\": {\"h m\": 3}}"] {
            std::fs::write(folder.path().join(FILE), text).unwrap();
            let learned = Learned::open(folder.path());
            assert_eq!(learned.of("h", "m"), None, "{text}");
            learned.keep("h", "m", &toolless(), Lasting::Kept);
            assert_eq!(Learned::open(folder.path()).of("h", "m"), Some(toolless()), "{text}");
        }
    }
}
