//! Strategies that property tests of this crate share. Each test uses some of them.
#![allow(dead_code)]

use proptest::prelude::*;
use truetail_model::arrival::{Arrival, GammaShape, Profile, Spacing, Trace};
use truetail_model::record::{Cause, Outcome, RequestRecord};
use truetail_model::time::{Nanos, Rate, Timestamp};

const S: u64 = 1_000_000_000;

/// Generates usual rates, and rates over ten magnitudes.
fn rate() -> impl Strategy<Value = f64> {
    prop_oneof![Just(1000.0), 1e-3..1e7]
}

pub fn random_spacing() -> impl Strategy<Value = Spacing> {
    let shape = (0.05f64..4.0).prop_map(|shape| Spacing::Gamma(GammaShape::new(shape).expect("a shape")));
    prop_oneof![Just(Spacing::Poisson), shape]
}

pub fn profile() -> impl Strategy<Value = Profile> {
    prop_oneof![
        rate().prop_map(|rate| Profile::constant(Rate::per_second(rate).unwrap())),
        (rate(), rate(), 1..1000 * S)
            .prop_map(|(a, b, over)| format!("ramp:{a}..{b}/{}", Nanos(over)).parse().unwrap()),
        (rate(), rate(), 1..1000 * S).prop_map(|(a, b, over)| format!(
            "sine:{}..{}/{}",
            a.min(b),
            a.max(b),
            Nanos(over)
        )
        .parse()
        .unwrap()),
        proptest::collection::vec((rate(), 1..1000 * S), 1..4).prop_map(|steps| {
            let steps: Vec<_> = steps.iter().map(|(rate, length)| format!("{rate}/{}", Nanos(*length))).collect();
            format!("steps:0/1s,{}", steps.join(",")).parse().unwrap()
        }),
        proptest::collection::vec(0..1000 * S, 1..20).prop_map(|mut instants| {
            instants.sort_unstable();
            Profile::Trace(Trace::new(instants.into_iter().map(Timestamp).collect()).unwrap())
        }),
    ]
}

fn outcome() -> impl Strategy<Value = Outcome> {
    let cause = || proptest::sample::select(Cause::ALL);
    prop_oneof![
        6 => prop_oneof![Just(200), Just(404), Just(503), 1..1200u16].prop_map(Outcome::response),
        1 => Just(Outcome::ANSWERED),
        1 => cause().prop_map(Outcome::ConnectFailed),
        1 => cause().prop_map(Outcome::Reset),
        1 => cause().prop_map(Outcome::Malformed),
        1 => Just(Outcome::TimedOut),
        1 => Just(Outcome::InFlightAtEnd),
        1 => Just(Outcome::NeverIssued),
    ]
}

prop_compose! {
    /// Generates the record of a request of a ten-second run; its index is 0.
    pub fn record()(
        intended in 0..10 * S,
        late in prop_oneof![Just(0), 0..S],
        took in prop_oneof![0..S / 100, 0..20 * S],
        waited in 0..S / 10,
        connect in 0..S / 100,
        connected in any::<bool>(),
        handshake in any::<bool>(),
        read_lag in proptest::option::of((0..S / 100).prop_map(Nanos)),
        outcome in outcome(),
        bytes_in in 0..1_000_000u64,
    ) -> RequestRecord {
        let arrival = Arrival { index: 0, intended_start: Timestamp(intended) };
        if outcome == Outcome::NeverIssued {
            return RequestRecord::never_issued(arrival, arrival.intended_start + Nanos(took));
        }
        let actual_start = arrival.intended_start + Nanos(late);
        let record = RequestRecord::new(arrival, actual_start, actual_start + Nanos(took), outcome)
            .with_start_delay(Nanos(waited), connected.then_some(Nanos(connect)));
        let tls_handshake = (connected && handshake).then_some(Nanos(record.delay.connect.0 / 2));
        RequestRecord { tls_handshake, read_lag, bytes_in, ..record }
    }
}
