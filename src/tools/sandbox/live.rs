//! `LiveOutput`: what a child writes, line by line while it runs, for whoever watches. It is a look at the child, not its result: long
//! lines are cut, and of a child that writes very much only some lines are passed on; both are said.

use std::time::Duration;
use tokio::time::Instant;

/// Takes lines of a call that is under way, and whether each was cut.
pub type Watcher = dyn Fn(&str, bool) + Send + Sync;

/// Bytes of a line that are passed on.
const LONGEST: usize = 2_000;
/// Bytes that are passed on as they come; of what follows, a line in a while.
const FREELY: usize = 32 << 10;
const A_WHILE: Duration = Duration::from_secs(1);

/// One stream of a child.
pub(super) struct LiveOutput<'a> {
    watcher: Option<&'a Watcher>,
    line: Vec<u8>,
    is_cut: bool,
    passed: usize,
    left_out: usize,
    last: Instant,
}

impl<'a> LiveOutput<'a> {
    pub(super) fn new(watcher: Option<&'a Watcher>) -> Self {
        Self { watcher, line: Vec::new(), is_cut: false, passed: 0, left_out: 0, last: Instant::now() }
    }

    /// Bytes came.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        if self.watcher.is_none() {
            return;
        }
        // What a carriage return overwrites is a line too.
        for piece in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let ends = piece.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r'));
            let text = &piece[..piece.len() - usize::from(ends)];
            let room = LONGEST.saturating_sub(self.line.len());
            self.is_cut |= text.len() > room;
            self.line.extend_from_slice(&text[..text.len().min(room)]);
            if ends {
                self.pass();
            }
        }
    }

    /// The stream has ended.
    pub(super) fn end(&mut self) {
        self.pass();
    }

    fn pass(&mut self) {
        let (line, is_cut) = (std::mem::take(&mut self.line), std::mem::take(&mut self.is_cut));
        let Some(watcher) = self.watcher.filter(|_| !line.is_empty()) else { return };
        if self.passed >= FREELY && self.last.elapsed() < A_WHILE {
            self.left_out += 1;
            return;
        }
        self.passed += line.len() + 1;
        self.last = Instant::now();
        match std::mem::take(&mut self.left_out) {
            0 => {}
            left_out => watcher(&format!("[{left_out} lines are not shown while it runs]"), false),
        }
        watcher(&String::from_utf8_lossy(&line), is_cut);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    async fn heard(pieces: &[&[u8]], last: &[u8]) -> Vec<String> {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let heard = lines.clone();
        let watcher = move |line: &str, is_cut: bool| heard.lock().unwrap().push(format!("{line}{}", if is_cut { "…" } else { "" }));
        let mut live = LiveOutput::new(Some(&watcher));
        pieces.iter().for_each(|piece| live.push(piece));
        tokio::time::advance(A_WHILE).await;
        live.push(last);
        live.end();
        let heard = lines.lock().unwrap();
        heard.clone()
    }

    #[tokio::test(start_paused = true)]
    async fn lines_come_whole_however_they_were_written() {
        assert_eq!(heard(&[b"one\ntw", b"o\n\n", b"10%\r20%\r"], b"end").await, ["one", "two", "10%", "20%", "end"]);
    }

    #[tokio::test(start_paused = true)]
    async fn much_output_is_passed_on_in_part_and_it_is_said() {
        let (line, all) = ([b'x'; 99], 10_000);
        let lines = heard(&[&[line.as_slice(), b"\n"].concat().repeat(all)], b"end").await;
        let whole = FREELY.div_ceil(100);
        assert_eq!(lines[whole..], [format!("[{} lines are not shown while it runs]", all - whole), "end".into()]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_long_line_is_cut_and_it_is_said() {
        assert_eq!(heard(&[&[b'x'; 1_999], b"yz"], b"\nend").await, [format!("{}y…", "x".repeat(1_999)), "end".into()]);
    }
}
