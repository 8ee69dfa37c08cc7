//! The cap on requests in flight.

use std::collections::VecDeque;

use crate::time::{Nanos, Timestamp};

/// The cap on requests in flight, as instants at which places became free.
#[derive(Clone, Debug)]
pub(super) struct Permits {
    /// Places never used so far; `None`: no cap at all.
    fresh: Option<u64>,
    /// Since when there are these, or no cap.
    fresh_since: Timestamp,
    /// When each place that is free again was given back, oldest first.
    freed: VecDeque<Timestamp>,
    /// So many requests in flight hold a place that is none any more.
    surplus: u64,
}

/// Room for this many returned places is made before the run, so that a cap of usual size never allocates in it.
const PERMITS_MADE_READY: u64 = 1 << 16;

impl Permits {
    pub(super) fn new(cap: Option<u64>) -> Permits {
        let ready = cap.unwrap_or(0).min(PERMITS_MADE_READY) as usize;
        let freed = VecDeque::with_capacity(ready);
        Permits { fresh: cap, fresh_since: Timestamp::ZERO, freed, surplus: 0 }
    }

    /// Takes a place for a request intended at `intended`, and says how long it had to wait for one.
    pub(super) fn take(&mut self, intended: Timestamp) -> Option<Nanos> {
        match &mut self.fresh {
            // Whoever was due when there was a cap waited for its end.
            None => Some(self.fresh_since.since(intended)),
            // A place that was used and free by then is as good as a fresh one, and to keep it would cost memory.
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

    /// None is left.
    pub(super) fn exhausted(&self) -> bool {
        self.fresh == Some(0) && self.freed.is_empty()
    }

    /// Gives back a place that became free at `at`, which may be earlier than what was given back before: whoever reads
    /// many answers at once reports them in any order.
    pub(super) fn give_back(&mut self, at: Timestamp) {
        if self.surplus > 0 {
            self.surplus -= 1;
        } else if self.fresh.is_some() {
            let later = self.freed.iter().rev().take_while(|freed_at| **freed_at > at).count();
            self.freed.insert(self.freed.len() - later, at);
        }
    }

    /// From `now` on there are `cap` places, of which requests in flight hold `taken`; what is more than that is gone
    /// when it is given back.
    pub(super) fn set_cap(&mut self, cap: Option<u64>, taken: u64, now: Timestamp) {
        let Some(cap) = cap else { return self.lift(now) };
        self.surplus = taken.saturating_sub(cap);
        let (free, wanted) = (self.free(), cap.saturating_sub(taken));
        match &mut self.fresh {
            Some(fresh) if wanted <= free => {
                // The newest go first: whoever waits shall not be told that there was an older one.
                let gone = (free - wanted).min(self.freed.len() as u64);
                self.freed.truncate(self.freed.len() - gone as usize);
                *fresh -= free - wanted - gone;
            }
            Some(fresh) if *fresh > 0 => *fresh += wanted - free,
            _ => (self.fresh, self.fresh_since) = (Some(wanted - self.freed.len() as u64), now),
        }
    }

    /// From `now` on there is no cap: whoever was due before, and found no place, waited for one until then.
    fn lift(&mut self, now: Timestamp) {
        if self.fresh == Some(0) {
            self.fresh_since = self.freed.front().copied().unwrap_or(now);
        }
        self.freed.clear();
        (self.fresh, self.surplus) = (None, 0);
    }

    /// Places that nobody holds.
    fn free(&self) -> u64 {
        self.fresh.unwrap_or(0) + self.freed.len() as u64
    }
}
