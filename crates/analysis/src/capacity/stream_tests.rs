//! Objectives about streams, with books of known content.

use truetail_model::time::{NANOS_PER_SECOND, Nanos, Timestamp};
use truetail_run::{StreamRowBooks, StreamRows, StreamTime};

use super::run_sample::SoFar;
use super::*;

fn objective(text: &str) -> Objective {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn ms(time: u64) -> Nanos {
    Nanos::from_millis(time)
}

/// Twenty streams a second for `seconds`, of ten tokens each. One in `nth` has its first token after 300 ms and one gap
/// of 90 ms, and met no objective. The others take 100 ms and 20 ms. One in `lost` brought nothing.
fn rows(seconds: u64, nth: u64, lost: u64) -> StreamRows {
    let mut rows = StreamRows::default();
    for i in 0..20 * seconds {
        let at = Timestamp(i * NANOS_PER_SECOND / 20);
        let is_lost = i % lost == lost - 1;
        let is_slow = i % nth == nth / 2;
        let complete = u64::from(!is_lost);
        let met = u64::from(!is_lost && !is_slow);
        rows.at(at).books.add(&StreamRowBooks { ended: 1, complete, met, ..StreamRowBooks::default() });
        if is_lost {
            rows.record(at, StreamTime::FirstContentFailed, ms(5));
            rows.record(at, StreamTime::FirstEventFailed, ms(5));
            continue;
        }
        rows.record(at, StreamTime::FirstContent, ms(if is_slow { 300 } else { 100 }));
        (0..9).for_each(|gap| rows.record(at, StreamTime::ContentGap, ms(if is_slow && gap == 4 { 90 } else { 20 })));
        rows.record(at, StreamTime::TimePerOutputToken, ms(20));
        rows.record(at, StreamTime::LastEvent, ms(300));
    }
    rows
}

fn whole(text: &str, rows: &StreamRows) -> (u64, u64, u64) {
    let snapshot = Default::default();
    let so_far = SoFar { snapshot: &snapshot, streams: Some(rows) };
    let due = rows.sum().books.ended;
    let end = Timestamp(rows.count() * rows.width().0);
    let sample = objective(text).sample_so_far(so_far, end, due);
    assert_eq!(sample.outstanding, 0, "{text}");
    (sample.whole.requests, sample.whole.bad, sample.whole.surely_bad)
}

#[test]
fn bad_streams_and_bad_gaps_are_counted_exactly() {
    // 600 streams: 60 slow, 12 lost, and none both.
    let rows = rows(30, 10, 50);
    for (text, counted) in [
        ("ttft p99 < 200ms", (600, 72, 72)),
        ("ttft p99 < 99ms", (600, 600, 600)),
        ("ttft p99 < 301ms", (600, 12, 12)),
        // 588 streams of nine gaps, and one for each lost stream.
        ("itl p99 < 50ms", (588 * 9 + 12, 72, 72)),
        ("tpot p99 < 50ms", (600, 12, 12)),
        ("incomplete-streams < 1%", (600, 12, 12)),
        ("goodput > 99%", (600, 72, 72)),
    ] {
        assert_eq!(whole(text, &rows), counted, "{text}");
    }
}

#[test]
fn unknown_values_are_bad_and_not_surely_bad() {
    let mut rows = rows(10, 10, 1_000_000);
    let unknown = StreamRowBooks {
        ended: 7,
        complete: 7,
        cannot_tell: 7,
        unknown_time_per_output_token: 7,
        unknown_content_gaps: 7,
        ..StreamRowBooks::default()
    };
    rows.at(Timestamp(0)).books.add(&unknown);
    assert_eq!(whole("tpot p99 < 50ms", &rows), (207, 7, 0));
    assert_eq!(whole("itl p99 < 50ms", &rows), (200 * 9 + 7, 20 + 7, 20));
    assert_eq!(whole("goodput > 99%", &rows), (207, 27, 20));
}

fn answer(texts: &[&str], rows: &StreamRows) -> (Option<Answer>, Vec<Answer>) {
    let objectives: Vec<Objective> = texts.iter().map(|text| objective(text)).collect();
    let trial = ProbeSpec {
        rate: 20.0,
        purpose: Purpose::Refine,
        level: 0.025,
        shortest: Nanos::from_secs(10),
        longest: Nanos::from_secs(100),
    };
    let mut judge = ProbeJudge::new(&objectives, &trial);
    let snapshot = Default::default();
    let so_far = SoFar { snapshot: &snapshot, streams: Some(rows) };
    let end = Timestamp(rows.count() * rows.width().0);
    let due = rows.sum().books.ended;
    let samples = objectives.iter().map(|objective| objective.sample_so_far(so_far, end, due)).collect();
    let answer = judge.look(ProbeState { elapsed: Nanos::from_secs(50), samples, backlog_grows: false });
    (answer, judge.each_objective().iter().map(|each| each.answer).collect())
}

#[test]
fn a_probe_says_which_objective_broke() {
    use Answer::{Meets, Misses, Open};
    let slow = rows(50, 10, 1_000_000);
    let texts = ["tpot p99 < 50ms", "ttft p95 < 200ms", "goodput > 95%", "itl p95 < 50ms"];
    assert_eq!(answer(&texts, &slow), (Some(Misses), vec![Meets, Misses, Misses, Meets]));
    let healthy = rows(50, 200, 1_000_000);
    assert_eq!(answer(&texts, &healthy), (Some(Meets), vec![Meets; 4]));
    // As many as are allowed: no answer.
    let at_the_limit = rows(50, 20, 1_000_000);
    assert_eq!(answer(&texts[1..2], &at_the_limit), (None, vec![Open]));
    let objective = objective("ttft p95 < 200ms");
    assert_eq!((objective.time_name(), objective.limit_ns()), (Some("ttft p95"), None));
}

#[test]
fn streams_under_way_count_with_as_many_values_as_others_have() {
    let rows = rows(10, 1_000_000, 1_000_000);
    let snapshot = Default::default();
    let so_far = SoFar { snapshot: &snapshot, streams: Some(&rows) };
    let end = Timestamp(10 * NANOS_PER_SECOND);
    let outstanding = |text: &str| objective(text).sample_so_far(so_far, end, 230).outstanding;
    assert_eq!((outstanding("ttft p99 < 200ms"), outstanding("itl p99 < 50ms")), (30, 270));
    // The slowest complete stream took 300 ms, and its end may be unseen for another 250 ms.
    let before = objective("ttft p99 < 200ms").judged_before(so_far, Timestamp(10 * NANOS_PER_SECOND));
    assert_eq!(before, Timestamp(9_250_000_000));
}

#[test]
fn goodput_takes_the_limits_of_percentiles() {
    let each = |text: &str| objective(text).for_each_request();
    assert_eq!(each("ttft p99 < 200ms").as_deref(), Some("ttft < 200ms"));
    assert_eq!(each("tpot p50 <= 1500us").as_deref(), Some("tpot <= 1500us"));
    assert_eq!((each("itl p99 < 50ms"), each("p99 < 50ms"), each("goodput > 99%")), (None, None, None));
    assert!((objective("goodput > 99%").allowed() - 0.01).abs() < 1e-12 && objective("goodput > 99%").is_about_llm());
    for (text, why) in [
        ("goodput < 99%", "write --slo 'goodput > 99%'"),
        ("goodput > 100%", "between 0 and 100%"),
        ("itl max < 1s", "p99.9"),
        ("ttft mean < 1s", "percentile"),
    ] {
        let error = text.parse::<Objective>().expect_err(text).to_string();
        assert!(error.contains(why) && !error.contains('\n'), "{error}");
    }
}
