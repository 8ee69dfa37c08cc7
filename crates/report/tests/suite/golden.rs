//! Tests of the text for people, to the character. `UPDATE_GOLDEN=1 cargo test -p truetail-report` rewrites the files.

use std::path::Path;

use truetail_analysis::{findings, omission, truth};
use truetail_model::time::{Nanos, Timestamp};
use truetail_report::{Style, SummaryOptions, comparison_explanation, comparison_table, summary};
use truetail_run::Findings;

use crate::fixtures::{self, Fixture};

const PLAIN: Style = Style { color: false, width: 80, unicode: true };
const NARROW: Style = Style { color: false, width: 60, unicode: true };
const ASCII: Style = Style { color: false, width: 80, unicode: false };
const COLOR: Style = Style { color: true, width: 80, unicode: true };

const SHORT: SummaryOptions<'_> = SummaryOptions { saved: None, details: false };
const SAVED: SummaryOptions<'_> =
    SummaryOptions { saved: Some("truetail-runs/20260101T000000Z-127.0.0.1-8080"), details: false };
const DETAILED: SummaryOptions<'_> = SummaryOptions { saved: None, details: true };

fn named(name: &str) -> &'static Fixture {
    fixtures::all().iter().find(|fixture| fixture.name == name).unwrap()
}

fn check(name: &str, drawn: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(format!("{name}.txt"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, drawn).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(drawn, golden, "{name} is drawn differently; if that is right: UPDATE_GOLDEN=1");
}

#[test]
fn summaries() {
    for fixture in fixtures::all() {
        let drawn = summary(&fixture.run, &fixture.findings, SAVED, PLAIN);
        check(&format!("summary-{}", fixture.name), &drawn);
    }
}

#[test]
fn summaries_for_other_terminals() {
    for name in ["troubled", "gated", "targets", "bracketed"] {
        let fixture = named(name);
        let drawn = summary(&fixture.run, &fixture.findings, SHORT, NARROW);
        check(&format!("summary-{name}-narrow"), &drawn);
    }
    let gated = named("gated");
    for (name, style) in [("ascii", ASCII), ("color", COLOR)] {
        check(&format!("summary-gated-{name}"), &summary(&gated.run, &gated.findings, SHORT, style));
    }
}

#[test]
fn summaries_with_details() {
    for name in ["hiccup", "troubled", "saturated"] {
        let fixture = named(name);
        let drawn = summary(&fixture.run, &fixture.findings, DETAILED, PLAIN);
        check(&format!("summary-{name}-details"), &drawn);
    }
}

#[test]
fn every_summary_fits() {
    for fixture in fixtures::all() {
        for (width, options) in [60, 72, 80, 100, 300].into_iter().flat_map(|width| [(width, SHORT), (width, DETAILED)])
        {
            for line in summary(&fixture.run, &fixture.findings, options, Style { width, ..PLAIN }).lines() {
                let columns = line.chars().count();
                assert!(columns <= width.min(80), "{} at {width}: {columns} columns: {line}", fixture.name);
            }
        }
        let ascii = summary(&fixture.run, &fixture.findings, DETAILED, ASCII);
        assert!(ascii.is_ascii(), "{ascii}");
    }
}

/// Returns the words between blanks, without surrounding punctuation.
fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().map(|word| word.trim_matches(|c: char| ",;:.()·".contains(c))).collect()
}

/// `24.48 ms`, `12 %` and `60 000` would each be two fields for awk.
#[test]
fn no_figure_contains_a_blank() {
    let is_number = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_digit() || c == '.');
    let is_unit = |word: &str| ["ns", "µs", "ms", "s", "%", "×", "/s"].contains(&word);
    let is_group = |word: &str| word.len() == 3 && word.chars().all(|c| c.is_ascii_digit());
    let is_split = |pair: &[&str]| {
        let bound = ["≥", "±", "<", "…", "?"].contains(&pair[0]) && pair[1].starts_with(|c: char| c.is_ascii_digit());
        bound || (is_number(pair[0]) && (is_unit(pair[1]) || (is_group(pair[1]) && pair[0].len() < 4)))
    };
    for (line, splits) in
        [("p99 24.48 ms", true), ("(12 %)", true), ("60 000", true), ("≥ 2s", true), ("p9 1ms 200", false)]
    {
        assert_eq!(words(line).windows(2).any(is_split), splits, "{line}");
    }
    for fixture in fixtures::all() {
        for line in summary(&fixture.run, &fixture.findings, DETAILED, PLAIN).lines() {
            let found = words(line).windows(2).find(|pair| is_split(pair)).map(<[&str]>::to_vec);
            assert_eq!(found, None, "{}: {line}", fixture.name);
        }
    }
}

/// `awk '$1 == "p99" { print $2 }'` prints the p99 of every run that has one.
#[test]
fn a_row_of_quantiles_has_a_field_a_column() {
    for fixture in fixtures::all() {
        let text = summary(&fixture.run, &fixture.findings, SHORT, PLAIN);
        let rows: Vec<Vec<&str>> = text
            .lines()
            .map(words)
            .filter(|words| words.first().is_some_and(|first| first.starts_with("p9")))
            .collect();
        let p99: Vec<&str> = rows.iter().filter(|row| row[0] == "p99").map(|row| row[1]).collect();
        let is_figure = |figure: &str| figure.starts_with(|c: char| "≥n".contains(c) || c.is_ascii_digit());
        assert!(p99.len() <= 1 && p99.iter().all(|figure| is_figure(figure)), "{}: {rows:?}", fixture.name);
        assert!(rows.iter().all(|row| row.len() == 5), "{}: {rows:?}", fixture.name);
    }
}

#[test]
fn colour_changes_nothing_but_colour() {
    for fixture in fixtures::all() {
        let plain = summary(&fixture.run, &fixture.findings, DETAILED, PLAIN);
        let mut colored = summary(&fixture.run, &fixture.findings, DETAILED, COLOR);
        for code in ["0", "1", "2", "1;31", "1;32", "1;33"] {
            colored = colored.replace(&format!("\x1b[{code}m"), "");
        }
        assert_eq!(plain, colored);
    }
}

#[test]
fn a_stall_three_times() {
    let open = fixtures::scenario("02");
    let closed = fixtures::simulated(&fixtures::closed(&open));
    let open_run = fixtures::simulated(&open);
    let stall = Some((Timestamp(30_000_000_000), Nanos::from_secs(1)));
    let of_closed = findings(&closed);
    let of_open = findings(&open_run);
    let truth = truth::truth(&open).unwrap();
    let three = omission::comparison((&closed, &of_closed), (&open_run, &of_open), &truth, stall);
    check(
        "comparison-narrow",
        &format!("{}\n{}", comparison_table(&three, NARROW), comparison_explanation(&three, NARROW)),
    );
    check("comparison", &format!("{}\n{}", comparison_table(&three, PLAIN), comparison_explanation(&three, PLAIN)));
}

/// If the loops agree, the explanation is empty.
#[test]
fn no_difference_no_explanation() {
    let healthy = fixtures::scenario("01");
    let closed = fixtures::simulated(&fixtures::closed(&healthy));
    let open = fixtures::simulated(&healthy);
    let stall = Some((Timestamp(30_000_000_000), Nanos::from_secs(1)));
    let truth = truth::truth(&healthy).unwrap();
    let three = omission::comparison((&closed, &findings(&closed)), (&open, &findings(&open)), &truth, stall);
    assert_eq!(comparison_explanation(&three, PLAIN), "");
}

#[test]
fn what_was_not_planned_is_told_from_what_was_not_waited_for() {
    let fixtures = fixtures::all();
    let few = fixtures.iter().find(|fixture| fixture.name == "few").unwrap();
    for (cut_short, says) in [
        (Some(true), "Stopped early after "),
        (Some(false), "stopped after the last request was due"),
        (None, "Stopped early after "),
    ] {
        let mut run = few.run.clone();
        run.facts.cut_short = cut_short;
        assert!(summary(&run, &few.findings, SHORT, PLAIN).contains(says), "{cut_short:?}");
    }
}

#[test]
fn one_arrival_has_no_rate() {
    let fixtures = fixtures::all();
    let few = fixtures.iter().find(|fixture| fixture.name == "few").unwrap();
    let none = Findings { offered_per_second: None, throughput_per_second: None, ..few.findings.clone() };
    assert!(summary(&few.run, &none, DETAILED, PLAIN).contains("– offered · – answered"));
}
