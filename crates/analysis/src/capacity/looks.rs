//! Times of the looks at a probe, and the part of its error probability that each look may spend.
//!
//! Each look is another chance to be wrong, so the looks share the level α of the probe. Until the share t of the
//! probe's length, they may spend α ln(1 + (e − 1) t) together. This function spends evenly, like Pocock's boundary
//! (Lan & DeMets, "Discrete sequential boundaries for clinical trials", *Biometrika* 70, 1983). A look gets the growth
//! of the function since the look before. All levels add up to α, so the probe is wrong with probability at most α,
//! even if its looks depend on each other (Bonferroni).

use truetail_model::time::Nanos;

const GROWTH: (u64, u64) = (3, 2);

#[derive(Clone, Debug)]
pub(super) struct Looks {
    last: Nanos,
    level: f64,
    next: Nanos,
    spent: f64,
}

impl Looks {
    /// Plans looks from length `first` to length `last`. They share the one-sided `level`.
    pub(super) fn new(first: Nanos, last: Nanos, level: f64) -> Looks {
        Looks { last, level, next: first.min(last), spent: 0.0 }
    }

    /// Length of the probe at the next look. `None` after the last look.
    pub(super) fn next(&self) -> Option<Nanos> {
        (self.next <= self.last).then_some(self.next)
    }

    /// Takes a look at a probe of length `elapsed`. Returns the level that this look may spend. The look at or after
    /// the planned end is the last one.
    pub(super) fn take(&mut self, elapsed: Nanos) -> f64 {
        let part = (elapsed.as_secs_f64() / self.last.as_secs_f64()).min(1.0);
        let may_have_spent = self.level * (1.0 + (std::f64::consts::E - 1.0) * part).ln();
        let level = (may_have_spent - self.spent).max(0.0);
        self.spent = self.spent.max(may_have_spent);
        while self.next <= elapsed && self.next < Nanos::MAX {
            self.next = self.after(self.next);
        }
        level
    }

    /// Returns the look after `look`. The last two looks are at least a third of the probe apart.
    fn after(&self, look: Nanos) -> Nanos {
        if look >= self.last {
            return Nanos::MAX;
        }
        let grown = |look: Nanos| Nanos((look.0 / GROWTH.1).saturating_mul(GROWTH.0).max(look.0 + 1));
        let next = grown(look);
        if grown(next) > self.last { self.last } else { next }
    }
}
