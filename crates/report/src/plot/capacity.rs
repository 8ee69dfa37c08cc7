//! A search for capacity: response time against rate.

use truetail_analysis::capacity::Answer;

use super::frame::{Axis, Frame};
use super::layout::{FAINT_INK, HEIGHT};
use super::look::SeriesStyle;
use super::picture::Picture;
use super::scale::{AxisScale, linear_ticks};
use super::sheet::{Sheet, Swatch, remark, time_axis};
use super::svg::{Anchor, Stroke, Svg};
use crate::capacity::{CapacityReport, ProbeLine};
use crate::number;

const ANSWERS: [(Answer, &str, SeriesStyle); 4] = [
    (Answer::Meets, "meets", SeriesStyle::P99),
    (Answer::Misses, "misses", SeriesStyle::Failed),
    (Answer::Open, "open", SeriesStyle::Backlog),
    (Answer::GeneratorLimit, "generator limit", SeriesStyle::LagMax),
];

/// Draws the percentile of each probe by its rate, with its 95 % interval, and both ends of the search.
pub fn capacity_curve(report: &CapacityReport) -> Picture {
    let title = report.slo.join(" and ");
    let mut probes: Vec<(f64, &ProbeLine)> =
        report.probes.iter().filter_map(|probe| Some((probe.figures.value_ns?.max(1) as f64, probe))).collect();
    probes.sort_by(|a, b| a.1.rate.total_cmp(&b.1.rate));
    if probes.is_empty() {
        return Sheet::nothing(&title, "No probe has a percentile, so there is nothing to set against the rate.");
    }
    let shown = |answer: Answer| probes.iter().any(|(_, probe)| probe.answer == answer);
    let legend: Vec<(String, Swatch)> = ANSWERS
        .iter()
        .filter(|(answer, ..)| shown(*answer))
        .map(|(_, name, look)| ((*name).to_owned(), Swatch::Block(*look, 1.0)))
        .collect();
    let subtitle = format!("{} of each probe with its 95 % interval, by rate.", report.time_name);
    let mut sheet = Sheet::new(&title, &subtitle, HEIGHT, &legend);
    let lows = probes.iter().map(|(value, probe)| probe.figures.low_ns.map_or(*value, |ns| ns.max(1) as f64));
    let highs = probes.iter().map(|(value, probe)| probe.figures.high_ns.map_or(*value, |ns| ns as f64));
    let y = time_axis(&report.time_name, lows.fold(f64::INFINITY, f64::min), highs.fold(0.0, f64::max));
    let most = probes.iter().map(|(_, probe)| probe.rate).fold(0.0, f64::max) * 1.05;
    let x = Axis::new("requests per second", AxisScale::Linear { from: 0.0, to: most }, linear_ticks(0.0, most, 10));
    let frame = Frame::in_area(sheet.area, x, y);
    frame.draw_behind(&mut sheet.svg);
    draw_ends(&mut sheet.svg, &frame, report);
    draw_probes(&mut sheet.svg, &frame, &probes);
    frame.draw_base(&mut sheet.svg);
    sheet.finish()
}

/// Draws a line at each end. Their names are one below the other, on the side with more room.
fn draw_ends(svg: &mut Svg, frame: &Frame, report: &CapacityReport) {
    let ends = [(report.proven, ["proven", "met"], 16.0), (report.refuted, ["refuted", "missed"], 36.0)];
    for (end, [again, once], below) in ends {
        let Some((rate, is_again)) = end else { continue };
        let x = frame.x(rate);
        let dashes = if is_again { "" } else { "6 4" };
        svg.line(&[(x, frame.inner.y), (x, frame.bottom())], Stroke { color: FAINT_INK, width: 1.5, dashes });
        let name = format!("{} {}", if is_again { again } else { once }, number::rate(rate));
        let is_right = x > frame.inner.x + frame.inner.width / 2.0;
        let (anchor, gap) = if is_right { (Anchor::End, -6.0) } else { (Anchor::Start, 6.0) };
        remark(svg, x + gap, frame.inner.y + below, &name, anchor);
    }
}

fn draw_probes(svg: &mut Svg, frame: &Frame, probes: &[(f64, &ProbeLine)]) {
    for (answer, _, look) in ANSWERS {
        let of_answer = || probes.iter().filter(|(_, probe)| probe.answer == answer);
        let interval = |(value, probe): &(f64, &ProbeLine)| {
            let x = frame.x(probe.rate);
            let end = |ns: Option<u64>| frame.y(ns.map_or(*value, |ns| ns.max(1) as f64));
            vec![(x, end(probe.figures.low_ns)), (x, end(probe.figures.high_ns))]
        };
        let dot = |(value, probe): &(f64, &ProbeLine)| vec![(frame.x(probe.rate), frame.y(*value))];
        svg.series(&of_answer().map(interval).collect::<Vec<_>>(), look, 1.5);
        svg.series(&of_answer().map(dot).collect::<Vec<_>>(), look, 9.0);
    }
}

#[cfg(test)]
mod tests {
    use truetail_analysis::capacity::{Purpose, SearchState};

    use super::*;
    use crate::ProbeFigures;

    fn report(probes: Vec<ProbeLine>) -> CapacityReport {
        CapacityReport {
            slo: vec!["p99 < 50ms".to_owned()],
            state: SearchState::OutOfTime,
            stopped_by: Some("time"),
            proven: Some((400.0, true)),
            refuted: Some((480.0, false)),
            estimate: None,
            resolution: 0.1,
            confidence: 0.95,
            time_name: "p99".to_owned(),
            folder: "search".to_owned(),
            counts_errors: false,
            probes,
        }
    }

    fn probe(rate: f64, answer: Answer, value_ns: Option<u64>) -> ProbeLine {
        ProbeLine {
            rate,
            purpose: Purpose::Bracket,
            answer,
            seconds: 10.0,
            requests: 1_000,
            errors: 0,
            figures: ProbeFigures { value_ns, low_ns: value_ns.map(|ns| ns / 2), high_ns: value_ns.map(|ns| ns * 2) },
            objectives: Vec::new(),
            run: None,
            cut_off: false,
            note: None,
        }
    }

    #[test]
    fn it_names_the_ends_and_only_the_answers_that_there_were() {
        let probes =
            vec![probe(400.0, Answer::Meets, Some(20_000_000)), probe(480.0, Answer::Misses, Some(90_000_000))];
        let picture = capacity_curve(&report(probes));
        for text in ["p99 &lt; 50ms", "proven 400/s", "missed 480/s", ">meets<", ">misses<"] {
            assert!(picture.svg().contains(text), "{text}: {}", picture.svg());
        }
        assert!(!picture.svg().contains(">open<") && !picture.svg().contains("generator limit"));
    }

    #[test]
    fn without_percentiles_it_says_so() {
        let picture = capacity_curve(&report(vec![probe(400.0, Answer::Open, None)]));
        assert!(picture.svg().contains("No probe has a percentile"), "{}", picture.svg());
    }
}
