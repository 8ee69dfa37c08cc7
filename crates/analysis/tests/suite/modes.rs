//! Groups of slow requests, in simulated runs with a known answer.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use truetail_analysis::findings;
use truetail_analysis::modes::groups as groups_of;
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{Mode, ModePlace, Run};

use crate::support::{changed, queue, scenario, simulated};

const S: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;

fn groups(run: &Run) -> Vec<Mode> {
    findings(run).modes
}

/// Requests for which `is_slow` holds take 300 ms longer.
fn slowed(is_slow: impl Fn(u64, Timestamp) -> bool) -> Vec<Mode> {
    groups(&changed(&simulated(&queue(0.5, 3)), |record| {
        if is_slow(record.index, record.intended_start) {
            record.end = record.end + Nanos(300 * MS);
            record.first_byte = record.first_byte.map(|first| first + Nanos(300 * MS));
        }
    }))
}

#[test]
fn queues_and_single_stalls_have_no_groups() {
    for load in [0.3, 0.7, 0.9] {
        assert_eq!(groups(&simulated(&queue(load, 7))), [], "{load}");
    }
    for name in ["01-healthy", "02-single-hiccup"] {
        assert_eq!(groups(&simulated(&scenario(name))), [], "{name}");
    }
}

#[test]
fn every_fiftieth_request_is_a_group() {
    let found = slowed(|index, _| index % 50 == 7);
    assert_eq!(found.len(), 1, "{found:?}");
    let group = &found[0];
    assert!((group.share - 0.02).abs() < 0.002, "{group:?}");
    assert!(group.low_ns >= 300 * MS && group.place == ModePlace::EveryNth(50), "{group:?}");
    assert!(group.message.contains("% of the answers took 3") && group.message.contains("every 50th request"));
}

#[test]
fn a_group_in_a_short_time_and_one_over_the_run_are_told_apart() {
    let hash = |index: u64| index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let spread = slowed(|index, _| hash(index) % 40 == 0);
    assert_eq!(spread.iter().map(|group| &group.place).collect::<Vec<_>>(), [&ModePlace::Spread], "{spread:?}");
    let within = slowed(|index, start| hash(index) % 4 == 0 && (10 * S..13 * S).contains(&start.0));
    let ModePlace::Within { from_ns, to_ns } = within[0].place else { panic!("{within:?}") };
    assert!(from_ns >= 10 * S && to_ns < 13 * S && within.len() == 1, "{within:?}");
}

/// A random number in (0, 1).
fn uniform(random: &mut Xoshiro256PlusPlus) -> f64 {
    ((random.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
    (-2.0 * uniform(random).ln()).sqrt() * (std::f64::consts::TAU * uniform(random)).cos()
}

fn exponential(random: &mut Xoshiro256PlusPlus) -> f64 {
    -uniform(random).ln()
}

type Draw = fn(&mut Xoshiro256PlusPlus) -> f64;

/// Times in milliseconds, all with a main peak below 100 ms.
const SMOOTH: [Draw; 6] = [
    |random| 10.0 * exponential(random),
    |random| 10.0 * (0.5 * normal(random)).exp(),
    |random| 10.0 * (1.5 * normal(random)).exp(),
    |random| (0..4).map(|_| 3.0 * exponential(random)).sum(),
    |random| 10.0 * uniform(random).powf(-1.0 / 1.2),
    |random| 10.0 + 40.0 * uniform(random),
];

/// Returns the times of 2000 requests, with a share of them in a group from 300 to 303 ms.
fn drawn(seed: u64, draw: Draw, share: f64) -> Vec<u64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut one = || match uniform(&mut random) < share {
        true => 300.0 + 3.0 * uniform(&mut random),
        false => draw(&mut random),
    };
    let mut times: Vec<u64> = (0..2_000).map(|_| (one() * 1e6) as u64 + 1).collect();
    times.sort_unstable();
    times
}

#[test]
fn smooth_tails_of_any_form_have_no_groups_and_two_per_cent_are_found() {
    let runs = |share: f64| {
        let seeds = (0..100).flat_map(|seed| SMOOTH.map(|draw| groups_of(&drawn(seed, draw, share))));
        seeds.filter(|groups| !groups.is_empty()).count()
    };
    // Of 600 runs each.
    assert_eq!([runs(0.0), runs(0.02)], [0, 600]);
}
