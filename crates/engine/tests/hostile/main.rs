//! Whatever a server sends is an outcome that says why, in balanced books and bounded memory: the table of answers, read by
//! the parser in pieces of every size, and over sockets.

mod parser;
mod sockets;
#[path = "../support/mod.rs"]
mod support;
mod table;

/// The longest head that is accepted, in bytes.
const HEAD_LIMIT: usize = 64 * 1024;
