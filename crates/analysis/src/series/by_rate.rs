//! Response time against rate, if the planned rate moved.
//!
//! Columns are grouped into bands of equal width by the rate of the profile, not by their counted arrivals, because
//! bands of counts would put lucky columns together. Only a recorded trace has no other rate than its counts.

use truetail_model::arrival::{Profile, RateProfile};
use truetail_model::record::{RequestRecord, SecondCounts};
use truetail_model::workload::LoadModelKind;
use truetail_run::Run;

use super::columns::Values;
use super::data::RateBand;
use super::load::{counts, six_digits};
use super::time_axis::{Grid, TimeAxis};
use crate::fidelity::dispersion_index;
use crate::support::min_sample_size;

const MAX_BANDS: usize = 12;
/// The rate moved if its extremes differ by more than this share of the larger one.
const LEAST_MOVE: f64 = 0.2;
/// A trace moved if the variance of its counts is this many times the variance of independent arrivals.
const LEAST_DISPERSION: f64 = 2.0;
const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

#[derive(Clone, Copy, PartialEq, Debug)]
struct Rates {
    begin: f64,
    mean: f64,
    end: f64,
}

/// Bands of a run, in ascending order of rate. Empty if the rate did not move or the load was a closed loop.
/// `response_times` and `unanswered` hold one entry for each column.
pub(super) fn by_rate(
    run: &Run,
    every: Option<&[RequestRecord]>,
    grid: &Grid,
    response_times: &[Values<'_>],
    unanswered: &[u64],
) -> Vec<RateBand> {
    if run.facts.offered.model == LoadModelKind::Closed || response_times.is_empty() {
        return Vec::new();
    }
    let axis = grid.axis();
    let counted = counts(run, every, grid);
    let rates = rates(run, &axis, &counted);
    let Some(band_of) = bands(&rates) else { return Vec::new() };
    let mut bands: Vec<Band<'_>> = (0..MAX_BANDS).map(|_| Band::default()).collect();
    for (i, rates) in rates.iter().enumerate() {
        if let Some(band) = rates.as_ref().and_then(&band_of) {
            bands[band].add(axis.length_s(i), &counted[i], &response_times[i], unanswered[i]);
        }
    }
    let bands: Vec<RateBand> = bands.iter().filter(|band| band.planned > 0).map(Band::finish).collect();
    if bands.len() < 2 { Vec::new() } else { bands }
}

/// Planned rates of each column. `None` if nothing was planned in the column.
fn rates(run: &Run, axis: &TimeAxis, counted: &[SecondCounts]) -> Vec<Option<Rates>> {
    let profile: Option<Profile> = run.facts.offered.profile.as_ref().and_then(|profile| profile.parse().ok());
    let of_counts = |i: usize| {
        let rate = counted[i].planned as f64 / axis.length_s(i);
        Rates { begin: rate, mean: rate, end: rate }
    };
    let rates = |i: usize| match &profile {
        Some(profile) => profile_rates(profile, axis.begin_s(i), axis.end_s(i)),
        None => of_counts(i),
    };
    let planned: Vec<u64> = counted.iter().map(|column| column.planned).collect();
    let is_steady = profile.is_none() && dispersion_index(&planned) < LEAST_DISPERSION;
    let in_plan = |i: usize| (counted[i].planned > 0 && !is_steady).then(|| rates(i));
    // The schedule may end within the last column with arrivals.
    let last = planned.iter().rposition(|n| *n > 0).unwrap_or(0);
    (0..axis.columns).map(|i| in_plan(i).filter(|_| i < last)).collect()
}

fn profile_rates(profile: &Profile, begin_s: f64, end_s: f64) -> Rates {
    let mean = |from: f64, to: f64| (profile.cumulative(to) - profile.cumulative(from)) / (to - from);
    let edge_s = (end_s - begin_s) / 100.0;
    Rates { begin: mean(begin_s, begin_s + edge_s), mean: mean(begin_s, end_s), end: mean(end_s - edge_s, end_s) }
}

/// Returns a function from columns to bands, with `None` for a column of several bands. `None` if no rate moved.
fn bands(rates: &[Option<Rates>]) -> Option<impl Fn(&Rates) -> Option<usize> + use<>> {
    let means = || rates.iter().flatten().map(|rates| rates.mean).filter(|mean| mean.is_finite());
    let low = means().fold(f64::INFINITY, f64::min);
    let high = means().fold(0.0, f64::max);
    let band_of =
        move |rate: f64| (((rate - low) / (high - low) * MAX_BANDS as f64).max(0.0) as usize).min(MAX_BANDS - 1);
    let moved = high > 0.0 && low.is_finite() && high - low > LEAST_MOVE * high;
    moved.then_some(move |rates: &Rates| {
        (band_of(rates.begin).abs_diff(band_of(rates.end)) <= 1).then(|| band_of(rates.mean))
    })
}

#[derive(Default)]
struct Band<'a> {
    seconds: f64,
    planned: u64,
    completed: u64,
    unanswered: u64,
    response_times: Vec<&'a Values<'a>>,
}

impl<'a> Band<'a> {
    fn add(&mut self, seconds: f64, counted: &SecondCounts, response_times: &'a Values<'a>, unanswered: u64) {
        self.seconds += seconds;
        self.planned += counted.planned;
        self.completed += counted.completed;
        self.unanswered += unanswered;
        self.response_times.push(response_times);
    }

    fn finish(&self) -> RateBand {
        RateBand {
            planned_per_s: six_digits(self.planned as f64 / self.seconds),
            completed_per_s: six_digits(self.completed as f64 / self.seconds),
            arrivals: self.planned,
            quantiles: self.quantiles(),
        }
    }

    /// Quantiles that are numbers. An arrival without an answer is slower than every answer.
    fn quantiles(&self) -> Vec<(f64, u64)> {
        let mut values: Vec<(u64, u64)> = Vec::new();
        self.response_times.iter().for_each(|times| times.each(|value, count| values.push((value, count))));
        values.sort_unstable();
        let mut answered = 0;
        let up_to: Vec<(u64, u64)> = values
            .into_iter()
            .map(|(value, count)| {
                answered += count;
                (answered, value)
            })
            .collect();
        let n = answered + self.unanswered;
        let at = |q: f64| {
            let rank = truetail_model::record::rank_of(q, n);
            up_to.get(up_to.partition_point(|(so_far, _)| *so_far < rank)).map(|(_, value)| (q, *value))
        };
        QUANTILES.into_iter().filter(|q| n > 0 && n >= min_sample_size(*q)).filter_map(at).collect()
    }
}
