//! Where a worker reads to, and what it has not read yet.

use crate::connection::Token;

/// One for all connections of a worker; nothing of it is kept between reads.
pub(super) const READ_BUFFER: usize = 64 * 1024;
/// After so many reads in a row the other connections have their turn: a long answer must not make theirs look slow.
pub(super) const READS_IN_A_ROW: u32 = 4;
/// Reads from a connection that is given up: together more than a socket holds.
pub(super) const READS_AT_LAST: u32 = 256;

/// Where a worker reads to, and what it has not read yet.
#[derive(Debug)]
pub(super) struct Receiver {
    pub(super) buffer: Box<[u8]>,
    /// What was in bytes that came over TLS.
    pub(super) decrypted: Vec<u8>,
    /// Connections of which only a part was read of what is there, so that the others have their turn.
    pub(super) unread: Vec<Token>,
    /// The worker paused around its last poll, so that more may have come than that poll showed.
    pub(super) may_have_missed: bool,
    /// Times that bytes came on a connection on which nothing was asked.
    pub(super) stray_answers: u64,
    /// Answers of which the kernel was asked when they arrived, and did not say.
    pub(super) unstamped: u64,
}

impl Receiver {
    pub(super) fn new() -> Receiver {
        Receiver {
            buffer: vec![0; READ_BUFFER].into_boxed_slice(),
            decrypted: Vec::new(),
            unread: Vec::new(),
            may_have_missed: false,
            stray_answers: 0,
            unstamped: 0,
        }
    }

    /// There is more to read, or there may be.
    pub(super) fn has_more(&self) -> bool {
        !self.unread.is_empty() || self.may_have_missed
    }

    pub(super) fn take_unread(&mut self) -> Vec<Token> {
        std::mem::take(&mut self.unread)
    }
}
