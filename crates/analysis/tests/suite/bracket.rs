//! The lower partners of quantiles in findings. The simulator's tests measure how often the bracket contains the truth.

use crate::support::{queue, simulated};
use truetail_analysis::findings;
use truetail_model::record::{RequestRecord, SamplesOptions, rank_of};
use truetail_model::scenario::Scenario;
use truetail_model::time::Nanos;
use truetail_run::{Quantile, Run};
use truetail_sim::{GeneratorFlaws, SimOptions, simulate};

fn late(scenario: &Scenario, samples: SamplesOptions) -> Run {
    let flaws = GeneratorFlaws {
        seed: 7,
        mean_lag: Nanos::from_micros(500),
        mean_between_pauses: Nanos::from_secs(5),
        pause: Nanos::from_millis(20),
    };
    simulate(scenario, SimOptions { flaws: Some(flaws), samples, ..SimOptions::default() }).unwrap()
}

fn sorted(run: &Run, time: fn(&RequestRecord) -> Nanos) -> Vec<u64> {
    let mut times: Vec<u64> = run.snapshot.samples.even().iter().map(|record| time(record).0).collect();
    times.sort_unstable();
    times
}

fn bracket(quantile: &Quantile) -> Option<(u64, u64)> {
    Some((quantile.without_generator_ns?, quantile.value_ns?))
}

/// The partner is the same quantile without what the generator added. The truth is between the two.
#[test]
fn the_partner_is_the_quantile_without_the_generator() {
    let scenario = queue(0.8, 3);
    let ideal = simulated(&scenario);
    let run = late(&scenario, SamplesOptions::default());
    let truth = sorted(&ideal, RequestRecord::response_time);
    let without = sorted(&run, RequestRecord::without_generator);
    let fastest = sorted(&run, RequestRecord::service_time)[0];
    for quantile in findings(&run).response_time.quantiles.iter().filter(|quantile| quantile.supported) {
        let (low, high) = bracket(quantile).unwrap();
        let place = rank_of(quantile.q, truth.len() as u64) as usize - 1;
        assert_eq!(low, without[place].max(fastest), "{}", quantile.q);
        assert!((low..=high).contains(&truth[place]), "{low} {} {high} at {}", truth[place], quantile.q);
        assert_eq!(quantile.unresolved, (high - low) as f64 > high as f64 * 0.1, "{quantile:?}");
    }
}

/// A generator that is never late adds nothing.
#[test]
fn without_lag_both_ends_are_the_value() {
    let found = findings(&simulated(&queue(0.5, 1)));
    for quantile in found.response_time.quantiles.iter().filter(|quantile| quantile.supported) {
        assert_eq!(quantile.without_generator_ns, quantile.value_ns);
        assert!(!quantile.unresolved);
    }
}

/// From histograms, the bracket is that of every single request, to the width of a bucket.
#[test]
fn histograms_say_the_same() {
    let scenario = queue(0.8, 5);
    let [exact, buckets] =
        [SamplesOptions::default(), SamplesOptions::NONE].map(|samples| findings(&late(&scenario, samples)));
    for (exact, buckets) in exact.response_time.quantiles.iter().zip(&buckets.response_time.quantiles) {
        let (Some((low, high)), Some((low_bucket, high_bucket))) = (bracket(exact), bracket(buckets)) else { continue };
        assert!(low_bucket <= low, "the lower end of a bucket");
        for (exact, bucket) in [(low, low_bucket), (high, high_bucket)] {
            assert!(exact.abs_diff(bucket) as f64 <= exact as f64 / 500.0, "{exact} {bucket}");
        }
    }
}
