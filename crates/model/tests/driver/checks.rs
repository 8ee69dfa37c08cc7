//! Checks of a played case: the books, and the order of events of each load model.

use std::collections::{HashMap, HashSet};

use truetail_model::arrival::{Arrival, Horizon, Schedule, ScheduleHash};
use truetail_model::record::Snapshot;
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::users::{Stay, Users};
use truetail_model::workload::{Limits, LoadModel};

use super::cases::Case;
use super::player::{Played, play};

fn check_books(played: &[Played]) {
    let mut merged = Snapshot::default();
    let mut seen = HashSet::new();
    for worker in played {
        let started = worker.started.len() as u64;
        let unissued = worker.unissued.len() as u64;
        let tally = &worker.snapshot.tally;
        assert_eq!((tally.planned, tally.issued, tally.never_issued), (started + unissued, started, unissued));
        let answered = worker.started.iter().filter(|started| started.ended != Timestamp::NEVER).count() as u64;
        assert_eq!((tally.responses, tally.in_flight_at_end), (answered, started - answered));
        let mut hash = ScheduleHash::default();
        for arrival in worker.arrivals() {
            assert!(seen.insert(arrival.index), "arrival {} was handed out twice", arrival.index);
            hash.add(arrival);
        }
        assert_eq!(hash, worker.hash);
        assert!(worker.stopped_at.is_some() || !worker.cut_short, "cut short, and nobody asked for it");
        merged.merge(&worker.snapshot);
    }
    merged.tally.check().unwrap();
    assert_eq!(merged.tally.planned, seen.len() as u64);
}

fn check_order(worker: &Played) {
    let intended: Vec<_> = worker.arrivals().map(|arrival| arrival.intended_start).collect();
    assert_ascending(&intended);
}

fn assert_ascending(intended: &[Timestamp]) {
    assert!(intended.is_sorted(), "not first in, first out: {intended:?}");
}

/// Checks that the workers together handed out the whole schedule, or after a stop the arrivals intended by then.
fn check_open(schedule: &Schedule, limits: &Limits, played: &[Played]) {
    let workers = played.len() as u64;
    let mut handed_out: Vec<Arrival> = played.iter().flat_map(Played::arrivals).collect();
    handed_out.sort_by_key(|arrival| arrival.index);
    if played.iter().all(|worker| worker.stopped_at.is_none()) {
        assert!(schedule.arrivals().eq(handed_out), "the workers together are the schedule");
        let mut merged = ScheduleHash::default();
        played.iter().for_each(|worker| merged.merge(worker.hash));
        assert_eq!(merged, schedule.hash());
    } else if limits.connections.is_none_or(|cap| u64::from(cap) >= workers) {
        for (i, worker) in played.iter().enumerate() {
            let stopped_at = worker.stopped_at.unwrap_or(Timestamp::NEVER);
            let by_then = schedule.stripe(i as u64, workers).take_while(|arrival| arrival.intended_start <= stopped_at);
            assert!(
                by_then.eq(worker.arrivals()),
                "worker {i} was responsible for what was intended by {stopped_at:?}"
            );
            let comes_later = schedule.stripe(i as u64, workers).any(|arrival| arrival.intended_start > stopped_at);
            assert_eq!(worker.cut_short, comes_later, "worker {i}, stopped at {stopped_at:?}");
        }
    }
    let by_time = schedule.horizon.duration.map(|duration| Timestamp(duration.0));
    let by_count = schedule.horizon.requests.and(schedule.last_arrival()).map(|last| last.intended_start + Nanos(1));
    let end = by_time.into_iter().chain(by_count).min().expect("a horizon") + limits.drain;
    for worker in played {
        check_order(worker);
        assert!(worker.started.iter().all(|started| started.at < end), "started after the drain limit");
        if worker.stopped_at.is_none() {
            assert!(worker.expired_at.is_none_or(|at| at >= end), "ended before the drain limit");
        }
    }
}

/// Returns when a user with these stays asks again, after an answer at `ended`.
fn asks_again(stays: &[Stay], ended: Timestamp, think_time: Nanos) -> Timestamp {
    let thought = ended + think_time;
    let stays_on = stays.iter().any(|stay| stay.joins <= ended && thought < stay.leaves);
    let joins = || stays.iter().map(|stay| stay.joins).find(|joins| *joins > ended).unwrap_or(Timestamp::NEVER);
    if ended < Timestamp::NEVER && !stays_on { joins() } else { thought }
}

/// Checks that each user asks when joining, and again with an answer and a thought, and never before, and that all who
/// join ask.
fn check_closed(users: &Users, think_time: Nanos, horizon: Horizon, case: &Case, played: &[Played]) {
    let mut most_users = 0;
    let workers = case.workers.min(case.workload.max_workers());
    for (index, worker) in (0..).zip(played) {
        let here = users.dealt(index, workers);
        let stays_of = |user: u32| {
            let mut at = Timestamp::ZERO;
            std::iter::from_fn(|| here.stay_after(user, at).inspect(|stay| at = stay.leaves)).collect::<Vec<_>>()
        };
        let mut ready_at: HashMap<u32, Timestamp> = HashMap::new();
        for started in &worker.started {
            let user = started.start.user;
            let intended = started.start.arrival.intended_start;
            let stays = stays_of(user);
            assert_eq!(intended, ready_at.get(&user).copied().unwrap_or(stays[0].joins), "user {user}");
            assert!(user < here.active_at(intended), "user {user} is not there at {intended:?}");
            assert!(horizon.duration.is_none_or(|duration| intended.0 < duration.0), "intended beyond the horizon");
            ready_at.insert(user, asks_again(&stays, started.ended, think_time));
        }
        if index < workers && horizon.requests.is_none() && case.stop.is_none() && worker.expired_at.is_none() {
            let end = horizon.duration.map_or(Timestamp::NEVER, |duration| Timestamp(duration.0));
            let joins = (0..here.most()).filter(|user| stays_of(*user).first().is_some_and(|stay| stay.joins < end));
            assert_eq!(joins.count(), ready_at.len(), "who joins asks");
            assert!(ready_at.values().all(|next| *next >= end), "a user is ready before the end and does not ask");
        }
        most_users += ready_at.len();
        if !case.late {
            check_order(worker);
        }
    }
    assert!(most_users <= users.most() as usize, "{most_users} users where there are {users}");
    let planned: usize = played.iter().map(|worker| worker.arrivals().count()).sum();
    if let Some(requests) = horizon.requests {
        assert!(planned as u64 <= requests);
        if horizon.duration.is_none() && case.stop.is_none() && users.is_constant() {
            let mut indices: Vec<u64> = played.iter().flat_map(Played::arrivals).map(|a| a.index).collect();
            indices.sort_unstable();
            assert!(indices.into_iter().eq(0..requests), "all requests, each once");
        }
    }
}

/// Checks that sessions come by the schedule, and that inside a session each request follows the answer before it.
fn check_partly_open(sessions: &Schedule, requests: u32, think_time: Nanos, case: &Case, played: &[Played]) {
    let mut expected: Vec<Timestamp> = sessions.arrivals().map(|arrival| arrival.intended_start).collect();
    let mut opened = Vec::new();
    for worker in played {
        let opened_before = opened.len();
        // By slot: the next intended start of its session, and the number of requests left.
        let mut running: HashMap<u32, (Timestamp, u32)> = HashMap::new();
        for started in &worker.started {
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
        assert_ascending(&opened[opened_before..]);
        let due = |intended| running.values().any(|(due, left)| *due == intended && *left > 0);
        opened.extend(worker.unissued.iter().map(|arrival| arrival.intended_start).filter(|intended| !due(*intended)));
        // Running sessions continue past sessions that wait for a place.
        if !case.late && !case.workload.has_connection_per_session() {
            check_order(worker);
        }
    }
    if case.stop.is_none() {
        opened.sort_unstable();
        expected.sort_unstable();
        assert_eq!(opened, expected, "every session of the schedule was opened, or was due");
    }
}

pub fn check(case: &Case) {
    let played = play(case);
    check_books(&played);
    match &case.workload.model {
        LoadModel::Open(schedule) => check_open(schedule, &case.workload.limits, &played),
        LoadModel::Closed { users, think_time, horizon } => check_closed(users, *think_time, *horizon, case, &played),
        LoadModel::PartlyOpen { sessions, requests_per_session, think_time } => {
            check_partly_open(sessions, *requests_per_session, *think_time, case, &played);
        }
    }
}
