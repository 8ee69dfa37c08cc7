//! Comparisons of two sides whose truth is known.

use truetail_analysis::compare::{
    CompareGate, Comparison, Difference, Interval, QuantileComparison, RunEstimate, compare, compare_estimates,
    objections,
};
use truetail_analysis::findings;
use truetail_model::random::Random;
use truetail_model::time::Nanos;
use truetail_model::workload::LoadModel;
use truetail_run::{Findings, GateState, Run};

use crate::support::{changed, queue, scenario, simulated};

fn estimate(ns: f64) -> Option<RunEstimate> {
    let value = ns.ln();
    let interval = Interval { low: Some(value - 0.02), high: Some(value + 0.02) };
    Some(RunEstimate { value, without_generator: value, highest: value, interval, at_least: false })
}

/// Makes each response time 1.2 times as long.
fn slower(run: &Run) -> Run {
    changed(run, |record| {
        let took = record.end.since(record.actual_start);
        record.end = record.actual_start + Nanos(took.0 * 6 / 5);
    })
}

fn queues(seeds: std::ops::Range<u64>) -> Vec<Run> {
    seeds.map(|seed| simulated(&queue(0.5, seed))).collect()
}

fn all_findings(runs: &[Run]) -> Vec<Findings> {
    runs.iter().map(findings).collect()
}

fn compared(a: &[Run], b: &[Run]) -> Comparison {
    let a = all_findings(a);
    let b = all_findings(b);
    compare(&a.iter().collect::<Vec<_>>(), &b.iter().collect::<Vec<_>>())
}

#[test]
fn a_run_compared_with_itself_shows_no_difference() {
    let runs = queues(0..1);
    let found = compared(&runs, &runs);
    assert!(!found.between_runs_known());
    for quantile in &found.quantiles {
        let ratio = quantile.ratio.map(|ratio| (ratio * 1e9).round() / 1e9);
        match quantile.difference {
            Difference::NoDifferenceShown => assert_eq!(ratio, Some(1.0), "{quantile:?}"),
            Difference::CannotTell => assert_eq!(ratio, None, "{quantile:?}"),
            Difference::Slower | Difference::Faster => panic!("{quantile:?}"),
        }
    }
    assert!(found.quantiles.iter().all(|quantile| quantile.q < 1.0), "the largest value says nothing of a service");
}

#[test]
fn a_fifth_is_found_and_has_a_direction() {
    let a = queues(0..5);
    let b = queues(5..10).iter().map(slower).collect::<Vec<_>>();
    let there = compared(&a, &b);
    let back = compared(&b, &a);
    assert!(there.between_runs_known());
    let p50 = there.at(0.5).unwrap();
    let reversed = back.at(0.5).unwrap();
    assert_eq!((p50.difference, reversed.difference), (Difference::Slower, Difference::Faster));
    assert!(p50.ratio_low.unwrap() < 1.2 && p50.ratio_high.unwrap() > 1.2, "{p50:?}");
    let product = p50.ratio.unwrap() * reversed.ratio.unwrap();
    assert!((product - 1.0).abs() < 1e-9, "{product}");
}

/// 300 pairs of normal estimates at the 5 % level: fewer than 1 in 1000 such counts lie outside 3 to 29 (binomial).
#[test]
fn sides_that_do_not_differ_are_called_different_in_one_of_twenty() {
    for runs in [2, 3, 5, 10] {
        let mut random = Random::new(18, runs);
        let mut normal = || (2.0 * random.exponential()).sqrt() * (std::f64::consts::TAU * random.uniform()).cos();
        let mut side = || (0..runs).map(|_| estimate(1e7 * (0.05 * normal()).exp())).collect::<Vec<_>>();
        let is_different = |_: &i32| {
            let found = compare_estimates(0.99, &side(), &side()).difference;
            matches!(found, Difference::Slower | Difference::Faster)
        };
        let different = (0..300).filter(is_different).count();
        // With two runs a side, Welch's test finds fewer differences than it might.
        let fewest = if runs == 2 { 0 } else { 3 };
        assert!((fewest..=29).contains(&different), "{runs} runs a side: {different} of 300");
    }
}

#[test]
fn what_the_generator_added_widens_the_interval() {
    let lagging = |value: f64| RunEstimate { without_generator: value - 0.3, ..estimate(value.exp()).unwrap() };
    let clean = compare_estimates(0.99, &[estimate(1e7)], &[estimate(1.2e7)]);
    let doubtful = compare_estimates(0.99, &[estimate(1e7)], &[Some(lagging(1.2e7f64.ln()))]);
    assert_eq!(clean.difference, Difference::Slower);
    assert_eq!(doubtful.difference, Difference::NoDifferenceShown);
    assert_eq!(clean.ratio, doubtful.ratio);
    assert_eq!(clean.ratio_high, doubtful.ratio_high);
}

#[test]
fn what_has_no_answer_is_not_compared() {
    let unanswered = |ns: f64| estimate(ns).map(|run| RunEstimate { at_least: true, ..run });
    let cut = compare_estimates(0.99, &[estimate(1e7)], &[unanswered(3e7)]);
    assert_eq!((cut.difference, cut.ratio_high), (Difference::Slower, None), "it is at least three times as slow");
    let unknown = compare_estimates(0.99, &[estimate(4e7)], &[unanswered(3e7)]);
    assert_eq!(unknown.difference, Difference::CannotTell);
    let cut = compare_estimates(0.99, &[unanswered(3e7)], &[estimate(1e7)]);
    assert_eq!((cut.difference, cut.ratio_low), (Difference::Faster, None), "it is at least three times as fast");
    let unknown = compare_estimates(0.99, &[unanswered(1e7)], &[estimate(1e7)]);
    assert_eq!((unknown.difference, unknown.ratio_low), (Difference::CannotTell, None));
    for (a, b) in
        [(unanswered(1e7), unanswered(1e7)), (None, estimate(1e7)), (estimate(1e7), None), (None, unanswered(1e7))]
    {
        let found = compare_estimates(0.99, &[a], &[b]);
        assert_eq!((found.difference, found.ratio), (Difference::CannotTell, None));
    }
    assert_eq!(compare_estimates(0.99, &[], &[estimate(1e7)]).difference, Difference::CannotTell);
}

/// Returns the comparison of two runs with this quantile alone.
fn between_two(quantile: QuantileComparison) -> Comparison {
    Comparison {
        runs_a: 1,
        runs_b: 1,
        confidence: 0.95,
        quantiles: vec![quantile],
        streams: None,
        only_some_have_streams: false,
    }
}

/// B's upper end is open, as after a few long queues. Its lower bound is known nevertheless, and decides a gate.
#[test]
fn an_open_end_leaves_a_bound_that_decides() {
    let open_above = |ns: f64| {
        let run = estimate(ns)?;
        Some(RunEstimate { interval: Interval { high: None, ..run.interval }, ..run })
    };
    let judged = |b_ns: f64| {
        let found = compare_estimates(0.99, &[estimate(1e7)], &[open_above(b_ns)]);
        (found, "p99 worse than 5%".parse::<CompareGate>().unwrap().judge(&between_two(found)))
    };
    let (found, gate) = judged(2e7);
    assert_eq!((found.difference, found.ratio_high, gate.state), (Difference::Slower, None, GateState::Fails));
    assert!((1.9..2.0).contains(&found.ratio_low.unwrap()), "{found:?}");
    assert_eq!(gate.message, "measured +100.0 %, 95 % interval +94.4 % … unknown");
    let (found, gate) = judged(1e7);
    assert_eq!((found.difference, gate.state), (Difference::CannotTell, GateState::Open));
    let faster = compare_estimates(0.99, &[open_above(2e7)], &[estimate(1e7)]);
    assert_eq!((faster.difference, faster.ratio_low), (Difference::Faster, None));
}

#[test]
fn a_gate_is_decided_by_the_interval() {
    let judged = |text: &str, b_ns: f64| {
        let compared = compare_estimates(0.99, &[estimate(1e7)], &[estimate(b_ns)]);
        let gate: CompareGate = text.parse().unwrap();
        gate.judge(&between_two(compared))
    };
    // The interval is ±2.8 %.
    assert_eq!(judged("p99 worse than 5%", 1.0e7).state, GateState::Holds);
    assert_eq!(judged("p99 worse than 5%", 1.04e7).state, GateState::Open);
    assert_eq!(judged("p99 worse than 5%", 1.2e7).state, GateState::Fails);
    assert_eq!(judged("p50 worse than 5%", 1.2e7).state, GateState::Open, "it is not there");
    let finding = judged("p99 worse than 5%", 1.2e7);
    assert_eq!(finding.message, "measured +20.0 %, 95 % interval +16.7 % … +23.4 %");
    assert_eq!((finding.value.map(|value| (value * 1e6).round()), finding.limit), (Some(2e5), Some(0.05)));
}

#[test]
fn conditions_that_are_none_are_refused_in_one_line() {
    for text in [
        "p99 > 50ms",
        "p99 worse than",
        "worse than 5%",
        "p99 worse than -5%",
        "p100 worse than 5%",
        "",
        "p worse than 5%",
    ] {
        let error = text.parse::<CompareGate>().unwrap_err().to_string();
        assert!(error.contains("'p99 worse than 5%'") && !error.contains('\n'), "{error}");
    }
    assert_eq!("p99.9 worse than 2.5 %".parse::<CompareGate>().unwrap().q(), Some(0.999));
}

#[test]
fn apples_are_not_compared_with_oranges() {
    let verdicts = |runs: &[Run]| all_findings(runs).into_iter().map(|found| found.verdict).collect::<Vec<_>>();
    let told = |a: &Run, b: &Run| {
        let runs = [a.clone(), b.clone()];
        let verdicts = verdicts(&runs);
        objections(&[("one", &runs[0], &verdicts[0])], &[("two", &runs[1], &verdicts[1])])
    };
    let one = simulated(&queue(0.5, 1));
    let other = simulated(&queue(0.5, 2));
    assert_eq!(told(&one, &other), Vec::<String>::new(), "seeds may differ");
    let faster = simulated(&queue(0.6, 1));
    assert_eq!(told(&one, &faster), ["the rate profile is 100/s in one and 120/s in two"]);
    let saturated = simulated(&scenario("05"));
    let found = told(&saturated, &saturated);
    assert!(found[0].contains("one is INVALID (saturated)"), "{found:?}");
    let mut elsewhere = one.clone();
    elsewhere.facts.offered.url = Some("http://127.0.0.1:2/".to_owned());
    assert_eq!(told(&one, &elsewhere), ["the URL is not set in one and http://127.0.0.1:2/ in two"]);
    let closed = |users: &str| {
        let mut closed = queue(0.5, 1);
        let horizon = closed.workload.model.horizon();
        let users = users.parse().unwrap();
        closed.workload.model = LoadModel::Closed { users, think_time: Nanos::from_millis(100), horizon };
        simulated(&closed)
    };
    let found = told(&closed("1..4/9s"), &closed("2..4/9s"));
    assert_eq!(found, ["the number of users over time is 1..4/9s in one and 2..4/9s in two"]);
    let found = told(&closed("4"), &closed("1..4/9s"));
    assert_eq!(found, ["the number of users over time is not set in one and 1..4/9s in two"]);
}
