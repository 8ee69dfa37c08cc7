//! Causes of delayed starts over time.

use truetail_model::record::Metric;

use super::columns::Columns;
use super::data::StartDelaySeries;

pub(super) fn start_delay(columns: &Columns<'_>) -> StartDelaySeries {
    let issued = columns.totals(Metric::StartDelay);
    let sums = |metric: Metric| columns.totals(metric).into_iter().map(|(_, sum)| sum).collect::<Vec<_>>();
    let mean = |sums: &[u128]| {
        let mean = |(sum, (issued, _)): (&u128, &(u64, u128))| sum.checked_div(u128::from(*issued));
        sums.iter().zip(&issued).map(mean).map(|mean| mean.map(|ns| u64::try_from(ns).unwrap_or(u64::MAX))).collect()
    };
    let [lag, wait, mut connect] = [Metric::GeneratorLag, Metric::ConnectionWait, Metric::ConnectTime].map(sums);
    // Channels that were opened before the load delayed no arrival.
    for (((connect, (_, whole)), lag), wait) in connect.iter_mut().zip(&issued).zip(&lag).zip(&wait) {
        *connect = (*connect).min(whole.saturating_sub(*lag).saturating_sub(*wait));
    }
    StartDelaySeries { generator_lag_ns: mean(&lag), connection_wait_ns: mean(&wait), connect_ns: mean(&connect) }
}
