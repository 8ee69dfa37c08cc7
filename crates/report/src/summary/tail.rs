//! The tables of quantiles, and their replacement in saturation.

use truetail_analysis::verdict::code;
use truetail_analysis::verdict::thresholds::WEIGHED_QUANTILES;
use truetail_model::record::Metric;
use truetail_run::{Distribution, Findings, Quantile, Run};

use super::labelled::LabelledText;
use crate::number;
use crate::style::{Emphasis, Style};
use crate::table::{Align, TextTable};

const INDENT: usize = 2;

/// Column heads of [`times`].
pub const TIMES_HEADS: [&str; 5] = [
    "",
    Metric::ResponseTime.definition().label,
    "95% interval",
    Metric::ServiceTime.definition().label,
    Metric::StartDelay.definition().label,
];

/// Returns response time with its confidence interval, service time and start delay, one row per quantile. If the
/// generator may have moved a response time by more than a tenth, the row has a range. Empty if nothing was planned or
/// answered.
pub fn times(findings: &Findings) -> Vec<[String; 5]> {
    let row = |quantile: &Quantile| {
        [
            number::quantile_name(quantile.q),
            number::bracketed(quantile),
            interval(quantile),
            at(&findings.metrics[Metric::ServiceTime], quantile.q),
            at(&findings.metrics[Metric::StartDelay], quantile.q),
        ]
    };
    let all = &findings.response_time;
    if has_times(all) { all.quantiles.iter().map(row).collect() } else { Vec::new() }
}

pub(super) fn table(findings: &Findings, style: Style) -> Vec<String> {
    let rows = times(findings);
    if rows.is_empty() {
        return Vec::new();
    }
    let aligned = [Align::Left, Align::Right, Align::Left, Align::Right, Align::Right];
    let columns: Vec<_> = TIMES_HEADS.into_iter().zip(aligned).collect();
    let mut table = TextTable::new(&columns);
    rows.into_iter().for_each(|row| table.row(row.into()));
    // If space is short, start delay goes first, then service time, then the interval.
    let mut lines = table.fitting(style.columns() - INDENT, &[4, 3, 2], style).lines(INDENT, style);
    let notes = times_footnotes(findings).into_iter().flat_map(|note| style.wrap(&note, style.columns() - INDENT));
    lines.extend(notes.map(|line| format!("  {}", style.emphasize(Emphasis::Faint, &line))));
    lines
}

fn has_times(distribution: &Distribution) -> bool {
    distribution.count > 0 && !distribution.quantiles.iter().all(|quantile| quantile.no_answer)
}

pub(super) fn at(distribution: &Distribution, q: f64) -> String {
    let quantile = distribution.quantiles.iter().find(|quantile| quantile.q == q);
    // The column of the response time already shows "n≥N".
    quantile.filter(|quantile| quantile.supported).map_or("–".to_owned(), number::quantile)
}

/// Formats the interval: a dash if it is unknown, or if the value is only a lower bound or a range.
fn interval(quantile: &Quantile) -> String {
    let known =
        !quantile.at_least && !number::is_bracketed(quantile) && (quantile.low_ns, quantile.high_ns) != (None, None);
    if known { number::time_range(quantile.low_ns, quantile.high_ns) } else { "–".to_owned() }
}

/// Returns the meanings of the marks that occur in [`times`].
pub fn times_footnotes(findings: &Findings) -> Vec<String> {
    let quantiles = &findings.response_time.quantiles;
    let open_end = |quantile: &Quantile| interval(quantile).contains('?');
    let too_few = |quantile: &Quantile| !quantile.supported && quantile.needs_n.is_some();
    let ranges: Vec<&Quantile> = quantiles.iter().filter(|quantile| number::is_bracketed(quantile)).collect();
    let range = (!ranges.is_empty()).then(|| {
        let is_doubted = findings.verdict.reasons.iter().any(|reason| reason.code.starts_with("generator_"));
        let resolved = resolution(&ranges)
            .filter(|_| !is_doubted)
            .map_or(String::new(), |ns| format!(". This machine resolves about {}", number::time(ns)));
        format!("a range: truetail may have sent late; the true response time is inside it{resolved}")
    });
    let notes = [
        (quantiles.iter().any(open_end), "?: the run is too short to bound this side of the interval"),
        (quantiles.iter().any(too_few), "n≥N: needs at least N requests; this run had fewer"),
    ];
    let notes = notes.into_iter().filter_map(|(wanted, note)| wanted.then_some(note.to_owned()));
    range.into_iter().chain(notes).collect()
}

/// Returns the width of the widest range up to p99, in nanoseconds. Ranges beyond p99 come from single hiccups.
fn resolution(ranges: &[&Quantile]) -> Option<u64> {
    let weighed = ranges.iter().filter(|quantile| WEIGHED_QUANTILES.contains(&quantile.q));
    weighed.filter_map(|quantile| Some(quantile.value_ns?.saturating_sub(quantile.without_generator_ns?))).max()
}

pub(super) const QUANTILES_OF_A_ROW: [f64; 5] = [0.5, 0.9, 0.99, 0.999, 1.0];

/// Column heads of [`times_by_status`].
pub fn times_by_status_heads() -> Vec<String> {
    let heads = ["response time", "answers"].map(str::to_owned);
    heads.into_iter().chain(QUANTILES_OF_A_ROW.map(number::quantile_name)).collect()
}

/// Returns the response times of successes and error statuses, one per row. Empty unless both occurred.
pub fn times_by_status(run: &Run, findings: &Findings) -> Vec<Vec<String>> {
    let (Some(success), Some(errors)) = (&findings.response_time_success, &findings.response_time_error_status) else {
        return Vec::new();
    };
    let row = |(name, distribution): (&str, &Distribution)| {
        let quantiles = QUANTILES_OF_A_ROW.map(|q| at(distribution, q));
        [name.to_owned(), number::count(distribution.count)].into_iter().chain(quantiles).collect()
    };
    let names = match run.facts.offered.grpc {
        Some(_) => ["status OK", "other statuses"],
        None => ["status below 400", "status from 400"],
    };
    [(names[0], success), (names[1], errors)].map(row).into()
}

pub(super) fn by_status(run: &Run, findings: &Findings, style: Style) -> Vec<String> {
    let rows = times_by_status(run, findings);
    if rows.is_empty() {
        return Vec::new();
    }
    with_quantiles(&times_by_status_heads(), rows, style)
}

/// Formats rows of name, count and five quantiles as a table. If space is short, p99.9 goes first, then p50 and p90.
pub(super) fn with_quantiles(heads: &[String], rows: Vec<Vec<String>>, style: Style) -> Vec<String> {
    let align = |at: usize| if at == 0 { Align::Left } else { Align::Right };
    let columns: Vec<_> = heads.iter().enumerate().map(|(at, head)| (head.as_str(), align(at))).collect();
    let mut table = TextTable::new(&columns);
    rows.into_iter().for_each(|row| table.row(row));
    table.fitting(style.columns() - INDENT, &[5, 2, 3], style).lines(INDENT, style)
}

/// Returns the capacity, which replaces the response times of a saturated run. Empty for other runs.
pub fn capacity(findings: &Findings) -> Vec<LabelledText> {
    let Some(reason) = findings.verdict.reasons.iter().find(|reason| reason.code == code::SATURATED) else {
        return Vec::new();
    };
    let per_second = |name: &str| reason.numbers.get(name).and_then(|number| number.as_f64());
    let rate = |name: &str| per_second(name).map(number::rate);
    let capacity = match (rate("capacity_per_second"), rate("offered_per_second"), rate("answered_per_second")) {
        (Some(capacity), Some(offered), _) => Some(("Capacity", format!("{capacity} answered of {offered} offered"))),
        // The user's own limit on connections was reached, so this is not a capacity of the service.
        (_, _, Some(answered)) => Some(("Answered", format!("{answered} with this many connections"))),
        _ => None,
    };
    let omitted = "omitted: under overload they only grow with run length (run.json has them)";
    capacity.into_iter().chain([("Percentiles", omitted.to_owned())]).collect()
}
