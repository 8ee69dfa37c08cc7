//! Bytes on their way to the transport.

/// Bytes to send, after bytes that the transport has already taken.
#[derive(Debug)]
pub(super) struct Outbox {
    pub(super) bytes: Vec<u8>,
    /// Number of bytes at the start of `bytes` that were taken.
    gone: usize,
    /// Number of bytes that were taken since the connection began.
    taken: u64,
    /// Bytes of replies to the peer's frames, among the bytes added since the outbox was last empty.
    pub(super) replies: usize,
}

impl Outbox {
    pub(super) fn new() -> Outbox {
        Outbox { bytes: Vec::with_capacity(4096), gone: 0, taken: 0, replies: 0 }
    }

    pub(super) fn pending(&self) -> &[u8] {
        &self.bytes[self.gone..]
    }

    /// Returns the number of bytes that were taken since the connection began.
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    /// Returns the position of the next byte, counted from the start of the connection.
    pub(super) fn end(&self) -> u64 {
        self.taken + self.pending().len() as u64
    }

    /// Records that the transport took the first `count` pending bytes.
    pub(super) fn take(&mut self, count: usize) {
        self.taken += count as u64;
        self.gone += count;
        if self.gone == self.bytes.len() {
            self.bytes.clear();
            (self.gone, self.replies) = (0, 0);
        } else if self.gone > self.bytes.len() / 2 {
            // This moves fewer bytes than were taken since the last move.
            self.bytes.drain(..self.gone);
            self.gone = 0;
        }
    }

    /// Takes back everything from position `at` of the connection, which must not be taken yet.
    pub(super) fn split_off(&mut self, at: u64) -> Vec<u8> {
        self.bytes.split_off(self.gone + (at - self.taken) as usize)
    }
}
