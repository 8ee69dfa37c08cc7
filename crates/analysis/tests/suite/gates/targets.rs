//! Gates on targets and checks, and the outcome of all gates of a run.

use super::*;

/// The run as two targets: every third arrival requests the second and takes twice as long.
fn two_targets() -> Run {
    let mut run = changed(&healthy(), |record| {
        if record.index % 3 == 2 {
            record.end = record.end + Nanos::from_millis(10);
        }
    });
    let target =
        |path: &str| MixTarget { method: "GET".into(), url: format!("http://h:1{path}"), weight: 1, name: None };
    let targets = vec![target("/fast"), target("/slow")];
    let mut books: Vec<TargetBooks> = targets
        .iter()
        .map(|target| TargetBooks {
            method: target.method.clone(),
            url: target.url.clone(),
            tally: Default::default(),
            statuses: Default::default(),
        })
        .collect();
    let mut times = vec![TargetTimes::default(); 2];
    for record in run.snapshot.samples.even() {
        let number = usize::from(record.index % 3 == 2);
        books[number].tally.plan(1);
        books[number].tally.count(record.outcome);
        *books[number].statuses.entry(200).or_default() += 1;
        times[number].record(record);
    }
    run.facts.by_target = books;
    run.snapshot.targets = times;
    run.facts.offered.mix = Some(Mix { targets, rows: 0, order: None, seed: Some(1), hash: "0".repeat(16) });
    run
}

#[test]
fn each_target_has_its_own_times_and_gates() {
    let run = two_targets();
    let found = findings(&run);
    let named: Vec<_> = found.targets.iter().map(|target| target.name.as_str()).collect();
    assert_eq!(named, ["GET /fast", "GET /slow"]);
    let p50 = |number: usize| found.targets[number].response_time.quantiles[0].value_ns.map(|ns| ns / 1_000_000);
    assert_eq!((p50(0), p50(1)), (Some(10), Some(20)));
    assert_eq!(found.targets.iter().map(|target| target.response_time.count).sum::<u64>(), found.response_time.count);
    for (text, expected) in [
        ("p99{GET /fast} > 15ms", GateState::Holds),
        ("p99{GET /slow} > 15ms", GateState::Fails),
        ("mean{GET /fast} > 11ms", GateState::Holds),
        ("max{GET /slow} > 15ms", GateState::Fails),
        ("service-time p97.5{GET /slow} > 15ms", GateState::Fails),
        ("error-rate{GET /slow} > 0", GateState::Holds),
        ("throughput{GET /slow} < 500/s", GateState::Fails),
        ("p99{GET /none} > 1ms", GateState::Open),
    ] {
        assert_eq!(judged(text, &run, &found).state, expected, "{text}");
    }
    let mut lost = run.clone();
    lost.snapshot.targets.clear();
    let open = judged("p99{GET /slow} > 15ms", &lost, &findings(&lost));
    assert_eq!(open.state, GateState::Open);
    assert_eq!(state("error-rate{GET /slow} > 0", &lost), GateState::Holds, "its books are there");
}

#[test]
fn failed_answers_of_several_checks_are_bounded() {
    let mut run = healthy();
    let check = |text: &str, failed| CheckCounts { text: text.into(), passed: 60_000 - failed, failed };
    run.facts.checks = vec![check("status == 200", 600), check("body contains \"ok\"", 300)];
    for (text, expected) in [
        ("check-failures > 0.5%", GateState::Fails),
        ("check-failures > 1.2%", GateState::Open),
        ("check-failures > 1.5%", GateState::Holds),
    ] {
        assert_eq!(state(text, &run), expected, "{text}");
    }
    let between = judged("check-failures > 1.2%", &run, &findings(&run));
    assert!(between.message.starts_with("measured 1% to 1.5%; "), "{}", between.message);
}

#[test]
fn the_outcome_of_a_run() {
    let run = healthy();
    let mut found = findings(&run);
    assert_eq!(outcome(&run, &found), RunOutcome::Passed);
    let invalid = with_reason(&found, "generator_lag", VerdictState::Invalid);
    assert_eq!(outcome(&run, &invalid), RunOutcome::Open, "no gate was asked for");
    let mut decided = invalid.clone();
    decided.gates = judge_all(&[gate("p99 > 50ms")], &run, &decided);
    assert_eq!(outcome(&run, &decided), RunOutcome::Passed, "a gate that the bounds decide is decided");
    decided.gates = judge_all(&[gate("p99 > 50ms"), gate("p99{GET /none} > 1ms")], &run, &decided);
    assert_eq!(outcome(&run, &decided), RunOutcome::Open);
    decided.gates = judge_all(&[gate("p99{GET /none} > 1ms"), gate("p99 > 1ms")], &run, &decided);
    assert_eq!(outcome(&run, &decided), RunOutcome::Failed);
    let mut checked = run.clone();
    checked.facts.checks = vec![CheckCounts { text: "status == 200".into(), passed: 59_999, failed: 1 }];
    assert_eq!(outcome(&checked, &found), RunOutcome::Failed, "a check failed");
    found.gates = judge_all(&[gate("check-failures > 1%")], &checked, &found);
    assert_eq!(outcome(&checked, &found), RunOutcome::Passed, "so few are tolerated");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// In any run, a higher limit never turns a pass into a failure, and decisions hold at both ends of the bracket.
    #[test]
    fn decisions_of_a_run_are_monotone_and_agree_with_both_ends(
        seed in any::<u64>(), lag_ms in 0u64..40, unanswered in 2u64..40, code in 0usize..6, a in 1u64..80, b in 1u64..80,
    ) {
        let mut few = scenario("01");
        set_horizon(&mut few, Horizon { duration: None, requests: Some(500) });
        let run = changed(&simulated(&few), |record| {
            let mixed = record.index.wrapping_mul(seed | 1) >> 7;
            let lag = Nanos::from_millis(mixed % (lag_ms + 1));
            record.delay.generator_lag += lag;
            record.actual_start = record.actual_start + lag;
            record.end = record.end + lag;
            if mixed.is_multiple_of(unanswered) {
                record.outcome = Outcome::TimedOut;
            }
        });
        let found = findings(&run);
        let code = ["generator_lag", "generator_paused", "rate_not_reached", "saturated", "books_unbalanced", "no_answers"][code];
        let found = with_reason(&found, code, VerdictState::Invalid);
        for metric in ["p50", "p90", "max", "mean", "service-time p50", "service-time mean"] {
            let at = |limit: u64| judged(&format!("{metric} > {limit}ms"), &run, &found).state;
            prop_assert!(at(a.min(b)) >= at(a.max(b)), "{} {}", metric, code);
        }
        let p50 = found.response_time.quantiles[0];
        let ends = [p50.without_generator_ns, p50.value_ns.filter(|_| !p50.at_least)];
        let decided = judged(&format!("p50 > {a}ms"), &run, &found).state;
        for end in ends.into_iter().flatten() {
            let meets = end > a * 1_000_000;
            prop_assert!(decided == GateState::Open || (decided == GateState::Fails) == meets, "{:?} {:?}", decided, p50);
        }
    }
}

#[test]
fn a_run_without_samples_decides_the_same() {
    let run = healthy();
    let mut lost = run.clone();
    lost.snapshot.samples =
        Samples::from_parts(SamplesOptions::NONE, Vec::new(), 1, &[], run.snapshot.samples.offered());
    for text in ["p99 > 50ms", "p99 > 5ms", "mean > 9ms", "throughput < 500/s", "service-time p97 > 50ms"] {
        assert_eq!(state(text, &lost), state(text, &run), "{text}");
    }
    assert!(lost.snapshot.metric(Metric::ResponseTime).count() > 0);
}
