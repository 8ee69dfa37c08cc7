use truetail_model::time::Nanos;
use truetail_run::{LlmApi, StreamKind};

use super::*;
use crate::options::LlmOptions;

const EVENT: &[u8] = b"id: 1\ndata: {\"a\":1}\n\n";

fn observer(kind: StreamKind) -> (StreamObserver, Arc<Mutex<CombinedResults>>) {
    let options = StreamOptions { idle_timeout: Some(Nanos::from_secs(1)), ..StreamOptions::new(kind) };
    let all = Arc::new(Mutex::new(CombinedResults::new(&options)));
    (StreamObserver::new(options, Asking::default(), Timestamp::ZERO, Arc::clone(&all)), all)
}

/// Sends an answer of `count` events, each in a separate read and cut in two.
fn events(observer: &mut StreamObserver, count: u64) {
    for number in 1..=count {
        observer.arrive(Timestamp(number * 1_000_000));
        observer.body(0, &EVENT[..7]);
        observer.body(0, &EVENT[7..]);
        observer.end_chunk(0);
    }
}

#[test]
fn an_event_allocates_nothing() {
    for kind in [StreamKind::Sse, StreamKind::Chunks] {
        let (mut observer, _) = observer(kind);
        observer.begin(0, 0, Arrival { index: 0, intended_start: Timestamp::ZERO });
        observer.head(0, AnswerHead::without_fields(200));
        observer.slots[0].clocks.head = Head::OfStream;
        events(&mut observer, 1);
        let allocated = allocation_counter::measure(|| events(&mut observer, 10_000));
        assert_eq!((allocated.count_total, observer.found.events), (0, 10_001), "{kind:?}");
    }
}

/// Two streams: one complete with two events in one read, and one cut off. A third stream is beyond the marked slots.
#[test]
fn streams_are_sampled_as_they_were() {
    let (mut observer, all) = observer(StreamKind::Sse);
    let far = MAX_MARKED as u32;
    for (request, index) in [(0, 0), (1, 1), (far, 2)] {
        observer.begin(request, 0, Arrival { index, intended_start: Timestamp(index) });
        observer.head(request, AnswerHead::without_fields(200));
        observer.slots[request as usize].clocks.head = Head::OfStream;
    }
    for (at, request, events) in [(100, 0, 2), (200, 1, 1), (300, 0, 1), (350, far, 1), (360, far, 1)] {
        observer.arrive(Timestamp(at));
        (0..events).for_each(|_| observer.body(request, EVENT));
    }
    let cut = Outcome::Reset(truetail_model::record::Cause::ResetByPeer);
    for (request, outcome, end) in [(0, Outcome::response(200), 310), (1, cut, 900), (far, cut, 5_000)] {
        let arrival = Arrival { index: request.into(), intended_start: Timestamp::ZERO };
        let start = Timestamp(50);
        let end = Timestamp(end);
        let id = truetail_engine::RequestId { target: 0, row: 0 };
        observer.end(request, EndedRequest { arrival, id, outcome, start, end });
    }
    observer.finish(Timestamp::ZERO);
    let records = [0, 1, far.into()].map(|index| {
        let arrival = Arrival { index, intended_start: Timestamp::ZERO };
        truetail_model::record::RequestRecord::new(arrival, Timestamp::ZERO, Timestamp::ZERO, cut)
    });
    let options = truetail_model::record::SamplesOptions::default();
    let samples = truetail_model::record::Samples::from_parts(options, records.to_vec(), 1, &[], 3);
    let kept = all.lock().unwrap().kept.of_samples(&samples);
    let counted = kept.all().iter().map(|row| (row.gaps, kept.gaps_of(row.index).map(<[Nanos]>::len)));
    assert_eq!(counted.collect::<Vec<_>>(), [(1, Some(1)), (0, Some(0)), (1, None)]);
    let detail = all.lock().unwrap().facts.detail.clone().expect("it is kept");
    let [slowest, fastest] = &detail.sampled.slowest[..] else { panic!("two: {detail:?}") };
    assert_eq!((slowest.ending, slowest.end_ns, slowest.events()), (StreamEnding::Cut, 900, 1));
    assert_eq!((fastest.ending, fastest.actual_start_ns, fastest.events()), (StreamEnding::Complete, 50, 3));
    let marks: Vec<_> = fastest.marks.iter().map(|mark| (mark.from_ns, mark.events, mark.coalesced)).collect();
    assert_eq!(marks, [(100, 2, 1), (300, 1, 0)]);
    assert_eq!((detail.gaps.gaps(), detail.gaps.open()), (2, 2));
}

#[test]
fn a_token_allocates_nothing() {
    const TOKEN: &[u8] =
        b"data: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a b\"}}],\"usage\":null}\n\n";
    let llm = Some(LlmOptions::new(LlmApi::OpenaiChat, vec!["ttft < 1s".parse().unwrap()]));
    let options = StreamOptions { llm, ..StreamOptions::new(StreamKind::Sse) };
    let all = Arc::new(Mutex::new(CombinedResults::new(&options)));
    let mut observer = StreamObserver::new(options, Asking::default(), Timestamp::ZERO, all);
    observer.begin(0, 0, Arrival { index: 0, intended_start: Timestamp::ZERO });
    observer.head(0, AnswerHead::without_fields(200));
    observer.slots[0].clocks.head = Head::OfStream;
    let mut tokens = |numbers: std::ops::Range<u64>| {
        for number in numbers {
            observer.arrive(Timestamp(number * 1_000_000));
            observer.body(0, &TOKEN[..30]);
            observer.body(0, &TOKEN[30..]);
        }
        observer.found.llm.as_ref().map(|llm| llm.content_events)
    };
    tokens(1..2);
    let allocated = allocation_counter::measure(|| assert_eq!(tokens(2..10_001), Some(10_000)));
    assert_eq!(allocated.count_total, 0);
}

#[test]
fn a_stream_is_idle_once_nothing_has_come_for_so_long() {
    let second = 1_000_000_000;
    let (mut observer, _) = observer(StreamKind::Chunks);
    observer.begin(0, 0, Arrival { index: 0, intended_start: Timestamp::ZERO });
    assert_eq!(observer.first_deadline(), Timestamp::NEVER);
    observer.arrive(Timestamp(second));
    observer.head(0, AnswerHead::without_fields(200));
    observer.arrive(Timestamp(second + 7));
    observer.body(0, b"x");
    assert_eq!((observer.first_deadline(), observer.overdue(Timestamp(2 * second))), (Timestamp(2 * second), None));
    let idle_at = Timestamp(2 * second + 7);
    assert_eq!(
        (observer.first_deadline(), observer.overdue(idle_at), observer.overdue(idle_at)),
        (idle_at, Some(0), Some(0))
    );
    // Data that is read before the stream is given up keeps it open.
    observer.arrive(Timestamp(2 * second + 5));
    observer.body(0, b"y");
    assert_eq!(observer.overdue(idle_at), None);
    assert_eq!(observer.overdue(Timestamp(4 * second)), Some(0));
    // Another request with the same number is another stream.
    observer.begin(0, 0, Arrival { index: 1, intended_start: Timestamp::ZERO });
    assert_eq!((observer.overdue(Timestamp(9 * second)), observer.first_deadline()), (None, Timestamp::NEVER));
}
