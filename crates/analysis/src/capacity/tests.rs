//! Tests of the whole rules, with answers of known truth.

use truetail_model::time::Nanos;

use super::*;

fn limits() -> SearchLimits {
    SearchLimits {
        min_rate: 1.0,
        max_rate: 100_000.0,
        first_rate: 100.0,
        resolution: 0.05,
        confidence: 0.95,
        full_length: Nanos::from_secs(60),
        allowed: 0.01,
    }
}

/// Runs a search over simulated probes with `answer`. Returns the probes, the search and its final state.
fn run(limits: SearchLimits, answer: impl Fn(&ProbeSpec) -> Answer) -> (Vec<FinishedProbe>, Search, SearchState) {
    let mut search = Search::new(limits);
    let mut probes = Vec::new();
    for _ in 0..500 {
        match search.next_step() {
            Step::Done(state) => return (probes, search, state),
            Step::Probe(trial) => {
                assert!((limits.min_rate..=limits.max_rate).contains(&trial.rate), "{trial:?}");
                let probed = FinishedProbe { trial, answer: answer(&trial), ratio: None };
                search.record(&probed);
                probes.push(probed);
            }
        }
    }
    panic!("no end: {search:?}");
}

fn sharp(truth: f64) -> impl Fn(&ProbeSpec) -> Answer {
    move |trial| if trial.rate < truth { Answer::Meets } else { Answer::Misses }
}

#[test]
fn a_sharp_limit_is_found_and_both_ends_are_probed_again() {
    for truth in [3.0, 99.0, 100.0, 437.0, 80_000.0] {
        let (probes, search, state) = run(limits(), sharp(truth));
        assert_eq!(state, SearchState::Found, "{truth}");
        let (lower, proven) = search.proven().unwrap();
        let (upper, refuted) = search.refuted().unwrap();
        assert!(proven && refuted && lower < truth && truth <= upper && upper / lower <= 1.05 + 1e-6, "{truth}");
        let again =
            |probe: &&FinishedProbe| matches!(probe.trial.purpose, Purpose::ConfirmUpper | Purpose::ConfirmLower);
        let confirmations = probes.iter().filter(again).count();
        assert_eq!(confirmations, 2, "{probes:?}");
        assert!(probes.len() < 20, "{}", probes.len());
    }
}

#[test]
fn a_limit_outside_the_range_is_named() {
    let within = SearchLimits { min_rate: 50.0, max_rate: 1_000.0, ..limits() };
    let (_, search, state) = run(within, sharp(20.0));
    assert_eq!((state, search.refuted(), search.proven()), (SearchState::BelowRange, Some((50.0, true)), None));
    let (_, search, state) = run(within, sharp(5_000.0));
    assert_eq!((state, search.proven(), search.refuted()), (SearchState::AboveRange, Some((1_000.0, true)), None));
}

#[test]
fn a_generator_that_is_the_limit_is_never_a_capacity() {
    let (probes, search, state) =
        run(limits(), |trial| if trial.rate < 700.0 { Answer::Meets } else { Answer::GeneratorLimit });
    assert_eq!((state, search.refuted()), (SearchState::GeneratorLimit, None));
    let (rate, proven) = search.proven().unwrap();
    assert!(proven && (650.0..700.0).contains(&rate), "{rate}");
    let spoilt = |rate: f64| probes.iter().filter(|probe| probe.trial.rate == rate).count();
    assert_eq!(spoilt(800.0), 2, "a spoilt probe is repeated once");
    let (_, search, state) = run(limits(), |_| Answer::GeneratorLimit);
    assert_eq!((state, search.proven(), search.refuted()), (SearchState::GeneratorLimit, None, None));
}

#[test]
fn one_spoilt_probe_changes_nothing() {
    let made = std::cell::Cell::new(0);
    let (_, search, state) = run(limits(), |trial| {
        made.set(made.get() + 1);
        if made.get() % 3 == 0 { Answer::GeneratorLimit } else { sharp(437.0)(trial) }
    });
    assert_eq!(state, SearchState::Found);
    assert!(search.proven().unwrap().0 < 437.0 && search.refuted().unwrap().0 >= 437.0);
}

#[test]
fn probes_at_the_limit_stay_open_and_become_longer() {
    // Within 3 % of the truth, a probe of one minute stays open. At four minutes, the range is half as wide.
    let (probes, search, state) = run(limits(), |trial| {
        let blind = 0.03 * (60.0 / trial.longest.as_secs_f64()).sqrt();
        if (trial.rate / 437.0).ln().abs() < blind { Answer::Open } else { sharp(437.0)(trial) }
    });
    assert_eq!(state, SearchState::Found);
    let (lower, _) = search.proven().unwrap();
    let (upper, _) = search.refuted().unwrap();
    assert!(lower < 437.0 && 437.0 < upper && upper / lower <= 1.05 + 1e-6, "{lower} {upper}");
    assert!(probes.iter().any(|probe| probe.trial.longest > limits().full_length));
}

#[test]
fn an_end_that_does_not_hold_moves() {
    // Loads that come from below hold only up to 400, but the search itself sees 437.
    let mut search = Search::new(limits());
    let mut levels = Vec::new();
    for _ in 0..60 {
        let Step::Probe(trial) = search.next_step() else { break };
        let answer = match trial.purpose {
            Purpose::ConfirmLower => sharp(400.0)(&trial),
            Purpose::Bracket | Purpose::Refine | Purpose::ConfirmUpper => sharp(437.0)(&trial),
        };
        levels.extend((trial.purpose == Purpose::ConfirmLower).then_some(trial.level));
        search.record(&FinishedProbe { trial, answer, ratio: None });
        assert!(search.proven().is_none_or(|(rate, proven)| !proven || rate < 400.0), "{search:?}");
    }
    assert!(
        levels.len() > 1 && levels.windows(2).all(|pair| pair[1] < pair[0]),
        "each time a smaller part: {levels:?}"
    );
    assert!(levels.iter().sum::<f64>() <= 0.025, "{levels:?}");
}

/// A slope that misleads short probes about the limit. Confirmations decide ends that are far enough from it.
fn misjudged(trial: &ProbeSpec) -> (Answer, f64) {
    let ratio = (trial.rate / 437.0).powi(40);
    let distance = (trial.rate / 437.0).ln().abs();
    let shown = 0.025 * (480.0 / trial.longest.as_secs_f64()).sqrt();
    match trial.purpose {
        // All rates above 430 seem to miss.
        Purpose::Bracket | Purpose::Refine => (sharp(430.0)(trial), ratio.min(20.0)),
        _ if distance < shown => (Answer::Open, ratio),
        _ => (sharp(437.0)(trial), ratio),
    }
}

#[test]
fn a_failed_end_is_not_probed_again_nor_a_nearer_one() {
    for resolution in [0.03, 0.04, 0.06] {
        let mut search = Search::new(SearchLimits { resolution, ..limits() });
        let mut failed = Vec::<ProbeSpec>::new();
        let mut longest = Vec::new();
        let state = loop {
            let trial = match search.next_step() {
                Step::Probe(trial) => trial,
                Step::Done(state) => break state,
            };
            assert!(failed.len() < 20, "{resolution}: {failed:?}");
            let (answer, ratio) = misjudged(&trial);
            if trial.purpose.proves() {
                longest.push(trial.longest);
                // With longer probes, failed rates may be tried again.
                failed.retain(|other| other.longest == trial.longest);
                let is_nearer = |other: &ProbeSpec| match trial.purpose {
                    Purpose::ConfirmUpper => trial.rate <= other.rate,
                    _ => trial.rate >= other.rate,
                };
                let same = failed.iter().filter(|other| other.purpose == trial.purpose);
                assert!(!same.clone().any(is_nearer), "{resolution}: {trial:?} after {failed:?}");
                failed.extend((answer == Answer::Open).then_some(trial));
            }
            search.record(&FinishedProbe { trial, answer, ratio: Some(ratio) });
        };
        let (lower, proven) = search.proven().unwrap();
        let (upper, refuted) = search.refuted().unwrap();
        assert!(state == SearchState::Found && proven && refuted, "{resolution}: {search:?}");
        assert!(lower < 437.0 && 437.0 < upper && upper / lower <= 1.0 + resolution + 1e-6, "{lower} {upper}");
        // 2.5 % on either side can be shown at the first length.
        assert_eq!(longest.iter().any(|length| *length > longest[0]), resolution < 0.05, "{resolution}: {longest:?}");
    }
}

#[test]
fn a_search_goes_on_from_what_was_recorded() {
    let (probes, whole, _) = run(limits(), sharp(437.0));
    for kept in 0..=probes.len() {
        let mut search = Search::new(limits());
        probes[..kept].iter().for_each(|probe| search.record(probe));
        match search.next_step() {
            Step::Probe(trial) => assert_eq!(trial, probes[kept].trial),
            Step::Done(_) => assert_eq!((kept, &search), (probes.len(), &whole)),
        }
    }
}

fn objective(text: &str) -> Objective {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn objectives_are_shares_of_bad_requests() {
    for (text, allowed, limit) in [
        ("p99 < 50ms", 0.01, Some(50_000_000)),
        ("p99 <= 50ms", 0.01, Some(50_000_001)),
        ("p50 < 1us", 0.5, Some(1_000)),
        ("service-time p99.9 < 5ms", 0.001, Some(5_000_000)),
        ("error-rate < 0.1%", 0.001, None),
        ("unanswered < 1%", 0.01, None),
    ] {
        let objective = objective(text);
        assert!((objective.allowed() - allowed).abs() < 1e-12, "{text}");
        assert_eq!((objective.limit_ns(), objective.to_string().as_str()), (limit, text));
    }
    for (text, why) in [
        ("p99 > 50ms", "write --slo 'p99 < 50ms'"),
        ("max < 50ms", "p99.9"),
        ("mean < 50ms", "percentile"),
        ("throughput < 50/s", "finds the throughput"),
        ("check-failures < 1%", "error-rate"),
        ("error-rate < 0", "between 0 and 100%"),
        ("p99{GET /} < 50ms", "all requests"),
        ("latency < 50ms", "'latency < 50ms'"),
    ] {
        let error = text.parse::<Objective>().expect_err(text).to_string();
        assert!(error.contains(why) && !error.contains('\n'), "{error}");
    }
}

fn trial(level: f64) -> ProbeSpec {
    ProbeSpec {
        rate: 100.0,
        purpose: Purpose::Refine,
        level,
        shortest: Nanos::from_secs(10),
        longest: Nanos::from_secs(100),
    }
}

/// Looks at `n` independent requests. One in `nth` takes 60 ms, and the rest take 10 ms.
fn look_at(judge: &mut ProbeJudge, n: usize, nth: usize, outstanding: u64, overdue: u64) -> Option<Answer> {
    let times: Vec<u64> = (0..n).map(|i| if i % nth == nth / 2 { 60_000_000 } else { 10_000_000 }).collect();
    let sample = Sample { outstanding, overdue, ..objective("p99 < 50ms").sample_of_times(&times) };
    let elapsed = judge.next_look().expect("a look");
    judge.look(ProbeState { elapsed, samples: vec![sample], backlog_grows: false })
}

#[test]
fn few_bad_requests_meet_and_many_miss() {
    let answer = |n, nth| look_at(&mut ProbeJudge::new(&[objective("p99 < 50ms")], &trial(0.025)), n, nth, 0, 0);
    assert_eq!(answer(10_000, 1_000), Some(Answer::Meets));
    assert_eq!(answer(10_000, 10), Some(Answer::Misses));
    assert_eq!(answer(10_000, 100), None, "just as many as are allowed");
    assert_eq!(answer(100, 1_000), None, "too few to tell");
    assert_eq!(answer(0, 1), None);
}

#[test]
fn requests_that_have_not_ended_count_against_both_answers() {
    let answer = |nth, outstanding, overdue| {
        look_at(&mut ProbeJudge::new(&[objective("p99 < 50ms")], &trial(0.025)), 10_000, nth, outstanding, overdue)
    };
    assert_eq!(answer(1_000, 20, 0), Some(Answer::Meets));
    assert_eq!(answer(1_000, 90, 0), None, "they may all be slow");
    assert_eq!(answer(1_000, 5_000, 5_000), Some(Answer::Misses), "they are slow already");
}

#[test]
fn a_growing_backlog_misses() {
    let mut judge = ProbeJudge::new(&[objective("error-rate < 1%")], &trial(0.025));
    let sample = objective("error-rate < 1%").sample_of_times(&[0; 10_000]);
    let look = ProbeState { elapsed: Nanos::from_secs(12), samples: vec![sample], backlog_grows: true };
    assert_eq!(judge.look(look), Some(Answer::Misses));
}

#[test]
fn looks_share_one_level() {
    let mut looks = super::looks::Looks::new(Nanos::from_secs(10), Nanos::from_secs(100), 0.025);
    let mut taken = Vec::new();
    while let Some(next) = looks.next() {
        taken.push((next, looks.take(next)));
    }
    assert!((3..=8).contains(&taken.len()), "{taken:?}");
    assert_eq!(taken.last().unwrap().0, Nanos::from_secs(100));
    let sum: f64 = taken.iter().map(|(_, level)| level).sum();
    assert!((sum - 0.025).abs() < 1e-12 && taken.iter().all(|(_, level)| *level > 0.0), "{taken:?}");
    let mut late = super::looks::Looks::new(Nanos::from_secs(10), Nanos::from_secs(100), 0.025);
    assert!((late.take(Nanos::from_secs(500)) - 0.025).abs() < 1e-12 && late.next().is_none());
}
