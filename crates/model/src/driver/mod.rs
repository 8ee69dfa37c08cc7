//! The sans-I/O state machine that decides what starts when. Sockets drive it in real time, the simulator drives the same
//! code in virtual time.
//!
//! The caller asks [`Driver::poll`] what to do at an instant: start a request, or wait. When a request ends, in whatever
//! way, the caller says so with [`Driver::complete`]. The driver enforces the cap on requests in flight, and knows of each
//! request how long it waited for a permit. It opens nothing, records nothing and reads no clock.

mod permits;
mod ready_queue;
mod scheduled;
mod sessions;
mod share;
mod source;
mod stripe;

use crate::arrival::{Arrival, ArrivalBlock, ScheduleHash};
use crate::time::{NANOS_PER_SECOND, Nanos, Timestamp};
use crate::workload::Workload;

pub use scheduled::Place;
pub use share::WorkerShare;
pub use stripe::{Stripe, StripeError};

use permits::Permits;
use source::ArrivalSource;

/// A request that is due, has its permit, and is to start now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DueRequest {
    /// Its arrival: index and intended start.
    pub arrival: Arrival,
    /// The user who makes it: to be passed to [`Driver::complete`].
    pub user: u32,
    /// How long it waited for a permit. The caller is responsible for the rest of its start delay.
    pub connection_wait: Nanos,
}

/// An arrival that was planned and never issued.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unissued {
    /// Index and intended start.
    pub arrival: Arrival,
    /// The user who would have made it; `None` for what was due before [`Driver::begin_at`].
    pub user: Option<u32>,
    /// In the partly open model, the place of its session among all sessions; else 0.
    pub session: u64,
}

/// What the caller is to do now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Directive {
    /// Start this request, then poll again.
    Start(DueRequest),
    /// Nothing can start before `until` unless a request ends first. [`Timestamp::NEVER`]: only the end of a request
    /// changes this.
    Wait {
        /// When to poll again at the latest.
        until: Timestamp,
    },
    /// The drain is over: end what is in flight, then count [`Driver::unissued`].
    Expired,
    /// Everything was issued and has ended.
    Finished,
}

/// The driver of one worker.
#[derive(Clone, Debug)]
pub struct Driver {
    source: ArrivalSource,
    missed: Missed,
    permits: Permits,
    /// A session keeps its permit from its first request to its end.
    per_session: bool,
    in_flight: u64,
    /// No arrival is intended at or after this instant.
    end: Timestamp,
    /// The value of `end` without [`Driver::stop`].
    planned_end: Timestamp,
    last_start: Timestamp,
    drain: Nanos,
    starts: Starts,
    /// How many arrivals [`Driver::unissued_of`] has returned.
    counted_out: u64,
    hash: ScheduleHash,
}

/// Arrivals that were due before [`Driver::begin_at`].
#[derive(Clone, Debug)]
struct Missed {
    source: ArrivalSource,
    /// How many of them were returned.
    so_far: u64,
}

/// Until when requests may start.
#[derive(Clone, Copy, Debug)]
struct Starts {
    /// Nothing starts after this instant, because of [`Driver::stop`].
    until: Timestamp,
    /// Nothing starts any more.
    are_over: bool,
    /// When nothing that was due had yet to start.
    caught_up_at: Timestamp,
}

/// A driver that had nothing left to start this long before it is stopped still starts what fell due since, within this time.
const STARTS_AFTER_STOP: Nanos = Nanos::from_millis(100);

/// Arrivals that were never issued are returned one by one up to this number, and in blocks after it.
const COUNTED_ONE_BY_ONE: u64 = 1 << 19;

/// The intended starts of a block lie within this part of the time that its first arrival had waited.
const PART_OF_THE_WAIT: u64 = 1024;

/// A block of arrivals that had hardly waited is this long.
const SHORTEST_BLOCK: Nanos = Nanos::from_micros(100);

impl Driver {
    /// The driver for `share` of `workload`, which is that of its machine: [`Workload::of_stripe`]. The shares of all
    /// workers of all machines are together the whole workload, exactly. Workers beyond [`Workload::max_workers`] have nothing to do and are finished at once.
    pub fn new(workload: &Workload, share: WorkerShare) -> Driver {
        let working = WorkerShare { workers: share.workers.min(workload.max_workers()), ..share };
        let idle = working.index >= working.workers;
        let end = source::end_of(&workload.model);
        let cap = workload.limits.connections.filter(|_| !idle).map(|total| working.of(u64::from(total)));
        Driver {
            source: if idle { ArrivalSource::Idle } else { ArrivalSource::new(&workload.model, working) },
            missed: Missed { source: ArrivalSource::Idle, so_far: 0 },
            permits: Permits::new(cap),
            per_session: workload.has_connection_per_session(),
            in_flight: 0,
            end,
            planned_end: end,
            last_start: Timestamp::ZERO,
            drain: workload.limits.drain,
            starts: Starts { until: Timestamp::NEVER, are_over: false, caught_up_at: Timestamp::ZERO },
            counted_out: 0,
            hash: ScheduleHash::default(),
        }
    }

    /// Begins at `at`, which is later than the origin: the schedule is not moved. What was due before is never started, and
    /// is returned by [`Driver::unissued`]. The users of the closed model, who have no schedule, all begin then. To be
    /// called before the first [`Driver::poll`].
    pub fn begin_at(&mut self, at: Timestamp) {
        self.missed.source = self.source.skip_to(at);
    }

    /// In the partly open model, sessions go on and end as [`Driver::complete_step`] says, also after the last session has
    /// begun, until the drain is over. How many requests the workload says that a session has counts for nothing then. To be called
    /// before the first [`Driver::poll`].
    pub fn follow_script(&mut self) {
        self.source.follow_script();
    }

    /// The place among all sessions of the session that `user` stands for.
    pub fn session_number(&self, user: u32) -> u64 {
        self.source.session_number(user)
    }

    /// Where the next arrival that is known by now stands among those of all stripes; `None` where there is none.
    pub fn next_place(&self) -> Option<Place> {
        self.source.place().filter(|place| !self.starts.are_over && place.at <= self.starts.until)
    }

    /// What to do at `now`. Call it again until it returns anything but [`Directive::Start`].
    #[inline]
    pub fn poll(&mut self, now: Timestamp) -> Directive {
        let deadline = self.deadline();
        let next = if self.starts.are_over || now > self.starts.until { None } else { self.source.peek() };
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
            self.starts.caught_up_at = now;
            return Directive::Wait { until: next.min(deadline) };
        }
        // It goes on in a session, which has its permit.
        if self.per_session && self.source.next_follow_up() == Some(next) {
            let due = self.source.pop_follow_up();
            return self.start(due, Nanos::ZERO, now);
        }
        match self.permits.take(next) {
            Some(connection_wait) => {
                let due = self.source.pop();
                self.start(due, connection_wait, now)
            }
            None if self.starts.until < Timestamp::NEVER => {
                self.starts.are_over = true;
                self.poll(now)
            }
            None if self.per_session => self.go_on_in_sessions(now, deadline),
            None => Directive::Wait { until: deadline },
        }
    }

    /// No further session may begin: the requests of those that are under way are not behind it.
    fn go_on_in_sessions(&mut self, now: Timestamp, deadline: Timestamp) -> Directive {
        match self.source.next_follow_up() {
            Some(due) if due <= now => {
                let due = self.source.pop_follow_up();
                self.start(due, Nanos::ZERO, now)
            }
            Some(due) => Directive::Wait { until: due.min(deadline) },
            None => Directive::Wait { until: deadline },
        }
    }

    #[inline]
    fn start(&mut self, due: Option<(Arrival, u32)>, connection_wait: Nanos, now: Timestamp) -> Directive {
        let (arrival, user) = due.expect("an arrival that is due");
        self.in_flight += 1;
        self.last_start = now;
        self.hash.add(arrival);
        Directive::Start(DueRequest { arrival, user, connection_wait })
    }

    /// Reports that a request of `user` ended at `ended`: answered, failed or given up. Returns true when nothing follows in
    /// its session, in the partly open model.
    ///
    /// # Panics
    /// When no request is in flight.
    pub fn complete(&mut self, user: u32, ended: Timestamp) -> bool {
        let is_over = self.source.on_completion(user, ended);
        self.ended(ended, is_over);
        is_over
    }

    /// The same where sessions follow a script: the next request of the session of `user` is due at `next`, or it has ended.
    ///
    /// # Panics
    /// When no request is in flight.
    pub fn complete_step(&mut self, user: u32, ended: Timestamp, next: Option<Timestamp>) -> bool {
        let is_over = self.source.go_on(user, next);
        self.ended(ended, is_over);
        is_over
    }

    #[inline]
    fn ended(&mut self, ended: Timestamp, is_over: bool) {
        self.in_flight = self.in_flight.checked_sub(1).expect("a request ends that was started");
        if is_over || !self.per_session {
            self.permits.give_back(ended);
        }
    }

    /// Once the run is over at `now`: what would have been due later in sessions is left out by [`Driver::unissued_of`].
    pub fn end_sessions_at(&mut self, now: Timestamp) {
        self.source.end_sessions_at(now);
    }

    /// Allows at most `cap` requests in flight, or sessions under way where each has a connection, from `now` on (`None`: any
    /// number), whatever the workload says. A caller needs this when it learns during a run what the server allows. Requests
    /// in flight stay in flight. An arrival that waited for one of the new permits waited until `now`.
    pub fn set_cap(&mut self, cap: Option<u64>, now: Timestamp) {
        self.permits.set_cap(cap, now);
    }

    /// Stops: arrivals intended after `now` are no longer planned. What fell due since the driver last had nothing to start
    /// still starts, unless that is more than [`STARTS_AFTER_STOP`] ago: a stop that comes between an arrival and the next
    /// look loses none. A backlog that is older is left unissued, and what needs a permit that is not free. Requests in
    /// flight may still end during the drain, which counts from `now`.
    pub fn stop(&mut self, now: Timestamp) {
        if self.starts.until == Timestamp::NEVER && !self.starts.are_over {
            self.starts.until = now + STARTS_AFTER_STOP;
            self.starts.are_over = now.since(self.starts.caught_up_at) > STARTS_AFTER_STOP;
            self.end = self.end.min(Timestamp(now.0.saturating_add(1)));
            self.source.end_at(self.end);
        }
    }

    /// Stops without a drain: the next [`Driver::poll`] returns `Expired` or `Finished`.
    pub fn stop_now(&mut self, now: Timestamp) {
        self.stop(now);
        self.starts.are_over = true;
        self.drain = Nanos::ZERO;
        self.end = self.end.min(now);
    }

    /// Once the run is over: the next arrival that was planned and never issued. Call it until it returns `None`.
    pub fn unissued(&mut self) -> Option<Arrival> {
        Some(self.unissued_of()?.arrival)
    }

    /// The same, with the session that it belongs to.
    pub fn unissued_of(&mut self) -> Option<Unissued> {
        let missed = self.missed.source.pop().inspect(|_| self.missed.so_far += 1);
        let missed = missed.map(|(arrival, user)| {
            let session = self.missed.source.session_number(user);
            Unissued { arrival, user: None, session }
        });
        let unissued = missed.or_else(|| {
            let (arrival, user) = self.source.pop()?;
            Some(Unissued { arrival, user: Some(user), session: self.source.session_number(user) })
        })?;
        self.hash.add(unissued.arrival);
        self.counted_out += 1;
        Some(unissued)
    }

    /// Once the run is over at `ended`: the next arrivals of a schedule that were never issued, counted together. Their
    /// intended starts lie in one second, on one side of `boundary`, and so close together that what they had waited differs
    /// by less than 0.1 % or 100 µs. A schedule of a million times what can be sent is counted out in less than a second so.
    ///
    /// `None` while [`Driver::unissued_of`] has returned few, if nothing is left, and in the other load models.
    pub fn unissued_block(&mut self, ended: Timestamp, boundary: Timestamp) -> Option<ArrivalBlock> {
        if self.counted_out < COUNTED_ONE_BY_ONE {
            return None;
        }
        let until = |first: Timestamp| {
            let wait = ended.since(first);
            let until = first + Nanos(wait.0 / PART_OF_THE_WAIT).max(SHORTEST_BLOCK);
            let until = until.min(Timestamp((first.second() as u64 + 1).saturating_mul(NANOS_PER_SECOND)));
            if first < boundary { until.min(boundary) } else { until }
        };
        let missed = self.missed.source.take_before(until).inspect(|block| self.missed.so_far += block.count);
        missed.or_else(|| self.source.take_before(until))
    }

    /// How many arrivals were due before [`Driver::begin_at`]. Known once [`Driver::unissued`] has returned `None`.
    pub fn missed(&self) -> u64 {
        self.missed.so_far
    }

    /// True when [`Driver::stop`] left out arrivals that would still have come. Known once [`Driver::unissued`] has
    /// returned `None`.
    pub fn was_cut_short(&self) -> bool {
        self.source.was_truncated(self.planned_end)
    }

    /// How many requests were started and have not ended.
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// True when the end of a request may make another one due: a user waits for its answer, or an arrival for a permit.
    pub fn awaits_completion(&self, now: Timestamp) -> bool {
        self.in_flight > 0 && (self.source.depends_on_completions() || self.waits_for_permit(now))
    }

    /// True when an arrival is due at `now` that needs a permit, and all permits are taken.
    #[inline]
    pub fn waits_for_permit(&self, now: Timestamp) -> bool {
        let next = || if self.per_session { self.source.next_session() } else { self.source.peek() };
        self.permits.exhausted() && next().is_some_and(|due| due <= now)
    }

    /// True when an arrival is due at `now` and there is a permit for it, so that [`Driver::poll`] may start it.
    #[inline]
    pub fn can_start(&self, now: Timestamp) -> bool {
        let next = match self.permits.exhausted() {
            false => self.source.peek(),
            true if self.per_session => self.source.next_follow_up(),
            true => None,
        };
        next.is_some_and(|due| due <= now)
    }

    /// The hash of all arrivals that [`Driver::poll`] and [`Driver::unissued`] have returned. Those of
    /// [`Driver::unissued_block`] are not in it.
    pub fn schedule_hash(&self) -> ScheduleHash {
        self.hash
    }

    /// When the drain is over, as far as that is known by now. For the open model it is fixed from the start. Where a
    /// count ends one of the other models, the end is known when the last request was started, and the drain counts
    /// from then.
    pub fn deadline(&self) -> Timestamp {
        let end = if self.source.ends_with_last_start() { self.end.min(self.last_start) } else { self.end };
        end + self.drain
    }
}
