//! Names: columns and values of the tables that a request is about, as words say them.

use super::{
    facts::{WorkspaceFacts, same_words},
    figures::{dates, number},
    lists,
    slots::{Literal, SlotValue},
    words::Word,
};

/// Entries whose words are here; only the longest, because `is not` is never `is`.
pub(super) fn phrases<'l, T>(words: &[Word], at: usize, list: impl Iterator<Item = (&'l str, T)>) -> Vec<(usize, T)> {
    let says = |phrase: &str| {
        let parts = phrase.split(' ').count();
        let fits = phrase.split(' ').enumerate().all(|(offset, part)| words.get(at + offset).is_some_and(|word| word.is(part)));
        fits.then_some(at + parts)
    };
    let mut found: Vec<(usize, T)> = list.filter_map(|(phrase, value)| Some((says(phrase)?, value))).collect();
    let longest = found.iter().map(|(end, _)| *end).max().unwrap_or(0);
    found.retain(|(end, _)| *end == longest);
    found
}

/// A word that can be a name or a text by itself.
pub(super) fn is_name(word: &Word) -> bool {
    !lists::has("function_words", &word.lower) && word.text.chars().any(char::is_alphanumeric) && number(word).is_none()
}

pub(super) fn columns(words: &[Word], at: usize, facts: &WorkspaceFacts) -> Vec<(usize, SlotValue)> {
    let mut found = Vec::new();
    // `how many times` counts no column.
    if words[at].is("times") && at > 0 && words[at - 1].is("many") {
        return found;
    }
    // `the column price` is `price`.
    if lists::has("column_words", &words[at].lower) && at + 1 < words.len() && !facts.columns().contains(words[at].lower.as_str()) {
        return columns(words, at + 1, facts);
    }
    for name in facts.columns() {
        for length in 1..=4 {
            let Some(said) = words.get(at..at + length) else { break };
            let of_table = || {
                length == 2
                    && said[1].is(name)
                    && facts
                        .by_stem(&said[0].lower)
                        .is_some_and(|file| facts.table(&file).is_some_and(|table| table.column(name).is_some()))
            };
            if said.iter().all(|word| !word.quoted || length == 1) && (same_words(&joined(said), name) || of_table()) {
                found.push((at + length, SlotValue::Column(name.to_owned())));
            }
        }
    }
    // `customers` are the values of `customer_id`.
    if found.is_empty() {
        let repeats = |name: &str| facts.tables().any(|(_, table)| table.column(name).is_some_and(|column| !column.is_unique));
        let is_id = |name: &&str| name.strip_suffix("_id").is_some_and(|stem| same_words(&words[at].lower, stem)) && repeats(name);
        let ids = facts.columns().into_iter().filter(is_id);
        found.extend(ids.map(|name| (at + 1, SlotValue::Column(name.to_owned()))));
    }
    // `cost` is `monthly_cost`, if nothing else is.
    if found.is_empty() && !words[at].quoted {
        let last = |name: &&&str| {
            name.contains('_') && name.rsplit('_').next().is_some_and(|last| last.len() > 1 && same_words(&words[at].lower, last))
        };
        let all = facts.columns();
        let mut fits = all.iter().filter(last);
        let only =
            fits.next().filter(|_| fits.next().is_none() && words[at].lower.len() > 1 && !lists::has("function_words", &words[at].lower));
        found.extend(only.map(|name| (at + 1, SlotValue::Column((*name).to_owned()))));
    }
    // `email addresses`, `sku's`
    let named = |word: &Word| lists::has("column_nouns", &word.lower) || word.is("'s");
    let longer: Vec<_> =
        found.iter().filter(|(end, _)| words.get(*end).is_some_and(named)).map(|(end, column)| (end + 1, column.clone())).collect();
    found.extend(longer);
    // `ip addresses` is more than `ip`.
    let own = found.len();
    // What a table's rows are called is no column.
    let is_table = facts.by_stem(&words[at].lower).is_some();
    found.extend(called(words, at, facts, "column_names").into_iter().filter(|(end, _)| own == 0 && !is_table || *end > at + 1));
    found
}

/// Columns that people call by other words.
pub(super) fn called(words: &[Word], at: usize, facts: &WorkspaceFacts, list: &str) -> Vec<(usize, SlotValue)> {
    let columns = facts.columns();
    let known = phrases(words, at, lists::choices(list)).into_iter().filter(|(_, name)| columns.contains(name));
    known.map(|(end, name)| (end, SlotValue::Column(name.to_owned()))).collect()
}

fn joined(words: &[Word]) -> String {
    words.iter().map(|word| word.lower.as_str()).collect::<Vec<_>>().join(" ")
}

pub(super) fn members(words: &[Word], at: usize, facts: &WorkspaceFacts) -> Vec<(usize, SlotValue)> {
    let mut found = Vec::new();
    for length in 1..=4 {
        let Some(said) = words.get(at..at + length) else { break };
        if said.iter().any(|word| word.quoted) && length > 1 || length == 1 && lists::has("function_words", &said[0].lower) {
            continue;
        }
        let spelled = said.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
        let all = facts.members(&joined(said));
        // `not needed` can be a value of its own.
        let denied = at > 0 && words[at - 1].is("not") && !facts.members(&format!("not {}", joined(said))).is_empty();
        if denied {
            continue;
        }
        let exact = all.iter().any(|(_, value)| *value == spelled);
        // `by station` names the column, `Station` one of its values.
        let is_column = |column: &str| said[0].text.starts_with(char::is_lowercase) && same_words(&joined(said), column);
        for (column, value) in all.into_iter().filter(|(column, value)| (!exact || *value == spelled) && !is_column(column)) {
            let member = SlotValue::Member { column: column.to_owned(), value: value.to_owned() };
            // `electric bikes` of the column `bike_type`
            let noun =
                words.get(at + length).filter(|noun| column.contains('_') && column.split('_').any(|part| same_words(&noun.lower, part)));
            found.extend(noun.map(|_| (at + length + 1, member.clone())));
            found.push((at + length, member));
        }
    }
    found
}

pub(super) fn values(words: &[Word], at: usize, facts: &WorkspaceFacts) -> Vec<(usize, SlotValue)> {
    let word = &words[at];
    if let Some(number) = number(word).or_else(|| word.text.strip_prefix('$').and_then(|text| text.parse().ok())) {
        // In a column of text, `007` and `1.10` are as they are written.
        let written = SlotValue::Value(Literal::Text(word.text.clone()));
        return vec![(at + 1, SlotValue::Value(Literal::Number(number))), (at + 1, written)];
    }
    if word.quoted {
        return vec![(at + 1, SlotValue::Value(Literal::Text(word.text.clone())))];
    }
    let dates = dates(word);
    if !dates.is_empty() {
        return dates.into_iter().map(|date| (at + 1, SlotValue::Value(Literal::Text(date)))).collect();
    }
    if ["yes", "no", "true", "false"].iter().any(|truth| word.is(truth)) {
        return vec![(at + 1, SlotValue::Value(Literal::Text(word.lower.clone())))];
    }
    // `not needed` can be a value of its own.
    if at > 0 && words[at - 1].is("not") && !facts.members(&format!("not {}", word.lower)).is_empty() {
        return Vec::new();
    }
    // A column is no value.
    if !columns(words, at, facts).is_empty() {
        return Vec::new();
    }
    let known = members(words, at, facts);
    if let Some(longest) = known.iter().map(|(end, _)| *end).max() {
        let mut found: Vec<(usize, SlotValue)> = known
            .into_iter()
            .filter(|(end, _)| *end == longest)
            .filter_map(|(end, slot)| match slot {
                SlotValue::Member { value, .. } => Some((end, SlotValue::Value(Literal::Text(value)))),
                _ => None,
            })
            .collect();
        found.dedup();
        return found;
    }
    if is_name(word) { vec![(at + 1, SlotValue::Value(Literal::Text(word.text.clone())))] } else { Vec::new() }
}

/// `purchases` for the rows whose type is purchase.
pub(super) fn things(word: &Word, facts: &WorkspaceFacts) -> Vec<SlotValue> {
    let Some(one) = word.lower.strip_suffix('s').filter(|one| one.len() > 2 && !word.quoted) else { return Vec::new() };
    let exact = facts.members(&word.lower).is_empty();
    let found = facts.members(one).into_iter().filter(|_| exact);
    found.map(|(column, value)| SlotValue::Member { column: column.to_owned(), value: value.to_owned() }).collect()
}

/// What isn't so by a column that says yes or no, or has a day when it is: `unpaid`, `open` for what isn't closed.
pub(super) fn unflags(words: &[Word], at: usize, facts: &WorkspaceFacts) -> Vec<(usize, SlotValue)> {
    let word = &words[at];
    let known = facts.columns();
    let denied = ["un", "in", "non-", "non"].iter().filter_map(|not| word.lower.strip_prefix(not)).find(|name| known.contains(name));
    let called = lists::choices("flag_opposites").filter(|(said, _)| word.is(said)).map(|(_, column)| column);
    let is_flag =
        |name: &&str| facts.tables().filter_map(|(_, table)| table.column(name)).any(|column| column.truths.is_some() || column.is_date);
    let named = denied.into_iter().chain(called).filter(|name| !word.quoted && known.contains(name)).filter(is_flag);
    named.map(|name| (at + 1, SlotValue::Member { column: name.to_owned(), value: String::new() })).collect()
}

/// A column that says yes or no, by its name.
pub(super) fn flags(words: &[Word], at: usize, facts: &WorkspaceFacts) -> Vec<(usize, SlotValue)> {
    let named = columns(words, at, facts);
    let flag = |(end, slot): (usize, SlotValue)| {
        let SlotValue::Column(name) = slot else { return None };
        let columns = facts.tables().filter_map(|(_, table)| table.column(&name));
        let truths = columns.filter_map(|column| column.truths).next()?;
        Some((end, SlotValue::Member { column: name, value: truths[0].to_owned() }))
    };
    named.into_iter().filter_map(flag).collect()
}
