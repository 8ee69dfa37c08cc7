//! The cap on requests in flight.

use std::collections::VecDeque;

use crate::time::{Nanos, Timestamp};

/// The cap on requests in flight, as instants at which places became free.
#[derive(Clone, Debug)]
pub(super) struct Permits {
    /// Places never used so far; `None`: no cap at all.
    fresh: Option<u64>,
    /// When each place that is free again was given back, oldest first.
    freed: VecDeque<Timestamp>,
}

/// Room for this many returned places is made before the run, so that a cap of usual size never allocates in it.
const PERMITS_MADE_READY: u64 = 1 << 16;

impl Permits {
    pub(super) fn new(cap: Option<u64>) -> Permits {
        let ready = cap.unwrap_or(0).min(PERMITS_MADE_READY) as usize;
        Permits { fresh: cap, freed: VecDeque::with_capacity(ready) }
    }

    /// Takes a place for a request intended at `intended`, and says how long it had to wait for one.
    pub(super) fn take(&mut self, intended: Timestamp) -> Option<Nanos> {
        match &mut self.fresh {
            None => Some(Nanos::ZERO),
            Some(0) => self.freed.pop_front().map(|freed_at| freed_at.since(intended)),
            Some(fresh) => {
                *fresh -= 1;
                Some(Nanos::ZERO)
            }
        }
    }

    /// None is left.
    pub(super) fn are_taken(&self) -> bool {
        self.fresh == Some(0) && self.freed.is_empty()
    }

    /// Gives back a place that became free at `at`, which may be earlier than what was given back before: whoever reads
    /// many answers at once reports them in any order.
    pub(super) fn give_back(&mut self, at: Timestamp) {
        if self.fresh.is_some() {
            let later = self.freed.iter().rev().take_while(|freed_at| **freed_at > at).count();
            self.freed.insert(self.freed.len() - later, at);
        }
    }
}
