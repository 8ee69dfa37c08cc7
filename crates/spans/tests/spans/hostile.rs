//! Spans that no service should send.

use proptest::prelude::*;
use prost::Message;

use crate::protobuf::{Request, ResourceSpans, ScopeSpans, Span};
use crate::support::{TestSpan, books, ids, json, of_span, parts, protobuf, spans_of, store, times_of};

fn message(spans: Vec<Span>) -> Vec<u8> {
    let scope_spans = vec![ScopeSpans { spans }];
    Request { resource_spans: vec![ResourceSpans { scope_spans, ..ResourceSpans::default() }] }.encode_to_vec()
}

#[test]
fn every_span_is_counted_once() {
    let good = of_span(&spans_of(0)[0]);
    let damaged = [
        Span { trace_id: vec![1; 15], ..good.clone() },
        Span { trace_id: Vec::new(), ..good.clone() },
        Span { span_id: vec![1; 9], ..good.clone() },
        Span { span_id: vec![0; 8], ..good.clone() },
        Span { parent_span_id: vec![1; 3], ..good.clone() },
        Span { end_time_unix_nano: 1, ..good.clone() },
        Span { start_time_unix_nano: 0, end_time_unix_nano: u64::MAX, ..good.clone() },
    ];
    let foreign = Span { trace_id: vec![7; 16], ..good.clone() };
    let stray = Span { span_id: vec![5; 8], parent_span_id: vec![6; 8], ..good.clone() };
    let not_kept = of_span(&spans_of(3)[0]);
    let all = [damaged.to_vec(), vec![foreign.clone(), foreign, stray, not_kept, good.clone(), good]].concat();
    let mut store = store();
    store.add_protobuf(&message(all)).unwrap();
    let timing = times_of(store, 1);
    let books = books(&timing);
    assert_eq!((books.received, books.used, books.damaged, books.foreign), (13, 1, 7, 2), "{books:?}");
    assert_eq!((books.without_parent, books.not_kept, books.doubled), (1, 1, 1), "{books:?}");
    assert_eq!(parts(&timing, 0), [("unknown_service/GET /", 100)]);
}

#[test]
fn a_trace_of_a_million_spans_leaves_room_for_the_others() {
    let bomb = of_span(&spans_of(0)[0]);
    let bomb: Vec<Span> = (1..=250_000u64)
        .map(|id| Span { span_id: id.to_be_bytes().to_vec(), name: id.to_string(), ..bomb.clone() })
        .collect();
    let mut store = store();
    let bomb = message(bomb);
    (0..4).for_each(|_| store.add_protobuf(&bomb).unwrap());
    store.add_protobuf(&protobuf(&spans_of(1))).unwrap();
    let timing = times_of(store, 2);
    assert_eq!((books(&timing).received, books(&timing).left_out), (1_000_004, 999_000));
    let of_other: u64 = parts(&timing, 1).iter().map(|(_, ms)| ms).sum();
    assert_eq!((of_other, timing.names.len()), (100, 8));
}

#[test]
fn empty_spans_cost_no_memory() {
    // A message of 2 bytes for each span.
    let spans = [0x12, 0].repeat(1 << 20);
    let wrapped = |inner: &[u8], key: u8| {
        let mut outer = vec![key];
        prost::encode_length_delimiter(inner.len(), &mut outer).unwrap();
        outer.extend_from_slice(inner);
        outer
    };
    let mut store = store();
    store.add_protobuf(&wrapped(&wrapped(&spans, 0x12), 0x0a)).unwrap();
    let json =
        format!("{{\"resourceSpans\":[{{\"scopeSpans\":[{{\"spans\":[{}{{}}]}}]}}]}}", "{},".repeat((1 << 20) - 1));
    store.add_json(json.as_bytes()).unwrap();
    let timing = times_of(store, 1);
    assert_eq!((books(&timing).received, books(&timing).damaged), (1 << 21, 1 << 21));
}

#[test]
fn messages_that_cannot_be_read_are_told() {
    let whole = protobuf(&spans_of(0));
    let deep = |open: &str| open.repeat(100_000);
    for (message, says) in [
        (&whole[..whole.len() - 1], "cut off"),
        (&[0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f][..], "cut off"),
        (&[0x0b], "unknown kind"),
        (&[0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], "more than ten bytes"),
    ] {
        let mut store = store();
        let error = store.add_protobuf(message).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
        let timing = times_of(store, 1);
        assert_eq!((books(&timing).unread, books(&timing).problem.as_deref()), (1, Some(error.as_str())));
    }
    for text in [
        "".to_owned(),
        "[]".to_owned(),
        "{}".to_owned(),
        "{\"data\": []}".to_owned(),
        "{\"resourceSpans\": 7}".to_owned(),
        "{\"resourceSpans\": []} x".to_owned(),
        format!("{{\"resourceSpans\": [{{\"resource\": {}", deep("{\"a\":")),
        format!("{{\"a\": {}", deep("[")),
        json(&spans_of(0)).replace("\"name\": \"SELECT\"", "\"name\": {}"),
    ] {
        let error = store().add_json(text.as_bytes()).unwrap_err().to_string();
        assert!(!error.contains('\n') && error.len() < 300, "{error}");
    }
    // A collector that was stopped leaves half a line.
    let mut half = store();
    let file = format!("{}\n{}", json(&spans_of(0)), &json(&spans_of(1))[..900]);
    assert_eq!(half.add_file(file.as_bytes()), Ok(1));
    let timing = times_of(half, 1);
    assert!(books(&timing).problem.as_ref().is_some_and(|problem| problem.starts_with("message 2: EOF")), "{timing:?}");
    for file in ["", " \n", "no spans", "{\"resourceSpans\"", "{\"result\": {\"result\": {}}}"] {
        assert!(store().add_file(file.as_bytes()).is_err(), "{file}");
    }
    let nested = format!("{}{}", "{\"result\": ".repeat(200), "}".repeat(200));
    assert!(store().add_file(nested.as_bytes()).is_err());
}

/// serde quotes the input in its reasons, and the reason goes to run.json, the page, the terminal, and the sender.
#[test]
fn a_reason_is_short_however_long_the_message() {
    let long = "x\u{9b}é\u{7f}\u{202e}".repeat(1 << 18);
    let spans = |span: &str| format!("{{\"resourceSpans\": [{{\"scopeSpans\": [{{\"spans\": [{span}]}}]}}]}}");
    for (text, place) in [
        (format!("{{\"resourceSpans\": \"{long}\"}}"), "expected an array at line 1 column"),
        (spans(&format!("{{\"name\": [\"{long}\"]}}")), "expected a string at line 1 column"),
        (spans(&format!("\"{long}\"")), "at line 1 column"),
    ] {
        let mut by_message = store();
        let mut by_file = store();
        for error in [by_message.add_json(text.as_bytes()).unwrap_err(), by_file.add_file(text.as_bytes()).unwrap_err()]
        {
            let error = error.to_string();
            assert!(error.chars().count() <= 201 && !error.contains(char::is_control), "{error}");
            assert!(error.contains(place), "{error}");
        }
        for store in [by_message, by_file] {
            let timing = times_of(store, 1);
            let problem = books(&timing).problem.as_ref().unwrap();
            assert!(problem.chars().count() <= 201 && !problem.contains(char::is_control), "{problem}");
        }
    }
    let mut refused = store();
    refused.refuse(&format!("no\n{long}"));
    let timing = times_of(refused, 1);
    let problem = books(&timing).problem.as_ref().unwrap();
    assert!(problem.starts_with("no x") && problem.chars().count() <= 201, "{problem}");
    assert_eq!((books(&timing).unread, books(&timing).received), (1, 0));
}

/// Tags, references, processes and texts of a foreign file: what is not used is dropped as it is read.
#[test]
fn a_file_cannot_fill_the_memory() {
    let trace_id = ids().trace_id(0);
    let [own, first] = [format!("{:x}", ids().own_id(0)), "7".to_owned()];
    let many = |part: &str| part.repeat(300_000);
    let reference = |span: &str| format!("{{\"traceID\": \"{trace_id}\", \"spanID\": \"{span}\"}}");
    let foreign = many("{\"traceID\": \"1\", \"spanID\": \"2\"},");
    let span = |fields: &str| {
        format!("{{\"spanID\": \"{first}\", \"startTime\": 5, \"duration\": 10, \"processID\": \"p\", {fields}}}")
    };
    let trace = format!("\"traceID\": \"{trace_id}\"");
    let references =
        format!("\"references\": [{foreign}{}, {}]", reference(&own), many(&format!("{},", reference("9"))));
    let references = references.replace(", ]", "]").replace(",]", "]");
    let tags = format!("\"tags\": [{}{{\"key\": \"span.kind\", \"value\": \"server\"}}]", many("{},"));
    let processes: String = (0..200_000).map(|nth| format!(", \"p{nth}\": {{\"serviceName\": \"s\"}}")).collect();
    let file = |span: String| {
        format!(
            "{{\"data\": [{{\"spans\": [{span}], \"processes\": {{\"p\": {{\"serviceName\": \"shop\"}}{processes}}}}}]}}"
        )
    };
    // The parent is the first reference into the trace, after many into others.
    let late = file(span(&format!("{trace}, {references}, {tags}")));
    // Before the id of their trace, only a few references are kept.
    let early = file(span(&format!("\"references\": [{}], {trace}", reference(&own))));
    for text in [late, early] {
        let mut store = store();
        assert_eq!(store.add_file(text.as_bytes()), Ok(1));
        let timing = times_of(store, 1);
        assert_eq!(timing.names, ["shop/"], "{timing:?}");
        assert_eq!((books(&timing).received, books(&timing).used), (1, 1));
    }
}

#[test]
fn a_piece_of_a_file_has_a_limit() {
    let long = "x".repeat(65 << 20);
    let before = json(&spans_of(0));
    let name = json(&spans_of(1)).replace("SELECT", &long);
    let mut by_file = store();
    assert_eq!(by_file.add_file(format!("{before}\n{name}").as_bytes()), Ok(1));
    let timing = times_of(by_file, 1);
    let problem = books(&timing).problem.as_ref().unwrap();
    assert!(problem.starts_with("message 2: 64 MiB without the end of a span"), "{problem}");
    assert_eq!((books(&timing).used, books(&timing).unread), (4, 1));
}

#[test]
fn ids_of_otlp_have_all_their_digits() {
    for (digits, damaged) in
        [("00000000000000a1", 0), ("a1", 1), ("0a1", 1), ("000000000000000a1", 1), ("00000000000000g1", 1)]
    {
        let text = json(&spans_of(0)[..1]).replace("0000000000000001", digits);
        let mut by_message = store();
        by_message.add_json(text.as_bytes()).unwrap();
        let timing = times_of(by_message, 1);
        assert_eq!((books(&timing).damaged, books(&timing).used), (damaged, 1 - damaged), "{digits}");
        let text = json(&spans_of(0)[1..2])
            .replace("\"parentSpanId\": \"0000000000000001\"", &format!("\"parentSpanId\": \"{digits}\""));
        let mut by_message = store();
        by_message.add_json(text.as_bytes()).unwrap();
        assert_eq!(books(&times_of(by_message, 1)).damaged, damaged, "parent {digits}");
    }
}

proptest! {
    #[test]
    fn any_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..300), cut in 0usize..600, at in 0usize..600) {
        let mut store = store();
        let _ = store.add_protobuf(&bytes);
        let _ = store.add_json(&bytes);
        let _ = store.add_file(bytes.as_slice());
        // Damaged at a place, and cut.
        for mut whole in [protobuf(&spans_of(0)), json(&spans_of(0)).into_bytes()] {
            let at = at % whole.len();
            whole[at] ^= bytes.first().copied().unwrap_or(1);
            whole.truncate(whole.len().saturating_sub(cut));
            let _ = store.add_protobuf(&whole);
            let _ = store.add_file(whole.as_slice());
        }
        times_of(store, 2);
    }

    /// Whatever the parents are, each span of a request is counted, and no time is longer than its span.
    #[test]
    fn any_parents_balance(parents in prop::collection::vec(0u64..12, 1..12)) {
        let first = spans_of(0)[0].clone();
        let spans: Vec<TestSpan> =
            parents.iter().zip(1..).map(|(parent, id)| TestSpan { id, parent: *parent, ..first.clone() }).collect();
        let mut store = store();
        store.add_protobuf(&protobuf(&spans)).unwrap();
        let timing = times_of(store, 1);
        prop_assert_eq!(books(&timing).received, spans.len() as u64);
    }
}
