//! Connecting to an origin with several addresses, as in RFC 8305 ("Happy Eyeballs"). The next address is tried when
//! one fails or does not answer for a while. The first connection that opens is used.

use socket2::Socket;
use truetail_model::record::Cause;
use truetail_model::time::Nanos;

use super::socket;

/// Time without an answer after which the next address is tried: the "Connection Attempt Delay" of RFC 8305, section 5.
pub(crate) const ATTEMPT_DELAY: Nanos = Nanos::from_millis(250);

/// The attempts at one connection. One of their sockets is the connection's own.
#[derive(Debug)]
pub(crate) struct Race {
    /// Index of the address of the connection's own socket.
    own: u32,
    /// Further attempts that have not failed, with the indices of their addresses.
    others: Vec<(Socket, u32)>,
    /// Attempts that failed. They are kept until the reactor no longer watches them.
    failed: Vec<Socket>,
    /// Addresses that were not tried yet, the next one last.
    untried: Vec<u32>,
}

impl Race {
    /// Creates the attempts to reach one of `addresses`. `first` is tried first.
    pub(crate) fn new(first: u32, addresses: u32) -> Race {
        let untried = (1..addresses).rev().map(|step| (first + step) % addresses).collect();
        Race { own: first, others: Vec::new(), failed: Vec::new(), untried }
    }

    /// Returns the race with the connection's own socket at address `own`.
    pub(crate) fn with_own(self, own: u32) -> Race {
        Race { own, ..self }
    }

    pub(crate) fn next(&mut self) -> Option<u32> {
        self.untried.pop()
    }

    pub(crate) fn own(&self) -> u32 {
        self.own
    }

    /// Returns the sockets of all attempts but the connection's own.
    pub(crate) fn others(&self) -> impl Iterator<Item = &Socket> {
        self.others.iter().map(|(socket, _)| socket).chain(&self.failed)
    }

    /// Adds an attempt at this address. It replaces the connection's `own` socket if that has failed.
    pub(super) fn add<'a>(
        &'a mut self,
        socket: Socket,
        number: u32,
        own: &'a mut Socket,
        own_has_failed: bool,
    ) -> &'a Socket {
        self.others.push((socket, number));
        if own_has_failed {
            self.replace(own, self.others.len() - 1);
            return own;
        }
        &self.others[self.others.len() - 1].0
    }

    /// Returns the outcome of all attempts, or `None` while they continue. `own` is the outcome of the connection's own
    /// `socket`. The socket of the first attempt that succeeded takes its place.
    pub(super) fn outcome(&mut self, socket: &mut Socket, own: Option<Result<(), Cause>>) -> Option<Result<(), Cause>> {
        if own == Some(Ok(())) {
            return own;
        }
        // Asked only once, because the system forgets an error after reporting it.
        let outcomes: Vec<_> = self.others.iter().map(|(other, _)| socket::connected(other)).collect();
        if let Some(nth) = outcomes.iter().position(|outcome| *outcome == Some(Ok(()))) {
            self.swap(socket, nth);
            return Some(Ok(()));
        }
        for nth in (0..outcomes.len()).rev().filter(|nth| outcomes[*nth].is_some()) {
            self.failed.push(self.others.remove(nth).0);
        }
        if own.is_some() && self.untried.is_empty() && self.fall_back(socket) {
            return None;
        }
        own
    }

    /// Replaces the connection's own, failed socket by that of a further attempt. Returns false if none is left.
    pub(super) fn fall_back(&mut self, own: &mut Socket) -> bool {
        let goes_on = !self.others.is_empty();
        if goes_on {
            self.replace(own, 0);
        }
        goes_on
    }

    fn swap(&mut self, own: &mut Socket, nth: usize) {
        let (other, number) = &mut self.others[nth];
        std::mem::swap(own, other);
        std::mem::swap(&mut self.own, number);
    }

    /// Replaces the connection's own socket, which has failed, by that of a further attempt.
    fn replace(&mut self, own: &mut Socket, nth: usize) {
        self.swap(own, nth);
        self.failed.push(self.others.remove(nth).0);
    }
}

/// Returns true if another address may succeed. Local ports and file descriptors are exhausted for all addresses.
pub(crate) fn may_be_elsewhere(cause: Cause) -> bool {
    !matches!(cause, Cause::NoLocalPort | Cause::NoFileDescriptor)
}
