//! The lab `freeze`.

use truetail_sim::labs::freeze::{FreezeInterval, FreezeOptions, FreezeResult, FreezeSeries, NAME};

use super::lab_report::{Column, LabReport, SeriesReport};
use crate::number;
use crate::plot::{IntervalPlot, IntervalSeries, Role, Shade};

/// Roles of closed-loop-raw, closed-loop-corrected and open-loop.
const ROLES: [Role; 3] = [Role::Closed, Role::Corrected, Role::Open];

pub(super) fn report(result: &FreezeResult) -> LabReport<'_> {
    let series = result.series.iter().zip(ROLES);
    LabReport {
        name: NAME,
        series: series.map(|(one, role)| SeriesReport::simulated(&one.series, role)).collect(),
        truth: Vec::new(),
        title: title(&result.options),
        subtitle: subtitle(&result.options),
        columns: result.series.iter().map(|one| Column::for_series(&one.series, one.series.name)).collect(),
        figures: result.series.iter().map(figure).collect(),
        plots: vec![("p99-comparison", p99(result)), ("throughput", throughput(result))],
    }
}

fn figure(one: &FreezeSeries) -> String {
    let p99 = one.whole_run_p99_ms.map_or("–".to_owned(), |p99| format!("{p99}ms"));
    format!("{}: {} requests sent, p99 of the whole run {p99}", one.series.name, one.total_requests)
}

fn title(options: &FreezeOptions) -> String {
    format!("A freeze of {}, seen three ways", number::round_time(options.pause_length.0))
}

fn subtitle(options: &FreezeOptions) -> String {
    let users = if options.users == 1 { "one user".to_owned() } else { format!("{} users", options.users) };
    format!(
        "A request takes {}; the closed loop has {users}, the open loop sends every {}.",
        number::round_time(options.base.0),
        number::round_time(options.expected_interval.0)
    )
}

fn p99(result: &FreezeResult) -> IntervalPlot {
    let ms = |value: Option<u64>| value.map(|ms| ms as f64);
    let length = number::round_time(result.options.snapshot_interval.0);
    let length = if length == "1s" { "second" } else { length.as_str() };
    let quantity = format!("p99 of each {length}, ms");
    plot(result, quantity, |row| ms(row.p99_ms), |one| ms(one.whole_run_p99_ms))
}

fn throughput(result: &FreezeResult) -> IntervalPlot {
    plot(result, "requests sent, per second".to_owned(), |row| Some(row.throughput_rps), |_| None)
}

fn plot(
    result: &FreezeResult,
    quantity: String,
    value: impl Fn(&FreezeInterval) -> Option<f64>,
    whole_run: impl Fn(&FreezeSeries) -> Option<f64>,
) -> IntervalPlot {
    let options = &result.options;
    let series = |(one, role): (&FreezeSeries, Role)| IntervalSeries {
        name: one.series.name.to_owned(),
        role,
        values: one.intervals.iter().map(&value).collect(),
        whole_run: whole_run(one),
    };
    let from = options.pause_start.as_secs_f64();
    let length = options.pause_length.as_secs_f64();
    IntervalPlot {
        title: title(options),
        subtitle: subtitle(options),
        quantity,
        ends: result.series[0].intervals.iter().map(|row| row.elapsed.as_secs_f64()).collect(),
        series: result.series.iter().zip(ROLES).map(series).collect(),
        shade: (length > 0.0).then(|| Shade { from, to: from + length, label: "freeze".to_owned() }),
    }
}
