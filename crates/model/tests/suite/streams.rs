//! Streams and batches: exact figures, and invariants.

use proptest::prelude::*;
use truetail_model::service::{
    Batch, BatchEvent, BatchState, Fault, FaultKind, Gate, ResponsePlan, Service, ServiceState, StreamContent,
    StreamEnd, StreamFormat, StreamRequest, StreamTiming, UsageReport,
};
use truetail_model::time::{Nanos, Timestamp};

const fn ms(n: u64) -> Nanos {
    Nanos::from_millis(n)
}

const fn at_ms(n: u64) -> Timestamp {
    Timestamp(ms(n).0)
}

const BATCH: Batch = Batch { cap: 2, prefill: ms(20), step: ms(10), step_per_stream: ms(1) };

fn stall(at: u64, length: u64, gate: Gate) -> Fault {
    Fault::Stall { at: at_ms(at), length: ms(length), gate }
}

/// Returns key and milliseconds of each event. `streams` has the joining time and the number of events of each stream.
fn events(batch: Batch, faults: &[Fault], streams: &[(u64, u64)]) -> Vec<(usize, u64)> {
    let mut state = BatchState::new(batch, faults);
    streams.iter().enumerate().for_each(|(key, (ready, events))| state.join(key, at_ms(*ready), *events));
    let mut found = Vec::new();
    state.advance(Timestamp::NEVER, &mut |event| found.push((event.key, event.at.0 / 1_000_000)));
    assert!(state.is_empty() && state.next() == Timestamp::NEVER);
    found
}

#[test]
fn a_step_is_as_long_as_what_is_in_it() {
    assert_eq!(events(BATCH, &[], &[(5, 3)]), [(0, 36), (0, 47), (0, 58)]);
    // The second stream joins during a step, and its prefill makes the next step longer for both.
    assert_eq!(events(BATCH, &[], &[(0, 3), (7, 2)]), [(0, 31), (0, 63), (1, 63), (0, 75), (1, 75)]);
}

#[test]
fn who_is_ready_when_a_step_begins_is_in_it() {
    assert_eq!(events(BATCH, &[], &[(0, 1), (31, 1)]), [(0, 31), (1, 62)]);
    assert_eq!(events(BATCH, &[], &[(0, 2), (31, 1)]), [(0, 31), (0, 63), (1, 63)]);
}

#[test]
fn others_wait_in_a_queue() {
    let found = events(BATCH, &[], &[(0, 1), (1, 2), (2, 1), (3, 1)]);
    assert_eq!(found, [(0, 31), (1, 83), (2, 83), (1, 115), (3, 115)]);
}

#[test]
fn a_stall_of_arrivals_lets_nobody_in_and_stops_nobody() {
    let faults = [stall(20, 100, Gate::Arrivals)];
    let found = events(BATCH, &faults, &[(0, 4), (25, 1)]);
    assert_eq!(found, [(0, 31), (0, 42), (0, 53), (0, 64), (1, 151)]);
    // The step that begins at 119 ms is the last one without the second stream.
    let busy = events(BATCH, &faults, &[(0, 20), (25, 1)]);
    assert_eq!(busy.iter().find(|(key, _)| *key == 1), Some(&(1, 162)), "{busy:?}");
}

#[test]
fn a_stall_of_events_stops_everybody() {
    let found = events(BATCH, &[stall(40, 500, Gate::Events)], &[(0, 4), (45, 1)]);
    assert_eq!(found, [(0, 31), (0, 540), (0, 572), (1, 572), (0, 583)]);
}

#[test]
fn streams_know_what_they_met() {
    let mut state = BatchState::new(BATCH, &[stall(10, 30, Gate::Arrivals), stall(80, 20, Gate::Events)]);
    [(0, 2), (15, 3)].into_iter().enumerate().for_each(|(key, (ready, events))| state.join(key, at_ms(ready), events));
    let mut met = Vec::new();
    state.advance(at_ms(200), &mut |event| met.push((event.key, event.at, event.faults.contains(FaultKind::Stall))));
    let expected = [(0, 31, false), (0, 42, false), (1, 73, true), (1, 100, true), (1, 111, false)];
    assert_eq!(met, expected.map(|(key, at, stalled)| (key, at_ms(at), stalled)));
}

#[test]
fn a_gate_that_never_opens_ends_nothing() {
    let mut state = BatchState::new(BATCH, &[stall(10, u64::MAX / 1_000_000, Gate::Events)]);
    state.join((), at_ms(0), 1);
    state.advance(Timestamp::NEVER, &mut |event| panic!("{event:?}"));
    assert_eq!(state.next(), Timestamp::NEVER);
}

proptest! {
    #[test]
    fn it_does_not_matter_how_often_one_looks(
        cap in 1u32..5, prefill in 0u64..20, step in 1u64..10, each in 0u64..3,
        streams in prop::collection::vec((0u64..30, 1u64..12), 0..30),
        stalls in prop::collection::vec((0u64..300, 1u64..80, any::<bool>()), 0..4),
    ) {
        let batch = Batch { cap, prefill: ms(prefill), step: ms(step), step_per_stream: ms(each) };
        let gate = |arrivals| if arrivals { Gate::Arrivals } else { Gate::Events };
        let faults: Vec<Fault> = stalls.iter().map(|(at, length, arrivals)| stall(*at, *length, gate(*arrivals))).collect();
        let mut at_once = BatchState::new(batch, &faults);
        let mut often = BatchState::new(batch, &faults);
        let (mut once, mut seen): (Vec<BatchEvent<usize>>, Vec<BatchEvent<usize>>) = (Vec::new(), Vec::new());
        let mut now = 0;
        for (key, (gap, events)) in streams.iter().enumerate() {
            now += gap;
            at_once.join(key, at_ms(now), *events);
            often.advance(at_ms(now), &mut |event| seen.push(event));
            often.join(key, at_ms(now), *events);
        }
        at_once.advance(Timestamp::NEVER, &mut |event| once.push(event));
        while often.next() != Timestamp::NEVER {
            let next = often.next();
            often.advance(next, &mut |event| seen.push(event));
        }
        prop_assert_eq!(&once, &seen);
        prop_assert!(once.windows(2).all(|pair| pair[0].at <= pair[1].at));
        for (key, (_, events)) in streams.iter().enumerate() {
            let of_key: Vec<_> = once.iter().filter(|event| event.key == key).collect();
            prop_assert_eq!(of_key.len() as u64, *events);
            prop_assert!(of_key.last().unwrap().is_last && of_key.iter().filter(|event| event.is_last).count() == 1);
        }
        for step in once.chunk_by(|a, b| a.at == b.at) {
            prop_assert!(step.len() <= cap as usize);
        }
    }
}

#[test]
fn what_is_in_a_stream() {
    let content = StreamContent { events: 5, tokens: 3, ..StreamContent::default() };
    let chat = StreamRequest { format: StreamFormat::Chat, tokens: Some(7), wants_usage: true };
    let shape = |content: StreamContent, request| {
        let outline = content.outline(request);
        (outline.content, outline.tokens, outline.before, outline.after, outline.is_cut)
    };
    assert_eq!(shape(content, StreamRequest::default()), (5, 15, 0, 0, false));
    assert_eq!(shape(content, chat), (3, 7, 1, 3, false));
    assert_eq!(shape(StreamContent { usage: UsageReport::Missing, ..content }, chat), (3, 7, 1, 2, false));
    assert_eq!(shape(StreamContent { end: Some(StreamEnd::Whole), ..content }, chat), (3, 7, 1, 2, false));
    assert_eq!(shape(StreamContent { end: Some(StreamEnd::Unfinished), ..content }, chat), (3, 7, 1, 0, false));
    assert_eq!(shape(StreamContent { cut: Some(2), ..content }, chat), (2, 7, 1, 0, true));
    assert_eq!(shape(StreamContent { cut: Some(0), ..content }, chat), (0, 7, 0, 0, true));
    assert_eq!(shape(StreamContent { cut: Some(3), ..content }, chat), (3, 7, 1, 3, false));
    let completions =
        StreamRequest { format: StreamFormat::for_path("/v1/completions?x=1"), ..StreamRequest::default() };
    assert_eq!(shape(content, completions), (5, 15, 0, 2, false));
    let endless = StreamRequest { tokens: Some(u64::MAX), ..chat };
    assert_eq!(content.outline(endless).content, content.max_events());
    assert!(StreamContent { bytes: 100_000, ..content }.max_events() < 200);
}

/// Returns when the writes of a stream that is due at once leave, in milliseconds.
fn writes(timing: StreamTiming, events: u64, faults: Vec<Fault>) -> Vec<u64> {
    let mut state = ServiceState::new(Service { faults, ..Service::healthy(Nanos::ZERO) });
    let mut plan: ResponsePlan = state.admit(Timestamp::ZERO);
    let outline = StreamContent { events, ..StreamContent::default() }.outline(StreamRequest::default());
    let writes = state.stream_writes(&mut plan, &timing, &outline);
    assert_eq!(writes.iter().map(|write| write.content).sum::<u64>(), events);
    writes.iter().map(|write| write.at.0 / 1_000_000).collect()
}

#[test]
fn a_stream_of_its_own_pace_stalls_with_all_others() {
    let timing = StreamTiming { first: ms(5), ..StreamTiming::default() };
    assert_eq!(writes(timing, 4, Vec::new()), [5, 15, 25, 35]);
    assert_eq!(writes(timing, 4, vec![stall(20, 100, Gate::Events)]), [5, 15, 120, 130]);
    let own = StreamTiming { burst: 2, stall: Some((3, ms(50))), ..timing };
    assert_eq!(writes(own, 5, Vec::new()), [5, 65, 75]);
}
