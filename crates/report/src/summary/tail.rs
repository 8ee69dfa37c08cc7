//! The tables of quantiles, and what stands in their place in saturation.

use truetail_analysis::verdict::SATURATED;
use truetail_model::record::Metric;
use truetail_run::{Distribution, Findings, Quantile};

use super::labelled::labelled_text;
use crate::number;
use crate::style::{Emphasis, Style};
use crate::table::{Align, TextTable};

/// Columns before a table.
const INDENT: usize = 2;

/// Response time with its confidence interval, service time and start delay, a row a quantile. Where the generator may have
/// moved a response time by more than a tenth, the range stands in its place that holds the truth.
pub(super) fn table(findings: &Findings, style: Style) -> Vec<String> {
    if !has_times(&findings.response_time) {
        return Vec::new();
    }
    let mut table = TextTable::new(&[
        ("", Align::Left),
        (Metric::ResponseTime.definition().label, Align::Right),
        ("95% interval", Align::Left),
        (Metric::ServiceTime.definition().label, Align::Right),
        (Metric::StartDelay.definition().label, Align::Right),
    ]);
    for quantile in &findings.response_time.quantiles {
        table.row(vec![
            number::quantile_name(quantile.q),
            number::bracketed(quantile),
            interval(quantile),
            at(&findings.metrics[Metric::ServiceTime], quantile.q),
            at(&findings.metrics[Metric::StartDelay], quantile.q),
        ]);
    }
    // Without room for all: start delay goes first, then service time, then the interval.
    let mut lines = table.fitting(style.columns() - INDENT, &[4, 3, 2], style).lines(INDENT, style);
    lines.extend(footnotes(&findings.response_time.quantiles, style));
    lines
}

/// False where there was nothing to time, or nothing ever answered.
fn has_times(distribution: &Distribution) -> bool {
    distribution.count > 0 && !distribution.quantiles.iter().all(|quantile| quantile.no_answer)
}

fn at(distribution: &Distribution, q: f64) -> String {
    let quantile = distribution.quantiles.iter().find(|quantile| quantile.q == q);
    // "n≥N" stands in the column of the response time already.
    quantile.filter(|quantile| quantile.supported).map_or("–".to_owned(), number::quantile)
}

/// A dash for "≥" and "no-answer", which imply that there is no upper end, for a range, whose ends have no interval of their
/// own, and where no interval is known.
fn interval(quantile: &Quantile) -> String {
    let known =
        !quantile.at_least && !number::is_bracketed(quantile) && (quantile.low_ns, quantile.high_ns) != (None, None);
    if known { number::time_range(quantile.low_ns, quantile.high_ns) } else { "–".to_owned() }
}

fn footnotes(quantiles: &[Quantile], style: Style) -> Vec<String> {
    let open_end = |quantile: &Quantile| interval(quantile).contains('?');
    let too_few = |quantile: &Quantile| !quantile.supported && quantile.needs_n.is_some();
    let notes = [
        (
            quantiles.iter().any(number::is_bracketed),
            "a range: the generator was late; the true response time is inside it",
        ),
        (quantiles.iter().any(open_end), "?: the run is too short to bound this side of the interval"),
        (quantiles.iter().any(too_few), "n≥N: needs at least N requests; this run had fewer"),
    ];
    let wanted = notes.iter().filter(|(wanted, _)| *wanted);
    let lines = wanted.flat_map(|(_, note)| style.wrap(note, style.columns() - INDENT));
    lines.map(|line| format!("  {}", style.emphasize(Emphasis::Faint, &line))).collect()
}

/// Successes and error statuses apart, if there are both.
pub(super) fn by_status(findings: &Findings, style: Style) -> Vec<String> {
    let (Some(success), Some(errors)) = (&findings.response_time_success, &findings.response_time_error_status) else {
        return Vec::new();
    };
    let quantiles = [0.5, 0.9, 0.99, 0.999, 1.0];
    let names = quantiles.map(number::quantile_name);
    let mut columns = vec![("response time", Align::Left), ("answers", Align::Right)];
    columns.extend(names.iter().map(|name| (name.as_str(), Align::Right)));
    let mut table = TextTable::new(&columns);
    for (name, distribution) in [("status below 400", success), ("status from 400", errors)] {
        let mut row = vec![name.to_owned(), number::count(distribution.count)];
        row.extend(quantiles.map(|q| at(distribution, q)));
        table.row(row);
    }
    // Without room for all: p99.9 goes first, then p50 and p90.
    table.fitting(style.columns() - INDENT, &[5, 2, 3], style).lines(INDENT, style)
}

/// The capacity, which replaces the response times of a run whose backlog grew without end.
pub(super) fn capacity(findings: &Findings, style: Style) -> Vec<String> {
    let Some(reason) = findings.verdict.reasons.iter().find(|reason| reason.code == SATURATED) else {
        return Vec::new();
    };
    let per_second = |name: &str| reason.numbers.get(name).and_then(|number| number.as_f64());
    let rate = |name: &str| per_second(name).map(number::rate);
    let capacity = match (rate("capacity_per_second"), rate("offered_per_second"), rate("answered_per_second")) {
        (Some(capacity), Some(offered), _) => {
            labelled_text("Capacity", &format!("{capacity} answered of {offered} offered"), style)
        }
        // The user's own cap on connections was the limit: that is no capacity of the service.
        (_, _, Some(answered)) => labelled_text("Answered", &format!("{answered} with this many connections"), style),
        _ => Vec::new(),
    };
    let omitted = "omitted: under overload they only grow with run length (run.json has them)";
    [capacity, labelled_text("Percentiles", omitted, style)].concat()
}
