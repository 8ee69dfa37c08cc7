//! The body of an answer of a language model, in each API that truetail knows, in pieces that the input chooses. What is
//! found in it does not depend on where the bytes are cut, and a second answer with the same body has the same in it.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use truetail_engine::{AnswerHead, EndedRequest, RequestId};
use truetail_fuzz::Cut;
use truetail_model::arrival::Arrival;
use truetail_model::record::{Outcome, Samples, SamplesOptions};
use truetail_model::time::Timestamp;
use truetail_run::{LlmApi, StreamFacts, StreamKind};
use truetail_stream::{LlmOptions, SaidReader, StreamOptions, StreamRun};

const DONE: Timestamp = Timestamp(2_000_000);

/// A run for each API. Each begins anew for each input.
static RUNS: LazyLock<Vec<StreamRun>> = LazyLock::new(|| {
    let of = |api: LlmApi| {
        let llm = LlmOptions::new(api, Vec::new());
        StreamRun::new(StreamOptions { llm: Some(llm), ..StreamOptions::new(api.stream_kind()) }, Timestamp::ZERO)
    };
    LlmApi::ALL.into_iter().map(of).collect()
});

fuzz_target!(|input: &[u8]| {
    let Some((api, rest)) = input.split_first() else { return };
    let run = &RUNS[usize::from(*api) % RUNS.len()];
    let Cut { flag: again, pieces } = Cut::read(rest);
    let whole = pieces.concat();
    let once = facts(run, &[&whole], 1);
    assert_eq!(facts(run, &pieces, 1), once, "{:?}", run.llm_api());
    if again {
        assert_eq!(without_detail(facts(run, &pieces, 2)), twice(&once), "{:?}", run.llm_api());
    }
    let is_lines = run.kind() == StreamKind::Lines;
    assert_eq!(said(is_lines, &pieces), said(is_lines, &[&whole]));
    check(&once, whole.len() as u64);
});

/// Reads answers with this body, one after the other.
fn facts(run: &StreamRun, pieces: &[&[u8]], answers: u64) -> StreamFacts {
    let head: &[u8] = match run.kind() {
        StreamKind::Sse => b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n",
        StreamKind::Lines => b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n",
        _ => b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nx-compute-tokens: 7\r\n\r\n",
    };
    run.restart();
    let (mut reader, _) = run.judging_observer();
    for index in 0..answers {
        let arrival = Arrival { index, intended_start: Timestamp::ZERO };
        reader.begin(0, 0, arrival);
        // All pieces came at once, so the cuts change no time.
        reader.arrive(Timestamp(1_000_000));
        reader.head(0, AnswerHead::with_text(200, head));
        pieces.iter().for_each(|piece| reader.body(0, piece));
        let id = RequestId { target: 0, row: 0 };
        reader.end(0, EndedRequest { arrival, id, outcome: Outcome::response(200), start: Timestamp::ZERO, end: DONE });
    }
    reader.finish(DONE);
    drop(reader);
    run.facts(&Samples::from_parts(SamplesOptions::default(), Vec::new(), 1, &[], 0))
}

/// Adds an answer to itself.
fn twice(once: &StreamFacts) -> StreamFacts {
    let mut both = once.clone();
    both.merge(once);
    without_detail(both)
}

/// Leaves out the streams that are kept in full, which name their requests.
fn without_detail(found: StreamFacts) -> StreamFacts {
    StreamFacts { detail: None, ..found }
}

/// Checks what is true of any bytes.
fn check(found: &StreamFacts, bytes: u64) {
    let tally = found.tally;
    assert_eq!((tally.planned, tally.complete + tally.unfinished + tally.server_error), (1, 1), "{tally:?}");
    let llm = found.llm.as_ref().expect("an answer of a language model");
    assert!(found.events <= bytes + 1, "{} events", found.events);
    assert!(llm.content_events + llm.unreadable_events <= found.events, "{llm:?}");
    let finished: u64 = llm.finish.named().iter().map(|(count, _)| count).sum();
    assert!(finished <= tally.complete, "{:?} of {tally:?}", llm.finish);
}

fn said(is_lines: bool, pieces: &[&[u8]]) -> Result<String, String> {
    let mut reader = SaidReader::new(is_lines);
    pieces.iter().for_each(|piece| reader.feed(piece));
    reader.finish()
}
