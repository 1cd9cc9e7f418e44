//! `KnownSecrets`: values that are never raw in journal, results or on a screen: every text has a marked piece with their name in their
//! place. The value goes back only into a call that was approved with the name shown.

use super::ToolError;
use super::env_file::{EnvFile, EnvVariable};
use crate::text::{SECRET_END, SECRET_START, TEXT_CUT, secret_mark, secret_names, without_marks};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use std::{
    collections::{BTreeSet, HashMap, HashSet},
    path::{Path, PathBuf},
    sync::{PoisonError, RwLock, RwLockReadGuard},
};

/// A shorter value is part of too many words.
const SHORTEST: usize = 8;
/// So many secrets of a `.env` are known: each text is searched for all of them.
const MOST_OF_FILE: usize = 1000;
/// The shortest piece of a secret that a cut may not leave.
const SHORTEST_PIECE: usize = 4;

#[derive(Clone, Debug, PartialEq, Eq)]
struct KnownSecret {
    name: String,
    value: String,
    /// Stands for bytes that are no text, so it is never put in.
    is_lossy: bool,
}

/// The secrets of one host. What was known once stays known.
#[derive(Debug, Default)]
pub struct KnownSecrets {
    /// Where `.env` is.
    workspace: PathBuf,
    known: RwLock<SecretList>,
}

#[derive(Debug, Default)]
struct SecretList {
    /// Longest value first, so that a secret inside another one doesn't break it up.
    secrets: Vec<KnownSecret>,
    values: HashSet<String>,
    /// How many values each name has.
    names: HashMap<String, usize>,
}

impl KnownSecrets {
    /// Knows the variables whose names say that they are secret, and those of the workspace's `.env`.
    pub fn new(workspace: &Path, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let secrets = Self { workspace: workspace.to_owned(), known: RwLock::default() };
        variables.into_iter().filter(|(name, _)| is_secret(name)).for_each(|(name, value)| secrets.learn(&name, &value));
        secrets.read_workspace();
        secrets
    }

    /// As `new`, with the variables of this process.
    pub fn of_process(workspace: &Path) -> Self {
        Self::new(workspace, std::env::vars_os().filter_map(|(name, value)| name.into_string().ok().zip(value.into_string().ok())))
    }

    /// Reads `.env` as it is now. One that tools can't read either has no secrets.
    pub fn read_workspace(&self) {
        for variable in secrets_of(&EnvFile::read(&self.workspace).unwrap_or_default()).take(MOST_OF_FILE) {
            self.learn(&variable.name, &variable.value);
            self.know_spellings(&variable.name, "in .env", &variable.spellings);
        }
    }

    /// Knows a value from now on, with the ways in which programs write it; too short ones and those that are known stay as they are.
    pub fn learn(&self, name: &str, value: &str) {
        let value = value.trim();
        self.know(name, value);
        if value.len() >= SHORTEST {
            let spelled = percent_encoded(value);
            let plus = spelled.replace("%20", "+");
            self.know_spellings(name, "in an address", &[spelled, plus]);
            self.know_spellings(name, "in Base64", &base64_pieces(value.as_bytes()));
            self.know_spellings(name, "in JSON", &json_spellings(value));
            self.know_spellings(name, "in capitals", &[value.to_uppercase()]);
            self.know_spellings(name, "in small letters", &[value.to_lowercase()]);
            self.know_spellings(name, "reversed", &[value.chars().rev().collect()]);
            // A tool may give one line of it.
            let lines: Vec<String> = value.lines().map(|line| line.trim().to_owned()).filter(|line| line != value).collect();
            self.know_spellings(name, "line", &lines);
        }
    }

    /// Knows what a server is given by this name, if it may be a secret: as a variable that says so, or as a header.
    pub(super) fn learn_of_server(&self, name: &str, value: &str) {
        let is_header = name.contains('-') || name.eq_ignore_ascii_case("authorization") || name.eq_ignore_ascii_case("cookie");
        if is_header || is_secret(name) {
            self.learn(name, value.strip_prefix("Bearer ").or_else(|| value.strip_prefix("Basic ")).unwrap_or(value));
        }
    }

    /// Other ways to write a secret. Each has a name of its own, so that what is put in is what stood there.
    fn know_spellings(&self, name: &str, how: &str, spellings: &[String]) {
        for (at, spelling) in spellings.iter().enumerate() {
            let number = if at == 0 && how != "line" { String::new() } else { format!(" {}", at + 1) };
            self.know(&format!("{name}, {how}{number}"), spelling);
        }
    }

    fn know(&self, name: &str, value: &str) {
        if value.len() < SHORTEST || self.lock().values.contains(value) {
            return;
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        // Of another value of the same name, too, what was read is what is put in.
        let name = without_marks(name).into_owned();
        let values = known.names.entry(name.clone()).or_default();
        *values += 1;
        let name = if *values == 1 { name } else { format!("{name}, value {values}") };
        known.values.insert(value.to_owned());
        let at = known.secrets.partition_point(|secret| secret.value.len() >= value.len());
        let is_lossy = value.contains(char::REPLACEMENT_CHARACTER);
        known.secrets.insert(at, KnownSecret { name, value: value.to_owned(), is_lossy });
    }

    /// Data of this program with its secrets marked.
    pub fn masked<T: Serialize + DeserializeOwned>(&self, data: T) -> T {
        self.rewritten(data, |secrets, text| secrets.occurs(text), |secrets, value| for_each_text(value, &|text| secrets.mask_text(text)))
    }

    /// A document from outside with its secrets marked; what looks like a mark in it is none.
    pub fn sealed<T: Serialize + DeserializeOwned>(&self, data: T) -> T {
        let has_mark = |secrets: &Self, text: &str| text.contains([SECRET_START, SECRET_END]) || secrets.occurs(text);
        self.rewritten(data, has_mark, Self::seal)
    }

    fn rewritten<T>(&self, data: T, calls: impl Fn(&Self, &str) -> bool, change: impl Fn(&Self, &mut Value)) -> T
    where
        T: Serialize + DeserializeOwned,
    {
        if !serde_json::to_string(&data).is_ok_and(|text| calls(self, &text)) {
            return data;
        }
        let Ok(mut value) = serde_json::to_value(&data) else { return data };
        change(self, &mut value);
        serde_json::from_value(value).unwrap_or(data)
    }

    /// Whether any secret is in a JSON text.
    fn occurs(&self, json: &str) -> bool {
        self.lock().secrets.iter().any(|secret| {
            let spelled = Value::from(secret.value.as_str()).to_string();
            json.contains(spelled.trim_matches('"'))
        })
    }

    /// A value from outside with its secrets marked; what looks like a mark in it is none.
    pub fn seal(&self, value: &mut Value) {
        for_each_text(value, &|text| {
            *text = without_marks(text).into_owned();
            self.mask_text(text);
        });
    }

    /// Marks the secrets in a text, and the pieces of secrets that its cuts left.
    pub fn mask_text(&self, text: &mut String) {
        let known = self.lock();
        for secret in &known.secrets {
            if text.contains(&secret.value) {
                *text = text.replace(&secret.value, &secret_mark(&secret.name));
            }
        }
        while let Some((before, behind)) = text.split_once(TEXT_CUT) {
            let end = longest_piece(&known.secrets, |value, at| Some(&value[..at]).filter(|piece| before.ends_with(*piece)));
            let start = longest_piece(&known.secrets, |value, at| Some(&value[at..]).filter(|piece| behind.starts_with(*piece)));
            let mark = |piece: Option<(usize, &str)>| piece.map(|(_, name)| secret_mark(name)).unwrap_or_default();
            let length = |piece: Option<(usize, &str)>| piece.map_or(0, |(length, _)| length);
            *text = [&before[..before.len() - length(end)], &mark(end), &mark(start), &behind[length(start)..]].concat();
        }
    }

    /// A line from outside with its end and its secrets marked, which may have been cut in the middle of one.
    pub fn sealed_line(&self, line: &str, is_cut: bool) -> String {
        let mut text = without_marks(line).into_owned();
        if is_cut {
            text.extend([TEXT_CUT, '…']);
        }
        self.mask_text(&mut text);
        text + "\n"
    }

    /// Arguments with the values in the place of their marks.
    ///
    /// # Errors
    /// When a marked secret isn't known here.
    pub fn put_in(&self, args: &Value) -> Result<Value, ToolError> {
        let names = names_in(args);
        let known = self.lock();
        if let Some(missing) = names.iter().find(|name| known.secrets.iter().all(|secret| secret.is_lossy || secret.name != **name)) {
            return Err(ToolError::refused(format!("the secret `{missing}` is not known here"))
                .hint("set the variable, or write it into the workspace's .env"));
        }
        let mut filled = args.clone();
        for_each_text(&mut filled, &|text| {
            for secret in known.secrets.iter().filter(|secret| !secret.is_lossy && names.contains(&secret.name)) {
                *text = text.replace(&secret_mark(&secret.name), &secret.value);
            }
        });
        Ok(filled)
    }

    fn lock(&self) -> RwLockReadGuard<'_, SecretList> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The variables of a workspace's `.env`, as it is now.
pub fn workspace_variables(workspace: &Path) -> Vec<(String, String)> {
    let file = EnvFile::read(workspace).unwrap_or_default();
    file.variables.into_iter().map(|variable| (variable.name, variable.value)).collect()
}

/// Why secrets in a workspace's `.env` aren't known, although tools can read it.
pub fn unknown_secrets(workspace: &Path) -> Option<String> {
    let file = match EnvFile::read(workspace) {
        Ok(file) => file,
        Err(problem) => return problem,
    };
    let more = |next: &EnvVariable| format!("`.env`: the secrets from {} on, after {MOST_OF_FILE} others, are not hidden", next.name);
    secrets_of(&file).nth(MOST_OF_FILE).map(more).or_else(|| file.not_understood())
}

fn secrets_of(file: &EnvFile) -> impl Iterator<Item = &EnvVariable> {
    file.variables.iter().filter(|variable| is_secret(&variable.name) && variable.value.trim().len() >= SHORTEST)
}

/// The longest piece of a secret that fits a place, as its length and the secret's name.
fn longest_piece<'a>(known: &'a [KnownSecret], piece: impl Fn(&'a str, usize) -> Option<&'a str>) -> Option<(usize, &'a str)> {
    let pieces = known
        .iter()
        .flat_map(|secret| secret.value.char_indices().filter_map(|(at, _)| Some((piece(&secret.value, at)?.len(), secret.name.as_str()))));
    pieces.filter(|(length, _)| *length >= SHORTEST_PIECE).min_by_key(|(length, _)| std::cmp::Reverse(*length))
}

/// Names of the secrets in a value, each once.
pub fn names_in(value: &Value) -> BTreeSet<String> {
    match value {
        Value::String(text) => secret_names(text).map(str::to_owned).collect(),
        Value::Array(list) => list.iter().flat_map(names_in).collect(),
        Value::Object(map) => map.values().flat_map(names_in).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => BTreeSet::new(),
    }
}

fn is_secret(name: &str) -> bool {
    ["KEY", "TOKEN", "SECRET", "PASSWORD"].iter().any(|end| name.to_ascii_uppercase().ends_with(end))
}

/// RFC 3986, section 2.1: everything but unreserved characters is encoded.
fn percent_encoded(text: &str) -> String {
    let one = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    text.bytes().map(one).collect()
}

/// How JSON has a text between its quotes: only what must be escaped, or all that is not ASCII, perhaps in capitals or with slashes too.
fn json_spellings(text: &str) -> Vec<String> {
    let quoted = Value::from(text).to_string();
    let least = &quoted[1..quoted.len() - 1];
    let ascii = |escape: fn(u16) -> String| {
        let one =
            |c: char| if c.is_ascii() { c.to_string() } else { c.encode_utf16(&mut [0; 2]).iter().map(|unit| escape(*unit)).collect() };
        least.chars().map(one).collect::<String>()
    };
    let spellings = [least.to_owned(), ascii(|unit| format!("\\u{unit:04x}")), ascii(|unit| format!("\\u{unit:04X}"))];
    spellings.iter().flat_map(|spelling| [spelling.clone(), spelling.replace('/', "\\/")]).collect()
}

/// What the Base64 of any text with these bytes in it holds: by itself, and without the letters that depend on what is beside it,
/// for each place in a group of three bytes.
fn base64_pieces(bytes: &[u8]) -> Vec<String> {
    let own = base64(bytes).trim_end_matches('=').to_owned();
    let piece = |before: usize| {
        let text = base64(&[&[0; 2][..before], bytes].concat());
        // A letter holds six bits.
        let (start, end) = ((before * 8).div_ceil(6), (before + bytes.len()) * 8 / 6);
        text[start..end].to_owned()
    };
    [own].into_iter().chain([0, 1, 2].map(piece)).collect()
}

/// RFC 4648, section 4, with padding.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |chunk: &[u8]| {
        let bits = chunk.iter().chain([0, 0].iter()).take(3).fold(0_usize, |bits, byte| bits << 8 | usize::from(*byte));
        (0..4).map(move |at| if at <= chunk.len() { char::from(LETTERS[bits >> (18 - 6 * at) & 63]) } else { '=' }).collect::<String>()
    };
    bytes.chunks(3).map(group).collect()
}

/// Goes through the texts of a value, names of fields too.
fn for_each_text(value: &mut Value, change: &impl Fn(&mut String)) {
    match value {
        Value::String(text) => change(text),
        Value::Array(list) => list.iter_mut().for_each(|item| for_each_text(item, change)),
        Value::Object(map) => {
            map.values_mut().for_each(|item| for_each_text(item, change));
            let renamed = |name: &String| {
                let mut own = name.clone();
                change(&mut own);
                own
            };
            if map.keys().any(|name| renamed(name) != *name) {
                *map = std::mem::take(map).into_iter().map(|(name, item)| (renamed(&name), item)).collect::<Map<_, _>>();
            }
        }
        // A secret of digits may stand as a number.
        Value::Number(number) => {
            let digits = number.to_string();
            let mut text = digits.clone();
            change(&mut text);
            if text != digits {
                *value = Value::String(text);
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn secrets() -> KnownSecrets {
        let named = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        KnownSecrets::new(
            Path::new("/nowhere"),
            [
                named("API_KEY", "k-12345678"),
                named("SHORT_KEY", "k-1"),
                named("EDITOR", "nano-editor"),
                named("MY_TOKEN", "say \"yes\" now"),
            ],
        )
    }

    #[test]
    fn a_known_secret_is_a_marked_piece_wherever_it_stands() {
        let mut value = json!({"text": "use k-12345678 and nano-editor k-1", "k-12345678": ["say \"yes\" now"]});
        secrets().seal(&mut value);
        let mark = secret_mark("API_KEY");
        assert_eq!(value, json!({"text": format!("use {mark} and nano-editor k-1"), mark: [secret_mark("MY_TOKEN")]}));
        let typed: Vec<String> = secrets().masked(vec!["say \"yes\" now".to_owned(), "plain".to_owned()]);
        assert_eq!(typed, [secret_mark("MY_TOKEN"), "plain".to_owned()]);
    }

    #[test]
    fn a_value_that_changed_is_put_in_as_it_was_when_it_was_read() {
        let secrets = secrets();
        let mut before = json!("API_KEY=k-12345678");
        secrets.seal(&mut before);
        secrets.learn("API_KEY", "k-87654321");
        let mut after = json!("API_KEY=k-87654321");
        secrets.seal(&mut after);
        assert_eq!(secrets.put_in(&before).unwrap(), "API_KEY=k-12345678");
        assert_eq!(secrets.put_in(&after).unwrap(), "API_KEY=k-87654321");
    }

    #[test]
    fn text_that_reads_like_a_mark_is_data() {
        let mut value = json!([format!("{}", secret_mark("API_KEY")), "${secret:API_KEY}", "[secret API_KEY]"]);
        secrets().seal(&mut value);
        assert!(names_in(&value).is_empty(), "{value}");
        assert_eq!(secrets().put_in(&value).unwrap(), value);
    }

    #[test]
    fn a_value_is_put_in_for_its_mark_and_for_nothing_else() {
        let args = json!({"content": format!("KEY={}", secret_mark("API_KEY"))});
        assert_eq!(names_in(&args).into_iter().collect::<Vec<_>>(), ["API_KEY"]);
        assert_eq!(secrets().put_in(&args).unwrap(), json!({"content": "KEY=k-12345678"}));
        assert!(secrets().put_in(&json!(secret_mark("OTHER_KEY"))).unwrap_err().message.contains("OTHER_KEY"));
    }

    #[test]
    fn a_cut_leaves_no_piece_of_a_secret() {
        let mut text = format!("KEY=k-1234{TEXT_CUT} [left out] {TEXT_CUT}5678 and k-12{TEXT_CUT}");
        secrets().mask_text(&mut text);
        let mark = secret_mark("API_KEY");
        assert_eq!(text, format!("KEY={mark} [left out] {mark} and {mark}"));
        text = format!("k-1{TEXT_CUT}678");
        secrets().mask_text(&mut text);
        assert_eq!(text, "k-1678", "a piece of three characters tells nothing");
        assert_eq!(secrets().sealed_line("KEY=k-1234", true), format!("KEY={mark}…\n"));
        assert_eq!(secrets().sealed_line("KEY=k-1234", false), "KEY=k-1234\n");
    }

    #[test]
    fn a_secret_is_known_where_it_is_written_as_json() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(".env"), "P_PASSWORD=\"pä/ss\\nw\\\"ord\\\\x\"\n").unwrap();
        let secrets = KnownSecrets::new(folder.path(), []);
        for written in [r#"{"p": "pä/ss\nw\"ord\\x"}"#, r#"p\u00e4/ss\nw\"ord\\x"#, r#"p\u00E4\/ss\nw\"ord\\x"#] {
            let mut text = written.to_owned();
            secrets.mask_text(&mut text);
            assert!(!text.contains("ss") && secret_names(&text).any(|name| name.starts_with("P_PASSWORD")), "{text}");
        }
    }

    #[test]
    fn what_is_read_from_an_env_file_and_put_in_again_is_the_same_text() {
        let folder = tempfile::tempdir().unwrap();
        let text = "F_KEY=a1b2c3d4e5 # comment\nDB_PASSWORD=\"p@ss w0rd9\"\nE_SECRET='es\\\"caped\\\\x'\nX_KEY=${F_KEY}-abcdef\n\
            OPEN_KEY=\"never-closed\nM_KEY=\"first-line\nsecond-line\"\n";
        std::fs::write(folder.path().join(".env"), text).unwrap();
        let secrets = KnownSecrets::new(folder.path(), []);
        let encoded = percent_encoded("p@ss w0rd9");
        for text in [text, &text.replace('\n', "\r\n"), "second-line", &encoded, &Value::from("es\"caped\\x").to_string()] {
            let mut value = json!(text);
            secrets.seal(&mut value);
            let marked = value.as_str().unwrap().to_owned();
            assert!(!["a1b2c3", "w0rd9", "caped", "abcdef", "never", "second"].iter().any(|piece| marked.contains(piece)), "{marked}");
            assert_eq!(secrets.put_in(&value).unwrap(), json!(text), "{marked}");
        }
    }

    #[test]
    fn a_secret_is_known_as_programs_spell_it_and_put_in_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let text = "R_SECRET=\"es\\\"cRRRR1234\\\\x\"\nN_KEY=1234567890\nW_KEY=wwww\\ wwww1234\nJ_KEY=commented-JJJJ1234 # prod key\n";
        std::fs::write(folder.path().join(".env"), text).unwrap();
        let secrets = KnownSecrets::new(folder.path(), []);
        let mut value = json!([text, "es\"cRRRR1234\\x", 1_234_567_890_u64, "wwww+wwww1234", "wwww%20wwww1234", "d3d3dyB3d3d3MTIzNA=="]);
        secrets.seal(&mut value);
        let shown = value.to_string();
        for part in ["RRRR", "1234567890", "wwww", "d3d3", "JJJJ"] {
            assert!(!shown.contains(part), "{part}: {shown}");
        }
        assert_eq!(secrets.put_in(&json!(secret_mark("W_KEY"))).unwrap(), "wwww wwww1234");
        let mut otherwise = json!("WWWW WWWW1234, 4321wwww wwww");
        secrets.seal(&mut otherwise);
        assert_eq!(otherwise, json!(format!("{}, {}", secret_mark("W_KEY, in capitals"), secret_mark("W_KEY, reversed"))));
        assert_eq!(base64(b"ab"), "YWI=");
        for before in ["", "x", "xy"] {
            let mut value = json!(base64(format!("{before}wwww wwww1234 and more").as_bytes()));
            secrets.seal(&mut value);
            assert!(value.to_string().contains("W_KEY"), "{before}: {value}");
        }
    }

    #[test]
    fn an_env_file_of_any_content_is_read_at_once_or_its_problem_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(".env");
        let lines: String = (0..20_000).map(|at| format!("K{at}_KEY=valueofkey{at}\n")).collect();
        let doubled: String = (1..60).map(|at| format!("V{at}_KEY=${{V{}_KEY}}${{V{}_KEY}}\n", at - 1, at - 1)).collect();
        let many = "`.env`: the secrets from K1000_KEY on, after 1000 others, are not hidden";
        let open = "`.env`: line 2 and 199999 more can't be read as `NAME=value`, so a secret there is not hidden";
        for (text, message) in [
            (lines, Some(many)),
            (format!("A_KEY=\"\n{}", "x\n".repeat(200_000)), Some(open)),
            (format!("V0_KEY=0123456789\n{doubled}"), None),
            ("x".repeat((1 << 20) + 1), Some("the secrets in `.env` are not known, so they are not hidden: it is larger than 1 MiB")),
        ] {
            std::fs::write(&file, text).unwrap();
            let secrets = KnownSecrets::new(folder.path(), []);
            assert_eq!(unknown_secrets(folder.path()).as_deref(), message);
            assert!(secrets.lock().secrets.len() < 20_000);
        }
        std::fs::remove_file(&file).unwrap();
        assert_eq!(unknown_secrets(folder.path()), None);
        std::fs::create_dir(&file).unwrap();
        let message = "the secrets in `.env` are not known, so they are not hidden: it is a folder";
        assert_eq!(unknown_secrets(folder.path()).as_deref(), Some(message));
    }
}
