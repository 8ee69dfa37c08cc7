//! Tests with sorted arrays as the oracle: every arrival has a hidden true response time.

use proptest::prelude::*;
use truetail_model::arrival::Arrival;
use truetail_model::record::{Histogram, Outcome, RequestRecord};
use truetail_model::time::{Nanos, Timestamp};

use super::*;

/// Knowledge of the oracle about an arrival.
#[derive(Clone, Copy, Debug)]
struct Hidden {
    /// Time of its answer for a client that waits for ever; [`u64::MAX`] if no answer ever comes.
    truth: u64,
    /// The time waited for it.
    waited: u64,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    Answered,
    Censored,
    Failed,
}

impl Hidden {
    fn record(self, index: u64) -> RequestRecord {
        let outcome = match self.kind {
            Kind::Answered => Outcome::response(200),
            Kind::Censored => Outcome::TimedOut,
            Kind::Failed => Outcome::Reset(truetail_model::record::Cause::ResetByPeer),
        };
        let intended_start = Timestamp(index * 1_000_000);
        let arrival = Arrival { index, intended_start };
        RequestRecord::new(arrival, intended_start, intended_start + Nanos(self.waited), outcome)
    }
}

fn hidden() -> impl Strategy<Value = Hidden> {
    // Few different values, so that ties are common, and some over all magnitudes.
    let time = prop_oneof![3 => 1u64..40, 2 => (0u32..40, any::<u64>()).prop_map(|(shift, bits)| bits >> (24 + shift))];
    (time, 0.0..=1.0, prop_oneof![4 => Just(Kind::Answered), 2 => Just(Kind::Censored), 1 => Just(Kind::Failed)])
        .prop_map(|(truth, part, kind)| match kind {
            Kind::Answered => Hidden { truth, waited: truth, kind },
            Kind::Censored => Hidden { truth, waited: (truth as f64 * part) as u64, kind },
            Kind::Failed => Hidden { truth: u64::MAX, waited: truth, kind },
        })
}

fn exact(arrivals: &[Hidden]) -> Population {
    let records: Vec<RequestRecord> = (0..).zip(arrivals).map(|(i, hidden)| hidden.record(i)).collect();
    Population::from_arrivals(&records)
}

fn bucketed(arrivals: &[Hidden]) -> Population {
    let of = |kind| {
        let mut histogram = Histogram::new();
        arrivals.iter().filter(|a| a.kind == kind).for_each(|a| histogram.record(Nanos(a.waited)));
        histogram
    };
    Population::from_arrival_histograms(&of(Kind::Answered), &of(Kind::Censored), &of(Kind::Failed), &[])
}

fn truths(arrivals: &[Hidden]) -> Vec<u64> {
    let mut truths: Vec<u64> = arrivals.iter().map(|arrival| arrival.truth).collect();
    truths.sort_unstable();
    truths
}

/// Returns `value` plus the width of its bucket.
fn to_its_bucket(value: u64) -> u64 {
    value.saturating_add(value / 1024 + 1)
}

proptest! {
    #[test]
    fn what_is_printed_is_never_above_the_truth(arrivals in proptest::collection::vec(hidden(), 1..120)) {
        let population = exact(&arrivals);
        let truths = truths(&arrivals);
        let mut before = 0;
        for (rank, truth) in (1..).zip(&truths) {
            let printed = population.at(rank);
            prop_assert!(printed.value <= *truth, "rank {}: {:?} above {}", rank, printed, truth);
            prop_assert!(printed.value >= before, "rank {}: {:?} after {}", rank, printed, before);
            if !printed.at_least {
                prop_assert!(to_its_bucket(printed.value) >= *truth, "rank {}: {:?} is not {}", rank, printed, truth);
            }
            prop_assert_eq!(printed.no_answer, *truth == u64::MAX);
            before = printed.value;
        }
    }

    #[test]
    fn buckets_say_the_same(arrivals in proptest::collection::vec(hidden(), 1..120)) {
        let population = bucketed(&arrivals);
        let truths = truths(&arrivals);
        let mut before = 0;
        for (rank, truth) in (1..).zip(&truths) {
            let printed = population.at(rank);
            let most = if printed.at_least { *truth } else { to_its_bucket(*truth) };
            prop_assert!(printed.value <= most, "rank {}: {:?} above {}", rank, printed, truth);
            prop_assert!(to_its_bucket(printed.value) >= before, "rank {}: {:?} after {}", rank, printed, before);
            if !printed.at_least {
                prop_assert!(to_its_bucket(to_its_bucket(printed.value)) >= *truth);
            }
            prop_assert_eq!(printed.no_answer, *truth == u64::MAX);
            before = printed.value;
        }
    }

    /// With a timeout, the time waited for the unanswered is longer than any answer, so the answers are certain.
    #[test]
    fn timeouts_leave_the_answers_as_they_are(
        mut answers in proptest::collection::vec(1u64..1_000_000, 1..80),
        timed_out in 0usize..20,
        failed in 0usize..20,
    ) {
        let timeout = 2_000_000;
        let unanswered = |n, kind, truth| vec![Hidden { truth, waited: timeout, kind }; n];
        let answered = answers.iter().map(|t| Hidden { truth: *t, waited: *t, kind: Kind::Answered });
        let arrivals = [
            answered.collect(),
            unanswered(timed_out, Kind::Censored, timeout * 2),
            unanswered(failed, Kind::Failed, u64::MAX),
        ].concat();
        answers.sort_unstable();
        let population = exact(&arrivals);
        for rank in 1..=population.count() {
            let expected = match answers.get(rank as usize - 1) {
                Some(value) => Estimate { value: *value, at_least: false, no_answer: false },
                None => Estimate {
                    value: timeout,
                    at_least: true,
                    no_answer: rank as usize > answers.len() + timed_out,
                },
            };
            prop_assert_eq!(population.at(rank), expected, "rank {}", rank);
        }
    }

    #[test]
    fn an_interval_holds_its_value(arrivals in proptest::collection::vec(hidden(), 20..200), q in 0.01..0.99) {
        for population in [exact(&arrivals), bucketed(&arrivals)] {
            let printed = population.at(rank_of(q, population.count()));
            let ConfidenceInterval { low, high, effective_n } = population.interval(q);
            prop_assert!(low.is_none_or(|low| low <= printed.value), "{:?} {:?}", low, printed);
            prop_assert!(high.is_none_or(|high| high >= printed.value), "{:?} {:?}", high, printed);
            prop_assert!(effective_n.is_none_or(|n| (1..=population.count()).contains(&n)), "{:?}", effective_n);
        }
    }
}

/// A run stopped with a request in flight must not report an old peak as its tail: the missing answer may be fast.
#[test]
fn a_missing_answer_that_waited_little_proves_little() {
    let answered = |t| Hidden { truth: t, waited: t, kind: Kind::Answered };
    let mut arrivals = vec![answered(10_000); 99];
    arrivals.push(answered(2_000_000));
    arrivals.push(Hidden { truth: 10_000, waited: 5, kind: Kind::Censored });
    let population = exact(&arrivals);
    assert_eq!(population.at(50), Estimate { value: 10_000, at_least: false, no_answer: false });
    assert_eq!(population.at(100), Estimate { value: 10_000, at_least: true, no_answer: false });
    assert_eq!(population.at(101), Estimate { value: 2_000_000, at_least: true, no_answer: false });
}
