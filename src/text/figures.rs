//! Figures in a person's form: durations, counts, bytes, money, moments. The same everywhere: no locale. Moments are in UTC, and say so,
//! unless the zone of a person's clock is given.

use jiff::{Timestamp, tz::TimeZone};

use super::Plain;
use std::fmt::Display;

/// The first of some names, and how many more there are: `a, b and 3 more`.
pub fn some_of(names: impl IntoIterator<Item = impl Display>, most: usize) -> String {
    let mut names = names.into_iter();
    let first: Vec<String> = names.by_ref().take(most).map(|name| name.to_string()).collect();
    let first = first.join(", ");
    match names.count() {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether a number keeps all digits that it was written with.
pub fn keeps_digits(written: &str, number: f64) -> bool {
    let digits = |text: &str| {
        let text = text.to_ascii_lowercase();
        let digits: String = text.split('e').next().unwrap_or_default().chars().filter(char::is_ascii_digit).collect();
        digits.trim_matches('0').to_owned()
    };
    digits(written) == digits(&number.to_string())
}

/// Milliseconds as `850ms`, `1.2s`, `34s`, `3m04s`, `2h05m`, `3d04h`.
pub fn duration(ms: u64) -> Plain {
    let seconds = ms / 1000;
    Plain::line(&match seconds {
        0 => format!("{ms}ms"),
        1..=9 => format!("{seconds}.{}s", ms % 1000 / 100),
        10..=59 => format!("{seconds}s"),
        60..=3_599 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        3_600..=86_399 => format!("{}h{:02}m", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{}d{:02}h", seconds / 86_400, seconds / 3_600 % 24),
    })
}

/// A number of things, tokens mostly, as `999`, `1.2k`, `34k`, `5.6M`.
pub fn count(n: u64) -> Plain {
    Plain::line(&scaled(n, &["", "k", "M", "G", "T", "P", "E"]))
}

/// Tokens of a text for a model, without its tokenizer: one for each four bytes of ASCII, one for each two bytes of anything else, rounded
/// up. English prose and JSON come out 5 to 30 % high, scripts without spaces about right.
pub fn tokens(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    let other = text.len() as u64 - ascii;
    ascii.div_ceil(4) + other.div_ceil(2)
}

/// A whole number with its thousands apart: `1,234,567`.
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join(",")
}

/// So many of something in words: `1 node`, `2 nodes`; for words that take an `s`.
pub fn counted(n: usize, word: &str) -> String {
    if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") }
}

/// A size as `999 B`, `1.2 kB`, `34 MB`; powers of 1000.
pub fn bytes(n: u64) -> Plain {
    Plain::line(&scaled(n, &[" B", " kB", " MB", " GB", " TB", " PB", " EB"]))
}

/// US dollars: cents when there are any, else enough places to see something.
pub fn cost(usd: f64) -> Plain {
    Plain::line(&match usd {
        usd if !usd.is_finite() || usd < 0.0 => "$?".to_owned(),
        0.0 => "$0".to_owned(),
        usd if usd < 0.0001 => "<$0.0001".to_owned(),
        usd if usd < 0.1 => format!("${usd:.4}"),
        usd => format!("${usd:.2}"),
    })
}

/// Time that goes on, in columns that stay: `0:12`, `1:02:03`.
pub fn stopwatch(ms: u64) -> Plain {
    let (hours, minutes, seconds) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60);
    let text = if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") };
    Plain::line(&text).pad_start(7)
}

/// A moment as `2026-11-21 11:38:22Z`, from milliseconds since the Unix epoch.
pub fn timestamp(ms: u64) -> Plain {
    moment(ms, "%Y-%m-%d %H:%M:%SZ")
}

/// The time of day of a moment as `11:38:22Z`.
pub fn clock(ms: u64) -> Plain {
    moment(ms, "%H:%M:%SZ")
}

/// The time of day of a moment as a person's clock shows it: `12:38:22`.
pub fn time_of_day(ms: u64, zone: &TimeZone) -> Plain {
    zoned(ms, zone, "%H:%M:%S")
}

/// A moment as a person's clock shows it, with what that is off from UTC: `2026-11-21 12:38:22.104 +01:00`.
pub fn date_and_time(ms: u64, zone: &TimeZone) -> Plain {
    zoned(ms, zone, "%Y-%m-%d %H:%M:%S%.3f %:z")
}

/// When something began, for a list: the time of day of today, with the day where it was another one.
pub fn began(ms: u64, now: u64, zone: &TimeZone) -> Plain {
    let day = |ms| zoned(ms, zone, "%F");
    zoned(ms, zone, if day(ms) == day(now) { "%H:%M" } else { "%b %d %H:%M" })
}

/// How far into something a moment is, to the millisecond: `0:07.042`, `1:02:03.004`.
pub fn offset(ms: u64) -> Plain {
    let (hours, minutes, seconds, rest) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60, ms % 1_000);
    let text = if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}.{rest:03}") } else { format!("{minutes}:{seconds:02}.{rest:03}") };
    Plain::line(&text)
}

/// How long ago something was, in its largest unit: `now`, `2 min ago`, `3 h ago`, `5 days ago`.
pub fn ago(ms: u64) -> Plain {
    let minutes = ms / 60_000;
    Plain::line(&match minutes {
        0 => "now".to_owned(),
        1..60 => format!("{minutes} min ago"),
        60..2_880 => format!("{} h ago", minutes / 60),
        _ => format!("{} days ago", minutes / 1_440),
    })
}

fn moment(ms: u64, format: &str) -> Plain {
    zoned(ms, &TimeZone::UTC, format)
}

fn zoned(ms: u64, zone: &TimeZone, format: &str) -> Plain {
    let known = i64::try_from(ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    known.map_or_else(|| Plain::line("unknown time"), |at| Plain::line(&at.to_zoned(zone.clone()).strftime(format).to_string()))
}

/// Three figures at most, cut rather than rounded, so that nothing shows as more than it is.
fn scaled(n: u64, units: &[&str]) -> String {
    let (mut whole, mut tenth, mut unit) = (n, 0, 0);
    while whole >= 1000 && unit + 1 < units.len() {
        tenth = whole % 1000 / 100;
        whole /= 1000;
        unit += 1;
    }
    let name = units.get(unit).copied().unwrap_or_default();
    if unit > 0 && whole < 10 { format!("{whole}.{tenth}{name}") } else { format!("{whole}{name}") }
}
