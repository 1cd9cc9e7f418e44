//! JSON that was edited, in the text that it came from: what nobody changed stays letter for letter, with its line breaks, spaces and
//! spellings of numbers.

use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// The text with another value in it. Nothing where the text isn't plain JSON, or has a key twice in an object.
pub(super) fn spliced(text: &str, value: &Value) -> Option<String> {
    let old: Value = serde_json::from_str(text).ok()?;
    let start = text.len() - text.trim_start().len();
    let body = text.trim();
    let written = Splice { text: body }.value(0..body.len(), &old, value)?;
    let whole = format!("{}{written}{}", &text[..start], &text[start + body.len()..]);
    serde_json::from_str::<Value>(&whole).is_ok_and(|read| read == *value).then_some(whole)
}

struct Splice<'t> {
    text: &'t str,
}

/// The entries of an object or list in the text: each with its key, if it has one, and its value.
struct Entries {
    keys: Vec<Range<usize>>,
    values: Vec<Range<usize>>,
}

impl Splice<'_> {
    /// The text for `new` in the place of `span`, which means `old`.
    fn value(&self, span: Range<usize>, old: &Value, new: &Value) -> Option<String> {
        if old == new {
            return Some(self.text[span].to_owned());
        }
        match (old, new) {
            (Value::Object(old), Value::Object(new)) if !old.is_empty() => self.object(span, old, new),
            (Value::Array(old), Value::Array(new)) if !old.is_empty() => self.list(span, old, new),
            _ => Some(self.fresh(new, &span)),
        }
    }

    /// A new value, in lines if the one beside it or before it is.
    fn fresh(&self, value: &Value, beside: &Range<usize>) -> String {
        if !self.text[beside.clone()].contains('\n') {
            return value.to_string();
        }
        let line = &self.text[self.text[..beside.start].rfind('\n').map_or(0, |line| line + 1)..];
        let indent = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        format!("{value:#}").replace('\n', &format!("\n{indent}"))
    }

    fn object(&self, span: Range<usize>, old: &Map<String, Value>, new: &Map<String, Value>) -> Option<String> {
        let entries = self.entries(&span)?;
        if entries.keys.len() != old.len() {
            return None;
        }
        let key_of = |at: usize| (&self.text[entries.keys[at].clone()], &self.text[entries.keys[at].end..entries.values[at].start]);
        let before: Vec<&Value> = old.values().collect();
        let places: BTreeMap<&String, usize> = old.keys().enumerate().map(|(at, key)| (key, at)).collect();
        // A field under another name is the one with the same value that has gone.
        let gone = |value: &Value| old.iter().position(|(key, before)| before == value && !new.contains_key(key));
        let mut written = Vec::with_capacity(new.len());
        for (key, value) in new {
            let same = places.get(key).copied();
            let quoted = Value::from(key.as_str()).to_string();
            let (key, behind) = if let Some(at) = same { key_of(at) } else { (quoted.as_str(), key_of(0).1) };
            let value = match same.or_else(|| gone(value)) {
                Some(at) => self.value(entries.values[at].clone(), before[at], value)?,
                None => self.fresh(value, &entries.values[0]),
            };
            written.push(format!("{key}{behind}{value}"));
        }
        let spans = entries.keys.iter().zip(&entries.values).map(|(key, value)| key.start..value.end).collect();
        Some(self.joined(&span, spans, &written))
    }

    fn list(&self, span: Range<usize>, old: &[Value], new: &[Value]) -> Option<String> {
        let entries = self.entries(&span)?;
        let name = |value: &Value| value.get("id").or_else(|| value.get("stage_id")).filter(|id| id.is_string()).cloned();
        let mut named: HashMap<String, usize> = HashMap::new();
        for (at, value) in old.iter().enumerate() {
            named.entry(name(value).as_ref().unwrap_or(value).to_string()).or_insert(at);
        }
        let one = |(at, value): (usize, &Value)| {
            let same = named.get(&name(value).as_ref().unwrap_or(value).to_string()).copied();
            match same.or_else(|| (old.len() == new.len()).then_some(at)) {
                Some(at) => self.value(entries.values.get(at)?.clone(), &old[at], value),
                None => Some(self.fresh(value, &entries.values[0])),
            }
        };
        let written = new.iter().enumerate().map(one).collect::<Option<Vec<String>>>()?;
        Some(self.joined(&span, entries.values, &written))
    }

    /// Entries with what stood before, between and behind those of the text.
    fn joined(&self, span: &Range<usize>, spans: Vec<Range<usize>>, written: &[String]) -> String {
        let (first, last) = (&spans[0], &spans[spans.len() - 1]);
        let head = &self.text[span.start..first.start];
        if written.is_empty() {
            return format!("{}{}", &head[..1], &self.text[span.end - 1..span.end]);
        }
        let own = format!(",{}", if head.contains('\n') { &head[1..] } else { " " });
        let mut out = head.to_owned();
        for (at, entry) in written.iter().enumerate() {
            if at > 0 {
                let gap = spans.get(at).or(if spans.len() > 1 { spans.last() } else { None });
                let before = spans.get(at - 1).or_else(|| spans.get(spans.len().wrapping_sub(2)));
                match (before, gap) {
                    (Some(before), Some(gap)) if before.end <= gap.start => out.push_str(&self.text[before.end..gap.start]),
                    _ => out.push_str(&own),
                }
            }
            out.push_str(entry);
        }
        out.push_str(&self.text[last.end..span.end]);
        out
    }

    fn entries(&self, span: &Range<usize>) -> Option<Entries> {
        let mut entries = Entries { keys: Vec::new(), values: Vec::new() };
        let is_object = self.text[span.clone()].starts_with('{');
        let mut at = self.past_space(span.start + 1);
        while at < span.end - 1 {
            if is_object {
                let end = self.end(at)?;
                entries.keys.push(at..end);
                at = self.past_space(self.past_space(end) + 1);
            }
            let end = self.end(at)?;
            entries.values.push(at..end);
            at = self.past_space(self.past_space(end) + 1);
        }
        (!entries.values.is_empty()).then_some(entries)
    }

    fn past_space(&self, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        at + rest.len() - rest.trim_start().len()
    }

    /// Where the value that begins here ends.
    fn end(&self, at: usize) -> Option<usize> {
        let mut values = serde_json::Deserializer::from_str(self.text.get(at..)?).into_iter::<serde::de::IgnoredAny>();
        values.next()?.ok()?;
        Some(at + values.byte_offset())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn edited(text: &str, edit: impl FnOnce(&mut Value)) -> String {
        let mut value = serde_json::from_str(text).unwrap();
        edit(&mut value);
        spliced(text, &value).unwrap()
    }

    #[test]
    fn what_an_edit_is_not_about_stays_letter_for_letter() {
        let text = "{\n \"n\" : [1e2,1.50,  0.12345678901234567890],\n\t\"nodes\": [ {\"id\":\"a\"} ,\r\n {\"id\":\"b\", \"v\":1} ]\n}\n";
        assert_eq!(edited(text, |_| ()), text);
        assert_eq!(edited(text, |value| value["nodes"][1]["v"] = json!(2)), text.replace("\"v\":1", "\"v\":2"));
        assert_eq!(edited(text, |value| value["nodes"][0]["w"] = json!([1])), text.replace("\"a\"}", "\"a\", \"w\":[1]}"));
        assert_eq!(edited(text, |value| value["nodes"][1]["id"] = json!("c")), text.replace("\"b\"", "\"c\""));
        let without = text.replace("{\"id\":\"b\", \"v\":1}", "{\"id\":\"b\"}");
        assert_eq!(edited(text, |value| drop(value["nodes"][1].as_object_mut().unwrap().shift_remove("v"))), without);
        let renamed = |value: &mut Value| {
            let node = value["nodes"][1].as_object_mut().unwrap();
            let written = node.shift_remove("v").unwrap();
            node.insert("value".into(), written);
        };
        assert_eq!(edited(text, renamed), text.replace("\"v\"", "\"value\""));
    }

    #[test]
    fn new_and_lost_entries_stand_as_those_beside_them() {
        let text = "{\n  \"nodes\": [\n    {\"id\": \"a\"},\n    {\"id\": \"b\"}\n  ]\n}";
        let added = edited(text, |value| value["nodes"].as_array_mut().unwrap().push(json!({"id": "c"})));
        assert_eq!(added, text.replace("\"b\"}", "\"b\"},\n    {\"id\":\"c\"}"));
        let one = edited(text, |value| drop(value["nodes"].as_array_mut().unwrap().remove(0)));
        assert_eq!(one, text.replace("{\"id\": \"a\"},\n    ", ""));
        assert_eq!(edited(text, |value| value["edges"] = json!([])), text.replace("\n  ]\n}", "\n  ],\n  \"edges\": []\n}"));
        assert_eq!(edited(text, |value| value["nodes"] = json!([])), "{\n  \"nodes\": []\n}");
        assert_eq!(spliced("{\"a\": 1, \"a\": 2}", &json!({"a": 3})), None, "one of two was read");
    }

    proptest::proptest! {
        #[test]
        fn the_text_says_the_value_whatever_the_edit_is(seeds in proptest::collection::vec(0_u8..6, 2..14)) {
            let build = |seeds: &[u8]| {
                let entry = |(at, seed): (usize, &u8)| match seed {
                    0 => json!({"id": format!("n{at}")}),
                    1 => json!([at, {"x": [], "y": {}}]),
                    2 => json!({"id": "same", "list": [1, 2, at]}),
                    3 => json!({"b": at, "a": null}),
                    4 => json!(at),
                    _ => json!({"a": {"b": {"c": at}}}),
                };
                seeds.iter().enumerate().map(entry).collect::<Value>()
            };
            let (before, after) = seeds.split_at(seeds.len() / 2);
            for text in [build(before).to_string(), format!("{:#}", build(before))] {
                let written = spliced(&text, &build(after)).unwrap();
                proptest::prop_assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), build(after));
            }
        }
    }
}
