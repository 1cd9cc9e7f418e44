//! `TerminalWriter`: the one thread that writes to the terminal. A terminal that stalls stops this thread and nobody else.

use std::io::{self, ErrorKind, Write};
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::FrameId;

/// How long a terminal that takes no bytes for the moment is left alone.
const PAUSE: Duration = Duration::from_millis(5);

/// A frame that the terminal has taken, or why it didn't.
pub(super) type Taken = (FrameId, io::Result<()>);

enum WriterJob {
    /// Reported when it is out.
    Frame(FrameId, Vec<u8>),
    /// Somebody waits for it.
    Bytes(Vec<u8>, SyncSender<io::Result<()>>),
    /// Nobody does: should it fail, the next frame does too, and that is reported.
    Aside(Vec<u8>),
}

/// A handle to the writing thread, which ends when the last handle is dropped.
#[derive(Clone, Debug)]
pub(super) struct TerminalWriter {
    jobs: mpsc::Sender<WriterJob>,
}

impl TerminalWriter {
    /// Starts the thread. Frames are reported at the other end of the receiver.
    pub(super) fn spawn(out: Box<dyn Write + Send>) -> io::Result<(Self, UnboundedReceiver<Taken>)> {
        let (jobs, queue) = mpsc::channel();
        let (report, taken) = unbounded_channel();
        std::thread::Builder::new().name("terminal".into()).spawn(move || work(out, &queue, &report))?;
        Ok((Self { jobs }, taken))
    }

    /// Sends a frame; its end is reported. The caller sends no other one before that.
    pub(super) fn frame(&self, id: FrameId, bytes: Vec<u8>) -> io::Result<()> {
        self.jobs.send(WriterJob::Frame(id, bytes)).map_err(|_| gone())
    }

    /// Writes after all that was sent before, and doesn't wait.
    pub(super) fn aside(&self, bytes: Vec<u8>) {
        drop(self.jobs.send(WriterJob::Aside(bytes)));
    }

    /// Writes after all that was sent before, and waits for it until `deadline`.
    pub(super) fn write(&self, bytes: Vec<u8>, deadline: Instant) -> io::Result<()> {
        let (done, result) = mpsc::sync_channel(1);
        self.jobs.send(WriterJob::Bytes(bytes, done)).map_err(|_| gone())?;
        match result.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(result) => result,
            Err(RecvTimeoutError::Timeout) => Err(io::Error::new(ErrorKind::TimedOut, "the terminal takes no output")),
            Err(RecvTimeoutError::Disconnected) => Err(gone()),
        }
    }
}

fn gone() -> io::Error {
    io::Error::new(ErrorKind::BrokenPipe, "the terminal's writer has ended")
}

fn work(mut out: Box<dyn Write + Send>, queue: &mpsc::Receiver<WriterJob>, report: &UnboundedSender<Taken>) {
    while let Ok(job) = queue.recv() {
        // Nobody listening any more is no reason to leave the rest unwritten: it may restore the terminal.
        match job {
            WriterJob::Frame(id, bytes) => drop(report.send((id, write_out(&mut *out, &bytes)))),
            WriterJob::Bytes(bytes, done) => drop(done.try_send(write_out(&mut *out, &bytes))),
            WriterJob::Aside(bytes) => drop(write_out(&mut *out, &bytes)),
        }
    }
}

/// Writes all of it. A child may have left the terminal non-blocking, so "not now" is waited out.
fn write_out(out: &mut dyn Write, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match out.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(PAUSE),
            Err(error) => return Err(error),
        }
    }
    match out.flush() {
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// Answers each write as asked, then takes everything.
    struct Moody(VecDeque<io::Result<usize>>, Vec<u8>);

    impl Write for Moody {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = self.0.pop_front().unwrap_or(Ok(bytes.len()))?;
            self.1.extend_from_slice(&bytes[..taken]);
            Ok(taken)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_terminal_that_takes_a_little_at_a_time_gets_everything() {
        let moods = [Ok(2), Err(ErrorKind::WouldBlock.into()), Err(ErrorKind::Interrupted.into()), Ok(1)];
        let mut out = Moody(moods.into_iter().collect(), Vec::new());
        write_out(&mut out, b"hello").unwrap();
        assert_eq!(out.1, b"hello");
    }

    #[test]
    fn a_terminal_that_is_gone_is_an_error() {
        let mut out = Moody(VecDeque::from([Ok(0)]), Vec::new());
        assert_eq!(write_out(&mut out, b"x").unwrap_err().kind(), ErrorKind::WriteZero);
    }

    /// Takes nothing until released.
    struct Stalled(mpsc::Receiver<()>);

    impl Write for Stalled {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.recv().ok();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_stalled_terminal_holds_up_nobody_and_reports_its_frame_when_it_has_taken_it() {
        let (release, wait) = mpsc::channel();
        let (writer, mut taken) = TerminalWriter::spawn(Box::new(Stalled(wait))).unwrap();
        writer.frame(FrameId(7), b"frame".to_vec()).unwrap();
        let late = writer.write(b"late".to_vec(), Instant::now()).unwrap_err();
        assert_eq!(late.kind(), ErrorKind::TimedOut);
        assert!(taken.try_recv().is_err());
        drop(release);
        let (frame, result) = taken.blocking_recv().unwrap();
        assert_eq!((frame, result.is_ok()), (FrameId(7), true));
    }
}
