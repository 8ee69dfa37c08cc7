//! Response times by time and size.

use super::columns::Values;
use super::data::HeatMap;
use super::log_bins::LogBins;

const MAX_ROWS: usize = 48;

/// Answered arrivals of each column by response time, and unanswered ones. Empty if nothing is known by column.
pub(super) fn heat_map(response_times: &[Values<'_>], unanswered: &[u64]) -> HeatMap {
    let extremes = || response_times.iter().filter_map(Values::extremes);
    let lowest = extremes().map(|(low, _)| low).min();
    let highest = extremes().map(|(_, high)| high).max();
    let Some((lowest, highest)) = lowest.zip(highest) else {
        let cells = vec![Vec::new(); response_times.len()];
        return HeatMap { cells, unanswered: unanswered.to_vec(), ..HeatMap::default() };
    };
    let rows = LogBins::over(lowest, highest, MAX_ROWS);
    let cells: Vec<Vec<(u16, u64)>> = response_times.iter().map(|values| cells(values, &rows)).collect();
    HeatMap {
        lowest_ns: rows.lowest(),
        row_factor: rows.factor(),
        rows: rows.count,
        largest: cells.iter().flatten().map(|(_, count)| *count).max().unwrap_or(0),
        cells,
        unanswered: unanswered.to_vec(),
    }
}

fn cells(values: &Values<'_>, rows: &LogBins) -> Vec<(u16, u64)> {
    let mut counts = [0; MAX_ROWS];
    values.each(|value, count| counts[rows.bin_of(value)] += count);
    let used = counts.into_iter().enumerate().filter(|(_, count)| *count > 0);
    used.map(|(row, count)| (row as u16, count)).collect()
}
