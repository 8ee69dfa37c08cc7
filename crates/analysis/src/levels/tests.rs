use super::*;
use proptest::prelude::*;
use truetail_model::random::Random;

/// Values about 0 that depend on their neighbour with this weight.
fn noise(seed: u64, n: usize, memory: f64, deviation: f64) -> Vec<f64> {
    let mut random = Random::new(seed, 5);
    let mut normal = || (0..12).map(|_| random.uniform()).sum::<f64>() - 6.0;
    let mut value = normal();
    let mut next = || {
        value = memory * value + (1.0 - memory * memory).sqrt() * normal();
        value * deviation
    };
    (0..n).map(|_| next()).collect()
}

fn levels_of(values: &[f64]) -> Vec<Level> {
    levels(&MedianSeries::from_values(values.to_vec()))
}

fn ends(levels: &[Level]) -> Vec<(usize, usize)> {
    levels.iter().map(|level| (level.from, level.to)).collect()
}

/// The cost of the best cut, found by trying all of them.
fn best_by_trial(values: &[f64], penalty: f64, shortest: usize) -> f64 {
    let cost = |part: &[f64]| {
        let mean = part.iter().sum::<f64>() / part.len() as f64;
        part.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
    };
    if values.is_empty() {
        return -penalty;
    }
    let begins = 0..=values.len().saturating_sub(shortest);
    let possible = begins.filter(|begin| *begin == 0 || *begin >= shortest);
    possible
        .map(|begin| best_by_trial(&values[..begin], penalty, shortest) + penalty + cost(&values[begin..]))
        .fold(f64::INFINITY, f64::min)
}

proptest! {
    #[test]
    fn the_partition_is_the_best_one(values in proptest::collection::vec(-5.0f64..5.0, 1..11), penalty in 0.0f64..30.0) {
        let ends = partition::partition(&values, penalty, SHORTEST);
        prop_assert_eq!(*ends.last().unwrap(), values.len());
        prop_assert!(ends.is_sorted());
        let cost: f64 = from_ends(&values, &ends).iter().map(|level| {
            let part = &values[level.from..level.to];
            let mean = part.iter().sum::<f64>() / part.len() as f64;
            part.iter().map(|value| (value - mean).powi(2)).sum::<f64>() + penalty
        }).sum();
        prop_assert!((cost - penalty - best_by_trial(&values, penalty, SHORTEST)).abs() < 1e-9);
    }

    /// For any values, the levels are a partition with gaps only beside the first and the last.
    #[test]
    fn levels_are_in_order(values in proptest::collection::vec(0.0f64..20.0, 20..120)) {
        let levels = levels_of(&values);
        prop_assert_eq!((levels[0].from, levels[levels.len() - 1].to), (0, values.len()));
        prop_assert!(levels.iter().all(|level| level.from < level.to));
        prop_assert!(levels.windows(2).all(|pair| pair[0].to <= pair[1].from));
    }

    /// A factor on all response times moves every level, and changes nothing else.
    #[test]
    fn a_slower_unit_changes_nothing(seed in any::<u64>(), by in -5.0f64..5.0) {
        let values: Vec<f64> = noise(seed, 60, 0.5, 0.2).iter().enumerate().map(|(i, v)| v + f64::from(i >= 25) * 1.5).collect();
        let moved: Vec<f64> = values.iter().map(|value| value + by).collect();
        prop_assert_eq!(ends(&levels_of(&values)), ends(&levels_of(&moved)));
    }
}

#[test]
fn a_step_is_found_where_it_is() {
    for seed in 0..50 {
        let values: Vec<f64> =
            noise(seed, 60, 0.0, 0.05).iter().enumerate().map(|(i, v)| v + f64::from(i >= 40) * 0.5).collect();
        let found = levels_of(&values);
        // A value or two beside the step may be outside the band by chance.
        assert!(found.len() == 2 && found[0].to <= 40 && found[1].from >= 40, "seed {seed}: {found:?}");
        assert!(found[0].to >= 38 && found[1].from <= 42, "seed {seed}: {found:?}");
    }
}

#[test]
fn noise_with_a_memory_has_one_level() {
    // Blocks of six seconds, the longest that a minute allows, are not much longer than a memory of 0.7.
    for (memory, most) in [(0.0, 20), (0.5, 20), (0.7, 32)] {
        let alarms = (0..400).filter(|seed| levels_of(&noise(*seed, 60, memory, 0.3)).len() > 1).count();
        assert!(alarms <= most, "memory {memory}: {alarms} of 400");
    }
}

/// A test that assumes independent neighbours sees changes everywhere: the reason for the long-run variance.
#[test]
fn a_memory_would_deceive_the_plain_variance() {
    let deceived = |seed: &u64| {
        let values = noise(*seed, 60, 0.7, 0.3);
        let variance = values.iter().map(|value| value * value).sum::<f64>() / 60.0;
        partition::partition(&values, 2.0 * variance * libm::log(60.0), SHORTEST).len() > 1
    };
    assert!((0..100).filter(deceived).count() > 25);
}

#[test]
fn an_event_is_no_level() {
    for (length, height) in [(1, 4.0), (2, 4.0), (4, 3.0), (5, -2.0)] {
        for at in [0, 7, 30, 55] {
            let mut values = noise(9, 60, 0.0, 0.02);
            values.iter_mut().skip(at).take(length).for_each(|value| *value += height);
            let found = levels_of(&values);
            // With nothing before the event, or hardly anything after it, either result is right.
            assert!(found.len() == 1 || at == 0 || at + length > 57, "{length} from {at} on: {found:?}");
        }
    }
    let mut bump = noise(9, 60, 0.0, 0.02);
    bump.iter_mut().skip(20).take(15).for_each(|value| *value += 0.7);
    assert_eq!(ends(&levels_of(&bump)), [(0, 20), (20, 35), (35, 60)]);
}

#[test]
fn a_drift_is_seen_from_end_to_end() {
    let climb = |i: usize| ((i as f64 - 20.0) / 30.0).clamp(0.0, 1.0);
    let values: Vec<f64> =
        noise(3, 60, 0.0, 0.01).iter().enumerate().map(|(i, v)| v + (1.0 + 9.0 * climb(i)).ln()).collect();
    let found = levels_of(&values);
    let begins = found[0].to;
    let ends = found[found.len() - 1].from;
    assert!((19..=22).contains(&begins) && (44..=51).contains(&ends), "{found:?}");
}

#[test]
fn a_cold_start_is_short() {
    let mut values = noise(4, 60, 0.0, 0.05);
    let level = |values: &[f64]| Level::new(values, 0, values.len());
    assert_eq!(cold_start(&values, &level(&values)), 0);
    values[0] += 1.0;
    values[1] += 0.5;
    assert_eq!(cold_start(&values, &level(&values)), 2);
}
