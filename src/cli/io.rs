//! `Io`: the streams that subcommands read and write. `main` passes them down, so that tests can pass others.

use super::CliError;
use crate::files;
use crate::text::{Plain, safe_json};
use crate::tools::KnownSecrets;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

/// Data goes to `out`, messages go to `err`.
pub struct Io<'a> {
    pub out: &'a mut (dyn Write + Send),
    pub err: &'a mut (dyn Write + Send),
    pub stdin: &'a mut (dyn Read + Send),
    /// The width of the terminal, if `out` is one.
    pub columns: Option<usize>,
    /// Values that no line shows; a plan that is printed as a document is as it was written.
    pub secrets: KnownSecrets,
}

/// The smallest width of a row's last cell.
const LAST_COLUMNS: usize = 12;

/// The width of the terminal, if standard output is one.
pub fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    (size.ws_col > 0).then_some(size.ws_col.into())
}

impl Io<'_> {
    /// Prints one JSON document, indented, with each secret as the journal keeps it.
    ///
    /// # Errors
    /// When the output can't be written.
    pub fn json(&mut self, value: &serde_json::Value) -> Result<(), CliError> {
        let value = self.secrets.masked(value.clone());
        Ok(writeln!(self.out, "{}", safe_json(&format!("{value:#}")))?)
    }

    /// Prints one JSON document on one line, with each secret as the journal keeps it.
    ///
    /// # Errors
    /// When the output can't be written.
    pub fn json_line(&mut self, value: &impl serde::Serialize) -> Result<(), CliError> {
        let value = serde_json::to_value(value).map_err(std::io::Error::from)?;
        let text = self.secrets.masked(value).to_string();
        Ok(writeln!(self.out, "{}", safe_json(&text))?)
    }

    /// Prints one line of data for people. The text must already be safe to show.
    ///
    /// # Errors
    /// When the output can't be written.
    pub fn line(&mut self, text: &str) -> Result<(), CliError> {
        Ok(writeln!(self.out, "{}", self.masked(text))?)
    }

    /// Prints the lines of a text, each made safe to show. Tabs line up on a terminal; elsewhere a program or a file needs them as they are.
    ///
    /// # Errors
    /// When the output can't be written.
    pub fn text(&mut self, raw: &str, safe: fn(&str) -> Plain) -> Result<(), CliError> {
        let is_shown = self.columns.is_some();
        for line in raw.lines() {
            if is_shown {
                self.line(safe(line).as_str())?;
            } else {
                let cells: Vec<String> = line.split('\t').map(|cell| self.masked(safe(cell).as_str())).collect();
                writeln!(self.out, "{}", cells.join("\t"))?;
            }
        }
        Ok(())
    }

    /// A text as people see it: each secret is shown by its name.
    fn masked(&self, text: &str) -> String {
        let mut masked = text.to_owned();
        self.secrets.mask_text(&mut masked);
        if masked == text { masked } else { Plain::block(&masked).iter().map(Plain::as_str).collect::<Vec<_>>().join("\n") }
    }

    /// Prints a row of a table. The last cell is cut to the columns that the terminal has left, or to `elsewhere` columns without one.
    ///
    /// # Errors
    /// When the output can't be written.
    pub fn row(&mut self, head: &Plain, last: &Plain, elsewhere: usize) -> Result<(), CliError> {
        let room = self.columns.map_or(elsewhere, |all| all.saturating_sub(head.width()).max(LAST_COLUMNS));
        self.line(head.clone().then(&last.truncate(room)).as_str().trim_end())
    }

    /// Prints a message for a person, of one or more lines. What it quotes is made safe to show here, once for all subcommands.
    pub fn say(&mut self, text: &str) {
        for line in Plain::block(&self.masked(text)) {
            // When standard error is closed, nobody reads this.
            let _ = writeln!(self.err, "{line}");
        }
    }

    /// The text of a file, or of stdin for `-`, with the name to use in messages.
    ///
    /// # Errors
    /// When it can't be read, or isn't text.
    pub fn read(&mut self, name: &str) -> Result<String, CliError> {
        self.read_up_to(name, files::DOCUMENT)
    }

    /// The same, of at most so many bytes.
    ///
    /// # Errors
    /// When it is larger, can't be read, or isn't text.
    pub fn read_up_to(&mut self, name: &str, most: u64) -> Result<String, CliError> {
        if name == "-" {
            return files::read_capped(&mut self.stdin, most).map_err(|error| unreadable("stdin", &error));
        }
        files::read_text(Path::new(name), most).map_err(|error| unreadable(name, &error))
    }
}

fn unreadable(name: &str, error: &std::io::Error) -> CliError {
    let failure = CliError::new(format!("can't read `{name}`: {error}"));
    match error.kind() {
        ErrorKind::NotFound => failure.hint("check the path"),
        ErrorKind::IsADirectory => failure.hint("name a file inside it"),
        ErrorKind::PermissionDenied => failure.hint("check the file's permissions"),
        ErrorKind::InvalidData => CliError { exit: super::Exit::Invalid, ..failure }.hint("save it as UTF-8"),
        ErrorKind::InvalidInput => failure.hint("to read from a pipe, give `-` and pipe it in"),
        _ => failure,
    }
}

/// Output whose reader may go away (`| head -1`). Nobody misses the rest, so that is not an error.
pub(super) struct Listened<'a> {
    to: &'a mut (dyn Write + Send),
    listener: OutputReader,
}

#[derive(PartialEq, Eq)]
enum OutputReader {
    There,
    Gone,
}

impl<'a> Listened<'a> {
    pub(super) fn new(to: &'a mut (dyn Write + Send)) -> Self {
        Self { to, listener: OutputReader::There }
    }

    fn pass<T>(&mut self, instead: T, act: impl FnOnce(&mut dyn Write) -> std::io::Result<T>) -> std::io::Result<T> {
        if self.listener == OutputReader::Gone {
            return Ok(instead);
        }
        match act(self.to) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.listener = OutputReader::Gone;
                Ok(instead)
            }
            outcome => outcome,
        }
    }
}

impl Write for Listened<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.pass(bytes.len(), |to| to.write(bytes))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.pass((), |to| to.flush())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(print: impl FnOnce(&mut Io<'_>)) -> (String, String) {
        let (mut out, mut err, mut stdin) = (Vec::new(), Vec::new(), std::io::empty());
        print(&mut Io { out: &mut out, err: &mut err, stdin: &mut stdin, columns: None, secrets: KnownSecrets::default() });
        (String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
    }

    #[test]
    fn a_message_never_reaches_the_terminal_raw() {
        let failure = CliError::new("run has no node `\x1b]52;c;eA==\x07`").hint("its nodes are: \u{202e}a, \u{9b}2J");
        let (_, err) = printed(|io| io.say(&failure.to_string()));
        assert_eq!(err, "error: run has no node `\\u{1b}]52;c;eA==\\u{7}`\nhint: its nodes are: \\u{202e}a, \\u{9b}2J\n");
    }

    #[test]
    fn a_row_fits_the_terminal_and_elsewhere_its_last_cell_is_short_enough() {
        let row = |columns: Option<usize>, head: &str, last: &str| {
            let (mut out, mut err, mut stdin) = (Vec::new(), Vec::new(), std::io::empty());
            let mut io = Io { out: &mut out, err: &mut err, stdin: &mut stdin, columns, secrets: KnownSecrets::default() };
            io.row(&Plain::line(head), &Plain::line(last), 9).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(row(None, "name  ", "a long result"), "name  a long r…\n");
        assert_eq!(row(Some(20), "name  ", "a long result, and more"), "name  a long result…\n");
        assert_eq!(row(Some(20), "name  ", "東京の天気は晴れ"), "name  東京の天気は…\n");
        assert_eq!(row(Some(200), "name  ", "a long result"), "name  a long result\n");
        assert_eq!(row(Some(5), "name  ", "a long result, and more"), "name  a long resu…\n", "something is always told");
        assert_eq!(row(Some(20), "name  ", ""), "name\n");
    }

    #[test]
    fn a_text_keeps_its_tabs_in_a_pipe_and_lines_up_on_a_terminal() {
        let text = |columns: Option<usize>| {
            let (mut out, mut err, mut stdin) = (Vec::new(), Vec::new(), std::io::empty());
            let mut io = Io { out: &mut out, err: &mut err, stdin: &mut stdin, columns, secrets: KnownSecrets::default() };
            io.text("a\tb\n\t\x1b[2J\n", Plain::line).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(text(None), "a\tb\n\t\\u{1b}[2J\n");
        assert_eq!(text(Some(80)), "a   b\n    \\u{1b}[2J\n");
    }

    #[test]
    fn json_for_machines_means_the_same_and_moves_no_cursor() {
        let value = serde_json::json!({"goal": "\x1b[2J \u{9b}2J \u{202e} \u{7f} \u{e0041} \u{200b}é🦀"});
        for (out, _) in [printed(|io| io.json(&value).unwrap()), printed(|io| io.json_line(&value).unwrap())] {
            assert_eq!(serde_json::from_str::<serde_json::Value>(&out).unwrap(), value);
            assert_eq!(Plain::block(&out).iter().map(Plain::hidden).sum::<u32>(), 0, "{out}");
            assert!(out.contains("é🦀"));
        }
    }
}
