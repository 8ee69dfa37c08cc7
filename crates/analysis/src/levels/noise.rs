//! The random variation of the mean of dependent values.
//!
//! The long-run variance of a stationary series is the limit of ℓ times the variance of the means of ℓ neighbours. It
//! is estimated from the differences between the means of neighbouring blocks. A change of level spoils one or two of
//! these differences, which does not affect their median (Wu & Zhao, "Inference of trends in time series", *J. R.
//! Statist. Soc. B* 69, 2007, section 4). Blocks must be longer than the memory of the series, and there must be enough
//! of them. That memory is not known, so the largest estimate over several lengths is used.

use super::median::{MEDIAN_OF_NORMAL, median};

/// Lengths of blocks. A length with fewer than [`FEWEST_BLOCKS`] blocks is skipped, except the first.
const LENGTHS: [usize; 11] = [3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 30];
const FEWEST_BLOCKS: usize = 10;
/// Weight of the uncertainty from having few blocks, in [`long_run_variance_beside_trend`].
const FEW_BLOCKS: f64 = 6.0;

/// Estimates the long-run variance from the differences of neighbouring blocks. A drift makes the estimate too large.
pub(super) fn long_run_variance(values: &[f64]) -> f64 {
    largest(values, |means| {
        let apart = means.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
        median(apart) / (2f64.sqrt() * MEDIAN_OF_NORMAL)
    })
}

/// Estimates the long-run variance from the difference of each block from the middle of its two neighbours, so that a
/// straight drift has no effect. This uses less information, so the estimate is increased if there are few blocks.
pub(super) fn long_run_variance_beside_trend(values: &[f64]) -> f64 {
    largest(values, |means| {
        let bent = means.windows(3).map(|three| (three[2] - 2.0 * three[1] + three[0]).abs()).collect();
        let doubt = (1.0 + FEW_BLOCKS / means.len() as f64).sqrt();
        median(bent) / (6f64.sqrt() * MEDIAN_OF_NORMAL) * doubt
    })
}

/// The largest estimate over the lengths of blocks. `deviation` estimates the standard deviation of the block means.
fn largest(values: &[f64], deviation: impl Fn(&[f64]) -> f64) -> f64 {
    let lengths = LENGTHS.iter().enumerate().filter(|(i, length)| *i == 0 || values.len() / **length >= FEWEST_BLOCKS);
    let estimate = |(_, length): (usize, &usize)| deviation(&block_means(values, *length)).powi(2) * *length as f64;
    lengths.map(estimate).filter(|estimate| estimate.is_finite()).fold(0.0, f64::max)
}

/// Returns the means of blocks of this length. Values that do not fill a block are left out at the beginning.
fn block_means(values: &[f64], length: usize) -> Vec<f64> {
    let whole = &values[values.len() % length..];
    whole.chunks_exact(length).map(|block| block.iter().sum::<f64>() / length as f64).collect()
}
