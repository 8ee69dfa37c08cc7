//! What people see, to the character. `UPDATE_GOLDEN=1 cargo test -p truetail-report` writes the files anew; then look
//! at the difference.

use std::path::Path;

use truetail_analysis::{findings, omission, truth};
use truetail_model::time::{Nanos, Timestamp};
use truetail_report::{Style, comparison_explanation, comparison_table, summary};
use truetail_run::Findings;

use crate::fixtures;

const WIDE: Style = Style { color: false, width: 100, unicode: true };
const NARROW: Style = Style { color: false, width: 60, unicode: true };
const ASCII: Style = Style { color: false, width: 80, unicode: false };
const COLOR: Style = Style { color: true, width: 80, unicode: true };

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
        let drawn = summary(&fixture.run, &fixture.findings, Some("truetail-runs/2026-01-01T00-00-00"), WIDE);
        check(&format!("summary-{}", fixture.name), &drawn);
    }
}

#[test]
fn summaries_for_other_terminals() {
    let fixtures = fixtures::all();
    let troubled = fixtures.iter().find(|fixture| fixture.name == "troubled").unwrap();
    for (name, style) in [("narrow", NARROW), ("ascii", ASCII), ("color", COLOR)] {
        check(&format!("summary-troubled-{name}"), &summary(&troubled.run, &troubled.findings, None, style));
    }
}

#[test]
fn every_summary_fits() {
    for fixture in fixtures::all() {
        for width in [80, 90, 100, 300] {
            let style = Style { width, ..WIDE };
            for line in summary(&fixture.run, &fixture.findings, None, style).lines() {
                let columns = line.chars().count();
                assert!(columns <= width.min(100), "{} at {width}: {columns} columns: {line}", fixture.name);
            }
        }
        let ascii = summary(&fixture.run, &fixture.findings, None, ASCII);
        assert!(ascii.is_ascii(), "{ascii}");
    }
}

#[test]
fn colour_changes_nothing_but_colour() {
    for fixture in fixtures::all() {
        let plain = summary(&fixture.run, &fixture.findings, None, WIDE);
        let mut colored = summary(&fixture.run, &fixture.findings, None, Style { color: true, ..WIDE });
        for code in ["0", "1", "2", "1;31", "1;32", "1;33"] {
            colored = colored.replace(&format!("\x1b[{code}m"), "");
        }
        assert_eq!(plain, colored);
    }
}

#[test]
fn a_stall_three_times() {
    let open = fixtures::scenario("02");
    let (closed, open_run) = (fixtures::simulated(&fixtures::closed(&open)), fixtures::simulated(&open));
    let stall = Some((Timestamp(30_000_000_000), Nanos::from_secs(1)));
    let (of_closed, of_open) = (findings(&closed), findings(&open_run));
    let truth = truth::truth(&open).unwrap();
    let three = omission::comparison((&closed, &of_closed), (&open_run, &of_open), &truth, stall);
    check("comparison", &format!("{}\n{}", comparison_table(&three, WIDE), comparison_explanation(&three, WIDE)));
}

/// Where the loops agree there is nothing to explain, and nothing is claimed.
#[test]
fn no_difference_no_explanation() {
    let healthy = fixtures::scenario("01");
    let (closed, open) = (fixtures::simulated(&fixtures::closed(&healthy)), fixtures::simulated(&healthy));
    let stall = Some((Timestamp(30_000_000_000), Nanos::from_secs(1)));
    let truth = truth::truth(&healthy).unwrap();
    let three = omission::comparison((&closed, &findings(&closed)), (&open, &findings(&open)), &truth, stall);
    assert_eq!(comparison_explanation(&three, WIDE), "");
}

#[test]
fn what_was_not_planned_is_told_from_what_was_not_waited_for() {
    let fixtures = fixtures::all();
    let few = fixtures.iter().find(|fixture| fixture.name == "few").unwrap();
    for (cut_short, says) in [
        (Some(true), "arrivals after that were not planned"),
        (Some(false), "all arrivals were planned: at most the wait for answers was shorter"),
        (None, "ended before its time\n"),
    ] {
        let mut run = few.run.clone();
        run.facts.cut_short = cut_short;
        assert!(summary(&run, &few.findings, None, WIDE).contains(says), "{cut_short:?}");
    }
}

#[test]
fn one_arrival_has_no_rate() {
    let fixtures = fixtures::all();
    let few = fixtures.iter().find(|fixture| fixture.name == "few").unwrap();
    let none = Findings { offered_per_second: None, throughput_per_second: None, ..few.findings.clone() };
    assert!(summary(&few.run, &none, None, WIDE).contains("– offered · – answered"));
}
