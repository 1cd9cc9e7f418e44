//! `KnownSecrets`: values that are never raw in journal, results or on a screen: every text has a marked piece with their name in their
//! place. The value goes back only into a call that was approved with the name shown.

use super::ToolError;
use crate::files;
use crate::text::{SECRET_END, SECRET_START, secret_mark, secret_names, without_marks};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{PoisonError, RwLock, RwLockReadGuard},
};

/// A shorter value is part of too many words.
const SHORTEST: usize = 8;
/// The shortest beginning of a secret that a text may not end with where it was cut.
const SHORTEST_PART: usize = 4;
/// The largest `.env` in bytes.
const ENV_BYTES: u64 = 1 << 20;

/// One secret.
#[derive(Clone, Debug, PartialEq, Eq)]
struct KnownSecret {
    name: String,
    value: String,
}

/// The secrets of one host. What was known once stays known.
#[derive(Debug, Default)]
pub struct KnownSecrets {
    /// Where `.env` is.
    workspace: PathBuf,
    /// Longest value first, so that a secret inside another one doesn't break it up.
    known: RwLock<Vec<KnownSecret>>,
}

impl KnownSecrets {
    /// Knows the variables whose names say that they are secret, and those of the workspace's `.env`.
    pub fn new(workspace: &Path, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let secrets = Self { workspace: workspace.to_owned(), known: RwLock::default() };
        secrets.learn_named(variables);
        secrets.read_workspace();
        secrets
    }

    /// Reads `.env` as it is now. One that can't be read has no secrets.
    pub fn read_workspace(&self) {
        self.learn_named(variables_of(&self.workspace));
    }

    fn learn_named(&self, variables: impl IntoIterator<Item = (String, String)>) {
        let ends = ["KEY", "TOKEN", "SECRET", "PASSWORD"];
        let secret = |name: &str| ends.iter().any(|end| name.to_ascii_uppercase().ends_with(end));
        variables.into_iter().filter(|(name, _)| secret(name)).for_each(|(name, value)| self.learn(&name, &value));
    }

    /// Knows a value from now on; too short ones and those that are known stay as they are.
    pub fn learn(&self, name: &str, value: &str) {
        let value = value.trim();
        if value.len() < SHORTEST || self.lock().iter().any(|secret| secret.value == value) {
            return;
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let at = known.partition_point(|secret| secret.value.len() >= value.len());
        known.insert(at, KnownSecret { name: without_marks(name).into_owned(), value: value.to_owned() });
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

    fn rewritten<T: Serialize + DeserializeOwned>(
        &self,
        data: T,
        calls: impl Fn(&Self, &str) -> bool,
        change: impl Fn(&Self, &mut Value),
    ) -> T {
        if !serde_json::to_string(&data).is_ok_and(|text| calls(self, &text)) {
            return data;
        }
        let Ok(mut value) = serde_json::to_value(&data) else { return data };
        change(self, &mut value);
        serde_json::from_value(value).unwrap_or(data)
    }

    /// Whether any secret is in a JSON text.
    fn occurs(&self, json: &str) -> bool {
        self.lock().iter().any(|secret| {
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

    /// Marks the secrets in a text.
    pub fn mask_text(&self, text: &mut String) {
        for secret in self.lock().iter() {
            if text.contains(&secret.value) {
                *text = text.replace(&secret.value, &secret_mark(&secret.name));
            }
        }
    }

    /// The same for the beginning of a longer text, which may end in the middle of a secret.
    pub fn mask_beginning(&self, text: &mut String) {
        self.mask_text(text);
        for secret in self.lock().iter() {
            let parts = secret.value.char_indices().map(|(at, _)| at).rev().filter(|at| *at >= SHORTEST_PART);
            if let Some(cut) = parts.into_iter().find(|&at| text.ends_with(&secret.value[..at])) {
                text.truncate(text.len() - cut);
                text.push_str(&secret_mark(&secret.name));
                return;
            }
        }
    }

    /// Arguments with the values in the place of their marks.
    ///
    /// # Errors
    /// When a marked secret isn't known here.
    pub fn put_in(&self, args: &Value) -> Result<Value, ToolError> {
        let names = names_in(args);
        let known = self.lock();
        if let Some(missing) = names.iter().find(|name| known.iter().all(|secret| secret.name != **name)) {
            return Err(ToolError::refused(format!("the secret `{missing}` is not known here"))
                .hint("set the variable, or write it into the workspace's .env"));
        }
        let mut filled = args.clone();
        for_each_text(&mut filled, &|text| {
            for secret in known.iter().filter(|secret| names.contains(&secret.name)) {
                *text = text.replace(&secret_mark(&secret.name), &secret.value);
            }
        });
        Ok(filled)
    }

    fn lock(&self) -> RwLockReadGuard<'_, Vec<KnownSecret>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }
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

/// The variables of a workspace's `.env`: `NAME=value`, perhaps behind `export`, perhaps in quotes.
pub fn variables_of(workspace: &Path) -> Vec<(String, String)> {
    let text = files::read_text(&workspace.join(".env"), ENV_BYTES).unwrap_or_default();
    let variable = |line: &str| {
        let (name, value) = line.trim().trim_start_matches("export ").split_once('=')?;
        let value = value.trim();
        let quoted = ['"', '\''].into_iter().find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
        Some((name.trim().to_owned(), quoted.unwrap_or(value).to_owned()))
    };
    text.lines().filter_map(variable).collect()
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
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
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
    fn a_text_that_was_cut_ends_with_no_part_of_a_secret() {
        let mut text = "KEY=k-1234".to_owned();
        secrets().mask_beginning(&mut text);
        assert_eq!(text, format!("KEY={}", secret_mark("API_KEY")));
    }

    #[test]
    fn the_variables_of_an_env_file_are_read_with_and_without_quotes() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(".env"), "# no\nA_KEY=one=two\nexport B_TOKEN=\"with space\"\n C = 'x' \n").unwrap();
        let read = variables_of(folder.path());
        let pairs: Vec<(&str, &str)> = read.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(pairs, [("A_KEY", "one=two"), ("B_TOKEN", "with space"), ("C", "x")]);
    }
}
