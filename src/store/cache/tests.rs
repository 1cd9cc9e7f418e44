//! The file of cached results: what is found, compared, dropped for want of room, and deleted.

use super::*;
use crate::engine::{CachedResult, Spent};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use tempfile::TempDir;

fn entry(key: &str, run: &str, hashes: [&str; 2], text: &str) -> CacheEntry {
    let part = |name: &str, hash: &str| KeyPart { name: name.into(), hash: hash.into() };
    CacheEntry {
        key: key.into(),
        workspace: "/w".into(),
        worker: "agent writer".into(),
        parts: vec![part("the task", hashes[0]), part("the model", hashes[1])],
        source: CachedResult {
            run: RunId(run.into()),
            node: "a".into(),
            made: Time(5),
            spent: Spent::default(),
            model: None,
            private: true,
            files: Vec::new(),
            sources: Vec::new(),
        },
        result: json!(text),
        calls: Vec::new(),
        files: Vec::new(),
        outside: false,
    }
}

const ROOM: u64 = 1 << 20;

#[test]
fn a_result_is_found_by_its_key_alone_by_every_program_of_the_user() {
    let home = TempDir::new().unwrap();
    let (one, other) = (ResultCache::of(home.path()), ResultCache::of(home.path()));
    assert!(!one.exists() && one.find("k").unwrap().is_none());
    let kept = entry("k", "r", ["1", "1"], "text");
    assert!(one.keep(&kept, Time(6), ROOM).unwrap());
    assert_eq!(other.find("k").unwrap(), Some(kept));
    assert_eq!(other.find("l").unwrap(), None);
    let mode = std::fs::metadata(home.path().join("cache.db")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn what_differs_from_the_nearest_result_of_the_same_worker_is_named() {
    let home = TempDir::new().unwrap();
    let cache = ResultCache::of(home.path());
    cache.keep(&entry("far", "r1", ["8", "9"], "x"), Time(1), ROOM).unwrap();
    cache.keep(&entry("near", "r2", ["1", "9"], "x"), Time(2), ROOM).unwrap();
    let asked = entry("k", "r3", ["1", "1"], "x").parts;
    let nearest = |worker: &str, workspace: &str| cache.nearest(Path::new(workspace), worker, &asked).unwrap();
    assert_eq!(nearest("agent writer", "/w"), Some((RunId("r2".into()), vec!["the model".to_owned()])));
    assert_eq!((nearest("agent other", "/w"), nearest("agent writer", "/v")), (None, None));
}

#[test]
fn the_least_used_go_first_where_room_is_short_and_a_huge_one_never_comes_in() {
    let home = TempDir::new().unwrap();
    let cache = ResultCache::of(home.path());
    let text = "x".repeat(4_000);
    let size = serde_json::to_string(&entry("0", "r", ["1", "1"], &text)).unwrap().len() as u64 + 200;
    let most = size * 12;
    for at in 0..12 {
        cache.keep(&entry(&at.to_string(), "r", ["1", "1"], &text), Time(at), most).unwrap();
    }
    let all = cache.list(None).unwrap().len();
    let look = CacheLook { run: RunId("s".into()), node: "a".into(), at: Time(50), hit: true, why: "same".into() };
    cache.looked(&look, Some("0")).unwrap();
    assert_eq!(cache.looks(&RunId("s".into())).unwrap(), [look]);
    for at in 100..103 {
        cache.keep(&entry(&at.to_string(), "r", ["1", "1"], &text), Time(at), most).unwrap();
    }
    let kept = cache.list(Some(Path::new("/w"))).unwrap();
    assert!(kept.len() <= 12 && kept.iter().map(|row| row.bytes).sum::<u64>() <= most, "{} of {all}", kept.len());
    assert!(cache.find("0").unwrap().is_some(), "it was used since");
    assert!(cache.find("1").unwrap().is_none(), "it was not");
    assert!(!cache.keep(&entry("huge", "r", ["1", "1"], &"x".repeat(50_000)), Time(200), most).unwrap());
}

#[test]
fn what_is_cleared_leaves_nothing_in_the_file() {
    let home = TempDir::new().unwrap();
    let cache = ResultCache::of(home.path());
    cache.keep(&entry("1", "r1", ["1", "1"], "the secret garden"), Time(1), ROOM).unwrap();
    cache.keep(&entry("2", "r2", ["2", "1"], "plain"), Time(1), ROOM).unwrap();
    assert_eq!(cache.clear(CacheScope::Runs(&[RunId("r1".into())])).unwrap(), 1);
    assert_eq!(cache.clear(CacheScope::Workspace(Path::new("/other"))).unwrap(), 0);
    assert_eq!(cache.list(None).unwrap().len(), 1);
    assert_eq!(cache.clear(CacheScope::All).unwrap(), 1);
    drop(cache);
    let raw = std::fs::read(home.path().join("cache.db")).unwrap();
    assert!(!raw.windows(6).any(|bytes| bytes == b"garden"));
}

#[test]
fn a_file_of_another_version_or_that_is_no_database_is_made_anew() {
    let home = TempDir::new().unwrap();
    let file = home.path().join("cache.db");
    let cache = ResultCache::of(home.path());
    cache.keep(&entry("1", "r1", ["1", "1"], "x"), Time(1), ROOM).unwrap();
    drop(cache);
    Connection::open(&file).unwrap().pragma_update(None, "user_version", 99).unwrap();
    assert_eq!(ResultCache::of(home.path()).list(None).unwrap(), []);
    std::fs::write(&file, "no database at all".repeat(500)).unwrap();
    let cache = ResultCache::of(home.path());
    assert!(cache.keep(&entry("2", "r1", ["1", "1"], "x"), Time(1), ROOM).unwrap());
    assert_eq!(cache.list(None).unwrap().len(), 1);
}
