//! Attribution: effects of the generator must never be attributed to the server, nor the other way round.

use crate::support::{changed, codes, queue, recorded, scenario, simulated, with_pause, without_samples};
use truetail_analysis::findings;
use truetail_model::arrival::{Horizon, Profile};
use truetail_model::record::{Cause, Outcome};
use truetail_model::service::{Fault, Selector};
use truetail_model::time::{Nanos, Rate, Timestamp};
use truetail_model::workload::LoadModel;
use truetail_run::VerdictState::{Invalid, Suspect, Valid};
use truetail_run::{GeneratorStats, MachineLimit, Pause, Run, RunSource};

#[test]
fn a_busy_server_is_not_a_saturated_one() {
    for seed in 0..10 {
        let found = findings(&simulated(&queue(0.8, seed)));
        assert!(!codes(&found).contains(&"saturated"), "seed {seed}: {:?}", found.verdict);
    }
}

#[test]
fn a_little_too_much_is_too_much() {
    for seed in 0..10 {
        let found = findings(&simulated(&queue(1.25, seed)));
        assert!(codes(&found).contains(&"saturated"), "seed {seed}: {:?}", found.verdict);
    }
}

/// Ten connections to a server that takes 100 ms can do 100/s. With a short drain, most arrivals are never issued.
#[test]
fn a_backlog_that_is_never_issued_is_saturation_too() {
    let mut capped = scenario("01");
    capped.service.baseline = Nanos::from_millis(100);
    capped.workload.limits.connections = Some(10);
    capped.workload.limits.drain = Nanos::from_secs(2);
    for run in [simulated(&capped), without_samples(&capped)] {
        let found = findings(&run);
        assert!(found.tally.never_issued > 50_000, "{:?}", found.tally);
        assert_eq!(codes(&found)[0], "saturated", "{:?}", found.verdict);
        // Ten connections that take 100 ms each: this is the cap, not the capacity of the service.
        let numbers = &found.verdict.reasons[0].numbers;
        assert!(!numbers.contains_key("capacity_per_second"), "{numbers:?}");
        let answered = numbers["answered_per_second"].as_f64().unwrap();
        assert!((answered - 100.0).abs() < 5.0, "{answered}");
        assert!(found.verdict.reasons[0].message.contains("the limit is -c 10"), "{:?}", found.verdict);
        assert!(found.response_time.quantiles[0].at_least);
    }
}

/// One request at a time, behind a cap that keeps the service busy: the answers per second are its own capacity.
#[test]
fn a_cap_is_not_blamed_for_a_slow_service() {
    let mut slow = scenario("01");
    slow.service.baseline = Nanos::from_millis(10);
    slow.service.concurrency = Some(1);
    slow.workload.limits.connections = Some(20);
    let found = findings(&simulated(&slow));
    assert_eq!(codes(&found)[0], "saturated", "{:?}", found.verdict);
    let capacity = found.verdict.reasons[0].numbers["capacity_per_second"].as_f64().unwrap();
    assert!((capacity - 100.0).abs() < 5.0, "{capacity}");
}

/// The timeout ends the growth of the backlog, but not its cause: requests that leave the backlog got no answer.
#[test]
fn a_timeout_does_not_hide_saturation() {
    let mut impatient = scenario("05");
    impatient.workload.limits.connections = None;
    impatient.workload.limits.timeout = Some(Nanos::from_secs(5));
    for run in [simulated(&impatient), without_samples(&impatient)] {
        let found = findings(&run);
        assert_eq!((codes(&found)[0], found.verdict.state), ("saturated", Invalid), "{:?}", found.verdict);
        let number = |name: &str| found.verdict.reasons[0].numbers[name].as_f64().unwrap();
        assert!((number("capacity_per_second") - 500.0).abs() < 15.0, "{:?}", found.verdict);
        assert!(
            (8.0..=12.0).contains(&number("from_s")),
            "5 s into a backlog that took 10 s to grow: {:?}",
            found.verdict
        );
        assert!(!codes(&found).contains(&"censored_tail"), "one reason is enough");
    }
}

/// A twentieth of the answers or more is lost, without any queue: the other answers are as fast as ever.
#[test]
fn many_lost_requests_with_a_short_timeout_are_not_saturation() {
    let mut scenario = scenario("01");
    scenario.service.faults = vec![Fault::BlackHole { select: Selector { every: Some(4), ..Selector::default() } }];
    scenario.workload.limits.timeout = Some(Nanos::from_secs(2));
    for run in [simulated(&scenario), without_samples(&scenario)] {
        assert_eq!(codes(&findings(&run)), ["censored_tail"]);
    }
}

/// 5 % of all arrivals are never answered, and their backlog grows until the end. The others are as fast as ever.
#[test]
fn lost_requests_are_not_saturation() {
    let mut scenario = scenario("01");
    scenario.service.faults = vec![Fault::BlackHole { select: Selector { every: Some(20), ..Selector::default() } }];
    scenario.workload.limits.timeout = Some(Nanos::from_secs(120));
    for run in [simulated(&scenario), without_samples(&scenario)] {
        assert_eq!(codes(&findings(&run)), ["censored_tail"]);
    }
}

#[test]
fn a_server_that_dies_is_not_saturated() {
    let mut scenario = scenario("01");
    let select = Selector { at: Some(Timestamp(25_000_000_000)), ..Selector::default() };
    scenario.service.faults = vec![Fault::BlackHole { select }];
    let found = findings(&simulated(&scenario));
    assert_eq!(codes(&found), ["censored_tail", "not_stationary"]);
}

/// A second of silence: by the server it is a finding, by the generator it makes the run INVALID.
#[test]
fn pauses_of_the_generator_are_told_from_stalls_of_the_server() {
    let healthy = simulated(&scenario("01"));
    let paused = findings(&with_pause(&healthy, Timestamp(20_000_000_000), Nanos::from_millis(1500)));
    assert_eq!(paused.verdict.state, Invalid);
    assert_eq!(codes(&paused)[0], "generator_paused", "{:?}", paused.verdict);
    assert!(!codes(&paused).contains(&"generator_lag"), "one reason is enough");
    assert!(!codes(&paused).contains(&"saturated"));
    assert!(paused.response_time.quantiles[3].unresolved, "p99 is the generator's own");
    assert!(!paused.response_time.quantiles[0].unresolved, "p50 is not");
    let numbers = &paused.verdict.reasons[0].numbers;
    assert_eq!(numbers["arrivals_hit"], 1500);
    assert_eq!(numbers["longest_ns"], 1_500_000_000_u64);
    assert_eq!(findings(&simulated(&scenario("02"))).verdict.state, Valid);
}

/// A pause of 1.5 s, in a run too long for p99 to show it, is reported, because the server met a burst after it.
#[test]
fn a_huge_pause_is_suspect_even_where_p99_does_not_show_it() {
    let mut long = scenario("01");
    let LoadModel::Open(schedule) = &mut long.workload.model else { unreachable!() };
    schedule.profile = Profile::constant(Rate::per_second(200.0).unwrap());
    schedule.horizon.duration = Some(Nanos::from_secs(600));
    let found = findings(&with_pause(&simulated(&long), Timestamp(20_000_000_000), Nanos::from_millis(1500)));
    assert_eq!((found.verdict.state, codes(&found)), (Suspect, vec!["generator_paused"]));
}

/// 300/s for 8 s, 2 ms each, and the machine pauses for 20 ms: six requests, and no weighed percentile moves.
#[test]
fn a_stall_that_moves_no_percentile_is_no_doubt() {
    let mut short = scenario("01");
    let LoadModel::Open(schedule) = &mut short.workload.model else { unreachable!() };
    schedule.profile = Profile::constant(Rate::per_second(300.0).unwrap());
    schedule.horizon.duration = Some(Nanos::from_secs(8));
    short.service.baseline = Nanos::from_millis(2);
    let run = simulated(&short);
    let of = |length| findings(&with_pause(&run, Timestamp(3_000_000_000), length));
    let small = of(Nanos::from_millis(20));
    assert_eq!((small.verdict.state, codes(&small)), (Valid, vec![]), "{:?}", small.verdict);
    let max = small.response_time.quantiles.last().unwrap();
    assert!(max.unresolved && max.without_generator_ns.unwrap() < 3_000_000, "it shows as a range: {max:?}");
    let half = of(Nanos::from_millis(500));
    assert_eq!((half.verdict.state, codes(&half)), (Suspect, vec!["generator_paused"]), "6 % of the arrivals");
    assert_eq!(of(Nanos::from_millis(900)).verdict.state, Invalid, "11 % of the arrivals");
    assert_eq!(of(Nanos::from_millis(1_500)).verdict.state, Invalid);
}

/// A closed loop measures a rate, which the slower side determines. The verdict says so.
#[test]
fn a_busy_generator_is_a_doubt_where_it_changes_something() {
    let busy = |run: &Run| {
        let mut run = run.clone();
        run.facts.source = RunSource::Sockets;
        let busiest_worker_cpu_ns = run.facts.elapsed_ns / 100 * 95;
        run.facts.generator = Some(GeneratorStats { threads: 1, busiest_worker_cpu_ns, ..GeneratorStats::default() });
        findings(&run)
    };
    let open = simulated(&scenario("01"));
    assert_eq!(codes(&busy(&open)), Vec::<&str>::new(), "no number shows it");
    let late = changed(&open, |record| {
        record.delay.generator_lag = Nanos::from_millis(15);
        record.actual_start = record.actual_start + Nanos::from_millis(15);
        record.end = record.end + Nanos::from_millis(15);
    });
    assert_eq!(codes(&busy(&late)), ["generator_busy", "generator_lag"]);
    let mut closed = scenario("01");
    let horizon = closed.workload.model.horizon();
    closed.workload.model = LoadModel::Closed { users: 10.into(), think_time: Nanos::ZERO, horizon };
    let found = busy(&simulated(&closed));
    assert_eq!((found.verdict.state, codes(&found)), (Suspect, vec!["generator_busy"]));
    assert!(found.verdict.reasons[0].message.contains("the server could take more"), "{:?}", found.verdict);
}

/// In a perfect run, the offered rate equals the answered rate.
#[test]
fn offered_and_answered_have_the_same_length() {
    for (rate, service_ms) in [(10.0, 2), (10.0, 200), (1_000.0, 2)] {
        let mut perfect = scenario("01");
        let LoadModel::Open(schedule) = &mut perfect.workload.model else { unreachable!() };
        schedule.profile = Profile::constant(Rate::per_second(rate).unwrap());
        perfect.service.baseline = Nanos::from_millis(service_ms);
        let mut rates = |horizon: Horizon| {
            let LoadModel::Open(schedule) = &mut perfect.workload.model else { unreachable!() };
            schedule.horizon = horizon;
            let found = findings(&simulated(&perfect));
            [found.offered_per_second.unwrap(), found.throughput_per_second.unwrap()]
        };
        let second = Horizon { duration: Some(Nanos::from_secs(1)), requests: None };
        let count = Horizon { duration: None, requests: Some(10) };
        for found in [rates(second), rates(count)].concat() {
            assert!((found / rate - 1.0).abs() < 1e-6, "{found} instead of {rate}");
        }
    }
}

/// The scheduler of a busy machine takes 30 ms now and then: worth a remark, but no reason to reject a run.
#[test]
fn a_hiccup_of_the_machine_is_at_most_suspect() {
    for name in ["01-healthy", "02", "03", "04"] {
        let run = with_pause(&simulated(&scenario(name)), Timestamp(20_000_000_000), Nanos::from_millis(30));
        let found = findings(&run);
        assert!(found.verdict.state <= Suspect, "{name}: {:?}", found.verdict);
    }
}

#[test]
fn lag_that_is_small_against_the_answers_is_no_doubt() {
    let lagging = |lag: Nanos| {
        findings(&changed(&simulated(&scenario("02")), |record| {
            record.delay.generator_lag = lag;
            record.actual_start = record.actual_start + lag;
            record.end = record.end + lag;
        }))
    };
    assert_eq!(lagging(Nanos::from_micros(50)).verdict.state, Valid);
    // The range says enough: at 1,000/s, less than a gap and less than half of the response time.
    let some = lagging(Nanos::from_micros(990));
    assert_eq!((some.verdict.state, codes(&some)), (Valid, vec![]));
    let most = lagging(Nanos::from_millis(30));
    // Even if it is large, the truth is in the range that is printed.
    assert_eq!((most.verdict.state, codes(&most)), (Suspect, vec!["generator_lag"]));
    let p50 = most.response_time.quantiles[0];
    assert_eq!((p50.without_generator_ns, p50.value_ns), (Some(10_000_000), Some(40_000_000)));
}

#[test]
fn a_hypervisor_that_took_the_processor_is_named() {
    let pause = Nanos::from_millis(1500);
    let mut paused = with_pause(&simulated(&scenario("01")), Timestamp(20_000_000_000), pause);
    for (steal_ns, named) in [(None, false), (Some(700_000_000), false), (Some(900_000_000), true)] {
        let generator = paused.facts.generator.as_mut().expect("with_pause describes the generator");
        generator.surroundings.steal_ns = steal_ns;
        let reason = &findings(&paused).verdict.reasons[0];
        assert_eq!(
            reason.message.contains("The hypervisor took 900.0ms of CPU time away"),
            named,
            "{}",
            reason.message
        );
        assert_eq!(reason.numbers.contains_key("steal_ns"), named);
    }
}

/// Pauses of a few milliseconds, and a wait of a second for one of too few connections: the wait moved p99.
#[test]
fn pauses_do_not_hide_a_longer_wait_for_a_connection() {
    let lag = Nanos::from_millis(900);
    let from = Timestamp(40_000_000_000);
    let mut waited = changed(&simulated(&scenario("01")), |record| {
        if record.intended_start >= from && record.intended_start < from + Nanos::from_secs(1) {
            record.delay.generator_lag = lag;
            record.actual_start = record.actual_start + lag;
            record.end = record.end + lag;
        }
    });
    let pauses = (1..30).map(|second| Pause { worker: 0, at_ns: second * 1_000_000_000, length_ns: 20_000_000 });
    waited.facts.generator = Some(GeneratorStats {
        threads: 1,
        pauses: pauses.collect(),
        connections_available: Some(36),
        connections_limited_by: Some(MachineLimit::OpenFiles),
        open_files_limit: Some(64),
        connections_peak: 36,
        ..GeneratorStats::default()
    });
    let found = findings(&waited);
    assert_eq!((found.verdict.state, codes(&found)), (Suspect, vec!["generator_lag"]), "{:?}", found.verdict);
    let reason = &found.verdict.reasons[0];
    assert_eq!(reason.numbers["connections"], 36);
    assert!(
        reason.message.contains("no connection left of the 36 that the limit on open files of 64 allows"),
        "{}",
        reason.message
    );
}

/// A generator that falls further and further behind causes a backlog.
#[test]
fn a_slow_generator_is_not_a_saturated_server() {
    let slow = changed(&simulated(&scenario("01")), |record| {
        let lag = Nanos(record.intended_start.0 / 4);
        record.delay.generator_lag = lag;
        record.actual_start = record.actual_start + lag;
        record.end = record.end + lag;
    });
    let found = findings(&slow);
    assert_eq!(codes(&found), ["rate_not_reached", "generator_lag"]);
    assert_eq!(found.verdict.state, Invalid, "{:?}", found.verdict);
}

/// If too few open files cause a backlog, the verdict names the limit, the number wanted and the command, not threads.
#[test]
fn too_few_open_files_are_told_as_such() {
    let held_up = |limited_by| {
        let mut slow = changed(&simulated(&scenario("01")), |record| {
            let lag = Nanos(record.intended_start.0 / 4);
            record.delay.generator_lag = lag;
            record.actual_start = record.actual_start + lag;
            // 10 ms each at 1000/s: some 10 at once.
            record.end = record.end + lag;
        });
        slow.facts.generator = Some(GeneratorStats {
            connections_available: Some(3),
            connections_limited_by: limited_by,
            connections_peak: 3,
            open_files_limit: Some(30),
            ..GeneratorStats::default()
        });
        let reason = findings(&slow).verdict.reasons.swap_remove(0);
        assert_eq!(reason.code, "rate_not_reached");
        assert!(!reason.message.contains("thread"), "{}", reason.message);
        assert_eq!(reason.numbers["connections_wanted"], 10, "{reason:?}");
        reason.message
    };
    let message = held_up(Some(MachineLimit::OpenFiles));
    for part in ["limit on open files of 30", "wanted about 10", "ulimit -n 100"] {
        assert!(message.contains(part), "{message}");
    }
    let message = held_up(Some(MachineLimit::LocalPorts));
    assert!(message.contains("local ports") && !message.contains("ulimit"), "{message}");
}

/// In a short run, even the last few arrivals, which are always a little late, are a large share.
#[test]
fn a_handful_of_arrivals_says_nothing_of_a_rate() {
    for n in 1..40 {
        let mut short = scenario("01");
        let LoadModel::Open(schedule) = &mut short.workload.model else { unreachable!() };
        schedule.horizon = Horizon { duration: None, requests: Some(n) };
        let late = changed(&simulated(&short), |record| {
            let lag = Nanos::from_micros(60);
            record.delay.generator_lag = lag;
            record.actual_start = record.actual_start + lag;
            record.end = record.end + lag;
        });
        let expected: &[&str] = if n < 6 { &["too_few_samples"] } else { &[] };
        assert_eq!(codes(&findings(&late)), expected, "{n}");
    }
}

#[test]
fn the_users_own_cap_is_named() {
    let mut capped = scenario("02");
    capped.workload.limits.connections = Some(100);
    let found = findings(&simulated(&capped));
    assert_eq!((codes(&found), found.verdict.state), (vec!["connection_wait"], Suspect));
    assert_eq!(found.verdict.reasons[0].numbers["connections"], 100);
    assert!(found.verdict.reasons[0].numbers["waited"].as_u64().unwrap() >= 900);
}

#[test]
fn the_generators_limits_are_not_the_servers_failures() {
    let failing = |every: u64, cause| {
        findings(&changed(&simulated(&scenario("01")), |record| {
            if record.index % every == 0 {
                record.outcome = Outcome::ConnectFailed(cause);
            }
        }))
    };
    let many = failing(100, Cause::NoLocalPort);
    assert_eq!((many.verdict.state, codes(&many)), (Invalid, vec!["generator_limit"]));
    let few = failing(10_000, Cause::NoFileDescriptor);
    let [ports, files] = [&many, &few].map(|found| &found.verdict.reasons[0].message);
    assert!(ports.contains("local ports") && !ports.contains("ulimit"), "{ports}");
    assert!(files.contains("ulimit -n") && !files.contains("local ports"), "{files}");
    assert_eq!((few.verdict.state, codes(&few)), (Suspect, vec!["generator_limit"]));
    assert_eq!(failing(100, Cause::Refused).verdict.state, Valid);
}

/// A run without answers is no measurement, unless the user wants to measure a failing server.
#[test]
fn a_run_without_answers_is_invalid() {
    let run = simulated(&scenario("01"));
    let with = |outcome, allow_errors| {
        let mut changed = changed(&run, |record| record.outcome = outcome);
        changed.facts.offered.allow_errors = allow_errors;
        findings(&changed)
    };
    let refused = Outcome::ConnectFailed(Cause::Refused);
    for (outcome, allowed, state) in [
        (refused, false, Invalid),
        (refused, true, Suspect),
        (Outcome::NeverIssued, false, Invalid),
        (Outcome::NeverIssued, true, Invalid),
    ] {
        let found = with(outcome, allowed);
        assert_eq!((found.verdict.state, codes(&found)), (state, vec!["no_answers"]), "{outcome:?} {allowed}");
    }
    assert!(with(refused, false).response_time.quantiles.iter().all(|quantile| quantile.no_answer));
    let nothing = findings(&recorded(&run, &[]));
    assert_eq!((nothing.verdict.state, codes(&nothing)), (Invalid, vec!["no_answers"]));
}

#[test]
fn a_run_of_error_statuses_alone_is_invalid() {
    let run = simulated(&scenario("01"));
    let one_good =
        changed(&run, |record| record.outcome = Outcome::response(if record.index == 7 { 204 } else { 404 }));
    assert_eq!(findings(&one_good).verdict.state, Valid);
    let mut all = changed(&run, |record| record.outcome = Outcome::response([404, 503][record.index as usize % 2]));
    let found = findings(&all);
    assert_eq!((found.verdict.state, codes(&found)), (Invalid, vec!["all_failed"]));
    let message = &found.verdict.reasons[0].message;
    assert!(message.contains("all 60000 answers had an error status (404, 503)"), "{message}");
    all.facts.offered.allow_errors = true;
    assert_eq!(findings(&all).verdict.state, Valid);
}

/// The duration is a minute. If a count or the user ends the run, the length is that of the arrivals.
#[test]
fn one_arrival_has_a_rate_only_in_a_time_that_was_chosen() {
    let mut run = simulated(&scenario("01"));
    let first = run.snapshot.samples.even()[..2].to_vec();
    let rates = |run: &Run, n: usize| {
        let found = findings(&recorded(run, &first[..n]));
        (found.offered_per_second, found.throughput_per_second.is_some())
    };
    let minute = |n: f64| Some(n / 60.0);
    assert_eq!([0, 1].map(|n| rates(&run, n)), [(Some(0.0), false), (minute(1.0), false)]);
    assert_eq!(rates(&run, 2), (minute(2.0), true));
    run.facts.interrupted = true;
    assert_eq!(rates(&run, 1), (minute(1.0), false), "all arrivals had been planned");
    run.facts.cut_short = Some(true);
    assert_eq!([0, 1, 2].map(|n| rates(&run, n).0.is_some()), [false, false, true]);
    (run.facts.interrupted, run.facts.offered.requests) = (false, Some(2));
    assert_eq!([0, 1, 2].map(|n| rates(&run, n).0.is_some()), [false, false, true]);
}

#[test]
fn books_that_do_not_balance_are_found() {
    let mut run = simulated(&scenario("01"));
    run.snapshot.tally.plan(1);
    let found = findings(&run);
    assert_eq!((found.verdict.state, found.verdict.reasons[0].code.as_str()), (Invalid, "books_unbalanced"));
    let mut run = simulated(&scenario("01"));
    run.snapshot.tally.responses -= 1;
    run.snapshot.tally.timed_out += 1;
    assert_eq!(codes(&findings(&run))[0], "books_unbalanced", "the distributions know better");
}

#[test]
fn the_worst_reason_comes_first_and_decides() {
    let mut capped = scenario("02");
    capped.workload.limits.connections = Some(100);
    let run = with_pause(&simulated(&capped), Timestamp(10_000_000_000), Nanos::from_secs(3));
    let found = findings(&run);
    let states: Vec<_> = found.verdict.reasons.iter().map(|reason| reason.state).collect();
    assert!(states.is_sorted_by(|a, b| a >= b), "{states:?}");
    assert_eq!(found.verdict.state, states[0]);
}
