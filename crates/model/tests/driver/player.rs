//! Plays a case in virtual time, and checks the invariants at each step.

use std::collections::HashSet;

use truetail_model::arrival::{Arrival, ScheduleHash};
use truetail_model::driver::{Directive, Driver, DueRequest, WorkerShare};
use truetail_model::random::Random;
use truetail_model::record::{Outcome, Recorder, RecorderOptions, RequestRecord, SamplesOptions, Snapshot};
use truetail_model::time::{Nanos, Timestamp};

use super::MS;
use super::cases::Case;

#[derive(Clone, Copy, Debug)]
pub struct Started {
    pub start: DueRequest,
    pub at: Timestamp,
    /// [`Timestamp::NEVER`] if it has not ended.
    pub ended: Timestamp,
}

pub struct Played {
    pub started: Vec<Started>,
    pub unissued: Vec<Arrival>,
    pub stopped_at: Option<Timestamp>,
    pub cut_short: bool,
    pub expired_at: Option<Timestamp>,
    pub hash: ScheduleHash,
    pub snapshot: Snapshot,
}

impl Played {
    /// Returns all arrivals that the worker was responsible for.
    pub fn arrivals(&self) -> impl Iterator<Item = Arrival> + '_ {
        self.started.iter().map(|started| started.start.arrival).chain(self.unissued.iter().copied())
    }
}

struct Player<'a> {
    case: &'a Case,
    cap: Option<u64>,
    driver: Driver,
    random: Random,
    now: Timestamp,
    started: Vec<Started>,
    /// Requests in flight: place in `started`, and end.
    under_way: Vec<(usize, Timestamp)>,
    /// Times when permits were given back, by a request or by a session, ascending.
    ends: Vec<Timestamp>,
    /// Number of permits taken.
    taken: usize,
    /// Users whose session holds a connection.
    sessions: HashSet<u32>,
    stopped_at: Option<Timestamp>,
    recorder: Recorder,
}

impl<'a> Player<'a> {
    fn new(case: &'a Case, share: WorkerShare) -> Player<'a> {
        let working = WorkerShare { workers: share.workers.min(case.workload.max_workers()), ..share };
        Player {
            case,
            cap: case.workload.limits.connections.map(|total| working.share_of(u64::from(total))),
            driver: Driver::new(&case.workload, share),
            random: Random::new(case.seed, u64::from(share.index)),
            now: Timestamp::ZERO,
            started: Vec::new(),
            under_way: Vec::new(),
            ends: Vec::new(),
            taken: 0,
            sessions: HashSet::new(),
            stopped_at: None,
            recorder: Recorder::new(RecorderOptions { samples: SamplesOptions::NONE, ..RecorderOptions::default() }),
        }
    }

    fn play(mut self) -> Played {
        let expired_at = loop {
            self.stop_when_due();
            let deadline = self.driver.deadline();
            let can_start = self.driver.can_start(self.now);
            match self.driver.poll(self.now) {
                Directive::Start(start) => {
                    assert!(can_start, "it was said that none would");
                    assert!(self.now < deadline, "started when the drain was over");
                    self.start(start);
                }
                Directive::Wait { until } => {
                    assert!(until > self.now, "a wait until now is a busy loop");
                    self.check_what_is_awaited();
                    self.advance(until);
                }
                Directive::Expired => break Some(self.now),
                Directive::Finished => {
                    assert!(self.under_way.is_empty(), "finished with requests in flight");
                    break None;
                }
            }
            assert_eq!(self.driver.in_flight(), self.under_way.len() as u64);
        };
        self.end(expired_at)
    }

    /// Checks that an end that is not awaited would start nothing now.
    fn check_what_is_awaited(&self) {
        if let Some((place, _)) = self.under_way.first()
            && !self.driver.awaits_completion(self.now)
        {
            let mut driver = self.driver.clone();
            driver.complete(self.started[*place].start.user, self.now);
            assert!(!matches!(driver.poll(self.now), Directive::Start(_)), "it started something");
        }
    }

    fn stop_when_due(&mut self) {
        let Some(stop) = self.case.stop.filter(|stop| self.stopped_at.is_none() && self.now >= stop.at) else { return };
        if stop.at_once {
            self.driver.stop_now(self.now)
        } else {
            self.driver.stop(self.now)
        }
        self.stopped_at = Some(self.now);
    }

    fn start(&mut self, start: DueRequest) {
        let intended = start.arrival.intended_start;
        assert!(intended <= self.now, "started before its time");
        if let Some(stopped_at) = self.stopped_at {
            let is_last = intended <= stopped_at && self.now.since(stopped_at) <= Nanos::from_millis(100);
            assert!(is_last && self.case.stop.is_some_and(|stop| !stop.at_once), "started after the stop");
        }
        let is_new = !self.sessions.contains(&start.user);
        let delay = self.now.since(intended);
        assert!(start.connection_wait <= delay);
        if self.case.workload.has_connection_per_session() {
            self.sessions.insert(start.user);
            assert!(self.cap.is_none_or(|cap| (self.sessions.len() as u64) <= cap), "more sessions than the cap");
        } else {
            assert!(self.cap.is_none_or(|cap| (self.under_way.len() as u64) < cap), "more in flight than the cap");
        }
        assert_eq!(start.connection_wait, if is_new { self.wait_for_a_place(intended) } else { Nanos::ZERO });
        self.taken += usize::from(is_new);
        if !self.case.late {
            assert_eq!(start.connection_wait, delay, "nobody was late, and still it did not start when it could");
        }
        self.recorder.plan(intended);
        let end = self.random_end();
        self.under_way.push((self.started.len(), end));
        self.started.push(Started { start, at: self.now, ended: Timestamp::NEVER });
    }

    /// Returns the wait for a permit: under a cap of c, start j waits for end j − c, if j > c.
    fn wait_for_a_place(&self, intended: Timestamp) -> Nanos {
        let Some(needed) = self.cap.and_then(|cap| self.taken.checked_sub(cap as usize)) else {
            return Nanos::ZERO;
        };
        self.ends[needed].since(intended)
    }

    fn random_end(&mut self) -> Timestamp {
        if self.case.black_holes && self.random.next_u64().is_multiple_of(16) {
            return Timestamp::NEVER;
        }
        let service = self.case.service.0 as f64 * self.random.exponential().min(5.0);
        self.now + Nanos(1 + service as u64)
    }

    /// Moves to the next event, or in a late case beyond it, and reports the requests that have ended by then.
    fn advance(&mut self, until: Timestamp) {
        let stop = self.case.stop.filter(|_| self.stopped_at.is_none()).map(|stop| stop.at.max(self.now));
        let ends = self.under_way.iter().map(|(_, end)| *end);
        let next = ends.chain(stop).fold(until, Timestamp::min);
        assert_ne!(next, Timestamp::NEVER, "nothing will ever happen again");
        let late = if self.case.late { Nanos(self.random.next_u64() % (20 * MS)) } else { Nanos::ZERO };
        self.now = next + late;
        let (mut ended, under_way): (Vec<_>, Vec<_>) = self.under_way.iter().partition(|(_, end)| *end <= self.now);
        self.under_way = under_way;
        if self.case.late {
            ended.sort_by_cached_key(|_| self.random.next_u64());
        } else {
            ended.sort_by_key(|(_, end)| *end);
        }
        ended.into_iter().for_each(|(number, end)| self.finish(number, end));
    }

    fn finish(&mut self, number: usize, end: Timestamp) {
        let started = &mut self.started[number];
        started.ended = end;
        let user = started.start.user;
        let is_over = self.driver.complete(user, end);
        if is_over || !self.case.workload.has_connection_per_session() {
            self.sessions.remove(&user);
            self.ends.insert(self.ends.partition_point(|earlier| *earlier <= end), end);
        }
        let record = record(started, end, Outcome::response(200));
        self.recorder.record(&record);
    }

    fn end(mut self, expired_at: Option<Timestamp>) -> Played {
        for (number, _) in &self.under_way {
            self.recorder.record(&record(&self.started[*number], self.now, Outcome::InFlightAtEnd));
        }
        let mut unissued = Vec::new();
        while let Some(arrival) = self.driver.pop_unissued() {
            self.recorder.plan(arrival.intended_start);
            self.recorder.record(&RequestRecord::never_issued(arrival, self.now));
            unissued.push(arrival);
        }
        assert!(expired_at.is_none_or(|at| at >= self.driver.deadline()), "expired before the drain was over");
        let hash = self.driver.schedule_hash();
        Played {
            started: self.started,
            unissued,
            stopped_at: self.stopped_at,
            cut_short: self.driver.was_cut_short(),
            expired_at,
            hash,
            snapshot: self.recorder.finish(hash),
        }
    }
}

fn record(started: &Started, end: Timestamp, outcome: Outcome) -> RequestRecord {
    let record = RequestRecord::new(started.start.arrival, started.at, end, outcome);
    record.with_start_delay(started.start.connection_wait, None)
}

pub fn play(case: &Case) -> Vec<Played> {
    (0..case.workers)
        .map(|index| Player::new(case, WorkerShare { index, workers: case.workers, ..WorkerShare::WHOLE }).play())
        .collect()
}
