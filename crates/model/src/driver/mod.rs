//! The sans-I/O pump. Sockets drive it in real time, the simulator drives it in virtual time, and it is the same code.
//!
//! The caller asks [`Driver::poll`] what to do at an instant and obeys: start a request, or wait. When a request ends
//! in whatever way it says [`Driver::complete`]. The driver decides what starts when, holds the cap on requests in flight,
//! and knows of each start how long it had to wait for that cap. It opens nothing, records nothing and reads no clock.

mod permits;
mod ready_queue;
mod source;

use crate::arrival::{Arrival, ScheduleHash};
use crate::time::{Nanos, Timestamp};
use crate::workload::Workload;

use permits::Permits;
use source::ArrivalSource;

/// Which share of the work one driver has: hand `index` of `of`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WorkerShare {
    /// From 0, below `of`.
    pub index: u32,
    /// How many there are, at least 1.
    pub workers: u32,
}

impl WorkerShare {
    /// The only hand.
    pub const WHOLE: WorkerShare = WorkerShare { index: 0, workers: 1 };

    /// This hand's part of `total` things dealt one by one.
    pub const fn of(self, total: u64) -> u64 {
        let (index, workers) = (self.index as u64, self.workers as u64);
        total / workers + if index < total % workers { 1 } else { 0 }
    }
}

/// A request that is to start now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DueRequest {
    /// Which, and when it should have started.
    pub arrival: Arrival,
    /// Who asks: to be handed back to [`Driver::complete`].
    pub user: u32,
    /// How long it waited for the cap on requests in flight; what remains of its delay is nobody's but the caller's.
    pub connection_wait: Nanos,
}

/// What to do now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Directive {
    /// Start this request, then ask again.
    Start(DueRequest),
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

/// The pump of one worker.
#[derive(Clone, Debug)]
pub struct Driver {
    source: ArrivalSource,
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
    /// [`Workload::max_workers`] can be given work, those beyond have nothing to do and are finished at once.
    ///
    /// A schedule with random gaps that ends by a count is walked to its end, to know when that is.
    pub fn new(workload: &Workload, share: WorkerShare) -> Driver {
        let working = WorkerShare { workers: share.workers.min(workload.max_workers()), ..share };
        let idle = working.index >= working.workers;
        let end = source::end_of(&workload.model);
        let cap = workload.limits.connections.filter(|_| !idle).map(|total| working.of(u64::from(total)));
        Driver {
            source: if idle { ArrivalSource::Idle } else { ArrivalSource::new(&workload.model, working) },
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

    /// What to do at `now`. Call again until it answers with anything but [`Directive::Start`].
    #[inline]
    pub fn poll(&mut self, now: Timestamp) -> Directive {
        let deadline = self.deadline();
        let next = if self.stopped { None } else { self.source.peek() };
        let Some(next) = next else {
            return match self.in_flight {
                0 => Directive::Finished,
                _ if now >= deadline => Directive::Expired,
                _ => Directive::Wait { until: deadline },
            };
        };
        if now >= deadline {
            return Directive::Expired;
        }
        if next > now {
            return Directive::Wait { until: next.min(deadline) };
        }
        match self.permits.take(next) {
            None => Directive::Wait { until: deadline },
            Some(connection_wait) => {
                let (arrival, user) = self.source.pop().expect("peeked");
                self.in_flight += 1;
                self.last_start = now;
                self.hash.add(arrival);
                Directive::Start(DueRequest { arrival, user, connection_wait })
            }
        }
    }

    /// A request of `user` ended at `ended`: answered, failed or given up.
    ///
    /// # Panics
    /// When no request is in flight.
    pub fn complete(&mut self, user: u32, ended: Timestamp) {
        self.in_flight = self.in_flight.checked_sub(1).expect("a request ends that was started");
        self.permits.give_back(ended);
        self.source.on_completion(user, ended);
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

    /// Ends now: no drain either. The next [`Driver::poll`] answers `Expired` or `Finished`.
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
        self.source.was_truncated(self.planned_end)
    }

    /// Requests that were started and have not ended.
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// A start may become due because a request ends: a user waits for its answer, or an arrival for its place.
    pub fn awaits_completion(&self, now: Timestamp) -> bool {
        self.in_flight > 0 && (self.source.depends_on_completions() || self.waits_for_permit(now))
    }

    /// An arrival is due at `now`, and the cap is reached.
    #[inline]
    pub fn waits_for_permit(&self, now: Timestamp) -> bool {
        self.permits.exhausted() && self.source.peek().is_some_and(|due| due <= now)
    }

    /// An arrival is due at `now` and there is a place for it: [`Driver::poll`] may start it.
    #[inline]
    pub fn can_start(&self, now: Timestamp) -> bool {
        self.source.peek().is_some_and(|due| due <= now) && !self.permits.exhausted()
    }

    /// The hash of all arrivals that were handed out, by `turn` or by `unissued`.
    pub fn schedule_hash(&self) -> ScheduleHash {
        self.hash
    }

    /// When the drain is over, as far as that is known by now. Fixed from the start for the open model. With a horizon
    /// that is a count the other models know their end when the last request was started, and the drain counts from
    /// then.
    pub fn deadline(&self) -> Timestamp {
        let end = if self.source.ends_with_last_start() { self.end.min(self.last_start) } else { self.end };
        end + self.drain
    }
}
