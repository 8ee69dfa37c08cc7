//! Gaps between sends, compared with the planned gaps.

use truetail_model::record::{Outcome, RequestRecord};

use super::data::GapSeries;
use super::log_bins::LogBins;
use crate::fidelity::sorted_gaps;

const FEWEST: usize = 100;
const MAX_BINS: usize = 60;
/// Gaps shorter than this share of the mean gap are in the first bin: requests sent at once.
const SHORTEST: f64 = 1e-3;

/// Gaps between the intended and between the actual starts of issued arrivals. `None` if there are too few.
pub(super) fn gaps(records: &[RequestRecord]) -> Option<GapSeries> {
    let issued = || records.iter().filter(|record| record.outcome != Outcome::NeverIssued);
    let planned: Vec<u64> = issued().map(|record| record.intended_start.0).collect();
    let mut sent: Vec<u64> = issued().map(|record| record.actual_start.0).collect();
    sent.sort_unstable();
    let planned = sorted_gaps(&planned);
    let sent = sorted_gaps(&sent);
    if planned.len() < FEWEST {
        return None;
    }
    let shortest = planned[0].min(sent[0]);
    let longest = planned.last().max(sent.last()).copied()?;
    let mean = planned.iter().map(|gap| *gap as f64).sum::<f64>() / planned.len() as f64;
    let bins = LogBins::over(shortest.max((mean * SHORTEST) as u64).min(longest), longest, MAX_BINS);
    let planned = shares(&planned, &bins);
    let sent = shares(&sent, &bins);
    Some(GapSeries { lowest_ns: bins.lowest(), bin_factor: bins.factor(), planned, sent })
}

fn shares(gaps: &[u64], bins: &LogBins) -> Vec<f64> {
    let mut counts = vec![0u64; bins.count];
    gaps.iter().for_each(|gap| counts[bins.bin_of(*gap)] += 1);
    counts.into_iter().map(|count| super::load::six_digits(count as f64 / gaps.len() as f64)).collect()
}
