//! Copying by OSC 52, which works over SSH. Only safe text is copied, so that pasting it elsewhere runs nothing hidden.

use crossterm::Command as _;
use crossterm::clipboard::CopyToClipboard;

use crate::text::Plain;

/// Bytes of text that terminals take for sure: 100,000 of the sequence, after base64.
const LIMIT: usize = 74_994;

/// How much was copied, for the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyReport {
    /// Bytes sent.
    pub bytes: usize,
    /// Bytes there were.
    pub of: usize,
    /// Tmux has it, and passes it on only by its settings.
    pub by_tmux: bool,
}

/// The terminal's surroundings, as far as copying goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClipboardRoute {
    /// Straight to the terminal.
    Direct,
    Tmux,
}

/// The bytes that copy some lines, and how much of them that is.
pub(super) fn copy(lines: &[Plain], route: ClipboardRoute) -> (Vec<u8>, CopyReport) {
    let text = lines.iter().map(Plain::as_str).collect::<Vec<_>>().join("\n");
    let cut = &text[..text.floor_char_boundary(LIMIT)];
    let copied = CopyReport { bytes: cut.len(), of: text.len(), by_tmux: route == ClipboardRoute::Tmux };
    let mut sequence = String::new();
    // Writing to a String has no way to fail.
    let _ = CopyToClipboard::to_clipboard_from(cut).write_ansi(&mut sequence);
    if route == ClipboardRoute::Tmux {
        // By its settings tmux hears one of the two: the sequence itself, or one that it hands on to its own terminal.
        let handed_on = format!("\x1bPtmux;{}\x1b\\", sequence.replace('\x1b', "\x1b\x1b"));
        sequence.push_str(&handed_on);
    }
    (sequence.into_bytes(), copied)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_copied_by_osc_52() {
        let (bytes, copied) = copy(&Plain::block("hi\nthere"), ClipboardRoute::Direct);
        assert_eq!(String::from_utf8(bytes).unwrap(), "\x1b]52;c;aGkKdGhlcmU=\x1b\\");
        assert_eq!(copied, CopyReport { bytes: 8, of: 8, by_tmux: false });
    }

    #[test]
    fn inside_tmux_the_sequence_is_also_handed_on() {
        let (bytes, copied) = copy(&Plain::block("hi"), ClipboardRoute::Tmux);
        assert!(copied.by_tmux);
        let expected = "\x1b]52;c;aGk=\x1b\\\x1bPtmux;\x1b\x1b]52;c;aGk=\x1b\x1b\\\x1b\\";
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    }

    #[test]
    fn what_is_too_long_is_cut_and_told() {
        let (_, copied) = copy(&[Plain::line(&"é".repeat(60_000))], ClipboardRoute::Direct);
        assert_eq!(copied, CopyReport { bytes: 74_994, of: 120_000, by_tmux: false });
    }

    #[test]
    fn escapes_are_copied_spelled_out() {
        let (bytes, _) = copy(&Plain::block("\x1b]0;x\x07"), ClipboardRoute::Direct);
        assert_eq!(bytes.iter().filter(|byte| **byte == 0x1b).count(), 2);
    }
}
