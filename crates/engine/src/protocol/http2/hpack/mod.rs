//! HPACK, the compression of header fields (RFC 7541). It decodes everything and encodes what requests need.
//!
//! Only the status and the body length are kept of decoded fields. Everything else is checked, measured and dropped, so
//! the dynamic table holds no text and decoding allocates nothing. For an observer, the fields are kept as text.

mod decoder;
mod field_texts;
mod huffman;
mod integer;
mod table;

pub(crate) use decoder::{DecodedFields, Decoder};
pub(crate) use integer::put as put_integer;
pub(crate) use table::{OVERHEAD, STATIC};

/// Error: a field block cannot be decoded, and no later block of the connection can.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Unreadable;

/// Size of the dynamic table of both sides, unless the peer allows less: the default of the protocol.
pub(crate) const TABLE_SIZE: usize = 4096;
