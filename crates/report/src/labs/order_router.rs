//! The lab `order-router`.

use truetail_sim::labs::order_router::{NAME, OrderRouterOptions, OrderRouterResult};

use super::lab_report::{Column, LabReport, SeriesReport};
use crate::number;
use crate::plot::Role;

pub(super) fn report(result: &OrderRouterResult) -> LabReport<'_> {
    let series = [(&result.naive, Role::Closed), (&result.corrected, Role::Corrected), (&result.open, Role::Open)];
    LabReport {
        name: NAME,
        series: series.iter().map(|(series, role)| SeriesReport::simulated(series, *role)).collect(),
        truth: Vec::new(),
        title: "Order router: what a naive loop leaves out".to_owned(),
        subtitle: subtitle(&result.options),
        columns: series.iter().map(|(series, _)| Column::for_series(series, series.name)).collect(),
        figures: vec![format!(
            "one pause delays {} arrivals; the naive loop sees one of them",
            number::count(result.options.arrivals_per_pause())
        )],
        plots: Vec::new(),
    }
}

fn subtitle(options: &OrderRouterOptions) -> String {
    format!(
        "{} of work at {}; a pause of {} every {}.",
        number::round_time(options.work.0),
        number::rate(options.rate.as_per_second()),
        number::round_time(options.pause.0),
        number::round_time(options.pause_every.0)
    )
}
