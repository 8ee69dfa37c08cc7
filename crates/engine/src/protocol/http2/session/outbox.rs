//! Bytes on their way to the transport.

/// What is to be sent, behind what the transport took already.
#[derive(Debug)]
pub(super) struct Outbox {
    pub(super) bytes: Vec<u8>,
    /// So many of `bytes` were taken.
    gone: usize,
    /// So many bytes were taken from the beginning of the connection on.
    taken: u64,
    /// Of what was put since the outbox was last empty: replies to frames of the peer.
    pub(super) replies: usize,
}

impl Outbox {
    pub(super) fn new() -> Outbox {
        Outbox { bytes: Vec::with_capacity(4096), gone: 0, taken: 0, replies: 0 }
    }

    /// Bytes that were not taken yet.
    pub(super) fn pending(&self) -> &[u8] {
        &self.bytes[self.gone..]
    }

    /// How many bytes of the connection were taken.
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    /// Where the next byte that is put will be, counted from the beginning of the connection.
    pub(super) fn end(&self) -> u64 {
        self.taken + self.pending().len() as u64
    }

    /// The transport took the first `count` pending bytes.
    pub(super) fn take(&mut self, count: usize) {
        self.taken += count as u64;
        self.gone += count;
        if self.gone == self.bytes.len() {
            self.bytes.clear();
            (self.gone, self.replies) = (0, 0);
        } else if self.gone > self.bytes.len() / 2 {
            // Less is moved than was taken since it was last moved.
            self.bytes.drain(..self.gone);
            self.gone = 0;
        }
    }

    /// Takes back everything from position `at` of the connection on, which was not taken yet.
    pub(super) fn split_off(&mut self, at: u64) -> Vec<u8> {
        self.bytes.split_off(self.gone + (at - self.taken) as usize)
    }
}
