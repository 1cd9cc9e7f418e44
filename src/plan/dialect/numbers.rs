//! Numbers as a text has them. What a value can't keep of one is reported; what has zeros in front, as a code or a key has, stays text.

use super::exact::{every_number, has_long, number_texts};
use super::json::Lost;
use super::locate::{PathStep, at_mut, steps};
use super::source::Syntax;
use super::yaml;
use crate::text::keeps_digits;
use serde_json::Value;
use std::collections::BTreeMap;

/// What the numbers of a value lose of their text.
pub(super) fn lost(value: &mut Value, text: &str, syntax: Syntax, known: &[Lost]) -> Vec<Lost> {
    let mut lost = Vec::new();
    if syntax == Syntax::Json && !has_long(text) {
        return lost;
    }
    for (path, written, number) in written(value, text, syntax) {
        if has_leading_zero(&written) && syntax == Syntax::Yaml {
            if let Some(place) = at_mut(value, &steps(&path)) {
                *place = Value::from(written.as_str());
            }
            let message = format!("`{written}` has zeros in front, as no number has: it is read as text");
            lost.push(Lost { path, message, is_doubled: false });
        } else if !keeps_digits(&written, number) && known.iter().all(|lost| lost.path != path) {
            let message = format!("`{written}` has more digits than are kept: it is {number}; in quotes it keeps all of them");
            lost.push(Lost { path, message, is_doubled: false });
        }
    }
    lost
}

/// Puts text in the place of each number that a value can't keep as it is written, and gives those texts: those with zeros in front, as
/// YAML has, and those with more digits than are kept.
pub fn keep_digits(value: &mut Value, text: &str, syntax: Syntax) -> Vec<String> {
    if syntax == Syntax::Json && !has_long(text) {
        return Vec::new();
    }
    let mut kept = written(value, text, syntax);
    kept.retain(|(_, written, number)| has_leading_zero(written) || !keeps_digits(written, *number));
    for (path, written, _) in &kept {
        if let Some(place) = at_mut(value, &steps(path)) {
            *place = Value::from(written.as_str());
        }
    }
    kept.into_iter().map(|(_, written, _)| written).collect()
}

fn has_leading_zero(written: &str) -> bool {
    written.len() > 1 && written.starts_with('0') && written.bytes().all(|byte| byte.is_ascii_digit())
}

/// The numbers that are no whole ones by their value, each with its path and as it is written.
fn written(value: &Value, text: &str, syntax: Syntax) -> Vec<(String, String, f64)> {
    let mut found = Vec::new();
    every_number(value, "", &mut found);
    let found: Vec<(String, f64)> =
        found.into_iter().filter_map(|(path, number)| Some((path, number.as_f64().filter(|_| number.is_f64())?))).collect();
    if found.is_empty() {
        return Vec::new();
    }
    let paths: Vec<Vec<PathStep>> = found.iter().map(|(path, _)| steps(path)).collect();
    let texts: Vec<Option<String>> = match syntax {
        Syntax::Yaml => yaml::scalars(text, &paths),
        Syntax::Json => number_texts(text, &paths),
    };
    let is_number = |written: &str, number: f64| written.replace('_', "").parse() == Ok(number);
    let all = found.into_iter().zip(texts).filter_map(|((path, number), written)| Some((path, written?, number)));
    all.filter(|(_, written, number)| is_number(written, *number)).collect()
}

/// The numbers of a value that a YAML text spells in another way than they are usually written, such as `+5`, `0x1F` and `1e3`, by their
/// paths.
pub(super) fn spelled(value: &Value, text: &str) -> BTreeMap<String, String> {
    let mut found = Vec::new();
    every_number(value, "", &mut found);
    let paths: Vec<Vec<PathStep>> = found.iter().map(|(path, _)| steps(path)).collect();
    let texts = if found.is_empty() { Vec::new() } else { yaml::scalars(text, &paths) };
    let all = found.into_iter().zip(texts).filter_map(|((path, number), written)| Some((path, number, written?)));
    // A name that aliases have for it, or a type, is no spelling.
    let is_bare = |written: &str| written.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-._".contains(&byte));
    let is_other = |number: &Value, written: &str| {
        let usual = number.to_string();
        usual != written && is_bare(written)
    };
    let kept = all.filter(|(_, number, written)| is_other(number, written) && yaml::read(written).is_ok_and(|(read, _)| read == *number));
    kept.map(|(path, _, written)| (path, written)).collect()
}

/// The text with the number at a place in quotes, which is larger than any number can be, and that number.
pub(super) fn quoted(text: &str, syntax: Syntax, (line, column): (usize, usize)) -> Option<(String, String)> {
    let start: usize = text.split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum();
    let row = text.get(start..)?.split('\n').next()?;
    let is_end = |c: char| c.is_whitespace() || ",[]{}:#".contains(c);
    // JSON's readers tell the byte behind the number, YAML's the letter where it begins.
    let at = match syntax {
        Syntax::Json => column.min(row.len()).checked_sub(1)?,
        Syntax::Yaml => row.char_indices().nth(column.checked_sub(1)?)?.0,
    };
    let from = row.get(..at)?.rfind(is_end).map_or(0, |before| before + 1);
    let length = row[from..].find(is_end).unwrap_or(row.len() - from);
    let number = &row[from..from + length];
    let is_number = number.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) && !number.contains('"');
    let (before, behind) = (&text[..start + from], &text[start + from + length..]);
    is_number.then(|| (format!("{before}\"{number}\"{behind}"), number.to_owned()))
}
