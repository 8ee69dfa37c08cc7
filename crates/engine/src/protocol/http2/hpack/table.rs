//! The tables of fields (RFC 7541, section 2.3 and appendix A).

use std::collections::VecDeque;

use truetail_model::record::GrpcStatus;

use super::{TABLE_SIZE, Unreadable};
use crate::protocol::http2::call::is_grpc;

/// Bytes that each field counts in addition to its name and value.
pub(crate) const OVERHEAD: usize = 32;

/// Names and values that both sides know; the first has index 1.
#[rustfmt::skip]
pub(crate) const STATIC: [(&str, &str); 61] = [
    (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"), (":path", "/index.html"),
    (":scheme", "http"), (":scheme", "https"), (":status", "200"), (":status", "204"), (":status", "206"),
    (":status", "304"), (":status", "400"), (":status", "404"), (":status", "500"), ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"), ("accept-language", ""), ("accept-ranges", ""), ("accept", ""),
    ("access-control-allow-origin", ""), ("age", ""), ("allow", ""), ("authorization", ""), ("cache-control", ""),
    ("content-disposition", ""), ("content-encoding", ""), ("content-language", ""), ("content-length", ""),
    ("content-location", ""), ("content-range", ""), ("content-type", ""), ("cookie", ""), ("date", ""), ("etag", ""),
    ("expect", ""), ("expires", ""), ("from", ""), ("host", ""), ("if-match", ""), ("if-modified-since", ""),
    ("if-none-match", ""), ("if-range", ""), ("if-unmodified-since", ""), ("last-modified", ""), ("link", ""),
    ("location", ""), ("max-forwards", ""), ("proxy-authenticate", ""), ("proxy-authorization", ""), ("range", ""),
    ("referer", ""), ("refresh", ""), ("retry-after", ""), ("server", ""), ("set-cookie", ""),
    ("strict-transport-security", ""), ("transfer-encoding", ""), ("user-agent", ""), ("vary", ""), ("via", ""),
    ("www-authenticate", ""),
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Name {
    Status,
    Length,
    ContentType,
    GrpcStatus,
    GrpcEncoding,
    Other,
    /// Not a name of an answer: another pseudo-header, an empty name, upper case, or an invalid character.
    Wrong,
}

impl Name {
    pub(super) fn classify(name: &[u8]) -> Name {
        match name {
            b":status" => Name::Status,
            b"content-length" => Name::Length,
            b"content-type" => Name::ContentType,
            b"grpc-status" => Name::GrpcStatus,
            b"grpc-encoding" => Name::GrpcEncoding,
            [] | [b':', ..] => Name::Wrong,
            _ if name.iter().all(|byte| is_in_name(*byte)) => Name::Other,
            _ => Name::Wrong,
        }
    }
}

/// Returns true for a valid character of a name (RFC 9113, section 8.2.1).
fn is_in_name(byte: u8) -> bool {
    matches!(byte, b'!'..=b'~') && !byte.is_ascii_uppercase() && byte != b':'
}

/// Returns true for a valid value (RFC 9113, section 8.2.1): no character that ends it early, no blank at its ends.
fn is_value(value: &[u8]) -> bool {
    let is_blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    !is_blank(value.first()) && !is_blank(value.last()) && !value.iter().any(|byte| matches!(byte, 0 | b'\r' | b'\n'))
}

/// Relevant kinds of fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Field {
    /// A status; `None`: not three digits.
    Status(Option<u16>),
    /// A length; `None`: not a number.
    Length(Option<u64>),
    /// The content type of gRPC.
    Grpc,
    GrpcEncoding {
        may_compress: bool,
    },
    GrpcStatus(GrpcStatus),
    Other,
    Wrong,
    WrongValue,
}

impl Field {
    pub(super) fn classify(name: Name, value: &[u8]) -> Field {
        match name {
            Name::Status => Field::Status(decimal(value).filter(|_| value.len() == 3).map(|status| status as u16)),
            Name::Length => Field::Length(decimal(value)),
            Name::Wrong => Field::Wrong,
            _ if !is_value(value) => Field::WrongValue,
            Name::ContentType if is_grpc(value) => Field::Grpc,
            Name::GrpcEncoding => Field::GrpcEncoding { may_compress: !value.eq_ignore_ascii_case(b"identity") },
            // What is no number counts as an unknown status.
            Name::GrpcStatus => Field::GrpcStatus(GrpcStatus::from_code(decimal(value).unwrap_or(u64::MAX))),
            Name::ContentType | Name::Other => Field::Other,
        }
    }
}

/// Returns the number; `None` if there is a sign, another character or an overflow.
fn decimal(digits: &[u8]) -> Option<u64> {
    let digit = |byte: &u8| byte.is_ascii_digit().then(|| u64::from(byte - b'0'));
    let add = |sum: u64, byte| sum.checked_mul(10)?.checked_add(digit(byte)?);
    if digits.is_empty() { None } else { digits.iter().try_fold(0, add) }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    pub(super) field: Field,
    pub(super) name: TableName,
    /// Bytes of the name and the value, plus [`OVERHEAD`].
    pub(super) size: usize,
}

/// The name of a field in the tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TableName {
    pub(super) name: Name,
    pub(super) length: usize,
}

static KNOWN: std::sync::LazyLock<[Entry; 61]> = std::sync::LazyLock::new(|| {
    STATIC.map(|(text, value)| {
        let name = TableName { name: Name::classify(text.as_bytes()), length: text.len() };
        let field = Field::classify(name.name, value.as_bytes());
        Entry { field, name, size: text.len() + value.len() + OVERHEAD }
    })
});

/// Both tables of one direction of a connection.
#[derive(Debug)]
pub(super) struct Table {
    known: &'static [Entry; 61],
    /// Entries of the dynamic table, newest first.
    added: VecDeque<Entry>,
    size: usize,
    most: usize,
}

impl Table {
    pub(super) fn new() -> Table {
        Table { known: &KNOWN, added: VecDeque::new(), size: 0, most: TABLE_SIZE }
    }

    /// Returns the field at an index, counted from 1.
    #[inline]
    pub(super) fn get(&self, index: usize) -> Result<Entry, Unreadable> {
        match index.checked_sub(1).ok_or(Unreadable)? {
            at if at < self.known.len() => Ok(self.known[at]),
            at => self.added.get(at - self.known.len()).copied().ok_or(Unreadable),
        }
    }

    pub(super) fn name(&self, index: usize) -> Result<TableName, Unreadable> {
        self.get(index).map(|entry| entry.name)
    }

    /// Adds a field. A field that is larger than the table empties it.
    pub(super) fn add(&mut self, entry: Entry) {
        self.evict(self.most.saturating_sub(entry.size));
        if entry.size <= self.most {
            self.size += entry.size;
            self.added.push_front(entry);
        }
    }

    pub(super) fn resize(&mut self, most: usize) -> Result<(), Unreadable> {
        if most > TABLE_SIZE {
            return Err(Unreadable);
        }
        self.most = most;
        self.evict(most);
        Ok(())
    }

    fn evict(&mut self, most: usize) {
        while self.size > most {
            self.size -= self.added.pop_back().map_or(self.size, |entry| entry.size);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.added.len()
    }
}
