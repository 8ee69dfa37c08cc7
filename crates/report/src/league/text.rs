//! The table for a terminal: what was reported, and below it how the load was offered.

use truetail_analysis::league::{Row, State};
use truetail_analysis::truth::Truth;

use super::Table as League;
use crate::number;
use crate::style::{Ink, Style};
use crate::table::{Align, Table};

/// The table.
pub fn text(league: &League<'_>, style: Style) -> String {
    let title = format!("{}: {}", league.scenario.name, league.scenario.about);
    let mut lines: Vec<String> = style
        .wrap(&title, style.columns() - 2)
        .into_iter()
        .map(|line| format!("  {}", style.paint(Ink::Bold, &line)))
        .collect();
    lines.push(String::new());
    lines.extend(reported(league).lines(2, style));
    lines.push(String::new());
    lines.extend(offered(league.rows).lines(2, style));
    let told = told(league.rows, style);
    if !told.is_empty() {
        lines.push(String::new());
        lines.extend(told);
    }
    lines.join("\n") + "\n"
}

/// What each tool says of the response time, and what is true.
fn reported(league: &League<'_>) -> Table {
    let mut table = Table::new(&[
        ("tool", Align::Left),
        ("label", Align::Left),
        ("observed", Align::Left),
        ("in fault", Align::Right),
        ("p50 ms", Align::Right),
        ("p99 ms", Align::Right),
        ("p99.9 ms", Align::Right),
        ("max ms", Align::Right),
        ("error p99", Align::Right),
        ("omission", Align::Right),
    ]);
    table.row(truth_cells(league.truth, league.rows));
    for row in league.rows {
        table.row(cells(row));
    }
    table
}

fn truth_cells(truth: &Truth, rows: &[Row]) -> Vec<String> {
    let at = |q| truth.quantile(q).map_or("none".to_owned(), |value| millis(value.0));
    let planned = rows.first().map_or(0, |row| row.planned_in_fault);
    let planned = if planned == 0 { String::new() } else { number::count(planned) };
    let mut cells = vec!["(the truth)".to_owned(), String::new(), String::new(), planned];
    cells.extend([0.5, 0.99, 0.999, 1.0].map(at));
    cells.extend([String::new(), String::new()]);
    cells
}

fn cells(row: &Row) -> Vec<String> {
    let reported = |q| {
        let quantile = row.reported.as_ref().and_then(|reported| reported.quantile(q));
        quantile.map_or("–".to_owned(), |quantile| {
            format!("{}{}", millis(quantile.value_ns), if quantile.printed { "" } else { "*" })
        })
    };
    let (observed, in_fault) = match row.state {
        State::Ok | State::Hung | State::Failed if row.observed_model.is_some() => (observed(row), in_fault(row)),
        _ => (row.state.name().to_owned(), String::new()),
    };
    let mut cells = vec![row.tool.clone(), row.label_model.name().to_owned(), observed, in_fault];
    cells.extend([0.5, 0.99, 0.999, 1.0].map(reported));
    cells.push(row.error_p99_pct.map_or("–".to_owned(), signed_percent));
    cells.push(row.omission_factor_p99.map_or("–".to_owned(), number::times));
    cells
}

fn observed(row: &Row) -> String {
    let model = row.observed_model.map_or("–", |observed| observed.name());
    match row.state {
        State::Ok if row.is_back_filled() => format!("{model}, filled"),
        State::Ok => model.to_owned(),
        state => state.name().to_owned(),
    }
}

fn in_fault(row: &Row) -> String {
    if row.planned_in_fault == 0 { String::new() } else { row.arrivals_in_fault.map_or(String::new(), number::count) }
}

/// Milliseconds to four digits, without the unit.
fn millis(ns: u64) -> String {
    let ms = ns as f64 / 1e6;
    match ms {
        ms if ms < 99.95 => format!("{ms:.2}"),
        ms if ms < 999.95 => format!("{ms:.1}"),
        ms => number::count(ms.round() as u64),
    }
}

/// `-97.1 %`, `+4.0 %`.
fn signed_percent(percent: f64) -> String {
    let percent = if percent.abs() < 0.05 { 0.0 } else { percent };
    format!("{percent:+.1} %")
}

/// How each tool offered its load, and what that took.
fn offered(rows: &[Row]) -> Table {
    let mut table = Table::new(&[
        ("tool", Align::Left),
        ("version", Align::Left),
        ("rate seen", Align::Right),
        ("lag p50", Align::Right),
        ("lag p99", Align::Right),
        ("gaps", Align::Right),
        ("not sent", Align::Right),
        ("left out", Align::Right),
        ("cpu s", Align::Right),
        ("memory", Align::Right),
    ]);
    for row in rows.iter().filter(|row| row.rate_seen_per_second.is_some()) {
        let arrivals = row.arrivals.as_ref();
        let lag = |ns: Option<u64>| ns.map_or("–".to_owned(), number::time);
        table.row(vec![
            row.tool.clone(),
            row.version.clone().unwrap_or_default(),
            row.rate_seen_per_second.map_or("–".to_owned(), number::rate),
            lag(arrivals.map(|arrivals| arrivals.lag_p50_ns)),
            lag(arrivals.map(|arrivals| arrivals.lag_p99_ns)),
            arrivals.map_or("–".to_owned(), |arrivals| format!("{:.2}", arrivals.gap_distance)),
            row.not_sent.map_or("–".to_owned(), number::count),
            row.left_out.map_or("–".to_owned(), signed_count),
            row.cpu_seconds.map_or("–".to_owned(), |seconds| format!("{seconds:.1}")),
            row.peak_memory_bytes.map_or("–".to_owned(), |bytes| format!("{} MiB", bytes.div_ceil(1 << 20))),
        ]);
    }
    table
}

fn signed_count(n: i64) -> String {
    if n < 0 { format!("-{}", number::count(n.unsigned_abs())) } else { number::count(n.unsigned_abs()) }
}

/// Messages and notes, below the tables.
fn told(rows: &[Row], style: Style) -> Vec<String> {
    let of = |row: &Row| {
        let state = (row.state != State::Ok).then(|| row.state.name().to_owned());
        let words: Vec<String> = state.into_iter().chain(row.message.clone()).chain(row.notes.clone()).collect();
        (!words.is_empty()).then(|| format!("{}: {}", row.tool, words.join("; ")))
    };
    let wrapped = |text: String| {
        let lines = style.wrap(&text, style.columns() - 4);
        lines.into_iter().enumerate().map(|(n, line)| format!("{}{line}", if n == 0 { "  " } else { "    " }))
    };
    rows.iter().filter_map(of).flat_map(wrapped).collect()
}
