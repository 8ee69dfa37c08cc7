//! Distribution of the rows of the screen.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Demand {
    /// Rank. Lower ranks are served first, and of equal ranks the block that is higher on the screen.
    pub rank: u8,
    /// Number of additional rows.
    pub rows: u16,
    /// True if the block needs all of these rows or none.
    pub whole: bool,
}

type Draw<'a> = dyn Fn(Rect, &mut Buffer) + 'a;

pub(crate) struct Block<'a> {
    /// The first demand is the minimum of the block; the other demands are additional.
    demands: Vec<Demand>,
    draw: Box<Draw<'a>>,
}

impl<'a> Block<'a> {
    /// Creates a block that is omitted if fewer than `least` rows are available.
    pub(crate) fn new(rank: u8, least: u16, draw: impl Fn(Rect, &mut Buffer) + 'a) -> Block<'a> {
        Block { demands: vec![Demand { rank, rows: least, whole: true }], draw: Box::new(draw) }
    }

    /// Demands up to `rows` more, once all lower ranks have been served.
    pub(crate) fn and(mut self, rank: u8, rows: u16) -> Block<'a> {
        self.demands.push(Demand { rank, rows, whole: false });
        self
    }

    /// Creates an optional empty row.
    pub(crate) fn gap() -> Block<'a> {
        Block::new(LAST, 1, |_, _| {})
    }
}

pub(crate) const LAST: u8 = 100;

/// Draws the blocks one below the other, from the top of `area`.
pub(crate) fn stack(blocks: &[Block<'_>], area: Rect, buffer: &mut Buffer) {
    let demands: Vec<&[Demand]> = blocks.iter().map(|block| &block.demands[..]).collect();
    let mut y = area.y;
    for (block, height) in blocks.iter().zip(share_out(&demands, area.height)) {
        if height > 0 && area.width > 0 {
            (block.draw)(Rect { y, height, ..area }, buffer);
        }
        y += height;
    }
}

/// Returns the rows of each block; together at most `rows`.
fn share_out(blocks: &[&[Demand]], rows: u16) -> Vec<u16> {
    let mut given = vec![0; blocks.len()];
    let mut left = rows;
    let mut queue: Vec<(u8, usize, usize)> = Vec::new();
    for (block, demands) in blocks.iter().enumerate() {
        queue.extend(demands.iter().enumerate().map(|(number, demand)| (demand.rank, block, number)));
    }
    queue.sort_unstable();
    for (_, block, number) in queue {
        let demand = blocks[block][number];
        let is_there = number == 0 || given[block] > 0;
        if is_there && !(demand.whole && demand.rows > left) {
            let granted = demand.rows.min(left);
            given[block] += granted;
            left -= granted;
        }
    }
    given
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn demand(rank: u8, rows: u16, whole: bool) -> Demand {
        Demand { rank, rows, whole }
    }

    #[test]
    fn what_matters_most_is_there_first_and_stands_where_it_belongs() {
        let title: &[Demand] = &[demand(1, 1, true)];
        let picture: &[Demand] = &[demand(2, 3, true), demand(9, 50, false)];
        let keys: &[Demand] = &[demand(0, 1, true)];
        assert_eq!(share_out(&[title, picture, keys], 1), [0, 0, 1]);
        assert_eq!(share_out(&[title, picture, keys], 4), [1, 0, 1]);
        assert_eq!(share_out(&[title, picture, keys], 5), [1, 3, 1]);
        assert_eq!(share_out(&[title, picture, keys], 20), [1, 18, 1]);
        assert_eq!(share_out(&[title, picture, keys], 200), [1, 53, 1]);
    }

    proptest! {
        #[test]
        fn given_rows_fit_and_none_is_wasted(
            asked in prop::collection::vec((0u8..5, 1u16..9, 0u8..5, 0u16..9), 0..12),
            rows in 0u16..80,
        ) {
            let blocks: Vec<[Demand; 2]> = asked
                .iter()
                .map(|&(rank, least, more_rank, more)| [demand(rank, least, true), demand(rank + more_rank, more, false)])
                .collect();
            let borrowed: Vec<&[Demand]> = blocks.iter().map(|block| &block[..]).collect();
            let given = share_out(&borrowed, rows);
            let sum: u16 = given.iter().sum();
            prop_assert!(sum <= rows);
            for (block, given) in blocks.iter().zip(&given) {
                prop_assert!(*given == 0 || *given >= block[0].rows);
                prop_assert!(*given <= block[0].rows + block[1].rows);
                // An omitted block did not fit into the remaining rows.
                prop_assert!(*given > 0 || block[0].rows > rows - sum);
            }
        }
    }
}
