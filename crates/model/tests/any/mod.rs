//! Values that property tests of this crate share.

use proptest::prelude::*;
use truetail_model::arrival::{Profile, Trace};
use truetail_model::time::{Nanos, Rate, Timestamp};

const S: u64 = 1_000_000_000;

/// Usual rates, and rates over ten magnitudes.
fn rate() -> impl Strategy<Value = f64> {
    prop_oneof![Just(1000.0), 1e-3..1e7]
}

/// Any profile, in every form it can have.
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
