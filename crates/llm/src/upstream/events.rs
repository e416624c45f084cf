//! An incremental decoder of Server-Sent Events.
//!
//! Only the data of an event matters here, and whether its name is `error`. The library that we
//! tried is not safe with untrusted upstreams: it panics on a byte order mark, and scans a long
//! line again with every packet.

use std::collections::VecDeque;

/// Largest data of one event.
const EVENT_BYTES: usize = 512 * 1_024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    /// Whether it is named `error`.
    pub(super) is_error: bool,
    /// Its lines of data, joined.
    pub(super) data: String,
}

/// Why a stream cannot be decoded further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Malformed {
    /// The data of an event is not UTF-8.
    #[error("an event is not UTF-8")]
    NotUtf8,
    /// A line or an event is too long.
    #[error("an event is larger than {EVENT_BYTES} bytes")]
    TooLong,
}

/// Decodes bytes, in pieces of any size, into events.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    line: Vec<u8>,
    data: Option<String>,
    is_error: bool,
    /// Whether the last byte was a carriage return, to which a following line feed belongs.
    after_return: bool,
    is_past_start: bool,
    events: VecDeque<Event>,
}

impl Decoder {
    /// Adds bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        for piece in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let Some((last, content)) = piece.split_last() else { continue };
            let belongs = self.after_return && piece == b"\n";
            self.after_return = *last == b'\r';
            match last {
                b'\n' if belongs => {}
                b'\n' | b'\r' => {
                    self.line.extend_from_slice(content);
                    let line = std::mem::take(&mut self.line);
                    self.end_line(&line)?;
                }
                _ => self.line.extend_from_slice(piece),
            }
            if self.line.len() > EVENT_BYTES {
                return Err(Malformed::TooLong);
            }
        }
        Ok(())
    }

    /// The next complete event.
    pub(super) fn next(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn end_line(&mut self, line: &[u8]) -> Result<(), Malformed> {
        let line = match line.strip_prefix("\u{FEFF}".as_bytes()) {
            Some(rest) if !self.is_past_start => rest,
            _ => line,
        };
        self.is_past_start = true;
        if line.is_empty() {
            let is_error = std::mem::take(&mut self.is_error);
            self.events.extend(self.data.take().map(|data| Event { is_error, data }));
            return Ok(());
        }
        if let Some(value) = field(line, b"data") {
            let value = std::str::from_utf8(value).map_err(|_| Malformed::NotUtf8)?;
            let data = match self.data.take() {
                Some(data) => data + "\n" + value,
                None => value.to_owned(),
            };
            if data.len() > EVENT_BYTES {
                return Err(Malformed::TooLong);
            }
            self.data = Some(data);
        } else if let Some(value) = field(line, b"event") {
            self.is_error = value == b"error";
        }
        Ok(())
    }
}

/// The value of a line `name: value` or `name`.
fn field<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    match line.strip_prefix(name)? {
        [] => Some(&[]),
        [b':', b' ', value @ ..] | [b':', value @ ..] => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Decoder, EVENT_BYTES, Event, Malformed};

    fn events(pieces: &[&[u8]]) -> Vec<(bool, String)> {
        let mut decoder = Decoder::default();
        let mut events = Vec::new();
        for piece in pieces {
            decoder.push(piece).unwrap();
            events.extend(std::iter::from_fn(|| decoder.next()));
        }
        events.into_iter().map(|Event { is_error, data }| (is_error, data)).collect()
    }

    #[test]
    fn every_form_of_an_event_is_read_wherever_it_is_cut() {
        let text = "\u{feff}data: a\n\n: comment\r\nevent: error\r\ndata:{\"é\": 1}\r\n\r\nid: 1\rdata\r\
                    data:  b\r\rdatabase: x\nevent: error\n\ndata: c\n\ndata: never ended\n";
        let expected = [
            (false, "a".to_owned()),
            (true, "{\"é\": 1}".to_owned()),
            (false, "\n b".to_owned()),
            (false, "c".to_owned()),
        ];
        let bytes = text.as_bytes();
        assert_eq!(events(&[bytes]), expected);
        for at in 0..bytes.len() {
            assert_eq!(events(&[&bytes[..at], &bytes[at..]]), expected, "cut at {at}");
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(events(&single), expected);
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        assert_eq!(Decoder::default().push(b"data: \xff\n"), Err(Malformed::NotUtf8));
        let long = vec![b'x'; EVENT_BYTES + 1];
        assert_eq!(Decoder::default().push(&long), Err(Malformed::TooLong));
        let mut decoder = Decoder::default();
        let line = [b"data: ".as_slice(), &vec![b'x'; EVENT_BYTES / 2], b"\n"].concat();
        decoder.push(&line).unwrap();
        decoder.push(&line).unwrap_err();
    }
}
