//! Time divided into bins of equal width. The width doubles whenever the run would need too many bins.

/// Counters of one bin.
pub(super) trait Cell: Clone + Default {
    /// Adds the counts of the next bin, when two bins merge.
    fn absorb(&mut self, later: &Self);
}

/// Bins that cover all times recorded until now, in bounded memory. Times may arrive in any order.
#[derive(Clone, Debug)]
pub(super) struct Bins<C> {
    cells: Vec<C>,
    /// Number of the first bin, counted from time 0.
    first: u64,
    /// log2 of the width in nanoseconds.
    shift: u32,
    most: usize,
    /// From this shift on, the limit on the number of bins is four times `max_bins`.
    more_from: u32,
}

impl<C: Cell> Bins<C> {
    /// Creates an empty set that never holds more than `max_bins` bins. `max_bins` must be a power of two.
    pub(super) fn new(most: usize, shift: u32) -> Bins<C> {
        Bins { cells: Vec::new(), first: 0, shift, most, more_from: u32::MAX }
    }

    /// Quadruples the limit on the number of bins before they get wider than 2^`shift` nanoseconds.
    pub(super) fn widen_from(self, shift: u32) -> Bins<C> {
        Bins { more_from: shift, ..self }
    }

    fn max_bins(&self) -> usize {
        if self.shift < self.more_from { self.most } else { self.most * 4 }
    }

    /// Returns the bin that holds `time`, adding bins as needed.
    #[inline]
    pub(super) fn at(&mut self, time: u64) -> &mut C {
        let index = (time >> self.shift).wrapping_sub(self.first);
        if index < self.cells.len() as u64 {
            return &mut self.cells[index as usize];
        }
        self.grow(time)
    }

    #[cold]
    fn grow(&mut self, time: u64) -> &mut C {
        if self.cells.is_empty() {
            self.first = time >> self.shift;
        }
        while self.span_with(time) > self.max_bins() as u64 {
            self.double();
        }
        let bin = time >> self.shift;
        if bin < self.first {
            let missing = (self.first - bin) as usize;
            // Spare bins, so that times that run backwards do not move all bins each time.
            let spare = (self.cells.len() / 4).min(self.max_bins() - self.cells.len() - missing).min(bin as usize);
            let added = missing + spare;
            self.cells.splice(0..0, std::iter::repeat_n(C::default(), added));
            self.first -= added as u64;
        }
        let index = (bin - self.first) as usize;
        if index >= self.cells.len() {
            self.cells.resize(index + 1, C::default());
        }
        &mut self.cells[index]
    }

    /// Number of bins needed to cover `time` in addition to the existing ones.
    fn span_with(&self, time: u64) -> u64 {
        let bin = time >> self.shift;
        let last = self.first + (self.cells.len() as u64).saturating_sub(1);
        (last.max(bin) - self.first.min(bin)).saturating_add(1)
    }

    fn double(&mut self) {
        let old = std::mem::take(&mut self.cells);
        let first = self.first >> 1;
        for (bin, cell) in (self.first..).zip(&old) {
            let index = ((bin >> 1) - first) as usize;
            if index == self.cells.len() {
                self.cells.push(cell.clone());
            } else {
                self.cells[index].absorb(cell);
            }
        }
        self.first = first;
        self.shift += 1;
    }

    pub(super) fn width(&self) -> u64 {
        1 << self.shift
    }

    pub(super) fn cells(&self) -> &[C] {
        &self.cells
    }

    /// Start of bin `index` in nanoseconds.
    pub(super) fn begins(&self, index: usize) -> u64 {
        let bin = u128::from(self.first) + index as u128;
        u64::try_from(bin << self.shift).unwrap_or(u64::MAX)
    }

    /// Index of the bin that holds `time`, or of the nearest bin.
    pub(super) fn index_of(&self, time: u64) -> usize {
        let bin = (time >> self.shift).saturating_sub(self.first);
        (bin as usize).min(self.cells.len().saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Default, Debug)]
    struct Count(u64);

    impl Cell for Count {
        fn absorb(&mut self, later: &Count) {
            self.0 += later.0;
        }
    }

    proptest! {
        /// Times in any order are all counted, each in the bin that covers it.
        #[test]
        fn nothing_is_lost(times in proptest::collection::vec((0u32..64, any::<u64>()).prop_map(|(shift, bits)| (bits >> 1) >> shift), 1..300)) {
            let mut bins: Bins<Count> = Bins::new(64, 4);
            for time in &times {
                bins.at(*time).0 += 1;
            }
            prop_assert!(bins.cells().len() <= 64);
            prop_assert_eq!(bins.cells().iter().map(|cell| cell.0).sum::<u64>(), times.len() as u64);
            for time in &times {
                let index = bins.index_of(*time);
                prop_assert!(bins.begins(index) <= *time && *time - bins.begins(index) < bins.width());
                prop_assert!(bins.cells()[index].0 > 0);
            }
        }
    }
}
