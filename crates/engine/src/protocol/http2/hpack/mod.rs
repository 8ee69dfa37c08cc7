//! HPACK, the compression of header fields (RFC 7541): reading all of it, writing what requests need.
//!
//! Of what is read only the status and the length of the body are kept. All else is checked, measured and forgotten, so
//! that the dynamic table holds no text and reading allocates nothing. Where an observer is there to see header fields,
//! their text is kept beside the table.

mod decoder;
mod field_texts;
mod huffman;
mod integer;
mod table;

pub(crate) use decoder::{DecodedFields, Decoder};
pub(crate) use integer::put as put_integer;
pub(crate) use table::{OVERHEAD, STATIC};

/// A block of fields that cannot be read: from here on nothing on the connection can.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Unreadable;

/// Size of the dynamic table of both sides, unless the other side allows less: what everybody starts with.
pub(crate) const TABLE_SIZE: usize = 4096;
