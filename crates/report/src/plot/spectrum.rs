//! The percentile spectrum: response time over 1/(1 − q), on logarithmic axes, so that all nines are equally wide.

use truetail_analysis::truth::Truth;
use truetail_model::record::{Metric, Snapshot};
use truetail_model::time::Nanos;
use truetail_model::workload::LoadModelKind;
use truetail_run::Run;

use super::color::Role;
use super::frame::{Axis, Frame};
use super::layout::{FAINT_INK, HEIGHT, INK, SMALL, SWATCH};
use super::picture::Picture;
use super::scale::{AxisScale, log_time_ticks, percentile_ticks};
use super::sheet::{Sheet, Swatch, draw_swatch};
use super::steps::{StepSegment, draw_steps};
use super::svg::{Anchor, Label, Stroke, Svg};
use super::text_width;
use crate::number;

/// The usual file name of a percentile spectrum, without extension.
pub const SPECTRUM: &str = "percentiles";

/// A curve: the quantile function of the response times of a series.
#[derive(Clone, PartialEq, Debug)]
pub struct Curve {
    name: String,
    role: Role,
    /// Answered arrivals by response time: (response time in ns, arrivals up to it).
    answered: Vec<(u64, u64)>,
    /// All arrivals; unanswered ones are slower than every answer.
    arrivals: u64,
    /// Single quantiles, if nothing else is known: (q, value in ns).
    points: Vec<(f64, u64)>,
    p99: Option<String>,
}

impl Curve {
    /// Returns the response times of a run, over all planned arrivals after the warm-up.
    pub fn from_run(name: impl Into<String>, role: Role, run: &Run) -> Curve {
        let curve = Curve::from_snapshot(name.into(), role, &run.snapshot);
        let p99 = (curve.arrivals > 0).then(|| truetail_analysis::quantile(run, Metric::ResponseTime, 0.99));
        Curve { p99: p99.map(|p99| number::quantile(&p99)), ..curve }
    }

    /// Returns the latencies of a load tool. If the tool gave no data, they are the quantiles that it printed, over
    /// `measured` requests. `p99` is for the legend.
    pub fn from_tool(
        name: &str,
        role: Role,
        data: &Snapshot,
        points: &[(f64, u64)],
        measured: u64,
        p99: Option<u64>,
    ) -> Curve {
        let curve = Curve::from_snapshot(name.to_owned(), role, data);
        let p99 = p99.map(number::time).or(Some("not given".to_owned()));
        if curve.answered.is_empty() {
            let arrivals = if points.is_empty() { 0 } else { measured.max(1) };
            return Curve { arrivals, points: points.to_vec(), p99, ..curve };
        }
        Curve { p99, ..curve }
    }

    /// Returns the exact response times of a scenario.
    pub fn from_truth(name: &str, truth: &Truth) -> Curve {
        let mut answered: Vec<(u64, u64)> = Vec::new();
        for (rank, time) in (1..).zip(truth.answered()) {
            match answered.last_mut() {
                Some((last, so_far)) if *last == time.0 => *so_far = rank,
                _ => answered.push((time.0, rank)),
            }
        }
        let p99 = truth.quantile(0.99).map(|p99| number::time(p99.0));
        Curve { name: name.to_owned(), role: Role::Truth, answered, arrivals: truth.count(), points: Vec::new(), p99 }
    }

    fn from_snapshot(name: String, role: Role, snapshot: &Snapshot) -> Curve {
        let answers = snapshot.metric(Metric::ResponseTime);
        let longest = answers.max().unwrap_or_default().0;
        let mut so_far = 0;
        let up_to = |(_, high, count): (Nanos, Nanos, u64)| {
            so_far += count;
            (high.0.min(longest), so_far)
        };
        let answered = answers.buckets().map(up_to).collect();
        let without_answer = [Metric::Censored, Metric::Failed].map(|metric| snapshot.metric(metric).count());
        let arrivals = answers.count() + without_answer.iter().sum::<u64>();
        Curve { name, role, answered, arrivals, points: Vec::new(), p99: None }
    }

    fn unanswered(&self) -> u64 {
        if self.answered.is_empty() && !self.points.is_empty() {
            return 0;
        }
        self.arrivals - self.answered.last().map_or(0, |(_, so_far)| *so_far)
    }

    /// Returns 1/(1 − q) for the share of arrivals before rank `before`; the last arrival ends at `end`.
    fn place(&self, before: u64, end: f64) -> f64 {
        if before >= self.arrivals { end } else { (self.arrivals as f64 / (self.arrivals - before) as f64).min(end) }
    }

    /// Returns the steps of the curve. The largest response time is at 1/(1 − q) = n, and extended to be visible.
    fn steps(&self) -> Vec<StepSegment> {
        let end = self.arrivals as f64 * SHELF;
        let mut before = 0;
        let mut step = |(time, so_far): &(u64, u64)| {
            let step = StepSegment { from: self.place(before, end), to: self.place(*so_far, end), value: *time as f64 };
            before = *so_far;
            step
        };
        self.answered.iter().map(&mut step).collect()
    }

    fn times(&self) -> impl Iterator<Item = f64> + '_ {
        let answered = self.answered.iter().map(|(time, _)| *time);
        answered.chain(self.points.iter().map(|(_, time)| *time)).map(|time| time.max(1) as f64)
    }

    /// Returns the place of each single quantile: (1/(1 − q), value).
    fn places_of_points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let end = self.arrivals as f64 * SHELF;
        let place = move |q: f64| if q >= 1.0 { end } else { (1.0 / (1.0 - q)).min(end) };
        self.points.iter().map(move |(q, value)| (place(*q), *value as f64))
    }

    fn legend(&self) -> (String, Swatch) {
        let p99 = self.p99.as_ref().map_or("no arrivals".to_owned(), |p99| format!("p99 {p99}"));
        (format!("{} ({p99})", self.name), Swatch::Curve(self.role))
    }
}

/// Factor that extends the largest answer beyond n.
const SHELF: f64 = 1.6;
/// The axis of percentiles ends at 99.9 % or later, and at 1 − 10⁻⁹ at the latest.
const SHORTEST_AXIS: f64 = 1_000.0;
const LONGEST_AXIS: f64 = 1e9;
/// Line height of a legend beside the data, and the gap before it.
const BESIDE_LINE: f64 = 21.5;
const BESIDE_GAP: f64 = 26.0;

struct Axes<'a> {
    shares: &'a str,
    times: &'a str,
}

const OF_RUNS: Axes<'_> = Axes { shares: "share of arrivals that were at least as fast", times: "response time" };

/// Returns the axes of load tools. `times` names the times that they report.
const fn tool_axes(times: &str) -> Axes<'_> {
    Axes { shares: "share of requests that were at least as fast", times }
}

/// Draws several runs in one picture.
pub fn spectrum(title: &str, subtitle: &str, curves: &[Curve]) -> Picture {
    draw_curves(with_legend(title, subtitle, curves), curves, &OF_RUNS)
}

/// Draws a few load tools and the truth, with the legend above. `times` names the times that the tools report.
pub fn tool_spectrum(title: &str, subtitle: &str, times: &str, curves: &[Curve]) -> Picture {
    draw_curves(with_legend(title, subtitle, curves), curves, &tool_axes(times))
}

fn with_legend(title: &str, subtitle: &str, curves: &[Curve]) -> Sheet {
    Sheet::new(title, subtitle, HEIGHT, &curves.iter().map(Curve::legend).collect::<Vec<_>>())
}

/// Draws many load tools and the truth, with the legend beside the frame. `times` names what the tools report.
pub fn many_tools_spectrum(title: &str, subtitle: &str, times: &str, curves: &[Curve]) -> Picture {
    let mut sheet = Sheet::new(title, subtitle, HEIGHT, &[]);
    draw_legend_beside(&mut sheet, curves);
    draw_curves(sheet, curves, &tool_axes(times))
}

/// Draws a legend right of the data, one curve per line with its p99, and reduces the area.
fn draw_legend_beside(sheet: &mut Sheet, curves: &[Curve]) {
    let p99 = |curve: &Curve| curve.p99.clone().unwrap_or_default();
    let widest = |texts: &mut dyn Iterator<Item = String>| {
        texts.map(|text| text_width::width(&text, SMALL)).fold(40.0, f64::max)
    };
    let names = widest(&mut curves.iter().map(|curve| curve.name.clone()));
    let width = SWATCH + 8.0 + names + 14.0 + widest(&mut curves.iter().map(p99));
    let area = sheet.area;
    let left = area.x + area.width - width;
    let line = ((area.height - 8.0) / (curves.len() + 1) as f64).min(BESIDE_LINE);
    let mut text = |x: f64, y: f64, text: &str, anchor, color| {
        sheet.svg.label(Label { x, y, text, size: SMALL, anchor, color, bold: false });
    };
    let base = |number: usize| area.y + SMALL * 0.8 + number as f64 * line;
    text(left + width, base(0), "p99", Anchor::End, FAINT_INK);
    for (number, curve) in (1..).zip(curves) {
        text(left + SWATCH + 8.0, base(number), &curve.name, Anchor::Start, INK);
        text(left + width, base(number), &p99(curve), Anchor::End, INK);
    }
    for (number, curve) in (1..).zip(curves) {
        let middle = base(number) - 5.0;
        if curve.points.is_empty() {
            draw_swatch(&mut sheet.svg, (left, middle), Swatch::Curve(curve.role));
        } else {
            draw_point(&mut sheet.svg, (left + SWATCH / 2.0, middle), curve.role);
        }
    }
    sheet.area.width -= width + BESIDE_GAP;
}

/// Draws a single quantile.
fn draw_point(svg: &mut Svg, place: (f64, f64), role: Role) {
    svg.circle(place, role.width() * 0.9 + 2.5, role.color());
}

fn draw_curves(mut sheet: Sheet, curves: &[Curve], axes: &Axes<'_>) -> Picture {
    let frame = Frame::in_area(sheet.area, percentile_axis(axes.shares, curves), time_axis(axes.times, curves));
    frame.draw_columns(&mut sheet.svg);
    frame.draw_behind(&mut sheet.svg);
    frame.draw_base(&mut sheet.svg);
    let mut widest_first: Vec<&Curve> = curves.iter().collect();
    // The truth comes last, so that it is visible if a tool's curve coincides with it.
    let is_truth = |curve: &Curve| curve.role == Role::Truth;
    widest_first.sort_by(|a, b| is_truth(a).cmp(&is_truth(b)).then(b.role.width().total_cmp(&a.role.width())));
    widest_first.into_iter().for_each(|curve| draw(&mut sheet.svg, &frame, curve));
    if curves.iter().all(|curve| curve.answered.is_empty() && curve.points.is_empty()) {
        say_nothing(&mut sheet.svg, &frame);
    }
    sheet.finish()
}

/// Draws one run.
pub fn run_spectrum(run: &Run) -> Picture {
    let offered = &run.facts.offered;
    let (name, role) = match offered.model {
        LoadModelKind::Open => ("open loop", Role::Open),
        LoadModelKind::Closed => ("closed loop", Role::Closed),
        LoadModelKind::PartlyOpen => ("partly open", Role::Other(0)),
    };
    let of = offered.name.as_ref().or(offered.url.as_ref()).map_or("this run", String::as_str);
    let curve = Curve::from_run(name, role, run);
    let subtitle = subtitle(&[&curve]);
    spectrum(&format!("Response time of {of}"), &subtitle, &[curve])
}

fn subtitle(curves: &[&Curve]) -> String {
    let arrivals: u64 = curves.iter().map(|curve| curve.arrivals).sum();
    let unanswered: u64 = curves.iter().map(|curve| curve.unanswered()).sum();
    match unanswered {
        0 => format!("{} arrivals, from the intended start of each.", number::count(arrivals)),
        n => format!(
            "{} arrivals, from the intended start of each; {} without an answer, at the right.",
            number::count(arrivals),
            number::count(n)
        ),
    }
}

fn percentile_axis(label: &str, curves: &[Curve]) -> Axis {
    let most = curves.iter().map(|curve| curve.arrivals).max().unwrap_or(0) as f64;
    let to = (most * SHELF).clamp(SHORTEST_AXIS, LONGEST_AXIS);
    Axis::new(label, AxisScale::Log { from: 1.0, to }, percentile_ticks(to))
}

fn time_axis(label: &str, curves: &[Curve]) -> Axis {
    let times = || curves.iter().flat_map(Curve::times);
    let low = times().fold(f64::INFINITY, f64::min);
    let high = times().fold(0.0, f64::max);
    let (low, high) = if high > 0.0 { (low, high) } else { (1e6, 1e9) };
    let (from, to) = around(low, high);
    Axis::new(label, AxisScale::Log { from, to }, log_time_ticks(from, to))
}

/// Returns the ends of a logarithmic axis: some room below and above, and at least a power of ten.
fn around(low: f64, high: f64) -> (f64, f64) {
    let short = (10.0 / (high / low)).max(1.0);
    let room = libm::sqrt(short).max(1.0);
    (low / 1.6 / room, high * 1.6 * room)
}

fn draw(svg: &mut Svg, frame: &Frame, curve: &Curve) {
    let role = curve.role;
    for (at, value) in curve.places_of_points() {
        draw_point(svg, (frame.x(at), frame.y(value)), role);
    }
    let steps = curve.steps();
    draw_steps(svg, frame, &steps, role.stroke());
    let Some(last) = steps.last() else { return };
    if curve.unanswered() == 0 {
        svg.circle((frame.x(last.to), frame.y(last.value)), role.width() * 0.9 + 1.0, role.color());
    } else {
        draw_unanswered(svg, frame, curve, last);
    }
}

/// Draws the unanswered arrivals: an arrow up and out of the picture.
fn draw_unanswered(svg: &mut Svg, frame: &Frame, curve: &Curve, last: &StepSegment) {
    let x = frame.x(last.to);
    let y = frame.y(last.value);
    let top = frame.inner.y;
    let color = curve.role.color();
    svg.line(&[(x, y), (x, top)], Stroke { color, width: 2.5, dashes: "3 5" });
    svg.line(&[(x - 6.0, top + 9.0), (x, top), (x + 6.0, top + 9.0)], Stroke::solid(color, 2.5));
    let text = format!("{} without an answer", number::count(curve.unanswered()));
    let right = x > frame.inner.x + frame.inner.width * 0.6;
    let (anchor, x) = if right { (Anchor::End, x - 12.0) } else { (Anchor::Start, x + 12.0) };
    svg.label(Label { x, y: top + 14.0, text: &text, size: 15.0, anchor, color: INK, bold: false });
}

fn say_nothing(svg: &mut Svg, frame: &Frame) {
    let x = frame.inner.x + frame.inner.width / 2.0;
    let y = frame.inner.y + frame.inner.height / 2.0;
    let text = "nothing was answered";
    svg.label(Label { x, y, text, size: 18.0, anchor: Anchor::Middle, color: FAINT_INK, bold: false });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(answered: &[(u64, u64)], arrivals: u64) -> Curve {
        Curve {
            name: "x".to_owned(),
            role: Role::Open,
            answered: answered.to_vec(),
            arrivals,
            points: Vec::new(),
            p99: None,
        }
    }

    #[test]
    fn steps_are_the_quantile_function() {
        // 90 of 100 took 10, 9 took 20, one took 30.
        let steps = curve(&[(10, 90), (20, 99), (30, 100)], 100).steps();
        let places: Vec<_> = steps.iter().map(|step| (step.from.round(), step.to.round(), step.value)).collect();
        assert_eq!(places, [(1.0, 10.0, 10.0), (10.0, 100.0, 20.0), (100.0, 160.0, 30.0)]);
    }

    #[test]
    fn who_is_not_answered_stays_in_the_distribution() {
        let half = curve(&[(10, 50)], 100);
        assert_eq!((half.unanswered(), half.steps()[0].to), (50, 2.0));
        assert_eq!(curve(&[], 0).legend().0, "x (no arrivals)");
    }

    #[test]
    fn quantiles_alone_stand_at_their_places() {
        let data = Snapshot::default();
        let points = [(0.5, 10), (0.99, 20), (1.0, 30)];
        let curve = Curve::from_tool("x", Role::Closed, &data, &points, 1_000, Some(20));
        let places: Vec<_> = curve.places_of_points().map(|(at, value)| (at.round(), value)).collect();
        assert_eq!(places, [(2.0, 10.0), (100.0, 20.0), (1_600.0, 30.0)]);
        assert_eq!((curve.unanswered(), curve.steps().len()), (0, 0));
        let svg = tool_spectrum("x", "", "", &[curve]);
        assert!(!svg.svg().contains("nothing was answered"));
    }

    #[test]
    fn an_axis_has_room_for_a_single_value() {
        let (from, to) = around(1e7, 1e7);
        assert!(from < 4e6 && to > 2e7 && to / from >= 10.0, "{from} {to}");
    }
}
