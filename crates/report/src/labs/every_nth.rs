//! The lab `every-nth`: simulated, and measured in real time beside the simulation.

use truetail_model::record::Metric;
use truetail_run::{Quantile, Run};
use truetail_sim::labs::QUANTILES;
use truetail_sim::labs::every_nth::{EveryNthOptions, EveryNthResult, NAME, SERIES};

use super::lab_report::{Column, LabReport, SeriesReport, SlowRequests};
use crate::number;
use crate::plot::Role;

pub(super) fn report(result: &EveryNthResult) -> LabReport<'_> {
    let options = &result.options;
    let slow = format!(
        "slower than {}: {} requests of the closed loop, {} of the open loop",
        number::round_time(options.slow_from().0),
        number::count(result.closed_slow),
        number::count(result.open_slow)
    );
    LabReport {
        name: NAME,
        series: simulated(result),
        truth: Vec::new(),
        title: title(options),
        subtitle: subtitle(options),
        columns: simulated_columns(result, ["closed-loop", "open-loop", "ratio"]),
        figures: overload(options).into_iter().chain([slow]).collect(),
        plots: Vec::new(),
    }
}

/// Both loops of the lab, measured on the wall clock.
#[derive(Clone, Copy, Debug)]
pub struct MeasuredLoops<'a> {
    /// The closed loop.
    pub closed: &'a Run,
    /// The open loop.
    pub open: &'a Run,
    /// False if the user stopped the lab before the open loop began. The open loop then has a tally and no verdict.
    pub open_began: bool,
}

/// Returns the report of the lab in real time. `truth` is the lab in virtual time; `calibration` describes the work.
pub fn measured_report<'a>(loops: MeasuredLoops<'a>, truth: &'a EveryNthResult, calibration: String) -> LabReport<'a> {
    let options = &truth.options;
    let [closed, open] = SERIES;
    let series = vec![
        measured(closed, Role::Closed, loops.closed, truth),
        SeriesReport { measured: loops.open_began, ..measured(open, Role::Open, loops.open, truth) },
    ];
    LabReport {
        name: NAME,
        title: title(options),
        subtitle: subtitle(options),
        columns: measured_columns(&series, truth),
        figures: overload(options).into_iter().chain([slow_figure(options, &series), calibration]).collect(),
        series,
        truth: simulated(truth),
        plots: Vec::new(),
    }
}

fn simulated(result: &EveryNthResult) -> Vec<SeriesReport<'_>> {
    let slow = |requests| Some(SlowRequests { limit: result.options.slow_from(), requests });
    vec![
        SeriesReport { slow: slow(result.closed_slow), ..SeriesReport::simulated(&result.closed, Role::Closed) },
        SeriesReport { slow: slow(result.open_slow), ..SeriesReport::simulated(&result.open, Role::Open) },
    ]
}

fn measured<'a>(name: &'static str, role: Role, run: &'a Run, truth: &EveryNthResult) -> SeriesReport<'a> {
    let times = run.snapshot.metric(Metric::ResponseTime);
    let limit = truth.options.slow_from();
    let slow = SlowRequests { limit, requests: times.count() - times.count_at_or_below(limit) };
    let findings = truetail_analysis::findings(run);
    SeriesReport { name, role, run, findings, measured: true, slow: Some(slow) }
}

fn simulated_columns(result: &EveryNthResult, [closed, open, ratio]: [&str; 3]) -> Vec<Column> {
    let ratios = result.ratios().map(|ratio| number::factor(ratio.ratio())).collect();
    vec![
        Column::for_series(&result.closed, closed),
        Column::for_series(&result.open, open),
        Column { head: ratio.to_owned(), cells: ratios },
    ]
}

/// Returns the columns of both loops and their ratio, first measured, then in virtual time.
fn measured_columns(series: &[SeriesReport<'_>], truth: &EveryNthResult) -> Vec<Column> {
    let quantiles = |run: &Run| QUANTILES.map(|q| truetail_analysis::quantile(run, Metric::ResponseTime, q));
    let of_series: Vec<_> = series.iter().map(|series| quantiles(series.run)).collect();
    let measured = series.iter().zip(&of_series).map(|(series, quantiles)| {
        let requests = number::count(series.run.snapshot.tally.planned);
        Column {
            head: series.name.to_owned(),
            cells: quantiles.iter().map(number::quantile).chain([requests]).collect(),
        }
    });
    let ratios = of_series[0].iter().zip(&of_series[1]).map(|(closed, open)| ratio(closed, open));
    let ratios = Column { head: "ratio".to_owned(), cells: ratios.collect() };
    let truth = simulated_columns(truth, ["truth: closed", "open", "ratio"]);
    measured.chain([ratios]).chain(truth).collect()
}

/// Formats open / closed; a dash if one of them is only a bound or has no answer.
fn ratio(closed: &Quantile, open: &Quantile) -> String {
    let known = !(closed.at_least || open.at_least || closed.no_answer || open.no_answer);
    match (closed.value_ns.filter(|ns| *ns > 0), open.value_ns) {
        (Some(closed), Some(open)) if known => number::factor(open as f64 / closed as f64),
        _ => "–".to_owned(),
    }
}

fn slow_figure(options: &EveryNthOptions, series: &[SeriesReport<'_>]) -> String {
    let of = |series: &SeriesReport<'_>| {
        let slow = series.slow.map_or(0, |slow| slow.requests);
        format!("{} requests of the {}", number::count(slow), series.name)
    };
    let limit = number::round_time(options.slow_from().0);
    format!("slower than {limit}: {}", series.iter().map(of).collect::<Vec<_>>().join(", "))
}

/// Returns a line about a load above the capacity: the results then depend on the duration of the run.
fn overload(options: &EveryNthOptions) -> Option<String> {
    let share = options.utilisation();
    (share >= 1.0).then(|| {
        format!(
            "{} would take {} of the service's time, so the open loop's backlog grows as long as the run lasts; the service \
             can answer {}",
            number::rate(options.rate.as_per_second()),
            number::share(share),
            number::rate(options.rate.as_per_second() / share)
        )
    })
}

fn title(options: &EveryNthOptions) -> String {
    let pause = number::round_time(options.pause.0);
    let every = number::count(options.pause_every);
    format!("A pause of {pause} once in {every} requests")
}

fn subtitle(options: &EveryNthOptions) -> String {
    format!(
        "One server, {} of work per request; the open loop sends {} for {}.",
        number::round_time(options.work.0),
        number::rate(options.rate.as_per_second()),
        number::round_time(options.duration.0)
    )
}
