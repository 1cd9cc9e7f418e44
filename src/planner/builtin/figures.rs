//! Numbers, sizes, days and calculations: what words of figures stand for, in each way that they can be read.

use super::{lists, slots::SlotValue, words::Word};

pub(super) fn number(word: &Word) -> Option<f64> {
    if word.quoted {
        return None;
    }
    if let Some(at) = lists::words("numbers").iter().position(|name| *name == word.lower) {
        return Some(at as f64);
    }
    let digits = word.text.strip_prefix(['-', '+']).unwrap_or(&word.text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let grouped = whole.contains(',');
    let groups: Vec<&str> = whole.split(',').collect();
    let fits = groups.iter().enumerate().all(|(at, group)| {
        !group.is_empty() && group.bytes().all(|c| c.is_ascii_digit()) && (!grouped || group.len() == 3 || at == 0 && group.len() < 3)
    });
    let fits = fits && !fraction.is_empty() && fraction.bytes().all(|c| c.is_ascii_digit());
    fits.then(|| word.text.replace(',', "").parse().ok()).flatten()
}

pub(super) fn range(text: &str) -> Option<SlotValue> {
    let (from, to) = text.split_once(['-', '–']).or_else(|| text.split_once(".."))?;
    Some(SlotValue::Range(from.parse().ok()?, to.parse().ok()?))
}

/// A number of bytes: `10 KB` and `10kB` are 10,000, `10 KiB` is 10,240.
pub(super) fn size(words: &[Word], at: usize) -> Vec<(usize, SlotValue)> {
    const UNITS: &[(&str, f64)] = &[
        ("b", 1.0),
        ("byte", 1.0),
        ("bytes", 1.0),
        ("kb", 1e3),
        ("k", 1e3),
        ("kilobytes", 1e3),
        ("kilobyte", 1e3),
        ("mb", 1e6),
        ("megabytes", 1e6),
        ("megabyte", 1e6),
        ("gb", 1e9),
        ("kib", 1024.0),
        ("mib", 1_048_576.0),
        ("gib", 1_073_741_824.0),
    ];
    let unit = |text: &str| UNITS.iter().find(|(name, _)| *name == text).map(|(_, factor)| *factor);
    if let Some((number, factor)) = number(&words[at]).zip(words.get(at + 1).and_then(|word| unit(&word.lower))) {
        return vec![(at + 2, SlotValue::Number(number * factor))];
    }
    let split = words[at].lower.find(|c: char| c.is_alphabetic());
    let both = split.and_then(|split| Some(words[at].lower[..split].parse::<f64>().ok()? * unit(&words[at].lower[split..])?));
    both.map(|bytes| (at + 1, SlotValue::Number(bytes))).into_iter().collect()
}

/// ISO dates, and days with slashes in each of their readings.
pub(super) fn dates(word: &Word) -> Vec<String> {
    if let Ok(date) = word.text.parse::<jiff::civil::Date>() {
        return if word.text.len() == 10 { vec![date.to_string()] } else { Vec::new() };
    }
    let parts: Vec<i16> = word.text.split('/').filter_map(|part| part.parse().ok()).collect();
    let [first, second, year] = parts[..] else { return Vec::new() };
    if word.text.split('/').count() != 3 {
        return Vec::new();
    }
    let year = if year < 100 { 2000 + year } else { year };
    let date = |month: i16, day: i16| jiff::civil::Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok();
    let mut found: Vec<String> = [date(first, second), date(second, first)].into_iter().flatten().map(|date| date.to_string()).collect();
    found.dedup();
    found
}

/// A day, a month or a year: its first day, and the first behind it.
pub(super) fn periods(words: &[Word], at: usize) -> Vec<(usize, SlotValue)> {
    use jiff::{ToSpan as _, civil::Date};
    let period = |end: usize, from: Option<Date>, span: jiff::Span| {
        let from = from?;
        Some((end, SlotValue::Period(from.to_string(), from.checked_add(span).ok()?.to_string())))
    };
    let year = |word: &Word| word.text.parse::<i16>().ok().filter(|year| (1900..2200).contains(year) && word.text.len() == 4);
    let first = |year: i16, month: i8| Date::new(year, month, 1).ok();
    let word = &words[at];
    let mut found: Vec<_> = dates(word).iter().filter_map(|day| period(at + 1, day.parse().ok(), 1.day())).collect();
    found.extend(year(word).and_then(|year| period(at + 1, first(year, 1), 1.year())));
    if let Some((of, month)) = word.text.split_once('-').filter(|_| word.text.len() == 7) {
        let first = of.parse().ok().zip(month.parse().ok()).and_then(|(year, month)| first(year, month));
        found.extend(period(at + 1, first, 1.month()));
    }
    let month = lists::words("months").iter().position(|name| *name == word.lower || word.lower.len() > 2 && name[..3] == word.lower);
    // A month of the only year that there is; a word in small letters such as "may" is none.
    if let Some(month) = month.filter(|_| word.text.starts_with(char::is_uppercase) || word.lower.len() > 5) {
        found.push((at + 1, SlotValue::Period(format!("-{:02}", month + 1), String::new())));
    }
    if let Some((month, year)) = month.zip(words.get(at + 1).and_then(year)) {
        found.extend(period(at + 2, i8::try_from(month + 1).ok().and_then(|month| first(year, month)), 1.month()));
    }
    found
}

/// `404`, `404s`.
pub(super) fn status(word: &Word) -> Option<SlotValue> {
    let digits = word.lower.strip_suffix('s').unwrap_or(&word.lower);
    digits.parse::<u16>().ok().filter(|code| (100..600).contains(code) && !word.quoted).map(|code| SlotValue::Number(f64::from(code)))
}

/// `09:30`, with or without seconds.
pub(super) fn clock(text: &str) -> Option<SlotValue> {
    let fits = [5, 8].contains(&text.len()) && text.parse::<jiff::civil::Time>().is_ok();
    fits.then(|| SlotValue::Text { text: text.to_owned(), quoted: false })
}

/// A calculation in figures, or in figures with words that the calculator knows.
pub(super) fn expression(text: &str) -> Option<SlotValue> {
    let clean = text.trim_end_matches(['?', '=', ' ', '.']);
    let words: Vec<&str> = clean.split(|c: char| c.is_whitespace() || "+-*/^%()".contains(c)).filter(|word| !word.is_empty()).collect();
    let is_number = |word: &str| word.replace(',', "").parse::<f64>().is_ok();
    let digits = words.iter().filter(|word| is_number(word)).count();
    let knows = words.iter().all(|word| is_number(word) || lists::has("calculation", &word.to_lowercase()));
    // A quantity alone asks for nothing.
    let operates = clean.contains(['+', '*', '/', '^', '%', '-']) || words.iter().any(|word| lists::has("operators", &word.to_lowercase()));
    let is_date =
        digits > 0 && words.len() == digits && (clean.matches('/').count() == 2 || clean.matches('-').count() == 2) && !clean.contains(' ');
    let open = clean.matches('(').count() == clean.matches(')').count();
    (digits > 0 && knows && operates && open && !is_date).then(|| SlotValue::Text { text: in_signs(clean), quoted: false })
}

/// `2 hours and 35 minutes`: numbers, each with its unit.
pub(super) fn quantity(words: &[Word]) -> Option<SlotValue> {
    let is_unit =
        |word: &Word| !word.quoted && lists::has("calculation", &word.lower) && !lists::has("operators", &word.lower) && !word.is("the");
    let mut parts = Vec::new();
    let mut at = 0;
    while at < words.len() {
        if !parts.is_empty() {
            at += usize::from(words[at].is("and"));
        }
        let [value, unit] = words.get(at..at + 2)? else { return None };
        number(value).filter(|_| is_unit(unit))?;
        parts.push(format!("{} {}", value.text.replace(',', ""), unit.text));
        at += 2;
    }
    Some(SlotValue::Text { text: parts.join(" + "), quoted: false })
}

/// Words of arithmetic as the signs that the calculator reads.
fn in_signs(text: &str) -> String {
    const SIGNS: &[(&str, &str)] = &[
        (" multiplied by ", " * "),
        (" divided by ", " / "),
        (" to the power of ", "^"),
        (" raised to ", "^"),
        (" times ", " * "),
        (" plus ", " + "),
        (" minus ", " - "),
        (" x ", " * "),
        (" squared", "^2"),
        (" cubed", "^3"),
        (" percent", "%"),
        ("square root of ", "sqrt "),
        (" mod ", " mod "),
    ];
    SIGNS.iter().fold(format!(" {text} "), |text, (words, sign)| text.replace(words, sign)).replace("the ", "").trim().to_owned()
}
