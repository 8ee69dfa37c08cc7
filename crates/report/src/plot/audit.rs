//! Pictures of another tool's file: requests over time with the client's stops, and percentiles, also corrected.

use truetail_analysis::audit::{Audit, AuditStop, AuditTimeline, CorrectedQuantile, ReportedQuantile};
use truetail_analysis::figures::{four_digits, quantile_name, without_zeros};
use truetail_analysis::series::TimeAxis;

use super::frame::{Axis, Frame};
use super::lane::{Lane, Line, draw_lanes};
use super::layout::INK;
use super::look::SeriesStyle;
use super::over_time::{self, Shades};
use super::picture::Picture;
use super::scale::AxisScale;
use super::sheet::{Sheet, Swatch, time_axis};
use super::svg::{Anchor, Label, Rect, Svg};
use crate::number;

const OVER_TIME: &str = "The file over time";
const PERCENTILES: &str = "Percentiles";
const HEIGHT: f64 = 680.0;
/// Limit on the marked stops. More could not be told apart, so only the longest are marked.
const MAX_STOPS: usize = 500;
/// Room for the name of a percentile, and the height of its row.
const NAME: f64 = 70.0;
const ROW: f64 = 34.0;

/// Draws starts, requests in flight and latencies over time. Stretches with too few requests are shaded.
pub fn audit_timeline(audit: &Audit) -> Picture {
    let Some(timeline) = audit.timeline.as_ref().filter(|timeline| !timeline.in_flight.is_empty()) else {
        return Sheet::nothing(OVER_TIME, "The file does not say when its requests started.");
    };
    let stops = marked(&audit.stops);
    let subtitle = match audit.stops.len() - stops.len() {
        0 => "All by the start of requests, as the file gives it.".to_owned(),
        more => {
            format!("All by the start of requests, as the file gives it. Shorter stops that are not marked: {more}.")
        }
    };
    let shades = shades(&stops, timeline.from_ns);
    let legend: Vec<_> = shades.iter().map(Shades::entry).collect();
    let mut sheet = Sheet::new(OVER_TIME, &subtitle, HEIGHT, &legend);
    let lanes = [starts(timeline), in_flight(timeline), latency(timeline)];
    let time = axis(timeline);
    draw_lanes(&mut sheet, &lanes, &time, &shades);
    sheet.finish_readable(over_time::reading("time", &time))
}

fn marked(stops: &[AuditStop]) -> Vec<AuditStop> {
    let mut longest = stops.to_vec();
    longest.sort_by_key(|stop| std::cmp::Reverse(stop.length_ns()));
    longest.truncate(MAX_STOPS);
    longest
}

fn shades(stops: &[AuditStop], origin_ns: u64) -> Vec<Shades> {
    let seconds = |ns: u64| ns.saturating_sub(origin_ns) as f64 / 1e9;
    let kinds = [
        (true, "nothing was sent, and requests waited", SeriesStyle::ServerPause),
        (false, "less than usual was sent", SeriesStyle::Backlog),
    ];
    let of_kind = |is_silence: bool| stops.iter().filter(move |stop| stop.is_silence == is_silence);
    let shades = kinds.map(|(is_silence, name, look)| {
        let spans = of_kind(is_silence).map(|stop| (seconds(stop.from_ns), seconds(stop.to_ns))).collect();
        Shades { name, look, spans }
    });
    shades.into_iter().filter(|shades| !shades.spans.is_empty()).collect()
}

fn axis(timeline: &AuditTimeline) -> TimeAxis {
    let column_s = timeline.column_ns as f64 / 1e9;
    let columns = timeline.in_flight.len();
    TimeAxis { from_s: 0.0, column_s, columns, measured_from_s: 0.0, to_s: column_s * columns as f64 }
}

fn starts(timeline: &AuditTimeline) -> Lane {
    let line = Line {
        name: "started".to_owned(),
        look: SeriesStyle::Sent,
        values: timeline.starts_per_s.clone(),
        write: number::rate,
    };
    Lane { heading: "Requests per second".into(), lines: vec![line], times: false, nothing: "too short for a rate" }
}

fn in_flight(timeline: &AuditTimeline) -> Lane {
    let values = timeline.in_flight.iter().copied().map(Some).collect();
    let write = |mean: f64| without_zeros(&four_digits(mean)).to_owned();
    let line = Line { name: "in flight, on average".to_owned(), look: SeriesStyle::InFlight, values, write };
    Lane { heading: "Requests in flight".into(), lines: vec![line], times: false, nothing: "too few requests" }
}

fn latency(timeline: &AuditTimeline) -> Lane {
    let line = |name: &str, look, values: &[Option<u64>]| Line {
        name: name.to_owned(),
        look,
        values: values.iter().map(|value| value.map(|value| value as f64)).collect(),
        write: |ns| number::time(ns as u64),
    };
    let lines = vec![
        line("median", SeriesStyle::P50, &timeline.median_ns),
        line("longest", SeriesStyle::Max, &timeline.longest_ns),
    ];
    Lane { heading: "Latency".into(), lines, times: true, nothing: "no latencies" }
}

/// Draws the percentiles in the file, and the percentiles with the missing requests.
pub fn audit_quantiles(audit: &Audit) -> Picture {
    if audit.reported.is_empty() {
        return Sheet::nothing(PERCENTILES, "The file has no percentiles.");
    }
    let corrected: &[CorrectedQuantile] = if audit.finding.is_omission() { &audit.corrected } else { &[] };
    let mut legend = vec![("as the file has it".to_owned(), Swatch::Block(SeriesStyle::Closed, 1.0))];
    if !corrected.is_empty() {
        legend.push(("with the requests that are missing".to_owned(), Swatch::Block(SeriesStyle::Response, 1.0)));
        legend.push(("bounds of that".to_owned(), Swatch::Line(SeriesStyle::Response)));
    }
    let rows = audit.reported.len() as f64;
    let title = if corrected.is_empty() { PERCENTILES } else { "Percentiles, reported and corrected" };
    let mut sheet = Sheet::new(title, "", 160.0 + ROW * rows, &legend);
    let inner =
        Rect { x: sheet.area.x + NAME, width: sheet.area.width - NAME - 20.0, height: ROW * rows, ..sheet.area };
    let times = || {
        let bounds = corrected.iter().flat_map(|one| [one.low_ns, one.high_ns]);
        audit.reported.iter().map(|one| one.value_ns).chain(bounds).map(|ns| ns.max(1) as f64)
    };
    let x = time_axis("latency", times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
    let frame = Frame::around(inner, x, Axis::new("", AxisScale::Linear { from: 0.0, to: 1.0 }, Vec::new()));
    frame.draw_columns(&mut sheet.svg);
    frame.draw_behind(&mut sheet.svg);
    for reported in &audit.reported {
        let row = sheet.take(ROW);
        draw_row(&mut sheet.svg, &frame, row, reported, corrected.iter().find(|one| one.q == reported.q));
    }
    frame.draw_base(&mut sheet.svg);
    sheet.finish()
}

fn draw_row(
    svg: &mut Svg,
    frame: &Frame,
    row: Rect,
    reported: &ReportedQuantile,
    corrected: Option<&CorrectedQuantile>,
) {
    let y = row.y + ROW / 2.0;
    let name = quantile_name(reported.q);
    svg.label(Label { x: row.x, y: y + 5.0, text: &name, size: 15.0, anchor: Anchor::Start, color: INK, bold: false });
    let x = |ns: u64| frame.x(ns.max(1) as f64);
    if let Some(corrected) = corrected {
        svg.series(&[vec![(x(reported.value_ns), y), (x(corrected.value_ns), y)]], SeriesStyle::LagMax, 1.0);
        svg.series(&[vec![(x(corrected.low_ns), y), (x(corrected.high_ns), y)]], SeriesStyle::Response, 4.0);
        svg.series(&[vec![(x(corrected.value_ns), y)]], SeriesStyle::Response, 13.0);
    }
    svg.series(&[vec![(x(reported.value_ns), y)]], SeriesStyle::Closed, 9.0);
}
