//! Children that borrow the terminal: the operator's editor on a piece of text.

use std::fs::File;
use std::io::{self, Write};
use std::process::{ExitStatus, Stdio};

use tokio::process::Command;

use crate::files;

/// Why an edited text did not come back. The text that was given stays.
#[derive(Debug, thiserror::Error)]
pub enum EditorError {
    /// No editor could be run.
    #[error("can't run the editor `{editor}`: {source}\nhint: set VISUAL or EDITOR to the editor's command")]
    Start { editor: String, source: io::Error },
    /// The editor says that it failed, which is how one gives up an edit.
    #[error("the editor `{editor}` ended with {status}: nothing was changed")]
    Failed { editor: String, status: ExitStatus },
    /// The text can't be handed over or read back.
    #[error("can't exchange the text with the editor: {0}")]
    File(#[from] io::Error),
}

/// The operator's editor by `VISUAL`, `EDITOR`, else `vi`; `var` looks a variable up.
pub(super) fn editor_command(var: impl Fn(&str) -> Option<String>) -> String {
    ["VISUAL", "EDITOR"].into_iter().filter_map(var).find(|command| !command.trim().is_empty()).unwrap_or_else(|| "vi".to_owned())
}

/// Runs the editor on a private file that holds the text, on the terminal, and returns what the file holds then.
pub(super) async fn edit(editor: &str, text: &str, suffix: &str) -> Result<String, EditorError> {
    let mut file = tempfile::Builder::new().prefix("dagdeck-").suffix(suffix).tempfile()?;
    file.write_all(text.as_bytes())?;
    file.flush()?;
    let start = |source| EditorError::Start { editor: editor.to_owned(), source };
    // The variable is a shell command by custom: `code --wait` and quoted paths work.
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(file.path());
    // When the console's own input is a pipe, the editor still needs the terminal.
    if let Ok(tty) = File::options().read(true).write(true).open("/dev/tty") {
        let ends = (tty.try_clone().map_err(start)?, tty.try_clone().map_err(start)?);
        command.stdin(Stdio::from(tty)).stdout(Stdio::from(ends.0)).stderr(Stdio::from(ends.1));
    }
    let status = command.status().await.map_err(start)?;
    if status.code() == Some(127) {
        return Err(start(io::Error::new(io::ErrorKind::NotFound, "command not found")));
    }
    if !status.success() {
        return Err(EditorError::Failed { editor: editor.to_owned(), status });
    }
    // Read by name: many editors write a new file and move it into place.
    Ok(files::read_text(file.path(), files::DOCUMENT)?)
}

/// Throws away what was typed and not read, so that keys meant for a child reach nothing of ours.
pub(super) fn discard_input() {
    if let Ok(tty) = File::open("/dev/tty") {
        // A terminal that can't be flushed has nothing to flush.
        let _ = rustix::termios::tcflush(&tty, rustix::termios::QueueSelector::IFlush);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visual_goes_before_editor_and_vi_is_always_there() {
        let with = |vars: &'static [(&str, &str)]| {
            editor_command(|name| vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
        };
        assert_eq!(with(&[("VISUAL", "code --wait"), ("EDITOR", "ed")]), "code --wait");
        assert_eq!(with(&[("VISUAL", " "), ("EDITOR", "ed")]), "ed");
        assert_eq!(with(&[]), "vi");
    }

    #[tokio::test]
    async fn an_editor_with_arguments_changes_the_text() {
        assert_eq!(edit("sed -i s/old/new/", "old text\n", ".md").await.unwrap(), "new text\n");
    }

    #[tokio::test]
    async fn an_editor_that_fails_or_is_missing_leaves_the_text_and_says_so() {
        let failed = edit("exit 3;", "text", ".md").await.unwrap_err().to_string();
        assert_eq!(failed, "the editor `exit 3;` ended with exit status: 3: nothing was changed");
        let missing = edit("no-such-editor-here", "text", ".md").await.unwrap_err().to_string();
        assert!(missing.contains("can't run the editor `no-such-editor-here`") && missing.contains("hint: "), "{missing}");
    }
}
