//! Causes of delayed starts over time.

use truetail_model::record::Metric;

use super::columns::Columns;
use super::data::StartDelaySeries;

pub(super) fn start_delay(columns: &Columns<'_>) -> StartDelaySeries {
    let issued = columns.totals(Metric::StartDelay);
    let mean = |metric: Metric| {
        let sums = columns.totals(metric);
        let mean = |((_, sum), (issued, _)): (&(u64, u128), &(u64, u128))| sum.checked_div(u128::from(*issued));
        sums.iter().zip(&issued).map(mean).map(|mean| mean.map(|ns| u64::try_from(ns).unwrap_or(u64::MAX))).collect()
    };
    StartDelaySeries {
        generator_lag_ns: mean(Metric::GeneratorLag),
        connection_wait_ns: mean(Metric::ConnectionWait),
        connect_ns: mean(Metric::ConnectTime),
    }
}
