//! The best cut of a series into levels: least squares plus a penalty for each level, found exactly.
//!
//! The optimal partition of Jackson et al., "An algorithm for optimal partitioning of data on an interval", *IEEE
//! Signal Processing Letters* 12, 2005. Killick, Fearnhead & Eckley (PELT, *JASA* 107, 2012) find the same partition in
//! less time, which matters only for more values than the few hundred of a run.

/// Returns the ends of the levels of `values`, ascending. No level is shorter than `shortest`, unless all values are.
pub(super) fn partition(values: &[f64], penalty: f64, shortest: usize) -> Vec<usize> {
    let n = values.len();
    let squares = PrefixSums::new(values);
    // The least cost of the values before each index, and the start of the last level before it.
    let mut best = vec![(f64::INFINITY, 0); n + 1];
    best[0] = (-penalty, 0);
    for end in shortest.min(n)..=n {
        let begins = 0..=end - shortest.min(n);
        let costs = begins.map(|begin| (best[begin].0 + squares.about_mean(begin, end) + penalty, begin));
        best[end] = costs.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or(best[end]);
    }
    let mut ends = vec![n];
    while let Some(begin) = ends.last().map(|end| best[*end].1).filter(|begin| *begin > 0) {
        ends.push(begin);
    }
    ends.reverse();
    ends
}

/// Sums up to each index, to compute the squares about the mean of any stretch.
struct PrefixSums {
    sums: Vec<(f64, f64)>,
}

impl PrefixSums {
    /// Subtracts the mean first, because the difference of large sums would lose its digits.
    fn new(values: &[f64]) -> PrefixSums {
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let mut sums = vec![(0.0, 0.0)];
        for value in values {
            let (sum, squares) = sums[sums.len() - 1];
            let off = value - mean;
            sums.push((sum + off, squares + off * off));
        }
        PrefixSums { sums }
    }

    fn about_mean(&self, from: usize, to: usize) -> f64 {
        let sum = self.sums[to].0 - self.sums[from].0;
        let squares = self.sums[to].1 - self.sums[from].1;
        (squares - sum * sum / (to - from) as f64).max(0.0)
    }
}
