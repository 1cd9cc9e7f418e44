//! `Secrets`: takes what looks like a secret out of text that leaves the machine: known values, keys by their beginnings, private keys,
//! bearer tokens, passwords by the name before them, and passwords in addresses. Each one is counted.

use crate::text::{KEY_LENGTH, REDACTED, SECRET_PATTERNS, begins_as_key};
use serde_json::{Map, Value};

/// What JSON schemas call the kinds of values.
const KINDS: [&str; 7] = ["string", "number", "integer", "boolean", "array", "object", "null"];

/// A value behind such a name is at least this long.
const VALUE_LENGTH: usize = 4;

/// A value from the environment is at least this long; a shorter one stands in too many words.
const KNOWN_LENGTH: usize = 8;

#[derive(Clone, Debug, Default)]
pub struct Secrets {
    /// Values that are secret whatever they look like, longest first.
    known: Vec<String>,
}

impl Secrets {
    /// Knows those of this process's environment.
    pub fn of_process() -> Self {
        Self::of_environment(std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))))
    }

    /// Knows the values of variables whose names say that they are secret.
    fn of_environment(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let secret = |name: &str| {
            let name = name.to_ascii_lowercase();
            is_named(&name) || name.ends_with("_key") || name.ends_with("credentials")
        };
        let named = variables.into_iter().filter(|(name, value)| value.len() >= KNOWN_LENGTH && secret(name));
        let mut known: Vec<String> = named.map(|(_, value)| value).collect();
        known.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self { known }
    }

    /// Knows those of these variables, too.
    pub fn and(mut self, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        self.known.extend(Self::of_environment(variables).known);
        self.known.sort_by_key(|value| std::cmp::Reverse(value.len()));
        self
    }

    /// Cleans every text in a value; says how many secrets there were.
    pub fn clean(&self, value: &mut Value) -> u64 {
        match value {
            Value::String(text) => self.clean_text(text),
            Value::Array(items) => items.iter_mut().map(|item| self.clean(item)).sum(),
            Value::Object(fields) => {
                let renamed = self.clean_names(fields);
                let named = |name: &str, value: &Value| is_named(&name.to_ascii_lowercase()) && !is_schema(value);
                let cleaned = fields.iter_mut().map(|(name, value)| if named(name, value) { empty(value) } else { self.clean(value) });
                renamed + cleaned.sum::<u64>()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        }
    }

    /// A secret may be the name of a field itself.
    fn clean_names(&self, fields: &mut Map<String, Value>) -> u64 {
        let mut count = 0;
        let names: Vec<String> = fields.keys().filter(|name| name.len() >= KNOWN_LENGTH).cloned().collect();
        for name in names {
            let mut clean = name.clone();
            let found = self.clean_text(&mut clean);
            if found > 0
                && let Some(value) = fields.remove(&name)
            {
                count += found;
                fields.insert(clean, value);
            }
        }
        count
    }

    fn clean_text(&self, text: &mut String) -> u64 {
        let mut count = 0;
        for known in &self.known {
            let found = text.matches(known.as_str()).count();
            if found > 0 {
                *text = text.replace(known.as_str(), REDACTED);
                count += found as u64;
            }
        }
        let spans = spans(text);
        for span in spans.iter().rev() {
            text.replace_range(span.clone(), REDACTED);
        }
        count + spans.len() as u64
    }
}

/// Takes every text out of what stands behind a secret's name.
fn empty(value: &mut Value) -> u64 {
    match value {
        Value::String(text) if text.len() >= VALUE_LENGTH && text != REDACTED && !is_reference(text) => {
            REDACTED.clone_into(text);
            1
        }
        Value::Array(items) => items.iter_mut().map(empty).sum(),
        Value::Object(fields) => fields.values_mut().map(empty).sum(),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// Whether a value only describes a field of that name.
fn is_schema(value: &Value) -> bool {
    value.get("type").is_some_and(|kind| kind.as_str().is_some_and(|kind| KINDS.contains(&kind)) || kind.is_array())
}

/// Whether a text says where a value comes from, and not what it is.
fn is_reference(text: &str) -> bool {
    text.starts_with("{{") || text.starts_with('$')
}

fn is_named(name: &str) -> bool {
    let name = name.replace('-', "_");
    SECRET_PATTERNS.names.iter().any(|secret| name.ends_with(secret.as_str()))
}

/// Where secrets stand in a text, in order, apart from each other.
fn spans(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut spans: Vec<std::ops::Range<usize>> = private_keys(text);
    let mut before: Option<std::ops::Range<usize>> = None;
    for word in words(text) {
        let found = secret_word(text, before.as_ref(), &word).or_else(|| named_value(text, &word));
        before = Some(word);
        if let Some(found) = found.filter(|found| !text[found.start..].starts_with(REDACTED)) {
            spans.push(found);
        }
    }
    spans.sort_by_key(|span| span.start);
    let mut apart: Vec<std::ops::Range<usize>> = Vec::new();
    for span in spans {
        match apart.last_mut() {
            Some(last) if span.start < last.end => last.end = last.end.max(span.end),
            Some(_) | None => apart.push(span),
        }
    }
    apart
}

fn private_keys(text: &str) -> Vec<std::ops::Range<usize>> {
    const END: &str = "PRIVATE KEY-----";
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..].find("-----BEGIN ").map(|at| from + at) {
        let line = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let Some(head) = text[start..line.min(text.len())].find(END).map(|at| start + at + END.len()) else {
            from = start + 1;
            continue;
        };
        let end = text[head..].find(END).map_or(text.len(), |at| head + at + END.len());
        found.push(start..end);
        from = end;
    }
    found
}

/// Runs of letters that keys are made of.
fn words(text: &str) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
    let mut from = 0;
    std::iter::from_fn(move || {
        let part = |c: char| c.is_ascii_alphanumeric() || "-_./+~".contains(c);
        let start = from + text[from..].find(part)?;
        let end = text[start..].find(|c| !part(c)).map_or(text.len(), |at| start + at);
        from = end;
        Some(start..end)
    })
}

/// A word that is a secret by itself, or by the one before it.
fn secret_word(text: &str, before: Option<&std::ops::Range<usize>>, word: &std::ops::Range<usize>) -> Option<std::ops::Range<usize>> {
    let own = &text[word.clone()];
    if own.len() >= KEY_LENGTH && begins_as_key(own) {
        return Some(word.clone());
    }
    let before = before?;
    let between = &text[before.end..word.start];
    let scheme = text[before.clone()].to_ascii_lowercase();
    let header = || text[..before.start].trim_end_matches(|c| " :=\"'\\".contains(c)).to_ascii_lowercase().ends_with("authorization");
    let scheme = scheme == "bearer" || scheme == "basic" && header();
    let after_scheme = scheme && between.trim().is_empty() && own.len() >= KNOWN_LENGTH;
    // `--password VALUE`
    let option = text[before.clone()].starts_with("--") && is_named(&text[before.clone()].to_ascii_lowercase());
    let given = option && !between.is_empty() && between.trim().is_empty() && own.len() >= VALUE_LENGTH && !own.starts_with("--");
    if after_scheme || given && !text[..word.start].ends_with('$') {
        return Some(word.clone());
    }
    credentials(text, before, word)
}

/// The password of `https://user:password@host` and of `curl -u user:password`, whatever letters it has.
fn credentials(text: &str, user: &std::ops::Range<usize>, word: &std::ops::Range<usize>) -> Option<std::ops::Range<usize>> {
    let start = user.end + text[user.end..].strip_prefix(':').map(|_| 1)?;
    if word.start < start {
        return None;
    }
    let rest = &text[start..];
    let rest = &rest[..rest.find(|c: char| c.is_whitespace() || "\"'`<>".contains(c)).unwrap_or(rest.len())];
    let length = if text[user.clone()].starts_with("//") {
        let at = rest.find('@')?;
        if rest[..at].contains('/') {
            return None;
        }
        at
    } else {
        let before = text[..user.start].trim_end_matches(|c: char| c == ' ' || "\"'".contains(c));
        let option = before.rsplit(char::is_whitespace).next().is_some_and(|option| matches!(option, "-u" | "--user" | "--proxy-user"));
        if !option {
            return None;
        }
        rest.len()
    };
    (length > 0 && !is_reference(rest)).then_some(start..start + length)
}

/// The value behind a name that says that it is secret: `password: …`, `"api_key": "…"`, `TOKEN=…`.
fn named_value(text: &str, name: &std::ops::Range<usize>) -> Option<std::ops::Range<usize>> {
    if !is_named(&text[name.clone()].to_ascii_lowercase()) {
        return None;
    }
    let quotes = |c: char| "\"'`\\".contains(c);
    let behind = text[name.end..].trim_start_matches(|c| quotes(c) || c == ' ');
    let given = behind.strip_prefix([':', '='])?.trim_start_matches(' ');
    let value = given.trim_start_matches(|c| quotes(c) || c == ' ');
    let start = text.len() - value.len();
    // What is quoted ends with its quote; everything else with the word.
    let quoted = given[..given.len() - value.len()].chars().next_back().filter(|&c| quotes(c));
    let ends = |c: char| match quoted {
        Some(quote) => c == quote || c == '\\' || c == '\n',
        None => c.is_whitespace() || quotes(c) || ",;)}]&".contains(c),
    };
    let length = value.find(ends).unwrap_or(value.len());
    // `Authorization: Bearer …` is the bearer's matter, and a reference is no value.
    let first = value[..length].split(' ').next().unwrap_or_default();
    let scheme = ["bearer", "basic"].iter().any(|scheme| first.eq_ignore_ascii_case(scheme));
    (length >= VALUE_LENGTH && !scheme && !is_reference(value)).then_some(start..start + length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn cleaned(text: &str) -> (String, u64) {
        let mut value = Value::from(text);
        let secrets =
            Secrets::of_environment([("OPENAI_API_KEY".into(), "my-own-secret-value".into()), ("EDITOR".into(), "editor-name".into())]);
        let count = secrets.clean(&mut value);
        (value.as_str().unwrap().to_owned(), count)
    }

    #[test]
    fn what_looks_like_a_secret_goes_and_is_counted() {
        for (text, clean) in [
            ("key sk-abcdefghijklmnop1234 there", "key [redacted] there"),
            ("ghp_0123456789abcdefghij0123456789", "[redacted]"),
            ("Authorization: Bearer abc.def-ghi_jkl", "Authorization: Bearer [redacted]"),
            ("password=hun!ter2, user=anna", "password=[redacted], user=anna"),
            (r#"{"api_key": "value-1234", "n": 1}"#, r#"{"api_key": "[redacted]", "n": 1}"#),
            ("https://anna:letmein@example.org/x", "https://anna:[redacted]@example.org/x"),
            ("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nrest", "[redacted]\nrest"),
            ("-----BEGIN PRIVATE KEY-----\ncut off", "[redacted]"),
            ("it is my-own-secret-value.", "it is [redacted]."),
            ("Authorization: Basic dXNlcjpodW50ZXIy", "Authorization: Basic [redacted]"),
            ("postgres://u:s3cr%21t!$=x@db/name", "postgres://u:[redacted]@db/name"),
            ("curl -u anna:let%me!in https://example.org", "curl -u anna:[redacted] https://example.org"),
            ("curl --user 'anna:letmein' -v", "curl --user 'anna:[redacted]' -v"),
            ("login --password letmein now", "login --password [redacted] now"),
            ("DB_PASS=letmein", "DB_PASS=[redacted]"),
            ("P_PASSWORD='two words' rest", "P_PASSWORD='[redacted]' rest"),
            (r#"{"secret_key": "abcdefg"}"#, r#"{"secret_key": "[redacted]"}"#),
        ] {
            assert_eq!(cleaned(text), (clean.to_owned(), 1), "{text}");
        }
    }

    #[test]
    fn ordinary_text_stays() {
        for text in [
            "21 tokens, 3 secrets of good prose",
            "the token: no",
            "password: {{inputs.password}}",
            "export TOKEN=$OTHER",
            "editor-name",
            "time 12:30@noon",
            "sk-short",
            "-----BEGIN CERTIFICATE-----\nabc",
            "é password",
            "see https://example.org:8080/a@b",
            "run --token $TOKEN",
            "curl -u anna:$PASS https://example.org",
            "basic arithmetic",
        ] {
            assert_eq!(cleaned(text), (text.to_owned(), 0), "{text}");
        }
    }

    #[test]
    fn fields_are_known_by_their_names_at_any_depth() {
        let mut value = json!({"args": [{"Client-Secret": "abcd1234", "tokens": 12, "token": 7}], "text": "fine"});
        assert_eq!(Secrets::default().clean(&mut value), 1);
        assert_eq!(value, json!({"args": [{"Client-Secret": "[redacted]", "tokens": 12, "token": 7}], "text": "fine"}));
        assert_eq!(Secrets::default().clean(&mut value), 0, "what is gone is not counted again");
        let mut value = json!({"password": ["abcd"], "secret": {"value": "abcd"}, "token": {"type": "string", "description": "a token"},
            "sk-abcdefghijklmnop1234": 1, "args": {"password": "{{inputs.word}}"}});
        assert_eq!(Secrets::default().clean(&mut value), 3);
        assert_eq!(
            value,
            json!({"password": [REDACTED], "secret": {"value": REDACTED}, "token": {"type": "string", "description": "a token"},
            "[redacted]": 1, "args": {"password": "{{inputs.word}}"}})
        );
    }
}
