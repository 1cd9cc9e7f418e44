//! How long a server asks to wait before a call is sent again: by header, or in the words of its error.

use reqwest::header::HeaderMap;
use std::time::Duration;

/// By header: `retry-after-ms`, `retry-after` in seconds or as a date, or what LiteLLM passes on as `llm_provider-retry-after`.
pub fn in_headers(headers: &HeaderMap, now: jiff::Timestamp) -> Option<Duration> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(ms) = header("retry-after-ms").and_then(|text| text.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(ms / 1000.0).ok();
    }
    let text = header("retry-after").or_else(|| header("llm_provider-retry-after"))?;
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok()?;
    Some(date.duration_since(now).try_into().unwrap_or(Duration::ZERO))
}

/// What stands before a time in the words of servers.
const LEADS: [&str; 6] = ["try again in ", "try again after ", "retry in ", "retry after ", "\"retrydelay\": \"", "\"retrydelay\":\""];

/// In words: "Please try again in 6m0.5s", "retry after 6 seconds", Google's `"retryDelay": "59s"`.
pub fn in_words(text: &str) -> Option<Duration> {
    let text = text.to_lowercase();
    let (at, lead) = LEADS.iter().filter_map(|lead| text.find(lead).map(|at| (at, lead))).min()?;
    duration(&text[at + lead.len()..])
}

/// The duration that a text starts with: numbers with units, one after the other.
fn duration(mut text: &str) -> Option<Duration> {
    let mut whole: Option<Duration> = None;
    loop {
        let digits = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
        let Ok(number) = text[..digits].trim_end_matches('.').parse::<f64>() else { return whole };
        let rest = text[digits..].trim_start_matches(' ');
        let letters = rest.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(rest.len());
        let unit = match &rest[..letters] {
            "ms" | "millisecond" | "milliseconds" => 0.001,
            "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
            "h" | "hour" | "hours" => 3600.0,
            _ => return whole,
        };
        whole = Some(whole.unwrap_or_default() + Duration::try_from_secs_f64(number * unit).ok()?);
        text = rest[letters..].trim_start_matches(' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_read_from_the_words_of_servers() {
        for (text, ms) in [
            ("Rate limit reached for gpt-4o: Limit 30000, Used 29000. Please try again in 490ms. Visit https://x", Some(490)),
            ("Please try again in 0.49s.", Some(490)),
            ("Please try again in 6m0s. Contact us", Some(360_000)),
            ("Please try again in 1h2m3.5s", Some(3_723_500)),
            ("Requests have exceeded the limit. Please retry after 6 seconds.", Some(6_000)),
            ("Please retry in 20.5s", Some(20_500)),
            ("{\"details\": [{\"retryDelay\": \"59s\"}]}", Some(59_000)),
            ("Try again in 1 minute 30 seconds", Some(90_000)),
            ("please try again in a while", None),
            ("please try again later", None),
            ("used 29000 of 30000", None),
        ] {
            assert_eq!(in_words(text), ms.map(Duration::from_millis), "{text}");
        }
    }

    #[test]
    fn a_date_counts_from_now() {
        let headers: HeaderMap = [(reqwest::header::RETRY_AFTER, "Wed, 21 Oct 2015 07:28:00 GMT".parse().unwrap())].into_iter().collect();
        let wait = |now: &str| in_headers(&headers, now.parse().unwrap());
        assert_eq!(wait("2015-10-21T07:27:50Z"), Some(Duration::from_secs(10)));
        assert_eq!(wait("2015-10-21T08:00:00Z"), Some(Duration::ZERO));
    }
}
