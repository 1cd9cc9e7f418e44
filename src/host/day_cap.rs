//! `DayCap`: what all model calls of a user may take in a calendar day, in local time, across runs and processes. It is kept in a file of
//! the state folder under a lock. What a process kept that has ended without settling counts as taken: its calls may have been charged.

use super::purse::{Purse, PurseShort, short_of};
use crate::engine::{Account, CallNeed, CapAmount, Shortage, reservation};
use crate::files;
use crate::plan::Budget;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
};

/// The folder of the state folder that holds it.
const FOLDER: &str = "day";
/// Processes among which what is left is thought to be shared.
const SHARERS: u64 = 4;

/// The cap of a day, as one process keeps it.
#[derive(Debug)]
pub(super) struct DayCap {
    budget: Budget,
    folder: PathBuf,
    /// What names this process among those that keep something.
    name: String,
    /// Locked as long as the process is there.
    alive: File,
}

/// What a day has taken.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct DayAccount {
    /// As in `2026-11-27`.
    day: String,
    used: CapAmount,
    /// What each process keeps for its calls under way.
    reserved: BTreeMap<String, CapAmount>,
}

impl DayCap {
    /// Makes it ready in the state folder.
    ///
    /// # Errors
    /// When the folder can't be written.
    pub(super) fn open(home: &Path, budget: Budget) -> io::Result<Self> {
        let folder = home.join(FOLDER);
        files::private_folder(&folder)?;
        let name = uuid::Uuid::now_v7().simple().to_string();
        let alive = File::create(sign(&folder, &name))?;
        alive.lock()?;
        Ok(Self { budget, folder, name, alive })
    }

    /// Changes what is kept, alone among all processes.
    fn change<T>(&self, change: impl FnOnce(&mut DayAccount) -> T) -> io::Result<T> {
        let lock = OpenOptions::new().create(true).append(true).open(self.folder.join("lock"))?;
        lock.lock()?;
        let file = self.folder.join("day.json");
        let text = match fs::read_to_string(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            text => text?,
        };
        let mut account: DayAccount = if text.is_empty() { DayAccount::default() } else { serde_json::from_str(&text)? };
        let today = jiff::Zoned::now().strftime("%Y-%m-%d").to_string();
        if account.day != today {
            (account.day, account.used) = (today, CapAmount::default());
        }
        self.take_over(&mut account);
        let changed = change(&mut account);
        let new = self.folder.join("day.json.new");
        fs::write(&new, serde_json::to_vec(&account)?)?;
        fs::rename(&new, &file)?;
        Ok(changed)
    }

    /// What processes kept that are there no more may have been taken.
    fn take_over(&self, account: &mut DayAccount) {
        let is_gone = |name: &String| {
            let is_free = match File::open(sign(&self.folder, name)) {
                Ok(sign) => sign.try_lock().is_ok(),
                Err(error) => error.kind() == io::ErrorKind::NotFound,
            };
            *name != self.name && is_free
        };
        let gone: Vec<String> = account.reserved.keys().filter(|name| is_gone(name)).cloned().collect();
        for name in gone {
            let left = account.reserved.remove(&name).unwrap_or_default();
            account.used = account.used.plus(left);
            // It names nobody any more; where it stays it is looked at once more.
            let _ = fs::remove_file(sign(&self.folder, &name));
        }
    }
}

impl Purse for DayCap {
    fn reserve(&self, need: &CallNeed) -> Result<CapAmount, PurseShort> {
        let changed = self.change(|day| -> Result<CapAmount, Shortage> {
            let all = day.reserved.values().fold(CapAmount::default(), |all, kept| all.plus(*kept));
            let account = Account { used: day.used, reserved: all, ..Account::default() };
            let reserved = reservation(&self.budget, &account, need, SHARERS)?;
            let own = day.reserved.entry(self.name.clone()).or_default();
            *own = own.plus(reserved);
            Ok(reserved)
        });
        match changed {
            Ok(reserved) => {
                reserved.map_err(|short| short_of("today", short, "raise `day` of [limits] in your settings, or go on tomorrow"))
            }
            // What can't be counted is not spent.
            Err(error) => Err(PurseShort::Never {
                message: format!("the budget of today can't be kept: {}: {error}", self.folder.display()),
                hint: "make the folder writable, or remove `day` of [limits] from your settings".to_owned(),
            }),
        }
    }

    fn settle(&self, reserved: CapAmount, taken: CapAmount) {
        let settled = self.change(|day| {
            let own = day.reserved.entry(self.name.clone()).or_default();
            *own = own.minus(reserved);
            day.used = day.used.plus(taken);
        });
        if let Err(error) = settled {
            tracing::warn!("the budget of today can't be kept: {error}");
        }
    }
}

impl Drop for DayCap {
    fn drop(&mut self) {
        // A process that keeps nothing leaves nothing behind. What can't be written is taken over by the next one.
        let is_free = self.change(|day| {
            let is_free = day.reserved.get(&self.name).is_none_or(|kept| *kept == CapAmount::default());
            if is_free {
                day.reserved.remove(&self.name);
            }
            is_free
        });
        let _ = self.alive.unlock();
        if is_free.unwrap_or(false) {
            let _ = fs::remove_file(sign(&self.folder, &self.name));
        }
    }
}

/// The file that is locked as long as a process is there.
fn sign(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.alive"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn need() -> CallNeed {
        CallNeed { prompt: 100, least: 64, most: 500, ..CallNeed::default() }
    }

    fn cap(home: &Path, tokens: u64) -> DayCap {
        DayCap::open(home, Budget { tokens: Some(tokens), ..Budget::default() }).unwrap()
    }

    #[test]
    fn processes_share_what_a_day_may_take() {
        let home = tempfile::tempdir().unwrap();
        let (one, other) = (cap(home.path(), 1_000), cap(home.path(), 1_000));
        let first = one.reserve(&need()).unwrap();
        assert_eq!(first.tokens, 600);
        let second = other.reserve(&need()).unwrap();
        assert_eq!(second.tokens, 400);
        assert!(matches!(one.reserve(&need()), Err(PurseShort::Later(_))));
        other.settle(second, CapAmount { tokens: 300, nano_usd: 0, calls: 1 });
        one.settle(first, CapAmount { tokens: 550, nano_usd: 0, calls: 1 });
        let Err(PurseShort::Never { message, .. }) = one.reserve(&need()) else { panic!("150 are left") };
        assert_eq!(message, "the budget of today is used up: of 1,000 tokens 850 are used and 0 reserved, and the next call may take 164");
    }

    #[test]
    fn what_a_process_kept_that_is_gone_counts_as_taken() {
        let home = tempfile::tempdir().unwrap();
        let one = cap(home.path(), 1_000);
        let killed = cap(home.path(), 1_000);
        killed.reserve(&need()).unwrap();
        killed.alive.unlock().unwrap();
        std::mem::forget(killed);
        let Ok(left) = one.reserve(&need()) else { panic!("400 are left") };
        assert_eq!(left.tokens, 400);
        one.settle(left, CapAmount::default());
        assert_eq!(one.change(|day| day.used.tokens).unwrap(), 600);
    }
}
