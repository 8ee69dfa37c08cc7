//! Permits: the cap on requests in flight.

use std::collections::VecDeque;

use crate::time::{Nanos, Timestamp};

/// Permits of one driver, with the times when they became available. These times give the wait of each request.
#[derive(Clone, Debug)]
pub(super) struct Permits {
    /// Permits that were never used; `None` without a cap.
    fresh: Option<u64>,
    /// Time when the unused permits became available, or the cap was lifted.
    fresh_since: Timestamp,
    /// Times when permits were given back, oldest first.
    freed: VecDeque<Timestamp>,
    /// Number of held permits that a lower cap has withdrawn.
    surplus: u64,
    /// Number of permits that requests in flight or running sessions hold.
    held: u64,
}

/// Memory is reserved for this many returned permits, so that a cap of usual size never allocates during the run.
const PERMITS_MADE_READY: u64 = 1 << 16;

impl Permits {
    pub(super) fn new(cap: Option<u64>) -> Permits {
        let ready = cap.unwrap_or(0).min(PERMITS_MADE_READY) as usize;
        let freed = VecDeque::with_capacity(ready);
        Permits { fresh: cap, fresh_since: Timestamp::ZERO, freed, surplus: 0, held: 0 }
    }

    /// Takes a permit for a request intended at `intended` and returns its wait; `None` if all permits are taken.
    pub(super) fn take(&mut self, intended: Timestamp) -> Option<Nanos> {
        let waited = self.take_free(intended)?;
        self.held += 1;
        Some(waited)
    }

    #[inline]
    fn take_free(&mut self, intended: Timestamp) -> Option<Nanos> {
        match &mut self.fresh {
            // A request that was due before the cap was lifted waited until then.
            None => Some(self.fresh_since.since(intended)),
            // A permit returned before `intended` is as good as an unused one, and taking it keeps the queue short.
            Some(_) if self.freed.front().is_some_and(|freed_at| *freed_at <= intended) => {
                self.freed.pop_front().map(|_| Nanos::ZERO)
            }
            Some(0) => self.freed.pop_front().map(|freed_at| freed_at.since(intended)),
            Some(fresh) => {
                *fresh -= 1;
                Some(self.fresh_since.since(intended))
            }
        }
    }

    pub(super) fn exhausted(&self) -> bool {
        self.fresh == Some(0) && self.freed.is_empty()
    }

    /// Gives back a permit that became free at `at`. Calls need not be in the order of `at`.
    pub(super) fn give_back(&mut self, at: Timestamp) {
        self.held -= 1;
        if self.surplus > 0 {
            self.surplus -= 1;
        } else if self.fresh.is_some() {
            let later = self.freed.iter().rev().take_while(|freed_at| **freed_at > at).count();
            self.freed.insert(self.freed.len() - later, at);
        }
    }

    /// Sets the cap from `now` on. Permits held beyond the new cap disappear as they are given back.
    pub(super) fn set_cap(&mut self, cap: Option<u64>, now: Timestamp) {
        let Some(cap) = cap else { return self.lift(now) };
        self.surplus = self.held.saturating_sub(cap);
        let free = self.free();
        let wanted = cap.saturating_sub(self.held);
        match &mut self.fresh {
            Some(fresh) if wanted <= free => {
                // Withdraw the newest first, so that a waiting request is billed from the oldest permit that remains.
                let gone = (free - wanted).min(self.freed.len() as u64);
                self.freed.truncate(self.freed.len() - gone as usize);
                *fresh -= free - wanted - gone;
            }
            Some(fresh) if *fresh > 0 => *fresh += wanted - free,
            _ => (self.fresh, self.fresh_since) = (Some(wanted - self.freed.len() as u64), now),
        }
    }

    /// Removes the cap from `now` on. Requests that were due before and found no permit waited until `now`.
    fn lift(&mut self, now: Timestamp) {
        if self.fresh == Some(0) {
            self.fresh_since = self.freed.front().copied().unwrap_or(now);
        }
        self.freed.clear();
        (self.fresh, self.surplus) = (None, 0);
    }

    fn free(&self) -> u64 {
        self.fresh.unwrap_or(0) + self.freed.len() as u64
    }
}
