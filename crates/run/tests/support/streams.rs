//! Example streams.

use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{
    EventMark, SampledStream, StreamDetail, StreamEnding, StreamFacts, StreamKind, StreamReading, StreamTally,
    StreamTime,
};

/// Returns the detail of streams, `complete` of them complete.
fn detail(complete: u64) -> StreamDetail {
    let mut detail = StreamDetail::default();
    for number in 0..2 * complete {
        detail
            .gaps
            .record(Timestamp(number * 10_000_000), Nanos(if number % 2 == 0 { 10_000_003 } else { 700_000_003 }));
    }
    (0..2).for_each(|second| detail.gaps.record_open(Timestamp(second * 1_000_000_000)));
    for number in 0..50 {
        let intended_start_ns = number * 1_000_000;
        let end_ns = intended_start_ns + 9_000_000;
        let stream = SampledStream {
            intended_start_ns,
            actual_start_ns: intended_start_ns + 1,
            end_ns,
            ending: StreamEnding::Cut,
            first_content_ns: Some(intended_start_ns + 7),
            marks: vec![EventMark { from_ns: intended_start_ns + 7, to_ns: end_ns, events: 4, coalesced: 1 }],
        };
        let length_ns = end_ns - intended_start_ns;
        let instants_ns = [intended_start_ns, intended_start_ns + 1, end_ns];
        detail.sampled.offer_with(length_ns, instants_ns, || stream);
    }
    detail
}

/// Returns the streams of `planned` arrivals: two were cut after one event each, and three had no event.
pub fn streams(planned: u64) -> StreamFacts {
    let complete = planned - 5;
    let mut facts = StreamFacts {
        reading: StreamReading {
            stall_ns: Some(500_000_000),
            end_mark: Some("[DONE]".to_owned()),
            ..StreamReading::new(StreamKind::Sse)
        },
        tally: StreamTally { planned, complete, cut: 2, idle: 3, ..StreamTally::default() },
        events: complete * 4 + 2,
        bytes: Some(12_345),
        coalesced_gaps: complete,
        listened_ns: None,
        stamps: None,
        stalls: 7,
        llm: None,
        times: Default::default(),
        detail: Some(detail(complete)),
    };
    for (time, value, count) in [
        (StreamTime::FirstEvent, 1_234_567, planned - 3),
        (StreamTime::FirstEventCensored, 5_000_000_001, 3),
        (StreamTime::LastEvent, 9_000_000_007, complete),
        (StreamTime::EventGap, 10_000_003, complete),
        (StreamTime::EventGap, 700_000_003, complete),
        (StreamTime::EventGapCensored, 800_000_003, 2),
        (StreamTime::LongestGap, 700_000_003, complete),
        (StreamTime::LongestGapCensored, 800_000_003, 2),
    ] {
        facts.times.get_mut(time).record_n(Nanos(value), count);
    }
    facts
}
