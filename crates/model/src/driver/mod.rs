//! The sans-I/O state machine that decides what starts when, in real time or in the virtual time of the simulator.
//!
//! The caller asks [`Driver::poll`] what to do at an instant: start a request, or wait. When a request ends, with or
//! without an answer, the caller reports it with [`Driver::complete`]. The driver enforces the cap on requests in
//! flight and measures how long each request waited for a permit. It opens nothing, records nothing and reads no clock.

mod closed;
mod permits;
mod ready_queue;
mod scheduled;
mod sessions;
mod share;
mod source;
mod stripe;

use crate::arrival::{Arrival, ArrivalBlock, ScheduleHash};
use crate::record::{RequestRecord, SessionPlace};
use crate::time::{NANOS_PER_SECOND, Nanos, Timestamp};
use crate::workload::Workload;

pub use scheduled::LoadOrder;
pub use share::WorkerShare;
pub use stripe::{Stripe, StripeError};

use permits::Permits;
use source::ArrivalSource;

/// Request that is due, has its permit, and must start now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DueRequest {
    /// Index and intended start.
    pub arrival: Arrival,
    /// User who makes the request; pass it to [`Driver::complete`].
    pub user: u32,
    /// Place of the request in its session, in the partly open model.
    pub place: SessionPlace,
    /// Time that the request waited for a permit. The caller accounts for the rest of the start delay.
    pub connection_wait: Nanos,
}

/// Arrival that was planned and never issued.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unissued {
    /// Index and intended start.
    pub arrival: Arrival,
    /// User who would have made the request; `None` if the arrival was due before [`Driver::begin_at`].
    pub user: Option<u32>,
    /// Number of its session among all sessions in the partly open model; 0 in the other models.
    pub session: u64,
    /// Its place in the session, in the partly open model.
    pub place: SessionPlace,
}

impl Unissued {
    /// Returns its record when the run ended at `now`.
    pub fn record(&self, now: Timestamp) -> RequestRecord {
        RequestRecord { place: self.place, ..RequestRecord::never_issued(self.arrival, now) }
    }
}

/// Next step of the caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Directive {
    /// Start this request, then poll again.
    Start(DueRequest),
    /// Nothing can start before `until` unless a request ends first. [`Timestamp::NEVER`]: only an end changes this.
    Wait {
        /// Latest instant of the next poll.
        until: Timestamp,
    },
    /// The drain is over: end all requests in flight, then count [`Driver::pop_unissued`].
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
    /// If true, a session keeps its permit from its first request to its end.
    per_session: bool,
    in_flight: u64,
    /// No arrival is intended at or after this instant.
    end: Timestamp,
    /// The value of `end` without [`Driver::stop`].
    planned_end: Timestamp,
    last_start: Timestamp,
    drain: Nanos,
    starts: StartWindow,
    /// Number of arrivals that [`Driver::pop_unissued_with_session`] has returned.
    counted_out: u64,
    hash: ScheduleHash,
}

/// Arrivals that were due before [`Driver::begin_at`].
#[derive(Clone, Debug)]
struct Missed {
    source: ArrivalSource,
    so_far: u64,
}

#[derive(Clone, Copy, Debug)]
struct StartWindow {
    /// Latest permitted start of a request, set by [`Driver::stop`].
    until: Timestamp,
    is_closed: bool,
    /// Latest poll that found no due arrival waiting.
    caught_up_at: Timestamp,
}

/// If the driver was last caught up at most this long before a stop, arrivals that fell due since then still start.
/// They may start until this long after the stop.
const STARTS_AFTER_STOP: Nanos = Nanos::from_millis(100);

/// Number of never-issued arrivals that are returned one by one before blocks are returned.
const COUNTED_ONE_BY_ONE: u64 = 1 << 19;

/// Limit on the span of a block, as a divisor of the time that its first arrival waited.
const PART_OF_THE_WAIT: u64 = 1024;

/// Limit on the span of a block whose first arrival hardly waited.
const SHORTEST_BLOCK: Nanos = Nanos::from_micros(100);

impl Driver {
    /// Creates the driver for `share` of `workload`, the workload of its machine ([`Workload::for_stripe`]). All shares
    /// together are exactly the whole workload. Workers beyond [`Workload::max_workers`] are finished at once.
    pub fn new(workload: &Workload, share: WorkerShare) -> Driver {
        let working = WorkerShare { workers: share.workers.min(workload.max_workers()), ..share };
        let idle = working.index >= working.workers;
        let end = source::load_end(&workload.model);
        let cap = workload.limits.connections.filter(|_| !idle).map(|total| working.share_of(u64::from(total)));
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
            starts: StartWindow { until: Timestamp::NEVER, is_closed: false, caught_up_at: Timestamp::ZERO },
            counted_out: 0,
            hash: ScheduleHash::default(),
        }
    }

    /// Begins the run at `at`, without moving the schedule. Arrivals that were due earlier never start:
    /// [`Driver::pop_unissued`] returns them. Users of the closed model who are active at `at` all begin then. Call
    /// this before the first [`Driver::poll`].
    pub fn begin_at(&mut self, at: Timestamp) {
        self.missed.source = self.source.skip_to(at);
    }

    /// Lets [`Driver::complete_step`] decide when sessions continue and end, until the drain is over. The number of
    /// requests per session is ignored. Call this before the first [`Driver::poll`].
    pub fn follow_script(&mut self) {
        self.source.follow_script();
    }

    /// Returns the number of the session of `user` among all sessions.
    pub fn session_number(&self, user: u32) -> u64 {
        self.source.session_number(user)
    }

    /// Returns the place of the next known arrival in the order of all stripes; `None` without a known arrival.
    pub fn next_in_load_order(&self) -> Option<LoadOrder> {
        self.source.place().filter(|place| !self.starts.is_closed && place.at <= self.starts.until)
    }

    /// Returns the next step at `now`. Call it again until it returns anything but [`Directive::Start`].
    #[inline]
    pub fn poll(&mut self, now: Timestamp) -> Directive {
        let deadline = self.deadline();
        let next = if self.starts.is_closed || now > self.starts.until { None } else { self.source.peek() };
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
        // The next arrival continues a session, which already holds its permit.
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
                self.starts.is_closed = true;
                self.poll(now)
            }
            None if self.per_session => self.continue_sessions(now, deadline),
            None => Directive::Wait { until: deadline },
        }
    }

    /// Starts follow-ups of running sessions, which hold permits, while no permit is free for a new session.
    fn continue_sessions(&mut self, now: Timestamp, deadline: Timestamp) -> Directive {
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
        let place = self.source.session_place(user);
        self.in_flight += 1;
        self.last_start = now;
        self.hash.add(arrival);
        Directive::Start(DueRequest { arrival, user, place, connection_wait })
    }

    /// Reports that a request of `user` ended at `ended`: answered, failed or given up. Returns true if nothing follows
    /// in its session, in the partly open model.
    ///
    /// # Panics
    /// If no request is in flight.
    pub fn complete(&mut self, user: u32, ended: Timestamp) -> bool {
        let is_over = self.source.on_completion(user, ended);
        self.end_request(ended, is_over);
        is_over
    }

    /// Plans a further request of the session of `user` at `at`, if sessions follow a script. Requests of one session
    /// may be in flight at the same time. Call this while a request of the session is in flight.
    pub fn branch(&mut self, user: u32, at: Timestamp) {
        self.source.branch(user, at);
    }

    /// Reports that a request of `user` ended, if sessions follow a script. The next request of the session is due at
    /// `next`; `None` ends the session, unless other requests of it are in flight or planned. Returns true if nothing
    /// follows in it.
    ///
    /// # Panics
    /// If no request is in flight.
    pub fn complete_step(&mut self, user: u32, ended: Timestamp, next: Option<Timestamp>) -> bool {
        let is_over = self.source.continue_or_end(user, next);
        self.end_request(ended, is_over);
        is_over
    }

    #[inline]
    fn end_request(&mut self, ended: Timestamp, is_over: bool) {
        self.in_flight = self.in_flight.checked_sub(1).expect("a request ends that was started");
        if is_over || !self.per_session {
            self.permits.give_back(ended);
        }
    }

    /// Drops requests of sessions that would be due at `now` or later. Call this once the run is over at `now`.
    pub fn end_sessions_at(&mut self, now: Timestamp) {
        self.source.end_sessions_at(now);
    }

    /// Sets the cap from `now` on; `None` removes it. It limits requests in flight, or sessions if each has a
    /// connection. A caller needs this when it learns during a run what the server allows. Requests in flight stay in
    /// flight. The wait of an arrival that gets one of the new permits ends at `now`.
    pub fn set_cap(&mut self, cap: Option<u64>, now: Timestamp) {
        self.permits.set_cap(cap, now);
    }

    /// Stops the run: arrivals intended after `now` are no longer planned. Arrivals that fell due since the driver was
    /// last caught up still start, so a stop between an arrival and the next poll loses none. If that was more than
    /// [`STARTS_AFTER_STOP`] ago, the backlog stays unissued, as do arrivals that find no free permit. Requests in
    /// flight may still end during the drain, which counts from `now`.
    pub fn stop(&mut self, now: Timestamp) {
        if self.starts.until == Timestamp::NEVER && !self.starts.is_closed {
            self.starts.until = now + STARTS_AFTER_STOP;
            self.starts.is_closed = now.since(self.starts.caught_up_at) > STARTS_AFTER_STOP;
            self.end = self.end.min(Timestamp(now.0.saturating_add(1)));
            self.source.end_at(self.end);
        }
    }

    /// Stops without a drain: the next [`Driver::poll`] returns `Expired` or `Finished`.
    pub fn stop_now(&mut self, now: Timestamp) {
        self.stop(now);
        self.starts.is_closed = true;
        self.drain = Nanos::ZERO;
        self.end = self.end.min(now);
    }

    /// Returns the next never-issued arrival; `None` after the last one. Call this once the run is over.
    pub fn pop_unissued(&mut self) -> Option<Arrival> {
        Some(self.pop_unissued_with_session()?.arrival)
    }

    /// Returns the next never-issued arrival like [`Driver::pop_unissued`], with its user and session.
    pub fn pop_unissued_with_session(&mut self) -> Option<Unissued> {
        let missed = self.missed.source.pop().inspect(|_| self.missed.so_far += 1);
        let missed = missed.map(|(arrival, user)| {
            let source = &self.missed.source;
            Unissued { arrival, user: None, session: source.session_number(user), place: source.session_place(user) }
        });
        let unissued = missed.or_else(|| {
            let (arrival, user) = self.source.pop()?;
            let place = self.source.session_place(user);
            Some(Unissued { arrival, user: Some(user), session: self.source.session_number(user), place })
        })?;
        self.hash.add(unissued.arrival);
        self.counted_out += 1;
        Some(unissued)
    }

    /// Returns the next never-issued arrivals of a schedule as one block. Call this once the run is over at `ended`.
    /// The intended starts of a block lie in one second, on one side of `boundary`, and their waits differ by less than
    /// 0.1 % or 100 µs. This takes less than a second for a million times more arrivals than can be sent.
    ///
    /// `None` until [`Driver::pop_unissued_with_session`] has returned 2^19 arrivals, at the end, and in the other load
    /// models.
    pub fn pop_unissued_block(&mut self, ended: Timestamp, boundary: Timestamp) -> Option<ArrivalBlock> {
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

    /// Returns how many arrivals were due before [`Driver::begin_at`]. Final after [`Driver::pop_unissued`] returned
    /// `None`.
    pub fn missed(&self) -> u64 {
        self.missed.so_far
    }

    /// Returns true if [`Driver::stop`] left out planned arrivals. Final once [`Driver::pop_unissued`] has returned
    /// `None`.
    pub fn was_cut_short(&self) -> bool {
        self.source.was_truncated(self.planned_end)
    }

    /// Returns the number of requests that were started and have not ended.
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Returns true if the end of a request may make another one due, because a user or an arrival waits for it.
    pub fn awaits_completion(&self, now: Timestamp) -> bool {
        self.in_flight > 0 && (self.source.depends_on_completions() || self.waits_for_permit(now))
    }

    /// Returns true if an arrival is due at `now` and waits because all permits are taken.
    #[inline]
    pub fn waits_for_permit(&self, now: Timestamp) -> bool {
        let next = || if self.per_session { self.source.next_session() } else { self.source.peek() };
        self.permits.exhausted() && next().is_some_and(|due| due <= now)
    }

    /// Returns true if an arrival is due at `now` and has or can get a permit, so that [`Driver::poll`] may start it.
    #[inline]
    pub fn can_start(&self, now: Timestamp) -> bool {
        let next = match self.permits.exhausted() {
            false => self.source.peek(),
            true if self.per_session => self.source.next_follow_up(),
            true => None,
        };
        next.is_some_and(|due| due <= now)
    }

    /// Returns the hash of all arrivals from [`Driver::poll`] and [`Driver::pop_unissued`]. Blocks are not in it.
    pub fn schedule_hash(&self) -> ScheduleHash {
        self.hash
    }

    /// Returns the end of the drain, as far as it is known. In the open model it is known from the start. If a count
    /// ends another model, the end is known when the last request has started, and the drain counts from that start.
    pub fn deadline(&self) -> Timestamp {
        let end = if self.source.ends_with_last_start() { self.end.min(self.last_start) } else { self.end };
        end + self.drain
    }
}
