use std::fmt;
use std::str::FromStr;

use super::MAX_MESSAGE_BYTES;

/// Ends of messages in a stream of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MessageFraming {
    /// A message ends with a line feed.
    Line,
    /// A message ends with a carriage return and a line feed.
    Crlf,
    /// A message ends with a zero byte.
    Nul,
    /// A message begins with its length.
    Length {
        /// Number of bytes of the length: 1, 2, 4 or 8.
        bytes: usize,
        /// The first byte is the lowest.
        is_little_endian: bool,
    },
    /// Each message has this many bytes.
    Fixed(usize),
}

/// Text that names no framing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FramingError(String);

impl fmt::Display for FramingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is no framing; write line, crlf, nul, length:4be, length:2le or fixed:64", self.0)
    }
}

impl std::error::Error for FramingError {}

impl FromStr for MessageFraming {
    type Err = FramingError;

    fn from_str(text: &str) -> Result<MessageFraming, FramingError> {
        let error = || FramingError(text.to_owned());
        match text.split_once(':') {
            None if text == "line" => Ok(MessageFraming::Line),
            None if text == "crlf" => Ok(MessageFraming::Crlf),
            None if text == "nul" => Ok(MessageFraming::Nul),
            Some(("fixed", size)) => {
                let size = size.parse().ok().filter(|size| (1..=MAX_MESSAGE_BYTES).contains(size));
                size.map(MessageFraming::Fixed).ok_or_else(error)
            }
            Some(("length", form)) => {
                let bytes = form.get(..1).and_then(|digit| digit.parse().ok()).filter(|n| [1, 2, 4, 8].contains(n));
                let is_little_endian = match form.get(1..) {
                    Some("be") => false,
                    Some("le") => true,
                    _ => return Err(error()),
                };
                bytes.map(|bytes| MessageFraming::Length { bytes, is_little_endian }).ok_or_else(error)
            }
            _ => Err(error()),
        }
    }
}

impl MessageFraming {
    /// Returns the length of the message at the start of `bytes`, with its framing; `None` if it is not complete. The
    /// first `scanned` bytes are known to hold no end.
    ///
    /// # Errors
    /// It is longer than [`MAX_MESSAGE_BYTES`].
    pub(super) fn end(self, bytes: &[u8], scanned: usize) -> Result<Option<usize>, TooLong> {
        let length = match self {
            MessageFraming::Line | MessageFraming::Nul => {
                let end = if self == MessageFraming::Nul { 0 } else { b'\n' };
                bytes[scanned..].iter().position(|byte| *byte == end).map(|place| scanned + place + 1)
            }
            MessageFraming::Crlf => {
                let from = scanned.saturating_sub(1);
                bytes[from..].windows(2).position(|pair| pair == b"\r\n").map(|place| from + place + 2)
            }
            MessageFraming::Fixed(size) => Some(size),
            MessageFraming::Length { bytes: count, is_little_endian } => match bytes.get(..count) {
                None => None,
                Some(prefix) => {
                    let add = |sum: u64, byte: &u8| (sum << 8) | u64::from(*byte);
                    let length =
                        if is_little_endian { prefix.iter().rev().fold(0, add) } else { prefix.iter().fold(0, add) };
                    Some(usize::try_from(length).map_or(usize::MAX, |length| length.saturating_add(count)))
                }
            },
        };
        match length {
            Some(length) if length > MAX_MESSAGE_BYTES => Err(TooLong),
            Some(length) if length <= bytes.len() => Ok(Some(length)),
            _ if bytes.len() > MAX_MESSAGE_BYTES => Err(TooLong),
            _ => Ok(None),
        }
    }

    /// Returns a message with this text. With [`MessageFraming::Fixed`] it is cut, or filled with zeros.
    pub(super) fn encode(self, text: &[u8]) -> Vec<u8> {
        let mut message = text.to_vec();
        match self {
            MessageFraming::Line => message.push(b'\n'),
            MessageFraming::Crlf => message.extend_from_slice(b"\r\n"),
            MessageFraming::Nul => message.push(0),
            MessageFraming::Fixed(size) => message.resize(size, 0),
            MessageFraming::Length { bytes, is_little_endian } => {
                let length = text.len() as u64;
                let mut prefix = length.to_be_bytes()[8 - bytes..].to_vec();
                if is_little_endian {
                    prefix.reverse();
                }
                message.splice(..0, prefix);
            }
        }
        message
    }
}

/// A message that is too long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TooLong;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn framings_are_written_as_the_client_writes_them() {
        for (text, framing) in [
            ("line", MessageFraming::Line),
            ("crlf", MessageFraming::Crlf),
            ("nul", MessageFraming::Nul),
            ("fixed:64", MessageFraming::Fixed(64)),
            ("length:4be", MessageFraming::Length { bytes: 4, is_little_endian: false }),
            ("length:2le", MessageFraming::Length { bytes: 2, is_little_endian: true }),
            ("length:1be", MessageFraming::Length { bytes: 1, is_little_endian: false }),
        ] {
            assert_eq!(text.parse(), Ok(framing));
        }
        for text in
            ["", "lines", "fixed:0", "fixed:x", "fixed:9999999", "length:3be", "length:4", "length:", "length:é"]
        {
            assert!(text.parse::<MessageFraming>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_message_ends_where_it_was_encoded_to_end() {
        let framings = ["line", "crlf", "nul", "fixed:5", "length:1le", "length:2be", "length:4le", "length:8be"];
        for framing in framings.map(|text| text.parse::<MessageFraming>().unwrap()) {
            let message = framing.encode(b"a\rbcd");
            let both = [message.clone(), framing.encode(b"fghij")].concat();
            let whole = Ok(Some(message.len()));
            for cut in 0..message.len() {
                assert_eq!(framing.end(&both[..cut], 0), Ok(None), "{framing:?} {cut}");
                // Bytes before the cut are not looked at again.
                assert_eq!(framing.end(&both, cut), whole, "{framing:?} {cut}");
            }
            assert_eq!(framing.end(&both, 0), whole, "{framing:?}");
        }
    }

    #[test]
    fn a_message_that_is_too_long_is_an_error() {
        let long = vec![b'x'; MAX_MESSAGE_BYTES + 1];
        assert_eq!(MessageFraming::Line.end(&long, 0), Err(TooLong));
        let eight = MessageFraming::Length { bytes: 8, is_little_endian: false };
        assert_eq!(eight.end(&[0xFF; 8], 0), Err(TooLong));
        assert_eq!(eight.end(&[0, 0, 0, 0, 0, 0x10, 0, 0], 0), Err(TooLong));
    }
}
