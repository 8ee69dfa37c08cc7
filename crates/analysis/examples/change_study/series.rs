//! Series of runs whose shift is known.

use truetail_analysis::history::{FEWEST_RUNS, Level, Point, levels};
use truetail_model::random::Random;

/// Runs of a series.
pub const RUNS: usize = 60;
/// Runs after the shift within which it has to be found.
pub const SOON: usize = 5;
/// Distance from the shift at which it counts as found.
const NEAR: usize = 2;
/// Share of spoilt runs.
const SPOILT: f64 = 0.05;

/// A series of runs with one shift, or none if the shift is 0.
pub struct Series {
    pub points: Vec<Point>,
    /// Place of the shift.
    pub at: usize,
    pub shift: f64,
}

fn normal(random: &mut Random) -> f64 {
    (2.0 * random.exponential()).sqrt() * (std::f64::consts::TAU * random.uniform()).cos()
}

impl Series {
    pub fn new(seed: u64, (between, within): (f64, f64), shift: f64) -> Series {
        let mut random = Random::new(seed, 0x6869_7374);
        let at = 15 + (random.uniform() * 30.0) as usize;
        let mut point = |run: usize| {
            let error = within * (0.2 * normal(&mut random)).exp();
            let level = if run >= at { shift.ln_1p() } else { 0.0 };
            let usual = level + between * normal(&mut random) + error * normal(&mut random);
            let is_spoilt = random.uniform() < SPOILT;
            let excess = (1.2 + 1.3 * random.uniform()).ln();
            let is_known = random.uniform() < 0.5;
            let value = 16.0 + usual + if is_spoilt { excess } else { 0.0 };
            Point { value, without_generator: value, error: if is_spoilt && is_known { 5.0 * error } else { error } }
        };
        Series { points: (0..RUNS).map(&mut point).collect(), at, shift }
    }

    pub fn is_found(&self, levels: &[Level]) -> bool {
        levels.iter().skip(1).any(|level| level.points.start.abs_diff(self.at) <= NEAR)
    }

    pub fn is_found_soon(&self) -> bool {
        (self.at + 1..=self.at + SOON).any(|runs| self.is_found(&levels(&self.points[..runs])))
    }

    pub fn has_alarm_at_any_look(&self) -> bool {
        (FEWEST_RUNS..=RUNS).any(|runs| levels(&self.points[..runs]).len() > 1)
    }

    /// Returns whether the interval of the only change holds the shift; `None` if there is not exactly one.
    pub fn is_covered(&self) -> Option<bool> {
        let found = levels(&self.points);
        let [before, after] = found.as_slice() else { return None };
        let (low, high) = after.ratio_to(before);
        Some((low..=high).contains(&self.shift.ln_1p()))
    }
}
