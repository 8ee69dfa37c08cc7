//! A closed loop, an open loop and the truth side by side.

use truetail_analysis::omission::{OmissionComparison, OmissionRow, StallArrivals};

use crate::number;
use crate::style::{Emphasis, Style};
use crate::table::{Align, TextTable};

const INDENT: usize = 2;
/// Relative width of the edge of the stall: the quantiles whose share of slower requests is about that of the stall.
const EDGE: f64 = 0.2;

/// Column heads of [`comparison_rows`].
pub const COMPARISON_HEADS: [&str; 6] = ["", "closed loop", "open loop", "truth", "truth/closed", "truth/open"];

/// Returns the rows of the table: each quantile of both loops and the truth, and the omission factor of each loop.
/// Omits quantiles that neither loop has enough requests for. Also omits quantiles on the edge of the stall, where a
/// single request decides between the healthy and the stalled time. There a right loop may be far from the truth.
pub fn comparison_rows(comparison: &OmissionComparison) -> Vec<Vec<String>> {
    let told = comparison.rows.iter().filter(|row| is_told(row, comparison));
    let [closed, open, truth] = comparison.arrivals.map(number::count);
    let requests = vec!["requests".to_owned(), closed, open, truth, String::new(), String::new()];
    told.map(quantile_row).chain([requests]).chain(comparison.stall.iter().map(stall_row)).collect()
}

/// Returns the table of [`comparison_rows`] for a terminal.
pub fn comparison_table(comparison: &OmissionComparison, style: Style) -> String {
    let align = |at: usize| if at == 0 { Align::Left } else { Align::Right };
    let columns: Vec<_> = COMPARISON_HEADS.into_iter().enumerate().map(|(at, head)| (head, align(at))).collect();
    let mut table = TextTable::new(&columns);
    comparison_rows(comparison).into_iter().for_each(|row| table.row(row));
    // If space is short, truth/open goes first, then truth/closed.
    let lines = table.fitting(style.columns() - INDENT, &[5, 4], style).lines(INDENT, style);
    lines.into_iter().map(|line| line + "\n").collect()
}

fn is_told(row: &OmissionRow, comparison: &OmissionComparison) -> bool {
    let slower = 1.0 - row.q;
    let is_on_edge = comparison.stall.is_some_and(|stall| {
        let share = stall.truth as f64 / comparison.arrivals[2].max(1) as f64;
        share > 0.0 && (slower / share - 1.0).abs() < EDGE
    });
    (row.closed.supported || row.open.supported) && !is_on_edge
}

fn quantile_row(row: &OmissionRow) -> Vec<String> {
    let factor = |factor: Option<f64>| factor.map_or("–".to_owned(), number::factor);
    vec![
        number::quantile_name(row.q),
        number::bracketed(&row.closed),
        number::bracketed(&row.open),
        row.truth.map_or(number::NO_ANSWER.to_owned(), |truth| number::time(truth.0)),
        factor(row.closed_factor),
        factor(row.open_factor),
    ]
}

fn stall_row(stall: &StallArrivals) -> Vec<String> {
    let known = |n: Option<u64>| n.map_or("–".to_owned(), number::count);
    vec![
        "in the freeze".to_owned(),
        known(stall.closed),
        known(stall.open),
        number::count(stall.truth),
        String::new(),
        String::new(),
    ]
}

/// Returns sentences on the table: the behaviour of the service, the report of each loop, and the reason. Empty without
/// a stall, or if no quantile shows a difference between the loops.
pub fn comparison_sentences(comparison: &OmissionComparison) -> String {
    let (Some(stall), Some(row)) = (&comparison.stall, most_omitted(comparison)) else { return String::new() };
    let (Some(closed), Some(open)) = (stall.closed, stall.open) else { return String::new() };
    [what_happened(stall), what_was_reported(row), why(closed, open, stall)].join(" ")
}

/// Returns the text of [`comparison_sentences`] for a terminal.
pub fn comparison_explanation(comparison: &OmissionComparison, style: Style) -> String {
    let mut text = String::new();
    let sentences = comparison_sentences(comparison);
    let lines = style.wrap(&sentences, style.columns().saturating_sub(2));
    for line in lines.into_iter().filter(|line| !line.is_empty()) {
        text.push_str("  ");
        text.push_str(&style.emphasize(Emphasis::Bold, &line));
        text.push('\n');
    }
    text
}

/// Returns the quantile below the maximum with the largest omission factor of the closed loop, if that is at least 1.5.
fn most_omitted(comparison: &OmissionComparison) -> Option<&OmissionRow> {
    let far = |row: &&OmissionRow| row.q < 1.0 && row.closed_factor.is_some_and(|factor| factor >= 1.5);
    let factor = |row: &&OmissionRow| row.closed_factor.unwrap_or(0.0);
    comparison
        .rows
        .iter()
        .filter(|row| is_told(row, comparison))
        .filter(far)
        .max_by(|a, b| factor(a).total_cmp(&factor(b)))
}

fn what_happened(stall: &StallArrivals) -> String {
    format!(
        "The service froze for {}, and {} requests were due in that time.",
        number::round_time(stall.length.0),
        number::count(stall.truth)
    )
}

fn what_was_reported(row: &OmissionRow) -> String {
    let truth = row.truth.map_or(String::new(), |truth| number::time(truth.0));
    format!(
        "The true {name} is {truth}. The open loop reports {}. The closed loop reports {}, which is {} too low.",
        number::bracketed(&row.open),
        number::bracketed(&row.closed),
        row.closed_factor.map_or(String::new(), number::factor),
        name = number::quantile_name(row.q),
    )
}

fn why(closed: u64, open: u64, stall: &StallArrivals) -> String {
    let of_them = |n: u64| match n {
        0 => "none of these requests".to_owned(),
        n if n == stall.truth => format!("all {} of these requests", number::count(n)),
        // Some were due just before the stall, and were sent late.
        n if n > stall.truth => format!("{} requests during the freeze", number::count(n)),
        n => format!("{} of these requests", number::count(n)),
    };
    let never_measured = match stall.truth.saturating_sub(closed) {
        0 => String::new(),
        n if n == stall.truth => ", so their wait was never measured".to_owned(),
        n => format!(", so the wait of the other {} was never measured", number::count(n)),
    };
    format!(
        "The open loop sent {}. The closed loop waits for an answer before it sends the next request: it sent \
         {}{never_measured}.",
        of_them(open),
        of_them(closed).replace("of these requests", "of them")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use truetail_model::time::{Nanos, Timestamp};

    #[test]
    fn nobody_began_more_of_them_than_there_were() {
        let stall = StallArrivals {
            at: Timestamp(0),
            length: Nanos::from_secs(1),
            truth: 1_000,
            closed: Some(0),
            open: Some(0),
        };
        for (open, says) in
            [(0, "none of these"), (996, "996 of these"), (1_000, "all 1000 of"), (1_001, "1001 requests during")]
        {
            let why = why(0, open, &stall);
            assert!(why.starts_with(&format!("The open loop sent {says} ")), "{why}");
        }
    }
}
