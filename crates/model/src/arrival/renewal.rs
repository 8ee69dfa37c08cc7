//! The points of a renewal process with random gaps of mean 1, each computed from its number.
//!
//! The gaps are Gamma(k)/k with a shape k. Exponential gaps, those of a Poisson process, have the shape 1.
//!
//! A machine that sends every n-th arrival must not draw the gaps of all arrivals, so the process is built from above.
//! The first 2^64 points, more than any run has, take a length of Gamma(2^64 k)/k. The first half of any stretch of 2m
//! points takes a share of its length that is Beta(mk, mk). Repeated halving ends at a leaf of [`IN_LEAF`] points,
//! which divide it as the partial sums of gaps divide their sum. Each share and gap is drawn from its number
//! ([`Numbered`]).
//!
//! Two theorems make all gaps independent, with this distribution. If X and Y are independent and Gamma(a), then their
//! share X/(X + Y) is Beta(a, a) and independent of their sum, which is Gamma(2a). And for m independent gaps of
//! Gamma(k), the quotients of gap and sum are independent of the sum, which is Gamma(mk).
//!
//! A walk keeps the stretches down to its leaf. The next leaf costs one share on average, n leaves further about
//! log2(n) + 1.

use std::f64::consts::TAU;

use super::GammaShape;
use crate::random::Numbered;

/// Purposes of the random numbers: exponential gaps, shares, the attempts to draw other gaps, and the gaps of shapes
/// below 1.
const GAPS: u64 = 0x4741_5053;
const SHARES: u64 = 0x5348_4152;
const ATTEMPTS: u64 = 0x4741_4d4d_0000_0000;
const SMALL: u64 = 0x534d_414c;

/// log2 of the number of points in a leaf.
const LEAF_BITS: u32 = 6;
const IN_LEAF: usize = 1 << LEAF_BITS;
/// Number of halvings from the whole to a leaf.
const HALVINGS: usize = (u64::BITS - LEAF_BITS) as usize;

/// Points closer than this, in arrivals, may be swapped by the last bits of a profile's arithmetic.
const CLOSE: f64 = 1e-3;

/// Stretch of the axis, from the last point before it to its own last point.
#[derive(Clone, Copy, Default, Debug)]
struct Stretch {
    start: f64,
    end: f64,
}

/// The points of one seed. They must be asked for in ascending order.
#[derive(Clone, Debug)]
pub(super) struct RenewalPoints {
    gaps: Gaps,
    shares: Numbered,
    /// Number of the current leaf.
    leaf: u64,
    /// The stretches that contain this leaf, by the number of halvings below each.
    stretches: [Stretch; HALVINGS + 1],
    /// For each point of the leaf, its gaps up to there, as [`Gaps`] holds them.
    held: [f64; IN_LEAF],
    /// Factor from [`Gaps::length`] to a length on the axis.
    scale: f64,
}

impl RenewalPoints {
    /// Creates the points of `seed`, from number `first` on. Their gaps have this shape; `None`: they are exponential.
    pub(super) fn from(shape: Option<GammaShape>, seed: u64, first: u64) -> RenewalPoints {
        let gaps = match shape {
            None => Gaps::Exponential(Numbered::new(seed, GAPS)),
            Some(shape) => Gaps::Gamma { shape: shape.value(), seed },
        };
        let mut points = RenewalPoints {
            gaps,
            shares: Numbered::new(seed, SHARES),
            leaf: 0,
            stretches: [Stretch::default(); HALVINGS + 1],
            held: [0.0; IN_LEAF],
            scale: 0.0,
        };
        points.stretches[HALVINGS].end = whole_length(points.shares, gaps.shape());
        points.descend(first >> LEAF_BITS, HALVINGS);
        points
    }

    /// Returns the position of point `index`, from 0. Indices must not descend from call to call.
    #[inline]
    pub(super) fn at(&mut self, index: u64) -> f64 {
        let leaf = index >> LEAF_BITS;
        if leaf != self.leaf {
            self.advance_to(leaf);
        }
        self.place(index as usize % IN_LEAF)
    }

    /// Returns the positions of the points just before point `index`, the last that was asked for, as long as each is
    /// close to the next. They go back to the last point of the leaf before.
    #[inline]
    pub(super) fn close_before(&self, index: u64) -> impl Iterator<Item = f64> {
        let points = (0..=index as usize % IN_LEAF).rev();
        points.take_while(|i| self.gaps.is_close(self.held_before(*i), self.held[*i])).map(|i| self.place_before(i))
    }

    fn held_before(&self, i: usize) -> f64 {
        if i == 0 { self.gaps.nothing() } else { self.held[i - 1] }
    }

    /// Returns the position of point i of the leaf. The last point ends the stretch.
    #[inline]
    fn place(&self, i: usize) -> f64 {
        let Stretch { start, end } = self.stretches[0];
        if i == IN_LEAF - 1 { end } else { (start + self.gaps.length(self.held[i]) * self.scale).min(end) }
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
            let share = share_of_first_half(self.shares, self.gaps.shape(), below, leaf >> (below + 1));
            let middle = (start + (end - start) * share).min(end);
            let is_second = leaf >> below & 1 == 1;
            self.stretches[below] =
                if is_second { Stretch { start: middle, end } } else { Stretch { start, end: middle } };
        }
        self.leaf = leaf;
        self.gaps.draw(leaf << LEAF_BITS, &mut self.held);
        let Stretch { start, end } = self.stretches[0];
        self.scale = (end - start) / self.gaps.length(self.held[IN_LEAF - 1]);
    }
}

/// Distribution of the gaps.
#[derive(Clone, Copy, Debug)]
enum Gaps {
    /// Held as e^−(their sum): a product of uniform numbers, so that only the points that are asked for take a
    /// logarithm.
    Exponential(Numbered),
    /// Held as their sum.
    Gamma { shape: f64, seed: u64 },
}

impl Gaps {
    fn shape(self) -> f64 {
        match self {
            Gaps::Exponential(_) => 1.0,
            Gaps::Gamma { shape, .. } => shape,
        }
    }

    /// Returns the form in which no gaps are held.
    fn nothing(self) -> f64 {
        match self {
            Gaps::Exponential(_) => 1.0,
            Gaps::Gamma { .. } => 0.0,
        }
    }

    /// Returns the sum of held gaps, up to a factor that is the same for all.
    fn length(self, held: f64) -> f64 {
        match self {
            Gaps::Exponential(_) => libm::log(held),
            Gaps::Gamma { .. } => held,
        }
    }

    /// Returns true if held gaps are longer than those held before by less than [`CLOSE`].
    fn is_close(self, before: f64, held: f64) -> bool {
        match self {
            Gaps::Exponential(_) => held > before * (1.0 - CLOSE),
            Gaps::Gamma { shape, .. } => held - before < CLOSE * shape,
        }
    }

    /// Draws the gaps of the leaf whose first point has this number.
    fn draw(self, first: u64, all: &mut [f64; IN_LEAF]) {
        let mut sum = self.nothing();
        for (i, held) in all.iter_mut().enumerate() {
            let number = first + i as u64;
            // A product falls below the smallest number once in e^640 leaves.
            sum = match self {
                Gaps::Exponential(gaps) => (sum * gaps.uniform(number)).max(f64::MIN_POSITIVE),
                Gaps::Gamma { shape, seed } => (sum + gamma(shape, seed, number)).max(f64::MIN_POSITIVE),
            };
            *held = sum;
        }
    }
}

/// Draws Gamma(`shape`) for gap `number`.
///
/// From a shape of 1 on it is d v with v = (1 + x/√(9d))³, x normal and d = `shape` − 1/3, if ln U < x²/2 + d − d v +
/// d ln v, and is drawn again otherwise (Marsaglia and Tsang, A simple method for generating gamma variables, 2000).
/// Below 1 it is Gamma(`shape` + 1) U^(1/`shape`), from the same paper.
fn gamma(shape: f64, seed: u64, number: u64) -> f64 {
    if shape < 1.0 {
        let factor = libm::pow(Numbered::new(seed, SMALL).uniform(number), 1.0 / shape);
        return gamma(shape + 1.0, seed, number) * factor;
    }
    let d = shape - 1.0 / 3.0;
    // More than 19 of 20 attempts succeed.
    let mut attempt = ATTEMPTS;
    loop {
        let [radius, angle, chance] = [0, 1, 2].map(|nth| Numbered::new(seed, attempt + nth).uniform(number));
        let x = libm::sqrt(-2.0 * libm::log(radius)) * libm::cos(TAU * angle);
        let root = 1.0 + x / libm::sqrt(9.0 * d);
        let v = root * root * root;
        if v > 0.0 && libm::log(chance) < 0.5 * x * x + d - d * v + d * libm::log(v) {
            return d * v;
        }
        attempt += 3;
    }
}

/// Draws the length of 2^64 points: Gamma(2^64 k)/k, where k is the shape.
///
/// As in [`gamma`], it is d (1 + x/√(9d))³ with d = 2^64 k − 1/3. The attempt fails with probability x⁴/108d, here less
/// than once in 10^18, and is not repeated.
fn whole_length(shares: Numbered, shape: f64) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(shares.uniform(0)));
    let x = radius * libm::cos(TAU * shares.uniform(1));
    let d = shape * u64::MAX as f64;
    let root = 1.0 + x / libm::sqrt(9.0 * d);
    d * root * root * root / shape
}

/// Draws the share of the first half of stretch `number` at its level: Beta(m, m), where m is `shape` times the points
/// of 2^`halvings` leaves.
///
/// It is ½ + ½ √(1 − U^(2/(2m − 1))) cos 2πV with U and V uniform: the coordinate of a point with the density (1 −
/// r²)^(m − 3/2) in the disc (Devroye, Non-Uniform Random Variate Generation, 1986, IX.4; the method is Ulrich's).
fn share_of_first_half(shares: Numbered, shape: f64, halvings: usize, number: u64) -> f64 {
    // Nodes are numbered as in a heap: 1 is the whole, and 2k and 2k + 1 are the halves of k.
    let node = 1 << (HALVINGS - 1 - halvings) | number;
    let m = shape * (1u64 << (halvings as u32 + LEAF_BITS)) as f64;
    let radius = libm::sqrt(-libm::expm1(2.0 * libm::log(shares.uniform(2 * node)) / (2.0 * m - 1.0)));
    0.5 + 0.5 * radius * libm::cos(TAU * shares.uniform(2 * node + 1))
}
