//! Gaps of single streams, within a limit on memory.

use truetail_model::record::is_in_even_part;
use truetail_model::time::Nanos;

/// Limit on the gaps that are kept of one stream: its first ones.
pub const MAX_GAPS_OF_STREAM: usize = 4_096;
/// Limit on the gaps that a run keeps: 8 MB.
pub(crate) const MAX_GAPS: usize = 1 << 20;

/// The first gaps of one stream, in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GapList {
    /// Index of the request in the whole schedule.
    pub index: u64,
    /// The gaps, at most [`MAX_GAPS_OF_STREAM`].
    pub gaps: Box<[Nanos]>,
}

/// Gaps of all streams while they fit, later of one stream in a power of two.
///
/// A hash of the index decides which streams keep their gaps, the same as of the requests that a run keeps. So streams
/// that have no place are forgotten one after the other: all at once would take milliseconds during a run.
#[derive(Clone, Default, Debug)]
pub struct GapLists {
    lists: Vec<GapList>,
    /// Number of gaps in all lists.
    gaps: usize,
    halvings: u32,
    /// End of the part of `lists` that the last halving has finished.
    halved_up_to: usize,
    most: Option<usize>,
}

impl GapLists {
    /// Keeps the gaps of a stream, if there are any and they belong to the part. There must be no more than
    /// [`MAX_GAPS_OF_STREAM`].
    pub fn keep(&mut self, index: u64, gaps: &[Nanos]) {
        if gaps.is_empty() {
            return;
        }
        self.make_room(index, gaps.len());
        if is_in_even_part(index, self.halvings) && self.gaps + gaps.len() <= self.most() {
            self.gaps += gaps.len();
            self.lists.push(GapList { index, gaps: gaps.into() });
        }
    }

    /// Adds the gaps of another part of the load.
    pub fn merge(&mut self, other: GapLists) {
        self.halvings = self.halvings.max(other.halvings);
        self.settle();
        other.lists.into_iter().for_each(|list| self.keep(list.index, &list.gaps));
        self.settle();
    }

    /// Returns the lists by index.
    pub fn into_lists(mut self) -> Vec<GapList> {
        self.settle();
        self.lists.sort_unstable_by_key(|list| list.index);
        self.lists
    }

    /// Forgets streams that no longer belong to the part until there is room, as long as `index` belongs to it.
    fn make_room(&mut self, index: u64, room: usize) {
        while self.gaps + room > self.most() && self.halvings < u64::BITS && is_in_even_part(index, self.halvings) {
            let rest = &self.lists[self.halved_up_to..];
            match rest.iter().position(|list| !is_in_even_part(list.index, self.halvings)) {
                Some(steps) => {
                    self.halved_up_to += steps;
                    self.gaps -= self.lists.swap_remove(self.halved_up_to).gaps.len();
                }
                None => {
                    self.halvings += 1;
                    self.halved_up_to = 0;
                }
            }
        }
    }

    fn settle(&mut self) {
        let halvings = self.halvings;
        self.lists.retain(|list| is_in_even_part(list.index, halvings));
        self.gaps = self.lists.iter().map(|list| list.gaps.len()).sum();
        self.halved_up_to = self.lists.len();
    }

    fn most(&self) -> usize {
        self.most.unwrap_or(MAX_GAPS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(most: usize, indices: impl Iterator<Item = u64>) -> GapLists {
        let mut lists = GapLists { most: Some(most), ..GapLists::default() };
        indices.for_each(|index| lists.keep(index, &vec![Nanos(index); 1 + index as usize % 7]));
        lists
    }

    fn indices(lists: GapLists) -> Vec<u64> {
        lists.into_lists().iter().map(|list| list.index).collect()
    }

    #[test]
    fn all_gaps_are_kept_while_they_fit() {
        let kept = lists(400, 0..100).into_lists();
        assert!(kept.iter().map(|list| list.index).eq(0..100));
        assert_eq!(*kept[12].gaps, [Nanos(12); 6]);
    }

    #[test]
    fn later_a_hash_of_the_index_decides_and_parts_can_be_merged() {
        let whole = lists(400, 0..3_000);
        let halvings = whole.halvings;
        assert!(halvings >= 4, "{halvings}");
        let expected: Vec<u64> = (0..3_000).filter(|index| is_in_even_part(*index, halvings)).collect();
        assert_eq!(indices(whole), expected);
        let mut sum = lists(400, (0..3_000).filter(|index| index % 2 == 0));
        sum.merge(lists(400, (0..3_000).filter(|index| index % 2 == 1)));
        assert_eq!(sum.gaps, sum.lists.iter().map(|list| list.gaps.len()).sum::<usize>());
        let halvings = sum.halvings;
        assert!(indices(sum).into_iter().eq((0..3_000).filter(|index| is_in_even_part(*index, halvings))));
    }

    /// A file may hold such requests: every halving keeps this index.
    #[test]
    fn gaps_that_no_halving_drops_end_the_halving() {
        const IN_EVERY_PART: u64 = 0x5341_4d50;
        let mut lists = GapLists { most: Some(10), ..GapLists::default() };
        (0..5).for_each(|_| lists.keep(IN_EVERY_PART, &[Nanos(1); 4]));
        assert_eq!((lists.lists.len(), lists.gaps), (2, 8));
    }
}
