//! Bins of a logarithmic scale.

/// Available numbers of bins per factor of ten, finest first.
const PER_DECADE: [u32; 13] = [40, 30, 24, 20, 16, 12, 10, 8, 6, 5, 4, 3, 2];

/// Equally wide bins on a logarithmic scale. Powers of ten lie mid-bin, so that times around them are not split.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct LogBins {
    per_decade: f64,
    /// Number of bin 0, counted from the bin of 1 ns.
    first: i64,
    pub(super) count: usize,
}

impl LogBins {
    /// Returns the finest bins that cover `low` to `high`, at most `most` of them. `most` must be at least 40.
    pub(super) fn over(low: u64, high: u64, most: usize) -> LogBins {
        let bins = |per_decade: u32| {
            let per_decade = f64::from(per_decade);
            let first = place(per_decade, low);
            let last = place(per_decade, high.max(low));
            LogBins { per_decade, first, count: (last - first + 1) as usize }
        };
        PER_DECADE.into_iter().map(bins).find(|bins| bins.count <= most).unwrap_or(bins(2))
    }

    /// Bin of a value. Values outside belong to the first or last bin.
    pub(super) fn bin_of(&self, value: u64) -> usize {
        ((place(self.per_decade, value) - self.first).max(0) as usize).min(self.count - 1)
    }

    pub(super) fn lowest(&self) -> f64 {
        libm::pow(10.0, (self.first as f64 - 0.5) / self.per_decade)
    }

    /// Ratio between the upper and the lower edge of a bin.
    pub(super) fn factor(&self) -> f64 {
        libm::pow(10.0, 1.0 / self.per_decade)
    }
}

fn place(per_decade: f64, value: u64) -> i64 {
    libm::floor(libm::log10(value.max(1) as f64) * per_decade + 0.5) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_value_is_in_its_bin(low in 0u64..1 << 40, shift in 0u32..24, value in any::<u64>()) {
            let high = low.saturating_mul(1 << shift);
            let bins = LogBins::over(low, high, 48);
            prop_assert!(bins.count >= 1 && bins.count <= 48);
            let value = low + value % (high - low + 1);
            let lower = bins.lowest() * libm::pow(bins.factor(), bins.bin_of(value) as f64);
            let at = value.max(1) as f64;
            prop_assert!(lower <= at * 1.000001 && at <= lower * bins.factor() * 1.000001, "{value} in {bins:?}");
        }
    }

    #[test]
    fn the_whole_of_u64_fits() {
        assert!(LogBins::over(0, u64::MAX, 40).count <= 40);
        assert_eq!(LogBins::over(10_000_000, 10_000_000, 48).count, 1);
        let bins = LogBins::over(1, 1_000, 48);
        assert_eq!((bins.bin_of(0), bins.bin_of(1), bins.bin_of(u64::MAX)), (0, 0, bins.count - 1));
    }
}
