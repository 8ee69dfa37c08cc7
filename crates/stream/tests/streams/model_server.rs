//! The misbehaving server as a language model with a batch: the client's books must equal the server's.

use std::net::{Ipv4Addr, SocketAddr};

use truetail_model::scenario::Scenario;
use truetail_model::time::Nanos;
use truetail_run::{StreamFacts, StreamTime};
use truetail_server::{Server, ServerOptions, ServerTruth};
use truetail_stream::StreamOptions;

use crate::{MS, count, longest, plan, run, sse};

const REQUESTS: u64 = 60;
const EVENTS: u64 = 20;

/// Sends 40 requests a second to a service with these keys. Returns their streams and the truth of the server.
fn streams(path: &str, service: &str) -> (StreamFacts, ServerTruth) {
    let text = format!("[workload]\nrate = 40\nduration = \"10s\"\n[service]\nbaseline = \"1ms\"\n{service}");
    let service = Scenario::parse(&text, "x.toml").unwrap_or_else(|error| panic!("{error}")).service;
    let server = Server::start(ServerOptions::new(service, SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))).unwrap();
    let options = StreamOptions { end_mark: Some("[DONE]".to_owned()), ..sse() };
    let (_, facts) = run(plan(&format!("http://{}{path}", server.addr()), 40.0, REQUESTS), options);
    (facts, server.stop())
}

/// Asserts that each event that left was counted once, and that each stream is complete.
fn assert_same_books(facts: &StreamFacts, truth: &ServerTruth, events: u64) {
    let left: u64 = truth.streams.iter().map(|stream| stream.events_ns.len() as u64).sum();
    assert_eq!((facts.tally.planned, facts.tally.complete), (REQUESTS, REQUESTS), "{:?}", facts.tally);
    assert_eq!((facts.events, left), (REQUESTS * events, REQUESTS * events));
    assert_eq!(count(facts, StreamTime::FirstEvent), REQUESTS);
    assert_eq!(count(facts, StreamTime::EventGap) + facts.coalesced_gaps, REQUESTS * (events - 1));
}

/// Returns the times from arrival to the first event, as due and as sent. Both lists are ascending, in nanoseconds.
fn first_events(truth: &ServerTruth) -> (Vec<u64>, Vec<u64>) {
    let arrived = |number: u64| truth.rows[number as usize - 1].arrived_ns;
    let mut due: Vec<u64> = truth.streams.iter().map(|stream| stream.due_ns[0] - arrived(stream.number)).collect();
    let mut left: Vec<u64> = truth.streams.iter().map(|stream| stream.events_ns[0] - arrived(stream.number)).collect();
    due.sort_unstable();
    left.sort_unstable();
    (due, left)
}

const BATCH: &str = "[service.batch]\ncap = 8\nstep = \"4ms\"\nstep-per-stream = \"100us\"\nprefill = \"5ms\"\n\
                     [service.stream]\nevents = 20\n";

#[test]
fn a_batch_that_stalls() {
    let stalls = "[[service.fault]]\nkind = \"stall\"\nat = \"300ms\"\nfor = \"400ms\"\ngate = \"arrivals\"\n\
                  [[service.fault]]\nkind = \"stall\"\nat = \"1100ms\"\nfor = \"300ms\"\ngate = \"events\"\n";
    let (facts, truth) = streams("/v1/completions", &format!("{BATCH}{stalls}"));
    // Two events beside the content: the finish reason and the end mark.
    assert_same_books(&facts, &truth, EVENTS + 2);
    let (due, left) = first_events(&truth);
    let first = facts.times.get(StreamTime::FirstEvent).to_histogram();
    for rank in [1, REQUESTS / 2, REQUESTS] {
        let measured = first.value_at_rank(rank).unwrap().0;
        let i = rank as usize - 1;
        // No event can come before it is due, and no request before its intended start. A bucket is a thousandth wide.
        assert!(measured + measured / 1000 >= due[i], "rank {rank}: {measured}, due after {}", due[i]);
        // A busy machine may be late, but hardly by five seconds.
        assert!(measured <= left[i] + 5_000 * MS, "rank {rank}: {measured}, left after {}", left[i]);
    }
    assert!(due[REQUESTS as usize - 1] >= 200 * MS, "somebody waited for most of the stall: {due:?}");
    assert!(longest(&facts, StreamTime::LongestGap) >= 150 * MS, "{facts:?}");
}

#[test]
fn a_chat_at_its_own_pace() {
    let (facts, truth) =
        streams("/v1/chat/completions", "[service.stream]\nevents = 20\ngap = \"3ms\"\nburst = 4\ntrickle = \"2ms\"");
    // Three events beside the content: the role, the finish reason and the end mark.
    assert_same_books(&facts, &truth, EVENTS + 3);
    assert!(facts.coalesced_gaps >= REQUESTS * (EVENTS + 3 - 5), "{facts:?}");
}

#[test]
fn a_model_without_its_end_mark_is_unfinished() {
    let (facts, _) = streams("/v1/chat/completions", "[service.stream]\nevents = 2\ngap = \"1ms\"\nend = \"whole\"");
    assert_eq!((facts.tally.unfinished, facts.tally.complete), (REQUESTS, 0), "{:?}", facts.tally);
}

#[test]
fn a_model_that_hangs_up_is_cut() {
    let (facts, truth) = streams("/v1/completions", &format!("{BATCH}cut = 5\n"));
    assert_eq!((facts.tally.cut, facts.events), (REQUESTS, REQUESTS * 5), "{:?}", facts.tally);
    assert!(truth.streams.iter().all(|stream| stream.events_ns.len() == 5));
    assert_eq!(Nanos(0), facts.times.get(StreamTime::LastEvent).max().unwrap_or_default());
}
