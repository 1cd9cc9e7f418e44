//! What git writes, as data. Forms that are meant for programs: fields ended by NUL, porcelain.

use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Texts that NUL ends.
fn fields(bytes: &[u8]) -> Vec<String> {
    let bytes = bytes.strip_suffix(b"\0").unwrap_or(bytes);
    if bytes.is_empty() {
        return Vec::new();
    }
    bytes.split(|byte| *byte == 0).map(|field| String::from_utf8_lossy(field).into_owned()).collect()
}

/// Hash, author, address, date and subject of each commit.
pub(super) fn commits(bytes: &[u8]) -> Vec<Value> {
    let commit = |fields: &[String]| match fields {
        [hash, author, email, date, subject] => {
            Some(json!({"hash": hash, "author": author, "email": email, "date": date, "subject": subject}))
        }
        _ => None,
    };
    fields(bytes).chunks(5).filter_map(commit).collect()
}

/// The word for a letter of git's.
fn change(letter: char) -> &'static str {
    match letter {
        'A' => "added",
        'D' => "deleted",
        'R' => "renamed",
        'C' => "copied",
        'T' => "type_changed",
        'U' => "conflicted",
        _ => "modified",
    }
}

/// `status --porcelain=v2 --branch -z`.
pub(super) fn status(bytes: &[u8]) -> Value {
    let (mut branch, mut upstream, mut ahead, mut behind, mut files) = (None, None, 0, 0, Vec::new());
    let all = fields(bytes);
    let mut entries = all.iter();
    while let Some(entry) = entries.next() {
        let (kind, rest) = entry.split_once(' ').unwrap_or((entry, ""));
        let nth = |n: usize| rest.splitn(n + 1, ' ').nth(n).unwrap_or_default();
        match kind {
            "#" => match rest.split_once(' ') {
                Some(("branch.head", name)) => branch = (name != "(detached)").then(|| name.to_owned()),
                Some(("branch.upstream", name)) => upstream = Some(name.to_owned()),
                Some(("branch.ab", counts)) => {
                    let count = |counted: Option<&str>| counted.and_then(|text| text[1..].parse().ok()).unwrap_or(0);
                    let mut counts = counts.split(' ');
                    (ahead, behind) = (count(counts.next()), count(counts.next()));
                }
                _ => {}
            },
            "?" => files.push(json!({"path": rest, "status": "untracked", "staged": false})),
            "u" => files.push(json!({"path": nth(9), "status": "conflicted", "staged": false})),
            "1" | "2" => {
                let path = nth(if kind == "1" { 7 } else { 8 });
                let from = (kind == "2").then(|| entries.next()).flatten();
                for (letter, staged) in rest.chars().take(2).zip([true, false]).filter(|(letter, _)| *letter != '.') {
                    let mut file = json!({"path": path, "status": change(letter), "staged": staged});
                    if let Some(from) = from.filter(|_| matches!(letter, 'R' | 'C')) {
                        file["from"] = json!(from);
                    }
                    files.push(file);
                }
            }
            _ => {}
        }
    }
    json!({
        "branch": branch, "upstream": upstream, "ahead": ahead, "behind": behind, "clean": files.is_empty(), "files": files,
    })
}

/// `--name-status -z` and `--numstat -z` of the same difference.
pub(super) fn files(names: &[u8], numbers: &[u8]) -> Vec<Value> {
    let mut counts: BTreeMap<String, (Option<u64>, Option<u64>)> = BTreeMap::new();
    let all = fields(numbers);
    let mut entries = all.iter();
    while let Some(entry) = entries.next() {
        let mut parts = entry.splitn(3, '\t');
        let mut number = || parts.next().and_then(|text| text.parse().ok());
        let count = (number(), number());
        let path = match parts.next() {
            // A rename has its paths in fields of their own, the new one last.
            Some("") => entries.nth(1).cloned(),
            path => path.map(str::to_owned),
        };
        counts.extend(path.map(|path| (path, count)));
    }
    let all = fields(names);
    let (mut entries, mut found) = (all.iter(), Vec::new());
    while let (Some(letter), Some(first)) = (entries.next(), entries.next()) {
        let letter = letter.chars().next().unwrap_or('M');
        let from = matches!(letter, 'R' | 'C').then_some(first);
        let Some(path) = from.map_or(Some(first), |_| entries.next()) else { break };
        let (added, removed) = counts.get(path).copied().unwrap_or_default();
        let mut file = json!({"path": path, "status": change(letter), "added": added, "removed": removed});
        if let Some(from) = from {
            file["from"] = json!(from);
        }
        found.push(file);
    }
    found
}

/// `blame --porcelain`: a commit's fields come with its first line only.
pub(super) fn blame(bytes: &[u8]) -> Vec<Value> {
    let text = String::from_utf8_lossy(bytes);
    let mut commits: BTreeMap<String, (String, i64, String)> = BTreeMap::new();
    let (mut hash, mut line, mut found) = (String::new(), 0_u64, Vec::new());
    for row in text.split('\n') {
        let (key, value) = row.split_once(' ').unwrap_or((row, ""));
        if let Some(text) = row.strip_prefix('\t') {
            let (author, seconds, zone) = commits.get(&hash).cloned().unwrap_or_default();
            let date = dated(seconds, &zone);
            found.push(json!({"line": line, "hash": hash, "author": author, "date": date, "text": text.trim_end_matches('\r')}));
        } else if key.len() >= 40 && key.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            key.clone_into(&mut hash);
            line = value.split(' ').nth(1).and_then(|line| line.parse().ok()).unwrap_or_default();
        } else {
            let commit = commits.entry(hash.clone()).or_default();
            match key {
                "author" => value.clone_into(&mut commit.0),
                "author-time" => commit.1 = value.parse().unwrap_or_default(),
                "author-tz" => value.clone_into(&mut commit.2),
                _ => {}
            }
        }
    }
    found
}

/// Seconds and an offset such as `+0130` in ISO form.
fn dated(seconds: i64, zone: &str) -> Option<String> {
    let offset: i32 = zone.parse().ok()?;
    let zone = jiff::tz::Offset::from_seconds((offset / 100 * 60 + offset % 100) * 60).ok()?;
    let time = jiff::Timestamp::from_second(seconds).ok()?.to_zoned(zone.to_time_zone());
    Some(time.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string())
}

/// Name, whether it is checked out, hash, date and subject of each branch.
pub(super) fn branches(bytes: &[u8]) -> Vec<Value> {
    let branch = |fields: &[String]| match fields {
        [name, head, hash, date, subject] => {
            let name = name.trim_start_matches('\n');
            let remote = name.strip_prefix("refs/remotes/");
            if remote.is_some_and(|name| name.ends_with("/HEAD")) {
                return None;
            }
            let name = remote.or_else(|| ["refs/heads/", "refs/tags/"].iter().find_map(|place| name.strip_prefix(place))).unwrap_or(name);
            let current = head == "*";
            Some(json!({"name": name, "current": current, "remote": remote.is_some(), "hash": hash, "date": date, "subject": subject}))
        }
        _ => None,
    };
    let text = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    fields(text).chunks(5).filter_map(branch).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_writes_is_read_whatever_the_names_are() {
        let status_text = b"# branch.oid 1\0# branch.head main\0# branch.upstream o/main\0# branch.ab +2 -1\0\
            1 MM N... 1 1 1 a b my file.rs\0\
            2 R. N... 1 1 1 a b R100 new\nname\0old name\0\
            u UU N... 1 1 1 1 a b c both.rs\0? new dir/x\0";
        let value = status(status_text);
        assert_eq!(
            (&value["branch"], &value["upstream"], &value["ahead"], &value["behind"]),
            (&json!("main"), &json!("o/main"), &json!(2), &json!(1))
        );
        let file = |path: &str, status: &str, staged: bool| json!({"path": path, "status": status, "staged": staged});
        let mut renamed = file("new\nname", "renamed", true);
        renamed["from"] = json!("old name");
        let expected = [
            file("my file.rs", "modified", true),
            file("my file.rs", "modified", false),
            renamed,
            file("both.rs", "conflicted", false),
            file("new dir/x", "untracked", false),
        ];
        assert_eq!(value["files"], json!(expected));
        let named = files(b"M\0a\tb\0R090\0old\0new\0A\0pic\0", b"1\t2\ta\tb\x003\t0\t\0old\0new\0-\t-\tpic\0");
        let expected = json!([
            {"path": "a\tb", "status": "modified", "added": 1, "removed": 2},
            {"path": "new", "status": "renamed", "added": 3, "removed": 0, "from": "old"},
            {"path": "pic", "status": "added", "added": null, "removed": null},
        ]);
        assert_eq!(Value::Array(named), expected);
        assert_eq!(dated(0, "-0130").as_deref(), Some("1969-12-31T22:30:00-01:30"));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(proptest::sample::select(b"12u?#R.M \0\t\n+-aab3".to_vec()), 0..80)) {
            let _ = (status(&bytes), commits(&bytes), files(&bytes, &bytes), blame(&bytes), branches(&bytes));
        }
    }
}
