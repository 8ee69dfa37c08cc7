//! The tables of a league in cells: reports of the tools, audits of their files, offered load, and resources.

use truetail_analysis::audit::AuditFinding;
use truetail_analysis::league::{LeagueRow, StreamRow, TimeRange, ToolState};
use truetail_analysis::truth::{StreamTruth, Truth};
use truetail_model::scenario::Scenario;
use truetail_model::time::Nanos;
use truetail_run::LatencyFrom;

use super::grid::{Grid, millis, signed, signed_count};
use super::streams;
use crate::number;
use crate::table::Align;

/// Reports of load tools on one scenario, and the truth.
#[derive(Clone, Copy, Debug)]
pub struct LeagueTable<'a> {
    /// The scenario as it was offered.
    pub scenario: &'a Scenario,
    /// Duration of the load.
    pub duration: Nanos,
    /// Result of an ideal open-loop client.
    pub truth: &'a Truth,
    /// Periods when the service could not answer, or was slow.
    pub window: &'a [TimeRange],
    /// The tools, best first.
    pub rows: &'a [LeagueRow],
    /// The truth about streams, and the tools, best first; `None` if the answers are not streams.
    pub streams: Option<(&'a StreamTruth, &'a [StreamRow])>,
}

/// Returns all tables, first those about streams. The table of audits exists only if a tool left a file to audit.
pub(super) fn grids(league: &LeagueTable<'_>) -> Vec<Grid> {
    let mut grids = vec![reported_grid(league), load_grid(league.rows), resources_grid(league.rows)];
    if league.rows.iter().any(|row| row.audit.is_some()) {
        grids.insert(1, audit_grid(league.rows));
    }
    if let Some((truth, rows)) = league.streams.filter(|(_, rows)| !rows.is_empty()) {
        grids.splice(0..0, streams::grids(truth, rows));
    }
    grids
}

const LEFT: Align = Align::Left;
const RIGHT: Align = Align::Right;

fn reported_grid(league: &LeagueTable<'_>) -> Grid {
    let rows = league.rows.iter().map(reported_row);
    Grid {
        caption: match league.streams {
            None => {
                "What each tool reports, in ms; * computed from its data because it does not print it; + it fills in its tail"
            }
            Some(_) => {
                "Whole answers as each tool reports them, in ms; * computed from its data because it does not print it; \
                 + it fills in its tail"
            }
        },
        heads: vec![
            ("tool", LEFT),
            ("label", LEFT),
            ("observed", LEFT),
            ("seen", RIGHT),
            ("p50", RIGHT),
            ("p99", RIGHT),
            ("p99.9", RIGHT),
            ("max", RIGHT),
            ("error %", RIGHT),
        ],
        rows: std::iter::once(truth_row(league)).chain(rows).collect(),
        least_important: &[4, 6, 1],
    }
}

fn truth_row(league: &LeagueTable<'_>) -> Vec<String> {
    let at = |q| league.truth.quantile(q).map_or("none".to_owned(), |value| millis(value.0));
    let planned = league.rows.first().map_or(0, |row| row.planned_in_fault);
    let mut cells = vec!["(the truth)".to_owned(), String::new(), String::new(), in_fault(planned, Some(planned))];
    cells.extend([0.5, 0.99, 0.999, 1.0].map(at));
    cells.push(String::new());
    cells
}

fn reported_row(row: &LeagueRow) -> Vec<String> {
    let reported = |q| {
        let quantile = row.reported.as_ref().and_then(|reported| reported.quantile(q));
        let cell = |millis: String, printed: bool| if printed { millis } else { millis + "*" };
        quantile.map_or("–".to_owned(), |quantile| cell(millis(quantile.value_ns), quantile.printed))
    };
    let seen = in_fault(row.planned_in_fault, row.arrivals_in_fault);
    let mut cells = vec![row.tool.clone(), row.label_model.name().to_owned(), observed(row), seen];
    cells.extend([0.5, 0.99, 0.999, 1.0].map(reported));
    cells.push(row.error_p99_pct.map_or("–".to_owned(), signed));
    cells
}

/// Returns the observed load model, or the state of a tool without a result.
fn observed(row: &LeagueRow) -> String {
    match (row.state, row.observed_model) {
        (ToolState::Ok, Some(model)) if row.is_back_filled() => format!("{}+", model.name()),
        (ToolState::Ok, Some(model)) => model.name().to_owned(),
        (ToolState::Ok, None) => "–".to_owned(),
        (state @ (ToolState::Failed | ToolState::Hung | ToolState::Missing), _) => state.name().to_owned(),
    }
}

fn in_fault(planned: u64, seen: Option<u64>) -> String {
    seen.filter(|_| planned > 0).map_or(String::new(), number::count)
}

fn audit_grid(rows: &[LeagueRow]) -> Grid {
    Grid {
        caption: "What 'truetail audit' finds, which sees only the file that the tool left; p99 in ms",
        heads: vec![
            ("tool", LEFT),
            ("observed", LEFT),
            ("not sent", RIGHT),
            ("audit", LEFT),
            ("missing", RIGHT),
            ("p99", RIGHT),
            ("corrected", RIGHT),
            ("file", LEFT),
        ],
        rows: rows.iter().filter(|row| was_seen(row)).map(audit_row).collect(),
        least_important: &[7, 5],
    }
}

fn audit_row(row: &LeagueRow) -> Vec<String> {
    let audit = row.audit.as_ref();
    let ms = |ns: Option<u64>| ns.map_or("–".to_owned(), millis);
    vec![
        row.tool.clone(),
        observed(row),
        row.not_sent.map_or("–".to_owned(), number::count),
        audit.map_or("no file", |audit| words(audit.finding)).to_owned(),
        audit.and_then(|audit| audit.missing_arrivals).map_or("–".to_owned(), number::count),
        ms(audit.and_then(|audit| audit.p99_ns)),
        ms(audit.and_then(|audit| audit.corrected_p99_ns)),
        audit.map_or("–".to_owned(), |audit| audit.file.clone()),
    ]
}

const fn words(finding: AuditFinding) -> &'static str {
    match finding {
        AuditFinding::NoneSeen => "none seen",
        AuditFinding::Likely => "likely",
        AuditFinding::Certain => "certain",
        AuditFinding::CannotTell => "cannot tell",
    }
}

fn load_grid(rows: &[LeagueRow]) -> Grid {
    Grid {
        caption: "How each tool sent the load; lags are from the even schedule that fits its requests best",
        heads: vec![
            ("tool", LEFT),
            ("rate/s", RIGHT),
            ("served", RIGHT),
            ("off %", RIGHT),
            ("lag p50", RIGHT),
            ("lag p99", RIGHT),
            ("gaps", RIGHT),
            ("not sent", RIGHT),
            ("left out", RIGHT),
        ],
        rows: rows.iter().filter(|row| was_seen(row)).map(load_row).collect(),
        least_important: &[6, 4, 2, 3],
    }
}

fn was_seen(row: &LeagueRow) -> bool {
    row.rate_seen_per_second.is_some()
}

fn load_row(row: &LeagueRow) -> Vec<String> {
    let arrivals = row.arrivals.as_ref();
    let lag = |ns: Option<u64>| ns.map_or("–".to_owned(), number::time);
    vec![
        row.tool.clone(),
        row.rate_seen_per_second.map_or("–".to_owned(), per_second),
        row.served_p99_ns.map_or("–".to_owned(), number::time),
        row.error_served_p99_pct.map_or(String::new(), |percent| format!("{percent:+.2}")),
        lag(arrivals.map(|arrivals| arrivals.lag_p50_ns)),
        lag(arrivals.map(|arrivals| arrivals.lag_p99_ns)),
        arrivals.map_or("–".to_owned(), |arrivals| format!("{:.2}", arrivals.gap_distance)),
        row.not_sent.map_or("–".to_owned(), number::count),
        row.left_out.map_or("–".to_owned(), signed_count),
    ]
}

/// Formats a rate without its unit, which is in the head.
fn per_second(rate: f64) -> String {
    number::rate(rate).trim_end_matches("/s").to_owned()
}

fn resources_grid(rows: &[LeagueRow]) -> Grid {
    Grid {
        caption: "Versions, resources, and how many times too low each p99 is",
        heads: vec![
            ("tool", LEFT),
            ("version", LEFT),
            ("latency from", LEFT),
            ("cpu s", RIGHT),
            ("memory", RIGHT),
            ("omission", RIGHT),
        ],
        rows: rows.iter().filter(|row| was_seen(row)).map(resources_row).collect(),
        least_important: &[1, 4],
    }
}

fn resources_row(row: &LeagueRow) -> Vec<String> {
    let from = match row.reported.as_ref().map(|reported| reported.latency_from) {
        Some(LatencyFrom::Send) => "sending",
        Some(LatencyFrom::Intended) => "intended start",
        Some(LatencyFrom::BackFilled) => "sending, then filled in",
        None => "–",
    };
    vec![
        row.tool.clone(),
        row.version.clone().unwrap_or("–".to_owned()),
        from.to_owned(),
        row.cpu_seconds.map_or("–".to_owned(), |seconds| format!("{seconds:.1}")),
        row.peak_memory_bytes.map_or("–".to_owned(), |bytes| format!("{}MiB", bytes.div_ceil(1 << 20))),
        row.omission_factor_p99.map_or("–".to_owned(), number::factor),
    ]
}

/// Returns further information about a tool: its state, message and notes.
pub(super) fn remarks(row: &LeagueRow) -> Option<String> {
    let state = (row.state != ToolState::Ok).then(|| row.state.name().to_owned());
    let words: Vec<String> = state.into_iter().chain(row.message.clone()).chain(row.notes.clone()).collect();
    (!words.is_empty()).then(|| words.join("; "))
}
