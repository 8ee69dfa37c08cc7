//! The lab order-router.

use truetail_report::number;
use truetail_report::plot::Role;
use truetail_sim::labs::order_router::{self, OrderRouterOptions};

use super::lab::{Lab, Line, column, refused};
use crate::outcome::Result;

/// Runs it.
pub fn run(options: &OrderRouterOptions) -> Result<Lab> {
    let found = order_router::run(options).map_err(|error| refused("order-router", &error))?;
    let series = [(found.naive, Role::Closed), (found.corrected, Role::Corrected), (found.open, Role::Open)];
    let columns = series.iter().map(|(series, _)| column(series, series.name)).collect();
    let held_up = options.rate.as_per_second() * options.pause.as_secs_f64();
    Ok(Lab {
        name: "order-router",
        lines: series.into_iter().map(|(series, role)| Line::simulated(series, role)).collect(),
        truth: Vec::new(),
        title: "Order router: what a naive loop leaves out".to_owned(),
        subtitle: subtitle(options),
        columns,
        figures: vec![format!(
            "a pause holds up {} arrivals; the naive loop sees one of them",
            number::count(held_up as u64)
        )],
        files: Box::new(Ok),
    })
}

fn subtitle(options: &OrderRouterOptions) -> String {
    format!(
        "{} of work, {} every {} a pause of {}.",
        number::round_time(options.work.0),
        number::rate(options.rate.as_per_second()),
        number::round_time(options.pause_every.0),
        number::round_time(options.pause.0)
    )
}
