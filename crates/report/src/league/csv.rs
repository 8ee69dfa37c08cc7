//! The league as CSV, one row per tool. Times are in nanoseconds, and unknown fields are empty.

use truetail_analysis::league::{LeagueRow, QUANTILES, StreamRow};
use truetail_analysis::truth::StreamTruth;
use truetail_run::{GapMeaning, LatencyFrom};

use super::table::LeagueTable;

const NAMES: [&str; 6] = ["p50", "p90", "p99", "p999", "p9999", "max"];

/// Returns the table. The first line names the columns, the second is the truth.
pub fn csv(league: &LeagueTable<'_>) -> String {
    let cells: Vec<Vec<(String, String)>> = league.rows.iter().map(|row| cells(row, league)).collect();
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
        _ => league.streams.map_or(String::new(), |(truth, _)| known(stream_truth(head, truth))),
    }
}

fn stream_truth(head: &str, truth: &StreamTruth) -> Option<u64> {
    match head {
        "first_p50_ns" => truth.first_at(0.5),
        "first_p99_ns" => truth.first_at(0.99),
        "first_max_ns" => truth.first_at(1.0),
        "gap_p50_ns" => truth.gap_at(0.5),
        "gap_p99_ns" => truth.gap_at(0.99),
        "gap_max_ns" => truth.gap_at(1.0),
        _ => None,
    }
}

/// Returns the head and the cell of each column.
fn cells(row: &LeagueRow, league: &LeagueTable<'_>) -> Vec<(String, String)> {
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
    if let Some((_, streams)) = league.streams {
        cells.extend(stream_cells(streams.iter().find(|stream| stream.tool == row.tool)));
    }
    cells
}

/// Returns the heads and cells about streams: time to the first token, gaps between tokens, and books.
fn stream_cells(row: Option<&StreamRow>) -> Vec<(String, String)> {
    let claims = row.and_then(|row| row.claims.as_ref());
    let first = |q| claims.and_then(|claims| claims.first_at(q)).map(|quantile| quantile.value_ns);
    let gap = |q| claims.and_then(|claims| claims.gap_at(q)).map(|quantile| quantile.value_ns);
    let gap_of = claims.filter(|claims| !claims.gaps.is_empty()).map(|claims| match claims.gap_of {
        GapMeaning::Event => "gap",
        GapMeaning::Answer => "mean_of_an_answer",
    });
    let cells = [
        ("first_p50_ns", known(first(0.5))),
        ("first_p99_ns", known(first(0.99))),
        ("first_max_ns", known(claims.and_then(|claims| claims.first_max_ns))),
        ("first_error_p99_pct", known(row.and_then(|row| row.error_first_p99_pct))),
        ("first_served_p99_ns", known(row.and_then(|row| row.served_first_ns[1]))),
        ("first_measured", known(claims.and_then(|claims| claims.measured))),
        ("first_left_out", known(row.and_then(|row| row.left_out))),
        ("gap_of", known(gap_of)),
        ("gap_p50_ns", known(gap(0.5))),
        ("gap_p99_ns", known(gap(0.99))),
        ("gap_max_ns", known(claims.and_then(|claims| claims.gap_max_ns))),
        ("gap_error_p99_pct", known(row.and_then(|row| row.error_gap_p99_pct))),
        ("gap_served_p99_ns", known(row.and_then(|row| row.served_gap_ns[1]))),
        ("sent", known(row.and_then(|row| row.sent))),
    ];
    cells.into_iter().map(|(head, cell)| (head.to_owned(), cell)).collect()
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
