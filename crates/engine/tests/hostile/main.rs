//! Everything that a server sends leads to an outcome with a cause, balanced books and bounded memory. The table of
//! answers is read by the parser in pieces of every size, and over sockets.

mod parser;
mod sockets;
#[path = "../support/mod.rs"]
mod support;
mod table;

/// Longest head that is accepted, in bytes.
const HEAD_LIMIT: usize = 64 * 1024;
