//! `CallProgress`: hands the progress that a server reports to the call that it belongs to. A report may be here before the call's token is
//! known: it waits for the call.

use crate::tools::sandbox::Watcher;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::Notify;

/// So many reports wait for their call; the oldest goes first.
const WAITING: usize = 64;

#[derive(Default)]
pub(super) struct CallProgress {
    state: Mutex<ProgressState>,
}

#[derive(Default)]
struct ProgressState {
    calls: HashMap<ProgressToken, (Option<Arc<Watcher>>, Arc<Notify>)>,
    waiting: VecDeque<(ProgressToken, String)>,
}

impl CallProgress {
    /// A call is under way: what was reported of it until now is shown at once. `sign` hears of each report.
    pub(super) fn begin(&self, token: &ProgressToken, watcher: Option<Arc<Watcher>>, sign: Arc<Notify>) {
        let mut state = self.lock();
        let (own, others) = std::mem::take(&mut state.waiting).into_iter().partition(|(of, _)| of == token);
        state.waiting = others;
        // Inside the lock: a report that comes now is a later one.
        let show = |(_, line): (ProgressToken, String)| watcher.iter().for_each(|watcher| watcher(&line, false));
        VecDeque::<(ProgressToken, String)>::into_iter(own).for_each(show);
        state.calls.insert(token.clone(), (watcher, sign));
    }

    pub(super) fn report(&self, progress: &ProgressNotificationParam) {
        let (token, line) = (&progress.progress_token, progress_line(progress));
        let mut state = self.lock();
        let Some((watcher, sign)) = state.calls.get(token) else {
            if state.waiting.len() == WAITING {
                state.waiting.pop_front();
            }
            return state.waiting.push_back((token.clone(), line));
        };
        watcher.iter().for_each(|watcher| watcher(&line, false));
        sign.notify_one();
    }

    pub(super) fn end(&self, token: &ProgressToken) {
        self.lock().calls.remove(token);
    }

    fn lock(&self) -> MutexGuard<'_, ProgressState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn progress_line(progress: &ProgressNotificationParam) -> String {
    let of = progress.total.map(|total| format!(" of {total}")).unwrap_or_default();
    let message = progress.message.as_deref().unwrap_or_default().chars().take(500).collect::<String>();
    format!("{}{of}{}{message}", progress.progress, if message.is_empty() { "" } else { ": " })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::NumberOrString;

    #[test]
    fn what_is_reported_before_a_call_is_known_is_shown_with_it_and_in_order() {
        let (progress, token) = (CallProgress::default(), |number| ProgressToken(NumberOrString::Number(number)));
        let report = |number, step: f64| progress.report(&ProgressNotificationParam::new(token(number), step));
        [(1, 1.0), (2, 7.0), (1, 2.0)].into_iter().for_each(|(number, step)| report(number, step));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let into = seen.clone();
        let watcher: Arc<Watcher> = Arc::new(move |line: &str, _| into.lock().unwrap().push(line.to_owned()));
        progress.begin(&token(1), Some(watcher), Arc::default());
        report(1, 3.0);
        progress.end(&token(1));
        report(1, 4.0);
        assert_eq!(*seen.lock().unwrap(), ["1", "2", "3"]);
    }

    #[test]
    fn reports_that_belong_to_no_call_fill_no_memory() {
        let progress = CallProgress::default();
        for step in 0..1000 {
            progress.report(&ProgressNotificationParam::new(ProgressToken(NumberOrString::Number(step)), 1.0));
        }
        assert_eq!(progress.lock().waiting.len(), WAITING);
    }
}
