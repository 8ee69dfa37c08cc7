//! Bounds of a metric, and the decision that they allow.

use truetail_run::GateState;

use super::metric::Operator;

/// Range of the possible true values, both ends included. An infinite `high` means no upper bound.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Bounds {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Bounds {
    /// Bounds of an unknown non-negative number.
    pub(super) const UNKNOWN: Bounds = Bounds { low: 0.0, high: f64::INFINITY };

    pub(super) const fn exactly(value: f64) -> Bounds {
        Bounds { low: value, high: value }
    }

    /// Decides a gate: it fails if every possible value meets the condition, and holds if none does. A condition has
    /// one limit and one direction, so checking both ends is enough.
    pub(super) fn decide(self, operator: Operator, limit: f64) -> GateState {
        match (operator.holds(self.low, limit), operator.holds(self.high, limit)) {
            (true, true) => GateState::Fails,
            (false, false) => GateState::Holds,
            (true, false) | (false, true) => GateState::Open,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const OPERATORS: [Operator; 4] = [Operator::Above, Operator::AtLeast, Operator::Below, Operator::AtMost];

    fn any_bounds() -> impl Strategy<Value = Bounds> {
        let end = prop_oneof![4 => 0.0..100.0, 1 => Just(f64::INFINITY)];
        (0.0..100.0, end).prop_map(|(a, b): (f64, f64)| Bounds { low: a.min(b), high: a.max(b) })
    }

    proptest! {
        #[test]
        fn a_decision_is_monotone_in_the_limit(bounds in any_bounds(), a in 0.0..120.0, b in 0.0..120.0) {
            let low = f64::min(a, b);
            let high = f64::max(a, b);
            for operator in OPERATORS {
                let [at_low, at_high] = [low, high].map(|limit| bounds.decide(operator, limit));
                let (first, then) = if operator.is_upward() { (at_low, at_high) } else { (at_high, at_low) };
                prop_assert!(first >= then, "a larger limit on large values is easier to keep");
            }
        }

        #[test]
        fn a_decision_contradicts_no_possible_value(bounds in any_bounds(), limit in 0.0..120.0, part in 0.0..=1.0f64) {
            let high = f64::min(bounds.high, 1e6);
            let inside = (bounds.low + (high - bounds.low) * part).clamp(bounds.low, high);
            for operator in OPERATORS {
                for value in [bounds.low, inside, bounds.high] {
                    let truth = Bounds::exactly(value).decide(operator, limit);
                    prop_assert_ne!(truth, GateState::Open);
                    let decided = bounds.decide(operator, limit);
                    prop_assert!(decided == GateState::Open || decided == truth);
                }
            }
        }

        #[test]
        fn a_wider_bracket_decides_no_more(bounds in any_bounds(), limit in 0.0..120.0, more in 0.0..50.0f64) {
            let wider = Bounds { low: f64::max(bounds.low - more, 0.0), high: bounds.high + more };
            for operator in OPERATORS {
                let narrow = bounds.decide(operator, limit);
                let wide = wider.decide(operator, limit);
                prop_assert!(wide == GateState::Open || wide == narrow);
            }
        }
    }

    #[test]
    fn what_is_not_known_decides_nothing() {
        for operator in OPERATORS {
            assert_eq!(Bounds::UNKNOWN.decide(operator, 5.0), GateState::Open);
        }
        let no_answer = Bounds::exactly(f64::INFINITY);
        assert_eq!(no_answer.decide(Operator::Above, 1e18), GateState::Fails);
        assert_eq!(no_answer.decide(Operator::Below, 1e18), GateState::Holds);
    }
}
