//! Choice of the sampled streams and sessions shown in full.

use truetail_run::Sampled;

use super::data::SampleReason;

/// Number of slowest items shown …
const SLOWEST: usize = 3;
/// … and of randomly sampled items besides the median.
const RANDOM: usize = 4;

/// Returns the slowest items, the median of the random sample by `slowness`, and some other random ones, once each.
pub(super) fn shown<T: PartialEq, K: Ord>(
    sampled: &Sampled<T>,
    slowness: impl Fn(&T) -> K,
) -> impl Iterator<Item = (SampleReason, &T)> {
    let slowest: Vec<&T> = sampled.slowest.iter().take(SLOWEST).collect();
    let mut in_order: Vec<&T> = sampled.random.iter().collect();
    in_order.sort_by_key(|one| slowness(one));
    let middle = in_order.get(in_order.len().saturating_sub(1) / 2).copied();
    let median = middle.filter(|one| !slowest.contains(one));
    let is_new = |one: &&T| !slowest.contains(one) && Some(*one) != median;
    let chance: Vec<&T> = sampled.random.iter().filter(is_new).take(RANDOM).collect();
    let because = |because: SampleReason| move |one| (because, one);
    let slowest = slowest.into_iter().map(because(SampleReason::Slowest));
    slowest
        .chain(median.map(because(SampleReason::Median)))
        .chain(chance.into_iter().map(because(SampleReason::Chance)))
}
