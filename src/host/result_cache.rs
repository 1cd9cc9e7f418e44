//! `RunCache`: takes results of earlier runs in the place of work that is the same in all that can change its result, and keeps what this
//! run makes. The engine says which attempts may do so; what comes of it is an event. Whatever is wrong with the cache only costs work.

use super::{
    cache_config::CacheConfig,
    cache_key::WorkParts,
    clock::Clock,
    workers::{Assignment, AttemptKey},
};
use crate::engine::{CacheUse, CachedResult, Event, NodeFact, NodeState, Record, Run, RunId, ToolCall, short_name};
use crate::files;
use crate::models::config::Lookup;
use crate::plan::{NodeId, Risk};
use crate::store::{CacheEntry, CacheLook, KeyPart, ResultCache, StoreError};
use crate::text::duration;
use crate::tools::{DependsOn, ToolRegistry};
use sha2::{Digest, Sha256};
use std::{
    collections::HashMap,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// The variable of the environment that turns the cache `off`, or on.
const SWITCH: &str = "DAGDECK_CACHE";
/// Most bytes of a file that is compared.
const LARGEST_FILE: u64 = 16 << 20;
/// The clock that dates files goes in steps: what was written so short before may look older than it is.
const CLOCK_STEP: Duration = Duration::from_millis(20);

/// The results of all runs of a user, and what people say of them.
pub(super) struct SharedCache {
    results: ResultCache,
    config: CacheConfig,
}

impl SharedCache {
    /// The cache in a home folder; none where people turned it off.
    pub(super) fn of(home: &Path, config: CacheConfig, env: Lookup<'_>) -> Option<Arc<Self>> {
        let enabled = env(SWITCH).map_or(config.enabled, |switch| switch != "off");
        enabled.then(|| Arc::new(Self { results: ResultCache::of(home), config }))
    }
}

/// The cache as one run sees it.
pub(super) struct RunCache {
    shared: Arc<SharedCache>,
    workspace: PathBuf,
    clock: Arc<dyn Clock>,
    known: Mutex<WorkSoFar>,
}

/// What this run was asked for so far.
#[derive(Default)]
struct WorkSoFar {
    /// The nodes of each work: one that is the same as another of the run is asked for because its result may be another.
    nodes: HashMap<String, Vec<NodeId>>,
    open: HashMap<AttemptKey, OpenWork>,
}

/// Work under way, whose result may be kept.
#[derive(Clone)]
struct OpenWork {
    entry_key: String,
    worker: String,
    parts: Vec<KeyPart>,
    outside: bool,
    has_ttl: bool,
    began: SystemTime,
    /// People had a part in it.
    steered: Arc<AtomicBool>,
}

impl RunCache {
    pub(super) fn new(shared: Arc<SharedCache>, workspace: PathBuf, clock: Arc<dyn Clock>) -> Self {
        Self { shared, workspace, clock, known: Mutex::default() }
    }

    /// Looks for the result of an attempt. What isn't found is remembered, so that it can be kept once it is made.
    pub(super) async fn find(
        self: &Arc<Self>,
        task: &Assignment,
        (work, steered): (WorkParts, Arc<AtomicBool>),
        needs_yes: impl Fn(&ToolCall, bool) -> bool,
    ) -> Option<CacheEntry> {
        let cache_use = task.cache?;
        let WorkParts { worker, mut parts, outside } = work;
        parts.push(self.number(&parts, &task.origin.node));
        let open = OpenWork {
            entry_key: hash_of(&parts),
            worker,
            parts,
            outside,
            has_ttl: cache_use.ttl_s.is_some(),
            began: SystemTime::now(),
            steered,
        };
        let looked = {
            let (cache, open, run) = (self.clone(), open.clone(), task.run.clone());
            tokio::task::spawn_blocking(move || cache.look(&open, cache_use, &run)).await.ok()?
        };
        let outcome = looked.and_then(|found| {
            let strict = cache_use.asks_to_send || found.source.private;
            let asks = found.calls.iter().find(|call| needs_yes(call, strict));
            let why = asks.map(|call| format!("its call of `{}` needs a yes", call.tool));
            why.map_or(Ok(found), Err)
        });
        let look = CacheLook {
            run: task.run.clone(),
            node: task.origin.node.clone(),
            at: self.clock.now(),
            hit: outcome.is_ok(),
            why: outcome.as_ref().map_or_else(Clone::clone, |found| origin_of(&found.source)),
        };
        let taken = outcome.as_ref().ok().map(|found| found.key.clone());
        if taken.is_none() {
            self.lock().open.insert(task.origin.clone(), open);
        }
        let cache = self.clone();
        let noted = tokio::task::spawn_blocking(move || cache.shared.results.looked(&look, taken.as_deref())).await;
        warn(noted.unwrap_or(Ok(())));
        outcome.ok()
    }

    /// Which of the same works of this run it is.
    fn number(&self, parts: &[KeyPart], node: &NodeId) -> KeyPart {
        let mut known = self.lock();
        let same = known.nodes.entry(hash_of(parts)).or_default();
        let at = same.iter().position(|known| known == node).unwrap_or_else(|| {
            same.push(node.clone());
            same.len() - 1
        });
        KeyPart { name: "which of the same nodes it is".to_owned(), hash: at.to_string() }
    }

    /// The result that may be taken, or why none may.
    fn look(&self, open: &OpenWork, cache_use: CacheUse, run: &RunId) -> Result<CacheEntry, String> {
        if !cache_use.reads {
            return Err("it runs again because a person or a retry asked for that".to_owned());
        }
        let results = &self.shared.results;
        let found = results.find(&open.entry_key).unwrap_or_else(|error| {
            warn(Err(error));
            None
        });
        let Some(entry) = found else { return Err(self.difference(open)) };
        let age = self.clock.now().since(entry.source.made);
        let lives = self.shared.config.lives_ms(cache_use.ttl_s);
        if entry.source.run == *run {
            return Err("the result that is kept is of this run".to_owned());
        }
        if age > lives {
            return Err(format!("the result that is kept is {} old, and may be {}", duration(age), duration(lives)));
        }
        if entry.outside && !open.has_ttl {
            return Err("it used the network or the clock, and the node's `cache` gives no time for that".to_owned());
        }
        match entry.files.iter().find(|(path, hash)| file_hash(&self.workspace.join(path), None).as_ref() != Some(hash)) {
            Some((path, _)) => Err(format!("`{path}`, which it read, is another now")),
            None => Ok(entry),
        }
    }

    fn difference(&self, open: &OpenWork) -> String {
        match self.shared.results.nearest(&self.workspace, &open.worker, &open.parts) {
            Ok(Some((run, others))) if !others.is_empty() => {
                format!("nothing is kept for it; since run `{}` other: {}", short_name(&run.0), others.join(", "))
            }
            Ok(_) | Err(_) => "nothing is kept for it yet".to_owned(),
        }
    }

    /// Keeps the results that have just been recorded, as far as they are worth it: plain, whole, and nobody's but the node's own.
    pub(super) fn completed(&self, run: &Run, records: &[Record], tools: &ToolRegistry) -> Vec<KeptWork> {
        records.iter().filter_map(|record| self.kept(run, record, tools)).collect()
    }

    fn kept(&self, run: &Run, record: &Record, tools: &ToolRegistry) -> Option<KeptWork> {
        let Event::Node { node_id, generation, fact: NodeFact::Completed { result, mark: None } } = &record.event else { return None };
        let node = run.node(node_id).filter(|node| node.generation == *generation && node.state == NodeState::Succeeded)?;
        let origin = AttemptKey { node: node_id.clone(), generation: *generation, attempt: node.attempt };
        let open = self.lock().open.remove(&origin)?;
        let lineage = &node.lineage;
        let is_plain = lineage.notes.is_empty() && !lineage.acted && !lineage.rehearsed && !open.steered.load(Ordering::Relaxed);
        let calls: Vec<ToolCall> = lineage.tools.iter().map(|(call, _)| call.clone()).collect();
        let worked = lineage.tools.iter().all(|(_, report)| report.as_ref().is_some_and(|report| report.ok));
        let reach = calls.iter().map(|call| reach(tools, call)).max().unwrap_or(CallReach::Comparable);
        let outside = open.outside || reach == CallReach::Outside;
        if !is_plain || !worked || reach == CallReach::Effect || outside && !open.has_ttl {
            return None;
        }
        let source = CachedResult {
            run: run.id()?.clone(),
            node: node_id.clone(),
            made: record.at,
            spent: lineage.spent,
            model: lineage.model.clone(),
            private: lineage.private,
            files: lineage.files.clone(),
            sources: lineage.sources.clone(),
        };
        let entry = CacheEntry {
            key: open.entry_key,
            workspace: self.workspace.clone(),
            worker: open.worker,
            parts: open.parts,
            source,
            result: result.clone(),
            calls,
            files: Vec::new(),
            outside,
        };
        Some(KeptWork { entry, began: open.began })
    }

    /// Writes them. Of a file that changed since the work began nobody knows which state of it was read.
    pub(super) fn keep(&self, works: Vec<KeptWork>) {
        let most = self.shared.config.max_mb.saturating_mul(1 << 20);
        for KeptWork { mut entry, began } in works {
            let mut read: Vec<String> = entry.source.files.iter().map(|file| file.path.clone()).collect();
            read.sort();
            read.dedup();
            let hashed = read.into_iter().map(|path| file_hash(&self.workspace.join(&path), Some(began)).map(|hash| (path, hash)));
            let Some(files) = hashed.collect::<Option<Vec<_>>>() else { continue };
            entry.files = files;
            warn(self.shared.results.keep(&entry, self.clock.now(), most).map(drop));
        }
    }

    fn lock(&self) -> MutexGuard<'_, WorkSoFar> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A result to be kept, once its files are compared.
pub(super) struct KeptWork {
    entry: CacheEntry,
    began: SystemTime,
}

/// How far a call reaches; the farthest last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum CallReach {
    /// The same again, as long as the files that it read are.
    Comparable,
    Outside,
    Effect,
}

fn reach(tools: &ToolRegistry, call: &ToolCall) -> CallReach {
    let Some((tool, info)) = tools.get(&call.tool).zip(tools.info(&call.tool)) else { return CallReach::Effect };
    match (info.risk, tool.depends_on(&call.args)) {
        (Risk::Write | Risk::Execute, _) => CallReach::Effect,
        (Risk::Read, DependsOn::Arguments | DependsOn::Files) => CallReach::Comparable,
        (Risk::Read | Risk::Network, _) => CallReach::Outside,
    }
}

fn origin_of(source: &CachedResult) -> String {
    format!("the result of `{}` in run `{}`: all that went into it is the same", source.node, short_name(&source.run.0))
}

fn hash_of(parts: &[KeyPart]) -> String {
    let all = parts.iter().flat_map(|part| [part.name.as_bytes(), b"\0", part.hash.as_bytes(), b"\n"]);
    hex(&all.fold(Sha256::new(), |hash, piece| hash.chain_update(piece)).finalize())
}

/// What is in a file; none where it can't be read, or was changed since then.
fn file_hash(path: &Path, unless_since: Option<SystemTime>) -> Option<String> {
    if let Some(began) = unless_since {
        let about = std::fs::metadata(path).ok()?;
        let nanoseconds = u32::try_from(about.ctime_nsec()).ok()?;
        let changed = UNIX_EPOCH + Duration::new(u64::try_from(about.ctime()).ok()?, nanoseconds);
        if changed + CLOCK_STEP > began {
            return None;
        }
    }
    files::read_bytes(path, LARGEST_FILE).ok().map(|bytes| hex(&Sha256::digest(bytes)))
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn warn(done: Result<(), StoreError>) {
    if let Err(error) = done {
        tracing::warn!(%error, "the cache of results can't be used");
    }
}
