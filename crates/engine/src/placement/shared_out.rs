//! Connections that carry several requests at once and are shared by all. They take requests in turn.

use truetail_model::time::Timestamp;

use super::{Connections, Placement, Requester, has_room};
use crate::connection::Token;
use crate::protocol::{Conversation, Protocol};

/// Requests shared out over all connections to their origin.
#[derive(Debug)]
pub(crate) struct SharedOut {
    /// Limit on the connections to one origin.
    limit: u64,
    by_origin: Vec<Live>,
}

/// The connections to one origin that take new requests.
#[derive(Clone, Default, Debug)]
struct Live {
    slots: Vec<u32>,
    /// Index of the one used last.
    turn: usize,
    /// A connection could not be opened: until this instant, open connections are preferred.
    opening_rests_until: Timestamp,
}

impl Live {
    /// Returns the next connection in turn. At least one must exist.
    fn next(&mut self) -> u32 {
        self.turn = if self.turn + 1 < self.slots.len() { self.turn + 1 } else { 0 };
        self.slots[self.turn]
    }
}

impl SharedOut {
    fn is_below_limit(&self, origin: u32) -> bool {
        (self.by_origin[origin as usize].slots.len() as u64) < self.limit
    }
}

impl<P: Protocol> Placement<P> for SharedOut {
    fn new(origins: usize, limit: u64) -> SharedOut {
        SharedOut { limit, by_origin: vec![Live::default(); origins] }
    }

    #[inline]
    fn choose(&mut self, pool: &mut Connections<P>, request: Requester, now: Timestamp) -> Option<u32> {
        let may_open = self.is_below_limit(request.origin);
        let live = &mut self.by_origin[request.origin as usize];
        if may_open && now >= live.opening_rests_until {
            return None;
        }
        (0..live.slots.len()).map(|_| live.next()).find(|slot| has_room::<P>(pool, *slot))
    }

    fn may_open(&self, origin: u32) -> bool {
        self.is_below_limit(origin)
    }

    fn add(&mut self, connection: Token, request: Requester) {
        self.by_origin[request.origin as usize].slots.push(connection.slot());
    }

    fn rest(&mut self, origin: u32, until: Timestamp) {
        self.by_origin[origin as usize].opening_rests_until = until;
    }

    fn retire(&mut self, slot: u32, origin: u32) {
        self.by_origin[origin as usize].slots.retain(|live| *live != slot);
    }

    #[inline]
    fn release(&mut self, _: &mut Connections<P>, _: u32) -> bool {
        false
    }

    fn sends_together(&self) -> bool {
        true
    }

    /// Each connection that may still be opened counts as one request: the one that opens it. With several origins,
    /// waiting requests count too, so that requests waiting at one origin do not hold up another.
    fn capacity(&self, pool: &Connections<P>, waiting: u64) -> Option<u64> {
        let unopened = self.by_origin.iter().map(|live| self.limit.saturating_sub(live.slots.len() as u64));
        let unopened = unopened.fold(0, u64::saturating_add);
        let waiting = if self.by_origin.len() > 1 { waiting } else { 0 };
        let open = pool.iter().map(|connection| connection.conversation.capacity());
        Some(open.fold(unopened.saturating_add(waiting), u64::saturating_add))
    }
}
