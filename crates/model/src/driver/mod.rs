//! The sans-I/O pump. Sockets drive it in real time, the simulator drives it in virtual time, and it is the same code.
//!
//! The caller asks [`Driver::turn`] what to do at an instant and obeys: start a request, or wait. When a request ends
//! in whatever way it says [`Driver::finish`]. The driver decides what starts when, holds the cap on requests in flight,
//! and knows of each start how long it had to wait for that cap. It opens nothing, records nothing and reads no clock.

mod due;
mod permits;
mod source;

use crate::arrival::{Arrival, ScheduleHash};
use crate::time::{Nanos, Timestamp};
use crate::workload::Workload;

use permits::Permits;
use source::Source;

/// Which share of the work one driver has: hand `index` of `of`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hand {
    /// From 0, below `of`.
    pub index: u32,
    /// How many there are, at least 1.
    pub of: u32,
}

impl Hand {
    /// The only hand.
    pub const ALONE: Hand = Hand { index: 0, of: 1 };

    /// This hand's part of `total` things dealt one by one.
    pub const fn share_of(self, total: u64) -> u64 {
        let (index, of) = (self.index as u64, self.of as u64);
        total / of + if index < total % of { 1 } else { 0 }
    }
}

/// A request that is to start now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Start {
    /// Which, and when it should have started.
    pub arrival: Arrival,
    /// Who asks: to be handed back to [`Driver::finish`].
    pub user: u32,
    /// How long it waited for the cap on requests in flight; what remains of its delay is nobody's but the caller's.
    pub connection_wait: Nanos,
}

/// What to do now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// Start this request, then ask again.
    Start(Start),
    /// Nothing can start before `until` unless a request ends first. [`Timestamp::NEVER`]: only an end can change it.
    Wait {
        /// When to ask again at the latest.
        until: Timestamp,
    },
    /// The drain limit is over: end what is in flight, then count [`Driver::unissued`].
    Expired,
    /// Everything was issued and has ended.
    Finished,
}

/// The pump of one hand.
#[derive(Clone, Debug)]
pub struct Driver {
    source: Source,
    permits: Permits,
    in_flight: u64,
    /// Arrivals are not intended at or after this instant.
    end: Timestamp,
    /// The same, had nobody asked to stop.
    planned_end: Timestamp,
    last_start: Timestamp,
    drain: Nanos,
    stopped: bool,
    hash: ScheduleHash,
}

impl Driver {
    /// The driver of `hand`. All hands together do the whole workload, exactly: where there are more hands than
    /// [`Workload::most_hands`] can be given work, those beyond have nothing to do and are finished at once.
    ///
    /// A schedule with random gaps that ends by a count is walked to its end, to know when that is.
    pub fn new(workload: &Workload, hand: Hand) -> Driver {
        let working = Hand { of: hand.of.min(workload.most_hands()), ..hand };
        let idle = working.index >= working.of;
        let end = source::end_of(&workload.model);
        let cap = workload.limits.connections.filter(|_| !idle).map(|total| working.share_of(u64::from(total)));
        Driver {
            source: if idle { Source::Idle } else { Source::new(&workload.model, working) },
            permits: Permits::new(cap),
            in_flight: 0,
            end,
            planned_end: end,
            last_start: Timestamp::ZERO,
            drain: workload.limits.drain,
            stopped: false,
            hash: ScheduleHash::default(),
        }
    }

    /// What to do at `now`. Call again until it answers with anything but [`Turn::Start`].
    #[inline]
    pub fn turn(&mut self, now: Timestamp) -> Turn {
        let deadline = self.deadline();
        let next = if self.stopped { None } else { self.source.peek() };
        let Some(next) = next else {
            return match self.in_flight {
                0 => Turn::Finished,
                _ if now >= deadline => Turn::Expired,
                _ => Turn::Wait { until: deadline },
            };
        };
        if now >= deadline {
            return Turn::Expired;
        }
        if next > now {
            return Turn::Wait { until: next.min(deadline) };
        }
        match self.permits.take(next) {
            None => Turn::Wait { until: deadline },
            Some(connection_wait) => {
                let (arrival, user) = self.source.pop().expect("peeked");
                self.in_flight += 1;
                self.last_start = now;
                self.hash.add(arrival);
                Turn::Start(Start { arrival, user, connection_wait })
            }
        }
    }

    /// A request of `user` ended at `ended`: answered, failed or given up.
    ///
    /// # Panics
    /// When no request is in flight.
    pub fn finish(&mut self, user: u32, ended: Timestamp) {
        self.in_flight = self.in_flight.checked_sub(1).expect("a request ends that was started");
        self.permits.give_back(ended);
        self.source.answered(user, ended);
    }

    /// From `now` on at most `cap` requests may be in flight (`None`: any number), whatever the workload said: for whoever
    /// learns during a run what the other side allows. Those that are in flight stay so; an arrival that waited for the
    /// new places is told that it waited until `now`.
    pub fn set_cap(&mut self, cap: Option<u64>, now: Timestamp) {
        self.permits.set_cap(cap, self.in_flight, now);
    }

    /// Nothing starts any more; arrivals intended after `now` are not planned any more. What is in flight may still
    /// end until the drain limit, which counts from `now`.
    pub fn stop(&mut self, now: Timestamp) {
        if !self.stopped {
            self.stopped = true;
            self.end = self.end.min(Timestamp(now.0.saturating_add(1)));
            self.source.end_at(self.end);
        }
    }

    /// Ends now: no drain either. The next [`Driver::turn`] answers `Expired` or `Finished`.
    pub fn stop_now(&mut self, now: Timestamp) {
        self.stop(now);
        self.drain = Nanos::ZERO;
        self.end = self.end.min(now);
    }

    /// The next arrival that was planned and will not be issued, once the run is over. Call until `None`.
    pub fn unissued(&mut self) -> Option<Arrival> {
        let arrival = self.source.pop()?.0;
        self.hash.add(arrival);
        Some(arrival)
    }

    /// Arrivals that were still to come were not planned, because of [`Driver::stop`]. Known once [`Driver::unissued`] has
    /// answered `None`.
    pub fn was_cut_short(&self) -> bool {
        self.source.kept_back(self.planned_end)
    }

    /// Requests that were started and have not ended.
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// A start may become due because a request ends: a user waits for its answer, or an arrival for its place.
    pub fn awaits_an_end(&self, now: Timestamp) -> bool {
        self.in_flight > 0 && (self.source.follows_answers() || self.waits_for_a_place(now))
    }

    /// An arrival is due at `now`, and the cap is reached.
    #[inline]
    pub fn waits_for_a_place(&self, now: Timestamp) -> bool {
        self.permits.are_taken() && self.source.peek().is_some_and(|due| due <= now)
    }

    /// An arrival is due at `now` and there is a place for it: [`Driver::turn`] may start it.
    #[inline]
    pub fn may_start(&self, now: Timestamp) -> bool {
        self.source.peek().is_some_and(|due| due <= now) && !self.permits.are_taken()
    }

    /// The hash of all arrivals that were handed out, by `turn` or by `unissued`.
    pub fn schedule_hash(&self) -> ScheduleHash {
        self.hash
    }

    /// When the drain is over, as far as that is known by now. Fixed from the start for the open model. With a horizon
    /// that is a count the other models know their end when the last request was started, and the drain counts from
    /// then.
    pub fn deadline(&self) -> Timestamp {
        let end = if self.source.ends_with_its_last_start() { self.end.min(self.last_start) } else { self.end };
        end + self.drain
    }
}
