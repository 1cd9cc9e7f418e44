//! Whether a text says what is expected, in whatever form: a table, CSV, JSON, a list, a sentence.
//!
//! Numbers count by value, texts as whole words. An answer may not be buried: the text has at most 40 words in 12 lines, and for what is
//! expected twice its words and 24 more for each row or file; rows that weren't asked for may not come between or after the right ones, a number
//! may have one other number beside it, and no file of the workspace is named that doesn't belong. So neither a program that prints
//! every file nor one that prints nothing is ever right.

use crate::{
    corpus::{Answer, Cell, Form},
    records::{Record, segmentations},
};
use serde_json::Value;

/// What an answer is judged in the light of. Repeating the request says nothing.
pub struct Setting<'a> {
    pub ask: &'a str,
    /// Every file of the workspace before and after the run.
    pub files: &'a [String],
}

type Judged = Result<(), String>;

pub fn says(answer: &Answer, text: &str, setting: &Setting<'_>) -> Judged {
    let text = text.replace(setting.ask, "");
    let text = text.trim();
    if text.is_empty() {
        return Err("nothing was printed".into());
    }
    within_bounds(answer, text)?;
    if let Some(wrong) = answer.never.iter().find(|cell| has(text, cell, false)) {
        return Err(format!("it says {wrong:?}"));
    }
    if let Some(form) = answer.form
        && !is_written_in(form, text)
    {
        return Err(format!("it isn't {form:?}"));
    }
    numbers_hold(answer, text, setting)?;
    if let Some(expected) = &answer.text
        && !occurs(text, expected, answer.any_case)
    {
        return Err(format!("it doesn't say {expected:?}"));
    }
    if !answer.rows.is_empty() {
        rows_hold(answer, text)?;
    }
    if !answer.files.is_empty() {
        files_hold(answer, text, setting)?;
    }
    answer.yes.map_or(Ok(()), |yes| yes_holds(yes, text, setting))
}

fn is_written_in(form: Form, text: &str) -> bool {
    let unfenced = ["```json", "```yaml", "```"].iter().find_map(|fence| text.strip_prefix(fence)).unwrap_or(text);
    let inner = unfenced.trim_end_matches('`').trim();
    match form {
        Form::Json => serde_json::from_str::<Value>(inner).is_ok(),
        Form::Yaml => !inner.starts_with('{') && serde_saphyr::from_str::<Value>(inner).is_ok_and(|value| value.is_object()),
        Form::Markdown => text.lines().any(|line| line.contains("---") && line.contains('|')),
    }
}

fn words(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count()
}

fn within_bounds(answer: &Answer, text: &str) -> Judged {
    let of_row = |row: &Vec<Cell>| 24 + row.iter().map(|cell| if let Cell::Text(text) = cell { 2 * words(text) } else { 2 }).sum::<usize>();
    let rows: usize = answer.rows.iter().chain(&answer.may).map(of_row).sum();
    let bound = 40 + rows + 24 * answer.files.len() + answer.text.as_deref().map_or(0, |text| 2 * words(text));
    let (found, lines) = (words(text), text.lines().filter(|line| !line.trim().is_empty()).count());
    if lines > 12 && rows == 0 && answer.files.is_empty() {
        return Err(format!("{lines} lines, and 12 are enough"));
    }
    if found > bound { Err(format!("{found} words, and {bound} are enough")) } else { Ok(()) }
}

fn numbers_hold(answer: &Answer, text: &str, setting: &Setting<'_>) -> Judged {
    let Some(_) = answer.numbers.first() else { return Ok(()) };
    let found = numbers(text);
    for expected in &answer.numbers {
        let is_none = *expected == 0.0 && ["no", "none", "nothing", "zero"].iter().any(|word| occurs(text, word, true));
        if !is_none && !found.iter().any(|number| number.is(*expected)) {
            return Err(format!("it doesn't say {expected}"));
        }
    }
    let asked: Vec<f64> = numbers(setting.ask).iter().map(|number| number.value).collect();
    let is_known =
        |number: &&Number| answer.numbers.iter().chain(&answer.also).any(|known| number.is(*known)) || asked.contains(&number.value);
    let mut foreign: Vec<f64> = found.iter().filter(|number| !is_known(number)).map(|number| number.value).collect();
    foreign.sort_by(f64::total_cmp);
    foreign.dedup();
    if foreign.len() > 1 { Err(format!("other numbers too: {foreign:?}")) } else { Ok(()) }
}

/// A number as it was written.
#[derive(Clone, Copy, Debug)]
pub struct Number {
    value: f64,
    decimals: usize,
}

impl Number {
    /// Whole numbers are exact; others may be rounded to one decimal or more, as expected ones are to two.
    pub fn is(&self, expected: f64) -> bool {
        let exact = (self.value - expected).abs() <= 1e-6;
        let rounded = 0.5 * 10_f64.powi(-i32::try_from(self.decimals.min(2)).unwrap_or(2));
        exact || (expected.fract() != 0.0 && self.decimals >= 1 && (self.value - expected).abs() <= rounded + 1e-9)
    }
}

/// Numbers that are words of their own, with or without a unit; those in dates, times, addresses and names of files are none.
pub fn numbers(text: &str) -> Vec<Number> {
    let is_break = |letter: char| letter.is_whitespace() || "|;()[]{}\"'`=<>*".contains(letter);
    text.split(is_break)
        .flat_map(|word| number(word).map_or_else(|| word.split([',', ':']).filter_map(number).collect(), |one| vec![one]))
        .collect()
}

fn number(word: &str) -> Option<Number> {
    let word = word.trim_start_matches(['+', '~', '≈', '€', '$', '£', '#']).trim_end_matches(['.', ',', ':', '!', '?', '%', '€', '$', '£']);
    let end = word.rfind(|letter: char| letter.is_ascii_digit())? + 1;
    let (digits, unit) = word.split_at(end);
    if unit.chars().count() > 3 || unit.contains(['-', '/', '.', ':', ',']) {
        return None;
    }
    let plain = ungrouped(digits)?;
    let is_plain = plain.trim_start_matches(['-', '−']).chars().all(|letter| letter.is_ascii_digit() || letter == '.');
    let value = plain.replace('−', "-").parse().ok().filter(|_| is_plain)?;
    Some(Number { value, decimals: plain.split_once('.').map_or(0, |(_, decimals)| decimals.len()) })
}

/// Without the commas of `1,234,567.8`; none for other commas.
fn ungrouped(digits: &str) -> Option<String> {
    let (whole, _) = digits.split_once('.').unwrap_or((digits, ""));
    let mut groups = whole.trim_start_matches('-').split(',');
    let first = groups.next()?;
    let grouped = groups.clone().next().is_some();
    let fits = !grouped || (matches!(first.len(), 1..=3) && groups.all(|group| group.len() == 3));
    fits.then(|| digits.replace(',', ""))
}

/// Whether a text occurs as a whole: no letter or digit goes on where it begins or ends with one. Any white space equals any other.
pub fn occurs(text: &str, part: &str, any_case: bool) -> bool {
    position(text, part, any_case).is_some()
}

fn position(text: &str, part: &str, any_case: bool) -> Option<usize> {
    let fold = |text: &str| {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if any_case { text.to_lowercase() } else { text }
    };
    let (text, part) = (fold(text), fold(part));
    let goes_on = |edge: char, next: Option<char>| {
        next.is_some_and(|next| {
            if edge.is_ascii_digit() {
                next.is_ascii_digit()
            } else {
                edge.is_alphanumeric() && (next.is_alphanumeric() || "_-".contains(next))
            }
        })
    };
    let (first, last) = (part.chars().next()?, part.chars().next_back()?);
    text.match_indices(&part)
        .find(|(at, _)| {
            let before = text[..*at].chars().next_back();
            let after = text[at + part.len()..].chars().next();
            !goes_on(first, before) && !goes_on(last, after)
        })
        .map(|(at, _)| at)
}

fn has(text: &str, cell: &Cell, any_case: bool) -> bool {
    match cell {
        Cell::Number(expected) => numbers(text).iter().any(|number| number.is(*expected)),
        Cell::Text(expected) => occurs(text, expected, any_case),
    }
}

/// One way of cutting the text into records has to give the rows.
fn rows_hold(answer: &Answer, text: &str) -> Judged {
    let mut first = None;
    for records in segmentations(text) {
        match rows_are(answer, &records) {
            Ok(()) => return Ok(()),
            Err(reason) => first = first.or(Some(reason)),
        }
    }
    Err(first.unwrap_or_else(|| "no rows".into()))
}

fn rows_are(answer: &Answer, records: &[Record]) -> Judged {
    let holds = |record: &Record, row: &[Cell]| row.iter().all(|cell| has(&record.text, cell, answer.any_case));
    let is_exact = |record: &Record, row: &[Cell]| match &row[0] {
        Cell::Text(text) => record.cells().any(|cell| cell == text),
        Cell::Number(_) => true,
    };
    let mut used = Vec::new();
    for row in &answer.rows {
        let fits = |at: &usize| !used.contains(at) && holds(&records[*at], row);
        let at = (0..records.len()).find(|at| fits(at) && is_exact(&records[*at], row)).or_else(|| (0..records.len()).find(fits));
        used.push(at.ok_or_else(|| format!("no row {row:?}"))?);
    }
    if answer.ordered && !used.is_sorted() {
        return Err("another order".into());
    }
    if answer.loose {
        return Ok(());
    }
    let (first, last) = (used.iter().min().copied().unwrap_or(0), used.iter().max().copied().unwrap_or(0));
    let is_extra = |at: &usize| {
        let record = &records[*at];
        !used.contains(at) && !record.is_frame() && !answer.may.iter().any(|row| holds(record, row))
    };
    let extra = |range: std::ops::Range<usize>| range.filter(is_extra).collect::<Vec<_>>();
    let (before, between, after) = (extra(0..first), extra(first..last), extra(last + 1..records.len()));
    let shape = records[last].delimiters();
    let alike = |found: &[usize]| found.iter().filter(|at| shape > 0 && records[**at].delimiters() == shape).count();
    let too_many = !between.is_empty() || before.len() > 3 || after.len() > 2 || alike(&before) > 1 || alike(&after) > 0;
    if too_many {
        let found = [before, between, after].concat();
        return Err(format!("other rows too: {:?}", found.iter().map(|at| &records[*at].text).collect::<Vec<_>>()));
    }
    Ok(())
}

fn files_hold(answer: &Answer, text: &str, setting: &Setting<'_>) -> Judged {
    let mut last = 0;
    for file in &answer.files {
        let at = named(text, file, setting).ok_or_else(|| format!("{file} isn't named"))?;
        if answer.ordered && at < last {
            return Err("another order".into());
        }
        last = at;
    }
    let is_foreign =
        |file: &&String| !answer.files.contains(file) && !setting.ask.contains(file.as_str()) && named(text, file, setting).is_some();
    setting.files.iter().find(is_foreign).map_or(Ok(()), |file| Err(format!("{file} is named too")))
}

/// Where a file is named: by its path, by its name if no other has that, or by its path below a folder that was asked about.
fn named(text: &str, file: &str, setting: &Setting<'_>) -> Option<usize> {
    let name = file.rsplit('/').next().unwrap_or(file);
    let is_unique = setting.files.iter().filter(|other| other.rsplit('/').next() == Some(name)).count() < 2;
    let below = file.match_indices('/').filter(|(at, _)| occurs(setting.ask, &file[..*at], false)).map(|(at, _)| &file[at + 1..]);
    let mut ways: Vec<&str> = std::iter::once(file).chain(below.filter(|rest| rest.contains('/') || is_unique)).collect();
    if is_unique {
        ways.push(name);
    }
    ways.into_iter().filter_map(|way| position(text, way, false)).min()
}

const NO: &str = "no,not,none,isn't,doesn't,don't,aren't,invalid,false,differ,differs,different,missing,never,nothing,fail,fails,failed,broken,\
                  error,malformed,unequal,cannot,neither";
const YES: &str = "yes,valid,true,exists,exist,identical,same,equal,contains,found,matches,match,ok,passed,well-formed,there are,there is,includes,\
                   mentions,mentioned";
const FINE: &str = "no errors,no error,no problems,no problem,no differences,no difference,0 errors,0 differences,not different";

/// Names of files don't count: one is called broken.
fn yes_holds(yes: bool, text: &str, setting: &Setting<'_>) -> Judged {
    let names = setting.files.iter().flat_map(|file| [file.as_str(), file.rsplit('/').next().unwrap_or(file)]);
    let text = names.fold(text.to_owned(), |text, name| text.replace(name, "it"));
    let plain = text.to_lowercase().replace('’', "'");
    let plain = FINE.split(',').fold(plain, |plain, fine| plain.replace(fine, "ok"));
    let says = |words: &str| words.split(',').any(|word| occurs(&plain, word, true));
    let found = numbers(&plain);
    let is_zero = !found.is_empty() && found.iter().all(|number| number.value == 0.0);
    let says_no = is_zero || says(NO);
    let holds = if yes { says(YES) && !says_no } else { says_no };
    if holds { Ok(()) } else { Err(format!("it doesn't say {}", if yes { "yes" } else { "no" })) }
}
