//! Numbers, sizes, days and calculations: what words of figures stand for, in each way that they can be read.

use jiff::{ToSpan as _, civil::Date};

use super::{
    lists,
    slots::{Literal, SlotValue},
    words::Word,
};

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
    let month = month(word).map(|number| number - 1);
    // A month of the only year that there is; a word in small letters such as "may" is none.
    if let Some(month) = month.filter(|_| word.text.starts_with(char::is_uppercase) || word.lower.len() > 5) {
        found.push((at + 1, SlotValue::Period(format!("-{:02}", month + 1), String::new())));
    }
    if let Some((month, year)) = month.zip(words.get(at + 1).and_then(year)) {
        found.extend(period(at + 2, i8::try_from(month + 1).ok().and_then(|month| first(year, month)), 1.month()));
    }
    // `November 1` of the only year that there is.
    let (of, on, end) = day_of_month(words, at).unwrap_or_default();
    if end > 0 && !found.iter().any(|(known, _)| *known > end) {
        found.push((end, SlotValue::Period(format!("-{of:02}-{on:02}"), String::new())));
    }
    found.extend(
        days(words, at).into_iter().filter(|(_, _)| dates(word).is_empty()).filter_map(|(end, day)| period(end, Some(day), 1.day())),
    );
    // `Q2`, `the first quarter of 2024`, `the second half`
    if let Some((end, part, months)) = part_of_year(words, at) {
        let end_of = end + usize::from(words.get(end).is_some_and(|word| word.is("of") || word.is("in")));
        let from = part * months + 1;
        match words.get(end_of).and_then(year) {
            Some(of) => found.extend(period(end_of + 1, first(of, from), i64::from(months).months())),
            None => found.push((end, SlotValue::Period(format!("-{from:02}"), format!("-{:02}", from + months - 1)))),
        }
    }
    found.extend(recent(words, at));
    found
}

/// `today`, `this week`, `last month`: days that are counted from now.
pub(super) fn recent(words: &[Word], at: usize) -> Vec<(usize, SlotValue)> {
    let named = |name: &str| words[at].is(name);
    let whole = |end: usize, from: Option<Date>, to: Option<Date>| Some((end, SlotValue::Period(from?.to_string(), to?.to_string())));
    let day = [("today", 0), ("yesterday", -1)].into_iter().find(|(name, _)| named(name)).map(|(_, days)| today() + days.days());
    if let Some(day) = day {
        return whole(at + 1, Some(day), day.tomorrow().ok()).into_iter().collect();
    }
    let back = i64::from(named("last") || named("previous"));
    let Some(unit) = words.get(at + 1).filter(|_| back > 0 || named("this")) else { return Vec::new() };
    let today = today();
    let (from, span) = match unit.lower.as_str() {
        "week" => (today.checked_sub(i64::from(today.weekday().to_monday_zero_offset()).days()).ok(), 1.week()),
        "month" => (Some(today.first_of_month()), 1.month()),
        "year" => (Some(today.first_of_year()), 1.year()),
        _ => return Vec::new(),
    };
    let from = from.and_then(|from| if back > 0 { from.checked_sub(span).ok() } else { Some(from) });
    whole(at + 2, from, from.and_then(|from| from.checked_add(span).ok())).into_iter().collect()
}

/// A quarter or a half of a year, from 0, and how many months such a one has.
fn part_of_year(words: &[Word], at: usize) -> Option<(usize, i8, i8)> {
    let word = &words[at];
    let quarter = word.lower.strip_prefix('q').and_then(|number| number.parse::<i8>().ok()).filter(|number| (1..5).contains(number));
    if let Some(quarter) = quarter.filter(|_| !word.quoted) {
        return Some((at + 1, quarter - 1, 3));
    }
    let nth = i8::try_from(lists::words("ordinals").iter().position(|name| word.is(name))?).ok()?;
    let months = [("quarter", 3), ("half", 6)].into_iter().find(|(name, _)| words.get(at + 1).is_some_and(|word| word.is(name)))?.1;
    (nth < 12 / months).then_some((at + 2, nth, months))
}

/// `1 November`, `Nov 1st`: the month, the day, and where it ends; no year behind it.
fn day_of_month(words: &[Word], at: usize) -> Option<(usize, i8, usize)> {
    let day = |at: usize| {
        let digits = words.get(at)?.lower.trim_end_matches(|c: char| c.is_alphabetic());
        digits.parse::<i8>().ok().filter(|day| (1..32).contains(day))
    };
    match month(&words[at]) {
        Some(of) => Some((of, day(at + 1)?, at + 2)),
        None => {
            let of_at = at + 1 + usize::from(words.get(at + 1).is_some_and(|word| word.is("of")));
            Some((month(words.get(of_at)?)?, day(at)?, of_at + 1))
        }
    }
}

/// A period without its year, as of the last such one.
pub(super) fn latest(from: &str, to: &str) -> Option<(String, String)> {
    let Some(rest) = from.strip_prefix('-') else { return Some((from.to_owned(), to.to_owned())) };
    let in_year = |year: i16| dated(year, rest, to);
    let this = today().year();
    in_year(this).filter(|(from, _)| *from <= today()).or_else(|| in_year(this - 1)).map(|(from, to)| (from.to_string(), to.to_string()))
}

/// A month, a day, or months up to another, of a year: the first day, and the first behind it.
pub(super) fn dated(year: i16, from: &str, to: &str) -> Option<(Date, Date)> {
    let day: Option<Date> = format!("{year:04}-{from}").parse().ok();
    let first = day.or_else(|| format!("{year:04}-{from}-01").parse().ok())?;
    let last: Option<Date> = to.strip_prefix('-').and_then(|to| format!("{year:04}-{to}-01").parse().ok());
    let next = day.unwrap_or_else(|| last.unwrap_or(first).last_of_month()).tomorrow().ok()?;
    Some((first, next))
}

/// `404`, `404s`.
pub(super) fn status(word: &Word) -> Option<SlotValue> {
    // `5xx`, `4xx`
    if let Some(hundreds) = word.lower.strip_suffix("xx").and_then(|class| class.parse::<u64>().ok()).filter(|class| (1..6).contains(class))
    {
        return Some(SlotValue::Range(hundreds * 100, hundreds * 100 + 99));
    }
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
    // `1,200.50`; `1.200,50` and `1,5` could be either.
    let is_grouped = |word: &str| {
        let (whole, part) = word.split_once('.').unwrap_or((word, ""));
        !part.contains(',') && whole.split(',').skip(1).all(|group| group.len() == 3)
    };
    let is_number = |word: &str| is_grouped(word) && word.replace(',', "").parse::<f64>().is_ok();
    let digits = words.iter().filter(|word| is_number(word)).count();
    let knows = words.iter().all(|word| is_number(word) || lists::has("calculation", &word.to_lowercase()));
    // A quantity alone asks for nothing.
    let operates = clean.contains(['+', '*', '/', '^', '%', '-']) || words.iter().any(|word| lists::has("operators", &word.to_lowercase()));
    let is_date =
        digits > 0 && words.len() == digits && (clean.matches('/').count() == 2 || clean.matches('-').count() == 2) && !clean.contains(' ');
    let open = clean.matches('(').count() == clean.matches(')').count();
    (digits > 0 && knows && operates && open && !is_date && !has_bare_share(&in_signs(clean)))
        .then(|| SlotValue::Text { text: in_signs(clean), quoted: false })
}

/// `2 hours and 35 minutes`: numbers, each with its unit.
pub(super) fn quantity(words: &[Word]) -> Option<SlotValue> {
    let is_unit =
        |word: &Word| !word.quoted && lists::has("calculation", &word.lower) && !lists::has("operators", &word.lower) && !word.is("the");
    // `how many seconds are in a week`
    if let [unit] = words
        && lists::has("lone_units", &unit.lower)
        && !unit.quoted
    {
        return Some(SlotValue::Text { text: format!("1 {}", unit.lower), quoted: false });
    }
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

/// A day as people write it, and as it is from today: `24 December 2026`, `today`, `3 weeks ago`.
pub(super) fn days(words: &[Word], at: usize) -> Vec<(usize, Date)> {
    let word = &words[at];
    let mut found: Vec<(usize, Date)> = dates(word).iter().filter_map(|day| Some((at + 1, day.parse().ok()?))).collect();
    let named = [("today", 0), ("now", 0), ("yesterday", -1), ("tomorrow", 1)].into_iter().find(|(name, _)| word.is(name));
    found.extend(named.and_then(|(_, days)| Some((at + 1, today().checked_add(days.days()).ok()?))));
    if let Some((end, (span, _))) = span(words, at).filter(|(end, _)| words.get(*end).is_some_and(|word| word.is("ago"))) {
        found.extend(today().checked_sub(span).ok().map(|day| (end + 1, day)));
    }
    let is = |at: usize, said: &str| words.get(at).is_some_and(|word| word.is(said));
    let day = |at: usize| {
        let digits = words.get(at)?.lower.trim_end_matches(|c: char| c.is_alphabetic());
        digits.parse::<i8>().ok().filter(|day| (1..32).contains(day))
    };
    // `24 December 2026`, `24th of December 2026`, `December 24, 2026`
    let places = match month(word) {
        Some(_) => Some((at, at + 1)),
        None => day(at).map(|_| (at + 1 + usize::from(is(at + 1, "of")), at)),
    };
    let behind = |month: usize, day: usize| month.max(day) + 1 + usize::from(is(month.max(day) + 1, ","));
    let written = places.and_then(|(of, on)| {
        let year = words.get(behind(of, on)).filter(|word| word.text.len() == 4)?.text.parse::<i16>().ok()?;
        Some((behind(of, on) + 1, Date::new(year, i8::try_from(month(words.get(of)?)?).ok()?, day(on)?).ok()?))
    });
    found.extend(written);
    found
}

fn today() -> Date {
    jiff::Zoned::now().date()
}

/// The number of a month, from 1.
fn month(word: &Word) -> Option<usize> {
    let named = lists::words("months").iter().position(|name| *name == word.lower || word.lower.len() > 2 && name[..3] == word.lower);
    named.filter(|_| !word.quoted).map(|at| at + 1)
}

/// `3 months`, `a week`: how long, and in plain words.
pub(super) fn span(words: &[Word], at: usize) -> Option<(usize, (jiff::Span, String))> {
    let count = number(&words[at]).or_else(|| (words[at].is("a") || words[at].is("one")).then_some(1.0))?;
    let unit = words.get(at + 1).filter(|word| !word.quoted)?.lower.trim_end_matches('s');
    let count = Some(count as i64).filter(|whole| *whole as f64 == count && (0..100_000).contains(whole))?;
    let span = match unit {
        "day" => count.days(),
        "week" => count.weeks(),
        "month" => count.months(),
        "year" => count.years(),
        _ => return None,
    };
    Some((at + 2, (span, format!("{count} {unit}s"))))
}

/// What is so old today began before this day.
pub(super) fn age(words: &[Word], at: usize) -> Vec<(usize, SlotValue)> {
    let begun = span(words, at).and_then(|(end, (span, _))| Some((end, today().checked_sub(span).ok()?.to_string())));
    begun.map(|(end, day)| (end, SlotValue::Value(Literal::Text(day)))).into_iter().collect()
}

/// `15%`, `15 percent`
pub(super) fn percent(words: &[Word], at: usize) -> Option<(usize, SlotValue)> {
    let plain = |text: &str| text.parse::<f64>().ok().filter(|share| *share >= 0.0).map(|_| text.to_owned());
    let behind = words.get(at + 1).is_some_and(|word| ["percent", "%", "pct"].iter().any(|unit| word.is(unit)));
    let word = Some(&words[at]).filter(|word| !word.quoted)?;
    let (end, share) = match word.text.strip_suffix('%') {
        Some(share) => (at + 1, plain(share)?),
        None => (at + 2, plain(&word.text).filter(|_| behind)?),
    };
    Some((end, SlotValue::Text { text: format!("{share}%"), quoted: false }))
}

/// `3, 5 and 10`
pub(super) fn addends(words: &[Word], at: usize) -> Vec<(usize, SlotValue)> {
    let (mut found, mut numbers, mut next) = (Vec::new(), Vec::new(), at);
    while let Some(number) = words.get(next).and_then(number) {
        numbers.push(number.to_string());
        next += 1;
        if numbers.len() > 1 {
            found.push((next, SlotValue::Text { text: numbers.join(" , "), quoted: false }));
        }
        while words.get(next).is_some_and(|word| [",", "and", "&"].iter().any(|join| word.is(join))) {
            next += 1;
        }
    }
    found
}

/// Whether a share is taken off or put on without saying of what: `1450 - 15%`.
fn has_bare_share(signs: &str) -> bool {
    signs.match_indices('%').any(|(at, _)| {
        let before = signs[..at].trim_end_matches(|c: char| c.is_ascii_digit() || ".,".contains(c)).trim_end();
        !signs[at + 1..].trim_start().starts_with("of ") && before.len() > 1 && before.ends_with(['+', '-'])
    })
}
