//! The league as CSV: a row a tool. Times are in nanoseconds; an empty field is not known.

use truetail_analysis::league::{LeagueRow, QUANTILES};
use truetail_run::LatencyFrom;

use super::table::LeagueTable;

/// The names of [`QUANTILES`] in column heads.
const NAMES: [&str; 6] = ["p50", "p90", "p99", "p999", "p9999", "max"];

/// The table; the first line names the columns, the second is the truth.
pub fn csv(league: &LeagueTable<'_>) -> String {
    let cells: Vec<Vec<(String, String)>> = league.rows.iter().map(cells).collect();
    let heads = cells.first().map_or(Vec::new(), |row| row.iter().map(|(head, _)| head.clone()).collect());
    let truth = heads.iter().map(|head| truth_cell(head, league)).collect();
    let rows = cells.into_iter().map(|row| row.into_iter().map(|(_, cell)| cell).collect());
    let mut writer = csv::Writer::from_writer(Vec::new());
    for record in [heads.clone(), truth].into_iter().chain(rows) {
        writer.write_record(&record).expect("every record has as many fields, and a Vec takes everything");
    }
    String::from_utf8(writer.into_inner().expect("a Vec takes everything")).expect("the fields are UTF-8")
}

fn truth_cell(head: &str, league: &LeagueTable<'_>) -> String {
    let index = NAMES.iter().position(|name| head == format!("{name}_ns"));
    match (head, index) {
        ("tool", _) => "(the truth)".to_owned(),
        ("arrivals_in_fault" | "planned_in_fault", _) => {
            league.rows.first().map_or(String::new(), |row| row.planned_in_fault.to_string())
        }
        (_, Some(index)) => known(league.truth.quantile(QUANTILES[index]).map(|value| value.0)),
        _ => String::new(),
    }
}

/// The head and the cell of each column.
fn cells(row: &LeagueRow) -> Vec<(String, String)> {
    let reported = row.reported.as_ref();
    let arrivals = row.arrivals.as_ref();
    let mut cells = Vec::new();
    let mut add = |head: &str, cell: String| cells.push((head.to_owned(), cell));
    add("tool", row.tool.clone());
    add("version", known(row.version.as_ref()));
    add("state", row.state.name().to_owned());
    add("label_model", row.label_model.name().to_owned());
    add("observed_model", known(row.observed_model.map(|model| model.name())));
    add("arrivals_in_fault", known(row.arrivals_in_fault));
    add("planned_in_fault", row.planned_in_fault.to_string());
    add("rate_asked_per_second", row.rate_asked_per_second.to_string());
    add("rate_seen_per_second", known(row.rate_seen_per_second));
    add("served_p99_ns", known(row.served_p99_ns));
    add("error_served_p99_pct", known(row.error_served_p99_pct));
    add("first_off_ns", known(arrivals.map(|arrivals| arrivals.first_off_ns)));
    add("lag_p50_ns", known(arrivals.map(|arrivals| arrivals.lag_p50_ns)));
    add("lag_p99_ns", known(arrivals.map(|arrivals| arrivals.lag_p99_ns)));
    add("gap_distance", known(arrivals.map(|arrivals| arrivals.gap_distance)));
    add("latency_from", known(reported.map(|reported| name_of(reported.latency_from))));
    for (q, name) in QUANTILES.into_iter().zip(NAMES) {
        let quantile = reported.and_then(|reported| reported.quantile(q));
        add(&format!("{name}_ns"), known(quantile.map(|quantile| quantile.value_ns)));
        add(&format!("{name}_printed"), known(quantile.map(|quantile| quantile.printed)));
    }
    add("error_p99_pct", known(row.error_p99_pct));
    add("error_p999_pct", known(row.error_p999_pct));
    add("omission_factor_p99", known(row.omission_factor_p99));
    add("measured", known(reported.and_then(|reported| reported.measured)));
    add("failed", known(reported.and_then(|reported| reported.failed)));
    add("dropped", known(reported.and_then(|reported| reported.dropped)));
    add("not_sent", known(row.not_sent));
    add("left_out", known(row.left_out));
    let audit = row.audit.as_ref();
    add("audit", known(audit.map(|audit| audit.finding.name())));
    add("audit_missing", known(audit.and_then(|audit| audit.missing_arrivals)));
    add("audit_corrected_p99_ns", known(audit.and_then(|audit| audit.corrected_p99_ns)));
    add("audit_file", known(audit.map(|audit| &audit.file)));
    add("cpu_seconds", known(row.cpu_seconds));
    add("peak_memory_bytes", known(row.peak_memory_bytes));
    add("message", known(row.message.as_ref()));
    cells
}

fn name_of(from: LatencyFrom) -> &'static str {
    match from {
        LatencyFrom::Send => "send",
        LatencyFrom::Intended => "intended",
        LatencyFrom::BackFilled => "back_filled",
    }
}

fn known(value: Option<impl ToString>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}
