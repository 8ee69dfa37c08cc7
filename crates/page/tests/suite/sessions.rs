//! The section for sessions: its numbers come from `run.json`.

use truetail_analysis::series::series;
use truetail_page::{RunPage, run_page};
use truetail_report::number;
use truetail_run::{SessionEnding, wire};

use crate::dom::{all, parsed, texts, visible_text};
use crate::fixtures::Fixture;
use crate::odd_runs;

fn fixture(name: &str) -> &'static Fixture {
    odd_runs::all().into_iter().find(|fixture| fixture.name == name).expect(name)
}

fn page(fixture: &Fixture) -> scraper::Html {
    let series = series(&fixture.run, &fixture.findings);
    parsed(&run_page(&RunPage::new(&fixture.run, &fixture.findings, &series)))
}

fn rows(page: &scraper::Html, table: &str) -> Vec<Vec<String>> {
    let rows = all(page, &format!("#sessions [aria-label^=\"{table}\"] tbody tr")).len();
    let cells =
        |row: usize| texts(page, &format!("#sessions [aria-label^=\"{table}\"] tbody tr:nth-child({}) > *", row + 1));
    (0..rows).map(cells).collect()
}

#[test]
fn its_numbers_are_those_of_run_json() {
    let fixture = fixture("sessions");
    let page = page(fixture);
    let file: serde_json::Value =
        serde_json::from_str(&wire::v1::run_file(&fixture.run, &fixture.findings).to_json()).unwrap();
    let said = &file["sessions"];
    let count = |value: &serde_json::Value| number::count(value.as_u64().unwrap());
    for row in rows(&page, "Planned = begun") {
        assert_eq!(row[1], count(&said["tally"][row[0].replace(' ', "_")]), "{row:?}");
    }
    let steps = rows(&page, "Steps:");
    assert_eq!(steps.len(), said["steps"].as_array().unwrap().len());
    for (row, step) in steps.iter().zip(said["steps"].as_array().unwrap()) {
        let missed = &step["not_reached"];
        let by_cause = ["never_begun", "ended_early", "run_ended"].map(|cause| count(&missed[cause]));
        assert_eq!((row[0].as_str(), &row[1]), (step["name"].as_str().unwrap(), &count(&step["reached"])));
        assert_eq!(row[3..6], by_cause);
    }
    let ends = rows(&page, "Sessions that ended early");
    let ends: Vec<[&str; 3]> = ends.iter().map(|row| [&*row[0], &*row[1], &*row[2]]).collect();
    assert_eq!(ends, [["login", "other status", "3"], ["list", "timed out", "1"]]);
    let times = &rows(&page, "Session response time")[0];
    assert_eq!(times[1], count(&said["session_time"]["count"]));
    let p50 = said["session_time"]["quantiles"].as_array().unwrap().iter().find(|one| one["q"] == 0.5).unwrap();
    assert_eq!(times[2], number::time(p50["value_ns"].as_u64().unwrap()));
}

#[test]
fn sampled_sessions_have_their_rows() {
    let fixture = fixture("sessions");
    let page = page(fixture);
    let names = all(&page, "#sessions figure").into_iter().map(|one| one.value().attr("data-picture").unwrap());
    assert_eq!(names.collect::<Vec<_>>(), ["session-ends", "sessions"]);
    let table = rows(&page, "A few sessions");
    let whole: Vec<&Vec<String>> = table.iter().filter(|row| row[1] == "the session").collect();
    let sampled = fixture.run.facts.sessions.as_ref().unwrap().sampled.as_ref().unwrap();
    for (row, session) in whole.iter().zip(&sampled.slowest[..3]) {
        let is_open = session.ending == SessionEnding::InFlightAtEnd;
        assert_eq!((row[0].as_str(), row[2] == "in flight at end"), ("one of the slowest", is_open));
        assert_eq!((&row[5], &row[8]), (&number::time(session.think_ns), &number::time(session.time_ns())));
    }
    assert_eq!(whole.iter().filter(|row| row[0] == "the median of a sample").count(), 1);
    let named = texts(&page, "figure[data-picture=sessions] svg text")
        .into_iter()
        .filter(|text| text.starts_with("due at "))
        .count();
    assert_eq!(named, whole.len());
}

#[test]
fn what_is_not_known_is_said() {
    let page = page(fixture("sessions without a sample"));
    assert!(visible_text(&page).contains("Single sessions are not known"));
    assert!(visible_text(&page).contains("a step that a stall keeps from beginning is not in it"));
}
