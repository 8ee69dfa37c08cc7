//! `truetail report`: a saved run in other forms.

use std::fs;

use super::support::TestDir;

fn saved(dir: &TestDir) {
    let made = dir.truetail(&["simulate", "02-single-hiccup", "--out", "run"]);
    assert_eq!(made.code, Some(0), "{made:?}");
}

fn text(dir: &TestDir, path: &str) -> String {
    fs::read_to_string(dir.path().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn a_run_becomes_pictures_csv_and_hgrm() {
    let dir = TestDir::new();
    saved(&dir);
    let made = dir.truetail(&["report", "run", "--svg", "out/pictures", "--csv=out", "--hgrm=out/run.hgrm"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    assert!(made.stdout.contains("p99"), "the report itself is printed too: {made:?}");
    for name in ["books", "heat-map", "over-time", "percentiles", "start-delay", "gaps", "answers"] {
        let svg = text(&dir, &format!("out/pictures/{name}.svg"));
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"), "{name}");
    }
    assert!(!dir.path().join("out/pictures/by-rate.svg").exists(), "the rate did not move");
    let over_time = text(&dir, "out/over-time.csv");
    let head = over_time.lines().next().unwrap();
    assert!(head.starts_with("from_s,to_s,planned_per_s,") && head.contains("response_time_p99_ns"), "{head}");
    assert!(over_time.lines().count() > 100 && over_time.lines().nth(1).unwrap().starts_with("0,0.5,1000,"));
    assert!(text(&dir, "out/curves.csv").contains("response_time,0.99,410000000,"));
    assert!(text(&dir, "out/run.hgrm").contains("#[Max     =     1010.000"));
}

/// A form without a file replaces the report on standard output.
#[test]
fn a_form_without_a_place_is_printed() {
    let dir = TestDir::new();
    saved(&dir);
    let csv = dir.truetail(&["report", "run", "--csv"]);
    assert_eq!(csv.code, Some(0), "{csv:?}");
    assert!(csv.stdout.starts_with("time,count,q,value_ns,"), "{csv:?}");
    let run: serde_json::Value = serde_json::from_str(&text(&dir, "run/run.json")).unwrap();
    for quantile in run["response_time"]["quantiles"].as_array().unwrap() {
        let row = format!("response_time,60000,{},{},", quantile["q"].as_f64().unwrap(), quantile["value_ns"]);
        assert!(csv.stdout.contains(&row), "{row} in {}", csv.stdout);
    }
    let hgrm = dir.truetail(&["report", "run", "--hgrm"]);
    assert_eq!(hgrm.code, Some(0), "{hgrm:?}");
    assert!(hgrm.stdout.trim_start().starts_with("Value"), "{hgrm:?}");
    let two = dir.truetail(&["report", "run", "--hgrm", "--csv"]);
    assert_eq!(two.code, Some(2), "{two:?}");
    assert!(two.stderr.contains("both print on standard output"), "{two:?}");
}
