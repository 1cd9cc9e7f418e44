//! `Io`: the streams that verbs write to and read from, handed down from main so that tests can stand in for them.

use super::Failure;
use std::io::{Read, Write};

/// Data goes to `out`, messages go to `err`.
pub struct Io<'a> {
    /// Standard output.
    pub out: &'a mut (dyn Write + Send),
    /// Standard error.
    pub err: &'a mut (dyn Write + Send),
    /// Standard input.
    pub stdin: &'a mut (dyn Read + Send),
}

impl Io<'_> {
    /// Prints one JSON document, indented.
    ///
    /// # Errors
    /// When the output can't be written.
    pub fn json(&mut self, value: &serde_json::Value) -> Result<(), Failure> {
        serde_json::to_writer_pretty(&mut *self.out, value).map_err(std::io::Error::from)?;
        self.line("")
    }

    /// Prints one line of data. The text must already be safe to show, or go to a machine.
    ///
    /// # Errors
    /// When the output can't be written.
    pub fn line(&mut self, text: &str) -> Result<(), Failure> {
        Ok(writeln!(self.out, "{text}")?)
    }

    /// Prints one message for a person.
    pub fn say(&mut self, text: &str) {
        // Nobody is left to tell when standard error is closed.
        let _ = writeln!(self.err, "{text}");
    }

    /// The text of a file, or of stdin for `-`, with the name to use in messages.
    ///
    /// # Errors
    /// When it can't be read, or isn't text.
    pub fn read(&mut self, name: &str) -> Result<String, Failure> {
        if name == "-" {
            let mut text = String::new();
            return match self.stdin.read_to_string(&mut text) {
                Ok(_) => Ok(text),
                Err(error) => Err(Failure::new(format!("can't read stdin: {error}"))),
            };
        }
        std::fs::read_to_string(name).map_err(|error| Failure::new(format!("can't read `{name}`: {error}")))
    }
}
