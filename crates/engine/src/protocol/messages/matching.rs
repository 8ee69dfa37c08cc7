//! Matching: which message a reply answers.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use super::fix;
use super::limits::MAX_MESSAGE;

/// The rule by which a reply finds its message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Matching {
    /// Replies come in the order of the messages.
    Order,
    /// Messages have no replies: each ends when it is sent.
    None,
    /// Message and reply have the same JSON value at this pointer (RFC 6901).
    Json(String),
    /// Message and reply have the same value of this field of FIX.
    Fix(u32),
    /// Message and reply have the same bytes in this place of their content.
    Bytes {
        /// Bytes before them.
        offset: usize,
        /// Number of bytes, at least one.
        length: usize,
    },
}

/// Text that is no rule.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "'{}' is no rule to match replies; write order, json:/id, bytes:OFFSET:LENGTH, fix:TAG or none",
    .0.escape_debug()
)]
pub struct UnknownMatching(String);

impl FromStr for Matching {
    type Err = UnknownMatching;

    /// Reads `order`, `none`, `json:POINTER`, `bytes:OFFSET:LENGTH` or `fix:TAG`.
    fn from_str(text: &str) -> Result<Matching, UnknownMatching> {
        let number = |text: &str| text.parse().ok().filter(|number| (*number as u64) < MAX_MESSAGE);
        let bytes = |place: &str| {
            let (offset, length) = place.split_once(':')?;
            let length = number(length).filter(|length| *length > 0)?;
            Some(Matching::Bytes { offset: number(offset)?, length })
        };
        let matching = match text.split_once(':') {
            None if text == "order" => Some(Matching::Order),
            None if text == "none" => Some(Matching::None),
            Some(("json", pointer)) if pointer.is_empty() || pointer.starts_with('/') => {
                Some(Matching::Json(pointer.to_owned()))
            }
            Some(("bytes", place)) => bytes(place),
            Some(("fix", tag)) if tag.bytes().all(|byte| byte.is_ascii_digit()) => tag.parse().ok().map(Matching::Fix),
            _ => None,
        };
        matching.ok_or_else(|| UnknownMatching(text.to_owned()))
    }
}

/// Writes the text that [`Matching::from_str`] reads.
impl fmt::Display for Matching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Matching::Order => f.write_str("order"),
            Matching::None => f.write_str("none"),
            Matching::Fix(tag) => write!(f, "fix:{tag}"),
            Matching::Json(pointer) => write!(f, "json:{pointer}"),
            Matching::Bytes { offset, length } => write!(f, "bytes:{offset}:{length}"),
        }
    }
}

/// What a message and its reply have in common.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Key {
    Bytes(Box<[u8]>),
    /// A JSON value in its shortest form, so that `1` and `1.0` differ and blanks do not matter.
    Json(String),
}

impl Matching {
    /// Returns the key of a message, without its frame, but of FIX with it. `None`: it has no key, or none is compared.
    pub(super) fn key_of(&self, message: &[u8]) -> Option<Key> {
        match self {
            Matching::Order | Matching::None => None,
            Matching::Fix(tag) => fix::value(message, *tag).map(|value| Key::Bytes(value.into())),
            Matching::Bytes { offset, length } => {
                message.get(*offset..offset + length).map(|bytes| Key::Bytes(bytes.into()))
            }
            Matching::Json(pointer) => {
                let value: Value = serde_json::from_slice(message).ok()?;
                value.pointer(pointer).map(|value| Key::Json(value.to_string()))
            }
        }
    }

    /// Returns true if a message has what this rule looks for. Messages without it could not be matched.
    pub fn finds_key(&self, message: &[u8]) -> bool {
        match self {
            Matching::Order | Matching::None => true,
            Matching::Fix(tag) => fix::can_have_value(message, *tag),
            Matching::Json(_) | Matching::Bytes { .. } => self.key_of(message).is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_as_they_are_written() {
        for text in ["order", "none", "json:/id", "json:/a/0/b", "json:", "bytes:0:8", "bytes:16:4", "fix:11"] {
            assert_eq!(text.parse::<Matching>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "nothing",
            "order:",
            "json",
            "json:id",
            "bytes:0",
            "bytes:0:0",
            "bytes:-1:2",
            "bytes:0:999999999999",
            "fix:",
            "fix:x",
            "fix:-1",
        ] {
            assert!(text.parse::<Matching>().is_err(), "{text}");
        }
    }

    #[test]
    fn message_and_reply_have_the_same_key() {
        let key = |rule: &str, message: &str| rule.parse::<Matching>().unwrap().key_of(message.as_bytes());
        assert_eq!(key("json:/id", r#"{"id": 7, "x": 1}"#), key("json:/id", r#"{"y":[],"id":7}"#));
        assert_ne!(key("json:/id", r#"{"id": 7}"#), key("json:/id", r#"{"id":"7"}"#));
        assert_eq!(key("json:/id", "{}"), None);
        assert_eq!(key("json:/id", "[1"), None);
        assert_eq!(key("bytes:1:2", "abcd"), key("bytes:1:2", "xbc"));
        assert_eq!(key("bytes:1:2", "ab"), None);
    }
}
