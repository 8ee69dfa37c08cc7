//! When a probe is looked at, and how much of its error probability each look may spend.
//!
//! Each look is another chance to be wrong. The level is spent over the length of the probe by the function
//! α ln(1 + (e − 1) t), t from 0 to 1, which spends evenly like Pocock's boundary (Lan & DeMets, "Discrete sequential
//! boundaries for clinical trials", *Biometrika* 70, 1983). A look gets what the function grew by since the look before. The
//! sum of the levels is then α, so that the probe is wrong with probability α at most, however its looks depend on each
//! other (Bonferroni).

use truetail_model::time::Nanos;

/// From one look to the next, the probe grows by half.
const GROWTH: (u64, u64) = (3, 2);

/// The looks at one probe.
#[derive(Clone, Debug)]
pub(super) struct Looks {
    last: Nanos,
    level: f64,
    next: Nanos,
    spent: f64,
}

impl Looks {
    /// From `first` on until `last`, with the one-sided `level` for all of them together.
    pub(super) fn new(first: Nanos, last: Nanos, level: f64) -> Looks {
        Looks { last, level, next: first.min(last), spent: 0.0 }
    }

    /// The length of the probe at the next look; `None` after the last one.
    pub(super) fn next(&self) -> Option<Nanos> {
        (self.next <= self.last).then_some(self.next)
    }

    /// Takes a look when the probe is `elapsed` long, and returns the level that it may use. The look after the planned end is
    /// the last one.
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

    /// The look after the one at `look`. The last two are never closer than a third of the probe.
    fn after(&self, look: Nanos) -> Nanos {
        if look >= self.last {
            return Nanos::MAX;
        }
        let grown = |look: Nanos| Nanos((look.0 / GROWTH.1).saturating_mul(GROWTH.0).max(look.0 + 1));
        let next = grown(look);
        if grown(next) > self.last { self.last } else { next }
    }
}
