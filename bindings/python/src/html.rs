//! A result in a notebook.

use truetail_model::record::Metric;
use truetail_report::{number, words};
use truetail_run::{Distribution, Findings, GateFinding, GateState, Quantile, Run, VerdictState};

/// Formats verdict, load, and a table of quantiles.
pub(crate) fn html(run: &Run, findings: &Findings) -> String {
    let (state, color) = match findings.verdict.state {
        VerdictState::Valid => ("VALID", "#1a7f37"),
        VerdictState::Suspect => ("SUSPECT", "#9a6700"),
        VerdictState::Invalid => ("INVALID", "#cf222e"),
    };
    let reasons: String = findings
        .verdict
        .reasons
        .iter()
        .map(|why| format!("<li>{}: {}</li>", escape(&why.code), escape(&why.message)))
        .collect();
    let head = format!(
        "<div><b style=\"color:{color}\">{state}</b> {} · {} arrivals at {} · {} answered at {}<ul>{reasons}</ul></div>",
        escape(run.facts.offered.name.as_deref().or(run.facts.offered.url.as_deref()).unwrap_or_default()),
        number::count(findings.response_time.count),
        number::rate_if_any(findings.offered_per_second),
        number::count(findings.tally.responses),
        number::rate_if_any(findings.throughput_per_second),
    );
    let rows: String = findings.response_time.quantiles.iter().map(|quantile| row(quantile, findings)).collect();
    let streams = streams(run, findings);
    let gates: String = findings.gates.iter().map(gate).collect();
    format!(
        "{head}<table><thead><tr><th></th><th>response time</th><th>95 % interval</th><th>service time</th>\
         <th>start delay</th></tr></thead><tbody>{rows}</tbody></table>{streams}<ul>{gates}</ul>"
    )
}

/// Formats how streams ended, goodput, and a table of the times of streams. Empty without streams.
fn streams(run: &Run, findings: &Findings) -> String {
    let told = words::streams(run).into_iter().chain(words::goodput(run, findings));
    let lines: String = told.map(|(label, text)| format!("<li>{label} {}</li>", escape(&text))).collect();
    if lines.is_empty() {
        return String::new();
    }
    let cells = |cells: Vec<String>, tag: &str| {
        let cells: String = cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", escape(cell.trim()))).collect();
        format!("<tr>{cells}</tr>")
    };
    let rows: String = words::stream_times(run, findings).into_iter().map(|row| cells(row, "td")).collect();
    if rows.is_empty() {
        return format!("<ul>{lines}</ul>");
    }
    let head = cells(words::stream_times_heads(), "th");
    format!("<ul>{lines}</ul><table><thead>{head}</thead><tbody>{rows}</tbody></table>")
}

fn gate(gate: &GateFinding) -> String {
    let state = match gate.state {
        GateState::Holds => "PASSED",
        GateState::Fails => "FAILED",
        GateState::Open => "NOT DECIDED",
    };
    format!("<li><b>{state}</b> {}: {}</li>", escape(&gate.text), escape(&gate.message))
}

fn row(quantile: &Quantile, findings: &Findings) -> String {
    let interval =
        if quantile.at_least { String::new() } else { number::time_range(quantile.low_ns, quantile.high_ns) };
    format!(
        "<tr><th>{}</th><td><b>{}</b></td><td>{interval}</td><td>{}</td><td>{}</td></tr>",
        number::quantile_name(quantile.q),
        number::quantile(quantile),
        quantile_cell(&findings.metrics[Metric::ServiceTime], quantile.q),
        quantile_cell(&findings.metrics[Metric::StartDelay], quantile.q),
    )
}

fn quantile_cell(distribution: &Distribution, q: f64) -> String {
    let quantile = distribution.quantiles.iter().find(|quantile| quantile.q == q);
    quantile.filter(|quantile| quantile.supported).map_or("–".to_owned(), number::quantile)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
