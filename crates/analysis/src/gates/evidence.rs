//! Evidence of a run about a metric: the measured figure, the bounds of the truth, and the reasons for these bounds.

use super::bounds::Bounds;
use super::doubt::Doubt;
use super::load_effects::LoadEffects;

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Measured {
    Nothing,
    Value(f64),
    /// At least this figure. Requests without an answer were given up after this time.
    AtLeast(f64),
    Between(f64, f64),
    /// The figure falls among failed arrivals, which would never have got an answer.
    NoAnswer,
}

/// Evidence of a run about a metric.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Evidence {
    pub(super) measured: Measured,
    /// Bounds of the truth.
    pub(super) bounds: Bounds,
    /// Figure without what the generator added to each request, if known.
    pub(super) without_generator: Option<f64>,
    /// The 95 % confidence interval, if both of its ends are known.
    pub(super) interval: Option<(f64, f64)>,
    /// Parts of the figure, in words, if it has several.
    pub(super) made_of: Option<String>,
    /// Reasons why the truth may be smaller than the figure.
    pub(super) below: Vec<Doubt>,
    /// Reasons why the truth may be larger than the figure.
    pub(super) above: Vec<Doubt>,
}

impl Evidence {
    pub(super) const fn new(measured: Measured, bounds: Bounds) -> Evidence {
        Evidence {
            measured,
            bounds,
            without_generator: None,
            interval: None,
            made_of: None,
            below: Vec::new(),
            above: Vec::new(),
        }
    }

    pub(super) const fn exactly(value: f64) -> Evidence {
        Evidence::new(Measured::Value(value), Bounds::exactly(value))
    }

    /// Creates evidence that says nothing, and the reason.
    pub(super) fn nothing(why: Doubt) -> Evidence {
        Evidence::new(Measured::Nothing, Bounds::UNKNOWN).with_above(why)
    }

    /// Extends the bounds down to `low`.
    pub(super) fn down_to(mut self, low: f64, why: Doubt) -> Evidence {
        if low < self.bounds.low {
            self.bounds.low = low.max(0.0);
            self.below.push(why);
        }
        self
    }

    /// Extends the bounds up to `high`.
    pub(super) fn up_to(mut self, high: f64, why: Doubt) -> Evidence {
        if high > self.bounds.high {
            self.bounds.high = high;
        }
        self.with_above(why)
    }

    pub(super) fn with_above(mut self, why: Doubt) -> Evidence {
        self.above.push(why);
        self
    }

    /// Turns evidence about a share in [0, 1] into evidence about the rest.
    pub(super) fn of_the_rest(self) -> Evidence {
        let measured = match self.measured {
            Measured::Value(share) => Measured::Value(1.0 - share),
            Measured::Between(low, high) => Measured::Between(1.0 - high, 1.0 - low),
            other => other,
        };
        let bounds = Bounds { low: 1.0 - self.bounds.high.min(1.0), high: 1.0 - self.bounds.low };
        Evidence { below: self.above, above: self.below, ..Evidence::new(measured, bounds) }
    }

    /// Accounts for the effects of the generator on the load. `largest` is the largest possible value.
    pub(super) fn with_load_effects(self, effects: LoadEffects, largest: f64) -> Evidence {
        if effects.unknown {
            let made_of = self.made_of;
            return Evidence {
                bounds: Bounds { low: 0.0, high: largest },
                made_of,
                ..Evidence::new(self.measured, self.bounds)
            }
            .with_everything_unknown();
        }
        let mut evidence = self;
        if effects.bursts {
            evidence = evidence.down_to(0.0, Doubt::Bursts);
        }
        if effects.lower_load {
            evidence = evidence.up_to(largest, Doubt::LowerLoad);
        }
        if effects.saturated {
            evidence = evidence.up_to(largest, Doubt::Saturated);
        }
        evidence
    }

    fn with_everything_unknown(mut self) -> Evidence {
        self.below.push(Doubt::NothingIsCertain);
        self.above.push(Doubt::NothingIsCertain);
        self
    }
}
