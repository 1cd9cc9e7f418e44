//! How long it takes to look for a result among ten thousand that are kept, to see why none is there, and to keep one.

#![expect(clippy::expect_used, reason = "a bench that cannot set itself up has nothing to measure")]

use dagdeck::engine::{CachedResult, RunId, Spent, Time};
use dagdeck::plan::NodeId;
use dagdeck::store::{CacheEntry, CacheLook, KeyPart, ResultCache};
use serde_json::json;
use std::path::Path;

const KEPT: u64 = 10_000;
const ROOM: u64 = 200 << 20;

fn main() {
    divan::main();
}

fn parts(n: u64) -> Vec<KeyPart> {
    let names = ["dagdeck itself", "workspace", "the agent's card", "the tools on offer", "the model", "the task", "earlier results"];
    names.into_iter().enumerate().map(|(at, name)| KeyPart { name: name.to_owned(), hash: format!("{:064x}", n * 7 + at as u64) }).collect()
}

/// A result of four kilobytes.
fn entry(n: u64) -> CacheEntry {
    CacheEntry {
        key: format!("{n:064x}"),
        workspace: "/w".into(),
        worker: "agent writer".to_owned(),
        parts: parts(n),
        source: CachedResult {
            run: RunId(format!("run-{n:06}")),
            node: NodeId::new("write"),
            made: Time(n),
            spent: Spent::default(),
            model: None,
            private: false,
            files: Vec::new(),
            sources: Vec::new(),
        },
        result: json!("word ".repeat(800)),
        calls: Vec::new(),
        files: Vec::new(),
        outside: false,
    }
}

fn look(hit: bool) -> CacheLook {
    CacheLook {
        run: RunId("r".to_owned()),
        node: NodeId::new("a"),
        at: Time(KEPT),
        hit,
        why: "all that went into it is the same".to_owned(),
    }
}

fn filled() -> (tempfile::TempDir, ResultCache) {
    let home = tempfile::tempdir().expect("a temporary folder");
    let cache = ResultCache::of(home.path());
    for n in 0..KEPT {
        cache.keep(&entry(n), Time(n), ROOM).expect("room");
    }
    (home, cache)
}

#[divan::bench(sample_count = 21, sample_size = 10)]
fn a_look_that_finds_a_result(bencher: divan::Bencher<'_, '_>) {
    let (_home, cache) = filled();
    let key = format!("{:064x}", KEPT / 2);
    bencher.bench_local(|| {
        let found = cache.find(&key).expect("a cache").expect("a result");
        cache.looked(&look(true), Some(&key)).expect("a cache");
        found
    });
}

#[divan::bench(sample_count = 21, sample_size = 10)]
fn a_look_that_finds_none_and_says_why(bencher: divan::Bencher<'_, '_>) {
    let (_home, cache) = filled();
    let asked = parts(KEPT * 2);
    bencher.bench_local(|| {
        assert!(cache.find("nothing").expect("a cache").is_none());
        let nearest = cache.nearest(Path::new("/w"), "agent writer", &asked).expect("a cache");
        cache.looked(&look(false), None).expect("a cache");
        nearest
    });
}

#[divan::bench(sample_count = 21, sample_size = 10)]
fn a_result_is_kept(bencher: divan::Bencher<'_, '_>) {
    let (_home, cache) = filled();
    let mut n = KEPT;
    bencher.bench_local(|| {
        n += 1;
        cache.keep(&entry(n), Time(n), ROOM).expect("a cache")
    });
}
