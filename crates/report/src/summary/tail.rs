//! The distributions.

use truetail_analysis::verdict::SATURATED;
use truetail_model::record::Metric;
use truetail_run::{Distribution, Findings, Quantile};

use super::labelled::labelled_text;
use crate::number;
use crate::style::{Emphasis, Style};
use crate::table::{Align, TextTable};

/// Response time with its confidence interval, service time and start delay, a row a quantile.
pub(super) fn table(findings: &Findings, style: Style) -> Vec<String> {
    if findings.response_time.count == 0 {
        return Vec::new();
    }
    let mut table = TextTable::new(&[
        ("", Align::Left),
        (Metric::ResponseTime.definition().label, Align::Right),
        ("", Align::Left),
        ("95 % interval", Align::Left),
        (Metric::ServiceTime.definition().label, Align::Right),
        (Metric::StartDelay.definition().label, Align::Right),
    ]);
    for quantile in &findings.response_time.quantiles {
        table.row(vec![
            number::quantile_name(quantile.q),
            number::quantile(quantile),
            if quantile.unresolved { "*".to_owned() } else { String::new() },
            interval(quantile),
            at(&findings.metrics[Metric::ServiceTime], quantile.q),
            at(&findings.metrics[Metric::StartDelay], quantile.q),
        ]);
    }
    let mut lines = table.lines(2, style);
    lines.extend(footnotes(&findings.response_time.quantiles, style));
    lines
}

fn at(distribution: &Distribution, q: f64) -> String {
    let quantile = distribution.quantiles.iter().find(|quantile| quantile.q == q);
    // "needs n ≥ N" stands in the column of the response time already.
    quantile.filter(|quantile| quantile.supported).map_or("–".to_owned(), number::quantile)
}

/// Empty for "≥" and "no answer", which imply that there is no upper end.
fn interval(quantile: &Quantile) -> String {
    if quantile.at_least { String::new() } else { number::time_range(quantile.low_ns, quantile.high_ns) }
}

fn footnotes(quantiles: &[Quantile], style: Style) -> Vec<String> {
    let open_end =
        |quantile: &Quantile| !quantile.at_least && (quantile.low_ns.is_some() != quantile.high_ns.is_some());
    let notes = [
        (quantiles.iter().any(|q| q.unresolved), "* the generator's own lag is more than a tenth of it"),
        (quantiles.iter().any(open_end), "? too few independent events to bound it on this side"),
    ];
    let wanted = notes.iter().filter(|(wanted, _)| *wanted);
    wanted.map(|(_, note)| format!("  {}", style.emphasize(Emphasis::Faint, &style.printable(note)))).collect()
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
    table.lines(2, style)
}

/// The causes of late starts, by their share of all start delay.
pub(super) fn start_delay(findings: &Findings, style: Style) -> Vec<String> {
    let total_of = |d: &Distribution| d.mean_ns.unwrap_or(0.0) * d.count as f64;
    let all = total_of(&findings.metrics[Metric::StartDelay]);
    let Some(mean) = findings.metrics[Metric::StartDelay].mean_ns else { return Vec::new() };
    if all <= 0.0 {
        return labelled_text("Delayed", "no request began late", style);
    }
    let owners = Metric::ALL.into_iter().filter(|metric| metric.definition().part_of == Some(Metric::StartDelay));
    let owners: Vec<_> =
        owners.map(|metric| (metric.definition().label, total_of(&findings.metrics[metric]))).collect();
    let parts: Vec<String> = owners
        .iter()
        .filter(|(_, time)| *time > 0.0)
        .map(|(name, time)| format!("{name} {}", number::share((time / all).min(1.0))))
        .collect();
    let text = format!("{} on average: {}", number::time(mean.round() as u64), parts.join(" · "));
    labelled_text("Delayed", &text, style)
}

/// The capacity, which replaces the response times of a run whose backlog grew without end; empty for other runs.
pub(super) fn capacity(findings: &Findings, style: Style) -> Vec<String> {
    let Some(reason) = findings.verdict.reasons.iter().find(|reason| reason.code == SATURATED) else {
        return Vec::new();
    };
    let per_second = |name: &str| reason.numbers.get(name).and_then(|number| number.as_f64()).unwrap_or(f64::NAN);
    let (capacity, offered) = (per_second("capacity_per_second"), per_second("offered_per_second"));
    if capacity.is_nan() {
        // The user's own cap on connections was the limit: that is no capacity of the service.
        let rates = format!("{} with this many connections", number::rate(per_second("answered_per_second")));
        return labelled_text("Answered", &rates, style);
    }
    let rates = format!("{} were answered while {} were offered", number::rate(capacity), number::rate(offered));
    let times = "no quantile is a property of this service: the longer the run, the slower the answers; they are in \
                 run.json";
    [labelled_text("Capacity", &rates, style), labelled_text("Response", times, style)].concat()
}
