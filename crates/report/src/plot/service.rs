//! Counters and gauges that services published, in lanes on the axis of time of the run.

use truetail_analysis::series::{RunSeries, ServiceLane};

use super::lane::{Lane, Line, draw_lanes};
use super::look::SeriesStyle;
use super::over_time::{self, Shades};
use super::picture::Picture;
use super::sheet::Sheet;
use crate::number;
use crate::text::visible;

const TITLE: &str = "The service's own numbers";
const LANE_HEIGHT: f64 = 120.0;
const REST: f64 = 150.0;
/// Limit on the letters of a name; with more it would run into the next lane's.
const LONGEST_NAME: usize = 90;

/// Draws a lane for each counter, by its increase per second, and for each gauge.
pub fn service_lanes(lanes: &[ServiceLane], series: &RunSeries) -> Picture {
    if lanes.is_empty() {
        return Sheet::nothing(TITLE, "No counter or gauge changed.");
    }
    let shades = over_time::shades(&series.time, &series.pauses);
    let subtitle = "Counters by their increase per second, gauges by their values, as the service published them.";
    let height = REST + LANE_HEIGHT * lanes.len() as f64;
    let mut sheet = Sheet::new(TITLE, subtitle, height, &shades.iter().map(Shades::entry).collect::<Vec<_>>());
    let lanes: Vec<Lane> = lanes.iter().map(lane).collect();
    draw_lanes(&mut sheet, &lanes, &series.time, &shades);
    sheet.finish_readable(over_time::reading("time", &series.time))
}

fn lane(service: &ServiceLane) -> Lane {
    let unit = if service.per_second { ", per second" } else { "" };
    let name: String = visible(&service.name).chars().take(LONGEST_NAME).collect();
    let name = format!("{name}{unit}");
    let line = Line {
        name: String::new(),
        look: SeriesStyle::Service,
        values: service.values.clone(),
        write: number::of_any_size,
    };
    Lane { heading: name.into(), lines: vec![line], times: false, nothing: "not read" }
}
