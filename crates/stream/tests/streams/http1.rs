//! Streams of the misbehaving server, compared with its truth.

use std::net::{Ipv4Addr, SocketAddr};

use truetail_engine::{AnswerHead, AnswerReader, EndedRequest, ObserverFactory};
use truetail_model::service::Service;
use truetail_model::time::Nanos;
use truetail_run::{StreamFacts, StreamKind, StreamTime};
use truetail_server::{Server, ServerOptions, ServerTruth};
use truetail_stream::StreamOptions;

use crate::{MS, count, longest, plan, run, sse};

/// Sends `requests` requests for `/stream?query`. Returns their streams and the truth of the server.
fn streams(query: &str, requests: u64, options: StreamOptions) -> (StreamFacts, ServerTruth) {
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let server = Server::start(ServerOptions::new(Service::healthy(Nanos::ZERO), listen)).unwrap();
    let url = format!("http://{}/stream?{query}", server.addr());
    let (_, facts) = run(plan(&url, 100.0, requests), options);
    (facts, server.stop())
}

fn events(truth: &ServerTruth) -> u64 {
    truth.streams.iter().map(|stream| stream.events_ns.len() as u64).sum()
}

#[test]
fn every_event_is_counted_once() {
    for kind in [StreamKind::Sse, StreamKind::Chunks] {
        let (facts, truth) = streams("events=40&gap=2ms&exponential=1", 25, StreamOptions::new(kind));
        assert_eq!((facts.tally.complete, facts.tally.planned), (25, 25), "{:?}", facts.tally);
        assert_eq!((facts.events, events(&truth)), (1000, 1000));
        assert_eq!(count(&facts, StreamTime::FirstEvent), 25);
        assert_eq!(count(&facts, StreamTime::LastEvent), 25);
        assert_eq!(count(&facts, StreamTime::EventGap) + facts.coalesced_gaps, 25 * 39);
        assert_eq!(count(&facts, StreamTime::EventGapCensored), 0);
        let first = facts.times.get(StreamTime::FirstEvent);
        assert!(first.max() <= facts.times.get(StreamTime::LastEvent).max(), "{facts:?}");
    }
}

#[test]
fn a_stall_is_found_where_it_is() {
    let options = StreamOptions { stall: Some(Nanos::from_millis(300)), ..sse() };
    let (facts, truth) = streams("events=10&gap=1ms&stall=6:2s", 5, options);
    // The server begins the stall when the event before it has left. A client that pauses may see a shorter stall.
    let slowest = |events: &Vec<u64>| events.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
    assert!(truth.streams.iter().all(|stream| slowest(&stream.events_ns) >= 2_000 * MS), "{truth:?}");
    assert_eq!((facts.tally.complete, facts.events), (5, 50));
    assert!(facts.stalls >= 5, "{facts:?}");
    assert_eq!(count(&facts, StreamTime::LongestGap), 5);
    assert!(longest(&facts, StreamTime::LongestGap) >= 300 * MS, "{facts:?}");
    assert!(facts.times.get(StreamTime::LastEvent).min().unwrap().0 >= 300 * MS, "{facts:?}");
}

#[test]
fn the_first_event_counts_from_the_intended_start() {
    let (facts, _) = streams("events=2&first=150ms&gap=1ms", 10, sse());
    assert!(facts.times.get(StreamTime::FirstEvent).min().unwrap().0 >= 150 * MS, "{facts:?}");
}

#[test]
fn events_of_one_write_are_no_gaps() {
    let (facts, _) = streams("events=40&gap=50ms&burst=10", 4, sse());
    assert_eq!(facts.events, 160);
    // A write of a few bytes is never cut in two. Writes may be read together if the client was late.
    assert!(facts.coalesced_gaps >= 4 * 36, "{facts:?}");
    assert!(count(&facts, StreamTime::EventGap) <= 4 * 3, "{facts:?}");
}

#[test]
fn a_stream_that_is_cut_ends_with_a_gap_that_did_not() {
    let (facts, truth) = streams("events=20&gap=1ms&cut=7", 6, sse());
    assert_eq!((facts.tally.cut, facts.tally.complete), (6, 0), "{:?}", facts.tally);
    assert_eq!((facts.events, events(&truth)), (42, 42));
    assert_eq!(count(&facts, StreamTime::EventGapCensored), 6);
    assert_eq!((count(&facts, StreamTime::LongestGap), count(&facts, StreamTime::LongestGapCensored)), (0, 6));
    let (facts, _) = streams("events=20&cut=0", 3, sse());
    assert_eq!((facts.tally.cut, count(&facts, StreamTime::FirstEventFailed)), (3, 3), "{facts:?}");
}

#[test]
fn a_stream_that_ends_without_its_end_says_so() {
    let marked = || StreamOptions { end_mark: Some("[DONE]".to_owned()), ..sse() };
    let ended = |query: &str, options: StreamOptions| {
        let (facts, _) = streams(query, 3, options);
        (facts.tally.complete, facts.tally.unfinished, facts.events)
    };
    assert_eq!(ended("events=5&gap=1ms&end=unfinished", sse()), (0, 3, 15));
    assert_eq!(ended("events=5&gap=1ms&end=done", marked()), (3, 0, 18));
    assert_eq!(ended("events=5&gap=1ms", marked()), (0, 3, 15));
}

#[test]
fn a_stream_that_stands_still_is_given_up_and_no_other() {
    let options = StreamOptions { idle_timeout: Some(Nanos::from_millis(400)), ..sse() };
    let (facts, _) = streams("events=5&gap=1ms&stall=3:10s", 4, options);
    assert_eq!((facts.tally.idle, facts.tally.planned, facts.events), (4, 4, 12), "{:?}", facts.tally);
    assert!(longest(&facts, StreamTime::LongestGapCensored) >= 400 * MS, "{facts:?}");
    assert_eq!(count(&facts, StreamTime::EventGapCensored), 4);
    // The stream lasts longer than the timeout, but is never idle for that long.
    let options = StreamOptions { idle_timeout: Some(Nanos::from_secs(2)), ..sse() };
    let (facts, _) = streams("events=10&gap=250ms", 2, options);
    assert_eq!((facts.tally.complete, facts.tally.idle), (2, 0), "{:?}", facts.tally);
}

#[test]
fn what_the_run_does_not_wait_for_is_open_at_its_end() {
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let server = Server::start(ServerOptions::new(Service::healthy(Nanos::ZERO), listen)).unwrap();
    let mut plan = plan(&format!("http://{}/stream?events=3&gap=1ms&stall=2:60s", server.addr()), 100.0, 3);
    plan.workload.limits.drain = Nanos::from_secs(3);
    let (_, facts) = run(plan, sse());
    assert_eq!((facts.tally.in_flight_at_end, facts.tally.planned), (3, 3), "{:?}", facts.tally);
    assert_eq!(count(&facts, StreamTime::LongestGapCensored), 3);
}

#[test]
fn the_warm_up_is_in_none_of_it() {
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let server = Server::start(ServerOptions::new(Service::healthy(Nanos::ZERO), listen)).unwrap();
    let mut plan = plan(&format!("http://{}/stream?events=4&gap=1ms", server.addr()), 100.0, 20);
    plan.workload.warmup = Nanos::from_millis(100);
    let (_, facts) = run(plan, sse());
    assert_eq!((facts.tally.planned, facts.events, events(&server.stop())), (10, 40, 80), "{facts:?}");
}

struct Bytes(std::sync::Arc<std::sync::atomic::AtomicU64>);

impl AnswerReader for Bytes {
    fn head(&mut self, _: u32, _: AnswerHead<'_>) {}

    fn body(&mut self, _: u32, part: &[u8]) {
        self.0.fetch_add(part.len() as u64, std::sync::atomic::Ordering::Relaxed);
    }

    fn end(&mut self, _: u32, _: EndedRequest) {}
}

#[test]
fn another_observer_sees_the_same_answers() {
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let server = Server::start(ServerOptions::new(Service::healthy(Nanos::ZERO), listen)).unwrap();
    let mut plan = plan(&format!("http://{}/stream?events=4&gap=1ms", server.addr()), 100.0, 5);
    let streams = truetail_stream::StreamRun::new(sse(), truetail_model::time::Timestamp::ZERO);
    let bytes = std::sync::Arc::default();
    let other = std::sync::Arc::clone(&bytes);
    let counting = ObserverFactory::new(move || Box::new(Bytes(std::sync::Arc::clone(&other))));
    plan.observer = Some(streams.observer_factory().and(counting));
    let output = truetail_engine::run(&plan, &truetail_engine::Control::new()).unwrap();
    let facts = streams.facts(&output.snapshot.samples);
    assert_eq!(facts.bytes, Some(bytes.load(std::sync::atomic::Ordering::Relaxed)));
    assert_eq!(facts.events, 20);
}
