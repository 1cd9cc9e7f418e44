//! JSON in which every number keeps its digits: one that no number can hold is text.

use super::locate::{PathStep, at_mut, starts, steps};
use crate::plan::fields::step;
use crate::text::keeps_digits;
use serde_json::Value;

/// So many digits in a row are always kept.
const KEPT: usize = 15;

/// The value of a JSON text in which every number keeps its digits: one that no number can hold is text.
///
/// # Errors
/// Where the text is no JSON.
pub fn exact_json(text: &str) -> serde_json::Result<Value> {
    let mut value = serde_json::from_str(text)?;
    if !has_long(text) {
        return Ok(value);
    }
    let mut found = Vec::new();
    every_number(&value, "", &mut found);
    found.retain(|(_, number)| number.is_f64());
    let paths: Vec<Vec<PathStep>> = found.iter().map(|(path, _)| steps(path)).collect();
    for ((path, (_, number)), written) in paths.iter().zip(found).zip(number_texts(text, &paths)) {
        let (Some(written), Some(number)) = (written, number.as_f64()) else { continue };
        if written.parse() == Ok(number)
            && !keeps_digits(&written, number)
            && let Some(place) = at_mut(&mut value, path)
        {
            *place = Value::from(written);
        }
    }
    Ok(value)
}

/// Whether a text has a number of more digits than are kept for sure.
pub(super) fn has_long(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_digit() && c != '.').any(|run| run.len() > KEPT)
}

/// The numbers of a value, with their paths.
pub(super) fn every_number(value: &Value, path: &str, found: &mut Vec<(String, Value)>) {
    match value {
        Value::Number(_) => found.push((path.to_owned(), value.clone())),
        Value::Array(list) => list.iter().enumerate().for_each(|(at, entry)| every_number(entry, &format!("{path}[{at}]"), found)),
        Value::Object(map) => map.iter().for_each(|(key, entry)| every_number(entry, &step(path, key), found)),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// Numbers of a JSON text as they are written, by their paths.
pub(super) fn number_texts(text: &str, paths: &[Vec<PathStep>]) -> Vec<Option<String>> {
    let end = |c: char| !c.is_ascii_digit() && !['+', '-', '.', 'e', 'E'].contains(&c);
    let token = |start: usize| text.get(start..)?.split(end).next().map(str::to_owned);
    starts(text, paths).into_iter().map(token).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_number_that_no_number_can_hold_is_text_wherever_it_stands_in_json() {
        for (text, read) in [
            ("12345678901234567890123", json!("12345678901234567890123")),
            ("[1, 0.12345678901234567890123]", json!([1, "0.12345678901234567890123"])),
            (
                r#"{"a": {"n": -12345678901234567890123}, "b": 9007199254740993}"#,
                json!({"a": {"n": "-12345678901234567890123"}, "b": 9_007_199_254_740_993_u64}),
            ),
            (r#"{"a": "12345678901234567890123", "b": 1.5e3, "c": 0.1}"#, json!({"a": "12345678901234567890123", "b": 1500.0, "c": 0.1})),
            ("1234567890123456.7", json!("1234567890123456.7")),
        ] {
            assert_eq!(exact_json(text).unwrap(), read, "{text}");
        }
        assert!(exact_json("{").is_err());
    }
}
