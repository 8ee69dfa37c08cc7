use proptest::prelude::*;
use truetail_model::record::{Cause, SamplesOptions};
use truetail_run::{StreamTally, StreamTime};

use super::*;

const SECOND: u64 = 1_000_000_000;

fn arrival(index: u64) -> Arrival {
    Arrival { index, intended_start: Timestamp(index * SECOND) }
}

fn end(index: u64, end: u64, outcome: Outcome) -> CallEnd {
    CallEnd { arrival: arrival(index), actual_start: arrival(index).intended_start, end: Timestamp(end), outcome }
}

const ANSWER: Outcome = Outcome::ANSWERED;

#[test]
fn times_count_from_the_intended_start_and_ready_items_have_no_gap() {
    let streams = ItemStreams::new(Some(Nanos(300)), Timestamp(SECOND));
    // The warm-up is left out.
    for index in [0, 1] {
        let origin = index * SECOND;
        streams.begin(arrival(index));
        streams.record_item(arrival(index), Timestamp(origin + 50), true);
        streams.record_item(arrival(index), Timestamp(origin + 52), false);
        streams.record_item(arrival(index), Timestamp(origin + 450), true);
        streams.end(&end(index, origin + 451, ANSWER));
    }
    let facts = streams.facts(&Samples::new(SamplesOptions::NONE));
    assert_eq!(facts.tally, StreamTally { planned: 1, complete: 1, ..StreamTally::default() });
    assert_eq!((facts.events, facts.coalesced_gaps, facts.stalls, facts.bytes), (3, 1, 1, None));
    let only = |time: StreamTime| (facts.times.get(time).count(), facts.times.get(time).max());
    assert_eq!(only(StreamTime::FirstEvent), (1, Some(Nanos(50))));
    assert_eq!(only(StreamTime::EventGap), (1, Some(Nanos(400))));
    assert_eq!(only(StreamTime::LastEvent), (1, Some(Nanos(450))));
}

#[test]
fn a_generator_that_works_without_yielding_has_a_gap() {
    let streams = ItemStreams::new(Some(Nanos(SECOND / 10)), Timestamp::ZERO);
    streams.begin(arrival(0));
    for at in [5, 10] {
        streams.record_item(arrival(0), Timestamp(at * SECOND / 10), false);
        streams.record_item(arrival(0), Timestamp(at * SECOND / 10 + 1_000), false);
    }
    streams.end(&end(0, SECOND + 2_000, ANSWER));
    let facts = streams.facts(&Samples::new(SamplesOptions::NONE));
    assert_eq!((facts.events, facts.coalesced_gaps, facts.stalls), (4, 2, 1));
    assert_eq!(facts.times.get(StreamTime::EventGap).max(), Some(Nanos(SECOND / 2)));
    assert_eq!(facts.times.get(StreamTime::LastEvent).max(), Some(Nanos(SECOND)));
}

#[test]
fn every_end_has_its_place() {
    let streams = ItemStreams::new(None, Timestamp::ZERO);
    (0..7).for_each(|index| streams.begin(arrival(index)));
    for index in [1, 3, 5] {
        streams.record_item(arrival(index), Timestamp(index * SECOND + 5), true);
    }
    streams.end(&end(0, 10, ANSWER));
    streams.end(&end(1, SECOND + 10, ANSWER));
    streams.end(&end(2, 2 * SECOND + 10, Outcome::Malformed(Cause::Raised)));
    streams.end(&end(3, 3 * SECOND + 10, Outcome::Malformed(Cause::Raised)));
    streams.end(&end(4, 4 * SECOND + 10, Outcome::TimedOut));
    // It yielded while the run ended.
    streams.end(&end(5, 5 * SECOND + 4, Outcome::InFlightAtEnd));
    streams.end(&end(6, 6 * SECOND, Outcome::InFlightAtEnd));
    streams.never_started(arrival(7), Timestamp(6 * SECOND));
    // The run is over, so these are not counted.
    streams.record_item(arrival(5), Timestamp(9 * SECOND), true);
    streams.end(&end(5, 9 * SECOND, ANSWER));
    let facts = streams.facts(&Samples::new(SamplesOptions::NONE));
    let expected = StreamTally {
        planned: 8,
        complete: 2,
        failed: 1,
        cut: 1,
        timed_out: 1,
        in_flight_at_end: 2,
        never_issued: 1,
        ..StreamTally::default()
    };
    assert_eq!(facts.tally, expected);
    assert_eq!(facts.imbalance(8), None);
    // One never began.
    assert_eq!(facts.detail.unwrap().sampled.random.len(), 7);
    assert_eq!(facts.times.get(StreamTime::EventGapCensored).max(), Some(Nanos(5)));
}

proptest! {
    #[test]
    fn the_books_balance_whatever_comes(
        calls in prop::collection::vec((prop::collection::vec((0u64..1_000, any::<bool>()), 0..20), 0u8..5), 0..50),
        warmup in 0u64..10,
    ) {
        let streams = ItemStreams::new(Some(Nanos(500)), Timestamp(warmup * SECOND));
        let mut measured = 0;
        let mut items = 0;
        for ((gaps, how), index) in calls.iter().zip(0..) {
            let is_measured = index >= warmup;
            measured += u64::from(is_measured);
            if *how == 4 {
                streams.never_started(arrival(index), Timestamp(index));
                continue;
            }
            streams.begin(arrival(index));
            let mut at = arrival(index).intended_start;
            for (gap, had_to_wait) in gaps {
                at = at + Nanos(*gap);
                streams.record_item(arrival(index), at, *had_to_wait);
            }
            items += if is_measured { gaps.len() as u64 } else { 0 };
            let outcome = [ANSWER, Outcome::Malformed(Cause::Raised), Outcome::TimedOut, Outcome::InFlightAtEnd];
            streams.end(&end(index, at.0 + 1, outcome[usize::from(*how)]));
        }
        let facts = streams.facts(&Samples::new(SamplesOptions::NONE));
        prop_assert_eq!(facts.events, items);
        prop_assert_eq!(facts.imbalance(measured), None);
    }
}
