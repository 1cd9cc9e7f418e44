//! Server-sent events out of bytes, in whatever pieces they come: LF, CRLF and CR ends, comments, data of several lines, a BOM.
//! Pure. Only the data of events is kept; chat completions name no events that matter.

/// Bytes that one event may take. A server that sends more without an end talks nonsense.
const MAX_EVENT: usize = 8 << 20;

/// Gathers bytes into events.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    /// Bytes of the line that is not ended yet.
    line: Vec<u8>,
    /// Data of the event that is not ended yet.
    data: Option<String>,
    /// The last byte was CR, so a LF that follows belongs to it.
    after_cr: bool,
    /// Some bytes were seen, so a BOM is no BOM any more.
    begun: bool,
}

/// An event that never ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

impl Decoder {
    /// Takes bytes, gives the data of the events that they complete.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<Vec<String>, TooLong> {
        let mut events = Vec::new();
        for &byte in bytes {
            let after_cr = std::mem::replace(&mut self.after_cr, byte == b'\r');
            match byte {
                b'\n' if after_cr => {}
                b'\n' | b'\r' => events.extend(self.end_line()),
                _ => self.line.push(byte),
            }
        }
        let held = self.line.len() + self.data.as_ref().map_or(0, String::len);
        if held > MAX_EVENT { Err(TooLong) } else { Ok(events) }
    }

    /// The stream is over. Some servers forget the blank line after the last event.
    pub(super) fn finish(&mut self) -> Option<String> {
        self.end_line();
        self.data.take()
    }

    fn end_line(&mut self) -> Option<String> {
        let bytes = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&bytes);
        let mut line = text.as_ref();
        if !std::mem::replace(&mut self.begun, true) {
            line = line.trim_start_matches('\u{feff}');
        }
        if line.is_empty() {
            return self.data.take();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        if field == "data" {
            let value = value.strip_prefix(' ').unwrap_or(value);
            match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(pieces: &[&[u8]]) -> Vec<String> {
        let mut decoder = Decoder::default();
        let mut events: Vec<String> = pieces.iter().flat_map(|piece| decoder.push(piece).unwrap()).collect();
        events.extend(decoder.finish());
        events
    }

    #[test]
    fn line_ends_of_all_kinds_end_events() {
        assert_eq!(events(&[b"data: a\n\ndata: b\r\n\r\ndata: c\r\r"]), ["a", "b", "c"]);
    }

    #[test]
    fn pieces_may_end_anywhere() {
        let whole = "\u{feff}: hello\r\ndata: {\"é\":1,\r\ndata:2}\r\n\r\nevent: x\r\ndata: [DONE]\r\n\r\n".as_bytes();
        for at in 0..whole.len() {
            assert_eq!(events(&[&whole[..at], &whole[at..]]), ["{\"é\":1,\n2}", "[DONE]"], "cut at {at}");
        }
    }

    #[test]
    fn a_last_event_without_its_blank_line_counts() {
        assert_eq!(events(&[b"data: a\n\ndata: b"]), ["a", "b"]);
    }

    #[test]
    fn comments_and_other_fields_give_nothing() {
        assert_eq!(events(&[b": ping\n\nid: 4\nretry: 10\nevent: x\n\n"]), Vec::<String>::new());
    }

    proptest::proptest! {
        #[test]
        fn the_pieces_that_bytes_come_in_make_no_difference(bytes in proptest::collection::vec(proptest::sample::select(b"\r\n: data\xef\xbb\xbfx\xff".to_vec()), 0..60), cut in 1..7usize) {
            let pieces: Vec<&[u8]> = bytes.chunks(cut).collect();
            proptest::prop_assert_eq!(events(&pieces), events(&[&bytes]));
        }
    }

    #[test]
    fn an_endless_event_is_refused() {
        let mut decoder = Decoder::default();
        let block = vec![b'x'; 1 << 20];
        let refused = (0..10).any(|_| decoder.push(&block) == Err(TooLong));
        assert!(refused);
    }
}
