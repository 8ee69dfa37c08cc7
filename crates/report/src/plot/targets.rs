//! Several targets side by side.

use truetail_run::{Findings, Quantile, TargetFindings};

use super::frame::{Axis, Frame};
use super::layout::{FAINT_INK, INK};
use super::look::SeriesStyle;
use super::picture::Picture;
use super::scale::AxisScale;
use super::sheet::{Sheet, Swatch, time_axis};
use super::svg::{Anchor, Label, Rect};
use super::text_width;
use crate::number;

const TITLE: &str = "Response time by target";
/// Limit on the targets: the first ones are drawn.
const MAX_ROWS: usize = 24;
const ROW: f64 = 30.0;
const WIDEST_NAME: f64 = 300.0;
const QUANTILES: [(f64, &str, SeriesStyle); 4] = [
    (0.5, "p50", SeriesStyle::P50),
    (0.9, "p90", SeriesStyle::P90),
    (0.99, "p99", SeriesStyle::P99),
    (1.0, "max", SeriesStyle::Max),
];

/// Draws percentiles of the response time of each target, one row per target.
pub fn targets(findings: &Findings) -> Picture {
    let targets = &findings.targets[..findings.targets.len().min(MAX_ROWS)];
    let values = || targets.iter().flat_map(|target| points(target).into_iter().map(|(_, value)| value));
    if targets.is_empty() {
        return Sheet::nothing(TITLE, "The run has one target.");
    }
    if values().next().is_none() {
        return Sheet::nothing(TITLE, "No target has enough answers for a percentile.");
    }
    let legend = QUANTILES.map(|(_, name, look)| (name.to_owned(), Swatch::Block(look, 1.0)));
    let left_out = findings.targets.len() - targets.len();
    let subtitle = match left_out {
        0 => "Over all planned arrivals of each target.".to_owned(),
        n => format!("The first {MAX_ROWS} targets; {n} more are in run.json."),
    };
    let mut sheet = Sheet::new(TITLE, &subtitle, 210.0 + ROW * targets.len() as f64, &legend);
    let name = |target: &TargetFindings| text_width::fitted(&target.name, 14.0, WIDEST_NAME);
    let names = targets.iter().map(|target| text_width::width(&name(target), 14.0)).fold(60.0, f64::max) + 16.0;
    let inner = Rect {
        x: sheet.area.x + names,
        width: sheet.area.width - names - 20.0,
        height: ROW * targets.len() as f64,
        ..sheet.area
    };
    let x = time_axis("response time", values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let frame = Frame::around(inner, x, Axis::new("", AxisScale::Linear { from: 0.0, to: 1.0 }, Vec::new()));
    frame.draw_columns(&mut sheet.svg);
    frame.draw_behind(&mut sheet.svg);
    for target in targets {
        let row = sheet.take(ROW);
        let text = name(target);
        let y = row.y + ROW / 2.0;
        let arrivals = number::count(target.tally.planned);
        sheet.svg.label(Label {
            x: row.x,
            y: y + 1.0,
            text: &text,
            size: 14.0,
            anchor: Anchor::Start,
            color: INK,
            bold: false,
        });
        sheet.svg.label(Label {
            x: row.x,
            y: y + 14.0,
            text: &format!("{arrivals} arrivals"),
            size: 11.0,
            anchor: Anchor::Start,
            color: FAINT_INK,
            bold: false,
        });
        let places: Vec<(SeriesStyle, f64)> =
            points(target).into_iter().map(|(look, value)| (look, frame.x(value))).collect();
        if let (Some(first), Some(last)) = (places.first(), places.last()) {
            sheet.svg.series(&[vec![(first.1, y), (last.1, y)]], SeriesStyle::LagMax, 1.5);
        }
        places.into_iter().for_each(|(look, x)| sheet.svg.series(&[vec![(x, y)]], look, 9.0));
    }
    frame.draw_base(&mut sheet.svg);
    sheet.finish()
}

fn points(target: &TargetFindings) -> Vec<(SeriesStyle, f64)> {
    let known = |q: f64| target.response_time.quantiles.iter().find(move |quantile| quantile.q == q);
    let is_number = |quantile: &&Quantile| quantile.supported && !quantile.at_least && !quantile.no_answer;
    let point =
        |(q, _, look): (f64, &str, SeriesStyle)| Some((look, known(q).filter(is_number)?.value_ns?.max(1) as f64));
    QUANTILES.into_iter().filter_map(point).collect()
}
