//! Who gets how many rows of the screen.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

/// Rows that a block asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Demand {
    /// Lower ranks are served first; among equals, the block that stands higher.
    pub rank: u8,
    /// How many more rows.
    pub rows: u16,
    /// All of them or none.
    pub whole: bool,
}

/// Draws a part of the screen into a rectangle.
type Draw<'a> = dyn Fn(Rect, &mut Buffer) + 'a;

/// A part of the screen.
pub(crate) struct Block<'a> {
    /// The first demand is what the block needs to be there at all; the others come on top.
    demands: Vec<Demand>,
    draw: Box<Draw<'a>>,
}

impl<'a> Block<'a> {
    /// A block that is left out where `least` rows cannot be had.
    pub(crate) fn new(rank: u8, least: u16, draw: impl Fn(Rect, &mut Buffer) + 'a) -> Block<'a> {
        Block { demands: vec![Demand { rank, rows: least, whole: true }], draw: Box::new(draw) }
    }

    /// The same with up to `rows` more, where all that is of a lower rank has been served.
    pub(crate) fn and(mut self, rank: u8, rows: u16) -> Block<'a> {
        self.demands.push(Demand { rank, rows, whole: false });
        self
    }

    /// An empty row, for the eye, if one is left.
    pub(crate) fn gap() -> Block<'a> {
        Block::new(LAST, 1, |_, _| {})
    }
}

/// The rank of what is nice to have.
pub(crate) const LAST: u8 = 100;

/// Draws the blocks below each other, from the top of `area`.
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

/// The rows of each block; together at most `rows`.
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
        fn no_more_rows_are_given_than_there_are_and_none_is_kept_back(
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
                // Who is not there at all did not fit into what is left.
                prop_assert!(*given > 0 || block[0].rows > rows - sum);
            }
        }
    }
}
