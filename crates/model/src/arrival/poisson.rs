//! The points of a unit Poisson process, each computed from its number.
//!
//! A machine that sends every n-th arrival must not draw the gaps of all arrivals, so the process is built from above.
//! The first 2^64 points, more than any run has, take a length of Gamma(2^64). The first half of any stretch of 2m
//! points takes a share of its length that is Beta(m, m). Repeated halving ends at a leaf of [`IN_LEAF`] points, which
//! divide it as the partial sums of exponential gaps divide their sum. Each share and gap is drawn from its number
//! ([`Numbered`]).
//!
//! Two theorems make all gaps independent and exponential with mean 1. If X and Y are independent and Gamma(m), then X
//! / (X + Y) is Beta(m, m) and independent of X + Y, which is Gamma(2m). And for m independent exponential gaps, the
//! quotients of gap and sum are independent of the sum, which is Gamma(m).
//!
//! A walk keeps the stretches down to its leaf. The next leaf costs one share on average, k leaves further about
//! log2(k) + 1.

use std::f64::consts::TAU;

use crate::random::Numbered;

/// Purposes of the random numbers: gaps, and shares.
const GAPS: u64 = 0x4741_5053;
const SHARES: u64 = 0x5348_4152;

/// log2 of the number of points in a leaf.
const LEAF_BITS: u32 = 6;
const IN_LEAF: usize = 1 << LEAF_BITS;
/// Number of halvings from the whole to a leaf.
const HALVINGS: usize = (u64::BITS - LEAF_BITS) as usize;

/// Points closer than this, in arrivals, may be swapped by the last bits of a profile's arithmetic.
const CLOSE: f64 = 1e-3;

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Point {
    /// Position on the axis.
    pub(super) place: f64,
    /// Position of the point before, if the two are close.
    pub(super) close_before: Option<f64>,
}

/// Stretch of the axis, from the last point before it to its own last point.
#[derive(Clone, Copy, Default, Debug)]
struct Stretch {
    start: f64,
    end: f64,
}

/// The points of one seed. They must be asked for in ascending order.
#[derive(Clone, Debug)]
pub(super) struct PoissonPoints {
    gaps: Numbered,
    shares: Numbered,
    /// Number of the current leaf.
    leaf: u64,
    /// The stretches that contain this leaf, by the number of halvings below each.
    stretches: [Stretch; HALVINGS + 1],
    /// For each point of the leaf, e^−(sum of its gaps up to there): a product of uniform numbers.
    products: [f64; IN_LEAF],
    /// Factor from the logarithm of a product to a length.
    scale: f64,
}

impl PoissonPoints {
    /// Creates the points of `seed`, from number `first` on.
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

    /// Returns point `index`, from 0. Indices must not descend from call to call.
    #[inline]
    pub(super) fn at(&mut self, index: u64) -> Point {
        let leaf = index >> LEAF_BITS;
        if leaf != self.leaf {
            self.advance_to(leaf);
        }
        let i = index as usize % IN_LEAF;
        let before = if i == 0 { 1.0 } else { self.products[i - 1] };
        let is_close = self.products[i] > before * (1.0 - CLOSE);
        Point { place: self.place(i), close_before: is_close.then(|| self.place_before(i)) }
    }

    /// Returns the position of point i of the leaf. The last point ends the stretch.
    #[inline]
    fn place(&self, i: usize) -> f64 {
        let Stretch { start, end } = self.stretches[0];
        if i == IN_LEAF - 1 { end } else { (start + libm::log(self.products[i]) * self.scale).min(end) }
    }

    fn place_before(&self, i: usize) -> f64 {
        if i == 0 { self.stretches[0].start } else { self.place(i - 1) }
    }

    fn advance_to(&mut self, leaf: u64) {
        debug_assert!(leaf > self.leaf, "points are asked for in ascending order");
        // The smallest stretch that contains both leaves: the walk moves from its first half to its second.
        let common = (u64::BITS - (leaf ^ self.leaf).leading_zeros()) as usize;
        self.stretches[common - 1] = Stretch { start: self.stretches[common - 1].end, end: self.stretches[common].end };
        self.descend(leaf, common - 1);
    }

    /// Descends to a leaf from a known stretch, which has `halvings` halvings below it.
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

    fn draw_gaps(&mut self) {
        let first = self.leaf << LEAF_BITS;
        let mut product = 1.0f64;
        for (i, held) in self.products.iter_mut().enumerate() {
            // The product falls below the smallest number once in e^640 leaves.
            product = (product * self.gaps.uniform(first + i as u64)).max(f64::MIN_POSITIVE);
            *held = product;
        }
        let Stretch { start, end } = self.stretches[0];
        self.scale = (end - start) / libm::log(product);
    }
}

/// Draws the length of 2^64 points: Gamma(2^64).
///
/// It is d (1 + x/√(9d))³ with x normal and d = 2^64 − 1/3. Marsaglia and Tsang (2000) reject some values to make the
/// distribution exact, here with probability x⁴/108d: less than once in 10^20.
fn whole_length(shares: Numbered) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(shares.uniform(0)));
    let x = radius * libm::cos(TAU * shares.uniform(1));
    let d = u64::MAX as f64;
    let root = 1.0 + x / libm::sqrt(9.0 * d);
    d * root * root * root
}

/// Draws the share of the first half of stretch `number` at its level: Beta(m, m), where m is 2^`halvings` leaves.
///
/// It is ½ + ½ √(1 − U^(2/(2m − 1))) cos 2πV with U and V uniform: the coordinate of a point with the density (1 −
/// r²)^(m − 3/2) in the disc (Devroye, Non-Uniform Random Variate Generation, 1986, IX.4; the method is Ulrich's).
fn share_of_first_half(shares: Numbered, halvings: usize, number: u64) -> f64 {
    // Nodes are numbered as in a heap: 1 is the whole, and 2k and 2k + 1 are the halves of k.
    let node = 1 << (HALVINGS - 1 - halvings) | number;
    let m = (1u64 << (halvings as u32 + LEAF_BITS)) as f64;
    let radius = libm::sqrt(-libm::expm1(2.0 * libm::log(shares.uniform(2 * node)) / (2.0 * m - 1.0)));
    0.5 + 0.5 * radius * libm::cos(TAU * shares.uniform(2 * node + 1))
}
