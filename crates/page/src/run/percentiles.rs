//! The percentile curves.

use maud::{Markup, html};
use truetail_analysis::series::{CurveKind, CurvePoint, PercentileCurve, RunSeries};
use truetail_report::number;
use truetail_report::plot::{self, Picture};

use super::page::RunPage;
use super::time_rows::time;
use super::wording::none;
use crate::document::Section;
use crate::figure::Figure;
use crate::table::Table;

pub(super) fn section(page: &RunPage<'_>) -> Section {
    Section { id: "percentiles", heading: "Percentiles", content: content(page) }
}

fn content(page: &RunPage<'_>) -> Markup {
    let curves = page.series.curves.iter().chain(page.overlays.iter().flat_map(|other| &other.series.curves));
    if curves.clone().all(|curve| curve.points.is_empty()) && !page.live {
        return none("There is no percentile curve: too few requests were answered for even one percentile.");
    }
    html! {
        @if page.is_saturated() {
            p { strong { "Under overload these percentiles only grow with the length of the run." }
                " They say nothing about the service." }
        }
        @for sentence in page.series.curves.iter().filter_map(unanswered) { p { (sentence) } }
        (Figure {
            name: "percentiles",
            picture: picture(page),
            caption: "The time within which a share of the requests was answered. Each step to the right is one more nine. A curve \
                      ends where the run has too few requests to say more, or where requests without an answer begin. The band \
                      around response time is its 95 % confidence interval.",
            table: table(page),
        }.markup())
    }
}

/// Draws the percentile curves of the run and of its overlays.
pub(super) fn picture(page: &RunPage<'_>) -> Picture {
    let own = if page.overlays.is_empty() { "" } else { "this run" };
    let others = page.overlays.iter().map(|other| (other.name, other.series));
    let curves: Vec<(&str, &RunSeries)> = std::iter::once((own, page.series)).chain(others).collect();
    plot::percentiles(&curves)
}

fn unanswered(curve: &PercentileCurve) -> Option<String> {
    let is_response_time = curve.kind == CurveKind::ResponseTime;
    (is_response_time && curve.unanswered_share > 0.0).then(|| {
        let share = number::share(curve.unanswered_share);
        format!(
            "{share} of the requests got no answer. They are slower than every answer, so the curve ends before them."
        )
    })
}

pub(crate) const fn name(kind: CurveKind) -> &'static str {
    match kind {
        CurveKind::ResponseTime => "response time",
        CurveKind::ServiceTime => "service time",
        CurveKind::ClosedLoopShadow => "closed-loop shadow",
        CurveKind::Corrected => "corrected",
        CurveKind::Truth => "truth",
    }
}

/// Returns the points of the first curve, with the values of the other curves at the same percentiles.
fn table(page: &RunPage<'_>) -> Table {
    let [first, others @ ..] = &page.series.curves[..] else {
        return Table::new("Percentiles of the curves", ["percentile"]);
    };
    let others: Vec<(String, &PercentileCurve)> = others
        .iter()
        .map(|curve| (name(curve.kind).to_owned(), curve))
        .chain(page.overlays.iter().filter_map(|other| named_curve(other.name, other.series)))
        .collect();
    let heads = ["percentile", name(first.kind), "95% interval", "without generator"].map(str::to_owned);
    let heads = heads.into_iter().chain(others.iter().map(|(name, _)| name.clone()));
    let row = |point: &CurvePoint| {
        let own = [number::quantile_name(point.q), number::time(point.value_ns), interval(point)];
        let without = time(point.without_generator_ns);
        let beside = others.iter().map(|(_, curve)| time(at(curve, point.q)));
        own.into_iter().chain([without]).chain(beside).collect::<Vec<_>>()
    };
    Table::new("Percentiles of the curves", heads).with_rows(shown_points(page, first).map(row)).without_empty_columns()
}

fn named_curve<'a>(name: &str, series: &'a RunSeries) -> Option<(String, &'a PercentileCurve)> {
    Some((name.to_owned(), series.curves.first()?))
}

fn interval(point: &CurvePoint) -> String {
    match (point.low_ns, point.high_ns) {
        (None, None) => "–".to_owned(),
        (low, high) => number::time_range(low, high),
    }
}

/// Returns the value of a curve at exactly this percentile.
fn at(curve: &PercentileCurve, q: f64) -> Option<u64> {
    let place = curve.points.binary_search_by(|point| point.q.total_cmp(&q)).ok()?;
    Some(curve.points[place].value_ns)
}

/// Returns the points that have an interval or are in the headline table, and the last point.
fn shown_points<'a>(page: &RunPage<'a>, curve: &'a PercentileCurve) -> impl Iterator<Item = &'a CurvePoint> {
    let headline = &page.findings.response_time.quantiles;
    let last = curve.points.last().map(|point| point.q);
    curve.points.iter().filter(move |point| {
        let is_headline = headline.iter().any(|quantile| quantile.q == point.q);
        point.low_ns.is_some() || point.high_ns.is_some() || is_headline || Some(point.q) == last
    })
}
