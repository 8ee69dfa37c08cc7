//! Framings: the rule by which a message ends.

use std::fmt;
use std::str::FromStr;

use memchr::memmem;
use truetail_reactor::unix_ns;

use super::fix;
use super::limits::MAX_MESSAGE;
use super::varying::Varying;
use super::websocket::{Opcode, put_compressed_frame, put_frame};
use crate::protocol::http2::{content_of, put_message};

/// Longest delimiter, in bytes.
const MAX_DELIMITER: usize = 16;

/// The rule by which a message ends on a connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Framing {
    /// These bytes follow each message, and are in none.
    Delimiter(Vec<u8>),
    /// The length of the message precedes it, as an unsigned number.
    Length {
        /// Bytes of the number: 1, 2, 4 or 8.
        bytes: u8,
        /// True for the most significant byte first.
        big_endian: bool,
    },
    /// Every message has this many bytes, at least one.
    Fixed(u32),
    /// WebSocket: each message is a frame.
    WebSocket {
        /// True for text, which must be UTF-8; false for binary messages.
        is_text: bool,
    },
    /// FIX: fields `TAG=VALUE`, within tags 8, 9 and 10.
    Fix,
    /// The protocol of Redis, RESP2 and RESP3. A request is an array of strings.
    Redis,
    /// gRPC: a prefix says whether the message is compressed, and its length.
    Grpc,
}

/// Text that is no framing.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "'{}' is no framing; write line, crlf, nul, length:4be, length:2le, fixed:64, delimiter:0d0a or fix",
    .0.escape_debug()
)]
pub struct UnknownFraming(String);

impl FromStr for Framing {
    type Err = UnknownFraming;

    /// Reads `line`, `crlf`, `nul`, `delimiter:HEX`, `length:BYTES` with `be` or `le`, `fixed:BYTES` or `fix`.
    fn from_str(text: &str) -> Result<Framing, UnknownFraming> {
        let (kind, value) = text.split_once(':').unwrap_or((text, ""));
        let framing = match kind {
            "line" if value.is_empty() => Some(Framing::Delimiter(b"\n".to_vec())),
            "crlf" if value.is_empty() => Some(Framing::Delimiter(b"\r\n".to_vec())),
            "fix" if value.is_empty() => Some(Framing::Fix),
            "nul" if value.is_empty() => Some(Framing::Delimiter(vec![0])),
            "delimiter" => {
                bytes_of_hex(value).filter(|bytes| (1..=MAX_DELIMITER).contains(&bytes.len())).map(Framing::Delimiter)
            }
            "length" => length(value),
            "fixed" => value.parse().ok().filter(|bytes| (1..=MAX_MESSAGE as u32).contains(bytes)).map(Framing::Fixed),
            _ => None,
        };
        framing.ok_or_else(|| UnknownFraming(text.to_owned()))
    }
}

fn length(text: &str) -> Option<Framing> {
    let (bytes, order) = text.split_at_checked(1)?;
    let big_endian = match order {
        "be" => true,
        "le" => false,
        _ => return None,
    };
    let bytes = bytes.parse().ok().filter(|bytes| [1, 2, 4, 8].contains(bytes))?;
    Some(Framing::Length { bytes, big_endian })
}

/// Reads bytes in hexadecimal; `None` if the text is not an even number of digits.
pub fn bytes_of_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    let is_hex = digits.len().is_multiple_of(2) && digits.iter().all(u8::is_ascii_hexdigit);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    if is_hex { digits.chunks(2).map(byte).collect() } else { None }
}

/// Writes the text that [`Framing::from_str`] reads; `redis`, `grpc`, and `websocket` or `websocket-binary`.
impl fmt::Display for Framing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Framing::Delimiter(bytes) => match &bytes[..] {
                b"\n" => f.write_str("line"),
                b"\r\n" => f.write_str("crlf"),
                b"\0" => f.write_str("nul"),
                bytes => {
                    f.write_str("delimiter:")?;
                    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
                }
            },
            Framing::Length { bytes, big_endian } => {
                write!(f, "length:{bytes}{}", if *big_endian { "be" } else { "le" })
            }
            Framing::Fixed(bytes) => write!(f, "fixed:{bytes}"),
            Framing::WebSocket { is_text: true } => f.write_str("websocket"),
            Framing::WebSocket { is_text: false } => f.write_str("websocket-binary"),
            Framing::Fix => f.write_str("fix"),
            Framing::Redis => f.write_str("redis"),
            Framing::Grpc => f.write_str("grpc"),
        }
    }
}

impl Framing {
    /// Returns the reason why a message cannot be sent in this framing; `None` if it can.
    pub fn refuses(&self, message: &[u8]) -> Option<String> {
        let length = message.len() as u64;
        match self {
            _ if length > MAX_MESSAGE => Some(format!("the message has {length} bytes; at most {MAX_MESSAGE}")),
            Framing::Delimiter(end) => memmem::find(message, end).map(|at| {
                format!("byte {at} of the message begins the delimiter of --framing {self}; it would end there")
            }),
            Framing::Length { bytes, .. } if *bytes < 8 && length >> (8 * u32::from(*bytes)) > 0 => {
                Some(format!("the message has {length} bytes, which --framing {self} cannot write in {bytes} bytes"))
            }
            Framing::Fixed(bytes) if length != u64::from(*bytes) => {
                Some(format!("the message has {length} bytes, and --framing {self} wants {bytes}"))
            }
            Framing::Fix => fix::refuses(message),
            Framing::WebSocket { is_text: true } => {
                let end = std::str::from_utf8(message).err()?.valid_up_to();
                Some(format!("byte {end} of the message is no UTF-8, which a text needs; give it with --data-hex"))
            }
            Framing::Length { .. } | Framing::Fixed(_) | Framing::Redis | Framing::Grpc | Framing::WebSocket { .. } => {
                None
            }
        }
    }

    /// Returns the content of a received message, as [`Part::Bytes`](super::splitter::Part::Bytes) has it.
    pub(super) fn content<'a>(&self, received: &'a [u8]) -> &'a [u8] {
        if *self == Framing::Grpc { content_of(received) } else { received }
    }

    /// Appends a message to `out`, framed. `varying` belongs to the channel. A request to Redis is framed already: see
    /// [`redis_command`].
    #[inline]
    pub(super) fn put(&self, message: &[u8], varying: &mut Varying, out: &mut Vec<u8>) {
        if let Framing::WebSocket { is_text } = *self {
            let opcode = if is_text { Opcode::Text } else { Opcode::Binary };
            return match &mut varying.deflater {
                None => put_frame(opcode, message, &mut varying.masks, out),
                Some(deflater) => put_compressed_frame(opcode, message, (deflater, &mut varying.masks), out),
            };
        }
        if *self == Framing::Grpc {
            return put_message(message, out);
        }
        if *self == Framing::Fix {
            return fix::put(message, varying.next_number(), unix_ns(), out);
        }
        if let Framing::Length { bytes, big_endian } = *self {
            let length = message.len() as u64;
            let bytes = usize::from(bytes);
            match big_endian {
                true => out.extend_from_slice(&length.to_be_bytes()[8 - bytes..]),
                false => out.extend_from_slice(&length.to_le_bytes()[..bytes]),
            }
        }
        out.extend_from_slice(message);
        if let Framing::Delimiter(end) = self {
            out.extend_from_slice(end);
        }
    }
}

/// Returns a command for Redis as an array of strings, which every version reads.
pub fn redis_command<W: AsRef<[u8]>>(words: &[W]) -> Vec<u8> {
    let mut out = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        let word = word.as_ref();
        out.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        out.extend_from_slice(word);
        out.extend_from_slice(b"\r\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn framings_are_read_as_they_are_written() {
        for text in
            ["line", "crlf", "nul", "delimiter:1e", "delimiter:0d0a0d0a", "length:1be", "length:8le", "fixed:64"]
        {
            assert_eq!(text.parse::<Framing>().unwrap().to_string(), text);
        }
        assert_eq!("delimiter:0D0A".parse::<Framing>().unwrap().to_string(), "crlf");
        for text in
            ["", "lines", "line:", "line:1", "length:4", "length:3be", "length:be", "length:4xe", "fixed:0", "fixed:-1"]
        {
            let refused = text.parse::<Framing>();
            assert!(refused.is_err() || text == "line:", "{text}: {refused:?}");
        }
        for text in
            ["delimiter:", "delimiter:0", "delimiter:zz", "delimiter:é0", &format!("delimiter:{}", "00".repeat(17))]
        {
            assert!(text.parse::<Framing>().is_err(), "{text}");
        }
    }

    #[test]
    fn messages_that_would_end_elsewhere_are_refused() {
        let refuses = |framing: &str, message: &[u8]| framing.parse::<Framing>().unwrap().refuses(message);
        for (framing, message) in
            [("line", &b"a"[..]), ("line", b""), ("crlf", b"a\nb\r"), ("length:1be", &[0; 255]), ("fixed:2", b"ab")]
        {
            assert_eq!(refuses(framing, message), None, "{framing}");
        }
        for (framing, message, why) in [
            ("line", &b"a\nb"[..], "byte 1"),
            ("crlf", b"\r\n", "byte 0"),
            ("length:1le", &[0; 256], "in 1 bytes"),
            ("fixed:2", b"abc", "wants 2"),
        ] {
            assert!(refuses(framing, message).unwrap_or_default().contains(why), "{framing}");
        }
    }

    #[test]
    fn lengths_are_written_in_their_order() {
        let put = |framing: &str| {
            let mut out = Vec::new();
            framing.parse::<Framing>().unwrap().put(&[7; 258], &mut Varying::new(1), &mut out);
            out[..out.len() - 258].to_vec()
        };
        assert_eq!(put("length:2be"), [1, 2]);
        assert_eq!(put("length:4le"), [2, 1, 0, 0]);
        assert_eq!(put("length:8be"), [0, 0, 0, 0, 0, 0, 1, 2]);
        assert_eq!(redis_command(&["GET", "é"]), "*2\r\n$3\r\nGET\r\n$2\r\né\r\n".as_bytes());
    }
}
