//! The sources of the uncertainty of each quantile, as metrologists list them (JCGM 100:2008, *Guide to the expression
//! of uncertainty in measurement*, chapters 4 and 8), so that a reader sees which source to work on.
//!
//! | part | meaning |
//! |---|---|
//! | sampling | from the estimate to the farther end of its 95 % interval |
//! | histogram | half of the bucket that holds the value; 0 if every single value is known |
//! | clock | the possible error of two readings of the clock; 0 in virtual time |
//! | generator lag | from the estimate down to its lower partner, the same quantile without what the generator added |
//! | read lag | 0 if the kernel stamped every answer; else the read lag at the same quantile, if it is known |
//!
//! The first three go either way. The two lags make the quantile too large, never too small.

use truetail_model::record::Metric;
use truetail_run::{Contribution, Distribution, EndClock, Findings, Quantile, Run, RunSource, Uncertainty};

/// Possible error of two readings of the clock, unless it was measured. Reading a monotonic clock takes about 20 ns on
/// a current machine (`clock_gettime` by vDSO), and the instant lies somewhere inside. The resolution is 1 ns.
pub const CLOCK_NS: u64 = 50;

/// log2 of the buckets in a power of two (HdrHistogram, 3 significant digits). Values below 2048 have a bucket each.
const BUCKETS_LOG2: u32 = 10;

/// Computes the budget of each quantile of the response time that is a number, except the largest value.
pub fn uncertainty(run: &Run, findings: &Findings) -> Vec<Uncertainty> {
    let measured = run.facts.generator.as_ref().and_then(|generator| generator.clock_reading_ns);
    let clock_ns = measured.map_or(CLOCK_NS, |reading| 2 * reading);
    let response_time = &findings.response_time;
    let is_number = |quantile: &&Quantile| quantile.supported && !quantile.at_least && quantile.q < 1.0;
    let virtual_time = run.facts.source == RunSource::Simulator;
    let budget = |quantile: &Quantile| {
        let value_ns = quantile.value_ns?;
        Some(with_largest(Uncertainty {
            q: quantile.q,
            value_ns,
            sampling_ns: sampling_ns(quantile, value_ns),
            histogram_ns: if response_time.exact { 0 } else { half_bucket_ns(value_ns) },
            clock_ns: if virtual_time { 0 } else { clock_ns },
            generator_lag_ns: quantile.without_generator_ns.map(|without| value_ns.saturating_sub(without)),
            read_lag_ns: if virtual_time { Some(0) } else { read_lag_ns(run, findings, quantile.q) },
            largest: None,
        }))
    };
    response_time.quantiles.iter().filter(is_number).filter_map(budget).collect()
}

fn sampling_ns(quantile: &Quantile, value_ns: u64) -> Option<u64> {
    let low = quantile.low_ns?;
    let high = quantile.high_ns?;
    Some(value_ns.saturating_sub(low).max(high.saturating_sub(value_ns)))
}

/// Returns half of the width of the bucket that holds a value, rounded up.
fn half_bucket_ns(value_ns: u64) -> u64 {
    let shift = (u64::BITS - value_ns.leading_zeros()).saturating_sub(BUCKETS_LOG2 + 1);
    if shift == 0 { 0 } else { 1 << (shift - 1) }
}

fn at(distribution: &Distribution, q: f64) -> Option<u64> {
    let quantile = distribution.quantiles.iter().find(|quantile| quantile.q == q)?;
    quantile.value_ns.filter(|_| quantile.supported)
}

fn read_lag_ns(run: &Run, findings: &Findings, q: f64) -> Option<u64> {
    let generator = run.facts.generator.as_ref()?;
    if generator.end_clock == EndClock::Kernel && generator.unstamped == 0 {
        return Some(0);
    }
    at(&findings.metrics[Metric::ReadLag], q)
}

fn with_largest(budget: Uncertainty) -> Uncertainty {
    let parts = [
        (Contribution::Sampling, budget.sampling_ns.unwrap_or(u64::MAX)),
        (Contribution::GeneratorLag, budget.generator_lag_ns.unwrap_or(0)),
        (Contribution::ReadLag, budget.read_lag_ns.unwrap_or(0)),
        (Contribution::Histogram, budget.histogram_ns),
        (Contribution::Clock, budget.clock_ns),
    ];
    // `max_by_key` returns the last of equal parts. Reversed, that is the first of the list, the one to work on.
    let largest = parts.into_iter().rev().max_by_key(|(_, ns)| *ns).filter(|(_, ns)| *ns > 0);
    Uncertainty { largest: largest.map(|(part, _)| part), ..budget }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use truetail_model::record::Histogram;
    use truetail_model::scenario::builtin;
    use truetail_model::time::Nanos;
    use truetail_run::GeneratorStats;
    use truetail_sim::{SimOptions, simulate};

    fn hiccup(options: SimOptions) -> (Run, Findings) {
        let run = simulate(&builtin::find("02").unwrap(), options).unwrap();
        let findings = crate::findings(&run);
        (run, findings)
    }

    fn p50(run: &Run, findings: &Findings) -> Uncertainty {
        uncertainty(run, findings)[0]
    }

    #[test]
    fn in_virtual_time_only_the_sample_is_uncertain() {
        let (run, findings) = hiccup(SimOptions::default());
        let budgets = uncertainty(&run, &findings);
        assert_eq!(budgets.iter().map(|budget| budget.q).collect::<Vec<_>>(), [0.5, 0.9, 0.95, 0.99, 0.999, 0.9999]);
        assert!(budgets.iter().all(|b| (b.clock_ns, b.histogram_ns, b.read_lag_ns) == (0, 0, Some(0))), "{budgets:?}");
        assert_eq!(budgets[0].largest, None, "every second request takes 10 ms exactly");
        // One stall is one event: nothing bounds the values beyond it.
        assert_eq!((budgets[3].sampling_ns, budgets[3].largest), (None, Some(Contribution::Sampling)));
    }

    #[test]
    fn from_buckets_half_a_bucket_is_uncertain() {
        let (run, findings) =
            hiccup(SimOptions { samples: truetail_model::record::SamplesOptions::NONE, ..SimOptions::default() });
        // 10 ms lie between 2^23 and 2^24 ns, with buckets of 2^13 ns.
        assert_eq!(p50(&run, &findings).histogram_ns, 4_096);
    }

    #[test]
    fn on_sockets_the_clock_and_the_lags_count() {
        let (mut run, mut findings) = hiccup(SimOptions::default());
        run.facts.source = RunSource::Sockets;
        run.facts.generator = Some(GeneratorStats { end_clock: EndClock::Kernel, ..GeneratorStats::default() });
        let stamped = p50(&run, &findings);
        assert_eq!((stamped.clock_ns, stamped.read_lag_ns), (CLOCK_NS, Some(0)));
        assert_eq!(stamped.largest, Some(Contribution::Clock));
        run.facts.generator = Some(GeneratorStats { clock_reading_ns: Some(1_000), ..GeneratorStats::default() });
        assert_eq!(p50(&run, &findings).clock_ns, 2_000, "where each reading is a system call");
        run.facts.generator = Some(GeneratorStats::default());
        assert_eq!(p50(&run, &findings).read_lag_ns, None, "nobody knows");
        findings.metrics[Metric::ReadLag] = findings.response_time.clone();
        assert_eq!(p50(&run, &findings).largest, Some(Contribution::ReadLag));
        findings.response_time.quantiles[0].without_generator_ns = Some(0);
        assert_eq!(p50(&run, &findings).largest, Some(Contribution::GeneratorLag));
    }

    #[test]
    fn what_is_no_number_has_no_budget() {
        let (run, mut findings) = hiccup(SimOptions::default());
        findings.response_time.quantiles[0].supported = false;
        findings.response_time.quantiles[1].at_least = true;
        assert_eq!(uncertainty(&run, &findings).len(), 4);
    }

    proptest! {
        #[test]
        fn half_a_bucket_is_that_of_the_histogram(value in 0u64..1 << 50) {
            let mut histogram = Histogram::new();
            histogram.record(Nanos(value));
            let (low, high, _) = histogram.buckets().next().unwrap();
            prop_assert_eq!(half_bucket_ns(value), (high.0 - low.0).div_ceil(2));
        }
    }
}
