use proptest::prelude::*;
use truetail_run::{StampBooks, StampUnit, StreamFacts, StreamKind, StreamTally, StreamTime};

use super::*;

const STALL: Nanos = Nanos(100);

/// Lets an observer see this; measurement begins at 1,000.
fn observed(see: impl FnOnce(&mut PushObserver)) -> StreamFacts {
    observed_with(None, see)
}

fn observed_with(stamps: Option<StampBooks>, see: impl FnOnce(&mut PushObserver)) -> StreamFacts {
    observed_from(1_000, stamps, see)
}

fn observed_from(measure_from: u64, stamps: Option<StampBooks>, see: impl FnOnce(&mut PushObserver)) -> StreamFacts {
    let options = StreamOptions { stall: Some(STALL), stamps, ..StreamOptions::new(StreamKind::Pushes) };
    let all = Arc::new(Mutex::new(CombinedResults::new(&options)));
    let mut observer = PushObserver::new(options, Timestamp(measure_from), Arc::clone(&all));
    see(&mut observer);
    let facts = all.lock().unwrap().facts.clone();
    let detail = facts.detail.as_ref().unwrap();
    let of = |time: StreamTime| facts.times.get(time).count();
    assert_eq!((detail.gaps.gaps(), detail.gaps.open()), (of(StreamTime::EventGap), of(StreamTime::EventGapCensored)));
    assert_eq!(facts.imbalance(facts.tally.planned), None);
    facts
}

fn push(observer: &mut PushObserver, channel: u32, at: u64) {
    observer.arrive(Timestamp(at));
    observer.push_part(channel, b"ab");
    observer.push_part(channel, b"c");
    observer.end_push(channel);
}

fn only(facts: &StreamFacts, time: StreamTime) -> (u64, Option<Nanos>) {
    (facts.times.get(time).count(), facts.times.get(time).max())
}

#[test]
fn gaps_and_stalls_count_between_pushes_of_a_channel() {
    let facts = observed(|observer| {
        observer.begin_channel(1, Timestamp(1_100));
        observer.begin_channel(2, Timestamp(1_100));
        for at in [1_130, 1_140, 1_300] {
            push(observer, 1, at);
        }
        // Read together with the one before.
        observer.end_push(1);
        push(observer, 2, 1_310);
        observer.finish(Timestamp(1_320));
    });
    assert_eq!(facts.tally, StreamTally { planned: 2, complete: 2, ..StreamTally::default() });
    assert_eq!((facts.events, facts.coalesced_gaps, facts.stalls, facts.bytes), (5, 1, 1, Some(12)));
    assert_eq!(only(&facts, StreamTime::FirstEvent), (2, Some(Nanos(210))));
    assert_eq!(only(&facts, StreamTime::EventGap), (2, Some(Nanos(160))));
    assert_eq!(only(&facts, StreamTime::EventGapCensored), (2, Some(Nanos(20))));
    // The second channel's only gap is the one that the end of the run cut.
    assert_eq!(only(&facts, StreamTime::LongestGap), (1, Some(Nanos(160))));
    assert_eq!(only(&facts, StreamTime::LongestGapCensored), (1, Some(Nanos(10))));
    assert_eq!(facts.listened_ns, Some(220 + 220));
}

#[test]
fn a_late_worker_takes_no_channel_for_as_late_as_another() {
    let facts = observed(|observer| {
        observer.begin_channel(1, Timestamp(1_100));
        observer.begin_channel(2, Timestamp(1_100));
        push(observer, 1, 1_300);
        // By the kernel's stamp, this one had arrived before.
        push(observer, 2, 1_150);
        push(observer, 2, 1_190);
        // A stamp that contradicts the order of one channel.
        push(observer, 2, 1_180);
        observer.finish(Timestamp(1_310));
    });
    let first = facts.times.get(StreamTime::FirstEvent);
    assert_eq!((first.min(), first.max()), (Some(Nanos(50)), Some(Nanos(200))));
    assert_eq!(only(&facts, StreamTime::EventGap), (2, Some(Nanos(40))));
    assert_eq!(only(&facts, StreamTime::EventGapCensored), (2, Some(Nanos(120))));
}

#[test]
fn a_feed_that_falls_silent_until_the_end_has_stalled() {
    let facts = observed(|observer| {
        observer.begin_channel(7, Timestamp(1_000));
        [1_010, 1_020, 1_030].into_iter().for_each(|at| push(observer, 7, at));
        observer.finish(Timestamp(1_500));
    });
    assert_eq!((facts.stalls, facts.tally.complete), (1, 1));
    assert_eq!(only(&facts, StreamTime::LongestGapCensored), (1, Some(Nanos(470))));
    let silent = observed(|observer| {
        observer.begin_channel(7, Timestamp(1_000));
        observer.finish(Timestamp(1_500));
    });
    assert_eq!(only(&silent, StreamTime::FirstEventCensored), (1, Some(Nanos(500))));
}

#[test]
fn the_warm_up_and_what_it_cuts_are_left_out() {
    let facts = observed(|observer| {
        observer.begin_channel(1, Timestamp(100));
        observer.begin_channel(2, Timestamp(100));
        push(observer, 1, 500);
        push(observer, 1, 990);
        push(observer, 2, 995);
        observer.end_channel(2, true);
        push(observer, 1, 1_040);
        push(observer, 1, 1_050);
        observer.finish(Timestamp(1_060));
    });
    assert_eq!(facts.tally, StreamTally { planned: 1, complete: 1, ..StreamTally::default() });
    assert_eq!((facts.events, facts.stalls, facts.bytes), (2, 0, Some(6)));
    assert_eq!(only(&facts, StreamTime::FirstEvent), (1, Some(Nanos(40))));
    assert_eq!(only(&facts, StreamTime::EventGap), (1, Some(Nanos(10))));
}

/// Channels that were opened before the load, on another clock.
#[test]
fn what_came_before_the_load_is_left_out() {
    for measure_from in [0, 1_000] {
        let facts = observed_from(measure_from, None, |observer| {
            observer.begin_channel(1, Timestamp(5_000_000));
            observer.begin_channel(2, Timestamp(5_000_000));
            push(observer, 1, 5_000_500);
            push(observer, 2, 5_000_900);
            observer.end_channel(2, true);
            // The rest of it comes in the load.
            observer.arrive(Timestamp(5_001_000));
            observer.push_part(1, b"a");
            observer.begin_load();
            observer.arrive(Timestamp(1_030));
            observer.push_part(1, b"bc");
            observer.end_push(1);
            push(observer, 1, 1_050);
            observer.finish(Timestamp(1_060));
        });
        assert_eq!(facts.tally, StreamTally { planned: 1, complete: 1, ..StreamTally::default() });
        assert_eq!((facts.events, facts.bytes), (2, Some(2 + 3)));
        assert_eq!(only(&facts, StreamTime::FirstEvent), (1, Some(Nanos(1_030 - measure_from))));
        assert_eq!(only(&facts, StreamTime::EventGap), (1, Some(Nanos(20))));
        assert_eq!(facts.listened_ns, Some(1_060 - measure_from));
    }
}

#[test]
fn a_lost_channel_is_cut() {
    let facts = observed(|observer| {
        observer.begin_channel(1, Timestamp(1_000));
        push(observer, 1, 1_010);
        observer.arrive(Timestamp(1_200));
        observer.end_channel(1, true);
        observer.begin_channel(2, Timestamp(1_250));
        observer.arrive(Timestamp(1_260));
        observer.end_channel(2, true);
        observer.finish(Timestamp(2_000));
    });
    assert_eq!(facts.tally, StreamTally { planned: 2, cut: 2, ..StreamTally::default() });
    assert_eq!((facts.stalls, facts.listened_ns), (1, Some(210)));
    assert_eq!(only(&facts, StreamTime::FirstEventFailed), (1, Some(Nanos(10))));
}

/// The origin of the run's clock is the microsecond 5,000 since 1970.
#[test]
fn delays_count_from_the_senders_time_within_the_bound_of_the_clocks() {
    let books = StampBooks::new("/ts".to_owned(), StampUnit::Us, 2_000);
    let facts = observed_with(Some(books), |observer| {
        observer.begin_channel(1, Timestamp(0));
        push(observer, 1, 10_000);
        observer.set_origin(Some(5_000_000));
        for (at_us, text) in [
            (20, r#"{"ts":5013}"#),
            // Later than its arrival, within bound and step.
            (30, r#"{"ts":5033}"#),
            (40, r#"{"ts":5044}"#),
            (50, r#"{"ts":"4050"}"#),
            (60, "tick"),
        ] {
            observer.arrive(Timestamp(at_us * 1_000));
            text.as_bytes().chunks(3).for_each(|part| observer.push_part(1, part));
            observer.end_push(1);
        }
        observer.arrive(Timestamp(70_000));
        (0..3).for_each(|_| observer.push_part(1, &[b' '; MAX_PUSH / 2]));
        observer.push_part(1, br#"{"ts":5060}"#);
        observer.end_push(1);
        observer.finish(Timestamp(80_000));
    });
    let stamps = facts.stamps.as_ref().unwrap();
    assert_eq!((stamps.read, stamps.unread, stamps.contradictory), (3, 3, 1));
    assert_eq!((stamps.bound_ns(), facts.events), (3_000, 7));
    let delays = facts.times.get(StreamTime::PushDelay);
    assert_eq!((delays.min(), delays.max()), (Some(Nanos(0)), Some(Nanos(1_000_000))));
}

/// Times of another unit than was given, and none at all.
#[test]
fn delays_of_more_than_a_day_are_not_read() {
    let books = StampBooks::new("/ts".to_owned(), StampUnit::Us, 0);
    let facts = observed_with(Some(books), |observer| {
        observer.begin_channel(1, Timestamp(0));
        observer.set_origin(Some(1_790_000_000_000_000_000));
        for text in [r#"{"ts":0}"#, r#"{"ts":1790000000}"#, r#"{"ts":1790000000000000}"#] {
            observer.arrive(Timestamp(10_000));
            observer.push_part(1, text.as_bytes());
            observer.end_push(1);
        }
        observer.finish(Timestamp(20_000));
    });
    let stamps = facts.stamps.as_ref().unwrap();
    assert_eq!((stamps.read, stamps.unread, stamps.contradictory), (1, 2, 0));
    assert_eq!(facts.times.get(StreamTime::PushDelay).max(), Some(Nanos(10_000)));
}

proptest! {
    /// The books balance whatever channels do.
    #[test]
    fn books_balance(steps in prop::collection::vec((0_u32..4, 0_u8..5, 0_u64..200), 0..100)) {
        observed(|observer| {
            let mut at = 800;
            for (channel, what, later) in steps {
                at += later;
                match what {
                    0 => {
                        observer.arrive(Timestamp(at));
                        observer.end_channel(channel, later % 2 == 0);
                        observer.begin_channel(channel, Timestamp(at));
                    }
                    1 => observer.end_push(channel),
                    _ => push(observer, channel, at),
                }
            }
            observer.finish(Timestamp(at + 5));
        });
    }
}
