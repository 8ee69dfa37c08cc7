//! Messages with spans, in any form. What is kept of them is bounded, and every span is counted once.
#![no_main]

use libfuzzer_sys::fuzz_target;
use truetail_fuzz::split;
use truetail_model::arrival::Arrival;
use truetail_model::record::{Outcome, RequestRecord, Samples, SamplesOptions};
use truetail_model::time::Timestamp;
use truetail_model::trace::{TraceFormat, TraceIds};
use truetail_run::{MAX_PARTS, SpanBooks};
use truetail_spans::{SpanError, SpanStore};

/// Requests of the run.
const REQUESTS: u64 = 4;

fuzz_target!(|input: &[u8]| {
    let mut store = SpanStore::new(TraceIds::new(1, TraceFormat::W3c, 1.0));
    let said = |read: Result<(), SpanError>| {
        let said = read.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(said.len() < 4_000 && !said.contains(['\n', '\u{1b}']), "{said}");
    };
    for message in split(input) {
        said(store.add_protobuf(message));
        said(store.add_json(message));
        said(store.add_file(message).map(drop));
    }
    let record = |index| {
        let arrival = Arrival { index, intended_start: Timestamp(index) };
        RequestRecord::new(arrival, arrival.intended_start, Timestamp(9), Outcome::response(200))
    };
    let records = (0..REQUESTS).map(record).collect();
    let timing = store.times(&Samples::from_parts(SamplesOptions::default(), records, 1, &[], REQUESTS));
    assert_eq!(timing.spans.as_ref().and_then(SpanBooks::imbalance), None);
    assert!(timing.names.len() <= MAX_PARTS && timing.times.len() <= REQUESTS as usize);
    assert_eq!(timing.answers + timing.without, REQUESTS);
});
