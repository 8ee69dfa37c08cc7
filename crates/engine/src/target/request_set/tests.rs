//! Tests that the choice is a pure function of index and seed and follows the weights.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// Returns targets with these weights. Each has a request for each row, except the targets in `fixed`.
fn requests(weights: &[u32], fixed: &[usize], rows: u32, order: FeedOrder, seed: u64) -> RequestSet {
    let target = |(number, weight): (usize, &u32)| {
        let mut target = TargetRequests::new(Method::Get, format!("http://a/{number}"), *weight);
        let renderings = if rows == 0 || fixed.contains(&number) { 1 } else { rows };
        (0..renderings).for_each(|row| target.push_message(format!("target {number} row {row}").as_bytes()));
        target
    };
    RequestSet::new(weights.iter().enumerate().map(target).collect(), rows, order, seed).unwrap()
}

fn counts(requests: &RequestSet, indices: impl Iterator<Item = u64>) -> BTreeMap<RequestId, u64> {
    indices.fold(BTreeMap::new(), |mut counts, index| {
        *counts.entry(requests.choose(index)).or_default() += 1;
        counts
    })
}

proptest! {
    /// All stripes together make the same requests as the whole schedule, for any number of stripes.
    #[test]
    fn stripes_add_up_to_the_whole(
        weights in prop::collection::vec(1u32..1000, 1..8),
        rows in 0u32..20,
        random: bool,
        seed: u64,
        (arrivals, of) in (1u64..3000, 1u64..9),
    ) {
        let order = if random { FeedOrder::Random } else { FeedOrder::InOrder };
        let all = requests(&weights, &[0], rows, order, seed);
        let whole = counts(&all, 0..arrivals);
        let mut union = BTreeMap::new();
        for stripe in 0..of {
            // Each worker has its own copy.
            let mine = counts(&all.clone(), (stripe..arrivals).step_by(of as usize));
            mine.iter().for_each(|(which, n)| *union.entry(*which).or_default() += n);
        }
        prop_assert_eq!(&whole, &union);
        prop_assert_eq!(whole.values().sum::<u64>(), arrivals);
    }

    /// Every index gets a request that exists, with the right bytes.
    #[test]
    fn each_arrival_has_a_request(
        weights in prop::collection::vec(1u32.., 1..8),
        rows in 0u32..20,
        random: bool,
        seed: u64,
        index: u64,
    ) {
        let order = if random { FeedOrder::Random } else { FeedOrder::InOrder };
        let all = requests(&weights, &[], rows, order, seed);
        let which = all.choose(index);
        let named = format!("target {} row {}", which.target, which.row);
        prop_assert_eq!(all.bytes(which), named.as_bytes());
        if order == FeedOrder::InOrder && rows > 0 {
            prop_assert_eq!(u64::from(which.row), index % u64::from(rows));
        }
    }
}

/// Each target gets its share within five standard deviations of the binomial distribution. The seeds are fixed, so the
/// test always gives the same result.
#[test]
fn weights_hold() {
    const N: u64 = 20_000;
    for (seed, weights) in (0..).zip([&[1, 1][..], &[3, 1], &[1, 2, 3, 4, 5], &[1, 99], &[1000, 1, 1000], &[7; 7]]) {
        let total: u32 = weights.iter().sum();
        let counts = counts(&requests(weights, &[], 7, FeedOrder::Random, seed), 0..N);
        for (target, weight) in weights.iter().enumerate() {
            let share = f64::from(*weight) / f64::from(total);
            let seen: u64 = counts.iter().filter(|(which, _)| which.target == target as u32).map(|(_, n)| n).sum();
            let deviation = (N as f64 * share * (1.0 - share)).sqrt();
            assert!(
                (seen as f64 - N as f64 * share).abs() <= 5.0 * deviation,
                "seed {seed}: {target} {seen} {weights:?}"
            );
        }
    }
}

#[test]
fn random_rows_are_all_drawn_and_equally_often() {
    let all = requests(&[1], &[], 10, FeedOrder::Random, 1);
    for (which, count) in counts(&all, 0..10_000) {
        // Five standard deviations of 30 each.
        assert!((850..=1150).contains(&count), "{which:?} {count}");
    }
    assert_eq!(counts(&all, 0..10_000).len(), 10);
}

/// Rows and targets are drawn independently: every target gets all rows.
#[test]
fn rows_do_not_depend_on_targets() {
    let all = requests(&[1, 1], &[], 4, FeedOrder::Random, 3);
    for (which, count) in counts(&all, 0..8_000) {
        assert!((840..=1160).contains(&count), "{which:?} {count}");
    }
}

#[test]
fn another_seed_is_another_order_and_the_same_seed_the_same() {
    let draw = |seed| {
        (0..64).map(|k| requests(&[1, 1], &[], 0, FeedOrder::InOrder, seed).choose(k).target).collect::<Vec<_>>()
    };
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
}

/// Saved runs name their seed, so the draws of a seed must never change.
#[test]
fn the_draws_of_a_seed_never_change() {
    let all = requests(&[3, 2, 1], &[], 5, FeedOrder::Random, 1);
    let drawn: Vec<_> = (0..12).map(|k| (all.choose(k).target, all.choose(k).row)).collect();
    assert_eq!(drawn, PUBLISHED);
}

const PUBLISHED: [(u32, u32); 12] =
    [(2, 0), (0, 1), (1, 1), (0, 2), (1, 1), (1, 2), (0, 3), (1, 0), (1, 0), (0, 1), (0, 0), (1, 4)];

#[test]
fn a_hash_tells_requests_and_weights_apart_and_not_seeds() {
    let hash = |weights: &[u32], rows, seed| requests(weights, &[], rows, FeedOrder::InOrder, seed).hash();
    assert_eq!(hash(&[1, 2], 3, 1), hash(&[1, 2], 3, 2));
    let others = [hash(&[1, 2], 3, 1), hash(&[2, 1], 3, 1), hash(&[1, 2], 2, 1), hash(&[1], 3, 1)];
    assert_eq!(others.iter().collect::<std::collections::BTreeSet<_>>().len(), others.len());
    let two = |parts: [&[u8]; 2]| {
        let mut target = TargetRequests::new(Method::Get, String::new(), 1);
        parts.iter().for_each(|part| target.push_message(part));
        RequestSet::new(vec![target], 2, FeedOrder::InOrder, 1).unwrap().hash()
    };
    assert_ne!(two([b"ab", b"c"]), two([b"a", b"bc"]));
}

#[test]
fn what_was_recorded_is_asked_for_again_in_its_order() {
    let target = |requests: &[&str]| {
        let mut target = TargetRequests::new(Method::Get, String::new(), 1);
        requests.iter().for_each(|text| target.push_message(text.as_bytes()));
        target
    };
    let of = |asked: &[(u32, u32)]| {
        let asked = asked.iter().map(|(target, row)| RequestId { target: *target, row: *row }).collect();
        RequestSet::recorded(vec![target(&["a", "b"]), target(&["c"])], asked)
    };
    let all = of(&[(0, 1), (1, 0), (0, 0), (0, 1)]).unwrap();
    let asked: Vec<_> = (0..6).map(|index| all.bytes(all.choose(index))[0] as char).collect();
    assert_eq!(asked, ['b', 'c', 'a', 'b', 'b', 'c']);
    assert_ne!(all.hash(), of(&[(0, 0), (1, 0), (0, 1), (0, 1)]).unwrap().hash());
    for missing in [&[][..], &[(0, 2)], &[(2, 0)], &[(0, 0), (1, 1)]] {
        assert_eq!(of(missing), Err(RequestSetError::Nothing), "{missing:?}");
    }
}

#[test]
fn what_is_no_set_of_requests() {
    let target = |requests: usize| {
        let mut target = TargetRequests::new(Method::Get, String::new(), 0);
        (0..requests).for_each(|_| target.push_message(b"x"));
        target
    };
    let new = |targets| RequestSet::new(targets, 3, FeedOrder::InOrder, 1);
    assert_eq!(new(Vec::new()), Err(RequestSetError::Nothing));
    assert_eq!(new(vec![target(1), target(0)]), Err(RequestSetError::Nothing));
    assert_eq!(new(vec![target(1), target(2)]), Err(RequestSetError::Rows { found: 2, rows: 3 }));
    let good = new(vec![target(1), target(3)]).unwrap();
    assert_eq!((good.targets()[0].weight(), good.rows(), good.is_uniform()), (1, 3, false));
}
