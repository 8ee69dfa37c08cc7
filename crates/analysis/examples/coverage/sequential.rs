//! Measures the cost of stopping when a number is precise enough: `--until` with looks at growing lengths, like a run.

use truetail_analysis::stopping_rule::{FIRST_INTERIM_ANALYSIS, InterimResult, StoppingRule, next_interim_analysis};
use truetail_model::record::Metric;
use truetail_model::time::Nanos;

use crate::processes::Case;
use crate::tally::in_parallel;

/// Longest run. After that, the number counts as not precise enough.
const LONGEST: Nanos = Nanos::from_secs(900);

/// Results of runs that continued until a number was precise enough.
#[derive(Clone, Copy, Default, Debug)]
pub struct Stopped {
    pub runs: u64,
    /// Runs that were precise enough before the limit.
    pub reached: u64,
    /// Of these, runs whose interval holds the truth.
    pub held: u64,
    /// Total length of these runs.
    pub seconds: f64,
}

pub fn stopped(case: Case, until: StoppingRule, runs: u64) -> Stopped {
    in_parallel(runs, |seeds| {
        let mut all = Stopped::default();
        seeds.for_each(|seed| run(case, until, seed, &mut all));
        all
    })
    .into_iter()
    .fold(Stopped::default(), |all, part| Stopped {
        runs: all.runs + part.runs,
        reached: all.reached + part.reached,
        held: all.held + part.held,
        seconds: all.seconds + part.seconds,
    })
}

/// A shorter run of a seed is the beginning of a longer one, so each look simulates a run of that length.
fn run(case: Case, until: StoppingRule, seed: u64, all: &mut Stopped) {
    all.runs += 1;
    let mut length = FIRST_INTERIM_ANALYSIS;
    while length <= LONGEST {
        let so_far = Case { seconds: length.as_secs_f64(), ..case }.run(seed);
        let quantile = truetail_analysis::quantile(&so_far, Metric::ResponseTime, until.q());
        if let InterimResult::Reached { .. } = until.evaluate(&quantile) {
            let truth = case.truth(until.q());
            let within = |low: u64, high: u64| low as f64 <= truth && truth <= high as f64;
            all.reached += 1;
            all.held += u64::from(quantile.low_ns.zip(quantile.high_ns).is_some_and(|(low, high)| within(low, high)));
            all.seconds += length.as_secs_f64();
            return;
        }
        length = next_interim_analysis(length);
    }
}
