//! A closed loop, an open loop and the truth beside each other.

use truetail_analysis::omission::{OmissionComparison, OmissionRow, StallArrivals};

use crate::number;
use crate::style::{Emphasis, Style};
use crate::table::{Align, TextTable};

/// The table: each quantile of all three, and the omission factor of each loop.
pub fn comparison_table(comparison: &OmissionComparison, style: Style) -> String {
    let mut table = TextTable::new(&[
        ("", Align::Left),
        ("closed loop", Align::Right),
        ("open loop", Align::Right),
        ("truth", Align::Right),
        ("truth / closed", Align::Right),
        ("truth / open", Align::Right),
    ]);
    for row in &comparison.rows {
        table.row(quantile_row(row));
    }
    let [closed, open, truth] = comparison.arrivals.map(number::count);
    table.row(vec!["requests".to_owned(), closed, open, truth, String::new(), String::new()]);
    if let Some(stall) = &comparison.stall {
        table.row(stall_row(stall));
    }
    let mut text = String::new();
    for line in table.lines(2, style) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

fn quantile_row(row: &OmissionRow) -> Vec<String> {
    let factor = |factor: Option<f64>| factor.map_or("–".to_owned(), number::factor);
    vec![
        number::quantile_name(row.q),
        number::quantile(&row.closed),
        number::quantile(&row.open),
        row.truth.map_or("no answer".to_owned(), |truth| number::time(truth.0)),
        factor(row.closed_factor),
        factor(row.open_factor),
    ]
}

fn stall_row(stall: &StallArrivals) -> Vec<String> {
    let known = |n: Option<u64>| n.map_or("–".to_owned(), number::count);
    vec![
        "begun in the stall".to_owned(),
        known(stall.closed),
        known(stall.open),
        number::count(stall.truth),
        String::new(),
        String::new(),
    ]
}

/// Three sentences on the table: what the service did, what each loop reports of it, and why. Empty without a stall, or if
/// no quantile tells the loops apart.
pub fn comparison_explanation(comparison: &OmissionComparison, style: Style) -> String {
    let (Some(stall), Some(row)) = (&comparison.stall, most_omitted(comparison)) else { return String::new() };
    let (Some(closed), Some(open)) = (stall.closed, stall.open) else { return String::new() };
    let sentences = [what_happened(stall), what_was_reported(row), why(closed, open, stall)];
    let mut text = String::new();
    for line in style.wrap(&sentences.join(" "), style.columns().saturating_sub(2)) {
        text.push_str("  ");
        text.push_str(&style.emphasize(Emphasis::Bold, &line));
        text.push('\n');
    }
    text
}

/// The quantile below the maximum at which the closed loop is furthest from the truth, if the omission factor is at least
/// 1.5.
fn most_omitted(comparison: &OmissionComparison) -> Option<&OmissionRow> {
    let far = |row: &&OmissionRow| row.q < 1.0 && row.closed_factor.is_some_and(|factor| factor >= 1.5);
    let factor = |row: &&OmissionRow| row.closed_factor.unwrap_or(0.0);
    comparison.rows.iter().filter(far).max_by(|a, b| factor(a).total_cmp(&factor(b)))
}

fn what_happened(stall: &StallArrivals) -> String {
    format!(
        "The service stood still for {}, in which {} requests were due.",
        number::round_time(stall.length.0),
        number::count(stall.truth)
    )
}

fn what_was_reported(row: &OmissionRow) -> String {
    let truth = row.truth.map_or(String::new(), |truth| number::time(truth.0));
    format!(
        "The closed loop puts {name} at {}, which is {} too low; the open loop puts it at {}, and the truth is {truth}.",
        number::quantile(&row.closed),
        row.closed_factor.map_or(String::new(), number::factor),
        number::quantile(&row.open),
        name = number::quantile_name(row.q),
    )
}

fn why(closed: u64, open: u64, stall: &StallArrivals) -> String {
    let of_them = |n: u64| match n {
        0 => "none of them".to_owned(),
        n if n == stall.truth => format!("all {}", number::count(n)),
        // Some were due just before the stall, and late.
        n if n > stall.truth => format!("{} requests in it", number::count(n)),
        n => format!("{} of them", number::count(n)),
    };
    let never_measured = match stall.truth.saturating_sub(closed) {
        0 => String::new(),
        n => format!(", and never measured what the other {} would have waited", number::count(n)),
    };
    format!(
        "The open loop began {}; the closed loop asks again only when it is answered, began {}{never_measured}.",
        of_them(open),
        of_them(closed)
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
            [(0, "none of them"), (996, "996 of them"), (1_000, "all 1 000"), (1_001, "1 001 requests in it")]
        {
            let why = why(0, open, &stall).replace(['\u{2009}', '\u{a0}', '\u{202f}'], " ");
            assert!(why.starts_with(&format!("The open loop began {says};")), "{why}");
        }
    }
}
