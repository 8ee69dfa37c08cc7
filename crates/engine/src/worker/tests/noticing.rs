//! Events that a worker must notice at once or may notice late, and the times that include its own delays and caps.

use truetail_model::workload::LoadModelKind;

use super::*;
use crate::worker::sleeping::SleepSettings;

const TIMINGS: [Timing; 4] = [Timing::Precise, Timing::Balanced, Timing::Auto, Timing::Cheap];

/// Returns the connect time of a worker that has nothing to do before its longest sleep is over.
fn time_to_connect(timing: Timing, secured: bool) -> Nanos {
    let (tls, server) = match secured {
        true => Some(over_tls()).unzip(),
        false => (None, None),
    };
    let mut stage = Stage::with_tls(1, None, true, timing, tls);
    while stage.worker.connections.pool.opened == 0 {
        stage.start_due();
    }
    let socket = stage.accept();
    let answering = std::thread::spawn(move || {
        let mut request = [0; REQUEST.len()];
        match server {
            Some(server) => StreamOwned::new(server, socket).read_exact(&mut request).map(drop),
            None => (&socket).read_exact(&mut request).map(drop),
        }
    });
    while !all_connected(&stage.worker) {
        stage.worker.poll(&mut stage.reports, Timestamp::NEVER).unwrap();
    }
    answering.join().unwrap().unwrap();
    stage
        .worker
        .finish(CpuTime::default())
        .recorder
        .finish(truetail_model::arrival::ScheduleHash::default())
        .metric(Metric::ConnectTime)
        .max()
        .unwrap()
}

/// A measured connect ends when the connection is open, and not at the next tick. The longest sleep takes over 10 ms,
/// so a worker that sleeps through the event is always later than that. On a busy machine a worker that is woken may be
/// late as well, but not each time.
#[test]
fn a_connection_that_is_there_wakes_the_worker_in_every_timing() {
    for (timing, secured) in TIMINGS.into_iter().flat_map(|timing| [(timing, false), (timing, true)]) {
        let least = (0..100).map(|_| time_to_connect(timing, secured)).find(|time| *time < Nanos::from_millis(10));
        assert!(least.is_some(), "{timing:?}, TLS {secured}: a hundred connections took 10 ms and more");
    }
}

/// If only the worker can see the end of a time, no event may lie unseen while it sleeps.
#[test]
fn a_worker_is_deaf_only_to_what_the_kernel_stamps() {
    for timing in TIMINGS {
        for stamped in [true, false] {
            let mut stage = Stage::with_tls(1000, None, stamped, timing, None);
            let wait = |stage: &Stage, now, is_watched, is_crowded| {
                let worker = &stage.worker;
                let until = now + Nanos::from_micros(500);
                worker.sleeper.is_deaf(&Wait {
                    reactor: &worker.reactor,
                    driver: &worker.driver,
                    now,
                    until,
                    awaits_answer: true,
                    is_watched,
                    is_crowded,
                })
            };
            let now = Timestamp(1_000_000_000);
            assert_eq!(
                wait(&stage, now, false, false),
                timing == Timing::Cheap && stamped,
                "{timing:?}, {stamped}, no rate yet"
            );
            // At 20,000 requests/s, more than a sleep for each request and each answer.
            (1..=300).for_each(|k| stage.worker.sleeper.count_start(Timestamp(k * 50_000)));
            let may_be = stamped && matches!(timing, Timing::Auto | Timing::Cheap);
            assert_eq!(wait(&stage, now, false, false), may_be, "{timing:?}, {stamped}");
            assert!(!wait(&stage, now, true, false), "{timing:?}: a connection is being opened");
            assert!(!wait(&stage, now, false, true), "{timing:?}: a connection carries several requests");
            stage.worker.sleeper.note_unstamped_end(now);
            assert!(!wait(&stage, now + Nanos::from_millis(999), false, false), "{timing:?}: an end bore no stamp");
            assert_eq!(wait(&stage, now + Nanos::from_secs(1), false, false), may_be, "{timing:?}: a second later");
        }
    }
}

/// Between looks for answers a worker gives its processor away, to a server that may need it for long.
#[test]
fn a_processor_that_was_given_away_is_no_pause() {
    for timing in [Timing::Precise, Timing::Auto] {
        let mut stage = Stage::new(1, None, true);
        let worker = &mut stage.worker;
        let model = LoadModelKind::Closed;
        let settings = SleepSettings { timing, model, stamps_each: true, leaves_a_processor: true };
        let mut sleeper = Sleeper::new(settings);
        let now = worker.clock.now();
        let wait = Wait {
            reactor: &worker.reactor,
            driver: &worker.driver,
            now,
            until: now + Nanos::from_millis(20),
            awaits_answer: true,
            is_watched: false,
            is_crowded: false,
        };
        let before = worker.clock.pauses.total();
        sleeper.sleep(&wait, &mut Reports::with_capacity(1), &mut worker.clock).unwrap();
        worker.clock.pauses.mark_awake(now + Nanos::from_millis(15));
        assert_eq!(worker.clock.pauses.total(), before, "{timing:?}");
    }
}

#[test]
fn connections_are_watched_while_they_are_opened_or_blocked() {
    let mut stage = Stage::new(2, None, true);
    assert!(!stage.worker.connections.are_watched());
    while stage.worker.connections.pool.opened < 2 {
        stage.start_due();
        assert!(stage.worker.connections.are_watched() || stage.worker.connections.pool.opened == 0);
    }
    let streams = stage.send_all_opened(2);
    assert!(!stage.worker.connections.are_watched(), "both are there");
    let since = stage.worker.clock.since(Timestamp::ZERO);
    for slot in [0, 0, 1] {
        stage.worker.connections.block(slot, since);
        assert!(stage.worker.connections.are_watched());
    }
    stage.worker.connections.unblock(0);
    assert!(stage.worker.connections.are_watched(), "one is blocked");
    stage.worker.drop_connection(1);
    assert!(!stage.worker.connections.are_watched(), "it is gone");
    drop(streams);
}

/// Offers two arrivals with one permit, which the first holds for 20 ms. Returns connection wait and generator lag, and
/// how much they may lack.
fn waited_for_a_place(has_own_cap: bool) -> ([Nanos; 2], Nanos) {
    let mut stage = Stage::new(2, None, true);
    stage.worker.config.has_own_cap = has_own_cap;
    stage.worker.driver.set_cap(Some(1), Timestamp::ZERO);
    let mut streams = stage.send_all(1);
    sleep(Duration::from_millis(20));
    let answering = std::thread::spawn(move || {
        for _ in 0..2 {
            streams[0].write_all(ANSWER).unwrap();
            streams[0].read_exact(&mut [0; REQUEST.len()]).unwrap_or_default();
        }
    });
    stage.run_until(|worker| worker.driver.in_flight() == 0 && worker.connections.pool.reuses);
    stage.start_due();
    stage.run_until(all_ended);
    let snapshot = stage.worker.ledger.so_far();
    assert_eq!(snapshot.tally.responses, 2);
    // Without a stamp, the first answer's end, which the second request waits for, excludes pauses of this test.
    let excluded = if timestamps::ARE_AVAILABLE { Nanos::ZERO } else { stage.worker.clock.pauses.total() };
    drop(stage);
    answering.join().unwrap();
    let waits = [Metric::ConnectionWait, Metric::GeneratorLag].map(|metric| snapshot.metric(metric).max().unwrap());
    (waits, excluded)
}

#[test]
fn to_wait_for_a_cap_of_our_own_is_generator_lag() {
    const HELD: Nanos = Nanos::from_millis(20);
    let ([connection_wait, _], excluded) = waited_for_a_place(false);
    assert!(connection_wait + excluded >= HELD, "the user's: {connection_wait}");
    let ([connection_wait, generator_lag], excluded) = waited_for_a_place(true);
    assert!(connection_wait.is_zero() && generator_lag + excluded >= HELD, "{connection_wait} {generator_lag}");
}

#[test]
fn what_bears_no_stamp_may_have_lain_unread_since_the_worker_looked() {
    let mut stage = Stage::new(1, None, false);
    let _streams = stage.send_all(1);
    let clock = &mut stage.worker.clock;
    let in_flight = &mut stage.worker.in_flight;
    let exchange = in_flight.get(0);
    let at = |micros| exchange.started.instant + Nanos::from_micros(micros);
    let paused = clock.pauses.total();
    let within = Nanos::from_micros(30);
    for (drained_at, waited, unread) in [
        (at(100), None, 350),
        (Timestamp::ZERO, None, 450),
        (at(100), Some((at(200), within)), 80),
        (at(100), Some((at(390), within)), 60),
    ] {
        clock.mark_drained(paused, drained_at);
        clock.begin_reading(at(400), waited);
        assert_eq!(clock.estimate_completion(exchange, at(450)).unread, Nanos::from_micros(unread), "{waited:?}");
    }
}
