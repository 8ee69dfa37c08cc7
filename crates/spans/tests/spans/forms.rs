//! The same spans in each form give the same times.

use truetail_run::{MAX_PARTS, ServerTiming};

use crate::support::{MS, TestSpan, books, ids, jaeger, json, parts, protobuf, spans_of, store, times_of};

/// Returns the times of the run's first two requests.
fn of(spans: &[TestSpan]) -> ServerTiming {
    let mut store = store();
    store.add_protobuf(&protobuf(spans)).unwrap();
    times_of(store, 2)
}

const EXPECTED: [(&str, u64); 4] =
    [("shop/GET /", 40), ("shop/HTTP GET", 10), ("stock/GET /stock", 20), ("stock/SELECT", 30)];

#[test]
fn every_form_gives_the_same_times() {
    let spans = [spans_of(0), spans_of(1)].concat();
    let by_protobuf = of(&spans);
    assert_eq!([parts(&by_protobuf, 0), parts(&by_protobuf, 1)], [EXPECTED, EXPECTED]);
    assert_eq!((by_protobuf.answers, by_protobuf.without, books(&by_protobuf).used), (2, 0, 8));
    let mut by_json = store();
    by_json.add_json(json(&spans).as_bytes()).unwrap();
    assert_eq!(times_of(by_json, 2), by_protobuf);
    // A file of the collector has a message in each line, and the export of Jaeger is one value in many lines.
    let lines = format!("{}\n{}\n\n", json(&spans_of(0)), json(&spans_of(1)));
    for (file, messages) in [(lines, 2), (jaeger(&spans), 1), (format!("{{\"result\": {}}}", json(&spans)), 1)] {
        let mut by_file = store();
        assert_eq!(by_file.add_file(file.as_bytes()), Ok(messages));
        assert_eq!(times_of(by_file, 2), by_protobuf, "{file}");
    }
}

/// A library that reports no kind: the service alone says that the clock is another one.
#[test]
fn another_service_has_another_clock_whatever_the_kind() {
    let mut spans = spans_of(0);
    // The clock of the stock is a second ahead, and its first span is longer than what fits by that clock.
    spans[2].start_ms = 1_010;
    spans[3].start_ms = 1_020;
    spans.iter_mut().for_each(|span| span.is_server = false);
    let mut by_json = store();
    by_json.add_json(json(&spans).as_bytes()).unwrap();
    let mut by_jaeger = store();
    by_jaeger.add_file(jaeger(&spans).as_bytes()).unwrap();
    for timing in [of(&spans), times_of(by_json, 2), times_of(by_jaeger, 2)] {
        assert_eq!(parts(&timing, 0), EXPECTED);
    }
    // Spans of one service are compared by its clock: this one lies outside its parent.
    spans[2].service = "shop";
    spans[3].service = "shop";
    assert_eq!(parts(&of(&spans), 0)[..2], [("shop/GET /", 40), ("shop/HTTP GET", 60)]);
}

#[test]
fn spans_of_one_request_may_come_in_any_order_and_twice() {
    let mut spans = spans_of(1);
    spans.reverse();
    spans.extend(spans_of(1));
    let timing = of(&spans);
    assert_eq!((parts(&timing, 1), books(&timing).doubled), (EXPECTED.to_vec(), 4));
    // Nothing is known of the other answer.
    assert_eq!((timing.answers, timing.without, timing.of(0)), (1, 1, None));
}

#[test]
fn the_names_that_explain_the_most_are_kept_in_order() {
    let mut spans = spans_of(0);
    for nth in 0..20 {
        let (start_ms, ms) = if nth == 13 { (3_600_033, 5) } else { (3_600_011 + nth, 1) };
        let id = 500 + nth;
        spans.push(TestSpan { id, parent: 4, name: format!("fetch {nth}"), start_ms, ms, ..spans[3].clone() });
    }
    let timing = of(&spans);
    assert_eq!((timing.names.len(), timing.names.last().map(String::as_str)), (MAX_PARTS, Some("other spans")));
    let parts = parts(&timing, 0);
    assert_eq!(parts.iter().map(|(_, ms)| ms).sum::<u64>(), 100, "{parts:?}");
    assert!(parts.iter().any(|(name, _)| *name == "stock/fetch 13"), "{parts:?}");
    let expected: Vec<&str> = EXPECTED.iter().map(|(name, _)| *name).collect();
    assert_eq!(timing.names[..4], expected);
}

#[test]
fn only_answers_that_asked_for_a_trace_lack_one() {
    let sampled = truetail_model::trace::TraceIds::new(0xfeed, truetail_model::trace::TraceFormat::W3c, 0.25);
    let expected = (0..100).filter(|index| sampled.is_sampled(*index)).count() as u64;
    let timing = times_of(truetail_spans::SpanStore::new(sampled), 100);
    assert_eq!((timing.answers, timing.without, ids().trace_id(3)), (0, expected, sampled.trace_id(3)));
    assert!((10..45).contains(&expected), "{expected}");
}

#[test]
fn a_name_is_one_line_of_bounded_length() {
    let mut spans = spans_of(0);
    spans[0].name = format!("a\u{1b}[31m\nb{}", "é".repeat(100));
    let timing = of(&spans);
    assert_eq!(timing.names[0], format!("shop/a [31m b{}…", "é".repeat(31)));
    assert_eq!(timing.of(0).unwrap().get(0).map(|time| time.0), Some(40 * MS));
}
