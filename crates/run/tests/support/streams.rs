//! Example streams.

use truetail_model::record::Samples;
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{
    EventMark, FinishReason, GapLists, MAX_GAPS_OF_STREAM, RequestStream, RequestStreams, RequestTokens, SampledStream,
    StreamDetail, StreamEnding, StreamFacts, StreamKind, StreamReading, StreamTally, StreamTime,
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

/// Returns streams of the requests that are kept: one in five has no gap, and one has more than are kept.
pub fn request_streams(samples: &Samples, is_of_llm: bool) -> RequestStreams {
    let mut lists = GapLists::default();
    let kept = samples.even().iter().chain(samples.slowest_left_out()).filter(|record| record.outcome.is_response());
    let rows = kept.map(|record| {
        let gaps = if record.index == 1 { 5_000 } else { record.index as u32 % 5 };
        let listed = (gaps as usize).min(MAX_GAPS_OF_STREAM);
        lists.keep(record.index, &vec![Nanos(1_000_003); listed]);
        let of_event = RequestStream {
            gaps,
            first_event: Some(record.intended_start + Nanos(5)),
            last_event: Some(record.end),
            ..RequestStream::new(record.index, StreamEnding::InFlightAtEnd)
        };
        if !is_of_llm {
            return of_event;
        }
        let count = |place: u64| (record.index % 4 != place).then_some(place as u32);
        let tokens = RequestTokens { input: count(0), cached: count(1), output: count(2), reasoning: count(3) };
        let reasons = [Some(FinishReason::ToolCalls), Some(FinishReason::Stop), None];
        RequestStream {
            finish: reasons[record.index as usize % 3],
            first_content: of_event.first_event.filter(|_| gaps > 0),
            time_per_output_token: (gaps > 1).then_some(Nanos(7)),
            tokens,
            ..of_event
        }
    });
    RequestStreams::new(rows.collect(), lists)
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
        requests: Default::default(),
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
