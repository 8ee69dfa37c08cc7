//! The points of a unit Poisson process, each computed from its number.
//!
//! A machine that has every n-th arrival must not draw the gaps of all of them. So the process is built from above. The first
//! 2^64 points, which are more than there ever are, take a length of Gamma(2^64). Of a stretch of 2m points, the first m take a
//! share of its length that is Beta(m, m), whatever the length is. Halved in this way again and again, a stretch of
//! [`IN_LEAF`] points is left, a leaf, and its points divide it as the partial sums of as many exponential gaps divide
//! their sum. All shares and gaps have a number of their own, from which they are drawn ([`Numbered`]).
//!
//! All gaps are then independent and exponential with mean 1, because of two theorems. If X and Y are independent and
//! Gamma(m), then X / (X + Y) is Beta(m, m) and independent of X + Y, which is Gamma(2m); and of m independent exponential
//! gaps, the quotients of gap and sum are independent of the sum, which is Gamma(m).
//!
//! A walk keeps the stretches from the whole down to its leaf. From one leaf to the next it draws one share on
//! average, and from one leaf to another that is k further, about log2(k) + 1.

use std::f64::consts::TAU;

use crate::random::Numbered;

/// The numbers that gaps are drawn from, and those that shares are.
const GAPS: u64 = 0x4741_5053;
const SHARES: u64 = 0x5348_4152;

/// log2 of the points in a leaf.
const LEAF_BITS: u32 = 6;
const IN_LEAF: usize = 1 << LEAF_BITS;
/// Halvings from the whole to a leaf.
const HALVINGS: usize = (u64::BITS - LEAF_BITS) as usize;

/// Below this distance, in arrivals, the last bits of a profile's arithmetic may swap two points.
const CLOSE: f64 = 1e-3;

/// A point of the process.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Point {
    /// Where it lies on the axis.
    pub(super) place: f64,
    /// Where the point before it lies, if they are close.
    pub(super) close_before: Option<f64>,
}

/// A stretch of the axis, from the last point before it to its own last point.
#[derive(Clone, Copy, Default, Debug)]
struct Stretch {
    start: f64,
    end: f64,
}

/// The points of one seed, to be asked for in ascending order.
#[derive(Clone, Debug)]
pub(super) struct PoissonPoints {
    gaps: Numbered,
    shares: Numbered,
    /// The leaf that the walk is in, by number.
    leaf: u64,
    /// By the number of halvings below it, each stretch that has this leaf in it.
    stretches: [Stretch; HALVINGS + 1],
    /// For each point of the leaf, e to the power of minus the sum of its gaps up to there: a product of uniform numbers.
    products: [f64; IN_LEAF],
    /// What the logarithm of a product is to be multiplied by.
    scale: f64,
}

impl PoissonPoints {
    /// The points of `seed`, from number `first` on.
    pub(super) fn from(seed: u64, first: u64) -> PoissonPoints {
        let mut points = PoissonPoints {
            gaps: Numbered::new(seed, GAPS),
            shares: Numbered::new(seed, SHARES),
            leaf: 0,
            stretches: [Stretch::default(); HALVINGS + 1],
            products: [1.0; IN_LEAF],
            scale: 0.0,
        };
        points.stretches[HALVINGS].end = whole_length(points.shares);
        points.descend(first >> LEAF_BITS, HALVINGS);
        points
    }

    /// Point `index`, from 0, which is not before the last one that was asked for.
    #[inline]
    pub(super) fn at(&mut self, index: u64) -> Point {
        let leaf = index >> LEAF_BITS;
        if leaf != self.leaf {
            self.go_on_to(leaf);
        }
        let i = index as usize % IN_LEAF;
        let before = if i == 0 { 1.0 } else { self.products[i - 1] };
        let is_close = self.products[i] > before * (1.0 - CLOSE);
        Point { place: self.place(i), close_before: is_close.then(|| self.place_before(i)) }
    }

    /// Where point i of the leaf lies. The last one ends the stretch.
    #[inline]
    fn place(&self, i: usize) -> f64 {
        let Stretch { start, end } = self.stretches[0];
        if i == IN_LEAF - 1 { end } else { (start + libm::log(self.products[i]) * self.scale).min(end) }
    }

    fn place_before(&self, i: usize) -> f64 {
        if i == 0 { self.stretches[0].start } else { self.place(i - 1) }
    }

    fn go_on_to(&mut self, leaf: u64) {
        debug_assert!(leaf > self.leaf, "points are asked for in ascending order");
        // The smallest stretch that has both leaves in it; the walk goes from its first half to its second.
        let common = (u64::BITS - (leaf ^ self.leaf).leading_zeros()) as usize;
        self.stretches[common - 1] = Stretch { start: self.stretches[common - 1].end, end: self.stretches[common].end };
        self.descend(leaf, common - 1);
    }

    /// Goes down to a leaf from the stretch with so many halvings below it, which is known.
    fn descend(&mut self, leaf: u64, halvings: usize) {
        for below in (0..halvings).rev() {
            let Stretch { start, end } = self.stretches[below + 1];
            let share = share_of_first_half(self.shares, below, leaf >> (below + 1));
            let middle = (start + (end - start) * share).min(end);
            let is_second = leaf >> below & 1 == 1;
            self.stretches[below] =
                if is_second { Stretch { start: middle, end } } else { Stretch { start, end: middle } };
        }
        self.leaf = leaf;
        self.draw_gaps();
    }

    /// Draws the gaps of the leaf.
    fn draw_gaps(&mut self) {
        let first = self.leaf << LEAF_BITS;
        let mut product = 1.0f64;
        for (i, held) in self.products.iter_mut().enumerate() {
            // It falls below the smallest number once in e^640 leaves.
            product = (product * self.gaps.uniform(first + i as u64)).max(f64::MIN_POSITIVE);
            *held = product;
        }
        let Stretch { start, end } = self.stretches[0];
        self.scale = (end - start) / libm::log(product);
    }
}

/// The length of 2^64 points: Gamma(2^64).
///
/// It is d (1 + x/√(9d))³ with x normal and d = 2^64 − 1/3. Marsaglia and Tsang (2000) reject some of these to make the
/// distribution exact, here with probability x⁴/108d: less than once in 10^20.
fn whole_length(shares: Numbered) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(shares.uniform(0)));
    let x = radius * libm::cos(TAU * shares.uniform(1));
    let d = u64::MAX as f64;
    let root = 1.0 + x / libm::sqrt(9.0 * d);
    d * root * root * root
}

/// What the first half takes of stretch `number` among those that are as long: Beta(m, m), where m is 2^`halvings` leaves.
///
/// It is ½ + ½ √(1 − U^(2/(2m − 1))) cos 2πV with U and V uniform: a point with the density (1 − r²)^(m − 3/2) in the
/// disc has such a coordinate (Devroye, Non-Uniform Random Variate Generation, 1986, IX.4; the method is Ulrich's).
fn share_of_first_half(shares: Numbered, halvings: usize, number: u64) -> f64 {
    // The numbers of a heap: 1 is the whole, and 2k and 2k + 1 are the halves of k.
    let node = 1 << (HALVINGS - 1 - halvings) | number;
    let m = (1u64 << (halvings as u32 + LEAF_BITS)) as f64;
    let radius = libm::sqrt(-libm::expm1(2.0 * libm::log(shares.uniform(2 * node)) / (2.0 * m - 1.0)));
    0.5 + 0.5 * radius * libm::cos(TAU * shares.uniform(2 * node + 1))
}
