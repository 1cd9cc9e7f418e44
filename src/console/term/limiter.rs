//! `Limiter`: when the next frame may be drawn. Pure: moments come in as milliseconds of any steady clock.

/// Frames a second locally.
const LOCAL: u64 = 30;
/// Frames a second over SSH.
const REMOTE: u64 = 12;

/// Holds frames back so that they come no more often than the line can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limiter {
    interval: u64,
    last: Option<u64>,
}

impl Limiter {
    /// A limit that fits where the terminal is; `var` looks an environment variable up.
    pub fn detect(var: impl Fn(&str) -> Option<String>) -> Self {
        let remote = ["SSH_CONNECTION", "SSH_TTY"].into_iter().any(|name| var(name).is_some_and(|value| !value.is_empty()));
        Self::per_second(if remote { REMOTE } else { LOCAL })
    }

    /// At most so many frames a second.
    pub fn per_second(frames: u64) -> Self {
        Self { interval: 1000_u64.div_ceil(frames.max(1)), last: None }
    }

    /// Milliseconds to wait from `now`; 0 means that a frame may be drawn.
    pub fn wait(&self, now: u64) -> u64 {
        self.last.map_or(0, |last| last.saturating_add(self.interval).saturating_sub(now).min(self.interval))
    }

    /// Notes that the terminal has taken a frame. Counting from the end of the write keeps a slow line from being asked
    /// for the next frame while it is still busy with this one.
    pub fn drew(&mut self, now: u64) {
        self.last = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_frame_is_drawn_at_once_and_the_next_waits_its_turn() {
        let mut limiter = Limiter::per_second(30);
        assert_eq!(limiter.wait(1_000), 0);
        limiter.drew(1_000);
        assert_eq!((limiter.wait(1_000), limiter.wait(1_020), limiter.wait(1_034), limiter.wait(9_000)), (34, 14, 0, 0));
    }

    #[test]
    fn a_clock_that_went_back_delays_no_longer_than_one_frame() {
        let mut limiter = Limiter::per_second(10);
        limiter.drew(1_000);
        assert_eq!(limiter.wait(0), 100);
    }

    #[test]
    fn frames_come_slower_over_ssh() {
        let remote = Limiter::detect(|name| (name == "SSH_TTY").then(|| "/dev/pts/1".to_owned()));
        assert_eq!((remote, Limiter::detect(|_| None)), (Limiter::per_second(12), Limiter::per_second(30)));
    }
}
