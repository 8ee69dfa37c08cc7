//! Any arrivals, and any options of a recorder.

use proptest::prelude::*;
use truetail_model::arrival::Arrival;
use truetail_model::record::{Cause, Outcome, RecorderOptions, RequestRecord, SamplesOptions, StartDelay};
use truetail_model::time::{Nanos, Timestamp};

fn outcomes() -> impl Strategy<Value = Outcome> {
    let cause = || proptest::sample::select(Cause::ALL);
    prop_oneof![
        6 => prop_oneof![Just(200u16), Just(503), 100u16..600].prop_map(Outcome::response),
        1 => cause().prop_map(Outcome::ConnectFailed),
        1 => cause().prop_map(Outcome::Reset),
        1 => cause().prop_map(Outcome::Malformed),
        1 => Just(Outcome::TimedOut),
        1 => Just(Outcome::InFlightAtEnd),
        1 => Just(Outcome::NeverIssued),
    ]
}

/// Times of all magnitudes up to 2^37 ns, which is 137 s.
fn times() -> impl Strategy<Value = Nanos> {
    (27u32..64, any::<u64>()).prop_map(|(shift, bits)| Nanos(bits >> shift))
}

/// One arrival within the first 20 s; `schedules` sets its index.
fn arrivals() -> impl Strategy<Value = RequestRecord> {
    let delay = (times(), times(), times());
    (0u64..20_000_000_000, delay, times(), any::<bool>(), outcomes(), 0u64..1 << 40).prop_map(
        |(intended, (lag, wait, connect), service, connected, outcome, bytes_in)| {
            let issued = outcome != Outcome::NeverIssued;
            let part = |time: Nanos| if issued { Nanos(time.0 >> 4) } else { Nanos::ZERO };
            let delay = StartDelay { generator_lag: part(lag), connection_wait: part(wait), connect: part(connect) };
            let actual_start = Timestamp(intended) + delay.total();
            let arrival = Arrival { index: 0, intended_start: Timestamp(intended) };
            let end = actual_start + if issued { service } else { Nanos::ZERO };
            RequestRecord {
                delay,
                connected: connected && issued,
                tls_handshake: (connected && issued).then_some(Nanos(delay.connect.0 / 2)),
                read_lag: (outcome.is_response() && connected).then_some(lag),
                knock_on: Nanos(if connected { 0 } else { lag.0 / 3 }),
                bytes_in,
                ..RequestRecord::new(arrival, actual_start, end, outcome)
            }
        },
    )
}

/// Up to `most` arrivals in order of intended start, with their indices. All answers have a status, or none has.
pub fn schedules(most: usize) -> impl Strategy<Value = Vec<RequestRecord>> {
    let records = proptest::collection::vec(arrivals(), 0..most);
    (records, proptest::bool::weighted(0.8)).prop_map(|(mut records, has_statuses)| {
        let answers = records.iter_mut().filter(|record| record.outcome.is_response() && !has_statuses);
        answers.for_each(|record| record.outcome = Outcome::ANSWERED);
        records.sort_by_key(|record| record.intended_start);
        (0..).zip(&mut records).for_each(|(index, record)| record.index = index);
        records
    })
}

/// Options of a recorder, with samples that do and do not all fit.
pub fn options() -> impl Strategy<Value = RecorderOptions> {
    let samples = prop_oneof![
        Just(SamplesOptions { capacity: 1024, slowest: 1024 }),
        (1usize..40, 0usize..20).prop_map(|(capacity, slowest)| SamplesOptions { capacity, slowest }),
        Just(SamplesOptions::NONE),
    ];
    (samples, prop_oneof![Just(0u64), Just(2_500_000_000)], proptest::bool::weighted(0.8)).prop_map(
        |(samples, measure_from, per_second)| RecorderOptions {
            measure_from: Timestamp(measure_from),
            expected_seconds: 1,
            per_second,
            samples,
        },
    )
}
