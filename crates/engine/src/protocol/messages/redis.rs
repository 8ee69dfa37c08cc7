//! The end of a reply of Redis (RESP2 and RESP3). Its values are not kept.

use truetail_model::record::Cause;

/// Deepest nesting of arrays in a reply.
const MAX_DEPTH: usize = 32;
/// Longest line, without its end: a status, an error, a number or a length.
const MAX_LINE: u32 = 64 * 1024;
/// Longest string of Redis: 512 MiB.
const MAX_STRING: u64 = 512 << 20;

/// Kind of a message that was received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reply {
    Good,
    /// An error reply.
    Error,
}

/// Progress within a reply.
#[derive(Clone, Default, Debug)]
pub(super) struct Redis {
    /// Kind of the outermost value, once its type is known.
    kind: Option<Reply>,
    /// The open arrays, outermost first.
    open: Vec<Open>,
    at: At,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    /// Values that are missing.
    missing: u64,
    /// True for the attributes of the value that follows them.
    is_attribute: bool,
}

#[derive(Clone, Copy, Default, Debug)]
enum At {
    #[default]
    Type,
    Line {
        then: Then,
        length: u32,
        number: Number,
        is_returned: bool,
    },
    /// In a string; this many of its bytes are missing.
    String(u64),
    /// At the line end of a string.
    StringEnd {
        is_returned: bool,
    },
}

/// Meaning of the number on a line.
#[derive(Clone, Copy, Debug)]
enum Then {
    /// None: the line is the value.
    Value,
    /// The length of a string.
    String,
    /// This many values follow for each that is counted.
    Values { each: u64, is_attribute: bool },
}

#[derive(Clone, Copy, Debug)]
enum Number {
    Empty,
    Negative,
    Some(u64),
    /// The line is no number.
    None,
}

impl Number {
    fn push(self, byte: u8) -> Number {
        match (self, byte) {
            (Number::Empty, b'-') => Number::Negative,
            // A negative length is that of a value that does not exist.
            (Number::Negative, b'0'..=b'9') => Number::Negative,
            (Number::Empty, b'0'..=b'9') => Number::Some(u64::from(byte - b'0')),
            (Number::Some(value), b'0'..=b'9') => {
                let longer = value.checked_mul(10).and_then(|value| value.checked_add(u64::from(byte - b'0')));
                longer.map_or(Number::None, Number::Some)
            }
            _ => Number::None,
        }
    }
}

/// Returns true if a message that begins with this byte is no reply.
pub(super) fn is_push(first: u8) -> bool {
    first == b'>'
}

/// Returns the length of the string that `bytes` begin with, if it is whole and shorter than 10 MB.
#[inline]
fn whole_string(bytes: &[u8]) -> Option<usize> {
    const MAX_DIGITS: usize = 7;
    let (b'$', rest) = bytes.split_first()? else { return None };
    let digits = rest.iter().take(MAX_DIGITS).take_while(|byte| byte.is_ascii_digit()).count();
    let length = rest[..digits].iter().fold(0, |number, digit| 10 * number + usize::from(digit - b'0'));
    let content = rest[digits..].strip_prefix(b"\r\n").filter(|_| digits > 0)?;
    content.get(length..)?.starts_with(b"\r\n").then(|| 1 + digits + 2 + length + 2)
}

impl Redis {
    /// Expects the next reply, after the end of one.
    #[inline]
    pub(super) fn begin_again(&mut self) {
        self.kind = None;
    }

    /// Takes bytes up to the end of the reply, or all. Returns their number, and the kind of the reply at its end.
    ///
    /// # Errors
    /// [`Cause::BadMessage`] and [`Cause::MessageTooLarge`].
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<(usize, Option<Reply>), Cause> {
        // Most replies are one string that arrives whole.
        let begins = self.kind.is_none() && self.open.is_empty() && matches!(self.at, At::Type);
        if let Some(length) = whole_string(bytes).filter(|_| begins) {
            return Ok((length, Some(Reply::Good)));
        }
        let mut at = 0;
        while at < bytes.len() {
            match &mut self.at {
                At::Type => {
                    self.begin(bytes[at])?;
                    at += 1;
                }
                At::String(missing) => {
                    let read = (*missing).min((bytes.len() - at) as u64);
                    *missing -= read;
                    at += read as usize;
                    if *missing == 0 {
                        self.at = At::StringEnd { is_returned: false };
                    }
                }
                At::StringEnd { is_returned } => {
                    let byte = bytes[at];
                    at += 1;
                    match std::mem::replace(is_returned, true) {
                        false if byte == b'\r' => {}
                        true if byte == b'\n' => {
                            if self.end_value() {
                                return Ok((at, self.kind));
                            }
                        }
                        _ => return Err(Cause::BadMessage),
                    }
                }
                At::Line { then, length, number, is_returned } => {
                    let byte = bytes[at];
                    at += 1;
                    if std::mem::replace(is_returned, byte == b'\r') {
                        if byte != b'\n' {
                            return Err(Cause::BadMessage);
                        }
                        let then = *then;
                        let number = *number;
                        if self.end_line(then, number)? {
                            return Ok((at, self.kind));
                        }
                    } else if byte != b'\r' {
                        *length += 1;
                        *number = number.push(byte);
                        if *length > MAX_LINE {
                            return Err(Cause::MessageTooLarge);
                        }
                    }
                }
            }
        }
        Ok((at, None))
    }

    fn begin(&mut self, type_byte: u8) -> Result<(), Cause> {
        let then = match type_byte {
            b'+' | b'-' | b':' | b',' | b'#' | b'(' | b'_' => Then::Value,
            b'$' | b'!' | b'=' => Then::String,
            b'*' | b'~' | b'>' => Then::Values { each: 1, is_attribute: false },
            b'%' => Then::Values { each: 2, is_attribute: false },
            b'|' => Then::Values { each: 2, is_attribute: true },
            _ => return Err(Cause::BadMessage),
        };
        if self.open.is_empty() && type_byte != b'|' {
            self.kind = Some(match type_byte {
                b'-' | b'!' => Reply::Error,
                _ => Reply::Good,
            });
        }
        self.at = At::Line { then, length: 0, number: Number::Empty, is_returned: false };
        Ok(())
    }

    /// Handles the end of a line. Returns true at the end of the reply.
    fn end_line(&mut self, then: Then, number: Number) -> Result<bool, Cause> {
        match (then, number) {
            (Then::Value, _) => Ok(self.end_value()),
            (_, Number::Empty | Number::None) => Err(Cause::BadMessage),
            (Then::String | Then::Values { .. }, Number::Negative) => Ok(self.end_value()),
            (Then::String, Number::Some(length)) if length > MAX_STRING => Err(Cause::MessageTooLarge),
            (Then::String, Number::Some(length)) => {
                self.at = if length == 0 { At::StringEnd { is_returned: false } } else { At::String(length) };
                Ok(false)
            }
            (Then::Values { each, is_attribute }, Number::Some(count)) => {
                let missing = count.checked_mul(each).ok_or(Cause::BadMessage)?;
                self.at = At::Type;
                if missing == 0 {
                    return Ok(!is_attribute && self.end_value());
                }
                if self.open.len() == MAX_DEPTH {
                    return Err(Cause::MessageTooLarge);
                }
                self.open.push(Open { missing, is_attribute });
                Ok(false)
            }
        }
    }

    /// Ends a value, and the arrays that end with it. Returns true if nothing is missing.
    fn end_value(&mut self) -> bool {
        self.at = At::Type;
        while let Some(open) = self.open.last_mut() {
            open.missing -= 1;
            let is_attribute = open.is_attribute;
            if open.missing > 0 {
                return false;
            }
            self.open.pop();
            if is_attribute {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the kinds of all replies in `bytes`, received in pieces of this size, and the bytes left over.
    fn kinds(bytes: &[u8], size: usize) -> Result<(Vec<Reply>, usize), Cause> {
        let mut redis = Redis::default();
        let mut found = Vec::new();
        let mut since = 0;
        for piece in bytes.chunks(size) {
            let mut rest = piece;
            while !rest.is_empty() {
                let (read, reply) = redis.feed(rest)?;
                rest = &rest[read..];
                since += read;
                if let Some(reply) = reply {
                    found.push(reply);
                    redis.begin_again();
                    since = 0;
                }
            }
        }
        Ok((found, since))
    }

    #[test]
    fn a_reply_ends_after_its_last_value() {
        use Reply::{Error, Good};
        for (bytes, wanted) in [
            (&b"+OK\r\n:1\r\n:-1\r\n$-1\r\n*-1\r\n_\r\n#t\r\n,1.5\r\n(12\r\n"[..], vec![Good; 9]),
            (b"-ERR x\r\n!5\r\nERR y\r\n", vec![Error; 2]),
            (b"$0\r\n\r\n$5\r\na\r\nbc\r\n=5\r\ntxt:x\r\n", vec![Good; 3]),
            (b"*0\r\n*2\r\n$1\r\na\r\n*2\r\n:1\r\n-ERR\r\n+OK\r\n", vec![Good; 3]),
            (b"%1\r\n+k\r\n*1\r\n:1\r\n~1\r\n+a\r\n", vec![Good; 2]),
            (b">2\r\n+message\r\n+x\r\n+OK\r\n", vec![Good; 2]),
            (b"|1\r\n+ttl\r\n:5\r\n-ERR\r\n|0\r\n+OK\r\n", vec![Error, Good]),
            (b"*1\r\n|1\r\n+a\r\n+b\r\n:1\r\n", vec![Good]),
            (b"|1\r\n$1\r\na\r\n$1\r\nb\r\n$2\r\nOK\r\n*1\r\n$1\r\na\r\n", vec![Good; 2]),
        ] {
            for size in 1..=bytes.len() {
                assert_eq!(kinds(bytes, size), Ok((wanted.clone(), 0)), "{} by {size}", bytes.escape_ascii());
            }
        }
    }

    #[test]
    fn broken_replies_are_told_from_large_ones() {
        for bytes in
            [&b"HTTP/1.1"[..], b"\n", b"$x\r\n", b"$\r\n", b"+a\rb", b"$1\r\nabc", b"*99999999999999999999\r\n"]
        {
            assert_eq!(kinds(bytes, 1), Err(Cause::BadMessage), "{}", bytes.escape_ascii());
        }
        assert_eq!(kinds(&b"*1\r\n".repeat(40), 7), Err(Cause::MessageTooLarge));
        assert_eq!(kinds(&[b'+'; 70_000], 999), Err(Cause::MessageTooLarge));
        assert_eq!(kinds(b"$999999999999\r\n", 3), Err(Cause::MessageTooLarge));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_the_same_however_they_are_cut(
            bytes in prop_oneof![
                "[+:$*|%>~!_-][0-3]?\\r\\n".prop_map(String::into_bytes),
                prop::collection::vec(prop::sample::select(&b"+-:$*|%>!0123\r\n"[..]), 0..60),
                prop::collection::vec(any::<u8>(), 0..60),
            ],
            size in 1usize..9,
        ) {
            prop_assert_eq!(kinds(&bytes, size), kinds(&bytes, usize::MAX));
        }
    }
}
