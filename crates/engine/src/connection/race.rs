//! Reaching an origin that has several addresses, after RFC 8305 ("Happy Eyeballs"): the next address is tried when one
//! fails or has not answered after a while, and the first connection that is there is used.

use socket2::Socket;
use truetail_model::record::Cause;
use truetail_model::time::Nanos;

use super::socket;

/// An address that has not answered for this long does not keep the next one waiting: the "Connection Attempt Delay" of
/// RFC 8305, section 5.
pub(crate) const ATTEMPT_DELAY: Nanos = Nanos::from_millis(250);

/// The attempts at one connection. The connection has a socket of its own, which is one of them.
#[derive(Debug)]
pub(crate) struct Race {
    /// The number of the address of the connection's own socket.
    own: u32,
    /// Further attempts that go on, with the numbers of their addresses.
    others: Vec<(Socket, u32)>,
    /// Attempts that failed, until the reactor no longer watches them.
    failed: Vec<Socket>,
    /// Addresses that were not tried yet, the next one last.
    untried: Vec<u32>,
}

impl Race {
    /// The attempts to reach one of `addresses`, with `first` tried first.
    pub(crate) fn new(first: u32, addresses: u32) -> Race {
        let untried = (1..addresses).rev().map(|step| (first + step) % addresses).collect();
        Race { own: first, others: Vec::new(), failed: Vec::new(), untried }
    }

    /// The same, where the connection's own socket leads to this address.
    pub(crate) fn with_own(self, own: u32) -> Race {
        Race { own, ..self }
    }

    /// The next address to be tried.
    pub(crate) fn next(&mut self) -> Option<u32> {
        self.untried.pop()
    }

    /// The number of the address of the connection's own socket.
    pub(crate) fn own(&self) -> u32 {
        self.own
    }

    /// The sockets of all attempts but the connection's own.
    pub(crate) fn others(&self) -> impl Iterator<Item = &Socket> {
        self.others.iter().map(|(socket, _)| socket).chain(&self.failed)
    }

    /// An attempt at this address is going on. It takes the place of the connection's `own` socket if that has failed.
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

    /// The outcome of all attempts, where `own` is that of the connection's own `socket`. The socket of the first attempt
    /// that succeeded takes its place. `None`: they are still going on.
    pub(super) fn outcome(&mut self, socket: &mut Socket, own: Option<Result<(), Cause>>) -> Option<Result<(), Cause>> {
        if own == Some(Ok(())) {
            return own;
        }
        // Asked once: the system forgets an error when it has told it.
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

    /// Puts a further attempt that goes on in the place of the connection's own, which has failed. False if there is none.
    pub(super) fn fall_back(&mut self, own: &mut Socket) -> bool {
        let goes_on = !self.others.is_empty();
        if goes_on {
            self.replace(own, 0);
        }
        goes_on
    }

    /// Swaps the connection's own socket and that of a further attempt.
    fn swap(&mut self, own: &mut Socket, nth: usize) {
        let (other, number) = &mut self.others[nth];
        std::mem::swap(own, other);
        std::mem::swap(&mut self.own, number);
    }

    /// Puts a further attempt in the place of the connection's own socket, which has failed.
    fn replace(&mut self, own: &mut Socket, nth: usize) {
        self.swap(own, nth);
        self.failed.push(self.others.remove(nth).0);
    }
}

/// Another address may be better off. Ports and descriptors that are used up are used up for all.
pub(crate) fn may_be_elsewhere(cause: Cause) -> bool {
    !matches!(cause, Cause::NoLocalPort | Cause::NoFileDescriptor)
}
