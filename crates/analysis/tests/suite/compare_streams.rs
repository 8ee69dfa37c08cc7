//! Comparisons of streams and language models whose truth is known.

use truetail_analysis::compare::{
    Change, CompareGate, Comparison, Difference, QuantileComparison, StreamFigures, compare,
};
use truetail_analysis::{StreamMetric, findings};
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{
    EndClock, GateState, GeneratorStats, LlmApi, LlmFacts, Run, RunSource, SloCounts, StreamFacts, StreamKind,
    StreamReading, StreamTally, StreamTime, StreamTimes, TokenCounts,
};

use crate::support::{queue, simulated, with_pause};

/// Differences between runs of one side, in the order of the runs.
const OF_A: [f64; 3] = [0.99, 1.0, 1.012];
const OF_B: [f64; 3] = [1.004, 0.992, 1.008];

/// Gives a run of a language model whose times are uniform between a value and its double, times `factor`.
fn of_llm(run: &Run, factor: f64) -> Run {
    let mut run = run.clone();
    let planned = run.snapshot.tally.planned;
    let mut times = StreamTimes::default();
    let uniform = [
        (StreamTime::FirstEvent, 90.0),
        (StreamTime::EventGap, 20.0),
        (StreamTime::LongestGap, 40.0),
        (StreamTime::FirstContent, 100.0),
        (StreamTime::ContentGap, 20.0),
        (StreamTime::TimePerOutputToken, 15.0),
    ];
    for (time, from_ms) in uniform {
        let value = |k: u64| Nanos((from_ms * 1e6 * factor * (1.0 + k as f64 / planned as f64)) as u64);
        (0..planned).for_each(|k| times.get_mut(time).record_n(value(k), 1));
    }
    let mut llm = LlmFacts::new(LlmApi::OpenaiChat, vec!["ttft < 150ms".to_owned()]);
    llm.tokens = TokenCounts { counted: planned, output: planned * 40, ..TokenCounts::default() };
    llm.slo = llm.slo.map(|slo| SloCounts { met: planned, ..slo });
    run.facts.stream = Some(StreamFacts {
        reading: StreamReading::new(StreamKind::Sse),
        tally: StreamTally { planned, complete: planned, ..StreamTally::default() },
        events: planned,
        bytes: Some(0),
        coalesced_gaps: 0,
        listened_ns: None,
        stamps: None,
        stalls: 0,
        llm: Some(llm),
        times,
        requests: Default::default(),
        detail: None,
    });
    run
}

fn streams(run: &mut Run) -> &mut StreamFacts {
    run.facts.stream.as_mut().expect("streams")
}

fn llm(run: &mut Run) -> &mut LlmFacts {
    streams(run).llm.as_mut().expect("a language model")
}

/// Returns three runs of a side with times of `factor`, changed by `change`.
fn side(run: &Run, of_runs: [f64; 3], factor: f64, change: impl Fn(&mut Run)) -> Vec<Run> {
    let changed = |of_run: f64| {
        let mut run = of_llm(run, of_run * factor);
        change(&mut run);
        run
    };
    of_runs.map(changed).into()
}

fn compared(a: &[Run], b: &[Run]) -> Comparison {
    let all = |runs: &[Run]| runs.iter().map(findings).collect::<Vec<_>>();
    let of_a = all(a);
    let of_b = all(b);
    let figures = |runs: &[Run], of_runs: &[truetail_run::Findings]| {
        runs.iter().zip(of_runs).map(|(run, found)| StreamFigures::of_run(run, found)).collect::<Vec<_>>()
    };
    let streams_a = figures(a, &of_a);
    let streams_b = figures(b, &of_b);
    let found = compare(&of_a.iter().collect::<Vec<_>>(), &of_b.iter().collect::<Vec<_>>());
    found.with_streams(streams_a.iter().map(Option::as_ref), streams_b.iter().map(Option::as_ref))
}

fn at(found: &Comparison, metric: StreamMetric, q: f64) -> QuantileComparison {
    *found.streams.as_ref().and_then(|streams| streams.at(metric, q)).expect("it is compared")
}

fn state(found: &Comparison, gate: &str) -> GateState {
    gate.parse::<CompareGate>().unwrap_or_else(|error| panic!("{error}")).judge(found).state
}

#[test]
fn equal_sides_show_no_difference() {
    let run = simulated(&queue(0.5, 1));
    let found = compared(&side(&run, OF_A, 1.0, |_| {}), &side(&run, OF_B, 1.0, |_| {}));
    let streams = found.streams.as_ref().expect("all runs have streams");
    let metrics: Vec<_> = streams.times.iter().map(|time| time.metric.name()).collect();
    assert_eq!(metrics, ["first-event", "event-gap", "longest-gap", "ttft", "itl", "tpot"]);
    for time in &streams.times {
        for quantile in &time.quantiles {
            // 6 000 values carry p99.9 and not p99.99.
            let expected = if quantile.q < 0.9999 { Difference::NoDifferenceShown } else { Difference::CannotTell };
            assert_eq!(quantile.difference, expected, "{:?} {quantile:?}", time.metric);
        }
    }
    assert_eq!(streams.output_tokens_per_second.map(|found| found.change), Some(Change::NoDifferenceShown));
    assert_eq!(streams.goodput.map(|found| found.change), Some(Change::NoDifferenceShown));
    for gate in ["ttft p99 worse than 10%", "goodput worse than 2%", "response-time p50 worse than 10%"] {
        assert_eq!(state(&found, gate), GateState::Holds, "{gate}");
    }
}

#[test]
fn a_fifth_is_found_in_every_time_and_has_a_direction() {
    let run = simulated(&queue(0.5, 1));
    let fast = side(&run, OF_A, 1.0, |_| {});
    let slow = side(&run, OF_B, 1.2, |_| {});
    let there = compared(&fast, &slow);
    let back = compared(&slow, &fast);
    for metric in StreamMetric::ALL {
        for q in [0.5, 0.99, 0.999] {
            let [there, back] = [&there, &back].map(|found| at(found, metric, q));
            assert_eq!((there.difference, back.difference), (Difference::Slower, Difference::Faster), "{there:?}");
            assert!(there.ratio_low < Some(1.2) && there.ratio_high > Some(1.2), "{there:?}");
        }
    }
    assert_eq!(state(&there, "ttft p99 worse than 10%"), GateState::Fails);
    assert_eq!(state(&there, "itl p50 worse than 50%"), GateState::Holds);
    assert_eq!(state(&back, "ttft p99 worse than 10%"), GateState::Holds);
    assert_eq!(there.at(0.5).map(|found| found.difference), Some(Difference::NoDifferenceShown), "only streams differ");
}

/// Nothing is known of the dependence within a run, so one run on each side has values and no interval.
#[test]
fn single_runs_have_values_and_decide_nothing() {
    let run = simulated(&queue(0.5, 1));
    let found = compared(&[of_llm(&run, 1.0)], &[of_llm(&run, 1.2)]);
    let p99 = at(&found, StreamMetric::FirstContent, 0.99);
    assert_eq!((p99.difference, p99.ratio_low, p99.ratio_high), (Difference::CannotTell, None, None));
    assert!((p99.ratio.expect("both values are known") - 1.2).abs() < 0.003, "{p99:?}");
    let gate = "ttft p99 worse than 10%".parse::<CompareGate>().unwrap().judge(&found);
    assert_eq!(gate.state, GateState::Open);
    let without = ", without an interval: streams need several runs on a side";
    assert!(gate.message.starts_with("measured +") && gate.message.ends_with(without), "{}", gate.message);
    let streams = found.streams.expect("streams");
    assert_eq!(streams.goodput.map(|found| (found.change, found.difference)), Some((Change::CannotTell, 0.0)));
    // Several runs on one side are enough.
    let several = compared(&side(&run, OF_A, 1.0, |_| {}), &[of_llm(&run, 1.2)]);
    assert_eq!(at(&several, StreamMetric::FirstContent, 0.99).difference, Difference::Slower);
}

/// A stream that stops has a gap of at least the time waited for its end.
#[test]
fn gaps_that_no_event_ended_bound_the_ratio() {
    let run = simulated(&queue(0.5, 1));
    let stops = |waited_ms: u64| {
        move |run: &mut Run| {
            let stopped = run.snapshot.tally.planned / 20;
            streams(run).times.get_mut(StreamTime::EventGapCensored).record_n(Nanos::from_millis(waited_ms), stopped);
        }
    };
    let whole = side(&run, OF_A, 1.0, |_| {});
    let waited = side(&run, OF_B, 1.0, stops(500));
    let p99 = at(&compared(&whole, &waited), StreamMetric::EventGap, 0.99);
    assert_eq!((p99.difference, p99.ratio_high), (Difference::Slower, None), "at least 12 times as slow");
    assert!(p99.ratio_low > Some(10.0), "{p99:?}");
    let p99 = at(&compared(&waited, &whole), StreamMetric::EventGap, 0.99);
    assert_eq!((p99.difference, p99.ratio_low), (Difference::Faster, None));
    let p50 = at(&compared(&whole, &waited), StreamMetric::EventGap, 0.5);
    assert!(p50.ratio_low < Some(1.017) && p50.ratio_high > Some(1.017), "the median is known: {p50:?}");
    // Waits that were given up at once may hide any gap.
    let given_up = side(&run, OF_B, 1.0, stops(1));
    let p99 = at(&compared(&whole, &given_up), StreamMetric::EventGap, 0.99);
    assert_eq!((p99.difference, p99.ratio_high), (Difference::CannotTell, None), "{p99:?}");
}

/// Both values are known, and only the interval is not. The condition says why.
#[test]
fn a_condition_without_an_interval_has_the_true_reason() {
    let run = simulated(&queue(0.5, 1));
    let message = |metric: &str, change: &dyn Fn(&mut Run)| {
        let found = compared(&side(&run, OF_A, 1.0, change), &side(&run, OF_B, 1.0, change));
        let gate = format!("{metric} p99 worse than 10%").parse::<CompareGate>().unwrap().judge(&found);
        assert_eq!(gate.state, GateState::Open, "{gate:?}");
        gate.message
    };
    let unstamped = |run: &mut Run| {
        run.facts.source = RunSource::Sockets;
        run.facts.generator = Some(GeneratorStats { end_clock: EndClock::User, ..GeneratorStats::default() });
    };
    let cut = |run: &mut Run| {
        let cut = run.snapshot.tally.planned / 20;
        streams(run).times.get_mut(StreamTime::EventGapCensored).record_n(Nanos::from_millis(500), cut);
    };
    let short = |run: &mut Run| streams(run).times = StreamTimes::default();
    let late = message("event-gap", &unstamped);
    assert!(late.starts_with("no interval: the kernel did not say when events came"), "{late}");
    let bounds = message("event-gap", &cut);
    assert!(bounds.starts_with("no interval: streams were cut, or times are missing"), "{bounds}");
    let nothing = message("event-gap", &short);
    assert!(nothing.starts_with("no interval: a run is too short for this percentile"), "{nothing}");
}

/// One pause of 600 ms delays few of 6 000 starts and gaps. If it might have delayed any, nothing could be told.
#[test]
fn a_pause_of_the_generator_moves_a_percentile_by_a_few_ranks() {
    let run = simulated(&queue(0.5, 1));
    let fast = side(&run, OF_A, 1.0, |_| {});
    let mut slow = side(&run, OF_B, 1.2, |_| {});
    let clean = compared(&fast, &slow);
    slow[0] = of_llm(&with_pause(&run, Timestamp(20_000_000_000), Nanos::from_millis(600)), 1.2 * OF_B[0]);
    let paused = compared(&fast, &slow);
    for metric in [StreamMetric::FirstContent, StreamMetric::ContentGap, StreamMetric::TimePerOutputToken] {
        let [clean, paused] = [&clean, &paused].map(|found| at(found, metric, 0.5));
        assert_eq!(paused.difference, Difference::Slower, "{metric:?} {paused:?}");
        assert!(paused.ratio_low < clean.ratio_low && paused.ratio_high >= clean.ratio_high, "{clean:?} {paused:?}");
    }
    // The pause may have made a gap shorter: its end was read late, and the next event was not.
    for metric in [StreamMetric::ContentGap, StreamMetric::EventGap, StreamMetric::LongestGap] {
        let [clean, paused] = [&clean, &paused].map(|found| at(found, metric, 0.5));
        assert!(paused.ratio_high > clean.ratio_high, "{metric:?} {clean:?} {paused:?}");
    }
}

/// After a pause, events that came during it are read at once, and the gaps between them have no value. Without a pause
/// the service sent these events together.
#[test]
fn gaps_that_a_pause_may_have_lost_count_among_the_smallest() {
    let run = simulated(&queue(0.5, 1));
    let paused = with_pause(&run, Timestamp(20_000_000_000), Nanos::from_millis(600));
    let fast = side(&run, OF_A, 1.0, |_| {});
    let with_lost = |first: &Run, lost: u64| {
        let mut slow = side(&run, OF_B, 1.2, |_| {});
        slow[0] = of_llm(first, 1.2 * OF_B[0]);
        streams(&mut slow[0]).coalesced_gaps = lost;
        llm(&mut slow[0]).coalesced_content_gaps = lost;
        compared(&fast, &slow)
    };
    for metric in [StreamMetric::EventGap, StreamMetric::ContentGap] {
        // As many gaps as have a value, and the median may be any of them.
        for (first, expected) in [(&run, Difference::Slower), (&paused, Difference::NoDifferenceShown)] {
            let p50 = at(&with_lost(first, 6_000), metric, 0.5);
            assert_eq!(p50.difference, expected, "{metric:?} {p50:?}");
        }
        let few = at(&with_lost(&paused, 60), metric, 0.5);
        let none = at(&with_lost(&paused, 0), metric, 0.5);
        assert_eq!(few.difference, Difference::Slower, "{few:?}");
        assert!(few.ratio_low < none.ratio_low && few.ratio_high > none.ratio_high, "{none:?} {few:?}");
    }
    let longest = [0, 6_000].map(|lost| at(&with_lost(&paused, lost), StreamMetric::LongestGap, 0.5));
    assert_eq!(longest[0], longest[1], "each stream has one");
}

#[test]
fn answers_without_a_first_token_count_among_the_slowest() {
    let run = simulated(&queue(0.5, 1));
    let fails = |run: &mut Run| {
        let failed = run.snapshot.tally.planned / 20;
        streams(run).times.get_mut(StreamTime::FirstContentFailed).record_n(Nanos::from_millis(3), failed);
    };
    let found = compared(&side(&run, OF_A, 1.0, |_| {}), &side(&run, OF_B, 1.0, fails));
    let p99 = at(&found, StreamMetric::FirstContent, 0.99);
    assert_eq!(p99.ratio_high, None, "the percentile falls among answers that never came: {p99:?}");
    assert_ne!(state(&found, "ttft p99 worse than 10%"), GateState::Holds);
}

/// The times of these answers may be the smallest or the largest.
#[test]
fn answers_without_a_count_of_tokens_may_be_fastest_or_slowest() {
    let run = simulated(&queue(0.5, 1));
    let uncounted = |share: u64| {
        move |run: &mut Run| {
            let unknown = run.snapshot.tally.planned / share;
            let tokens = &mut llm(run).tokens;
            tokens.counted -= unknown;
            (tokens.not_counted, tokens.unknown_time_per_output_token) = (unknown, unknown);
        }
    };
    let whole = side(&run, OF_A, 1.0, |_| {});
    let few = at(&compared(&whole, &side(&run, OF_B, 1.2, uncounted(100))), StreamMetric::TimePerOutputToken, 0.5);
    assert_eq!(few.difference, Difference::Slower, "{few:?}");
    let most = compared(&whole, &side(&run, OF_B, 1.2, uncounted(1)));
    let most = at(&most, StreamMetric::TimePerOutputToken, 0.5);
    assert!(matches!(most.difference, Difference::CannotTell | Difference::NoDifferenceShown), "{most:?}");
    let rate = |b: &[Run]| compared(&whole, b).streams.and_then(|streams| streams.output_tokens_per_second);
    let found = rate(&side(&run, OF_B, 1.0, uncounted(100))).expect("tokens");
    assert_eq!((found.change, found.ratio_high), (Change::CannotTell, None), "more tokens were made than counted");
}

#[test]
fn fewer_tokens_per_second_are_found() {
    let run = simulated(&queue(0.5, 1));
    let half = |run: &mut Run| llm(run).tokens.output /= 2;
    let found = compared(&side(&run, OF_A, 1.0, |_| {}), &side(&run, OF_B, 1.0, half));
    let rate = found.streams.and_then(|streams| streams.output_tokens_per_second).expect("tokens");
    assert_eq!(rate.change, Change::Lower);
    assert!((rate.ratio.expect("a ratio") - 0.5).abs() < 1e-6, "{rate:?}");
}

#[test]
fn goodput_is_compared_by_its_difference() {
    let run = simulated(&queue(0.5, 1));
    let met = |percent: u64, cannot_tell: u64| {
        move |run: &mut Run| {
            let planned = run.snapshot.tally.planned;
            let slo = llm(run).slo.as_mut().expect("objectives");
            (slo.met, slo.cannot_tell) = (planned * percent / 100, planned * cannot_tell / 100);
        }
    };
    let good = side(&run, OF_A, 1.0, met(99, 0));
    let share = |b: &[Run]| compared(&good, b).streams.and_then(|streams| streams.goodput).expect("goodput");
    let worse = side(&run, OF_B, 1.0, met(90, 0));
    let found = share(&worse);
    assert_eq!(found.change, Change::Lower);
    assert!((found.difference + 0.09).abs() < 1e-3 && found.difference_low < Some(-0.08), "{found:?}");
    let compared_with_worse = compared(&good, &worse);
    assert_eq!(state(&compared_with_worse, "goodput worse than 2%"), GateState::Fails);
    assert_eq!(state(&compared_with_worse, "goodput worse than 20%"), GateState::Holds);
    let gate = "goodput worse than 2%".parse::<CompareGate>().unwrap().judge(&compared_with_worse);
    assert!(gate.message.starts_with("measured -9.0 points, 95 % interval -9."), "{}", gate.message);
    assert_eq!(share(&side(&run, OF_B, 1.0, met(0, 0))).change, Change::Lower, "none met the objectives");
    // A fifth of the answers may have met the objectives.
    let found = share(&side(&run, OF_B, 1.0, met(80, 20)));
    assert_eq!(found.change, Change::NoDifferenceShown, "{found:?}");
    let both = |objectives: [&'static str; 2]| {
        let change = move |run: &mut Run| {
            llm(run).slo.as_mut().expect("objectives").objectives = objectives.map(str::to_owned).to_vec();
        };
        side(&run, OF_A, 1.0, change)
    };
    let found = compared(&both(["ttft < 1s", "tpot < 1s"]), &both(["tpot < 1s", "ttft < 1s"]));
    assert!(found.streams.is_some_and(|streams| streams.goodput.is_some()), "their order means nothing");
    let stricter = |run: &mut Run| llm(run).slo.as_mut().expect("objectives").objectives[0] = "ttft < 1ms".to_owned();
    let found = compared(&good, &side(&run, OF_B, 1.0, stricter));
    let streams = found.streams.as_ref().expect("streams");
    assert_eq!((streams.goodput, streams.objectives_differ), (None, true));
    assert_eq!(state(&found, "goodput worse than 2%"), GateState::Open);
}

/// Two runs of 20 requests that all met the objectives are a matter of chance with a true share of 95 % as well.
#[test]
fn goodput_of_short_runs_has_the_chance_within_them() {
    let run = simulated(&queue(0.5, 1));
    let met = |met: u64| {
        let change = move |run: &mut Run| {
            streams(run).tally = StreamTally { planned: 20, complete: 20, ..StreamTally::default() };
            llm(run).slo.as_mut().expect("objectives").met = met;
        };
        side(&run, OF_A, 1.0, change)[..2].to_vec()
    };
    for (of_b, expected) in [(20, GateState::Open), (19, GateState::Open), (0, GateState::Fails)] {
        let found = compared(&met(20), &met(of_b));
        assert_eq!(state(&found, "goodput worse than 2%"), expected, "{of_b} of 20: {:?}", found.streams);
    }
}

#[test]
fn a_run_without_the_figure_refuses_the_condition() {
    let run = simulated(&queue(0.5, 1));
    let model = of_llm(&run, 1.0);
    let mut events = model.clone();
    streams(&mut events).llm = None;
    for (gate, refused) in [
        ("p99 worse than 5%", [false, false, false]),
        ("event-gap p99 worse than 5%", [true, false, false]),
        ("ttft p99 worse than 5%", [true, true, false]),
        ("goodput worse than 5%", [true, true, false]),
    ] {
        let gate: CompareGate = gate.parse().unwrap_or_else(|error| panic!("{error}"));
        let objections = [&run, &events, &model].map(|run| gate.objection_to_run("before", run));
        assert_eq!(objections.clone().map(|objection| objection.is_some()), refused, "{gate}");
        for objection in objections.into_iter().flatten() {
            assert!(objection.starts_with(&format!("'{gate}' needs ")), "{objection}");
            assert!(objection.ends_with("and before has none") && !objection.contains('\n'), "{objection}");
        }
    }
    let found = compared(&[model], &[run]);
    assert!(found.only_some_have_streams);
    assert_eq!((found.streams.is_none(), state(&found, "ttft p99 worse than 5%")), (true, GateState::Open));
}

#[test]
fn conditions_that_are_none_are_refused_in_one_line() {
    for text in [
        "ttft worse than 5%",
        "ttft max worse than 5%",
        "latency p99 worse than 5%",
        "ttft p75 worse than 5%",
        "goodput p99 worse than 5%",
        "goodput worse than -5%",
        "ttft p99 > 5ms",
    ] {
        let error = text.parse::<CompareGate>().unwrap_err().to_string();
        assert!(error.starts_with(&format!("'{text}'")) && !error.contains('\n'), "{error}");
    }
}
