//! The driver under random interleavings in virtual time: random service times and orders of completion, a generator
//! that is late, caps, stops at any instant, all load models, one to five hands.

use std::collections::HashMap;

use proptest::prelude::*;
use truetail_model::arrival::{Arrival, Horizon, Profile, Schedule, ScheduleHash, Spacing};
use truetail_model::driver::{Driver, Hand, Start, Turn};
use truetail_model::random::Random;
use truetail_model::record::{Outcome, Recorder, RecorderOptions, RequestRecord, SamplesOptions, Snapshot, StartDelay};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::{Limits, LoadModel, Workload};

const MS: u64 = 1_000_000;

/// When and how a run is stopped before its time.
#[derive(Clone, Copy, Debug)]
struct Stop {
    at: Timestamp,
    at_once: bool,
}

/// One case.
#[derive(Clone, Debug)]
struct Case {
    workload: Workload,
    hands: u32,
    stop: Option<Stop>,
    /// Mean service time; single ones are up to five times as long.
    service: Nanos,
    /// Some requests never end.
    black_holes: bool,
    /// The caller wakes up late and hears of ends in any order; else at the very instant of each event.
    late: bool,
    seed: u64,
}

/// One request that was started.
#[derive(Clone, Copy, Debug)]
struct Started {
    start: Start,
    at: Timestamp,
    /// [`Timestamp::NEVER`] while, or because, it has not ended.
    ended: Timestamp,
}

/// What one hand did.
struct Played {
    started: Vec<Started>,
    unissued: Vec<Arrival>,
    stopped_at: Option<Timestamp>,
    expired_at: Option<Timestamp>,
    hash: ScheduleHash,
    snapshot: Snapshot,
}

impl Played {
    /// All arrivals it was responsible for.
    fn arrivals(&self) -> impl Iterator<Item = Arrival> + '_ {
        self.started.iter().map(|started| started.start.arrival).chain(self.unissued.iter().copied())
    }
}

/// Drives one hand through its whole run, and checks at each step what must hold there.
struct Player<'a> {
    case: &'a Case,
    cap: Option<u64>,
    driver: Driver,
    random: Random,
    now: Timestamp,
    started: Vec<Started>,
    /// Requests under way, by their place in `started`, with the instant at which they end.
    under_way: Vec<(usize, Timestamp)>,
    /// When the others ended, ascending.
    ends: Vec<Timestamp>,
    stopped_at: Option<Timestamp>,
    recorder: Recorder,
}

impl<'a> Player<'a> {
    fn new(case: &'a Case, hand: Hand) -> Player<'a> {
        let working = Hand { of: hand.of.min(case.workload.most_hands()), ..hand };
        Player {
            case,
            cap: case.workload.limits.connections.map(|total| working.share_of(u64::from(total))),
            driver: Driver::new(&case.workload, hand),
            random: Random::new(case.seed, u64::from(hand.index)),
            now: Timestamp::ZERO,
            started: Vec::new(),
            under_way: Vec::new(),
            ends: Vec::new(),
            stopped_at: None,
            recorder: Recorder::new(RecorderOptions { samples: SamplesOptions::NONE, ..RecorderOptions::default() }),
        }
    }

    fn play(mut self) -> Played {
        let expired_at = loop {
            self.stop_when_due();
            let deadline = self.driver.deadline();
            match self.driver.turn(self.now) {
                Turn::Start(start) => {
                    assert!(self.now < deadline, "started when the drain was over");
                    self.start(start);
                }
                Turn::Wait { until } => {
                    assert!(until > self.now, "a wait until now is a busy loop");
                    self.advance(until);
                }
                Turn::Expired => break Some(self.now),
                Turn::Finished => {
                    assert!(self.under_way.is_empty(), "finished with requests in flight");
                    break None;
                }
            }
            assert_eq!(self.driver.in_flight(), self.under_way.len() as u64);
        };
        self.end(expired_at)
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

    fn start(&mut self, start: Start) {
        let intended = start.arrival.intended_start;
        assert!(intended <= self.now, "started before its time");
        assert!(self.stopped_at.is_none(), "started after the stop");
        assert!(self.cap.is_none_or(|cap| (self.under_way.len() as u64) < cap), "more in flight than the cap");
        let delay = self.now.since(intended);
        assert!(start.connection_wait <= delay);
        assert_eq!(start.connection_wait, self.wait_for_a_place(intended));
        if !self.case.late {
            assert_eq!(start.connection_wait, delay, "nobody was late, and still it did not start when it could");
        }
        self.recorder.plan(intended);
        let end = self.random_end();
        self.under_way.push((self.started.len(), end));
        self.started.push(Started { start, at: self.now, ended: Timestamp::NEVER });
    }

    /// The j-th request to start, of those under a cap of c, finds a place when j − c of those before it have ended.
    fn wait_for_a_place(&self, intended: Timestamp) -> Nanos {
        let Some(needed) = self.cap.and_then(|cap| self.started.len().checked_sub(cap as usize)) else {
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

    /// Moves on to the next event, or in a late case some time beyond it, and reports what has ended by then.
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
        self.driver.finish(started.start.user, end);
        self.ends.insert(self.ends.partition_point(|earlier| *earlier <= end), end);
        let record = record(started, end, Outcome::Response { status: 200 });
        self.recorder.record(&record);
    }

    fn end(mut self, expired_at: Option<Timestamp>) -> Played {
        for (number, _) in &self.under_way {
            self.recorder.record(&record(&self.started[*number], self.now, Outcome::InFlightAtEnd));
        }
        let mut unissued = Vec::new();
        while let Some(arrival) = self.driver.unissued() {
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
            expired_at,
            hash,
            snapshot: self.recorder.finish(hash),
        }
    }
}

fn record(started: &Started, end: Timestamp, outcome: Outcome) -> RequestRecord {
    let intended_start = started.start.arrival.intended_start;
    RequestRecord {
        index: started.start.arrival.index,
        intended_start,
        actual_start: started.at,
        end,
        delay: StartDelay::split(intended_start, started.at, started.start.connection_wait, Nanos::ZERO),
        connected: false,
        tls_handshake: None,
        read_lag: None,
        outcome,
        bytes_in: 0,
    }
}

fn play(case: &Case) -> Vec<Played> {
    (0..case.hands).map(|index| Player::new(case, Hand { index, of: case.hands }).play()).collect()
}

/// What holds for every load model.
fn check_books(played: &[Played]) {
    let mut merged = Snapshot::default();
    let mut seen = std::collections::HashSet::new();
    for hand in played {
        let (started, unissued) = (hand.started.len() as u64, hand.unissued.len() as u64);
        let tally = &hand.snapshot.tally;
        assert_eq!((tally.planned, tally.issued, tally.never_issued), (started + unissued, started, unissued));
        let answered = hand.started.iter().filter(|started| started.ended != Timestamp::NEVER).count() as u64;
        assert_eq!((tally.responses, tally.in_flight_at_end), (answered, started - answered));
        let mut hash = ScheduleHash::default();
        for arrival in hand.arrivals() {
            assert!(seen.insert(arrival.index), "arrival {} was handed out twice", arrival.index);
            hash.add(arrival);
        }
        assert_eq!(hash, hand.hash);
        merged.merge(&hand.snapshot);
    }
    merged.tally.check().unwrap();
    assert_eq!(merged.tally.planned, seen.len() as u64);
}

fn check_order(hand: &Played) {
    let intended: Vec<_> = hand.arrivals().map(|arrival| arrival.intended_start).collect();
    assert!(intended.windows(2).all(|pair| pair[0] <= pair[1]), "not first in, first out: {intended:?}");
}

/// The hands together handed out the whole schedule, each arrival at its instant; after a stop, what was intended by
/// then.
fn check_open(schedule: &Schedule, limits: &Limits, played: &[Played]) {
    let hands = played.len() as u64;
    let mut handed_out: Vec<Arrival> = played.iter().flat_map(Played::arrivals).collect();
    handed_out.sort_by_key(|arrival| arrival.index);
    if played.iter().all(|hand| hand.stopped_at.is_none()) {
        assert!(schedule.arrivals().eq(handed_out), "the hands together are the schedule");
        let mut merged = ScheduleHash::default();
        played.iter().for_each(|hand| merged.merge(hand.hash));
        assert_eq!(merged, schedule.hash());
    } else if limits.connections.is_none_or(|cap| u64::from(cap) >= hands) {
        for (i, hand) in played.iter().enumerate() {
            let stopped_at = hand.stopped_at.unwrap_or(Timestamp::NEVER);
            let by_then = schedule.stripe(i as u64, hands).take_while(|arrival| arrival.intended_start <= stopped_at);
            assert!(by_then.eq(hand.arrivals()), "hand {i} was responsible for what was intended by {stopped_at:?}");
        }
    }
    let by_time = schedule.horizon.duration.map(|duration| Timestamp(duration.0));
    let by_count = schedule.horizon.requests.and(schedule.last_arrival()).map(|last| last.intended_start + Nanos(1));
    let end = by_time.into_iter().chain(by_count).min().expect("a horizon") + limits.drain;
    for hand in played {
        check_order(hand);
        assert!(hand.started.iter().all(|started| started.at < end), "started after the drain limit");
        if hand.stopped_at.is_none() {
            assert!(hand.expired_at.is_none_or(|at| at >= end), "ended before the drain limit");
        }
    }
}

/// Each user asks again when it has its answer and has thought, and never before.
fn check_closed(users: u32, think_time: Nanos, horizon: Horizon, case: &Case, played: &[Played]) {
    let mut most_users = 0;
    for hand in played {
        let mut ready_at: HashMap<u32, Timestamp> = HashMap::new();
        for started in &hand.started {
            let user = started.start.user;
            let intended = started.start.arrival.intended_start;
            assert_eq!(intended, ready_at.get(&user).copied().unwrap_or(Timestamp::ZERO), "user {user}");
            assert!(horizon.duration.is_none_or(|duration| intended.0 < duration.0), "intended beyond the horizon");
            let next = if started.ended == Timestamp::NEVER { started.ended } else { started.ended + think_time };
            ready_at.insert(user, next);
        }
        most_users += ready_at.len();
        if !case.late {
            check_order(hand);
        }
    }
    assert!(most_users <= users as usize, "{most_users} users where there are {users}");
    let planned: usize = played.iter().map(|hand| hand.arrivals().count()).sum();
    if let Some(requests) = horizon.requests {
        assert!(planned as u64 <= requests);
        if horizon.duration.is_none() && case.stop.is_none() {
            let mut indices: Vec<u64> = played.iter().flat_map(Played::arrivals).map(|a| a.index).collect();
            indices.sort_unstable();
            assert!(indices.into_iter().eq(0..requests), "all requests, each once");
        }
    }
}

/// Sessions come by the schedule, and inside one each request follows the answer to the one before.
fn check_partly_open(sessions: &Schedule, requests: u32, think_time: Nanos, case: &Case, played: &[Played]) {
    let mut expected: Vec<Timestamp> = sessions.arrivals().map(|arrival| arrival.intended_start).collect();
    let mut opened = Vec::new();
    for hand in played {
        // By slot: when its session asks again, and how many requests it still has.
        let mut running: HashMap<u32, (Timestamp, u32)> = HashMap::new();
        for started in &hand.started {
            let intended = started.start.arrival.intended_start;
            let left = match running.remove(&started.start.user) {
                Some((due, left)) if left > 0 => {
                    assert_eq!(intended, due, "a follow-up comes when it is due");
                    left
                }
                _ => {
                    opened.push(intended);
                    requests
                }
            };
            let due = if started.ended == Timestamp::NEVER { started.ended } else { started.ended + think_time };
            running.insert(started.start.user, (due, left - 1));
        }
        let due = |intended| running.values().any(|(due, left)| *due == intended && *left > 0);
        opened.extend(hand.unissued.iter().map(|arrival| arrival.intended_start).filter(|intended| !due(*intended)));
        if !case.late {
            check_order(hand);
        }
    }
    if case.stop.is_none() {
        opened.sort_unstable();
        expected.sort_unstable();
        assert_eq!(opened, expected, "every session of the schedule was opened, or was due");
    }
}

fn check(case: &Case) {
    let played = play(case);
    check_books(&played);
    match &case.workload.model {
        LoadModel::Open(schedule) => check_open(schedule, &case.workload.limits, &played),
        LoadModel::Closed { users, think_time, horizon } => check_closed(*users, *think_time, *horizon, case, &played),
        LoadModel::PartlyOpen { sessions, requests_per_session, think_time } => {
            check_partly_open(sessions, *requests_per_session, *think_time, case, &played);
        }
    }
}

fn millis(low: u64, high: u64) -> impl Strategy<Value = Nanos> {
    (low * MS..=high * MS).prop_map(Nanos)
}

/// Up to two seconds, up to 200 requests, or both.
fn horizon() -> impl Strategy<Value = Horizon> {
    prop_oneof![
        millis(1, 2_000).prop_map(|duration| Horizon { duration: Some(duration), requests: None }),
        (1u64..200).prop_map(|requests| Horizon { duration: None, requests: Some(requests) }),
        (millis(1, 2_000), 1u64..2_000)
            .prop_map(|(duration, requests)| Horizon { duration: Some(duration), requests: Some(requests) }),
    ]
}

prop_compose! {
    fn schedule()(
        profile in prop_oneof![
            Just("300"), Just("7.5"), Just("steps:100/300ms,0/300ms,400/1s"), Just("ramp:0..400/1s"), Just("ramp:300..0/1s"),
        ],
        poisson in any::<bool>(),
        seed in any::<u64>(),
        horizon in horizon(),
    ) -> Schedule {
        let spacing = if poisson { Spacing::Poisson } else { Spacing::Even };
        Schedule { profile: profile.parse().unwrap(), spacing, seed, horizon }
    }
}

fn model() -> impl Strategy<Value = LoadModel> {
    prop_oneof![
        schedule().prop_map(LoadModel::Open),
        (1u32..7, millis(0, 40), horizon()).prop_map(|(users, think_time, horizon)| LoadModel::Closed {
            users,
            think_time,
            horizon
        }),
        (schedule(), 1u32..5, millis(0, 40)).prop_map(|(sessions, requests_per_session, think_time)| {
            LoadModel::PartlyOpen { sessions, requests_per_session, think_time }
        }),
    ]
}

prop_compose! {
    fn case()(
        model in model(),
        connections in proptest::option::of(1u32..9),
        drain in millis(0, 600),
        hands in 1u32..=5,
        stop in proptest::option::of((0..2_500 * MS, any::<bool>())),
        service in millis(1, 150),
        black_holes in any::<bool>(),
        late in any::<bool>(),
        seed in any::<u64>(),
    ) -> Case {
        // A request that never ends may hold a count for ever, but not a duration.
        let black_holes = black_holes && model.horizon().duration.is_some();
        let stop = stop.map(|(at, at_once)| Stop { at: Timestamp(at), at_once });
        let limits = Limits { connections, timeout: None, drain };
        Case { workload: Workload { model, limits, warmup: Nanos::ZERO }, hands, stop, service, black_holes, late, seed }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_interleaving_keeps_the_books(case in case()) {
        check(&case);
    }
}

fn open(rate: &str, duration: Option<Nanos>, requests: Option<u64>, limits: Limits) -> Workload {
    let profile = rate.parse().unwrap();
    let horizon = Horizon { duration, requests };
    let schedule = Schedule { profile, spacing: Spacing::Even, seed: 1, horizon };
    Workload { model: LoadModel::Open(schedule), limits, warmup: Nanos::ZERO }
}

const SECOND: Nanos = Nanos::from_secs(1);

fn limits(connections: Option<u32>, drain: Nanos) -> Limits {
    Limits { connections, timeout: None, drain }
}

/// A count that the duration does not reach must not end the run, whatever the spacing.
#[test]
fn a_count_beyond_the_duration_changes_nothing() {
    for requests in [None, Some(101), Some(1_000_000), Some(u64::MAX)] {
        let driver = Driver::new(&open("100", Some(SECOND), requests, limits(None, SECOND)), Hand::ALONE);
        let end = if requests.is_none() { 1_000 * MS } else { 990 * MS + 1 };
        assert_eq!(driver.deadline(), Timestamp(end) + SECOND, "{requests:?}");
    }
}

#[test]
fn a_count_that_the_profile_never_reaches_ends_with_it() {
    let driver = Driver::new(&open("ramp:200..0/10s", None, Some(1_000_000), limits(None, SECOND)), Hand::ALONE);
    let last = driver.deadline().since_origin().saturating_sub(SECOND);
    assert!(last > Nanos::from_secs(9) && last < Nanos::from_secs(10), "{last}");
}

/// All requests of the schedule are handed out even where hands have no place or no user of their own.
#[test]
fn more_hands_than_places_leave_nothing_undone() {
    let hands = 5;
    let planned_by = |workload: &Workload| -> Vec<u64> {
        let case = Case {
            workload: workload.clone(),
            hands,
            stop: None,
            service: Nanos(MS),
            black_holes: false,
            late: false,
            seed: 1,
        };
        play(&case).iter().map(|hand| hand.started.len() as u64).collect()
    };
    let capped = open("100", Some(SECOND), None, limits(Some(2), SECOND));
    assert_eq!(planned_by(&capped), [50, 50, 0, 0, 0]);
    let horizon = Horizon { duration: None, requests: Some(10) };
    let model = LoadModel::Closed { users: 3, think_time: Nanos::ZERO, horizon };
    let closed = Workload { model, limits: limits(None, SECOND), warmup: Nanos::ZERO };
    assert_eq!(planned_by(&closed), [4, 3, 3, 0, 0]);
}

/// One place: who waits for it, and how long.
#[test]
fn a_wait_for_a_place_has_its_length_and_its_owner() {
    let mut driver = Driver::new(&open("100", None, Some(4), limits(Some(1), SECOND)), Hand::ALONE);
    let at = |millis: u64| Timestamp(millis * MS);
    let started = |turn| if let Turn::Start(start) = turn { start.connection_wait } else { panic!("{turn:?}") };
    assert_eq!(started(driver.turn(at(0))), Nanos::ZERO);
    assert_eq!(driver.turn(at(0)), Turn::Wait { until: at(10) });
    // Due at 10, and the only place is taken.
    assert!(matches!(driver.turn(at(12)), Turn::Wait { until } if until == driver.deadline()));
    driver.finish(0, at(17));
    // The generator hears of it at 19: 7 ms are the cap's, 2 ms its own.
    assert_eq!(started(driver.turn(at(19))), Nanos(7 * MS));
    driver.finish(0, at(21));
    // The place was free at 21, and this one is due at 20.
    assert_eq!(started(driver.turn(at(40))), Nanos(MS));
    driver.finish(0, at(29));
    // Free before it was due at 30: all of the delay is the generator's.
    assert_eq!(started(driver.turn(at(41))), Nanos::ZERO);
    driver.finish(0, at(50));
    assert_eq!(driver.turn(at(50)), Turn::Finished);
}

#[test]
fn the_drain_limit_is_an_instant() {
    let mut driver = Driver::new(&open("100", Some(Nanos(30 * MS)), None, limits(Some(1), Nanos(5 * MS))), Hand::ALONE);
    assert!(matches!(driver.turn(Timestamp(0)), Turn::Start(_)));
    assert_eq!(driver.turn(Timestamp(34 * MS)), Turn::Wait { until: Timestamp(35 * MS) });
    assert_eq!(driver.turn(Timestamp(35 * MS)), Turn::Expired);
    assert_eq!(driver.in_flight(), 1);
    let unissued: Vec<u64> = std::iter::from_fn(|| driver.unissued()).map(|arrival| arrival.index).collect();
    assert_eq!(unissued, [1, 2]);
}

#[test]
fn a_second_stop_ends_the_drain() {
    let mut driver = Driver::new(&open("100", Some(SECOND), None, limits(None, SECOND)), Hand::ALONE);
    assert!(matches!(driver.turn(Timestamp(0)), Turn::Start(_)));
    driver.stop(Timestamp(5 * MS));
    assert_eq!(driver.turn(Timestamp(20 * MS)), Turn::Wait { until: Timestamp(1_005 * MS + 1) });
    driver.stop_now(Timestamp(30 * MS));
    assert_eq!(driver.turn(Timestamp(30 * MS)), Turn::Expired);
    assert_eq!(driver.unissued(), None);
}

#[test]
#[should_panic(expected = "a request ends that was started")]
fn an_end_without_a_start_is_a_bug() {
    Driver::new(&open("100", Some(SECOND), None, limits(None, SECOND)), Hand::ALONE).finish(0, Timestamp(1));
}

/// Extremes of every limit meet without overflow.
#[test]
fn limits_as_long_as_time_itself() {
    let forever = Nanos::MAX;
    for workload in [
        open("1e9", Some(forever), None, limits(Some(u32::MAX), forever)),
        open("1e-3", Some(forever), Some(u64::MAX), limits(None, forever)),
        Workload {
            model: LoadModel::Closed {
                users: 1,
                think_time: forever,
                horizon: Horizon { duration: Some(forever), requests: Some(u64::MAX) },
            },
            limits: limits(Some(1), forever),
            warmup: Nanos::ZERO,
        },
    ] {
        let mut driver = Driver::new(&workload, Hand { index: 0, of: u32::MAX });
        assert!(matches!(driver.turn(Timestamp(0)), Turn::Start(_)));
        driver.finish(0, Timestamp(1));
        let _ = driver.turn(Timestamp(2));
        driver.stop(Timestamp::NEVER);
        driver.stop_now(Timestamp(3));
        let _ = driver.turn(Timestamp(3));
    }
}

#[test]
fn a_session_under_way_does_not_bring_the_end_of_the_drain_forward() {
    let sessions = Schedule {
        profile: Profile::constant("0.01/s".parse().unwrap()),
        spacing: Spacing::Even,
        seed: 1,
        horizon: Horizon { duration: Some(Nanos::from_secs(60)), requests: None },
    };
    let model = LoadModel::PartlyOpen { sessions, requests_per_session: 2, think_time: Nanos::ZERO };
    let limits = Limits { drain: Nanos::from_secs(5), ..Limits::default() };
    let mut driver = Driver::new(&Workload { model, limits, warmup: Nanos::ZERO }, Hand::ALONE);
    assert!(matches!(driver.turn(Timestamp::ZERO), Turn::Start(_)));
    // The next session would come after the horizon, and a follow-up comes when this one is answered, however late.
    let late = Timestamp(20_000 * MS);
    assert_eq!(driver.turn(late), Turn::Wait { until: Timestamp(65_000 * MS) });
    driver.finish(0, late);
    assert!(matches!(driver.turn(late), Turn::Start(start) if start.arrival.intended_start == late));
}
