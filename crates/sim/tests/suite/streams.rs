//! Streams in virtual time: exact figures, and books that always balance.

use crate::common::*;
use proptest::prelude::*;
use truetail_model::service::{
    Batch, Fault, Gate, Selector, Service, StreamContent, StreamDescription, StreamEnd, StreamPace, StreamTiming,
};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::{Limits, LoadModel};
use truetail_run::{RequestStream, Run, StreamFacts, StreamTime};
use truetail_sim::{SimOptions, simulate, simulate_on};

fn streaming(content: StreamContent, pace: StreamPace, faults: Vec<Fault>) -> Service {
    Service { stream: Some(StreamDescription { content, pace }), faults, ..Service::healthy(ms(10)) }
}

fn of_events(events: u64) -> StreamContent {
    StreamContent { events, ..StreamContent::default() }
}

fn alone(first: u64, gap: u64) -> StreamPace {
    StreamPace::Independent(StreamTiming { first: ms(first), gap: ms(gap), ..StreamTiming::default() })
}

fn books(run: &Run) -> &StreamFacts {
    let streams = run.facts.stream.as_ref().expect("the service streams");
    assert_eq!(run.facts.imbalance_of_streams(run.snapshot.tally.planned), None, "{streams:?}");
    let detail = streams.detail.as_ref().expect("what is drawn of them");
    let of = |time: StreamTime| streams.times.get(time).count();
    assert_eq!((detail.gaps.gaps(), detail.gaps.open()), (of(StreamTime::EventGap), of(StreamTime::EventGapCensored)));
    let gaps = |row: &RequestStream| streams.requests.gaps_of(row.index).expect("they are few").len() as u64;
    assert_eq!(streams.requests.all().iter().map(gaps).sum::<u64>(), of(StreamTime::EventGap));
    let begun = streams.requests.all().iter().filter(|row| row.first_event.is_some()).count() as u64;
    assert_eq!(begun, of(StreamTime::FirstEvent));
    streams
}

/// Returns count, smallest and largest, in milliseconds.
fn times(streams: &StreamFacts, time: StreamTime) -> (u64, f64, f64) {
    let times = streams.times.get(time);
    let in_ms = |time: Option<Nanos>| time.map_or(0.0, Nanos::as_millis_f64);
    (times.count(), in_ms(times.min()), in_ms(times.max()))
}

fn ten(service: Service, limits: Limits) -> Run {
    run(&scenario(service, workload(even(10.0, for_requests(10)), limits)))
}

#[test]
fn the_times_of_a_plain_stream_are_those_of_its_description() {
    let run = ten(streaming(of_events(5), alone(5, 10), vec![]), unlimited(ms(10_000)));
    let streams = books(&run);
    assert_eq!((streams.tally.complete, streams.events, streams.coalesced_gaps), (10, 50, 0));
    assert_eq!(times(streams, StreamTime::FirstEvent), (10, 15.0, 15.0));
    assert_eq!(times(streams, StreamTime::EventGap), (40, 10.0, 10.0));
    assert_eq!(times(streams, StreamTime::LongestGap), (10, 10.0, 10.0));
    assert_eq!(times(streams, StreamTime::LastEvent), (10, 55.0, 55.0));
    assert_eq!(response_times(&run), [55_000_000; 10]);
}

#[test]
fn events_that_come_at_once_are_no_gaps() {
    let timing = StreamTiming { gap: ms(10), burst: 3, ..StreamTiming::default() };
    let content = StreamContent { end: Some(StreamEnd::Done), ..of_events(7) };
    let run = ten(streaming(content, StreamPace::Independent(timing), vec![]), unlimited(ms(10_000)));
    let streams = books(&run);
    // Writes of 3, 3 and 1 events, and the mark with the last.
    assert_eq!((streams.events, streams.coalesced_gaps), (80, 50));
    assert_eq!(times(streams, StreamTime::EventGap), (20, 10.0, 10.0));
}

#[test]
fn a_stall_of_events_is_a_gap_of_each_affected_stream() {
    let stall = Fault::Stall { at: at_ms(320), length: ms(500), gate: Gate::Events };
    let run = ten(streaming(of_events(5), alone(0, 10), vec![stall]), unlimited(ms(10_000)));
    let streams = books(&run);
    // The event of request 3 at 310 ms has left. Its next events, and all events up to request 8, leave from 820 ms on.
    assert_eq!(times(streams, StreamTime::EventGap), (40, 10.0, 510.0));
    assert_eq!(streams.times.get(StreamTime::EventGap).buckets().filter(|(gap, _)| gap.0 > ms(400).0).count(), 1);
    assert_eq!(times(streams, StreamTime::FirstEvent), (10, 10.0, 420.0));
}

#[test]
fn how_streams_end_is_in_the_books() {
    let of = |content: StreamContent| {
        let run = ten(streaming(content, alone(0, 10), vec![]), unlimited(ms(10_000)));
        let tally = books(&run).tally;
        (tally.complete, tally.unfinished, tally.cut)
    };
    assert_eq!(of(of_events(3)), (10, 0, 0));
    assert_eq!(of(StreamContent { end: Some(StreamEnd::Unfinished), ..of_events(3) }), (0, 10, 0));
    assert_eq!(of(StreamContent { cut: Some(2), ..of_events(3) }), (0, 0, 10));
    assert_eq!(of(StreamContent { cut: Some(0), ..of_events(3) }), (0, 0, 10));
    // A language model marks the end of its stream.
    let model = |end| {
        let service = streaming(StreamContent { end, ..of_events(3) }, alone(0, 10), vec![]);
        let mut scenario = scenario(service, workload(even(10.0, for_requests(10)), unlimited(ms(10_000))));
        scenario.path = "/v1/chat/completions".to_owned();
        let run = run(&scenario);
        (books(&run).tally.complete, books(&run).tally.unfinished, books(&run).events)
    };
    assert_eq!(model(None), (10, 0, 60));
    assert_eq!(model(Some(StreamEnd::Whole)), (0, 10, 50));
}

#[test]
fn an_error_is_no_stream_and_a_timeout_is_censored() {
    let error = Fault::ErrorStatus {
        status: 503,
        immediately: true,
        select: Selector { every: Some(2), ..Selector::default() },
    };
    let limits = Limits { timeout: Some(ms(35)), ..unlimited(ms(10_000)) };
    let run = ten(streaming(of_events(5), alone(0, 10), vec![error]), limits);
    let streams = books(&run);
    assert_eq!((streams.tally.not_a_stream, streams.tally.timed_out), (5, 5));
    // Events at 10, 20 and 30 ms of 35 ms.
    assert_eq!(streams.events, 15);
    assert_eq!(times(streams, StreamTime::EventGapCensored), (5, 5.0, 5.0));
    assert_eq!(times(streams, StreamTime::LongestGapCensored), (5, 10.0, 10.0));
}

const BATCH: Batch = Batch { cap: 2, prefill: ms(20), step: ms(10), step_per_stream: ms(1) };

#[test]
fn in_a_batch_a_stream_depends_on_the_others() {
    let service = streaming(of_events(3), StreamPace::Batched(BATCH), vec![]);
    let one = run(&scenario(service.clone(), workload(even(1.0, for_requests(5)), unlimited(ms(10_000)))));
    assert_eq!(times(books(&one), StreamTime::FirstEvent), (5, 41.0, 41.0));
    assert_eq!(times(books(&one), StreamTime::EventGap), (10, 11.0, 11.0));
    // The streams are ready at 10 and 30 ms. Steps end at 41, 73, 85 and 96 ms.
    let two = run(&scenario(service, workload(even(50.0, for_requests(2)), unlimited(ms(10_000)))));
    assert_eq!(times(books(&two), StreamTime::FirstEvent), (2, 41.0, 53.0));
    assert_eq!(times(books(&two), StreamTime::EventGap), (4, 11.0, 32.0));
    assert_eq!(response_times(&two), [76_000_000, 85_000_000]);
}

#[test]
fn a_client_that_gives_up_keeps_its_place_in_the_batch() {
    let service = streaming(of_events(100), StreamPace::Batched(Batch { cap: 1, ..BATCH }), vec![]);
    let limits = Limits { timeout: Some(ms(200)), ..unlimited(ms(60_000)) };
    let run = run(&scenario(service, workload(even(100.0, for_requests(3)), limits)));
    let streams = books(&run);
    assert_eq!((streams.tally.timed_out, streams.tally.planned), (3, 3));
    // The first stream has events from 41 ms on, every 11 ms; the other streams have no event.
    assert_eq!(streams.events, 1 + (200 - 41) / 11);
    assert_eq!(times(streams, StreamTime::FirstEventCensored), (2, 200.0, 200.0));
}

#[test]
fn what_the_batch_has_not_ended_is_in_flight_at_the_end() {
    let endless = Fault::Stall { at: Timestamp::ZERO, length: Nanos::from_secs(3600), gate: Gate::Events };
    let service = streaming(of_events(3), StreamPace::Batched(BATCH), vec![endless]);
    let run = run(&scenario(service, workload(even(100.0, for_requests(7)), unlimited(ms(1_000)))));
    assert_eq!(books(&run).tally.in_flight_at_end, 7);
    assert_eq!(run.snapshot.tally.in_flight_at_end, 7);
}

#[test]
fn machines_that_share_a_load_share_the_batch() {
    let service = streaming(of_events(8), StreamPace::Batched(BATCH), vec![]);
    let scenario = scenario(service, workload(even(40.0, for_requests(60)), unlimited(ms(60_000))));
    let whole = simulate(&scenario, SimOptions::default()).unwrap();
    let parts = simulate_on(3, &scenario, SimOptions::default()).unwrap();
    let mut sum = books(&parts[0]).clone();
    parts[1..].iter().for_each(|part| sum.merge(books(part)));
    assert_eq!(&sum, books(&whole));
}

fn pace() -> impl Strategy<Value = StreamPace> {
    let timing = (0u64..50, 0u64..30, prop::option::of(any::<u64>()), 1u64..4, prop::option::of((0u64..8, 1u64..300)));
    let timing = timing.prop_map(|(first, gap, seed, burst, stall)| {
        let stall = stall.map(|(event, length)| (event, ms(length)));
        StreamPace::Independent(StreamTiming {
            first: ms(first),
            gap: ms(gap),
            seed,
            burst,
            trickle: Nanos::ZERO,
            stall,
        })
    });
    let batch = (1u32..6, 0u64..20, 1u64..10, 0u64..3).prop_map(|(cap, prefill, step, each)| {
        StreamPace::Batched(Batch { cap, prefill: ms(prefill), step: ms(step), step_per_stream: ms(each) })
    });
    prop_oneof![timing, batch]
}

fn service() -> impl Strategy<Value = Service> {
    let end = prop_oneof![Just(None), Just(Some(StreamEnd::Done)), Just(Some(StreamEnd::Unfinished))];
    let content = (0u64..12, prop::option::of(0u64..12), end);
    let stalls = prop::collection::vec((0u64..900, 1u64..300, prop::sample::select(&Gate::ALL[..])), 0..3);
    let bad = prop::option::of((1u64..5, any::<bool>()));
    (content, pace(), stalls, bad).prop_map(|((events, cut, end), pace, stalls, bad)| {
        let mut faults: Vec<Fault> = stalls
            .into_iter()
            .map(|(at, length, gate)| Fault::Stall { at: at_ms(at), length: ms(length), gate })
            .collect();
        faults.extend(bad.map(|(every, resets)| {
            let select = Selector { every: Some(every), ..Selector::default() };
            if resets { Fault::Reset { select } } else { Fault::BlackHole { select } }
        }));
        streaming(StreamContent { cut, end, ..of_events(events) }, pace, faults)
    })
}

fn load() -> impl Strategy<Value = LoadModel> {
    prop_oneof![
        (5.0..120.0, any::<u64>()).prop_map(|(rate, seed)| poisson(rate, seed, for_secs(1))),
        (5.0..120.0).prop_map(|rate| even(rate, for_secs(1))),
        (1u32..6, 1u64..50).prop_map(|(users, think)| closed(users, ms(think), for_secs(1))),
    ]
}

proptest! {
    #[test]
    fn the_books_of_streams_balance_whatever_happens(
        service in service(), load in load(), connections in prop::option::of(1u32..8),
        timeout in prop::option::of(1u64..500), drain in 0u64..2_000, warmup in 0u64..400,
    ) {
        let limits = Limits { connections, timeout: timeout.map(ms), drain: ms(drain), ..Limits::default() };
        let mut scenario = scenario(service, workload(load, limits));
        scenario.workload.warmup = ms(warmup);
        let first = run(&scenario);
        let second = run(&scenario);
        prop_assert_eq!(books(&first), books(&second));
    }

    #[test]
    fn a_cap_on_connections_that_never_binds_changes_nothing(
        service in service(), timeout in prop::option::of(1u64..500), drain in 0u64..2_000,
    ) {
        let limits = Limits { connections: None, timeout: timeout.map(ms), drain: ms(drain), ..Limits::default() };
        let mut capped = scenario(service, workload(even(60.0, for_secs(1)), limits));
        let free = run(&capped);
        capped.workload.limits.connections = Some(100_000);
        let capped = run(&capped);
        prop_assert_eq!(books(&free), books(&capped));
        prop_assert_eq!(free.snapshot.tally, capped.snapshot.tally);
    }
}
